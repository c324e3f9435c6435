"""Exports: what each target reads is what was in the source, and what it cannot hold is refused."""

from __future__ import annotations

import base64
import csv
import json
import re
import resource
import runpy
from collections.abc import Iterator
from itertools import count, groupby
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from commands import ROOT, Commands
from pyarrow import parquet

import vqagen
from vqagen.cli.export import command
from vqagen.dataset.rows import COLUMNS, question_row, read_rows, write_rows
from vqagen.errors import BadInput, UsageError
from vqagen.export import FILES, TARGETS
from vqagen.export.examples import MODES, OPTION_COLUMNS
from vqagen.export.exporting import ASKING, HOLD_HIDDEN, export_dataset as export
from vqagen.pictures.png import png_file
from vqagen.rewards import HOW_TO_REPLY, accuracy, easyr1_score, score, verl_score
from vqagen.run.making import write_dialogs, write_questions, write_scenes, write_trials
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm
from vqagen.tasks.sampling.settings import SamplingSettings

ASKED = {
    "count": ("3", ["2", "3"]),
    "yes/no": ("yes", ["yes", "no"]),
    "value": ("red", ["red", "blue", "gray", "green"]),
}
SPLITS = {"train": 4, "test": 2}
"""Split -> its pictures, each of which has a question of each type."""


def picture(number: int) -> bytes:
    """A PNG that is like no other."""
    return png_file(np.full((8, 8, 3), number, dtype=np.uint8))


def rows_of(splits: dict[str, int], first: int = 0) -> Iterator[dict[str, Any]]:
    """The rows of a small dataset with options."""
    for split, pictures in splits.items():
        for image in range(first, first + pictures):
            shown = {
                "image": {"bytes": picture(image), "path": f"{image}.png"},
                "image_id": image,
                "scene": '{"objects": []}',
                "points": [[2, 3], [5, 6]],
                "boxes": [[1, 2, 3, 4], []],
                "masks": "[null, null]",
            }
            for answer_type, (answer, options) in ASKED.items():
                asked = {"question": f"What is the {answer_type}\tof “{image}”?", "answer": answer, "program": []}
                asked |= {"choices": options, "choice": options.index(answer)}
                yield {**question_row(asked, shown, next(numbers), answer_type, "zero_hop.json#0"), "split": split}
        first += pictures


numbers = count()


def write_dataset(folder: Path) -> Path:
    """Write the small dataset."""
    (folder / "data").mkdir(parents=True)
    by_split = groupby(rows_of(SPLITS), key=lambda row: row["split"])
    for split, rows in by_split:
        write_rows(folder / f"data/{split}-00000-of-00001.parquet", rows)
    (folder / "questions.jsonl.info.json").write_text('{"generator": {"name": "vqagen", "domain": "market"}}')
    (folder / "README.md").write_text("---\nlicense: cc0-1.0\n---\n\nPictures: CC0.\n")
    return folder


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a dataset."""
    return write_dataset(tmp_path_factory.mktemp("dataset"))


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with trials, and with questions and dialogs about scenes whose pictures lie in `images`."""
    folder = tmp_path_factory.mktemp("others")
    write_trials(folder / "trials", DirectorSettings(count=6, render=("png",)))
    write_scenes(folder / "scenes.json", SamplingSettings(count=2))
    write_questions(
        folder / "scenes.json", folder / "questions.jsonl", settings=QuestionSettings(templates_per_image=3)
    )
    write_dialogs(folder / "scenes.json", folder / "dialogs.jsonl", settings=DialogSettings(dialogs_per_image=1))
    (folder / "images").mkdir()
    for number, scene in enumerate(json.loads((folder / "scenes.json").read_text())["scenes"]):
        (folder / "images" / scene["image_filename"]).write_bytes(picture(number))
    return folder


def load(out: Path, builder: str | None = None, **options: Any) -> Any:
    """Read an export with `datasets`."""
    quiet = {"cache_dir": str(out.parent / "cache"), **options}
    return pytest.importorskip("datasets").load_dataset(builder or str(out), **quiet)


def lines(file: Path) -> list[Any]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


def png_of(image: Any) -> int:
    """The number of the picture that Pillow shows."""
    pixel: int = image.convert("RGB").getpixel((0, 0))[0]
    return pixel


def test_help_and_the_page_name_every_target() -> None:
    page = (ROOT / "docs/export.md").read_text("utf-8")

    (shown,) = (each.type.choices for each in command.params if each.name == "to")
    assert (*TARGETS, *FILES) == tuple(shown)
    assert [target for target in shown if not re.search(rf"(?m)^\|[^|]*`{target}`", page)] == []


# Targets that are read by the real package ---------------------------------------------------------------------------


@pytest.mark.slow
def test_hugging_face_reads_rows_and_pictures(dataset: Path, tmp_path: Path) -> None:
    done = export(dataset, tmp_path / "out", "hf")
    read = load(tmp_path / "out")

    assert done.splits == {split: 3 * pictures for split, pictures in SPLITS.items()}
    assert {split: len(table) for split, table in read.items()} == done.splits
    assert read["train"].column_names == [name for name in COLUMNS if name not in OPTION_COLUMNS]
    written = [row for row in read_rows(dataset) if row.pop("split") == "test"]
    for row, expected in zip(read["test"], written, strict=True):
        assert png_of(row.pop("image")) == expected["image_id"]
        assert row == {name: value for name, value in expected.items() if name not in ("image", *OPTION_COLUMNS)}
    assert "license: cc0-1.0" in (tmp_path / "out/README.md").read_text()


