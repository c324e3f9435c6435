"""Verification proves a question file, or says what is wrong with which question."""

from __future__ import annotations

import gzip
import json
import weakref
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from depth import fewer
from families import SHIPPED
from scene_records import sampled_scenes

import vqagen
from vqagen import Generation, find_scenes, load_domain_files
from vqagen.errors import BadInput
from vqagen.files.records import FoundRecord
from vqagen.items import scene_lookup
from vqagen.items.answers import text_of
from vqagen.language.question import record_writer
from vqagen.report import verification as verification_report
from vqagen.report.verification import EXAMPLES
from vqagen.tasks.questions import verification
from vqagen.world.loading import SCENES as SCENES_KIND, SceneSource
from vqagen.world.scene import Scene

Record = dict[str, Any]
SCENES = fewer(12, least=5)
SAMPLED = f"scenes sample --count {SCENES} --seed 3 -o scenes.json"
INFO = {"generator": {"name": "vqagen", "inputs": SHIPPED[0].materials.hashes}}
"""The info of questions made from the shipped templates."""
UNREAD = (
    "texts, and any mentions and reasonings, not read: the file does not say which templates it was made from;"
    " give --templates\n"
)
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
    firsts = [next(question for question in questions if type(question.value) is kind) for kind in OF_TYPE]
    ordered = [*firsts, *(question for question in questions if question not in firsts)]
    return {
        dialect: [
            record_writer(dialect)(replace(question, question_index=index)) for index, question in enumerate(ordered)
        ]
        for dialect in ("generator", "release")
    }


@pytest.fixture
def questions(made: dict[str, list[Record]]) -> list[Record]:
    """Questions that a test may spoil."""
    return deepcopy(made["generator"])


@pytest.fixture
def vqagen_(vqagen_: Commands, scenes: list[Record]) -> Commands:
    """Runs commands in a folder with scenes.json."""
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))
    return vqagen_


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


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
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

        def watched_read(source: SceneSource, *span: Any, **given: Any) -> Iterator[FoundRecord]:
            for found in read(source, *span, **given):
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


@pytest.mark.slow
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


# What a record says besides its answer ----------------------------------------------------------------------------


def with_options(record: Record, options: list[str], choice: object) -> Record:
    return {**record, "choices": options, "choice": choice}


@pytest.mark.quick(3)
@pytest.mark.parametrize(
    ("kind", "options", "choice", "why"),
    [
        (int, ["{}", "12"], 1, "choice: written as 1, but the answer '{}' stands at 0"),
        (int, ["{}", "12"], True, "choice: written as true"),
        (int, ["12", "13"], 0, "choices: the answer '{}' is not among them"),
        (int, ["{}", "12", "12"], 0, "choices: an option stands there twice"),
        (int, ["{}", "red"], 0, "choices: 'red' is of another kind than the answer '{}'"),
        (str, ["{}", "heavy"], 0, "choices: 'heavy' is of another kind"),
        (bool, ["yes", "no", "maybe"], None, "choices: 'maybe' is of another kind"),
        (int, "{}", 0, "choices: expected a list of texts"),
        (int, [], 0, "choices: the answer '{}' is not among them"),
    ],
)
def test_options_must_be_of_one_kind_and_choice_the_place_of_the_answer(
    kind: type, options: Any, choice: object, why: str, questions: list[Record], scenes: list[Record]
) -> None:
    record = questions[OF_TYPE[kind]]
    right = text_of(record["answer"])
    options = [each.format(right) for each in options] if isinstance(options, list) else options
    place = options.index(right) if choice is None else choice
    report = vqagen.verify([with_options(record, options, place)], {"scenes": scenes})

    assert report.by_problem == {"wrong options": 1}
    assert why.format(right) in report.mismatches[0].problem


def test_right_options_and_no_options_are_no_fault(questions: list[Record], scenes: list[Record]) -> None:
    """Rows of a dataset without options have an empty list and -1."""
    number, word = (questions[OF_TYPE[kind]] for kind in (int, str))
    given = [
        with_options(number, [str(number["answer"]), "11", "0" if number["answer"] else "1"], 0),
        with_options(word, [], -1),
        {**questions[0], "choices": ["yes", "no"]},
    ]

    assert vqagen.verify(given, {"scenes": scenes}).is_clean


@pytest.mark.quick(1)
@pytest.mark.parametrize(("key", "value"), [("question_type", "exists"), ("split", "test"), ("image", "other")])
def test_what_program_and_scene_say_must_be_copied_right(
    key: str, value: str, questions: list[Record], scenes: list[Record]
) -> None:
    """In files of vqagen; other generators have types and names of their own, but the splits of their scenes."""
    spoilt = [{**questions[0], key: value}, *questions[1:]]
    document = {"info": INFO, "questions": spoilt}

    assert vqagen.verify(document, {"scenes": scenes}).by_problem == {f"wrong {key}": 1}
    assert vqagen.verify(spoilt, {"scenes": scenes}).is_clean == (key != "split")


