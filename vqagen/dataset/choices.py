"""Options for questions, from which no rule that sees only the options can tell the right one.

Questions are dealt into exchange blocks (see `blocks`): those of one family and length, or of one family, so that the
question tells little either; then what is left of one function. Options are answers that the scene makes plausible:
values that its objects have, numbers up to that of its objects; or, with `hard`, answers that follow from a mistake
(see `mistakes`). A question that fits into no block is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any, NamedTuple

from vqagen.bits import union_of
from vqagen.dataset.blocks import BlockQuestion, arranged, exchange_blocks
from vqagen.dataset.choice_settings import ChoiceSettings
from vqagen.dataset.mistakes import Mistakes
from vqagen.errors import counted
from vqagen.items.answers import text_of
from vqagen.language.catalogue import Catalogue, Value
from vqagen.language.program import Program
from vqagen.language.synonyms import Synonyms
from vqagen.rng import stream
from vqagen.world.scene import Scene

Record = dict[str, Any]
CHOICES, CHOICE, BLOCK, MISTAKES, ROTATION = "choices", "choice", "block", "mistakes", "rotation"
PAIR = "pair"
NO_OTHER_ANSWER = "no other answer is plausible in the scene"
NO_MISTAKE = "no mistake gives another answer"
NO_BLOCK = "too few questions of the same kind have the other answers"
MOST_WRONG = 8
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
    said: tuple[str, ...] = ()
    """The answers of its type that its text names."""
    steps: int = 0
    """The length of its program."""


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
        made = tuple(mistakes[each] for each in wrong) if self._mistakes else ()
        said = self._once(tuple(self._named(program, kind)))
        return Posed(
            kind, last.name, family, text, self._once(tuple(wrong)), self._once(made), said, len(program.nodes)
        )

    def _named(self, program: Program, kind: str) -> Iterator[str]:
        """Yield the values of a type that a program names."""
        for name, _, values in program.nodes:
            yield from (value for value, of in zip(values, self._catalogue[name].values, strict=True) if of == kind)

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
        apart = abs(order.get(text, 0) - order.get(right, 0))
        return min(apart, len(order) - apart)

    return sorted(wrong, key=distance)[:MOST_WRONG]


_LENGTH, _FAMILY, _FUNCTION = "length", "family", "function"
"""What the questions of a block have in common; of a family and length, of a family, or of the last function."""

# Dealing --------------------------------------------------------------------------------------------------------------


def deal(posed: Sequence[Posed], settings: ChoiceSettings) -> list[Dealt | None]:
    """Return the options of each question, or None. The seed and the order of the questions decide them."""
    dealt: list[Dealt | None] = [None] * len(posed)
    blocks = count()
    sizes = range(settings.options, 1, -1)
    rounds = [(by, size) for size in sizes for by in (_LENGTH, _FAMILY)] + [(_FUNCTION, size) for size in sizes]
    for round_, (by, size) in enumerate(rounds):
        groups: dict[tuple[str, ...], list[int]] = {}
        for number, each in enumerate(posed):
            if dealt[number] is None and len(each.wrong) >= size - 1:
                keys = each.kind, each.function if by == _FUNCTION else each.family or each.function
                groups.setdefault((*keys, str(each.steps) if by == _LENGTH else ""), []).append(number)
        for index, members in enumerate(groups.values()):
            rng = stream(settings.seed, f"options {round_}", index)
            codes = {text: code for code, text in enumerate(sorted({posed[number].answer for number in members}))}
            texts = list(codes)
            for block in exchange_blocks([_asked(number, posed[number], codes) for number in members], size, rng):
                name = next(blocks)
                for number, order in arranged(block, rng):
                    dealt[number] = Dealt(name, tuple(texts[code] for code in order), order.index(block[number]))
    return dealt


def _asked(number: int, posed: Posed, codes: Mapping[str, int]) -> BlockQuestion:
    fitting, said = (
        union_of(codes[text] for text in texts if text in codes) for texts in ((posed.answer, *posed.wrong), posed.said)
    )
    return BlockQuestion(number, codes[posed.answer], fitting, said)


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
        record = {key: value for key, value in record.items() if key != PAIR}  # a pair has one question of each scene


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
