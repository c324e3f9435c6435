"""Inputs of rater studies: HUMANr's flags and files, items, images; all mistakes of them in one message."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from commands import Commands
from oracles.human_plan import plan_faults
from PIL import Image
from study_files import picture, write_caption_files, write_json

from vqagen.files.schema import schema_faults, schema_text
from vqagen.human.study.item import StudyItem
from vqagen.human.study.study import load_study
from vqagen.human.study.texts import DEFAULT_TEXTS, first_texts, texts_of

MAKE = "human make-tasks --human human.json --system ours=ours.json --images images --out study"


def code_of(message: str) -> int:
    """Return the exit code of a message: 3 for a place that is not there, else 2."""
    return 3 if any(each in message for each in ("not found", "cannot read", "does not exist")) else 2


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with 12 pictures, human captions and captions of `ours`."""
    write_caption_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def vqagen_(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the working folder."""
    return Commands(capsysbinary)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file."""
    document = json.loads(path.read_text("utf-8"))
    change(document)
    write_json(path, document)


# HUMANr's flags ---------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "line",
    [
        "--images images --human_captions human.json --model_captions ours.json theirs.json --model_names ours theirs",
        "images --human_captions human.json --model_captions ours.json theirs.json --model_names ours theirs",
        "--human human.json --images=images --model-names=ours --model-captions ours.json --system theirs=theirs.json",
    ],
)
def test_the_flags_of_humanr_do_the_same(line: str, folder: Path, vqagen_: Commands) -> None:
    """Its spellings, its folder of images as an argument, and the flags that say nothing here."""
    write_caption_files(folder, systems=("ours", "theirs"))
    theirs = "--num_images 8 --num_trials_per_task 5 --num_attention_check 2 --human_human"
    theirs += " --reward_per_task 1.5 --sandbox --experiment_name x"
    ours = "--num-images 8 --trials-per-task 5 --checks-per-task 2 --human-human"
    vqagen_.done(f"{MAKE} --system theirs=theirs.json {ours}")
    vqagen_.done(f"human make-tasks {line} {theirs} --out legacy")

    for name in ("study.json", "items.jsonl", "tasks.jsonl"):
        assert Path("legacy", name).read_bytes() == Path("study", name).read_bytes()


WRONG_USAGE = [
    ("human make-tasks --out study", "missing --human and --images, or --items"),
    ("human make-tasks --out study --items i.jsonl --human human.json", "leave out --human and --system"),
    (f"{MAKE} --system ours=ours.json", "--system 'ours' is named twice"),
    (f"{MAKE} --system ours", "'ours' is not of the form NAME=FILE"),
    (
        f"{MAKE} --model_captions a.json b.json --model_names a",
        "--model-captions has 2 values",
    ),
    (f"{MAKE} images", "--images images and images are two folders"),
    (f"{MAKE} --raters-per-item 0", "--raters-per-item must be at least 1, found 0"),
    (MAKE.replace("--system ours=ours.json", ""), "no system to compare with people: give --system, or"),
    (MAKE.replace("human.json", "no.json"), "cannot read no.json: No such file or directory"),
    (MAKE.replace("--images images", "--images no"), "images not found: no"),
    ("human check nothing", "study folder nothing does not exist; make a study with `vqagen human make-tasks`"),
]


def test_wrong_usage_ends_in_2_and_says_what_would_be_right(vqagen_: Commands) -> None:
    ran = {message: vqagen_(line) for line, message in WRONG_USAGE}

    assert [
        (message, each) for message, each in ran.items() if each.code != code_of(message) or message not in each.err
    ] == []
    assert not Path("study").exists()


