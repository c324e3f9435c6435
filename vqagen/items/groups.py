"""Groups of items, by type, by family or by two codes together; and how often values occur in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from math import log2
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.items.table import NONE, Codes, Column, Items, Places

Integers = npt.NDArray[np.integer[Any]]
CATEGORIES = ("category", "question_type", "type", "answer_type")
TYPES = ("function", "question_type", "category", "type", "answer_type")
FAMILIES = ("family", "label", "rule_class", *TYPES)
"""Fields whose groups are guessed by their most frequent answers: the first one that any item has."""
RANKED = 30
"""Tested items that a family needs in order to be ranked: of fewer, chance decides."""
Counts = Mapping[Any, int]
"""Value -> how many have it."""
_TYPES = {"bool": "yes/no", "integer": "number"}
"""Kind of an answer -> its type for people; others are other."""


def family_codes(items: Items) -> Codes:
    """Return the family of each item, or the label of a round with the attribute it names; its type without one."""
    return distinct(grouped(items, FAMILIES), grouped(items, ("attribute",)))[1].astype(np.int32)


def grouped(items: Items, names: Sequence[str]) -> Codes:
    """Return the codes of the first of some fields that any item has, from 0 on."""
    column = items.first_column(names)
    return np.zeros(len(items), dtype=np.int32) if column is None else column.codes + 1


def distinct(first: Integers, second: Integers) -> tuple[tuple[Places, Places], Places]:
    """Return the different pairs of codes from 0 on, in ascending order, and of each item the number of its pair.

    >>> distinct(np.array([1, 0, 1]), np.array([5, 7, 5]))
    ((array([0, 1]), array([7, 5])), array([1, 0, 1]))
    """
    size = int(second.max(initial=0)) + 1
    keys = first.astype(np.int64) * size + second
    most = int(keys.max(initial=0)) + 1
    if most > 8 * len(keys):
        cells, back = np.unique(keys, return_inverse=True)
    else:  # the same by counting: 0.1 s in place of 0.9 s of a floor of a million items
        cells = np.flatnonzero(np.bincount(keys, minlength=most))
        number = np.zeros(most, dtype=np.int64)
        number[cells] = np.arange(len(cells))
        back = number[keys]
    return (cells // size, cells % size), back


# How often values occur


def counts_of(column: Column) -> dict[Any, int]:
    """Return value -> items, of the values that items have, in the order of the values.

    >>> counts_of(Column.of(["red", None, "blue", "red"]))
    {'red': 2, 'blue': 1}
    """
    found = np.bincount(column.codes[column.codes != NONE], minlength=len(column.values))
    return {value: count for value, count in zip(column.values, found.tolist(), strict=True) if count}


def counts_within(groups: Column, column: Column) -> dict[Any, dict[Any, int]]:
    """Return group -> value -> items, of the groups in which items have values; the most frequent value comes first.

    >>> counts_within(Column.of([0, 0, 1, 0]), Column.of(["yes", "no", "yes", "no"]))
    {0: {'no': 2, 'yes': 1}, 1: {'yes': 1}}
    """
    known = (groups.codes != NONE) & (column.codes != NONE)
    width = len(column.values)
    both, counts = np.unique(groups.codes[known].astype(np.int64) * width + column.codes[known], return_counts=True)
    found: dict[Any, dict[Any, int]] = {}
    for pair, count in zip(both.tolist(), counts.tolist(), strict=True):
        found.setdefault(groups.values[pair // width], {})[column.values[pair % width]] = count
    return {group: dict(ordered(own)) for group, own in found.items()}


def crossed(columns: Sequence[Column]) -> Column:
    """Return the column of the values of several columns as tuples; NONE where any of the columns is.

    >>> crossed([Column.of(["red", "blue", "red"]), Column.of([1, None, 2])])
    Column(codes=array([ 0, -1,  1], dtype=int32), values=(('red', 1), ('red', 2)))
    """
    first = Column(columns[0].codes, tuple((value,) for value in columns[0].values))
    return reduce(_crossed, columns[1:], first)


def _crossed(one: Column, other: Column) -> Column:
    both = (one.codes != NONE) & (other.codes != NONE)
    number = one.codes[both].astype(np.int64) * len(other.values) + other.codes[both]
    numbers, inverse = np.unique(number, return_inverse=True)
    codes = np.full(len(both), NONE, dtype=np.int32)
    codes[both] = inverse
    pairs = (divmod(pair, len(other.values)) for pair in numbers.tolist())
    return Column(codes, tuple((*one.values[left], other.values[right]) for left, right in pairs))


def counts_of_rows(columns: Sequence[Column], kept: npt.NDArray[np.bool_]) -> Counter[tuple[Any, ...]]:
    """Return how many of the items that are kept have the values of several columns together.

    >>> counts_of_rows([Column.of(["red", "red", None]), Column.of([1, 1, 1])], np.ones(3, dtype=bool))
    Counter({('red', 1): 2})
    """
    both, found = crossed(columns), Counter[tuple[Any, ...]]()
    counts = np.bincount(both.codes[kept & (both.codes != NONE)], minlength=len(both.values)).tolist()
    for values, number in zip(both.values, counts, strict=True):
        found[values] += number  # a column may have equal values: an answer "" and none at all
    return +found


def counts_of_groups(*columns: Column) -> dict[int, int]:
    """Return how many different values of the last column the values of the first have, or items if it is alone.

    >>> images, families = Column.of("aab"), Column.of([1, 1, 2])
    >>> counts_of_groups(images), counts_of_groups(images, families)
    ({1: 1, 2: 1}, {1: 2})
    """
    known = np.logical_and.reduce([column.codes != NONE for column in columns])
    codes = columns[0].codes[known].astype(np.int64)
    if len(columns) > 1:
        codes = np.unique(np.stack([codes, columns[-1].codes[known]]), axis=1)[0]
    return counts_of_numbers(np.unique(codes, return_counts=True)[1])


def counts_of_numbers(numbers: npt.NDArray[Any]) -> dict[int, int]:
    """Return number -> how often it occurs, in order."""
    found, counts = np.unique(numbers, return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))


def answered(items: Items) -> Items:
    """Return the items that have answers."""
    return items.take(np.flatnonzero(items.gold.codes != NONE)) if items.unanswered else items


def field_of(items: Items, name: str) -> Column:
    """Return a field; of files that do not have it, a column that concerns no item."""
    return items.fields.get(name) or Column(np.full(len(items), NONE, dtype=np.int32), ())


def families_of(items: Items) -> Column:
    """Return the family of each item, or the label of a round; its type if it has none."""
    return items.first_column(FAMILIES) or Column(np.zeros(len(items), dtype=np.int32), ("all",))


def types_of(items: Items) -> Column:
    """Return the type of each item; where it is not known, that of its answer: yes/no, number or other."""
    types, answers = (
        items.first_column(CATEGORIES[:-1]),
        items.gold.map(lambda gold: _TYPES.get(gold.kind, "other")),
    )
    if types is None:
        return answers
    own = np.where(types.codes == NONE, answers.codes + len(types.values), types.codes)
    return Column(own, (*types.values, *answers.values))


def ordered(counts: Counts) -> list[tuple[Any, int]]:
    """Return values with their counts, the most frequent ones first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def leading(counts: Counts, shown: int) -> str:
    """Return the most frequent values with their shares.

    >>> leading({"no": 3, "yes": 1}, 1)
    'no 75%, …'
    """
    total = sum(counts.values())
    named = ", ".join(f"{value} {count / total:.0%}" for value, count in ordered(counts)[:shown])
    return named + (", …" if len(counts) > shown else "")


