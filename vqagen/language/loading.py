"""Read template files and check them: JSON, then its shape (JSON Schema), then its meaning. All mistakes at once."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.errors import BadInput, Fault, PlaceError, Problem, counted, reading_order, warn
from vqagen.files.locations import files_in
from vqagen.files.parsing import parse_json, read_text
from vqagen.files.schema import problem_in, schema_faults
from vqagen.frozen import frozen
from vqagen.language.catalogue import Catalogue
from vqagen.language.template import Template
from vqagen.language.template_check import read_templates
from vqagen.language.template_record import canonical_form, written_path


@frozen
class TemplateFile:
    """One template file; `name` is its path inside the given folder."""

    path: Path
    name: str


def find_template_files(path: Path | str) -> list[TemplateFile]:
    """Return the file, or every `*.json` under the folder, sorted by path.

    Hidden files and folders, such as an editor's copies, are skipped.
    """
    path = Path(path)
    if path.is_file():
        return [TemplateFile(path, path.name)]
    if not path.is_dir():
        raise PlaceError(f"templates not found: {path}")
    files = [file for file in files_in(path) if file.suffix == ".json"]
    if not files:
        raise PlaceError(f"no template files (*.json) under {path}")
    return [TemplateFile(file, file.relative_to(path).as_posix()) for file in files]


class BadTemplates(NamedTuple):
    """What cannot be used: a record of a template file or, without a `name`, the whole file."""

    file: str
    name: str
    problems: tuple[Problem, ...]

    @property
    def id(self) -> str:
        """The template's id, or the file's name."""
        return f"{self.file}#{self.name}" if self.name else self.file


@frozen
class PlacedTemplate:
    """A template and its place. The templates that one record makes share the record."""

    template: Template
    source: str
    """The file."""
    text: str = field(repr=False)
    """All of the file."""
    path: str
    """JSON path of the record."""
    record: Mapping[str, Any] = field(repr=False)
    """The record as written."""

    def problem(self, place: str, message: str) -> Problem:
        """Return a problem at a path of the record in canonical form, placed where the author wrote it."""
        written = written_path(place, canonical_form(self.record)[1])
        return problem_in(self.source, f"{self.path}.{written}" if written else self.path, message, self.text)


TemplatesRead = tuple[list[PlacedTemplate], list[BadTemplates]]
"""The templates of files, and what cannot be used of them."""


def load_templates(path: Path | str, catalogue: Catalogue) -> tuple[Template, ...]:
    """Return all templates of a file or folder, checked against the domain's functions and types.

    Families are numbered in the order of file paths, then of places in each file. Raises BadInput with every mistake.
    """
    placed, bad = read_template_files(path, catalogue)
    raise_bad(bad)
    return tuple(item.template for item in placed)


def read_template_files(path: Path | str, catalogue: Catalogue, drops_idle: bool = False) -> TemplatesRead:
    """Return the templates of a file or folder that have no mistakes, numbered without the others, and the others.

    With `drops_idle`, constraints that speak of what is not there are no mistakes: they are left out with a warning.
    """
    read = [_read_file(file, catalogue, drops_idle) for file in find_template_files(path)]
    placed = [item for of_file, _ in read for item in of_file]
    numbered = [replace(item, template=replace(item.template, family=number)) for number, item in enumerate(placed)]
    return numbered, [item for _, of_file in read for item in of_file]


def warn_doubts(placed: Iterable[PlacedTemplate], path: Path | str) -> None:
    """Warn in one line of the texts, read from a `path`, that cannot ask what their programs compute."""
    from vqagen.language.text_doubts import text_doubts  # its patterns take 20 ms, and shipped templates need none

    doubts = dict.fromkeys(
        each.problem(place, message) for each in placed for _, place, message in text_doubts(each.template)
    )
    if doubts:
        first, more = min(doubts, key=reading_order), counted(len(doubts) - 1, "more warning")
        listed = f"{more} of this kind; " if len(doubts) > 1 else ""
        warn(replace(first, message=f"{first.message} ({listed}`vqagen check {path}` lists all)"))


def raise_bad(bad: Sequence[BadTemplates]) -> None:
    """Raise BadInput with the problems of bad templates, each file's in reading order; nothing where there are none."""
    problems = [
        problem
        for _, of_file in groupby(bad, attrgetter("file"))
        for problem in sorted((problem for each in of_file for problem in each.problems), key=reading_order)
    ]
    if problems:
        error = BadInput(problems)
        error.add_note("vqagen generate --skip-bad-templates uses the others")
        raise error


