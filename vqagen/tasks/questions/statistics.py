"""Statistics of questions: what is asked, how evenly it is answered, and what can be guessed without the pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from vqagen.errors import counted
from vqagen.items.groups import (
    RANKED,
    Counts,
    counts_of,
    counts_of_groups,
    counts_within,
    evenness,
    field_of,
    leading,
    spread_record,
    spread_text,
    types_of,
)
from vqagen.items.table import NONE, Items
from vqagen.report.table import COUNT, SHARE, TEXT, Cell, Column, Report, Table, columns, nonempty
from vqagen.tasks.questions.items import family_ids

NO_PROGRAMS = "no programs in the file: what they would tell (lengths, the tree's guesses) is left out"
NO_ANSWERS = "no answers in the file: what they would tell (evenness, guesses) is left out"
SHOWN_ANSWERS = 5
SHOWN_FAMILIES = 5
"""Families that are guessed best, shown in front of the table of all."""
SHOWN_UNEVEN = 3


def question_statistics(items: Items, guessed: Mapping[str, Any] | None = None, notes: Sequence[str] = ()) -> Report:
    """Return the statistics of questions; `guessed` says how often predictors are right (see `guess_questions`)."""
    facts = _facts(items) | {"guessed": guessed, "notes": [*_missing(items), *notes]}
    lines = (*_overview(facts), *(f"note: {note}" for note in facts["notes"]))
    tables = nonempty([_answers(facts), *_guesses(facts), _families(facts)])
    return Report(f"Statistics of {items.name}", lines, tables, facts)


def _missing(items: Items) -> Iterator[str]:
    """Yield a note for programs and for answers that questions lack."""
    without_program = int((items.learning.programs.codes == NONE).sum())
    for count, what, all_missing in (
        (without_program, "no program", NO_PROGRAMS),
        (items.unanswered, "no answer", NO_ANSWERS),
    ):
        if count == len(items):
            yield all_missing
        elif count:
            yield f"{counted(count, 'question')} with {what}"


# Facts ------------------------------------------------------------------------------------------------------------


def _facts(items: Items) -> dict[str, Any]:
    """Return the figures for JSON."""
    families, texts, types = field_of(items, "family"), items.learning.texts, types_of(items)
    files = families.map(lambda name: name.partition("#")[0] or None)
    of_families, tried = counts_of(families), list(family_ids(items.info))
    if of_families and of_families.keys() <= set(tried):  # the info names those that were tried in vain, too
        of_families = dict.fromkeys(tried, 0) | of_families
    counted_by = {"questions": (), "families": (families,), "template_files": (files,)}
    per_image = {name: counts_of_groups(items.images, *fields) for name, fields in counted_by.items()}
    kinds = {family: next(iter(kinds_of_family)) for family, kinds_of_family in counts_within(families, types).items()}
    of_types, of_each = (dict(sorted(counts_within(field, items.answers).items())) for field in (types, families))
    return {
        "questions": len(items),
        "images": len(counts_of(items.images)),
        "families": len(of_families),
        "template_files": len(counts_of(files)),
        "distinct_texts": len(counts_of(texts)),
        "words": spread_record(counts_of(texts.map(lambda text: len(text.split())))),
        "program_steps": spread_record(counts_of(field_of(items, "program_length"))),
        "per_image": {name: spread_record(counts) for name, counts in per_image.items() if counts},
        "family_questions": of_families,
        "family_share": round(min(of_families.values()) / max(of_families.values()), 6) if of_families else 0.0,
        "pairs": pair_counts(items),
        "answers": {
            "types": {kind: _answer_facts(counts) for kind, counts in of_types.items()},
            "families": {name: {"type": kinds[name], **_answer_facts(counts)} for name, counts in of_each.items()},
        },
    }


def _answer_facts(counts: Counts) -> dict[str, Any]:
    return {"questions": sum(counts.values()), "evenness": round(evenness(counts), 6), "answers": counts}


def pair_counts(items: Items) -> dict[str, int] | None:
    """Return the counts of pairs, the same question about two scenes; None if no question is in one.

    Complete pairs have both questions in the file, those alone have one, and crowded ones more than two. Of the
    complete ones, answered are those of which the file tells both answers.
    """
    codes, answers = items.pairs.codes, items.answers.codes
    paired = np.flatnonzero(codes != NONE)
    if not len(paired):
        return None
    texts = items.learning.texts.codes
    ordered = paired[np.argsort(codes[paired], kind="stable")]
    _, firsts, sizes = np.unique(codes[ordered], return_index=True, return_counts=True)
    left, right = ordered[firsts[sizes == 2]], ordered[firsts[sizes == 2] + 1]
    answered = (answers[left] != NONE) & (answers[right] != NONE)
    return {
        "complete": len(left),
        "alone": int((sizes == 1).sum()),
        "crowded": int((sizes > 2).sum()),
        "answered": int(answered.sum()),
        "answers_differ": int((answered & (answers[left] != answers[right])).sum()),
        "texts_differ": int((texts[left] != texts[right]).sum()),
        "unpaired": len(items) - len(paired),
    }


# Overview ---------------------------------------------------------------------------------------------------------


def _overview(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield what is asked about how many images; then, each indented, texts, words, programs, families and pairs."""
    about = f"{counted(facts['questions'], 'question')} about {counted(facts['images'], 'image')}"
    figures = {
        "distinct texts": f"{facts['distinct_texts']:,} ({facts['distinct_texts'] / facts['questions']:.1%})",
        "words of a question": spread_text(facts["words"]),
    }
    if facts["program_steps"]:
        figures["steps of a program"] = spread_text(facts["program_steps"])
    if number := facts["families"]:
        about += ", 1 family" if number == 1 else f", {number:,} families"
        about += f" of {counted(facts['template_files'], 'template file')}" if facts["template_files"] else ""
        sizes = spread_record(Counter(facts["family_questions"].values())) or {}
        figures["questions of a family"] = f"{spread_text(sizes)}; least/most {facts['family_share']:.2f}"
    for name, spread in facts["per_image"].items():
        figures[f"{name.replace('_', ' ')} of an image"] = spread_text(spread)
    if facts["pairs"]:
        figures["pairs"] = ", ".join(_pair_parts(**facts["pairs"]))
    return iter([about, *(f"  {name:26}  {value}" for name, value in figures.items())])


