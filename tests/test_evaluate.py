"""`vqagen evaluate`: what is scored, what is reported of faulty predictions, gates, formats and messages."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from random import Random
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes

import vqagen
from vqagen.judge.scoring.visual7w_lines import TypeCount, visual7w_lines

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


def write_visual7w(folder: Path, counts: dict[str, tuple[int, int]]) -> tuple[Path, Path]:
    """Write a dataset with so many questions of each type, and predictions of which so many are right."""
    pairs, given = [], []
    for kind, (right, total) in counts.items():
        for number in range(total):
            id = len(pairs)
            pairs.append({"qa_id": id, "question": f"{kind}?", "answer": f"A{number}.", "type": kind,
                          "multiple_choices": ["x", "y", "z"]})  # fmt: skip
            candidates = [{"answer": "no"}, {"answer": f"a{number}." if number < right else "wrong"}]
            given.append({"qa_id": id, "question": "", "candidates": candidates})
    image = {"image_id": 1, "filename": "v7w_1.jpg", "split": "val", "qa_pairs": pairs}
    dataset, predictions = folder / "dataset.json", folder / "predictions.json"
    dataset.write_text(json.dumps({"dataset": "visual7w-telling", "images": [image]}))
    predictions.write_text(json.dumps(given))
    return dataset, predictions


# Scores -----------------------------------------------------------------------------------------------------------


def test_the_oracle_is_right_in_every_group(run: Commands) -> None:
    """Right answers have accuracy 1 in every row of every default group, and every measure is at its best."""
    record = report(run, "questions.json oracle.jsonl --scenes scenes.json --consistency")

    groups = ("overall", "answer_type", "category", "function", "family", "program_length", "depth", "scene_size")
    for group in groups:
        assert all(row["accuracy"] == row["high"] == 1 and row["skill"] == 1 for row in rows(record, group).values())
    tables = record["tables"]
    assert all(row["value"] == 1 for table in ("possible", "consistency") for row in tables[table]["rows"])
    assert tables["yes_no"]["rows"][0]["F1"] == tables["counting"]["rows"][0]["exact"] == 1
    assert rows(record, "distribution")["all groups"]["chi square"] == 0


def test_every_fault_is_counted_in_any_order(run: Commands) -> None:
    """Missing, duplicate, unknown, refused and ambiguous predictions are counted exactly, however lines are ordered."""
    asked = [record for record in questions() if isinstance(record["answer"], bool)][:12]
    answers = {record["question_index"]: "yes" if record["answer"] else "no" for record in asked}
    first, second, third, fourth, *rest = answers
    lines: list[Record] = [{"question_index": id, "answer": answers[id]} for id in rest]
    lines += [{"question_index": first, "answer": "I cannot see the image."}]
    lines += [{"question_index": second, "answer": "yes or no"}]
    lines += [{"question_index": third, "answer": f"Café: {answers[third]}"}]
    lines += [{"question_index": fourth, "answer": answers[fourth]}] * 2
    lines += [{"question_index": id, "answer": answers[id]} for id in rest[:4]]
    lines += [{"question_index": 10**6 + number, "answer": "yes"} for number in range(3)]
    total = len(questions())
    found = []
    for seed in range(4):
        Random(seed).shuffle(lines)
        Path("faulty.jsonl").write_text("\n".join(map(json.dumps, lines)))
        record = report(run, "questions.json faulty.jsonl")
        found.append((record["coverage"], rows(record, "overall")["overall"]["correct"]))

    assert all(each == found[0] for each in found)
    coverage, correct = found[0]
    assert coverage["examples"].keys() >= {"missing", "duplicate", "unknown"}
    counted = {name: coverage[name] for name in ("answered", "missing", "duplicate", "unknown", "refused", "ambiguous")}
    assert counted == {
        "answered": 12, "missing": total - 12, "duplicate": 5, "unknown": 3, "refused": 1, "ambiguous": 1,
    }  # fmt: skip
    assert correct == 10


def test_missing_predictions_are_wrong_left_out_or_an_error(run: Commands) -> None:
    """Questions without prediction are wrong by default; `skip` leaves them out and says so; `error` stops."""
    write_predictions("half.jsonl", questions()[::2])

    wrong, skip = (report(run, f"questions.json half.jsonl --missing {policy}") for policy in ("wrong", "skip"))
    stopped = run("evaluate questions.json half.jsonl --missing error")

    assert [rows(each, "overall")["overall"]["accuracy"] for each in (wrong, skip)] == [0.5, 1.0]
    assert "60 missing (left out)" in run("evaluate questions.json half.jsonl --missing skip").out.decode()
    assert stopped.code == 3 and "no prediction in half.jsonl for 60 of 120 questions: 1, 3, 5, …" in stopped.err


def test_the_first_lines_state_coverage_and_comparison(run: Commands) -> None:
    """The first lines say how many questions were answered, what is wrong and where, and how answers are compared."""
    write_predictions("half.jsonl", questions()[::2])

    lines = run("evaluate questions.json half.jsonl").out.decode().splitlines()

    assert lines[:5] == [
        "half.jsonl on questions.json: 120 questions, mode open",
        "coverage: 60 of 120 answered (50.0%); 60 missing (counted as wrong), 0 duplicate, 0 unknown, 0 not an option",
        "replies: 60 parsed, 0 ambiguous, 0 refused",
        "first ids: missing 1, 3, 5, …",
        "answers: compared as typed; 95 % intervals: Wilson; floor: best guess without the picture",
    ]


def test_lines_of_text_answer_the_questions_in_their_order(run: Commands) -> None:
    """Lines have no ids: the first one answers the first question of the file, or of the split, whatever its number."""
    later = [{**record, "split": "val" if number % 2 else "train"} for number, record in enumerate(questions()[7:31])]
    Path("later.json").write_text(json.dumps({"questions": later}))
    asked = later[1::2]
    Path("lines.txt").write_text("\n".join(str(each["answer"]) for each in asked))

    record = report(run, "later.json lines.txt --split val")

    assert rows(record, "overall")["overall"]["accuracy"] == 1 and record["coverage"]["answered"] == len(asked) == 12


def test_groups_and_crosses_of_fields(run: Commands) -> None:
    """Any field, and any cross of fields, is a table; its rows add up to all questions."""
    record = report(run, "questions.json oracle.jsonl --group-by topology,category*depth")

    assert [name for name in record["tables"] if "*" in name or name == "topology"] == ["topology", "category*depth"]
    assert sum(row["n"] for row in rows(record, "category*depth").values()) == 120


def test_another_prediction_file_as_floor(run: Commands) -> None:
    """With --baseline, the floor of each row is the accuracy of these predictions."""
    write_predictions("no.jsonl", questions(), lambda record: "no")

    record = report(run, "questions.json oracle.jsonl --baseline no.jsonl")

    noes = sum(record["answer"] is False for record in questions())
    overall = rows(record, "overall")["overall"]
    assert overall["floor"] == pytest.approx(noes / 120) and overall["skill"] == 1
    assert record["settings"]["floor"] == "no.jsonl"


def test_a_floor_of_half_of_the_questions_says_so(run: Commands) -> None:
    """A file for --baseline that lacks questions has a floor that is too low: how many, and where, is in the head."""
    write_predictions("half.jsonl", questions()[::2])

    lines = run("evaluate questions.json oracle.jsonl --baseline half.jsonl").out.decode().splitlines()

    assert "floor: half.jsonl lacks 60 questions (first ids: 1, 3, 5), which lower it as wrong" in lines[:6]
    assert report(run, "questions.json oracle.jsonl --baseline half.jsonl")["floor_coverage"]["missing"] == 60


def test_consistency_falls_with_wrong_answers(run: Commands) -> None:
    """Consistency is below 1 if questions that follow from right ones are wrong; plausibility needs the scene."""
    noise = Random(1)
    write_predictions("noisy.jsonl", questions(), lambda record: "99" if noise.random() < 0.5 else record["answer"])

    record = report(run, "questions.json noisy.jsonl --scenes scenes.json --consistency")

    consistency, possible = rows(record, "consistency"), rows(record, "possible")
    assert 0 < consistency["consistency"]["n"] <= consistency["consistency, all premises"]["n"]
    assert consistency["consistency, all premises"]["value"] < 1
    assert possible["plausibility"]["value"] < possible["validity"]["value"] < 1


def test_balanced_pairs_have_their_rows(run: Commands) -> None:
    """Of balanced pairs, a model that answers from the words alone is right once; an oracle is right twice."""
    run.done("generate --scenes scenes.json -o paired.json --balance pairs")
    paired = json.loads(Path("paired.json").read_text())["questions"]
    write_predictions("oracle.jsonl", paired)
    write_predictions("blind.jsonl", paired, lambda record: {True: "no", False: "no"}.get(record["answer"], "red"))

    oracle, blind = (rows(report(run, f"paired.json {name}.jsonl"), "pairs") for name in ("oracle", "blind"))

    pairs = sum(record["pair"] is not None for record in paired) // 2
    assert pairs and (oracle["overall"]["pairs"], oracle["overall"]["both"]) == (pairs, pairs)
    assert blind["overall"]["both"] == 0 and blind["exist"]["one"] == blind["exist"]["pairs"]


def test_errors_propagate_in_dialogs(run: Commands) -> None:
    """A block on dialogs has whole ones, the right prefix, and the accuracy of rounds after right and wrong ones."""
    run.done("dialog --scenes scenes.json -o dialogs.json --rounds 4 --dialogs-per-image 1")
    dialogs = json.loads(Path("dialogs.json").read_text())["dialogs"]
    with Path("rounds.jsonl").open("w") as file:
        for dialog in dialogs:
            for number, each in enumerate(dialog["rounds"]):
                answer = "?" if dialog["dialog_index"] % 2 and number == 2 else each["answer"]
                line = {"dialog_index": dialog["dialog_index"], "round": number, "answer": answer}
                file.write(json.dumps(line) + "\n")

    table = report(run, "dialogs.json rounds.jsonl")["tables"]["dialogs"]["rows"][0]

    odd, count = sum(dialog["dialog_index"] % 2 for dialog in dialogs), len(dialogs)
    assert (table["dialogs"], table["all right"]) == (count, 1 - odd / count)
    assert table["right prefix"] == (4 * (count - odd) + 2 * odd) / count
    assert (table["after wrong"], table["n after wrong"]) == (1, odd)


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
    assert (kinds["correct"]["control n"], kinds["egocentric"]["control n"]) == (12, 0)
    assert kinds["egocentric"]["test n"] + kinds["correct"]["test n"] == 12


# The Visual7W toolkit ---------------------------------------------------------------------------------------------

SEED_TABLE = {
    "what": (5053, 13296), "where": (456, 4590), "when": (667, 1262),
    "who": (1079, 2879), "why": (91, 1782), "how": (3037, 4211),
}  # fmt: skip
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


@pytest.mark.slow  # quick: test_evaluation.py has the figures, and the next test the lines
def test_the_table_of_the_seed(tmp_path: Path, run: Commands) -> None:
    """The toolkit's lines for 28,020 questions of these counts come out, below lines that state the coverage."""
    dataset, predictions = write_visual7w(tmp_path, SEED_TABLE)

    ran = run.done(f"evaluate {dataset} {predictions} --profile visual7w --mode open --top-k 100 --split val")

    lines = ran.out.decode().splitlines()
    assert lines[5:] == SEED_LINES
    assert lines[1].startswith("coverage: 28,020 of 28,020 answered (100.0%)")


