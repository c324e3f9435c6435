"""Statistics of files, with what can be guessed of their answers without the pictures, by type and family.

Of a large file, images are taken by a hash of their names, so that the sample is the same wherever it is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.extras import needed
from vqagen.score.items.questions import family_ids
from vqagen.score.items.reading import Source, find_items, read_items
from vqagen.score.items.table import NONE, Column as Values, Items, Places
from vqagen.score.record_files import SAMPLES, TRIALS
from vqagen.score.report.table import COUNT, SHARE, TEXT, Cell, Column, Report, Table, columns, nonempty
from vqagen.shortcuts.dialog_statistics import dialog_statistics
from vqagen.shortcuts.groups import (
    Counts,
    answered,
    counts_of,
    counts_of_groups,
    counts_within,
    evenness,
    families_of,
    field_of,
    leading,
    places_by,
    spread_record,
    spread_text,
    types_of,
)
from vqagen.shortcuts.learners import majority_of
from vqagen.shortcuts.predictors import NAMED, Predictor, applicable, predict
from vqagen.shortcuts.task import NOT_TESTED, Floats, Task, joined, make_folds
from vqagen.shortcuts.trial_statistics import trial_statistics


def stats(
    source: Source,
    *,
    against: Source | None = None,
    on_read: Callable[[int], None] | None = None,
    image_key: str = "",
) -> Report:
    """Return the statistics of questions, dialogs or trials, with guesses of their answers.

    The `source` is a file or folder, or records in memory. Guesses of questions and dialogs see no picture, and are
    tested on `against`, which is about other scenes; without it, on images that they were not learned from. Trials are
    answered by policies that miss a view or words. `on_read` is called now and then with the number of questions,
    dialogs or trials read since, for a progress bar. `image_key` is the key of a record's image, by default one that is
    known.
    """
    source = source if isinstance(source, str | Path | Mapping) else list(source)
    found = find_items(source)
    if found.kind in (TRIALS, SAMPLES):
        if against is not None:
            raise UsageError(f"{found.path} holds trials, whose policies learn nothing: leave out against")
        return trial_statistics(found, on_read or (lambda _: None))
    read = partial(read_items, learning=True, allow_unanswered=True, on_read=on_read, image_key=image_key)
    items = read(source)
    if not len(items):
        raise BadInput([Problem("no rounds" if items.kind == "dialogs" else f"no {items.kind}", items.name)])
    tested = None if against is None else read(against)
    if tested is not None and tested.name == items.name:
        raise UsageError(f"--against {tested.name} is the file itself; name one about other scenes, or leave it out")
    if tested is not None and tested.kind != items.kind:
        raise UsageError(f"--against {tested.name} holds {tested.kind}, but {items.name} holds {items.kind}")
    if items.kind == "dialogs":
        return dialog_statistics(items, *guess(items, tested, [LABELS]))
    return question_statistics(items, *guess_questions(items, tested))


SAMPLED = 30_000
"""Items that guessing is learned from and tested on at most; more change the figures by less than .01."""
FEW = 40
"""Items of a family below which its answers can hardly be learned."""
ONE_WINDOW = (
    "the file's answers are balanced as one whole, so guesses learned from a part of it are too poor; "
    "--against another file of the same making shows the true figures"
)
FEW_ITEMS = "only {} questions of each family: guesses learned from more would be better"


Guessed = tuple[dict[str, Any] | None, Sequence[str]]
"""How often predictors are right about a file, for JSON, or None if there is nothing to test them on; and notes."""


def guess_questions(items: Items, tested: Items | None = None, limit: int = SAMPLED) -> Guessed:
    """Return how often the majority of the family is right, and the learned predictors that the questions allow.

    They are tested on another file or, without one, each part of the images is guessed by what the others teach. The
    learned ones see at most `limit` items of each file.
    """
    predictors = [NAMED["majority-family"], *(each for each in applicable(items) if each.is_learned)]
    notes: list[str] = []
    try:
        needed("sklearn", "stats", "guessing by what is learned")
    except UsageError as error:
        predictors, notes = predictors[:1], [str(error)]
    record, found = guess(items, tested, predictors, limit)
    few = record["all"]["questions"] // len(record["families"]) if record else FEW
    return record, [*notes, *found, *([FEW_ITEMS.format(few)] if few < FEW else [])]


LABELS = Predictor("majority", "the most frequent answer of the label", majority_of("labels"))
"""What guesses the rounds of dialogs."""


def guess(items: Items, tested: Items | None, predictors: Sequence[Predictor], limit: int = SAMPLED) -> Guessed:
    """Return how often predictors are right, of all items, of each type and of each family (of rounds, each label)."""
    items, noun, field = answered(items), "question", ""
    if items.kind == "dialogs":
        noun, field = "round", "label"
    if not len(items):
        return None, []
    folds = None if tested is not None else make_folds(items)
    chosen = _sampled(items, limit)
    if folds is None:
        assert tested is not None
        tested = answered(tested)
        if not len(tested):
            return None, [f"no answers in {tested.name}: nothing to test guesses on"]
        splits = [(np.arange(len(items)), np.arange(len(items), len(items) + len(tested)))]
        chosen = np.append(chosen, _sampled(tested, limit))
        items, about = joined(items, tested), f"{counted(len(tested), noun)} of {tested.name}"
    elif fault := folds.fault(items):
        return None, [f"{NOT_TESTED}: {fault}"]
    else:
        splits, about = folds.splits(), f"{counted(len(items), noun)}, each by what other images teach"
    if not chosen.all():
        about += f"; what is learned, of {int(chosen.sum()):,}"
    scores = {each.name: _scores(each, items, splits, chosen) for each in predictors}
    families, types = items.column(field) if field else families_of(items), types_of(items)
    of_types, of_families = (
        {name: found for name, places in sorted(places_by(groups).items()) if (found := _means(scores, places))}
        for groups in (types, families)
    )
    ranked = [name for name, each in of_families.items() if each["questions"] >= RANKED]
    ranked.sort(key=lambda name: (-max(of_families[name][key] or 0.0 for key in scores), name))
    record = {
        "tested_on": about,
        "all": _means(scores, np.arange(len(items))),
        "mean_of_types": {name: _mean([each[name] for each in of_types.values()]) for name in scores},
        "ranked_families": ranked,
        "types": of_types,
        "families": of_families,
    }
    return record, [ONE_WINDOW] if folds and not folds.is_apart else []


def _means(scores: Mapping[str, Floats], places: Places) -> dict[str, Any]:
    """Return the number of tested items, and the mean of each predictor's scores; nothing if none was tested."""
    own = {name: found[places][~np.isnan(found[places])].tolist() for name, found in scores.items()}
    number = max(map(len, own.values()))
    return {"questions": number, **{name: _mean(each) for name, each in own.items()}} if number else {}


