"""Visits of simulated raters to a server: who comes for which task, who leaves early, and what each visit leads to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vqagen.human.links.secret import Secret
from vqagen.human.simulation.raters import Raters
from vqagen.human.store.store import Answer
from vqagen.rng import below, stream
from vqagen.tasks.settings import CheckedSettings, setting

if TYPE_CHECKING:  # the settings are needed by the help of the command
    from vqagen.human.study.study import Study

COMPLETED, WITHDREW, LEFT, REFUSED = OUTCOMES = "complete", "withdrawn", "left", "refused"
"""All trials were answered; the rater withdrew; the rater closed the page; the server had no place."""


@dataclass(frozen=True)
class RehearsalSettings(CheckedSettings):
    """How simulated raters behave towards a server."""

    drop_out: float = setting(0.0, "Share of raters who leave early; half of them withdraw.", types=(float, int))
    at_once: int = setting(16, "Raters at once.", least=1)

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if not 0 <= self.drop_out <= 1:
            yield f"--drop-out must lie between 0 and 1, found {self.drop_out}"


@dataclass(frozen=True, slots=True)
class Leaving:
    """When a rater leaves early: after so many answers, and whether by withdrawing."""

    after: int
    withdraws: bool


@dataclass(frozen=True)
class Guests:
    """Simulated raters of one study, and all that they know of the server."""

    study: Study
    secret: Secret
    url: str
    """Address of the server."""
    raters: Raters
    settings: RehearsalSettings
    seed: int

    def leaving(self, rater: str, task: str) -> Leaving | None:
        """Return when a rater leaves a task early; None for one who stays."""
        rng = stream(self.seed, f"human/visits/{rater}/{task}")
        if rng.random() >= self.settings.drop_out:
            return None
        return Leaving(below(rng, len(self.study.tasks[task].trials)), rng.random() < 0.5)


@dataclass(frozen=True)
class Visit:
    """One rater's way through one task."""

    rater: str
    task: str
    outcome: str
    assignment: str = ""
    answers: tuple[Answer, ...] = ()
    """All that the server acknowledged."""
    seconds: tuple[float, ...] = ()
    """How long each answer took to be acknowledged."""
    faults: tuple[str, ...] = ()
    """Mistakes of the server."""


Drive = Callable[[Guests, str, Sequence[str]], Iterator[Visit]]
"""A way to let a rater do tasks one after the other."""
