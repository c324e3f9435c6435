"""An output in another format: the bytes that its run would have written so."""

from __future__ import annotations

import os

from vqagen.files.locations import locate
from vqagen.run.merging.merge import MergeResult, OnMerged, check_names, write_merged
from vqagen.run.merging.shard_files import open_shard


def convert(
    source: os.PathLike[str] | str,
    out: os.PathLike[str] | str,
    *,
    format: str | None = None,
    force: bool = False,
    on_converted: OnMerged = lambda _: None,
) -> MergeResult:
    """Write an output of vqagen in another format.

    The ending of `out` chooses it, or `format` names one of another tool. `on_converted` is called now and then with
    the number of records converted since. Raises VqagenError before anything is written for what cannot be converted,
    and while writing, which then leaves no file, for an output that was changed.
    """
    path = locate(source)
    check_names([path])
    file = open_shard(path)
    return write_merged([file], out, file.info, format=format, force=force, on_merged=on_converted)
