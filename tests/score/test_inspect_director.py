"""Director trials as tasks of Inspect AI: samples, scores, metrics and tools, without any model."""

from __future__ import annotations

import asyncio
import base64
import io
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from catalogues import small_catalogue, write_catalogue
from commands import Commands
from director_logs import evaluated
from grids import shipped_looks
from inspect_ai import Task
from inspect_ai._util.error import PrerequisiteError
from inspect_ai.dataset import Sample
from inspect_ai.model import ContentImage, ContentText, Model, ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import SampleScore, Score
from inspect_ai.tool import ToolError
from PIL import Image

import vqagen
from vqagen.inspect_tasks._registry import (
    crop,
    director,
    director_no_director,
    egocentric_share,
    paired_accuracy,
    policy,
    rotate,
    vpt_gap,
)
from vqagen.inspect_tasks.scoring import judge_reply
from vqagen.pictures.canvas import GridStyle, cell_label
from vqagen.pictures.grid_picture import GridPainter

pytestmark = pytest.mark.slow
Content = ContentImage | ContentText


@pytest.fixture(scope="module")
def trials() -> Task:
    """Trials of all kinds, as text."""
    return director(n=48, seed=3, format="ascii")


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


def test_an_egocentric_participant_is_scored_by_inspect_and_by_evaluate(vqagen_: Commands) -> None:
    """Both give the same accuracy by type and rule. The log has all groups, and the gap is the share of test trials."""
    vqagen_.done("director generate --count 24 --seed 5 --render none --out trials")
    (log,) = evaluated(director(dataset="trials", format="json"), Path("logs"), policy("egocentric"))
    assert log.results is not None
    metrics = {name: metric.value for name, metric in log.results.scores[0].metrics.items()}
    report = json.loads(vqagen_.done(f"evaluate trials {log.location} --json").out)

    assert metrics["type=control"] == 1
    assert metrics["vpt_gap"] == 1 - metrics["type=test"]
    assert metrics["egocentric_share"] == 1
    assert Counter(name.partition("=")[0] for name in metrics if "=" in name) == {
        "type": 3, "policy": 4, "rule": 4, "frame": 3, "physics": 2, "format": 1,
    }  # fmt: skip
    assert {metrics[name] for name in metrics if name.startswith("test/horizontal/director/")} == {0}
    assert metrics["policy=egocentric"] == pytest.approx(metrics["accuracy"], abs=0.1)
    assert max(metrics[name] for name in metrics if name.startswith("policy=")) < 0.65
    assert metrics["lower"] < metrics["accuracy"] < metrics["upper"]
    for group, key in (("type", "type"), ("rule_class", "rule")):
        rows = report["tables"][group]["rows"]
        assert {f"{key}={row[group]}": row["accuracy"] for row in rows} == {
            name: value for name, value in metrics.items() if name.startswith(f"{key}=")
        }


# Samples ----------------------------------------------------------------------------------------------------------


def test_policies_fail_where_they_should(trials: Task) -> None:
    """The oracle nowhere: the stored answers, the kinds of answers and the scorer agree.

    An egocentric participant in test trials alone, and may there pick the right one of several without a rule; one who
    keeps left and right where the director's own are meant.
    """
    kinds: dict[tuple[str, bool], set[str]] = {}
    for each in trials.dataset:
        assert kind_of(each, "oracle") == "correct"
        kinds.setdefault((facts(each)["trial_type"], facts(each)["rule"] == "none"), set()).add(
            kind_of(each, "egocentric")
        )
        is_mirrored = facts(each)["rule_class"] == "horizontal" and facts(each)["frame"] == "director"
        assert kind_of(each, "no-flip") == ("frame" if is_mirrored else "correct")

    assert kinds == {
        ("control", True): {"correct"},
        ("control", False): {"correct"},
        ("test", True): {"correct", "egocentric"},
        ("test", False): {"egocentric"},
        ("your-view test", False): {"egocentric"},
    }


def test_the_story_without_a_director_accepts_every_answer_that_the_participant_sees(trials: Task) -> None:
    """Its text has no point of view, and its prompt no director."""
    alone = director_no_director(n=48, seed=3, format="ascii")
    for ours, theirs in zip(trials.dataset, alone.dataset, strict=True):
        assert contents(ours)[0] == contents(theirs)[0]
        right = [cell for cell, kind in facts(theirs)["kinds"].items() if kind == "correct"]
        assert sorted(theirs.target) == sorted(right)
        assert kind_of(theirs, "egocentric") == "correct"
        assert "point of view" not in theirs.input[1].text
        assert "director" not in (theirs.input[0].text + theirs.input[1].text)
        assert "director" in ours.input[0].text
        assert ours.input[1].text.endswith('"')


