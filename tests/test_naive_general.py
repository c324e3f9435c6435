"""The slow twin knows any domain: groups, lists, missing values, and every function of them.

All that is expected was found by hand on the scenes of `general_domain`. In the first of them are: apple (0: small,
north, pale, on sale), rye (1: big, south, dark, seeds and salt), bun (2: small, island, pale, salt), rye (3: big,
north, pale, organic, salt and seeds); beside each other are 0-1, 1-2, 2-3; above 0 is 3, above 1 are 2 and 3.
"""

from __future__ import annotations

from typing import Any

import naive
import pytest
from general_domain import METADATA, SCENES
from naive import Undefined
from naive_vocabulary import groups_of, relation_type, values_of
from program_notation import program

PANTRY = SCENES[0]

# Vocabulary -------------------------------------------------------------------------------------------------------

WRITTEN = [
    (["a", "b"], ["a", "b"], {}),
    ({"values": ["a", "b"]}, ["a", "b"], {}),
    ({"g": ["a", "b"]}, ["g", "a", "b"], {"a": "g", "b": "g"}),
    ({"g": {"h": ["a"], "b": []}, "c": None}, ["g", "h", "a", "b", "c"], {"h": "g", "a": "h", "b": "g"}),
    (["a", {"g": ["b"]}], ["a", "g", "b"], {"b": "g"}),
    ({"comment": "of a and b", "g": ["a"]}, ["g", "a"], {"a": "g"}),
    ({"values": {"g": ["a"]}, "key": "k"}, ["g", "a"], {"a": "g"}),
    ({"values": ["a", "b"], "parents": {"a": "g", "g": "h"}}, ["a", "b", "g", "h"], {"a": "g", "g": "h"}),
    ({"values": ["a", "g"], "parents": {"a": "g"}}, ["a", "g"], {"a": "g"}),
    ({"values": {"g": ["a"], "c": []}, "parents": {"g": "h"}}, ["g", "a", "c", "h"], {"a": "g", "g": "h"}),
    (None, [], {}),
]


@pytest.mark.parametrize(("entry", "values", "groups"), WRITTEN)
def test_values_are_read_from_every_form(entry: Any, values: list[str], groups: dict[str, str]) -> None:
    metadata = {"types": {"Any": entry}}

    assert values_of(metadata, "Any") == values
    assert groups_of(metadata, "Any") == groups


def test_relations_and_attributes_are_what_functions_say_they_are() -> None:
    """Where no functions are declared, every type with values is an attribute but Relation."""
    types = {"Integer": None, "Color": ["red"], "Side": ["left"], "Relation": ["near"]}
    functions = [{"name": "relate", "side_inputs": ["Side"]}, {"name": "query_color"}]
    declared, silent = {"types": types, "functions": functions}, {"types": types}

    assert (relation_type(declared), naive.attribute_types(declared)) == ("Side", ["Color"])
    assert (relation_type(silent), naive.attribute_types(silent)) == ("Relation", ["Color", "Side"])


SEEN = [
    # scene, attribute, object; what it has, and all that can be said of it
    (0, "size", 1, "big", ["big"]),
    (0, "kind", 1, "rye", ["rye", "loaf", "bread"]),
    (0, "kind", 2, "bun", ["bun", "bread"]),
    (0, "origin", 1, "south", ["south", "mainland"]),
    (0, "origin", 2, "island", ["island"]),
    (0, "tint", 1, "dark", ["dark"]),
    (0, "label", 0, "sale", ["sale"]),
    (0, "label", 1, None, []),
    (0, "label", 2, None, []),
    (0, "topping", 0, None, []),
    (0, "topping", 3, ("seeds", "salt"), ["seeds", "salt"]),
    (1, "tint", 0, "dark", ["dark"]),
    (1, "topping", 0, None, []),
    (1, "topping", 2, None, []),
    (2, "topping", 3, ("salt", "sugar"), ["salt", "sugar"]),
]


