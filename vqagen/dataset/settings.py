"""The settings of a dataset, and of answer options. Light to import: the help of the command needs them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.errors import UsageError
from vqagen.tasks.rendering.settings import KINDS, RENDERED, RenderingSettings
from vqagen.tasks.settings import REASONINGS, CheckedSettings, setting

FAMILY, LENGTH, VALUE_PAIR, CONDITION = "family", "length", "value-pair", "condition"
TRAIN_CONDITION, TEST_CONDITION = "A", "B"
"""The conditions that scenes are sampled by with `--hold-out condition`, as in CLEVR-CoGenT."""
OF_DOMAIN = -1
"""The setting `min_visible` that stands for the domain's own limit."""
MOST_OPTIONS = 4
PICTURES = 100
"""Pictures of a dataset whose settings do not say how many, if its scenes are sampled."""


@dataclass(frozen=True)
class DatasetSettings(RenderingSettings):
    """All that decides what is in a dataset."""

    start_index: int = setting(0, "Index of the first scene.", least=0, group="choice")
    count: int = setting(
        0, f"How many pictures; 0 for {PICTURES} or, with --scenes, one of each scene.", least=0, group="choice"
    )
    pictures: str = setting(
        RENDERED,
        "rendered: path-traced, 2 seconds each; drawn: quick sketches.",
        choices=KINDS,
        group="choice",
    )
    questions: int = setting(15, "Questions about each picture, before any is left out.", least=1, group="choice")
    dialogs: int = setting(0, "Dialogs about each picture.", least=0, bare="5", metavar="[N]", group="choice")
    choices: str = setting(
        "scene",
        "Options of each question. scene: values of the scene first; hard: from mistakes in the program; none.",
        choices=("scene", "hard", "none"),
        group="choice",
    )
    rotations: bool = setting(False, "Ask each question once with each order of its options.", group="choice")
    reasoning: str = setting(
        "none",
        "Give each question its steps as sentences, with points, with boxes, or with neither (text).",
        choices=REASONINGS,
        group="choice",
    )
    min_visible: int = setting(
        None,
        "Leave out questions about an object of which fewer pixels can be seen. [default: the domain's limit for"
        " sampled scenes; clevr: 200]",
        types=(int,),
        metavar="PIXELS",
        group="choice",
    )
    shares: str = setting(
        "80/10/10", "Shares of the pictures in train, validation and test.", metavar="T/V/T", group="splits"
    )
    hold_out: str = setting(
        "none",
        "What only the test split has: question families; programs longer than all others; pairs of values; pairs of"
        " values in the pictures (the metadata's condition B, where the others have A).",
        choices=("none", FAMILY, LENGTH, VALUE_PAIR, CONDITION),
        group="splits",
    )
    held: tuple[str, ...] = setting(
        (),
        "What to hold out, in place of a choice by the seed: a family such as count, or a pair such as red+cube; may be"
        " given several times.",
        metavar="FAMILY|PAIR",
        group="splits",
    )

    def __post_init__(self) -> None:
        if self.min_visible is None:
            object.__setattr__(self, "min_visible", OF_DOMAIN)
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if not re.fullmatch(r"\d{1,3}/\d{1,3}/\d{1,3}", self.shares) or sum(self.parts) != 100:
            yield f"--shares must be three whole numbers with the sum 100, such as 80/10/10; found {self.shares!r}"
        elif self.hold_out != "none" and not (self.parts[0] and self.parts[2]):
            yield f"--shares {self.shares} leaves no train or no test split; --hold-out {self.hold_out} needs both"
        if self.held and self.hold_out not in (FAMILY, VALUE_PAIR):
            yield f"--held goes with --hold-out {FAMILY} or {VALUE_PAIR}; found --hold-out {self.hold_out}"
        if self.rotations and self.choices == "none":
            yield "--rotations are orders of options, and --choices none leaves them out; choose one"
        if self.min_visible < OF_DOMAIN:
            yield f"--min-visible must be a number of pixels from 0 on, found {self.min_visible}"

    @property
    def parts(self) -> tuple[int, ...]:
        """The shares of train, validation and test in percent."""
        return tuple(map(int, self.shares.split("/")))


@dataclass(frozen=True)
class ChoiceSettings(CheckedSettings):
    """All that decides which options questions get."""

    seed: int = setting(0, "Random seed: the same seed gives the same options.", group="choice")
    options: int = setting(
        MOST_OPTIONS, "Most options of a question, the right one included: 2 to 4.", least=2, group="choice"
    )
    hard: bool = setting(
        False,
        "Wrong options are answers that follow from a mistake, such as ignoring the size, which `mistakes` names.",
        group="choice",
    )
    rotations: bool = setting(
        False, "Ask each question once for every rotation of its options; renumbers the questions.", group="choice"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.options > MOST_OPTIONS:
            raise UsageError(f"--options must be at most {MOST_OPTIONS}, found {self.options}")