# Whole files ------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["q.json", "q.jsonl", "q.parquet"])
def test_records_that_were_left_out_or_changed_are_told_by_the_sums(name: str, vqagen_: Commands) -> None:
    """Also where each record that is left is right."""
    vqagen_.given(SAMPLED, f"generate --scenes scenes.json --out {name} --count 4")
    vqagen_.done(f"verify {name} --scenes scenes.json")
    if name == "q.parquet":
        content = bytearray(Path(name).read_bytes())
        content[10] ^= 1
        Path(name).write_bytes(content)
    else:
        lines = Path(name).read_text().splitlines(keepends=True)
        Path(name).write_text("".join([*lines[:2], *lines[3:]]))
    ran = vqagen_(f"verify {name} --scenes scenes.json")

    assert ran.code in (1, 3)
    assert name == "q.parquet" or b"1 changed file" in ran.out
    assert b"not its place in the file" in ran.out or name == "q.parquet"


def test_a_file_written_anew_with_other_spaces_is_whole(vqagen_: Commands) -> None:
    vqagen_.given(SAMPLED, "generate --scenes scenes.json --out q.json --count 4")
    Path("q.json").write_text(json.dumps(json.loads(Path("q.json").read_text()), indent=1))

    ran = vqagen_.done("verify q.json --scenes scenes.json")
    assert ran.out.startswith(b"40 questions checked, 0 wrong: answers recomputed; texts match their templates\n")


def edited(edit: Callable[[Record], object], vqagen_: Commands) -> str:
    """Make questions, edit them by a function of the document, and verify; what is printed."""
    vqagen_.given(SAMPLED, "generate --scenes scenes.json --out q.json --count 4")
    document = json.loads(Path("q.json").read_text())
    edit(document)
    Path("q.json").write_text(json.dumps(document))
    ran = vqagen_("verify q.json --scenes scenes.json")
    return f"{ran.code} {ran.out.decode()}"


def test_a_run_without_its_checksum_is_not_proved_whole(vqagen_: Commands) -> None:
    """The last question can then be gone, or stand there again under a new number."""
    assert "not proved: 1 file: its records have no checksum" in edited(lambda made: made.pop("checksum"), vqagen_)


def test_a_number_that_is_missing_or_the_scenes_of_another_image_is_a_fault(vqagen_: Commands) -> None:
    """Whatever the checksum says, which anybody can leave out."""
    unnumbered = edited(lambda made: made["questions"][3].pop("question_index"), vqagen_)
    moved = edited(lambda made: made["questions"][3].update(scene_index=999), vqagen_)

    assert unnumbered.startswith("1 ") and "1 wrong id" in unnumbered
    assert moved.startswith("1 ") and "scene_index is 999, but 0 in an earlier question about the image" in moved


def test_words_of_answers_that_are_not_the_domains_are_a_fault(vqagen_: Commands) -> None:
    """Scores read them from the file: with blue as a word for red, a wrong answer would be right."""

    def spoil(made: Record) -> None:
        made["info"]["generator"]["vocabulary"]["attributes"]["color"]["red"].append("blue")

    assert "the vocabulary in its info is not that of its domain" in edited(spoil, vqagen_)


def test_two_questions_of_one_number_are_named(questions: list[Record], scenes: list[Record]) -> None:
    """In files of any generator; numbers may be missing and in any order."""
    questions[3]["question_index"] = 7
    report = vqagen.verify(questions[::-1], {"scenes": scenes})

    assert report.by_problem == {"wrong id": 1}
    assert report.mismatches[0].problem == "question_index 7: another record has it"


@pytest.mark.slow
def test_scenes_that_the_run_did_not_take_are_named(vqagen_: Commands) -> None:
    """Shards without the first and the last scenes merge into what looks like a whole run."""
    for number, first in enumerate((2, 6)):
        vqagen_.done(f"generate --scenes scenes.json --out {number}.json --start-index {first} --count 4")
    merged = vqagen_.done("merge 0.json 1.json --out q.json")
    ran = vqagen_.done("verify q.json --scenes scenes.json")

    assert merged.err == (
        "80 questions from 2 shards; in no shard: scenes 0 to 1 (--start-index 0 --count 2)"
        " and scenes from 10 on, if there are any (--start-index 10)\n"
    )
    assert b"scenes 0 to 1 and 10 to 11 of 12 are not in the file, whose run took" in ran.out


def test_a_setting_that_no_version_has_is_remarked(questions: list[Record], scenes: list[Record]) -> None:
    """Nothing is checked by it, and the summary says so."""
    info = {"generator": {**INFO["generator"], "settings": {"sede": 3, "seed": 3}}}

    report = vqagen.verify({"info": info, "questions": questions}, {"scenes": scenes})

    assert "info.generator.settings: unknown setting 'sede'; did you mean 'seed'? (not checked)" in report.remarks
