"""The benchmark `scale`: one command from 70,000 scenes to 700,000 questions, with one worker and with several."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Generator
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from statistics import median

import click
from bench_costs import VQAGEN, Ran, count_option, digest, in_turn, ratio, report, run_command

import vqagen
from vqagen.files.formats import JSON, encode_lines
from vqagen.language.domain_files import find_domain
from vqagen.run.blocks import Block
from vqagen.run.job import make_job
from vqagen.run.output import Output, claimed, make_destination
from vqagen.run.runner import Progress, run
from vqagen.run.windows import Windows, Work, in_process
from vqagen.tasks.questions.task import question_task

TENTH = 10_000


@click.command()
@click.option("--scenes", help="Scene file whose scenes are repeated. [default: 1,000 sampled with seed 0]")
@count_option("--count", default=70_000, help="How many scenes.")
@count_option("--workers", default=2)
@count_option("--repeats", default=3, help="Runs with one worker and with several, in turn.")
def scale(scenes: str | None, count: int, workers: int, repeats: int) -> None:
    """Time a long run: workers, memory, how it grows, what the runner itself costs, and going on with a finished run.

    \b
    Example:
      scripts/bench scale --count 5000
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        given = Path(scenes) if scenes else None
        source = repeated(given, count, folder / "scenes.json")
        report("input", f"{count:,} scenes, {source.stat().st_size / 1e6:,.0f} MB")
        compare_workers(source, count, workers, repeats, folder)
        finished(source, folder)
        growth(source, count, folder)
        tenth = min(count, TENTH)
        overhead(repeated(given, tenth, folder / "tenth.json"), tenth, folder)


def repeated(given: Path | None, count: int, path: Path) -> Path:
    """A document of so many scenes: those of a file over and over, each with an index and a file name of its own."""
    records = list(vqagen.find_scenes(given).records() if given else vqagen.sample_scenes(1000))
    again = (
        {**record, "image_index": index, "image_filename": f"CLEVR_scale_{index:06d}.png"}
        for index, record in enumerate(islice(cycle(records), count))
    )
    with path.open("wb") as file:
        file.write(b'{"info": {"split": "scale"}, "scenes": [\n')
        file.writelines(
            (b",\n" if number else b"") + encode_lines([record])[:-1] for number, record in enumerate(again)
        )
        file.write(b"\n]}\n")
    return path


def compare_workers(source: Path, count: int, workers: int, repeats: int, folder: Path) -> None:
    """One worker and several in turn, and what verifying costs by the side of it."""
    out, hashes = folder / "questions.json", set()

    def made_by(number: int) -> Ran:
        ran = run_command(generate(source, out, "--workers", str(number), "--force"))
        hashes.add(digest(out))
        return ran

    runs = in_turn({number: partial(made_by, number) for number in (1, workers)}, repeats)
    questions = sum(1 for _ in out.open("rb")) - 2
    for number, ran in runs.items():
        seconds = median(each.seconds for each in ran)
        report(
            f"{number} worker" + ("s" if number > 1 else ""),
            f"{seconds:.1f} s, {count / seconds:,.0f} scenes/s, {questions / seconds:,.0f} questions/s, "
            f"peak memory of all processes {max(each.peak for each in ran):.0f} MB",
        )
    rate = ratio([one.seconds for one in runs[1]], [several.seconds for several in runs[workers]])
    report("rate", f"{rate} times that of one worker")
    cpu = ratio([several.cpu for several in runs[workers]], [one.cpu for one in runs[1]])
    report("", f"{cpu} of its CPU time")
    report("output", f"{questions:,} questions, {out.stat().st_size / 1e6:,.0f} MB; {len(hashes)} different file(s)")
    verified = run_command([str(VQAGEN), "verify", str(out), "--scenes", str(source)])
    share = verified.cpu / median(each.cpu for each in runs[1])
    report("verify", f"all right, {verified.seconds:.1f} s, peak memory {verified.peak:.0f} MB")
    report("", f"{share:.2f} of the CPU time of generating")


def finished(source: Path, folder: Path) -> None:
    """Going on with a run that is complete."""
    again = [run_command(generate(source, folder / "questions.json", "--resume")).seconds for _ in range(3)]
    report("resume when finished", f"{median(again):.2f} s")


def growth(source: Path, count: int, folder: Path) -> None:
    """Whether the last scenes cost what the first did: CPU seconds of this process, one worker."""
    marks = [(0, time.process_time())]

    def mark(progress: Progress) -> None:
        marks.append((progress.items, time.process_time()))

    vqagen.write_questions(source, str(folder / "grown.json"), on_progress=mark)
    part = min(TENTH, count // 3)
    first = next(at for scenes, at in marks if scenes >= part) - marks[0][1]
    last = marks[-1][1] - next(at for scenes, at in marks if scenes >= count - part)
    report("growth", f"first {part:,} scenes {first:.1f} s, last {part:,} {last:.1f} s: {last / first:.2f} times")


def overhead(source: Path, count: int, folder: Path) -> None:
    """What starting, keeping, ordering and writing cost: CPU seconds outside of the task."""
    inside = 0.0

    def timed(work: Work, windows: Windows) -> Generator[Block]:
        nonlocal inside
        blocks = in_process(work, windows)
        while True:
            before = time.process_time()
            block = next(blocks, None)
            inside += time.process_time() - before
            if block is None:
                return
            yield block

    started = time.process_time()
    out, settings = str(folder / "whole.json"), vqagen.QuestionSettings()
    destination = make_destination(out, JSON)
    with claimed(destination) as claim:
        job = make_job(question_task(find_domain(), settings, vqagen.RecordForm()), source)
        run(job, timed, Output(destination, job.info()), claim)
    whole = time.process_time() - started
    report("runner", f"{1 - inside / whole:.1%} of {count:,} scenes: starting, keeping, ordering and writing")


def generate(source: Path, out: Path, *flags: str) -> list[str]:
    """The command."""
    return [str(VQAGEN), "generate", "--scenes", str(source), "--out", str(out), *flags]
