"""A finished question: what every writer, checker and trainer reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from vqagen.bits import Objects
from vqagen.language.program import Program
from vqagen.language.question_records import QuestionRecord, record_writer
from vqagen.language.registry import Value
from vqagen.language.template import Template
from vqagen.world.scene import Scene


class Mention(NamedTuple):
    """A part of a text that describes objects: the characters from `start` up to `end`, and the described objects."""

    start: int
    end: int
    objects: Objects


@dataclass(frozen=True, slots=True)
class Question:
    """One question about one scene, with the program that proves its answer."""

    scene: Scene = field(repr=False)
    template: Template = field(repr=False)
    text: str
    program: Program = field(repr=False)
    answer: Value
    words: Mapping[str, str | None] = field(repr=False)
    """What each slot was filled with; None where it was left open."""
    mentions: tuple[Mention, ...] = field(default=(), repr=False)
    """Where the text describes objects, in reading order; empty unless the questions were made with marks."""
    pair: int | None = field(default=None, repr=False)
    """The number of the pair, if the same is asked about another scene with another answer."""

    @property
    def question_type(self) -> str:
        """The kind of question: count, exist, query, compare_integer, compare_attribute, …"""
        return self.template.last_function.asks

    def to_record(
        self,
        index: int = 0,
        *,
        dialect: str = "text",
        trace: bool = False,
        hide_answers: bool = False,
    ) -> QuestionRecord:
        """Return the record that `vqagen generate` writes with the flags of these names.

        `index` is the record's `question_index`, its place in an output.
        """
        return record_writer(dialect, trace, hide_answers)(self, index)
