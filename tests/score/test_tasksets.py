"""The environment in verifiers and reasoning-gym, where these are installed; `scripts/bench trainers` installs them."""

from __future__ import annotations

import asyncio
import base64
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from vqagen.environments.director import shelves
from vqagen.environments.endless import environment


def test_trials_go_on_over_windows_and_begin_anywhere() -> None:
    around = list(islice(shelves(start=957), 5))

    assert [each.index for each in around] == [957, 958, 959, 960, 961]
    assert next(shelves(start=960)).question == around[3].question
    assert around[0].png()[:4] == b"\x89PNG"
    assert all(each.answer == each.record["answer"] for each in around)


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


def test_reasoning_gym_makes_the_dataset_by_its_name() -> None:
    gym = pytest.importorskip("reasoning_gym", reason="reasoning-gym is not installed")
    import vqagen.environments.gym

    dataset = gym.create_dataset("vqagen", size=4, seed=5, levels=[1, 3])
    entries = list(dataset)

    assert len(entries) == 4 and entries == [dataset[index] for index in range(4)]
    assert [entry["answer"] for entry in entries] == [environment(levels=[1, 3], seed=5)[i].answer for i in range(4)]
    assert entries[0]["metadata"]["source_dataset"] == "vqagen" and entries[3]["metadata"]["source_index"] == 3
    assert [dataset.score_answer(entry["answer"], entry) for entry in entries] == [1] * 4
    assert dataset.score_answer(None, entries[0]) == 0
    assert '"relationships"' in entries[0]["question"]
    with_picture = gym.create_dataset("vqagen", size=1, seed=5, pictures=True)[0]
    assert with_picture["metadata"]["image"][:4] == b"\x89PNG" and "JSON" not in with_picture["question"]
    curriculum = vqagen.environments.gym.VqagenCurriculum()
    curriculum.increment_attr_level("levels")
    assert curriculum.generate_configuration({"seed": 1, "size": 2}).levels == 2
