"""Statistics of dialogs: what is asked in which round, and how far back it refers, beside figures of CLEVR-Dialog.

Those of its paper and of its generator stand in `published.json`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from vqagen.errors import counted
from vqagen.items.groups import (
    counts_of,
    counts_of_groups,
    counts_of_numbers,
    counts_within,
    entropy,
    leading,
    ordered,
    rounded,
    shares_of,
    spread_record,
    spread_text,
)
from vqagen.items.table import Column as Values, Items
from vqagen.report.table import Column, Report, Table, nonempty
from vqagen.tasks.dialog.rounds import FAMILIES

HISTORIES = {"independent": "None", "whole history": "All", "dependent": "Coref"}
"""Part of the history that a round depends on -> CLEVR-Dialog's name of it."""
_FIGURES = json.loads((Path(__file__).parent / "published.json").read_text("utf-8"))
PAPER: Mapping[str, Any] = _FIGURES["paper"]
"""Figures of CLEVR-Dialog's paper."""
GENERATOR: Mapping[str, Any] = _FIGURES["generator"]
"""Figures of its public generator, as measured."""
SHOWN_ANSWERS = 4
NO_DISTANCES = "no coreference distances in the file: they are left out"
NO_LAST = "the file does not say when a referent was last mentioned: that distance is left out"
NO_ANSWERS = "no answers in the file: what they would tell is left out"
_NOT_WORDS = "".join(map(chr, (*range(33, 39), *range(40, 45), *range(46, 48), *range(58, 65), *range(91, 95))))
"""Punctuation marks but those inside of words, ' and -."""


def dialog_statistics(items: Items, guessed: Mapping[str, Any] | None = None, notes: Sequence[str] = ()) -> Report:
    """Return the statistics of the rounds of dialogs; `guessed` is how often each label's majority is right."""
    facts = _facts(items, guessed)
    facts["notes"] = [*_missing(facts), *notes]
    about = f"{counted(facts['rounds'], 'round')} about {counted(facts['images'], 'image')}"
    head = (
        f"{counted(facts['dialogs'], 'dialog')} of {about}, beside CLEVR-Dialog (its paper; its generator as measured)"
    )
    tables = (
        _table("figures", "Figures", [("figure", "here", "paper", "generator"), *_figure_rows(facts)]),
        _table("types_of_round", "Types of each round", _type_rows(facts)),
        _table("distances", "Coreference distances", _distance_rows(facts)),
        _table("captions", "Captions", _caption_rows(facts)),
        _table("labels", "Labels", _label_rows(facts)),
    )
    lines = (head, *(f"note: {note}" for note in facts["notes"]))
    return Report(f"Statistics of {items.name}", lines, nonempty(tables), facts)