def entropy(counts: Counts) -> float:
    """Return the entropy of counts in bits.

    >>> entropy({"count": 1, "seek": 1}), entropy({"seek": 3})
    (1.0, 0.0)
    """
    total = sum(counts.values())
    return sum(count / total * log2(total / count) for count in counts.values() if count)


def evenness(counts: Counts) -> float:
    """Return the entropy of counts as a share of the highest there could be: 1.0 if all are equal, 0.0 if there is one.

    >>> evenness({"yes": 5, "no": 5}), round(evenness({"yes": 9, "no": 1}), 2), evenness({"yes": 3})
    (1.0, 0.47, 0.0)
    """
    seen = sum(count > 0 for count in counts.values())
    return 0.0 if seen < 2 else entropy(counts) / log2(seen)


def spread_record(counts: Counts) -> dict[str, Any] | None:
    """Return the spread of numbers that occur so many times, for JSON; None of nothing."""
    if not counts:
        return None
    by_number = dict(sorted(counts.items()))
    values = np.repeat([*by_number], [*by_number.values()])
    return {
        "least": int(values[0]),
        "median": float(np.median(values)),
        "mean": round(float(values.mean()), 4),
        "most": int(values[-1]),
        "counts": {str(number): count for number, count in by_number.items()},
    }


def spread_text(spread: Mapping[str, Any]) -> str:
    """Return a spread for people."""
    if spread["least"] == spread["most"]:
        return f"{spread['least']:,}"
    return f"{spread['least']:,} to {spread['most']:,}, mean {spread['mean']:.1f}, median {spread['median']:g}"


def rounded(shares: Mapping[Any, float]) -> dict[str, float]:
    """Return shares by name for JSON."""
    return {str(name): round(share, 4) for name, share in shares.items()}


def shares_of(counts: Counts, first: Iterable[Any] = ()) -> dict[Any, float]:
    """Return the share of each value; those of `first` stand in front, even if nothing has them."""
    total = sum(counts.values())
    return {value: counts.get(value, 0) / total for value in dict.fromkeys((*first, *sorted(counts)))}


def places_by(column: Column) -> dict[Any, Places]:
    """Return value -> the places of its items, of the values that items have, in the order of the values."""
    order = np.argsort(column.codes, kind="stable")
    starts = np.searchsorted(column.codes[order], np.arange(len(column.values) + 1))
    found = {value: order[starts[code] : starts[code + 1]] for code, value in enumerate(column.values)}
    return {value: places for value, places in found.items() if len(places)}
