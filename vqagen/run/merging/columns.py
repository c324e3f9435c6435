"""Parquet shards into one file, which are of questions: no other task writes columns.

A shard may end inside a block, whose row group is then put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from vqagen.files.output import atomic_output
from vqagen.records.parquet import pyarrow, row_groups, to_records, write_tables
from vqagen.run.merging.shard_files import ShardFile
from vqagen.run.output.staging import Keep
from vqagen.run.windows import BLOCK, block_of
from vqagen.tasks.questions.columns import NUMBER, Columns

Block = tuple[int, int]
CHOSEN_BY = ("template_filename", "question_family_index", "question", "scene_index")
"""All that a selection of whole outputs reads of a question: its template, its text, and its scene."""


def write_columns(
    files: Sequence[ShardFile],
    out: str,
    info: Mapping[str, Any],
    keep: Keep | None,
    on_merged: Callable[[int], object],
) -> int:
    """Write the rows of shards, which are in order, as one run has them, and say how many."""
    written = 0

    def tables() -> Iterator[Any]:
        nonlocal written
        for _, pieces in groupby(_pieces(files), key=lambda piece: piece[0]):
            table = _whole([_chosen(piece, keep) for _, piece in pieces])
            yield table
            written += table.num_rows
            on_merged(table.num_rows)

    with atomic_output(out) as file:
        write_tables(tables(), file, Columns.from_info(info).schema, info, NUMBER)
    return written


def _pieces(files: Sequence[ShardFile]) -> Iterator[tuple[Block, Any]]:
    """Every row group, with the block that it is all of, or a part."""
    for file in files:
        blocks = blocks_from(file.span.first, file.arrangement.window)
        place = 0
        for block, table in zip(blocks, row_groups(file.path), strict=False):
            _check_numbers(file, table, place)
            place += table.num_rows
            yield block, table


def blocks_from(index: int, size: int) -> Iterator[Block]:
    """The block that an item lies in, and those that follow, without end.

    >>> from itertools import islice
    >>> list(islice(blocks_from(3990, 2500), 3))
    [(1, 1), (1, 2), (2, 0)]
    """
    while True:
        yield block_of(index, size)
        inside = index % size if size else index
        end = inside - inside % BLOCK + BLOCK
        index += (min(end, size) if size else end) - inside


def _check_numbers(file: ShardFile, table: Any, place: int) -> None:
    numbers = table.column(NUMBER).to_numpy()
    wrong = (numbers != range(place, place + len(numbers))).nonzero()[0]
    if len(wrong):
        raise file.misnumbered(int(numbers[wrong[0]]), place + int(wrong[0]))


def _chosen(table: Any, keep: Keep | None) -> Any:
    if keep is None:
        return table
    shown = table.select([name for name in CHOSEN_BY if name in table.schema.names])
    return table.filter([keep(record) for record in to_records(shown)]) if table.num_rows else table


def _whole(pieces: Sequence[Any]) -> Any:
    return pieces[0] if len(pieces) == 1 else pyarrow().concat_tables(pieces)
