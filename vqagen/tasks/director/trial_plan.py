"""How many items, blocked cells and related items a trial has, and whether it can have them."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, combinations, product
from random import Random
from typing import NamedTuple

from vqagen.errors import counted
from vqagen.tasks.director.question_table import Ids, Question
from vqagen.tasks.director.rules import (
    HORIZONTAL,
    MIRRORED,
    NONE,
    OPPOSITE,
    RELATION,
    SIZE,
    SMALLEST,
    VERTICAL,
    Band,
    Cells,
    bands,
    even_weights,
    line_ranks,
    rays,
)
from vqagen.tasks.director.settings import REFERENCE, DirectorSettings
from vqagen.tasks.settings import LARGEST

MORE = range(3)
"""Related items that a strict trial has more than the least number of its settings, of each of two kinds."""


class TrialNumbers(NamedTuple):
    """Numbers of the trials of a rule. Strict trials draw up to two more related items of each kind."""

    items: int
    blocked: int
    seen: int
    """Related items that the director sees besides the target, which he would choose before them."""
    hidden: int
    """Related items in blocked cells."""


class Amounts(NamedTuple):
    """The numbers that are drawn for a trial, and what follows from them."""

    seen: int
    hidden: int
    decoys: int
    """Decoys that there is room for: each has as many items as the question itself, and as many hidden ones."""
    fillers: int
    """Items that are neither part of the question nor of a decoy."""


class Ranks(NamedTuple):
    """Where the best and the second item that fit a question stand, and which items they can be."""

    first: Slot
    second: Slot
    ahead: Cells
    """Cells of near misses, which beat or equal the best item."""
    foils: Sequence[Ids]
    """For each adjective the items that it alone keeps from being related, and that beat or equal the best one."""
    behind_first: Slot
    behind_second: Slot


Slot = tuple[Cells, Ids]
"""The cells that an item can stand in, and the items that it can be."""


def numbers_of(settings: DirectorSettings, rule_class: str) -> TrialNumbers:
    """Return the numbers for the trials of a rule class."""
    cells = settings.width * settings.height
    items, blocked = _part(cells, settings.fill), _part(cells, settings.blocked)
    related = _part(max(items - 1, 0), settings.related)
    hidden = max(1, _part(related, settings.related_blocked))
    if settings.compat == REFERENCE:
        return TrialNumbers(items, blocked, max(related - hidden, 0), hidden)
    if rule_class in (NONE, RELATION):
        return TrialNumbers(items, blocked, 0, hidden if rule_class == NONE else 1)
    return TrialNumbers(items, blocked, max(1, related - hidden), hidden)


def _part(whole: int, share: float) -> int:
    """Return the share of a number, rounded down; 0.3 of 10 is 3, whatever 0.3 is to a computer."""
    return int(whole * share + 1e-9)


@dataclass(frozen=True)
class TrialPlan:
    """Where and with which numbers the trials of one rule can be made, for questions with so many adjectives."""

    settings: DirectorSettings
    rule: str
    rule_class: str
    adjectives: int

    @cached_property
    def numbers(self) -> TrialNumbers:
        """The numbers, the least ones of related items."""
        return numbers_of(self.settings, self.rule_class)

    @cached_property
    def cells(self) -> Cells:
        """All cells."""
        return tuple(range(self.settings.width * self.settings.height))

    @cached_property
    def amounts(self) -> tuple[Amounts, ...]:
        """What can be drawn: all that leaves room for a decoy, or else all."""
        numbers, is_ranked = self.numbers, self.rule_class in (SIZE, VERTICAL, HORIZONTAL)
        drawn = product(MORE if is_ranked else MORE[:1], MORE if self.rule_class != RELATION else MORE[:1])
        possible = ((numbers.seen + seen, numbers.hidden + hidden) for seen, hidden in drawn)
        found = [self._amounts(*each) for each in possible if not any(self._faults(*each))]
        return tuple(each for each in found if each.decoys) or tuple(found)

    def _amounts(self, seen: int, hidden: int) -> Amounts:
        numbers, own = self.numbers, self._own(seen, hidden)
        others, is_open = numbers.items - own, len(self.cells) - numbers.blocked
        if self.rule_class == RELATION:
            return Amounts(seen, hidden, 0, others)
        decoys = max(0, min(others // own, numbers.blocked // hidden - 1, is_open // (own - hidden) - 1))
        return Amounts(seen, hidden, decoys, others - decoys * own)

    def _own(self, seen: int, hidden: int) -> int:
        """Return how many items are part of the question."""
        is_relation = self.rule_class == RELATION
        foils = 0 if self.settings.compat == REFERENCE else self.adjectives
        return 1 + is_relation + (is_relation and self.rule in MIRRORED) + foils + seen + hidden

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """The line of each cell under a spatial rule, the best being 0; () for other rules."""
        is_spatial = self.rule_class in (VERTICAL, HORIZONTAL)
        return line_ranks(self.settings.width, self.settings.height, self.rule) if is_spatial else ()

    @cached_property
    def targets(self) -> Cells:
        """The cells that the target of a loose trial can stand in: under a spatial rule, it beats enough others."""
        needed, ranks = self.numbers.seen + self.numbers.hidden, self.ranks
        return tuple(cell for cell in self.cells if not ranks or sum(each > ranks[cell] for each in ranks) >= needed)

    @property
    def empty(self) -> int:
        """Cells without an item."""
        return len(self.cells) - self.numbers.items

    @cached_property
    def references(self) -> tuple[int, ...]:
        """The cells in which the reference object of a relation can stand."""
        width, height = self.settings.width, self.settings.height
        ahead, behind = rays(width, height, self.rule), rays(width, height, OPPOSITE[self.rule])
        return tuple(
            each for each in self.cells if len(ahead[each]) > 1 and (behind[each] or self.rule not in MIRRORED)
        )

    def faults(self) -> Iterator[str]:
        """Yield why no trial of the rule can be made on this grid."""
        return self._faults(self.numbers.seen, self.numbers.hidden)

    def _faults(self, seen: int, hidden: int) -> Iterator[str]:
        numbers, settings, own = self.numbers, self.settings, self._own(seen, hidden)
        most = len(self.cells) - own + hidden
        if own > numbers.items:
            yield f"needs {own} items, and --fill {settings.fill:g} makes {numbers.items}"
        if hidden > numbers.blocked:
            needed = counted(hidden, "blocked cell")
            yield f"needs {needed}, and --blocked {settings.blocked:g} makes {numbers.blocked}"
        elif most < numbers.blocked:
            yield f"leaves {most} cells that can be blocked, and --blocked {settings.blocked:g} makes {numbers.blocked}"
        if self.rule_class == RELATION and not self.empty:
            yield "needs 1 cell without an item, found 0"
        elif self.rule_class == RELATION and not self.references:
            yield "needs more cells in a row or column"
        elif self.rule_class in (VERTICAL, HORIZONTAL) and not (
            self.targets if settings.compat == REFERENCE else self._lines(seen, hidden)
        ):
            lines = "rows" if self.rule_class == VERTICAL else "columns"
            yield f"needs more {lines}, or fewer related items"

    def _lines(self, seen: int, hidden: int) -> dict[tuple[int, int], Band]:
        """Return the bands that have room for a question's items."""
        every = bands(self.settings.width, self.settings.height, self.rule)
        return {
            lines: band
            for lines, band in every.items()
            if len(band.ahead) > self.adjectives
            and len(band.behind_second) >= seen
            and len(band.behind_first) >= seen + hidden
        }

    def fits(self, question: Question) -> bool:
        """True if trials of the rule can be made with a question of so many adjectives."""
        if self.rule_class != SIZE:
            return True
        if self.settings.compat == REFERENCE:
            return bool(question.kind_sizes)
        return any(True for _ in self._sized_ranks(question))

    def draw_ranks(self, question: Question, amounts: Amounts, rng: Random) -> Ranks:
        """Draw where the items of a question with a rule stand, or how large they are."""
        key = question, None if self.rule_class == SIZE else amounts
        found = self._ranks.get(key)
        if found is None:
            make = self._sized_ranks(question) if self.rule_class == SIZE else self._spatial_ranks(question, amounts)
            weighed = [*make]
            found = [ranks for ranks, _ in weighed], [*accumulate(weight for _, weight in weighed)]
            self._ranks[key] = found
        ranks, bounds = found
        return ranks[bisect(bounds, rng.random() * bounds[-1])]

    @cached_property
    def _ranks(self) -> dict[tuple[Question, Amounts | None], tuple[Sequence[Ranks], list[float]]]:
        return {}

    def _spatial_ranks(self, question: Question, amounts: Amounts) -> Iterator[tuple[Ranks, float]]:
        related, found = question.related, self._lines(amounts.seen, amounts.hidden)
        number = self.settings.height if self.rule_class == VERTICAL else self.settings.width
        for band, weight in zip(found.values(), even_weights(tuple(found), number), strict=True):
            behind = (band.behind_first, related), (band.behind_second, related)
            yield Ranks((band.first, related), (band.second, related), band.ahead, question.foils, *behind), weight

    def _sized_ranks(self, question: Question) -> Iterator[tuple[Ranks, float]]:
        """Yield the ranks by size. All items that fit are of one kind; of one size there is only the best one."""
        for kind in question.kind_sizes:
            steps = kind if self.rule == SMALLEST else kind[::-1]
            pairs = tuple(
                (first, second)
                for first, second in combinations(range(len(steps) - 1), 2)
                if question.has_foils_of_size(*self._bar(steps[first][0]))
            )
            for (first, second), weight in zip(pairs, even_weights(pairs, len(steps)), strict=True):
                groups = (tuple(each for _, ids in steps[at + 1 :] for each in ids) for at in (first, second))
                behind = [(self.cells, items) for items in groups]
                foils = question.foils_of_size(*self._bar(steps[first][0]))
                best, next_best = (self.cells, steps[first][1]), (self.cells, steps[second][1])
                yield Ranks(best, next_best, self.cells, foils, *behind), weight

    def _bar(self, best: int) -> tuple[int, int]:
        """Return the least and the largest size level of near misses, which beat or equal the best item."""
        return (0, best) if self.rule == SMALLEST else (best, LARGEST)
