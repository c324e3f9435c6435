"""Checks across trials: repeated questions, and what differs between control and test trials."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import blake2b

from vqagen.bits import only
from vqagen.score.director.case import Case
from vqagen.score.director.chi_square import differ
from vqagen.score.director.rules import CLASS_OF, CONTROL, NONE, RELATION, SIZE, TEST
from vqagen.score.director.trial import Trial, label


class QuestionsSeen:
    """The questions of a file, each about a grid."""

    def __init__(self, window: int) -> None:
        """`window`: trials whose questions the generator keeps apart."""
        self._window = window
        self._first: dict[bytes, int] = {}

    def earlier(self, trial: Trial) -> tuple[int, bool] | None:
        """Return the number of the first trial with the question of a trial, and whether it is of the same window."""
        asked = (trial.cells, trial.blocked, trial.width, trial.noun, trial.adjectives, trial.rule, trial.frame)
        number = trial.index
        first = self._first.setdefault(blake2b(repr(asked).encode(), digest_size=8).digest(), number)
        if first == number:
            return None
        return first, not self._window or first // self._window == number // self._window


class TypeDifferences:
    """What tells control and test trials apart without a look at what is blocked: answers' cells, and numbers of items.

    The topmost item is a test trial's answer only below another one. So cells are compared of other rules.
    """

    def __init__(self) -> None:
        self.cells: dict[tuple[int, int], Counts] = {}
        """(width, height) -> type -> cell of the answer -> trials, without a rule and with one about sizes."""
        self.fitting: dict[tuple[int, int], Counts] = {}
        """(width, height) -> type -> number of fitting items -> trials, of the rules that rank them."""

    def take(self, case: Case) -> None:
        """Count a trial."""
        trial, rule_class = case.trial, CLASS_OF[case.trial.rule]
        grid = trial.width, trial.height
        if rule_class in (NONE, SIZE):
            _counts(self.cells, grid)[trial.type][only(trial.answer)] += 1
        if rule_class not in (NONE, RELATION):
            _counts(self.fitting, grid)[trial.type][case.fitting.bit_count()] += 1

    def sentences(self) -> Iterator[str]:
        """Yield a sentence for each grid size and what differs in it."""
        for (width, _), by_type in sorted(self.cells.items()):
            if differ(by_type[CONTROL], by_type[TEST]):
                cell, shares = _most_different(by_type)
                yield f"answers are in other cells in test trials: {label(cell, width)} in {shares}"
        for _, by_type in sorted(self.fitting.items()):
            if differ(by_type[CONTROL], by_type[TEST]):
                number, shares = _most_different(by_type)
                yield f"test trials have other numbers of fitting items: {number} in {shares}"


Counts = Mapping[str, Counter[int]]


def _counts(found: dict[tuple[int, int], Counts], grid: tuple[int, int]) -> Counts:
    return found.setdefault(grid, {CONTROL: Counter(), TEST: Counter()})


def _most_different(by_type: Counts) -> tuple[int, str]:
    """Return the value whose shares differ most, and the shares in words."""
    values = sorted(by_type[CONTROL] | by_type[TEST])
    value = max(values, key=lambda each: abs(_share(by_type[TEST], each) - _share(by_type[CONTROL], each)))
    shares = [f"{_share(by_type[type_], value):.1%} of {type_} trials" for type_ in (CONTROL, TEST)]
    return value, " and ".join(shares)


def _share(counts: Counter[int], value: int) -> float:
    return counts[value] / counts.total()
