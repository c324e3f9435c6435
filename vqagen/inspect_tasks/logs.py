"""Logs of evaluations, read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vqagen.errors import BadInput, PlaceError, Problem, warn
from vqagen.extras import needed
from vqagen.files.locations import locate
from vqagen.inspect_tasks.outcomes import LoggedRun, Outcome
from vqagen.records.discovery import first_keys

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSampleSummary

SCORER = "cell_answer"
FOREIGN = "not a log of vqagen/director"
UNREADABLE = "not a readable Inspect log"
LOG_SUFFIXES = (".eval", ".json")
FIRST_KEYS = 12
"""Keys of a document that are looked at."""
_SHOWN_CONDITIONS = {"block_text": "2", "tools": "none", "cot": "none"}
"""Arguments of the task that the report names unless they have these values."""


def read_runs(paths: Iterable[str]) -> tuple[LoggedRun, ...]:
    """Read the logs of director tasks at files and in folders. In a folder, logs of other tasks are skipped.

    BadInput names each file that is no such log and each folder without one. UsageError for a path that does not exist.
    """
    needed("inspect_ai", "inspect", "reading logs of evaluations")
    found = [each for path in paths for each in _found_at(Path(path))]
    problems = [each for each in found if isinstance(each, Problem)]
    if problems:
        raise BadInput(problems)
    return tuple(each for each in found if isinstance(each, LoggedRun))


def _found_at(path: Path) -> Sequence[LoggedRun | Problem]:
    """Return the run of a file, or the runs of a folder; what is wrong with the path if it has none."""
    if not path.exists():
        raise PlaceError(f"log not found: {path}")
    if not path.is_dir():
        return [_read(path)]
    files = sorted(file for file in path.rglob("*") if file.suffix in LOG_SUFFIXES)
    found = [_read(file) for file in files]
    runs = [each for each in found if isinstance(each, LoggedRun)]
    if runs:
        for each in found:
            if isinstance(each, Problem) and not each.message.startswith(FOREIGN) and each.source.endswith(".eval"):
                warn(replace(each, message=f"skipped: {each.message}"))
        return runs
    names = ", ".join(f"*{suffix}" for suffix in LOG_SUFFIXES)
    what = f"none of the files ({names}) is a log of a director task" if files else f"no logs ({names})"
    return [Problem(f"{what}; make one with `inspect eval vqagen/director`", str(path))]


def _read(path: Path) -> LoggedRun | Problem:
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    try:
        _raise_foreign(path)
        header = read_eval_log(path, header_only=True)
        summaries = read_eval_log_sample_summaries(path)
    except BadInput as error:
        return Problem(f"{UNREADABLE} ({error.problems[0].message})", str(path))
    except (OSError, ValueError, KeyError) as error:  # BadZipFile and ValidationError among them
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Problem(f"{UNREADABLE} ({reason})", str(path))
    return _run_of(path, header, summaries)


def _raise_foreign(path: Path) -> None:
    """Raise BadInput for JSON that is no log: Inspect's reader takes gigabytes for 0.2 MB of brackets."""
    if path.suffix == ".json" and "eval" not in islice(first_keys(locate(path)), FIRST_KEYS):
        raise BadInput([Problem("there is no key 'eval'")])


def _run_of(path: Path, header: EvalLog, summaries: list[EvalSampleSummary]) -> LoggedRun | Problem:
    outcomes = list(_outcomes(summaries))
    if not outcomes:
        if header.eval.task.rpartition("/")[2] in ("director", "director_no_director"):
            reason = f"no sample has a score; the evaluation ended with status {header.status}"
        else:
            reason = f"{FOREIGN}: its task is {header.eval.task!r}"
        return Problem(reason, str(path))
    arguments = {key: _name_of(value) for key, value in header.eval.task_args.items()}
    conditions = {key: arguments[key] for key, usual in _SHOWN_CONDITIONS.items() if arguments.get(key, usual) != usual}
    form = next(str(each.metadata["format"]) for each in summaries if "format" in each.metadata)
    unscored = len(summaries) - len(outcomes)
    return LoggedRun(
        str(path),
        _respondent(header),
        outcomes[0].story,
        form,
        header.eval.dataset.name or "trials",
        conditions,
        header.status,
        tuple(outcomes),
        unscored,
    )


def _name_of(value: object) -> str:
    return ",".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _respondent(header: EvalLog) -> str:
    """Return the model; without one, the solver and its name."""
    if header.eval.model != "none/none":
        return header.eval.model
    arguments = header.eval.solver_args or {}
    return f"policy {arguments['name']}" if "name" in arguments else str(header.eval.solver)


def _outcomes(summaries: Iterable[EvalSampleSummary]) -> Iterator[Outcome]:
    """Yield the outcomes of the samples that our scorer judged."""
    for summary in summaries:
        score = (summary.scores or {}).get(SCORER)
        if score is not None and "kind" in (score.metadata or {}) and "trial" in summary.metadata:
            yield _outcome(summary.metadata, str((score.metadata or {})["kind"]))


def _outcome(facts: Mapping[str, Any], kind: str) -> Outcome:
    return Outcome(
        facts["trial"],
        facts["trial_type"],
        facts["rule"],
        facts["rule_class"],
        facts["frame"],
        facts["physics"] == "yes",
        facts["story"],
        facts.get("pair"),
        kind,
    )
