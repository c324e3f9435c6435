"""Scoring and simulation of rater studies, and the import of old ones, as typed calls."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import BadInput, PlaceError, Problem, UsageError
from vqagen.files.locations import locate
from vqagen.files.output import atomic_output, check_output
from vqagen.human.answers import AnswerRow
from vqagen.human.export.humanr_answers import HumanrImport, read_tasks, rows_of_redis, rows_of_results
from vqagen.human.export.rows import ANSWERS_FILE, answer_rows, read_rows, row_line
from vqagen.human.scores.report import read_thresholds, study_report
from vqagen.human.scores.settings import WEBDRIVER, ScoreSettings
from vqagen.human.scores.study_scores import StudyScores, score_rows
from vqagen.human.simulation.power import power_report, study_power
from vqagen.human.simulation.raters import RaterSettings
from vqagen.human.store.opening import hide_password
from vqagen.human.store.opening import open_log as open_store
from vqagen.human.study.study import STUDY_FILE, load_study
from vqagen.json.parsing import read_text
from vqagen.language.domain_files import PathLike
from vqagen.score.report.table import Report

EVENTS_FILE = "events.jsonl"
IMPORT_FILE = "import.json"
"""Faults of imported answers."""


def score_study(source: PathLike, settings: ScoreSettings | None = None, *, store: PathLike = "") -> StudyScores:
    """Score the answers of a study, of an export folder, or of its `answers.jsonl`.

    A study may be served meanwhile; `store` is the place of its answers, by default its own file. Raises BadInput for
    answers that are wrong, UsageError if there are none to read, and StoreError.
    """
    path = Path(source)
    if store and not (path / STUDY_FILE).is_file():
        raise UsageError(f"{path} is no study, whose answers could be in a store; leave out {hide_password(store)}")
    rows, automated = _read_study(path, store) if (path / STUDY_FILE).is_file() else _read(path)
    return score_rows(rows, settings or ScoreSettings(), path.name, automated)


def rater_report(scores: StudyScores, *, fail_under: Sequence[str] = ()) -> Report:
    """Return the report of scores, and whether its gates are met: thresholds such as `A=-0.2`."""
    return study_report(scores, read_thresholds(fail_under))


def _read_study(path: Path, store: PathLike) -> tuple[list[AnswerRow], list[str]]:
    """Return the answers of a study, and the assignments that a program did. A study never served has no answers."""
    study = load_study(path)
    if not (store or study.was_served):
        return [], []
    with closing(open_store(store or study.store, study.id, create=False, read_only=True)) as opened:
        automated = [event.assignment for event in opened.events() if event.kind == WEBDRIVER]
        return list(answer_rows(study, opened)), automated


def _read(path: Path) -> tuple[list[AnswerRow], list[str] | None]:
    """Return the answers, and the assignments that a program did if that is known."""
    events = path / EVENTS_FILE
    automated = list(_automated(events)) if events.is_file() else None
    return list(read_rows(path)), automated


def _automated(events: Path) -> Iterator[str]:
    """Yield the assignments whose events say that a program drove the browser. BadInput for a line that is no event."""
    for number, line in enumerate(events.read_bytes().splitlines(), 1):
        try:
            record = orjson.loads(line)
            kind, assignment = record["kind"], record["assignment"]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            raise BadInput([Problem("no event: export the study again", str(events), "", number, 1)]) from None
        if kind == WEBDRIVER:
            yield assignment


def simulate_study(
    study: PathLike,
    raters: int,
    settings: RaterSettings | None = None,
    *,
    on_done: Callable[[int], None] = lambda _: None,
) -> Report:
    """Return the power of a planned study for a number of raters, by simulated repetitions."""
    return power_report(study_power(load_study(Path(study)), raters, settings or RaterSettings(), on_done=on_done))


def answers_file(out: PathLike, force: bool) -> Path:
    """Return the file of answers in a folder. UsageError if it exists already, without `force`."""
    folder = Path(out)
    if folder.is_file():
        raise PlaceError(f"output {folder} is a file; name a folder")
    if not folder.exists():
        check_output(str(folder), force=False)
        return folder / ANSWERS_FILE
    check_output(str(folder / ANSWERS_FILE), force)
    return folder / ANSWERS_FILE


def import_humanr(
    answers: PathLike,
    out: PathLike,
    tasks: PathLike | None = None,
    *,
    drop_ambiguous: bool = False,
    force: bool = False,
) -> HumanrImport:
    """Write the answers that HUMANr collected as an export folder, and return them with all that is wrong with them.

    `answers` is the content of its Redis database as JSON, link id -> hash, or the CSV of its results. The former needs
    `tasks`, its `comparison_tasks.json` or `latest_run.json`. Raises BadInput if a file is none of these.
    """
    target = answers_file(out, force)
    text = read_text(locate(str(answers)))
    if text.lstrip()[:1] in ("{", "["):
        if tasks is None:
            raise UsageError(f"{answers} holds answers by link and image: give the tasks, comparison_tasks.json")
        known, hits = read_tasks(_json(read_text(locate(str(tasks))), str(tasks)), str(tasks))
        dump = _json(text, str(answers))
        found = rows_of_redis(known, dump, str(answers), hits=hits, keep_ambiguous=not drop_ambiguous)
    else:
        if tasks is not None:
            raise UsageError(f"{answers} is a CSV of results, which has the tasks in it: leave out {tasks}")
        found = rows_of_results(text, str(answers))
    target.parent.mkdir(exist_ok=True)
    with atomic_output(str(target)) as file:
        file.writelines(map(row_line, found.rows))
    with atomic_output(str(target.parent / IMPORT_FILE)) as file:
        file.write(orjson.dumps(found.findings, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    return found


def _json(text: str, source: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise BadInput([Problem(f"not valid JSON: {error}", source, "", error.lineno, error.colno)]) from None