@pytest.mark.slow
def test_an_imagefolder_has_each_picture_once(dataset: Path, tmp_path: Path) -> None:
    export(dataset, tmp_path / "out", "imagefolder")
    read = load(tmp_path / "out", "imagefolder", data_dir=str(tmp_path / "out"))

    assert len(list((tmp_path / "out").rglob("*.png"))) == sum(SPLITS.values())
    assert [png_of(row["image"]) for row in read["train"]] == [number for number in range(4) for _ in ASKED]
    assert set(read["train"].column_names) == set(COLUMNS) - set(OPTION_COLUMNS)
    assert load(tmp_path / "out")["test"].num_rows == 6


@pytest.mark.slow
def test_rows_of_hugging_face_ask_for_letters_where_options_are_asked_for(dataset: Path, tmp_path: Path) -> None:
    """The options stand in the problem, and the letter in the solution; the reward takes the letter and the text."""
    for target, builder in (("hf", None), ("imagefolder", "imagefolder")):
        export(dataset, out := tmp_path / target, target, mode="mc")
        read = load(out, builder, **({"data_dir": str(out)} if builder else {}))["test"]

        assert set(read.column_names) == set(COLUMNS)
        for row, (answer, options) in zip(read, list(ASKED.values()) * 2, strict=True):
            listed = [f"{letter}) {text}" for letter, text in zip("ABCD", options, strict=False)]
            assert row["problem"].splitlines() == [row["question"], *listed]
            assert (row["answer"], row["choices"], row["choice"]) == (answer, options, options.index(answer))
            letter = "ABCD"[row["choice"]]
            assert row["solution"] == f"<answer> {letter} </answer>"
            columns = {name: [row[name]] * 2 for name in ("answer", "answer_type", "choices")}
            assert accuracy(completions=[letter, answer], **columns) == [1, 1]


def test_a_letter_is_no_answer_to_an_open_question(dataset: Path, tmp_path: Path) -> None:
    """No row of any target has options, so that no reward takes a letter for one."""
    for target in [target for target in TARGETS if target != "vlmevalkit"]:
        export(dataset, out := tmp_path / target, target)
        rows = [row for file in out.rglob("*.jsonl") for row in lines(file)]
        rows += [row for file in out.rglob("*.json") for row in json.loads(file.read_text())]
        for file in out.rglob("*.parquet"):
            rows += parquet.read_table(file).to_pylist()
        assert rows, target
        assert not [row for row in rows if '"choice' in json.dumps(row, default=str)], target
        for row in rows if target in ("trl", "verl") else ():
            asked = row.get("extra_info", row)
            assert score("A", asked["answer"], asked["answer_type"], asked.get("choices")) == 0


@pytest.mark.slow
def test_trl_gets_chats_that_our_reward_scores(dataset: Path, tmp_path: Path) -> None:
    """In both modes: an option may be named by its letter or its text."""
    for mode, replies in {"open": ["3", "yes", "red"], "mc": ["B", "A", "A"]}.items():
        read = load(tmp_path / mode if export(dataset, tmp_path / mode, "trl", mode=mode) else tmp_path)["train"]
        first = read[0]
        text = first["prompt"][0]["content"][1].pop("text")

        assert first["prompt"] == [{"role": "user", "content": [{"type": "image", "text": None}, {"type": "text"}]}]
        assert text.splitlines()[1:] == [*(["A) 2", "B) 3"] if mode == "mc" else []), "", HOW_TO_REPLY]
        assert first["completion"][0]["content"][0]["text"] == replies[0]
        assert first["solution"] == f"<answer> {replies[0]} </answer>"
        assert first["domain"] == "market"
        assert png_of(first["image"]) == 0
        said = [[{"role": "assistant", "content": f"<think></think><answer>{reply}</answer>"}] for reply in replies]
        columns = {name: read[name][:3] for name in read.column_names if name not in ("prompt", "completion")}
        assert accuracy(prompts=read["prompt"][:3], completions=said, **columns) == [1, 1, 1]
        assert accuracy(prompts=read["prompt"][:3], completions=[*said[1:], said[0]], **columns) != [1, 1, 1]


@pytest.mark.slow
def test_easyr1_gets_texts_with_as_many_tags_as_pictures(dataset: Path, tmp_path: Path) -> None:
    export(dataset, tmp_path / "out", "easyr1")
    read = load(tmp_path / "out", "parquet", data_files={"train": str(tmp_path / "out/train.parquet")})["train"]

    for row, number in zip(read, [number for number in range(4) for _ in ASKED], strict=True):
        assert row["problem"].count("<image>") == len(row["images"]) == 1
        assert png_of(row["images"][0]) == number
        assert easyr1_score({"response": row["answer"], "ground_truth": row["answer"]})["accuracy"] == 1


def test_verl_gets_prompts_and_what_its_rule_needs(dataset: Path, tmp_path: Path) -> None:
    for mode in MODES:
        export(dataset, tmp_path / mode, "verl", mode=mode)
        row = parquet.read_table(tmp_path / mode / "test.parquet").to_pylist()[4]

        assert set(row) == {"data_source", "prompt", "images", "ability", "reward_model", "extra_info"}
        assert [row["prompt"][0]["role"], row["prompt"][0]["content"].count("<image>")] == ["user", len(row["images"])]
        assert row["reward_model"] == {"style": "rule", "ground_truth": "yes"}
        assert row["extra_info"]["index"] == 4
        assert row["extra_info"]["split"] == "test"
        reply = {"open": "yes", "mc": "A"}[mode]
        scored = verl_score(row["data_source"], reply, row["reward_model"]["ground_truth"], row["extra_info"])
        assert scored["acc"] == 1


