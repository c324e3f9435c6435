"""Judges of one prediction: freely answered, or by an option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vqagen.score.answers.judging import AnswerJudge
from vqagen.score.answers.kinds import Vocabulary
from vqagen.score.answers.parsing import PARSED, REFUSED
from vqagen.score.answers.presets import Preset
from vqagen.score.gold.file import CHOICE, OPEN
from vqagen.score.gold.item import GoldItem
from vqagen.score.predictions.prediction import Prediction

NOT_AN_OPTION = "not_an_option"


class Judgement(NamedTuple):
    """The result for one item."""

    scores: tuple[float, ...]
    """The credit if only the first k candidates count, for each k."""
    given: str
    """The best candidate as it was understood; as it was given if it was not."""
    status: str = PARSED


class Judge:
    """Judges free answers, and is the base of the judges of other modes."""

    knows_options = False
    """True if a model sees the options of an item, so that it may guess among them."""

    def __init__(self, preset: Preset, vocabulary: Vocabulary, top_k: Sequence[int]) -> None:
        self.top_k = tuple(top_k) or (1,)
        self.nothing = Judgement((0.0,) * len(self.top_k), "", REFUSED)
        """The result of a prediction without an answer."""
        self._answers = AnswerJudge(preset, vocabulary, self.top_k, self.knows_options)

    def fault(self, item: GoldItem) -> str:
        """Return why an item cannot be judged in this mode; "" if it can be."""
        return ""

    def judge(self, item: GoldItem, prediction: Prediction) -> Judgement:
        """Return the credit of the best of the first k candidates, for each k."""
        found = self._answers.judge(prediction.candidates, item)
        given = found.given if found.status == PARSED else "".join(prediction.candidates[:1])
        return Judgement(found.credits, given, found.status if found.is_option else NOT_AN_OPTION)

    def right_answer(self, item: GoldItem) -> str:
        """Return the canonical answer as it is compared: a right answer is `given` as the same text."""
        return self._answers.right_answer(item)


class ChoiceJudge(Judge):
    """Multiple choice: the best candidate is the text or the letter of an option; further ones do not count."""

    knows_options = True

    def __init__(self, preset: Preset, vocabulary: Vocabulary, top_k: Sequence[int]) -> None:
        super().__init__(preset, vocabulary, (1,))

    def fault(self, item: GoldItem) -> str:
        """Return a fault for an item without options."""
        return "" if item.options else "no options, so no multiple choice"


JUDGES: Mapping[str, type[Judge]] = {OPEN: Judge, CHOICE: ChoiceJudge}
"""Mode -> judge."""
