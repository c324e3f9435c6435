"""Texts of questions: each must be a template's wording of what its program asks.

Of a question of vqagen's own, whose templates are at hand as they were, the family that it names must word it to the
letter. Any other question must be worded by some template of which its program is a filling; articles and capitals,
and whether a needless "other" is said, may then be another generator's. A reasoning must be that of its question to the
letter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from vqagen.bits import indexes
from vqagen.errors import BadInput, as_written
from vqagen.files.records import RecordSource
from vqagen.items.scene_lookup import QuestionFault
from vqagen.language.binding import Binder, Bound, Outline, Step, Words, outline
from vqagen.language.catalogue import Value
from vqagen.language.domain_files import DomainFiles, LoadedDomain, load_domain_files
from vqagen.language.program import Program
from vqagen.language.question import family_name, release_answer, same_json
from vqagen.language.recognition import Recogniser, Retelling, UndecidedError
from vqagen.language.sentence import mention_spans
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template
from vqagen.language.wording import words_differ
from vqagen.plugin import FILTER, Undefined
from vqagen.tasks.record_files import generator_of, settings_of
from vqagen.tasks.whole import UNREAD_FILE
from vqagen.world.scene import Scene

UNREAD = "texts, and any mentions, not read: no template at hand asks what the program asks"
UNDECIDED = "texts, and any mentions, not decided: too many wordings are possible"
"""A domain's rewrites can make them in too many ways to try them all."""


@dataclass(frozen=True, eq=False)
class TemplateReader:
    """A template that reads questions; what it needs for that is compiled when it is first needed."""

    template: Template
    synonyms: Synonyms
    joins_anything: tuple[bool, ...]
    """True for "anything", False for "any thing"; both for the texts of a generator that nothing is known of."""

    @cached_property
    def binder(self) -> Binder:
        """What finds its slots in programs."""
        return Binder(self.template)

    @cached_property
    def recogniser(self) -> Recogniser:
        """What finds its texts in sentences."""
        return Recogniser(self.template, self.synonyms, self.joins_anything, len(self.joins_anything) == 1)


@dataclass
class QuestionTexts:
    """Reads the texts of one file's questions."""

    loaded: LoadedDomain
    is_ours: bool
    """True if vqagen made the file."""
    is_compat: bool
    """True if it did so with `--compat clevr`."""
    is_certain: bool
    """True if the templates at hand are those that it was made from, so that a question's family is known."""
    reasoning: str = ""
    """The form of the reasoning of every question, if the file says it: text, points or boxes."""
    has_traces: bool = False
    """True if every question has a trace and mentions, as the file says."""
    unproven: Counter[str] = field(default_factory=Counter)
    """UNREAD and UNDECIDED -> texts."""

    def __post_init__(self) -> None:
        joins_anything = (not self.is_compat,) if self.is_ours else (True, False)
        families = [
            TemplateReader(template, self.loaded.synonyms, joins_anything) for template in self.loaded.templates
        ]
        self._by_name = {family_name(family.template.file, family.template.index): family for family in families}
        self._by_number = {str(family.template.family): family for family in families}

    @cached_property
    def _by_outline(self) -> Mapping[Outline, Sequence[TemplateReader]]:
        by_outline: dict[Outline, list[TemplateReader]] = {}
        for family in self._by_number.values():
            by_outline.setdefault(family.binder.outline, []).append(family)
        return by_outline

    def fault(
        self, record: Mapping[str, Any], scene: Scene, steps: Sequence[Step], outputs: Sequence[Value]
    ) -> QuestionFault | None:
        """Return the fault of a question's text; its program has these `steps`, which give `outputs` in the scene."""
        text = record.get("question")
        if not isinstance(text, str):
            return QuestionFault("wrong text", f"expected a text as the question, found {as_written(text)}")
        first: tuple[TemplateReader, Words, tuple[bool, ...]] | None = None
        for family in self._families_of(record, steps):
            for bound in family.binder.bind(steps):
                keeps_other = self._keeps_other(family, bound, scene, outputs)
                try:
                    for keeps in keeps_other:
                        if retelling := family.recogniser.retelling(text, bound.words, keeps):
                            vague = _vague_text(text, family.recogniser, bound, scene, steps, outputs)
                            if vague:
                                return vague
                            found = (family, retelling, bound, steps, outputs)
                            return _mention_fault(record, *found, is_needed=self.has_traces)
                except UndecidedError:
                    self.unproven[UNDECIDED] += 1
                    return None
                first = first or (family, bound.words, keeps_other)
        if first:
            return _explained(text, *first)
        if self.is_certain:
            names = "template_filename and question_family_index"
            return QuestionFault("wrong family", f"the program is no filling of the template that {names} name")
        if self.is_ours:
            return QuestionFault(UNREAD_FILE, f'"{text}": no template at hand asks what the program asks')
        self.unproven[UNREAD] += 1
        return None

    def reasoning_fault(
        self, record: Mapping[str, Any], scene: Scene, program: Program, answer: Value
    ) -> QuestionFault | None:
        """Return the fault of a question's reasoning if it has, or needs, one; its program gives this answer.

        A file that does not say the form of its reasonings may have any.
        """
        written = record.get("reasoning")
        if written is None and not self.reasoning:
            return None
        from vqagen.language.reasoning import FORMS, reason  # few files need it

        text, right = release_answer(answer, self.loaded.domain.answer_words), ""
        for form in (self.reasoning,) if self.reasoning else FORMS:
            with suppress(BadInput):  # a scene without the places of this form
                right = reason(program, scene, record["question"], text, self.loaded.synonyms, form)
            if written == right:
                return None
        return QuestionFault(
            "wrong reasoning",
            f"written as {as_written(written, right)}, but "
            + (f"the steps give {as_written(right, written)}" if right else "the scene lacks the places that it needs"),
        )

    def _keeps_other(
        self, family: TemplateReader, bound: Bound, scene: Scene, outputs: Sequence[Value]
    ) -> tuple[bool, ...]:
        """Return how the question may be worded: True for with the "other" of its text, False for without it."""
        if not family.recogniser.wording.mentions_other:
            return (True,)
        if self.is_compat:
            return (not words_differ(family.template, bound.words),)
        is_needed = family.binder.anchor_fits(bound, scene, outputs) is not False
        if self.is_ours:
            return (is_needed,)
        return (True,) if is_needed and not words_differ(family.template, bound.words) else (True, False)

    def _families_of(self, record: Mapping[str, Any], steps: Sequence[Step]) -> Sequence[TemplateReader]:
        """Return the families that the question may be of, the one that it names first."""
        number, file = record.get("question_family_index"), record.get("template_filename")
        named = self._by_number.get(str(number)) if file is None else self._by_name.get(family_name(file, number))
        if self.is_certain and number is not None:
            return (named,) if named else ()
        names = (function for function, _, _ in steps)
        alike = self._by_outline.get(outline(names, self.loaded.catalogue), ())
        return sorted(alike, key=lambda family: family is not named)


