"""Loads an export with the package that it was made for, and prints what it found.

Usage: loads.py TARGET EXPORT   Runs in the environment that `scripts/bench trainers` makes for the target.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def lmms_eval(export: Path) -> str:
    """Build the task, ask a document as a model is asked, and score the right answer."""
    from lmms_eval.tasks import TaskManager, get_task_dict

    os.chdir(export)  # tables are named relative to the folder
    name = next(export.glob("*.yaml")).stem
    task: Any = get_task_dict([name], TaskManager(include_path=str(export)))[name]
    documents = task.test_docs()
    document = documents[0]
    (picture,), text, target = task.doc_to_visual(document), task.doc_to_text(document), task.doc_to_target(document)
    scored = task.process_results(document, [target])
    assert picture.size == (120, 80) and scored["accuracy"]["score"] == 1, scored
    return f"{len(documents)} documents; {text!r} with {picture.size} is answered by {target!r}"


def verl(export: Path) -> str:
    """Read rows as verl's dataset does, and the reward as its workers do."""
    from datasets import load_dataset
    from omegaconf import OmegaConf
    from verl.trainer.ppo.reward import get_custom_reward_fn

    import vqagen.rewards

    rows = load_dataset("parquet", data_files=str(export / "train.parquet"), split="train")
    path = {"path": vqagen.rewards.__file__, "name": "verl_score"}
    reward = get_custom_reward_fn(
        OmegaConf.create({"custom_reward_function": path, "reward": {"custom_reward_function": path}})
    )
    rewards = []
    for row in rows:
        truth = row["reward_model"]["ground_truth"]
        for reply in (f"<think>…</think><answer>{truth}</answer>", truth, "I cannot tell."):
            found = reward(
                data_source=row["data_source"], solution_str=reply, ground_truth=truth, extra_info=row["extra_info"]
            )
            rewards.append(found["score"])
    assert rewards == [1.0, 0.9, 0.0] * len(rows)
    return f"{len(rows)} rows; rewards 1, 0.9 and 0 for a right reply in form, a right one, and none"


def inspect(export: Path) -> str:
    """Run the task with a model that answers the first samples rightly, and the others not at all."""
    from inspect_ai import eval as evaluate
    from inspect_ai.model import ModelOutput, ModelUsage, get_model

    os.chdir(export)
    samples = [json.loads(line) for line in Path("train.jsonl").read_text("utf-8").splitlines()[:5]]
    replies = [f"ANSWER: {each['target']}" for each in samples[:3]] + ["I cannot tell."] * 2
    outputs = [ModelOutput.from_content("mockllm", reply) for reply in replies]
    for output in outputs:
        output.usage = ModelUsage()  # or Inspect would fetch a tokenizer to count them
    model = get_model("mockllm/model", custom_outputs=outputs)
    (log,) = evaluate(
        "task.py@train", model=model, limit=5, display="none", log_dir=str(export / "logs"), max_samples=1
    )
    assert log.status == "success" and log.results, log.error
    accuracy = log.results.scores[0].metrics["accuracy"].value
    assert accuracy == 0.6, accuracy
    return f"{log.results.total_samples} samples of {log.eval.dataset.samples}, of which 3 were answered: {accuracy}"


TARGETS: dict[str, Callable[[Path], str]] = {"lmms-eval": lmms_eval, "verl": verl, "inspect": inspect}

if __name__ == "__main__":
    print(TARGETS[sys.argv[1]](Path(sys.argv[2]).absolute()))
