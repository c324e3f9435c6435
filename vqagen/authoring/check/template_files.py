"""Template files: their mistakes, what is doubtful in each template, and which templates ask the same."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.authoring.check.readings import plainly, readings, slots_in
from vqagen.authoring.check.report import Report
from vqagen.authoring.check.template_rules import doubtful
from vqagen.errors import Problem
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.schema import schema_faults
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import load_templates
from vqagen.language.template import Template
from vqagen.language.template_check import read_templates
from vqagen.language.template_forms import Form, canonical_form
from vqagen.world.findings import problem_in


@dataclass(frozen=True)
class Placed:
    """A template, and where its record stands. Meta-templates share a record."""

    template: Template
    source: str
    text: str = field(repr=False)
    """The whole file."""
    path: str
    """JSON path of the record."""
    form: Form = field(repr=False)

    def problem(self, place: str, message: str) -> Problem:
        """A problem at a path of the record in canonical form."""
        written = self.form.written_path(place)
        return problem_in(self.source, f"{self.path}.{written}" if written else self.path, message, self.text)


class Finding(NamedTuple):
    """What a rule has to say of a template."""

    code: str
    placed: Placed
    place: str
    message: str


def read_template_file(path: Path, catalogue: Catalogue, report: Report) -> list[Placed]:
    """The templates of a file that have no mistakes; the mistakes of the others are noted."""
    loaded = report.read(path, "not-json", lambda: load_templates(path, catalogue))
    if loaded is None and report.of(path).errors[0].path == "":
        return []
    text = read_text(path)
    with report.listening(path, "not-json"):
        document = parse_json(text, str(path))
    if loaded is None and any(schema_faults(document, "templates")):
        return []
    return list(_placed(document, path, text, catalogue))


def _placed(document: Any, path: Path, text: str, catalogue: Catalogue) -> Iterator[Placed]:
    base, records = ("", document) if isinstance(document, list) else ("templates", document["templates"])
    index = 0
    for i, record in enumerate(records):
        place = f"{base}[{i}]"
        templates, faults = read_templates(record, place, catalogue, path.name, index)
        index += len(templates)
        if not faults:
            form = canonical_form(record)
            yield from (Placed(template, str(path), text, place, form) for template in templates)


def note_doubts(placed: Sequence[Placed], report: Report) -> None:
    """What rules find doubtful in the templates of a domain, each by itself and all together."""
    told = [Finding(code, each, *fault) for each in placed for code, fault in doubtful(each.template)]
    note_findings([*told, *same_texts(placed)], placed, report)


def note_findings(findings: Iterable[Finding], placed: Sequence[Placed], report: Report) -> None:
    """Note each finding; what several templates of one record come to at one place is told of once."""
    made_of: dict[tuple[str, str], int] = {}
    for each in placed:
        made_of[each.source, each.path] = made_of.get((each.source, each.path), 0) + 1
    together: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in findings:
        key = (finding.code, finding.placed.source, finding.placed.path, finding.place)
        together.setdefault(key, []).append(finding)
    for same in together.values():
        first = same[0].placed
        is_of_all = len({finding.message for finding in same}) == 1 and len(same) == made_of[first.source, first.path]
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        remark = "" if is_of_all else f" (in {first.template.name}{more})"
        problem = first.problem(same[0].place, same[0].message + remark)
        report.of(first.source).doubt(same[0].code, problem)


def same_texts(placed: Sequence[Placed]) -> Iterator[Finding]:
    """Texts that another template has too, whose program computes something else."""
    numbers: dict[Any, int] = {}
    first: dict[str, tuple[Placed, int]] = {}
    for each in placed:
        for i, text in enumerate(each.template.texts):
            meaning = _meaning(each.template, slots_in(text), numbers)
            told = {_typed(reading, each.template) for reading in readings(text)}
            others = [first[reading] for reading in sorted(told) if reading in first]
            for other, computed in others:
                if other.template.id != each.template.id and computed != meaning:
                    message = (
                        f"text {i} can read as one of {other.template.id} does, but its program computes something else"
                    )
                    yield Finding("same-text", each, f"text[{i}]", message)
                    break
            for reading in told:
                first.setdefault(reading, (each, meaning))


def _typed(reading: str, template: Template) -> str:
    """A reading in which slots are called by their types, so that two templates can be compared."""
    said = plainly(reading)
    for number, slot in enumerate(slots_in(said)):
        said = said.replace(slot, f"<{template.slots[slot]}:{number}>")
    return said


def _meaning(template: Template, order: Sequence[str], numbers: dict[Any, int]) -> int:
    """A number for what a template computes, the same for all that compute it; slots count by their order in a text."""
    rest = [slot for slot in template.slots if slot not in order]
    name_of = {slot: f"<{number}>" for number, slot in enumerate(itertools.chain(order, rest))}
    results: list[int] = []
    for node in template.nodes:
        sides = tuple(name_of.get(side, side) for side in node.side_inputs)
        key = (node.type, tuple(results[i] for i in node.inputs), sides)
        results.append(numbers.setdefault(key, len(numbers)))
    return results[-1]
