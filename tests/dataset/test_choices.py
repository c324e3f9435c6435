"""Options of questions: right ones are right, wrong ones wrong, and options alone tell nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from depth import fewer
from families import SHIPPED, Collection
from hypothesis import given, settings, strategies as st
from oracles.naive_choices import advantage, block_faults, option_rules, question_faults
from scene_records import scene_record

import vqagen
from vqagen import ChoiceSettings
from vqagen.bits import indexes, union_of
from vqagen.dataset.blocks import BlockQuestion, arranged, exchange_blocks
from vqagen.dataset.choices import with_choices
from vqagen.dataset.plausible import Plausible
from vqagen.language.domain_files import load_catalogue
from vqagen.language.program import Program
from vqagen.language.synonyms import Synonyms
from vqagen.rng import stream
from vqagen.world.scene import compile_scene

SCENES = fewer(200, least=16)
Record = dict[str, Any]
Made = dict[str, tuple[list[Record], list[Record]]]
"""Domain -> scenes, and questions about them."""
MODES = {
    "scene": ChoiceSettings(),
    "hard": ChoiceSettings(hard=True),
    "pairs of two": ChoiceSettings(options=2, seed=3),
    "rotations": ChoiceSettings(hard=True, rotations=True),
}


@pytest.fixture(scope="module")
def asked() -> Made:
    """Scenes, and questions about them, of every shipped domain."""
    made = {}
    for collection in SHIPPED:
        scenes = collection.sampled(SCENES if collection.is_clevr else SCENES // 2, seed=8)
        questions = vqagen.generate(scenes, seed=2, **files_of(collection))
        made[collection.name] = scenes, [each.to_record() for each in questions]
    return made


def files_of(collection: Collection) -> dict[str, Any]:
    return {"metadata": collection.metadata, "templates": collection.templates, "synonyms": collection.synonyms}


@pytest.mark.quick("clevr-hard")
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_options_keep_their_promises(mode: str, collection: Collection, asked: Made) -> None:
    """By a check that runs every program and every mistake again, and counts every block."""
    scenes, records = asked[collection.name]
    made, report = with_choices(records, scenes, MODES[mode], vqagen.find_domain(**files_of(collection)))

    found = [
        f"{each['question_index']}: {fault}"
        for each in made
        for fault in question_faults(each, scenes[each["scene_index"]], collection.raw_metadata)
    ]
    assert found == []
    assert report.sizes.total() + report.left_out.total() == len(records) == report.questions
    assert report.sizes.total() > 0.6 * len(records)
    if mode == "rotations":
        made = [each for each in made if each["rotation"] == 0]
    assert len(made) == report.sizes.total()
    assert list(block_faults(made)) == []


@pytest.mark.quick(1)
@pytest.mark.parametrize("mode", ["scene", "hard"])
def test_no_rule_that_sees_only_the_options_beats_chance(mode: str, asked: Made) -> None:
    """Rules that ask for the set are at chance exactly, those that ask for the order within its error."""
    scenes, records = asked["clevr"]
    made, _ = with_choices(records, scenes, MODES[mode])

    for name, rule in option_rules(made).items():
        above, error = advantage(made, rule)
        assert abs(above) < (4 * error if "order" in name or "set" in name else 1e-9), (name, above)


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lambda each: each.update(choice=(each["choice"] + 1) % len(each["choices"])), "the right option is"),
        (lambda each: each["choices"].__setitem__(each["choice"] - 1, "plaid"), "does not give plaid"),
        (lambda each: each.update(mistakes=[each["mistakes"][each["choice"]]] * len(each["choices"])), "mistake of"),
    ],
)
def test_the_check_finds_spoiled_options(change: Any, fault: str, asked: Made) -> None:
    scenes, records = asked["clevr"]
    made, _ = with_choices(records[:100], scenes, MODES["hard"])
    spoiled = made[7]
    change(spoiled)
    metadata = SHIPPED[0].raw_metadata

    assert any(fault in each for each in question_faults(spoiled, scenes[spoiled["scene_index"]], metadata))


# Blocks


MASKS = st.integers(0, 127)


@given(st.lists(st.tuples(st.integers(0, 6), MASKS, MASKS), max_size=60), st.integers(2, 4), st.integers(0, 9))
@settings(deadline=None)
def test_a_block_has_each_of_its_options_once(drawn: list[tuple[int, int, int]], size: int, seed: int) -> None:
    """And every question is in one block at most, whose options fit it, and which all name the same of them."""
    questions = [
        BlockQuestion(number, answer, mask | 1 << answer, said) for number, (answer, mask, said) in enumerate(drawn)
    ]
    blocks = list(exchange_blocks(questions, size, stream(seed, "blocks")))
    placed = [number for block in blocks for number in block]

    assert len(set(placed)) == len(placed)
    for block in blocks:
        assert len(set(block.values())) == size == len(block)
        for number, answer in block.items():
            assert questions[number].answer == answer
            assert set(block.values()) <= set(indexes(questions[number].fitting))
        assert len({questions[number].said & union_of(block.values()) for number in block}) == 1
    left = [each for each in questions if each.number not in placed]
    assert list(exchange_blocks(left, size, stream(seed, "again"))) == []


def test_frequent_answers_are_used_up() -> None:
    """As many blocks as can be: the most frequent answer is in each."""
    answers = [0] * 10 + [1] * 3 + [2] * 3 + [3] * 3 + [4] * 3
    questions = [BlockQuestion(number, answer, 31) for number, answer in enumerate(answers)]

    assert len(list(exchange_blocks(questions, 4, stream(0, "blocks")))) == 4


def test_the_right_option_stands_at_each_place_once() -> None:
    orders = dict(arranged({5: 2, 7: 0, 9: 3}, stream(0, "order")))

    assert sorted(orders[number].index(answer) for number, answer in {5: 2, 7: 0, 9: 3}.items()) == [0, 1, 2]


# Files


@pytest.fixture
def run(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with scenes.json and questions.json."""
    vqagen_.given(
        f"scenes sample --count {fewer(30, least=10)} --seed 9 -o scenes.json",
        "generate --scenes scenes.json -o questions.json",
    )
    return vqagen_