@pytest.mark.parametrize(("scene", "attribute", "thing", "value", "sayable"), SEEN)
def test_an_object_has_and_is_what_its_record_says(
    scene: int, attribute: str, thing: int, value: object, sayable: list[str]
) -> None:
    world = naive.make_world(SCENES[scene], METADATA)

    assert world.values[attribute][thing] == value
    assert world.sayable[attribute][thing] == sayable


def test_members_of_a_list_may_be_in_groups() -> None:
    """A group is sayable of an object once, however many of its members are there."""
    entry = {"values": {"sweet": ["sugar", "honey"], "salt": []}, "multi": True}
    scene = {"objects": [{"topping": ["honey", "salt", "sugar"]}, {"topping": ["salt"]}], "relationships": {}}
    world = naive.make_world(scene, {"types": {"Topping": entry}})

    assert world.values["topping"][0] == ("sugar", "honey", "salt")
    assert world.sayable["topping"][0] == ["sugar", "sweet", "honey", "salt"]
    assert naive.run_step(world, "filter_topping", [world.start], ["sweet"]) == {0}
    assert naive.run_step(world, "count_different_topping", [world.start], []) == 3


# Functions --------------------------------------------------------------------------------------------------------

APPLE, BUN = "scene, filter_kind 0 apple, unique 1", "scene, filter_kind 0 bun, unique 1"
SOUTHERN, ORGANIC = "scene, filter_origin 0 south, unique 1", "scene, filter_label 0 organic, unique 1"
OUTPUTS = [
    # groups and members of lists fit
    ("scene, filter_kind 0 bread", {1, 2, 3}),
    ("scene, filter_kind 0 loaf", {1, 3}),
    ("scene, filter_kind 0 fruit", {0}),
    ("scene, filter_kind 0 pear", set()),
    ("scene, filter_origin 0 mainland", {0, 1, 3}),
    ("scene, filter_topping 0 salt", {1, 2, 3}),
    ("scene, filter_topping 0 salt, filter_topping 1 seeds", {1, 3}),
    ("scene, filter_topping 0 sugar", set()),
    ("scene, filter_tint 0 pale", {0, 2, 3}),
    ("scene, filter_label 0 sale", {0}),
    # answers are values, never groups; lists are in the domain's order
    (f"{ORGANIC}, query_kind 2", "rye"),
    (f"{ORGANIC}, query_origin 2", "north"),
    (f"{ORGANIC}, query_tint 2", "pale"),
    (f"{ORGANIC}, query_topping 2", ("seeds", "salt")),
    (f"{BUN}, query_topping 2", ("salt",)),
    (f"{APPLE}, query_label 2", "sale"),
    # who has none is neither the same nor different
    (f"{ORGANIC}, same_kind 2", {1}),
    (f"{ORGANIC}, same_origin 2", {0}),
    (f"{ORGANIC}, same_topping 2", {1}),
    (f"{BUN}, same_topping 2", set()),
    (f"{APPLE}, same_label 2", set()),
    (f"{ORGANIC}, different_kind 2", {0, 2}),
    (f"{APPLE}, different_origin 2", {1, 2}),
    (f"{APPLE}, different_label 2", {3}),
    (f"{BUN}, different_topping 2", {1, 3}),
    (f"{ORGANIC}, different_topping 2", {2}),
    (f"{SOUTHERN}, query_topping 2, scene, filter_label 4 organic, unique 5, query_topping 6, equal_topping 3 7", True),
    (f"{BUN}, query_topping 2, scene, filter_label 4 organic, unique 5, query_topping 6, equal_topping 3 7", False),
    (f"{SOUTHERN}, query_origin 2, scene, filter_label 4 organic, unique 5, query_origin 6, equal_origin 3 7", False),
    # groups do not count, members of lists do
    ("scene, count_different_kind 0", 3),
    ("scene, count_different_origin 0", 3),
    ("scene, count_different_tint 0", 2),
    ("scene, count_different_label 0", 2),
    ("scene, count_different_topping 0", 2),
    ("scene, filter_kind 0 loaf, count_different_kind 1", 1),
    ("scene, filter_kind 0 fruit, count_different_topping 1", 0),
    ("scene, filter_kind 0 pear, count_different_kind 1", 0),
    # sets
    (f"{APPLE}, relate 2 beside", {1}),
    (f"{SOUTHERN}, relate 2 above", {2, 3}),
    ("scene, filter_kind 0 loaf, not_unique 1", {1, 3}),
    ("scene, filter_kind 0 fruit, scene, filter_kind 2 loaf, union 1 3", {0, 1, 3}),
    ("scene, filter_topping 0 salt, scene, filter_tint 2 pale, intersect 1 3", {2, 3}),
    ("scene, filter_tint 0 pale, scene, filter_kind 2 bread, difference 1 3", {0}),
    ("scene, filter_kind 0 bread, scene, filter_tint 2 pale, difference 1 3", {1}),
    ("scene, filter_size 0 small, scene, filter_tint 2 pale, difference 1 3", set()),
    # numbers
    ("scene, filter_kind 0 bread, count 1, scene, filter_kind 3 loaf, count 4, add 2 5", 5),
    ("scene, filter_kind 0 bread, count 1, scene, filter_kind 3 loaf, count 4, addition 2 5", 5),
    ("scene, filter_kind 0 bread, count 1, scene, filter_kind 3 loaf, count 4, subtract 2 5", 1),
    ("scene, filter_kind 0 bread, count 1, scene, filter_kind 3 loaf, count 4, subtraction 2 5", 1),
    ("scene, filter_kind 0 rye, count 1, scene, filter_kind 3 loaf, count 4, subtract 2 5", 0),
    # truths
    ("scene, filter_kind 0 bun, exist 1, scene, filter_kind 3 pear, exist 4, and 2 5", False),
    ("scene, filter_kind 0 bun, exist 1, scene, filter_kind 3 rye, exist 4, and 2 5", True),
    ("scene, filter_kind 0 bun, exist 1, scene, filter_kind 3 pear, exist 4, or 2 5", True),
    ("scene, filter_kind 0 spelt, exist 1, scene, filter_kind 3 pear, exist 4, or 2 5", False),
    ("scene, filter_kind 0 pear, exist 1, not 2", True),
    ("scene, filter_kind 0 bun, exist 1, not 2", False),
]


