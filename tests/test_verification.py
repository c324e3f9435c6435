"""Verification proves a question file, or says what is wrong with which question."""

from __future__ import annotations

import gzip
import json
import weakref
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes

import vqagen
from vqagen import Generation, find_scenes, load_domain_files
from vqagen.errors import BadInput
from vqagen.files.records import FoundRecord
from vqagen.language.question import record_writer
from vqagen.score import scene_lookup
from vqagen.score.verify import report as verification_report, verification
from vqagen.score.verify.report import EXAMPLES
from vqagen.world.loading import SCENES as SCENES_KIND, SceneSource
from vqagen.world.scene import Scene

Record = dict[str, Any]
SCENES = 12
INFO = {"generator": {"name": "vqagen", "inputs": load_domain_files().hashes}}
"""The info of questions made from the shipped templates."""
UNREAD = "texts not read: the file does not say which templates it was made from; give --templates\n"
OF_TYPE = {bool: 0, int: 1, str: 2}
"""Where in the fixture's questions one with an answer of each type stands."""


@pytest.fixture(scope="module")
def scenes() -> list[Record]:
    """Some scenes."""
    return sampled_scenes(SCENES, seed=3)


@pytest.fixture(scope="module")
def made(scenes: list[Record], tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Record]]:
    """Questions about them in both dialects; the first three answer yes or no, a number, a word."""
    path = tmp_path_factory.mktemp("scenes") / "scenes.json"
    path.write_text(json.dumps({"scenes": scenes}))
    run = Generation(find_scenes(path), load_domain_files(), vqagen.QuestionSettings(seed=4))
    questions = [question for _, of_scene in run.by_scene() for question in of_scene]
    firsts = [next(question for question in questions if type(question.answer) is kind) for kind in OF_TYPE]
    ordered = [*firsts, *(question for question in questions if question not in firsts)]
    return {
        dialect: [record_writer(dialect)(question, index) for index, question in enumerate(ordered)]
        for dialect in ("generator", "release")
    }


@pytest.fixture
def questions(made: dict[str, list[Record]]) -> list[Record]:
    """Questions that a test may spoil."""
    return deepcopy(made["generator"])


@pytest.fixture
def vqagen_(
    scenes: list[Record],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsysbinary: pytest.CaptureFixture[bytes],
) -> Commands:
    """Runs commands in a folder with scenes.json."""
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))
    return Commands(capsysbinary)


