"""Mistakes in a catalogue of items: every command that reads one names all of them, each at its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from catalogues import DOT, small_catalogue, write_catalogue

from vqagen.errors import BadInput
from vqagen.tasks.director.catalogue import catalogue_faults, load_catalogue_file

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
