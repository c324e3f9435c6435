"""Balance of answers: which answers of a template are wanted next in a window, and what may be said for them.

The reference's rule is that an answer is accepted while its count is at most 1.1 times the second largest count of all
answers (itself included) and at most 5 * max(median count, 5) (clevr-dataset-gen, `generate_questions.py`). The two
leading answers so run neck and neck, and the others follow as they come.

Balanced by words, answers are also as common whatever the phrases next to the answer say: how many words, and which
attributes. `worded` asks for such answers before the search.
"""

from bisect import bisect_right, insort
from collections.abc import Sequence
from random import Random
from typing import Any

from vqagen.language.catalogue import Value
from vqagen.language.template import PLACE, PLACES, Template
from vqagen.rng import below
from vqagen.search.plan import Plan
from vqagen.search.state import Balance
from vqagen.search.vocabulary import ANY_SET
from vqagen.world.scene import Scene, pixels_of

INTEGERS = range(11)
"""The integers every count starts with. Those up to the largest scene met join, and any other when it first occurs."""
REACHABLE = 0.4
"""Share of the second most frequent answer that a third must have by itself before it counts as level with the two."""
STEADILY_REACHABLE = 0.2
"""The same of steady answers. A third one that has about this share is level at one time and not at another, so that
the answer before tells the next. Chosen by trials on the shipped families."""

SLACK_BY_WORDS = 6.0
"""By how much more a value or a number may lead, at most, with `words`, and any answer in dialogs. Were it 0, hardly
any would come twice in a row, and the answer to the family's question before would tell .05 more than the majority;
with 4 it tells .02, with 6 .01. The most frequent number of a family has .29 of its answers with 0, .31 with 6."""
PATIENCE = 3
"""Scenes in which a family finds no question of an answer that a coin wants first, before it does without coins."""
MIDDLE = 1
"""Of the thirds 0, 1 and 2 from the left, or from the top; and of the cells that both make."""
_NONE: frozenset[Value] = frozenset()


class AnswerCounts:
    """Counts of the answers that questions of one kind had in one window, and the answers that are refused now.

    An example with five values, of which two run neck and neck. After one red the counts are 1, 0, 0, 0, 0: red is
    refused, as 1 > 1.1 × 0, the second largest count. After one blue they are 1, 1, 0, 0, 0, and either may come again.
    At 11, 10, 0, 0, 0 the leader may still come (11 ≤ 1.1 × 10), at 12 it may not. At 26, 26, 0, 0, 0 both are refused:
    the median is 0, so that none may have come more than 5 × 5 times until the others come up.
    """

    def __init__(
        self,
        known: Sequence[Value],
        leading: int = 2,
        coins: Random | None = None,
        most_slack: float = 0.0,
        is_steady: bool = False,
    ) -> None:
        """`known`: the answers that are known beforehand, a range for numbers; `leading` of them run neck and neck.

        `coins`: each count starts at 0 or 1, by a draw. Where all start at 0, the answer that scenes have more often
        comes first and the other one second, and so on: its place among questions of its kind tells the answer. Numbers
        start at 0: one that no scene has would seem level with those that are given, and keep these from being given.

        `most_slack`: by how much more an answer may lead, at most; how much is drawn by the coins after each answer.

        `is_steady`: only the answers that lead bound each other, and not the median: else all that are common are
        refused late in a window, where each answer is then like the one before.
        """
        self._is_integer, self._is_steady = isinstance(known, range), is_steady
        self._leading, self._coins, self._most_slack, self._slack = leading, coins, most_slack, 0.0
        self._counts: dict[Value, int] = {}
        self._ascending: list[int] = []
        """The counts in ascending order."""
        for answer in known:
            self._know(answer)
        self.refused = self.too_common(self._leading)

    def meet(self, size: int) -> None:
        """Add the counts up to `size` to the known answers: a scene has so many objects."""
        if self._is_integer:
            for number in range(len(INTEGERS), size + 1):
                self._know(number)

    def add(self, answer: Value) -> None:
        """Count an answer that was given."""
        self._know(answer)
        count = self._counts[answer]
        self._counts[answer] = self._ascending[bisect_right(self._ascending, count) - 1] = count + 1
        if self._most_slack and self._coins:
            self._slack = self._coins.random() * self._most_slack
        self.refused = self.too_common(self._leading)

    def _know(self, answer: Value) -> None:
        if answer not in self._counts:
            count = below(self._coins, 2) if self._coins and not self._is_integer else 0
            self._counts[answer] = count
            insort(self._ascending, count)

    def count(self, answer: Value) -> int:
        """Return how often an answer was given."""
        return self._counts.get(answer, 0)

    def all_refused(self, impossible: frozenset[Value]) -> bool:
        """True if no answer is left: each is refused or impossible."""
        return bool(impossible) and all(each in self.refused or each in impossible for each in self._counts)

    def too_common(self, leading: int) -> frozenset[Value]:
        """Return the answers that are refused if so many run neck and neck."""
        counts = self._ascending
        if len(counts) < 2:
            return _NONE
        middle = len(counts) // 2
        median = float(counts[middle]) if len(counts) % 2 else (counts[middle - 1] + counts[middle]) / 2
        # Three lead, counts 0 1 9 10 10: the third, 9, is level with the second, 10, so the limit is 9.9 and both tens
        # are refused. Counts 0 1 3 10 10: the third is rare, so the limit is 11 and nothing is refused.
        second, third = counts[-2], counts[-leading]
        level = third if third > second * (STEADILY_REACHABLE if self._is_steady else REACHABLE) else second
        limit, most = 1.1 * level + self._slack, 5 * (median if median > 5 else 5.0)
        if most < limit and not self._is_steady:
            limit = most
        if counts[-1] <= limit:
            return _NONE
        return frozenset([answer for answer, count in self._counts.items() if count > limit])


