"""Kinds of records, such as scenes and questions: all that a reader of record files knows about them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class RecordKind:
    """A kind of records: what files and messages call them.

    `RecordKind("scenes", ("objects",))` is found in `{"scenes": [{"objects": …}, …]}`, in a list of such objects, in
    lines of them, and so on; see `records.source`.
    """

    key: str
    """The key of a document under which the records stand: the plural of `noun`."""
    own_keys: tuple[str, ...] = ()
    """A record has at least one of these keys. Without own keys, a document must begin with its `info`."""
    may_be_empty: bool = True
    """True if a file without any record is accepted."""
    json_columns: tuple[str, ...] = ()
    """Columns of Parquet whose texts are JSON."""
    restored: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    """Returns the record that a row of Parquet, read with these columns, was made of; None if the row is the record."""

    @property
    def noun(self) -> str:
        """One record, in messages: `scene`."""
        return self.key.removesuffix("s")

    def path(self, index: int) -> str:
        """The JSON path of a record in messages, whatever the layout: `scenes[3]`."""
        return f"{self.key}[{index}]"
