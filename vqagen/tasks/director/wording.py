"""Puts instructions into words: which text asks for a rule in a frame, with which words for left and right.

Rules are in the participant's frame. The director stands opposite, so in his frame left and right change places: he
says "rightmost … from my point of view" for the participant's leftmost. Words without a frame are his too, for he is
the speaker.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from vqagen.tasks.director.instructions import DESCRIPTION, FRAME, LEADING, TARGET, Instructions, load_instructions
from vqagen.tasks.director.rules import CLASS_OF, MIRRORED, PARTICIPANT, says_frame
from vqagen.tasks.director.settings import DIRECTIONAL


@dataclass(frozen=True, slots=True)
class Form:
    """One text for a rule in a frame, split at the description; `twin_…` is its text without a director."""

    template: str
    """The id, such as `instructions.json#pick`."""
    before: str
    after: str
    twin_before: str
    twin_after: str

    def instruction(self, phrase: str) -> str:
        """Return the instruction for the items of a description."""
        return f"{self.before}{phrase}{self.after}"

    def twin(self, phrase: str) -> str:
        """Return the same instruction where there is no director: in the participant's words, without a frame."""
        return f"{self.twin_before}{phrase}{self.twin_after}"


@dataclass(frozen=True)
class Wording:
    """All texts of instructions, with a suffix policy: which of them say a frame."""

    instructions: Instructions
    suffix: str = DIRECTIONAL

    @cached_property
    def _forms(self) -> dict[tuple[str, str | None], tuple[Form, ...]]:
        return {}

    def forms(self, rule: str, frame: str | None) -> tuple[Form, ...]:
        """Return every text for a rule in a frame; frame None, or a rule whose frame is not said, has no suffix."""
        said = frame if says_frame(self.suffix, CLASS_OF[rule]) else None
        found = self._forms.get((rule, said))
        if found is None:
            found = self._forms[rule, said] = tuple(self._made(rule, said))
        return found

    def _made(self, rule: str, frame: str | None) -> Iterator[Form]:
        targets = self.instructions.targets
        spoken = rule if frame == PARTICIPANT else MIRRORED.get(rule, rule)
        frames = self.instructions.frames[frame] if frame else ("",)
        for template, sentence in self.instructions.sentences:
            for said, twin in zip(targets[spoken], targets[rule], strict=True):
                for words in frames:
                    yield Form(template, *_split(sentence, said, words), *_split(sentence, twin, ""))


def load_wording(path: Path | str | None = None, suffix: str = DIRECTIONAL) -> Wording:
    """Return the wording of a file or folder of instructions, by default the shipped ones.

    Raises BadInput with every mistake in the files.
    """
    return Wording(load_instructions(path), suffix)


def _split(sentence: str, target: str, frame: str) -> tuple[str, str]:
    """Return what stands before and behind the description. `frame` is empty where none is said."""
    framed = sentence.replace(LEADING, f"{frame}, " * bool(frame)).replace(f" {FRAME}", f" {frame}" * bool(frame))
    before, _, after = framed.replace(TARGET, target).partition(DESCRIPTION)
    return before[:1].upper() + before[1:], after