def _pair_parts(
    complete: int, alone: int, crowded: int, answered: int, answers_differ: int, texts_differ: int, unpaired: int
) -> Iterator[str]:
    yield f"{complete:,} complete"
    for count, part in (
        (answered, f"answers differ in {answers_differ / max(1, answered):.1%}"),
        (complete, f"texts differ in {texts_differ / max(1, complete):.1%}"),
        (alone, f"{counted(alone, 'question')} with the partner outside the file"),
        (unpaired, f"{counted(unpaired, 'question')} in no pair"),
        (crowded, f"{counted(crowded, 'pair number')} of more than two questions"),
    ):
        if count:
            yield part


# Tables -----------------------------------------------------------------------------------------------------------


def _answers(facts: Mapping[str, Any]) -> Table:
    heads = columns(type=TEXT, questions=COUNT, different=COUNT, evenness=SHARE, most_frequent=TEXT)
    rows = tuple(
        (
            kind,
            answered["questions"],
            len(answered["answers"]),
            answered["evenness"],
            leading(answered["answers"], SHOWN_ANSWERS),
        )
        for kind, answered in facts["answers"]["types"].items()
    )
    evenness_of = {name: answered["evenness"] for name, answered in facts["answers"]["families"].items()}
    least = sorted(evenness_of, key=lambda name: (evenness_of[name], name))[:SHOWN_UNEVEN]
    shown = ", ".join(f"{name} {evenness_of[name]:.3f}" for name in least)
    return Table("answers", "Answers", heads, rows, (f"least even families: {shown}",) if shown else ())


def _guesses(facts: Mapping[str, Any]) -> Iterator[Table]:
    """Yield how often the predictors are right: of each type, and of the families that are guessed best."""
    guessed = facts["guessed"]
    if guessed is None:
        return
    names = list(guessed["mean_of_types"])
    shares = tuple(Column(name, SHARE) for name in names)
    rows = [_row(kind, right, names) for kind, right in (*guessed["types"].items(), ("all", guessed["all"]))]
    rows.append(_row("mean of types", guessed["mean_of_types"], names))
    title = f"Guessed without the picture ({guessed['tested_on']})"
    yield Table("guessed", title, (*columns(type=TEXT, questions=COUNT), *shares), tuple(rows))
    ranked = guessed["ranked_families"]
    best = tuple(_row(name, guessed["families"][name], names) for name in ranked[:SHOWN_FAMILIES])
    title = f"Families guessed best, of {len(ranked):,} with at least {RANKED} tested questions"
    yield Table("guessed_best", title, (*columns(family=TEXT, questions=COUNT), *shares), best)


def _row(name: str, right: Mapping[str, Any], names: Sequence[str]) -> tuple[Cell, ...]:
    return (name, right.get("questions"), *(right[predictor] for predictor in names))


def _families(facts: Mapping[str, Any]) -> Table:
    """Return all families; those that are guessed best come first."""
    guessed = facts["guessed"] or {"mean_of_types": {}, "families": {}}
    names = list(guessed["mean_of_types"])
    answered = facts["answers"]["families"]
    best = {name: max(shares[key] for key in names) for name, shares in guessed["families"].items()}
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(facts["family_questions"], key=lambda name: (-best.get(name, 0.0), name)):
        answers = answered.get(name, {"type": "", "evenness": None, "answers": {}})
        shares = (guessed["families"].get(name, {}).get(key) for key in names)
        known = (answers["type"], facts["family_questions"][name], answers["evenness"])
        rows.append((name, *known, leading(answers["answers"], SHOWN_ANSWERS), *shares))
    heads = columns(family=TEXT, type=TEXT, questions=COUNT, evenness=SHARE, most_frequent=TEXT)
    return Table(
        "families",
        "Families",
        (*heads, *(Column(predictor, SHARE) for predictor in names)),
        tuple(rows),
        is_detail=True,
    )
