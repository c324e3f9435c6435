"""Checks template files: their errors, the warnings of each template, and texts that two templates share."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.readings import plainly, readings, slots_in
from vqagen.authoring.check.template_rules import rule_faults
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import PlacedTemplate, read_template_files
from vqagen.language.template import Template


class Finding(NamedTuple):
    """A warning that a rule gives about a template."""

    code: str
    placed: PlacedTemplate
    place: str
    message: str


def read_template_file(path: Path, catalogue: Catalogue, report: CheckReport) -> tuple[PlacedTemplate, ...]:
    """Return the templates of a file that have no mistakes, and note the mistakes of the others."""
    with report.listening(path, "not-json"):
        read = read_template_files(path, catalogue)
    for bad in read.bad:
        report.add_errors(path, bad.problems)
    return read.placed


def add_rule_warnings(placed: Sequence[PlacedTemplate], report: CheckReport) -> None:
    """Add the warnings of rules about the templates of a domain, each by itself and all together."""
    found = [Finding(code, each, *fault) for each in placed for code, fault in rule_faults(each.template)]
    add_findings([*found, *same_texts(placed)], placed, report)


def add_findings(findings: Iterable[Finding], placed: Sequence[PlacedTemplate], report: CheckReport) -> None:
    """Add each finding as a warning; findings of several templates of one record at one place become one."""
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
        report.of(first.source).warn(same[0].code, problem)


def same_texts(placed: Sequence[PlacedTemplate]) -> Iterator[Finding]:
    """Yield texts that another template has too while its program computes something else."""
    numbers: dict[Any, int] = {}
    first: dict[str, tuple[PlacedTemplate, int]] = {}
    for each in placed:
        for i, text in enumerate(each.template.texts):
            meaning = _meaning(each.template, slots_in(text), numbers)
            typed = {_typed(reading, each.template) for reading in readings(text)}
            others = [first[reading] for reading in sorted(typed) if reading in first]
            for other, computed in others:
                if other.template.id != each.template.id and computed != meaning:
                    message = (
                        f"text {i} can read as one of {other.template.id} does, but its program computes something else"
                    )
                    yield Finding("same-text", each, f"text[{i}]", message)
                    break
            for reading in typed:
                first.setdefault(reading, (each, meaning))


def _typed(reading: str, template: Template) -> str:
    """Return a reading with slots named by their types, so that two templates can be compared."""
    said = plainly(reading)
    for number, slot in enumerate(slots_in(said)):
        said = said.replace(slot, f"<{template.slots[slot]}:{number}>")
    return said


def _meaning(template: Template, order: Sequence[str], numbers: dict[Any, int]) -> int:
    """Return a number for the computation of a template, equal for equal ones; slots count by their order in a text."""
    rest = [slot for slot in template.slots if slot not in order]
    name_of = {slot: f"<{number}>" for number, slot in enumerate(itertools.chain(order, rest))}
    results: list[int] = []
    for node in template.nodes:
        sides = tuple(name_of.get(side, side) for side in node.side_inputs)
        key = (node.type, tuple(results[i] for i in node.inputs), sides)
        results.append(numbers.setdefault(key, len(numbers)))
    return results[-1]
