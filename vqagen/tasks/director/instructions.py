"""Files of instructions: the targets, frames and sentences in which a director asks for an item.

A sentence holds `<T>`, which is replaced by a target, and `<F>`, which is replaced by a frame: `<F>, ` at its beginning
or ` <F>` behind the target. Where no frame is said, `<F>` is left out with its comma and blank, and the sentence still
begins with a capital. A target holds `<D>`, the description of an item: "leftmost <D>". So

    "<F>, please pick the <T>."  "leftmost <D>"  "from my point of view"  "red book"

make "From my point of view, please pick the leftmost red book."

Rules are in the participant's frame. The director stands opposite, so in his frame left and right change places: he
says "rightmost … from my point of view" for the participant's leftmost. Words without a frame are his too, for he is
the speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import shipped
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import problem_in, schema_faults
from vqagen.language.loading import TemplateFile, find_template_files
from vqagen.tasks.director.catalogue import ItemCatalogue, spell_out
from vqagen.tasks.director.rules import CLASS_OF, FRAMES, MIRRORED, PARTICIPANT, says_frame
from vqagen.tasks.director.settings import DIRECTIONAL

SCHEMA = "director-templates"
SHIPPED_INSTRUCTIONS = "templates/director"
TARGETS, FRAME_TEXTS, TEMPLATES = "targets", "frames", "templates"
"""Sections of a file."""
TARGET, DESCRIPTION, FRAME = "<T>", "<D>", "<F>"
ENGLISH = "en"
LEADING = f"{FRAME}, "
"""Begins a sentence whose frame comes first."""
_SLOT = re.compile(r"<[^<>]*>|[<>]")


class _Entry(NamedTuple):
    """A text of a file and its place."""

    text: str
    section: str
    """The section, and in it the rule, the frame or the name of the template: `targets.leftmost`."""
    path: str
    source: str
    document: str
    """All of the file."""
    file: str
    """The file's name inside its folder."""
    language: str
    """The language of the file."""

    @property
    def kind(self) -> str:
        """TARGETS, FRAME_TEXTS or TEMPLATES."""
        return self.section.partition(".")[0]

    @property
    def name(self) -> str:
        """The rule, the frame, or the name of the template."""
        return self.section.partition(".")[2]

    def problem(self, message: str) -> Problem:
        """Return a problem at this place."""
        return problem_in(self.source, self.path, message, self.document)


class Form(NamedTuple):
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
class Instructions:
    """All ways to ask for an item, and which of them say a frame: the setting `suffix`."""

    targets: Mapping[str, tuple[str, ...]]
    """Rule -> the ways to say it."""
    frames: Mapping[str, tuple[str, ...]]
    """Frame -> the ways to say it."""
    sentences: tuple[tuple[str, str], ...]
    """(template, such as `instructions.json#pick`; sentence)."""
    suffix: str = DIRECTIONAL

    @cached_property
    def _forms(self) -> dict[tuple[str, str | None], tuple[Form, ...]]:
        return {}

    def forms(self, rule: str, frame: str | None) -> tuple[Form, ...]:
        """Return every text for a rule in a frame; frame None, or a rule whose frame is not said, has no suffix.

        The rule "leftmost" in the director's frame, "from my point of view", is spoken as "rightmost".
        """
        named = frame if says_frame(self.suffix, CLASS_OF[rule]) else None
        forms = self._forms.get((rule, named))
        if forms is None:
            forms = self._forms[rule, named] = tuple(self._made(rule, named))
        return forms

    def _made(self, rule: str, frame: str | None) -> Iterator[Form]:
        spoken = rule if frame == PARTICIPANT else MIRRORED.get(rule, rule)
        frames = self.frames[frame] if frame else ("",)
        for template, sentence in self.sentences:
            for target, twin in zip(self.targets[spoken], self.targets[rule], strict=True):
                for words in frames:
                    yield Form(template, *_split(sentence, target, words), *_split(sentence, twin, ""))


def find_instruction_files(path: Path | str | None = None) -> list[TemplateFile]:
    """Return the files of instructions in a file or folder, by default the shipped ones."""
    return find_template_files(path or shipped(SHIPPED_INSTRUCTIONS))


def with_shipped(files: Sequence[TemplateFile]) -> list[TemplateFile]:
    """Return files of instructions, and behind them the shipped ones, which say what these do not."""
    places = {file.path.resolve() for file in files}
    return [*files, *(file for file in find_instruction_files() if file.path.resolve() not in places)]


def load_instructions(path: Path | str | None = None, suffix: str = DIRECTIONAL) -> Instructions:
    """Return the instructions of a file or folder; sections that are not in it are the shipped ones.

    Raises BadInput with every mistake.
    """
    instructions, problems = read_instructions(find_instruction_files(path))
    if problems:
        raise BadInput(problems)
    return replace(instructions, suffix=suffix)


