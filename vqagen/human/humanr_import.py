"""Answers that HUMANr collected: its tasks with the content of its Redis database, or the CSV of its results.

HUMANr keeps one answer for each image of a link, not for each trial. Of a link that shows an image twice, one answer is
lost, and HUMANr takes the other for that of the first trial with this image, whichever it was: it is ambiguous.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import orjson
from msgspec.structs import replace

from vqagen.errors import BadInput, Problem, UsageError, describe
from vqagen.files.locations import locate
from vqagen.files.parsing import read_text
from vqagen.human.answers import ANSWERS_FILE, AnswerRow, State, row_lines
from vqagen.human.export import IMPORT_FILE, check_export, write_export
from vqagen.human.study.checks import CORRECT, DISTRACTOR
from vqagen.human.study.item import FIT, LENGTH_DIFFERENCE, length_difference
from vqagen.human.study.pairs import HUMAN, HUMANS

Found = AnswerRow | tuple[str, str]
"""An answer, or the kind of a finding and its sentence."""
LEAST, LARGEST = 1, 9
AMBIGUOUS, LOST, REJECTED, SKIPPED, UNNAMED = FINDINGS = "ambiguous", "lost", "rejected", "skipped", "unnamed"
"""Answers that may be those of another trial; trials without answer; answers that are none; links that are not part of
the study; links whose rater has no id."""
_IDS = ("assignmentID", "hitID", "workerID")
_VALUE = re.compile(r"\+?0*([1-9])")


class HumanrTrial(msgspec.Struct, frozen=True):
    """A trial as HUMANr writes it: c1 is the left text."""

    image: str
    c1_text: str
    c1_source: str
    c2_text: str
    c2_source: str


def import_humanr(
    answers: str | Path,
    out: str | Path,
    tasks: str | Path | None = None,
    *,
    drop_ambiguous: bool = False,
    force: bool = False,
) -> tuple[list[AnswerRow], dict[str, list[str]]]:
    """Write the answers that HUMANr collected as an export folder; return them, and sentences by kind of finding.

    `answers` is the content of its Redis database as JSON, link id -> hash, or the CSV of its results. The former needs
    `tasks`, its `comparison_tasks.json` or `latest_run.json`. Raises BadInput if a file is none of these.
    """
    check_export(Path(out), force)
    text, source = read_text(locate(str(answers))), str(answers)
    is_database = text.lstrip()[:1] in ("{", "[")
    if is_database and tasks is None:
        raise UsageError(f"{answers} holds answers by link and image: give the tasks, comparison_tasks.json")
    if not is_database and tasks is not None:
        raise UsageError(f"{answers} is a CSV of results, which has the tasks in it: leave out {tasks}")
    if tasks is None:
        results = list(_of_results(text, source))
    else:
        known, hits = _tasks(read_text(locate(str(tasks))), str(tasks))
        results = list(_of_database(known, _decoded(text, source, dict[str, Any]), hits, drop_ambiguous))
    rows = list(_renamed([result for result in results if isinstance(result, AnswerRow)]))
    findings = {
        kind: [result[1] for result in results if isinstance(result, tuple) and result[0] == kind] for kind in FINDINGS
    }
    written = orjson.dumps(findings, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    write_export(Path(out), {ANSWERS_FILE: row_lines(rows), IMPORT_FILE: written})
    return rows, findings


def _tasks(text: str, source: str) -> tuple[dict[str, list[HumanrTrial]], list[str]]:
    """Return the trials of each link, and of a `latest_run.json` its HITs."""
    run = _decoded(text, source, dict[str, msgspec.Raw])
    links = _decoded(run["tasks"], source, dict[str, msgspec.Raw]) if "tasks" in run else run
    tasks = {link: _decoded(trials, f"{source}: {link}", list[HumanrTrial]) for link, trials in links.items()}
    return tasks, _decoded(run.get("hit_ids", b"[]"), source, list[str])


def _decoded(text: str | bytes, source: str, kind: Any) -> Any:
    """Return the value of a JSON text. BadInput if it is not of this type."""
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.DecodeError as error:
        raise BadInput([Problem(f"no file of HUMANr: {error}", source)]) from None


def _of_database(
    tasks: Mapping[str, Sequence[HumanrTrial]], dump: Mapping[str, Any], hits: Sequence[str], drop_ambiguous: bool
) -> Iterator[Found]:
    """Yield the answers of a Redis database, by link. Of ambiguous ones, those that HUMANr scores are kept."""
    yield from ((LOST, f"link {link} has no answers") for link in tasks if link not in dump)
    for link, answers in sorted(dump.items()):
        if link not in tasks:
            yield SKIPPED, f"key {link} is no link of the tasks"
        elif not isinstance(answers, dict):
            yield SKIPPED, f"key {link} is no hash: {describe(answers)}"
        elif hits and answers.get("hitID") not in hits:
            yield SKIPPED, f"link {link} has a HIT that is not of this run: {answers.get('hitID')}"
        else:
            yield from _of_link(link, tasks[link], answers, drop_ambiguous)


def _of_link(
    link: str, trials: Sequence[HumanrTrial], answers: Mapping[str, Any], drop_ambiguous: bool
) -> Iterator[Found]:
    images = [trial.image for trial in trials]
    ids = answers.get("assignmentID") or f"of link {link}", answers.get("workerID") or f"of link {link}"
    state: State = "complete" if answers.keys() >= {*images} else "expired"
    if not answers.get("workerID"):
        yield UNNAMED, f"link {link} has no worker id: its rater counts as one of its own"
    for image in sorted(answers.keys() - {*images, *_IDS}):
        yield REJECTED, f"link {link}: {image!r} is no image of the task"
    for number, trial in enumerate(trials, 1):
        where = f"link {link}, trial {number}"
        shown = [at for at, image in enumerate(images, 1) if image == trial.image]
        if trial.image not in answers:
            yield LOST, f"{where}: no answer about {trial.image}"
        elif shown[0] < number:
            yield LOST, f"{where}: {trial.image} was shown before, one answer is kept"
        else:
            if len(shown) > 1:
                yield AMBIGUOUS, f"link {link}: one answer about {trial.image} for trials {', '.join(map(str, shown))}"
            if len(shown) == 1 or not drop_ambiguous:
                yield _answer(trial, str(answers[trial.image]), *ids, where, link, state)


def _of_results(text: str, source: str) -> Iterator[Found]:
    """Yield the answers of a result CSV. BadInput if columns are missing."""
    reader, names = csv.DictReader(io.StringIO(text)), HumanrTrial.__struct_fields__
    if missing := [name for name in (*names, "raw_score", *_IDS[::2]) if name not in (reader.fieldnames or ())]:
        raise BadInput([Problem(f"no result of HUMANr: lacks the columns {', '.join(missing)}", source)])
    for number, line in enumerate(reader, 2):
        trial = HumanrTrial(*(line[name] or "" for name in names))
        assignment, worker = line["assignmentID"] or "", line["workerID"] or f"of {line['assignmentID']}"
        answer = _answer(trial, line["raw_score"] or "", assignment, worker, f"line {number}", "", "complete")
        written = line.get("score")
        if isinstance(answer, AnswerRow) and written and int(float(written)) != answer.toward_second:
            answer = REJECTED, f"line {number}: score {written} contradicts raw_score {answer.value}"
        yield answer


def _answer(trial: HumanrTrial, value: str, assignment: str, worker: str, where: str, task: str, state: State) -> Found:
    """Return the row of an answer, or why it is none."""
    match = _VALUE.fullmatch(value)
    if match is None:
        return REJECTED, f"{where}: {value!r} is no value from {LEAST} to {LARGEST}"
    left, right = (trial.c1_source, trial.c1_text), (trial.c2_source, trial.c2_text)
    is_turned = left[0] not in (HUMAN, HUMANS[0], CORRECT)
    first, second = (right, left) if is_turned else (left, right)
    is_check, is_baseline = (first[0], second[0]) == (CORRECT, DISTRACTOR), (first[0], second[0]) == HUMANS
    if not (is_check or is_baseline or (first[0] == HUMAN and second[0] not in (HUMAN, *HUMANS, CORRECT, ""))):
        return REJECTED, f"{where}: its sources are no human text and another one"
    chosen = int(match[1])
    return AnswerRow(
        assignment=assignment,
        rater=worker,
        task=task,
        slot=0,
        state=state,
        trial=0,
        item=hashlib.sha256(orjson.dumps([trial.image, first, second])).hexdigest()[:16],
        image=trial.image,
        kind="compare",
        use="check" if is_check else "real",
        dimension=FIT,
        value=chosen,
        second_on_right=not is_turned,
        toward_second=LEAST + LARGEST - chosen if is_turned else chosen,
        least=LEAST,
        largest=LARGEST,
        first_source=first[0],
        first_role="reference",
        second_source=second[0],
        second_role="reference" if is_check or is_baseline else "system",
        gold_is_second=False if is_check else None,
        strata={LENGTH_DIFFERENCE: length_difference(first[1], second[1])},
    )


def _renamed(rows: Sequence[AnswerRow]) -> Iterator[AnswerRow]:
    """Yield rows without ids of a platform: raters and assignments have numbers, as the trials of an assignment."""
    raters = {id: f"rater{number:04}" for number, id in enumerate(sorted({row.rater for row in rows}), 1)}
    ids = {id: f"assignment{number:04}" for number, id in enumerate(sorted({row.assignment for row in rows}), 1)}
    trials = Counter[str]()
    for row in rows:
        trials[row.assignment] += 1
        renamed = {
            "rater": raters[row.rater],
            "assignment": ids[row.assignment],
            "task": row.task or ids[row.assignment],
        }
        yield replace(row, **renamed, trial=trials[row.assignment])