def _mean(shares: Sequence[float | None]) -> float | None:
    known = [share for share in shares if share is not None]
    return round(sum(known) / len(known), 6) if known else None


def _scores(
    predictor: Predictor, items: Items, splits: Sequence[tuple[Places, Places]], chosen: npt.NDArray[np.bool_]
) -> Floats:
    """Return the probability that a predictor is right about each item; NaN where it is not asked."""
    if not predictor.is_learned or chosen.all():
        return predict(predictor, Task(items, splits)).expected
    found, places = np.full(len(items), np.nan), np.cumsum(chosen) - 1
    part = items.take(np.flatnonzero(chosen))
    part = replace(part, learning=part.learning._replace(texts=_compact(part.learning.texts)))
    own = [(places[learn[chosen[learn]]], places[ask[chosen[ask]]]) for learn, ask in splits]
    found[chosen] = predict(predictor, Task(part, own)).expected
    return found


def _compact(column: Values) -> Values:
    """Return a column without the values that no item has."""
    used = np.unique(column.codes[column.codes != NONE])
    codes = np.full(len(column.values) + 1, NONE, dtype=np.int32)
    codes[used] = np.arange(len(used))
    return Values(codes[column.codes], tuple(column.values[code] for code in used.tolist()))


def _sampled(items: Items, limit: int) -> npt.NDArray[np.bool_]:
    """Return which items are about a part of the images, so large that it has at most `limit` items."""
    digests = (blake2b(str(image).encode(), digest_size=8).digest() for image in items.images.values)
    hashes = np.array([int.from_bytes(each, "big") for each in digests], dtype=np.uint64)[items.images.codes]
    chosen, most = np.ones(len(items), dtype=bool), (1 << 64) - 1
    while chosen.sum() > limit:
        most //= 2
        chosen = hashes <= most
    return chosen


