"""`vqagen director items`: a catalogue is listed, shown, changed and drawn; a change keeps all else."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from catalogues import DOT, SMALL_CATALOGUE, small_catalogue, write_catalogue
from commands import Commands
from PIL import Image

from vqagen.authoring.items.catalogue_file import ChangedMeanwhile, read_catalogue, save
from vqagen.authoring.items.census import count_catalogue
from vqagen.authoring.items.changes import Traits, remove_entries, set_entries
from vqagen.authoring.items.sheet import make_sheet, sheet_png, sheet_svg
from vqagen.json.tolerant import read_tolerantly
from vqagen.tasks.director.catalogue import ItemCatalogue, load_catalogue_file

APPLE: dict[str, Any] = SMALL_CATALOGUE["kinds"]["apple"]
LEMON: dict[str, Any] = SMALL_CATALOGUE["kinds"]["lemon"]


@pytest.fixture
def vqagen_(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Runs commands in a folder with a catalogue, c.json, a drawing and a picture."""
    monkeypatch.chdir(tmp_path)
    write_catalogue(Path("c.json"), small_catalogue())
    Path("art.json").write_text(json.dumps(DOT))
    Path("pictures").mkdir()
    Image.new("RGBA", (40, 40), (214, 47, 47, 255)).save("pictures/red.png")
    return Commands(capsysbinary)


def items(line: str) -> str:
    return f"director items {line} --catalogue c.json"


# Changing -----------------------------------------------------------------------------------------------------------

CHANGES: list[tuple[str, dict[str, Any]]] = [
    ("set apple --is hot", {"kinds.apple.properties": ["sweet", "hot"]}),
    ("set apple --not sweet", {"kinds.apple.properties": []}),
    ("set apple --unclear sweet", {"kinds.apple.properties": [], "kinds.apple.unclear": ["sweet"]}),
    ("set lemon --is sweet", {"kinds.lemon.properties": ["sweet"], "kinds.lemon.unclear": None}),
    (
        "set apple lemon --is container",
        {"kinds.apple.nouns": ["fruit", "container"], "kinds.lemon.nouns": ["fruit", "container"]},
    ),
    ("set apple --noun snack", {"kinds.apple.nouns": ["fruit", "snack"]}),
    ("set box --plural boxes", {"nouns.box": {"plural": "boxes"}}),
    ("set fruit --singular fruit", {"nouns.fruit.singular": "fruit"}),
    ("set hot --no-physics", {"adjectives.0.values.hot.is_physics": False}),
    ("set red --paint #ff0000", {"adjectives.1.values.red.paint": "#ff0000"}),
    ("set box --art-of apple", {"kinds.box.art": DOT}),
    ("set box --art art.json", {"kinds.box.art": DOT}),
    ("add pear --art-of apple --noun fruit --is sweet", {"kinds.pear": APPLE}),
    ("add cold --class quality --physics", {"adjectives.0.values.cold": {"is_physics": True}}),
    ("add tea --class color --paint #00aa88", {"adjectives.1.values.tea": {"paint": "#00aa88"}}),
    (
        "add my_mug --image pictures/red.png --kind mug --size 2 --is red --is hot",
        {"items.my_mug": {"properties": ["red", "hot"], "image_path": "pictures/red.png", "kind": "mug", "size": 2}},
    ),
    (
        "rename hot warm",
        {"adjectives.0.values": {"warm": {"is_physics": True}, "sweet": {}}, "kinds.mug.properties": ["warm"]},
    ),
    (
        "rename fruit crop",
        {
            "nouns": {"crop": SMALL_CATALOGUE["nouns"]["fruit"]},
            "kinds.apple.nouns": ["crop"],
            "kinds.lemon.nouns": ["crop"],
        },
    ),
    ("remove box", {"kinds.box": None}),
    ("remove apple lemon", {"kinds.apple": None, "kinds.lemon": None, "nouns": {}}),
    (
        "remove sweet --everywhere",
        {"adjectives.0.values.sweet": None, "kinds.apple.properties": [], "kinds.lemon.unclear": []},
    ),
]  # fmt: skip
"""A command, and the document that it leaves."""