@pytest.mark.parametrize(("text", "expected"), OUTPUTS)
def test_a_step_gives_what_was_found_by_hand(text: str, expected: object) -> None:
    found = naive.answer(program(text), PANTRY, METADATA)

    assert found == expected
    assert type(found) is (frozenset if isinstance(expected, set) else type(expected))


NO_OUTPUT = [
    f"{SOUTHERN}, query_label 2",
    f"{SOUTHERN}, same_label 2",
    f"{SOUTHERN}, different_label 2",
    f"{BUN}, query_label 2",
    f"{APPLE}, query_topping 2",
    f"{APPLE}, same_topping 2",
    f"{APPLE}, different_topping 2",
    "scene, filter_kind 0 fruit, not_unique 1",
    "scene, filter_kind 0 pear, not_unique 1",
    "scene, filter_kind 0 loaf, count 1, scene, filter_kind 3 bread, count 4, subtract 2 5",
]


@pytest.mark.parametrize("text", NO_OUTPUT)
def test_a_step_is_undefined_where_it_was_by_hand(text: str) -> None:
    with pytest.raises(Undefined):
        naive.answer(program(text), PANTRY, METADATA)


# Degenerate questions, "other", needless words ---------------------------------------------------------------------

DEGENERATE = [
    # program, degenerate by "clevr" (were a relate node raw), by "all"
    (f"{APPLE}, different_kind 2, count 3", False, True),
    (f"{APPLE}, different_label 2, count 3", False, False),
    (f"{BUN}, different_topping 2, filter_kind 3 bread, count 4", False, True),
    (f"{BUN}, different_topping 2, filter_origin 3 mainland, count 4", False, False),
    (f"{APPLE}, relate 2 above, filter_label 3 organic, unique 4, query_topping 5", True, True),
    (f"{APPLE}, relate 2 above, count_different_origin 3", False, False),
    (f"{SOUTHERN}, relate 2 above, filter_kind 3 bread, count_different_label 4", True, True),
    # yes and no: only where values are compared
    (f"{APPLE}, different_kind 2, exist 3, not 4", False, False),
    (f"{APPLE}, relate 2 above, exist 3, scene, exist 5, and 4 6", True, False),
    (f"{APPLE}, relate 2 above, exist 3, scene, exist 5, or 4 6", True, False),
    (f"{APPLE}, relate 2 above, filter_origin 3 north, filter_kind 4 rye, unique 5, query_topping 6, "
     "scene, filter_origin 8 south, unique 9, query_topping 10, equal_topping 7 11", True, True),
    (f"{APPLE}, relate 2 above, filter_kind 3 rye, unique 4, query_topping 5, "
     "scene, filter_origin 7 south, unique 8, query_topping 9, equal_topping 6 10", False, False),
    # one of two relations is enough
    (f"{APPLE}, relate 2 beside, unique 3, different_kind 4, count 5", False, False),
    (f"{APPLE}, relate 2 above, unique 3, different_kind 4, count 5", False, False),
    (f"{APPLE}, relate 2 above, filter_label 3 organic, unique 4, different_kind 5, count 6", True, True),
]  # fmt: skip


