"""Items: what is asked and answered, read from files of vqagen, of other benchmarks, and from memory."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pytest
from depth import some
from gold_files import write_visual7w
from scene_records import sampled_scenes

from vqagen.cli import run
from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.items.table import NONE, Gold, Items, Options
from vqagen.score.evaluate import evaluate_items
from vqagen.score.evaluation import Evaluation, EvaluationSettings
from vqagen.score.items import read_items
from vqagen.score.predictions.reading import read_predictions
from vqagen.shortcuts.clues import clues_of

NODES: list[dict[str, Any]] = [
    {"type": "scene", "inputs": [], "value_inputs": []},
    {"type": "filter_color", "inputs": [0], "value_inputs": ["red"]},
    {"type": "unique", "inputs": [1], "value_inputs": []},
    {"type": "relate", "inputs": [2], "value_inputs": ["left"]},
    {"type": "filter_shape", "inputs": [3], "value_inputs": ["cube"]},
    {"type": "scene", "inputs": [], "value_inputs": []},
    {"type": "union", "inputs": [4, 5], "value_inputs": []},
    {"type": "count", "inputs": [6], "value_inputs": []},
]


def written(path: Path, value: Any) -> Path:
    """Return a file with JSON."""
    path.write_bytes(orjson.dumps(value))
    return path


def question(**changes: Any) -> dict[str, Any]:
    """Return a question as the reference's generator writes it."""
    return {
        "question_index": 7,
        "question_family_index": 3,
        "template_filename": "one_hop.json",
        "image_filename": "a.png",
        "question": "How many things are red?",
        "answer": 2,
        "program": NODES,
    } | changes


def scored(items: Items, answers: Any, preset: str = "typed", *top_k: int) -> Evaluation:
    """The evaluation of answers by id."""
    return evaluate_items(items, read_predictions(answers), EvaluationSettings(preset=preset, top_k=top_k))


def oracle(items: Items) -> Evaluation:
    """The evaluation of the right answers."""
    return scored(items, dict(zip(items.ids, items.answers.cells(), strict=True)))


def rows(items: Items) -> list[dict[str, Any]]:
    """The values of all columns of each item."""
    columns = {"image": items.images, "options": items.options, "pair": items.pairs, "block": items.blocks}
    return [
        {"id": id, **items.gold.at(at)._asdict()}
        | {name: column.at(at) for name, column in {**columns, **items.fields}.items()}
        for at, id in enumerate(items.ids)
    ]


def only_row(*questions: Any) -> dict[str, Any]:
    """The only item of questions in memory."""
    (row,) = rows(read_items(questions))
    return row


# Files of vqagen ------------------------------------------------------------------------------------------------------


def test_a_question_has_the_fields_of_its_program() -> None:
    items = read_items([question()])

    assert {name: column.at(0) for name, column in items.fields.items()} == {
        "answer_type": "integer",
        "family": "one_hop.json#3",
        "category": "count",
        "function": "count",
        "program_length": 8,
        "depth": 7,
        "topology": "tree",
        "relates": 1,
        "sames": 0,
        "filters": 2,
        "attributes": "color, shape",
        "question_length": 5,
        "split": None,
    }
    assert (list(items.ids), items.gold.at(0), items.images.at(0)) == (["7"], Gold("integer", (2,)), "a.png")


def test_answers_of_both_dialects_have_one_value() -> None:
    read: list[tuple[Any, str, Any]] = [
        (True, "bool", True),
        ("no", "bool", False),
        (0, "integer", 0),
        ("10", "integer", 10),
        ("metal", "word", "metal"),
        (["red", "blue"], "list", ("red", "blue")),
    ]
    items = read_items([question(answer=answer) for answer, *_ in read])

    assert [items.gold.at(at) for at in range(len(items))] == [Gold(kind, (value,)) for _, kind, value in read]


def test_the_info_says_the_kind_of_answers() -> None:
    """A "2" may be a word, and a list may be written as one text."""
    info = {"generator": {"answer_types": {"count": "Color", "query_colors": "list"}}}
    colors = question(answer="red, blue", program=[*NODES[:-1], {"type": "query_colors", "inputs": [6]}])

    items = read_items({"info": info, "questions": [question(answer="2"), colors]})

    assert items.gold.values == (Gold("word", ("2",)), Gold("list", (("red", "blue"),)))


