"""Plug-ins: Python files whose decorators (see `plugin`) declare functions, constraints, attributes and relations.

A plug-in is one file, and is run anew each time it is loaded; what it imports must be installed. What fails in it,
while it is loaded or when one of its functions is called, ends in a PlugInError, which names its file and line.
"""

from __future__ import annotations

import hashlib
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from functools import wraps
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from vqagen.errors import BadInput, Problem, VqagenError, collecting as collecting_problems, nearest
from vqagen.plugin import Declarations, Function, Origin, PlugInError, Run, Undefined, collecting

_OF_STEPS = (VqagenError, Undefined)
"""Exceptions that steps and constraints may raise."""


def load_plugins(names: Sequence[str]) -> Declarations:
    """Return what the plug-ins of these names declare, each loaded once. Raises BadInput with every mistake."""
    name_of: dict[Path, str] = {}
    problems: list[Problem] = []
    for name in names:
        if Path(name).is_file():
            name_of.setdefault(Path(name).resolve(), name)
        else:
            problems.append(_missing(Path(name)))
    together = Declarations()
    for name in name_of.values():
        with collecting_problems(problems):
            problems += _join(together, _load(name))
    if problems:
        raise BadInput(problems)
    return together


def _missing(path: Path) -> Problem:
    if path.is_dir():
        return Problem("expected a plug-in, which is a Python file; this is a folder", str(path))
    close = nearest(str(path), [str(file) for file in sorted(path.parent.glob("*.py"))])
    hint = f"; did you mean {close!r}?" if close else ""
    return Problem(f"no such plug-in, which is a Python file{hint}", str(path))


# Running ----------------------------------------------------------------------------------------------------------


def _load(source: str) -> Declarations:
    """Return the declarations of one file."""
    content, code = _compiled(source)
    digest = hashlib.sha256(content).hexdigest()
    module = ModuleType(f"vqagen_plugin_{digest[:16]}_{Path(source).stem}")
    module.__file__ = source
    sys.modules[module.__name__] = module  # dataclasses look their module up
    with collecting(source) as declared:
        _reporting(lambda: exec(code, module.__dict__), "loading it", Origin(source=source))()
    if not any(vars(declared).values()):
        message = "declares nothing; a plug-in has functions under the decorators of vqagen.plugin"
        raise BadInput([Problem(message, source)])
    return _all_reporting(declared, {source: f"sha256:{digest}"})


def _compiled(source: str) -> tuple[bytes, CodeType]:
    """Read and compile the file. An import would leave a __pycache__ beside it, and might read an old one."""
    line = column = None
    try:
        content = Path(source).read_bytes()
        return content, compile(content, source, "exec", dont_inherit=True)
    except OSError as error:
        message = f"cannot be read: {error.strerror}"
    except SyntaxError as error:
        message, line, column = f"not valid Python: {error.msg}", error.lineno, error.offset
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; nested too deeply
        message = f"not valid Python: {error or type(error).__name__}"
    raise BadInput([Problem(message, source, line=line, column=(column or 1) if line else None)])


def _all_reporting(declared: Declarations, hashes: dict[str, str]) -> Declarations:
    """Return the declarations with functions that report their failures; vqagen's own are called as they are."""
    return Declarations(
        {name: replace(made, run=_step(made)) for name, made in declared.functions.items()},
        {
            name: replace(made, holds=_reporting(made.holds, f"constraint {name}", made, bool, _OF_STEPS))
            for name, made in declared.constraints.items()
        },
        {
            name: replace(made, compute=_reporting(made.compute, f"attribute {name}", made))
            for name, made in declared.attributes.items()
        },
        {
            name: replace(made, holds=_reporting(made.holds, f"relation {name}", made, bool))
            for name, made in declared.relations.items()
        },
        hashes,
    )


def _step(declared: Function) -> Run:
    what, checked = f"function {declared.name}", _of_type(declared.output)
    # The run of a family makes the step of one attribute: both may fail.
    if not declared.per_attribute:
        return _reporting(declared.run, what, declared, checked, _OF_STEPS)
    make = _reporting(declared.run, what, declared)
    return lambda attribute: _reporting(make(attribute), f"{what} of {attribute.type}", declared, checked, _OF_STEPS)


def _of_type(output: str) -> Callable[[Any], Any]:
    """Return a function that returns a result of the type that `output` demands, and raises TypeError otherwise."""
    kind = {"ObjectSet": int, "Object": int, "Integer": int, "Bool": bool}.get(output)

    def checked(result: Any) -> Any:
        if result is None:
            raise TypeError(f"it gives {output}, but gave None; where there is no result, raise Undefined")
        if kind is not None and type(result) is not kind:  # True is no Integer, and numpy's bool no Bool
            raise TypeError(f"it gives {output}, of the type {kind.__name__}, but gave {result!r:.60}")
        return result

    return checked


def _reporting(
    run: Callable[..., Any],
    what: str,
    declared: Origin,
    converted: Callable[[Any], Any] = lambda result: result,
    passing: tuple[type[Exception], ...] = (VqagenError,),
) -> Callable[..., Any]:
    """Return the function with its result `converted`, and with a PlugInError in place of other errors than `passing`.

    What it prints goes to standard error, for standard output may hold results.
    """

    @wraps(run)
    def reporting(*given: Any) -> Any:
        try:
            with redirect_stdout(sys.stderr):
                return converted(run(*given))
        except passing:
            raise
        except (Exception, SystemExit) as error:
            raise PlugInError([_failure(error, what, declared)]) from error

    return reporting


def _failure(error: BaseException, what: str, declared: Origin) -> Problem:
    """Return the failure at the last line of the plug-in that was run or, without one, at the declaration."""
    importer = error.path if isinstance(error, ImportError) else None  # the file of vqagen's own that it names
    message = str(error).removesuffix(f" ({importer})") if importer else str(error)
    what_failed = type(error).__name__ + (f": {message}" if message else "")
    problem = declared.problem(f"plug-in: {what} failed: {what_failed}")
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == declared.source:
            problem = replace(problem, line=frame.lineno, column=(frame.colno or 0) + 1)
    return problem


def _join(together: Declarations, more: Declarations) -> Iterator[Problem]:
    """Add declarations to the others, unless their name is taken."""
    together.hashes |= more.hashes
    for kind in ("function", "constraint", "attribute", "relation"):
        table, added = getattr(together, f"{kind}s"), getattr(more, f"{kind}s")
        for name, declared in added.items():
            if name in table:
                yield declared.problem(f"{kind} {name} is declared in {table[name].source} too")
            table.setdefault(name, declared)
