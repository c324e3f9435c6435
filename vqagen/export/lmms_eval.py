"""lmms-eval: a folder of tasks, <name>_<split>.yaml with utils.py and Parquet, for `--include_path`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vqagen.export.examples import CHOICE, DIALOGS, OPEN, TRIALS, Example
from vqagen.export.folder import IMAGE, TEXT, Folder
from vqagen.export.hf import table_of

CANNOT: Mapping[str, str] = {DIALOGS: "a document is one question; export to inspect"}
FEATURES: Mapping[str, Any] = {
    "image": IMAGE,
    **dict.fromkeys(("question", "answer", "answer_type", "family", "id"), TEXT),
    "choices": [TEXT],
}
TASK = """task: {name}_{split}
dataset_path: parquet
dataset_kwargs:
  data_files:
    {split}: {table}
test_split: {split}
output_type: generate_until
doc_to_visual: !function utils.doc_to_visual
doc_to_text: !function utils.doc_to_text
doc_to_target: "answer"
generation_kwargs:
  max_new_tokens: 16
  temperature: 0
  do_sample: false
process_results: !function utils.process_results
metric_list:
  - metric: accuracy
    aggregation: !function utils.mean
    higher_is_better: true
lmms_eval_specific_kwargs:
  default:
    pre_prompt: ""
    post_prompt: "\\n{prompt}"
metadata:
  - version: 1.0
"""
PROMPTS = {
    OPEN: "Answer with a single word or with a number in digits.",
    CHOICE: "Answer with the letter of the right option.",
    TRIALS: "Answer with the label of the cell, such as B2.",
}
"""Mode of asking, or the kind of source -> the end of a prompt."""
UTILS = '''"""Functions of the tasks beside this file. They need vqagen: pip install vqagen."""

from vqagen.rewards import credit

DOMAIN = {domain!r}


def doc_to_visual(doc):
    return [doc["image"].convert("RGB")] if doc.get("image") else []


def doc_to_text(doc, lmms_eval_specific_kwargs=None):
    asked = lmms_eval_specific_kwargs or {{}}
    return f"{{asked.get('pre_prompt', '')}}{{doc['question']}}{{asked.get('post_prompt', '')}}"


def process_results(doc, results):
    """Score a reply as `vqagen evaluate` does. Logs leave out the document, so the score carries its id."""
    score = credit(results[0], doc["answer"], doc["answer_type"], doc.get("choices"), domain=DOMAIN)
    return {{"accuracy": {{"id": doc["id"], "score": score}}}}


def mean(scores):
    return sum(each["score"] for each in scores) / len(scores)
'''
USE = """Run it in this folder, as the tasks name their tables relative to it:

    python -m lmms_eval --include_path . --tasks {names} --model … --log_samples

vqagen must be installed there: a reply is read as `vqagen evaluate` reads it, so that "There are three." is 3.
The log of `--log_samples` carries the id of each question, by which `vqagen evaluate` scores it."""


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a task with its table."""
    rows = (
        {
            "image_id": each.row["image_id"],
            "image": each.image,
            "question": each.turn.text,
            "answer": each.turn.answer,
            "answer_type": each.turn.answer_type,
            "family": each.row["family"],
            "id": each.id,
            "choices": each.row.get("choices"),
        }
        for each in examples
    )
    folder.write_table(table_of(split), rows, FEATURES)
    task = TASK.format(
        name=folder.name,
        split=split,
        table=table_of(split),
        prompt=PROMPTS.get(folder.source.kind) or PROMPTS[folder.mode],
    )
    folder.write_text(f"{folder.name}_{split}.yaml", task)


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the functions of the tasks, and the README."""
    folder.write_text("utils.py", UTILS.format(domain=folder.source.domain or None))
    names = ",".join(f"{folder.name}_{split}" for split in splits)
    folder.write_readme("lmms-eval", USE.format(names=names), FEATURES)
