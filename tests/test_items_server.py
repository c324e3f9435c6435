"""The server of the items editor: who it answers, what it changes, and that nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from catalogues import DOT, small_catalogue, write_catalogue
from commands import Commands, finish, start
from item_editors import ask, running_editor
from waiting import wait_until

from vqagen.authoring.items.server import PAGE, EditorServer
from vqagen.authoring.items.session import Session

SET_HOT = {"action": "word", "name": "apple", "word": "hot", "truth": "true"}
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000 1f15c4890000000d49444154789c63f8cfc0f01f000500 01ff"
    "a5f5c3d80000000049454e44ae426082".replace(" ", "")
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("editor")


@pytest.fixture(scope="module")
def read_server(folder: Path) -> Iterator[EditorServer]:
    """A server whose catalogue no test changes."""
    with running_editor(write_catalogue(folder / "read.json", small_catalogue())) as server:
        yield server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EditorServer]:
    with running_editor(write_catalogue(tmp_path / "c.json", small_catalogue())) as server:
        yield server


def change(server: EditorServer, path: str = "edit", **body: Any) -> Any:
    """Send a change of the current version, which must succeed."""
    version = server.session.version
    answer = ask(server, path, {"version": version, **body})
    assert answer.status == 200, answer.content
    return answer.record


# Who is answered ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "state", "page.js", "item/apple.svg", "sheet.svg"])
@pytest.mark.parametrize("token", ["", "x", "wrong/"])
def test_no_path_is_answered_without_the_token(path: str, token: str, read_server: EditorServer) -> None:
    answer = ask(read_server, path, token=token)

    assert answer.status == 403
    assert answer.record == {"messages": ["the address is wrong; open the one that vqagen printed"]}


def test_only_this_machine_can_connect(read_server: EditorServer) -> None:
    assert read_server.server_address[0] == "127.0.0.1"
    assert len(read_server.token) >= 32


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "", None, "[::1]:3", "[x"]
)
def test_another_name_of_this_machine_is_refused(host: str | None, read_server: EditorServer) -> None:
    """A site can point its name at 127.0.0.1 (DNS rebinding)."""
    assert ask(read_server, "state", headers={"Host": host}).status == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1", None])
def test_another_site_can_change_nothing(origin: str | None, server: EditorServer) -> None:
    """Not even one that knows the token."""
    answer = ask(server, "edit", {"version": 1, **SET_HOT}, headers={"Origin": origin})

    assert answer.status == 403
    assert not server.session.has_unsaved


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
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
    ],
)
def test_a_request_that_is_no_change_is_refused(
    body: bytes, headers: dict[str, str], status: int, read_server: EditorServer
) -> None:
    assert ask(read_server, "edit", body, headers).status == status


@pytest.mark.parametrize("path", ["../server.py", "..%2fserver.py", "%2e%2e/server.py", "no.js", "page", "page.css/x"])
def test_only_files_of_the_page_are_served(path: str, read_server: EditorServer) -> None:
    assert ask(read_server, path).status == 404


def test_every_answer_is_safe(read_server: EditorServer) -> None:
    """No script of others runs in the page, nobody frames it, and nothing keeps or passes on its address."""
    for path in ("", "state", "page.js", "item/apple.svg", "nothing"):
        headers = ask(read_server, path).headers
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert (headers["Cache-Control"], headers["Referrer-Policy"]) == ("no-store", "no-referrer")
        assert headers["X-Content-Type-Options"] == "nosniff"


def test_the_page_needs_nothing_from_elsewhere() -> None:
    for file in PAGE.iterdir():
        assert "http" not in file.read_text("utf-8").replace("http-equiv", ""), file.name


# Reading ------------------------------------------------------------------------------------------------------------


def test_the_page_and_its_files_are_served(read_server: EditorServer) -> None:
    assert ask(read_server, "").content == (PAGE / "index.html").read_bytes()
    for file in PAGE.iterdir():
        assert ask(read_server, file.name).content == file.read_bytes()


def test_the_state_has_every_entry(read_server: EditorServer) -> None:
    state = ask(read_server, "state").record
    names = ["apple", "lemon", "mug", "box", "hot", "sweet", "red", "blue", "fruit", "container"]

    assert [entry["name"] for entry in state["entries"]] == names
    assert (state["unsaved"], state["findings"], state["version"]) == (False, [], 1)


@pytest.mark.parametrize("path", ["item/apple.svg", "variants/apple.svg?side=40", "sheet.svg?side=30"])
def test_pictures_are_svg(path: str, read_server: EditorServer) -> None:
    answer = ask(read_server, path)

    assert answer.headers["Content-Type"].startswith("image/svg+xml")
    assert answer.content.startswith(b"<svg ")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("item/aple.svg", 422),
        ("item/hot.svg", 422),
        ("item/%00%ff.svg", 422),
        ("sheet.svg?side=x", 400),
        ("sheet.svg?side=513", 400),
        (f"sheet.svg?side={'9' * 5000}", 400),
        ("%00%ff", 404),
    ],
)
def test_a_picture_that_cannot_be_drawn_is_refused(path: str, status: int, read_server: EditorServer) -> None:
    assert ask(read_server, path).status == status


# Changing -----------------------------------------------------------------------------------------------------------

EDITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (SET_HOT, {"kinds.apple.properties": ["sweet", "hot"]}),
    (SET_HOT | {"truth": "unclear"}, {"kinds.apple.unclear": ["hot"]}),
    (SET_HOT | {"word": "sweet", "truth": "false"}, {"kinds.apple.properties": []}),
    (SET_HOT | {"word": "snack"}, {"kinds.apple.nouns": ["fruit", "snack"]}),
    ({"action": "value", "name": "box", "key": "plural", "value": "boxes"}, {"nouns.box": {"plural": "boxes"}}),
    ({"action": "value", "name": "fruit", "key": "singular", "value": ""}, {"nouns.fruit.singular": None}),
    (
        {"action": "value", "name": "red", "key": "paint", "value": "#ff0000"},
        {"adjectives.1.values.red.paint": "#ff0000"},
    ),
    (
        {"action": "value", "name": "sweet", "key": "is_physics", "value": True},
        {"adjectives.0.values.sweet.is_physics": True},
    ),
    ({"action": "value", "name": "box", "key": "art", "value": DOT}, {"kinds.box.art": DOT}),
    (
        {"action": "add", "name": "ball", "art": DOT},
        {"kinds.ball": {"nouns": [], "properties": [], "art": DOT}},
    ),
    (
        {"action": "add", "name": "ball", "art_of": "apple"},
        {"kinds.ball": {"nouns": [], "properties": [], "art": DOT}},
    ),
    ({"action": "add", "name": "cold", "class": "quality"}, {"adjectives.0.values.cold": {}}),
    (
        {"action": "add", "name": "teal", "class": "color", "paint": "#00aaaa"},
        {"adjectives.1.values.teal": {"paint": "#00aaaa"}},
    ),
    (
        {"action": "rename", "name": "mug", "to": "cup"},
        {"kinds.cup": small_catalogue()["kinds"]["mug"], "kinds.mug": None},
    ),
    (
        {"action": "remove", "name": "hot", "everywhere": True},
        {"adjectives.0.values.hot": None, "kinds.mug.properties": []},
    ),
]  # fmt: skip


@pytest.mark.parametrize(("edit", "changes"), EDITS, ids=[f"{edit['action']} {edit['name']}" for edit, _ in EDITS])
def test_an_edit_changes_the_draft_and_a_save_the_file(
    edit: dict[str, Any], changes: dict[str, Any], server: EditorServer, tmp_path: Path
) -> None:
    before = (tmp_path / "c.json").read_bytes()
    assert change(server, **edit)["unsaved"]
    assert (tmp_path / "c.json").read_bytes() == before

    saved = change(server, "save")
    assert json.loads((tmp_path / "c.json").read_bytes()) == small_catalogue(changes)
    assert (tmp_path / "c.json.bak").read_bytes() == before
    assert (saved["unsaved"], saved["backup"]) == (False, str(tmp_path / "c.json.bak"))


WRONG_EDITS = [
    ({"action": "fly"}, "unknown action 'fly'"),
    ({"action": "word", "name": "apple"}, "the edit lacks word, truth"),
    ({"action": "word", "name": "aple", "word": "hot", "truth": "true"}, "unknown entry 'aple'"),
    ({"action": "value", "name": "apple", "key": "nouns", "value": []}, "unknown key 'nouns'"),
    ({"action": "value", "name": "red", "key": "paint", "value": "red"}, "expected a color such as #d62728"),
    ({"action": "value", "name": "red", "key": "is_physics", "value": 3}, "expected true or false, found 3"),
    ({"action": "value", "name": "apple", "key": "art", "value": None}, "apple needs a value for art"),
    ({"action": "add", "name": "Ball", "art": DOT}, "'Ball' is no name of this kind"),
    ({"action": "add", "name": "ball"}, "nothing says what 'ball' is"),
    ({"action": "rename", "name": "mug", "to": "box"}, "kind 'box' exists already"),
    ({"action": "rename", "name": "mug", "to": "item"}, "'item' is the noun of everything"),
    ({"action": "remove", "name": "hot"}, "adjective 'hot' is used by mug"),
]


@pytest.mark.parametrize(("edit", "message"), WRONG_EDITS, ids=[message for _, message in WRONG_EDITS])
def test_a_wrong_edit_is_refused(edit: dict[str, Any], message: str, read_server: EditorServer) -> None:
    answer = ask(read_server, "edit", {"version": 1, **edit})

    assert answer.status == 422
    assert any(message in each for each in answer.record["messages"])
    assert not read_server.session.has_unsaved


def test_a_mistake_in_a_drawing_is_shown_and_not_saved(server: EditorServer, tmp_path: Path) -> None:
    """It can be typed, for people work on it."""
    wrong = [{"elipse": [0.5, 0.5, 0.4, 0.4]}]
    (found,) = change(server, action="value", name="apple", key="art", value=wrong)["findings"]
    assert (found["level"], found["path"], found["entry"]) == ("error", "kinds.apple.art[0].elipse", "apple")
    assert ask(server, "variants/apple.svg").status == 422
    assert ask(server, "sheet.svg").status == 200

    refused = ask(server, "save", {"version": server.session.version})
    assert refused.status == 422
    assert "did you mean 'ellipse'" in refused.record["messages"][0]
    assert json.loads((tmp_path / "c.json").read_bytes()) == small_catalogue()


def test_undo_and_redo_go_through_the_edits(server: EditorServer) -> None:
    drafts = [server.session._draft]
    for name in ("apple", "lemon"):
        change(server, **SET_HOT | {"name": name})
        drafts.append(server.session._draft)
    back = [change(server, "undo") and server.session._draft for _ in range(2)]
    forth = [change(server, "redo") and server.session._draft for _ in range(2)]

    assert [*reversed(back), forth[-1]] == drafts
    assert forth == drafts[1:]
    assert not change(server, "redo")["can_redo"]


def test_what_is_typed_in_one_go_is_undone_in_one(server: EditorServer) -> None:
    for text in ("b", "bo", "boxes"):
        change(server, action="value", name="box", key="plural", value=text, merge="box plural")
    state = change(server, "undo")

    assert (state["unsaved"], state["can_undo"]) == (False, False)


def test_an_edit_of_another_version_is_refused(server: EditorServer) -> None:
    """As from a second window that does not show the newest state."""
    change(server, **SET_HOT)
    answer = ask(server, "edit", {"version": 1, **SET_HOT, "name": "lemon"})

    assert answer.status == 409
    assert "changed in another window" in answer.record["messages"][0]


def test_a_file_that_changed_meanwhile_is_not_replaced(server: EditorServer, tmp_path: Path) -> None:
    """It can be loaded again, and undo returns to the draft."""
    change(server, **SET_HOT)
    theirs = small_catalogue({"kinds.box": None})
    write_catalogue(tmp_path / "c.json", theirs)
    refused = ask(server, "save", {"version": server.session.version})
    assert refused.status == 409
    assert "was changed by someone else meanwhile; nothing was saved" in refused.record["messages"][0]
    assert json.loads((tmp_path / "c.json").read_bytes()) == theirs

    assert [each["name"] for each in change(server, "reload")["entries"]][:4] == ["apple", "lemon", "mug", "hot"]
    change(server, "undo")
    change(server, "save")
    assert json.loads((tmp_path / "c.json").read_bytes()) == small_catalogue(
        {"kinds.apple.properties": ["sweet", "hot"]}
    )


def test_a_file_that_became_broken_is_not_loaded(server: EditorServer, tmp_path: Path) -> None:
    (tmp_path / "c.json").write_text("{")
    answer = ask(server, "reload", {"version": 1})

    assert answer.status == 422
    assert ask(server, "state").record["version"] == 1


def test_own_pictures_are_offered_and_drawn(server: EditorServer, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "dot.png").write_bytes(PNG)
    assert ask(server, "state").record["pictures"] == ["pictures/dot.png"]

    change(server, action="add", name="mine", image_path="pictures/dot.png")
    change(server, action="value", name="mine", key="size", value=2)
    state = change(server, action="value", name="mine", key="kind", value="mug")
    mine = next(entry for entry in state["entries"] if entry["name"] == "mine")

    assert (mine["sort"], mine["size"], mine["kind"]) == ("item", 2, "mug")
    assert b"data:image/png" in ask(server, "item/mine.svg").content


# The command --------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_editor_and_keeps_what_is_not_saved(number: int, code: int, tmp_path: Path) -> None:
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


def test_a_draft_is_kept_when_the_editor_ends(tmp_path: Path) -> None:
    session = Session(write_catalogue(tmp_path / "c.json", small_catalogue()))
    assert session.keep_unsaved() is None
    session.edit(1, SET_HOT)
    kept = session.keep_unsaved()

    assert kept == tmp_path / "c.json.unsaved"
    assert json.loads(kept.read_bytes()) == small_catalogue({"kinds.apple.properties": ["sweet", "hot"]})
    assert stat.S_ISREG(kept.stat().st_mode)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("director items edit", 2, "the shipped catalogue is read-only; copy it"),
        ("director items edit --catalogue no.json", 2, "catalogue not found: no.json"),
        ("director items edit --catalogue broken.json", 3, "broken.json"),
        ("director items edit --catalogue c.json --port 70000", 2, "--port must be at most 65535, found 70000"),
        ("director items edit --catalogue c.json --port {taken}", 2, "choose another, or 0 for any"),
    ],
)
def test_an_editor_that_cannot_start_says_why(
    line: str,
    code: int,
    message: str,
    read_server: EditorServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> None:
    monkeypatch.chdir(tmp_path)
    write_catalogue(tmp_path / "c.json", small_catalogue())
    (tmp_path / "broken.json").write_text('{"kinds": 3}')
    ran = Commands(capsysbinary)(line.format(taken=read_server.server_address[1]))

    assert ran.code == code
    assert message in ran.err
