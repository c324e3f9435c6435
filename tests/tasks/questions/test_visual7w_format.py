"""Questions as a Visual7W dataset: the pairs are those of the records, and their options give nothing away."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st
from scene_records import sampled_scenes

from vqagen import (
    BadInput,
    BaselineFiles,
    RunOptions,
    UsageError,
    baseline,
    export_file,
    find_domain,
    merge,
    write_questions,
    write_records,
)
from vqagen.score.items import read_items
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.questions.task import QuestionTask, question_task
from vqagen.tasks.questions.visual7w import PairFamily, WrongOptions, deal, split_of, type_of

COLORS = ("red", "green", "blue", "gray", "brown", "cyan")
SETTINGS = QuestionSettings(only=("zero_hop.json", "one_hop.json"), reset_counts_every=4)
MARKET = QuestionSettings(only=("asking.json", "counting.json", "existence.json"))


def write_scenes(domain: str = "clevr") -> None:
    """Write twelve scenes, of every split."""
    splits = ("train", "val", "test", "new") * 3
    scenes = [scene | {"split": split} for scene, split in zip(sampled_scenes(12, 3, domain), splits, strict=True)]
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))


@pytest.fixture(autouse=True)
def _scenes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_scenes()


@cache
def task_of(settings: QuestionSettings, dialect: str) -> QuestionTask:
    """Return a task, whose domain is loaded once."""
    files = find_domain("market" if settings == MARKET else "clevr")
    return question_task(files, settings, RecordForm(dialect=dialect))


def write(out: str, form: str = "visual7w", settings: QuestionSettings = SETTINGS, dialect: str = "generator") -> None:
    """Write questions, or a dataset of them."""
    name = "made.jsonl" if form == "visual7w" else out
    write_records(task_of(settings, dialect), name, "scenes.json", options=RunOptions(force=True))
    if form == "visual7w":
        export_file(name, out, form, force=True)


@cache
def whole() -> list[bytes]:
    """Return the dataset of one run, and its info."""
    write("whole.json")
    return contents("whole.json")


def place_whole() -> None:
    """Write the dataset of one run as dataset.json."""
    for name, content in zip(("dataset.json", "dataset.json.info.json"), whole(), strict=True):
        Path(name).write_bytes(content)


def pairs_of(path: str) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Yield each image and each of its pairs, as a plain reader of JSON finds them."""
    for image in json.loads(Path(path).read_text())["images"]:
        yield from ((image, pair) for pair in image["qa_pairs"])


def contents(place: str) -> list[bytes]:
    """The file, and the info beside it."""
    return [Path(place).read_bytes(), Path(f"{place}.info.json").read_bytes()]


# The pairs ------------------------------------------------------------------------------------------------------------


def text_of(answer: object) -> str:
    """Return an answer as a text, written once more."""
    if isinstance(answer, list):
        return ", ".join(answer)
    return {True: "yes", False: "no"}[answer] if isinstance(answer, bool) else str(answer)


@pytest.mark.quick(1)
@pytest.mark.parametrize("settings", [SETTINGS, MARKET], ids=["clevr", "market"])
def test_the_pairs_say_what_the_records_say(settings: QuestionSettings) -> None:
    """Read with nothing but a JSON parser: keys in their order, and numbers of questions as numbers of pairs.

    A pair has three wrong options, or all that the file has: different answers of the same kind; nothing is invented,
    and yes has no other option than no.
    """
    write_scenes("market" if settings == MARKET else "clevr")
    write("questions.json", "json", settings=settings)
    write("dataset.json", settings=settings)
    records = json.loads(Path("questions.json").read_text())["questions"]
    known: dict[str, set[str]] = defaultdict(set)
    for record in records:
        known[kind_of(record)].add(text_of(record["answer"]))

    sizes = set()
    for record, (image, pair) in zip(records, pairs_of("dataset.json"), strict=True):
        assert list(image) == ["image_id", "filename", "split", "qa_pairs"]
        assert list(pair) == ["qa_id", "question", "answer", "multiple_choices", "type"]
        assert (image["image_id"], image["filename"]) == (record["image_index"], record["image_filename"])
        assert image["split"] == split_of(record["split"])
        assert (pair["qa_id"], pair["question"]) == (record["question_index"], record["question"])
        assert pair["answer"] == text_of(record["answer"])
        wrong, others = pair["multiple_choices"], known[kind_of(record)] - {pair["answer"]}
        assert set(wrong) <= others and len(set(wrong)) == len(wrong) == min(3, len(others))
        sizes.add(len(wrong))
    assert {1, 3} <= sizes


