"""Power of a planned study: how often, in simulated repetitions, its intervals tell systems from the reference."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vqagen import __version__
from vqagen.errors import UsageError, counted, unknown
from vqagen.human.answers import answer_rows
from vqagen.human.scores.clusters import Estimate, difference
from vqagen.human.scores.samples import Pairing, pairing_names, rivals
from vqagen.human.scores.settings import ScoreSettings
from vqagen.human.scores.study_scores import score_rows
from vqagen.human.simulation.raters import Raters, simulated_facts
from vqagen.human.simulation.settings import RaterSettings
from vqagen.human.store.roster import Roster
from vqagen.human.study.item import SYSTEM
from vqagen.human.study.study import load_study
from vqagen.rng import stream
from vqagen.score.report.table import COUNT, DECIMAL, SHARE, TEXT, Report, Table, columns, nonempty

REPLICATIONS = 100
_COLUMNS = {"true": DECIMAL, "answers": COUNT, "mean": DECIMAL, "half": DECIMAL, "power": SHARE}


def simulate_study(
    folder: str | Path,
    raters: int,
    settings: RaterSettings | None = None,
    *,
    replications: int = REPLICATIONS,
    on_done: Callable[[int], None] = lambda _: None,
) -> Report:
    """Return the power of a planned study for a number of raters, by simulated repetitions.

    `on_done` is called with 1 for each repetition.
    """
    study, settings = load_study(Path(folder)), settings or RaterSettings()
    effects = settings.effects
    systems = sorted({each.source for item in study.items.values() for each in item.candidates if each.role == SYSTEM})
    if faults := [f"--effect: {unknown('system', name, systems)}" for name in effects if name not in systems]:
        raise UsageError("\n".join(faults))
    found: dict[tuple[Pairing, ...], list[Estimate]] = {}
    roster = Roster()
    for number in range(replications):
        seed = stream(0, "human/repetition", number).getrandbits(62)
        roster = Roster(enumerate(simulated_facts(study, Raters(settings, seed), raters)))
        scores = score_rows(list(answer_rows(study, roster)), ScoreSettings())
        for pairing, estimate in scores.estimates.items():
            found.setdefault((pairing,), []).append(estimate)
        for one, other in rivals(scores.samples):
            found.setdefault((one, other), []).append(difference(scores.samples[one], scores.samples[other]))
        on_done(1)
    names = pairing_names(pairing for pairings in found for pairing in pairings)
    rows = {
        pairings: (
            pairings[0].dimension,
            " - ".join(names[each] for each in pairings),
            true_score(pairings[0], effects) - sum(true_score(each, effects) for each in pairings[1:]),
            *_findings(estimates),
        )
        for pairings, estimates in found.items()
    }
    given, slots = roster.assignments.values(), study.slots * len(study.tasks)
    working, trials = len({each.rater for each in given}), sum(len(each.answers) for each in given)
    head = [
        f"{study.folder.name}: {counted(raters, 'rater')}, {counted(replications, 'simulated repetition')}",
        f"{len(given):,} of {slots:,} slots are taken, {counted(trials, 'trial')} are answered",
        f"deviations: raters {settings.rater_sd:g}, images {settings.image_sd:g}, answers {settings.noise:g}",
        "power: share of repetitions whose 95 % interval does not hold 0; half: of the interval",
    ]
    if working < raters:
        head.append(f"{counted(raters - working, 'rater')} got no task: all slots were taken")
    shown = columns(dimension=TEXT, comparison=TEXT, **_COLUMNS)
    tables = nonempty(
        Table(key, title, shown, tuple(rows[pairings] for pairings in rows if len(pairings) == size))
        for key, title, size in (
            ("systems", "Power to tell a score from 0", 1),
            ("differences", "Power to tell two systems apart", 2),
        )
    )
    info = {"version": __version__, "study": study.folder.name, "settings": settings.to_record()}
    facts = {"info": info, "raters": raters, "slots": slots, "taken": len(given)}
    return Report("Power of a study", tuple(head), tables, {**facts, "replications": replications})


def true_score(pairing: Pairing, effects: Mapping[str, float]) -> float:
    """Return the score that raters were given for a pairing; references have 0."""
    sides = (pairing.first, pairing.first_role), (pairing.second, pairing.second_role)
    first, second = (effects.get(source, 0.0) if role == SYSTEM else 0.0 for source, role in sides)
    return second - first if pairing.second else first


def _findings(found: Sequence[Estimate]) -> tuple[int, float, float | None, float]:
    """Return the mean number of answers, the mean, the mean half of the interval, and how often it does not hold 0."""
    bounds = [(each.low, each.high) for each in found if each.low is not None and each.high is not None]
    halves = [(high - low) / 2 for low, high in bounds]
    return (
        *(round(sum(each.n for each in found) / len(found)), sum(each.mean for each in found) / len(found)),
        *(
            sum(halves) / len(halves) if halves else None,
            sum(not low <= 0 <= high for low, high in bounds) / len(found),
        ),
    )
