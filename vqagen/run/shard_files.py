"""The outputs that a merge reads: what they hold, which run made them, and which of its scenes they are about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem, counted, describe
from vqagen.exchange.question_files import read_questions
from vqagen.json_stream import JsonFault, read_errors_told, reading_bytes, refusal
from vqagen.locations import Location
from vqagen.run.info import FOREIGN, layout_in, read_info, records_told
from vqagen.run.shards import Shard
from vqagen.run.windows import Span

Record = dict[str, Any]
_SPAN = ("start_index", "count")
_SETTINGS = (*_SPAN, "reset_counts_every")
_SHARD = ("number", "of", *_SPAN)


@dataclass(frozen=True)
class ShardFile:
    """One output of `vqagen generate`."""

    path: Location
    layout: str
    info: Mapping[str, Any]

    @property
    def settings(self) -> Mapping[str, Any]:
        """Those of the run that made it."""
        settings: Mapping[str, Any] = self.info["generator"]["settings"]
        return settings

    @property
    def span(self) -> Span:
        """Its scenes; a length of 0 means all that follow."""
        return Span(self.settings["start_index"], self.settings["count"])

    @property
    def end(self) -> int | None:
        """One behind its last scene; None where it goes on to the end of the input."""
        return self.span.first + self.span.length if self.span.length else None

    @property
    def shard(self) -> Shard | None:
        """Which shard it is of a run made with `--shard`."""
        key = self.info["generator"].get("shard")
        return Shard(key["number"], key["of"]) if key else None

    @property
    def whole_run(self) -> Span | None:
        """The scenes of that run."""
        key = self.info["generator"].get("shard")
        return Span(key["start_index"], key["count"]) if key else None

    def records(self) -> Iterator[Record]:
        """The questions, read as they are asked for. BadInput where one is not numbered by its place in the file."""
        entries = _lines(self.path) if self.layout == "jsonl" else read_questions(self.path)
        there = 0
        for place, record in enumerate(entries):
            number = record.get("question_index")
            if number != place:
                raise self.misnumbered(number, place)
            yield record
            there += 1
        told = records_told(self.path) if self.layout == "jsonl" else None
        if told not in (None, there):
            message = f"{counted(there, 'question')}, not {told:,}: the file was changed or cut after it was made"
            raise BadInput([Problem(message, str(self.path))])

    def misnumbered(self, number: object, place: int) -> BadInput:
        """The error for a question whose number is not its place in the file."""
        message = f"question_index is {describe(number)}, not {place}: the file was changed or cut after it was made"
        return BadInput([Problem(message, str(self.path), f"questions[{place}]")])


def open_shard(path: Location) -> ShardFile:
    """A file that is there, with its info. BadInput if it has none, or one that `vqagen generate` does not write."""
    layout = layout_in(path)
    info = read_info(path, layout)
    if not _says_its_run(info):
        raise BadInput([Problem(FOREIGN, str(path))])
    return ShardFile(path, layout, info)


def _says_its_run(info: object) -> bool:
    match info:
        case {"generator": {"name": "vqagen", "settings": settings, **rest}}:
            return _has_numbers(settings, _SETTINGS) and ("shard" not in rest or _has_numbers(rest["shard"], _SHARD))
    return False


def _has_numbers(record: object, keys: tuple[str, ...]) -> bool:
    return isinstance(record, dict) and all(type(record.get(key)) is int for key in keys)


def _lines(path: Location) -> Iterator[Record]:
    """Of JSON Lines, of which there may be none. Line by line they take half the time that `read_questions` does."""
    offset = 0
    with reading_bytes(path) as file, read_errors_told():
        for place, line in enumerate(file):
            where = f"questions[{place}]"
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                message, inside = refusal(line, error)
                raise JsonFault(message, where, offset + inside) from None
            if not isinstance(value, dict):
                raise BadInput([Problem(f"expected a question object, found {describe(value)}", str(path), where)])
            offset += len(line)
            yield value
