"""A small made-up domain, a pantry, that has everything a domain can have from data; its scenes, and its templates.

Food is of a kind (kinds have groups, two deep) and of an origin (some of them in a group), has a list of toppings,
perhaps a label, and a tint that stands inside of a `look`. What is beside or above what is not told by positions.
The templates need not make good questions: between them they have every function, constraint and composite node.
"""

from __future__ import annotations

from typing import Any

from program_notation import template

METADATA: dict[str, Any] = {
    "dataset": "pantry",
    "types": {
        "Object": None,
        "ObjectSet": None,
        "Integer": None,
        "Bool": None,
        "Size": ["small", "big"],
        "Label": {"values": ["sale", "organic"], "optional": True},
        "Tint": {"values": ["pale", "dark"], "key": "look.tint"},
        "Topping": {"values": ["seeds", "salt", "sugar"], "key": "toppings", "multi": True, "optional": True},
        "Origin": {"values": ["north", "south", "island"], "parents": {"north": "mainland", "south": "mainland"}},
        "Kind": {
            "values": {"fruit": ["apple", "pear"], "bread": {"loaf": ["rye", "spelt"], "bun": []}},
            "null": "food",
        },
        "Relation": ["beside", "above"],
    },
}
SLOTS = {
    "<Z>": "Size",
    "<L>": "Label",
    "<I>": "Tint",
    "<T>": "Topping",
    "<O>": "Origin",
    "<O2>": "Origin",
    "<K>": "Kind",
    "<K2>": "Kind",
    "<N>": "Integer",
    "<R>": "Relation",
}


def food(size: str, kind: str, origin: str, tint: str, *toppings: str, **more: Any) -> dict[str, Any]:
    """An object record with its toppings as a list, in the order given; `more` adds to it."""
    return {"size": size, "kind": kind, "origin": origin, "look": {"tint": tint}, "toppings": [*toppings], **more}


def _scene(index: int, objects: list[dict[str, Any]], beside: list[list[int]], above: list[list[int]]) -> dict:
    """Rows of a relation: i lists what is beside (or above) object i."""
    return {
        "image_filename": f"pantry_{index}.png",
        "image_index": index,
        "objects": objects,
        "relationships": {"beside": beside, "above": above},
    }


SCENES = (
    # a list that is empty, one in another order than the domain's; a label that is missing, and one that is null
    _scene(
        0,
        [
            food("small", "apple", "north", "pale", label="sale"),
            food("big", "rye", "south", "dark", "seeds", "salt"),
            food("small", "bun", "island", "pale", "salt", label=None),
            food("big", "rye", "north", "pale", "salt", "seeds", label="organic"),
        ],
        beside=[[1], [0, 2], [1, 3], [2]],
        above=[[3], [2, 3], [], []],
    ),
    # fruit alone; a key with a dot that is meant as it is written; lists that are missing or null
    _scene(
        1,
        [
            {"size": "small", "kind": "apple", "origin": "south", "look.tint": "dark", "look": {"tint": "pale"}},
            food("small", "pear", "north", "pale", "sugar", label="sale"),
            {"size": "big", "kind": "pear", "origin": "island", "look": {"tint": "pale"}, "toppings": None,
             "label": "sale"},
        ],
        beside=[[1], [0], []],
        above=[[], [], [0, 1]],
    ),
    # twins (0 and 1); other lists that share a member
    _scene(
        2,
        [
            food("big", "spelt", "north", "dark", "seeds", label="organic"),
            food("big", "spelt", "north", "dark", "seeds", label="organic"),
            food("small", "bun", "south", "pale"),
            food("small", "pear", "island", "dark", "sugar", "salt", label="sale"),
            food("big", "rye", "south", "pale", "salt"),
        ],
        beside=[[1], [0], [3], [2, 4], [3]],
        above=[[], [0], [0, 1], [4], []],
    ),
    # no list, no label, and nothing related to anything
    _scene(
        3,
        [
            food("small", "bun", "north", "pale"),
            food("small", "bun", "south", "pale"),
            food("big", "rye", "north", "dark"),
        ],
        beside=[[], [], []],
        above=[[], [], []],
    ),
)  # fmt: skip