# Questions ------------------------------------------------------------------------------------------------------------
#
# Statistics of questions: what is asked, how evenly it is answered, and what can be guessed without the pictures.


NO_PROGRAMS = "no programs in the file: what they would tell (lengths, the tree's guesses) is left out"
NO_ANSWERS = "no answers in the file: what they would tell (evenness, guesses) is left out"
RANKED = 30
"""Tested items that a family needs in order to be ranked: of fewer, chance decides."""
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
    per_image = {name: counts_of_groups(items.images, *each) for name, each in counted_by.items()}
    kinds = {family: next(iter(own)) for family, own in counts_within(families, types).items()}
    of_types, of_each = (dict(sorted(counts_within(each, items.answers).items())) for each in (types, families))
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
        (kind, each["questions"], len(each["answers"]), each["evenness"], leading(each["answers"], SHOWN_ANSWERS))
        for kind, each in facts["answers"]["types"].items()
    )
    evenness_of = {name: each["evenness"] for name, each in facts["answers"]["families"].items()}
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
    rows = [_row(kind, each, names) for kind, each in (*guessed["types"].items(), ("all", guessed["all"]))]
    rows.append(_row("mean of types", guessed["mean_of_types"], names))
    title = f"Guessed without the picture ({guessed['tested_on']})"
    yield Table("guessed", title, (*columns(type=TEXT, questions=COUNT), *shares), tuple(rows))
    ranked = guessed["ranked_families"]
    best = tuple(_row(name, guessed["families"][name], names) for name in ranked[:SHOWN_FAMILIES])
    title = f"Families guessed best, of {len(ranked):,} with at least {RANKED} tested questions"
    yield Table("guessed_best", title, (*columns(family=TEXT, questions=COUNT), *shares), best)


def _row(name: str, found: Mapping[str, Any], names: Sequence[str]) -> tuple[Cell, ...]:
    return (name, found.get("questions"), *(found[each] for each in names))


def _families(facts: Mapping[str, Any]) -> Table:
    """Return all families; those that are guessed best come first."""
    guessed = facts["guessed"] or {"mean_of_types": {}, "families": {}}
    names = list(guessed["mean_of_types"])
    answered = facts["answers"]["families"]
    best = {name: max(each[key] for key in names) for name, each in guessed["families"].items()}
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(facts["family_questions"], key=lambda name: (-best.get(name, 0.0), name)):
        found = answered.get(name, {"type": "", "evenness": None, "answers": {}})
        shares = (guessed["families"].get(name, {}).get(key) for key in names)
        known = (found["type"], facts["family_questions"][name], found["evenness"])
        rows.append((name, *known, leading(found["answers"], SHOWN_ANSWERS), *shares))
    heads = columns(family=TEXT, type=TEXT, questions=COUNT, evenness=SHARE, most_frequent=TEXT)
    return Table(
        "families", "Families", (*heads, *(Column(each, SHARE) for each in names)), tuple(rows), is_detail=True
    )
