"""Outputs that a merge reads: their records, the run that made them, and the items of the run that they hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vqagen.errors import BadInput, Problem, counted, describe
from vqagen.files.locations import Location
from vqagen.records.discovery import find_records
from vqagen.records.info import FOREIGN, count_in_info, layout_in, read_info
from vqagen.records.kind import RecordKind
from vqagen.run.provenance import Arrangement
from vqagen.run.shards import Shard
from vqagen.run.windows import Span

Record = dict[str, Any]
_SPAN = {"start_index": int, "count": int}
_SHARD = {"number": int, "of": int, **_SPAN}
_ARRANGEMENT = {"key": str, "number_key": str, "window": int}
EARLIER = "made by an earlier vqagen, which did not say all that merging needs: make it again"


@dataclass(frozen=True)
class ShardFile:
    """One output of a run of any task."""

    path: Location
    layout: str
    info: Mapping[str, Any]

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
    def noun(self) -> str:
        """What one of its records is called, such as `question`."""
        return self.arrangement.key.removesuffix("s")

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

    def records(self) -> Iterator[Record]:
        """What a document or JSON Lines hold, read as it is asked for.

        BadInput where a record is none, or says another number than its place in the file.
        """
        number_key = self.arrangement.number_key
        there = 0
        for record in find_records(self.path, RecordKind(self.arrangement.key)).records():
            if number_key and record.get(number_key) != there:
                raise self.misnumbered(record.get(number_key), there)
            yield record
            there += 1
        expected = count_in_info(self.path) if self.layout == "jsonl" else None
        if expected not in (None, there):
            message = f"{counted(there, self.noun)}, not {expected:,}: the file was changed or cut after it was made"
            raise BadInput([Problem(message, str(self.path))])

    def misnumbered(self, number: object, place: int) -> BadInput:
        """The error for a record whose number is not its place in the file."""
        found = f"{self.arrangement.number_key} is {describe(number)}, not {place}"
        message = f"{found}: the file was changed or cut after it was made"
        return BadInput([Problem(message, str(self.path), f"{self.arrangement.key}[{place}]")])


def open_shard(path: Location) -> ShardFile:
    """A file that is there, with its info. BadInput if it has none, or one that no run of ours writes."""
    layout = layout_in(path)
    info = read_info(path, layout)
    if not _says_its_run(info):
        raise BadInput([Problem(EARLIER if _is_of_earlier(info) else FOREIGN, str(path))])
    return ShardFile(path, layout, info)


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