def read(name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(name).read_text("utf-8"))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("flags", ["", "--hard", "--rotations"])
def test_a_file_is_scored_audited_and_verified_by_its_options(run: Commands, flags: str) -> None:
    ran = run.done(f"choices questions.json --scenes scenes.json -o choices.json {flags}")
    made = read("choices.json")

    assert (
        ran.err.split(" questions have options: ")[0] == f"{made['info']['choices']['questions'] - left(made)} of 300"
    )
    ids = [each["question_index"] for each in made["questions"]]
    assert len(set(ids)) == len(ids)
    assert all(each["choices"][each["choice"]] == each["answer"] for each in made["questions"])
    assert not list(vqagen.audit("choices.json").failures())
    run.done("verify choices.json --scenes scenes.json")


def left(document: dict[str, Any]) -> int:
    counts: dict[str, int] = document["info"]["choices"]["left_out"]
    return sum(counts.values())


def test_the_seed_decides_all_and_json_lines_hold_the_same(run: Commands) -> None:
    run.done("choices questions.json --scenes scenes.json -o a.json --seed 5")
    run.done("choices questions.json --scenes scenes.json -o b.jsonl --seed 5")
    run.done("choices questions.json --scenes scenes.json -o c.json --seed 6")
    first, lines = read("a.json"), [json.loads(line) for line in Path("b.jsonl").read_text("utf-8").splitlines()]

    assert first["questions"] == lines != read("c.json")["questions"]
    assert [each["question_index"] for each in lines] == sorted(each["question_index"] for each in lines)
    assert with_choices(read("questions.json")["questions"], read("scenes.json"), ChoiceSettings(seed=5))[0] == lines


@pytest.mark.slow
def test_rotations_have_the_right_option_at_every_place(run: Commands) -> None:
    """And questions of pairs stay pairs."""
    run.done("generate --scenes scenes.json -o pairs.json --balance pairs --templates-per-image 3")
    run.done("choices pairs.json --scenes scenes.json -o choices.jsonl --rotations")
    run.done("verify choices.jsonl --scenes scenes.json")
    asked: dict[str, list[Record]] = {}
    for line in Path("choices.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        asked.setdefault(f"{record['scene_index']} {record['question']} {record['block']}", []).append(record)

    for turns in asked.values():
        size = len(turns[0]["choices"])
        assert [each["rotation"] for each in turns] == list(range(size))
        assert sorted(each["choice"] for each in turns) == list(range(size))


def spoil(**changes: Any) -> None:
    """Write questions.json with changes in its second question; None deletes a key."""
    document = read("questions.json")
    record = document["questions"][1]
    record.update(changes)
    document["questions"][1] = {key: value for key, value in record.items() if value is not None}
    Path("questions.json").write_text(json.dumps(document), "utf-8")


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"program": None}, "questions[1].program: the question has no program"),
    ({"program": [{"type": "scen"}]}, "questions[1].program[0].type: unknown function 'scen'; did you mean 'scene'?"),
    ({"answer": "plaid"}, "questions[1].answer: 'plaid' is not the answer of the program"),
    ({"answer": None}, "questions[1].answer: null is not the answer of the program"),
    ({"image_filename": "other.png"}, "questions[1]: there is no scene of this image_filename"),
    ({"choices": ["yes", "no"]}, "questions[1]: the question has options already, under 'choices'"),
]


