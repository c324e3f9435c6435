"""Shards into one Parquet file, block by block, whichever format they have.

A Parquet shard may end inside a block, whose row group is then put together again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count, groupby
from typing import Any

from vqagen.errors import BadInput, Problem, describe
from vqagen.files.formats import Record, Selection
from vqagen.files.output import atomic_output
from vqagen.files.parquet import RecordColumns, decode, pyarrow, to_records
from vqagen.run.merging.shard_files import ShardFile
from vqagen.run.windows import BLOCK, block_of
from vqagen.tasks.contract import Task

Block = tuple[int, int]


def write_columns(
    files: Sequence[ShardFile],
    out: str,
    info: Mapping[str, Any],
    task: type[Task],
    selection: Selection | None,
    on_merged: Callable[[int], object],
) -> int:
    """Write the rows of shards, which are in order, as one run has them, and return how many there are."""
    columns = task.columns(info)
    assert columns is not None, f"{task.key} have no columns"
    written = 0

    def tables() -> Iterator[Any]:
        nonlocal written
        pieces = (piece for file in files for piece in _pieces(file, task, columns, file is files[-1]))
        for _, tables in groupby(pieces, key=lambda piece: piece[0]):
            table = _whole([_selected(table, selection) for _, table in tables])
            yield table
            written += table.num_rows
            on_merged(table.num_rows)

    with atomic_output(out) as file:
        columns.write_tables(tables(), file, info)
    return written


def _pieces(file: ShardFile, task: type[Task], columns: RecordColumns, is_last: bool) -> Iterator[tuple[Block, Any]]:
    """Yield the tables of a shard, each with the block that it is all of, or a part.

    Blocks without records behind the last record are yielded too, except in the last shard: nothing follows them.
    """
    blocks = blocks_from(file.span.first, file.arrangement.window)
    block: Block | None = None
    for block, table in _filled_pieces(file, task, columns, blocks):
        yield block, table
    if is_last or file.end is None or not (task.index_key or file.layout == "parquet"):
        return
    end = block_of(file.end - 1, file.arrangement.window)
    while block is None or block < end:
        block = next(blocks)
        yield block, decode(columns.encode([]))


def _filled_pieces(
    file: ShardFile, task: type[Task], columns: RecordColumns, blocks: Iterator[Block]
) -> Iterator[tuple[Block, Any]]:
    """Yield the same up to the last record."""
    if file.layout == "parquet":
        for table, block in zip(file.tables(), blocks, strict=False):
            key = file.arrangement.number_key
            yield block, table.drop_columns([key]) if key else table
        return
    by_block = _in_blocks(file, task, blocks) if task.index_key else _numbered_blocks(file.records(task))
    for block, records in by_block:
        yield block, decode(columns.encode(records))


def _in_blocks(file: ShardFile, task: type[Task], blocks: Iterator[Block]) -> Iterator[tuple[Block, list[Record]]]:
    """Yield each block of a JSON shard up to the last record, also those without any."""
    size, checked = file.arrangement.window, _checked(file, task.index_key, file.records(task))
    for block, content in groupby(checked, key=lambda each: block_of(each[0], size)):
        while (passed := next(blocks)) != block:
            yield passed, []
        yield block, [record for _, record in content]


def _checked(file: ShardFile, key: str, records: Iterator[Record]) -> Iterator[tuple[int, Record]]:
    """Yield records with the index of their item. BadInput for one that is not of the shard, or not in order."""
    least = file.span.first
    for place, record in enumerate(records):
        index = record.get(key)
        if type(index) is not int or index < least or (file.end is not None and index >= file.end):
            is_wrong = f"{key} is {describe(index)}, which is no {file.arrangement.item} that the shard has here"
            message = f"{is_wrong}: the file was changed after it was made"
            raise BadInput([Problem(message, str(file.path), f"{file.arrangement.key}[{place}]")])
        yield index, record
        least = index


def _numbered_blocks(records: Iterator[Record]) -> Iterator[tuple[Block, list[Record]]]:
    """Yield records that do not say the index of their item: they fill the blocks."""
    numbers = count()
    for number, content in groupby(records, key=lambda _: next(numbers) // BLOCK):
        yield (0, number), list(content)


def blocks_from(index: int, size: int) -> Iterator[Block]:
    """Yield the block that an item lies in, and the blocks after it, without end.

    >>> from itertools import islice
    >>> list(islice(blocks_from(3990, 2500), 3))
    [(1, 1), (1, 2), (2, 0)]
    """
    while True:
        yield block_of(index, size)
        inside = index % size if size else index
        end = inside - inside % BLOCK + BLOCK
        index += (min(end, size) if size else end) - inside


def _selected(table: Any, selection: Selection | None) -> Any:
    if selection is None or not table.num_rows:
        return table
    shown = table.select([name for name in selection.reads if name in table.schema.names])
    return table.filter([selection.keeps(record) for record in to_records(shown)])


def _whole(pieces: Sequence[Any]) -> Any:
    return pieces[0] if len(pieces) == 1 else pyarrow().concat_tables(pieces)