@pytest.mark.slow
def test_inspect_reads_samples_and_scores_replies(dataset: Path, tmp_path: Path) -> None:
    pytest.importorskip("inspect_ai")
    from director_logs import evaluated
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    replies = {"open": ["three", "ANSWER: no", "I see red."], "mc": ["ANSWER: B", "ANSWER: B", "ANSWER: A"]}
    for mode in MODES:
        export(dataset, out := tmp_path / mode, "inspect", mode=mode)
        task = runpy.run_path(str(out / "task.py"))["test"]()
        outputs = [ModelOutput.from_content("mockllm", reply) for reply in replies[mode] * 2]
        for output in outputs:
            output.usage = ModelUsage()  # or Inspect would fetch a tokenizer to count them
        (log,) = evaluated(task, tmp_path / "logs", model=get_model("mockllm/model", custom_outputs=outputs))

        first = task.dataset[0]
        file = Path(first.input[-1].content[0].image)
        assert file.is_absolute()
        assert file.read_bytes() == picture(4)
        assert [first.target, first.choices] == (["3", None] if mode == "open" else ["B", ["2", "3"]])
        assert log.results is not None
        assert log.results.scores[0].metrics["accuracy"].value == pytest.approx(2 / 3)


def test_vlmevalkit_finds_pictures_and_options_as_they_were(dataset: Path, tmp_path: Path) -> None:
    """As its pages and `image_base.py` describe: pandas reads the table, and a short `image` is another row's index."""
    import pandas

    export(dataset, tmp_path / "out", "vlmevalkit", mode="mc", name="clevr")
    read = pandas.read_csv(tmp_path / "out/clevr_train.tsv", sep="\t")
    images = dict(zip(map(str, read["index"]), map(str, read["image"]), strict=True))
    asked = [row for row in read_rows(dataset) if row["split"] == "train"]

    assert {"A", "B", "question", "answer", "category", "l2-category", "split"} < set(read.columns)
    assert sum(len(image) > 64 for image in images.values()) == SPLITS["train"]
    for (_, line), row in zip(read.iterrows(), asked, strict=True):
        image = images[str(line["index"])]
        whole = image if len(image) > 64 else images[image]
        assert base64.b64decode(whole) == row["image"]["bytes"]
        assert line["question"] == row["problem"]
        options = [str(line[letter]) for letter in "ABCD" if not pandas.isna(line[letter])]
        assert options == [{"2": "two", "3": "three"}.get(text, text) for text in row["choices"]]
        assert line["answer"] == "ABCD"[row["choice"]]


