"""The statistics of trials as lines for people."""

from __future__ import annotations

from collections.abc import Iterator

from vqagen.errors import counted
from vqagen.judge.director.policies import POLICIES
from vqagen.judge.director.rules import TYPES
from vqagen.judge.director.statistics import GUESSES, TrialStatistics
from vqagen.judge.director.trial import label
from vqagen.judge.stats.census import Spread

MOST_COLUMNS = 12
"""Columns of a grid whose answers are shown; JSON has all."""


def trial_report_lines(statistics: TrialStatistics) -> Iterator[str]:
    """Yield the report."""
    yield from _overview(statistics)
    yield ""
    yield from _design(statistics)
    yield ""
    yield from _policies(statistics)
    yield ""
    yield from _answer_cells(statistics)
    yield from _features(statistics)
    if statistics.notes:
        yield ""
        yield from (f"note: {note}" for note in statistics.notes)


def _overview(statistics: TrialStatistics) -> Iterator[str]:
    grids = ", ".join(f"{width} x {height}" for width, height in sorted(statistics.grids))
    pairs = f" in {counted(len(statistics.pairs), 'pair')}" if statistics.pairs else ""
    yield f"{counted(statistics.trials, 'trial')}{pairs}, grids of {grids}"
    texts = len(statistics.texts)
    descriptions = counted(len(statistics.phrases), "description")
    yield f"  distinct instructions  {texts:,} ({texts / statistics.trials:.1%}) of {descriptions}"
    yield f"  words                  {Spread.of(statistics.words)}"
    yield f"  nouns                  {len(statistics.nouns)}, templates {len(statistics.templates)}"


def _design(statistics: TrialStatistics) -> Iterator[str]:
    """Yield the trials of each class of rules and frame, by type and physics."""
    rows = sorted({(rule_class, frame or "") for _, rule_class, frame, _ in statistics.cells})
    columns = [(type_, is_physics) for type_ in TYPES for is_physics in (False, True)]
    heads = [f"{type_}, {'physics' if is_physics else 'other'}" for type_, is_physics in columns]
    yield f"{'trials':24}" + "".join(f"  {head:>16}" for head in heads)
    for rule_class, frame in rows:
        numbers = [statistics.cells[type_, rule_class, frame or None, is_physics] for type_, is_physics in columns]
        name = f"{rule_class}, {frame}'s words" if frame else rule_class
        yield f"{name:24}" + "".join(f"  {number:16,}" for number in numbers)


def _policies(statistics: TrialStatistics) -> Iterator[str]:
    groups, accuracies = statistics.groups, statistics.accuracies()
    meanings = {**{name: each.meaning for name, each in POLICIES.items()}, **{n: m for n, (m, _) in GUESSES.items()}}
    yield f"{'expected accuracy':20}" + "".join(f"  {group:>{_width(group)}}" for group in groups)
    for name, accuracy in accuracies.items():
        shares = "".join(f"  {accuracy[group]:{_width(group)}.3f}" for group in groups)
        yield f"{name:20}{shares}  {meanings[name]}"


def _width(group: str) -> int:
    return max(len(group), 6)


def _answer_cells(statistics: TrialStatistics) -> Iterator[str]:
    """Yield a map of each grid size: the share of the answers of each type in each cell."""
    for (width, height), by_type in sorted(statistics.answers.counts.items()):
        if width > MOST_COLUMNS:
            continue
        shown = {type_: counts for type_, counts in by_type.items() if counts}
        yield "  ".join(f"{f'answers of {type_} trials, %':{6 * width + 4}}" for type_ in shown).rstrip()
        yield "  ".join(f"{'':4}" + "".join(f"{label(x, width)[0]:>6}" for x in range(width)) for _ in shown)
        for y in range(height):
            rows = (
                f"{y + 1:4}" + "".join(f"{100 * counts[y * width + x] / counts.total():6.1f}" for x in range(width))
                for counts in shown.values()
            )
            yield "  ".join(rows)
        yield ""


def _features(statistics: TrialStatistics) -> Iterator[str]:
    yield f"{'means':32}" + "".join(f"  {type_:>8}" for type_ in TYPES)
    for name in statistics.features:
        means = statistics.type_means(name)
        shown = "".join(f"  {means[type_]:8.2f}" if type_ in means else f"  {'-':>8}" for type_ in TYPES)
        yield f"{name:32}{shown}" + ("  differs" if statistics.tells_types(name) else "")
