"""Flag spellings of the reference generator, accepted beside our own and not shown in help."""

from __future__ import annotations

from typing import Any

import click

from vqagen.cli.group import GroupedCommand

REFERENCE_FLAGS = {
    "input-scene-file": "scenes",
    "metadata-file": "metadata",
    "template-dir": "templates",
    "synonyms-json": "synonyms",
    "output-questions-file": "out",
    "scene-start-idx": "start-index",
    "num-scenes": "count",
}
"""The reference's flag -> ours. Any flag may also be written with underscores in place of hyphens."""

IGNORED_FLAGS = ("--verbose", "--time-dfs", "--profile")
"""Flags of the reference that only print; they are accepted and do nothing."""


def our_spelling(token: str) -> str:
    """The name of an option as we spell it; a choice's value is left as it is by click's own rules.

    >>> our_spelling("scene_start_idx"), our_spelling("seed")
    ('start-index', 'seed')
    """
    hyphened = token.replace("_", "-")
    return REFERENCE_FLAGS.get(hyphened, hyphened)


class ReferenceCommand(GroupedCommand):
    """A command that takes the reference's flags too."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings = {**self.context_settings, "token_normalize_func": our_spelling}
        self.params += [click.Option([flag], is_flag=True, hidden=True, expose_value=False) for flag in IGNORED_FLAGS]
