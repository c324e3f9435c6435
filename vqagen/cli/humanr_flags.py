"""Flags of HUMANr, accepted beside our own and not shown in help."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import click

_OURS = {
    "human-captions": "human",
    "image-dir": "images",
    "num-trials-per-task": "trials-per-task",
    "num-attention-checks": "checks-per-task",
    "num-attention-check": "checks-per-task",
}
"""HUMANr's flag -> ours. Its README writes one of them in the singular."""
_FILES, _NAMES = "--model-captions", "--model-names"
"""Flags that take several values, the files and the names of systems."""


def our_spelling(token: str) -> str:
    """Return the name of an option as we spell it.

    >>> our_spelling("num_attention_checks"), our_spelling("seed")
    ('checks-per-task', 'seed')
    """
    hyphened = token.replace("_", "-")
    return _OURS.get(hyphened, hyphened)


class HumanrCommand(click.Command):
    """A command that takes the flags of HUMANr too, and its folder of images as an argument."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings = {**self.context_settings, "token_normalize_func": our_spelling}
        self.params += [
            click.Option(["--experiment-name"], hidden=True, expose_value=False),
            click.Option(["--sandbox"], is_flag=True, hidden=True, expose_value=False),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments after the names and files of systems are paired, as `--system` has them."""
        return super().parse_args(ctx, list(_with_systems(args)))


def _with_systems(args: Sequence[str]) -> Iterator[str]:
    """Yield the arguments with `--system NAME=FILE` in place of HUMANr's two flags."""
    values: dict[str, list[str]] = {}
    taken: list[str] | None = None
    for argument in args:
        flag, separator, value = argument.partition("=")
        name = flag.replace("_", "-")
        if name in (_FILES, _NAMES):
            taken = values.setdefault(name, [])
            if separator:
                taken.append(value)
                taken = None
        elif argument.startswith("-") or taken is None:
            taken = None
            yield argument
        else:
            taken.append(argument)
    files, names = values.get(_FILES, []), values.get(_NAMES, [])
    if len(files) != len(names):
        raise click.UsageError(
            f"{_FILES} has {len(files)} values and {_NAMES} has {len(names)}; give one name per file"
        )
    for name, file in zip(names, files, strict=True):
        yield from ("--system", f"{name}={file}")
