"""Ways to say things: where they come from, which come first, and what is wrong or doubtful about them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from families import SHIPPED, Collection

from vqagen.authoring.check.synonym_rules import ambiguous_words, unknown_synonyms, unsaid_plurals
from vqagen.errors import BadInput
from vqagen.language.synonyms import Synonyms, english_plural, load_synonyms
from vqagen.world.domain import Domain, domain_from_metadata

METADATA: dict[str, Any] = {
    "types": {
        "Color": ["red", "orange", "ash"],
        "Kind": {
            "values": [{"cattle": ["ox", "cow"]}, "mouse", "fly", "stop_sign"],
            "null": "animal",
            "display": {"cattle": "head of cattle", "stop_sign": "stop sign"},
        },
        "Relation": ["left", "in"],
    },
    "plurals": {"mouse": "mice", "ox": "oxen", "head of cattle": "head of cattle", "man": "men", "knifes": "knives"},
}
FARM = domain_from_metadata(METADATA)


def farm(**sections: Any) -> Domain:
    return domain_from_metadata({**METADATA, **sections})


# Where ways come from ---------------------------------------------------------------------------------------------


def test_ways_to_say_a_value_of_one_type_come_before_those_of_any() -> None:
    table = {"ash": ["gray"], "Kind": {"ash": ["tree"], "ox": ["bull"]}, "ox": ["cow"], "Color": {"red": ["ruby"]}}

    synonyms = Synonyms(table, FARM)

    assert synonyms.of("Kind", "ash") == ("tree",)
    assert synonyms.of("Color", "ash") == ("gray",)
    assert synonyms.of("Kind", "ox") == ("bull",)
    assert synonyms.of("Kind", "fly") == ("fly",)
    assert synonyms.of("Color", None) == ("",)
    assert synonyms.of("Relation", None) == ("",)


def test_a_synonyms_file_may_hold_both_forms_and_comments(tmp_path: Path) -> None:
    path = tmp_path / "synonyms.json"
    table = {"comment": "x", "$schema": "x", "ox": ["cow"], "Color": {"comment": "x", "red": ["ruby"]}}
    path.write_text(json.dumps(table))

    synonyms = load_synonyms(path, FARM)

    assert (synonyms.of("Kind", "ox"), synonyms.of("Color", "red")) == (("cow",), ("ruby",))


FILE_AND_SECTION = [
    # the file's table, the metadata's section, and what Color's ash is called
    ({}, {}, "ash"),
    ({}, {"ash": ["gray"]}, "gray"),
    ({}, {"Color": {"ash": ["pale"]}}, "pale"),
    ({}, {"ash": ["gray"], "Color": {"ash": ["pale"]}}, "pale"),
    ({"ash": ["wan"]}, {"ash": ["gray"], "Color": {"ash": ["pale"]}}, "wan"),
    ({"Color": {"ash": ["wan"]}}, {"ash": ["gray"], "Color": {"ash": ["pale"]}}, "wan"),
    ({"Kind": {"ash": ["tree"]}}, {"ash": ["gray"]}, "gray"),
    ({"red": ["ruby"], "Color": {"red": ["ruby"]}}, {"ash": ["gray"]}, "gray"),
    ({"color": {"ash": ["wan"]}}, {"COLOR": {"ash": ["gray"]}}, "ash"),
]


@pytest.mark.parametrize(("table", "section", "expected"), FILE_AND_SECTION)
def test_the_file_comes_before_the_metadata_value_by_value(
    tmp_path: Path, table: dict[str, Any], section: dict[str, Any], expected: str
) -> None:
    path = tmp_path / "synonyms.json"
    path.write_text(json.dumps(table))

    assert load_synonyms(path, farm(synonyms=section)).of("Color", "ash") == (expected,)


DISPLAYED = [
    ("stop_sign", {}, ("stop sign",)),
    ("cattle", {}, ("head of cattle",)),
    ("ox", {}, ("ox",)),
    ("mouse", {}, ("mouse",)),
    (None, {}, ("animal",)),
    ("cattle", {"cattle": ["cows"]}, ("cows",)),
    ("cattle", {"Kind": {"cattle": ["cows"]}}, ("cows",)),
    ("cattle", {"head of cattle": ["cows"]}, ("head of cattle",)),
]


@pytest.mark.parametrize(("value", "table", "expected"), DISPLAYED)
def test_a_value_is_said_as_displayed_where_it_has_no_synonym(
    value: str | None, table: dict[str, Any], expected: tuple[str, ...]
) -> None:
    """Groups too; and a value without either is said as itself."""
    assert Synonyms(table, FARM).of("Kind", value) == expected


SYNONYM_MISTAKES = [
    ("[]", 1, "", "expected an object, found a list of 0"),
    ('{\n"red": []}', 2, "red", "expected a list of at least 1, found a list of 0"),
    ('{\n"red": ["ruby", 3]}', 2, "red[1]", "expected text, found 3"),
    ('{"red": ["a <Z>"]}', 1, "red[0]", "expected a way to say it, without < > [ ], found 'a <Z>'"),
    ('{\n"Color": {\n"red": {"ruby": []}}}', 3, "Color.red", "expected a list, found an object"),
    ('{\n"red": ["ruby"\n}', 3, "", "not valid JSON"),
]


@pytest.mark.parametrize(("text", "line", "path", "message"), SYNONYM_MISTAKES)
def test_mistake_in_synonyms(tmp_path: Path, text: str, line: int, path: str, message: str) -> None:
    (tmp_path / "synonyms.json").write_text(text)

    with pytest.raises(BadInput) as raised:
        load_synonyms(tmp_path / "synonyms.json", FARM)

    (problem,) = raised.value.problems
    assert (problem.line, problem.path) == (line, path)
    assert message in problem.message


# Plurals ----------------------------------------------------------------------------------------------------------

PLURALS = [
    ("cube", "cubes"),
    ("cylinder", "cylinders"),
    ("stop sign", "stop signs"),
    ("box", "boxes"),
    ("bus", "buses"),
    ("bush", "bushes"),
    ("bench", "benches"),
    ("quartz", "quartzes"),
    ("berry", "berries"),
    ("toy", "toys"),
]


@pytest.mark.parametrize(("one", "many"), PLURALS)
def test_english_plural(one: str, many: str) -> None:
    assert english_plural(one) == many


WAYS = [
    ("mouse", "mice"),
    ("computer mouse", "computer mice"),
    ("head of cattle", "head of cattle"),
    ("big head of cattle", "big head of cattles"),
    ("stop sign", "stop signs"),
    ("grown man", "grown men"),
    ("human", "humans"),
    ("tin box", "tin boxes"),
    ("bread knife", "bread knives"),
    ("toy-mouse", "toy-mice"),
    ("toy-box", "toy-boxes"),
    ("dormouse", "dormouses"),
]


@pytest.mark.parametrize(("way", "expected"), WAYS)
def test_plural_of_a_way(way: str, expected: str) -> None:
    """The domain's plurals of all of it, then of its last word, where a hyphen may begin it; then the English rule."""
    assert Synonyms({}, FARM).plural(way) == expected


