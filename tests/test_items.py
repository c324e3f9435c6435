"""A catalogue of items is edited, saved, copied and drawn; an edit changes one entry and keeps all else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from catalogues import DOT, SMALL_CATALOGUE, small_catalogue, write_catalogue
from commands import Commands
from PIL import Image

from vqagen.authoring.items.catalogue_file import ChangedMeanwhile, read_catalogue, save
from vqagen.authoring.items.edits import edited_draft
from vqagen.authoring.items.session import Session, messages
from vqagen.errors import BadInput, InputWarning, VqagenError
from vqagen.files.parsing import laid_out
from vqagen.tasks.director.catalogue import load_catalogue_file

SET_HOT = {"action": "word", "name": "apple", "word": "hot", "truth": "true"}


@pytest.fixture
def vqagen_(capsysbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    """Runs commands in a folder with a catalogue, c.json, and a picture."""
    monkeypatch.chdir(tmp_path)
    write_catalogue(Path("c.json"), small_catalogue())
    Path("pictures").mkdir()
    Image.new("RGBA", (40, 40), (214, 47, 47, 255)).save("pictures/red.png")
    return Commands(capsysbinary)


def items(line: str) -> str:
    return f"director items {line} --catalogue c.json"


# Edits --------------------------------------------------------------------------------------------------------------


def value(name: str, key: str, new: Any) -> dict[str, Any]:
    return {"action": "value", "name": name, "key": key, "value": new}


BALL = {"kinds.ball": {"nouns": [], "properties": [], "art": DOT}}
EDITS: list[tuple[dict[str, Any], dict[str, Any]]] = [
    (SET_HOT, {"kinds.apple.properties": ["sweet", "hot"]}),
    (SET_HOT | {"word": "sweet"}, {}),
    (SET_HOT | {"word": "sweet", "truth": "false"}, {"kinds.apple.properties": []}),
    (SET_HOT | {"word": "sweet", "truth": "unclear"}, {"kinds.apple.properties": [], "kinds.apple.unclear": ["sweet"]}),
    (
        SET_HOT | {"name": "lemon", "word": "sweet"},
        {"kinds.lemon.properties": ["sweet"], "kinds.lemon.unclear": None},
    ),
    (SET_HOT | {"word": "snack"}, {"kinds.apple.nouns": ["fruit", "snack"]}),
    (value("box", "plural", "boxes"), {"nouns.box": {"plural": "boxes"}}),
    (value("fruit", "singular", ""), {"nouns.fruit.singular": None}),
    (value("red", "paint", "#ff0000"), {"adjectives.1.values.red.paint": "#ff0000"}),
    (value("sweet", "is_physics", True), {"adjectives.0.values.sweet.is_physics": True}),
    (value("box", "art", DOT), {"kinds.box.art": DOT}),
    ({"action": "add", "name": "ball", "art": DOT}, BALL),
    ({"action": "add", "name": " ball ", "art_of": "apple"}, BALL),
    ({"action": "add", "name": "cold", "class": "quality"}, {"adjectives.0.values.cold": {}}),
    (
        {"action": "add", "name": "teal", "class": "color", "paint": "#00aaaa"},
        {"adjectives.1.values.teal": {"paint": "#00aaaa"}},
    ),
    (
        {"action": "rename", "name": "mug", "to": "cup"},
        {"kinds.cup": SMALL_CATALOGUE["kinds"]["mug"], "kinds.mug": None},
    ),
    (
        {"action": "rename", "name": "hot", "to": "warm"},
        {"adjectives.0.values": {"warm": {"is_physics": True}, "sweet": {}}, "kinds.mug.properties": ["warm"]},
    ),
    (
        {"action": "rename", "name": "fruit", "to": "crop"},
        {
            "nouns": {"crop": SMALL_CATALOGUE["nouns"]["fruit"]},
            "kinds.apple.nouns": ["crop"],
            "kinds.lemon.nouns": ["crop"],
        },
    ),
    ({"action": "remove", "name": "box"}, {"kinds.box": None}),
    (
        {"action": "remove", "name": "sweet"},
        {"adjectives.0.values.sweet": None, "kinds.apple.properties": [], "kinds.lemon.unclear": []},
    ),
    (
        {"action": "remove", "name": "fruit"},
        {"nouns": {}, "kinds.apple.nouns": [], "kinds.lemon.nouns": []},
    ),
]
"""An edit of the page, and what is then different in the document."""


def test_an_edit_changes_its_entry_and_nothing_else() -> None:
    wrong = [edit for edit, changes in EDITS if edited_draft(SMALL_CATALOGUE, edit) != small_catalogue(changes)]
    assert wrong == []


WRONG_EDITS = [
    ({"action": "fly"}, "unknown action 'fly'"),
    ({"action": "word", "name": "apple"}, "the edit lacks word, truth"),
    (SET_HOT | {"name": "aple"}, "unknown entry 'aple'; did you mean 'apple'?"),
    (SET_HOT | {"name": "hot"}, "words are true of kinds and items; the adjective 'hot' is neither"),
    (SET_HOT | {"word": "swet", "truth": "unclear"}, "unknown word 'swet'; did you mean 'sweet'?"),
    (SET_HOT | {"truth": "maybe"}, "unknown truth 'maybe'"),
    (value("apple", "nouns", []), "nouns is not for the kind 'apple'"),
    (value("apple", "art", None), "apple needs a value for art"),
    (value("red", "paint", "red"), "expected a color such as #d62728"),
    (value("red", "is_physics", 3), "expected true or false, found 3"),
    ({"action": "add", "name": "Ball", "art": DOT}, "'Ball' is no name of this kind"),
    ({"action": "add", "name": "ball"}, "nothing says what 'ball' is"),
    ({"action": "add", "name": "ball", "art_of": "bxo"}, "unknown kind 'bxo'; did you mean 'box'?"),
    ({"action": "add", "name": "cold", "class": "qualty"}, "unknown class of adjectives 'qualty'"),
    ({"action": "rename", "name": "mug", "to": "box"}, "kind 'box' exists already"),
    ({"action": "rename", "name": "mug", "to": "item"}, "'item' is the noun of everything"),
]


def test_a_wrong_edit_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    session, unexpected = Session(write_catalogue(tmp_path / "c.json", small_catalogue())), []
    for edit, message in WRONG_EDITS:
        try:
            session.edit(1, edit)
        except VqagenError as error:
            if any(message in each for each in messages(error)):
                continue
            unexpected.append((edit, messages(error)))
        else:
            unexpected.append((edit, []))

    assert unexpected == []
    assert not session.has_unsaved


def test_undo_and_redo_go_through_the_edits(tmp_path: Path) -> None:
    """What is typed in one go is one step."""
    session = Session(write_catalogue(tmp_path / "c.json", small_catalogue()))
    drafts = [session._draft]
    for name in ("apple", "lemon"):
        session.edit(session.version, SET_HOT | {"name": name})
        drafts.append(session._draft)
    for text in ("b", "bo", "boxes"):
        session.edit(session.version, value("box", "plural", text) | {"merge": "box plural"})
    drafts.append(session._draft)
    back = [session.undo(session.version) and session._draft for _ in range(4)]
    forth = [session.redo(session.version) and session._draft for _ in range(4)]

    assert back == [*drafts[2::-1], drafts[0]]
    assert forth == [*drafts[1:], drafts[3]]


# Saving -------------------------------------------------------------------------------------------------------------


def test_a_save_lays_the_file_out_and_keeps_its_mode_and_link(tmp_path: Path) -> None:
    """Keys named comment stay; so do permissions and a symbolic link. A byte order mark and // comments go."""
    document = small_catalogue({"comment": "mine", "kinds.mug.comment": "sour"})
    path = write_catalogue(tmp_path / "c.json", document)
    path.write_bytes(b"\xef\xbb\xbf// theirs\n" + path.read_bytes())
    before = path.read_bytes()
    path.chmod(0o640)
    (tmp_path / "link.json").symlink_to("c.json")
    with pytest.warns(InputWarning, match="a comment, which JSON does not have, is skipped"):
        file = read_catalogue(tmp_path / "link.json")
    backup = save(edited_draft(file.document, SET_HOT), file)

    changed = small_catalogue(
        {"comment": "mine", "kinds.mug.comment": "sour", "kinds.apple.properties": ["sweet", "hot"]}
    )
    assert path.read_text() == laid_out(changed)
    assert json.loads(path.read_text()) == changed
    assert '\n    "apple": {"nouns": ["fruit"], "properties": ["sweet", "hot"], "art": [{' in path.read_text()
    assert (tmp_path / "link.json").is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert (backup, backup.read_bytes()) == (tmp_path / "c.json.bak", before)


