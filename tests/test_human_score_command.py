"""`vqagen human score`: flags, groups, gates and messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from commands import Commands
from msgspec.structs import replace
from worked_study import worked_rows, write_worked_rows

import vqagen
from vqagen.human.answers import AnswerRow, row_lines
from vqagen.human.scores.flags import find_flags, sign_test
from vqagen.human.scores.settings import ScoreSettings

Change = Callable[[AnswerRow], AnswerRow]


def code_of(message: str) -> int:
    """Return the exit code of a message: 3 for a place that is not there, else 2."""
    return 3 if "not found" in message or "does not exist" in message else 2


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in a folder with the answers of the worked example."""
    monkeypatch.chdir(tmp_path)
    write_worked_rows(Path("answers"))
    return Commands(capsysbinary)


def report(vqagen_: Commands, line: str) -> Any:
    return json.loads(vqagen_.done(f"human score {line} --json").out)


def write(rows: Iterable[AnswerRow], file: str = "answers.jsonl") -> None:
    Path(file).write_bytes(row_lines(rows))


def flagged(rows: Iterable[AnswerRow], kind: str, **settings: Any) -> list[str]:
    """Return the assignments, or raters, with a flag."""
    flags = find_flags(list(rows), ScoreSettings(**settings))
    return [flag.assignment or flag.rater for flag in flags if flag.kind == kind]


# Reading ------------------------------------------------------------------------------------------------------------


WRONG = [
    ("value", 10, "value: must lie on the scale from 1 to 9, found 10"),
    ("value", True, "value: expected a whole number, found true"),
    ("toward_second", 5, "toward_second: contradicts value 4 and second_on_right, found 5"),
    ("use", "chek", "use: expected 'real', 'check', 'instructed', 'practice', found 'chek'"),
    ("largest", 1, "largest: must be above least (1), found 1"),
    ("weight", 0, "weight: must be above 0, found 0"),
    ("rater", None, "rater: expected text, found null or nothing"),
    ("second_role", 3, "second_role: expected text, found 3"),
]


def test_answers_that_are_wrong_are_refused(vqagen_: Commands) -> None:
    first = json.loads(Path("answers/answers.jsonl").read_text().splitlines()[0])
    lines = [json.dumps({**first, key: value, "trial": number}) for number, (key, value, _) in enumerate(WRONG)]
    Path("answers/answers.jsonl").write_bytes("\n".join(lines).encode() + b'\n\xff{}\n{"rater": "a')

    ran = vqagen_("human score answers")
    assert ran.code == 3
    messages = [*(message for *_, message in WRONG), "not UTF-8 text", "the line ends inside a value"]
    found = [line.removeprefix("  ").removeprefix("vqagen: ") for line in ran.err.splitlines()]
    wrong = [
        (message, line)
        for number, (message, line) in enumerate(zip(messages, found, strict=True), 1)
        if not line.startswith(f"answers/answers.jsonl:{number}:") or message not in line
    ]
    assert wrong == []


def test_answers_may_begin_with_a_byte_order_mark(vqagen_: Commands) -> None:
    """Editors and spreadsheets on Windows write it."""
    expected = report(vqagen_, "answers")["tables"]
    path = Path("answers/answers.jsonl")
    path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))

    assert report(vqagen_, "answers")["tables"] == expected


def test_an_answer_twice_is_refused(vqagen_: Commands) -> None:
    rows = worked_rows()
    write([*rows, rows[0]])

    ran = vqagen_("human score answers.jsonl")
    assert ran.code == 3
    assert "answers.jsonl:41:1: trial: a second answer to trial 1 of assignment a1" in ran.err


CALLS = [
    ("nowhere", "nowhere does not exist"),
    ("answers --by tasks", "--by: unknown field 'tasks'; did you mean 'task'?"),
    ("answers --method cluster,boot", "--method: unknown method 'boot'"),
    ("answers --method ,", "--method is empty"),
    ("answers --exclude none,fast", "--exclude none,fast contradicts itself"),
    ("answers --exclude slow", "--exclude: unknown flag 'slow'"),
    ("answers --check-rule lax", "--check-rule lax is no rule"),
    ("answers --check-rule 1", "--check-rule 1 does not lie on the scale: give 2 to 9"),
    ("answers --fail-under C=0", "--fail-under: unknown group 'C'"),
    ("answers --fail-under A", "--fail-under 'A' is no threshold"),
    ("answers -o answers/new.json --force", "lies in answers, all of which the same run reads"),
]


def test_calls_that_cannot_work_say_why(vqagen_: Commands) -> None:
    ran = {message: vqagen_(f"human score {line}") for line, message in CALLS}

    wrong = [
        (message, each)
        for message, each in ran.items()
        if each.code != code_of(message) or message not in each.err or each.out
    ]
    assert wrong == []


