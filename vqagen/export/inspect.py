"""Inspect AI: <split>.jsonl of samples, images/, and task.py with a task for each split.

A round of a dialog is a sample after the rounds before it, rightly answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vqagen.export.examples import CHOICE, TRIALS, Example
from vqagen.export.folder import TEXT, Folder
from vqagen.tasks.prompts import CELL_ENDING, PLAIN, question_prompt

CANNOT: Mapping[str, str] = {}
TASK = '''"""Tasks of Inspect AI: `inspect eval task.py@{first} --model …`."""

from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import json_dataset
{imports}

HERE = Path(__file__).parent

{scorer}
{tasks}
'''
ONE_TASK = """
@task
def {split}():
    return Task(dataset=json_dataset(str(HERE / "{split}.jsonl")), solver={solver}, scorer={scorer})
"""
CHOICE_IMPORTS = """from inspect_ai.scorer import choice
from inspect_ai.solver import multiple_choice"""
OPEN_IMPORTS = """from inspect_ai.scorer import Score, accuracy, scorer, stderr
from inspect_ai.solver import generate

from vqagen.rewards import credit"""
OPEN_SCORER = '''
@scorer(metrics=[accuracy(), stderr(cluster="image")])
def typed_answer():
    """Read a reply as `vqagen evaluate` does, by the type of the answer."""

    async def score(state, target):
        value = credit(state.output.completion, target.text, state.metadata["answer_type"], domain={domain!r})
        return Score(value=value, explanation=f"correct: {{target.text}}")

    return score
'''


def write_split(examples: Iterable[Example], split: str, folder: Folder) -> None:
    """Write a sample for each question, trial or round, and the pictures, each once."""
    folder.write_lines(f"{split}.jsonl", (sample for each in examples for sample in _samples(each, folder)))


def _samples(each: Example, folder: Folder) -> Iterator[dict[str, Any]]:
    picture = [] if each.image is None else [{"type": "image", "image": folder.save_picture(each.image)}]
    is_choice = folder.mode == CHOICE
    messages: list[dict[str, Any]] = [] if is_choice else [{"role": "system", "content": _system(folder)}]
    for number, turn in enumerate(each.turns):
        text = each.row["question"] if is_choice else turn.text
        shown = picture if number == 0 else []
        messages.append({"role": "user", "content": [*shown, {"type": "text", "text": text}]})
        yield {
            "id": each.id if len(each.turns) == 1 else f"{each.id}/{number}",
            "input": messages.copy(),
            **({"choices": each.row["choices"]} if is_choice else {}),
            "target": turn.answer,
            "metadata": {
                "answer_type": turn.answer_type,
                "family": each.row.get("family", ""),
                "image": each.row["image_id"],
            },
        }
        messages.append({"role": "assistant", "content": turn.answer})


def _system(folder: Folder) -> str:
    return CELL_ENDING if folder.source.kind == TRIALS else question_prompt(folder.mode, PLAIN, folder.has_pictures)


def finish(splits: Mapping[str, int], folder: Folder) -> None:
    """Write the tasks, and the README."""
    is_choice = folder.mode == CHOICE
    solver, scorer = ("multiple_choice()", "choice()") if is_choice else ("generate()", "typed_answer()")
    tasks = "\n".join(ONE_TASK.format(split=split, solver=solver, scorer=scorer) for split in splits)
    code = TASK.format(
        first=next(iter(splits)),
        imports=CHOICE_IMPORTS if is_choice else OPEN_IMPORTS,
        scorer="" if is_choice else OPEN_SCORER.format(domain=folder.source.domain or None),
        tasks=tasks,
    )
    folder.write_text("task.py", code)
    names = "\n".join(f"    inspect eval path/to/this/folder/task.py@{split} --model …" for split in splits)
    folder.write_readme("Inspect AI", names, dict.fromkeys(("id", "input", "choices", "target", "metadata"), TEXT))
