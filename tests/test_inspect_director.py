"""Director trials as tasks of Inspect AI: samples, scores, metrics, tools and the report, without any model."""

from __future__ import annotations

import asyncio
import base64
import importlib
import io
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import ROOT, Commands
from depth import some
from director_logs import evaluated
from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.log import EvalLog
from inspect_ai.model import ContentImage, ContentText, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import SampleScore, Score, includes
from inspect_ai.tool import ToolError
from PIL import Image

from vqagen.inspect_tasks._registry import (
    crop,
    director,
    director_no_director,
    egocentric_share,
    mirror,
    paired_accuracy,
    policy,
    rotate,
    vpt_gap,
)
from vqagen.inspect_tasks.prompts import system_prompt
from vqagen.inspect_tasks.scoring import judge_reply
from vqagen.judge.director.policies import POLICIES

Content = ContentImage | ContentText


@pytest.fixture(scope="module")
def trials() -> Task:
    """Trials of all kinds, as text."""
    return director(n=48, seed=3, format="ascii")


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> list[EvalLog]:
    """Logs of an egocentric participant, with and without a director."""
    tasks = [make(n=24, seed=3, format="json") for make in (director, director_no_director)]
    return evaluated(tasks, tmp_path_factory.mktemp("logs"), policy("egocentric"))


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(capsysbinary)


def facts(sample: Sample) -> dict[str, Any]:
    assert sample.metadata is not None
    return sample.metadata


def contents(sample: Sample) -> Sequence[Content]:
    """What the user's message of a sample holds."""
    assert not isinstance(sample.input, str)
    return [part for part in sample.input[1].content if isinstance(part, ContentImage | ContentText)]


def kind_of(sample: Sample, name: str) -> str:
    """The kind of answer that a policy gives to a sample."""
    return judge_reply(f"ANSWER: {facts(sample)['policies'][name]}", facts(sample)["kinds"])[1]


# Policies ---------------------------------------------------------------------------------------------------------


def test_the_oracle_is_always_right(trials: Task) -> None:
    """So the stored answers, the kinds of answers and the scorer agree."""
    assert {kind_of(sample, "oracle") for sample in trials.dataset} == {"correct"}


def test_an_egocentric_participant_fails_in_test_trials_alone(trials: Task) -> None:
    """Under a rule, it is never right there; without one, it may pick the right one of several."""
    kinds = {(facts(each)["trial_type"], facts(each)["rule"] == "none"): set[str]() for each in trials.dataset}
    for each in trials.dataset:
        kinds[facts(each)["trial_type"], facts(each)["rule"] == "none"].add(kind_of(each, "egocentric"))

    assert kinds == {
        ("control", True): {"correct"},
        ("control", False): {"correct"},
        ("test", True): {"correct", "egocentric"},
        ("test", False): {"egocentric"},
    }


def test_a_participant_who_keeps_left_and_right_fails_at_the_directors(trials: Task) -> None:
    """With the director's own left and right, and nowhere else."""
    for each in trials.dataset:
        is_mirrored = facts(each)["rule_class"] == "horizontal" and facts(each)["frame"] == "director"
        assert kind_of(each, "no-flip") == ("frame" if is_mirrored else "correct")


def test_every_policy_answers_with_a_cell_if_it_has_one(trials: Task) -> None:
    """Also those that pick at random. The next best item is not always there."""
    assert {name for each in trials.dataset for name in facts(each)["policies"]} == set(POLICIES)
    assert all(len(facts(each)["policies"]) >= len(POLICIES) - 1 for each in trials.dataset)
    assert all(kind_of(each, name) != "invalid" for each in trials.dataset for name in facts(each)["policies"])


# Samples ----------------------------------------------------------------------------------------------------------