def test_a_released_file_has_functions_in_place_of_types() -> None:
    nodes = [{("function" if key == "type" else key): value for key, value in node.items()} for node in NODES]

    row = only_row(question(program=nodes, answer="2", template_filename=None))

    assert (row["category"], row["family"], row["answers"]) == ("count", "#3", (2,))


def test_options_are_those_of_the_record() -> None:
    items = read_items([question(options=[1, 2, 3, 4], block=5, pair="a")])

    assert (items.mode, items.options.at(0), items.blocks.at(0)) == ("mc", Options(("1", "2", "3", "4"), 1), 5)
    assert items.pairs.at(0) == "a"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with scenes, and questions, dialogs and trials about them."""
    folder = tmp_path_factory.mktemp("gold")
    written(folder / "scenes.json", {"scenes": sampled_scenes(6)})
    from_scenes = f"--scenes {folder}/scenes.json"
    for line in (
        f"generate {from_scenes} -o {folder}/questions.json",
        f"generate {from_scenes} --dialect release -o {folder}/released.json",
        f"generate {from_scenes} --only zero_hop.json --hide-answers -o {folder}/hidden.json",
        f"dialog {from_scenes} --dialogs-per-image 2 -o {folder}/dialogs.json",
        f"export {folder}/dialogs.json --to clevr-dialog -o {folder}/clevr_dialog.json",
        f"director generate --count 24 --render none -o {folder}/trials",
        f"export {folder}/trials --to reference -o {folder}/samples.json",
    ):
        assert run(line.split()) == 0
    return folder


GROUPS = {
    "questions.json": "answer_type category function family program_length depth scene_size",
    "dialogs.json": "answer_type category label history round distance scene_size",
    "clevr_dialog.json": "answer_type category label history round distance",
    "trials": "type rule_class frame physics type*rule_class*frame",
    "samples.json": "type rule_class frame physics type*rule_class*frame",
}
"""Name of a file -> the groups of its items."""


def test_the_oracle_is_right_in_every_group(made: Path) -> None:
    for name, groups in GROUPS.items():
        found = oracle(read_items(made / name, scenes=made / "scenes.json" if "scene_size" in groups else None))
        assert " ".join(found.groups) == groups
        assert {row.accuracy for by in ("overall", *found.groups) for row in found.table(by)} == {1.0}
        assert found.coverage.read == len(found) > 20


def test_both_dialects_have_the_same_items(made: Path) -> None:
    """Families are named by their ids, whatever the numbers in the file."""
    ours, released = (read_items(made / name) for name in ("questions.json", "released.json"))

    assert rows(ours) == rows(released)
    assert all(re.fullmatch(r"\w+\.json#[a-z_]+", family) for family in ours.fields["family"].values)


def test_both_shapes_of_dialogs_are_the_same_rounds(made: Path) -> None:
    """Files in CLEVR-Dialog's shape do not say which attribute a round names, nor when its referent was mentioned."""
    ours, theirs = (rows(read_items(made / name)) for name in ("dialogs.json", "clevr_dialog.json"))

    assert [{**row, "attribute": None, "mentioned": None} for row in ours] == theirs
    assert {row["history"] for row in ours} == {"independent", "whole history", "dependent"}


def test_records_in_memory_are_read_as_those_of_a_file(made: Path) -> None:
    """Documents, lists and iterators; with tuples for lists and numbers of numpy for numbers."""
    for name in ("questions.json", "dialogs.json", "clevr_dialog.json", "trials/trials.jsonl", "samples.json"):
        text = (made / name).read_bytes()
        held = [orjson.loads(line) for line in text.splitlines()] if name.endswith("jsonl") else orjson.loads(text)
        assert rows(read_items(held)) == rows(read_items(made / name))
    odd = question(answer=np.int64(2), program=tuple({**node, "inputs": tuple(node["inputs"])} for node in NODES))
    assert rows(read_items(iter([odd]))) == rows(read_items(question()))


def test_faulty_records_in_memory_are_named() -> None:
    for given, message in (
        ([question(), 5], "given questions: questions[1]: expected a question object, found 5"),
        ({"questions": 5}, "given questions: questions: expected a list of questions, found 5"),
        ([question(answer={1})], "given questions: questions[0]: not a JSON value: Type is not JSON serializable: set"),
    ):
        with pytest.raises(BadInput, match=re.escape(message)):
            read_items(given)


