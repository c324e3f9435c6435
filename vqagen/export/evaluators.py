"""The formats of evaluators: VLMEvalKit's table, a task of lmms-eval, and tasks of Inspect AI."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vqagen.dataset.rows import Row
from vqagen.errors import BadInput, Problem, UsageError
from vqagen.export.examples import CHOICE, DIALOGS, OPEN, TRIALS, Example
from vqagen.export.folder import HUB_FILE, IMAGE, TEXT, ExportFolder, ExportTarget, chat, rounds_of
from vqagen.items.answers import NUMBER_WORDS, PLACES
from vqagen.tasks.prompts import CELL_ENDING, PLAIN, question_prompt

# VLMEvalKit: <name>_<split>.tsv of questions with options, which it evaluates without any code ------------------------
#
# pandas reads the table, and guesses the type of a column from a few hundred kB at a time. So no cell may look like a
# missing value, and a number as an option is written as a word: 3 would become 3.0 beside an empty cell.

NO_PLACES = "it scores words; ask for points and boxes elsewhere, and score them by `vqagen evaluate`"
"""Why an evaluator cannot hold answers that are places."""
_MISSING = frozenset(
    ("", "#n/a", "#na", "-1.#ind", "-1.#qnan", "-nan", "1.#ind", "1.#qnan", "<na>", "n/a", "na", "nan", "none", "null")
)
"""Texts that pandas takes for a missing value, in lower case: it knows most of them in some cases only."""
_RESERVED = ("openended", "video")
"""Parts of a name by which VLMEvalKit takes a table for something else."""
_WORD_OF = {str(number): word for word, number in NUMBER_WORDS.items() if word != "none" and " " not in word}
_LETTERS = "ABCD"
"""Options of a row. Those with fewer leave cells empty, which VLMEvalKit does not show."""
_VLMEVALKIT = """\
Copy the tables into the folder that `LMUData` names (by default ~/LMUData), and name one without its ending:

    python run.py --data {names} --model …

The name must stay free of "openended" and "video". A picture stands in its first row; the others name that row.
The index is the id of the question, by which `vqagen evaluate` scores a table of predictions."""


def _vlmevalkit_rows(example: Example, folder: ExportFolder) -> Iterator[Row]:
    name, row = f"{folder.name}_{example.split}", example.row
    if reserved := next((word for word in _RESERVED if word in name.lower()), None):
        raise UsageError(f"--name {name} holds {reserved!r}, by which VLMEvalKit takes it for another kind of data")
    options = [_cell(_WORD_OF.get(text, text), example) for text in row["choices"]]
    if len(options) > len(_LETTERS):
        message = f"question {example.id} has {len(options)} options; at most {len(_LETTERS)} fit"
        raise BadInput([Problem(message)])
    yield {
        "index": example.id,
        **({} if example.image is None else {"image": _picture(example.image, example, folder)}),
        "question": _cell(row["question"], example),
        **dict(zip(_LETTERS, [*options, *[""] * len(_LETTERS)], strict=False)),
        "answer": _cell(example.turn.answer, example),
        "category": _cell(row["family"] or "all", example),
        "l2-category": row["answer_type"],
        "split": example.split,
    }


def _picture(image: Mapping[str, Any], example: Example, folder: ExportFolder) -> str | int:
    """Return a picture as text, or the index of the row of its split that has it."""
    first = folder.saved.setdefault(f"{example.split} {hash(image['bytes'])}", example.id)
    return base64.b64encode(image["bytes"]).decode() if first == example.id else first


def _cell(text: str, example: Example) -> str:
    """Return the text of a cell. BadInput for one that pandas would not read as this text."""
    if text.lower() in _MISSING:
        message = f"question {example.id} says {text!r}, which VLMEvalKit would read as a missing value"
        raise BadInput([Problem(f"{message}; rename the value in the metadata")])
    return text


# lmms-eval: a folder of tasks, <name>_<split>.yaml with utils.py and Parquet, for `--include_path` -------------------

_LMMS_TASK = """task: {name}_{split}
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
_LMMS_PROMPTS = {
    OPEN: "Answer with a single word or with a number in digits.",
    CHOICE: "Answer with the letter of the right option.",
    TRIALS: "Answer with the label of the cell, such as B2.",
}
"""Mode of asking, or the kind of source -> the end of a prompt."""
_LMMS_UTILS = '''"""Functions of the tasks beside this file. They need vqagen: pip install vqagen."""

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
_LMMS_EVAL = """Run it in this folder, as the tasks name their tables relative to it:

    python -m lmms_eval --include_path . --tasks {names} --model … --log_samples

vqagen must be installed there: a reply is read as `vqagen evaluate` reads it, so that "There are three." is 3.
The log of `--log_samples` carries the id of each question, by which `vqagen evaluate` scores it."""


def _lmms_rows(example: Example, folder: ExportFolder) -> Iterable[Row]:
    row = {
        "image_id": example.row["image_id"],
        "image": example.image,
        "question": example.turn.text,
        "answer": example.turn.answer,
        "answer_type": example.turn.answer_type,
        "family": example.row["family"],
        "id": example.id,
        "choices": example.row.get("choices"),
    }
    return [row]


def _write_lmms_tasks(folder: ExportFolder) -> str:
    prompt = _LMMS_PROMPTS.get(folder.source.kind) or _LMMS_PROMPTS[folder.mode]
    for split in folder.splits:
        table = HUB_FILE.format(split=split)
        task = _LMMS_TASK.format(name=folder.name, split=split, table=table, prompt=prompt)
        folder.write_text(f"{folder.name}_{split}.yaml", task)
    folder.write_text("utils.py", _LMMS_UTILS.format(domain=folder.domain))
    return ",".join(folder.split_names)


# Inspect AI: <split>.jsonl of samples, images/, and task.py with a task for each split -------------------------------

_INSPECT_TASKS = '''"""Tasks of Inspect AI: `inspect eval task.py@{first} --model …`."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
{imports}

HERE = Path(__file__).parent

{scorer}
{tasks}
'''
_ONE_TASK = """
@task
def {split}():
    return Task(dataset=json_dataset(str(HERE / "{split}.jsonl")), solver={solver}, scorer={scorer})
