"""The report of the statistics of a dialog file, beside the figures of CLEVR-Dialog."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from vqagen.errors import counted
from vqagen.score.gold.census import Spread
from vqagen.score.report.table import Column, Report, Table, nonempty
from vqagen.shortcuts.stats.dialog_census import LIMITING, entropy
from vqagen.shortcuts.stats.dialog_published import GENERATOR, PAPER
from vqagen.shortcuts.stats.dialog_statistics import DialogStatistics, ordered
from vqagen.tasks.dialog.round_kind import FAMILIES

SHOWN_ANSWERS = 4


class Row(NamedTuple):
    """A figure of the file, and those of CLEVR-Dialog's paper and of its generator as measured."""

    name: str
    here: str
    paper: str = ""
    generator: str = ""


def dialog_report(statistics: DialogStatistics) -> Report:
    """Return the report."""
    census = statistics.census
    about = f"{counted(census.rounds, 'round')} about {counted(statistics.images, 'image')}"
    head = f"{counted(census.dialogs, 'dialog')} of {about}, beside CLEVR-Dialog (its paper; its generator as measured)"
    tables = (
        ("figures", "Figures", _figure_rows(statistics)),
        ("types_of_round", "Types of each round", _type_rows(statistics)),
        ("distances", "Coreference distances", _distance_rows(statistics)),
        ("captions", "Captions", _caption_rows(statistics)),
        ("labels", "Labels", _label_rows(statistics)),
    )
    return Report(
        f"Statistics of {statistics.name}",
        (head, *(f"note: {note}" for note in statistics.notes)),
        nonempty(_table(*each) for each in tables),
        statistics.to_record(),
    )


def _table(key: str, title: str, rows: Iterator[tuple[str, ...]]) -> Table | None:
    """Return a table of the heads of its columns and its rows; None of nothing."""
    heads, *cells = list(rows) or [()]
    return Table(key, title, tuple(map(Column, heads)), tuple(cells)) if cells else None


# Figures ----------------------------------------------------------------------------------------------------------


def _figure_rows(statistics: DialogStatistics) -> Iterator[Row]:
    yield Row("figure", "here", "paper", "generator")
    yield from _question_figures(statistics)
    yield from _history_figures(statistics)
    yield from _order_figures(statistics)
    yield from _further_figures(statistics)


def _question_figures(statistics: DialogStatistics) -> Iterator[Row]:
    census = statistics.census
    yield Row("words of a question", _mean(census.words), "", _published_mean(GENERATOR, "words"))
    yield Row("  and punctuation marks", _mean(census.tokens), *_both("tokens", "{:.1f}"))
    share = statistics.distinct_questions / census.rounds
    yield Row("different questions", f"{statistics.distinct_questions:,} ({share:.1%})")
    guessed = statistics.guessed_share()
    if guessed is not None:
        yield Row("guessed by the label alone", f"{guessed:.1%}", "", f"{GENERATOR['guessed']:.1%}")


def _history_figures(statistics: DialogStatistics) -> Iterator[Row]:
    census = statistics.census
    for name, counts, key in (
        ("rounds since told (d_reveal)", census.since_told, "since_told"),
        ("rounds since mentioned (d_last)", census.since_mentioned, "since_mentioned"),
    ):
        if counts:
            yield Row(name, _mean(counts, 2), _published_mean(PAPER, key, 1), _published_mean(GENERATOR, key, 2))
    shares = statistics.history_shares()
    yield Row(f"history {' / '.join(shares)}", _percents(shares), "", _percents(GENERATOR["history"]))
    most = f"< {PAPER['standalone_most']:.0%}"
    yield Row("standalone (None, All)", f"{statistics.standalone_share:.1%}", most, f"{GENERATOR['standalone']:.1%}")


def _order_figures(statistics: DialogStatistics) -> Iterator[Row]:
    census, types, paper = statistics.census, statistics.type_shares(), PAPER["types"]
    ranges = " / ".join(f"{paper[name][0] * 100:.0f}–{paper[name][1] * 100:.0f}" for name in FAMILIES)
    yield Row(" / ".join(types), _percents(types), f"{ranges} %", _percents(GENERATOR["types"]))
    highest = entropy(dict.fromkeys(FAMILIES, 1))
    bits = f"{entropy(census.last_families):.2f} of {highest:.2f} bits"
    yield Row("type of the last round", bits, "", f"{GENERATOR['last_round_bits']:.2f}")
    for preset in (each.name for each in LIMITING):
        made = " (made with)" if preset == statistics.quotas else ""
        yield Row(f"within quotas {preset}", f"{census.quotas[preset] / census.dialogs:.1%}{made}")