class FamilyBalance(Balance):
    """The balance of one template in one window."""

    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self.plan = plan

    def key(self, scene: Scene, answer: Value) -> Value:
        """Return what of an answer is balanced: how many objects there are, where the one is, or the answer itself."""
        kind = self.plan.template.answer_type
        return len(answer) if kind == PLACES else place_of(scene, answer[0]) if kind == PLACE else answer

    def meet(self, size: int) -> None:
        """Take note of a scene of so many objects: how far there is to count."""

    def add(self, answer: Value, said: Sequence[int]) -> None:
        """Count an answer that was given."""
        raise NotImplementedError

    def fail(self) -> None:
        """Take note of a scene that has no question that is wanted."""

    def is_hopeless(self, impossible: frozenset[Value]) -> bool:
        """True if nothing is wanted that may be had; `impossible`: answers that no scene can have."""
        return False

    def used(self, answer: Value, said: Sequence[int]) -> int:
        """Return how often an answer was given, summed over all that is balanced."""
        return 0


class CountedBalance(FamilyBalance):
    """The reference's rule; with measures, it holds too among questions that say as much.

    A question with more words in its last phrase is about fewer objects, and one that names a shape about other ones
    than one that names a color: words alone would tell much of the answer.
    """

    def __init__(self, plan: Plan, balance: str, coins: Random | None = None) -> None:
        """`balance`: that of the settings. `coins`: what counts start by; None if they start at 0."""
        super().__init__(plan)
        self._known, self._coins = known_answers(plan.template), coins
        self.measures = measures_of(plan, balance)
        self._leading = 3 if balance != "answers" and plan.template.balanced_type == "Integer" else 2
        slack = SLACK_BY_WORDS if balance == "words" and plan.template.balanced_type != "Bool" else 0.0
        self._overall = AnswerCounts(self._known, self._leading, coins, slack)
        self._worded: dict[tuple[int, int], AnswerCounts] = {}
        """(number of a measure, what it is) -> counts."""
        self._size = self._failed = self._given = 0
        self.is_worded = self.measures > 0
        self.refused = self._overall.refused

    def meet(self, size: int) -> None:
        """Add the counts up to `size` to the known answers."""
        self._size = size
        for counts in (self._overall, *self._worded.values()):
            counts.meet(size)

    def refuses(self, answer: Value, said: Sequence[int]) -> bool:
        """True if an answer is too common, among all questions or among those that are like it in some measure."""
        return answer in self.refused or any(answer in counts.refused for counts in self._of(said))

    def used(self, answer: Value, said: Sequence[int]) -> int:
        """Return how often an answer was given, summed over the measures."""
        return sum([counts.count(answer) for counts in self._of(said) or [self._overall]])

    def add(self, answer: Value, said: Sequence[int]) -> None:
        """Count an answer that was given."""
        self._given += 1
        for counts in (self._overall, *self._of(said)):
            counts.add(answer)
        self.refused = self._overall.refused

    def is_hopeless(self, impossible: frozenset[Value]) -> bool:
        """True if no answer is left: each is refused or impossible."""
        return self._overall.all_refused(impossible)

    def fail(self) -> None:
        """Count a scene without a question because answers were refused; a family that has none yet loses its coins.

        Where scenes hardly ever have one of two answers, and a coin wants that one first, the family would starve.
        """
        self._failed += 1
        if self._failed == PATIENCE and self._coins and not self._given:
            self._coins = None
            self._overall = AnswerCounts(self._known, self._leading)
            self._worded = {}
            self.meet(self._size)
            self.refused = self._overall.refused

    def _of(self, said: Sequence[int]) -> list[AnswerCounts]:
        found = []
        phrases = said[: len(self.plan.phrases)]
        for key in enumerate(measured(phrases, self.plan.template.balanced_type)[: self.measures]):
            if key not in self._worded:
                self._worded[key] = AnswerCounts(self._known, self._leading, self._coins)
                self._worded[key].meet(self._size)
            found.append(self._worded[key])
        return found


