"""`vqagen human score`: flags, groups and messages."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from commands import Commands
from oracles.naive_agreement import naive_alpha
from worked_study import changed, worked_rows, write_worked_rows

from vqagen.human.answers import AnswerRow, row_lines
from vqagen.human.scores.flags import find_flags
from vqagen.human.scores.report import score_rows
from vqagen.human.settings import ScoreSettings
from vqagen.human.store.facts import Noted

Change = Callable[[AnswerRow], AnswerRow]


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with the answers of the worked example."""
    write_worked_rows(Path("answers"))
    return vqagen_


def report(vqagen_: Commands, line: str) -> Any:
    return json.loads(vqagen_.done(f"human score {line} --json").out)


def write(rows: Iterable[AnswerRow], file: str = "answers.jsonl") -> None:
    Path(file).write_bytes(row_lines(rows))


def flagged(rows: Iterable[AnswerRow], kind: str) -> list[str]:
    """Return the assignments, or raters, with a flag."""
    flags = find_flags(list(rows))
    return [flag.assignment or flag.rater for flag in flags if flag.kind == kind]


# Reading ------------------------------------------------------------------------------------------------------------


WRONG = [
    ("value", 10, "value must lie on the scale from 1 to 9, found 10"),
    ("value", True, "value: Expected `int | str`, got `bool`"),
    ("toward_second", 5, "toward_second contradicts value 4 and second_on_right, found 5"),
    ("use", "chek", "use: Invalid enum value 'chek'; expected 'real', 'check', 'instructed', 'practice', 'before'"),
    ("largest", 1, "largest must be above least (1), found 1"),
    ("weight", 0, "weight: Expected `float` > 0.0"),
    ("rater", None, "rater: Expected `str`, got `null`"),
    ("second_role", 3, "second_role: Expected `str`, got `int`"),
]


def test_answers_that_are_wrong_are_refused(vqagen_: Commands) -> None:
    first = json.loads(Path("answers/answers.jsonl").read_text().splitlines()[0])
    lines = [json.dumps({**first, key: value, "trial": number}) for number, (key, value, _) in enumerate(WRONG)]
    Path("answers/answers.jsonl").write_bytes("\n".join(lines).encode() + b'\n\xff{}\n{"rater": "a')

    ran = vqagen_("human score answers")
    assert ran.code == 3
    messages = [
        *(message for *_, message in WRONG),
        ":1: not valid JSON: not UTF-8 text",
        ":13: not valid JSON: the line ends inside a value",
    ]
    found = [line.removeprefix("  ").removeprefix("vqagen: ") for line in ran.err.splitlines()]
    wrong = [
        (message, line)
        for number, (message, line) in enumerate(zip(messages, found, strict=True), 1)
        if not line.startswith(f"answers/answers.jsonl:{number}:") or message not in line
    ]
    assert wrong == []


@pytest.mark.slow
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
    assert "answers.jsonl:41: trial: a second answer to trial 1 of assignment a1" in ran.err


CALLS = [
    ("nowhere", "nowhere does not exist"),
    ("answers --by tasks", "--by: unknown field 'tasks'; did you mean 'task'?"),
    ("answers --method cluster,boot", "--method: unknown method 'boot'"),
    ("answers --method cluster,bootstrap", "--method bootstrap was removed in version 2.0: intervals of `cluster`"),
    ("answers --method ,", "--method is empty"),
    ("answers --exclude none,fast", "--exclude none,fast contradicts itself"),
    ("answers --exclude slow", "--exclude: unknown flag 'slow'"),
    ("answers --check-rule strict", "was removed in version 2.0: checks fail in the middle of the scale or beyond"),
    ("answers --fail-under A=0", "was removed in version 2.0: compare `score` and `high`"),
    ("answers --store redis://me:secret@host/0", "answers is no study, whose answers could be in a store"),
    ("answers -o answers/new.json --force", "lies in answers, all of which the same run reads"),
]


def test_calls_that_cannot_work_say_why(vqagen_: Commands) -> None:
    ran = {message: vqagen_(f"human score {line}") for line, message in CALLS}

    wrong = [
        (message, each)
        for message, each in ran.items()
        if each.code != (3 if "does not exist" in message else 2)
        or message not in each.err
        or each.out
        or "secret" in each.err
    ]
    assert wrong == []


def test_a_study_without_answers_has_no_scores(vqagen_: Commands) -> None:
    write([])

    ran = vqagen_.done("human score answers.jsonl --method humanr,cluster,bt --by task")
    assert b"no answers to real trials are left: there are no scores" in ran.out