def test_scenes_give_their_size_and_their_values(made: Path) -> None:
    scenes = json.loads((made / "scenes.json").read_bytes())["scenes"]

    items = read_items(made / "questions.json", scenes=made / "scenes.json")
    assert rows(read_items(made / "questions.json", scenes=scenes)) == rows(items)
    for row in rows(items):
        objects = scenes[int(row["image"][-10:-4])]["objects"]
        assert row["scene_size"] == len(objects)
        assert row["scene_colors"] == len({each["color"] for each in objects})


def test_questions_about_other_scenes_are_rejected(made: Path, tmp_path: Path) -> None:
    scenes = json.loads((made / "scenes.json").read_bytes())
    few = written(tmp_path / "few.json", {**scenes, "scenes": scenes["scenes"][:4]})

    with pytest.raises(BadInput, match=r"few.json: no scene for 20 records: there is no scene of this image_filename"):
        read_items(made / "questions.json", scenes=few)


def test_what_is_learned_from_stands_beside_the_items(made: Path) -> None:
    """Of a question its text, program, scene and its place; of a round the dialog before it; of a trial open cells."""
    asked = read_items(made / "questions.json", learning=True, scenes=made / "scenes.json")
    records = json.loads((made / "questions.json").read_bytes())["questions"]
    assert asked.learning is not None
    for at, record in enumerate(records):
        texts, _, programs, scenes, places = asked.learning
        assert (texts.at(at), scenes.at(at), places.at(at)) == (record["question"], *[record["scene_index"]] * 2)
        assert orjson.loads(programs.at(at)) == record["program"]
    few = asked.take(np.array([4, 2]))
    assert few.learning is not None and list(few.ids) == ["4", "2"]
    own, all_clues = clues_of(few.learning.programs), clues_of(asked.learning.programs)
    assert [own.at(at) for at in (0, 1)] == [all_clues.at(at) for at in (4, 2)]

    rounds = read_items(made / "dialogs.json", learning=True)
    dialog = json.loads((made / "dialogs.json").read_bytes())["dialogs"][0]
    first = dialog["rounds"][0]
    assert rounds.learning is not None
    assert rounds.learning.histories.at(0) == dialog["caption"]["text"]
    assert rounds.learning.histories.at(1) == f"{dialog['caption']['text']} {first['question']} {first['answer']}"

    trials = read_items(made / "trials", learning=True)
    for at, line in enumerate((made / "trials" / "trials.jsonl").read_bytes().splitlines()):
        trial, options = orjson.loads(line), trials.options.at(at)
        assert options.texts[options.right] == trial["answer"]
        filled = [
            f"{chr(65 + n % trial['width'])}{n // trial['width'] + 1}" for n, on in enumerate(trial["cells"]) if on
        ]
        assert options.texts == tuple(cell for cell in filled if cell not in trial["blocked"])


def test_questions_without_answers_are_one_clear_error(made: Path) -> None:
    """Unless they are allowed: then they are items without an answer."""
    with pytest.raises(BadInput) as caught:
        read_items(made / "hidden.json")
    assert str(caught.value) == (
        f"{made}/hidden.json: questions[0]: no answers, so nothing to compare predictions with: "
        "give a file that was made without --hide-answers"
    )
    items = read_items(made / "hidden.json", allow_unanswered=True)
    assert items.unanswered == len(items) > 0 and set(items.answers.codes) == {NONE}


def test_all_faults_of_a_file_are_listed() -> None:
    """A program that is none, a node before its input, an object for an answer, no text, options, a list for a key."""
    faulty = [
        question(program="count"),
        question(program=[{"type": "count", "inputs": [0]}]),
        question(answer={"a": 1}),
        question(question=None),
        question(options=["5", "6"]),
        question(answer=["red"], split=["val"]),
    ]

    with pytest.raises(BadInput) as caught:
        read_items(faulty)
    assert [(problem.path, problem.message.split(",")[0]) for problem in caught.value.problems] == [
        ("questions[0].program", "expected a list of nodes with a function and a list of inputs"),
        ("questions[1].program", "node 0: expected inputs that are earlier nodes"),
        ("questions[2].answer", "expected true"),
        ("questions[3].question", "expected text"),
        ("questions[4].options", "the answer '2' is not among the options"),
        ("questions[5].split", "expected a text or a number"),
    ]


# Visual7W -------------------------------------------------------------------------------------------------------------

