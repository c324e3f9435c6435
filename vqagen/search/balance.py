"""Which answers are too common to be given again: the reference's acceptance rule, per window and template.

An answer is accepted while its count is at most 1.1 times the second largest count of all answers (itself included) and
at most 5 times the median count or 5, whichever is more (clevr-dataset-gen, `generate_questions.py`). The two leading
answers so run neck and neck, and the others follow as they come.
"""

from __future__ import annotations

from vqagen.language.registry import Value
from vqagen.language.template import Template
from vqagen.world.domain import Domain

INTEGERS = range(11)
"""The integers every count starts with. Those up to the largest scene met join, and any other when it first occurs."""


class AnswerCounts:
    """How often each answer of one template was given in one window, and which are refused now."""

    def __init__(self, template: Template) -> None:
        kind = template.answer_type
        self._is_integer = kind == "Integer"
        self._counts: dict[Value, int] = dict.fromkeys(_known_answers(template.catalogue.domain, kind), 0)
        self.refused: frozenset[Value] = frozenset()

    def meet(self, size: int) -> None:
        """Add the counts up to `size` to the known answers: a scene has so many objects."""
        if self._is_integer:
            for number in range(len(INTEGERS), size + 1):
                self._counts.setdefault(number, 0)

    def add(self, answer: Value) -> None:
        """Count an answer that was given."""
        self._counts[answer] = self._counts.get(answer, 0) + 1
        self.refused = self._too_common()

    def all_refused(self, impossible: frozenset[Value]) -> bool:
        """True if no answer is left: each is refused or impossible."""
        return bool(impossible) and all(each in self.refused or each in impossible for each in self._counts)

    def _too_common(self) -> frozenset[Value]:
        counts = sorted(self._counts.values())
        if len(counts) < 2:
            return frozenset()
        middle = len(counts) // 2
        median = counts[middle] if len(counts) % 2 else (counts[middle - 1] + counts[middle]) / 2
        limit = min(1.1 * counts[-2], 5 * max(median, 5))
        return frozenset(answer for answer, count in self._counts.items() if count > limit)


def _known_answers(domain: Domain, kind: str) -> tuple[Value, ...]:
    """Return the answers of a type that are known beforehand; lists are added when they first occur."""
    if kind == "Bool":
        return (True, False)
    if kind == "Integer":
        return tuple(INTEGERS)
    attribute = domain.attribute_of(kind)
    if attribute is None:
        return domain.values_of(kind)
    return () if attribute.multi else attribute.leaves
