"""Makes trials: a layout of items and sets of blocked cells first, the question last.

A layout is drawn without a question in mind. Of all strict questions that can be asked of it, with many sets of blocked
cells, one is drawn by weights that make every open item as likely the answer as any other (`fitting`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random
from typing import NamedTuple

import numpy as np

from vqagen.bits import Objects, indexes, only, union_of
from vqagen.errors import UsageError
from vqagen.rng import pick, stream, take
from vqagen.tasks.director.catalogue import ITEM, ItemCatalogue
from vqagen.tasks.director.design import Cell, Trial, cell_shares, class_shares, numbers_of
from vqagen.tasks.director.fitting import (
    CELLS,
    Floats,
    Margins,
    Numbers,
    Places,
    even_questions,
    fitted,
    paired,
    question_pairs,
)
from vqagen.tasks.director.layout import ItemDescription, cells_of, describe_items, layout_maker
from vqagen.tasks.director.questions import Asker, Questions
from vqagen.tasks.director.rules import (
    CLASS_OF,
    FRAMES,
    HORIZONTAL,
    NONE,
    RELATION,
    RULES,
    SIZE,
    TYPES,
    VERTICAL,
    line_ranks,
    rays,
    says_frame,
)
from vqagen.tasks.director.settings import STRICT, SUPERLATIVE, DirectorSettings

SETS, SETS_FOR_PAIRS = 80, 120
"""Sets of blocked cells that are drawn for a layout."""
MOST_PAIRS, PAIRS_EVENNESS = 60, 0.1
"""Pairs of these sets of which trials are made, and how strongly their pairs of answers are evened.

What either grid tells alone matters more, and both are not to be had at once.
"""
TRIES = 30
"""Layouts that are drawn for a trial. More and more open items of them may be such that no question means them."""
REPEATS = 20
"""Draws of a trial that is to differ from the others of its window."""
PHYSICS_LAYOUTS = 2.5
"""Layouts whose kinds are all hot, cold, sharp or stackable, for each trial that is about that."""
MOST_PHYSICS = 0.97
"""The largest share of physics that the weights of a layout aim at."""
LEAST_ITEMS = 3
"""Of trials with a rule: two that the director sees, and one that he does not. Others have one that he sees."""
LEAST_LINES = 3
"""Rows for "topmost", columns for "leftmost": of the best item, of the second, and one behind."""
CHECKS, LEAST_PART = ((12, 0.12), (48, 0.05)), 0.1
"""Layouts that tell whether a design can be made, and how far a share may be off in them; what is near passes at once.