def test_words_for_extremes_are_no_ways_to_say_a_relation() -> None:
    """Those of the file go before those of the metadata; a relation without any has none."""
    own = farm(synonyms={"Extreme": {"left": ["leftmost"], "in": ["innermost"]}})
    synonyms = Synonyms({"left": ["left of"], "Extreme": {"left": ["far left"]}}, own)

    assert synonyms.of("Relation", "left") == ("left of",)
    assert [synonyms.extreme(name) for name in ("left", "in", "behind")] == [("far left",), ("innermost",), ()]


# Doubts -----------------------------------------------------------------------------------------------------------

UNKNOWN: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"red": ["ruby"], "cattle": ["cows"], "animal": ["beast"], "left": ["left of"], "comment": "x"}, []),
    ({"Kind": {"ox": ["bull"], "animal": ["beast"], "comment": "x"}, "Relation": {"in": ["within"]}}, []),
    ({"rad": ["ruby"]}, [("rad", "unknown value 'rad'; did you mean 'red'?")]),
    ({"Red": ["ruby"]}, [("Red", "unknown value 'Red'; did you mean 'red'?")]),
    ({"color": {"red": ["ruby"]}}, [("color", "unknown type 'color'; did you mean 'Color'?")]),
    ({"Object": {"red": ["ruby"]}}, [("Object", "unknown type 'Object'; known: Color, Kind, Relation, Extreme")]),
    ({"Extreme": {"left": ["leftmost"], "comment": "x"}}, []),
    ({"Extrem": {"left": ["leftmost"]}}, [("Extrem", "unknown type 'Extrem'; did you mean 'Extreme'?")]),
    ({"Extreme": {"lefd": ["leftmost"]}}, [("Extreme.lefd", "unknown Extreme 'lefd'; did you mean 'left'?")]),
    ({"Color": {"ox": ["bull"]}}, [("Color.ox", "unknown Color 'ox'; known: red, orange, ash")]),
    ({"Kind": {"axe": ["x"], "oxe": ["bull"]}, "read": ["ruby"]}, [
        ("Kind.axe", "unknown Kind 'axe'; known: cattle, ox, cow, mouse, fly, stop_sign, animal"),
        ("Kind.oxe", "unknown Kind 'oxe'; did you mean 'ox'?"),
        ("read", "unknown value 'read'; did you mean 'red'?"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("table", "expected"), UNKNOWN)
def test_synonyms_of_what_the_domain_does_not_have(table: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert list(unknown_synonyms(table, FARM)) == expected
    assert list(unknown_synonyms(table, FARM, "synonyms")) == [(f"synonyms.{path}", told) for path, told in expected]


AMBIGUOUS: list[tuple[dict[str, Any], list[tuple[str, list[tuple[str, str]]]]]] = [
    ({}, []),
    ({"ox": ["bull", "bull"], "red": ["ruby", "scarlet"]}, []),
    ({"ox": ["bull"], "cow": ["cow", "bull"]}, [("bull", [("Kind", "ox"), ("Kind", "cow")])]),
    ({"ox": ["fly"]}, [("fly", [("Kind", "ox"), ("Kind", "fly")])]),
    ({"ox": ["cattle"]}, []),
    ({"ox": ["head  of Cattle"]}, [("head of cattle", [("Kind", "cattle"), ("Kind", "ox")])]),
    ({"red": ["Ox"]}, [("Ox", [("Color", "red"), ("Kind", "ox")])]),
    ({"left": ["in"]}, [("in", [("Relation", "left"), ("Relation", "in")])]),
    ({"in": ["red"]}, [("red", [("Color", "red"), ("Relation", "in")])]),
    ({"animal": ["mouse"]}, [("mouse", [("Kind", "mouse"), ("Kind", "animal")])]),
]


@pytest.mark.parametrize(("table", "expected"), AMBIGUOUS)
def test_words_that_say_two_things(table: dict[str, Any], expected: list[tuple[str, list[tuple[str, str]]]]) -> None:
    assert list(ambiguous_words(Synonyms(table, FARM), FARM)) == expected


PLURALS_OF_WORDS: list[tuple[dict[str, Any], dict[str, str], list[str]]] = [
    ({}, {"mouse": "mice", "flys": "flies"}, []),
    ({}, {"stop sign": "stop signs", "sign": "signs"}, []),
    ({}, {"mousse": "mice"}, ["plurals.mousse"]),
    ({}, {"stop_sign": "stop signs"}, ["plurals.stop_sign"]),
    ({"mouse": ["rodent"]}, {"mouse": "mice"}, ["plurals.mouse"]),
    ({"mouse": ["mouse", "field mouse", "toy-mouse"]}, {"mouse": "mice"}, []),
]


@pytest.mark.parametrize(("table", "plurals", "unsaid"), PLURALS_OF_WORDS)
def test_plurals_fit_the_words_that_are_said(table: dict[str, Any], plurals: dict[str, str], unsaid: list[str]) -> None:
    domain = farm(plurals=plurals)

    assert [place for place, _ in unsaid_plurals(Synonyms(table, domain), domain)] == unsaid


@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_no_shipped_word_says_two_things(collection: Collection) -> None:
    materials = collection.materials

    assert list(ambiguous_words(materials.synonyms, materials.domain)) == []