def test_a_study_without_answers_has_no_scores(vqagen_: Commands) -> None:
    write([])

    ran = vqagen_.done("human score answers.jsonl --method humanr,cluster,bootstrap,bt --by task")
    assert b"no answers to real trials are left: there are no scores" in ran.out


def test_a_single_answer_says_why_it_has_no_interval(vqagen_: Commands) -> None:
    write(worked_rows()[:1])

    found = report(vqagen_, "answers.jsonl --method humanr,cluster,bootstrap,bt")["tables"]
    assert found["scores"]["rows"][0]["note"] == "one rater and one image only"
    assert found["humanr"]["rows"][0]["note"] == "one answer only"
    assert found["bootstrap"]["rows"][0]["note"] == "one rater only"
    assert found["strengths"]["rows"][0]["note"] == "never preferred to the other sources: A"
    assert found["agreement"]["rows"][0]["note"] == "no item has two answers"


# Flags --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rule", "failed"),
    [("humanr", ["a7", "a8"]), ("5", ["a7", "a8"]), ("6", ["a7"]), ("8", []), ("strict", ["a4", "a7", "a8"])],
)
def test_check_rules(rule: str, failed: list[str]) -> None:
    """Oriented values are a1 1, a2 1, a3 2, a4 4, a5 3, a6 2, a7 7, a8 5."""
    assert flagged(worked_rows(), "checks", check_rule=rule) == failed


def test_checks_whose_right_text_is_the_second_are_turned() -> None:
    """Other sources of items may put the right text second."""
    rows = [
        replace(row, gold_is_second=True, second_on_right=not row.second_on_right, toward_second=10 - row.toward_second)
        if row.use == "check"
        else row
        for row in worked_rows()
    ]
    assert flagged(rows, "checks") == ["a7", "a8"]


def test_missing_checks_fail_the_strict_rule_alone() -> None:
    """HUMANr counts a check without answer as passed."""
    rows = [row for row in worked_rows() if (row.assignment, row.use) != ("a1", "check")]

    assert flagged(rows, "checks") == ["a7", "a8"]
    assert flagged(rows, "checks", check_rule="strict") == ["a1", "a4", "a7", "a8"]


def many(count: int, change: Callable[[int, AnswerRow], AnswerRow]) -> list[AnswerRow]:
    """Return answers of one rater to real trials."""
    plain = worked_rows()[0]
    return [change(number, replace(plain, trial=number, item=f"i{number}")) for number in range(1, count + 1)]


def with_value(row: AnswerRow, value: int) -> AnswerRow:
    return replace(row, value=value, toward_second=value if row.second_on_right else 10 - value)


def test_raters_with_one_value_are_flagged() -> None:
    """From 90 % of eight answers or more."""
    assert flagged(many(10, lambda n, row: with_value(row, 5 if n > 1 else 2)), "straight") == ["R1"]
    assert flagged(many(10, lambda n, row: with_value(row, 5 if n > 2 else 2)), "straight") == []
    assert flagged(many(7, lambda n, row: with_value(row, 5)), "straight") == []


def test_raters_of_one_side_are_flagged() -> None:
    """Values differ, the side does not."""
    assert flagged(many(9, lambda n, row: with_value(row, 6 + n % 4)), "side") == ["R1"]
    assert flagged(many(9, lambda n, row: with_value(row, 6 + n % 4 if n > 2 else 2)), "side") == []
    assert sign_test(3, 3) == 1


def test_fast_raters_are_flagged_by_their_median() -> None:
    """Not where times are unknown, as in old data."""
    assert flagged(many(3, lambda n, row: replace(row, rt_ms=(500, 900, 9000)[n - 1])), "fast") == ["R1"]
    assert flagged(many(3, lambda n, row: replace(row, rt_ms=(500, 1500, 9000)[n - 1])), "fast") == []
    assert flagged(worked_rows(), "fast") == []


def test_wrong_instructed_answers_and_partial_assignments_are_flagged() -> None:
    rows = many(2, lambda n, row: replace(row, use="instructed", gold_value=4 if n == 1 else 7, state="expired"))

    assert (flagged(rows, "instructed"), flagged(rows, "partial")) == (["a1"], ["a1"])
    right = [replace(row, gold_value=row.value) for row in rows]
    assert flagged(right, "instructed") == []


def test_exclusion_is_reported_and_nothing_is_deleted(vqagen_: Commands) -> None:
    kept, all_ = report(vqagen_, "answers"), report(vqagen_, "answers --exclude none")

    assert (kept["scored"], all_["scored"]) == (24, 32)
    flags = {row["flag"]: (row["answers"], row["left out"]) for row in kept["tables"]["flags"]["rows"]}
    assert (flags["checks"], flags["partial"]) == ((8, "yes"), (0, "no"))
    assert [row["assignment"] for row in all_["tables"]["flagged"]["rows"]] == ["a7", "a8"]