# What broke HUMANr ------------------------------------------------------------------------------------------------


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("change", "flags", "code", "message"),
    [
        (lambda: keep_images(1), "", 3, "no attention checks: no item has the use check, and to make them takes texts"),
        (lambda: keep_images(1), "--checks-per-task 0", 0, "1 task of 1 trial "),
        (lambda: None, "--checks-per-task 10", 3, "no trial of a task is scored: --checks-per-task 10"),
        (
            lambda: set_captions(["one", "one"]),
            "--human-human",
            3,
            "no image has two different human captions, which --human-human compares; leave it out",
        ),
        (
            lambda: set_captions([]),
            "",
            3,
            "human.json:1:14: im00.png: expected a list of at least 1, found a list of 0",
        ),
        (lambda: set_captions("a text"), "", 3, "im00.png: expected a list, found 'a text'"),
        (lambda: set_captions(["x", " ", 3]), "", 3, "im00.png[1]: expected a caption, found ' '"),
        (lambda: set_captions(["the same"]), "", 3, "all texts of other images are also texts about this one"),
        (lambda: None, "--imc-per-task 9", 3, "--imc-per-task 9 is more than the 8 different instructed trials"),
        (lambda: None, "--imc-per-task 9", 3, "--checks-per-task 1 and --imc-per-task 9 leave nothing of"),
        (lambda: None, "--trials-per-task 5 --reward-per-task 1.5", 0, "cost: 13.50 for 9 assignments at 1.50, before"),
        (lambda: None, "--trials-per-task 20", 0, "2 tasks of 7 trials"),
        (
            lambda: None,
            "--trials-per-task 20 --checks-per-task 12",
            3,
            "a task would show an image twice: all images of",
        ),
    ],
)
def test_what_crashed_humanr_is_refused_or_works(
    change: Callable[[], object], flags: str, code: int, message: str, vqagen_: Commands
) -> None:
    """Specification 1.9 A4: endless loops, divisions by zero, errors of indexes and types."""
    change()
    ran = vqagen_(f"{MAKE} {flags}")

    assert (ran.code, message in ran.err) == (code, True), ran.err
    assert Path("study").exists() == (code == 0)


def keep_images(number: int) -> None:
    """Delete the images but the first ones."""
    for path in sorted(Path("images").iterdir())[number:]:
        path.unlink()


def set_captions(captions: object) -> None:
    """Give all images these human captions, and `ours` the same ones if they are texts."""
    edit(Path("human.json"), lambda human: human.update(dict.fromkeys(human, captions)))


def test_tasks_are_shorter_if_there_are_few_images(folder: Path, vqagen_: Commands) -> None:
    """Three comparisons of an image take three tasks, each of which has a check about a further image."""
    write_caption_files(folder, images=4, systems=("ours", "b", "c"))
    keep_images(4)
    ran = vqagen_.done(f"{MAKE} --system b=b.json --system c=c.json")

    assert "tasks are shorter than --trials-per-task allows, so that none shows an image twice" in ran.err
    assert "4 tasks of 4 trials" in ran.err
    assert list(plan_faults(load_study("study"))) == []


# Messages ---------------------------------------------------------------------------------------------------------


def test_all_mistakes_of_all_files_are_one_message(folder: Path, vqagen_: Commands) -> None:
    edit(folder / "human.json", lambda human: human.update({"im01.png": "x", "im02.png": [""]}))
    (folder / "ours.json").write_text('{"im01.png": "a",,}', "utf-8")
    ran = vqagen_(MAKE)

    assert ran.code == 3
    assert "human.json:1:" in ran.err and "im01.png: expected a list, found 'x'" in ran.err
    assert "im02.png[0]: expected a caption, found ''" in ran.err
    assert "ours.json:1:18: not valid JSON" in ran.err


def test_images_that_are_missing_anywhere_are_counted_and_named(folder: Path, vqagen_: Commands) -> None:
    edit(folder / "human.json", lambda human: human.pop("im03.png"))
    edit(folder / "ours.json", lambda ours: ours.pop("im05.png"))
    (folder / "images" / "im07.png").unlink()
    ran = vqagen_.done(f"{MAKE} --trials-per-task 5")

    assert "left out: 1 image that the folder lacks, such as im07.png" in ran.err
    assert "left out: 1 image that human.json lacks, such as im03.png" in ran.err
    assert "left out: 1 image that ours.json lacks, such as im05.png" in ran.err
    assert "fit, ours: 9 items, 27 answers, half-width of the 95 % interval about 0.237" in ran.err


# The folder -------------------------------------------------------------------------------------------------------