def test_the_story_without_a_director_accepts_every_answer_that_the_participant_sees(trials: Task) -> None:
    """Its text has no point of view, and its prompt no director."""
    alone = director_no_director(n=48, seed=3, format="ascii")
    for ours, theirs in zip(trials.dataset, alone.dataset, strict=True):
        assert facts(ours)["trial"] == facts(theirs)["trial"]
        right = [cell for cell, kind in facts(theirs)["kinds"].items() if kind == "correct"]
        assert sorted(theirs.target) == sorted(right)
        assert kind_of(theirs, "egocentric") == "correct"
        assert "point of view" not in theirs.input[1].text
        assert "director" not in (theirs.input[0].text + theirs.input[1].text)
        assert "director" in ours.input[0].text
        assert ours.input[1].text.endswith('"')


def test_texts_show_blocked_cells_as_their_prompts_describe_them() -> None:
    """By a word, by a sign, or by materials; the less leading prompts do not say that the director sees nothing."""
    (sample,) = director(n=1, format="md", block_text=2).dataset
    grid, _ = contents(sample)
    prompts = [system_prompt("director", number, "none", is_picture=False) for number in range(3)]

    assert isinstance(grid, ContentText)
    assert "(back: " in grid.text
    assert sample.input[0].text == prompts[2]
    assert ["the director cannot see into them" in prompt for prompt in prompts] == [True, False, False]


def test_the_prompt_asks_for_thoughts_only_if_it_should() -> None:
    """An agent submits its answer in place of a line."""
    prompts = {
        thought: system_prompt("director", 2, thought, is_picture=True) for thought in ("none", "think", "react")
    }

    assert [name for name, prompt in prompts.items() if "step by step" in prompt] == ["think", "react"]
    assert [name for name, prompt in prompts.items() if "ANSWER: <cell>" in prompt] == ["none", "think"]
    assert "submit()" in prompts["react"]


def test_pictures_of_a_folder_are_taken_as_they_are(vqagen_: Commands) -> None:
    """Trials from a folder are those that the task generates itself, with the same pictures."""
    vqagen_.done("director generate --count 2 --seed 5 --out trials --figure")
    made, read = director(n=2, seed=5, figure=True), director(dataset="trials")
    for ours, theirs in zip(made.dataset, read.dataset, strict=True):
        drawn, file = contents(ours)[0], contents(theirs)[0]
        assert isinstance(drawn, ContentImage)
        assert isinstance(file, ContentImage)
        assert base64.b64decode(drawn.image.partition(",")[2]) == Path(file.image).read_bytes()
        assert facts(ours) == facts(theirs)
    alone = contents(director_no_director(dataset="trials").dataset[0])[0]
    assert isinstance(alone, ContentImage)
    assert alone.image.endswith("-alone.png")


def test_trials_of_a_folder_are_shown_by_the_settings_that_made_them(vqagen_: Commands) -> None:
    """The settings `text` and `cell`, of which an evaluation knew nothing."""
    flags = {"seed": 5, "text": "properties", "cell": 48}
    vqagen_.done("director generate --count 2 --out trials --render none --seed 5 --text properties --cell 48")

    for form in some(("image", "ascii")):
        made, read = director(n=2, format=form, **flags), director(dataset="trials", format=form)
        assert [contents(each)[0] for each in read.dataset] == [contents(each)[0] for each in made.dataset]


@pytest.mark.parametrize(
    ("setting", "message"),
    [({"text": "prose"}, "unknown text 'prose'"), ({"cell": 3}, "expected 24 to 1000, found 3")],
    ids=str,
)
def test_settings_that_no_run_can_have_are_named(setting: dict[str, Any], message: str, vqagen_: Commands) -> None:
    """With their place in the info."""
    vqagen_.done("director generate --count 1 --out trials --render none")
    beside = Path("trials/trials.jsonl.info.json")
    info = json.loads(beside.read_text())
    info["generator"]["settings"] |= setting
    beside.write_text(json.dumps(info))

    with pytest.raises(PrerequisiteError) as raised:
        director(dataset="trials", format="ascii")
    assert f"info.generator.settings.{next(iter(setting))}: {message}" in str(raised.value.message)


# Scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("ANSWER: b-2", ("B2", "correct")),
        ("A1, A2, B1, B2\nANSWER: a1", ("A1", "egocentric")),
        ("ANSWER: A2 or B2", (None, "invalid")),
        ("ANSWER: C1", ("C1", "invalid")),
        ("I do not know.", (None, "invalid")),
    ],
)
def test_a_reply_is_scored_by_its_cell(reply: str, expected: tuple[str | None, str]) -> None:
    """A list of cells is no answer, and a cell outside of the grid is invalid."""
    kinds = {"A1": "egocentric", "B1": "empty cell", "A2": "foil", "B2": "correct"}
    assert judge_reply(reply, kinds) == expected


def scored(kind: str, trial_type: str, pair: int | None = None) -> SampleScore:
    score = Score(value="C" if kind == "correct" else "I", metadata={"kind": kind})
    return SampleScore(score=score, sample_metadata={"trial_type": trial_type, "pair": pair})


def test_the_metrics_of_perspective_taking() -> None:
    """The gap of types, pairs with two right answers, egocentric errors among those of test trials."""
    scores = [
        *(scored("correct", "control", pair) for pair in range(4)),
        scored("correct", "test", 0),
        scored("egocentric", "test", 1),
        scored("foil", "test", 2),
        scored("egocentric", "test", 3),
        scored("foil", "control"),
    ]

    assert vpt_gap()(scores) == {"vpt_gap": pytest.approx(0.8 - 0.25)}
    assert paired_accuracy()(scores) == {"paired_accuracy": 0.25}
    assert egocentric_share()(scores) == {"egocentric_share": pytest.approx(2 / 3)}


def test_a_metric_that_no_trial_bears_on_is_left_out() -> None:
    """As the gap without test trials."""
    scores = [scored("correct", "control")]
    assert [metric()(scores) for metric in (vpt_gap, paired_accuracy, egocentric_share)] == [{}, {}, {}]


def test_an_evaluation_has_accuracies_of_all_groups(logs: list[EvalLog]) -> None:
    """Of an egocentric participant, by type, rule, frame, physics, format and their crossing."""
    assert logs[0].results is not None
    metrics = {name: metric.value for name, metric in logs[0].results.scores[0].metrics.items()}
    groups = Counter(name.partition("=")[0] for name in metrics if "=" in name)

    assert metrics["type=control"] == 1
    assert metrics["vpt_gap"] == 1 - metrics["type=test"]
    assert metrics["egocentric_share"] == 1
    assert groups == {"type": 2, "rule": 4, "frame": 3, "physics": 2, "format": 1}
    assert {metrics[name] for name in metrics if name.startswith("test/horizontal/director/")} == {0}
    assert metrics["lower"] < metrics["accuracy"] < metrics["upper"]


# Tools ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def picture() -> str:
    """A picture whose left half is red."""
    image = Image.new("RGB", (40, 20), "white")
    image.paste("red", (0, 0, 20, 20))
    file = io.BytesIO()
    image.save(file, "PNG")
    return f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"


@pytest.mark.parametrize(
    ("tool", "arguments", "size", "top_left"),
    [
        (mirror, {}, (40, 20), "white"),
        (rotate, {"degrees": 90}, (20, 40), "red"),
        (rotate, {"degrees": 180}, (40, 20), "white"),
        (crop, {"left": 50, "top": 0, "right": 100, "bottom": 50}, (80, 40), "white"),
        (crop, {"left": 0, "top": 0, "right": 50, "bottom": 50}, (80, 40), "red"),
    ],
)
def test_a_tool_shows_the_picture_again(
    tool: Any, arguments: dict[str, Any], size: tuple[int, int], top_left: str, picture: str
) -> None:
    """As a PNG; rotation is clockwise."""
    shown = asyncio.run(tool(picture)(**arguments))
    image = Image.open(io.BytesIO(base64.b64decode(shown.image.removeprefix("data:image/png;base64,"))))

    assert image.format == "PNG"
    assert image.size == size
    assert image.getpixel((2, 2)) == Image.new("RGB", (1, 1), top_left).getpixel((0, 0))


@pytest.mark.parametrize("edges", [(50, 0, 50, 100), (-1, 0, 50, 50), (0, 0, 101, 50), (0, 0, 1, 1)])
def test_a_part_that_is_none_is_an_error_that_the_model_reads(edges: tuple[float, ...], picture: str) -> None:
    """It is told what to give, and the sample goes on."""
    with pytest.raises(ToolError, match=r"percentages|one pixel"):
        asyncio.run(crop(picture)(*edges))


