"""How the items of a catalogue look: their words, sizes, paints and pictures."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from grids import shipped_looks
from PIL import Image

from vqagen.errors import BadInput
from vqagen.tasks.director.catalogue import load_catalogue_file
from vqagen.tasks.director.pictures import looks_of

OWN = {
    "mug_photo": {"image_path": "a.png", "kind": "mug", "size": 2, "properties": ["blue", "hot"]},
    "vase": {"image_path": "a.png", "nouns": ["container"]},
}


def test_each_item_of_the_catalogue_has_a_look() -> None:
    """In the words of instructions; its size is told apart from them."""
    look = shipped_looks()["purple_scissors_2"]

    assert list(shipped_looks()) == [item.name for item in load_catalogue_file().items]
    assert (look.words, look.size, look.sizes) == ("purple pair of scissors", 2, 4)
    assert look.scale == load_catalogue_file().sizes[1]
    assert look.paint == load_catalogue_file().paints["purple"]


def test_own_pictures_are_as_large_as_their_size_among_those_of_their_kind(tmp_path: Path) -> None:
    """The only picture of its kind is as large as can be."""
    Image.new("RGB", (4, 4)).save(tmp_path / "a.png")
    record = {**load_catalogue_file().record, "items": OWN}
    (tmp_path / "own.json").write_text(json.dumps(record))
    catalogue = load_catalogue_file(tmp_path / "own.json")
    looks = looks_of(catalogue)

    assert looks["mug_photo"].scale == catalogue.sizes[1] / catalogue.sizes[3]
    assert (looks["mug_photo"].words, looks["mug_photo"].properties) == ("blue mug", ("hot",))
    assert (looks["vase"].words, looks["vase"].properties) == ("vase", ("container",))
    assert (looks["vase"].scale, looks["vase"].sizes) == (1, 1)
    assert looks["vase"].picture == tmp_path / "a.png"
    assert looks["vase"].drawing is None


@pytest.mark.slow
def test_a_catalogue_is_worked_out_once_but_for_what_may_change(tmp_path: Path) -> None:
    """Equal texts are one catalogue with the same looks; a picture that is gone when it is read again is a mistake."""
    own, picture = tmp_path / "own.json", tmp_path / "a.png"
    own.write_text(json.dumps(load_catalogue_file().record))
    drawn = load_catalogue_file(own)
    assert load_catalogue_file(own) is drawn
    assert looks_of(load_catalogue_file(own)) is looks_of(drawn)

    Image.new("RGB", (4, 4)).save(picture)
    own.write_text(json.dumps({**drawn.record, "items": OWN}))
    assert len(load_catalogue_file(own).items) > len(drawn.items)
    picture.unlink()
    with pytest.raises(BadInput, match="no picture at"):
        load_catalogue_file(own)
