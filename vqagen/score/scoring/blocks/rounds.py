"""The block on dialogs: whole dialogs that are right, and how errors propagate from round to round."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby, pairwise, takewhile
from typing import NamedTuple

from vqagen.score.report.table import COUNT, DECIMAL, SHARE, Table, columns
from vqagen.score.scoring.blocks.answer_counts import share

_COLUMNS = columns(
    dialogs=COUNT,
    all_right=SHARE,
    right_prefix=DECIMAL,
    after_right=SHARE,
    n_after_right=COUNT,
    after_wrong=SHARE,
    n_after_wrong=COUNT,
)


class Propagation(NamedTuple):
    """The figures of dialogs; None where there is nothing to divide by."""

    dialogs: int
    all_right: float | None
    """Share of dialogs whose rounds are all right."""
    right_prefix: float | None
    """Mean number of rounds before the first wrong one."""
    after_right: float | None
    """Accuracy of rounds whose previous round is right."""
    n_after_right: int
    after_wrong: float | None
    n_after_wrong: int


def propagation(dialogs: Iterable[list[bool]]) -> Propagation:
    """Return the figures of dialogs; each is whether its rounds are right, in order."""
    count = whole = prefix = 0
    after: dict[bool, list[int]] = {True: [0, 0], False: [0, 0]}
    for rounds in dialogs:
        count += 1
        whole += all(rounds)
        prefix += sum(1 for _ in takewhile(bool, rounds))
        for previous, this in pairwise(rounds):
            after[previous][0] += this
            after[previous][1] += 1
    return Propagation(
        count, share(whole, count), share(prefix, count), share(*after[True]), after[True][1],
        share(*after[False]), after[False][1],
    )  # fmt: skip


def dialogs_of(ids: Iterable[str], is_right: Iterable[bool]) -> list[list[bool]]:
    """Return the rounds of each dialog, by ids such as `3/5`: dialog 3, round 5. Rounds stand in their order."""
    numbered = ((id.rpartition("/")[0], right) for id, right in zip(ids, is_right, strict=True))
    return [[bool(right) for _, right in rounds] for _, rounds in groupby(numbered, key=lambda each: each[0])]


def rounds_table(dialogs: list[list[bool]]) -> Table | None:
    """Return the block; None if there are no dialogs."""
    if not dialogs:
        return None
    note = "right prefix: mean rounds before the first wrong one; after right/wrong: accuracy by the previous round"
    return Table("dialogs", "Dialogs", _COLUMNS, (tuple(propagation(dialogs)),), (note,))
