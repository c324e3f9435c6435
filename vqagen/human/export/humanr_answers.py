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
from dataclasses import dataclass, field
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem, describe
from vqagen.human.answers import AnswerRow
from vqagen.human.store.roster import COMPLETE, EXPIRED
from vqagen.human.study.checks import CORRECT, DISTRACTOR
from vqagen.human.study.item import CHECK, COMPARE, FIT, LENGTH_DIFFERENCE, REAL, REFERENCE, SYSTEM, length_difference
from vqagen.human.study.pairs import HUMAN, HUMANS

LEAST, LARGEST = 1, 9
_ID_FIELDS = ("assignmentID", "hitID", "workerID")
_TRIAL_KEYS = tuple(f"c{side}_{what}" for side in (1, 2) for what in ("id", "text", "source"))
_CSV_COLUMNS = ("image", *_TRIAL_KEYS, "raw_score", "assignmentID", "workerID")
_VALUE = re.compile(r"[+-]?[0-9]+")
_MOST_PROBLEMS = 20
AMBIGUOUS, LOST, REJECTED, SKIPPED, UNNAMED = FINDINGS = "ambiguous", "lost", "rejected", "skipped", "unnamed"
"""Answers that may be those of another trial; trials without answer; answers that are none; links that are not part of
the study; links whose rater has no id."""


@dataclass
class HumanrImport:
    """Answers as rows, and what is wrong with the data: sentences by kind."""

    rows: list[AnswerRow] = field(default_factory=list)
    findings: dict[str, list[str]] = field(default_factory=lambda: {kind: [] for kind in FINDINGS})


def read_tasks(document: Any, source: str) -> tuple[dict[str, list[dict[str, str]]], set[str] | None]:
    """Return the trials of each link of a `comparison_tasks.json`, or of a `latest_run.json`, which also has the HITs.

    BadInput with what is wrong.
    """
    hits = None
    if isinstance(document, dict) and isinstance(document.get("tasks"), dict):
        hits = {str(each) for each in document.get("hit_ids", ())} or None
        document = document["tasks"]
    if not isinstance(document, dict):
        raise BadInput([Problem(f"expected an object: link id -> trials, found {describe(document)}", source)])
    problems = []
    for link, trials in document.items():
        if not isinstance(trials, list):
            problems.append(Problem(f"expected a list of trials, found {describe(trials)}", source, link))
            continue
        for number, trial in enumerate(trials):
            missing = [key for key in ("image", *_TRIAL_KEYS) if not isinstance(_get(trial, key), str)]
            if missing:
                problems.append(Problem(f"lacks text for {', '.join(missing)}", source, f"{link}[{number}]"))
    if problems:
        raise BadInput(problems[:_MOST_PROBLEMS])
    return document, hits


def _get(trial: object, key: str) -> object:
    return trial.get(key) if isinstance(trial, dict) else None


def rows_of_redis(
    tasks: Mapping[str, Sequence[Mapping[str, str]]],
    dump: Any,
    source: str,
    *,
    hits: set[str] | None = None,
    keep_ambiguous: bool = True,
) -> HumanrImport:
    """Return the answers of a Redis database, link id -> hash. Of ambiguous ones, those that HUMANr scores are kept."""
    if not isinstance(dump, dict):
        raise BadInput([Problem(f"expected an object: link id -> hash, found {describe(dump)}", source)])
    found = HumanrImport()
    chosen = dict(_links(tasks, dump, hits, found))
    raters = _numbered((answers["workerID"] for answers in chosen.values()), "rater")
    assignments = _first_links(chosen)
    taken: Counter[str] = Counter()
    for link in sorted(chosen):
        answers, trials = chosen[link], tasks[link]
        assignment = assignments[answers["assignmentID"] or link]
        rater = raters.get(answers["workerID"], f"rater-of-{link}")
        if not answers["workerID"]:
            found.findings[UNNAMED].append(f"link {link} has no worker id: its rater counts as one of its own")
        values = dict(_values(link, trials, answers, found, keep_ambiguous))
        images = {trial["image"] for trial in trials}
        state = COMPLETE if images <= answers.keys() else EXPIRED
        for number, value in values.items():
            place = (assignment, taken[assignment] + number + 1)
            row = row_of_trial(trials[number], value, place, rater, task=link, state=state)
            _keep(row, f"link {link}, trial {number + 1}", found)
        taken[assignment] += len(trials)
    return found


