"""A leak by which guesses are right in .05 more than by chance fails a file, which passes once it is shuffled."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any

import pytest
from generated_trials import as_written, trials
from handmade_trials import document

import vqagen
from vqagen.score.items import find_items
from vqagen.tasks.director.statistics import option_clues, read_views

Record = dict[str, Any]
Plant = Callable[[Random, list[Record]], None]
IMAGES, WINDOW, FAMILIES = 3_000, 100, 6
TRUTHS = ("no", "yes")

pytestmark = pytest.mark.slow


def asked(rng: Random) -> list[Record]:
    """Two questions about each image, answered by coins."""
    return [
        {
            "question": f"Is the {rng.choice(('red', 'blue'))} thing {rng.choice(('left', 'right'))} of the ball?",
            "answer": rng.choice(TRUTHS),
            "image_filename": f"{place // 2}.png",
            "scene_index": place // 2,
            "question_family_index": rng.randrange(FAMILIES),
        }
        for place in range(2 * IMAGES)
    ]


def told(rng: Random, is_yes: bool) -> str:
    """The answer that a leak tells, which is right in .56: the more frequent answer of a family is right in .51."""
    return TRUTHS[is_yes is (rng.random() < 0.56)]


def _pairs_of_words(rng: Random, records: list[Record]) -> None:
    """Neither word tells anything alone."""
    for record in records:
        record["answer"] = told(rng, ("red" in record["question"]) is ("left" in record["question"]))


def _occurrence(rng: Random, records: list[Record]) -> None:
    """Each second question of a family in its window."""
    met = Counter[Any]()
    for record in records:
        key = record["question_family_index"], record["scene_index"] // WINDOW
        met[key] += 1
        record["answer"] = told(rng, met[key] % 2 == 0)


def _previous(rng: Random, records: list[Record]) -> None:
    """Answers of a family alternate, whichever comes first in a window."""
    before = defaultdict[Any, str](lambda: "no")
    for record in records:
        family = record["question_family_index"]
        record["answer"] = before[family] = told(rng, before[family] == "no")


@pytest.mark.parametrize(
    ("plant", "asks", "predictor"),
    [
        (_pairs_of_words, "words alone", "tree"),
        (_occurrence, "order and neighbours", "occurrence"),
        (_previous, "order and neighbours", "previous"),
    ],
)
def test_a_leak_of_questions_fails_and_the_same_file_passes_shuffled(plant: Plant, asks: str, predictor: str) -> None:
    rng = Random(f"leak {plant.__name__}")
    records = asked(rng)
    plant(rng, records)
    info = {"generator": {"name": "vqagen", "arrangement": {"window": WINDOW}}}
    planted = vqagen.audit({"info": info, "questions": records})
    answers = [record["answer"] for record in records]
    rng.shuffle(answers)
    shuffled = [{**record, "answer": answer} for record, answer in zip(records, answers, strict=True)]

    assert {probe.name for probe in planted.probes if probe.verdict == "FAILS"} == {predictor}
    row = planted.to_record()["asked"][asks]
    assert (row["verdict"], row["probe"]) == ("fails", predictor)
    assert vqagen.audit({"info": info, "questions": shuffled}).conclusion == (
        "passes: nothing above 0.02 found with 6,000 questions"
    )


def _answered(records: Sequence[Record], rng: Random, share: float) -> Iterator[Record]:
    """Trials whose answer is any open item, or in a share of them an item that most strict questions could mean."""
    source = find_items(document(*records))
    for record, views, clues in zip(records, read_views(source)[0], option_clues(source)[0], strict=True):
        labels = views.trial.labels(views.open)
        most = [label for label, seen in zip(labels, clues, strict=True) if "most asked, 0" in seen]
        yield {**record, "answer": rng.choice(most if rng.random() < share else labels)}


def test_a_leak_of_trials_fails_and_the_same_file_passes_shuffled() -> None:
    """Of six open items, one that most questions mean is the answer in .22 in place of .17."""
    records = as_written(trials(2400, seed=31))
    planted, shuffled = ([*_answered(records, Random(share), share)] for share in (0.075, 0.0))

    found = vqagen.audit(document(*planted)).to_record()
    assert (found["verdict"], found["asked"]["picture alone"]["probe"]) == ("fails", "strict-questions")
    assert 0.04 < found["probes"]["strict-questions"]["difference"] < 0.07
    assert vqagen.audit(document(*shuffled)).verdict == "passes"