ENGLISH = json.loads(DEFAULT_TEXTS.read_text("utf-8"))


def test_schema_and_english_words_have_the_same_keys() -> None:
    """In one order, and each has a list of paragraphs or a text."""
    kinds = {key: value.get("$ref") for key, value in json.loads(schema_text("human-texts"))["properties"].items()}

    assert list(kinds) == ["$schema", *ENGLISH]
    assert all((kinds[key] == "#/$defs/paragraphs") == isinstance(words, list) for key, words in ENGLISH.items())
    assert list(schema_faults(ENGLISH, "human-texts")) == []


def test_any_changed_word_is_another_version_of_the_consent() -> None:
    """Raters agree to what they were told, instructions and values of placeholders included."""
    words = texts_of(ENGLISH).words
    changed = {
        key: f"{text} changed" if isinstance(text, str) else [*text, "changed"]
        for key, text in words.items()
        if key != "direction"
    }
    versions = {texts_of({**ENGLISH, key: text}).version for key, text in changed.items()}
    versions |= {texts_of(ENGLISH).version, texts_of({"values": {"pay": "2 euros"}}).version}

    assert len(versions) == len(changed) + 2


def test_raters_are_told_what_they_will_do() -> None:
    """Where questions are asked, nothing says that two texts are compared; all else stays, such as rights and pay."""
    found = json.loads(first_texts(has_questions=True))
    told = " ".join([found["title"], *found["consent"], *found["instructions"], *found["debrief"]])

    assert found.keys() == ENGLISH.keys() and texts_of(found).absent == ()
    assert "left" not in told and "two texts" not in told and "a question to answer" in told
    assert (found["consent"][2:], found["instructions"][-1]) == (ENGLISH["consent"][2:], ENGLISH["instructions"][-1])
    assert json.loads(first_texts(has_questions=False)) == ENGLISH


def test_a_study_that_is_replaced_keeps_what_serving_and_links_need(vqagen_: Commands) -> None:
    """Words, codes, the secret and all other files stay; changed words of trials are those of the items."""
    vqagen_.done(f"{MAKE} --trials-per-task 5")
    edit(Path("study/serving.json"), lambda serving: serving.update(code_completed="C1"))
    edit(Path("study/texts.json"), lambda texts: texts.update(item_prompt="Welcher Text passt?"))
    vqagen_.done("human links study")
    Path("study/revoked.txt").write_text("# none")
    Path("study/notes").mkdir()
    Path("study/notes/mine.txt").write_text("kept")
    before = Path("study/secret").read_bytes()
    assert "study study exists already; give --force to replace it" in vqagen_(MAKE).err
    vqagen_.done(f"{MAKE} --trials-per-task 6 --force")

    study = load_study("study")
    assert study.serving.code_completed == "C1"
    assert {item.prompt for item in study.items.values()} == {"Welcher Text passt?"}
    assert Path("study/secret").read_bytes() == before
    assert Path("study/secret").stat().st_mode & 0o077 == 0
    assert Path("study/revoked.txt").read_text() == "# none"
    assert Path("study/notes/mine.txt").read_text() == "kept"
    assert not Path("study/links").exists()


IN_THE_WAY = [
    ("study/answers.sqlite", "study study was served already"),
    ("study/.lock", "study study was served already"),
    ("folder/a.txt", "output folder folder holds other files than a study"),
]


def test_nothing_else_is_replaced_even_by_force(vqagen_: Commands) -> None:
    vqagen_.done(f"{MAKE} --trials-per-task 5")
    wrong = []
    for file, message in IN_THE_WAY:
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text("kept")
        ran = vqagen_(f"{MAKE.replace('--out study', f'--out {Path(file).parts[0]}')} --trials-per-task 5 --force")
        if ran.code != 2 or message not in ran.err or Path(file).read_text() != "kept":
            wrong.append((message, ran))
        Path(file).unlink()
    assert wrong == []
    assert "does not exist; create it first" in vqagen_(MAKE.replace("--out study", "--out no/study")).err


