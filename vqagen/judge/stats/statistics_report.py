"""The statistics of a question file as lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from vqagen.errors import counted
from vqagen.judge.stats.census import PairCounts, Spread, evenness
from vqagen.judge.stats.guessing import RANKED, Accuracy, Guessing
from vqagen.judge.stats.question_statistics import QuestionStatistics

SHOWN_ANSWERS = 5
SHOWN_FAMILIES = 5
"""Families that are shown; JSON and the page have all."""
SHOWN_UNEVEN = 3


def report_lines(statistics: QuestionStatistics) -> Iterator[str]:
    """Yield the report."""
    yield from overview_lines(statistics)
    if statistics.census.answers:
        yield ""
        yield from _answer_lines(statistics)
    if statistics.guessing is not None:
        yield ""
        yield from _guess_lines(statistics, statistics.guessing)
    if statistics.notes:
        yield ""
        yield from (f"note: {note}" for note in statistics.notes)


def overview_lines(statistics: QuestionStatistics) -> Iterator[str]:
    """Yield what is asked about how many images; then, each indented, texts, words, programs, families and pairs."""
    census = statistics.census
    about = f"{counted(census.questions, 'question')} about {counted(statistics.images, 'image')}"
    yield ", ".join([about, *_counted_families(statistics)])
    for name, value in _overview(statistics):
        yield f"  {name:26}  {value}"


def _overview(statistics: QuestionStatistics) -> Iterator[tuple[str, str]]:
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


def _counted_families(statistics: QuestionStatistics) -> Iterator[str]:
    if statistics.has_families:
        number, files = len(statistics.families), statistics.files
        counted_families = "1 family" if number == 1 else f"{number:,} families"
        yield counted_families + (f" of {counted(files, 'template file')}" if files else "")


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


def _answer_lines(statistics: QuestionStatistics) -> Iterator[str]:
    of_types = statistics.census.answers
    kinds = sorted(of_types)
    width = max(map(len, (*kinds, "answers")))
    yield f"{'answers':{width}}  questions  different  evenness  most frequent"
    for kind in kinds:
        counts = of_types[kind]
        total = counts.total()
        yield (f"{kind:{width}}  {total:9,}  {len(counts):9,}  {evenness(counts):8.3f}  {_leading(counts)}")
    of_families = statistics.census.family_answers
    least = sorted(of_families, key=lambda name: (evenness(of_families[name]), name))[:SHOWN_UNEVEN]
    if statistics.has_families:
        shown = ", ".join(f"{statistics.family_name(name)} {evenness(of_families[name]):.3f}" for name in least)
        yield f"least even families: {shown}"


def _leading(counts: Mapping[str, int]) -> str:
    total = sum(counts.values())
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    more = ", …" if len(ordered) > SHOWN_ANSWERS else ""
    return ", ".join(f"{answer} {count / total:.0%}" for answer, count in ordered[:SHOWN_ANSWERS]) + more


def _guess_lines(statistics: QuestionStatistics, guessing: Guessing) -> Iterator[str]:
    predictors = guessing.predictors
    ranked = guessing.ranked_families()
    names = {name: statistics.family_name(name) for name in ranked[:SHOWN_FAMILIES]}
    width = max(map(len, (*guessing.types, *names.values(), "mean of types")))
    yield f"guessed without the picture ({statistics.tested_on})"
    yield f"{'':{width}}  questions  " + "  ".join(f"{name:>8}" for name in predictors)
    for kind, accuracy in sorted(guessing.types.items()):
        yield _accuracy_line(kind, accuracy, predictors, width)
    yield _accuracy_line("all", guessing.everything, predictors, width)
    means = "  ".join(f"{guessing.mean_of_types(name):8.3f}" for name in predictors)
    yield f"{'mean of types':{width}}  {'':9}  {means}"
    if ranked and statistics.has_families:
        yield f"families guessed best, of {len(ranked):,} with at least {RANKED} tested questions"
        for name, shown in names.items():
            yield _accuracy_line(shown, guessing.families[name], predictors, width)
    if statistics.has_families and (worst := guessing.worst_yes_no()) is not None:
        share = guessing.families[worst].share(predictors[-1])
        yield f"worst yes/no family ({predictors[-1]}): {statistics.family_name(worst)} {share:.3f}"


def _accuracy_line(name: str, accuracy: Accuracy, predictors: Sequence[str], width: int) -> str:
    shares = "  ".join(f"{accuracy.share(predictor):8.3f}" for predictor in predictors)
    return f"{name:{width}}  {accuracy.questions:9,}  {shares}"
