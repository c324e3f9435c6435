"""The environment in verifiers, where it is installed; `scripts/bench trainers` installs it."""

from __future__ import annotations

import asyncio
import base64
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from vqagen.environments.director import shelves


@pytest.mark.slow
def test_trials_go_on_over_windows_and_begin_anywhere() -> None:
    around = list(islice(shelves(start=957), 5))

    assert [record["trial_index"] for record, _ in around] == [957, 958, 959, 960, 961]
    assert next(shelves(start=960)) == around[3]
    assert around[0][1][:4] == b"\x89PNG"


@pytest.mark.parametrize("name", ["vqagen_questions", "vqagen_director"])
def test_verifiers_loads_each_taskset_by_its_id(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    vf = pytest.importorskip("verifiers.v1", reason="verifiers is not installed: it asks for 60 packages")
    from verifiers.v1.utils.loaders import load_taskset, taskset_config_type

    monkeypatch.syspath_prepend(str(Path(__file__).parents[2] / "vqagen/environments/packages"))
    taskset = load_taskset(taskset_config_type(name.replace("_", "-"))(id=name.replace("_", "-"), seed=2))
    tasks = list(taskset.take(3))

    assert not taskset.bounded
    assert [task.data.idx for task in tasks] == [0, 1, 2]
    for task in tasks:
        image, text = task.data.prompt[0].content
        assert base64.b64decode(image.image_url.url.partition(",")[2])[:4] == b"\x89PNG"
        assert text.text in task.data.prompt_text
        assert asyncio.run(task.validate(None))
        assert vf.TaskData.model_validate(task.data.model_dump(mode="json"))


def test_verifiers_rewards_the_right_answer() -> None:
    pytest.importorskip("verifiers.v1", reason="verifiers is not installed: it asks for 60 packages")
    from vqagen.environments.tasksets import QuestionConfig, QuestionTaskset

    class Trace:
        last_reply = ""

    task = next(iter(QuestionTaskset(QuestionConfig(levels=[1, 2], seed=1))))
    trace: Any = Trace()
    trace.last_reply = f"<think>…</think> <answer>{task.data.answer}</answer>"
    assert asyncio.run(task.accuracy(trace)) == asyncio.run(task.format(trace)) == 1
    trace.last_reply = "I cannot see it."
    assert asyncio.run(task.accuracy(trace)) == asyncio.run(task.format(trace)) == 0


def test_verifiers_rewards_places() -> None:
    pytest.importorskip("verifiers.v1", reason="verifiers is not installed: it asks for 60 packages")
    from vqagen.environments.tasksets import QuestionConfig, QuestionTaskset

    class Trace:
        last_reply = ""

    trace: Any = Trace()
    for task in islice(QuestionTaskset(QuestionConfig(levels="places", seed=1)).load(), 5):
        assert asyncio.run(task.validate(None))
        trace.last_reply = str([[0, 0, 240, 160]])
        assert asyncio.run(task.accuracy(trace)) == 0
