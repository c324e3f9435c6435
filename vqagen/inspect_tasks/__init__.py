"""Inspect AI tasks: models answer questions, dialogs and trials of the director task. Needs the extra `inspect`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from inspect_ai._util.error import PrerequisiteError  # it has no public name

from vqagen.errors import VqagenError

P = ParamSpec("P")
T = TypeVar("T")


def shown_by_inspect(function: Callable[P, T]) -> Callable[P, T]:
    """Let a function raise every VqagenError as the error that Inspect prints without a traceback."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return function(*args, **kwargs)
        except VqagenError as error:
            raise PrerequisiteError(f"vqagen: {error}") from None

    return call
