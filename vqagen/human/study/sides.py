"""The side of each text: balanced in each task, for each pair of sources and for each system.

A trial is an edge between its task and its pair of sources. Closed walks that use each edge once leave a vertex as
often as they enter it (Euler). The direction of a trial's edge says its side, so both sides are equally frequent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

from vqagen.human.study.item import COMPARE, INSTRUCTED, REFERENCE, SYSTEM, Candidate, Item

Edge = tuple[Hashable, Hashable]
FREE = "free"
"""A vertex that need not be balanced."""


def directed(
    edges: Sequence[Edge],
    group: Callable[[Hashable], Hashable] = lambda vertex: vertex,
    preferred: Sequence[bool] = (),
) -> list[bool]:
    """Return True for each edge that is walked from its first to its second vertex.

    At each vertex but FREE, edges that leave and edges that enter differ in number by one at most; so they do at all
    vertices of a group together. Each walk is reversed if more of its edges then have their `preferred` direction.
    """
    ends = list(edges)
    at: dict[Hashable, list[int]] = {}
    for number, (first, second) in enumerate(ends):
        at.setdefault(first, []).append(number)
        at.setdefault(second, []).append(number)
    odd = [vertex for vertex, numbers in at.items() if len(numbers) % 2 and vertex != FREE]
    for edge in _joined(odd, group):  # makes all degrees even: that of FREE too, as the sum of degrees is even
        ends.append(edge)
        for vertex in edge:
            at.setdefault(vertex, []).append(len(ends) - 1)
    forward = [False] * len(ends)
    used = [False] * len(ends)
    for start in list(at):
        while walk := list(_walk(start, ends, at, used)):
            agreeing = [is_forward == preferred[number] for number, is_forward in walk if number < len(preferred)]
            is_reversed = 2 * sum(agreeing) < len(agreeing)
            for number, is_forward in walk:
                forward[number] = is_forward != is_reversed
    return forward[: len(edges)]


def _joined(odd: Sequence[Hashable], group: Callable[[Hashable], Hashable]) -> Iterator[Edge]:
    """Yield an edge at each vertex of odd degree: to another one of its group or, for the last one, to FREE."""
    waiting: dict[Hashable, Hashable] = {}
    for vertex in odd:
        if group(vertex) in waiting:
            yield waiting.pop(group(vertex)), vertex
        else:
            waiting[group(vertex)] = vertex
    yield from ((vertex, FREE) for vertex in waiting.values())


def _walk(
    start: Hashable, ends: Sequence[Edge], at: Mapping[Hashable, list[int]], used: list[bool]
) -> Iterator[tuple[int, bool]]:
    """Yield the edges of a walk from `start` back to it, each with its direction; nothing if all are used."""
    vertex = start
    while True:
        numbers = at[vertex]
        while numbers and used[numbers[-1]]:
            numbers.pop()
        if not numbers:
            return  # all degrees are even, so this is `start`
        number = numbers.pop()
        used[number] = True
        first, second = ends[number]
        yield number, vertex == first
        vertex = second if vertex == first else first
        if vertex == start:
            return


def choose_sides(tasks: Sequence[Sequence[Item]]) -> list[list[bool]]:
    """Return for each item of each task whether its second text is on the right in slots 0, 2, 4, …

    The numbers of both sides differ by one at most for each pair of sources and each system. If every comparison is of
    one system with a reference, they do so in each task, too.
    """
    trials = [(task, item) for task, items in enumerate(tasks) for item in items if has_sides(item)]
    pairs = [_pair(item) for _, item in trials]
    sides = directed([(("task", task), ("pair", *pair)) for (task, _), pair in zip(trials, pairs, strict=True)])
    for number in _to_turn([item for _, item in trials], pairs, sides):
        sides[number] = not sides[number]
    following = iter(sides)
    return [[next(following) if has_sides(item) else True for item in items] for items in tasks]


def has_sides(item: Item) -> bool:
    """True if the side of its texts may matter: not for one text, and not for the same text twice."""
    return item.kind == COMPARE and item.use != INSTRUCTED


def _pair(item: Item) -> tuple[str, ...]:
    return item.use, item.dimension, *(f"{each.role} {each.source}" for each in item.candidates)


def _to_turn(items: Sequence[Item], pairs: Sequence[Hashable], sides: Sequence[bool]) -> Iterator[int]:
    """Yield the trials to turn so that systems in several pairs or dimensions are balanced over all of them.

    A pair with an odd number of trials has one more of one side. These surpluses are the edges of a graph of systems.
    """
    numbers: dict[Hashable, list[int]] = {}
    for number, pair in enumerate(pairs):
        numbers.setdefault(pair, []).append(number)
    odd = [trials for trials in numbers.values() if len(trials) % 2]
    edges = [_ends(items[trials[0]]) for trials in odd]
    surplus = [2 * sum(sides[number] for number in trials) > len(trials) for trials in odd]
    for trials, found, wanted in zip(odd, surplus, directed(edges, _over_dimensions, surplus), strict=True):
        if found != wanted:
            yield next(number for number in trials if sides[number] == found)


def _ends(item: Item) -> Edge:
    """Return the systems of a pair in their dimension; FREE for a reference, but not for two references."""
    first, second = item.candidates
    if first.role == second.role == REFERENCE:
        return FREE, ((item.use, first.source, second.source), item.dimension)
    return _end(item, first), _end(item, second)


def _end(item: Item, candidate: Candidate) -> Hashable:
    return ((item.use, candidate.source), item.dimension) if candidate.role == SYSTEM else FREE


def _over_dimensions(vertex: Hashable) -> Hashable:
    return vertex[0] if isinstance(vertex, tuple) else vertex
