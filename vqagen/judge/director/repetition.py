"""Checks across trials: numbering, repeated questions, and how often each cell is the answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b

from vqagen.bits import only
from vqagen.judge.director.chi_square import differ
from vqagen.judge.director.rules import CONTROL, TEST
from vqagen.judge.director.trial import Trial, label


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


class AnswerCells:
    """How often each cell is the answer, in control and in test trials."""

    def __init__(self) -> None:
        self.counts: dict[tuple[int, int], dict[str, Counter[int]]] = {}
        """(width, height) -> type -> cell -> trials."""

    def take(self, trial: Trial) -> None:
        """Count a trial."""
        by_type = self.counts.setdefault((trial.width, trial.height), {CONTROL: Counter(), TEST: Counter()})
        by_type[trial.type][only(trial.answer)] += 1

    def differences(self) -> Iterator[str]:
        """Yield a sentence for each grid size in which control and test trials have their answers in other cells."""
        for (width, _), by_type in sorted(self.counts.items()):
            if differ(by_type[CONTROL], by_type[TEST]):
                cell = max(
                    sorted(by_type[CONTROL] | by_type[TEST]),
                    key=lambda each: abs(_share(by_type[TEST], each) - _share(by_type[CONTROL], each)),
                )
                shares = [f"{_share(by_type[type_], cell):.1%} of {type_} trials" for type_ in (CONTROL, TEST)]
                yield f"answers are in other cells in test trials: {label(cell, width)} in {' and '.join(shares)}"


def _share(counts: Counter[int], cell: int) -> float:
    return counts[cell] / counts.total()