def measures_of(plan: Plan, balance: str) -> int:
    """Return by how many measures questions are compared: how many words they say next to the answer, and which.

    The two of a pair say the same words. Answers that are values hang on none of this.
    """
    if balance == "answers" or (balance == "words" and plan.template.balanced_type not in ("Bool", "Integer")):
        return 0
    return min(len(plan.phrases), 1) if balance == "pairs" else 1 + len(plan.phrases) if plan.phrases else 0


def measured(said: Sequence[int], answer_type: str) -> tuple[int, ...]:
    """Return what a question is balanced by: how many words its phrases say, and which attributes each of them says.

    Of two phrases that are compared, how many words more the first says. All attributes together would be too much: two
    phrases of four attributes have 256 sets, of which few come twice in a window.
    """
    words = [each.bit_count() for each in said]
    return (words[0] - words[1] if answer_type == "Bool" and len(words) == 2 else sum(words), *said)


def known_answers(template: Template) -> Sequence[Value]:
    """Return the answers of a template that are known beforehand; lists are added when they first occur."""
    domain, kind = template.catalogue.domain, template.balanced_type
    if kind == "Bool":
        return (True, False)
    if kind == "Integer":
        return INTEGERS
    attribute = domain.attribute_of(kind)
    if attribute is None:
        return domain.values_of(kind)
    return () if attribute.multi else attribute.leaves


def place_of(scene: Scene, index: int) -> tuple[int, ...]:
    """Return in which thirds an object is, from the left and from the top, among those of its scene, and in which cell.

    Where all are at the same height, each is in the middle. () where the scene does not say at which pixels its objects
    are: then nothing is balanced by place.
    """
    pixels = pixels_of(scene.record)
    if pixels is None:
        return ()
    own, thirds = pixels[index], []
    for axis in (0, 1):
        places = [pixel[axis] for pixel in pixels]
        before = sum([place < own[axis] for place in places])
        thirds.append(3 * before // len(places) if min(places) < max(places) else MIDDLE)
    return (*thirds, MIDDLE if thirds == [MIDDLE, MIDDLE] else 2 + 3 * thirds[0] + thirds[1])


class OtherAnswers(FamilyBalance):
    """Wants other answers than those found, of questions that say as much next to the answer; see `Plan.said`.

    Two phrases say as much if they have as many words; see `measured`. Of places, another third both from the left and
    from the top is wanted, and of two found one is in the middle: then no place leads before the middle, whatever is
    said. Answers that are values hang on nothing that is said.
    """

    def __init__(self, plan: Plan) -> None:
        super().__init__(plan)
        self.found: dict[Value, Any] = {}
        """What is balanced of an answer -> what was found with it."""
        self.refused = self.found
        self._kind = plan.template.balanced_type
        self._said: Any = None

    def take(self, answer: Value, said: Sequence[int], found: object) -> None:
        """Note what was found with an answer."""
        self.found[answer], self._said = found, self._measured(said)
        self.is_worded = bool(said) and self._kind in ("Bool", "Integer", PLACE)

    def _measured(self, said: Sequence[int]) -> Any:
        return tuple(said) if self._kind == PLACE or len(said) < 2 else measured(said, self._kind)[0]

    def sets(self, said: Sequence[int]) -> int:
        """Return the sets of attributes that the next phrase may say."""
        return ANY_SET if self._kind == PLACE or isinstance(self._said, int) else 1 << self._said[0]

    def refuses(self, answer: Value, said: Sequence[int]) -> bool:
        """True if the answer, or a third of its place, was found, or the question says something else."""
        if self._measured(said) != self._said or answer in self.found:
            return True
        thirds = zip(answer[:2], zip(*self.found, strict=True), strict=False) if self._kind == PLACE else ()
        return any(third in found or (third != MIDDLE and MIDDLE not in found) for third, found in thirds)
