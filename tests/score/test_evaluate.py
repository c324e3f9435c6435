"""`vqagen evaluate`: what is scored, what is reported of faulty predictions, gates, formats and messages."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from gold_files import SEED_TABLE, seed_pairs, seed_predictions, write_visual7w
from item_tables import table
from scene_records import sampled_scenes

import vqagen
from vqagen.report.table import SCREEN_ROWS
from vqagen.score.evaluate import evaluate_items, toolkit_lines
from vqagen.score.intervals import wilson
from vqagen.score.predictions.reading import read_predictions

Record = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with scenes.json and questions.json about them."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "scenes.json").write_text(json.dumps({"scenes": sampled_scenes(12)}))
    vqagen.write_questions(folder / "scenes.json", folder / "questions.json")
    return folder


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: Any) -> Commands:
    """Runs commands in a folder with the questions, and the right answers in oracle.jsonl."""
    monkeypatch.chdir(tmp_path)
    for name in ("scenes.json", "questions.json"):
        Path(name).symlink_to(made / name)
    write_predictions("oracle.jsonl", questions())
    return Commands(capsysbinary)


def questions() -> list[Record]:
    records: list[Record] = json.loads(Path("questions.json").read_text())["questions"]
    return records


def write_predictions(
    name: str, records: Iterable[Record], answer: Callable[[Record], Any] = lambda record: record["answer"]
) -> None:
    lines = ({"question_index": record["question_index"], "answer": answer(record)} for record in records)
    Path(name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def report(run: Commands, line: str) -> Record:
    record: Record = json.loads(run(f"evaluate {line} --json").out)
    return record


def rows(record: Record, table: str) -> dict[str, Record]:
    """The rows of a table of groups by their first cell."""
    return {next(iter(row.values())): row for row in record["tables"][table]["rows"]}


# Scores -----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_oracle_is_right_in_every_group(run: Commands) -> None:
    """Right answers have accuracy 1 in every row of every default group, and every measure is at its best."""
    record = report(run, "questions.json oracle.jsonl --scenes scenes.json")

    groups = ("overall", "answer_type", "category", "function", "family", "program_length", "depth", "scene_size")
    for group in groups:
        for row in rows(record, group).values():
            assert row["accuracy"] == row["high"] == 1 and row["skill"] == (1 if row["floor"] < 1 else None)
    assert record["tables"]["yes_no"]["rows"][0]["F1"] == record["tables"]["counting"]["rows"][0]["exact"] == 1
    (plain,) = rows(report(run, "questions.json oracle.jsonl --cluster none"), "overall").values()
    assert rows(record, "overall")["overall"]["low"] < plain["low"] == wilson(120, 120)[0]  # 12 images say less


@pytest.mark.slow
def test_records_in_memory_are_scored_as_files_are(run: Commands) -> None:
    """Questions and predictions may be a file, records, or a dict of id -> answer."""
    write_predictions("half.jsonl", questions()[::2])
    lines = [json.loads(line) for line in Path("half.jsonl").read_text().splitlines()]

    asked = json.loads(Path("questions.json").read_text())
    answers = {line["question_index"]: line["answer"] for line in lines}
    of_files = vqagen.evaluate("questions.json", "half.jsonl").table("family")

    for given in (lines, answers, "half.jsonl"):
        assert vqagen.evaluate(asked, given).table("family") == of_files
    assert vqagen.evaluate("questions.json", iter(lines)).table("family") == of_files


def test_what_fits_a_screen_is_printed(run: Commands) -> None:
    """Overall, floor and categories; --all prints the other tables, --group-by cuts those that it names."""
    write_predictions("half.jsonl", questions()[::2])

    lines = run.done("evaluate questions.json half.jsonl").out.decode().splitlines()
    assert lines[:7] == [
        "half.jsonl on questions.json: 120 questions, mode open",
        "coverage: 60 of 120 answered (50.0%); 60 missing (counted as wrong), 0 duplicate, 0 unknown, 0 not an option",
        "replies: 60 read, 0 ambiguous, 0 not read (0.0%), 0 no valid answer",
        "first ids: missing 1, 3, 5, …",
        "answers: compared as typed; 95 % intervals: by image; floor: best guess without the picture",
        "",
        "Overall",
    ]
    assert lines[7].split() == ["group", "n", "correct", "accuracy", "low", "high", "floor", "skill"]
    assert lines[10] == "Category" and len(lines) < 25
    assert lines[-1].startswith("  8 more tables by --all, or in a file by -o report.html: ")
    families = run.done("evaluate questions.json half.jsonl --group-by family").out.decode().splitlines()
    assert len(families) <= 40 and sum(".json#" in line for line in families) == SCREEN_ROWS
    assert re.fullmatch(r"  … \d+ more by --all", families[-2])
    skipped = run.done("evaluate questions.json half.jsonl --missing skip").out.decode()
    assert "60 missing (left out)" in skipped and "  overall  60       60     1.000" in skipped
    whole = run.done("evaluate questions.json half.jsonl --all").out.decode()
    assert all(title in whole for title in ("Family", "Depth", "Yes/no questions")) and "by --all" not in whole


def test_lines_of_text_answer_the_questions_of_the_file_or_of_a_split(run: Commands) -> None:
    """In their order, whatever their numbers. Another number of lines is refused, with both numbers."""
    halves = [{**record, "split": "val" if number % 2 else "train"} for number, record in enumerate(questions()[7:11])]
    Path("halves.json").write_text(json.dumps({"questions": halves}))
    Path("all.txt").write_text("".join(f"{each['answer']}\n" for each in halves))
    Path("val.txt").write_text("".join(f"{each['answer']}\n" for each in halves[1::2]))
    Path("three.txt").write_text("yes\n" * 3)

    ran = run("evaluate halves.json all.txt --split val")
    assert (ran.code, ran.out) == (3, b"")
    assert "all.txt: 4 lines for 2 questions" in ran.err and "they match the whole file: leave out --split" in ran.err
    assert "3 lines for 4 questions" in run("evaluate halves.json three.txt").err
    for line in ("halves.json all.txt", "halves.json val.txt --split val"):
        assert rows(report(run, line), "overall")["overall"]["accuracy"] == 1


def test_the_key_of_predictions_is_an_option_of_both_commands(run: Commands) -> None:
    """Where names do not tell which of two is the prediction."""
    lines = [{"id": each["question_index"], "answer": each["answer"], "gpt": "?"} for each in questions()]
    Path("p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    for command in ("evaluate questions.json p.jsonl", "compare questions.json p.jsonl p.jsonl"):
        assert "'answer' and 'gpt' may each be the prediction" in run(command).err
    assert rows(report(run, "questions.json p.jsonl --prediction-key gpt"), "overall")["overall"]["accuracy"] == 0
    assert run.done("compare questions.json p.jsonl p.jsonl --prediction-key gpt").out.count(b" 0.000 ") >= 2


@pytest.mark.slow
def test_trials_have_a_gap_and_kinds_of_mistakes(run: Commands) -> None:
    """A model that overlooks the director's view is right in control trials alone, and its mistakes are egocentric."""
    run.done("director generate --count 24 -o trials --render none")
    trials = [json.loads(line) for line in Path("trials/trials.jsonl").read_text().splitlines()]
    lines = ({"trial_index": each["trial_index"], "answer": each["participant_answers"][0]} for each in trials)
    Path("cells.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    record = report(run, "trials cells.jsonl")

    gap = {row["trials"]: row["accuracy"] for row in record["tables"]["gap"]["rows"]}
    assert gap["control"] == 1 and gap["gap"] == 1 - gap["test"] > 0
    kinds = {row["answer"]: row for row in record["tables"]["mistakes"]["rows"]}
    groups = Counter("your-view test" if each["is_contested"] else each["trial_type"] for each in trials)
    assert (kinds["correct"]["control n"], kinds["egocentric"]["control n"]) == (groups["control"], 0)
    tests = [kinds[kind][f"{type_} n"] for kind in ("egocentric", "correct") for type_ in ("test", "your-view test")]
    assert sum(tests) == 24 - groups["control"]
    assert tests[1] + tests[3] == groups["your-view test"] > 0, "tests from your point of view stand apart"


# The Visual7W toolkit ---------------------------------------------------------------------------------------------

SEED_LINES = [
    "Evaluated on 28,020 QA pairs with top-100 predictions.",
    "Overall accuracy = 0.371",
    'Question type "what" accuracy = 0.380 (5053 / 13296)',
    'Question type "who" accuracy = 0.375 (1079 / 2879)',
    'Question type "when" accuracy = 0.529 (667 / 1262)',
    'Question type "how" accuracy = 0.721 (3037 / 4211)',
    'Question type "where" accuracy = 0.099 (456 / 4590)',
    'Question type "why" accuracy = 0.051 (91 / 1782)',
]


@pytest.mark.slow
def test_the_lines_of_the_toolkit() -> None:
    """The published tables of the open baseline and of pointing at random come out for their counts."""
    types = [kind for kind, (_, total) in SEED_TABLE.items() for _ in range(total)]
    right = [at < right for right, total in SEED_TABLE.values() for at in range(total)]
    given = {at: "yes" if is_right else "no" for at, is_right in enumerate(right)}

    found = evaluate_items(table(["yes"] * len(types), type=types), read_predictions(given))

    assert list(toolkit_lines(found))[1:] == SEED_LINES[1:]


@pytest.mark.slow
def test_the_table_of_the_seed(run: Commands) -> None:
    """The toolkit's lines for 28,020 questions of these counts come out, below lines that state the coverage."""
    pairs = seed_pairs()
    write_visual7w(Path("dataset.json"), pairs)
    Path("given.json").write_text(json.dumps(seed_predictions(pairs)))

    ran = run.done("evaluate dataset.json given.json --profile visual7w --mode open --top-k 100 --split val")

    lines = ran.out.decode().splitlines()
    assert lines[5:] == SEED_LINES
    assert lines[1].startswith("coverage: 28,020 of 28,020 answered (100.0%)")


# Gates and outputs ------------------------------------------------------------------------------------------------


def test_fail_under_is_the_exit_code(run: Commands) -> None:
    """The exit code is 1 if a group is below its threshold; the report says which."""
    write_predictions("half.jsonl", questions()[::2])

    for thresholds, code in {
        "overall=0.5": 0, "overall=0.6": 1, "overall=0.5,exist=0.99": 1, "category:exist=0.1,bool=0.1": 0,
    }.items():  # fmt: skip
        ran = run(f"evaluate questions.json half.jsonl --fail-under {thresholds}")
        assert ran.code == code
        assert ("is below" in ran.out.decode().splitlines()[-1]) == bool(code)


def test_strict_demands_complete_predictions(run: Commands) -> None:
    """With --strict the exit code is 1 for missing, duplicate and unknown predictions, each with its first ids."""
    write_predictions("half.jsonl", [*questions()[2:], questions()[5], {"question_index": 999, "answer": 1}])

    ran = run("evaluate questions.json half.jsonl --strict")

    assert ran.code == 1
    assert ran.out.decode().splitlines()[-3:] == [
        "2 missing predictions: 0, 1",
        "1 duplicate prediction: 5",
        "1 prediction with an unknown id: 999",
    ]
    assert run("evaluate questions.json oracle.jsonl --strict").code == 0


def test_the_result_of_each_question(run: Commands) -> None:
    """--per-item writes a line for each question, with what was right, what was given, and its fields."""
    write_predictions("first.jsonl", questions()[:1])

    run.done("evaluate questions.json first.jsonl --missing skip --per-item items.jsonl")

    first, second, *rest = map(json.loads, Path("items.jsonl").read_text().splitlines())
    assert len(rest) == 118 and (first["id"], second["id"]) == ("0", "1")
    assert first["given"] == first["answer"] and first["correct"] == 1 and first["fields"]["category"]
    assert (second["given"], second["correct"]) == (None, None)


REPORTS = {
    "report.json": "{",
    "report.csv": "table,group,n,correct,accuracy",
    "report.html": "<!doctype html>",
    "report.txt": "oracle.jsonl on questions.json",
}
"""Name of a report -> its beginning."""


def test_the_format_of_a_report_follows_its_name(run: Commands) -> None:
    """A report is written in the format of its name, and never over a file without --force."""
    for name, beginning in REPORTS.items():
        ran = run.done(f"evaluate questions.json oracle.jsonl --out {name}")
        assert (ran.out, ran.err) == (b"", "") and Path(name).read_text().startswith(beginning)
        again = run(f"evaluate questions.json oracle.jsonl --out {name}")
        assert again.code == 2 and name in again.err


def test_an_unknown_format_is_refused_before_work_begins(run: Commands) -> None:
    """The known endings are listed; --json and another ending contradict each other."""
    for options, said in {
        "--out report.md": "report.md ends in .md; name a file that ends in .txt, .json, .html, .csv",
        "--out report": "report has no ending",
        "--json --out report.csv": "--json contradicts --out report.csv",
    }.items():
        ran = run(f"evaluate nowhere.json oracle.jsonl {options}")
        assert ran.code == 2 and said in ran.err


# Bad input --------------------------------------------------------------------------------------------------------

WRONG_USE = {
    "nothing.json oracle.jsonl": (3, "nothing.json"),
    "questions.json nothing.jsonl": (3, "nothing.jsonl"),
    "questions.json oracle.jsonl --group-by catgory": (2, "did you mean 'category'?"),
    "questions.json oracle.jsonl --top-k 0": (2, "--top-k '0' is no list of numbers from 1: write 1 or 1,5,100"),
    "questions.json oracle.jsonl --profile visual7w": (2, "is for questions with a type"),
    "questions.json oracle.jsonl --profile visual7w --normalise exact": (2, "contradicts --profile"),
    "questions.json oracle.jsonl --per-item a.json --out a.json": (2, "--per-item and --out are both a.json"),
    "questions.json oracle.json --out oracle.json --force": (2, "oracle.json is in use by the same run"),
    "questions.json oracle.jsonl --split vall": (2, "questions.json has no question of split 'vall'; it has "),
    "questions.json oracle.jsonl --cluster famly": (2, "did you mean 'family'?"),
    "questions.json oracle.jsonl --mode mc": (3, "no options, so no multiple choice"),
    "hidden.json oracle.jsonl": (3, "hidden.json: questions[0]: no answers"),
    "questions.json oracle.jsonl --fail-under exits=0.5": (2, "unknown group 'exits'; did you mean 'exist'?"),
    "questions.json oracle.jsonl --fail-under overall=90": (2, "'overall=90' is no threshold: write a group and a"),
    "questions.json oracle.jsonl --fail-under overall": (2, "'overall' is no threshold: write a group and a share"),
    "questions.json half.jsonl --fail-under 5=0.5": (2, "several groups are named '5'; write one of program_length:5"),
    "questions.json other_ids.jsonl": (3, "no prediction in other_ids.jsonl belongs to a question"),
    "questions.json broken.jsonl": (3, "broken.jsonl:2"),
    "questions.json scenes.json": (3, "scenes.json: holds scenes, not predictions"),
    "oracle.jsonl questions.json": (3, "questions.json: holds questions, not predictions; the file of questions comes"),
}
"""Arguments -> exit code and a part of the message."""


@pytest.mark.slow
def test_wrong_use(run: Commands) -> None:
    """What cannot be scored as asked is one clear message, and no score."""
    hidden = [{key: value for key, value in each.items() if key not in ("answer", "program")} for each in questions()]
    Path("hidden.json").write_text(json.dumps({"questions": hidden}))
    write_predictions("half.jsonl", questions()[::2])
    Path("oracle.json").write_bytes(Path("oracle.jsonl").read_bytes())
    Path("other_ids.jsonl").write_text('{"question_index": 900, "answer": "yes"}')
    Path("broken.jsonl").write_text('{"question_index": 1, "answer": "yes"}\n{"question_index": 2, "ans')

    for line, (code, problem) in WRONG_USE.items():
        ran = run(f"evaluate {line}")
        assert (ran.code, ran.out, problem in ran.err) == (code, b"", True), (line, ran.err)
        assert ran.err.startswith("vqagen: "), line


@pytest.mark.slow
def test_of_pairs_of_trials_the_headline_is_that_both_are_right(run: Commands) -> None:
    """On the screen and in the report it comes first; tests from "your view" are a type of their own."""
    run.done("director generate --count 240 -o trials --render none --paired")
    trials = [json.loads(line) for line in Path("trials/trials.jsonl").read_text().splitlines()]
    lines = ({"trial_index": each["trial_index"], "answer": each["participant_answers"][0]} for each in trials)
    Path("cells.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))

    record = report(run, "trials cells.jsonl")

    assert next(iter(record["tables"])) == "pairs"
    assert [row["both"] for row in record["tables"]["pairs"]["rows"] if row["group"] == "vertical"] == [0]
    assert {row["type"]: row["n"] for row in record["tables"]["type"]["rows"]} == Counter(
        "your-view test" if each["is_contested"] else each["trial_type"] for each in trials
    )
    screen = run.done("evaluate trials cells.jsonl").out.decode()
    assert screen.index("Pairs of which both are right") < screen.index("Overall")
