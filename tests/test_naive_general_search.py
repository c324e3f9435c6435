"""The slow twin fills templates of any domain, under every constraint, as found by hand on the pantry's scenes."""

from __future__ import annotations

from collections import Counter

import pytest
from general_domain import METADATA, SCENES, TEMPLATES
from naive import instantiations
from naive_constraints import CONSTRAINTS, is_allowed
from naive_descriptions import COMPOSITE
from naive_programs import FAMILIES, PLAIN
from program_notation import constraint

PANTRY = SCENES[0]

# Constraints ------------------------------------------------------------------------------------------------------

KNOWN = {"<K>": "rye", "<K2>": "rye", "<O>": "north", "<L>": None, "<T>": None, 1: 3, 2: 3, 3: 4, 4: "rye"}
HOLD = [
    ("NULL <L>", True),
    ("NULL <L> <T>", True),
    ("NULL <L> <K>", False),
    ("NONE_OF <L> <T>", True),
    ("NONE_OF <L> <K>", False),
    ("NOT_NULL <K> <O>", True),
    ("NOT_NULL <K> <L>", False),
    ("NOT_ALL_NULL <K> <L>", True),
    ("NOT_ALL_NULL <L> <T>", False),
    ("ONE_OF <L> <T>", True),
    ("ONE_OF <L> <T> <K>", True),
    ("ONE_OF <L> <O> <K>", False),
    ("ONE_OF_FORCE <L> <T>", False),
    ("ONE_OF_FORCE <L> <T> <K>", True),
    ("ONE_OF_FORCE <L> <O> <K>", False),
    ("EQ <K> <K2>", True),
    ("EQ <K> <O>", False),
    ("EQ <L> <T>", True),
    ("NEQ <K> <O>", True),
    ("NEQ <K> <K2>", False),
    ("NEQ <K> <L>", True),
    ("NEQ <L> <T>", False),
    ("IN <K> rye", True),
    ("IN <K> bun rye", True),
    ("IN <K> bun|rye", True),
    ("IN <K> bun|apple pear", False),
    ("IN <K> bread", False),
    ("IN <L> sale organic", False),
    ("NOT_IN <K> bun|apple pear", True),
    ("NOT_IN <K> bun|rye", False),
    ("NOT_IN <L> sale organic", True),
    ("OUT_EQ 1 2", True),
    ("OUT_EQ 1 3", False),
    ("OUT_NEQ 1 3", True),
    ("OUT_NEQ 1 2", False),
    ("OUT_LT_CONST 1 4", True),
    ("OUT_LT_CONST 1 3", False),
    ("OUT_LE_CONST 1 3", True),
    ("OUT_LE_CONST 1 2", False),
    ("OUT_GT_CONST 1 2", True),
    ("OUT_GT_CONST 1 3", False),
    ("OUT_GE_CONST 1 3", True),
    ("OUT_GE_CONST 1 4", False),
    ("OUT_EQ_CONST 1 3", True),
    ("OUT_EQ_CONST 1 1", False),
    ("OUT_NEQ_CONST 1 1", True),
    ("OUT_NEQ_CONST 1 3", False),
    # not yet to be decided
    ("NULL <K> <Z>", True),
    ("EQ <O> <Z>", True),
    ("IN <Z> big", True),
    ("OUT_EQ 1 9", True),
    ("OUT_LT_CONST 9 0", True),
]


@pytest.mark.parametrize(("written", "expected"), HOLD)
def test_a_constraint_holds_where_it_does_by_hand(written: str, expected: bool) -> None:
    assert is_allowed({"constraints": [constraint(written)]}, KNOWN) is expected


def test_all_constraints_must_hold() -> None:
    both = [constraint("NULL <L>"), constraint("NULL <K>")]

    assert not is_allowed({"constraints": both}, KNOWN)
    assert is_allowed({"constraints": {}}, KNOWN)
    assert is_allowed({}, KNOWN)


# Filling templates ------------------------------------------------------------------------------------------------

SALT, SALT_SUGAR = ("salt",), ("salt", "sugar")
FILLED = [
    # scene, template: how often each answer
    (0, "count", {4: 1, 3: 1, 2: 2, 1: 3}),
    (0, "exist", {True: 16}),
    (0, "filter", {2: 4, 1: 4}),
    (0, "filter_unique", {SALT: 3}),
    (0, "filter_not_unique", {3: 2, 2: 7}),
    (0, "literals", {2: 2, 1: 2}),
    (0, "slot_used_again", {0: 6, 1: 1}),
    (0, "relate_filter", {1: 12, 2: 3}),
    (0, "relate_filter_unique", {"dark": 8, "pale": 8}),
    (0, "relate_filter_not_unique", {2: 4}),
    (0, "relate_filter_count", {1: 6, 0: 6}),
    (0, "relate_filter_exist", {True: 6, False: 6}),
    (0, "relate", {1: 5, 0: 11}),
    (0, "beside_unique", {"dark": 8}),
    (0, "beside", {1: 2, 0: 1}),
    (0, "same", {1: 18, 0: 12}),
    (0, "same_list", {1: 1}),
    (0, "different", {1: 2}),
    (0, "different_list", {True: 4, False: 1}),
    (0, "equal_list", {True: 3, False: 10}),
    (0, "query", {"north": 7, "island": 1}),
    (0, "unique", {"small": 1, "big": 1}),
    (0, "not_unique", {"organic": 3}),
    (0, "sets", {1: 14, 2: 29, 3: 5}),
    (0, "add", {5: 3, 3: 2, 4: 1}),
    (0, "subtract", {0: 1, 1: 1, 2: 1}),
    (0, "and", {True: 12, False: 12}),
    (0, "or", {True: 12, False: 2}),
    (0, "not", {False: 3}),
    (0, "equal_object", {True: 1, False: 5}),
    (0, "equal_integer", {True: 6, False: 9}),
    (0, "less_than", {True: 16, False: 4}),
    (0, "greater_than", {True: 8, False: 12}),
    # fruit alone, two of them on sale
    (1, "count", {3: 2, 1: 1, 2: 1}),
    (1, "exist", {True: 7}),
    (1, "relate_filter_unique", {"pale": 3}),
    (1, "relate_filter_not_unique", {}),
    (1, "same_list", {}),
    (1, "relate", {}),
    # twins, and lists that share a member
    (2, "filter_unique", {SALT_SUGAR: 4, SALT: 2}),
    (2, "same_list", {0: 1}),
    (2, "different", {2: 2}),
    (2, "different_list", {True: 12, False: 3}),
    # nothing labelled, nothing on anything, nothing near anything
    (3, "count", {3: 2, 2: 1, 1: 2}),
    (3, "relate_filter_unique", {}),
    (3, "relate_filter_count", {}),
    (3, "filter_not_unique", {2: 6}),
    (3, "not", {False: 1}),
    (3, "subtract", {0: 2}),
]