def _further_figures(statistics: DialogStatistics) -> Iterator[Row]:
    census = statistics.census
    yield Row("words of a caption", _mean(census.caption_words), "", f"{GENERATOR['caption_words']:.1f}")
    yield Row("different answers", str(statistics.distinct_answers), "", str(GENERATOR["answers"]))
    yield Row("rounds of a dialog", str(Spread.of(census.lengths)), *_both("rounds"))
    yield Row("dialogs of an image", str(Spread.of(statistics.per_image)), *_both("dialogs_per_image"))


def _both(key: str, form: str = "{}") -> tuple[str, str]:
    return form.format(PAPER[key]), form.format(GENERATOR[key])


def _mean(counts: Mapping[int, int], digits: int = 1) -> str:
    spread = Spread.of(counts)
    return "" if spread is None else f"{spread.mean:.{digits}f} ({spread.least} to {spread.most})"


def _published_mean(published: Mapping[str, Any], key: str, digits: int = 1) -> str:
    if key not in published:
        return ""
    span = published.get(f"{key}_range")
    return f"{published[key]:.{digits}f}" + (f" ({span[0]} to {span[1]})" if span else "")


def _percents(shares: Mapping[str, float]) -> str:
    return " / ".join(f"{share * 100:.1f}" for share in shares.values()) + " %"


# Tables -----------------------------------------------------------------------------------------------------------

Rows = Iterator[tuple[str, ...]]
"""The heads of the columns, then the rows."""


def _type_rows(statistics: DialogStatistics) -> Rows:
    """Yield the types of each round."""
    of_rounds = statistics.types_of_round()
    names = list(statistics.type_shares())
    yield ("round", *names, *(f"{name} (generator)" for name in FAMILIES))
    for number, shares in of_rounds.items():
        known = GENERATOR["types_of_round"].get(number, {})
        theirs = (_share(known[name]) if known else "" for name in FAMILIES)
        yield (str(number), *(_share(shares.get(name, 0.0)) for name in names), *theirs)


def _distance_rows(statistics: DialogStatistics) -> Rows:
    """Yield how many references go back how many rounds."""
    told, mentioned = statistics.census.since_told, statistics.census.since_mentioned
    if not told:
        return
    columns = [
        ("since told", _shares_of(told)),
        ("told (generator)", GENERATOR["since_told_shares"]),
        ("since mentioned", _shares_of(mentioned)),
        ("mentioned (generator)", GENERATOR["since_mentioned_shares"]),
    ]
    if not mentioned:
        columns = columns[:2]
    yield ("rounds", *(name for name, _ in columns))
    for number in sorted(set().union(*(shares for _, shares in columns))):
        yield (str(number), *(_share(shares.get(number)) for _, shares in columns))


def _caption_rows(statistics: DialogStatistics) -> Rows:
    captions = statistics.census.captions
    if set(captions) == {""}:
        return
    yield "caption", "dialogs", "share", "generator"
    for label, count in ordered(captions):
        yield label, f"{count:,}", _share(count / statistics.census.dialogs), _share(GENERATOR["captions"].get(label))


def _label_rows(statistics: DialogStatistics) -> Rows:
    """Yield the rounds of each label, the share of "yes", and what is answered most."""
    census = statistics.census
    yield "label", "rounds", "share", "share (generator)", "yes", "yes (generator)", "guessed", "answered most"
    for label, count in ordered(census.labels):
        guessed = statistics.guessed_share(label)
        yield (
            label,
            f"{count:,}",
            _share(count / census.rounds),
            _share(GENERATOR["labels"].get(label)),
            _share(statistics.yes_share(label)),
            _share(GENERATOR["yes"].get(label)),
            _share(guessed),
            _leading(census.answers.get(label, Counter())),
        )


def _shares_of(counts: Counter[int]) -> dict[int, float]:
    return {number: count / counts.total() for number, count in counts.items()}


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"


def _leading(answers: Counter[str]) -> str:
    more = ", …" if len(answers) > SHOWN_ANSWERS else ""
    return ", ".join(f"{name} {count / answers.total():.0%}" for name, count in ordered(answers)[:SHOWN_ANSWERS]) + more
