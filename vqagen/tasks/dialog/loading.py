"""Read dialog templates and check them: JSON, then its shape (JSON Schema), then its meaning. All mistakes at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from vqagen.errors import BadInput, Problem
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.reading import content_hash
from vqagen.files.schema import schema_faults
from vqagen.files.shipped import shipped
from vqagen.language.domain_files import (
    DEFAULT_DOMAIN,
    DIALOGS,
    SHIPPED_DOMAINS,
    DomainFiles,
    hashes_beside,
    load_catalogue,
    synonyms_file,
)
from vqagen.language.loading import TemplateFile, find_template_files, holds_templates_with
from vqagen.language.synonyms import EXTREME, Synonyms, load_synonyms
from vqagen.tasks.dialog.label_rules import LabelRule, label_rules
from vqagen.tasks.dialog.template import ANY_EXTREME, DialogTemplate, DialogTemplates
from vqagen.tasks.dialog.template_check import read_template, record_faults
from vqagen.tasks.dialog.vocabulary import DialogVocabulary
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
        first: dict[tuple[str, str], PlacedDialogTemplate] = {}
        for each in self.placed:
            first.setdefault((each.template.label, each.template.form), each)
        return tuple(first.values())


def load_dialog_domain(files: DomainFiles) -> LoadedDialogDomain:
    """Load all files of a domain for dialogs. Raises BadInput with every mistake in the first that has any.

    Labels for which the domain has no templates have those that vqagen ships, which fit every domain.
    """
    catalogue, plugins = load_catalogue(files)
    domain = catalogue.domain
    vocabulary = DialogVocabulary.of(domain)
    synonyms_path = synonyms_file(files, domain)
    synonyms = load_synonyms(synonyms_path, domain)
    found = find_dialog_templates(files)
    return LoadedDialogDomain(
        domain,
        vocabulary,
        synonyms,
        load_dialog_templates(found, vocabulary, synonyms),
        hashes={
            "metadata": content_hash([files.metadata]),
            "templates": content_hash([file.path for file in found]),
            **({"synonyms": content_hash([synonyms_path])} if synonyms_path else {}),
            **hashes_beside(files, plugins),
        },
    )


def find_dialog_templates(files: DomainFiles) -> list[TemplateFile]:
    """Return the files of a domain's dialog templates, and after them those that vqagen ships."""
    own = find_template_files(files.templates)
    places = {file.path.resolve() for file in own}
    return [*own, *(file for file in shipped_dialog_templates() if file.path.resolve() not in places)]


def shipped_dialog_templates() -> list[TemplateFile]:
    """Return the files of the dialog templates that vqagen ships."""
    return find_template_files(shipped(SHIPPED_DOMAINS[DEFAULT_DOMAIN].templates[DIALOGS]))


def load_dialog_templates(
    files: Iterable[TemplateFile], vocabulary: DialogVocabulary, synonyms: Synonyms
) -> DialogTemplates:
    """Return the templates of files; of a label that shipped and other files have, those of the other files.

    Raises BadInput with every mistake.
    """
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
            placed.append(
                PlacedDialogTemplate(
                    read_template(record, file.name), source, text, path, isinstance(record["text"], list)
                )
            )
    return DialogTemplatesRead(
        tuple(placed), tuple(problem_in(source, place, message, text) for place, message in dict.fromkeys(faults))
    )


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
        first = labels.setdefault((template.label, template.form), each)
        if first is not each and (first.source in ours) == (each.source in ours):
            form = f" ({template.form})" if template.form else ""
            yield each.problem("label", f"{template.label}{form} has texts in {first.template.id}; put these there")