"""
_CHOICE_IMPORTS = """from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice"""
_OPEN_IMPORTS = """from inspect_ai.scorer import Score, accuracy, scorer, stderr
from inspect_ai.solver import generate

from vqagen.rewards import credit"""
_OPEN_SCORER = '''
@scorer(metrics=[accuracy(), stderr(cluster="image")])
def typed_answer():
    """Read a reply as `vqagen evaluate` does, by the type of the answer."""

    async def score(state, target):
        value = credit(state.output.completion, target.text, state.metadata["answer_type"], domain={domain!r})
        return Score(value=value, explanation=f"correct: {{target.text}}")

    return score
'''


def _inspect_samples(example: Example, folder: ExportFolder) -> Iterator[Row]:
    """Yield a sample for each question. A round of a dialog follows the rounds before it, rightly answered."""
    pictures = [] if example.image is None else [{"type": "image", "image": folder.save_picture(example.image)}]
    is_choice = folder.mode == CHOICE

    def message(role: str, text: str, has_picture: bool) -> dict[str, Any]:
        asked = [*(pictures if has_picture else []), {"type": "text", "text": text}]
        return {"role": role, "content": asked if role == "user" else text}

    system = CELL_ENDING if folder.source.kind == TRIALS else question_prompt(folder.mode, PLAIN, folder.has_pictures)
    for id, turns in rounds_of(example):
        if is_choice:  # Inspect shows the options
            turns = (example.turn._replace(text=example.row["question"]),)
        yield {
            "id": id,
            "input": [
                *([] if is_choice else [{"role": "system", "content": system}]),
                *chat(turns, True, message)[:-1],
            ],
            **({"choices": example.row["choices"]} if is_choice else {}),
            "target": turns[-1].answer,
            "metadata": {
                "answer_type": turns[-1].answer_type,
                "family": example.row.get("family", ""),
                "image": example.row["image_id"],
            },
        }


def _write_inspect_tasks(folder: ExportFolder) -> str:
    is_choice = folder.mode == CHOICE
    solver, scorer = ("multiple_choice()", "choice()") if is_choice else ("generate()", "typed_answer()")
    code = _INSPECT_TASKS.format(
        first=next(iter(folder.splits)),
        imports=_CHOICE_IMPORTS if is_choice else _OPEN_IMPORTS,
        scorer="" if is_choice else _OPEN_SCORER.format(domain=folder.domain),
        tasks="\n".join(_ONE_TASK.format(split=split, solver=solver, scorer=scorer) for split in folder.splits),
    )
    folder.write_text("task.py", code)
    return "\n".join(f"    inspect eval path/to/this/folder/task.py@{split} --model …" for split in folder.splits)


TABLE: Mapping[str, ExportTarget] = {
    "vlmevalkit": ExportTarget(
        "VLMEvalKit",
        {
            "index": TEXT,
            "image": IMAGE,
            **dict.fromkeys(("question", *_LETTERS, "answer", "category", "l2-category", "split"), TEXT),
        },
        _vlmevalkit_rows,
        _VLMEVALKIT,
        "{name}_{split}.tsv",
        {
            OPEN: "it scores only questions with options without code (CustomVQADataset.evaluate raises"
            " NotImplementedError); make options with `vqagen choices`, and export with --mode mc",
            DIALOGS: "a row is one question with options; export to inspect",
            TRIALS: "a trial has no options; export to inspect",
        },
        lambda folder: " ".join(folder.split_names),
    ),
    "lmms-eval": ExportTarget(
        "lmms-eval",
        {
            "image": IMAGE,
            **dict.fromkeys(("question", "answer", "answer_type", "family", "id"), TEXT),
            "choices": [TEXT],
        },
        _lmms_rows,
        _LMMS_EVAL,
        HUB_FILE,
        {DIALOGS: "a document is one question; export to inspect", PLACES: NO_PLACES},
        _write_lmms_tasks,
    ),
    "inspect": ExportTarget(
        "Inspect AI",
        dict.fromkeys(("id", "input", "choices", "target", "metadata"), TEXT),
        _inspect_samples,
        "{names}",
        "{split}.jsonl",
        {PLACES: NO_PLACES},
        finish=_write_inspect_tasks,
    ),
}
