"""Verification proves a question file, or says what is wrong with which question."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes

import vqagen
from vqagen.api import Generation, find_scenes, load_domain_files
from vqagen.language.question_records import record_writer
from vqagen.records.source import RecordEntry
from vqagen.score import scene_lookup
from vqagen.score.verify import questions as verification
from vqagen.score.verify import report as verification_report
from vqagen.score.verify.report import MOST_PROBLEMS
from vqagen.world.loading import SCENES as SCENES_KIND
from vqagen.world.loading import SceneSource

Record = dict[str, Any]
SCENES = 12
INFO = {"generator": {"name": "vqagen", "inputs": load_domain_files().hashes}}
"""The info of questions made from the shipped templates."""
UNREAD = "texts were not read: the file does not say which templates it was made from; give --templates\n"
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
        unread = "" if name == "q.json" else UNREAD

        assert ran == (0, f"{len(made[dialect])} questions checked, 0 wrong\n{unread}".encode(), "")


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

    assert ran.out.endswith(b" checked, 0 wrong\n")


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
        line, last, _ = ran.out.decode().splitlines()

        assert (ran.code, ran.err) == (1, "")
        assert line.startswith(f"questions[{place}] (question_index {place}, ")
        assert told in line
        assert last == f"{len(questions)} questions checked, 1 wrong: 1 {problem}"


def test_a_wrong_answer_of_a_released_file_is_found(made: dict[str, list[Record]], vqagen_: Commands) -> None:
    """Its answers are text."""
    spoiled = deepcopy(made["release"])
    for place in OF_TYPE.values():
        record = spoiled[place]
        record["answer"] = {"yes": "no", "no": "yes"}.get(record["answer"], "7x")
    ran = vqagen_(f"verify {written(spoiled)} --scenes scenes.json")

    assert (ran.code, ran.out.count(b"\n")) == (1, 4)


def test_the_report_as_json_counts_everything(questions: list[Record], vqagen_: Commands) -> None:
    other_answer(questions[0])
    other_answer(questions[1])
    del questions[5]["answer"]
    ran = vqagen_(f"verify {written(questions)} --scenes scenes.json --json")
    report = json.loads(ran.out)

    assert (ran.code, ran.err) == (1, "")
    assert list(report) == ["checked", "mismatched", "parted_pairs", "texts", "by_problem", "problems", "mismatches"]
    assert (report["checked"], report["mismatched"]) == (len(questions), 3)
    assert report["by_problem"] == {"wrong answer": 2, "answer missing": 1}
    assert [mismatch["position"] for mismatch in report["mismatches"]] == [0, 1, 5]
    assert list(report["mismatches"][0]) == ["position", "question_index", "image", "kind", "problem"]
    assert report["problems"] == [
        {"kind": kind, "problem": report["mismatches"][first]["problem"], "count": count, "first_positions": positions}
        for kind, first, count, positions in [("wrong answer", 0, 2, [0, 1]), ("answer missing", 2, 1, [5])]
    ]


def test_a_problem_of_many_questions_is_one_line_with_their_number(questions: list[Record], vqagen_: Commands) -> None:
    """A thousand lines would hide the others; two problems of one kind stay apart unless only numbers differ."""
    for record in questions[3:]:
        other_answer(record)
    for place in (0, 1):
        questions[place]["program"][1]["type"] = f"filter_{place}"
    first, second, many, last = vqagen_(f"verify {written(questions)} --scenes scenes.json").out.decode().splitlines()
    wrong = len(questions) - 3

    assert first.startswith("questions[0] (question_index 0, ")
    assert second.startswith("questions[1] (question_index 1, ")
    assert many.startswith("questions[3] (question_index 3, ")
    others = "questions[4], questions[5], questions[6], questions[7], questions[8], …"
    assert many.endswith(f" (and {wrong - 1} more like it: {others})")
    assert last == f"{len(questions)} questions checked, {wrong + 2} wrong: {wrong} wrong answer, 2 bad program"


def test_problems_beyond_twenty_are_counted(
    questions: list[Record], vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As JSON, some mismatches are listed, and all counted."""
    monkeypatch.setattr(verification_report, "KEPT_MISMATCHES", 4)
    for place, record in enumerate(questions[:30]):
        record["program"][1]["type"] = "x" * (place + 30)
    *shown, more, _ = vqagen_(f"verify {written(questions)} --scenes scenes.json").out.decode().splitlines()
    report = json.loads(vqagen_("verify q.json --scenes scenes.json --json").out)

    assert len(shown) == MOST_PROBLEMS
    assert more == "… and 10 more problems in 10 questions"
    assert (len(report["mismatches"]), report["mismatched"]) == (4, 30)


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


def test_a_folder_of_questions_says_to_name_a_file(questions: list[Record], vqagen_: Commands) -> None:
    Path("folder").mkdir()
    Path(written(questions)).rename("folder/q.json")
    ran = vqagen_("verify folder --scenes scenes.json")

    assert (ran.code, ran.err) == (3, "vqagen: cannot read folder: it is a folder; name a file in it\n")


def test_a_faulty_scene_ends_in_3(scenes: list[Record], questions: list[Record], vqagen_: Commands) -> None:
    """Verification proves nothing about scenes that nobody can read."""
    faulty = deepcopy(scenes)
    faulty[4]["objects"] = None
    Path("scenes.json").write_text(json.dumps(faulty))
    ran = vqagen_(f"verify {written(questions)} --scenes scenes.json")

    assert (ran.code, ran.out) == (3, b"")
    assert ran.err.startswith("vqagen: scenes.json: scenes[4].objects: expected a list of objects")


# Little memory, few passes ----------------------------------------------------------------------------------------


class Feeds:
    """Watches how verification reads scenes, in batches of 15 questions."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read: list[int] = []
        self.most_held = 0
        entries, hold = SceneSource.entries, scene_lookup.HeldScenes.hold

        def watched_entries(source: SceneSource, *span: int) -> Iterator[RecordEntry]:
            for entry in entries(source, *span):
                self.read += [entry.position] if source.kind == SCENES_KIND else []
                yield entry

        def watched_hold(held: scene_lookup.HeldScenes, wanted: set[int]) -> None:
            hold(held, wanted)
            assert held._held.keys() == wanted
            self.most_held = max(self.most_held, len(wanted))

        monkeypatch.setattr(verification, "BATCH", 15)
        monkeypatch.setattr(SceneSource, "entries", watched_entries)
        monkeypatch.setattr(scene_lookup.HeldScenes, "hold", watched_hold)


def test_scenes_are_read_twice_for_questions_in_their_order(
    questions: list[Record], vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for their names. No more of them is held than a batch needs; a scene that is not there costs no pass."""
    feeds = Feeds(monkeypatch)
    in_order = sorted(questions, key=lambda record: record["image_index"])
    vqagen_.done(f"verify {written(in_order)} --scenes scenes.json")

    assert feeds.read == [*range(SCENES), *range(SCENES)]
    assert feeds.most_held <= 3
    lost = [{**record, "image_filename": "lost.png"} for record in questions[:45]]
    assert vqagen_(f"verify {written(lost)} --scenes scenes.json").out.endswith(b"45 wrong: 45 no scene\n")
    assert len(feeds.read) == 3 * SCENES
    shuffled = sorted(questions, key=lambda record: (record["question"], record["image_index"]))
    vqagen_.done(f"verify {written(shuffled)} --scenes scenes.json")
    assert 5 * SCENES < len(feeds.read) <= SCENES * (4 - len(questions) // -15), "further passes, and no more memory"
    assert feeds.most_held <= 15
