"""Read dialog templates and check them: JSON, then its shape (JSON Schema), then its meaning. All mistakes at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Fault, Problem, unknown
from vqagen.files.locations import content_hash
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import schema_faults
from vqagen.files.shipped import shipped
from vqagen.language.domain_files import (
    DEFAULT_DOMAIN,
    DIALOGS,
    SHIPPED_DOMAINS,
    DomainFiles,
    load_catalogue,
    plugin_hashes,
    synonyms_file,
)
from vqagen.language.loading import TemplateFile, find_template_files, holds_templates_with
from vqagen.language.synonyms import EXTREME, Synonyms, load_synonyms
from vqagen.tasks.dialog.rounds import NAMED, NOTHING, ROUND_KINDS, RoundKind, attribute_of_next
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.template import (
    ANCHOR,
    ANY_EXTREME,
    BACK,
    CAPTION,
    CONDITIONS,
    FAR,
    FOCUS,
    GROUP,
    NEAR,
    NOUN,
    PLURALS,
    RESULT,
    SLOT_TYPES,
    SUBJECT,
    SURE,
    UNSURE,
    DialogTemplate,
    DialogTemplates,
    DialogText,
    Mark,
    Slot,
    form_faults,
    mark_faults,
    parse_text,
    walk,
)
from vqagen.world.domain import Domain
from vqagen.world.findings import problem_in

SCHEMA = "dialog-templates"


@dataclass(frozen=True)
class LoadedDialogDomain:
    """A domain with what dialogs need of it."""

    domain: Domain
    vocabulary: DialogVocabulary
    synonyms: Synonyms
    templates: DialogTemplates
    hashes: dict[str, str]
    """Content hash of each input, by its role."""


class PlacedDialogTemplate(NamedTuple):
    """A template, and its place: a JSON path in a file, of which `text` is all."""

    template: DialogTemplate
    source: str
    text: str
    path: str
    is_list: bool
    """True if the record has a list of texts, and not one text."""

    @property
    def key(self) -> tuple[str, str]:
        """Its label and form."""
        return self.template.label, self.template.form

    def problem(self, place: str, message: str) -> Problem:
        """Return a problem at a path inside the record."""
        place = place if self.is_list else place.removesuffix("[0]")
        return problem_in(self.source, f"{self.path}.{place}" if place else self.path, message, self.text)


class DialogTemplatesRead(NamedTuple):
    """The templates of files, without those that have mistakes, and all mistakes."""

    placed: tuple[PlacedDialogTemplate, ...]
    problems: tuple[Problem, ...]

    @property
    def used(self) -> tuple[PlacedDialogTemplate, ...]:
        """The first template of each label and form: those of a domain's own go before the shipped ones."""
        first = {each.key: each for each in reversed(self.placed)}
        return tuple(each for each in self.placed if first[each.key] is each)


def load_dialog_domain(files: DomainFiles) -> LoadedDialogDomain:
    """Load all files of a domain for dialogs. Raises BadInput with every mistake in the first that has any.

    Labels for which the domain has no templates have those that vqagen ships, which fit every domain.
    """
    catalogue, plugins = load_catalogue(files)
    domain = catalogue.domain
    vocabulary = DialogVocabulary.of(domain)
    synonyms_path = synonyms_file(files, domain)
    synonyms = load_synonyms(synonyms_path, domain)
    own = find_template_files(files.templates)
    places = {file.path.resolve() for file in own}
    found = [*own, *(file for file in shipped_dialog_templates() if file.path.resolve() not in places)]
    hashes = {
        "metadata": content_hash([files.metadata]),
        "templates": content_hash([file.path for file in found]),
        **({"synonyms": content_hash([synonyms_path])} if synonyms_path else {}),
        **plugin_hashes(plugins),
    }
    return LoadedDialogDomain(domain, vocabulary, synonyms, _load_dialog_templates(found, vocabulary, synonyms), hashes)


def shipped_dialog_templates() -> list[TemplateFile]:
    """Return the files of the dialog templates that vqagen ships."""
    return find_template_files(shipped(SHIPPED_DOMAINS[DEFAULT_DOMAIN][DIALOGS]))


