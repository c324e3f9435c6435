"""Template files in, checked: JSON, then its shape (JSON Schema), then its meaning. All mistakes in one run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.reading import files_in
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.schema import schema_faults
from vqagen.json.text import locate
from vqagen.language.catalogue import Catalogue
from vqagen.language.template import Template
from vqagen.language.template_check import read_templates


@dataclass(frozen=True)
class TemplateFile:
    """One template file: `name` is its path inside the folder that was given."""

    path: Path
    name: str


def find_template_files(path: Path | str) -> list[TemplateFile]:
    """A file, or every `*.json` under a folder, sorted by path (never by folder order).

    Hidden files and what lies in hidden folders, such as an editor's copies, are left out.
    """
    path = Path(path)
    if path.is_file():
        return [TemplateFile(path, path.name)]
    if not path.is_dir():
        raise UsageError(f"templates not found: {path}")
    found = [file for file in files_in(path) if file.suffix == ".json"]
    if not found:
        raise UsageError(f"no template files (*.json) under {path}")
    return [TemplateFile(file, file.relative_to(path).as_posix()) for file in found]


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
    faults = list(_shape_faults(document))
    made: list[tuple[str, Template]] = []
    if not faults:
        base = "" if isinstance(document, list) else "templates"
        for i, record in enumerate(document if isinstance(document, list) else document["templates"]):
            path = f"{base}[{i}]"
            templates, found = read_templates(record, path, catalogue, file.name, len(made))
            made += ((path, template) for template in templates)
            faults += found
        faults += _repeated_names(made)
    if faults:
        placed = [(locate(text, place), place, message) for place, message in dict.fromkeys(faults)]
        placed.sort(key=itemgetter(0))
        raise BadInput(Problem(message, str(file.path), place, *position) for position, place, message in placed)
    return [template for _, template in made]


def _shape_faults(document: object) -> Iterator[tuple[str, str]]:
    if isinstance(document, Mapping) and "templates" not in document:
        for keys, what in _LOOKS:
            if document.keys() >= keys:
                yield "", f"missing key 'templates'; this looks like {what}"
                return
    yield from schema_faults(document, "templates")


_LOOKS = (
    ({"text", "nodes"}, "one template: put it in a list"),
    ({"types"}, "metadata, which does not belong among templates"),
    ({"scenes"}, "a scene file, which does not belong among templates"),
    ({"objects"}, "a scene, which does not belong among templates"),
    ({"questions"}, "a question file, which does not belong among templates"),
)
"""Keys by which other documents are known, and what they are."""


def _repeated_names(made: Sequence[tuple[str, Template]]) -> Iterator[tuple[str, str]]:
    """Names that two templates have; `made` with the paths of their records. One record is told of once."""
    first: dict[str, str] = {}
    told: set[str] = set()
    for path, template in made:
        name = template.name or str(template.index)
        taken = first.get(name)
        first.setdefault(name, path)
        if taken is None or path in told:
            continue
        told.add(path)
        if taken == path:
            yield f"{path}.name", f"makes several templates called {name!r}; put more placeholders into the name"
        else:
            yield f"{path}.name", f"name {name!r} is taken by {taken}"
