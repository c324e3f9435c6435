"""Measures the evaluation of a million questions and predictions in JSON Lines, with all default groups."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import orjson
from bench_costs import count_option

import vqagen
from vqagen.language.question import record_writer

LIMIT_SECONDS, LIMIT_MB = 20, 500
ABOUT_AN_IMAGE = 10
_RUN = """
import resource, sys, time
from vqagen.score.evaluate import evaluate_items
from vqagen.score.items import read_items
from vqagen.score.predictions.reading import read_predictions
def stage(name, work):
    started = time.process_time()
    made = work()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"  {name:12} {time.process_time() - started:5.1f} s, peak {peak:4.0f} MB")
    return made
items = stage("questions", lambda: read_items(sys.argv[1]))
answers = stage("predictions", lambda: read_predictions(sys.argv[2], items.kind))
found = stage("judge", lambda: evaluate_items(items, answers))
stage("floor", lambda: found.floor)
report = stage("report", lambda: found.report())
rows = sum(len(table.rows) for table in report.tables)
print(f"accuracy {found.overall().accuracy:.4f}, {rows:,} rows, coverage {found.coverage.answered:,}")
"""


@click.command()
@count_option("--count", default=1_000_000, help="Questions, and predictions.")
@count_option("--scenes", default=500, help="Scenes whose questions are repeated.")
def evaluate(count: int, scenes: int) -> None:
    """Time the evaluation of many questions, of which two thirds are answered right; CPU seconds and peak memory.

    \b
    Example:
      scripts/bench evaluate --count 100000
    """
    with tempfile.TemporaryDirectory() as folder:
        questions, predictions = Path(folder) / "questions.jsonl", Path(folder) / "predictions.jsonl"
        write_files(questions, predictions, count, scenes)
        size = questions.stat().st_size / 1e6
        click.echo(
            f"{count:,} questions, {size:,.0f} MB; the limit for 1,000,000 is {LIMIT_SECONDS} s and {LIMIT_MB} MB"
        )
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", _RUN, str(questions), str(predictions)], check=True)
        click.echo(f"whole process: {time.perf_counter() - started:.1f} s")


def write_files(questions: Path, predictions: Path, count: int, scenes: int) -> None:
    """Write the questions about sampled scenes again and again, each time about other images; and answers to them."""
    records = list(vqagen.sample_scenes(scenes))
    to_record = record_writer("generator")
    made = [to_record(question) for question in vqagen.generate(records)]
    with questions.open("wb") as asked, predictions.open("wb") as answered:
        for number in range(count):
            record = made[number % len(made)]
            asked.write(orjson.dumps({**record, **_image(number), "question_index": number}) + b"\n")
            answer = record["answer"] if number % 3 else _wrong(made, number)
            answered.write(orjson.dumps({"question_index": number, "answer": answer}) + b"\n")


def _image(number: int) -> Mapping[str, Any]:
    image = number // ABOUT_AN_IMAGE
    return {"image_index": image, "image_filename": f"BENCH_{image:06d}.png"}


def _wrong(made: Sequence[Mapping[str, Any]], number: int) -> Any:
    """Return the answer to another question."""
    return made[(number + 7) % len(made)]["answer"]
