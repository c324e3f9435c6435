"""The benchmark `verify`: what reading the texts of questions costs, and what it finds."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import click
from bench_balance import REAL_SCENES
from bench_costs import count_option, cpu_seconds, in_turn, repeats_option, report

import vqagen
from vqagen import find_domain, find_scenes, load_domain_files
from vqagen.files.records import open_records
from vqagen.language.domain_files import LoadedDomain
from vqagen.language.question import QUESTIONS
from vqagen.rng import stream
from vqagen.tasks.questions.texts import UNDECIDED, QuestionTexts
from vqagen.tasks.questions.verification import verify_questions

sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in ("tests", "tests/helpers")]
SETTINGS: Mapping[str, dict[str, Any]] = {"default": {}, "pairs": {"balance": "pairs"}, "compat": {"compat": "clevr"}}


class _Case(NamedTuple):
    """Questions that are verified."""

    name: str
    loaded: LoadedDomain
    scenes: Path
    questions: Path


@click.command()
@count_option("--count", default=1000, help="Sampled scenes of each domain; the real ones are all taken.")
@count_option("--spoil", default=1000, help="Questions that are spoiled in each way.")
@repeats_option(default=3)
def verify(count: int, spoil: int, repeats: int) -> None:
    """Count false alarms and found spoils among questions, and time verifying with and without their texts.

    The time is CPU time for each question; the domain's files are loaded before.

    \b
    Example:
      scripts/bench verify --count 200
    """
    with tempfile.TemporaryDirectory() as folder:
        for case in _cases(Path(folder), count):
            _report_alarms(case, repeats)
            _report_spoils(case, spoil)


def _cases(folder: Path, count: int) -> Iterator[_Case]:
    """Yield questions of every domain and setting, and of the real scenes."""
    scenes = {name: (name, folder / f"{name}.json") for name in ("clevr", "market")}
    for domain, path in scenes.values():
        vqagen.write_scenes(path, vqagen.SamplingSettings(count=count), find_domain(domain))
    if REAL_SCENES.is_file():
        scenes["real"] = "clevr", REAL_SCENES
    for name, (domain, path) in scenes.items():
        files = find_domain(domain)
        for setting, given in SETTINGS.items():
            questions = folder / f"{name}_{setting}.json"
            vqagen.write_questions(path, questions, files, vqagen.QuestionSettings(**given))
            yield _Case(f"{name}, {setting}", load_domain_files(files), path, questions)


def _report_alarms(case: _Case, repeats: int) -> None:
    """Print how many right texts are refused, and the time for each question."""
    found = vqagen.verify(case.questions, case.scenes)
    assert isinstance(found, vqagen.VerificationReport)
    made_by = {"is_ours": True, "is_compat": case.name.endswith("compat"), "is_certain": True}
    works = {
        "without texts": lambda: _verified(case, "not wanted"),
        "with texts": lambda: _verified(case, QuestionTexts(case.loaded, **made_by)),
    }
    seconds = in_turn({name: partial(cpu_seconds, work) for name, work in works.items()}, repeats)
    times = {name: median(runs) / found.checked * 1e6 for name, runs in seconds.items()}
    reading = times["with texts"] - times["without texts"]
    alarms = f"{found.checked:,} questions, {found.mismatched} refused, {found.unproven[UNDECIDED]} not decided"
    took = ", ".join(f"{name} {microseconds:.0f}" for name, microseconds in times.items())
    report(case.name, f"{alarms}; µs a question: {took}, so {reading:.0f} for a text")


def _verified(case: _Case, texts: QuestionTexts | str) -> vqagen.VerificationReport:
    return verify_questions(
        open_records(case.questions, QUESTIONS), find_scenes(case.scenes), case.loaded.catalogue, texts
    )


def _report_spoils(case: _Case, count: int) -> None:
    """Print how many spoiled texts are found."""
    from spoiled_texts import SPOILS, Sayings, spoiled

    document = json.loads(case.questions.read_bytes())
    questions = [{key: each[key] for key in each if key != "pair"} for each in document["questions"][:count]]
    sayings, path = Sayings(case.loaded.synonyms), case.questions.with_name("spoiled.json")
    for kind in SPOILS:
        made = [each for each in spoiled(questions, sayings, stream(0, kind), kind) if each]
        if not made:
            continue
        path.write_text(json.dumps({**document, "questions": made}))
        found = vqagen.verify(path, case.scenes)
        report(f"{case.name}, {kind}", f"{found.mismatched:,} found of {len(made):,}")