def test_events_of_an_export_flag_driven_browsers(vqagen_: Commands) -> None:
    event = {"number": 1, "assignment": "a2", "kind": "webdriver", "detail": "", "time": 0}
    Path("answers/events.jsonl").write_text(json.dumps(event) + "\n")

    found = report(vqagen_, "answers --exclude checks,webdriver")
    assert found["scored"] == 24 - 8
    assert found["tables"]["flagged"]["rows"][-1]["rater"] == "R1"


def test_events_that_are_none_are_refused(vqagen_: Commands) -> None:
    for line in ("{", "[]", '{"kind": "webdriver"}', "3"):
        Path("answers/events.jsonl").write_text(f"{line}\n")
        ran = vqagen_("human score answers")
        assert (ran.code, ran.err) == (3, "vqagen: answers/events.jsonl:1:1: no event: export the study again\n")


# Groups and gates ---------------------------------------------------------------------------------------------------


def with_templates() -> list[AnswerRow]:
    return [
        replace(row, strata={"template": "good" if row.second_source == "A" else "bad", "steps": number})
        for number, row in enumerate(worked_rows())
    ]


def test_groups_stand_worst_first(vqagen_: Commands) -> None:
    write(with_templates())

    tables = report(vqagen_, "answers.jsonl --by template")["tables"]
    rows = tables["by_template"]["rows"]
    assert [(row["template"], row["comparison"]) for row in rows] == [("bad", "B"), ("good", "A"), ("bad", "human")]
    assert [row["group"] for row in tables["worst"]["rows"]] == ["template:bad"]


def test_numbers_are_grouped_by_quarters(vqagen_: Commands) -> None:
    write(with_templates())

    rows = report(vqagen_, "answers.jsonl --by steps")["tables"]["by_steps"]["rows"]
    assert len({row["steps"] for row in rows}) == 4
    assert sum(row["n"] for row in rows) == 24


GATES = {
    "A=0.7": "",
    "A=0.8": "A=0.8: the upper bound of A is 0.712",
    "template=-0.3/0": "template=-0.3/0: B in bad has -0.583, and -0.204 for upper bound",
    "template:good=-0.3/0": "",
    "template=-0.3/-0.3": "",
    "fit:B=0": "fit:B=0: the upper bound of B is -0.204",
}


def test_gates(vqagen_: Commands) -> None:
    write(with_templates())

    for gate, message in GATES.items():
        ran = vqagen_(f"human score answers.jsonl --by template --fail-under {gate} -o report.html --force")
        assert (ran.code, ran.err) == (1 if message else 0, f"{message}\n" if message else "")


def test_ratings_stand_in_a_table_of_their_own(vqagen_: Commands) -> None:
    """One text on a scale has no reference."""
    rows = [
        replace(row, kind="rate", second_source="", second_role="", first_source="A", first_role="system")
        for row in worked_rows()
        if row.use == "real"
    ]
    write(rows)

    tables = report(vqagen_, "answers.jsonl")["tables"]
    assert [row["comparison"] for row in tables["ratings"]["rows"]] == ["A"]
    assert not tables.keys() & {"scores", "outcomes", "side", "strengths"}


def test_scores_show_themselves(vqagen_: Commands) -> None:
    """As the command prints them, cut to a screen, and as data frames."""
    found = vqagen.score_study("answers")
    printed = vqagen_.done("human score answers").out.decode().splitlines()

    assert repr(found).splitlines()[:23] == printed[:23]
    assert found.frame("outcomes").wins.tolist() == [2, 0, 2]
    assert "<svg" in found._repr_html_()


# Figures ------------------------------------------------------------------------------------------------------------


def test_figures_show_scores_answers_and_groups(vqagen_: Commands) -> None:
    """As SVG in the page, which is well-formed. A single answer has a dot; no answer has no figure."""
    pages = []
    for rows in (with_templates(), worked_rows()[:1], []):
        write(rows)
        vqagen_.done("human score answers.jsonl --by task -o page.html --force")
        pages.append(re.findall(r"<svg.*?</svg>", Path("page.html").read_text()))
        for svg in pages[-1]:
            ElementTree.fromstring(svg)

    assert [len(svgs) for svgs in pages] == [3, 3, 0]
    scores, answers, groups = pages[0]
    assert "-0.19 [-1.10, +0.71]" in scores and "n = 9" in answers and "t1, A" in groups
    assert pages[1][0].count("<circle") == 1


def test_an_alpha_is_chosen_by_name(vqagen_: Commands) -> None:
    for line, metric, alpha in (("answers", "interval", 0.049), ("answers --alpha ordinal", "ordinal", 0.025)):
        (row,) = report(vqagen_, line)["tables"]["agreement"]["rows"]
        assert (row["metric"], round(row["alpha"], 3)) == (metric, alpha)
