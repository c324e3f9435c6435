"""The report of the statistics of trials."""

from __future__ import annotations

from collections.abc import Iterator

from vqagen.errors import counted
from vqagen.score.director.policies import GUESSES, POLICIES
from vqagen.score.director.rules import TYPES
from vqagen.score.director.statistics import TrialStatistics
from vqagen.score.gold.census import Spread
from vqagen.score.report.table import COUNT, SHARE, Cell, Column, Report, Table


def trial_report(statistics: TrialStatistics) -> Report:
    """Return the report."""
    return Report(
        f"Statistics of {statistics.name}",
        (*_overview(statistics), *(f"note: {note}" for note in statistics.notes)),
        (_design(statistics), _policies(statistics)),
        statistics.to_record(),
    )


def _overview(statistics: TrialStatistics) -> Iterator[str]:
    grids = ", ".join(f"{width} x {height}" for width, height in sorted(statistics.grids))
    pairs = f" in {counted(len(statistics.pairs), 'pair')}" if statistics.pairs else ""
    yield f"{counted(statistics.trials, 'trial')}{pairs}, grids of {grids}"
    texts = len(statistics.texts)
    descriptions = counted(len(statistics.phrases), "description")
    yield f"  distinct instructions  {texts:,} ({texts / statistics.trials:.1%}) of {descriptions}"
    yield f"  words                  {Spread.of(statistics.words)}"
    yield f"  nouns                  {len(statistics.nouns)}, templates {len(statistics.templates)}"


def _design(statistics: TrialStatistics) -> Table:
    """Return the trials of each class of rules and frame, by type and physics."""
    names = sorted({(rule_class, frame or "") for _, rule_class, frame, _ in statistics.cells})
    groups = [(type_, is_physics) for type_ in TYPES for is_physics in (False, True)]
    heads = (Column(f"{type_}, {'physics' if is_physics else 'other'}", COUNT) for type_, is_physics in groups)
    rows: list[tuple[Cell, ...]] = []
    for rule_class, frame in names:
        counts = (statistics.cells[type_, rule_class, frame or None, is_physics] for type_, is_physics in groups)
        rows.append((f"{rule_class}, {frame}'s words" if frame else rule_class, *counts))
    return Table("trials", "Trials", (Column("rules"), *heads), tuple(rows))


def _policies(statistics: TrialStatistics) -> Table:
    heads = (Column("policy"), *(Column(group, SHARE) for group in statistics.groups), Column("meaning"))
    meanings = {name: policy.meaning for name, policy in POLICIES.items()}
    meanings |= {name: guess.meaning for name, guess in GUESSES.items()}
    rows: list[tuple[Cell, ...]] = [
        (name, *accuracy.values(), meanings[name]) for name, accuracy in statistics.accuracies().items()
    ]
    return Table("expected_accuracy", "Expected accuracy", heads, tuple(rows))