def _mention_fault(
    record: Mapping[str, Any],
    family: TemplateReader,
    retelling: Retelling,
    bound: Bound,
    steps: Sequence[Step],
    outputs: Sequence[Value],
    is_needed: bool,
) -> QuestionFault | None:
    """Return the fault of the mentions of a question, if it has, or needs, any."""
    if (written := record.get("mentions")) is None and not is_needed:
        return None
    described = family.binder.described(bound, steps, outputs)
    spans_of = mention_spans(family.recogniser.wording.remarked(*retelling), [slots for slots, _ in described])
    mentions = [(span, objects) for spans, (_, objects) in zip(spans_of, described, strict=True) for span in spans]
    right = [{"span": [*span], "objects": indexes(objects)} for span, objects in sorted(mentions)]
    if same_json(written, right):
        return None
    return QuestionFault(
        "wrong mentions",
        f"mentions are written as {as_written(written, right)}, but {as_written(right, written)} follow",
    )


def _explained(text: str, family: TemplateReader, words: Words, keeps_other: tuple[bool, ...]) -> QuestionFault:
    """Return the fault of a text that does not say what the program asks, with both readings."""
    asked = f'the program asks: "{family.recogniser.example(words, keeps_other[0])}"'
    read = family.recogniser.read(text, words)
    if read is None:
        return QuestionFault("wrong text", f'"{text}" is no wording of {family.template.id}; {asked}')
    differing = [slot for slot in words if read[slot] != words[slot]]
    if not differing:
        other = 'leaves out "other"' if keeps_other[0] else 'says "other" of what is no other'
        return QuestionFault("wrong other", f'"{text}" {other}; {asked}')
    said, meant = (", ".join(f"{slot} {reading[slot] or 'open'}" for slot in differing) for reading in (read, words))
    return QuestionFault("wrong words", f'"{text}" says {said}, the program {meant}; {asked}')


def _vague_text(
    text: str, recogniser: Recogniser, bound: Bound, scene: Scene, steps: Sequence[Step], outputs: Sequence[Value]
) -> QuestionFault | None:
    """Return the fault of a text if its program, without the filters that the text leaves out, answers otherwise.

    "What color is the cube?" does not single out the small one of two cubes.
    """
    unsaid = recogniser.unsaid(text, bound.words)
    skipped = {step for slot in unsaid for step in bound.steps.get(slot, ())}
    if not skipped:
        return None
    catalogue, results = recogniser.template.catalogue, list[Any]()
    try:
        for i, (function, inputs, values) in enumerate(steps):
            known = [results[k] for k in inputs]
            is_left_out = i in skipped and catalogue[function].role == FILTER
            results.append(known[0] if is_left_out else catalogue[function].run(scene, *known, *values))
        if results[-1] == outputs[-1]:
            return None
        why = f"without it, the answer is {as_written(results[-1])}"
    except Undefined as error:
        why = f"without it, the program has no answer: {error}"
    left_out = ", ".join(f"{slot} {bound.words[slot]}" for slot in unsaid)
    return QuestionFault("vague text", f'"{text}" leaves out {left_out}; {why}')


def texts_at_hand(
    source: RecordSource, files: DomainFiles, hashes: Mapping[str, str], given: Sequence[str]
) -> QuestionTexts | str:
    """Return what reads the texts of a file, or the reason why they cannot be read.

    Templates are at hand if the user gives them, or if those of the domain are the ones that the file was made from by
    its `info`, with all else that words texts. `hashes` are those of the files at hand; `given` are the roles of those
    that the user gives.
    """
    generator = generator_of(source)
    made_from = generator.get("inputs") or {}
    hashes = {"templates": "", **hashes}
    if "templates" not in given and "templates" not in made_from:
        return "the file does not say which templates it was made from; give --templates"
    differing = [role for role in hashes if made_from.get(role, "") != hashes[role]]
    needed = hashes if "templates" not in given else {"synonyms"} & made_from.keys()
    for role in differing:
        if role in needed and role not in given:
            option = "--synonyms" if "templates" in given else "--templates"
            return f"the file was made from other {role} than are at hand; give {option} to read by these"
    settings = settings_of(source)
    is_compat = settings.get("compat") == "clevr"
    loaded = load_domain_files(files, settings.get("skip_bad_templates") is True, drops_idle=is_compat or not generator)
    records = generator.get("records") or {}
    form, has_traces = records.get("reasoning", ""), records.get("trace") is True
    return QuestionTexts(loaded, bool(generator), is_compat, not differing, form, has_traces)