The last value is how much of its share each cell must have in them.
"""
GAIN = 0.3
"""How strongly the weights of a cell of the design follow what it lacks in the window so far."""
LARGEST_TILT = 20.0
BEFORE = 20
"""Trials with the right shares that a window is taken to begin with."""
SLACK, STRICT_TRIES = 0.012, 20
"""How far a share may be off without looking for another layout that mends it, and how many layouts may be tried."""
SMALL_GRID = 16
"""Cells up to which the words would tell much of the cell if the positions of answers were not held."""
SIDES = 3
"""Positions of answers by no rule of place: inside, at a side of the grid, in a corner. Lines of cells follow."""
_LEAST = 1e-9
RELATED_SLOPE = 0.25
"""How much less likely a question is, as a power of e, for each item that fits too many or too few."""
ITEM_SLOPE = 2.0
"""How much less likely, as a power of e, a question is that says "item", as most can."""


class ShareKeeper:
    """What the cells of the design are weighed by, so that a window has their shares."""

    def __init__(self, shares: Sequence[float]) -> None:
        self._shares = np.array(shares)
        self._made, self._tilts = self._shares * BEFORE, np.ones(len(shares))

    @property
    def weighed(self) -> Floats:
        """The shares to aim at."""
        weighed = self._shares * self._tilts
        shares: Floats = weighed / weighed.sum()
        return shares

    def suits(self, made: Floats) -> bool:
        """True unless a trial that is of each cell with some probability makes the shares worse than they may be."""
        before, after = self._made, self._made + made
        off_before, off = (float(np.abs(each / each.sum() - self._shares).max()) for each in (before, after))
        return off <= max(off_before, SLACK)

    def note(self, made: Floats) -> None:
        """Count a trial that is of each cell with some probability: what was drawn itself would tell of the next."""
        self._made = self._made + made
        lack = 1 - self._made / self._made.sum() / np.maximum(self._shares, _LEAST)
        self._tilts = np.clip(self._tilts * np.exp(GAIN * lack), 1 / LARGEST_TILT, LARGEST_TILT)


class AskedLayout(NamedTuple):
    """A layout with all that can be asked of it, and how likely that is."""

    grid: list[int]
    descriptions: list[ItemDescription]
    blocked: list[Objects]
    """Sets of blocked cells with an item."""
    questions: Questions
    places: Places
    """A row for each trial: the question of a trial, or the two of a pair."""
    weights: Floats
    """How likely each column of places is."""
    made: tuple[Floats, ...]
    """The sums of the weights of each cell of the design, of what is not about physics and is, of each position."""


class TrialMaker:
    """Makes the trials of a design. Raises UsageError naming each cell of the design that nothing can be made for."""

    def __init__(self, catalogue: ItemCatalogue, settings: DirectorSettings) -> None:
        self.catalogue, self._settings, self._numbers = catalogue, settings, numbers_of(settings)
        self._shares = cell_shares(settings)
        self._places = {cell: number for number, cell in enumerate(self._shares)}
        classes = dict.fromkeys(rule_class for _, rule_class in self._shares)
        self._rules = [rule for rule_class in classes for rule in RULES[rule_class]]
        self._is_ruled = np.array([rule != NONE for rule in self._rules])
        cells = [[self._places.get((is_test, CLASS_OF[rule]), -1) for rule in self._rules] for is_test in (False, True)]
        self._cells = np.array(cells)
        """Whether it is a test, and number of a rule -> number of the cell; -1 for what has no share."""
        self._is_even = settings.compat == STRICT and settings.questions == SUPERLATIVE
        self._test_share = 0.5 if settings.paired else settings.test_share
        self._is_mixed = self._is_even and not settings.paired and 0 < settings.test_share < 1
        self._positions, self._position_shares = np.zeros((len(self._rules), CELLS), np.int64), np.ones(1)
        if self._is_mixed and settings.width * settings.height <= SMALL_GRID:
            self._positions, self._position_shares = answer_positions(settings, self._rules)
        self._about_physics = min(1.0, PHYSICS_LAYOUTS * settings.physics_share)
        """The share of layouts that are about physics."""
        self._sets = SETS_FOR_PAIRS if settings.paired else SETS
        self._layouts = layout_maker(catalogue)
        self._asker = Asker(catalogue, settings.width, settings.height, self._rules, settings.compat == STRICT)

    def trials(self, window: int) -> Iterator[tuple[Trial, ...]]:
        """Yield the trials of a window without end, those of a pair together. UsageError if there are no more."""
        rng, known, repeats = stream(self._settings.seed, "trials", window), set[object](), 0
        keepers = self._share_keepers()
        while repeats < REPEATS:
            asked = self._draw_layout(rng, keepers)
            trials = self._draw_trials(asked, rng)
            keys = {(trial.noun, trial.adjectives, trial.cell.rule, trial.blocked, *trial.grid) for trial in trials}
            repeats = 0 if known.isdisjoint(keys) else repeats + 1
            if not repeats:
                known |= keys
                _note(keepers, asked)
                yield trials
        raise UsageError(f"{REPEATS} draws in a row made a trial again; choose a larger grid or more items")

    def check(self) -> None:
        """Raise UsageError if there is a cell that nothing can be made for, or much less than its share."""
        settings, numbers = self._settings, self._numbers
        needed = LEAST_ITEMS if self._is_even and self._is_ruled.any() else LEAST_ITEMS - 1
        if numbers.items < needed:
            raise UsageError(f"a trial needs {needed} items, and --fill {settings.fill:g} makes {numbers.items}")
        if not numbers.blocked:
            raise UsageError(f"a trial needs 1 blocked cell, and --blocked {settings.blocked:g} makes 0")
        rng, keepers, made, drawn = stream(0, "check"), self._share_keepers(), np.zeros(len(self._shares)), 0
        least = LEAST_PART if self._is_even else LEAST_PART / 2
        for checked, most_off in CHECKS:
            for _ in range(drawn, checked):
                asked = self._draw_layout(rng, keepers)
                _note(keepers, asked)
                made += asked.made[0]
            drawn = checked
            lines, off = list[str](), 0.0
            for ((is_test, rule_class), share), there in zip(self._shares.items(), made / drawn, strict=True):
                off = max(off, abs(there - share))
                if there < share * least or abs(there - share) > most_off:
                    reason = self._reason(rule_class, there > share)
                    lines.append(f"  {TYPES[is_test]} trials, {rule_class}: {reason} ({there:.0%}, not {share:.0%})")
            if lines:
                raise UsageError("\n".join(("this design cannot be made:", *lines, *self._nearest(made / drawn))))
            if off <= CHECKS[-1][1]:
                return

    def _nearest(self, made: Floats) -> Iterator[str]:
        """Yield the settings that are nearest to what was made of each cell of the design."""
        shares = dict.fromkeys((SIZE, VERTICAL, HORIZONTAL), 0.0)
        for (_, rule_class), share in zip(self._shares, made.tolist(), strict=True):
            if rule_class in shares:
                shares[rule_class] += share
        if self._settings.questions == SUPERLATIVE:
            named = (f"--{rule_class}-share {share:.2f}" for rule_class, share in shares.items())
            yield f"such grids have about {' '.join(named)}"

    def _reason(self, rule_class: str, are_many: bool) -> str:
        """Return why trials of a rule class cannot be made, or fewer of them."""
        settings = self._settings
        if rule_class == VERTICAL and settings.height < LEAST_LINES:
            return "needs more rows"
        if rule_class == HORIZONTAL and settings.width < LEAST_LINES:
            return "needs more columns"
        return f"grids like these have too {'many' if are_many else 'few'} such questions"

    def _share_keepers(self) -> tuple[ShareKeeper, ...]:
        physics = self._settings.physics_share
        shares = ([*self._shares.values()], [1 - physics, physics], self._position_shares.tolist())
        return tuple(ShareKeeper(each) for each in shares)

    def _draw_layout(self, rng: Random, keepers: Sequence[ShareKeeper]) -> AskedLayout:
        failed = 0
        for number in range(TRIES):
            is_free = number >= STRICT_TRIES
            least = 1 - (number if is_free else failed) / TRIES  # one that only has wrong shares loosens nothing
            asked = self._asked(rng, least, *(keeper.weighed for keeper in keepers))
            failed += asked is None
            if asked is not None and (is_free or all(map(ShareKeeper.suits, keepers, asked.made))):
                return asked
        raise UsageError(f"no question was found for {TRIES} grids in a row; choose a larger grid or more items")

    def _asked(
        self, rng: Random, least: float, shares: Floats, kind_shares: Floats, position_shares: Floats
    ) -> AskedLayout | None:
        """Return a new layout; None unless, with a set, so large a share of its open items can be meant."""
        settings, numbers, physics = self._settings, self._numbers, self._about_physics
        is_physics = rng.random() < physics
        grid = self._layouts.draw(settings.width * settings.height, numbers.items, is_physics, rng)
        descriptions = [words for words in describe_items(self._layouts, grid) if is_physics or not words.is_physics]
        filled = indexes(cells_of(grid))
        blocked = [*dict.fromkeys(_draw_cells(filled, pick(rng, numbers.hidden), rng) for _ in range(self._sets))]
        if not descriptions:
            return None
        questions = self._asker.ask([(grid, descriptions)], np.array(blocked, np.uint64)[:, np.newaxis])
        margins = self._margins(descriptions, questions)
        kept = (margins.cells >= 0) & (kind_shares[margins.kinds] > 0)
        questions, margins = questions.take(kept), margins.take(kept)
        is_open = np.array([numbers.items - cells.bit_count() for cells in blocked])
        wanted = np.ceil(is_open * least).astype(np.int64) * self._is_even
        places = question_pairs(margins, MOST_PAIRS) if settings.paired else np.arange(len(margins.sets))[np.newaxis]
        rows = margins.take(places[0])
        kept = even_questions(rows, wanted, self._is_mixed, settings.test_share > 0, settings.paired)
        if not kept.any():
            return None
        rows, places = rows.take(kept), places[:, kept]
        weights = self._start_weights(descriptions, blocked, questions)[places].prod(axis=0)
        about = min(MOST_PHYSICS, kind_shares[1] / (physics or 1.0))
        evens = [(margins.sets[row], margins.targets[row], 1 / len(places)) for row in places]
        if settings.paired:
            evens.append((*paired(margins, places), PAIRS_EVENNESS))
        test_share = self._test_share if self._is_even and not settings.paired else None
        shared = [(rows.positions, position_shares), (rows.cells, shares), (rows.kinds, np.array([1 - about, about]))]
        weights = fitted(rows, weights, shared, test_share, evens if self._is_even else [])
        counted = ((rows.cells, shares), (rows.kinds, kind_shares), (rows.positions, position_shares))
        made = tuple(np.bincount(numbers, weights, len(of)).astype(float) for numbers, of in counted)
        return AskedLayout(grid, descriptions, blocked, questions, places, weights, made)

    def _margins(self, descriptions: Sequence[ItemDescription], questions: Questions) -> Margins:
        tests, answers = questions.tests.astype(np.int64), np.bitwise_count(questions.answers - np.uint64(1))
        return Margins(
            sets=questions.sets,
            targets=questions.sets * CELLS + answers,
            instructions=questions.descriptions * len(self._rules) + questions.rules,
            tests=tests,
            cells=self._cells[tests, questions.rules],
            kinds=np.array([described.is_physics for described in descriptions], np.int64)[questions.descriptions],
            is_ruled=self._is_ruled[questions.rules],
            positions=self._positions[questions.rules, answers],
        )

    def _start_weights(
        self, descriptions: Sequence[ItemDescription], blocked: Sequence[Objects], questions: Questions
    ) -> Floats:
        """Return weights that are larger the nearer the number of items that fit is to that of the settings."""
        fitting = np.array([described.fitting for described in descriptions], np.uint64)[questions.descriptions]
        hidden = np.array(blocked, np.uint64)[questions.sets]
        related = self._settings.related * (self._numbers.items - 1)
        off = np.abs(np.bitwise_count(fitting) - 1.0 - related)
        off += np.abs(np.bitwise_count(fitting & hidden) - related * self._settings.related_blocked)
        is_item = np.array([described.noun == ITEM for described in descriptions])[questions.descriptions]
        return np.exp(-RELATED_SLOPE * off - ITEM_SLOPE * is_item)

    def _draw_trials(self, asked: AskedLayout, rng: Random) -> tuple[Trial, ...]:
        """Draw a trial, or the two of a pair."""
        places = asked.places[:, _draw(asked.weights, rng)].tolist()
        rule = self._rules[asked.questions.rules[places[0]]]
        frame = pick(rng, FRAMES) if says_frame(self._settings.suffix, CLASS_OF[rule]) else None
        return tuple(self._trial(asked, place, frame, rng) for place in places)

    def _trial(self, asked: AskedLayout, place: int, frame: str | None, rng: Random) -> Trial:
        questions, grid, settings = asked.questions, asked.grid, self._settings
        described, rule = asked.descriptions[questions.descriptions[place]], self._rules[questions.rules[place]]
        hidden, answer = asked.blocked[questions.sets[place]], only(int(questions.answers[place]))
        empty = [cell for cell, item in enumerate(grid) if item < 0]
        closed = hidden | _draw_cells(empty, self._numbers.blocked - hidden.bit_count(), rng)
        related = described.fitting
        if CLASS_OF[rule] == RELATION:
            related = union_of(rays(settings.width, settings.height, rule)[only(related)]) & cells_of(grid)
        is_test = bool(questions.tests[place])
        return Trial(
            Cell(is_test, CLASS_OF[rule], rule, frame, described.is_physics),
            described.noun,
            described.adjectives,
            grid,
            frozenset(indexes(closed)),
            answer,
            tuple(indexes(int(questions.own[place]))),
            (related & ~hidden).bit_count(),
            (related & hidden).bit_count(),
        )


def _note(keepers: Sequence[ShareKeeper], asked: AskedLayout) -> None:
    for keeper, made in zip(keepers, asked.made, strict=True):
        keeper.note(made)


def answer_positions(settings: DirectorSettings, rules: Sequence[str]) -> tuple[Numbers, Floats]:
    """Return the position of the answer for each rule and cell, and the share that each position should have.

    The bottom row is never topmost, which the words tell. So all other rows should be it equally often, and trials
    that name no place should be about corners more often: a quarter of what would make all cells even.
    """
    rows, columns = (np.array(line_ranks(settings.width, settings.height, rule)) for rule in ("topmost", "leftmost"))
    sides = np.isin(rows, (0, settings.height - 1)).astype(np.int64) + np.isin(columns, (0, settings.width - 1))
    shares, numbers = np.zeros(SIDES + 2 * max(settings.width, settings.height)), []
    of_classes, rest = class_shares(settings), np.full(len(sides), 1 / len(sides))
    for rule in rules:
        numbers.append(sides)
        if CLASS_OF[rule] in (VERTICAL, HORIZONTAL):
            lines = np.array(line_ranks(settings.width, settings.height, rule))
            even = (lines < lines.max()) * of_classes[CLASS_OF[rule]] / 2 / (lines < lines.max()).sum()
            numbers[-1] = SIDES + 2 * lines + sides - np.isin(lines, (0, lines.max()))
            shares, rest = shares + np.bincount(numbers[-1], even, len(shares)), rest - even
    rest = np.maximum(rest, 0)
    rest = (rest + 3 * rest.mean()) / 4 * (1 - shares.sum()) / max(rest.sum(), _LEAST)
    return np.array(numbers), np.maximum(shares + np.bincount(sides, rest, len(shares)), _LEAST)


def _draw_cells(cells: Sequence[int], number: int, rng: Random) -> Objects:
    """Return so many of some cells."""
    left = [*cells]
    return union_of(take(rng, left) for _ in range(number))


def _draw(weights: Floats, rng: Random) -> int:
    """Return a place, as likely as its weight is large."""
    bounds = np.cumsum(weights)
    return min(int(np.searchsorted(bounds, rng.random() * bounds[-1], "right")), len(weights) - 1)
