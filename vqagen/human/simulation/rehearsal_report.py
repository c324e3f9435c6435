"""The report of a rehearsal: what raters did, how fast the server was, and the scores beside the planted ones."""

from __future__ import annotations

from collections.abc import Sequence

from vqagen import __version__
from vqagen.errors import counted
from vqagen.human.answers import AnswerRow
from vqagen.human.scores.clusters import two_way_interval
from vqagen.human.scores.humanr import humanr_failures
from vqagen.human.scores.samples import Sampler, by_pairing, pairing_names
from vqagen.human.simulation.power import true_score
from vqagen.human.simulation.raters import RaterSettings
from vqagen.human.simulation.rehearsal import Rehearsal
from vqagen.human.simulation.visit import OUTCOMES
from vqagen.human.study.item import REAL
from vqagen.human.study.study import Study
from vqagen.judge.report.table import COUNT, DECIMAL, TEXT, Cell, Gate, Report, Table, columns, nonempty

_SHOWN = 20
"""Faults that are shown."""


def rehearsal_report(study: Study, rehearsal: Rehearsal, settings: RaterSettings, via: str, raters: int) -> Report:
    """Return the report of a rehearsal. Its gate is missed where the server did something wrong."""
    answers = sum(len(visit.answers) for visit in rehearsal.visits)
    outcomes = rehearsal.outcomes
    shown = ", ".join(f"{outcomes[each]:,} {each}" for each in OUTCOMES if outcomes[each])
    seconds = sorted(each for visit in rehearsal.visits for each in visit.seconds)
    visits = counted(len(rehearsal.visits), "visit")
    head = [
        f"{study.folder.name}: {counted(raters, 'rater')} via {via}, {visits}: {shown}",
        f"{counted(answers, 'answer')} acknowledged in {rehearsal.seconds:.1f} s"
        + (f", 95 % of them within {_percentile(seconds, 0.95) * 1000:.0f} ms" if seconds else ""),
        "errors: how many standard errors the mean lies from the true score; 95 % lie within 2",
    ]
    failed = humanr_failures(rehearsal.rows)
    if failed:
        head.append(f"left out of the scores: {counted(len(failed), 'assignment')} that failed attention checks")
    shown_columns = columns(
        dimension=TEXT, comparison=TEXT, true=DECIMAL, answers=COUNT, mean=DECIMAL, low=DECIMAL, high=DECIMAL
    ) + columns(errors=DECIMAL)
    table = Table("systems", "Scores beside the true ones", shown_columns, tuple(_cells(rehearsal.rows, settings)))
    info = {"version": __version__, "study": study.folder.name, "settings": settings.to_record(), "via": via}
    facts = {
        "info": info,
        "raters": raters,
        "visits": dict(sorted(outcomes.items())),
        "acknowledged": answers,
        "stored": len(rehearsal.rows),
        "seconds": round(rehearsal.seconds, 2),
        "faults": list(rehearsal.faults),
    }
    return Report("Rehearsal", tuple(head), nonempty([table]), facts, tuple(_gates(rehearsal.faults)))


def _cells(rows: Sequence[AnswerRow], settings: RaterSettings) -> list[tuple[Cell, ...]]:
    """Return the lines of the scores, without assignments whose checks failed."""
    failed = humanr_failures(rows)
    kept = [row for row in rows if row.use == REAL and row.assignment not in failed]
    sampler, pairings, effects = Sampler(kept), by_pairing(kept), settings.effects
    found: list[tuple[Cell, ...]] = []
    for pairing, name in pairing_names(pairings).items():
        estimate, true = two_way_interval(sampler.sample(pairings[pairing])), true_score(pairing, effects)
        errors = (estimate.mean - true) / estimate.error if estimate.error else None
        found.append((pairing.dimension, name, true, estimate.n, estimate.mean, estimate.low, estimate.high, errors))
    return found


def _gates(faults: Sequence[str]) -> list[Gate]:
    more = [f"and {len(faults) - _SHOWN:,} further faults"] if len(faults) > _SHOWN else []
    return [Gate("server", problem) for problem in (*faults[:_SHOWN], *more)]


def _percentile(values: Sequence[float], share: float) -> float:
    return values[min(len(values) - 1, int(len(values) * share))]