def test_a_single_answer_says_why_it_has_no_interval(vqagen_: Commands) -> None:
    write(worked_rows()[:1])

    found = report(vqagen_, "answers.jsonl --method humanr,cluster,bt")["tables"]
    assert found["scores"]["rows"][0]["note"] == "one rater and one image only"
    assert found["humanr"]["rows"][0]["note"] == "one answer only"
    assert found["strengths"]["rows"][0]["note"] == "never preferred to the other sources: A"
    assert found["agreement"]["rows"][0]["note"] == "no item has two answers"


# Flags --------------------------------------------------------------------------------------------------------------


def test_checks_fail_in_the_middle_of_the_scale_or_beyond() -> None:
    """Oriented values are a1 1, a2 1, a3 2, a4 4, a5 3, a6 2, a7 7, a8 5. The right text may be the second, too."""
    turned = [
        changed(row, gold_is_second=True, second_on_right=not row.second_on_right, toward_second=10 - row.toward_second)
        if row.use == "check"
        else row
        for row in worked_rows()
    ]
    assert flagged(worked_rows(), "checks") == flagged(turned, "checks") == ["a7", "a8"]


def many(count: int, change: Callable[[int, AnswerRow], AnswerRow]) -> list[AnswerRow]:
    """Return answers of one rater to real trials."""
    plain = worked_rows()[0]
    return [change(number, changed(plain, trial=number, item=f"i{number}")) for number in range(1, count + 1)]


def with_value(row: AnswerRow, value: int) -> AnswerRow:
    return changed(row, value=value, toward_second=value if row.second_on_right else 10 - value)


HABITS = {
    "straight, from 90 % on": many(10, lambda n, row: with_value(row, 5 if n > 1 else 2)),
    "less than 90 %": many(10, lambda n, row: with_value(row, 5 if n > 2 else 2)),
    "fewer than eight answers": many(7, lambda n, row: with_value(row, 5)),
    "side, of different values": many(9, lambda n, row: with_value(row, 6 + n % 4)),
    "both sides": many(9, lambda n, row: with_value(row, 6 + n % 4 if n > 2 else 2)),
    "fast, by the median": many(3, lambda n, row: changed(row, rt_ms=(500, 900, 9000)[n - 1])),
    "a slow median": many(3, lambda n, row: changed(row, rt_ms=(500, 1500, 9000)[n - 1])),
    "unknown times, as in old data": worked_rows(),
    "fast, whatever the browser claims": many(3, lambda n, row: changed(row, rt_ms=99_999, server_ms=30)),
    "fast, though the network is slow": many(3, lambda n, row: changed(row, rt_ms=30, server_ms=5000)),
    "slow for browser and server": many(3, lambda n, row: changed(row, rt_ms=6000, server_ms=7000)),
}
"""What a rater does, beginning with the flag for it if there is one -> such answers."""


@pytest.mark.parametrize("habit", HABITS)
def test_raters_are_flagged_by_their_habits(habit: str) -> None:
    """A flag for equal values, for equal sides, and for answers that the browser or the server finds fast."""
    for kind in ("straight", "side", "fast"):
        assert flagged(HABITS[habit], kind) == ["R1"] * habit.startswith(f"{kind},")


def test_checks_that_are_questions_fail_by_their_right_answer() -> None:
    rows = [changed(row, use="check") for row in answers({"1": ("blue", "Red ", "red")})]

    assert flagged(rows, "checks") == ["a1-0"]


def test_wrong_instructed_answers_and_partial_assignments_are_flagged() -> None:
    rows = many(2, lambda n, row: changed(row, use="instructed", gold_value=4 if n == 1 else 7, state="expired"))

    assert (flagged(rows, "instructed"), flagged(rows, "partial")) == (["a1"], ["a1"])
    right = [changed(row, gold_value=row.value) for row in rows]
    assert flagged(right, "instructed") == []


@pytest.mark.slow
def test_exclusion_is_reported_and_nothing_is_deleted(vqagen_: Commands) -> None:
    kept, all_ = report(vqagen_, "answers"), report(vqagen_, "answers --exclude none")

    assert (kept["scored"], all_["scored"]) == (24, 32)
    flags = {row["flag"]: (row["answers"], row["left out"]) for row in kept["tables"]["flags"]["rows"]}
    assert (flags["checks"], flags["partial"]) == ((8, "yes"), (0, "no"))
    assert [row["assignment"] for row in all_["tables"]["flagged"]["rows"]] == ["a7", "a8"]


@pytest.mark.slow
def test_events_of_an_export_flag_driven_browsers(vqagen_: Commands) -> None:
    Path("answers/events.jsonl").write_bytes(row_lines([Noted(1, "a2", "webdriver"), Noted(2, "a1", "comment")]))

    found = report(vqagen_, "answers --exclude checks,webdriver")
    assert found["scored"] == 24 - 8
    assert found["tables"]["flagged"]["rows"][-1]["rater"] == "R1"