def read_instructions(files: Sequence[TemplateFile]) -> tuple[Instructions, tuple[Problem, ...]]:
    """Return the instructions of files, whose sections replace the shipped ones, with all mistakes in the files."""
    problems: list[Problem] = []
    given = [entry for file in files for entry in _entries(file, problems)]
    given_sections = {_replaced_with(entry.section) for entry in given}
    others = [entry for file in with_shipped(files)[len(files) :] for entry in _entries(file, [])]
    entries = [*(entry for entry in others if _replaced_with(entry.section) not in given_sections), *given]
    by_section: dict[str, list[_Entry]] = {}
    for entry in entries:
        by_section.setdefault(entry.section, []).append(entry)
    problems += _faults(entries)
    problems += _unequal_mirrors(entries, by_section) if not problems else ()
    instructions = Instructions(
        {rule: tuple(entry.text for entry in by_section.get(f"{TARGETS}.{rule}", ())) for rule in CLASS_OF},
        {frame: tuple(entry.text for entry in by_section.get(f"{FRAME_TEXTS}.{frame}", ())) for frame in FRAMES},
        tuple((f"{entry.file}#{entry.name}", entry.text) for entry in entries if entry.kind == TEMPLATES),
    )
    return instructions, tuple(dict.fromkeys(problems))


def _replaced_with(section: str) -> str:
    """Return the section that is replaced as a whole: all templates, or the ways to say one rule or frame."""
    return TEMPLATES if section.startswith(TEMPLATES) else section


def _entries(file: TemplateFile, problems: list[Problem]) -> list[_Entry]:
    """Return the texts of a file in reading order; add its faults of form, for which it is left out."""
    source = str(file.path)
    try:
        text = read_text(file.path)
        document = parse_json(text, source)
    except BadInput as error:
        problems += error.problems
        return []
    faults = [*schema_faults(document, SCHEMA)]
    names: dict[str, str] = {}
    for i, record in enumerate(document.get(TEMPLATES, ()) if not faults else ()):
        first = names.setdefault(record["name"], f"{TEMPLATES}[{i}]")
        if first != f"{TEMPLATES}[{i}]":
            faults.append((f"{TEMPLATES}[{i}].name", f"name {record['name']!r} is taken by {first}"))
    problems += [problem_in(source, path, message, text) for path, message in faults]
    if faults:
        return []
    language = document.get("language", ENGLISH)
    return [_Entry(*placed, source, text, file.name, language) for placed in _texts(document)]


