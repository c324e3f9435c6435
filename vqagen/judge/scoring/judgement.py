"""Judges of one prediction: freely answered, by an option, by a place in the picture, or by a ranking of options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from vqagen.errors import describe
from vqagen.judge.answers.judging import AnswerJudge
from vqagen.judge.answers.kinds import BOX, NO_VOCABULARY, Vocabulary, text_of
from vqagen.judge.answers.parsing import PARSED, REFUSED, parse_reply
from vqagen.judge.answers.presets import Preset
from vqagen.judge.answers.reading import read_answer
from vqagen.judge.gold.file import CHOICE, OPEN, POINTING, RANK
from vqagen.judge.gold.item import Box, GoldItem
from vqagen.judge.predictions.prediction import Prediction
from vqagen.judge.scoring.ranking import ndcg

NOT_AN_OPTION = "not_an_option"
OVERLAP, RANK_OF_RIGHT, GAIN = "overlap", "rank", "ndcg"
"""Names of further figures: the intersection of two boxes over their union, the rank of the right option, and the
normalised discounted cumulative gain."""
LEAST_OVERLAP = 0.5
"""A box is right if its intersection with the right one is at least this share of their union."""
RANKS = (1, 5, 10)


_ANY_BOX = GoldItem("", BOX, (), "")


class Judgement(NamedTuple):
    """The result for one item."""

    scores: tuple[float, ...]
    """The credit if only the first k candidates count, for each k."""
    given: str
    """The best candidate as it was understood; as it was given if it was not."""
    status: str = PARSED
    measures: tuple[tuple[str, float], ...] = ()
    """Names and values of further figures."""


class Judge:
    """Judges free answers, and is the base of the judges of other modes."""

    knows_options = False
    """True if a model sees the options of an item, so that it may guess among them."""

    def __init__(self, preset: Preset, vocabulary: Vocabulary, top_k: Sequence[int]) -> None:
        self.top_k = tuple(top_k) or (1,)
        self.nothing = Judgement((0.0,) * len(self.top_k), "", REFUSED)
        """The result of a prediction without an answer."""
        self._answers = AnswerJudge(preset, vocabulary, self.top_k, self.knows_options)

    def fault(self, item: GoldItem, prediction: Prediction) -> str:
        """Return why an item or its prediction cannot be judged in this mode; "" if it can be."""
        return ""

    def judge(self, item: GoldItem, prediction: Prediction) -> Judgement:
        """Return the credit of the best of the first k candidates, for each k."""
        found = self._answers.judge(prediction.candidates, item)
        given = found.given if found.status == PARSED else "".join(prediction.candidates[:1])
        return Judgement(found.credits, given, found.status if found.is_option else NOT_AN_OPTION)

    def right_answer(self, item: GoldItem) -> str:
        """Return the canonical answer as it is compared: a right answer is `given` as the same text."""
        return self._answers.right_answer(item)

    def _all(self, is_right: bool) -> tuple[float, ...]:
        return (float(is_right),) * len(self.top_k)


class ChoiceJudge(Judge):
    """Multiple choice: the best candidate is the text or the letter of an option; further ones do not count."""

    knows_options = True

    def __init__(self, preset: Preset, vocabulary: Vocabulary, top_k: Sequence[int]) -> None:
        super().__init__(preset, vocabulary, (1,))

    def fault(self, item: GoldItem, prediction: Prediction) -> str:
        """Return a fault for an item without options."""
        return "" if item.options else "no options, so no multiple choice"


class PointingJudge(Judge):
    """Pointing: the id of a box, a box of one's own, or a point."""

    knows_options = True

    def __init__(self, preset: Preset, vocabulary: Vocabulary, top_k: Sequence[int]) -> None:
        super().__init__(preset, vocabulary, (1,))

    def fault(self, item: GoldItem, prediction: Prediction) -> str:
        """Return a fault for a box or point where the right box is unknown."""
        if item.box is None and (_box_of(prediction) or prediction.point or not item.options):
            return "the box of the answer is unknown, so no box or point can be judged"
        return ""

    def judge(self, item: GoldItem, prediction: Prediction) -> Judgement:
        """Return the result of the box, the point or the id that is given, in this order."""
        if item.box is not None and (box := _box_of(prediction)) is not None:
            overlap = intersection_over_union(box, item.box)
            return Judgement(self._all(overlap >= LEAST_OVERLAP), _shown(box), measures=((OVERLAP, overlap),))
        if item.box is not None and prediction.point is not None:
            return Judgement(self._all(is_inside(prediction.point, item.box)), _shown(prediction.point))
        result = super().judge(item, prediction)
        chosen = dict(zip(item.options, item.boxes, strict=False)).get(result.given)
        if item.box is None or chosen is None:
            return result
        return result._replace(measures=((OVERLAP, intersection_over_union(chosen, item.box)),))