@pytest.mark.parametrize(("line", "changes"), CHANGES, ids=[line for line, _ in CHANGES])
def test_a_change_is_saved_and_nothing_else_changes(line: str, changes: dict[str, Any], vqagen_: Commands) -> None:
    before = Path("c.json").read_bytes()
    vqagen_.done(items(line))

    assert json.loads(Path("c.json").read_bytes()) == small_catalogue(changes)
    assert Path("c.json.bak").read_bytes() == before
    load_catalogue_file("c.json")


def test_comments_order_and_layout_stay(vqagen_: Commands) -> None:
    text = Path("c.json").read_text().replace('    "lemon"', '    // sour\n    "lemon"')
    Path("c.json").write_text(text)
    vqagen_.done(items("set box --is hot"))

    assert Path("c.json").read_text() == text.replace(
        '"properties": [], "art": [{"rect"', '"properties": ["hot"], "art": [{"rect"'
    )


REFUSED: list[tuple[str, str]] = [
    ("set apple --is swet", "unknown word 'swet'; did you mean 'sweet'?; --noun adds a new noun"),
    ("set aple --is hot", "unknown entry 'aple'; did you mean 'apple'?"),
    ("set apple", "nothing to change; give --is"),
    ("set apple --is hot --not hot", "'hot' is said to be several of true, unclear and false"),
    ("set apple --paint #ffffff", "--paint is not for the kind 'apple'"),
    ("set hot --is sweet", "words are true of kinds and items; the adjective 'hot' is neither"),
    ("set hot --plural hots", "--singular and --plural are for nouns, and 'hot' is an adjective"),
    ("set apple --is red", "drawn items have each color; leave out 'red'"),
    ("set red --paint red", "expected a color such as #d62728, found 'red'"),
    ("set apple --art art.json --art-of box", "--art and --art-of both give a drawing; choose one"),
    ("set apple --art no.json", "drawing not found: no.json"),
    ("set apple --art-of bxo", "unknown kind 'bxo'; did you mean 'box'?"),
    ("add apple --art-of box", "kind 'apple' exists already; `set` changes it"),
    ("add pear", "nothing says what 'pear' is; give --art, --image, --class"),
    ("add Pear --art-of apple", "'Pear' is no name of this kind"),
    ("add cold --class qualty", "unknown class of adjectives 'qualty'; did you mean 'quality'?"),
    ("add mine --image no.png", "picture not found: no.png"),
    ("rename apple box", "kind 'box' exists already"),
    ("rename apple Apple", "'Apple' is no name of this kind"),
    ("remove hot", "adjective 'hot' is used by mug; --everywhere removes it there too"),
    ("remove red blue", "no class 'color' with values"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "message"), REFUSED, ids=[line for line, _ in REFUSED])
def test_a_wrong_change_is_refused_and_nothing_is_written(line: str, message: str, vqagen_: Commands) -> None:
    before = Path("c.json").read_bytes()
    ran = vqagen_(items(line))

    assert ran.code in (2, 3)
    assert message in ran.err
    assert Path("c.json").read_bytes() == before
    assert not Path("c.json.bak").exists()


def test_a_change_may_correct_a_mistake(vqagen_: Commands) -> None:
    """Mistakes that are there already do not keep others from being corrected."""
    write_catalogue(Path("c.json"), small_catalogue({"kinds.box.unclear": ["hott"], "kinds.mug.properties": ["hto"]}))
    vqagen_.done(items("set apple --is hot"))

    assert json.loads(Path("c.json").read_bytes())["kinds"]["apple"]["properties"] == ["sweet", "hot"]


def test_a_change_that_changes_nothing_writes_nothing(vqagen_: Commands) -> None:
    ran = vqagen_.done(items("set apple --is sweet"))

    assert ran.err == "c.json says that already\n"
    assert not Path("c.json.bak").exists()