def kind_of(record: dict[str, Any]) -> str:
    """Return the kind of an answer, written once more."""
    named: str = record["program"][-1]["type"]
    return {bool: "yes or no", int: "number"}.get(type(record["answer"]), named)


def test_few_answers_have_few_wrong_options() -> None:
    """Yes has the option no, also if no question has that answer; the only color has none."""
    options = WrongOptions(0)
    options.count(PairFamily("exist", "Bool"), "yes")
    options.count(PairFamily("color", "query_color"), "red")

    assert options.draw(PairFamily("exist", "Bool"), "yes") == ["no"]
    assert options.draw(PairFamily("color", "query_color"), "red") == []


TYPES = {
    ("What color is the cube?", "query_color"): "what",
    ("There is a cube; how big is it?", "query_size"): "how",
    ("Find the cube; how many things are what it is?", "Integer"): "how",
    ("Which shape is it?", "query_shape"): "which",
    ("Is what is red also big?", "Bool"): "yes/no",
    ("Name its color.", "query_color"): "what",
    ("Count the whatnots.", "Integer"): "how",
}


def test_the_type_is_the_first_question_word() -> None:
    assert {asked: type_of(*asked) for asked in TYPES} == TYPES


def test_a_split_is_one_that_the_toolkit_scores() -> None:
    names = {"train": "train", "val": "val", "test": "test", "trainA": "train", "new": "val", None: "val"}

    assert {name: split_of(name) for name in names} == names


# The options ----------------------------------------------------------------------------------------------------------

counts_of_answers = st.dictionaries(st.sampled_from(COLORS), st.integers(1, 30), min_size=1)


@given(counts_of_answers, st.integers(2, 4), st.integers(0, 99))
def test_an_answer_has_options_for_each_of_its_questions(counts: dict[str, int], size: int, seed: int) -> None:
    """Or none, if it is in no block."""
    for answer, own in deal(counts, size, Random(seed)).items():
        assert len(own) in (0, counts[answer])
        assert all(len(set(options)) == size and answer in options for options in own)


@given(st.integers(1, 12), st.integers(2, 4), st.integers(0, 99), st.data())
def test_each_option_of_a_block_is_right_once(blocks: int, size: int, seed: int, data: st.DataObject) -> None:
    """So no rule that sees only the options is right for more than one of them, if no answer is too frequent."""
    counts: Counter[str] = Counter()
    for _ in range(blocks):
        counts.update(data.draw(st.permutations(COLORS))[:size])
    dealt = deal(counts, size, Random(seed))

    right = Counter((frozenset(options), answer) for answer, own in dealt.items() for options in own)
    assert sum(right.values()) == blocks * size
    for options, answer in right:
        assert {right[options, other] for other in options} == {right[options, answer]}


def test_an_answer_that_is_too_frequent_is_always_an_option() -> None:
    """Then the options tell no more than that it is frequent."""
    counts = {"0": 50, "1": 12, "2": 12, "3": 12, "4": 12, "5": 12}
    dealt = deal(counts, 4, Random(1))

    assert all("0" in options for own in dealt.values() for options in own)
    right = Counter((frozenset(options), answer) for answer, own in dealt.items() if answer != "0" for options in own)
    for options, answer in right:
        assert {right[options, other] for other in options - {"0"}} == {right[options, answer]}