def test_two_right_answers_of_one_question_are_no_full_score(tmp_path: Path, run: Commands) -> None:
    """A file with one right answer twice, for which the toolkit reports 1.000, is 1 of 4, and a counted duplicate."""
    dataset, predictions = write_visual7w(tmp_path, {"how": (4, 4)})
    first = json.loads(predictions.read_text())[0]
    predictions.write_text(json.dumps([first, first]))

    lines = run.done(f"evaluate {dataset} {predictions} --profile visual7w --top-k 2").out.decode().splitlines()

    assert lines[-1] == 'Question type "how" accuracy = 0.250 (1 / 4)'
    assert "3 missing (counted as wrong), 1 duplicate" in lines[1]


def test_the_blocks_of_vqa(run: Commands) -> None:
    """VQAv2's types of answers have the blocks of theirs: yes/no, counting, and free text among the answers."""
    answers = {"yes/no": ("yes", "no"), "number": ("2", "3"), "other": ("red", "red")}
    asked = [{"image_id": 1, "question": "?", "question_id": number} for number in range(3)]
    annotations = [
        {"question_id": number, "image_id": 1, "question_type": "what", "answer_type": kind,
         "multiple_choice_answer": right, "answers": [{"answer": right, "answer_id": i} for i in range(10)]}
        for number, (kind, (right, _)) in enumerate(answers.items())
    ]  # fmt: skip
    given = [{"question_id": number, "answer": answer} for number, (_, answer) in enumerate(answers.values())]
    written = {"v2_questions": {"questions": asked}, "v2_annotations": {"annotations": annotations}, "given": given}
    for name, content in written.items():
        Path(f"{name}.json").write_text(json.dumps(content))

    tables = report(run, "v2_annotations.json given.json --normalise vqa-official")["tables"]

    assert tables["yes_no"]["rows"][0]["recall"] == 0
    assert tables["counting"]["rows"][0]["off by one"] == 1
    assert [(row["kind"], row["answer"]) for row in tables["answers"]["rows"]] == [
        ("bool", "yes"), ("integer", "2"), ("text", "red"),
    ]  # fmt: skip


