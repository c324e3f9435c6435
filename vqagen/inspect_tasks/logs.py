"""Logs of evaluations, read back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.extras import needed
from vqagen.inspect_tasks.outcomes import LoggedRun, Outcome

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSampleSummary

SCORER = "cell_answer"
LOG_SUFFIXES = (".eval", ".json")
_SHOWN_CONDITIONS = {"block_text": "2", "tools": "none", "cot": "none"}
"""Arguments of the task that the report names unless they have these values."""


def read_runs(paths: Iterable[str]) -> tuple[LoggedRun, ...]:
    """Read the logs of director tasks at files and in folders. BadInput names every file that is none.

    Logs of other tasks are skipped in a folder. UsageError for a folder without a log of a director task.
    """
    needed("inspect_ai", "inspect", "reading logs of evaluations")
    runs, problems = list[LoggedRun](), list[Problem]()
    for path in map(Path, paths):
        if path.is_dir():
            runs += _runs_in(path, problems)
        else:
            found = _read(path)
            (problems if isinstance(found, Problem) else runs).append(found)  # type: ignore[arg-type]
    if problems:
        raise BadInput(problems)
    return tuple(runs)


def _runs_in(folder: Path, problems: list[Problem]) -> list[LoggedRun]:
    """Return the runs of a folder; add the problem if there is none."""
    files = sorted(path for path in folder.rglob("*") if path.suffix in LOG_SUFFIXES)
    found = [_read(path) for path in files]
    runs = [each for each in found if isinstance(each, LoggedRun)]
    if not runs:
        names = ", ".join(f"*{suffix}" for suffix in LOG_SUFFIXES)
        what = f"none of the files ({names}) is a log of a director task" if files else f"no logs ({names})"
        problems.append(Problem(f"{what}; make one with `inspect eval vqagen/director`", str(folder)))
    return runs


def _read(path: Path) -> LoggedRun | Problem:
    from inspect_ai.log import read_eval_log, read_eval_log_sample_summaries

    if not path.exists():
        raise UsageError(f"log not found: {path}")
    try:
        header = read_eval_log(path, header_only=True)
        summaries = read_eval_log_sample_summaries(path)
    except (OSError, ValueError, KeyError) as error:  # BadZipFile and ValidationError among them
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        return Problem(f"not a readable Inspect log ({reason})", str(path))
    return _run_of(path, header, summaries)


def _run_of(path: Path, header: EvalLog, summaries: list[EvalSampleSummary]) -> LoggedRun | Problem:
    outcomes = list(_outcomes(summaries))
    if not outcomes:
        if header.eval.task.rpartition("/")[2] in ("director", "director_no_director"):
            reason = f"no sample has a score; the evaluation ended with status {header.status}"
        else:
            reason = f"not a log of vqagen/director: its task is {header.eval.task!r}"
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
