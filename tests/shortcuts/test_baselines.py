"""Baselines run programs as they say, and write what they answer as predictions that the evaluator scores alike."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes

import vqagen
from vqagen.language.question import record_writer
from vqagen.shortcuts.baseline import BaselineFiles, baseline, baseline_ladder
from vqagen.shortcuts.predictors import PREDICTORS
from vqagen.shortcuts.settings import BaselineSettings

Record = dict[str, Any]
MANY = "several questions about an image"


pytestmark = pytest.mark.usefixtures("in_empty_folder")


@cache
def question_text(domain: str, scenes: int, per_image: int = 10) -> str:
    """A question document about sampled scenes."""
    drawn = sampled_scenes(scenes, domain=domain)
    made = vqagen.generate(drawn, domain=domain, seed=5, templates_per_image=per_image)
    to_record = record_writer("generator")
    return json.dumps({"questions": [to_record(question) for question in made]})


def written(domain: str = "clevr", scenes: int = 6) -> BaselineFiles:
    """Write questions; their name."""
    Path("q.json").write_text(question_text(domain, scenes))
    return BaselineFiles("q.json")


def test_the_same_seed_gives_the_same_answers() -> None:
    """Files of one seed have the same bytes; of another seed, others."""
    files = written()
    for number, seed in enumerate((1, 1, 2)):
        baseline("uniform", files, f"{number}.jsonl", BaselineSettings(seed=seed))
    first, same, other = (Path(f"{number}.jsonl").read_bytes() for number in range(3))
    assert first == same != other


# The command ------------------------------------------------------------------------------------------------------


def test_predictions_name_their_questions_and_say_how_they_were_made() -> None:
    """A prediction file has one line for each question, and an info with the baseline, its settings and its inputs."""
    baseline("majority-family", written(), "p.jsonl", BaselineSettings(top_k=2))

    lines = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert [line["question_index"] for line in lines] == list(range(60))
    assert {tuple(line) for line in lines} <= {("question_index", "candidates"), ("question_index", "answer")}
    generator = json.loads(Path("p.jsonl.info.json").read_text())["generator"]
    assert generator["settings"] == {"baseline": "majority-family", "top_k": 2, "seed": 0}
    assert set(generator["inputs"]) == {"questions"}


def _scored(predictions: str, questions: str = "q.json", **settings: Any) -> float:
    return vqagen.evaluate(questions, predictions, **settings).overall().accuracy


@pytest.mark.slow
def test_the_evaluator_scores_the_files_of_all_baselines_alike(vqagen_: Commands) -> None:
    """All that the files allow are in the ladder, each with the accuracy that its predictions have."""
    files = written()

    found = json.loads(vqagen_.done("baseline all --questions q.json --json").out)["baselines"]

    asked = [each.name for each in PREDICTORS if each.needs in ("", "texts", "programs", MANY)]
    assert [each["baseline"] for each in found] == asked
    for each in (each for each in found if each["baseline"] not in ("order", "tree", "others")):
        baseline(each["baseline"], files, "p.jsonl", force=True)
        assert _scored("p.jsonl") == pytest.approx(each["accuracy"], abs=1e-6), each["baseline"]
    floor = next(each for each in found if each["baseline"] == "majority")
    assert floor["lift"] == 0
    assert sum(each["n"] for each in floor["by_family"].values()) == 60
    assert {"accuracy", "interval", "lift"} <= set(next(iter(found[-1]["by_type"].values())))
    table = vqagen_.done("baseline all --questions q.json").out.decode().splitlines()
    assert [line.split()[0] for line in table[5:12]] == [each["baseline"] for each in found[:7]]


@pytest.mark.slow
def test_all_commands_that_guess_have_one_value_of_one_quantity() -> None:
    """What a predictor scores in the ladder it scores in statistics and in an audit; none beats the floor by counting.

    Folds hold whole windows of balance: half of a window would tell what the other half must answer.
    """
    Path("s.json").write_text(json.dumps({"scenes": sampled_scenes(30)}))
    vqagen.write_questions("s.json", "q.json", settings=vqagen.QuestionSettings(only=("exist",), reset_counts_every=5))

    ladder = {rung.baseline.name: rung.everything for rung in baseline_ladder(BaselineFiles("q.json")).rungs}
    guessed = vqagen.stats("q.json").to_record()["guessed"]["all"]
    probes = {probe.name: probe.accuracy for probe in vqagen.audit("q.json").probes}
    baseline("majority-family", BaselineFiles("q.json"), "p.jsonl")
    floor = vqagen.evaluate("q.json", "p.jsonl").overall().floor

    assert guessed.pop("questions") == ladder["majority"].n
    assert guessed == {name: pytest.approx(ladder[name].expected, abs=1e-4) for name in guessed} != {}
    assert probes == {name: pytest.approx(ladder[name].expected) for name in probes} != {}
    assert floor >= max(ladder[name].expected for name in ("uniform", "majority", "majority-family"))


@pytest.mark.parametrize(
    ("name", "mode", "accuracy"), [("majority-all", "open", 2 / 4), ("most-frequent-option", "mc", 1 / 4)]
)
def test_visual7w_files_are_read_and_answered(name: str, mode: str, accuracy: float) -> None:
    """The toolkit's baselines of a dataset with splits: its own numbers, and a pair that it cannot read."""
    train = [{"answer": text} for text in ("Red.", "3", "Red.", "3", "Blue.")]
    val = [
        {"answer": "3", "multiple_choices": ["Red.", "4", "5"], "type": "how"},
        {"answer": "2", "multiple_choices": ["3", "4", "5"], "type": "how"},
        {"answer": "red.", "multiple_choices": ["Red.", "green.", "Blue."], "type": "what"},
        {"answer": "Café", "multiple_choices": ["Bar", "Inn", "Pub"], "type": "what"},
    ]
    more = {"question": "?", "multiple_choices": ["x", "y", "z"], "type": "what"}
    pairs = [{**more, **pair, "qa_id": number} for number, pair in enumerate([*train, *val])]
    splits = {"train": pairs[:5], "val": pairs[5:]}
    images = [
        {"image_id": number, "filename": f"v7w_{number}.jpg", "split": split, "qa_pairs": own}
        for number, (split, own) in enumerate(splits.items())
    ]
    Path("dataset.json").write_text(json.dumps({"dataset": "visual7w-telling", "images": images}))
    files = BaselineFiles("dataset.json", "dataset.json", mode=mode, split="val", train_split="train")

    result = baseline(name, files, "p.jsonl", BaselineSettings(top_k=2 if mode == "open" else 1))

    assert result.everything.accuracy == accuracy
    settings = {"mode": mode, "split": "val", "normalise": "visual7w"}
    assert _scored("p.jsonl", "dataset.json", top_k=(2 if mode == "open" else 1,), **settings) == accuracy


