"""Template files in, checked: JSON, then its shape (JSON Schema), then its meaning. All mistakes in one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files import parse_json, read_text
from vqagen.jsontext import locate
from vqagen.language.catalogue import Catalogue
from vqagen.language.template import Template
from vqagen.language.template_check import read_template
from vqagen.schema import schema_faults


@dataclass(frozen=True)
class TemplateFile:
    """One template file: `name` is its path inside the folder that was given."""

    path: Path
    name: str


def find_template_files(path: Path | str) -> list[TemplateFile]:
    """A file, or every `*.json` under a folder, sorted by path (never by folder order)."""
    path = Path(path)
    if path.is_file():
        return [TemplateFile(path, path.name)]
    if not path.is_dir():
        raise UsageError(f"templates not found: {path}")
    files = [TemplateFile(file, file.relative_to(path).as_posix()) for file in path.rglob("*.json")]
    if not files:
        raise UsageError(f"no template files (*.json) under {path}")
    return sorted(files, key=lambda file: file.name)


def load_templates(path: Path | str, catalogue: Catalogue) -> tuple[Template, ...]:
    """All templates of a file or folder, checked against the domain's functions and types.

    Families are numbered in the order of file paths, then of places in each file.
    """
    templates: list[Template] = []
    problems: list[Problem] = []
    for file in find_template_files(path):
        try:
            templates += _templates_of(file, catalogue)
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput(problems)
    return tuple(replace(template, family=number) for number, template in enumerate(templates))


def _templates_of(file: TemplateFile, catalogue: Catalogue) -> list[Template]:
    text = read_text(file.path)
    document = parse_json(text, str(file.path))
    faults = list(schema_faults(document, "templates"))
    templates: list[Template] = []
    if not faults:
        base = "" if isinstance(document, list) else "templates"
        records = document if isinstance(document, list) else document["templates"]
        faults += _repeated_names(records, base)
        for index, record in enumerate(records):
            template, found = read_template(record, f"{base}[{index}]", catalogue, file.name, index)
            templates.append(template)
            faults += found
    if faults:
        placed = [(locate(text, place), place, message) for place, message in dict.fromkeys(faults)]
        placed.sort(key=itemgetter(0))
        raise BadInput(Problem(message, str(file.path), place, *position) for position, place, message in placed)
    return templates


def _repeated_names(records: Sequence[Mapping[str, Any]], base: str) -> Iterator[tuple[str, str]]:
    first: dict[str, int] = {}
    for index, record in enumerate(records):
        name = record.get("name", str(index))
        if name in first:
            yield f"{base}[{index}].name", f"name {name!r} is taken by {base}[{first[name]}]"
        first.setdefault(name, index)