@pytest.mark.parametrize("preset", ["typed", "visual7w"])
def test_tables_of_answers_agree_with_the_accuracy(preset: str, tmp_path: Path, run: Commands) -> None:
    """A right answer in other letters ("a0." for "A0.") is right in recall, kappa and distribution too."""
    dataset, predictions = write_visual7w(tmp_path, {"what": (3, 3)})
    listed = json.loads(predictions.read_text())
    predictions.write_text(json.dumps([{**each, "candidates": each["candidates"][1:]} for each in listed]))

    found = report(run, f"{dataset} {predictions} --normalise {preset}")

    assert rows(found, "overall")["overall"]["accuracy"] == 1
    assert [row["recall"] for row in found["tables"]["answers"]["rows"]] == [1, 1, 1]
    assert found["tables"]["chance"]["rows"][0]["kappa"] == 1
    assert rows(found, "distribution")["all groups"]["Jensen Shannon"] == 0


def test_ranks_of_dialogs(run: Commands) -> None:
    """Ranks 1, 2, 5 and 11 of the right options give the measures of VisDial."""
    options = list(range(100))
    rounds = [{"question": 0, "answer": 7, "answer_options": options, "gt_index": 7} for _ in range(4)]
    dialog = {"image_id": 5, "caption": "", "dialog": rounds}
    data = {"questions": ["?"], "answers": [f"a{number}" for number in options], "dialogs": [dialog]}
    ranks = [[*range(2, 9), 1, *range(9, 101)] for _ in range(4)]
    for row, rank in zip(ranks, (1, 2, 5, 11), strict=True):
        row[row.index(rank)], row[7] = row[7], rank
    given = [{"image_id": 5, "round_id": number, "ranks": row} for number, row in enumerate(ranks, 1)]
    Path("visdial.json").write_text(json.dumps({"version": "1.0", "split": "val", "data": data}))
    Path("ranks.json").write_text(json.dumps(given))

    table = report(run, "visdial.json ranks.json")["tables"]["measures"]["rows"]

    measures = {row["measure"]: row["value"] for row in table}
    assert measures == {
        "R@1": 0.25,
        "R@5": 0.75,
        "R@10": 0.75,
        "mean rank": 4.75,
        "MRR": pytest.approx(0.447727, abs=1e-6),
    }