def test_the_shipped_catalogue_is_never_changed(vqagen_: Commands) -> None:
    ran = vqagen_("director items set apple --is hot")

    assert ran.code == 2
    assert "the shipped catalogue is read-only; copy it" in ran.err


def test_a_file_that_somebody_else_changed_is_not_replaced(vqagen_: Commands) -> None:
    """Neither a change nor a backup is written."""
    before = read_catalogue("c.json")
    new = before.changed(set_entries(before.document, ["apple"], Traits(true=("hot",))))
    write_catalogue(Path("c.json"), small_catalogue({"kinds.box": None}))
    with pytest.raises(ChangedMeanwhile, match="changed by someone else"):
        save(new, before)

    assert json.loads(Path("c.json").read_bytes()) == small_catalogue({"kinds.box": None})
    assert not Path("c.json.bak").exists()


def test_a_saved_file_keeps_its_mode_mark_and_link(vqagen_: Commands) -> None:
    """A byte order mark, permissions, and a symbolic link that names the file."""
    Path("c.json").write_bytes(b"\xef\xbb\xbf" + Path("c.json").read_bytes())
    Path("c.json").chmod(0o640)
    Path("link.json").symlink_to("c.json")
    vqagen_.done("director items set apple --is hot --catalogue link.json")

    assert Path("link.json").is_symlink()
    assert Path("c.json").read_bytes().startswith(b"\xef\xbb\xbf{")
    assert Path("c.json").stat().st_mode & 0o777 == 0o640


def test_a_copy_finds_its_pictures(vqagen_: Commands) -> None:
    write_catalogue(Path("c.json"), small_catalogue({"items.my_mug": {"image_path": "pictures/red.png"}}))
    Path("other").mkdir()
    vqagen_.done(items("copy other/d.json"))

    assert load_catalogue_file("other/d.json").items[-1].picture == "../pictures/red.png"
    assert vqagen_(items("copy other/d.json")).code == 2, "it is not replaced without --force"


def test_removing_everywhere_leaves_no_trace() -> None:
    """Whatever is removed, no word list names it."""
    for name in ("sweet", "hot", "fruit", "container", "apple", "box"):
        assert f'"{name}"' not in json.dumps(remove_entries(SMALL_CATALOGUE, [name], everywhere=True))


# Reading ------------------------------------------------------------------------------------------------------------


def test_items_are_listed_by_words(vqagen_: Commands) -> None:
    """Those for which the words are true, or unclear."""
    listed = vqagen_.done(items("list sweet")).out.decode()

    assert listed == "apple  fruit  sweet\nlemon  fruit         unclear: sweet\n"
    assert [row["name"] for row in json.loads(vqagen_.done(items("list hot red --json")).out)] == ["mug"]


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("apple", "  plural      apples"),
        ("fruit", "  plural       pieces of fruit"),
        ("fruit", "  true of      apple lemon"),
        ("sweet", "  unclear for  lemon"),
        ("red", "  paint        #d62f2f"),
        ("blue_mug_2", "  properties  hot blue"),
    ],
)
def test_an_entry_is_shown(name: str, line: str, vqagen_: Commands) -> None:
    assert line in vqagen_.done(items(f"show {name}")).out.decode().splitlines()


def test_items_are_counted(vqagen_: Commands) -> None:
    census = json.loads(vqagen_.done(items("stats --json")).out)
    by_word = {each["word"]: (each["true"], each["unclear"], each["items"]) for each in census["adjectives"]}

    assert (census["kinds"], census["items"], census["sizes"]) == (4, 24, {"1": 8, "2": 8, "3": 8})
    assert by_word == {"hot": (1, 0, 6), "sweet": (1, 1, 6), "red": (4, 0, 12), "blue": (4, 0, 12)}
    assert [each["nouns"] for each in census["questions"]] == ["kind", "wider", "item"]
    assert vqagen_.done(items("stats")).out.startswith(b"24 items: 4 kinds in each color and size")