def _load_dialog_templates(
    files: Iterable[TemplateFile], vocabulary: DialogVocabulary, synonyms: Synonyms
) -> DialogTemplates:
    """Return the templates of files that are used. Raises BadInput with every mistake."""
    read = read_dialog_templates(files, vocabulary)
    problems = read.problems or tuple(unsayable_directions(read.used, vocabulary, synonyms))
    if problems:
        raise BadInput(problems)
    return DialogTemplates(tuple(each.template for each in read.used))


def unsayable_directions(
    placed: Iterable[PlacedDialogTemplate], vocabulary: DialogVocabulary, synonyms: Synonyms
) -> Iterator[Problem]:
    """Yield templates of captions that can only be said with a word such as "leftmost", which a direction lacks."""
    by_label = {each.template.label: each for each in placed}
    for relation in vocabulary.relations:
        each = by_label.get(f"extreme-{relation}") or by_label.get(ANY_EXTREME)
        if each and not synonyms.extreme(relation) and all("E" in text.every_slot for text in each.template.texts):
            advice = f"add a text with <R>, or a word for {relation!r} to the section {EXTREME!r} of the synonyms"
            yield each.problem("text", f"no text can say extreme-{relation}: all have <E>; {advice}")


def read_dialog_templates(files: Iterable[TemplateFile], vocabulary: DialogVocabulary) -> DialogTemplatesRead:
    """Return the templates of files, and every mistake in reading order."""
    rules = label_rules(vocabulary.relations)
    placed, problems = list[PlacedDialogTemplate](), list[Problem]()
    for file in files:
        read = _read_file(file, rules)
        problems += read.problems
        placed += read.placed
    problems += _taken(placed)
    return DialogTemplatesRead(tuple(placed), tuple(problems))


def _read_file(file: TemplateFile, rules: Mapping[str, LabelRule]) -> DialogTemplatesRead:
    """Read one file; the rules of its labels are checked in records of the right shape."""
    source = str(file.path)
    try:
        text = read_text(file.path)
        document = parse_json(text, source)
    except BadInput as error:
        return DialogTemplatesRead((), error.problems)
    if holds_templates_with(document, "nodes", but="label"):
        wrong = "these are templates of questions, which have nodes; templates of dialogs have labels"
        return DialogTemplatesRead((), (Problem(wrong, source),))
    faults = list(schema_faults(document, SCHEMA))
    bad = {match[0] for place, _ in faults if (match := re.match(r"(?:templates)?\[\d+\]", place))}
    base = "templates" if isinstance(document, Mapping) else ""
    records = document.get("templates") if isinstance(document, Mapping) else document
    placed = list[PlacedDialogTemplate]()
    for i, record in enumerate(records if isinstance(records, list) else ()):
        path = f"{base}[{i}]"
        if path in bad:
            continue
        found = [(f"{path}.{place}" if place else path, message) for place, message in record_faults(record, rules)]
        faults += found
        if not found:
            is_list = isinstance(record["text"], list)
            placed.append(PlacedDialogTemplate(_template(record, file.name), source, text, path, is_list))
    return DialogTemplatesRead(
        tuple(placed), tuple(problem_in(source, place, message, text) for place, message in dict.fromkeys(faults))
    )


def _template(record: Mapping[str, Any], file: str) -> DialogTemplate:
    """Return the template of a record without faults."""
    texts = [record["text"]] if isinstance(record["text"], str) else record["text"]
    own = record["name"], record["label"], record["family"], record.get("form", ""), record.get("slots", {})
    return DialogTemplate(*own, tuple(map(parse_text, texts)), file)