def test_the_line_of_pointing() -> None:
    """The toolkit's lines for the random baseline of pointing come out for its counts."""
    assert list(visual7w_lines(1, [TypeCount("which", 9209, 36990)])) == [
        "Evaluated on 36,990 QA pairs with top-1 predictions.",
        "Overall accuracy = 0.249",
        'Question type "which" accuracy = 0.249 (9209 / 36990)',
    ]


# Gates and outputs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("thresholds", "code"),
    [("overall=0.5", 0), ("overall=0.6", 1), ("overall=0.5,exist=0.99", 1), ("category:exist=0.1,bool=0.1", 0)],
)
def test_fail_under_is_the_exit_code(thresholds: str, code: int, run: Commands) -> None:
    """The exit code is 1 if a group is below its threshold; the report says which."""
    write_predictions("half.jsonl", questions()[::2])

    ran = run(f"evaluate questions.json half.jsonl --fail-under {thresholds}")

    assert ran.code == code
    assert ("is below" in ran.out.decode().splitlines()[-1]) == bool(code)


@pytest.mark.parametrize(
    ("thresholds", "problem"),
    [
        ("exits=0.5", "--fail-under: unknown group 'exits'; did you mean 'exist'?"),
        ("overall=90", "--fail-under 'overall=90' is no threshold: write a group and a share, such as overall=0.9"),
        ("overall", "--fail-under 'overall' is no threshold: write a group and a share, such as overall=0.9"),
        ("5=0.5", "--fail-under: several groups are named '5'; write one of program_length:5, depth:5, scene_size:5"),
    ],
)
def test_a_threshold_that_means_nothing(thresholds: str, problem: str, run: Commands) -> None:
    """A threshold of no group, or that is no share, is wrong usage."""
    write_predictions("half.jsonl", questions()[::2])

    ran = run(f"evaluate questions.json half.jsonl --scenes scenes.json --fail-under {thresholds}")

    assert (ran.code, ran.out) == (2, b"") and problem in ran.err


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