def _links(
    tasks: Mapping[str, Sequence[Mapping[str, str]]],
    dump: Mapping[str, Any],
    hits: set[str] | None,
    found: HumanrImport,
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the links of the study that have answers, with their hashes."""
    for link, answers in dump.items():
        if link not in tasks:
            found.findings[SKIPPED].append(f"key {link} is no link of the tasks")
        elif not isinstance(answers, dict):
            found.findings[SKIPPED].append(f"key {link} is no hash: {describe(answers)}")
        elif hits is not None and answers.get("hitID") not in hits:
            found.findings[SKIPPED].append(f"link {link} has a HIT that is not of this run: {answers.get('hitID')}")
        else:
            yield link, {**dict.fromkeys(_ID_FIELDS, ""), **{key: str(value) for key, value in answers.items()}}
    for link in tasks:
        if link not in dump:
            found.findings[LOST].append(f"link {link} has no answers")


def _values(
    link: str,
    trials: Sequence[Mapping[str, str]],
    answers: Mapping[str, str],
    found: HumanrImport,
    keep_ambiguous: bool,
) -> Iterator[tuple[int, int]]:
    """Yield the number of each trial that has an answer, from 0, and its value."""
    images = [trial["image"] for trial in trials]
    shown = Counter(images)
    for image in sorted(answers.keys() - shown.keys() - set(_ID_FIELDS)):
        found.findings[REJECTED].append(f"link {link}: {image!r} is no image of the task")
    for number, image in enumerate(images):
        text = answers.get(image)
        if text is None:
            found.findings[LOST].append(f"link {link}, trial {number + 1}: no answer about {image}")
        elif images.index(image) != number:
            found.findings[LOST].append(
                f"link {link}, trial {number + 1}: {image} was shown before, one answer is kept"
            )
        elif not _VALUE.fullmatch(text) or not LEAST <= int(text) <= LARGEST:
            message = f"link {link}, trial {number + 1}: {text!r} is no value from {LEAST} to {LARGEST}"
            found.findings[REJECTED].append(message)
        else:
            if shown[image] > 1:
                places = ", ".join(str(place) for place, each in enumerate(images, 1) if each == image)
                found.findings[AMBIGUOUS].append(f"link {link}: one answer about {image} for trials {places}")
            if shown[image] == 1 or keep_ambiguous:
                yield number, int(text)


def rows_of_results(text: str, source: str) -> HumanrImport:
    """Return the answers of a result CSV. BadInput if columns are missing, or values contradict each other."""
    reader = csv.DictReader(io.StringIO(text))
    missing = [name for name in _CSV_COLUMNS if name not in (reader.fieldnames or ())]
    if missing:
        raise BadInput([Problem(f"no result of HUMANr: lacks the columns {', '.join(missing)}", source)])
    lines, found = list(reader), HumanrImport()
    raters = _numbered((line["workerID"] or "" for line in lines), "rater")
    assignments = _numbered((line["assignmentID"] or "" for line in lines), "assignment")
    taken: Counter[str] = Counter()
    for number, line in enumerate(lines, 2):
        value = line["raw_score"] or ""
        if None in line.values() or not _VALUE.fullmatch(value) or not LEAST <= int(value) <= LARGEST:
            found.findings[REJECTED].append(f"line {number}: {value!r} is no value from {LEAST} to {LARGEST}")
            continue
        assignment = assignments.get(line["assignmentID"], "assignment-without-id")
        rater = raters.get(line["workerID"], f"rater-of-{assignment}")
        taken[assignment] += 1
        row = row_of_trial(line, int(value), (assignment, taken[assignment]), rater, task=assignment, state=COMPLETE)
        if row is not None and (written := line.get("score")) and int(float(written)) != row.toward_second:
            found.findings[REJECTED].append(f"line {number}: score {written} contradicts raw_score {value}")
            continue
        _keep(row, f"line {number}", found)
    return found


def _keep(row: AnswerRow | None, place: str, found: HumanrImport) -> None:
    if row is None:
        found.findings[REJECTED].append(f"{place}: its sources are no human text and another one")
    else:
        found.rows.append(row)


def row_of_trial(
    trial: Mapping[str, str], value: int, place: tuple[str, int], rater: str, *, task: str, state: str
) -> AnswerRow | None:
    """Return the row of an answer at (assignment, trial); None if HUMANr does not make such a trial."""
    left, right = ((trial[f"c{side}_source"], trial[f"c{side}_text"]) for side in (1, 2))
    is_turned = left[0] not in (HUMAN, HUMANS[0], CORRECT)
    first, second = (right, left) if is_turned else (left, right)
    is_check, is_baseline = (first[0], second[0]) == (CORRECT, DISTRACTOR), (first[0], second[0]) == HUMANS
    if not (is_check or is_baseline or (first[0] == HUMAN and second[0] not in (HUMAN, *HUMANS, CORRECT))):
        return None
    content = orjson.dumps([trial["image"], first, second])
    return AnswerRow(
        assignment=place[0],
        rater=rater,
        task=task,
        slot=0,
        state=state,
        trial=place[1],
        item=hashlib.sha256(content).hexdigest()[:16],
        image=trial["image"],
        kind=COMPARE,
        use=CHECK if is_check else REAL,
        dimension=FIT,
        value=value,
        second_on_right=not is_turned,
        toward_second=LEAST + LARGEST - value if is_turned else value,
        least=LEAST,
        largest=LARGEST,
        first_source=first[0],
        first_role=REFERENCE,
        second_source=second[0],
        second_role=REFERENCE if is_check or is_baseline else SYSTEM,
        gold_is_second=False if is_check else None,
        strata={LENGTH_DIFFERENCE: length_difference(first[1], second[1])},
    )


def _numbered(ids: Iterator[str], noun: str) -> dict[str, str]:
    """Return a name for each id, so that no id of a platform is in the output."""
    return {name: f"{noun}{number:04}" for number, name in enumerate(sorted({name for name in ids if name}), 1)}


def _first_links(chosen: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return the first link of each assignment, by which it is named."""
    found: dict[str, str] = {}
    for link in sorted(chosen):
        found.setdefault(chosen[link]["assignmentID"] or link, link)
    return found
