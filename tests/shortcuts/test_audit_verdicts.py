"""An audit passes what it tested: images under any usual key, enough of them, and otherwise no pass."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow
import pyarrow.parquet
import pytest
from commands import Commands

import vqagen
from vqagen.items.builder import IMAGE_KEYS
from vqagen.rng import pick, stream
from vqagen.score.items import read_items
from vqagen.shortcuts.learners import MOST_ANSWERS, RAREST

Record = dict[str, Any]


pytestmark = pytest.mark.usefixtures("in_empty_folder")


def asked(images: int, each: int = 2, **keys: Callable[[int], Any]) -> list[Record]:
    """Questions about images, answered at random; `keys` give what they say of the number of their image."""
    rng = stream(0, "asked")
    return [
        {
            "question": f"Is the {pick(rng, ('red', 'green', 'blue'))} thing {pick(rng, ('left', 'right'))}?",
            "answer": pick(rng, ("yes", "no")),
            **{key: named(image) for key, named in keys.items()},
        }
        for image in range(images)
        for _ in range(each)
    ]


def images_of(source: Any, **options: Any) -> int:
    """The number of images that a file is about."""
    return len(np.unique(read_items(source, **options).images.codes))


def test_images_are_known_by_each_usual_key() -> None:
    """A number as text is the number."""
    found = {key: images_of(asked(40, **{key: lambda image: image})) for key in IMAGE_KEYS}
    assert found == dict.fromkeys(IMAGE_KEYS, 40)
    assert images_of([*asked(40, image_id=str), *asked(40, image_id=float)]) == 40


def test_of_several_keys_the_first_is_taken_and_another_by_its_name() -> None:
    records = asked(20, scene_name=lambda image: "all", image_id=lambda image: image, place=lambda image: image // 2)
    assert [images_of(records), images_of(records, image_key="scene_name"), images_of(records, image_key="place")] == [
        20,
        1,
        10,
    ]


def test_images_of_parquet_are_their_content_or_else_their_path() -> None:
    """As the Hub holds them: the same picture under two paths is one image."""
    rows = asked(20, image=lambda image: {"bytes": b"PNG%d" % (image // 2) * 200, "path": f"{image}.png"})
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), "bytes.parquet")
    rows = asked(20, image=lambda image: {"bytes": None, "path": f"{image}.png"})
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), "paths.parquet")
    assert [images_of("bytes.parquet"), images_of("paths.parquet")] == [10, 20]


def test_tables_of_vlmevalkit_are_read() -> None:
    """A picture of 64 characters or fewer is the index of the row that has it; the answer is a letter."""
    rows = ["index\timage\tquestion\tA\tB\tC\tanswer\tcategory"]
    for number in range(20):
        picture = base64.b64encode(b"%d" % number * 99).decode() if number % 2 == 0 else str(number - 1)
        rows.append(f"{number}\t{picture}\tWhat color?\tred\tblue\t\t{'AB'[number % 2]}\tcolor")
    Path("bench.tsv").write_text("\n".join(rows) + "\n")
    items = read_items("bench.tsv")
    assert (images_of("bench.tsv"), items.mode, items.ids[:2]) == (10, "mc", ["0", "1"])
    assert items.answers.cells()[:2] == ["red", "blue"] and items.options.at(0).texts == ("red", "blue")

    Path("paths.tsv").write_text(
        "index\timage_path\tquestion\tanswer\n0\ta.png\tHow many?\t3\n1\tb.png\tHow many?\t2\n"
    )
    assert images_of("paths.tsv") == 2


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("records", "reason"),
    [
        (asked(40), "no question names its image: name the key with --image-key"),
        (asked(40, image=lambda image: "a.png"), "1 image: guesses are tested on images that they were not learned"),
        (asked(4, 50, image=lambda image: image), "4 images: guesses are tested on images that they were not learned"),
        (
            [*asked(20, image=lambda image: image), *asked(20, image_id=lambda image: image)],
            "images are named by different keys (image in 40, image_id in 40): choose one with --image-key",
        ),
        (asked(40, image=lambda image: image or None), "2 questions of 80 name no image by image"),
    ],
)
def test_a_file_whose_images_are_not_known_is_not_tested(vqagen_: Commands, records: list[Record], reason: str) -> None:
    """It says so as text, JSON and HTML, and ends in 1; statistics guess nothing of it."""
    Path("q.json").write_text(json.dumps({"questions": records}))
    shown, made, page = vqagen_("audit q.json"), vqagen_("audit q.json --json"), vqagen_("audit q.json -o a.html")
    assert [shown.code, made.code, page.code] == [1, 1, 1]
    assert f"not tested: {reason}" in shown.out.decode() and f"not tested: {reason}" in Path("a.html").read_text()
    record = json.loads(made.out)
    assert (record["verdict"], record["passes"], record["gates"][0]["passed"]) == ("not tested", False, False)
    assert f"note: not tested: {reason}" in vqagen_("stats q.json").out.decode()


def test_dialogs_without_images_are_not_tested() -> None:
    rounds = [{"question": "Is it large?", "label": "exist-any", "answer": "yes"}]
    audit = vqagen.audit({"dialogs": [{"caption": {"text": "A thing."}, "rounds": rounds}] * 9})
    assert audit.verdict == "not tested"


@pytest.mark.parametrize("is_planted", [True, False])
def test_the_answer_before_is_that_of_another_image_in_dialogs(is_planted: bool) -> None:
    """Dialogs about one image answer each other, and who is asked sees one of them; leaks from image to image fail."""
    rng, dialogs = stream(0, "previous"), []
    for image in range(400):
        answer = ("yes", "no")[image % 2] if is_planted else pick(rng, ("yes", "no"))
        rounds = [{"question": "Is it large?", "label": "exist-any", "answer": answer}]
        dialogs += [{"image_index": image, "caption": {"text": "A thing."}, "rounds": rounds}] * 2
    (found,) = (probe for probe in vqagen.audit({"dialogs": dialogs}).probes if probe.name == "previous")
    assert (found.verdict == "FAILS", found.mean > 0.2) == (is_planted, is_planted)


@pytest.mark.slow
def test_the_key_of_images_is_an_option(vqagen_: Commands) -> None:
    """Of each command that guesses."""
    Path("q.json").write_text(json.dumps(asked(60, place=lambda image: image)))
    assert "about 60 images" in vqagen_("audit q.json --image-key place").out.decode()
    assert "about 60 images" in vqagen_.done("stats q.json --image-key place").out.decode()
    vqagen_.done("baseline majority --questions q.json --image-key place -o p.jsonl")
    assert len(Path("p.jsonl").read_text().splitlines()) == 120
    ran = vqagen_("audit q.json --image-key site")
    assert (ran.code, "no question of q.json has the key 'site' of --image-key" in ran.err) == (2, True)


@pytest.mark.slow
def test_too_few_items_are_inconclusive_and_the_report_says_how_many_are_needed(vqagen_: Commands) -> None:
    """Ten images do not pass, whatever the guesses; a file with the number that is said does."""
    assert vqagen.audit([{**each, "answer": "yes"} for each in asked(10, image=lambda image: image)]).verdict == (
        "inconclusive"
    )
    Path("q.json").write_text(json.dumps(asked(60, 4, image=lambda image: image)))
    ran = vqagen_("audit q.json --json")
    record = json.loads(ran.out)
    assert (ran.code, record["verdict"], record["passes"], record["failures"]) == (1, "inconclusive", False, [])
    needed = max(each["items_needed"] for each in record["probes"].values() if each["verdict"] == "inconclusive")
    assert (
        "inconclusive: 240 questions are too few to find guesses 0.02 above chance: needs about " in record["doubts"][0]
    )
    assert needed > 240


@pytest.mark.slow
def test_enough_images_pass_and_a_leak_of_a_twentieth_fails() -> None:
    records, rng = asked(1500, 4, image=lambda image: image), stream(1, "leak")
    assert vqagen.audit(records).verdict == "passes"
    for each in records:
        if rng.random() < 0.12:
            each["answer"] = "yes" if "left" in each["question"] else "no"
    assert vqagen.audit(records).verdict == "FAILS"


@pytest.mark.slow
def test_two_hundred_questions_in_one_window_are_inconclusive(vqagen_: Commands) -> None:
    """Chance is not the share of a few answers of a small family; the windows that are needed are said."""
    vqagen_.done("scenes sample --count 20 --seed 1 -o scenes.json")
    vqagen_.done("generate --scenes scenes.json --out questions.json --seed 3")
    audit = vqagen.audit("questions.json")
    assert audit.verdict == "inconclusive"
    assert any("two balance windows, about 1,000 images" in doubt for doubt in audit.doubts())
    assert max(each.chance for each in audit.probes) < 0.45


@pytest.mark.slow
def test_answers_that_are_too_many_to_learn_are_not_learned() -> None:
    """Twenty thousand colors would take minutes, and none is learned by the few items that it has."""
    number = MOST_ANSWERS * RAREST // 100
    records = [
        {"question": "What color?", "answer": f"color {place}", "image": place // 4, "question_family_index": 0}
        for place in range(number)
    ]
    audit = vqagen.audit(records)
    assert {each.accuracy for each in audit.probes} == {0.0}


@pytest.mark.slow
def test_guesses_below_chance_of_few_images_are_no_pass(vqagen_: Commands) -> None:
    """What was balanced in one window tells the opposite, also where no info says that there were windows."""
    vqagen_("scenes sample --count 20 --seed 11 -o scenes.json")
    vqagen_("generate --scenes scenes.json -o asked.json --seed 5")
    records = json.loads(Path("asked.json").read_text())["questions"]
    assert [vqagen.audit(each).verdict for each in ("asked.json", records)] == ["inconclusive"] * 2
