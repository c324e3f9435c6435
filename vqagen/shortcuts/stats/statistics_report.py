"""The report of the statistics of a question file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from vqagen.errors import counted
from vqagen.score.gold.census import PairCounts, Spread, evenness
from vqagen.score.report.table import COUNT, SHARE, TEXT, Cell, Column, Report, Table, columns, nonempty
from vqagen.shortcuts.stats.guessing import RANKED, Accuracy, Guessing
from vqagen.shortcuts.stats.question_statistics import QuestionStatistics

SHOWN_ANSWERS = 5
SHOWN_FAMILIES = 5
"""Families that are guessed best, shown in front of the table of all."""
SHOWN_UNEVEN = 3
_ANSWERS = columns(type=TEXT, questions=COUNT, different=COUNT, evenness=SHARE, most_frequent=TEXT)
_FAMILIES = columns(family=TEXT, type=TEXT, questions=COUNT, evenness=SHARE, most_frequent=TEXT)


def statistics_report(statistics: QuestionStatistics) -> Report:
    """Return the report: what is asked, how evenly it is answered, and what is guessed."""
    return Report(
        f"Statistics of {statistics.name}",
        (*_overview(statistics), *(f"note: {note}" for note in statistics.notes)),
        nonempty([_answers(statistics), *_guesses(statistics), _families(statistics)]),
        statistics.to_record(),
    )


# Overview ---------------------------------------------------------------------------------------------------------


def _overview(statistics: QuestionStatistics) -> Iterator[str]:
    """Yield what is asked about how many images; then, each indented, texts, words, programs, families and pairs."""
    about = f"{counted(statistics.census.questions, 'question')} about {counted(statistics.images, 'image')}"
    yield ", ".join([about, *_counted_families(statistics)])
    for name, value in _figures(statistics):
        yield f"  {name:26}  {value}"


def _counted_families(statistics: QuestionStatistics) -> Iterator[str]:
    if statistics.has_families:
        number, files = len(statistics.families), statistics.files
        counted_families = "1 family" if number == 1 else f"{number:,} families"
        yield counted_families + (f" of {counted(files, 'template file')}" if files else "")


def _figures(statistics: QuestionStatistics) -> Iterator[tuple[str, str]]:
    """Yield the name of each figure, and what it is."""
    census = statistics.census
    distinct = census.distinct_texts()
    yield "distinct texts", f"{distinct:,} ({distinct / census.questions:.1%})"
    yield "words of a question", str(Spread.of(census.words))
    if census.steps:
        yield "steps of a program", str(Spread.of(census.steps))
    if statistics.has_families:
        sizes = Spread.of(Counter(statistics.families.values()))
        yield "questions of a family", f"{sizes}; least/most {statistics.family_share():.2f}"
    for name, counts in statistics.per_image.items():
        yield f"{name} of an image", str(Spread.of(counts))
    if (pairs := statistics.pairs) is not None:
        yield "pairs", _pair_line(pairs)


def _pair_line(pairs: PairCounts) -> str:
    parts = [f"{pairs.complete:,} complete"]
    if pairs.answered:
        parts.append(f"answers differ in {pairs.answers_differ / pairs.answered:.1%}")
    if pairs.complete:
        parts.append(f"texts differ in {pairs.texts_differ / pairs.complete:.1%}")
    for count, what in ((pairs.alone, "with the partner outside the file"), (pairs.unpaired, "in no pair")):
        if count:
            parts.append(f"{counted(count, 'question')} {what}")
    if pairs.crowded:
        parts.append(f"{counted(pairs.crowded, 'pair number')} of more than two questions")
    return ", ".join(parts)


# Tables -----------------------------------------------------------------------------------------------------------


def _answers(statistics: QuestionStatistics) -> Table:
    of_families = statistics.census.family_answers
    least = sorted(of_families, key=lambda name: (evenness(of_families[name]), name))[:SHOWN_UNEVEN]
    shown = ", ".join(f"{statistics.family_name(name)} {evenness(of_families[name]):.3f}" for name in least)
    notes = (f"least even families: {shown}",) if statistics.has_families else ()
    rows = tuple(
        (kind, counts.total(), len(counts), evenness(counts), _leading(counts))
        for kind, counts in sorted(statistics.census.answers.items())
    )
    return Table("answers", "Answers", _ANSWERS, rows, notes)


def _leading(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = ", …" if len(ordered) > SHOWN_ANSWERS else ""
    return ", ".join(f"{answer} {count / total:.0%}" for answer, count in ordered[:SHOWN_ANSWERS]) + more


def _guesses(statistics: QuestionStatistics) -> Iterator[Table]:
    """Yield how often the predictors are right: of each type, and of the families that are guessed best."""
    guessing = statistics.guessing
    if guessing is None:
        return
    shares = tuple(Column(name, SHARE) for name in guessing.predictors)
    rows: list[tuple[Cell, ...]] = [
        _accuracy_row(kind, each, guessing) for kind, each in sorted(guessing.types.items())
    ]
    rows.append(_accuracy_row("all", guessing.everything, guessing))
    rows.append(("mean of types", None, *map(guessing.mean_of_types, guessing.predictors)))
    title = f"Guessed without the picture ({statistics.tested_on})"
    yield Table("guessed", title, (*columns(type=TEXT, questions=COUNT), *shares), tuple(rows))
    ranked = guessing.ranked_families()
    if ranked and statistics.has_families:
        best = (
            _accuracy_row(statistics.family_name(name), guessing.families[name], guessing)
            for name in ranked[:SHOWN_FAMILIES]
        )
        title = f"Families guessed best, of {len(ranked):,} with at least {RANKED} tested questions"
        notes = tuple(_worst_yes_no(statistics, guessing))
        yield Table("guessed_best", title, (*columns(family=TEXT, questions=COUNT), *shares), tuple(best), notes)


def _accuracy_row(name: str, accuracy: Accuracy, guessing: Guessing) -> tuple[Cell, ...]:
    return (name, accuracy.questions, *map(accuracy.share, guessing.predictors))


def _worst_yes_no(statistics: QuestionStatistics, guessing: Guessing) -> Iterator[str]:
    worst, strongest = guessing.worst_yes_no(), guessing.predictors[-1]
    if worst is not None:
        share = guessing.families[worst].share(strongest)
        yield f"worst yes/no family ({strongest}): {statistics.family_name(worst)} {share:.3f}"


def _families(statistics: QuestionStatistics) -> Table:
    """Return all families; those that are guessed best come first."""
    census, guessing = statistics.census, statistics.guessing
    predictors, guessed = (guessing.predictors, guessing.families) if guessing else ((), {})
    rows: list[tuple[Cell, ...]] = []
    for name, count in statistics.families.items() if statistics.has_families else ():
        answers, accuracy = census.family_answers.get(name, Counter()), guessed.get(name)
        shares = (accuracy.share(each) if accuracy else None for each in predictors)
        known = (census.family_types.get(name, ""), count, evenness(answers) if answers else None, _leading(answers))
        rows.append((statistics.family_name(name), *known, *shares))
    ranks = {statistics.family_name(name): -accuracy.best(predictors) for name, accuracy in guessed.items()}
    rows.sort(key=lambda row: (ranks.get(str(row[0]), 0.0), str(row[0])))
    heads = (*_FAMILIES, *(Column(name, SHARE) for name in predictors))
    return Table("families", "Families", heads, tuple(rows), is_detail=True)
