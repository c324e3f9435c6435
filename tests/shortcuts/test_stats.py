"""Statistics say what a question file asks and answers; predictors without the picture find what gives answers away."""

from __future__ import annotations

import gzip
import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

import vqagen
from vqagen.language.program import Node
from vqagen.score.items import read_items
from vqagen.shortcuts.clues import features, phrases
from vqagen.shortcuts.statistics import ONE_WINDOW, guess_questions
from vqagen.tasks.questions.items import question_type
from vqagen.tasks.questions.statistics import NO_ANSWERS, NO_PROGRAMS

Record = dict[str, Any]


def question(
    text: str, answer: Any, image: int = 0, family: int = 0, said: Sequence[str] = ("red",), **more: Any
) -> Record:
    """A question whether there is any object of which all this can be said."""
    nodes = [{"type": "scene", "inputs": [], "value_inputs": []}]
    for value in said:
        nodes.append({"type": f"filter_{value[0]}", "inputs": [len(nodes) - 1], "value_inputs": [value]})
    nodes.append({"type": "exist", "inputs": [len(nodes) - 1], "value_inputs": []})
    named = {"image_filename": f"{image}.png", "template_filename": "any.json", "question_family_index": family}
    return {**named, "question": text, "answer": answer, "program": nodes, **more}


