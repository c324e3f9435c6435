"""Read dialog templates and check them: JSON, then its shape (JSON Schema), then its meaning. All mistakes at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Fault, Problem, unknown
from vqagen.files.locations import content_hash, shipped
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import problem_in, schema_faults
from vqagen.language.domain_files import (
    DEFAULT_DOMAIN,
    DIALOGS,
    SHIPPED_DOMAINS,
    DomainFiles,
    input_hashes,
    load_catalogue,
    synonyms_file,
)
from vqagen.language.loading import TemplateFile, find_template_files, holds_templates_with
from vqagen.language.synonyms import EXTREME, Synonyms, load_synonyms
from vqagen.tasks.dialog.rounds import NAMED, NOTHING, ROUND_KINDS, TOPIC, RoundKind, attribute_of_next
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.template import (
    ANCHOR,
    ANY_EXTREME,
    BACK,
    CAPTION,
    CONDITIONS,
    FAR,
    FITTING,
    FOCUS,
    GROUP,
    MARK,
    NEAR,
    NOUN,
    PLURAL,
    PLURALS,
    RESULT,
    ROLES,
    SLOT_TYPES,
    SLOTS,
    SUBJECT,
    SURE,
    UNSURE,
    DialogTemplate,
    DialogTemplates,
    Parts,
    find_template,
    has_words,
    names_in,
    parse_text,
    parsed,
    parts_where,
    walk,
)
from vqagen.world.domain import Domain

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


def load_dialog_domain(files: DomainFiles) -> LoadedDialogDomain:
    """Load all files of a domain for dialogs. Raises BadInput with every mistake in the first that has any.

    Labels for which the domain has no templates have those that vqagen ships, which fit every domain.
    """
    catalogue, plugins = load_catalogue(files)
    domain = catalogue.domain
    vocabulary, synonyms = DialogVocabulary.of(domain), load_synonyms(synonyms_file(files, domain), domain)
    template_files = with_shipped(find_template_files(files.templates))
    hashes = {**input_hashes(files, domain, plugins), "templates": content_hash([file.path for file in template_files])}
    templates, problems = read_dialog_templates(template_files, vocabulary)
    problems = problems or list(unsayable_directions(templates, vocabulary, synonyms))
    if problems:
        raise BadInput(problems)
    return LoadedDialogDomain(domain, vocabulary, synonyms, templates, hashes)


def with_shipped(files: Sequence[TemplateFile]) -> list[TemplateFile]:
    """Return files of dialog templates, and behind them those that vqagen ships and that are none of them."""
    given = {file.path.resolve() for file in files}
    return [*files, *(file for file in _shipped_files() if file.path.resolve() not in given)]


def _shipped_files() -> list[TemplateFile]:
    return find_template_files(shipped(SHIPPED_DOMAINS[DEFAULT_DOMAIN][DIALOGS]))


def unsayable_directions(
    templates: DialogTemplates, vocabulary: DialogVocabulary, synonyms: Synonyms
) -> Iterator[Problem]:
    """Yield templates of captions that can only be said with a word such as "leftmost", which a direction lacks."""
    for relation in vocabulary.relations:
        label = f"extreme-{relation}"
        template = find_template(templates, label)
        if template and not synonyms.extreme(relation) and all(map(_says_extreme, template.texts)):
            advice = f"add a text with <R>, or a word for {relation!r} to the section {EXTREME!r} of the synonyms"
            yield template.problem("text", f"no text can say {label}: all have <E>; {advice}")


def _says_extreme(text: str) -> bool:
    return "E" in names_in(parse_text(text), *SLOTS)


def read_dialog_templates(
    files: Iterable[TemplateFile], vocabulary: DialogVocabulary
) -> tuple[dict[tuple[str, str], DialogTemplate], list[Problem]]:
    """Return the templates of files without mistakes, and every mistake in reading order.

    Of a label and form the first template is used: those of a domain's own go before the shipped ones.
    """
    rules = label_rules(vocabulary.relations)
    read, problems = list[DialogTemplate](), list[Problem]()
    used: dict[tuple[str, str], DialogTemplate] = {}
    for file in files:
        templates, faults = _read_file(file, rules)
        read += templates
        problems += faults
    for template in read:
        used.setdefault((template.label, template.form), template)
    return used, [*problems, *_taken(read)]


def _read_file(file: TemplateFile, rules: Mapping[str, LabelRule]) -> tuple[list[DialogTemplate], Sequence[Problem]]:
    """Read one file; the rules of its labels are checked in records of the right shape."""
    source = str(file.path)
    try:
        text = read_text(file.path)
        document = parse_json(text, source)
    except BadInput as error:
        return [], error.problems
    if holds_templates_with(document, "nodes", but="label"):
        wrong = "these are templates of questions, which have nodes; templates of dialogs have labels"
        return [], [Problem(wrong, source)]
    shape_faults = list(schema_faults(document, SCHEMA))
    faults, templates = list(shape_faults), list[DialogTemplate]()
    base = "templates" if isinstance(document, Mapping) else ""
    records = document.get("templates") if isinstance(document, Mapping) else document
    for i, record in enumerate(records if isinstance(records, list) else ()):
        path = f"{base}[{i}]"
        if any(place.startswith(path) for place, _ in shape_faults):
            continue
        inside = [(f"{path}.{place}" if place else path, message) for place, message in record_faults(record, rules)]
        faults += inside
        if not inside:
            is_list = isinstance(record["text"], list)
            texts = tuple(record["text"]) if is_list else (record["text"],)
            form = record.get("form", "")
            templates.append(
                DialogTemplate(record["name"], record["label"], form, texts, file.name, source, text, path, is_list)
            )
    return templates, [problem_in(source, place, message, text) for place, message in dict.fromkeys(faults)]


def _taken(templates: Iterable[DialogTemplate]) -> Iterator[Problem]:
    """Yield names and labels that two templates have, except labels of shipped templates that others replace."""
    names: dict[tuple[str, str], DialogTemplate] = {}
    labels: dict[tuple[str, str], DialogTemplate] = {}
    shipped_files = {str(file.path) for file in _shipped_files()}
    for template in templates:
        first = names.setdefault((template.source, template.name), template)
        if first is not template:
            yield template.problem("name", f"name {template.name!r} is taken by {first.path}")
        first = labels.setdefault((template.label, template.form), template)
        if first is not template and (first.source in shipped_files) == (template.source in shipped_files):
            form = f" ({template.form})" if template.form else ""
            yield template.problem("label", f"{template.label}{form} has texts in {first.id}; put these there")


# What the texts of a label must say -----------------------------------------------------------------------------------


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
        return tuple(slot for alternatives in self.slots for slot in alternatives.split("|"))


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
    is_named, is_elliptic = kind.refers == NAMED, bool(kind.after) and kind.refers in (TOPIC, FOCUS)
    cases: tuple[frozenset[str], ...] = _CASES_OF_NAMES if is_named else (frozenset(),)
    if kind.learn is attribute_of_next:
        cases = tuple(case | {existence} for existence in (SURE, UNSURE) for case in cases)
    return LabelRule(
        kind.family,
        (*kind.slots, "D") if is_named else kind.slots,
        {} if is_elliptic else _MARKS_OF_REFERENCES[kind.refers],
        (RESULT, FOCUS) if is_elliptic else (RESULT,),
        cases=cases,
    )


_MARKS_OF_REFERENCES: Mapping[str, Mapping[str, str]] = {
    NOTHING: {},
    GROUP: {GROUP: ""},
    TOPIC: {FOCUS: ""},
    FOCUS: {FOCUS: ""},
    NAMED: {FOCUS: "D"},
}
"""What a round refers to -> the role that its texts mark, and the slot inside."""


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
    faults = [
        (f"text[{i}]" if is_list else "text", message)
        for i, text in enumerate(texts)
        for message in dict.fromkeys(_faults_as_written(text, label, rule))
    ]
    yield from faults
    for case in rule.cases if rule is not None and not faults else ():
        if not any(parts_where(parse_text(text), case) for text in texts):
            yield "text", f"no text can be said where these conditions hold: {', '.join(sorted(case))}"


def _faults_as_written(text: str, label: str, rule: LabelRule | None) -> Iterator[str]:
    """Yield the faults of a text, whatever conditions hold."""
    parts, faults = parsed(text)
    yield from faults
    if faults or rule is None:
        return
    known = [condition for condition in CONDITIONS if any(condition in case for case in rule.cases)]
    for condition in sorted(set(names_in(parts, FITTING)) - set(known)):
        if condition in CONDITIONS or not known:
            yield f"{label} has no condition {condition!r}; it has {', '.join(known) or 'none'}"
        else:
            yield unknown("condition", condition, known)
    for case in rule.cases:
        if said := parts_where(parts, case):
            yield from _text_faults(said, label, rule)


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
    for needed in rule.slots if slots else ():
        if not any(slot in slots for slot in needed.split("|")):
            yield "slots", f"the slot {needed.replace('|', ' or ')} is missing, which {label} must say"


def _fills(rule: LabelRule) -> str:
    """Return which slots a label fills."""
    known = [f"<{slot}> ({SLOT_TYPES[slot]})" for slot in rule.known_slots]
    return f"it fills {', '.join([*known, f'<{NOUN}> (Noun)'])}"


def _text_faults(parts: Parts, label: str, rule: LabelRule) -> Iterator[str]:
    """Yield the faults of a text that can be parsed."""
    for kind, slot, _ in dict.fromkeys(part for part, _ in walk(parts) if part.kind in SLOTS):
        if slot not in (*rule.known_slots, NOUN):
            yield f"{label} does not fill the slot <{slot}>; {_fills(rule)}"
        elif kind == PLURAL and slot not in PLURALS:
            yield f"<{slot}>s: only {' and '.join(f'<{plural}>' for plural in PLURALS)} have a plural"
    said = names_in(parts, *SLOTS, always=True)
    for needed in rule.slots:
        if not any(slot in said for slot in needed.split("|")):
            yield f"it does not always say <{needed.replace('|', '> or <')}>, and so leaves open what {label} is about"
    yield from _mark_faults(parts, label, rule)


def _mark_faults(parts: Parts, label: str, rule: LabelRule) -> Iterator[str]:
    """Yield the faults of a text's marks."""
    known = (*rule.marks, *rule.may_mark)
    seen: set[str] = set()
    for (kind, role, inside), is_optional in walk(parts):
        if kind != MARK:
            continue
        if role not in ROLES:
            yield unknown("role", role, known or ROLES)
        elif role not in known:
            yield f"{label} has no {role} to mark; it has {', '.join(known) or 'nothing to mark'}"
        elif role in seen:
            yield f"{role} is marked twice; mark the place that says most"
        elif not any(has_words(part) for part, may_go in walk(inside) if not may_go):
            yield f"the mark {{{role}|…}} holds no words"
        elif is_optional and role in rule.marks:
            yield f"the mark {{{role}|…}} is in an optional part; {label} must always say it"
        elif (slot := rule.marks.get(role)) and slot not in names_in(inside, *SLOTS):
            yield f"the mark {{{role}|…}} must hold <{slot}>"
        seen.add(role)
    for role in rule.marks if seen <= set(ROLES) else ():  # an unknown role is probably the missing one, misspelt
        if role not in seen:
            yield f"no mark {{{role}|…}}: put it around the words that name the {_MEANINGS[role]}"


_MEANINGS = {
    FOCUS: "object that the question refers back to",
    GROUP: "group that the question is about",
    RESULT: "objects that the caption is about",
    SUBJECT: "object that stands in the relation",
    ANCHOR: "object that the relation is to",
}