@pytest.mark.parametrize(("text", "clevr", "everywhere"), DEGENERATE)
def test_a_question_is_degenerate_where_it_is_by_hand(text: str, clevr: bool, everywhere: bool) -> None:
    found = [naive.is_degenerate(program(text), PANTRY, METADATA, policy, True) for policy in ("clevr", "all")]

    assert found == [clevr, everywhere]


OTHERS = [
    (f"{APPLE}, same_origin 2, filter_kind 3 fruit, count 4", True),
    (f"{APPLE}, same_origin 2, filter_kind 3 bread, count 4", False),
    (f"{SOUTHERN}, same_topping 2, filter_topping 3 salt, count 4", True),
    (f"{SOUTHERN}, same_topping 2, filter_tint 3 pale, count 4", False),
    (f"{APPLE}, different_origin 2, filter_kind 3 fruit, count 4", None),
]


@pytest.mark.parametrize(("text", "expected"), OTHERS)
def test_other_is_needed_only_after_likeness(text: str, expected: bool | None) -> None:
    assert naive.needs_other(program(text), PANTRY, METADATA) is expected


BREAD, LOAF, SEEDS = ("filter_kind", "bread"), ("filter_kind", "loaf"), ("filter_topping", "seeds")
NORTH, SOUTH = ("filter_origin", "north"), ("filter_origin", "south")
REFERENCES = [
    ("scene, filter_kind 0 loaf, filter_origin 1 north, unique 2, query_size 3",
     [(3, "scene", (LOAF, NORTH), ())]),
    ("scene, filter_kind 0 bread, filter_topping 1 seeds, filter_origin 2 south, unique 3, query_size 4",
     [(4, "scene", (BREAD, SEEDS, SOUTH), (BREAD, SEEDS))]),
    (f"{APPLE}, different_label 2, filter_kind 3 bread, unique 4, query_size 5",
     [(2, "scene", (("filter_kind", "apple"),), ()), (5, "different_label", (BREAD,), (BREAD,))]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), REFERENCES)
def test_references_name_their_chain_and_its_needless_words(text: str, expected: list[tuple]) -> None:
    assert naive.references(program(text), PANTRY, METADATA) == expected
