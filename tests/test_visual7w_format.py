"""Questions as a Visual7W dataset: the pairs are those of the records, and their options give nothing away."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import permutations
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scene_records import sampled_scenes

from vqagen.api import (
    BadInput,
    BaselineFiles,
    RunOptions,
    UsageError,
    VqagenError,
    baseline,
    convert,
    evaluate,
    find_domain,
    merge,
    write_questions,
    write_records,
)
from vqagen.judge.gold.discovery import read_gold
from vqagen.run.progress import OnProgress, Progress
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.questions.shapes.visual7w import split_of, type_of
from vqagen.tasks.questions.shapes.wrong_options import Family, WrongOptions, deal
from vqagen.tasks.questions.task import QuestionTask, question_task

COLORS = ("red", "green", "blue", "gray", "brown", "cyan")
SETTINGS = QuestionSettings(only=("zero_hop.json", "one_hop.json"), reset_counts_every=4)
MARKET = QuestionSettings(only=("asking.json", "counting.json", "existence.json"))


@pytest.fixture(autouse=True)
def _scenes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write_scenes(sampled_scenes(12, seed=3))


@cache
def task_of(settings: QuestionSettings, dialect: str) -> QuestionTask:
    """Return a task, whose domain is loaded once."""
    files = find_domain("market" if settings == MARKET else "clevr")
    return question_task(files, settings, RecordForm(dialect=dialect))


def write_scenes(scenes: list[dict[str, Any]]) -> None:
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))


def write(
    out: str,
    form: str = "visual7w",
    shard: str | None = None,
    settings: QuestionSettings = SETTINGS,
    dialect: str = "generator",
    on_progress: OnProgress = lambda _: None,
    **options: Any,
) -> None:
    task, options = task_of(settings, dialect), RunOptions(**options)
    write_records(task, out, "scenes.json", format=form, shard=shard, options=options, on_progress=on_progress)


def write_oracle(out: str) -> int:
    """Write predictions of the dataset that are all right, and return how many there are."""
    pairs = [pair for _, pair in pairs_of("dataset.json")]
    right = [{"qa_id": pair["qa_id"], "candidates": [{"answer": pair["answer"]}]} for pair in pairs]
    Path(out).write_text(json.dumps(right))
    return len(right)


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


@pytest.mark.parametrize("settings", [SETTINGS, MARKET], ids=["clevr", "market"])
def test_the_pairs_say_what_the_records_say(settings: QuestionSettings) -> None:
    """Read with nothing but a JSON parser: keys in their order, and numbers of questions as numbers of pairs."""
    write_scenes(sampled_scenes(12, seed=3, domain="market" if settings == MARKET else "clevr"))
    write("questions.json", "json", settings=settings)
    write("dataset.json", settings=settings)
    records = json.loads(Path("questions.json").read_text())["questions"]
    found = list(pairs_of("dataset.json"))

    assert len(found) == len(records)
    for record, (image, pair) in zip(records, found, strict=True):
        assert list(image) == ["image_id", "filename", "split", "qa_pairs"]
        assert list(pair) == ["qa_id", "question", "answer", "multiple_choices", "type"]
        assert (image["image_id"], image["filename"]) == (record["image_index"], record["image_filename"])
        assert (pair["qa_id"], pair["question"]) == (record["question_index"], record["question"])
        assert pair["answer"] == text_of(record["answer"])


@pytest.mark.parametrize("settings", [SETTINGS, MARKET], ids=["clevr", "market"])
def test_the_options_are_different_answers_of_the_same_kind(settings: QuestionSettings) -> None:
    """Three wrong ones, or all that the file has; nothing is invented, and yes has no other option than no."""
    write_scenes(sampled_scenes(12, seed=3, domain="market" if settings == MARKET else "clevr"))
    write("questions.json", "json", settings=settings)
    write("dataset.json", settings=settings)
    known: dict[str, set[str]] = defaultdict(set)
    kinds = {}
    for record in json.loads(Path("questions.json").read_text())["questions"]:
        kind = {bool: "yes or no", int: "number"}.get(type(record["answer"]), record["program"][-1]["type"])
        kinds[record["question_index"]] = kind
        known[kind].add(text_of(record["answer"]))

    sizes = set()
    for _, pair in pairs_of("dataset.json"):
        wrong, others = pair["multiple_choices"], known[kinds[pair["qa_id"]]] - {pair["answer"]}
        assert set(wrong) <= others
        assert len(set(wrong)) == len(wrong) == min(3, len(others))
        sizes.add(len(wrong))
    assert {1, 3} <= sizes


def test_yes_has_the_option_no_if_no_question_has_that_answer() -> None:
    options = WrongOptions(0)
    options.count(Family("exist", "Bool"), "yes")

    assert options.draw(Family("exist", "Bool"), "yes") == ["no"]


def test_the_only_answer_of_its_kind_has_no_wrong_options() -> None:
    options = WrongOptions(0)
    options.count(Family("color", "query_color"), "red")

    assert options.draw(Family("color", "query_color"), "red") == []


@pytest.mark.parametrize(
    ("question", "kind", "expected"),
    [
        ("What color is the cube?", "query_color", "what"),
        ("There is a cube; how big is it?", "query_size", "how"),
        ("Find the cube; how many things are what it is?", "Integer", "how"),
        ("Which shape is it?", "query_shape", "which"),
        ("Is what is red also big?", "Bool", "yes/no"),
        ("Name its color.", "query_color", "what"),
        ("Count the whatnots.", "Integer", "how"),
    ],
)
def test_the_type_is_the_first_question_word(question: str, kind: str, expected: str) -> None:
    assert type_of(question, kind) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [("train", "train"), ("val", "val"), ("test", "test"), ("trainA", "train"), ("new", "val"), (None, "val")],
)
def test_a_split_is_one_that_the_toolkit_scores(name: str | None, expected: str) -> None:
    assert split_of(name) == expected


def test_images_keep_their_split() -> None:
    scenes = sampled_scenes(3, seed=3)
    write_scenes([scene | {"split": split} for scene, split in zip(scenes, ("train", "val", "test"), strict=True)])
    write("dataset.json")

    assert [image["split"] for image in json.loads(Path("dataset.json").read_text())["images"]] == [
        *("train", "val", "test")
    ]


def test_a_scene_without_a_number_has_that_of_its_place() -> None:
    nameless = [{key: value for key, value in each.items() if key != "image_index"} for each in sampled_scenes(2)]
    write_scenes(nameless)
    write("dataset.json")

    assert [image["image_id"] for image in json.loads(Path("dataset.json").read_text())["images"]] == [0, 1]


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
    families = [Family(color, "query_color") for color in COLORS[:4]]
    for family in families:
        options.count(family, family.name)

    for family in families:
        assert set(options.draw(family, family.name)) == set(COLORS[:4]) - {family.name}


def test_no_order_of_preference_beats_the_most_frequent_answer() -> None:
    """Uniform wrong options are guessed half of the time: of four numbers, the least is most often right."""
    counts = {"0": 30, "1": 30, "2": 28, "3": 12, "4": 8, "5": 4}
    right = Counter((options, answer) for answer, own in deal(counts, 4, Random(2)).items() for options in own)
    shares = []
    for order in permutations(counts):
        chosen = ((min(options, key=order.index) == answer, count) for (options, answer), count in right.items())
        shares.append(sum(is_right * count for is_right, count in chosen) / right.total())

    assert right.total() == 112
    assert max(shares) < 30 / 112 + 0.03


# Runs -----------------------------------------------------------------------------------------------------------------


def test_shards_merge_to_the_bytes_of_one_run() -> None:
    """The options of all questions are drawn anew."""
    write("dataset.json")
    for number in (1, 2, 3):
        write(f"{number}.json", shard=f"{number}/3")
    merged = merge(["3.json", "1.json", "2.json"], "merged.json")

    assert contents("merged.json") == contents("dataset.json")
    assert merged.records == len(list(pairs_of("dataset.json")))


def test_a_stopped_run_is_finished_with_the_same_bytes() -> None:
    def stop(progress: Progress) -> None:
        if progress.items >= 8:
            raise VqagenError("stopped")

    write("dataset.json")
    with pytest.raises(VqagenError, match="stopped"):
        write("cut.json", on_progress=stop)
    write("cut.json", resume=True)
    write("cut.json", resume=True)  # nothing is left to do

    assert contents("cut.json") == contents("dataset.json")


@pytest.mark.slow
def test_workers_make_the_same() -> None:
    write("dataset.json")
    write("two.json", workers=2)

    assert contents("two.json") == contents("dataset.json")


def test_convert_gives_the_bytes_of_the_run() -> None:
    """From every format that holds all of a question, in both dialects."""
    for source, dialect in (("questions.jsonl", "generator"), ("questions.parquet", "release")):
        write("dataset.json", dialect=dialect, force=True)
        write(source, source.partition(".")[2], dialect=dialect)
        convert(source, "made.json", format="visual7w", force=True)
        assert contents("made.json") == contents("dataset.json")


def test_only_the_questions_that_stay_give_options() -> None:
    """A selection from the whole output is asked twice: by the survey of answers and by the writer."""
    settings = replace(SETTINGS, dedupe="all")
    write("dataset.json", settings=settings)
    write("questions.jsonl", "jsonl", settings=settings)
    convert("questions.jsonl", "made.json", format="visual7w")

    assert contents("made.json") == contents("dataset.json")


def test_another_seed_draws_other_options() -> None:
    drawn = []
    for seed in (0, 1):
        options = WrongOptions(seed)
        for color in COLORS * 10:
            options.count(Family("color", "query_color"), color)
        drawn.append([options.draw(Family("color", "query_color"), color) for color in COLORS * 10])

    assert drawn[0] != drawn[1]


# Readers --------------------------------------------------------------------------------------------------------------


def test_predictions_about_the_dataset_fit_the_questions() -> None:
    """A pair has the number of its question, so that programs and families group the results."""
    write("questions.json", "json")
    write("dataset.json")
    write_oracle("result.json")

    assert evaluate("questions.json", "result.json").correct.all()


@pytest.mark.parametrize("name", ["most-frequent-option", "majority"])
def test_the_baselines_of_the_toolkit_answer_it(name: str) -> None:
    write("dataset.json")
    baseline(name, BaselineFiles("dataset.json", mode="mc", split="val"), "guesses.json")
    guesses = json.loads(Path("guesses.json").read_text())

    assert [guess["qa_id"] for guess in guesses] == [pair["qa_id"] for _, pair in pairs_of("dataset.json")]


def test_the_options_are_read_with_the_right_one_first() -> None:
    write("dataset.json")
    for (image, pair), item in zip(pairs_of("dataset.json"), read_gold("dataset.json").items(), strict=True):
        assert item.options == (pair["answer"], *pair["multiple_choices"])
        assert (item.right, item.image, item.fields["type"]) == (0, str(image["image_id"]), pair["type"])


# Bad input ------------------------------------------------------------------------------------------------------------


def test_questions_without_answers_are_no_dataset() -> None:
    records = RecordForm(hide_answers=True)
    message = r"questions without answers \(--hide-answers\) cannot be written as visual7w"
    with pytest.raises(UsageError, match=message):
        write_questions("scenes.json", "dataset.json", None, SETTINGS, records, format="visual7w")
    write_questions("scenes.json", "hidden.json", None, SETTINGS, records)
    with pytest.raises(UsageError, match=message):
        convert("hidden.json", "dataset.json", format="visual7w")

    assert sorted(path.name for path in Path().iterdir()) == ["hidden.json", "scenes.json"]


def test_a_dataset_does_not_become_questions_again() -> None:
    write("dataset.json")
    with pytest.raises(UsageError, match=r"dataset.json is written as visual7w, which does not hold all of a question"):
        convert("dataset.json", "questions.json", format="json")


def test_a_dataset_of_another_tool_is_not_converted() -> None:
    Path("dataset.json").write_text('{"dataset": "visual7w-telling", "images": []}')
    with pytest.raises(BadInput, match="its info is missing"):
        convert("dataset.json", "made.json", format="visual7w")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"answer":"', '"answer":"x', "the records have the checksum"),
        ('"multiple_choices":["', '"multiple_choices":["x', "the records have the checksum"),
        ('"type":"', '"type":"x', "the records have the checksum"),
        ("#", "##", "the records have the checksum"),
        ('"qa_id":3,', '"qa_id":4,', "the records have the checksum"),
        ('"qa_id":3,', '"qa_id":4000,', r"images\[0\]: not an image of such a file"),
        ('"qa_pairs":[', '"qa_pairs":[4,', r"images\[0\]: not an image of such a file"),
        ('"vqagen"', '"other"', "vqagen: expected the families of the pairs"),
        ("\n]", "", "not valid JSON"),
    ],
)
def test_a_changed_shard_does_not_merge(old: str, new: str, message: str) -> None:
    write("dataset.json")
    text = Path("dataset.json").read_text()
    assert old in text
    Path("dataset.json").write_text(text.replace(old, new, 1))
    with pytest.raises(BadInput, match=message):
        merge(["dataset.json"], "merged.json")

    assert not Path("merged.json").exists()
