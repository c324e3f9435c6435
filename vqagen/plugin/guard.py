"""Guards around plug-ins' functions: an exception is reported with its file and line, and a result of another type
than the declared one is refused. vqagen's own functions have no guard, and pay for none.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from functools import wraps
from typing import Any

from vqagen.errors import BadInput, Problem, VqagenError
from vqagen.plugin import Declarations, FunctionDeclaration, Origin, Run, Undefined

Test = Callable[[Any, Any], bool]

_TESTS: Mapping[str, tuple[str, Test]] = {
    "ObjectSet": (
        "an int mask of objects of the scene (see vqagen.bits)",
        lambda result, scene: type(result) is int and result >> scene.size == 0,
    ),
    "Object": (
        "the index of an object of the scene",
        lambda result, scene: type(result) is int and 0 <= result < scene.size,
    ),
    "Integer": ("an int", lambda result, scene: type(result) is int),
    "Bool": ("True or False", lambda result, scene: type(result) is bool),
}
"""By output type, what a step must give."""
_OTHERS: tuple[str, Test] = ("a hashable value, such as a str or a tuple", lambda result, scene: _is_hashable(result))


def guarded(declared: Declarations) -> Declarations:
    """Return the same declarations with a guard around each function."""
    return Declarations(
        {name: replace(each, run=_guarded_function(each)) for name, each in declared.functions.items()},
        {
            name: replace(each, holds=_guarded(_condition(each.holds), each, f"constraint {name}"))
            for name, each in declared.constraints.items()
        },
        {
            name: replace(each, compute=_guarded(each.compute, each, f"attribute {name}"))
            for name, each in declared.attributes.items()
        },
        {
            name: replace(each, holds=_guarded(_condition(each.holds), each, f"relation {name}"))
            for name, each in declared.relations.items()
        },
        declared.composites,
    )


def failure(error: BaseException, source: str, what: str, declared_at: int = 0) -> VqagenError:
    """A plug-in's exception as a mistake in its file: at the last line of the file that was run before it or, where
    none was, at the line where `what` was declared.

    A VqagenError stays as it is: it has its place.
    """
    if isinstance(error, VqagenError):
        return error
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == source]
    line, column = (declared_at or None, 1 if declared_at else None)
    if frames:
        line, column = frames[-1].lineno, (frames[-1].colno or 0) + 1
    said = f"{what} failed: {type(error).__name__}" + (f": {_message(error)}" if str(error) else "")
    return BadInput([Problem(f"plug-in: {said}", source, line=line, column=column)])


def _message(error: BaseException) -> str:
    """Return the message without the path of the importing file, which belongs to vqagen."""
    path = error.path if isinstance(error, ImportError) else None
    return str(error).removesuffix(f" ({path})")


def _guarded_function(declared: FunctionDeclaration) -> Run:
    what = f"function {declared.name}"
    run = _guarded(declared.run, declared, what)
    if not declared.per_attribute:
        return _checked(run, declared, what)

    @wraps(run)
    def make(attribute: Any) -> Run:
        member = f"function {declared.name.format(name=attribute.name, type=attribute.type)}"
        return _checked(_guarded(run(attribute), declared, member), declared, member)

    return make


def _condition(holds: Run) -> Callable[..., bool]:
    """Return a condition that gives True or False, as the compiled build demands, whatever `holds` gives."""

    @wraps(holds)
    def condition(*given: Any) -> bool:
        return bool(holds(*given))

    return condition


def _guarded(run: Run, declared: Origin, what: str) -> Run:
    @wraps(run)
    def guard(*given: Any) -> Any:
        try:
            with redirect_stdout(sys.stderr):  # standard output may hold results
                return run(*given)
        except Undefined:
            raise
        except (Exception, SystemExit) as error:
            raise failure(error, declared.source, what, declared.line) from error

    return guard


def _checked(run: Run, declared: FunctionDeclaration, what: str) -> Run:
    """A step whose results are of its output type."""
    expected, is_right = _TESTS.get(declared.output, _OTHERS)

    @wraps(run)
    def step(scene: Any, *given: Any) -> Any:
        result = run(scene, *given)
        if not is_right(result, scene):
            said = f"plug-in: {what} gives {declared.output}, {expected}, but gave {result!r:.60}"
            hint = "; where there is no result, raise Undefined" if result is None else ""
            raise BadInput([Problem(said + hint, declared.source, line=declared.line, column=1)])
        return result

    return step


def _is_hashable(result: Any) -> bool:
    try:
        hash(result)
    except TypeError:
        return False
    return result is not None