@pytest.mark.quick(3)
@pytest.mark.parametrize(("changes", "message"), MISTAKES)
def test_a_bad_question_is_named(run: Commands, changes: dict[str, Any], message: str) -> None:
    spoil(**changes)
    ran = run("choices questions.json --scenes scenes.json -o choices.json")

    assert (ran.code, Path("choices.json").exists()) == (3, False)
    assert f"questions.json: {message}" in ran.err


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("questions.json --scenes scenes.json -o questions.json --force", 2, "output questions.json is in use"),
        ("questions.json --scenes scenes.json -o scenes.json", 2, "output scenes.json exists already; give --force"),
        ("questions.json --scenes scenes.json -o a.parquet", 2, "output a.parquet: questions with options go to files"),
        ("questions.json --scenes scenes.json -o a.json --options 5", 2, "--options must be at most 4, found 5"),
        ("questions.json --scenes scenes.json -o a.json --options 1", 2, "--options must be at least 2, found 1"),
        ("questions.json --scenes none.json -o a.json", 3, "scenes not found: none.json"),
        ("none.json --scenes scenes.json -o a.json", 3, "questions not found: none.json"),
        ("scenes.json --scenes scenes.json -o a.json", 3, "expected the key 'questions'"),
        ("questions.json --scenes scenes.json -o a.json --domain market", 3, "expected"),
    ],
)
def test_a_call_that_cannot_work_ends_in_a_message(run: Commands, line: str, code: int, message: str) -> None:
    ran = run(f"choices {line}")

    assert (ran.code, message in ran.err) == (code, True), ran.err


@pytest.mark.slow
def test_hidden_answers_get_no_options_and_options_are_not_converted(run: Commands) -> None:
    """Another format would lose them."""
    run.done("generate --scenes scenes.json -o hidden.json --hide-answers")
    run.done("choices questions.json --scenes scenes.json -o choices.json")
    ran = run("choices hidden.json --scenes scenes.json -o a.json")

    assert (ran.code, "made with --hide-answers" in ran.err) == (3, True)
    assert run("convert choices.json -o a.parquet").code == 3


@pytest.mark.slow
@pytest.mark.parametrize("dialect", ["release", "generator"])
def test_files_of_other_dialects_get_options(run: Commands, dialect: str) -> None:
    """Of released files, nodes have a `function`, and families a number alone; the generator's answers are no texts."""
    run.done(f"generate --scenes scenes.json -o asked.json --dialect {dialect}")
    run.done("choices asked.json --scenes scenes.json -o choices.json")
    made = read("choices.json")["questions"]

    assert len(made) > 200
    assert not list(vqagen.audit("choices.json").failures())
    assert all(isinstance(text, str) for question in made for text in question["choices"])


def test_values_that_are_said_alike_are_no_two_options() -> None:
    """A domain may say two values with one word; which of them is meant cannot be told then."""
    synonyms = {"Color": {"red": ["red", "warm"], "yellow": ["yellow", "warm"]}}
    looks = ["large red metal cube", "large yellow metal sphere", "large blue metal cylinder"]
    scenes = [scene_record(looks, [0, 1, 2], [0, 1, 2], index) for index in range(9)]
    domain = load_catalogue(vqagen.find_domain())[0]
    plausible = Plausible(domain, Synonyms(synonyms, domain.domain), False)
    steps = [{"type": "scene"}, {"type": "filter_shape", "inputs": [0], "value_inputs": ["cube"]}]
    steps += [{"type": "unique", "inputs": [1]}, {"type": "query_color", "inputs": [2]}]
    program = Program.from_records([{"inputs": [], "value_inputs": [], **step} for step in steps], domain)
    scene = compile_scene(scenes[0], domain.domain)

    assert plausible.posed(program, scene, program.outputs(scene), "").wrong == ("blue",)
