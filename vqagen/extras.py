"""Libraries that not everyone needs: imported where they are used, and asked for by name where they are missing."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from vqagen.errors import UsageError

EXTRA_OF = dict.fromkeys(("msgspec", "itsdangerous", "jwt", "starlette", "uvicorn"), "human")
"""Packages that modules import at their top -> the extra that brings them."""


def needed(module: str, extra: str, what: str) -> Any:
    """The module, for `what`. UsageError where the extra that brings it is not installed."""
    package = module.split(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != package:
            raise  # it is there, and something that it needs is not
        raise _missing(package, extra, what) from None


def require_package(package: str, extra: str, what: str) -> None:
    """Raise the same error for a package that is needed later, without importing it."""
    if find_spec(package) is None:
        raise _missing(package, extra, what)


def _missing(package: str, extra: str, what: str) -> UsageError:
    return UsageError(f"{what} needs {package}; install it: {to_install(extra)}")


def in_one_thread(what: str) -> AbstractContextManager[Any]:
    """Return what keeps scikit-learn to one thread, for a `with` statement: its figures are the same everywhere."""
    limited: AbstractContextManager[Any] = _threadpools(what).limit(limits=1)
    return limited


@cache
def _threadpools(what: str) -> Any:
    """Return the pools of threads of the libraries loaded, scikit-learn's with them: to find them takes 10 ms."""
    needed("sklearn.linear_model", "stats", what)
    return needed("threadpoolctl", "stats", what).ThreadpoolController()


def to_install(extra: str) -> str:
    """What to type in order to install an extra."""
    return f"pip install 'vqagen[{extra}]'"