# Previews -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("names", "tiles", "columns"),
    [
        ("", 4, 8),
        ("apple", 6, 2),
        ("apple mug", 12, 2),
        ("apple --color red", 3, 3),
        ("apple --color red --size 2", 1, 8),
    ],
)
def test_a_sheet_has_each_item_that_is_asked_for(names: str, tiles: int, columns: int, vqagen_: Commands) -> None:
    vqagen_.done(items(f"preview {names} -o sheet.svg"))
    texts = [each for each in ElementTree.parse("sheet.svg").iter() if each.tag.endswith("}text")]

    assert len(texts) == tiles
    assert len({each.get("x") for each in texts}) == min(columns, tiles)


def test_one_item_is_drawn_alone(vqagen_: Commands) -> None:
    """Nothing is behind it, and it fills its share of the square."""
    vqagen_.done(items("preview red_box_2 --side 100 -o box.png"))
    picture = Image.open("box.png")

    assert picture.size == (100, 100)
    assert picture.getpixel((1, 1)) == (0, 0, 0, 0)
    assert picture.getbbox() == pytest.approx((26, 26, 74, 74), abs=3)


def test_png_and_svg_are_the_same_every_time(tmp_path: Path) -> None:
    sheet = make_sheet(load_catalogue_file(write_catalogue(tmp_path / "c.json", small_catalogue())), ["apple"])

    assert sheet_png(sheet) == sheet_png(sheet)
    assert Image.open(io.BytesIO(sheet_png(sheet))).size == sheet.size
    assert sheet_svg(sheet) == sheet_svg(sheet)


def test_an_own_picture_is_shown_in_svg_too(vqagen_: Commands) -> None:
    vqagen_.done(items("add my_mug --image pictures/red.png --kind mug --is red"))
    vqagen_.done(items("preview my_mug -o mug.svg"))

    assert 'href="data:image/png;base64,' in Path("mug.svg").read_text()


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("preview -o sheet.bmp", "cannot tell the format of sheet.bmp; end its name in .png or .svg"),
        ("preview aple -o a.png", "unknown entry 'aple'; did you mean 'apple'?"),
        ("preview hot -o a.png", "the adjective 'hot' has no picture; name kinds or items"),
        ("preview --color grene -o a.png", "unknown color 'grene'; known: red, blue"),
        ("preview --size 4 -o a.png", "unknown size 4; there are 3 sizes, from 1"),
        ("preview --side 5000 -o a.png", "--side must be at most 1024, found 5000"),
        ("preview -o c.json", "is in use by the same run"),
    ],
)
def test_a_preview_that_cannot_be_made_is_refused(line: str, message: str, vqagen_: Commands) -> None:
    ran = vqagen_(items(line) + " --force")

    assert (ran.code, ran.out) == (2, b"")
    assert message in ran.err


def test_a_text_with_comments_is_read_back(vqagen_: Commands) -> None:
    """As people write by hand."""
    Path("c.json").write_text("// mine\n" + Path("c.json").read_text())
    vqagen_.done(items("rename apple pear"))

    assert list(read_tolerantly(Path("c.json").read_text()).value["kinds"]) == ["pear", "lemon", "mug", "box"]


def test_the_questions_of_a_catalogue_are_counted() -> None:
    """Each by hand: a fruit, and a red, blue or sweet one; no sweet container, as none is."""
    census = count_catalogue(ItemCatalogue(small_catalogue({"kinds.lemon.unclear": None}), Path()))
    of_kinds, of_wider, of_all = census.questions

    assert (of_kinds.plain, of_kinds.physics) == (12, 0), "4 kinds, each alone or in one of 2 colors"
    assert (of_wider.plain, of_wider.physics) == (6 + 3, 3), "(sweet) fruit, (hot) container; in no color or 2"
    assert (of_all.plain, of_all.physics) == (5, 3), "red, blue, sweet (also in colors), hot (also in colors)"
    assert of_kinds.sizes == 12
