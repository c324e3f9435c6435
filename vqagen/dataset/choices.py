"""Options for questions, from which no rule that sees only the options can tell the right one.

Questions are dealt into exchange blocks (see `blocks`): first those of one family, then what is left of one function.
Options are answers that the scene makes plausible: values that its objects have, numbers up to that of its objects; or,
with `hard`, answers that follow from a mistake (see `mistakes`). A question that fits into no block is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, NamedTuple

from vqagen.dataset.blocks import Asked, arranged, exchange_blocks
from vqagen.dataset.choice_settings import ChoiceSettings
from vqagen.dataset.mistakes import Mistakes
from vqagen.errors import counted
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.registry import Value
from vqagen.language.synonyms import Synonyms
from vqagen.rng import stream
from vqagen.score.answers.kinds import text_of
from vqagen.world.scene import Scene

Record = dict[str, Any]
CHOICES, CHOICE, BLOCK, MISTAKES, ROTATION = "choices", "choice", "block", "mistakes", "rotation"
NO_OTHER_ANSWER = "no other answer is plausible in the scene"
NO_MISTAKE = "no mistake gives another answer"
NO_BLOCK = "too few questions of the same kind have the other answers"
MOST_WRONG = 11
"""Plausible wrong answers of a question that are taken into account: more make sets of options too many to try."""


class Posed(NamedTuple):
    """A question that is to get options."""

    kind: str
    """The type of its answers."""
    function: str
    """The last function of its program."""
    family: str
    answer: str
    wrong: tuple[str, ...]
    mistakes: tuple[str, ...]
    """With `hard`, the mistake that gives each wrong answer; else empty."""


class Dealt(NamedTuple):
    """The options of a question."""

    block: int
    options: tuple[str, ...]
    choice: int
    """The place of the right one."""


@dataclass
class ChoiceReport:
    """The result: how many questions have options, and why others have none."""

    questions: int = 0
    sizes: Counter[int] = field(default_factory=Counter)
    """Number of options -> questions."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason -> questions."""
    mistakes: Counter[str] = field(default_factory=Counter)
    """The mistake of a wrong option -> options."""

    def summary(self) -> str:
        """Return the result for people, in a few lines."""
        sizes = ", ".join(f"{number:,} of {size}" for size, number in sorted(self.sizes.items(), reverse=True))
        first = f"{self.sizes.total():,} of {counted(self.questions, 'question')} have options" + (
            sizes and f": {sizes}"
        )
        rest = [f"left out: {number:,} ({reason})" for reason, number in self.left_out.most_common()]
        return "\n".join([first, *rest])

    def to_record(self) -> dict[str, Any]:
        """Return the result as JSON."""
        return {
            "questions": self.questions,
            "options": {str(size): number for size, number in sorted(self.sizes.items())},
            "left_out": dict(self.left_out),
            "mistakes": dict(self.mistakes.most_common()),
        }


# What may be an option ------------------------------------------------------------------------------------------------


class Plausible:
    """Finds the wrong answers that can be options of a question."""

    def __init__(self, catalogue: Catalogue, synonyms: Synonyms, is_hard: bool) -> None:
        self._catalogue, self._synonyms = catalogue, synonyms
        self._mistakes = Mistakes(catalogue) if is_hard else None
        self._alike = lru_cache(maxsize=None)(self._says_the_same)
        self._kept: dict[tuple[str, ...], tuple[str, ...]] = {}
        """Each tuple once: many questions have the same."""

    def posed(self, program: Program, scene: Scene, outputs: Sequence[Value], family: str) -> Posed:
        """Return a question whose steps give `outputs`."""
        last = self._catalogue[program.nodes[-1].function]
        right, kind = outputs[-1], last.output
        mistakes = self._mistakes.answers(program.nodes, outputs, scene) if self._mistakes else {}
        answers = list(mistakes) if self._mistakes else [text_of(each) for each in self._values(kind, scene)]
        text = text_of(right)
        wrong = [each for each in dict.fromkeys(answers) if each != text and not self._alike(kind, text, each)]
        wrong = _nearest(text, wrong, self._order(kind))
        said = tuple(mistakes[each] for each in wrong) if self._mistakes else ()
        return Posed(kind, last.name, family, text, self._once(tuple(wrong)), self._once(said))

    def _once(self, texts: tuple[str, ...]) -> tuple[str, ...]:
        return self._kept.setdefault(texts, texts)

    def _values(self, kind: str, scene: Scene) -> Iterable[Value]:
        """Return the answers of a type that are plausible in a scene."""
        attribute = self._catalogue.domain.attribute_of(kind)
        if kind == "Bool":
            return (True, False)
        if kind == "Integer":
            return range(scene.size + 1)
        return filter(None, scene.values[attribute.name]) if attribute else self._catalogue.domain.values_of(kind)

    def _order(self, kind: str) -> Mapping[str, int]:
        return {value: place for place, value in enumerate(self._catalogue.domain.values_of(kind))}

    def _says_the_same(self, kind: str, right: str, other: str) -> bool:
        """True if a wrong answer could pass for the right one: a synonym, or of a list all of it and more."""
        attribute = self._catalogue.domain.attribute_of(kind)
        if attribute is None:
            return False
        if attribute.multi:
            one, two = (set(text.split(", ")) for text in (right, other))
            return one <= two or two <= one
        return not set(self._synonyms.of(kind, right)).isdisjoint(self._synonyms.of(kind, other))


