"""`vqagen director items check`: what is wrong or doubtful in a catalogue, pictures included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from catalogues import DOT, small_catalogue, write_catalogue
from commands import Commands
from PIL import Image

from vqagen.authoring.items.catalogue_file import check_catalogue

DOUBTS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"adjectives.0.values.cold": {}}, "unused-adjective", "adjectives[0].values.cold", "no item is 'cold'"),
    (
        {f"kinds.{kind}.properties": ["hot"] for kind in ("apple", "lemon", "mug", "box")}
        | {"adjectives.0.values.sweet": None, "kinds.lemon.unclear": None},
        "idle-adjective",
        "adjectives[0].values.hot",
        "no item is clearly not 'hot'",
    ),
    (
        {"adjectives.1.values.scarlet": {"paint": "#d83030"}},
        "near-paints",
        "adjectives[1].values.scarlet.paint",
        "'scarlet' and 'red' look alike",
    ),
]


def test_a_doubt_is_reported_once_and_nothing_else_is(tmp_path: Path) -> None:
    unlike = []
    for changes, code, place, message in DOUBTS:
        (file,) = check_catalogue(write_catalogue(tmp_path / "c.json", small_catalogue(changes))).files
        found = [(code, problem.path) for code, problem in file.warnings]
        if file.errors or found != [(code, place)] or message not in next(iter(file.warnings))[1].message:
            unlike.append((code, place, file.errors, file.warnings))

    assert unlike == []


def test_an_unreadable_picture_is_an_error(tmp_path: Path) -> None:
    Image.new("RGBA", (8, 8), (214, 47, 47, 255)).save(tmp_path / "red.png")
    (tmp_path / "broken.png").write_text("no picture")
    own = {f"items.{name}": {"image_path": f"{name}.png", "properties": []} for name in ("red", "broken")}
    own["items.red_one"] = own.pop("items.red")
    report = check_catalogue(write_catalogue(tmp_path / "c.json", small_catalogue(own)))
    (problem,) = report.files[0].errors

    assert (problem.path, problem.line) == ("items.broken.image_path", 15)
    assert "not a readable picture" in problem.message


def test_the_shipped_catalogue_passes_without_a_doubt() -> None:
    report = check_catalogue()

    assert [str(each) for file in report.files for each in (*file.errors, *file.warnings)] == []


# The command --------------------------------------------------------------------------------------------------------


def test_the_exit_code_says_whether_there_is_an_error(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """`vqagen check` recognizes a catalogue, and prints the same."""
    run, path = Commands(capsysbinary), tmp_path / "c.json"
    doubtful, line = {"adjectives.0.values.cold": {}}, f"director items check --catalogue {path}"
    for changes, flags, code, last in (
        ({}, "", 0, "0 errors, 0 warnings in 1 file"),
        (doubtful, "", 0, "0 errors, 1 warning in 1 file"),
        (doubtful, "--strict", 1, "0 errors, 1 warning in 1 file"),
        ({"kinds.apple.properties": ["swet"]}, "", 1, "1 error, 0 warnings in 1 file"),
        ({"kinds.apple.art": [{"elipse": 3}]}, "", 1, "1 error, 0 warnings in 1 file"),
        ({"kinds.apple.noun": ["fruit"]}, "", 1, "1 error, 0 warnings in 1 file"),
    ):
        write_catalogue(path, small_catalogue(changes))
        ran = run(f"{line} {flags}")
        assert (ran.code, ran.out.decode().splitlines()[-1]) == (code, last)
    write_catalogue(path, small_catalogue(doubtful))
    assert run.done(line).out == run.done(f"check {path}").out


def test_a_file_that_is_no_catalogue_is_reported(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "c.json"
    run = Commands(capsysbinary)
    for text in ("", "{", "[]", "nothing", '{"kinds": 3}'):
        path.write_text(text)
        assert run(f"director items check --catalogue {path}").code == 1
    assert run(f"director items check --catalogue {tmp_path / 'no.json'}").code == 3


def test_the_report_as_json_says_the_same(tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    path = write_catalogue(tmp_path / "c.json", small_catalogue({"kinds.extra": {"art": DOT, "properties": ["hto"]}}))
    report = json.loads(Commands(capsysbinary)(f"director items check --json --catalogue {path}").out)

    assert (report["errors"], report["files"][0]["kind"]) == (1, "director")
    assert report["files"][0]["errors"][0]["path"] == "kinds.extra.properties[0]"
