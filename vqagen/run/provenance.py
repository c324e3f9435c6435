"""The provenance in an output's `info`: enough to make the output again, to resume its run, and to merge it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqagen import __version__
from vqagen.files.formats import Arrangement
from vqagen.run.shards import ShardPlan


def generator_info(
    settings: Mapping[str, Any],
    inputs: Mapping[str, str],
    arrangement: Arrangement,
    shard_plan: ShardPlan | None = None,
    more: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the `generator` of an output's `info`. Nothing in it names a host or path.

    `settings` are all that decide what is made, `start_index` and `count` among them; `inputs` the content hashes of
    what was read; `shard_plan` the shard, if only that is made; `more` what the task adds.
    """
    return {
        "name": "vqagen",
        "version": __version__,
        "settings": dict(settings),
        "arrangement": arrangement._asdict(),
        **({"shard": shard_plan.to_record()} if shard_plan else {}),
        "inputs": dict(inputs),
        **(more or {}),
    }