TOY_PAIRS: list[dict[str, Any]] = [
    {"qa_id": 1, "question": "How many?", "answer": "3", "multiple_choices": ["1", "2", "4"], "type": "how"},
    {"qa_id": 2, "question": "How?", "answer": "Slowly.", "multiple_choices": ["a", "b", "c"], "type": "how"},
    {"qa_id": 3, "question": "What color?", "answer": "Red.", "multiple_choices": ["a", "b", "c"], "type": "what"},
    {"qa_id": 4, "question": "What?", "answer": "Caf\u00e9", "multiple_choices": ["a", "b", "c"], "type": "what"},
]


def test_telling_is_scored_as_the_toolkit_of_visual7w_does(tmp_path: Path) -> None:
    """Its own result on three pairs is 0.667, 0.500 (1/2) and 1.000 (1/1); on the last one, "Café", it crashes."""
    path = write_visual7w(tmp_path / "dataset.json", TOY_PAIRS)
    given = [{"qa_id": id, "candidates": ["Red.", "3"] if id < 4 else ["CAF\u00c9"]} for id in (1, 2, 3, 4)]

    found = scored(read_items(path, split="val"), given, "visual7w", 2)

    assert [(row.name, row.correct, row.n) for row in found.table("type")] == [("how", 1, 2), ("what", 2, 2)]
    chosen = scored(read_items(path, mode="mc"), given, "visual7w")
    assert chosen.correct.tolist() == [0, 0, 1, 1] and chosen.coverage.not_an_option == 2


def test_pointing_is_answered_by_the_id_of_a_box(tmp_path: Path) -> None:
    pairs = [{"qa_id": 5, "question": "Which?", "answer": 12, "multiple_choices": [10, 11, 13], "type": "which"}]
    boxes = [{"box_id": number, "name": "cup", "x": -1, "y": 20, "width": 30, "height": 40} for number in range(10, 14)]

    items = read_items(write_visual7w(tmp_path / "dataset.json", pairs, boxes=boxes))

    assert (items.mode, items.options.values[0][:2]) == ("mc", (("12", "10", "11", "13"), 0))
    assert [scored(items, {5: each}).overall().accuracy for each in ("12", "13")] == [1, 0]


def test_only_the_items_of_a_split_are_read(tmp_path: Path) -> None:
    path = write_visual7w(tmp_path / "dataset.json", TOY_PAIRS)

    assert len(read_items(path)) == 4
    with pytest.raises(UsageError, match="no image of split 'test'; it has val"):
        read_items(path, split="test")


# Other benchmarks -----------------------------------------------------------------------------------------------------


FAULTY: list[tuple[Any, str]] = [
    ({"images": [{"split": "val", "qa_pairs": [{"answer": "a"}]}]}, "qa_id: expected a number"),
    ({"annotations": [{"question_id": 1, "answers": []}]}, "annotations of VQAv2 are no longer read"),
]


def test_faulty_files_of_other_benchmarks_are_located(tmp_path: Path) -> None:
    for value, message in FAULTY:
        with pytest.raises(VqagenError, match=re.escape(message)):
            read_items(written(tmp_path / "gold.json", value))


ODD: tuple[Any, ...] = (None, True, -1, 2.5, "", "x", [], [1], {}, {"a": [1]})
"""Values of every type of JSON."""
SAMPLES: Mapping[str, Any] = {
    "questions": {"questions": [question(options=["2", "3"], pair=1, question_type="count", split="val")]},
    "visual7w": {"images": [{"image_id": 1, "split": "val", "qa_pairs": [{**TOY_PAIRS[0]}]}]},
}


def spoiled(value: Any) -> Iterator[Any]:
    """Yield a JSON value with one part after the other replaced by each odd value."""
    yield from ODD
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            for part in spoiled(value[key]):
                changed = value.copy()
                changed[key] = part
                yield changed


@pytest.mark.slow
def test_no_odd_value_is_a_traceback(tmp_path: Path) -> None:
    """A file with an odd value is read as it stands, or rejected with its fault."""
    for key, listed in (pair for sample in SAMPLES.values() for pair in sample.items()):
        for part in some(list(spoiled(listed))[::2]):
            path = written(tmp_path / "gold.json", {key: part})
            try:
                oracle(read_items(path))
                learning = read_items(path, learning=True, allow_unanswered=True).learning
                assert learning and len(clues_of(learning.programs).codes)
            except VqagenError as error:
                assert str(error)