def test_captions_that_equal_a_persons_are_left_out_and_counted(vqagen_: Commands) -> None:
    """But for capitals, spaces and the stop at the end: a rater would see the same text twice."""
    people = {name: [texts[0]] for name, texts in json.loads(Path("human.json").read_text()).items()}
    write_json(Path("human.json"), people)
    names = sorted(people)
    edit(
        Path("ours.json"),
        lambda ours: ours.update({names[0]: people[names[0]][0], names[1]: f" {people[names[1]][0].upper()[:-1]} "}),
    )
    ran = vqagen_.done(MAKE)
    pairs = [item for item in load_study("study").items.values() if item.use == "real"]

    assert "left out: 2 comparisons, as ours wrote what people wrote\n" in ran.err
    assert sorted(item.image for item in pairs) == names[2:]
    write_json(Path("ours.json"), {name: texts[0] for name, texts in people.items()})
    refused = vqagen_(MAKE.replace("--out study", "--out other"))
    assert (refused.code, "ours wrote what people wrote: there is nothing to compare" in refused.err) == (3, True)


# Images -----------------------------------------------------------------------------------------------------------


def in_format(name: str, **options: Any) -> bytes:
    """Return a small image in a format of Pillow."""
    written = BytesIO()
    Image.new("RGB", (8, 6), (1, 2, 3)).save(written, name, **options)
    return written.getvalue()


BAD_IMAGES = [
    (b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "SVG is refused, since it may hold programs"),
    (b"no image at all", "this is no image that can be read"),
    (b"", "this is no image that can be read"),
    (picture(3)[:-20], "the image cannot be used: "),
    (in_format("TIFF"), "browsers do not show TIFF images; convert the image to PNG"),
]


def test_bad_images_are_named(vqagen_: Commands) -> None:
    """All of them at once."""
    for number, (content, _) in enumerate(BAD_IMAGES):
        Path(f"images/im{number:02}.png").write_bytes(content)
    ran = vqagen_(MAKE)

    assert ran.code == 3
    for number, (_, message) in enumerate(BAD_IMAGES):
        assert f"images/im{number:02}.png: {message}" in ran.err
    assert not Path("study").exists()


def test_an_image_that_links_to_outside_is_refused(vqagen_: Commands) -> None:
    """A link inside of the folder is followed."""
    Path("secret.png").write_bytes(picture(77))
    for name, target in (("im03.png", "../secret.png"), ("im04.png", "im05.png")):
        Path("images", name).unlink()
        Path("images", name).symlink_to(target)
    ran = vqagen_(MAKE)

    assert ran.code == 3
    assert "images/im03.png: the image is a symbolic link to outside of the folder" in ran.err
    assert "im04.png" not in ran.err


def test_a_picture_with_two_names_is_one_picture(vqagen_: Commands) -> None:
    """No task shows it twice, and a caption of one name is no wrong text for the other."""
    for number in range(6):
        Path(f"images/im{number + 6:02}.png").write_bytes(picture(number))
    ran = vqagen_.done(f"{MAKE} --trials-per-task 4")

    assert "6 images with the picture of another one" in ran.err
    assert list(plan_faults(load_study("study"))) == []
    assert len(os.listdir("study/images")) == 6


def test_the_size_of_an_image_is_that_which_browsers_show(vqagen_: Commands) -> None:
    """Cameras say by a tag that they were held upright."""
    turned = Image.Exif()
    turned[0x0112] = 6
    Path("images/im03.png").write_bytes(in_format("JPEG", exif=turned))
    vqagen_.done(f"{MAKE} --trials-per-task 5")
    images = load_study("study").images

    assert (images["im03.png"].width, images["im03.png"].height) == (6, 8)
    assert images["im03.png"].mime == "image/jpeg"
    assert images["im03.png"].file == f"images/{images['im03.png'].sha256}.jpeg"


# Items ------------------------------------------------------------------------------------------------------------