def _box_of(prediction: Prediction) -> Box | None:
    """Return the box of a prediction, also of one in words: `[10, 20, 30, 40]`, left, upper, width and height."""
    if prediction.box is not None or not prediction.candidates:
        return prediction.box
    reply = parse_reply(prediction.candidates[0], _ANY_BOX, NO_VOCABULARY)
    found = read_answer(reply.answer, BOX, NO_VOCABULARY)
    return found if isinstance(found, tuple) else None  # four numbers


class RankJudge(Judge):
    """Ranking: the rank of the right option among all."""

    knows_options = True

    def __init__(self, preset: Preset, vocabulary: Vocabulary, top_k: Sequence[int]) -> None:
        super().__init__(preset, vocabulary, top_k or RANKS)

    def fault(self, item: GoldItem, prediction: Prediction) -> str:
        """Return a fault for an item without options, and for ranks that are no permutation of theirs."""
        if item.right is None:
            return "no options, so nothing to rank"
        if prediction.ranks is not None and sorted(prediction.ranks) != list(range(1, len(item.options) + 1)):
            listed = describe(list(prediction.ranks))
            return f"expected the ranks 1 to {len(item.options)}, one for each option, found {listed}"
        return ""

    def right_answer(self, item: GoldItem) -> str:
        """Return the text of the right option."""
        return text_of(item.answers[0])

    def judge(self, item: GoldItem, prediction: Prediction) -> Judgement:
        """Return 1 for each k that the rank of the right option does not exceed."""
        ranks = prediction.ranks or self._ranks_of(prediction.candidates, item)
        if ranks is None or item.right is None:
            return self.nothing._replace(status=NOT_AN_OPTION if prediction.candidates else REFUSED)
        rank = ranks[item.right]
        measures = [(RANK_OF_RIGHT, float(rank))]
        if any(item.relevance):
            measures.append((GAIN, ndcg(ranks, item.relevance)))
        best = item.options[ranks.index(1)] if 1 in ranks else ""
        return Judgement(tuple(float(rank <= k) for k in self.top_k), best, measures=tuple(measures))

    def _ranks_of(self, candidates: Sequence[str], item: GoldItem) -> tuple[int, ...] | None:
        """Return the ranks of candidates that are options, best first; options that are left out share the last."""
        place = {text: rank for rank, text in enumerate(dict.fromkeys(candidates), 1)}
        if not any(option in place for option in item.options):
            return None
        return tuple(place.get(option, len(item.options)) for option in item.options)


JUDGES: Mapping[str, type[Judge]] = {OPEN: Judge, CHOICE: ChoiceJudge, POINTING: PointingJudge, RANK: RankJudge}
"""Mode -> judge."""


def intersection_over_union(one: Box, other: Box) -> float:
    """Return the share of two boxes together that both cover.

    >>> intersection_over_union((0, 0, 2, 2), (1, 0, 2, 2))
    0.3333333333333333
    """
    width = min(one[0] + one[2], other[0] + other[2]) - max(one[0], other[0])
    height = min(one[1] + one[3], other[1] + other[3]) - max(one[1], other[1])
    both = max(width, 0.0) * max(height, 0.0)
    either = one[2] * one[3] + other[2] * other[3] - both
    return both / either if either > 0 else 0.0


def is_inside(point: tuple[float, float], box: Box) -> bool:
    """Return true for a point in a box or on its edge."""
    return box[0] <= point[0] <= box[0] + box[2] and box[1] <= point[1] <= box[1] + box[3]


def _shown(numbers: Sequence[float]) -> str:
    return ", ".join(f"{number:g}" for number in numbers)