def test_events_that_are_none_are_refused(vqagen_: Commands) -> None:
    for line, place in (("{", "1:2: "), ("[]", "1: "), ('{"kind": "webdriver"}', "1: "), ("3", "1: ")):
        Path("answers/events.jsonl").write_text(f"{line}\n")
        ran = vqagen_("human score answers")
        assert (ran.code, f"answers/events.jsonl:{place}" in ran.err) == (3, True)


# Groups ---------------------------------------------------------------------------------------------------


def with_templates() -> list[AnswerRow]:
    return [
        changed(row, strata={"template": "good" if row.second_source == "A" else "bad", "steps": number})
        for number, row in enumerate(worked_rows())
    ]


@pytest.mark.slow
def test_groups_stand_worst_first_and_numbers_by_quarters(vqagen_: Commands) -> None:
    write(with_templates())

    tables = report(vqagen_, "answers.jsonl --by template,steps")["tables"]
    rows = tables["by_template"]["rows"]
    assert [(row["template"], row["comparison"]) for row in rows] == [("bad", "B"), ("good", "A"), ("bad", "human")]
    assert len({row["steps"] for row in tables["by_steps"]["rows"]}) == 4
    assert sum(row["n"] for row in tables["by_steps"]["rows"]) == 24


@pytest.mark.slow
def test_ratings_stand_in_a_table_of_their_own(vqagen_: Commands) -> None:
    """One text on a scale has no reference."""
    rows = [
        changed(row, kind="rate", second_source="", second_role="", first_source="A", first_role="system")
        for row in worked_rows()
        if row.use == "real"
    ]
    write(rows)

    tables = report(vqagen_, "answers.jsonl")["tables"]
    assert [row["comparison"] for row in tables["ratings"]["rows"]] == ["A"]
    assert not tables.keys() & {"scores", "outcomes", "side", "strengths"}


# Questions ----------------------------------------------------------------------------------------------------------


def answers(given: dict[str, tuple[str | int, ...]], gold: str | None = "red") -> list[AnswerRow]:
    """Return the answers of raters R0, R1, … to questions by their numbers, each about an image of its own."""
    nothing = dict.fromkeys(("toward_second", "least", "largest", "second_on_right"))
    plain = changed(worked_rows()[0], kind="answer", use="real", first_source="", first_role="", **nothing)
    return [
        changed(
            changed(plain, second_source="", second_role="", gold=gold, image=number, record={"question": number}),
            assignment=f"a{number}-{rater}",
            rater=f"R{rater}",
            item=f"q{number}",
            value=value,
        )
        for number, values in given.items()
        for rater, value in enumerate(values)
    ]


def test_accuracy_and_agreement_of_answers_to_questions() -> None:
    """Neither case nor outer space counts. Scales have tables of their own, which these answers are no part of."""
    rows = answers({"1": ("Red", "red ", "RED"), "2": ("red", "blue", "red"), "3": (3, 3, 4)})
    report = score_rows([*worked_rows(), *rows], ScoreSettings()).report()

    (found,) = report.table("human_accuracy").to_record()["rows"]
    assert [found[name] for name in ("questions", "answers", "raters")] == [3, 9, 3]
    assert (found["accuracy"], found["agreed"]) == pytest.approx((5 / 9, 7 / 9))
    assert found["low"] < 5 / 9 < found["high"]
    assert found["alpha"] == pytest.approx(naive_alpha([["r"] * 3, ["r", "b", "r"], ["3", "3", "4"]], "nominal"))
    assert (report.facts["scored"], report.facts["answered"]) == (24, 9)
    assert report.table("scores") == score_rows(worked_rows(), ScoreSettings()).report().table("scores")


@pytest.mark.slow
def test_ambiguous_questions_stand_worst_first() -> None:
    """Those on which raters do not agree, and those on whose right answer they agree not to."""
    given = {"1": ("red", "red", "blue"), "2": ("red", "blue", "green"), "3": ("blue", "Blue"), "4": ("red", "blue")}

    report = score_rows(answers(given), ScoreSettings()).report()
    assert [row[:1] + row[-2:] for row in report.table("ambiguous").rows] == [
        ("question 3", "blue", "blue 2"),
        ("question 2", "red", "red 1, blue 1, green 1"),
    ]
    assert [row[0] for row in report.table("questions").rows] == [f"question {number}" for number in (3, 2, 4, 1)]
    unknown = score_rows(answers(given, gold=None), ScoreSettings()).report()
    assert [(row[0], row[-1]) for row in unknown.table("ambiguous").rows] == [("question 2", "blue 1, green 1, red 1")]
    assert unknown.table("human_accuracy").rows[0][3] is None


# Figures ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
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
    scores, groups, answers = pages[0]
    assert "-0.19 [-1.10, +0.71]" in scores and "n = 9" in answers and "t1, A" in groups
    assert pages[1][0].count("<circle") == 1