def _missing(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a note for what dialogs lack."""
    refers = facts["history"]["Coref"] > 0
    if refers and not facts["d_reveal"]:
        yield NO_DISTANCES
    elif refers and not facts["d_last"]:
        yield NO_LAST
    if not facts["distinct_answers"]:
        yield NO_ANSWERS


# Facts ------------------------------------------------------------------------------------------------------------


def _facts(items: Items, guessed: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the figures for JSON."""
    labels, families, rounds = (items.column(name) for name in ("label", "category", "round"))
    numbers = np.array(rounds.values)[rounds.codes]
    firsts = np.flatnonzero(numbers == 1)
    lengths = np.diff([*firsts, len(items)])
    texts, captions = items.learning.texts, items.learning.histories.take(firsts)
    histories = shares_of(counts_of(items.column("history").map(HISTORIES.get)), HISTORIES.values())
    last_families = counts_of(families.take(firsts + lengths - 1))
    return {
        "dialogs": len(firsts),
        "rounds": len(items),
        "images": len(counts_of(items.images)),
        "dialogs_per_image": spread_record(counts_of_groups(items.images.take(firsts))),
        "rounds_per_dialog": spread_record(counts_of_numbers(lengths)),
        "question_words": spread_record(counts_of(texts.map(lambda text: len(text.split())))),
        "question_tokens": spread_record(
            counts_of(texts.map(lambda text: len(text.split()) + sum(mark in _NOT_WORDS for mark in text)))
        ),
        "caption_words": spread_record(counts_of(captions.map(lambda text: len(text.split())))),
        "distinct_questions": len(counts_of(texts)),
        "distinct_answers": len(counts_of(items.answers)),
        "history": rounded(histories),
        "standalone": round(histories["None"] + histories["All"], 4),
        "d_reveal": spread_record(counts_of(items.column("distance"))),
        "d_last": spread_record(counts_of(items.column("mentioned"))),
        "types": rounded(shares_of(counts_of(families), FAMILIES)),
        "types_of_round": {
            str(number): rounded(shares_of(counts, FAMILIES))
            for number, counts in sorted(counts_within(rounds, families).items())
        },
        "labels_of_round": {str(number): counts for number, counts in sorted(counts_within(rounds, labels).items())},
        "last_round_bits": round(entropy(last_families), 4),
        "captions": dict(ordered(counts_of(items.column("caption").take(firsts)))),
        "labels": _label_facts(items, labels, families),
        "guessed": guessed,
        "published": {"paper": PAPER, "generator": GENERATOR},
    }


def _label_facts(items: Items, labels: Values, families: Values) -> dict[str, Any]:
    family_of = {label: next(iter(counts)) for label, counts in counts_within(labels, families).items()}
    answers_of = counts_within(labels, items.answers)
    facts: dict[str, Any] = {}
    for label, count in ordered(counts_of(labels)):
        answers = answers_of.get(label, {})
        facts[label] = {"family": family_of[label], "rounds": count, "share": round(count / len(items), 4)}
        if answers and answers.keys() <= {"yes", "no"}:
            facts[label]["yes"] = round(shares_of(answers, ["yes"])["yes"], 4)
        facts[label]["answers"] = answers
    return facts


# Tables -----------------------------------------------------------------------------------------------------------

Row = tuple[str, ...]
"""A row of texts; the first row of a table is its heads."""


def _table(key: str, title: str, rows: Sequence[Row]) -> Table | None:
    return Table(key, title, tuple(map(Column, rows[0])), tuple(rows[1:])) if rows else None


def _figure_rows(facts: Mapping[str, Any]) -> list[Row]:
    """Return the figures of the file, each with those of CLEVR-Dialog's paper and of its generator as measured."""
    distinct, history, types = facts["distinct_questions"], facts["history"], facts["types"]
    guessed = [facts["guessed"]["all"]["majority"]] if facts["guessed"] else []
    distances = [
        ("rounds since told (d_reveal)", "d_reveal", "since_told"),
        ("rounds since mentioned (d_last)", "d_last", "since_mentioned"),
    ]
    most = f"< {PAPER['standalone_most']:.0%}"
    ranges = " / ".join(f"{low * 100:.0f}–{high * 100:.0f}" for low, high in map(PAPER["types"].get, FAMILIES))
    bits = f"{facts['last_round_bits']:.2f} of {entropy(dict.fromkeys(FAMILIES, 1)):.2f} bits"
    return [
        ("words of a question", _mean(facts["question_words"]), "", _published("words", 1)[1]),
        ("  and punctuation marks", _mean(facts["question_tokens"]), *_published("tokens", 1)),
        ("different questions", f"{distinct:,} ({distinct / facts['rounds']:.1%})", "", ""),
        *(("guessed by the label alone", f"{share:.1%}", "", f"{GENERATOR['guessed']:.1%}") for share in guessed),
        *(
            (name, _mean(facts[key], 2), _published(known, 1)[0], _published(known, 2)[1])
            for name, key, known in distances
            if facts[key]
        ),
        (f"history {' / '.join(history)}", _percents(history), "", _percents(GENERATOR["history"])),
        ("standalone (None, All)", f"{facts['standalone']:.1%}", most, f"{GENERATOR['standalone']:.1%}"),
        (" / ".join(types), _percents(types), f"{ranges} %", _percents(GENERATOR["types"])),
        ("type of the last round", bits, "", f"{GENERATOR['last_round_bits']:.2f}"),
        ("words of a caption", _mean(facts["caption_words"]), "", f"{GENERATOR['caption_words']:.1f}"),
        ("different answers", str(facts["distinct_answers"]), "", str(GENERATOR["answers"])),
        ("rounds of a dialog", spread_text(facts["rounds_per_dialog"]), *_published("rounds")),
        ("dialogs of an image", spread_text(facts["dialogs_per_image"]), *_published("dialogs_per_image")),
    ]


def _mean(spread: Mapping[str, Any] | None, digits: int = 1) -> str:
    return "" if spread is None else f"{spread['mean']:.{digits}f} ({spread['least']} to {spread['most']})"


def _published(key: str, digits: int = 0) -> Row:
    """Return a figure of the paper and of the generator, as far as they have it."""
    spans = [(figures.get(key), figures.get(f"{key}_range")) for figures in (PAPER, GENERATOR)]
    texts = (("" if value is None else f"{value:.{digits}f}", span) for value, span in spans)
    return tuple(text + (f" ({span[0]} to {span[1]})" if span else "") for text, span in texts)


def _percents(shares: Mapping[str, float]) -> str:
    return " / ".join(f"{share * 100:.1f}" for share in shares.values()) + " %"


def _type_rows(facts: Mapping[str, Any]) -> list[Row]:
    """Return the types of each round."""
    names, rows = list(facts["types"]), []
    for number, shares in facts["types_of_round"].items():
        known = GENERATOR["types_of_round"].get(number, {})
        rows.append(
            (
                number,
                *(_share(shares.get(name, 0.0)) for name in names),
                *(_share(known.get(name)) for name in FAMILIES),
            )
        )
    return [("round", *names, *(f"{name} (generator)" for name in FAMILIES)), *rows]


def _distance_rows(facts: Mapping[str, Any]) -> list[Row]:
    """Return how many references go back how many rounds."""
    columns: dict[str, Mapping[Any, float]] = {}
    for key, name in (("d_reveal", "told"), ("d_last", "mentioned")):
        if facts[key]:
            columns[f"since {name}"] = shares_of({int(number): n for number, n in facts[key]["counts"].items()})
            columns[f"{name} (generator)"] = {int(n): share for n, share in GENERATOR[f"since_{name}_shares"].items()}
    numbers = sorted({number for shares in columns.values() for number in shares})
    rows = [(str(number), *(_share(shares.get(number)) for shares in columns.values())) for number in numbers]
    return [("rounds", *columns), *rows] if rows else []


def _caption_rows(facts: Mapping[str, Any]) -> list[Row]:
    rows = [
        (label, f"{count:,}", _share(count / facts["dialogs"]), _share(GENERATOR["captions"].get(label)))
        for label, count in facts["captions"].items()
    ]
    return [("caption", "dialogs", "share", "generator"), *rows] if rows else []


def _label_rows(facts: Mapping[str, Any]) -> list[Row]:
    """Return the rounds of each label, the share of "yes", and what is answered most."""
    guessed: Mapping[str, Any] = (facts["guessed"] or {}).get("families", {})
    heads = ("label", "rounds", "share", "share (generator)", "yes", "yes (generator)", "guessed", "answered most")
    rows = [
        (
            label,
            f"{each['rounds']:,}",
            _share(each["share"]),
            _share(GENERATOR["labels"].get(label)),
            _share(each.get("yes")),
            _share(GENERATOR["yes"].get(label)),
            _share(guessed.get(label, {}).get("majority")),
            leading(each["answers"], SHOWN_ANSWERS),
        )
        for label, each in facts["labels"].items()
    ]
    return [heads, *rows]


def _share(share: float | None) -> str:
    return "" if share is None else f"{share:.1%}"