def _taken(placed: Iterable[PlacedDialogTemplate]) -> Iterator[Problem]:
    """Yield names and labels that two templates have, except labels of shipped templates that others replace."""
    names: dict[tuple[str, str], PlacedDialogTemplate] = {}
    labels: dict[tuple[str, str], PlacedDialogTemplate] = {}
    ours = {str(file.path) for file in shipped_dialog_templates()}
    for each in placed:
        template = each.template
        first = names.setdefault((each.source, template.name), each)
        if first is not each:
            yield each.problem("name", f"name {template.name!r} is taken by {first.path}")
        first = labels.setdefault(each.key, each)
        if first is not each and (first.source in ours) == (each.source in ours):
            form = f" ({template.form})" if template.form else ""
            yield each.problem("label", f"{template.label}{form} has texts in {first.template.id}; put these there")


# Faults of a record ---------------------------------------------------------------------------------------------------


_CASES_OF_NAMES = (frozenset({NEAR}), frozenset({FAR}), frozenset({FAR, BACK}))


class LabelRule(NamedTuple):
    """What the texts of a label must have."""

    family: str
    slots: tuple[str, ...] = ()
    """The slots that each text has; of "E|R" at least one."""
    marks: Mapping[str, str] = {}
    """Role that each text marks -> a slot that the mark must hold, "" for none."""
    may_mark: tuple[str, ...] = (RESULT,)
    """Further roles."""
    forms: tuple[str, ...] = ("",)
    cases: tuple[frozenset[str], ...] = (frozenset(),)
    """The sets of conditions that may hold together; some text can be said in each."""

    @property
    def known_slots(self) -> tuple[str, ...]:
        """Every slot that has a filling."""
        return tuple(slot for each in self.slots for slot in each.split("|"))


_EXTREME = LabelRule(CAPTION, ("D", "E|R"), {RESULT: ""}, ())
_CAPTIONS = {
    ANY_EXTREME: _EXTREME,
    "extreme-center": LabelRule(CAPTION, ("D",), {RESULT: ""}, ()),
    "unique-obj": LabelRule(CAPTION, ("D",), {RESULT: "D"}, (), ("exact", "bare")),
    "count-att": LabelRule(CAPTION, ("K", "V"), {RESULT: "V"}, ()),
    "count-att-no": LabelRule(CAPTION, ("V",), {RESULT: "V"}, ()),
    "obj-relation": LabelRule(CAPTION, ("D", "R", "D2"), {SUBJECT: "D", ANCHOR: "D2"}, ()),
}


def label_rules(relations: Iterable[str]) -> Mapping[str, LabelRule]:
    """Return label -> what its texts must say, for a domain with these directions."""
    extremes = {f"extreme-{relation}": _EXTREME for relation in relations}
    return {**_CAPTIONS, **extremes, **{label: _round_rule(kind) for label, kind in ROUND_KINDS.items()}}


def _round_rule(kind: RoundKind) -> LabelRule:
    """Return the rule of a kind of round. An ellipsis, which only follows certain rounds, need not name its object."""
    marks: dict[str, str] = {}
    may_mark: tuple[str, ...] = (RESULT,)
    if kind.refers == GROUP:
        marks[GROUP] = ""
    elif kind.refers == NAMED:
        marks[FOCUS] = "D"
    elif kind.after:
        may_mark = (RESULT, FOCUS)
    elif kind.refers != NOTHING:
        marks[FOCUS] = ""
    is_named = kind.refers == NAMED
    slots = (*kind.slots, "D") if is_named else kind.slots
    cases: tuple[frozenset[str], ...] = _CASES_OF_NAMES if is_named else (frozenset(),)
    if kind.learn is attribute_of_next:
        cases = tuple(each | {existence} for existence in (SURE, UNSURE) for each in cases)
    return LabelRule(kind.family, slots, marks, may_mark, cases=cases)


# Faults of a record --------------------------------------------------------------------------------------------------