PAIR: dict[str, Any] = {
    "image": "im00.png",
    "candidates": [
        {"text": "A text of ours", "source": "ours", "role": "system"},
        {"text": "A text of people", "source": "people", "role": "reference"},
    ],
}
CANDIDATES = PAIR["candidates"]
ASKED: dict[str, Any] = {
    "kind": "answer",
    "prompt": "How many cubes are there?",
    "image": "im00.png",
    "form": {"type": "number", "largest": 9},
    "gold": {"answer": "3"},
    "record": {"question_index": 7},
}
GRID: dict[str, Any] = {
    **ASKED,
    "prompt": "Click the cube.",
    "form": {"type": "cell", "rows": 1, "columns": 2, "area": [0, 0, 1, 0.5], "cells": ["A1", ""]},
    "gold": {"answer": "A1"},
}
AGE: dict[str, Any] = {"kind": "answer", "use": "before", "prompt": "How old are you?", "form": {"type": "number"}}


def write_items(*records: Any) -> None:
    """Write items.jsonl, records as JSON and texts as they are."""
    Path("items.jsonl").write_text(
        "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in records), "utf-8"
    )


MAKE_ITEMS = "human make-tasks --items items.jsonl --images images --out study"


def test_items_are_planned_as_they_are(vqagen_: Commands) -> None:
    """The reference is the first text, systems are in order, and what is not given has defaults."""
    systems = {
        **PAIR,
        "dimension": "naturalness",
        "candidates": [{**CANDIDATES[0], "source": "b", "id": "x"}, {**CANDIDATES[0], "source": "a", "id": "y"}],
        "scale": {"least": 1, "largest": 5, "left": "this"},
        "strata": {"template": "one_hop"},
    }
    rated = {"kind": "rate", "candidates": [CANDIDATES[0]], "weight": 2.5, "comment": "A text alone."}
    write_items(PAIR, systems, rated)
    vqagen_.done(f"{MAKE_ITEMS} --checks-per-task 0 --trials-per-task 2")
    found: dict[str, Any] = {item.kind + item.dimension: item for item in load_study("study").items.values()}

    assert [each.source for each in found["comparefit"].candidates] == ["people", "ours"]
    assert [each.id for each in found["comparenaturalness"].candidates] == ["y", "x"]
    assert found["comparenaturalness"].strata == {"template": "one_hop"}
    assert found["comparenaturalness"].scale.left == "this"
    assert found["comparenaturalness"].scale.right == found["comparefit"].scale.right == "only the right text fits"
    assert (found["ratefit"].scale.largest, found["ratefit"].weight, found["ratefit"].image) == (7, 2.5, "")


def test_the_items_of_a_study_make_it_again(vqagen_: Commands) -> None:
    """What make-tasks writes it also reads: the same items, checks, practice and questions included, in their order."""
    size = "--trials-per-task 5 --imc-per-task 1"
    vqagen_.done(f"{MAKE} {size} --human-human")
    write_items({**AGE, "prompt": "B?"}, AGE, *Path("study/items.jsonl").read_text().splitlines(), GRID, ASKED)
    vqagen_.done(f"{MAKE_ITEMS.replace('study', 'once')} {size}")
    vqagen_.done(f"human make-tasks --items once/items.jsonl --images images --out again {size}")

    assert Path("again/items.jsonl").read_bytes() == Path("once/items.jsonl").read_bytes()
    assert [trial.item.prompt for trial in load_study("again").trials(next(iter(load_study("again").tasks)), 1)][
        :2
    ] == [
        "B?",
        "How old are you?",
    ]
    assert list(plan_faults(load_study("again"))) == []


def test_checks_are_made_of_texts_by_people(vqagen_: Commands) -> None:
    """If the file has none, and about the fit to an image alone. Questions alone need none."""
    pairs = [
        {
            "image": f"im{number:02}.png",
            "candidates": [{**CANDIDATES[0], "text": f"ours {number}"}, {**CANDIDATES[1], "text": f"people {number}"}],
        }
        for number in range(4)
    ]
    write_items(*pairs)
    vqagen_.done(f"{MAKE_ITEMS} --trials-per-task 3")
    checks = [item for item in load_study("study").items.values() if item.use == "check"]
    assert len(checks) == 2
    assert all(each.text.startswith("people") for check in checks for each in check.candidates)

    write_items(*({**pair, "dimension": "naturalness"} for pair in pairs))
    ran = vqagen_(f"{MAKE_ITEMS.replace('study', 'other')} --trials-per-task 3")
    assert (ran.code, "no attention checks: no item has the use check" in ran.err) == (3, True)

    write_items(ASKED, GRID)
    ran = vqagen_.done(MAKE_ITEMS.replace("study", "asked"))
    assert "vqagen: no attention checks: no item has the use check" in ran.err
    assert "questions: 2 items, 6 answers\n" in ran.err

    write_items(ASKED, {**GRID, "image": "im01.png", "use": "check"})
    vqagen_.done(MAKE_ITEMS.replace("study", "checked"))
    assert {item.kind: item.use for item in load_study("checked").items.values() if item.use == "check"} == {
        "answer": "check"
    }