def scripted(*replies: ModelOutput) -> Model:
    """A model that gives these replies. With their usage, Inspect need not count tokens, for which it downloads."""
    for reply in replies:
        reply.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=list(replies))


def called(tool: str, **arguments: Any) -> ModelOutput:
    return ModelOutput.for_tool_call("mockllm/model", tool, arguments)


@pytest.mark.slow
def test_a_model_uses_tools_before_it_answers(tmp_path: Path) -> None:
    """The picture of the sample, which the model may mirror and crop."""
    model = scripted(
        called("mirror"),
        called("crop", left=0, top=0, right=50, bottom=200),
        called("crop", left=0, top=0, right=50, bottom=50),
        ModelOutput.from_content("mockllm/model", "ANSWER: A1"),
    )
    (log,) = evaluated(director(n=1, tools=["crop", "mirror"]), tmp_path, model=model)
    (sample,) = log.samples or ()
    shown = [message for message in sample.messages if message.role == "tool"]

    assert [isinstance(message.content, list) for message in shown] == [True, False, True]
    assert shown[1].error is not None
    assert "percentages" in shown[1].error.message
    assert (sample.scores or {})["cell_answer"].answer == "A1"


@pytest.mark.slow
def test_an_agent_thinks_and_submits_a_cell(tmp_path: Path) -> None:
    """What it submits is scored, and not what it says before."""
    model = scripted(called("think", thought="A1 or B2?"), called("submit", answer="b 2"))
    (log,) = evaluated(director(n=1, cot="react", tools="rotate"), tmp_path, model=model)
    (sample,) = log.samples or ()

    assert (sample.scores or {})["cell_answer"].answer == "B2"


# Mistakes of the user ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "messages"),
    [
        (
            {"format": "ascci", "story": "alone", "cot": "some", "tools": "crop,zoom", "block_text": 3, "sed": 1},
            [
                "unknown format 'ascci'; did you mean 'ascii'?",
                "unknown story 'alone'; known: director, no_director",
                "unknown cot 'some'; known: none, think, react",
                "unknown tool 'zoom'; known: crop, rotate, mirror",
                "block_text must be a number from 0 to 2, found 3",
                "unknown argument 'sed'; did you mean 'seed'?",
            ],
        ),
        ({"format": "md", "tools": "crop"}, ["tools show pictures: they need format=image, found format=md"]),
        ({"count": 4}, ["count is called n here"]),
        ({"fill": 2, "n": 1}, ["--fill must be a share from 0 to 1, found 2"]),
        ({"n": 0}, ["--count must be at least 1, found 0"]),
        ({"dataset": "nothere"}, ["trials not found: nothere"]),
        (
            {"dataset": "trials", "n": 4, "seed": 2},
            ["n, seed: settings of the generator, which cannot change the trials of dataset=trials"],
        ),
    ],
)
def test_mistakes_in_the_arguments_are_named_all_at_once(arguments: dict[str, Any], messages: list[str]) -> None:
    """As the error that Inspect prints without a traceback."""
    with pytest.raises(PrerequisiteError) as raised:
        director(**arguments)
    assert str(raised.value.message).removeprefix("vqagen: ").splitlines() == messages


def test_an_unknown_policy_is_an_error_that_names_the_nearest() -> None:
    """Before anything is evaluated."""
    with pytest.raises(PrerequisiteError, match="unknown policy 'egocentrc'; did you mean 'egocentric'"):
        policy("egocentrc")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": "Z9"}, "trials[0].answer: 'Z9' is no cell of a grid of 4 x 4"),
        ({"cells": ["red_unicorn_3", *[None] * 15]}, "trials[0].cells: unknown item 'red_unicorn_3'"),
    ],
)
def test_faulty_trials_are_named(change: dict[str, Any], message: str, vqagen_: Commands) -> None:
    """With their place in the file."""
    vqagen_.done("director generate --count 1 --out trials --render none")
    file = Path("trials/trials.jsonl")
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))

    with pytest.raises(PrerequisiteError) as raised:
        director(dataset="trials", format="md")
    assert message in str(raised.value.message)