@pytest.mark.parametrize(("scene", "name", "answers"), FILLED)
def test_a_template_is_filled_with_the_answers_found_by_hand(scene: int, name: str, answers: dict) -> None:
    found = instantiations(TEMPLATES[name], SCENES[scene], METADATA)

    assert Counter(each.answer for each in found) == answers


SWITCHED = [
    # of what is beside the bun, seeds are on all that there are
    ("relate_filter", {"trivial": False}, 14),
    # absent descriptions may name groups, and any mixture
    ("count", {"absent": True}, 9),
    ("exist", {"absent": True}, (3 + 1) * (8 + 1)),
    ("filter", {"absent": True}, 3 * (5 - 1)),
    ("literals", {"absent": True}, 5),
    ("filter_not_unique", {"absent": True}, 9),
    ("relate_filter_not_unique", {"absent": True}, 4),
    ("exist", {"given": {"<T>": "seeds"}}, 4),
    ("exist", {"given": {"<T>": "salt"}}, 5),
]


@pytest.mark.parametrize(("name", "switches", "expected"), SWITCHED)
def test_switches_leave_and_add_what_they_do_by_hand(name: str, switches: dict, expected: int) -> None:
    assert len(instantiations(TEMPLATES[name], PANTRY, METADATA, **switches)) == expected


def test_descriptions_of_a_list_say_any_one_member() -> None:
    found = instantiations(TEMPLATES["exist"], PANTRY, METADATA)

    said = {(words["<T>"], words["<K>"]) for words in (dict(each.slots) for each in found)}

    assert said == {
        *((None, kind) for kind in (None, "apple", "fruit", "rye", "loaf", "bread", "bun")),
        *(("seeds", kind) for kind in (None, "rye", "loaf", "bread")),
        *(("salt", kind) for kind in (None, "rye", "loaf", "bread", "bun")),
    }


def test_a_composite_node_ends_in_the_function_it_names() -> None:
    (found,) = instantiations(
        TEMPLATES["relate_filter_not_unique"], PANTRY, METADATA, given={"<K>": "bun", "<R>": "beside", "<K2>": "loaf"}
    )

    assert found.program == (
        ("scene", (), ()),
        ("filter_kind", (0,), ("bun",)),
        ("unique", (1,), ()),
        ("relate", (2,), ("beside",)),
        ("filter_kind", (3,), ("loaf",)),
        ("not_unique", (4,), ()),
        ("count_different_topping", (5,), ()),
    )


def test_literals_are_filters_too_and_no_slots() -> None:
    (found,) = instantiations(TEMPLATES["literals"], PANTRY, METADATA, given={"<O>": "mainland"})

    assert found.slots == (("<O>", "mainland"),)
    assert found.program[1:-1] == (
        ("filter_origin", (0,), ("mainland",)),
        ("filter_topping", (1,), ("salt",)),
        ("filter_kind", (2,), ("loaf",)),
    )


def test_nodes_may_be_written_as_programs_are() -> None:
    record = TEMPLATES["relate_filter"]
    nodes = [{"function": n["type"], "inputs": n["inputs"], "value_inputs": n["side_inputs"]} for n in record["nodes"]]

    expected = instantiations(record, PANTRY, METADATA)

    assert instantiations({**record, "nodes": nodes}, PANTRY, METADATA) == expected


def test_the_templates_have_every_function_constraint_and_composite_node_between_them() -> None:
    """So that an engine which agrees on them agrees on everything; second names are left to the loader."""
    nodes = {node["type"] for record in TEMPLATES.values() for node in record["nodes"]}
    steps = {step for record in TEMPLATES.values() for scene in SCENES
             for each in instantiations(record, scene, METADATA) for step, _, _ in each.program}  # fmt: skip
    plain = {name for name in steps if name in PLAIN}
    families = {family for family in FAMILIES for name in steps - plain if name.startswith(f"{family}_")}

    assert plain == set(PLAIN) - {"addition", "subtraction"}
    assert families == set(FAMILIES)
    assert len([name for name in nodes if COMPOSITE.fullmatch(name)]) == 2 * 5
    assert {each["type"] for record in TEMPLATES.values() for each in record["constraints"]} == set(CONSTRAINTS)