FAULTS: list[tuple[Any, str]] = [
    ("{", "items.jsonl:2:2: not valid JSON: the file ends, but the object"),
    ([1], "items.jsonl:2:1: expected an object, found a list of 1"),
    ({**PAIR, "kind": "answers"}, "kind: expected 'compare', 'rate' or 'answer', found 'answers'; did you mean"),
    ({**PAIR, "dimensoin": "fit"}, "dimensoin: unknown key 'dimensoin'; did you mean 'dimension'?"),
    ({**PAIR, "schema": "vqagen.human.item/3"}, "schema: expected 'vqagen.human.item/2', found 'vqagen.human.item/3'"),
    ({**PAIR, "image": "im00.pgn"}, "image: unknown image 'im00.pgn'; did you mean 'im00.png'?"),
    ({**PAIR, "candidates": CANDIDATES[:1]}, "candidates: expected 2 texts to compare, found 1"),
    ({**PAIR, "kind": "rate"}, "candidates: expected 1 text to rate, found 2"),
    ({**PAIR, "candidates": [CANDIDATES[0]] * 2}, "candidates[1].source: both texts are of the source 'ours'"),
    ({**PAIR, "candidates": [CANDIDATES[0], {"text": "x"}]}, "candidates[1]: missing key 'source'; missing key 'role'"),
    ({**PAIR, "candidates": [CANDIDATES[0], {**CANDIDATES[1], "text": " "}]}, "candidates[1].text: expected some text"),
    ({**PAIR, "gold": {"better": "3"}}, "gold.better: unknown candidate '3'; known: 1, 2"),
    ({**PAIR, "gold": {"better": "1"}}, "candidates[0].role: expected 'reference' where use is 'check'"),
    ({**PAIR, "use": "practice"}, "gold: missing key 'better' where use is 'practice'"),
    ({**PAIR, "gold": {"value": 12}}, "gold.value: must be a whole number from 1 to 9"),
    ({**PAIR, "use": "instructed"}, "gold: missing key 'value' where use is 'instructed'"),
    ({**PAIR, "use": "real", "gold": {"better": "2"}}, "gold.better: expected no known answer where use is 'real'"),
    ({**PAIR, "scale": {"least": 9, "largest": 1}}, "scale: expected 2 to 15 values, found least 9 and largest 1"),
    ({**PAIR, "form": {"type": "text"}}, "form: expected none where kind is 'compare'"),
    ({**PAIR, "weight": 0}, "weight: expected more than 0, found 0"),
    ({**PAIR, "use": "check", "image": "", "gold": {"better": "2"}}, "image: a check needs an image"),
    ({**PAIR, "use": "before"}, "kind: expected 'answer' where use is 'before', found 'compare'"),
    (PAIR, "items.jsonl:2:1: the same item as in line 1; leave one out"),
    (
        {**PAIR, "gold": {"better": "1"}, "candidates": [{**CANDIDATES[1], "text": "x"}, CANDIDATES[1]]},
        "candidates: its wrong text stands in a scored item as one by people about the same image",
    ),
    ({**ASKED, "prompt": " "}, "prompt: expected the question, found none"),
    ({**ASKED, "form": None}, "form: missing: how to answer (type options, number, text or cell)"),
    ({**ASKED, "scale": {}}, "scale: expected none where kind is 'answer'"),
    ({**ASKED, "candidates": CANDIDATES}, "candidates: expected 0 texts to answer, found 2"),
    ({**ASKED, "gold": {"answer": "10"}}, "gold.answer: must be a whole number from 0 to 9"),
    ({**ASKED, "gold": {"answer": "three"}}, "gold.answer: must be a whole number from 0 to 9"),
    ({**ASKED, "gold": {"value": 3}, "use": "check"}, "gold: missing key 'answer' where use is 'check'"),
    ({**ASKED, "form": {"type": "number", "least": 9, "largest": 9}}, "form.largest: expected more than 9, found 9"),
    ({**ASKED, "form": {"type": "options", "options": ["3", "3"]}}, "form.options: an answer is listed twice"),
    ({**ASKED, "form": {"type": "options", "options": ["3"]}}, "form.options: expected a list of at least 2"),
    ({**ASKED, "form": {"type": "option"}}, "form.type: expected 'options', 'number', 'text' or 'cell'"),
    ({**GRID, "form": {**GRID["form"], "cells": ["A1"]}}, "form.cells: expected 2 answers, 1 rows of 2, found 1"),
    ({**GRID, "form": {**GRID["form"], "cells": ["", ""]}}, "form.cells: expected a cell that can be chosen"),
    ({**GRID, "form": {**GRID["form"], "area": [0.5, 0, 0.6, 1]}}, "form.area: expected left, top, width and height"),
    ({**GRID, "image": ""}, "image: missing: the picture of the grid"),
    ({**AGE, "image": "im00.png"}, "image: expected none where use is 'before': it is about the rater"),
    ({**AGE, "series": "a"}, "series: expected none where use is 'before'"),
]