def test_a_report_is_not_written_over_its_inputs(run: Commands) -> None:
    """--force does not replace a file that is read."""
    ran = run("evaluate questions.json oracle.jsonl --out oracle.jsonl --force")

    assert ran.code == 2 and Path("oracle.jsonl").read_text().startswith('{"question_index"')


# Bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "code", "problem"),
    [
        ('{"question_index": 900, "answer": "yes"}', 3, "no prediction in bad.jsonl belongs to a question"),
        ('{"question_index": 1, "answer": "yes"}\n{"question_index": 2, "ans', 3, "bad.jsonl:2"),
        ("", 3, "bad.jsonl"),
        ('{"scenes": []}', 3, "bad.jsonl"),
    ],
    ids=["other ids", "broken line", "empty", "other file"],
)
def test_bad_predictions(content: str, code: int, problem: str, run: Commands) -> None:
    """Predictions that fit no question, and files that are none, are one clear message without a score."""
    Path("bad.jsonl").write_text(content)

    ran = run("evaluate questions.json bad.jsonl")

    assert (ran.code, ran.out) == (code, b"") and problem in ran.err and "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("line", "code", "problem"),
    [
        ("nothing.json oracle.jsonl", 2, "nothing.json"),
        ("questions.json nothing.jsonl", 2, "nothing.jsonl"),
        ("questions.json oracle.jsonl --format visdial", 3, "oracle.jsonl"),
        ("questions.json oracle.jsonl --format jsonn", 2, "unknown format of predictions 'jsonn'"),
        ("questions.json oracle.jsonl --group-by catgory", 2, "did you mean 'category'?"),
        ("questions.json oracle.jsonl --top-k 0", 2, "--top-k '0' is no list of numbers from 1: write 1 or 1,5,100"),
        ("questions.json oracle.jsonl --profile visual7w", 2, "is for questions with a type"),
        ("questions.json oracle.jsonl --profile visual7w --normalise gqa", 2, "contradicts --profile"),
        ("questions.json oracle.jsonl --choices scenes.json", 2, "not GQA's"),
        ("questions.json oracle.jsonl --per-item a.json --out a.json", 2, "--per-item and --out are both a.json"),
        ("questions.json oracle.jsonl --split vall", 2, "questions.json has no question of split 'vall'; it has "),
        ("questions.json oracle.jsonl --domain clevrr", 2, "clevrr"),
        ("questions.json oracle.jsonl --cluster family", 2, "clusters by 'family' mean nothing to Wilson's intervals"),
        (
            "questions.json oracle.jsonl --mode rank",
            3,
            "no options, so nothing to rank\nvqagen: questions.json: … and 115 more faults",
        ),
        ("hidden.json oracle.jsonl", 3, "hidden.json: questions[0]: no answers"),
    ],
)
def test_wrong_use(line: str, code: int, problem: str, run: Commands) -> None:
    """What cannot be scored as asked is one clear message, and no score."""
    hidden = [{key: value for key, value in each.items() if key not in ("answer", "program")} for each in questions()]
    Path("hidden.json").write_text(json.dumps({"questions": hidden}))

    ran = run(f"evaluate {line}")

    assert (ran.code, ran.out) == (code, b"") and problem in ran.err and "Traceback" not in ran.err


def test_questions_without_programs_have_no_consistency(run: Commands) -> None:
    """Consistency follows from programs: without them it is wrong usage, and all else is scored."""
    bare = [{key: value for key, value in each.items() if key != "program"} for each in questions()]
    Path("bare.json").write_text(json.dumps({"questions": bare}))

    ran = run("evaluate bare.json oracle.jsonl --consistency")

    assert (ran.code, ran.out) == (2, b"") and "consistency is derived from programs" in ran.err
    found = report(run, "bare.json oracle.jsonl")
    assert rows(found, "overall")["overall"]["accuracy"] == 1 and "possible" not in found["tables"]


def test_in_python(run: Commands) -> None:
    """The command is two typed calls: the evaluation with its columns, and the report of it."""
    found = vqagen.evaluate("questions.json", "oracle.jsonl", ci="cluster")

    scores = vqagen.score_report(found, fail_under=["overall=0.9"])

    assert found.correct.sum() == len(found) == 120 and not scores.failures
    assert scores.table("category").rows[0][0] == "compare_attribute"