def test_rare_families_share_blocks() -> None:
    """Four families with one question each are one block of one option each."""
    options = WrongOptions(0)
    families = [PairFamily(color, "query_color") for color in COLORS[:4]]
    for family in families:
        options.count(family, family.name)

    for family in families:
        assert set(options.draw(family, family.name)) == set(COLORS[:4]) - {family.name}


# Runs -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_any_output_becomes_the_same_dataset() -> None:
    """A selection from the whole output is made already."""
    settings = replace(SETTINGS, dedupe="all")
    made = []
    for name in ("questions.json", "questions.jsonl", "questions.parquet", "questions.json.gz"):
        write(name, "as named", settings, "release")
        export_file(name, "dataset.json", "visual7w", force=True)
        made.append(Path("dataset.json").read_bytes())

    assert len(set(made)) == 1


@pytest.mark.slow
def test_shards_merge_to_the_bytes_of_one_file() -> None:
    """Version 1.0 wrote such shards; the options of all questions are drawn anew."""
    for number in (1, 2, 3):
        write_records(task_of(SETTINGS, "generator"), f"{number}.json", "scenes.json", shard=f"{number}/3")
        export_file(f"{number}.json", f"part-{number}.json", "visual7w")
    merged = merge(["part-3.json", "part-1.json", "part-2.json"], "merged.json")

    assert contents("merged.json") == whole()
    assert merged.records == sum(1 for _ in pairs_of("merged.json"))


def test_the_baselines_of_the_toolkit_answer_it() -> None:
    """The right option is read first, and its pairs have the split of their image."""
    place_whole()
    for name in ("most-frequent-option", "majority"):
        baseline(name, BaselineFiles("dataset.json", mode="mc", split="val"), f"{name}.json")
        guesses = json.loads(Path(f"{name}.json").read_text())
        asked = [pair["qa_id"] for image, pair in pairs_of("dataset.json") if image["split"] == "val"]
        assert [guess["qa_id"] for guess in guesses] == asked != []
    items = read_items("dataset.json")
    assert all(items.options.at(at).texts[0] == items.answers.at(at) for at in range(len(items)))


# Bad input ------------------------------------------------------------------------------------------------------------


def test_questions_without_answers_are_no_dataset() -> None:
    write_questions("scenes.json", "hidden.json", None, SETTINGS, RecordForm(hide_answers=True))
    with pytest.raises(UsageError, match=r"questions without answers \(--hide-answers\) cannot become visual7w"):
        export_file("hidden.json", "dataset.json", "visual7w")

    assert sorted(path.name for path in Path().iterdir()) == ["hidden.json", "scenes.json"]


def test_a_dataset_of_another_tool_is_not_converted() -> None:
    Path("dataset.json").write_text('{"dataset": "visual7w-telling", "images": []}')
    with pytest.raises(BadInput, match="its info is missing"):
        export_file("dataset.json", "made.json", "visual7w")


CHANGES = [
    ('"answer":"', '"answer":"x', "the records have the checksum"),
    ('"multiple_choices":["', '"multiple_choices":["x', "the records have the checksum"),
    ('"type":"', '"type":"x', "the records have the checksum"),
    ("#", "##", "the records have the checksum"),
    ('"qa_id":3,', '"qa_id":4,', "the records have the checksum"),
    ('"qa_id":3,', '"qa_id":4000,', "images[0]: not an image of such a file"),
    ('"qa_pairs":[', '"qa_pairs":[4,', "images[0]: not an image of such a file"),
    ('"vqagen"', '"other"', "vqagen: expected the families of the pairs"),
    ("\n]", "", "not valid JSON"),
]
"""A part of a dataset, what replaces it, and the message."""


def test_a_changed_shard_does_not_merge() -> None:
    place_whole()
    text = Path("dataset.json").read_text()
    for old, new, message in CHANGES:
        assert old in text
        Path("dataset.json").write_text(text.replace(old, new, 1))
        with pytest.raises(BadInput, match=re.escape(message)):
            merge(["dataset.json"], "merged.json")
        assert not Path("merged.json").exists()