def test_predictions_about_visual7w_are_written_as_its_toolkit_reads_them(vqagen_: Commands) -> None:
    """A list with the question and candidates of each pair, a box by its number; of other questions they are lines."""
    boxes = [{"box_id": number, "name": "x", "x": 0, "y": 0, "width": 5, "height": 5} for number in range(4)]
    pair = {"qa_id": 7, "question": "Which one?", "answer": 2, "multiple_choices": [0, 1, 3], "type": "which"}
    image = {"image_id": 1, "filename": "v7w_1.jpg", "split": "val", "qa_pairs": [pair]}
    Path("dataset.json").write_text(json.dumps({"images": [image], "boxes": boxes}))

    vqagen_.done("baseline random-option --questions dataset.json -o result.json")

    (entry,) = json.loads(Path("result.json").read_text())
    ((chosen,),) = (list(each.values()) for each in entry["candidates"])
    assert entry == {"qa_id": 7, "question": "Which one?", "candidates": [{"answer": chosen}]}
    assert chosen in range(4)
    assert _scored("result.json", "dataset.json", normalise="visual7w") == (chosen == 2)
    written()
    refused = vqagen_("baseline majority --questions q.json -o result2.json")
    assert (refused.code, Path("result2.json").exists()) == (2, False)
    assert "result2.json: predictions are JSON Lines; name it result2.jsonl" in refused.err


@pytest.mark.slow
def test_dialogs_and_trials_are_answered(vqagen_: Commands) -> None:
    """Rounds of dialogs and trials get predictions that the evaluator reads, also of a folder."""
    vqagen_.done("scenes sample --count 2 -o s.json")
    vqagen_.done("dialog --scenes s.json --out dialogs.jsonl")
    vqagen_.done("director generate --count 12 --out trials --render none")
    for name, number in (("dialogs.jsonl", 100), ("trials", 12)):
        result = baseline("majority-family", BaselineFiles(name), "p.jsonl", force=True)

        assert result.everything.n == number
        assert _scored("p.jsonl", name) == pytest.approx(result.everything.accuracy)


def test_the_ladder_has_what_the_file_allows() -> None:
    """Rules for options are run where there are options."""
    asked = [{"question": "?", "answer": "a", "options": ["a", "b"], "image_index": i} for i in range(40)]

    names = [rung.baseline.name for rung in baseline_ladder(BaselineFiles({"questions": asked})).rungs]

    assert names[:3] == ["uniform", "majority-all", "majority"]
    assert [name for name in names if "option" in name] == [
        "random-option",
        "most-frequent-option",
    ]
    assert "position" in names


def test_wrong_usage_is_one_line(vqagen_: Commands) -> None:
    """Each mistake names what is missing, and ends in 2."""
    written()
    cases = {
        "majorty --questions q.json -o p.jsonl": "unknown baseline 'majorty'; did you mean 'majority'?",
        "majority --questions q.json": "give --out",
        "oracle --questions q.json -o p.jsonl": "'oracle' was removed in version 2.0: `vqagen verify` runs programs",
        "choices-only --questions q.json -o p.jsonl": "choices-only needs options: q.json has none",
        "majority --questions q.json --top-k 0 -o p.jsonl": "--top-k must be at least 1, found 0",
        "majority --questions q.json -o q.json --force": "in use by the same run",
    }
    ran = {line: vqagen_(f"baseline {line}") for line in cases}
    assert [(line, ran[line]) for line, said in cases.items() if ran[line].code != 2 or said not in ran[line].err] == []
    Path("none.json").write_text('{"questions": []}')
    nothing = vqagen_("baseline majority --questions none.json -o p.jsonl")
    assert (nothing.code, nothing.err) == (3, "vqagen: none.json: no questions to answer\n")
