"""Outputs that a merge reads: their records, the run that made them, and the items of the run that they hold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqagen.errors import BadInput, Problem, counted, describe
from vqagen.files.formats import FORMATS, Arrangement, Checksum, Entry, Format, Shape, info_beside
from vqagen.files.info import CHECKSUM, FOREIGN, Sums, describe_output
from vqagen.files.locations import Location
from vqagen.files.parquet import checksums, row_groups
from vqagen.files.records import Members, RecordKind, open_records
from vqagen.run.output.staging import find_record_file
from vqagen.run.shards import Shard
from vqagen.run.windows import Span
from vqagen.tasks import TASKS, task_named
from vqagen.tasks.contract import Task

_SPAN = {"start_index": int, "count": int}
_SHARD = {"number": int, "of": int, **_SPAN}
_ARRANGEMENT = {"key": str, "number_key": str, "item": str, "window": int}
CHANGED = "the file was changed or cut after it was made"
NO_CHECKSUM = "its records have no checksum: the file was written anew by another program, or by an earlier vqagen"
"""Libraries for Parquet keep the info, and drop the checksum."""
EARLIER = "made by an earlier vqagen, which did not say all that merging needs: make it again"


@dataclass(frozen=True)
class ShardFile:
    """One output of a run of any task."""

    path: Location
    """The file, or the folder that holds it."""
    record_file: Location
    layout: str
    info: Mapping[str, Any]
    sums: Sums
    """The sums of its records, if an info beside it gives them."""

    @property
    def form(self) -> Format:
        """The format that it has."""
        return next(each for each in _formats_of(self.info) if each.name == self.layout)

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
    def settings(self) -> Mapping[str, Any]:
        """Those of the run that made it."""
        settings: Mapping[str, Any] = self.info["generator"]["settings"]
        return settings

    @property
    def arrangement(self) -> Arrangement:
        """How its records stand in it."""
        written = self.info["generator"]["arrangement"]
        return Arrangement(*(written[key] for key in Arrangement._fields))

    @property
    def span(self) -> Span:
        """Its items; a length of 0 means all that follow."""
        return Span(self.settings["start_index"], self.settings["count"])

    @property
    def end(self) -> int | None:
        """One behind its last item; None if it holds all items to the end of the input."""
        return self.span.first + self.span.length if self.span.length else None

    @property
    def shard(self) -> Shard | None:
        """Which shard it is of a run made with `--shard`."""
        key = self.info["generator"].get("shard")
        return Shard(key["number"], key["of"]) if key else None

    @property
    def whole_run(self) -> Span | None:
        """The items of that run."""
        key = self.info["generator"].get("shard")
        return Span(key["start_index"], key["count"]) if key else None

    def records(self, task: type[Task]) -> Iterator[dict[str, Any]]:
        """Yield the records as JSON holds them, read as they are asked for.

        Raises BadInput for what is no record, for a record that says another number than its place in the file, and
        at the end for records that were changed.
        """
        behind = Members()
        return self._checked(self._read(task, behind), self.arrangement.number_key, behind)

    def entries(self, shape: Shape) -> Iterator[Entry]:
        """Yield the entries of a file with this shape; see `records`."""
        return self._checked(shape.read(self.record_file), shape.number_key, Members())

    def _checked(
        self, read: Iterable[tuple[dict[str, Any], bytes]], number_key: str, behind: Members
    ) -> Iterator[dict[str, Any]]:
        found = Checksum()
        for place, (record, text) in enumerate(read):
            if number_key and record.get(number_key) != place:
                is_wrong = f"{number_key} is {describe(record.get(number_key))}, not {place}: {CHANGED}"
                raise BadInput([Problem(is_wrong, str(self.path), f"{self.arrangement.key}[{place}]")])
            found = found.add(text + b"\n", 1)
            yield record
        self._check_sums(behind, found)

    def _read(self, task: type[Task], behind: Members) -> Iterator[tuple[dict[str, Any], bytes]]:
        """Yield each record and its text; `behind` gets the members of a document behind its records."""
        if self.layout == "parquet":
            columns = task.columns(self.info)
            assert columns is not None, f"{self.arrangement.key} have no columns"
            for table in self.tables():
                yield from ((record, b"") for record in columns.to_records(table))
            return
        source = open_records(self.record_file, RecordKind(self.arrangement.key))
        for index, value, place, text in source.read(behind=behind):
            yield source.object_of(value, index, place), text

    def tables(self) -> Iterator[Any]:
        """Yield the row groups of a Parquet file, the empty ones too. BadInput before the first if it was changed."""
        given, found = checksums(self.record_file)
        if given is None:
            raise BadInput([Problem(NO_CHECKSUM, str(self.path))])
        self._check_checksum(given, found)
        yield from row_groups(self.record_file)

    def _check_sums(self, behind: Members, found: Checksum) -> None:
        """Raise BadInput if the file, or the info beside it, says another number or checksum of its records."""
        if self.layout == "parquet":
            return
        given, checksum = self.sums
        if given not in (None, found.lines):
            message = f"{counted(found.lines, self.arrangement.noun)}, not {given:,}: {CHANGED}"
            raise BadInput([Problem(message, str(self.path))])
        self._check_checksum(behind.get(CHECKSUM, checksum), str(found))

    def _check_checksum(self, given: object, found: str) -> None:
        if given not in (None, found):
            message = f"the records have the checksum {found}, not {given}: {CHANGED}"
            raise BadInput([Problem(message, str(self.path))])


def open_shard(path: Location) -> ShardFile:
    """Open an output that is there. BadInput if it has no info, or one that no run of vqagen writes."""
    record_file = path
    if isinstance(path, Path) and path.is_dir():
        record_file = find_records_in(path) or path
    layout, info, sums = describe_output(record_file)
    if not _says_its_run(info):
        raise BadInput([Problem(EARLIER if _is_of_earlier(info) else FOREIGN, str(path))])
    if layout not in [form.name for form in _formats_of(info)]:
        raise BadInput([Problem(f"its info names a format that this version does not know: {layout}", str(path))])
    return ShardFile(path, record_file, layout, info, sums)


def _formats_of(info: Mapping[str, Any]) -> tuple[Format, ...]:
    """Return the formats that an output with this info may have."""
    key = info["generator"]["arrangement"]["key"]
    return (*FORMATS, *(task_named(key).formats if key in TASKS else ()))


def find_records_in(folder: Path) -> Path | None:
    """Return the file in an output's folder that holds the records; None if there is none."""
    return next((found for key in TASKS if (found := find_record_file(folder, key))), None)


def _is_of_earlier(info: object) -> bool:
    match info:
        case {"generator": {"name": "vqagen", "version": str(), "settings": dict(), **rest}}:
            return "arrangement" not in rest
    return False


def _says_its_run(info: object) -> bool:
    match info:
        case {"generator": {"name": "vqagen", "settings": settings, "arrangement": arrangement, **rest}}:
            return (
                _has(settings, _SPAN)
                and _has(arrangement, _ARRANGEMENT)
                and ("shard" not in rest or _has(rest["shard"], _SHARD))
            )
    return False


def _has(record: object, kinds: Mapping[str, type]) -> bool:
    return isinstance(record, dict) and all(type(record.get(key)) is kind for key, kind in kinds.items())
