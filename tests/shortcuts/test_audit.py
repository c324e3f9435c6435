"""An audit finds each kind of shortcut that is planted, and passes a file without any."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from commands import Commands
from depth import some
from generated_trials import as_written, trials
from scene_records import sampled_scenes

import vqagen
from vqagen.bits import indexes
from vqagen.rng import pick, shuffled, stream
from vqagen.score.items import find_items
from vqagen.shortcuts.probes import SHOWN, difference
from vqagen.tasks.director.policies import seen
from vqagen.tasks.director.statistics import read_views

Record = dict[str, Any]
WORDS = ("red", "green", "blue", "large", "small", "metal", "rubber", "left", "right")
COLORS = ("red", "green", "blue", "gray", "cyan", "brown")
IMAGES = 200


pytestmark = pytest.mark.usefixtures("in_empty_folder")


def open_questions(seed: int = 0, images: int = IMAGES) -> list[Record]:
    """Two questions about each image, whose words and answers are drawn independently."""
    rng = stream(seed, "clean")
    return [
        {
            "question_index": 2 * image + number,
            "image_index": image,
            "image_filename": f"{image}.png",
            "question_family_index": number,
            "question": f"Is the {pick(rng, WORDS)} thing {pick(rng, WORDS)} of the {pick(rng, WORDS)} one?",
            "answer": pick(rng, ("yes", "no")),
        }
        for image in range(images)
        for number in range(2)
    ]


def option_questions(seed: int = 0, images: int = IMAGES + 40) -> list[Record]:
    """One question about each image with four options: any, in any order, and any of them right."""
    rng = stream(seed, "options")
    records = []
    for image in range(images):
        options = shuffled(rng, COLORS)[:4]
        records.append(
            {
                "question_index": image,
                "image_filename": f"{image}.png",
                "question": f"What color is the {pick(rng, WORDS[3:])} thing?",
                "options": options,
                "answer": pick(rng, options),
            }
        )
    return records


def written(records: Sequence[Record], name: str = "q.json", key: str = "questions", **info: Any) -> str:
    """Write records; the name of their file."""
    Path(name).write_text(json.dumps({"info": info, key: records}))
    return name


def failures(records: Sequence[Record], **options: Any) -> list[str]:
    """The reasons for which a file of questions fails."""
    return list(vqagen.audit(written(records), **options).failures())


def starts(found: Sequence[str], name: str) -> bool:
    """True if one of the reasons begins with a name."""
    return any(each.startswith(name) for each in found)


# Planted shortcuts ------------------------------------------------------------------------------------------------


def _word(record: Record, rng: Random) -> None:
    if record["answer"] == "yes" and rng.random() < 0.5:
        record["question"] = record["question"].replace("thing", "object")


def _image_index(record: Record, rng: Random) -> None:
    if rng.random() < 0.5:
        record["answer"] = ("yes", "no")[record["image_index"] % 3 % 2]


def _place(record: Record, rng: Random) -> None:
    record["question_family_index"] = 0
    record["answer"] = "yes" if rng.random() < (0.3, 0.7)[record["question_index"] % 2] else "no"


def _text(record: Record, rng: Random) -> None:
    record["question"] = f"Question {record['image_index'] % 20}?"
    record["answer"] = "yes" if record["image_index"] % 20 % 7 < 3 else "no"


def _cycle(record: Record, rng: Random) -> None:
    """Answers return from twentieth image to twentieth image."""
    is_yes = record["image_index"] % 20 in (1, 2, 4, 7, 8, 11, 13, 14, 15, 19)
    record["answer"] = "yes" if is_yes is (rng.random() < 0.8) else "no"


def _others(record: Record, rng: Random) -> None:
    """The second question about an image has the other answer, three times of four."""
    if record["question_index"] % 2 == 0:
        _others.first = record["answer"]  # type: ignore[attr-defined]
    elif rng.random() < 0.75:
        record["answer"] = {"yes": "no", "no": "yes"}[_others.first]  # type: ignore[attr-defined]


def test_planted_shortcuts_of_open_questions_are_found() -> None:
    """Each is named as a reason to fail."""
    plants = [
        ("words", _word),
        ("order", _image_index),
        ("order", _cycle),
        ("order", _place),
        ("words", _text),
    ]
    assert [name for name, plant in some(plants) if not starts(planted(open_questions(), plant), name)] == []


@pytest.mark.slow
def test_what_answers_about_the_same_image_tell_is_shown_and_fails_no_file() -> None:
    """No model has them: balanced pairs, of which one question tells the answer of the other, could not be mended."""
    records = open_questions()
    assert planted(records, _others) == []

    audit = vqagen.audit(written(records))
    (others,) = (probe for probe in audit.probes if probe.name == "others")

    assert list(audit.failures()) == []
    assert others.accuracy > others.chance + 0.05
    assert (others.verdict, others.p_holm) == (SHOWN, others.p)
    assert "shown: told by other questions about the image" in str(audit.report())


def planted(records: Sequence[Record], plant: Callable[[Record, Random], None]) -> list[str]:
    """The reasons for which questions fail once a shortcut is planted in them."""
    rng = stream(1, "plant")
    for record in records:
        plant(record, rng)
    return failures(records)


def _first(record: Record, rng: Random) -> None:
    if rng.random() < 0.3:
        record["options"].remove(record["answer"])
        record["options"].insert(0, record["answer"])


def _long(record: Record, rng: Random) -> None:
    if rng.random() < 0.5:
        named = f"{record['answer']} and nothing else"
        record["options"] = [named if each == record["answer"] else each for each in record["options"]]
        record["answer"] = named


def _frequent(record: Record, rng: Random) -> None:
    if "red" in record["options"]:
        record["answer"] = "red"


def _median(record: Record, rng: Random) -> None:
    record["options"] = shuffled(rng, [str(number) for number in (3, 4, 5, 6, 8)])
    record["answer"] = "5" if rng.random() < 0.5 else pick(rng, record["options"])


def _least(record: Record, rng: Random) -> None:
    first = int(rng.random() * 5)
    record["options"] = shuffled(rng, [str(first + number) for number in range(4)])
    record["answer"] = min(record["options"]) if rng.random() < 0.4 else pick(rng, record["options"])


def _said(record: Record, rng: Random) -> None:
    record["question"] = f"What color is the thing like a {record['answer']} one?"


def test_planted_shortcuts_of_options_are_found() -> None:
    """Each is named as a reason to fail."""
    plants = {
        _first: ("position",),
        _long: ("choices-only",),
        _frequent: ("most-frequent-option", "choices-only"),
        _median: ("number-rank", "choices-only"),
        _least: ("number-rank", "choices-only"),
        _said: ("question-and-choices",),
    }
    missed = []
    for plant, names in some([*plants.items()]):
        found = planted(option_questions(), plant)
        missed += [name for name in names if not starts(found, name)]
    assert missed == []


@pytest.mark.slow
def test_options_that_the_scene_shows_alone_are_found() -> None:
    """If only the right color is in the scene, looking for colors is enough."""
    records = option_questions(images=60)
    objects = [{"color": record["answer"], "number": place} for place, record in enumerate(records)]
    scenes = [{"image_filename": f"{place}.png", "objects": [each]} for place, each in enumerate(objects)]
    assert starts(failures(records, scenes=written(scenes, "s.json", "scenes")), "visible-option")


def test_repeated_scenes_are_found() -> None:
    """Also under another name, and with the objects in another order."""
    scenes = sampled_scenes(20)
    copy = {**scenes[3], "image_filename": "copy.png", "image_index": 20, "objects": scenes[3]["objects"][::-1]}
    names = [scene["image_filename"] for scene in scenes] + ["copy.png"]
    records = [{**record, "image_filename": names[record["image_index"]]} for record in open_questions(images=21)]
    found = failures(records, scenes=written([*scenes, copy], "s.json", "scenes"))
    assert found == ["duplicate scenes: 1 of 21"]


def named_scenes(seed: int) -> list[Record]:
    """Scenes under the names that the questions here use."""
    return [{**scene, "image_filename": f"{place}.png"} for place, scene in enumerate(sampled_scenes(30, seed))]


@pytest.mark.slow
def test_overlap_with_a_training_file_is_counted() -> None:
    """By text and image, and by the contents of scenes if those of both files are given."""
    train = written(open_questions(seed=5, images=30), "train.json")
    records = open_questions(images=30)
    for place in (0, 1, 2):
        records[place]["question"] = open_questions(seed=5)[place]["question"]
    assert failures(records, train=train) == [
        "training overlap: 3 of 60 items have program and scene in the training file"
    ]

    theirs, shown = written(named_scenes(0), "t.json", "scenes"), written(named_scenes(9), "s.json", "scenes")
    audit = vqagen.audit(written(records), scenes=shown, train=train, train_scenes=theirs)
    assert audit.repetition.same_program_and_scene == audit.repetition.same_scene == 0
    assert audit.repetition.same_text >= 3


# Files without shortcuts ------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_files_without_shortcuts_pass_with_the_stated_rate() -> None:
    """No more of them fail than `--alpha` allows, and what is luck in a binomial distribution beyond that."""
    strict, made, number = vqagen.AuditSettings(tolerance=0.0), (option_questions, open_questions), 50
    failed = sum(bool(failures(made[seed % 2](seed, 60), settings=strict)) for seed in range(number))
    assert failed <= number * 0.05 + 2.6 * (number * 0.05 * 0.95) ** 0.5


@pytest.mark.slow
def test_blocks_that_exchange_their_options_are_exactly_at_chance() -> None:
    """Each block has one set of options, and each of these is right once: no rule that sees options alone is better."""
    rng, records = stream(3, "blocks"), []
    for block in range(40):
        options = shuffled(rng, COLORS)[:4]
        for place, answer in enumerate(options):
            first = place - (place + block) % 4
            turned = [options[(first + number) % 4] for number in range(4)]
            about = {"image_filename": f"{block}-{place}.png", "block": block}
            records.append({"question": "What color?", "options": turned, "answer": answer, **about})
    audit = vqagen.audit(written(records))
    (rule,) = (probe for probe in audit.probes if probe.name == "most-frequent-option")
    assert (rule.accuracy, rule.p) == (0.25, 1.0)


def test_clusters_of_equal_items_count_once() -> None:
    """Repeating each item four times changes neither the interval nor the p-value, if clusters say so."""
    scores = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 0.0])
    single = difference(np.append(scores, 0.5), np.full(13, 0.4), np.arange(13))
    repeated = difference(np.repeat(np.append(scores, 0.5), 4), np.full(52, 0.4), np.repeat(np.arange(13), 4))
    assert repeated == pytest.approx(single)


# Dialogs and trials -----------------------------------------------------------------------------------------------


def test_an_answer_that_the_history_gives_away_is_found() -> None:
    """A round is also guessed by the words before it."""
    rng, records = stream(0, "dialogs"), []
    for image in range(150):
        answer = pick(rng, ("yes", "no"))
        records.append(
            {
                "dialog_index": image,
                "image_index": image,
                "image_filename": f"{image}.png",
                "caption": {"text": f"There is a {'red' if answer == 'yes' else 'blue'} thing."},
                "rounds": [{"question": "Is it large?", "label": "exist-any", "answer": answer}],
            }
        )
    found = list(vqagen.audit(written(records, key="dialogs")).failures())
    assert starts(found, "history") and not starts(found, "words")


@pytest.mark.slow
def test_trials_are_guessed_without_their_instruction() -> None:
    """The options are the open cells; if the answer is always the first of them, this is found."""
    records = as_written(trials(96))
    Path("trials.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    audit = vqagen.audit("trials.jsonl")
    by_order, by_picture = ["order", "occurrence", "previous"], ["cell", "look-alike", "strict-questions", "grid"]
    assert [each.name for each in audit.probes] == [*by_order, *by_picture]
    assert [each.name for each in vqagen.audit(iter(records)).probes] == [each.name for each in audit.probes]
    shown = [row[8:10] for row in audit.report().table("probes").rows]
    assert shown == [(each.low, each.high) for each in audit.probes]
    for views in read_views(find_items("trials.jsonl"))[0]:
        width, items = views.trial.width, views.all.bit_count()
        for cell, label in zip(indexes(views.open), views.trial.labels(views.open), strict=True):
            told = set(seen(views, cell))
            assert {f"row {int(label[1:]) - 1}", f"column {ord(label[0]) - ord('A')}"} <= told
            assert f"items, tenth {10 * (items - 1) // (width * views.trial.height)}" in told


def test_files_of_other_benchmarks_are_read() -> None:
    """Visual7W does not record in which order models saw the options, so that the file's order is no shortcut."""
    pairs = [
        {"qa_id": n, "type": "what", "question": "What color?", "answer": "red", "multiple_choices": list(COLORS[1:4])}
        for n in range(80)
    ]
    images = [
        {"image_id": n, "filename": f"v7w_{n}.jpg", "split": "val", "qa_pairs": [pair]} for n, pair in enumerate(pairs)
    ]
    Path("dataset.json").write_text(json.dumps({"images": images}))
    found = list(vqagen.audit("dataset.json").failures())
    assert starts(found, "most-frequent-option") and not starts(found, "position")


