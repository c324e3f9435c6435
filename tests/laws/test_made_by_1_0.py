"""Nothing published breaks: files that version 1.0.0 wrote are still verified, evaluated, merged, audited and exported.

`tests/data/made_by_1_0` holds a small file of each kind, and the templates of 1.0; dialogs have their own tests in
`tests/tasks/dialog`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

FOLDER = Path(__file__).parents[1] / "data" / "made_by_1_0"
SCENES = {"market": "market_scenes"}
QUESTIONS = ("questions", "pairs", "compat", "market", "choices")
OUTPUTS = (*(f"{name}.json" for name in (*QUESTIONS, "visual7w")), "trials")


def questions_of(name: str) -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = json.loads((FOLDER / f"{name}.json").read_bytes())["questions"]
    return questions


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_are_verified(vqagen_: Commands, name: str) -> None:
    """Each answer is computed again, each text read again by the templates that version 1.0 shipped."""
    scenes = FOLDER / f"{SCENES.get(name, 'six_scenes')}.json"
    templates = FOLDER / "templates" / ("market" if name == "market" else "clevr")
    ran = vqagen_.done(f"verify {FOLDER / name}.json --scenes {scenes} --templates {templates} --json")
    report = json.loads(ran.out)

    assert (report["checked"], report["mismatched"], report["unproven"]) == (len(questions_of(name)), 0, {})


def test_trials_are_verified(vqagen_: Commands) -> None:
    report = json.loads(vqagen_.done(f"verify {FOLDER / 'trials'} --json").out)

    assert (report["checked"], report["mismatched"]) == (6, 0)


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", QUESTIONS)
def test_right_predictions_score_one(vqagen_: Commands, name: str) -> None:
    """The words of own domains come from the file, or from the domain that it names."""
    predictions = [
        {"question_index": question["question_index"], "answer": question["answer"]} for question in questions_of(name)
    ]
    Path("predictions.jsonl").write_text("".join(json.dumps(each) + "\n" for each in predictions), "utf-8")

    report = json.loads(vqagen_.done(f"evaluate {FOLDER / name}.json predictions.jsonl --json").out)

    assert report["tables"]["overall"]["rows"][0]["accuracy"] == 1.0


def test_shards_are_merged_to_the_whole(vqagen_: Commands) -> None:
    vqagen_.done(f"merge {FOLDER / 'part_0.json'} {FOLDER / 'part_1.json'} --out merged.json")

    assert json.loads(Path("merged.json").read_bytes())["questions"] == questions_of("questions")


@pytest.mark.slow
@pytest.mark.parametrize("name", OUTPUTS)
def test_outputs_are_audited(vqagen_: Commands, name: str) -> None:
    """So few images are too few to tell, which the end says (1); no file is refused."""
    ran = vqagen_(f"audit {FOLDER / name} --json")

    assert ran.code in (0, 1), ran.err
    assert json.loads(ran.out)