def _read_file(file: TemplateFile, catalogue: Catalogue, drops_idle: bool) -> TemplatesRead:
    """Read one file. It is bad as a whole if it is no JSON, or is wrong outside of its records.

    Templates are numbered in the file. A record that makes none counts as one, so that others keep their numbers.
    """
    try:
        text = read_text(file.path)
        document, shape_faults = _document_of(text, str(file.path))
    except BadInput as error:
        return [], [BadTemplates(file.name, "", error.problems)]
    base, records = _records_of(document)
    paths = [f"{base}[{number}]" for number in range(len(records))]
    faults: dict[int | None, list[Fault]] = {}
    for fault in shape_faults:
        faults.setdefault(_number_at(fault[0], base), []).append(fault)
    made: list[tuple[int, Template]] = []
    index = 0
    for number, record in enumerate(records):
        templates = list[Template]()
        if number not in faults:
            templates, wrong = read_templates(record, paths[number], catalogue, file.name, index)
            if drops_idle and (dropped := _idle_constraints(wrong)):
                for problem in _problems(wrong, text, file):
                    warn(replace(problem, message=f"{LEFT_OUT}: {problem.message}"))
                rest = [each for k, each in enumerate(record["constraints"]) if k not in dropped]
                record = {**record, "constraints": rest}
                templates, wrong = read_templates(record, paths[number], catalogue, file.name, index)
            if wrong:
                faults[number] = wrong
        made += ((number, template) for template in templates)
        index += max(len(templates), 1)  # records 0, a faulty 1, and 2 `for` two colors: templates 0, 2 and 3
    for number, message in _repeated_names(made, paths):
        faults.setdefault(number, []).append((f"{paths[number]}.name", message))
    # A fault outside of the records, as in {"comment": 3, "templates": […]}, is one of the whole file.
    if None in faults:
        every = [fault for wrong in faults.values() for fault in wrong]
        return [], [BadTemplates(file.name, "", _problems(every, text, file))]
    bad = [
        BadTemplates(file.name, _name_of(records[number], number), _problems(faults[number], text, file))
        for number in sorted(number for number in faults if number is not None)
    ]
    sound = [
        PlacedTemplate(template, str(file.path), text, paths[number], records[number])
        for number, template in made
        if number not in faults
    ]
    return sound, bad


@lru_cache(maxsize=64)
def _document_of(text: str, source: str) -> tuple[Any, tuple[Fault, ...]]:
    """Parse a file and check its shape. A text is checked once, for that takes 70 of the 100 ms in which CLEVR's load.

    Raises BadInput if it is no JSON, or holds templates of dialogs.
    """
    document = parse_json(text, source)
    if holds_templates_with(document, "label", but="nodes"):
        wrong = "these are templates of dialogs, which have labels; templates of questions have nodes"
        raise BadInput([Problem(wrong, source)])
    return document, tuple(_shape_faults(document))


def _records_of(document: object) -> tuple[str, Sequence[Any]]:
    """Return the JSON path of the list of records in a document of any shape, and the list; () where there is none."""
    base = "" if isinstance(document, list) else "templates"
    listed = document.get(base) if isinstance(document, Mapping) else document
    return base, listed if isinstance(listed, list) else ()


def _number_at(path: str, base: str) -> int | None:
    """Return the number of the record that a JSON path leads into, if it leads into one."""
    match = re.match(rf"{base}\[(\d+)\]", path)
    return int(match[1]) if match else None


def _idle_constraints(faults: Sequence[Fault]) -> set[int]:
    """Return the numbers of the constraints with a parameter that is not there, if nothing else is wrong.

    The CLEVR generator looks such a parameter up, finds nothing, and so never applies the constraint: in CLEVR-Math's
    templates, `NEQ` of two nodes, which it takes for slots, and `OUT_NEQ` of node 5 of nodes 0 to 4.
    """
    matches = [_OF_PARAMETER.search(path) for path, _ in faults]
    return {int(match[1]) for match in matches if match} if all(matches) else set()


LEFT_OUT = "this constraint is left out, as the CLEVR generator does"
_OF_PARAMETER = re.compile(r"\.constraints\[(\d+)\]\.params\[\d+\]$")


def _name_of(record: Any, number: int) -> str:
    name = record.get("name") if isinstance(record, Mapping) else None
    return name if isinstance(name, str) and name else str(number)


def _problems(faults: Iterable[Fault], text: str, file: TemplateFile) -> tuple[Problem, ...]:
    """The faults as problems in the file, each once, in reading order."""
    problems = (problem_in(str(file.path), *fault, text) for fault in dict.fromkeys(faults))
    return tuple(sorted(problems, key=reading_order))


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


def holds_templates_with(document: object, key: str, but: str) -> bool:
    """True if the first template has one key and not another, by which people know the kinds of templates."""
    _, listed = _records_of(document)
    first = listed[0] if listed else None
    return isinstance(first, Mapping) and key in first and but not in first


def _repeated_names(made: Sequence[tuple[int, Template]], paths: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield (number of the record, message) for names that two templates have, once for each record."""
    first: dict[str, int] = {}
    reported: set[int] = set()
    for number, template in made:
        name = template.name or str(template.index)  # so a template called "2" takes the id of a nameless third one
        if name in first and number not in reported:
            reported.add(number)
            if first[name] == number:
                yield number, f"makes several templates called {name!r}; put more placeholders into the name"
            else:
                yield number, f"name {name!r} is taken by {paths[first[name]]}"
        first.setdefault(name, number)
