"""Tables of items for tests, without a file."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from vqagen.items.table import NONE, Column, Gold, Items, Learning, Options


def table(
    answers: Sequence[str],
    *,
    images: Iterable[Any] | None = None,
    options: Iterable[Sequence[str] | None] = (),
    pairs: Iterable[Any] = (),
    blocks: Iterable[Any] = (),
    windows: Iterable[int] | None = None,
    texts: Iterable[str] = (),
    has_letters: bool = True,
    **fields: Iterable[Any],
) -> Items:
    """Return items with these answers, each about an image of its own unless others are given."""
    size = len(answers)
    nothing = Column(np.full(size, NONE, dtype=np.int32), ())

    def column(values: Iterable[Any]) -> Column:
        listed = list(values)
        return Column.of(listed) if listed else nothing

    offered = [
        each and Options(tuple(each), each.index(answer) if answer in each else None, has_letters)
        for each, answer in zip(options, answers, strict=False)
    ]
    return Items(
        "items",
        "vqagen",
        [str(number) for number in range(size)],
        column(range(size) if images is None else images),
        Column.of(Gold("text", (answer,)) for answer in answers),
        column(offered),
        column(pairs),
        column(blocks),
        {name: column(values) for name, values in fields.items()},
        np.arange(size, dtype=np.int32),
        learning=Learning(column(texts), nothing, nothing, nothing, nothing),
        windows=None if windows is None else column(windows),
    )
