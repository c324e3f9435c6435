"""Libraries that not everyone needs: imported where they are used, and asked for by name where they are missing."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from vqagen.errors import UsageError


def needed(module: str, extra: str, what: str, *beside: str) -> Any:
    """The module, for `what`. UsageError where the extra that brings it is not installed.

    `beside` are packages that are needed as well, and that no extra brings.
    """
    package = module.split(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != package:
            raise  # it is there, and something that it needs is not
        raise UsageError(f"{what} needs {package}; install it: {to_install(extra, *beside)}") from None


def to_install(extra: str, *packages: str) -> str:
    """What to type in order to install an extra, and packages beside it.

    >>> to_install("cloud", "s3fs")
    "pip install 'vqagen[cloud]' s3fs"
    """
    return " ".join((f"pip install 'vqagen[{extra}]'", *packages))