def record_faults(record: Mapping[str, Any], rules: Mapping[str, LabelRule]) -> Iterator[Fault]:
    """Yield the faults of a record of the right shape; paths start from the record."""
    label = record["label"]
    rule = rules.get(label)
    if rule is None:
        yield "label", unknown("label", label, tuple(rules))
    else:
        yield from _faults_of_keys(record, rule)
    is_list = isinstance(record["text"], list)
    texts: list[str] = record["text"] if is_list else [record["text"]]
    found = {i: list(_faults_as_written(written, label, rule)) for i, written in enumerate(texts)}
    for i, faults in found.items():
        for message in faults:
            yield f"text[{i}]" if is_list else "text", message
    if rule is not None and not any(found.values()):
        for case in rule.cases:
            if all(parse_text(written).where(case) is None for written in texts):
                yield "text", f"no text can be said where these conditions hold: {', '.join(sorted(case))}"


def _faults_as_written(written: str, label: str, rule: LabelRule | None) -> Iterator[str]:
    """Yield the faults of a text, each once, whatever conditions hold."""
    faults = list(form_faults(written))
    if not faults and rule is not None:
        text = parse_text(written)
        faults += _condition_faults(text, label, rule)
        for case in rule.cases:
            said = text.where(case)
            faults += _text_faults(said, label, rule) if said else ()
    yield from dict.fromkeys(faults)


def _condition_faults(text: DialogText, label: str, rule: LabelRule) -> Iterator[str]:
    known = tuple(each for each in CONDITIONS if any(each in case for case in rule.cases))
    for each in sorted(text.conditions - set(known)):
        if each in CONDITIONS or not known:
            yield f"{label} has no condition {each!r}; it has {', '.join(known) or 'none'}"
        else:
            yield unknown("condition", each, known)


def _faults_of_keys(record: Mapping[str, Any], rule: LabelRule) -> Iterator[Fault]:
    """Yield the faults of the family, the form, and the declared slots, which may be left out as a whole."""
    label, form, slots = record["label"], record.get("form", ""), record.get("slots", {})
    if record["family"] != rule.family:
        yield "family", f"{label} belongs to the family {rule.family!r}, not {record['family']!r}"
    if form not in rule.forms and rule.forms == ("",):
        yield "form", f"{label} has no forms; leave 'form' out"
    elif form not in rule.forms and not form:
        yield "", f"missing key 'form': {label} needs one of {', '.join(rule.forms)}"
    elif form not in rule.forms:
        yield "form", unknown(f"form of {label}", form, rule.forms)
    known = (*rule.known_slots, NOUN)
    for slot, type_name in slots.items():
        if slot in ("comment", NOUN):
            continue
        if slot not in known:
            yield f"slots.{slot}", f"{label} does not fill the slot {slot!r}; {_fills(rule)}"
        elif type_name != SLOT_TYPES[slot]:
            yield f"slots.{slot}", f"the type of the slot {slot!r} is {SLOT_TYPES[slot]}, not {type_name}"
    for each in rule.slots if slots else ():
        if not any(slot in slots for slot in each.split("|")):
            yield "slots", f"the slot {each.replace('|', ' or ')} is missing, which {label} must say"


def _fills(rule: LabelRule) -> str:
    """Return which slots a label fills."""
    known = [f"<{slot}> ({SLOT_TYPES[slot]})" for slot in rule.known_slots]
    return f"it fills {', '.join([*known, f'<{NOUN}> (Noun)'])}"


def _text_faults(text: DialogText, label: str, rule: LabelRule) -> Iterator[str]:
    """Yield the faults of a text that can be parsed."""
    parts = list(walk(text.parts))
    slots = list(dict.fromkeys(part for part, _ in parts if isinstance(part, Slot)))
    for slot in slots:
        if slot.name not in (*rule.known_slots, NOUN):
            yield f"{label} does not fill the slot <{slot.name}>; {_fills(rule)}"
        elif slot.is_plural and slot.name not in PLURALS:
            yield f"<{slot.name}>s: only {' and '.join(f'<{each}>' for each in PLURALS)} have a plural"
    for each in rule.slots:
        if not any(slot in text.slots for slot in each.split("|")):
            yield f"it does not always say <{each.replace('|', '> or <')}>, and so leaves open what {label} is about"
    marks = [(part, is_optional) for part, is_optional in parts if isinstance(part, Mark)]
    yield from mark_faults(marks, label, rule.marks, rule.may_mark)