def _template(name: str, text: str, nodes: str, *constraints: str) -> dict[str, Any]:
    used = {slot: kind for slot, kind in SLOTS.items() if slot in nodes}
    return {"name": name, "text": [text], **template(nodes, used, *constraints)}


_LIST = [
    # composite nodes that begin with a set, and groups, lists, missing values and literals in what they say
    _template("count", "How many <K>s are there?", "scene, filter_count 0 <K>"),
    _template("exist", "Is there any <K> with <T>?", "scene, filter_exist 0 <T> <K>"),
    _template(
        "filter",
        "What number of <K>s of <O> origin are there?",
        "scene, filter 0 <O> <K>, count 1",
        "IN <K> rye|bun loaf",
        "NOT_IN <O> north",
    ),
    _template("filter_unique", "What is on the <Z> <K>?", "scene, filter_unique 0 <Z> <K>, query_topping 1"),
    _template(
        "filter_not_unique",
        "How many origins do the <Z> <K>s have?",
        "scene, filter_not_unique 0 <Z> <K>, count_different_origin 1",
    ),
    _template("literals", "How many <O> loaves have salt?", "scene, filter_count 0 <O> salt loaf"),
    _template(
        "slot_used_again",
        "How many other <K>s have the tint of the <Z> <K>?",
        "scene, filter_unique 0 <Z> <K>, same_tint 1, filter_count 2 <K>",
    ),
    # composite nodes that begin with an object, and a relation by itself
    _template(
        "relate_filter",
        "How many things with <T> are <R> the <K>?",
        "scene, filter_unique 0 <K>, relate_filter 1 <R> <T>, count 2",
    ),
    _template(
        "relate_filter_unique",
        "What tint has the <K2> <R> the <K>?",
        "scene, filter_unique 0 <K>, relate_filter_unique 1 <R> <K2>, query_tint 2",
    ),
    _template(
        "relate_filter_not_unique",
        "How many toppings do the <K2>s <R> the <K> have?",
        "scene, filter_unique 0 <K>, relate_filter_not_unique 1 <R> <K2>, count_different_topping 2",
    ),
    _template(
        "relate_filter_count",
        "How many <Z> things are <R> the one labelled <L>?",
        "scene, filter_unique 0 <L>, relate_filter_count 1 <R> <Z>",
    ),
    _template(
        "relate_filter_exist",
        "Is any <I> thing <R> the one labelled <L>?",
        "scene, filter_unique 0 <L>, relate_filter_exist 1 <R> <I>",
    ),
    _template(
        "relate",
        "How many things from <O> are <R> the one labelled <L>?",
        "scene, filter_unique 0 <L>, relate 1 <R>, filter_origin 2 <O>, count 3",
    ),
    # relations that the template names itself
    *(
        _template(
            f"beside_{ending}",
            "What of the <K2>s beside the <K>?",
            f"scene, filter_unique 0 <K>, relate_filter{node} 1 beside <K2>{after}",
        )
        for ending, node, after in (
            ("filter", "", ", count 2"),
            ("unique", "_unique", ", query_tint 2"),
            ("not_unique", "_not_unique", ", count_different_topping 2"),
            ("count", "_count", ""),
            ("exist", "_exist", ""),
        )
    ),
    _template("beside", "How many things are above the <K>?", "scene, filter_unique 0 <K>, relate 1 above, count 2"),
    # functions of attributes
    _template(
        "same",
        "How many other <Z> things have the origin of the <L> <K>?",
        "scene, filter_unique 0 <L> <K>, same_origin 1, filter_count 2 <Z>",
    ),
    _template(
        "same_list",
        "How many things have just what is on the one labelled <L>?",
        "scene, filter_unique 0 <L>, same_topping 1, count 2",
    ),
    _template(
        "different",
        "How many things are labelled otherwise than the <K>?",
        "scene, filter_unique 0 <K>, different_label 1, count 2",
    ),
    _template(
        "different_list",
        "Does anything of <O> origin have other toppings than the <K>?",
        "scene, filter_unique 0 <K>, different_topping 1, filter_exist 2 <O>",
    ),
    _template(
        "equal_list",
        "Have the <O> <K> and the <O2> <K2> the same toppings?",
        "scene, filter_unique 0 <O> <K>, query_topping 1, scene, filter_unique 3 <O2> <K2>, query_topping 4, "
        "equal_topping 2 5",
        "NOT_NULL <O>",
        "NONE_OF <K2>",
        "OUT_NEQ 1 4",
    ),
    _template(
        "query",
        "Where is the <Z> <K> labelled <L> from?",
        "scene, filter_unique 0 <Z> <K> <L>, query_origin 1",
        "NULL <Z>",
        "NOT_NULL <K>",
    ),
    _template("unique", "What size is the one labelled <L>?", "scene, filter_label 0 <L>, unique 1, query_size 2"),
    _template(
        "not_unique",
        "Which label has the <O> one of the <K>s?",
        "scene, filter_kind 0 <K>, not_unique 1, filter_unique 2 <O>, query_label 3",
    ),
    # functions of sets, numbers, truths
    _template(
        "sets",
        "How many things are <I> <K>s, or <Z>, and not labelled <L>?",
        "scene, filter 0 <K>, scene, filter 2 <I>, scene, filter 4 <Z>, scene, filter 6 <L>, intersect 1 3, "
        "union 8 5, difference 9 7, count 10",
    ),
    _template(
        "add",
        "How many are the <K>s and the <I> things together?",
        "scene, filter_count 0 <K>, scene, filter_count 2 <I>, add 1 3",
        "NOT_ALL_NULL <K> <I>",
        "OUT_GE_CONST 1 2",
        "OUT_LE_CONST 4 5",
    ),
    _template(
        "subtract",
        "How many <K>s would be left without as many as there are things with <T>?",
        "scene, filter_count 0 <K>, scene, filter_count 2 <T>, subtract 1 3",
        "ONE_OF <K> <T>",
    ),
    _template(
        "choose",
        "Of the <K>s, <N> are taken away; how many are left?",
        "scene, filter 0 <K>, choose 1 <N>, count 1, subtract 3 2",
    ),
    _template(
        "and",
        "Is there a <K>, and is there anything with <T>?",
        "scene, filter_kind 0 <K>, exist 1, scene, filter_topping 3 <T>, exist 4, and 2 5",
    ),
    _template(
        "or",
        "Is there a <K>, or is there anything with <T>?",
        "scene, filter_kind 0 <K>, exist 1, scene, filter_topping 3 <T>, exist 4, or 2 5",
        "OUT_EQ 2 5",
    ),
    _template("not", "Is nothing labelled <L>?", "scene, filter_exist 0 <L>, not 1"),
    _template(
        "equal_object",
        "Is the <K> the one from <O>?",
        "scene, filter_unique 0 <K>, scene, filter_unique 2 <O>, equal_object 1 3",
    ),
    _template(
        "equal_integer",
        "Are there as many <K>s as <K2>s?",
        "scene, filter_count 0 <K>, scene, filter_count 2 <K2>, equal_integer 1 3",
        "NEQ <K> <K2>",
        "OUT_EQ_CONST 1 1",
        "OUT_NEQ_CONST 3 4",
    ),
    _template(
        "less_than",
        "Are there fewer <K>s than <K2>s?",
        "scene, filter_count 0 <K>, scene, filter_count 2 <K2>, less_than 1 3",
        "OUT_LT_CONST 1 3",
        "OUT_GT_CONST 3 1",
    ),
    _template(
        "greater_than",
        "Are there more <Z> <K>s than <I> <K2>s?",
        "scene, filter_count 0 <Z> <K>, scene, filter_count 2 <I> <K2>, greater_than 1 3",
        "EQ <K> <K2>",
        "ONE_OF_FORCE <Z> <I>",
    ),
]
TEMPLATES = {record["name"]: record for record in _LIST}
"""By name, as the loader would give them: all keys are there."""