def test_a_missing_picture_is_named(vqagen_: Commands) -> None:
    """Before anything is evaluated."""
    vqagen_.done("director generate --count 1 --out trials")
    Path("trials/images/000000.png").unlink()

    with pytest.raises(PrerequisiteError, match=r"trials\[0\].image: no picture \S*trials/images/000000.png"):
        director(dataset="trials")


def test_own_pictures_that_are_not_beside_the_trials_are_named(vqagen_: Commands) -> None:
    """Trials without pictures of their own grids cannot be drawn again; as text they can be shown."""
    Image.new("RGBA", (8, 8), "red").save("photo.png")
    vqagen_.done("director items copy items.json")
    vqagen_.done("director items add our_mug --image photo.png --kind mug --is red --catalogue items.json")
    vqagen_.done("director generate --count 1 --catalogue items.json --render svg --out trials")

    with pytest.raises(PrerequisiteError, match=r"info.catalogue.items: no files of 1 own picture, such as .*our_mug"):
        director(dataset="trials")
    assert director(dataset="trials", format="ascii").dataset


# The report -------------------------------------------------------------------------------------------------------


def report_of(vqagen_: Commands, *logs: EvalLog) -> dict[str, Any]:
    ran = vqagen_.done(f"director report --json {' '.join(log.location for log in logs)}")
    report: dict[str, Any] = json.loads(ran.out)
    return report


def test_the_report_compares_perspectives(logs: list[EvalLog], vqagen_: Commands) -> None:
    """An egocentric participant fails where the director sees another answer, however left and right are meant."""
    (run,) = report_of(vqagen_, logs[0])["runs"]
    rates = {
        table: {
            row: {name: cell and cell["rate"] for name, cell in cells.items() if name != "gap"} for row, cells in rows
        }
        for table in ("visual", "spatial", "joint")
        for rows in [run["tables"][table].items()]
    }

    assert rates["visual"]["size"] == rates["visual"]["vertical"] == {"shared": 1, "different": 0}
    assert rates["spatial"]["horizontal"] == {"shared": 1, "different": 1}
    assert rates["joint"] == {
        "visual shared": {"spatial shared": 1, "spatial different": 1},
        "visual different": {"spatial shared": 0, "spatial different": 0},
    }
    assert set(run["tables"]["kinds"]) == {"correct", "egocentric"}
    assert (run["respondent"], run["story"], run["answers"]) == ("policy egocentric", "director", 24)


def test_the_report_shows_the_gap_to_the_twin_story(logs: list[EvalLog], vqagen_: Commands) -> None:
    """Of the same trials, if both logs are given, in any order."""
    report = report_of(vqagen_, *reversed(logs))
    tables = report["runs"][0]["tables"]["no_director"]

    assert [run["story"] for run in report["runs"]] == ["director", "no_director"]
    assert tables["vertical"]["test gap"] == 1
    assert tables["all"]["control gap"] == 0
    assert tables["all"]["test, no director"]["total"] == tables["all"]["test"]["total"] == 12
    assert report["notes"] == []


def test_the_report_is_a_page_for_people(logs: list[EvalLog], vqagen_: Commands) -> None:
    """Of a folder of logs: a table of all, and the tables of each."""
    lines = vqagen_.done(f"director report {Path(logs[0].location).parent}").out.decode().splitlines()

    assert lines[0] == "correct answers"
    assert lines[2].startswith("  1. policy egocentric, story=director, format=json     100.0% of 12  ")
    assert lines[3] == "  2. policy egocentric, story=no_director, format=json  100.0% of 12  100.0% of 12  +0.0%"
    assert any(line.startswith("visual perspective: the director sees the same answer (control") for line in lines)
    assert "against the same trials without a director" in lines


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("broken.eval", b"hello", "broken.eval: not a readable Inspect log ("),
        ("other.json", b"{}", "other.json: not a readable Inspect log (there is no key 'eval')"),
        ("deep.json", b"[" * 100_000 + b"]" * 100_000, "deep.json: not a readable Inspect log (there is no key"),
        ("cut.json", b'{"version": 2, "sta', "cut.json: not a readable Inspect log (not valid JSON: "),
        ("folder/a.txt", b"", "folder: no logs (*.eval, *.json); make one with `inspect eval vqagen/director`"),
    ],
)
def test_what_is_no_log_is_named(name: str, content: bytes, message: str, vqagen_: Commands) -> None:
    """With the reason, and together with other faults."""
    Path(name).parent.mkdir(exist_ok=True)
    Path(name).write_bytes(content)
    ran = vqagen_(f"director report {name.partition('/')[0]} {name.partition('/')[0]}")

    assert ran.code == 3
    assert ran.err.count(f"vqagen: {message}") == 2