def _nearest(right: str, wrong: Sequence[str], order: Mapping[str, int]) -> list[str]:
    """Return the wrong answers nearest to the right one, if they are many: by size, or in the domain's order."""
    if len(wrong) <= MOST_WRONG:
        return list(wrong)

    def distance(text: str) -> int:
        if text.isdecimal() and right.isdecimal():
            return abs(int(text) - int(right))
        return (order.get(text, 0) - order.get(right, 0)) % (len(order) or 1)

    return sorted(wrong, key=distance)[:MOST_WRONG]


# Dealing --------------------------------------------------------------------------------------------------------------


def deal(posed: Sequence[Posed], settings: ChoiceSettings) -> list[Dealt | None]:
    """Return the options of each question, or None; the same whatever the order in which questions were made."""
    dealt: list[Dealt | None] = [None] * len(posed)
    groupings: Sequence[tuple[str, Callable[[Posed], tuple[str, str]]]] = (
        ("options of families", lambda each: (each.kind, each.family or each.function)),
        ("options of functions", lambda each: (each.kind, each.function)),
    )
    blocks = 0
    for label, group_of in groupings:
        groups: dict[tuple[str, str], list[int]] = {}
        for number, each in enumerate(posed):
            if dealt[number] is None and each.wrong:
                groups.setdefault(group_of(each), []).append(number)
        for index, members in enumerate(groups.values()):
            for options in _deal_group(posed, members, settings.options, stream(settings.seed, label, index)):
                for number, order in options:
                    dealt[number] = Dealt(blocks, order, order.index(posed[number].answer))
                blocks += 1
    return dealt


def _deal_group(
    posed: Sequence[Posed], members: Sequence[int], most: int, rng: Random
) -> Iterator[list[tuple[int, tuple[str, ...]]]]:
    """Yield blocks of the questions of a group, each question with its options; large blocks come first."""
    codes = {text: code for code, text in enumerate(sorted({posed[number].answer for number in members}))}
    texts, left = list(codes), dict[int, Asked]()
    for number in members:
        each = posed[number]
        fitting = sum(1 << codes[text] for text in (each.answer, *each.wrong) if text in codes)
        left[number] = Asked(number, codes[each.answer], fitting)
    for size in range(most, 1, -1):
        for block in exchange_blocks(list(left.values()), size, rng):
            for number in block:
                del left[number]
            yield [(number, tuple(texts[code] for code in order)) for number, order in arranged(block, rng)]


def finished(record: Record, posed: Posed, dealt: Dealt, settings: ChoiceSettings) -> Iterator[Record]:
    """Yield a question with its options: once or, with rotations, for every rotation of them."""
    said = dict(zip(posed.wrong, posed.mistakes, strict=False))
    for turn in range(len(dealt.options) if settings.rotations else 1):
        options = [*dealt.options[turn:], *dealt.options[:turn]]
        more: Record = {CHOICES: options, CHOICE: options.index(posed.answer), BLOCK: dealt.block}
        if settings.hard:
            more[MISTAKES] = [said.get(option) for option in options]
        if settings.rotations:
            more[ROTATION] = turn
        yield {**record, **more}


def reported(posed: Sequence[Posed], dealt: Sequence[Dealt | None], settings: ChoiceSettings) -> ChoiceReport:
    """Return the report of questions and their options."""
    report = ChoiceReport(len(posed))
    for each, options in zip(posed, dealt, strict=True):
        if options:
            said = dict(zip(each.wrong, each.mistakes, strict=False))
            report.sizes[len(options.options)] += 1
            report.mistakes.update(said[option] for option in options.options if option in said)
        elif each.wrong:
            report.left_out[NO_BLOCK] += 1
        else:
            report.left_out[NO_MISTAKE if settings.hard else NO_OTHER_ANSWER] += 1
    return report
