"""Questions and dialogs as tasks of Inspect AI: samples, scores that `vqagen evaluate` agrees with, and mistakes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from director_logs import evaluated
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.analysis import samples_df
from inspect_ai.dataset import Sample
from inspect_ai.model import ContentImage, ContentText, ModelOutput, ModelUsage, get_model
from PIL import Image

from vqagen.errors import InputWarning
from vqagen.inspect_tasks._registry import dialogs, policy, questions

pytestmark = pytest.mark.slow
BLIND = "ignore:.*questions are asked without"
MAJORITY = "majority-family"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with questions, multiple choice and dialogs about 12 scenes."""
    return tmp_path_factory.mktemp("inspect")


@pytest.fixture
def vqagen_(folder: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the folder, which has the files."""
    monkeypatch.chdir(folder)
    commands = Commands(capsysbinary)
    if not Path("scenes.json").exists():
        commands.done("scenes sample --count 12 --seed 5 --out scenes.json")
        commands.done("generate --scenes scenes.json --out questions.json")
        commands.done("dialog --scenes scenes.json --dialogs-per-image 1 --out dialogs.json")
        asked = json.loads(Path("questions.json").read_text())["questions"][:6]
        for number, each in enumerate(asked):
            each["options"] = [*[f"no such {word}" for word in ("thing", "place")][: number % 3], each["answer"], "ten"]
        Path("choices.json").write_text(json.dumps({"questions": asked}))
        letters = {**asked[0], "answer": "A", "options": ["A", "B"], "marks": [0, 1]}
        Path("marked.json").write_text(json.dumps({"questions": [letters]}))
    return commands


def contents(sample: Sample) -> list[list[str]]:
    """The role and the texts of each message; "picture" for a picture."""
    assert not isinstance(sample.input, str)
    return [
        [message.role, *([message.content] if isinstance(message.content, str) else map(part_text, message.content))]
        for message in sample.input
    ]


def part_text(part: Any) -> str:
    return part.text if isinstance(part, ContentText) else "picture" if isinstance(part, ContentImage) else "?"


@pytest.mark.filterwarnings(BLIND)
def test_fields_of_the_scenes_stand_in_the_metadata(vqagen_: Commands) -> None:
    (plain, *_), (found, *_) = (questions("questions.json", scenes=each).dataset for each in (None, "scenes.json"))
    assert plain.metadata and found.metadata
    assert "scene_size" in found.metadata.keys() - plain.metadata.keys()


@pytest.mark.filterwarnings(BLIND)
@pytest.mark.filterwarnings("ignore:The inplace keyword")  # of Inspect, which pandas warns of
@pytest.mark.parametrize(("task", "file"), [(questions, "questions.json"), (dialogs, "dialogs.json")])
def test_a_blind_policy_scores_the_same_by_inspect_by_evaluate_and_in_inspects_data_frame(
    vqagen_: Commands, task: Any, file: str
) -> None:
    """Overall and by each category."""
    (log,) = evaluated(task(dataset=file), Path(f"logs-{file}"), policy(MAJORITY))
    assert log.results is not None
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    report = json.loads(vqagen_.done(f"evaluate {file} {log.location} --json").out)
    rows = {row["category"]: row["accuracy"] for row in report["tables"]["category"]["rows"]}
    frame = samples_df(log.location)

    assert 0.2 < metrics["accuracy"] < 0.8
    assert metrics["lower"] < metrics["accuracy"] < metrics["upper"]
    assert {f"category={name}": pytest.approx(value) for name, value in rows.items()} == {
        name: value for name, value in metrics.items() if name.startswith("category=")
    }
    assert len(rows) >= 3
    right = frame.score_typed_answer == "C"
    assert right.mean() == pytest.approx(metrics["accuracy"])
    assert right.groupby(frame.metadata_category).mean().to_dict() == pytest.approx(rows)


@pytest.mark.filterwarnings(BLIND)
def test_a_round_follows_the_caption_and_the_earlier_rounds_with_their_answers(vqagen_: Commands) -> None:
    sample = dialogs(dataset="dialogs.json").dataset[12]
    dialog = json.loads(Path("dialogs.json").read_text())["dialogs"][1]
    first, second, third = dialog["rounds"][:3]

    assert sample.id == "1/2"
    assert contents(sample)[1:] == [
        [
            "user",
            dialog["caption"]["text"] if isinstance(dialog["caption"], dict) else dialog["caption"],
            first["question"],
        ],
        ["assistant", str(first["answer"])],
        ["user", second["question"]],
        ["assistant", str(second["answer"])],
        ["user", third["question"]],
    ]
    assert sample.target == [str(third["answer"])]


def test_pictures_are_attached_and_options_have_letters(vqagen_: Commands, folder: Path) -> None:
    """A reply may name the letter of an option, or its text."""
    asked = json.loads(Path("choices.json").read_text())["questions"]
    for name in {each["image_filename"] for each in asked}:
        (folder / "pictures").mkdir(exist_ok=True)
        Image.new("RGB", (8, 8)).save(folder / "pictures" / name)
    task = questions(dataset="choices.json", images="pictures")
    replies: Iterator[str] = iter(
        ["ANSWER: A", "The answer is B.", f"**{asked[2]['answer']}**", "ANSWER: B", "I cannot tell.", "ANSWER: C"]
    )
    outputs = [ModelOutput.from_content("mockllm/model", reply) for reply in replies]
    for output in outputs:
        output.usage = ModelUsage()  # or Inspect would fetch a tokenizer to count them
    (log,) = evaluated(task, Path("logs-choices"), model=get_model("mockllm/model", custom_outputs=outputs))

    options = "\n".join(f"{letter}) {text}" for letter, text in zip("ABC", asked[1]["options"], strict=False))
    assert contents(task.dataset[1])[1:] == [["user", "picture", f"{asked[1]['question']}\n{options}"]]
    assert log.samples is not None
    values = {str(each.id): each.scores["typed_answer"].value for each in log.samples if each.scores}
    assert values == {"0": "C", "1": "C", "2": "C", "3": "I", "4": "I", "5": "C"}


MISTAKES = {
    "questions dialogs.json": "dialogs.json holds dialogs: use the task vqagen/dialogs",
    "dialogs questions.json": "questions.json holds questions: use the task vqagen/questions",
    "questions questions.json images=nowhere": "no folder of pictures: nowhere",
    "questions questions.json images=.": "no picture in . for 12 images, such as ",
    "questions questions.json mode=mc": "no options",
    "questions questions.json cot=react": "unknown cot 'react'",
    "questions marked.json": "for letters on objects, vqagen export --to inspect",
    "questions missing.json": "missing.json",
}


@pytest.mark.parametrize("call", MISTAKES)
def test_mistakes_are_named_without_a_traceback(vqagen_: Commands, call: str) -> None:
    name, file, *rest = call.split()
    with pytest.raises(PrerequisiteError) as raised:
        {"questions": questions, "dialogs": dialogs}[name](dataset=file, **dict(each.split("=") for each in rest))
    assert MISTAKES[call] in str(raised.value)


def test_a_file_without_pictures_is_asked_blindly_and_says_so(vqagen_: Commands) -> None:
    with pytest.warns(InputWarning, match="questions are asked without; name their folder by images="):
        task = questions(dataset="questions.json", split="")
    assert "that you cannot see" in contents(task.dataset[0])[0][1]
