"""Plug-ins: Python files whose decorators (see `plugin`) declare functions, constraints, attributes and relations.

Only the plug-ins that are named are loaded, each by its file or, where there is no such file, as an installed entry
point of the group `vqagen.plugins` that names a module. What merely is installed changes nothing: the same command
must give the same bytes everywhere.

A plug-in is one file, and is run anew each time it is loaded; what it imports must be installed. Every error in
it, while loading or running, is reported with its file and line.
"""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, NamedTuple

from vqagen.errors import BadInput, Problem, nearest
from vqagen.plugin import Declarations, collecting
from vqagen.plugin.guard import failure, guarded
from vqagen.plugin.shape import shape_problems

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "vqagen.plugins"


@dataclass(frozen=True)
class Plugins:
    """The declarations of all plug-ins of a run."""

    declarations: Declarations = field(default_factory=Declarations)
    hashes: Mapping[str, str] = field(default_factory=dict)
    """Plug-in, by the name it was asked for -> `sha256:…` of its file, in the order they were asked for."""

    @property
    def hash(self) -> str:
        """`sha256:…` over all of them, in order; names and places do not count."""
        total = hashlib.sha256("".join(self.hashes.values()).encode())
        return f"sha256:{total.hexdigest()}"


class _PluginFile(NamedTuple):
    """A plug-in's file, and the package its relative imports start from."""

    path: Path
    package: str


def load_plugins(names: Sequence[str]) -> Plugins:
    """Load the plug-ins of these names, each once. Raises BadInput with every mistake in any of them."""
    found: dict[str, _PluginFile] = {}
    problems: list[Problem] = []
    for name in names:
        try:
            place = _find(name)
        except BadInput as error:
            problems += error.problems
        else:
            if place.path.resolve() not in [each.path.resolve() for each in found.values()]:
                found[name] = place
    together, hashes = Declarations(), {}
    for name, place in found.items():
        try:
            declared, hashes[name] = _load(place)
            problems += _join(together, declared)
        except BadInput as error:
            problems += error.problems
    if problems:
        raise BadInput(problems)
    return Plugins(together, hashes)


# Finding ----------------------------------------------------------------------------------------------------------


def _find(name: str) -> _PluginFile:
    path = Path(name)
    if path.is_file():
        return _PluginFile(path, "")
    installed = _installed()
    if name in installed:
        return _find_module(installed[name])
    if path.is_dir():
        raise BadInput([Problem("expected a plug-in, which is a Python file; this is a folder", name)])
    known = [*installed, *(str(each) for each in sorted(path.parent.glob("*.py")))]
    close = nearest(name, known)
    hint = f"; did you mean {close!r}?" if close else f"; installed plug-ins: {', '.join(installed) or 'none'}"
    raise BadInput([Problem(f"no such plug-in, neither a Python file nor one that is installed{hint}", name)])


def _installed() -> dict[str, EntryPoint]:
    from importlib.metadata import entry_points  # slow to import, and needed for few plug-ins

    points = sorted(entry_points(group=ENTRY_POINTS), key=lambda point: (point.name, point.value))
    return {point.name: point for point in points}


def _find_module(point: EntryPoint) -> _PluginFile:
    """The file of the module that an entry point names. Finding it imports the packages it lies in."""
    said = f"the installed plug-in says it is the module {point.value!r}"
    if point.attr:
        raise BadInput([Problem(f"{said}; expected a module, without ':{point.attr}'", point.name)])
    with _blaming(point.name, f"finding the module {point.module}"):
        spec = importlib.util.find_spec(point.module)
    if spec is None or not spec.origin or not spec.has_location:
        raise BadInput([Problem(f"{said}, but there is no such Python file", point.name)])
    return _PluginFile(Path(spec.origin), spec.parent or "")


# Running ----------------------------------------------------------------------------------------------------------


def _load(place: _PluginFile) -> tuple[Declarations, str]:
    """Return the declarations of one file, guarded, and its content hash."""
    source = str(place.path)
    try:
        content = place.path.read_bytes()
    except OSError as error:
        raise BadInput([Problem(f"cannot be read: {error.strerror}", source)]) from None
    digest = hashlib.sha256(content).hexdigest()
    module = ModuleType(f"vqagen_plugin_{digest[:16]}_{place.path.stem}")
    module.__file__, module.__package__ = source, place.package
    with collecting(source) as declared:
        _run(_compiled(content, source), module)
    problems = list(shape_problems(declared, source, module.__name__))
    if problems:
        raise BadInput(problems)
    return guarded(declared), f"sha256:{digest}"


def _compiled(content: bytes, source: str) -> CodeType:
    """Compile the file. An import would leave a __pycache__ beside it, and might read an old one."""
    try:
        return compile(content, source, "exec", dont_inherit=True)
    except SyntaxError as error:
        column = error.offset or 1 if error.lineno else None
        problem = Problem(f"not valid Python: {error.msg}", source, line=error.lineno, column=column)
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nested too deeply
        problem = Problem(f"not valid Python: {error or type(error).__name__}", source)
    raise BadInput([problem])


def _run(code: CodeType, module: ModuleType) -> None:
    """Run a plug-in's file. Its module stays known under a name that no other has, as dataclasses need it to."""
    sys.modules[module.__name__] = module
    with _blaming(code.co_filename, "loading it"), redirect_stdout(sys.stderr):
        exec(code, module.__dict__)


@contextmanager
def _blaming(source: str, what: str) -> Iterator[None]:
    """Raise any exception as a mistake in the plug-in."""
    try:
        yield
    except (Exception, SystemExit) as error:
        raise failure(error, source, what) from error


def _join(together: Declarations, more: Declarations) -> Iterator[Problem]:
    """Add declarations to the others, unless their name is taken."""
    kinds = ("function", "constraint", "attribute", "relation", "composite")
    for kind in kinds:
        table, added = getattr(together, f"{kind}s"), getattr(more, f"{kind}s")
        for name, declared in added.items():
            if name in table:
                message = f"{kind} {name} is declared in {table[name].source} too"
                yield Problem(message, declared.source, line=declared.line, column=1)
            table.setdefault(name, declared)