# The command ------------------------------------------------------------------------------------------------------


def spoiled() -> list[Record]:
    """Questions of which some words give the answer away."""
    records, rng = open_questions(), stream(1, "plant")
    for record in records:
        _word(record, rng)
    return records


@pytest.mark.slow
def test_the_exit_code_says_whether_a_file_passes(vqagen_: Commands) -> None:
    """1 if any of several files fails; their results stand side by side."""
    clean, other = written(open_questions()), written(spoiled(), "spoiled.json")
    first, second = (vqagen_.done(f"audit {clean} --tolerance 0.1 --json").out for _ in range(2))
    ran = vqagen_(f"audit {clean} {other}")

    assert first == second
    record = json.loads(first)
    assert record["passes"] and list(record["asked"]) == ["words alone", "order and neighbours", "other questions"]
    assert ran.code == 1
    assert re.search(r"words alone +[+-]0\.\d{3}\? +\+0\.\d{3}!\n", ran.out.decode())
    best = {row[0] for row in vqagen.audit(other).report().table("best_families").rows}
    assert "words" in best and "order" not in best
    assert "FAILS: spoiled.json: words" in ran.out.decode() and "inconclusive: q.json" in ran.out.decode()


def test_bad_input_is_one_clear_line(vqagen_: Commands) -> None:
    """It says what is wrong, where, and what to do."""
    asked = {"question": "?", "answer": "a"}
    cases = [
        ([], "no.json", 3, "questions, dialogs or trials not found: no.json"),
        ([], "q.json --tolerance 2", 2, "--tolerance must be from 0 to 1, found 2"),
        ([], "q.json --per-item i.jsonl", 2, "`vqagen audit --per-item` was removed in version 2.0"),
        ([], "q.json", 3, "q.json: no questions"),
        ([{"question": "Why?"}], "q.json", 3, "q.json: no answers in the file: there is nothing to audit"),
        ([{**asked, "question": 3}], "q.json", 3, "questions[0].question: expected text, found 3"),
        ([{**asked, "options": ["b", "c"]}], "q.json", 3, "[0].options: the answer 'a' is not among the options"),
        ([{**asked, "options": "a"}], "q.json", 3, "questions[0].options: expected a list of options, found 'a'"),
        ([asked], "q.json --train-scenes s.json", 2, "--train-scenes are the scenes"),
        (
            [{**asked, "image_filename": "x.png"}],
            "q.json --scenes s.json",
            3,
            "no scene for 1 record: there is no scene of this image_",
        ),
    ]
    written(named_scenes(0), "s.json", "scenes")
    wrong = []
    for records, line, code, message in cases:
        written(records)
        ran = vqagen_(f"audit {line}")
        if (ran.code, ran.out) != (code, b"") or message not in ran.err:
            wrong.append((line, ran))
    assert wrong == []
    written([{**record, "image_filename": "one.png", "image_index": 0} for record in open_questions(images=5)])
    ran = vqagen_("audit q.json")
    assert (ran.code, "not tested: 1 image: " in ran.out.decode()) == (1, True)