@pytest.mark.slow
def test_a_mistake_in_items_is_located(vqagen_: Commands) -> None:
    wrong = []
    for record, message in FAULTS:
        write_items(PAIR, record)
        ran = vqagen_(f"{MAKE_ITEMS} --checks-per-task 0")
        if ran.code != 3 or message not in ran.err or "items.jsonl:2:" not in ran.err or "items.jsonl:1:" in ran.err:
            wrong.append((message, ran.err))

    assert wrong == []


def test_a_series_is_about_one_image_and_in_order(vqagen_: Commands) -> None:
    first = {**ASKED, "series": "a", "place": 1}
    write_items(first, {**first, "prompt": "And spheres?"}, {**first, "place": 2, "image": "im01.png"})
    ran = vqagen_(MAKE_ITEMS)

    assert "items.jsonl:2:1: place: line 1 has place 1 of series a already" in ran.err
    assert "items.jsonl:3:1: image: another image than in line 1; a series is about one" in ran.err


@pytest.mark.slow
def test_schema_and_type_agree_about_items() -> None:
    """What one takes the other takes; the file of items tells the mistakes by the schema."""
    variants: list[dict[str, Any]] = [PAIR, ASKED, GRID, AGE, *(each for each, _ in FAULTS if isinstance(each, dict))]
    odd = (
        None,
        "",
        " ",
        "x",
        0,
        1,
        -1,
        1.0,
        0.5,
        True,
        10**7,
        [],
        [""],
        ["x"],
        {},
        {"type": "number"},
        {"x": 1},
        {"x": None},
    )
    variants += [{**base, key: value} for base in (PAIR, GRID) for key in StudyItem.__struct_fields__ for value in odd]
    variants += [{**GRID, "form": {**GRID["form"], key: value}} for key in GRID["form"] for value in odd]
    variants += [
        {**PAIR, "candidates": [{**CANDIDATES[0], key: value}]} for key in ("id", *CANDIDATES[0]) for value in odd
    ]
    for part, keys in (("gold", ("better", "value", "answer", "reason")), ("scale", ("least", "left"))):
        variants += [{**PAIR, part: {key: value}} for key in keys for value in odd]
    variants += [{**PAIR, "history": [{"text": "x", "answer": value}]} for value in odd]
    differing = []
    for record in variants:
        try:
            msgspec.convert(record, StudyItem)
            is_taken = True
        except msgspec.ValidationError:
            is_taken = False
        if is_taken != (list(schema_faults(record, "human-items")) == []):
            differing.append(record)

    assert differing == []
