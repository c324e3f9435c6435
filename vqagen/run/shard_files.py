"""Outputs that a merge reads: their records, the run that made them, and the items of the run that they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem, counted, describe
from vqagen.files.formats import FORMATS, LIST, Arrangement, Checksum, Format, info_beside
from vqagen.files.info import CHANGED, CHECKSUM, FOREIGN, NO_CHECKSUM, Sums, describe_output
from vqagen.files.locations import Location
from vqagen.files.parquet import checksums, read_rows
from vqagen.files.records import Members, RecordKind, open_records
from vqagen.run.windows import Shard, Span
from vqagen.tasks import TASKS, task_named
from vqagen.tasks.contract import Task, find_record_file
from vqagen.tasks.foreign import ForeignFormat


@dataclass(frozen=True)
class ShardFile:
    """One output of a run of any task."""

    path: Location
    """The file, or the folder that holds it."""
    record_file: Location
    form: Format
    info: Mapping[str, Any]
    sums: Sums
    """The sums of its records, if an info beside it gives them."""
    task: type[Task]
    arrangement: Arrangement
    span: Span
    """Its items; a length of 0 means all that follow."""
    shard: Shard | None = None
    """Which shard it is of a run made with `--shard`."""
    whole_run: Span | None = None
    """The items of that run."""
    foreign: str = ""
    """The name of its format, if that is one of another tool."""

    @property
    def is_folder(self) -> bool:
        """True if files belong to the records."""
        return self.record_file is not self.path

    @property
    def names(self) -> list[str]:
        """The names that are read."""
        beside = info_beside(str(self.record_file), self.form)
        return [str(self.path), str(self.record_file), *([beside] if beside else [])]

    @property
    def end(self) -> int | None:
        """One behind its last item; None if it holds all items to the end of the input."""
        return self.span.first + self.span.length if self.span.length else None

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield the records as JSON holds them, read as they are asked for.

        Raises BadInput for what is no record, for a record that says another number than its place in the file, and
        at the end for records that were changed.
        """
        behind = Members()
        return self._checked(self._read(behind), self.arrangement.number_key, behind)

    def entries(self, form: ForeignFormat) -> Iterator[dict[str, Any]]:
        """Yield the entries of a file of another tool; see `records`."""
        return self._checked(form.read(self.record_file), form.number_key, Members())

    def _checked(
        self, read: Iterable[tuple[dict[str, Any], bytes]], number_key: str, behind: Members
    ) -> Iterator[dict[str, Any]]:
        found = Checksum()
        for place, (record, text) in enumerate(read):
            if number_key and record.get(number_key) != place:
                is_wrong = f"{number_key} is {describe(record.get(number_key))}, not {place}: {CHANGED}"
                raise self._fault(is_wrong, f"{self.arrangement.key}[{place}]")
            found = found.add(text + b"\n", 1)
            yield record
        lines, checksum = self.sums
        if lines not in (None, found.lines):
            raise self._fault(f"{counted(found.lines, self.arrangement.noun)}, not {lines:,}: {CHANGED}")
        if not self.form.is_binary:
            self._check_checksum(behind.get(CHECKSUM, checksum), str(found))

    def in_order(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the records with the index of the item of each. BadInput for one not of the shard, or not in order."""
        key, least = self.task.index_key, self.span.first
        for place, record in enumerate(self.records()):
            index = record.get(key)
            if type(index) is not int or index < least or (self.end is not None and index >= self.end):
                is_wrong = f"{key} is {describe(index)}, which is no {self.arrangement.item} that the shard has here"
                message = f"{is_wrong}: the file was changed after it was made"
                raise self._fault(message, f"{self.arrangement.key}[{place}]")
            yield index, record
            least = index

    def _read(self, behind: Members) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Yield each record and its text; `behind` gets the members of a document behind its records."""
        if self.form.is_binary:
            given, found = checksums(self.record_file)
            if given is None:
                raise self._fault(NO_CHECKSUM)
            self._check_checksum(given, found)
            columns = self.task.columns(self.info)
            assert columns is not None, f"{self.arrangement.key} have no columns"
            yield from ((columns.restored(row), b"") for row in read_rows(self.record_file))
            return
        source = open_records(self.record_file, RecordKind(self.arrangement.key))
        for index, value, place, text in source.read(behind=behind):
            yield source.object_of(value, index, place), text

    def _check_checksum(self, given: object, found: str) -> None:
        if given not in (None, found):
            raise self._fault(f"the records have the checksum {found}, not {given}: {CHANGED}")

    def _fault(self, message: str, place: str = "") -> BadInput:
        return BadInput([Problem(message, str(self.path), place)])


def open_shard(path: Location) -> ShardFile:
    """Open an output that is there. BadInput if it has no info, or one that no run of vqagen writes."""
    record_file = path
    if isinstance(path, Path) and path.is_dir():
        record_file = find_records_in(path) or path
    layout, info, sums = describe_output(record_file)
    match info:
        case {
            "generator": {
                "name": "vqagen",
                "settings": {"start_index": int(first), "count": int(count)},
                "arrangement": {
                    "key": str(key),
                    "number_key": str(number_key),
                    "item": str(item),
                    "window": int(window),
                },
                **more,
            }
        } if key in TASKS:
            task, arrangement, span = task_named(key), Arrangement(key, number_key, item, window), Span(first, count)
        case _:
            raise BadInput([Problem(FOREIGN, str(path))])
    foreign = layout if layout in TASKS[key].foreign else ""
    form = LIST if foreign else next((form for form in FORMATS if form.name == layout), None)
    if form is None:
        raise BadInput([Problem(f"its info names a format that this version does not know: {layout}", str(path))])
    shard, whole = None, None
    match more.get("shard"):
        case None:
            pass
        case {"number": int(number), "of": int(of), "start_index": int(first), "count": int(count)}:
            shard, whole = Shard(number, of), Span(first, count)
        case _:
            raise BadInput([Problem(FOREIGN, str(path))])
    return ShardFile(path, record_file, form, info, sums, task, arrangement, span, shard, whole, foreign)


def find_records_in(folder: Path) -> Path | None:
    """Return the file in an output's folder that holds the records; None if there is none."""
    return next((found for key in TASKS if (found := find_record_file(folder, key))), None)
