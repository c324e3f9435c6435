"""The flags that say which domain is meant, shared by every command that needs one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from vqagen.cli.values import path

NO_DOMAIN = "-"
"""What `--domain` without a value stands for, where a command takes it so."""
_DOMAIN_HELP = (
    "A shipped domain by its name, or a folder (./farm) with metadata.json, templates, synonyms.json. [default: clevr]"
)
_OPTIONS = {
    "domain": click.option("--domain", type=path, metavar="NAME|FOLDER", help=_DOMAIN_HELP),
    "domain or nothing": click.option(
        "--domain",
        type=path,
        metavar="[NAME|FOLDER]",
        is_flag=False,
        flag_value=NO_DOMAIN,
        help=f"{_DOMAIN_HELP} Alone: the same as --vocabulary.",
    ),
    "metadata": click.option("--metadata", type=path, metavar="FILE", help="The domain's vocabulary alone."),
    "templates": click.option(
        "--templates", type=path, metavar="PATH", help="Template file, or folder (read recursively)."
    ),
    "synonyms": click.option("--synonyms", type=path, metavar="FILE", help="Ways to say each value."),
    "plugins": click.option(
        "--plugin",
        "plugins",
        type=path,
        multiple=True,
        metavar="FILE.py",
        help="Functions, attributes, relations and constraints in Python; may be given several times.",
    ),
}


def domain_options(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Add the flags of these names to a command, in the order given."""

    def add(command: Callable[..., Any]) -> Callable[..., Any]:
        for name in reversed(names):
            command = _OPTIONS[name](command)
        return command

    return add
