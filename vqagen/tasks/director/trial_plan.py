"""How many items, blocked cells and related items a trial has, and whether it can have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from vqagen.errors import counted
from vqagen.tasks.director.places import OPPOSITE, Cells, Standing, rays, standings
from vqagen.tasks.director.question_table import Ids, Question
from vqagen.tasks.director.rules import HORIZONTAL, MIRRORED, NONE, RELATION, SIZE, SMALLEST, VERTICAL
from vqagen.tasks.director.settings import REFERENCE, DirectorSettings
from vqagen.tasks.settings import LARGEST


class TrialNumbers(NamedTuple):
    """Numbers that every trial of a rule has, whatever its type."""

    items: int
    blocked: int
    seen: int
    """Related items besides the target that the director sees; he would choose the target before them."""
    hidden: int
    """Related items in blocked cells."""


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
        """The numbers."""
        return numbers_of(self.settings, self.rule_class)

    @cached_property
    def others(self) -> int:
        """Items that are nothing to the question."""
        gold = 2 if self.rule_class == RELATION else 1
        foils = 0 if self.settings.compat == REFERENCE else self.adjectives
        extra = foils + self.numbers.seen + self.numbers.hidden
        opposite = 1 if self.rule_class == RELATION and self.rule in MIRRORED else 0
        return self.numbers.items - gold - extra - opposite

    @cached_property
    def decoy_choices(self) -> dict[object, Any]:
        """The decoys that can be made of a question; see `decoys`."""
        return {}

    @cached_property
    def sides(self) -> tuple[tuple[Cells, Cells, Cells], ...]:
        """For each cell, as that of a decoy's target: all cells, the better and the worse ones."""
        settings = self.settings
        every = tuple(range(settings.width * settings.height))
        return tuple((every, each.better, each.worse) for each in standings(settings.width, settings.height, self.rule))

    @cached_property
    def whole_grid(self) -> tuple[Cells]:
        """All cells, as the only side there is before a decoy's target has its cell."""
        return (tuple(range(self.settings.width * self.settings.height)),)

    @cached_property
    def decoys(self) -> int:
        """Decoys that there is room for: each has the items of a question of its own, and as many hidden ones."""
        if self.rule_class == RELATION or self.settings.compat == REFERENCE:
            return 0
        own, hidden = self.numbers.items - self.others, self.numbers.hidden
        open_cells = self.settings.width * self.settings.height - self.numbers.blocked
        return min(self.others // own, self.numbers.blocked // hidden - 1, open_cells // (own - hidden) - 1)

    @cached_property
    def fillers(self) -> int:
        """Items that are neither part of the question nor of a decoy."""
        return self.others - self.decoys * (self.numbers.items - self.others)

    @property
    def spare(self) -> int:
        """Cells that may be blocked, besides those of hidden items."""
        settings = self.settings
        return settings.width * settings.height - (self.numbers.items - self.others)

    @cached_property
    def targets(self) -> tuple[Standing, ...]:
        """The cells that the target can stand in, in control and test trials alike."""
        settings, numbers = self.settings, self.numbers
        every = standings(settings.width, settings.height, self.rule)
        if self.rule_class not in (VERTICAL, HORIZONTAL):
            return every
        if settings.compat == REFERENCE:
            return tuple(each for each in every if len(each.worse) >= numbers.seen + numbers.hidden)
        return tuple(each for each in every if len(each.worse) >= numbers.seen + numbers.hidden and self._firsts(each))

    @cached_property
    def firsts_of(self) -> dict[int, tuple[int, ...]]:
        """Cell of the target -> the cells in which the competitor can stand."""
        return {each.cell: self._firsts(each) for each in self.targets}

    def _firsts(self, target: Standing) -> tuple[int, ...]:
        """Return the cells in which the competitor can stand, under a spatial rule: foils need room besides it.

        In pairs foils beat or equal the competitor too.
        """
        settings, better = self.settings, frozenset(target.better)
        behind = standings(settings.width, settings.height, self.rule) if settings.paired else ()
        return tuple(
            cell
            for cell in target.better
            if len(better.difference({cell}, behind[cell].worse if behind else ())) >= self.adjectives
        )

    @property
    def empty(self) -> int:
        """Cells without an item."""
        return self.settings.width * self.settings.height - self.numbers.items

    @cached_property
    def references(self) -> tuple[int, ...]:
        """The cells in which the reference object of a relation can stand."""
        settings = self.settings
        ahead = rays(settings.width, settings.height, self.rule)
        behind = rays(settings.width, settings.height, OPPOSITE[self.rule])
        needs_behind = 1 if self.rule in MIRRORED else 0
        return tuple(
            cell
            for cell in range(settings.width * settings.height)
            if len(ahead[cell]) > 1 and len(behind[cell]) >= needs_behind
        )

    def faults(self) -> Iterator[str]:
        """Yield why no trial of the rule can be made on this grid."""
        numbers, settings = self.numbers, self.settings
        if self.others < 0:
            yield f"needs {numbers.items - self.others} items, and --fill {settings.fill:g} makes {numbers.items}"
        if numbers.hidden > numbers.blocked:
            needed = counted(numbers.hidden, "blocked cell")
            yield f"needs {needed}, and --blocked {settings.blocked:g} makes {numbers.blocked}"
        elif self.spare < numbers.blocked - numbers.hidden:
            most = self.spare + numbers.hidden
            yield f"leaves {most} cells that can be blocked, and --blocked {settings.blocked:g} makes {numbers.blocked}"
        if self.rule_class == RELATION and not self.empty:
            yield "needs 1 cell without an item, found 0"
        elif self.rule_class == RELATION and not self.references:
            yield "needs more cells in a row or column"
        elif self.rule_class != RELATION and not self.targets:
            lines = "rows" if self.rule_class == VERTICAL else "columns"
            yield f"needs more {lines}, or fewer related items"

    def fits(self, question: Question) -> bool:
        """True if trials of the rule can be made with a question of so many adjectives."""
        if self.rule_class != SIZE:
            return True
        if self.settings.compat == REFERENCE:
            return bool(question.kind_sizes)
        return next(self._find_target_sizes(question), None) is not None

    def target_sizes_of(self, question: Question) -> tuple[TargetSize, ...]:
        """Return the sizes of targets that a question allows under a size rule."""
        found = self._target_sizes.get(question)
        if found is None:
            found = self._target_sizes[question] = tuple(self._find_target_sizes(question))
        return found

    @cached_property
    def _target_sizes(self) -> dict[Question, tuple[TargetSize, ...]]:
        return {}

    def _find_target_sizes(self, question: Question) -> Iterator[TargetSize]:
        for kind in question.kind_sizes:
            steps = [*zip(kind.levels, kind.items, strict=True)]
            steps = steps if self.rule == SMALLEST else steps[::-1]
            for place in range(1, len(steps) - 1):
                better = steps[:place]
                bars = [self._bar(steps[place][0], level) for level, _ in better]
                if all(question.has_foils_of_size(*bar) for bar in bars):
                    worse = tuple(each for _, ids in steps[place + 1 :] for each in ids)
                    yield TargetSize(steps[place][1], tuple(ids for _, ids in better), worse, tuple(bars))

    def _bar(self, target: int, best: int) -> tuple[int, int]:
        """Return the least and the largest size level of foils that beat or equal the target.

        In pairs they beat or equal the competitor too, whose size level is `best`.
        """
        bar = best if self.settings.paired else target
        return (0, bar) if self.rule == SMALLEST else (bar, LARGEST)


class TargetSize(NamedTuple):
    """A size of the target among the sizes of its kind."""

    targets: Ids
    better: tuple[Ids, ...]
    """The items of each size that beats the target, from the best of all."""
    worse: Ids
    bars: tuple[tuple[int, int], ...]
    """For each size of `better`, as that of the competitor: the least and the largest size level of foils."""
