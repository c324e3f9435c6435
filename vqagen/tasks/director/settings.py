"""The settings of the director task."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from math import isfinite
from typing import Any

from vqagen.pictures.canvas import DIRECTOR, PARTICIPANT
from vqagen.tasks.settings import RunSettings, setting

SUPERLATIVE, RELATIONAL = QUESTIONS = "superlative", "relational"
DIRECTIONAL, ALWAYS, NEVER = SUFFIXES = "directional", "always", "never"
STRICT, REFERENCE = COMPATS = "strict", "reference"
FILE_ENDINGS = {"png": ".png", "svg": ".svg", "md": ".md", "ascii": ".txt", "json": ".json"}
"""Form that grids are rendered in -> the ending of its files."""
RENDERS = (*FILE_ENDINGS, "none")
BOTH = "both"
VIEWS = PARTICIPANT, DIRECTOR, BOTH
LEAST_SIDE, LARGEST_SIDE = 2, 8


def share(default: float, help: str, group: str) -> Any:
    """A setting that is a share, from 0 to 1."""
    return setting(default, help, types=(float, int), metavar="SHARE", group=group)


@dataclass(frozen=True)
class DirectorSettings(RunSettings):
    """All that decides which trials are made. A count must be given: there is no last trial."""

    start_index: int = setting(0, "Number of the first trial.", least=0, group="choice")
    count: int = setting(0, "How many trials.", least=1, group="choice")
    width: int = setting(4, "Columns of the grid, 2 to 8.", least=LEAST_SIDE, group="grid")
    height: int = setting(4, "Rows of the grid, 2 to 8.", least=LEAST_SIDE, group="grid")
    fill: float = share(0.65, "Share of cells that hold an item.", "grid")
    blocked: float = share(0.4, "Share of cells that the director cannot see into.", "grid")
    related: float = share(0.3, "Share of the other items that fit too, about.", "grid")
    related_blocked: float = share(0.5, "Share of those in blocked cells, about.", "grid")
    test_share: float = share(
        0.5,
        "Share of tests, in which the director's blocked view matters, in trials with a rule; three times as likely "
        "as a control without one.",
        "balance",
    )
    size_share: float = share(0.25, "Share of trials about the smallest or largest.", "balance")
    vertical_share: float = share(0.25, "Share of trials about the topmost or bottommost.", "balance")
    horizontal_share: float = share(
        0.25, "Share of trials about the leftmost or rightmost; the rest has no rule.", "balance"
    )
    physics_share: float = share(
        0.3, "Share of trials about what is hot, cold, sharp or stackable, at most.", "balance"
    )
    questions: str = setting(
        SUPERLATIVE,
        "superlative: one item of a kind; relational: the item next to another; such trials fail an audit.",
        choices=QUESTIONS,
        group="choice",
    )
    suffix: str = setting(
        DIRECTIONAL,
        "Which instructions say whose point of view is taken: those with left or right.",
        choices=SUFFIXES,
        group="choice",
    )
    compat: str = setting(
        STRICT,
        "reference: the looser rules of the first director task, with ties and idle words.",
        choices=COMPATS,
        group="compatibility",
    )
    paired: bool = setting(
        False, "Make trials in pairs: other cells are blocked, and the answer changes.", group="choice"
    )
    render: tuple[str, ...] = setting(
        (),
        "Pictures or texts of the grid: png, svg, md, ascii, json, none; may be given several times. [default: png]",
        group="output",
    )
    view: str = setting(PARTICIPANT, "Whose view is drawn.", choices=VIEWS, group="output")
    no_figure: bool = setting(False, "Do not draw the director behind the shelf.", group="output")

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for name in ("width", "height"):
            if getattr(self, name) > LARGEST_SIDE:
                yield f"--{name} must be at most {LARGEST_SIDE}, found {getattr(self, name)}"
        for described in fields(self):
            value = getattr(self, described.name)
            if isinstance(described.default, float) and not (isfinite(value) and 0 <= value <= 1):
                yield f"--{described.name.replace('_', '-')} must be a share from 0 to 1, found {value}"
        rules = self.size_share + self.vertical_share + self.horizontal_share
        if rules > 1 + 1e-9:
            yield f"--size-share, --vertical-share and --horizontal-share make {rules:g}; together at most 1"
        if self.compat == REFERENCE and (self.paired or self.questions == RELATIONAL):
            yield "--compat reference has neither pairs nor relational questions"
        strange = [form for form in self.render if form not in RENDERS]
        yield from (f"--render must be one of {', '.join(RENDERS)}, found {form!r}" for form in strange)

    @property
    def renders(self) -> tuple[str, ...]:
        """The forms to render in, without `none`."""
        given = tuple(dict.fromkeys(self.render)) or RENDERS[:1]
        return tuple(form for form in given if form != "none")
