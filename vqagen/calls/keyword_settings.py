"""Settings as keyword arguments of the Python API."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from vqagen.errors import UsageError, unknown
from vqagen.tasks.settings import RunSettings

P = ParamSpec("P")
T = TypeVar("T")
S = TypeVar("S", bound=RunSettings)


def shows_settings(kind: type[RunSettings]) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Let `help` and editors show the settings that a function takes as keywords, with their defaults."""

    def show(function: Callable[P, T]) -> Callable[P, T]:
        signature = inspect.signature(function)
        taken = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        shown = [each.replace(kind=each.KEYWORD_ONLY) for each in inspect.signature(kind).parameters.values()]
        function.__signature__ = signature.replace(parameters=[*taken, *shown])  # type: ignore[attr-defined]
        return function

    return show


def make_settings(kind: type[S], given: Mapping[str, Any]) -> S:
    """Return settings from keyword arguments. An unknown name is a UsageError that gives the nearest one."""
    known = kind.names()
    wrong = [unknown("setting", name, known) for name in given if name not in known]
    if wrong:
        raise UsageError("\n".join(wrong))
    return kind(**given)
