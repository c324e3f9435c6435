"""Power of a planned study: how often, in simulated repetitions, its intervals tell systems from the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from vqagen import __version__
from vqagen.errors import counted
from vqagen.human.answers import AnswerRow
from vqagen.human.scores.clusters import Estimate, difference, two_way_interval
from vqagen.human.scores.humanr import humanr_failures
from vqagen.human.scores.samples import Pairing, grouped, pairing_names, pairing_of, rivals, sample_of
from vqagen.human.simulation.raters import Raters, RaterSettings
from vqagen.human.simulation.through_data import assigned_work, simulated_rows
from vqagen.human.study.item import REAL
from vqagen.human.study.study import Study
from vqagen.rng import stream
from vqagen.score.report.table import COUNT, DECIMAL, SHARE, TEXT, Report, Table, columns, nonempty

REPLICATIONS = 100


class Power(NamedTuple):
    """Findings of simulated repetitions of a study about one system, or about the difference of two."""

    dimension: str
    name: str
    true: float
    """The score, or the difference, that the raters were given."""
    answers: float
    """Mean number of answers that are scored."""
    mean: float
    """Mean score found."""
    half: float | None
    """Mean half of the interval; None where there is none."""
    found: float
    """Share of repetitions whose interval does not hold 0: the power, or for a true 0 the false alarms."""


@dataclass(frozen=True)
class PowerStudy:
    """The power of a study for a number of raters."""

    study: str
    raters: int
    working: int
    """Raters who got work."""
    slots: int
    taken: int
    trials: int
    replications: int
    settings: RaterSettings
    systems: tuple[Power, ...]
    differences: tuple[Power, ...]


def study_power(
    study: Study,
    raters: int,
    settings: RaterSettings,
    replications: int = REPLICATIONS,
    on_done: Callable[[int], None] = lambda _: None,
) -> PowerStudy:
    """Simulate a study several times, and return what it finds. `on_done` is called with 1 for each repetition."""
    Raters(settings).raise_unknown(study.items.values())
    work = assigned_work(study, raters)
    systems: dict[Pairing, list[Estimate]] = {}
    pairs: dict[tuple[Pairing, Pairing], list[Estimate]] = {}
    for number in range(replications):
        seed = stream(0, "human/repetition", number).getrandbits(62)
        rows = list(simulated_rows(work, Raters(settings, seed)))
        _add_findings(rows, systems, pairs)
        on_done(1)
    names, effects = pairing_names(systems), settings.effects
    return PowerStudy(
        study=study.folder.name,
        raters=raters,
        working=len({each.assignment.rater for each in work}),
        slots=study.slots * len(study.tasks),
        taken=len(work),
        trials=sum(len(each.trials) for each in work),
        replications=replications,
        settings=settings,
        systems=tuple(
            _power(pairing.dimension, names[pairing], true_score(pairing, effects), systems[pairing])
            for pairing in names
        ),
        differences=tuple(
            _power(
                *(one.dimension, f"{names[one]} - {names[other]}"),
                *(true_score(one, effects) - true_score(other, effects), found),
            )
            for (one, other), found in pairs.items()
        ),
    )


def _add_findings(
    rows: Sequence[AnswerRow],
    systems: dict[Pairing, list[Estimate]],
    pairs: dict[tuple[Pairing, Pairing], list[Estimate]],
) -> None:
    """Add the intervals of one repetition, without assignments whose checks failed."""
    failed = humanr_failures(rows)
    kept = [row for row in rows if row.use == REAL and row.assignment not in failed]
    pairings = grouped(kept, pairing_of)
    samples = {pairing: sample_of(pairings[pairing]) for pairing in pairing_names(pairings)}
    for pairing, sample in samples.items():
        systems.setdefault(pairing, []).append(two_way_interval(sample))
    for one, other in rivals(samples):
        pairs.setdefault((one, other), []).append(difference(samples[one], samples[other]))


def true_score(pairing: Pairing, effects: Mapping[str, float]) -> float:
    """Return the score that raters were given for a pairing; references have 0."""
    if pairing.is_baseline:
        return 0.0
    if not pairing.second:
        return effects.get(pairing.first, 0.0)
    return effects.get(pairing.second, 0.0) - (0.0 if pairing.is_against_reference else effects.get(pairing.first, 0.0))


def _power(dimension: str, name: str, true: float, found: Sequence[Estimate]) -> Power:
    halves = [(each.high - each.low) / 2 for each in found if each.high is not None and each.low is not None]
    apart = sum(each.low is not None and each.high is not None and not each.low <= 0 <= each.high for each in found)
    return Power(
        *(dimension, name, true),
        *(sum(each.n for each in found) / len(found), sum(each.mean for each in found) / len(found)),
        *(sum(halves) / len(halves) if halves else None, apart / len(found)),
    )


def power_report(power: PowerStudy) -> Report:
    """Return the report of a study's power."""
    settings = power.settings
    head = [
        f"{power.study}: {counted(power.raters, 'rater')}, {counted(power.replications, 'simulated repetition')}",
        f"{power.taken:,} of {power.slots:,} slots are taken, {counted(power.trials, 'trial')} are answered",
        f"deviations: raters {settings.rater_sd:g}, images {settings.image_sd:g}, answers {settings.noise:g}",
        "power: share of repetitions whose 95 % interval does not hold 0; half: of the interval",
    ]
    if power.working < power.raters:
        head.append(f"{counted(power.raters - power.working, 'rater')} got no task: all slots were taken")
    names = columns(dimension=TEXT, comparison=TEXT, true=DECIMAL, answers=COUNT)
    shown = (*names, *columns(mean=DECIMAL, half=DECIMAL, power=SHARE))
    tables = nonempty(
        Table(key, title, shown, tuple(_cells(each) for each in found))
        for key, title, found in (
            ("systems", "Power to tell a score from 0", power.systems),
            ("differences", "Power to tell two systems apart", power.differences),
        )
    )
    info = {"version": __version__, "study": power.study, "settings": settings.to_record()}
    facts = {"info": info, **{name: getattr(power, name) for name in ("raters", "slots", "taken", "replications")}}
    return Report("Power of a study", tuple(head), tables, facts)


def _cells(each: Power) -> tuple[str | int | float | None, ...]:
    return (*each[:3], round(each.answers), *each[4:])