def test_pictures_of_a_folder_are_taken_as_they_are(vqagen_: Commands) -> None:
    """Trials from a folder are those that the task generates itself, with the same pictures."""
    vqagen_.done("director generate --count 2 --seed 5 --out trials")
    made, read = director(n=2, seed=5), director(dataset="trials")
    for ours, theirs in zip(made.dataset, read.dataset, strict=True):
        drawn, file = contents(ours)[0], contents(theirs)[0]
        assert isinstance(drawn, ContentImage)
        assert isinstance(file, ContentImage)
        assert base64.b64decode(drawn.image.partition(",")[2]) == Path(file.image).read_bytes()
        assert facts(ours) == facts(theirs)
    pictures = [
        contents(director_no_director(**of).dataset[0])[0] for of in ({"dataset": "trials"}, {"n": 2, "seed": 5})
    ]
    alone = GridPainter(shipped_looks(), GridStyle(4, 4))
    record = next(vqagen.trials(count=2, seed=5))
    blocked = [cell_label(place % 4, place // 4) in record["blocked"] for place in range(16)]
    for picture in pictures:
        assert isinstance(picture, ContentImage)
        assert base64.b64decode(picture.image.partition(",")[2]) == alone.png(record["cells"], blocked)


# Scores -----------------------------------------------------------------------------------------------------------


def scored(kind: str, trial_type: str, pair: int | None = None) -> SampleScore:
    score = Score(value="C" if kind == "correct" else "I", metadata={"kind": kind})
    return SampleScore(score=score, sample_metadata={"trial_type": trial_type, "pair": pair})


def test_replies_and_the_metrics_of_perspective_taking() -> None:
    """A list of cells is no answer; the gap, pairs with two right answers, egocentric errors among test trials."""
    kinds = {"A1": "egocentric", "B1": "empty cell", "A2": "foil", "B2": "correct"}
    assert judge_reply("ANSWER: b-2", kinds) == ("B2", "correct")
    assert judge_reply("A1, A2, B1, B2\nANSWER: a1", kinds) == ("A1", "egocentric")
    assert judge_reply("ANSWER: C1", kinds) == ("C1", "invalid")
    for reply in ("ANSWER: A2 or B2", "I do not know."):
        assert judge_reply(reply, kinds) == (None, "invalid")
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
    lucky = scored("egocentric", "test")
    lucky.sample_metadata["chances"] = {"egocentric": 1 / 3}
    assert egocentric_share()([*scores, lucky]) == {"egocentric_share": pytest.approx(3.5 / 4.5)}, "by expected value"
    assert [metric()(scores[-1:]) for metric in (vpt_gap, paired_accuracy, egocentric_share)] == [{}, {}, {}]


# Tools ------------------------------------------------------------------------------------------------------------


def test_a_tool_shows_the_picture_again() -> None:
    """As a PNG; rotation is clockwise. For a part that is none, the model reads what to give."""
    image, file = Image.new("RGB", (40, 20), "white"), io.BytesIO()
    image.paste("red", (0, 0, 20, 20))
    image.save(file, "PNG")
    picture = f"data:image/png;base64,{base64.b64encode(file.getvalue()).decode()}"
    white, red = (255, 255, 255), (255, 0, 0)
    for tool, arguments, size, top_left in (
        (rotate, (90,), (20, 40), red),
        (rotate, (180,), (40, 20), white),
        (crop, (50, 0, 100, 50), (80, 40), white),
        (crop, (0, 0, 50, 50), (80, 40), red),
    ):
        shown = asyncio.run(tool(picture)(*arguments))
        made = Image.open(io.BytesIO(base64.b64decode(shown.image.removeprefix("data:image/png;base64,"))))
        assert (made.format, made.size, made.getpixel((2, 2))) == ("PNG", size, top_left)
    for edges in ((50, 0, 50, 100), (-1, 0, 50, 50), (0, 0, 101, 50), (0, 0, 1, 1)):
        with pytest.raises(ToolError, match=r"percentages|one pixel"):
            asyncio.run(crop(picture)(*edges))


def scripted(*replies: ModelOutput) -> Model:
    """A model that gives these replies. With their usage, Inspect need not count tokens, for which it downloads."""
    for reply in replies:
        reply.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)
    return get_model("mockllm/model", custom_outputs=list(replies))


def called(tool: str, **arguments: Any) -> ModelOutput:
    return ModelOutput.for_tool_call("mockllm/model", tool, arguments)


def test_an_agent_uses_tools_thinks_and_submits_a_cell(tmp_path: Path) -> None:
    """What it submits is scored, and not what it says before."""
    model = scripted(
        called("crop", left=0, top=0, right=50, bottom=200),
        called("crop", left=0, top=0, right=50, bottom=50),
        called("think", thought="A1 or B2?"),
        called("submit", answer="b 2"),
    )
    (log,) = evaluated(director(n=1, cot="react", tools=["crop", "rotate"]), tmp_path, model=model)
    (sample,) = log.samples or ()
    shown = [message for message in sample.messages if message.role == "tool"]

    assert [isinstance(message.content, list) for message in shown[:2]] == [False, True]
    assert shown[0].error is not None
    assert "percentages" in shown[0].error.message
    assert (sample.scores or {})["cell_answer"].answer == "B2"


# Mistakes of the user ---------------------------------------------------------------------------------------------

MISTAKES: list[tuple[dict[str, Any], list[str]]] = [
    (
        {"format": "ascci", "story": "alone", "text": "prose", "tools": "crop,zoom", "block_text": 3, "sed": 1},
        [
            "unknown format 'ascci'; did you mean 'ascii'?",
            "unknown story 'alone'; known: director, no_director",
            "unknown text 'prose'; known: names, properties",
            "unknown tool 'zoom'; known: crop, rotate",
            "block_text must be a number from 0 to 2, found 3",
            "unknown argument 'sed'; did you mean 'seed'?",
        ],
    ),
    ({"format": "md", "tools": "crop"}, ["tools show pictures: they need format=image, found format=md"]),
    ({"count": 4}, ["count is called n here"]),
    ({"fill": 2, "n": 1}, ["--fill must be a share from 0 to 1, found 2"]),
    ({"dataset": "nothere"}, ["trials not found: nothere"]),
    (
        {"dataset": "trials", "n": 4, "seed": 2},
        ["n, seed: settings of the generator, which cannot change the trials of dataset=trials"],
    ),
]


def test_mistakes_are_named_all_at_once_without_a_traceback() -> None:
    for arguments, lines in MISTAKES:
        with pytest.raises(PrerequisiteError) as raised:
            director(**arguments)
        assert str(raised.value.message).removeprefix("vqagen: ").splitlines() == lines
    with pytest.raises(PrerequisiteError, match="unknown policy 'egocentrc'; did you mean 'egocentric'"):
        policy("egocentrc")


def test_faulty_trials_and_missing_pictures_are_named(vqagen_: Commands) -> None:
    """With their place in the file; trials whose own pictures are elsewhere can be shown as text."""
    Image.new("RGBA", (8, 8), "red").save("photo.png")
    write_catalogue(Path("items.json"), small_catalogue({"items.our_mug": {"image_path": "photo.png"}}))
    rules = "--size-share 0 --vertical-share 0 --horizontal-share 0 --physics-share 0"
    vqagen_.done(f"director generate --count 1 --catalogue items.json --render svg --out own {rules}")
    vqagen_.done("director generate --count 1 --out trials")
    Path("trials/images/000000.png").unlink()
    expected = [
        ("trials", r"trials\[0\].image: no picture \S*trials/images/000000.png"),
        ("own", r"info.catalogue.items: no files of 1 own picture, such as .*our_mug"),
    ]
    record = json.loads(Path("trials/trials.jsonl").read_text())
    for number, (change, message) in enumerate(
        (
            ({"answer": "Z9"}, r"trials\[0\].answer: 'Z9' is no cell of a grid of 4 x 4"),
            ({"cells": ["red_unicorn_3", *[None] * 15]}, r"trials\[0\].cells\[0\]: A1 holds 'red_unicorn_3'"),
        )
    ):
        vqagen_.done(f"director generate --count 1 --out faulty{number} --render none")
        Path(f"faulty{number}/trials.jsonl").write_text(json.dumps({**record, **change}))
        expected.append((f"faulty{number}", message))
    for dataset, message in expected:
        with pytest.raises(PrerequisiteError) as raised:
            director(dataset=dataset)
        assert re.search(message, str(raised.value.message))
    assert director(dataset="own", format="ascii").dataset


def test_inspect_finds_the_tasks_by_the_entry_point(vqagen_: Commands) -> None:
    """Its own command line evaluates a policy on a folder of trials, and `evaluate` reads the log."""
    vqagen_.done("director generate --count 8 --seed 3 --render none --out trials")
    line = (
        "eval vqagen/director -T dataset=trials -T format=json --model none/none --solver vqagen/policy -S name=oracle"
    )
    command = [sys.executable, "-m", "inspect_ai", *line.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
    (log,) = Path("logs").glob("*_director_*.eval")
    assert "overall  8        8     1.000" in vqagen_.done(f"evaluate trials {log}").out.decode()