@pytest.mark.slow
def test_a_log_of_another_task_is_rejected(tmp_path: Path, vqagen_: Commands) -> None:
    """Alone, and in a folder without a log of a director task."""
    reply = ModelOutput.from_content("mockllm/model", "2")
    other = Task(dataset=[Sample(input="1 + 1?", target="2")], scorer=includes(), name="sums")
    (log,) = evaluated(other, tmp_path / "logs", model=scripted(reply))

    assert "not a log of vqagen/director: its task is 'sums'" in vqagen_(f"director report {log.location}").err
    assert "none of the files (*.eval, *.json) is a log of a director task" in vqagen_("director report logs").err


def test_a_broken_log_in_a_folder_is_skipped_with_a_warning(logs: list[EvalLog], vqagen_: Commands) -> None:
    """As one that is still being written."""
    Path("logs").mkdir()
    Path("logs/whole.eval").write_bytes(Path(logs[0].location).read_bytes())
    Path("logs/broken.eval").write_bytes(b"PK")
    ran = vqagen_.done("director report logs")

    assert ran.err.startswith("vqagen: warning: logs/broken.eval: skipped: not a readable Inspect log (")
    assert ran.out.startswith(b"policy egocentric, story=director")


def test_a_missing_log_is_named(vqagen_: Commands) -> None:
    """As wrong usage."""
    ran = vqagen_("director report nothere.eval")
    assert (ran.code, ran.err) == (2, "vqagen: log not found: nothere.eval\n")


def test_without_the_extra_the_report_says_what_to_install(vqagen_: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one line."""
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    ran = vqagen_("director report logs")

    needs = "reading logs of evaluations needs inspect_ai; install it: pip install 'vqagen[inspect]'"
    assert (ran.code, ran.err) == (2, f"vqagen: {needs}\n")


def test_without_pillow_texts_can_be_evaluated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures that must be drawn, and tools, name the extra to install."""
    monkeypatch.setitem(sys.modules, "PIL", None)

    assert len(director(n=1, format="md").dataset) == 1
    with pytest.raises(PrerequisiteError, match=r"trials needs PIL; install it: pip install 'vqagen\[draw\]'"):
        director(n=1)


# The command line of Inspect --------------------------------------------------------------------------------------


def test_the_entry_point_leads_to_the_tasks() -> None:
    """Inspect imports the module that the package names, and finds tasks, solver and scorer in it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    registry = importlib.import_module(project["entry-points"]["inspect_ai"]["vqagen"])

    assert {"director", "director_no_director", "policy", "cell_answer"} <= set(registry.__all__)


@pytest.mark.slow
def test_the_readme_shows_a_real_evaluation(vqagen_: Commands) -> None:
    """Its commands, of which Inspect finds the tasks by the entry point, print a report that begins so."""
    page = (ROOT / "README.md").read_text("utf-8")
    section = page[page.index("#### Evaluate models") :]
    commands, printed = re.findall(r"^```(?:sh|text)\n(.*?)^```\n", section, re.M | re.S)[:2]
    *lines, report = commands.splitlines()
    for line in lines:
        program, *arguments = line.split()
        module = {"inspect": "inspect_ai"}.get(program, program)
        done = subprocess.run([sys.executable, "-m", module, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    assert vqagen_.done(report.removeprefix("vqagen ")).out.decode().startswith(printed)
