"""Judges of one prediction: freely answered, or by an option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vqagen.score.answers.judging import NOT_AN_OPTION as NOT_AN_OPTION
from vqagen.score.answers.judging import Judged, judge, right_answer
from vqagen.score.answers.kinds import Vocabulary
from vqagen.score.answers.parsing import REFUSED
from vqagen.score.gold.file import CHOICE, OPEN
from vqagen.score.gold.item import GoldItem
from vqagen.score.items.table import Gold, Options


class Judge:
    """Judges free answers, and is the base of the judges of other modes."""

    knows_options = False
    """True if a model sees the options of an item, so that it may guess among them."""

    def __init__(self, preset: str, vocabulary: Vocabulary, top_k: Sequence[int]) -> None:
        self.top_k = tuple(top_k) or (1,)
        self.nothing = Judged((0.0,) * len(self.top_k), "", REFUSED)
        """The result of a prediction without an answer."""
        self._preset, self._vocabulary = preset, vocabulary

    def fault(self, item: GoldItem) -> str:
        """Return why an item cannot be judged in this mode; "" if it can be."""
        return ""

    def judge(self, item: GoldItem, candidates: Sequence[str]) -> Judged:
        """Return the credit of the best of the first k candidates, for each k."""
        options = Options(item.options, item.right, item.has_letters) if item.options and self.knows_options else None
        return judge(
            candidates,
            _gold(item),
            options,
            preset=self._preset,
            vocabulary=self._vocabulary,
            top_k=self.top_k,
        )

    def right_answer(self, item: GoldItem) -> str:
        """Return the canonical answer as it is compared: a right answer is `given` as the same text."""
        return right_answer(_gold(item), self._preset, self._vocabulary)


def _gold(item: GoldItem) -> Gold:
    return Gold(item.kind, item.answers, item.weights)


class ChoiceJudge(Judge):
    """Multiple choice: the best candidate is the text or the letter of an option; further ones do not count."""

    knows_options = True

    def __init__(self, preset: str, vocabulary: Vocabulary, top_k: Sequence[int]) -> None:
        super().__init__(preset, vocabulary, (1,))

    def fault(self, item: GoldItem) -> str:
        """Return a fault for an item without options."""
        return "" if item.options else "no options, so no multiple choice"


JUDGES: Mapping[str, type[Judge]] = {OPEN: Judge, CHOICE: ChoiceJudge}
"""Mode -> judge."""
