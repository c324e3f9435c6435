"""The server of the items editor: who it answers, what it changes, and that nothing is lost."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from catalogues import small_catalogue, write_catalogue
from commands import Commands, finish, start
from item_editors import ask, running_editor
from waiting import wait_until

from vqagen.authoring.items.editor import PAGE, EditorServer

HOT = small_catalogue({"kinds.apple.properties": ["sweet", "hot"]})


@pytest.fixture(scope="module")
def read_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EditorServer]:
    """A server whose catalogue no test changes."""
    folder = tmp_path_factory.mktemp("editor")
    with running_editor(write_catalogue(folder / "read.json", small_catalogue())) as server:
        yield server
    assert not server.session.has_unsaved


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EditorServer]:
    with running_editor(write_catalogue(tmp_path / "c.json", small_catalogue())) as server:
        yield server


def change(server: EditorServer, document: Any = HOT, path: str = "change") -> Any:
    """Send a change of the current version, which must succeed."""
    answer = ask(server, path, {"version": server.session.version, "document": document})
    assert answer.status == 200, answer.content
    return answer.record


# Who is answered ----------------------------------------------------------------------------------------------------


def test_nothing_is_answered_without_the_token_or_by_another_name(read_server: EditorServer) -> None:
    """A site can point its name at 127.0.0.1 (DNS rebinding)."""
    assert read_server.server_address[0] == "127.0.0.1"
    assert len(read_server.token) >= 32
    for path in ("", "state", "page.js", "item/apple.svg", "item/mug.svg"):
        for token in ("", "x", "wrong/"):
            assert ask(read_server, path, token=token).status == 403
    for host in ("evil.example", "evil.example:80", "127.0.0.1.evil.example", "", None, "[::1]:3", "[x"):
        assert ask(read_server, "state", headers={"Host": host}).status == 403


def test_another_site_can_change_nothing(read_server: EditorServer) -> None:
    """Not even one that knows the token."""
    for origin in ("http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", None):
        assert ask(read_server, "change", {"version": 1, "document": HOT}, headers={"Origin": origin}).status == 403


REFUSED: list[tuple[bytes, dict[str, str], int]] = [
    (b"version=1", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
    (b'{"version": 1}', {"Content-Type": "text/plain"}, 415),
    (b"{", {}, 400),
    (b"[]", {}, 400),
    (b'{"version": "1"}', {}, 400),
    (b"{}", {"Content-Length": "99999999"}, 413),
    (b"{}", {"Content-Length": "x"}, 413),
    (b"{}", {"Content-Length": "9" * 5000}, 413),
    (b"[" * 100_000, {}, 400),
    (b'{"version": 1, "name": "\\ud800"}', {}, 400),
    (b'{"version": 1}', {}, 422),
    (b'{"version": 1, "document": {"kinds": 3}}', {}, 422),
]
PATHS = [
    *[(path, 404) for path in ("../server.py", "..%2fserver.py", "%2e%2e/server.py", "no.js", "page", "page.css/x")],
    *[(path, 422) for path in ("item/aple.svg", "item/hot.svg", "item/%00%ff.svg")],
    *[(f"item/apple.svg?side={side}", 400) for side in ("x", "513", "9" * 5000)],
    ("%00%ff", 404),
]


def test_a_request_that_means_nothing_is_refused(read_server: EditorServer) -> None:
    """What is no change, no file of the page, or no picture."""
    unlike = [
        (body, status)
        for body, headers, status in REFUSED
        if ask(read_server, "change", body, headers).status != status
    ]
    unlike += [(path.encode(), status) for path, status in PATHS if ask(read_server, path).status != status]

    assert unlike == []


def test_every_answer_is_safe_and_the_page_needs_nothing_from_elsewhere(read_server: EditorServer) -> None:
    """No script of others runs in the page, nobody frames it, and nothing keeps or passes on its address."""
    for path in ("", "state", "page.js", "item/apple.svg", "nothing"):
        headers = ask(read_server, path).headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert (headers["Cache-Control"], headers["Referrer-Policy"]) == ("no-store", "no-referrer")
        assert headers["X-Content-Type-Options"] == "nosniff"
    for file in PAGE.iterdir():
        assert "http" not in file.read_text("utf-8").replace("http-equiv", ""), file.name


# Reading ------------------------------------------------------------------------------------------------------------


def test_the_page_its_state_and_pictures_are_served(read_server: EditorServer) -> None:
    assert ask(read_server, "").content == (PAGE / "index.html").read_bytes()
    for file in PAGE.iterdir():
        assert ask(read_server, file.name).content == file.read_bytes()
    for path in ("item/apple.svg", "variants/apple.svg?side=40"):
        answer = ask(read_server, path)
        assert answer.headers["Content-Type"].startswith("image/svg+xml")
        assert answer.content.startswith(b"<svg ")
    state = ask(read_server, "state").record
    assert state["document"] == small_catalogue()
    assert (state["unsaved"], state["findings"], state["version"]) == (False, [], 1)


# Changing -----------------------------------------------------------------------------------------------------------


def test_an_edit_changes_the_draft_and_a_save_the_file(server: EditorServer, tmp_path: Path) -> None:
    before = (tmp_path / "c.json").read_bytes()
    assert change(server)["unsaved"]
    assert (tmp_path / "c.json").read_bytes() == before

    saved = change(server, path="save")
    assert json.loads((tmp_path / "c.json").read_bytes()) == HOT
    assert (tmp_path / "c.json.bak").read_bytes() == before
    assert (saved["unsaved"], saved["backup"]) == (False, str(tmp_path / "c.json.bak"))


def test_a_mistake_in_a_drawing_is_shown_and_not_saved(server: EditorServer, tmp_path: Path) -> None:
    """It can be typed, for people work on it."""
    wrong = [{"elipse": [0.5, 0.5, 0.4, 0.4]}]
    (found,) = change(server, small_catalogue({"kinds.apple.art": wrong}))["findings"]
    assert (found["level"], found["path"]) == ("error", "kinds.apple.art[0].elipse")
    assert ask(server, "variants/apple.svg").status == 422
    assert ask(server, "item/mug.svg").status == 200

    refused = ask(server, "save", {"version": server.session.version})
    assert refused.status == 422
    assert "did you mean 'ellipse'" in refused.record["messages"][0]
    assert json.loads((tmp_path / "c.json").read_bytes()) == small_catalogue()


def test_an_edit_of_another_version_is_refused(server: EditorServer) -> None:
    """As from a second window that does not show the newest state."""
    change(server)
    answer = ask(server, "change", {"version": 1, "document": small_catalogue()})

    assert answer.status == 409
    assert "changed in another window" in answer.record["messages"][0]


def test_a_file_that_changed_meanwhile_is_not_replaced(server: EditorServer, tmp_path: Path) -> None:
    """It can be loaded again, and the draft be sent again."""
    change(server)
    theirs = small_catalogue({"kinds.box": None})
    write_catalogue(tmp_path / "c.json", theirs)
    refused = ask(server, "save", {"version": server.session.version})
    assert refused.status == 409
    assert "was changed by someone else meanwhile; nothing was saved" in refused.record["messages"][0]
    assert json.loads((tmp_path / "c.json").read_bytes()) == theirs

    assert change(server, path="reload")["document"] == theirs
    change(server)
    change(server, path="save")
    assert json.loads((tmp_path / "c.json").read_bytes()) == HOT


def test_numbers_that_did_not_change_stay_as_they_are_written(server: EditorServer, tmp_path: Path) -> None:
    """A browser writes 1.0 as 1."""
    change(server, json.loads(json.dumps(HOT).replace("1.0", "1")))
    change(server, path="save")
    assert '"sizes": [0.4, 0.6, 1.0]' in (tmp_path / "c.json").read_text()


# The command --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_editor(number: int, code: int, tmp_path: Path) -> None:
    write_catalogue(tmp_path / "c.json", small_catalogue())
    with open(tmp_path / "log", "wb") as log:
        process = start("director items edit --catalogue c.json --no-browser", cwd=tmp_path, stderr=log)
        wait_until(lambda: b"Ctrl-C" in (tmp_path / "log").read_bytes())
        process.send_signal(number)
        ran = finish(process)
    printed = (tmp_path / "log").read_text()

    assert ran.code == code
    assert "edit c.json at http://127.0.0.1:" in printed
    assert "Traceback" not in printed
    assert sorted(os.listdir(tmp_path)) == ["c.json", "log"]


def test_an_editor_that_cannot_start_says_why(
    read_server: EditorServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_catalogue(tmp_path / "c.json", small_catalogue())
    (tmp_path / "broken.json").write_text('{"kinds": 3}')
    for flags, code, message in (
        ("", 2, "the shipped catalogue is read-only; copy it"),
        ("--catalogue no.json", 3, "catalogue not found: no.json"),
        ("--catalogue broken.json", 3, "broken.json"),
        ("--catalogue c.json --port 70000", 2, "cannot use port 70000: "),
        (f"--catalogue c.json --port {read_server.server_address[1]}", 2, "choose another, or 0 for any"),
    ):
        ran = Commands(capsysbinary)(f"director items edit {flags}")
        assert ran.code == code
        assert message in ran.err
