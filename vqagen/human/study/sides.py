"""The side of each text: balanced in each task, for each pair of sources and for each system.

A trial is an edge between its task and its pair of sources. Closed walks that use each edge once leave a vertex as
often as they enter it (Euler). The direction of a trial's edge says its side, so both sides are equally frequent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from itertools import chain

from vqagen.human.study.item import COMPARE, INSTRUCTED, SYSTEM, Item

Vertex = tuple[Hashable, ...]
"""A group, a name in it and, if that names a group too, a name in that."""
Edge = tuple[Vertex, Vertex]
FREE: Vertex = ()
"""A vertex that need not be balanced."""


def directed(edges: Sequence[Edge]) -> list[bool]:
    """Return True for each edge that is walked from its first to its second vertex.

    At each vertex but FREE, edges that leave and edges that enter differ in number by one at most; so they do at all
    vertices of a group together, small or large.
    """
    ends = list(edges)
    odd = [vertex for vertex, degree in Counter(chain.from_iterable(edges)).items() if degree % 2 and vertex != FREE]
    for level in (2, 1):
        waiting: dict[Vertex, Vertex] = {}
        for vertex in odd:
            if vertex[:level] in waiting:
                ends.append((waiting.pop(vertex[:level]), vertex))
            else:
                waiting[vertex[:level]] = vertex
        odd = list(waiting.values())
    ends += [(vertex, FREE) for vertex in odd]  # all degrees are even now: that of FREE too, as their sum is
    at: dict[Vertex, list[int]] = {}
    for number, edge in enumerate(ends):
        for vertex in edge:
            at.setdefault(vertex, []).append(number)
    forward: dict[int, bool] = {}
    for start in at:
        vertex = start
        while at[vertex]:  # a walk ends where it began
            number = at[vertex].pop()
            if number not in forward:
                first, second = ends[number]
                forward[number] = vertex == first
                vertex = second if forward[number] else first
    return [forward[number] for number in range(len(edges))]


def choose_sides(tasks: Sequence[Sequence[Item]]) -> list[list[bool]]:
    """Return for each item of each task whether its second text is on the right in slots 0, 2, 4, …

    The numbers of both sides differ by one at most for each pair of sources and each system. If no comparison is of two
    systems, they do so in each task, too.
    """
    trials = [(task, item) for task, items in enumerate(tasks) for item in items if _has_sides(item)]
    pairs = [_pair(item) for _, item in trials]
    sides = directed([(("task", task), pair) for (task, _), pair in zip(trials, pairs, strict=True)])
    turned = set(_to_turn([item for _, item in trials], pairs, sides))
    following = (side != (number in turned) for number, side in enumerate(sides))
    return [[next(following) if _has_sides(item) else True for item in items] for items in tasks]


def _has_sides(item: Item) -> bool:
    """True if the side of its texts may matter: not for one text, and not for the same text twice."""
    return item.kind == COMPARE and item.use != INSTRUCTED


def _pair(item: Item) -> Vertex:
    """Return the sources and dimension of an item; those of one second source are a group, in a dimension too."""
    first, second = ((each.role, each.source) for each in item.candidates)
    return (item.use, second), item.dimension, first


def _to_turn(items: Sequence[Item], pairs: Sequence[Vertex], sides: Sequence[bool]) -> Iterator[int]:
    """Yield the trials to turn if systems are compared with each other, so that each is balanced over all its pairs.

    A pair with an odd number of trials has one more of one side. These surpluses are the edges of a graph of systems.
    """
    if not any(each.role == SYSTEM for item in items for each in item.candidates[:1]):
        return
    numbers: dict[Vertex, list[int]] = {}
    for number, pair in enumerate(pairs):
        numbers.setdefault(pair, []).append(number)
    odd = [trials for trials in numbers.values() if len(trials) % 2]
    for trials, wanted in zip(odd, directed([_ends(items[trials[0]]) for trials in odd]), strict=True):
        found = 2 * sum(sides[number] for number in trials) > len(trials)
        if found != wanted:
            yield next(number for number in trials if sides[number] == found)


def _ends(item: Item) -> Edge:
    """Return the systems of a pair, in its dimension; FREE for a reference, but not for two references."""
    first, second = (
        ((item.use, each.source), item.dimension) if each.role == SYSTEM else FREE for each in item.candidates
    )
    return first, second