def written(records: object, name: str = "q.json", info: Record = INFO) -> str:
    """Write questions as the name asks; the name."""
    text = json.dumps({"info": info, "questions": records})
    if "jsonl" in name:
        text = "".join(json.dumps(record) + "\n" for record in records)
    Path(name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return name


# What is right ----------------------------------------------------------------------------------------------------


def test_questions_as_written_check_out(made: dict[str, list[Record]], vqagen_: Commands) -> None:
    for dialect, name in (("generator", "q.json"), ("release", "q.jsonl.gz")):
        ran = vqagen_.done(f"verify {written(made[dialect], name)} --scenes scenes.json")
        count = len(made[dialect])
        unread = "" if name == "q.json" else f"not proved: {count} {UNREAD}"
        proved = f"answers recomputed; texts {'not checked' if unread else 'match their templates'}"

        assert ran == (0, f"{count} questions checked, 0 wrong: {proved}\n{unread}".encode(), "")


def test_any_document_that_holds_questions_is_read(questions: list[Record], vqagen_: Commands) -> None:
    """`info` may come first, last or not at all, and so may keys that nobody knows."""
    for text in (
        "%s",
        '\ufeff{"version": 3, "questions": %s, "info": {}}',
        '{"info": {"questions": 7}, "licence": [1, {"a": 2}], "questions": %s}',
    ):
        Path("q.json").write_text(text % json.dumps(questions, indent=1), "utf-8")
        vqagen_.done("verify q.json --scenes scenes.json --json")


def test_a_file_of_the_references_shape_checks_out(questions: list[Record], vqagen_: Commands) -> None:
    """Its nodes keep their outputs, it knows no question types, and older files have `side_inputs`. Without the name
    of a file, a scene is found by its index.
    """
    for record in questions:
        del record["question_type"], record["image"], record["image_filename"]
        for node in record["program"]:
            node["_output"] = [1, 2]
            node["side_inputs"] = node.pop("value_inputs")
    ran = vqagen_.done(f"verify {written(questions)} --scenes scenes.json")

    assert b" checked, 0 wrong: answers recomputed; texts match their templates\n" in ran.out


# What is wrong ----------------------------------------------------------------------------------------------------


def other_answer(record: Record) -> None:
    answer = record["answer"]
    record["answer"] = not answer if type(answer) is bool else answer + 1 if type(answer) is int else "no such colour"


def wiped_values(record: Record) -> None:
    """As the reference does to steps that several instances share."""
    for node in record["program"]:
        node["value_inputs"] = []


def half_program(record: Record) -> None:
    """It ends in a set of objects, which as a number may even look like the answer."""
    record["program"] = record["program"][:1]
    record["answer"] = 2**30 - 1


def undefined_unique(record: Record) -> None:
    scene, unique = {"type": "scene", "inputs": []}, {"type": "unique", "inputs": [0]}
    record["program"] = [scene, unique, {"type": "query_color", "inputs": [1]}]


FAULTS: list[tuple[type, Callable[[Record], object], str, str]] = [
    (bool, other_answer, "wrong answer", "the answer is written as "),
    (int, other_answer, "wrong answer", "the answer is written as "),
    (str, other_answer, "wrong answer", "the answer is written as 'no such colour', but the program gives '"),
    (bool, lambda record: record.update(answer=int(record["answer"])), "wrong answer", "but the program gives "),
    (int, lambda record: record.update(answer=float(record["answer"])), "wrong answer", "but the program gives "),
    (bool, lambda record: record.update(answer=None), "wrong answer", "the answer is written as null"),
    (bool, lambda record: record.pop("answer"), "answer missing", "no answer is written; the program gives "),
    (bool, wiped_values, "bad program", "program[1].value_inputs: filter_"),
    (
        bool,
        lambda record: record["program"][1].update(type="filter_colour"),
        "bad program",
        "unknown function 'filter_colour'; did you mean 'filter_color'?",
    ),
    (bool, lambda record: record["program"][1].update(inputs=[99]), "bad program", "program[1].inputs[0]: input "),
    (int, half_program, "bad program", "program[0]: scene gives no answer"),
    (bool, lambda record: record.update(program=[]), "bad program", "program: expected a list of program nodes"),
    (bool, lambda record: record.update(program="scene"), "bad program", "expected a list of program nodes"),
    (bool, lambda record: record.pop("program"), "bad program", "expected a list of program nodes, found null"),
    (str, undefined_unique, "no answer", "the program has no answer in this scene: unique of a set"),
    (bool, lambda record: record.update(image_filename="other.png"), "no scene", "there is no scene of this image"),
    (bool, lambda record: record.update(image_filename=["a"]), "no scene", "there is no scene of this image"),
    (bool, lambda record: record.update(image_filename="", image_index={}), "no scene", "there is no scene"),
    (bool, lambda record: record.update(image_index=1.5), "bad image_index", "a whole number from 0 on, text or null"),
    (bool, lambda record: record.update(image_index=True), "bad image_index", "text or null; found true"),
    (bool, lambda record: record.update(image_index=record["image_index"] + 1), "wrong image", ", but its scene has "),
]


def test_a_spoiled_question_is_named(made: dict[str, list[Record]], vqagen_: Commands) -> None:
    """Only that one, with its place, its image and what is wrong; the exit code is 1."""
    for kind, spoil, problem, told in FAULTS:
        questions, place = deepcopy(made["generator"]), OF_TYPE[kind]
        spoil(questions[place])
        ran = vqagen_(f"verify {written(questions, info={})} --scenes scenes.json")
        head, *lines = ran.out.decode().splitlines()
        (line,) = (each for each in lines if "  questions[" in each)

        assert (ran.code, ran.err) == (1, "")
        assert head == f"{len(questions)} questions checked, 1 wrong: 1 {problem}"
        assert line.startswith(f"  {problem}  questions[{place}]  question_index {place}, ")
        assert told in line


def test_a_wrong_answer_of_a_released_file_is_found(made: dict[str, list[Record]], vqagen_: Commands) -> None:
    """Its answers are text."""
    spoiled = deepcopy(made["release"])
    for place in OF_TYPE.values():
        record = spoiled[place]
        record["answer"] = {"yes": "no", "no": "yes"}.get(record["answer"], "7x")
    ran = vqagen_(f"verify {written(spoiled)} --scenes scenes.json")

    assert (ran.code, ran.out.count(b"  questions[")) == (1, len(OF_TYPE))


def test_the_report_as_json_counts_everything(questions: list[Record], vqagen_: Commands) -> None:
    other_answer(questions[0])
    other_answer(questions[1])
    del questions[5]["answer"]
    ran = vqagen_(f"verify {written(questions)} --scenes scenes.json --json")
    report = json.loads(ran.out)

    assert (ran.code, ran.err) == (1, "")
    assert list(report) == ["checked", "mismatched", "by_problem", "notes", "remarks", "unproven", "tables", "gates"]
    assert (report["checked"], report["mismatched"]) == (len(questions), 3)
    assert report["by_problem"] == {"wrong answer": 2, "answer missing": 1}
    rows = report["tables"]["mismatches"]["rows"]
    assert [row["position"] for row in rows] == [0, 1, 5]
    assert list(rows[0]) == ["position", "kind", "problem", "path", "record", "label"]


def test_a_problem_of_many_questions_is_counted_and_its_causes_are_shown(
    questions: list[Record], vqagen_: Commands
) -> None:
    """A thousand lines would hide the others; examples of one kind differ in more than their numbers."""
    for record in questions[3:]:
        other_answer(record)
    for place in range(3):
        questions[place]["program"][1]["type"] = ("filter_a", "filter_a", "filter_b")[place]
    head, *lines = vqagen_(f"verify {written(questions)} --scenes scenes.json").out.decode().splitlines()
    wrong = len(questions) - 3

    assert head == f"{len(questions)} questions checked, {wrong + 3} wrong: {wrong} wrong answer, 3 bad program"
    shown = [line.split()[2] for line in lines if line.startswith("  bad program  ") and "questions[" in line]
    assert shown == ["questions[0]", "questions[2]"]
    assert sum("  questions[" in line for line in lines) == 2 + EXAMPLES


def test_of_many_mismatches_some_are_listed_and_all_counted(
    questions: list[Record], vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files of millions of wrong questions stay readable."""
    monkeypatch.setattr(verification_report, "KEPT", 4)
    for record in questions[:30]:
        other_answer(record)
    report = json.loads(vqagen_(f"verify {written(questions)} --scenes scenes.json --json").out)

    assert (len(report["tables"]["mismatches"]["rows"]), report["mismatched"]) == (4, 30)


def test_records_in_memory_are_verified(questions: list[Record], scenes: list[Record]) -> None:
    """A list, or a document whose info says how its texts are read; a repr fits a line."""
    other_answer(questions[2])
    for given in (questions, iter(questions), {"questions": questions}):
        report = vqagen.verify(given, scenes)
        assert repr(report).startswith(f"{len(questions)} questions checked, 1 wrong: 1 wrong answer\n")
        assert [(each.position, each.kind) for each in report.mismatches] == [(2, "wrong answer")]
        assert report.unproven.total() == len(questions)

    assert not vqagen.verify({"info": INFO, "questions": questions}, {"scenes": scenes}).unproven.total()


# Files that are no question files ---------------------------------------------------------------------------------


NO_QUESTIONS = [
    ("", "q.json: the file is empty"),
    ('{"questions": []}', "q.json: no questions, so nothing to verify"),
    ('[{"question": "What?", "image_index": 0}]', "q.json: neither programs nor answers, so nothing to verify"),
    ("hello", "q.json: not questions: expected JSON that begins with '{' or '[', found 'h'"),
    (
        "{}",
        "q.json: expected the key 'questions' (a list of questions) or 'program' (one question); found an empty",
    ),
    ('{"info": {}, "scenes": []}', "q.json: expected the key 'questions'"),
    ('{"questions": {}}', "q.json: questions: expected a list of questions, found an object"),
    ('{"questions": [1]}', "q.json: questions[0]: expected a question object, found 1"),
    ('{"questions": [{"program": 1}, {"pro', "q.json:1:33: questions[1]: not valid JSON: the file ends"),
    ('{"questions": [{"program": 1}\n {}]}', "q.json:2:2: questions[0]: not valid JSON: expected"),
    ('{"questions": []} x', "q.json:1:19: not valid JSON: expected the end of the file, found 'x'"),
    ("[] []", "q.json:1:4: not valid JSON: expected the end of the file, found '['"),
    ('{"program": 1}\n\n{"program": 2\n', "q.json:3:14: questions[1]: not valid JSON: the line ends"),
    ('{"program": 1}\n[2]\n', "q.json:2: questions[1]: expected a question object, found a list of 1"),
]


def test_what_is_no_question_file_ends_in_3_with_the_place(vqagen_: Commands) -> None:
    for text, told in NO_QUESTIONS:
        Path("q.json").write_text(text)
        ran = vqagen_("verify q.json --scenes scenes.json")

        assert (ran.code, ran.out) == (3, b"")
        assert ran.err.startswith(f"vqagen: {told}")


def test_a_faulty_scene_ends_in_3(scenes: list[Record], questions: list[Record], vqagen_: Commands) -> None:
    """Verification proves nothing about scenes that nobody can read."""
    faulty = deepcopy(scenes)
    faulty[4]["objects"] = None
    Path("scenes.json").write_text(json.dumps(faulty))
    ran = vqagen_(f"verify {written(questions)} --scenes scenes.json")

    assert (ran.code, ran.out) == (3, b"")
    assert ran.err.startswith("vqagen: scenes.json: scenes[4].objects: expected a list")


# Little memory, few passes ----------------------------------------------------------------------------------------


class Watched(Scene):
    """A scene that can be watched."""


class Feeds:
    """Watches how verification reads scenes, in batches of 15 questions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[int] = []
        self.most_held = 0
        read, compile_, held = SceneSource.read, scene_lookup.compile_scene, list[int]()

        def watched_read(source: SceneSource, *span: Any) -> Iterator[FoundRecord]:
            for found in read(source, *span):
                self.read += [found.position] if source.kind == SCENES_KIND else []
                yield found

        def watched_compile(*given: Any) -> Any:
            made = compile_(*given)
            scene = Watched(*(getattr(made, each.name) for each in fields(made)))
            held.append(given[2])
            weakref.finalize(scene, held.remove, given[2])
            self.most_held = max(self.most_held, len(held))
            return scene

        monkeypatch.setattr(verification, "BATCH", 15)
        monkeypatch.setattr(SceneSource, "read", watched_read)
        monkeypatch.setattr(scene_lookup, "compile_scene", watched_compile)


def test_scenes_are_read_twice_for_questions_in_their_order(
    questions: list[Record], vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for their names. No more of them is held than a batch needs; a scene that is not there costs no pass."""
    feeds = Feeds(monkeypatch)
    in_order = sorted(questions, key=lambda record: record["image_index"])
    vqagen_.done(f"verify {written(in_order)} --scenes scenes.json")

    assert feeds.read == [*range(SCENES), *range(SCENES)]
    assert feeds.most_held <= 4, "those of a batch, and the last one before"
    lost = [{**record, "image_filename": "lost.png"} for record in questions[:45]]
    assert vqagen_(f"verify {written(lost)} --scenes scenes.json").out.startswith(
        b"45 questions checked, 45 wrong: 45 no scene\n"
    )
    assert len(feeds.read) == 3 * SCENES
    shuffled = sorted(questions, key=lambda record: (record["question"], record["image_index"]))
    vqagen_.done(f"verify {written(shuffled)} --scenes scenes.json")
    assert 5 * SCENES < len(feeds.read) <= SCENES * (4 - len(questions) // -15), "further passes, and no more memory"
    assert feeds.most_held <= 16


@pytest.mark.parametrize(
    ("records", "message"), [([], "no questions, so nothing"), ([3], "expected a question object")]
)
def test_records_that_are_none_are_named_before_missing_scenes(records: Any, message: str) -> None:
    """Scenes would not help."""
    with pytest.raises(BadInput, match=message):
        vqagen.verify(records)


def test_a_folder_of_questions_says_to_name_a_file(questions: list[Record], vqagen_: Commands) -> None:
    Path("folder").mkdir()
    Path(written(questions)).rename("folder/q.json")
    ran = vqagen_("verify folder --scenes scenes.json")

    assert ran.code == 3
    assert "many questions in one file of a folder: name the file" in ran.err