def written(records: Sequence[Record], name: str = "q.json", **info: Any) -> str:
    """Write questions; the name of their file."""
    text = json.dumps({"info": info, "questions": records})
    if "jsonl" in name:
        text = "".join(json.dumps(record) + "\n" for record in records)
    Path(name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return name


def found(vqagen_: Commands, line: str) -> Any:
    """The statistics as JSON."""
    return json.loads(vqagen_.done(f"stats --json {line}").out)


# What is counted --------------------------------------------------------------------------------------------------

SMALL = [
    question("Is there a red one?", True, image=1),
    question("Is there a red one?", False, image=2),
    question("Any blue metal thing at all here?", False, image=2, family=3, said=("blue", "metal")),
    question("Any cube?", False, image=2, family=3, said=("cube",), template_filename="other.json"),
]


def test_questions_texts_words_programs_and_families_are_counted(vqagen_: Commands) -> None:
    statistics = found(vqagen_, written(SMALL))

    counted = [statistics[name] for name in ("questions", "images", "families", "template_files", "distinct_texts")]
    assert counted == [4, 2, 3, 2, 3]
    assert statistics["words"] == {
        "least": 2,
        "median": 5.0,
        "mean": 4.75,
        "most": 7,
        "counts": {"2": 1, "5": 2, "7": 1},
    }
    assert statistics["program_steps"]["counts"] == {"3": 3, "4": 1}
    assert statistics["family_questions"] == {"any.json#0": 2, "any.json#3": 1, "other.json#3": 1}
    assert statistics["family_share"] == 0.5
    head = vqagen_.done("stats q.json").out.decode().splitlines()
    assert head[0] == "4 questions about 2 images, 3 families of 2 template files"
    assert "  questions of a family       1 to 2, mean 1.3, median 1; least/most 0.50" in head
    per_image = {name: spread["counts"] for name, spread in statistics["per_image"].items()}
    assert per_image == {
        "questions": {"1": 1, "3": 1},
        "families": {"1": 1, "3": 1},
        "template_files": {"1": 1, "2": 1},
    }


def test_answers_are_counted_for_each_type_and_family(vqagen_: Commands) -> None:
    answers = found(vqagen_, written(SMALL))["answers"]

    assert answers["types"] == {"exist": {"questions": 4, "evenness": 0.811278, "answers": {"no": 3, "yes": 1}}}
    assert answers["families"]["any.json#0"] == {
        "type": "exist",
        "questions": 2,
        "evenness": 1.0,
        "answers": {"no": 1, "yes": 1},
    }


def test_pairs_are_counted_by_their_numbers(vqagen_: Commands) -> None:
    def asked(pair: int | None, answer: bool, text: str) -> Record:
        return question(text, answer, **({} if pair is None else {"pair": pair}))

    records = [
        *(asked(0, True, "a"), asked(0, False, "b")),  # as it should be
        *(asked(1, True, "c"), asked(1, True, "c")),
        asked(2, True, "d"),
        *(asked(3, True, text) for text in "efg"),
        asked(None, True, "h"),
    ]

    assert found(vqagen_, written(records))["pairs"] == {
        "complete": 2,
        "alone": 1,
        "crowded": 1,
        "answered": 2,
        "answers_differ": 1,
        "texts_differ": 1,
        "unpaired": 1,
    }
    shown = "\n".join(vqagen.stats("q.json").head)
    assert (
        "pairs                       2 complete, answers differ in 50.0%, texts differ in 50.0%, 1 question with"
        in shown
    )


def test_a_program_of_any_domain_tells_the_question_type() -> None:
    """The files of other generators name no type."""
    kinds = {
        "query_season": "query",
        "equal_season": "compare_attribute",
        "less_than": "compare_integer",
        "count_different_season": "count",
        "sings": "sings",
    }
    assert {function: question_type(function) for function in kinds} == kinds


# Files ------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with questions.json, made of sampled scenes."""
    folder = tmp_path_factory.mktemp("generated")
    (folder / "scenes.json").write_text(json.dumps({"scenes": list(vqagen.sample_scenes(12, seed=4))}))
    vqagen.write_questions(folder / "scenes.json", folder / "questions.json")
    return folder


@pytest.mark.slow
def test_all_formats_and_dialects_have_the_same_statistics(generated: Path, vqagen_: Commands) -> None:
    """Also gzipped, and where answers and functions are written as in the released CLEVR files."""
    made = generated / "questions.json"
    wanted = found(vqagen_, f"'{made}'")
    vqagen_.done(f"convert '{made}' --out q.parquet")
    vqagen_.done(f"convert '{made}' --out q.jsonl.gz")
    vqagen_.done(f"generate --scenes '{generated / 'scenes.json'}' --out release.json --dialect release")
    released = found(vqagen_, "release.json")

    assert found(vqagen_, "q.parquet") == found(vqagen_, "q.jsonl.gz") == wanted
    assert released["answers"]["types"] == wanted["answers"]["types"]
    assert released["family_questions"] == wanted["family_questions"]
    assert len(wanted["family_questions"]) == 90, "families without a question count too"
    assert wanted["family_questions"]["zero_hop.json#exist"] > 0
    assert ONE_WINDOW in wanted["notes"], "twelve scenes are less than one window"


def test_records_in_memory_give_a_report_that_fits_a_screen(vqagen_: Commands) -> None:
    """It has the figures of the file; a table of it is a data frame."""
    report = vqagen.stats({"questions": SMALL})
    assert len(repr(report).splitlines()) <= 24
    assert report.frame("answers")["evenness"].tolist() == [0.811278]
    assert report.facts == vqagen.stats(written(SMALL)).facts


def test_records_of_other_generators_need_only_a_question(vqagen_: Commands) -> None:
    """As VQA's files, whose answers are of three kinds."""
    answers = ["yes", "no", "2", "red", ["red", "blue"]]
    records = [{"question": "Why?", "answer": answer, "image_index": 0} for answer in answers]
    statistics = found(vqagen_, written(records))

    counts = {kind: entry["questions"] for kind, entry in statistics["answers"]["types"].items()}
    assert counts == {"yes/no": 2, "number": 1, "other": 2}
    assert (statistics["families"], list(statistics["per_image"])) == (0, ["questions"])
    assert NO_PROGRAMS in statistics["notes"]


@pytest.mark.slow
def test_what_questions_lack_is_counted(generated: Path, vqagen_: Commands) -> None:
    vqagen_.done(f"generate --scenes '{generated / 'scenes.json'}' --out hidden.json --hide-answers")
    out = vqagen_.done("stats hidden.json").out.decode()
    records = [*SMALL, {**SMALL[0], "program": None}, {**SMALL[0], "answer": None, "program": []}]
    notes = found(vqagen_, written(records))["notes"]

    said = [line.removeprefix("note: ") for line in out.splitlines() if line.startswith("note:")]
    assert said == [NO_PROGRAMS, NO_ANSWERS]
    assert "Guessed without" not in out
    assert notes[:2] == ["2 questions with no program", "1 question with no answer"]


def test_a_record_that_is_no_question_is_placed(vqagen_: Commands) -> None:
    faults: list[tuple[Record, str]] = [
        ({"question": 3}, "questions[1].question: expected text, found 3"),
        ({"answer": {}}, "questions[1].answer: expected true, false, a number"),
        ({"pair": [1]}, "questions[1].pair: expected a text or a number, found a list of 1"),
        *(
            ({"program": program}, "questions[1].program: expected a list of nodes with a function")
            for program in ("x", [7], [{}])
        ),
        (
            {"program": [{"type": "count", "inputs": [0]}]},
            "questions[1].program: node 0: expected inputs that are earl",
        ),
    ]
    for fault, message in faults:
        ran = vqagen_(f"stats {written([SMALL[0], {**SMALL[1], **fault}])}")
        assert (ran.code, ran.out) == (3, b"")
        assert message in ran.err
    ran = vqagen_(f"stats {written([{'question': 3}] * 30)}")
    assert ran.err.count("expected text") == 20
    assert "q.json: … and 10 more faults in other questions" in ran.err


def test_what_cannot_be_read_or_written_is_said(vqagen_: Commands) -> None:
    written(SMALL)
    written([], "empty.json")
    for line, code, message in (
        ("stats no.json", 3, "questions, dialogs or trials not found: no.json"),
        ("stats empty.json", 3, "empty.json: no questions"),
        ("stats q.json --against no.json", 3, "not found: no.json"),
        ("stats q.json --against empty.json", 0, ""),
        ("stats q.json --against ./q.json", 2, "--against q.json is the file itself"),
        ("stats q.json -o no/page.html", 3, "output folder no does not exist"),
        ("stats q.json -o q.json --force", 2, "is in use by the same run"),
    ):
        ran = vqagen_(line)
        assert (ran.code, message in ran.err) == (code, True), ran


# Guesses ----------------------------------------------------------------------------------------------------------


def asked(first: int, count: int, said: Sequence[Sequence[str]], text: Sequence[str]) -> Iterator[Record]:
    """Questions of which the even ones are answered yes, the odd ones no; phrases and texts take turns."""
    for number in range(first, first + count):
        yes = number % 2 == 0
        yield question(text[number % len(text)], yes, image=number // 10, said=said[number % len(said)])


@pytest.mark.slow
def test_a_predictor_finds_what_gives_the_answer_away(vqagen_: Commands) -> None:
    """The longer phrase is never there, or one word says no, which trees read too. Forty others teach enough."""
    for said, text, in_text in (
        ([["red"], ["red", "cube"]], ["Any?"], False),
        ([["red"]], ["Is it so?", "Is it really so?"], True),
    ):
        guessed = found(vqagen_, written(list(asked(0, 400, said, text))))["guessed"]

        assert guessed["types"]["exist"]["majority-family"] == 0.5
        assert [guessed["types"]["exist"][name] for name in ("words", "tree")] == [0.5 + 0.5 * in_text, 1]
        assert guessed["families"]["any.json#0"] == guessed["types"]["exist"]


def test_guesses_are_tested_on_the_file_given_by_against(vqagen_: Commands) -> None:
    """The clue of the file that is learned from misleads in the other."""
    written(list(asked(0, 400, [["red"], ["red", "cube"]], ["Any?"])))
    written(list(asked(1, 200, [["red"], ["red", "cube"]][::-1], ["Any?"])), "other.json")
    written(list(asked(0, 200, [["red", "cube"], ["red"]], ["Any?"])), "misleading.json")

    guessed = found(vqagen_, "q.json --against misleading.json")["guessed"]

    assert guessed["tested_on"] == "200 questions of misleading.json"
    assert guessed["types"]["exist"] | {"questions": 200, "words": 0.5, "tree": 0.0} == guessed["types"]["exist"]


@pytest.mark.slow
def test_texts_without_words_are_guessed_by_the_majority(vqagen_: Commands) -> None:
    """scikit-learn refuses to learn from no words."""
    guessed = found(vqagen_, written(list(asked(0, 400, [["red"]], ["???"]))))["guessed"]

    assert guessed["types"]["exist"]["words"] == guessed["types"]["exist"]["majority-family"]
    records = [{"question": "Any?", "answer": f"{number % 7}", "image_index": number} for number in range(100)]
    assert found(vqagen_, written(records))["guessed"]["all"].keys() == {
        "questions",
        "majority-family",
        *("order", "occurrence", "previous", "words", "tree"),
    }


def test_without_scikit_learn_one_line_says_how_to_get_the_rest(
    vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "sklearn", None)
    ran = vqagen_.done(f"stats {written(list(asked(0, 400, [['red']], ['Any?'])))}")

    lines = ran.out.decode().splitlines()
    assert any(re.fullmatch(r" *exist +400 +0\.500", line) for line in lines)
    assert ("note: guessing by what is learned needs sklearn; install it: pip install 'vqagen[stats]'") in lines


@pytest.mark.slow
def test_learned_predictors_see_a_part_of_the_images_whatever_their_order() -> None:
    """What only counts answers sees all, so that its figures are those of other commands."""
    records = list(asked(0, 800, [["red"]], ["Is it so?", "Is it really so?"]))
    found = []
    for order in (records, records[::-1]):
        guessed = guess_questions(read_items({"questions": order}, learning=True), limit=200)[0]
        assert guessed is not None
        found.append((guessed["tested_on"], guessed["all"]))

    learned = int(found[0][0].rpartition(" ")[2])
    assert 40 < learned <= 200 and learned % 10 == 0, "whole images"
    assert found[0][0] == found[1][0]
    assert all(each["questions"] == 800 and each["words"] == 1.0 for _, each in found)


def test_phrases_are_the_filters_between_other_steps() -> None:
    """The cube that is left of the big red thing: is there any?"""
    steps = [
        Node("scene", (), ()),
        Node("filter_size", (0,), ("big",)),
        Node("filter_color", (1,), ("red",)),
        Node("unique", (2,), ()),
        Node("relate", (3,), ("left",)),
        Node("filter_shape", (4,), ("cube",)),
        Node("exist", (5,), ()),
    ]

    assert list(phrases(steps)) == [
        {("filter_size", "big"), ("filter_color", "red")},
        {("filter_shape", "cube")},
    ]
    lengths = {len(features(program)) for program in (steps, steps[:1], steps * 9)}
    assert len(lengths) == 1


# The page ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_page_has_all_families(generated: Path, vqagen_: Commands) -> None:
    """It loads nothing; names that look like HTML are shown."""
    vqagen_.done(f"stats '{generated / 'questions.json'}' -o page.html")
    written([question("a", "<b>", image=number, template_filename="<i>&.json") for number in range(3)])
    vqagen_.done("stats q.json -o names.html")
    vqagen_.done("stats q.json -o names.txt")
    assert "\nFamilies\n" in Path("names.txt").read_text("utf-8")
    assert b"\nFamilies\n" not in vqagen_.done("stats q.json").out, "a terminal has no room for families"
    text, names = (Path(name).read_text("utf-8") for name in ("page.html", "names.html"))

    assert not re.search(r"<script|<link|<img|src=|href=.[^#]", text)
    assert all(f"<td>{family}</td>" in text for family in ("zero_hop.json#exist", "three_hop.json#count"))
    assert "&lt;i&gt;&amp;.json#0" in names
    assert "<i>" not in names and "<b>" not in names
