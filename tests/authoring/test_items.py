"""A catalogue of items is copied, checked and drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from catalogues import DOT, small_catalogue, write_catalogue
from commands import Commands
from PIL import Image

from vqagen.authoring.item_catalogue import check_catalogue
from vqagen.errors import BadInput
from vqagen.tasks.director.catalogue import catalogue_faults, load_catalogue_file


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with a catalogue, c.json, and a picture."""
    write_catalogue(Path("c.json"), small_catalogue())
    Path("pictures").mkdir()
    Image.new("RGBA", (40, 40), (214, 47, 47, 255)).save("pictures/red.png")
    return vqagen_


def items(line: str) -> str:
    return f"director items {line} --catalogue c.json"


# Copies -------------------------------------------------------------------------------------------------------------


def test_a_copy_finds_its_pictures(vqagen_: Commands) -> None:
    write_catalogue(Path("c.json"), small_catalogue({"items.my_mug": {"image_path": "pictures/red.png"}}))
    Path("other").mkdir()
    vqagen_.done(items("copy other/d.json"))

    assert load_catalogue_file("other/d.json").items[-1].picture == "../pictures/red.png"
    assert vqagen_(items("copy other/d.json")).code == 2, "it is not replaced without --force"


# Previews -----------------------------------------------------------------------------------------------------------


def test_a_sheet_has_each_item_that_is_asked_for(vqagen_: Commands) -> None:
    """One item is drawn alone, with nothing behind it; own pictures are held in the file."""
    write_catalogue(Path("c.json"), small_catalogue({"items.my_mug": {"image_path": "pictures/red.png"}}))
    for names, tiles, columns in (("", 5, 5), ("apple", 6, 2), ("apple mug", 12, 2)):
        vqagen_.done(items(f"preview {names} -o sheet.svg --force"))
        texts = [each for each in ElementTree.parse("sheet.svg").iter() if each.tag.endswith("}text")]
        assert (len(texts), len({each.get("x") for each in texts})) == (tiles, columns)
    vqagen_.done(items("preview red_box_2 -o box.svg"))
    vqagen_.done(items("preview my_mug -o mug.svg"))
    assert 'width="120" height="120"' in Path("box.svg").read_text()
    assert "<rect width" not in Path("box.svg").read_text()
    assert 'href="data:image/png;base64,' in Path("mug.svg").read_text()


def test_a_preview_that_cannot_be_made_is_refused(vqagen_: Commands) -> None:
    for line, message in (
        ("preview -o sheet.bmp", "pictures of items go to files that end in .svg"),
        ("preview aple -o a.svg", "unknown kind or item 'aple'; did you mean 'apple'?"),
        ("preview hot -o a.svg", "unknown kind or item 'hot'"),
    ):
        ran = vqagen_(items(line) + " --force")
        assert (ran.code, ran.out) == (2, b"")
        assert message in ran.err


# Checks ---------------------------------------------------------------------------------------------------------------