def test_a_save_adds_no_mistake(tmp_path: Path) -> None:
    """Mistakes that are there already do not keep others from being corrected."""
    document = small_catalogue({"kinds.box.unclear": ["hott"], "kinds.mug.properties": ["hto"]})
    file = read_catalogue(write_catalogue(tmp_path / "c.json", document))
    with pytest.raises(BadInput, match="unknown shape 'elipse'"):
        save(edited_draft(file.document, value("box", "art", [{"elipse": [0.5] * 4}])), file)
    assert not (tmp_path / "c.json.bak").exists()
    save(edited_draft(file.document, SET_HOT), file)


def test_a_file_that_somebody_else_changed_is_not_replaced(tmp_path: Path) -> None:
    """Neither a change nor a backup is written."""
    path = write_catalogue(tmp_path / "c.json", small_catalogue())
    before = read_catalogue(path)
    write_catalogue(path, small_catalogue({"kinds.box": None}))
    with pytest.raises(ChangedMeanwhile, match="changed by someone else"):
        save(edited_draft(before.document, SET_HOT), before)

    assert json.loads(path.read_bytes()) == small_catalogue({"kinds.box": None})
    assert not (tmp_path / "c.json.bak").exists()


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
        ("preview aple -o a.svg", "unknown entry 'aple'; did you mean 'apple'?"),
        ("preview hot -o a.svg", "the adjective 'hot' has no picture; name kinds or items"),
    ):
        ran = vqagen_(items(line) + " --force")
        assert (ran.code, ran.out) == (2, b"")
        assert message in ran.err
