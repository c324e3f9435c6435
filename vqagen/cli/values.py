"""Kinds of values that flags and arguments take. A wrong one is told by click, which names the flag."""

from __future__ import annotations

from collections.abc import Callable

import click

LARGEST = 2**63 - 1
"""The largest number that every reader of an output can hold."""


def path(text: str) -> str:
    """The name of a file or folder, or `-`. An empty one, as from an unset shell variable, would mean this folder."""
    if not text:
        raise click.BadParameter("the name is empty")
    return text


def integer(least: int = -LARGEST) -> Callable[[str | int], int]:
    """Whole numbers from `least` on."""

    def integer(given: str | int) -> int:  # help shows this name
        try:
            number = int(given)
        except ValueError:
            raise click.BadParameter(f"{given!r} is not a whole number") from None
        if not least <= number <= LARGEST:
            bound = f"at least {least}" if number < least else f"at most {LARGEST}"
            raise click.BadParameter(f"must be {bound}, found {number}")
        return number

    return integer
