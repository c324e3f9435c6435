"""Reads an instruction back from its text: the rule, frame, noun and adjectives that the words can mean.

A text is a sentence of a template with a target and perhaps a frame in it, and the target is one of the ways to say a
rule, with the description of an item in it. The files are those of `templates/director`; they are read here anew, so
that a fault of the generator's reader is found.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Problem
from vqagen.files.shipped import shipped
from vqagen.json.parsing import parse_json, read_text
from vqagen.language.loading import find_template_files
from vqagen.score.director.vocabulary import Vocabulary

SHIPPED_INSTRUCTIONS = "templates/director"
TARGET, FRAME, DESCRIPTION = "<T>", " <F>", "<D>"
LEADING = "<F>, "
COMMENT = "comment"


class Way(NamedTuple):
    """One way to say a rule, split at the description."""

    rule: str
    number: int
    """Its place among the ways to say the rule."""
    before: str
    after: str


class Sentence(NamedTuple):
    """A sentence of a template, split at the target and the frame."""

    template: str
    """Such as `instructions.json#pick`."""
    number: int
    """Its place among the sentences of all templates."""
    before: str
    between: str
    after: str
    leads: bool = False
    """True if the frame comes first, with a comma; the sentence begins with a capital then too."""

    def around(self, frame: str) -> tuple[str, str]:
        """Return the text before and behind the target, with the words of a frame or with none."""
        if self.leads:
            words = f"{frame}, {self.before}" if frame else self.before
            return words[:1].upper() + words[1:], self.after
        return self.before, self.between + (f" {frame}" if frame else "") + self.after


class Reading(NamedTuple):
    """A meaning of a text."""

    rule: str
    """As it is spoken: right is right in the frame."""
    frame: str | None
    """Whose point of view is said; None if no one's is."""
    noun: str
    adjectives: tuple[str, ...]
    sentence: Sentence
    way: int


class Grammar:
    """The instructions of files, for reading."""

    def __init__(self, sentences: Sequence[Sentence], frames: Sequence[tuple[str, str]], ways: Sequence[Way]) -> None:
        """`frames` are (frame, words)."""
        self._ways = ways
        every: list[tuple[str | None, str]] = [(None, ""), *frames]
        self._texts = [(each, frame, *each.around(said)) for each in sentences for frame, said in every]
        """(sentence, frame, text before the target, text behind it)."""

    def readings(self, text: str, vocabulary: Vocabulary) -> list[Reading]:
        """Return every meaning of a text; none for a text that no template says."""
        return [
            Reading(way.rule, frame, noun, adjectives, sentence, way.number)
            for sentence, frame, target in self._targets(text)
            for way in self._ways
            if target.startswith(way.before)
            and target.endswith(way.after)
            and len(target) > len(way.before) + len(way.after)
            for noun, adjectives in vocabulary.phrases(target[len(way.before) : len(target) - len(way.after)])
        ]

    def _targets(self, text: str) -> Iterator[tuple[Sentence, str | None, str]]:
        """Yield each (sentence, frame, words of the target) that a text can be."""
        for sentence, frame, before, after in self._texts:
            if text.startswith(before) and text.endswith(after) and len(before) + len(after) < len(text):
                yield sentence, frame, text[len(before) : len(text) - len(after)]


def instruction_files(path: Path | str | None = None) -> list[Path]:
    """Return the files that instructions are read from: those of a path, and the shipped ones behind them."""
    own = [file.path for file in find_template_files(path)] if path is not None else []
    places = {file.resolve() for file in own}
    shipped_files = (file.path for file in find_template_files(shipped(SHIPPED_INSTRUCTIONS)))
    return [*own, *(file for file in shipped_files if file.resolve() not in places)]


def load_grammar(path: Path | str | None = None) -> Grammar:
    """Return the grammar of a file or folder of instructions; sections that are not in it are the shipped ones."""
    shipped_folder = shipped(SHIPPED_INSTRUCTIONS)
    sections = dict(_sections(shipped_folder))
    if path is not None:
        sections |= _sections(path)
    ways = [Way(rule, number, *_split(said, DESCRIPTION)) for rule, number, said in _said(sections, "targets")]
    frames = [(frame, said) for frame, _, said in _said(sections, "frames")]
    return Grammar(sections["templates"], frames, ways)


def _said(sections: Mapping[str, Any], kind: str) -> Iterator[tuple[str, int, str]]:
    """Yield (name, number, text) of the texts of one kind of section."""
    for name, texts in sections.items():
        if name.startswith(f"{kind}."):
            yield from ((name.partition(".")[2], number, text) for number, text in enumerate(texts))


def _sections(path: Path | str) -> dict[str, Any]:
    """Return the sections of files: `targets.RULE`, `frames.FRAME`, and `templates` with all sentences."""
    sections: dict[str, Any] = {}
    for file in find_template_files(path):
        source = str(file.path)
        document = parse_json(read_text(file.path), source)
        try:
            for kind in ("targets", "frames"):
                for name, texts in document.get(kind, {}).items():
                    if name != COMMENT:
                        sections.setdefault(f"{kind}.{name}", []).extend(texts)
            for template in document.get("templates", ()):
                _take_sentences(
                    sections.setdefault("templates", []), f"{file.name}#{template['name']}", template["text"]
                )
        except (KeyError, TypeError, ValueError, AttributeError):
            message = "no instructions of the director task; `vqagen check` says what is wrong"
            raise BadInput([Problem(message, source)]) from None
    return sections


def _take_sentences(sentences: list[Sentence], template: str, text: str | list[str]) -> None:
    for said in [text] if isinstance(text, str) else text:
        before, behind = _split(said, TARGET)
        if before.startswith(LEADING):
            made = Sentence(template, len(sentences), before.removeprefix(LEADING), "", behind, leads=True)
        else:
            made = Sentence(template, len(sentences), before, *_split(behind, FRAME))
        sentences.append(made)


def _split(text: str, slot: str) -> tuple[str, str]:
    """Return the text before and behind a slot, which must be there once."""
    before, after = text.split(slot)
    return before, after
