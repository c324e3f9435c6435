"""What an output says of how it was made: enough to make it again, to go on with it, and to merge it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from vqagen import __version__
from vqagen.run.shards import ShardPlan


class Arrangement(NamedTuple):
    """How the records of a task stand in its outputs."""

    key: str
    """What they stand under in a document, such as `questions`."""
    number_key: str
    """Where a record says its place in the output, from 0; "" for records that do not."""
    window: int
    """Items in a window; 0 for one window of all."""


def generator_info(
    settings: Mapping[str, Any],
    inputs: Mapping[str, str],
    arrangement: Arrangement,
    share: ShardPlan | None = None,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """The `generator` of an output's `info`. Nothing in it names a host or path.

    `settings` are all that decide what is made, `start_index` and `count` among them; `inputs` the content hashes of
    what was read; `share` the shard, if it is one; `more` what else the task has to say.
    """
    return {
        "name": "vqagen",
        "version": __version__,
        "settings": dict(settings),
        "arrangement": arrangement._asdict(),
        **({"shard": share.to_record()} if share else {}),
        "inputs": dict(inputs),
        **(more or {}),
    }