@pytest.mark.slow
def test_lmms_eval_finds_a_task_with_its_functions(
    dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As its guide describes: YAML beside utils.py; the folder is that in which it runs."""

    class Loader(yaml.SafeLoader):
        pass

    Loader.add_constructor("!function", lambda loader, node: node.value)
    export(dataset, tmp_path / "out", "lmms-eval", name="clevr")
    monkeypatch.chdir(tmp_path / "out")
    task = yaml.load(Path("clevr_test.yaml").read_text(), Loader)
    read = load(Path("."), task["dataset_path"], **task["dataset_kwargs"])[task["test_split"]]
    utils = runpy.run_path("utils.py")
    functions = [utils[task[key].removeprefix("utils.")] for key in ("doc_to_visual", "doc_to_text", "process_results")]

    assert task["task"] == "clevr_test"
    assert [each["metric"] for each in task["metric_list"]] == ["accuracy"]
    for reply, credit in (("There are three.", 1), ("3", 1), ("2 or 3", 0), ("4", 0)):
        assert functions[2](read[0], [reply]) == {"accuracy": {"id": read[0]["id"], "score": credit}}
    assert png_of(functions[0](read[0])[0]) == 4
    asked = functions[1](read[0], task["lmms_eval_specific_kwargs"]["default"])
    assert asked == f"{read[0]['question']}\nAnswer with a single word or with a number in digits."
    assert read[0][task["doc_to_target"]] == "3"


@pytest.mark.slow
@pytest.mark.parametrize("split", ["train", "test"])
def test_logs_of_exports_are_scored_by_the_ids_of_questions(
    split: str, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A perfect model has an accuracy of 1, although neither splits nor exports number their rows as questions are.

    lmms-eval leaves the document out of the samples that it logs, and keeps what the task says of the reply.
    """
    rows = [row for row in read_rows(dataset) if int(row["question_id"]) % 5]  # some questions are left out
    asked = [
        {
            "question_index": row["question_id"],
            "image_index": row["image_id"],
            "image_filename": f"{row['image_id']}.png",
        }
        | {key: row[key] for key in ("question", "answer", "choices", "split")}
        for row in rows
    ]
    (tmp_path / "images").mkdir()
    for number in range(6):
        (tmp_path / f"images/{number}.png").write_bytes(picture(number))
    (tmp_path / "asked.json").write_text(json.dumps({"questions": asked}))
    monkeypatch.chdir(tmp_path)
    for target, mode in (("lmms-eval", "open"), ("vlmevalkit", "mc")):
        export("asked.json", target, target, mode=mode, name="asked")
    documents = load(Path("lmms-eval"), "parquet", data_files={split: f"lmms-eval/data/{split}-00000-of-00001.parquet"})
    score = runpy.run_path("lmms-eval/utils.py")["process_results"]
    log = [
        {"doc_id": number, "target": document["answer"], "filtered_resps": [document["answer"]], "doc_hash": "1a",
         **score(document, [document["answer"]])}
        for number, document in enumerate(documents[split])
    ]  # fmt: skip
    with open(f"vlmevalkit/asked_{split}.tsv", newline="") as file:
        table = [{**row, "prediction": row["answer"]} for row in csv.DictReader(file, delimiter="\t")]
    with open("result.tsv", "w", newline="") as out:
        writer = csv.DictWriter(
            out, [name for name in table[0] if name != "image"], delimiter="\t", extrasaction="ignore"
        )
        writer.writeheader()
        writer.writerows(table)

    for predictions, mode in ((log, "open"), ("result.tsv", "mc")):
        found = vqagen.evaluate("asked.json", predictions, mode=mode, split=split)
        assert (found.overall().accuracy, found.coverage.missing, found.coverage.unknown) == (1, 0, 0)


# Targets that are files, by their pages ------------------------------------------------------------------------------


def test_llava_and_vlm_r1_get_conversations_with_paths_of_pictures(dataset: Path, tmp_path: Path) -> None:
    """LLaVA a list, and VLM-R1 lines, whose first question and answer its loader takes."""
    export(dataset, out := tmp_path / "out", "llava")
    read = json.loads((out / "train.json").read_text())

    assert len(read) == 12
    assert read == lines(out / "train.jsonl")
    assert set(read[0]) == {"id", "image", "conversations"}
    assert (out / read[0]["image"]).read_bytes() == picture(0)
    assert [each["from"] for each in read[0]["conversations"]] == ["human", "gpt"]
    assert read[0]["conversations"][0]["value"].startswith("<image>\nWhat is the count")
    assert read[0]["conversations"][1]["value"] == "3"
    assert len(list((out / "images").iterdir())) == sum(SPLITS.values())


def test_a_place_is_said_as_a_point_or_as_boxes(dataset: Path, tmp_path: Path) -> None:
    """And not by the numbers of objects, which no picture shows; whoever would score that wrongly is refused."""
    shown = {key: row for key, row in next(rows_of({"train": 1})).items() if key in PICTURE_COLUMNS}
    asked = [
        ("point", "1", [[20, 30]], [[10, 20, 30, 40]], "(20, 30)"),
        ("mark", "0, 1", [[2, 3], [20, 30]], [[1, 2, 3, 4], [10, 20, 30, 40]], "[1, 2, 3, 4], [10, 20, 30, 40]"),
        ("mark", "1", [[20, 30]], None, "(20, 30)"),
        ("mark", "none", [], [], "none"),
    ]
    rows = []
    for number, (function, answer, points, boxes, _) in enumerate(asked):
        record = {"question": "Where?", "answer": answer, "answer_points": points, "answer_boxes": boxes}
        program = [{"type": function, "inputs": [], "value_inputs": []}]
        rows.append(question_row({**record, "program": program}, shown, number, "places", "point.json#0"))
    (tmp_path / "set/data").mkdir(parents=True)
    write_rows(tmp_path / "set/data/train-00000-of-00001.parquet", rows)
    export(tmp_path / "set", tmp_path / "llava", "llava")
    read = json.loads((tmp_path / "llava/train.json").read_text())

    assert [row["solution"] for row in rows] == [f"<answer> {told} </answer>" for *_, told in asked]
    assert [row["conversations"][1]["value"] for row in read] == [told for *_, told in asked]
    for target in ("easyr1", "lmms-eval", "inspect"):
        with pytest.raises(UsageError, match=f"^{target} cannot hold answers that are places: "):
            export(tmp_path / "set", tmp_path / target, target)
        assert not (tmp_path / target).exists()


PICTURE_COLUMNS = ("image", "image_id", "scene", "points", "boxes", "masks")


def test_a_reasoning_is_what_a_model_learns_to_think(dataset: Path, tmp_path: Path) -> None:
    """Of supervised training; the solution is the answer alone."""
    rows = [{**row, "reasoning": "There are two."} for row in read_rows(dataset, "train")]
    (tmp_path / "set/data").mkdir(parents=True)
    write_rows(tmp_path / "set/data/train-00000-of-00001.parquet", rows)
    replies = []
    for target in ("llava", "sharegpt", "trl"):
        export(tmp_path / "set", tmp_path / target, target)
    for target in ("llava", "sharegpt"):
        read = json.loads((tmp_path / target / "train.json").read_text())
        replies.append([row["conversations"][1]["value"] for row in read])
    read = load(tmp_path / "trl")["train"]
    replies.append([row["completion"][0]["content"][0]["text"] for row in read])

    assert replies == 3 * [[f"<think>There are two.</think> <answer>{row['answer']}</answer>" for row in rows]]
    assert {row["reasoning"] for row in read} == {"There are two."}
    assert [row["solution"] for row in read] == [row["solution"] for row in rows]


def test_llama_factory_gets_a_description_of_its_files(dataset: Path, tmp_path: Path) -> None:
    export(dataset, out := tmp_path / "out", "sharegpt", name="clevr")
    info = json.loads((out / "dataset_info.json").read_text())
    entry = info["clevr_test"]
    read = json.loads((out / entry["file_name"]).read_text())

    assert list(info) == ["clevr_train", "clevr_test"]
    assert entry["formatting"] == "sharegpt"
    assert len({row["id"] for row in read}) == len(read)
    for row in read:
        messages, images = row[entry["columns"]["messages"]], row[entry["columns"]["images"]]
        assert sum(each["value"].count("<image>") for each in messages) == len(images) == 1
        assert (out / images[0]).is_file()


# Dialogs, trials, files of questions ----------------------------------------------------------------------------------

HOLD_DIALOGS = ("hf", "trl", "llava", "sharegpt", "inspect")


@pytest.mark.slow
def test_a_dialog_is_one_conversation_or_a_row_for_each_round(others: Path, tmp_path: Path) -> None:
    for target in HOLD_DIALOGS:
        export(others / "dialogs.jsonl", tmp_path / target, target)
    dialogs = lines(others / "dialogs.jsonl")
    first, last = dialogs[0], dialogs[0]["rounds"][-1]
    whole = json.loads((tmp_path / "llava/sample.json").read_text())[0]["conversations"]
    chats, samples = load(tmp_path / "trl")["sample"], lines(tmp_path / "inspect/sample.jsonl")

    assert len(whole) == 2 * len(first["rounds"])
    assert not (tmp_path / "llava/sample.jsonl").exists()
    assert whole[0]["value"].splitlines()[:2] == ["<image>", first["caption"]["text"]]
    assert sum("<image>" in each["value"] for each in whole) == 1
    assert len(chats) == len(samples) == sum(len(each["rounds"]) for each in dialogs)
    assert [each["role"] for each in chats[2]["prompt"]] == ["user", "assistant", "user", "assistant", "user"]
    assert samples[9]["input"][-1]["content"][0]["text"] == last["question"]
    assert chats[9]["prompt"][-1]["content"][0]["text"] == f"{last['question']}\n\n{HOW_TO_REPLY}"
    assert [HOW_TO_REPLY in str(each) for each in chats[9]["prompt"]].count(True) == 1
    assert chats[9]["answer"] == samples[9]["target"] == str(last["answer"])
    assert load(tmp_path / "hf")["sample"][0]["questions"][-1] == last["question"]


@pytest.mark.slow
def test_a_trial_is_asked_with_its_story_and_picture(others: Path, tmp_path: Path) -> None:
    for target in [each for each in TARGETS if each != "vlmevalkit"]:
        assert export(others / "trials", tmp_path / target, target).splits == {"train": 6}
    trial = lines(others / "trials/trials.jsonl")[0]
    row = load(tmp_path / "hf")["train"][0]

    assert row["answer"] == trial["answer"]
    assert row["answer_type"] == "cell"
    assert row["solution"] == f"<answer> {trial['answer']} </answer>"
    assert row["problem"].startswith("You take part in a game for two")
    assert row["problem"].endswith(f'The director says: "{trial["instruction"]}"')
    assert row["image"].size == (800, 800) or row["image"].size[0] > 100


@pytest.mark.slow
def test_a_file_of_questions_is_exported_with_its_pictures(others: Path, tmp_path: Path) -> None:
    export(others / "questions.jsonl", tmp_path / "out", "trl")
    read, written = load(tmp_path / "out")["sample"], lines(others / "questions.jsonl")

    assert [row["answer"] for row in read] == [each["answer"] for each in written]
    assert [png_of(row["image"]) for row in read] == [each["image_index"] for each in written]
    assert set(read["domain"]) == {"clevr"}
    kinds = {"count": "count", "exist": "yes/no", "query": "value"}
    for row, each in zip(read, written, strict=True):
        assert row["answer_type"] == kinds.get(each["question_type"], row["answer_type"])


@pytest.mark.slow
def test_prompts_ask_for_the_form_that_the_reward_format_wants(dataset: Path, tmp_path: Path) -> None:
    """Once in each prompt and in one text; `--prompt plain` leaves it out, and answers alone are left to learn."""
    for target in ASKING:
        asked, plain = (tmp_path / f"{target}-{prompt}" for prompt in ("format", "plain"))
        for out, prompt in ((asked, None), (plain, "plain")):
            export(dataset, out, target, prompt=prompt)
        texts = {out: [*_texts(out)] for out in (asked, plain)}

        assert len(texts[asked]) == len(texts[plain]) > 0
        for with_form, without in zip(texts[asked], texts[plain], strict=True):
            assert with_form.count("<answer>") == HOW_TO_REPLY.count("<answer>")
            assert with_form == f"{without}\n\n{HOW_TO_REPLY}"


def _texts(out: Path) -> Iterator[str]:
    """The prompts of an export of trl, verl, EasyR1 or LLaVA."""
    for file in sorted(out.rglob("*.json")):
        yield from (each["conversations"][0]["value"] for each in json.loads(file.read_text()))
    for file in sorted(out.rglob("*.parquet")):
        for row in parquet.read_table(file).to_pylist():
            said = row.get("problem") or row["prompt"][-1]["content"]
            yield said if isinstance(said, str) else said[-1]["text"]


@pytest.mark.slow
def test_a_test_set_with_hidden_answers_is_exported_with_empty_ones(others: Path, tmp_path: Path) -> None:
    """Its README says how predictions are scored; what trains or scores by answers is refused."""
    write_questions(
        others / "scenes.json",
        tmp_path / "hidden.json",
        settings=QuestionSettings(templates_per_image=3),
        form=RecordForm(hide_answers=True),
    )
    for target in TARGETS:
        out = tmp_path / target
        if target not in HOLD_HIDDEN:
            with pytest.raises(UsageError, match=f"{target} cannot hold (hidden answers|questions without options)"):
                export(tmp_path / "hidden.json", out, target, images=others)
            continue
        export(tmp_path / "hidden.json", out, target, images=others)
        read = load(out)["sample"]
        written = json.loads((tmp_path / "hidden.json").read_text())["questions"]

        assert [row["question"] for row in read] == [each["question"] for each in written]
        assert {(row["answer"], row["solution"], row["program"]) for row in read} == {("", "", "[]")}
        assert "scores predictions with the file that has the answers" in (out / "README.md").read_text()


@pytest.mark.slow
def test_the_readme_lists_the_columns_of_the_export(dataset: Path, tmp_path: Path) -> None:
    """Those that its rows have, and no other."""
    differing = {}
    for target in TARGETS:
        for mode in MODES if target != "vlmevalkit" else ["mc"]:
            export(dataset, out := tmp_path / f"{target}-{mode}", target, mode=mode)
            text = (out / "README.md").read_text().partition("## Columns")[2].partition("# Card")[0]
            listed = set(re.findall(r"^- `([^`]+)`: .", text, re.MULTILINE))
            if listed != (found := _columns(out)):
                differing[target, mode] = (listed, found)

    assert differing == {}


def _columns(out: Path) -> set[str]:
    """The keys of the first row of an export."""
    for file in sorted(out.rglob("*.parquet")):
        return {*parquet.read_schema(file).names}
    for file in sorted(out.rglob("train*.json")):
        return {*json.loads(file.read_text())[0]}
    for file in sorted(out.rglob("*.tsv")):
        return {*file.read_text().splitlines()[0].split("\t")}
    (file, *_) = sorted(out.rglob("*.jsonl"))
    return {*lines(file)[0]}


def test_rows_tell_the_reward_the_words_of_ones_own_domain(dataset: Path, tmp_path: Path) -> None:
    """As JSON, in every target that is rewarded or scored by vqagen; a shipped domain is named."""
    words = {"language": "en", "attributes": {"shade": {"red": ["crimson lake"]}}}
    write_dataset(own := tmp_path / "own")
    info = {"generator": {"name": "vqagen", "domain": "farm", "vocabulary": words}}
    (own / "questions.jsonl.info.json").write_text(json.dumps(info))
    for target in ("trl", "verl", "easyr1", "inspect", "lmms-eval"):
        export(own, tmp_path / target, target)
    row, asked = (
        parquet.read_table(min((tmp_path / target).rglob("*train*.parquet"))).to_pylist()[2]
        for target in ("trl", "verl")
    )
    about = asked["extra_info"]

    assert json.loads(row["domain"]) == words
    said = "<think>Dark.</think><answer>crimson lake</answer>"
    assert accuracy(completions=[said], **{name: [row[name]] for name in ("answer", "answer_type", "domain")}) == [1]
    assert verl_score("", said, about["answer"], about)["acc"] == 1
    reward = runpy.run_path(str(tmp_path / "easyr1/reward.py"))["reward"]
    inputs = {"response": said, "ground_truth": "red", "response_length": 3}
    assert reward(inputs)["accuracy"] == reward([inputs])[0]["accuracy"] == 1
    lmms = runpy.run_path(str(tmp_path / "lmms-eval/utils.py"))["process_results"]
    asked = {"id": "7", "answer": "red", "answer_type": "value"}
    assert lmms(asked, ["It is crimson lake."]) == {"accuracy": {"id": "7", "score": 1}}
    assert repr(row["domain"]) in (tmp_path / "inspect/task.py").read_text()


# Pictures of others ---------------------------------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """A folder `in` with questions and a picture, links that lead out of it, and secrets outside."""
    (inside := tmp_path / "in").mkdir()
    (tmp_path / "secret.png").write_text("not for you")
    (tmp_path / "private.png").write_bytes(picture(1))
    (inside / "text.png").write_text("no picture")
    (inside / "good.png").write_bytes(picture(2))
    (inside / "same.png").symlink_to("good.png")
    (inside / "link.png").symlink_to("../private.png")
    (inside / "images").symlink_to("..")
    return inside


OUTSIDE = {
    "/etc/passwd": "is not inside the folder of the pictures",
    "../secret.png": "is not inside the folder of the pictures",
    "x/../../private.png": "is not inside the folder of the pictures",
    "link.png": "is behind a symbolic link to outside of",
    "private.png": "is behind a symbolic link to outside of",
    "text.png": "is no picture: its content is of another kind",
}
"""Name of a picture -> why it is refused; `private.png` lies behind the link that is called images."""


@pytest.mark.parametrize("name", OUTSIDE)
def test_a_picture_outside_of_its_folder_gets_into_no_export(name: str, outside: Path, tmp_path: Path) -> None:
    (file := outside / "questions.jsonl").write_text(
        "".join(
            json.dumps(
                {"question": "?", "answer": "a", "choices": ["a", "b"], "question_index": at, "image_filename": each}
            )
            + "\n"
            for at, each in enumerate(("good.png", "same.png", name))
        )
    )
    for target in TARGETS:
        with pytest.raises(BadInput, match=rf"questions\[2\]\.image_filename: .*{re.escape(OUTSIDE[name])}"):
            export(file, tmp_path / "out", target, mode="mc")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_a_picture_of_a_trial_stays_in_its_folder(others: Path, tmp_path: Path) -> None:
    (trials := tmp_path / "trials").mkdir()
    (tmp_path / "private.png").write_bytes(picture(1))
    for file in (others / "trials").glob("trials.jsonl*"):
        (trials / file.name).write_text(file.read_text().replace("images/000003.png", "../private.png"))
    (trials / "images").mkdir()
    for file in (others / "trials/images").iterdir():
        (trials / "images" / file.name).write_bytes(file.read_bytes())
    with pytest.raises(BadInput, match=r"trials\[3\]\.image: '\.\./private\.png' is not inside the folder"):
        export(trials, tmp_path / "out", "trl")


def test_what_a_row_of_parquet_calls_a_picture_is_one(tmp_path: Path) -> None:
    """Its name stays a name, wherever it points."""
    (tmp_path / "data").mkdir()
    file = tmp_path / "data/train-00000-of-00001.parquet"
    row = {**next(rows_of({"train": 1})), "image_id": 7}
    write_rows(file, [{**row, "image": {"bytes": b"secret", "path": "a.png"}}])
    with pytest.raises(BadInput, match="row 0 has no picture"):
        export(tmp_path, tmp_path / "out", "hf")
    for path in ("../..", "..", None, "/etc/passwd"):
        write_rows(file, [{**row, "image": {"bytes": picture(3), "path": path}}])
        export(tmp_path, tmp_path / "out", "llava", force=True)
        (saved,) = [each.name for each in (tmp_path / "out/images").iterdir()]
        assert saved == ("passwd" if path == "/etc/passwd" else "7.png")


def test_two_pictures_of_one_name_stay_two_in_a_table(tmp_path: Path) -> None:
    """VLMEvalKit's rows name the row that has the same picture."""
    rows = []
    for folder, number in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.png").write_bytes(picture(number))
        row = {"question": "?", "answer": "a", "choices": ["a", "b"], "image_filename": f"{folder}/x.png"}
        rows.append(json.dumps({**row, "question_index": number}))
    (tmp_path / "q.jsonl").write_text("\n".join(rows))
    export(tmp_path / "q.jsonl", tmp_path / "out", "vlmevalkit", mode="mc")
    _, *table = (tmp_path / "out/vqagen_train.tsv").read_text().splitlines()

    assert [base64.b64decode(line.split("\t")[1]) for line in table] == [picture(1), picture(2)]


def test_without_pictures_no_text_says_that_there_is_one(dataset: Path, tmp_path: Path) -> None:
    for target in [each for each in TARGETS if each not in ("imagefolder", "vlmevalkit")]:
        export(dataset, out := tmp_path / target, target, without_pictures=True)
        texts = [file.read_text() for file in out.rglob("*.json*")]
        columns = [{*parquet.read_schema(file).names} for file in out.rglob("*.parquet")]

        assert not any("<image>" in text or '"image"' in text for text in texts if target != "inspect"), target
        assert not any({"image", "images"} & names for names in columns), target
        assert not list(out.rglob("*.png"))


@pytest.mark.slow
def test_the_same_source_gives_the_same_bytes(dataset: Path, tmp_path: Path) -> None:
    """Nothing in an export names its folder."""
    differing = []
    for target in TARGETS:
        mode = "mc" if target == "vlmevalkit" else "open"
        for place in ("one", "another/place"):
            (tmp_path / place).mkdir(parents=True, exist_ok=True)
            export(dataset, tmp_path / place / target, target, mode=mode)
        one, other = (
            {file.relative_to(folder): file.read_bytes() for file in sorted(folder.rglob("*.*")) if file.is_file()}
            for folder in (tmp_path / "one" / target, tmp_path / "another/place" / target)
        )
        if one != other or any(str(tmp_path).encode() in content for content in one.values()):
            differing.append(target)

    assert differing == []


# Refusals -------------------------------------------------------------------------------------------------------------


REFUSALS: list[tuple[str, str, dict[str, Any], str]] = [
    ("data", "vlmevalkit", {}, "vlmevalkit cannot hold questions without options: it scores only questions with"),
    ("data", "imagefolder", {"without_pictures": True}, "imagefolder cannot hold no pictures: it is a folder of"),
    ("data", "vlmevalkit", {"mode": "mc", "name": "video"}, "--name video_train holds 'video', by which"),
    ("data", "hf", {"name": "a b"}, "--name must be letters, digits and _, and begin with a letter; found 'a b'"),
    ("data", "hf", {"split": "tset"}, "unknown split 'tset'; did you mean 'test'?"),
    ("data", "hff", {}, "unknown target 'hff'; did you mean 'hf'?"),
    ("data", "trl", {"mode": "both"}, "unknown mode 'both'; known: open, mc"),
    ("trials", "trl", {"without_pictures": True}, "trials are about the grids in their pictures"),
    ("trials", "vlmevalkit", {"mode": "mc"}, "vlmevalkit cannot hold trials: a trial has no options"),
    ("dialogs.jsonl", "verl", {}, "verl cannot hold dialogs: a row has the answer to one prompt"),
    ("dialogs.jsonl", "trl", {"mode": "mc"}, "dialogs have no options"),
    ("questions.jsonl", "trl", {"mode": "mc"}, "question 0 has no options to choose from; `vqagen choices` makes"),
    ("data", "hf", {"prompt": "plain"}, "hf does not ask for a form of reply, as trl, easyr1, verl, llava do"),
    ("data", "trl", {"prompt": "formal"}, "unknown prompt 'formal'; did you mean 'format'?"),
    ("questions.jsonl", "trl", {"images": "nowhere"}, "no folder of pictures: nowhere"),
    ("questions.jsonl", "trl", {"images": "trials"}, "row 0 has no picture"),
    ("nothing.json", "trl", {}, "questions, dialogs or trials not found: "),
]


@pytest.mark.parametrize(
    ("source", "target", "options", "reason"),
    [pytest.param(*row, marks=() if row[0] == "data" else pytest.mark.slow) for row in REFUSALS],
)
def test_what_a_target_cannot_hold_is_refused_with_the_reason(
    source: str, target: str, options: dict[str, Any], reason: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """And nothing is left of the output."""
    folder: Path = request.getfixturevalue("dataset" if source == "data" else "others")
    if options.get("images") == "trials":
        options = {"images": folder / "trials"}
    with pytest.raises((UsageError, BadInput)) as caught:
        export(folder if source == "data" else folder / source, tmp_path / "out", target, **options)

    assert reason in str(caught.value)
    assert list(tmp_path.iterdir()) == []


BAD_RECORDS = {
    "questions[1].question: expected text, found null or nothing": {"answer": "3"},
    "questions[1].answer: expected the answer, found null or nothing": {"question": "How many?"},
    "questions[1].choices: the answer '3' is not among the options": {
        "question": "How many?",
        "answer": 3,
        "choices": ["1", "2"],
    },
    "questions[1].marks: expected the numbers of objects, found a list": {
        "question": "Which?",
        "answer": "A",
        "choices": ["A", "B"],
        "marks": ["../1", 2],
    },
    "questions[1].question_index: expected a number from 0 on, found 'x'": {
        "question": "How many?",
        "answer": 3,
        "question_index": "x",
    },
    "questions[1].scene_index: expected a number from 0 on, found -1": {
        "question": "How many?",
        "answer": 3,
        "scene_index": -1,
    },
    "a text says <image>, for which this format would put a picture": {"question": "An <image>?", "answer": 3},
    "the split train comes in several places; sort the file by split, or give --split train": {
        "question": "How many?",
        "answer": 3,
        "split": "test",
    },
    "a split must be named by letters, digits and _; found 'a/b'": {"question": "?", "answer": 3, "split": "a/b"},
}


def test_records_that_cannot_be_exported_are_located(tmp_path: Path) -> None:
    good = {"question": "How many?", "answer": 3, "question_index": 0, "split": "train"}
    file, wrong = tmp_path / "questions.jsonl", {}
    for message, bad in BAD_RECORDS.items():
        file.write_text("".join(json.dumps(each) + "\n" for each in (good, bad, good)))
        with pytest.raises(BadInput) as caught:
            export(file, tmp_path / "out", "llava", without_pictures=True)
        if message not in str(caught.value):
            wrong[message] = str(caught.value)

    assert wrong == {}
    assert [each.name for each in tmp_path.iterdir()] == ["questions.jsonl"]


REFUSED = [
    (
        "questions",
        {"question": "Which?", "answer": "NA", "choices": ["NA", "b"]},
        "question 0 says 'NA', which VLMEvalKit",
    ),
    (
        "questions",
        {"question": "Which?", "answer": "a", "choices": [*"abcde"]},
        "question 0 has 5 options; at most 4 fit",
    ),
    *(
        ("dialogs", record, "dialogs[0].rounds: no caption and rounds as `vqagen dialog` writes")
        for record in (
            {"caption": "A cube.", "rounds": []},
            {"caption": {"text": "A cube."}, "rounds": ["What color?"]},
            {"caption": {"text": "A cube."}, "rounds": None},
        )
    ),
]


@pytest.mark.parametrize(("kind", "record", "reason"), REFUSED)
def test_a_record_that_no_row_can_hold_is_refused(kind: str, record: Any, reason: str, tmp_path: Path) -> None:
    """By VLMEvalKit, whose tables pandas reads, and dialogs of another tool by all targets."""
    (tmp_path / f"{kind}.jsonl").write_text(json.dumps(record))
    target, mode = ("vlmevalkit", "mc") if kind == "questions" else ("trl", "open")
    with pytest.raises(BadInput, match=re.escape(reason)):
        export(tmp_path / f"{kind}.jsonl", tmp_path / "out", target, mode=mode, without_pictures=True)


@pytest.mark.slow
def test_trials_of_another_view_or_without_png_are_refused(tmp_path: Path) -> None:
    for name, settings, reason in (
        ("director", {"render": ("png",), "view": "director"}, "the pictures show the director's view"),
        ("svg", {"render": ("svg",)}, "found 'images/000000.svg': give --render png"),
        ("none", {"render": ("none",)}, "found null: give --render png"),
    ):
        write_trials(tmp_path / name, DirectorSettings(count=1, **settings))
        with pytest.raises((UsageError, BadInput), match=re.escape(reason)):
            export(tmp_path / name, tmp_path / "out", "trl")


def test_two_pictures_of_one_name_are_refused(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    rows = [{**row, "image": {**row["image"], "path": "same.png"}} for row in rows_of({"train": 2})]
    write_rows(tmp_path / "data/train-00000-of-00001.parquet", rows)
    with pytest.raises(BadInput, match=r"two pictures are called images/same\.png; rename one of them"):
        export(tmp_path, tmp_path / "out", "llava")


def test_a_full_disk_leaves_nothing(dataset: Path, tmp_path: Path, capsysbinary: Any) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, limits[1]))
    try:
        ran = Commands(capsysbinary)(f"export '{dataset}' --to hf -o '{tmp_path}/out'")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)

    assert ran.code == 3
    assert re.fullmatch(r"vqagen: cannot write .*data/train-00000-of-00001.parquet: File too large\n", ran.err), ran.err
    assert list(tmp_path.iterdir()) == []


def test_only_an_export_is_ever_replaced(dataset: Path, tmp_path: Path, capsysbinary: Any) -> None:
    run = Commands(capsysbinary)
    line = f"export '{dataset}' --to llava -o '{tmp_path}/out'"
    ran = run.done(line)
    assert ran.err == "18 questions: train 12, test 6\n"
    before = {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir() if file.is_file()}

    assert "exists already; give --force to replace it" in run(line).err
    run.done(f"{line} --force --split test")
    assert not (tmp_path / "out/train.json").exists()
    run.done(f"{line} --force")
    assert {file.name: file.read_bytes() for file in (tmp_path / "out").iterdir() if file.is_file()} == before
    (tmp_path / "out/README.md").write_text("My own.")
    assert "holds other files than an export" in run(f"{line} --force").err