def _texts(document: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield each text of a document with its section and JSON path."""
    for section in (key for key in document if key in (TARGETS, FRAME_TEXTS)):
        for name, ways in document[section].items():
            if name != "comment":
                yield from ((way, f"{section}.{name}", f"{section}.{name}[{i}]") for i, way in enumerate(ways))
    for i, record in enumerate(document.get(TEMPLATES, ())):
        section, written, path = f"{TEMPLATES}.{record['name']}", record["text"], f"{TEMPLATES}[{i}].text"
        if isinstance(written, str):
            yield written, section, path
        else:
            yield from ((text, section, f"{path}[{k}]") for k, text in enumerate(written))


# Mistakes -------------------------------------------------------------------------------------------------------------


def _faults(entries: Iterable[_Entry]) -> Iterator[Problem]:
    """Yield the faults of each text, and each text that is there twice, for then it has two meanings."""
    taken: dict[tuple[str, str], _Entry] = {}
    for entry in entries:
        kind, text = entry.kind, entry.text
        yield from (entry.problem(message) for message in _text_faults(kind, text))
        if entry.language == ENGLISH:
            yield from (entry.problem(message) for message in _article_faults(kind, text))
        first = taken.setdefault((kind, text.casefold()), entry)
        if first is not entry:
            yield entry.problem(f"the same words as {first.path}; a text can have one meaning only")


def _article_faults(kind: str, text: str) -> Iterator[str]:
    """Yield a fault of an English text whose article stands in the wrong place."""
    if kind == TARGETS and re.match(r"(?i)(the|an?)\b", text):
        yield f"an article before the target; the sentence has it: leave out {text.split()[0]!r}"
    if kind == TEMPLATES and TARGET in text and not re.search(f"(?i)the {TARGET}", text):
        yield f"no article before the target; write: the {TARGET}"


def _text_faults(kind: str, text: str) -> Iterator[str]:
    """Yield what is wrong with the blanks, the slots and the end of a text."""
    if text != text.strip() or "  " in text:
        yield "blanks at an end, or several in a row; write single blanks between words"
    leads = text.startswith(FRAME)
    slots = {TARGETS: [DESCRIPTION], FRAME_TEXTS: [], TEMPLATES: [FRAME, TARGET] if leads else [TARGET, FRAME]}[kind]
    present = _SLOT.findall(text)
    if present != slots:
        wanted = " and behind it ".join(slots) or "no slot"
        yield f"expected {wanted}{' once' if slots else ''}, found {' '.join(present) or 'no slot'}"
    elif kind == TEMPLATES and leads and not text.startswith(LEADING):
        yield f"no comma and blank behind {FRAME}; they are left out with it where no frame is said"
    elif kind == TEMPLATES and not leads and f" {FRAME}" not in text:
        yield f"no blank before {FRAME}; it is left out with its blank where no frame is said"
    if kind == TEMPLATES and not re.search(r"[.?!]\Z", text):
        yield "no mark at the end; write . ? or !"


def _unequal_mirrors(entries: Sequence[_Entry], by_section: Mapping[str, Sequence[_Entry]]) -> Iterator[Problem]:
    """Yield rules that have not as many ways as their mirror images: way i of one mirrors way i of the other."""
    for rule, mirror in MIRRORED.items():
        here, there = by_section.get(f"{TARGETS}.{rule}", ()), by_section.get(f"{TARGETS}.{mirror}", ())
        if rule < mirror and len(here) != len(there):
            last = max((*here, *there), key=entries.index)
            counts = f"{rule} has {len(here)} and {mirror} has {len(there)}"
            advice = f"give both the same number, way i of {rule} being the mirror image of way i of {mirror}"
            yield problem_in(last.source, last.section, f"unequal numbers of ways: {counts}; {advice}", last.document)


class InstructionMeaning(NamedTuple):
    """What a text asks for."""

    rule: str
    """In the participant's frame."""
    frame: str | None
    noun: str
    adjectives: tuple[str, ...]
    """In the order of the text."""
    form: Form


class InstructionReader:
    """Recognises instructions about the items of a catalogue."""

    def __init__(self, instructions: Instructions, catalogue: ItemCatalogue) -> None:
        self._targets = instructions.targets
        self._sentences: dict[str, list[tuple[str | None, str, str, str]]] = {}
        """Text before the target -> (frame, template, sentence, text behind the target)."""
        for frame in (None, *FRAMES):
            for words in instructions.frames[frame] if frame else ("",):
                for template, sentence in instructions.sentences:
                    before, after = _split(sentence, TARGET, words, TARGET)
                    self._sentences.setdefault(before, []).append((frame, template, sentence, after))
        self._nouns = {catalogue.spoken(noun): noun for noun in catalogue.nouns}
        self._adjectives = {spell_out(adjective): adjective for adjective in catalogue.classes}

    def meanings(self, text: str) -> list[InstructionMeaning]:
        """Return every meaning of a text; none for a text that no template says."""
        return [
            InstructionMeaning(rule, frame, *described, Form(template, text[:first], text[last:], *twin))
            for start in range(len(text))
            for frame, template, sentence, end in self._sentences.get(text[:start], ())
            for rule, number, first, last in self._said(text, start, end, frame)
            for twin in [_split(sentence, self._targets[rule][number], "")]
            for described in self._descriptions(text[first:last].split(" "))
        ]

    def _said(self, text: str, start: int, end: str, frame: str | None) -> Iterator[tuple[str, int, int, int]]:
        """Yield each target that stands between the rest of a sentence: rule, number, where its description stands."""
        behind = len(text) - len(end)
        for spoken, ways in self._targets.items() if text.endswith(end) else ():
            rule = spoken if frame == PARTICIPANT else MIRRORED.get(spoken, spoken)
            for number, way in enumerate(ways):
                before, _, after = way.partition(DESCRIPTION)
                before = before if start else _with_capital(before)
                first, last = start + len(before), behind - len(after)
                if first < last and text.startswith(before, start) and text.endswith(after, first, behind):
                    yield rule, number, first, last

    def _descriptions(self, words: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each (noun, adjectives) that words such as "red pair of scissors" can be."""
        for count in range(1, len(words) + 1):
            spoken, rest = " ".join(words[:count]), words[count:]
            if not rest and spoken in self._nouns:
                yield self._nouns[spoken], ()
            elif spoken in self._adjectives:
                yield from ((noun, (self._adjectives[spoken], *more)) for noun, more in self._descriptions(rest))


def _split(sentence: str, target: str, frame: str, at: str = DESCRIPTION) -> tuple[str, str]:
    """Return what stands before and behind the description, or the target. `frame` is empty where none is said."""
    framed = sentence.replace(LEADING, f"{frame}, " * bool(frame)).replace(f" {FRAME}", f" {frame}" * bool(frame))
    before, _, after = framed.replace(TARGET, target).partition(at)
    return _with_capital(before), after


def _with_capital(text: str) -> str:
    return text[:1].upper() + text[1:]
