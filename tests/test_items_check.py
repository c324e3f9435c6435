"""`vqagen director items check`: what is wrong or doubtful in a catalogue, pictures included."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from catalogues import DOT, small_catalogue, write_catalogue
from commands import Commands
from PIL import Image, ImageDraw

from vqagen.authoring.items.checking import check_catalogue, color_doubt, measure_image
from vqagen.pictures.drawing import read_drawing
from vqagen.pictures.sprites import sprite
from vqagen.tasks.director.catalogue import load_catalogue_file

RED, BLUE = (214, 47, 47, 255), (43, 98, 217, 255)


def draw_picture(path: Path, paint: tuple[int, ...], radius: float = 0.4) -> None:
    """Draw a disk on nothing."""
    picture = Image.new("RGBA", (80, 80), (0, 0, 0, 0))
    least, most = 40 - 80 * radius, 40 + 80 * radius
    ImageDraw.Draw(picture).ellipse((least, least, most, most), fill=paint)
    picture.save(path)


@pytest.fixture(scope="module")
def pictures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pictures."""
    folder = tmp_path_factory.mktemp("pictures")
    draw_picture(folder / "red.png", RED)
    draw_picture(folder / "small_red.png", RED, radius=0.2)
    draw_picture(folder / "blue.png", BLUE)
    draw_picture(folder / "grey.png", (120, 120, 120, 255))
    (folder / "broken.png").write_text("no picture")
    return folder


def own(picture: str, *properties: str, **more: Any) -> dict[str, Any]:
    return {"image_path": picture, "properties": list(properties), **more}


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
    (
        {"items.mine": own("blue.png", "red")},
        "wrong-color",
        "items.mine",
        "'mine' is called red, and 100% of its picture is blue",
    ),
    ({"items.mine": own("red.png")}, "wrong-color", "items.mine", "'mine' has no color word, and 100%"),
    (
        {"items.mine": own("grey.png", "red")},
        "wrong-color",
        "items.mine",
        "'mine' is called red, and its picture has hardly a color",
    ),
    (
        {
            "items.one": own("red.png", "red", kind="mug", size=1),
            "items.two": own("small_red.png", "red", kind="mug", size=2),
        },
        "wrong-size",
        "items.two",
        "'two' has size 2 and 'one' has size 1, but its picture fills 5% of a cell, and not more than 8%",
    ),
]


def test_a_doubt_is_reported_once_and_nothing_else_is(pictures: Path) -> None:
    unlike = []
    for changes, code, place, message in DOUBTS:
        (file,) = check_catalogue(write_catalogue(pictures / "c.json", small_catalogue(changes))).files
        found = [(code, problem.path) for code, problem in file.warnings]
        if file.errors or found != [(code, place)] or message not in next(iter(file.warnings))[1].message:
            unlike.append((code, place, file.errors, file.warnings))

    assert unlike == []


def test_right_pictures_are_no_doubt(pictures: Path) -> None:
    own_items = {
        "items.one": own("small_red.png", "red", kind="mug", size=1),
        "items.two": own("red.png", "red", kind="mug", size=2),
        "items.three": own("blue.png", "blue", kind="mug", size=2),
        "items.four": own("grey.png", kind="stone"),
    }
    report = check_catalogue(write_catalogue(pictures / "c.json", small_catalogue(own_items)))

    assert (report.errors, report.warnings) == (0, 0)


def test_an_unreadable_picture_is_an_error(pictures: Path) -> None:
    report = check_catalogue(write_catalogue(pictures / "c.json", small_catalogue({"items.mine": own("broken.png")})))
    (problem,) = report.files[0].errors

    assert (problem.path, problem.line) == ("items.mine.image_path", 15)
    assert "not a readable picture" in problem.message


def test_the_shipped_catalogue_passes_without_a_doubt() -> None:
    report = check_catalogue()

    assert [str(each) for file in report.files for each in (*file.errors, *file.warnings)] == []


@pytest.mark.slow
def test_no_drawn_item_is_doubted_about_its_color() -> None:
    """So the check is right about what the drawings show, and they are right about their colors."""
    catalogue = load_catalogue_file()
    wrong = []
    for kind, entry in catalogue.record["kinds"].items():
        drawing = read_drawing(entry["art"])
        for color, paint in catalogue.paints.items():
            doubt = color_doubt(measure_image(sprite(drawing, paint, 96), catalogue.paints), [color], ())
            wrong += [f"{color} {kind} {doubt}"] if doubt else []

    assert wrong == []


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