DOUBTS: list[tuple[dict[str, Any], str, str, str]] = [
    ({"adjectives.0.values.cold": {}}, "unused-adjective", "adjectives[0].values.cold", "no item is 'cold'"),
    (
        {f"kinds.{kind}.properties": ["hot"] for kind in ("apple", "lemon", "mug", "box")}
        | {"adjectives.0.values.sweet": None, "kinds.lemon.unclear": None},
        "idle-adjective",
        "adjectives[0].values.hot",
        "no item is clearly not 'hot'",
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


# Mistakes in a catalogue ----------------------------------------------------------------------------------------------

FAULTS: list[tuple[dict[str, Any], str, str]] = [
    ({"kinds.apple.properties": ["swet"]}, "kinds.apple.properties[0]", "adjective 'swet'; did you mean 'sweet'?"),
    ({"kinds.apple.properties": ["fruit"]}, "kinds.apple.properties[0]", "'fruit' is a noun; list it under nouns"),
    ({"kinds.apple.nouns": ["hot"]}, "kinds.apple.nouns[0]", "'hot' is an adjective; list it under properties"),
    ({"kinds.apple.nouns": ["item"]}, "kinds.apple.nouns[0]", "everything is an 'item'; leave it out"),
    ({"kinds.apple.unclear": ["frut"]}, "kinds.apple.unclear[0]", "adjective or noun 'frut'; did you mean 'fruit'?"),
    ({"kinds.apple.unclear": ["sweet"]}, "kinds.apple", "'sweet' is both true and unclear; take it from one list"),
    ({"kinds.apple.properties": ["red"]}, "kinds.apple.properties[0]", "drawn items have each color; leave out 'red'"),
    ({"kinds.hot": {"art": DOT}}, "kinds.hot", "'hot' is an adjective too; rename one of them"),
    ({"kinds.item": {"art": DOT}}, "kinds.item", "'item' is the noun of everything; rename this kind"),
    ({"kinds.Big Apple": {"art": DOT}}, "kinds.Big Apple", "'Big Apple' is no name of this kind; use small letters"),
    ({"kinds.apple.art": [{"elipse": [0.5] * 4}]}, "kinds.apple.art[0].elipse", "did you mean 'ellipse'?"),
    ({"adjectives.1.values.teal": {}}, "adjectives[1].values.teal", "the color 'teal' has no paint"),
    ({"adjectives.1.values.hot": {"paint": "#000000"}}, "adjectives[1].values.hot", "in the class 'quality' already"),
    ({"adjectives.0.class": "color"}, "adjectives[1].class", "the class 'color' is listed twice"),
    ({"adjectives.1.class": "colour"}, "adjectives", "no class 'color' with values; drawn items need colors"),
    ({"sizes": [0.5, 0.5]}, "sizes[1]", "expected more than 0.5, found 0.5"),
    ({"kinds": {}}, "kinds", "no kinds and no items"),
    ({"nouns.friut": {"plural": "fruits"}}, "nouns.friut", "no item has the noun 'friut'; did you mean 'fruit'?"),
    ({"nouns.mug": {"singular": "apple"}}, "kinds.mug", "'mug' and 'apple' are both spoken as 'apple'"),
    ({"kinds.hot_box": {"art": DOT}}, "kinds.hot_box", "'hot box' also reads as 'hot' 'box'; rename one"),
    ({"items.mine": {"image_path": "no.png"}}, "items.mine.image_path", "no picture at"),
    ({"items.mug": {"image_path": "a.png"}}, "items.mug", "'mug' is a kind too; rename the item, and give it"),
    ({"items.red_mug_1": {"image_path": "a.png"}}, "items.red_mug_1", "an item that is drawn for the kind 'mug'"),
    ({"items.mine": {"image_path": "a.png", "kind": "hot"}}, "items.mine.kind", "'hot' is an adjective; name a kind"),
    ({"items.mine": {"image_path": "a.png", "size": 4}}, "items.mine.size", "expected at most 3, as there are 3 sizes"),
]  # fmt: skip
"""Changes of the small catalogue, the place of the fault, and a part of its message."""


def test_a_mistake_is_named_at_its_place(tmp_path: Path) -> None:
    """The small catalogue has none."""
    Path(tmp_path, "a.png").touch()
    assert list(catalogue_faults(small_catalogue(), tmp_path)) == []
    for changes, place, message in FAULTS:
        found = list(catalogue_faults(small_catalogue(changes), tmp_path))
        assert [path for path, said in found if message in said] == [place], found


def test_all_mistakes_are_reported_at_once_with_their_lines(tmp_path: Path) -> None:
    wrong = small_catalogue({"kinds.apple.properties": ["swet"], "kinds.box.unclear": ["hott"]})
    path = write_catalogue(tmp_path / "c.json", wrong)
    with pytest.raises(BadInput) as raised:
        load_catalogue_file(path)

    assert [problem.line for problem in raised.value.problems] == [9, 12]
