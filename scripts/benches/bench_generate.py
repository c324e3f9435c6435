"""The benchmark `generate`: the whole command, beside other versions and builds of it, and where its time goes."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from itertools import groupby, islice
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import click
from bench_balance import REAL_SCENES
from bench_costs import (
    HEADER,
    VQAGEN,
    count_option,
    cpu_seconds,
    digest,
    figures,
    in_turn,
    ratio,
    repeats_option,
    report,
    run_command,
)
from bench_instructions import print_instructions

import vqagen
from vqagen import Generation, find_domain, find_scenes, load_domain_files, load_scenes
from vqagen.files.formats import JSON, Arrangement, RecordWriter
from vqagen.language.question import record_writer
from vqagen.rng import stream
from vqagen.run.windows import window_of
from vqagen.tasks.questions.family import QuestionTally

ROOT = Path(__file__).parents[2]
CLEVR = REAL_SCENES.parent / "clevr_v1"
"""The vocabulary and templates of the CLEVR generator."""
WINDOW = 250
COUNTED = (1, 50, WINDOW)
"""Numbers of scenes whose instructions are counted, as far as --count allows."""
Flags = Mapping[str, str]


class Contender(NamedTuple):
    """A version or build of vqagen, one of those that run in turn."""

    name: str
    command: list[str]
    variables: dict[str, str]
    version: str = ""

    def generating(self, scenes: Path, count: int, flags: Flags, out: Path) -> list[str]:
        """Return the command `generate` on so many scenes."""
        given = ["generate", "--force", "--scenes", str(scenes), "--count", str(count), *flag_list(flags)]
        return [*self.command, *given, "--out", str(out)]


@click.command()
@click.option("--scenes", type=Path, help="Scene file. [default: scenes sampled with seed 0]")
@count_option("--count", default=1000, help="How many scenes.")
@repeats_option(default=5)
@click.option(
    "--against",
    type=Path,
    multiple=True,
    metavar="PATH",
    help="Another checkout, or the vqagen executable of another environment; may be repeated. Ratios are to the first.",
)
@click.option("--metadata")
@click.option("--templates", help="[default: the shipped ones; if ../shared is there, the CLEVR generator's too]")
@click.option("--synonyms")
@click.option("--compat")
@click.option("--degeneracy")
@click.option(
    "--instructions", is_flag=True, help="Count instructions in place of seconds, for 1, 50 and 250 scenes, by a tool."
)
def generate(
    scenes: Path | None, count: int, repeats: int, against: tuple[Path, ...], instructions: bool, **chosen: str | None
) -> None:
    """Time the whole command, beside other versions and builds of it, and each phase inside one process.

    All that is compared runs in turn. Ratios are of CPU time in user mode, run by run, with their range. The exit code
    is 1 if an output differs from this checkout's in a byte.

    Instructions, which `perf` or `valgrind` counts, are the same on a busy machine: they show a change of 3 %.

    \b
    Examples:
      scripts/bench generate
      scripts/bench generate --instructions --count 50
      scripts/bench generate --against ../before --against .venv-compiled/bin/vqagen
    """
    contenders = contenders_at(against)
    flags = {name: value for name, value in chosen.items() if value}
    if instructions:
        count_instructions(contenders, scenes, count, flags)
        return
    cases = {" ".join(flag_list(flags)): flags} if flags else known_cases()
    is_same = True
    with tempfile.TemporaryDirectory() as folder:
        path, count = scenes_of(scenes, count, Path(folder))
        for name, case in cases.items():
            click.echo(f"\n{name}\n{'':42}{HEADER}{'  ratio' if against else ''}")
            for size in sorted({min(WINDOW, count), count}):
                is_same &= compare(contenders, path, size, case, Path(folder), repeats)
            phases(path, count, case, repeats)
    start_up(repeats)
    sys.exit(0 if is_same else 1)


def count_instructions(contenders: Iterable[Contender], given: Path | None, most: int, flags: Flags) -> None:
    """Print the instructions of each contender on 1, 50 and 250 scenes, or as many as there are."""
    with tempfile.TemporaryDirectory() as folder:
        scenes, most = scenes_of(given, min(most, max(COUNTED)), Path(folder))
        out = Path(folder) / "questions.json"
        for each in contenders:
            commands = {count: each.generating(scenes, count, flags, out) for count in COUNTED if count <= most}
            print_instructions(each.name, commands, each.variables)


def contenders_at(paths: Iterable[Path]) -> list[Contender]:
    """Print the version of this checkout and of other checkouts and executables; return them. Raises UsageError."""
    contenders = [contender(ROOT)._replace(name="this checkout"), *map(contender, paths)]
    for each in contenders:
        click.echo(f"{each.name}: {each.version}")
    return contenders


def contender(path: Path) -> Contender:
    """Return how a checkout or an executable is run. Raises UsageError if the path is neither."""
    found = Contender(str(path), [str(path.resolve())], {"PYTHONPATH": ""})
    if path.is_dir():
        # PYTHONSAFEPATH: the working folder, which may be another checkout, is not searched for modules
        variables = {"PYTHONPATH": str(path.resolve()), "PYTHONSAFEPATH": "1"}
        found = Contender(str(path), [sys.executable, "-m", "vqagen"], variables)
    if (path / "vqagen" / "__main__.py").is_file() or (path.is_file() and os.access(path, os.X_OK)):
        asked = [*found.command, "--version"]
        said = subprocess.run(asked, env={**os.environ, **found.variables}, capture_output=True, text=True, check=False)
        if "vqagen" in said.stdout:
            return found._replace(version=said.stdout.strip())
    raise click.UsageError(
        f"--against {path} is neither a checkout nor an executable of vqagen:"
        " give a folder that has vqagen/__main__.py, or the file bin/vqagen of an environment"
    )


def scenes_of(given: Path | None, count: int, folder: Path) -> tuple[Path, int]:
    """Return a file of scenes, sampled if none is given, and how many of them are used.

    Sampled scenes have the split that the CLEVR generator asks for.
    """
    if given:
        return given, min(count, sum(1 for _ in find_scenes(given).records()))
    path = folder / "scenes.json"
    path.write_text(json.dumps({"info": {"split": "bench"}, "scenes": list(vqagen.sample_scenes(count))}))
    return path, count


def known_cases() -> dict[str, Flags]:
    """Return the flags of what is measured unless flags are given, by its name."""
    if not CLEVR.exists():
        return {"shipped templates": {}}
    flags = clevr_flags(CLEVR / "templates")
    return {
        "shipped templates": {},
        "the CLEVR generator's templates": flags,
        "the same, --compat clevr": {**flags, "compat": "clevr"},
    }


def clevr_flags(templates: Path) -> Flags:
    """Return the flags for a folder of templates with metadata and synonyms beside it."""
    metadata, synonyms = (str(templates.parent / name) for name in ("metadata.json", "synonyms.json"))
    return {"metadata": metadata, "templates": str(templates), "synonyms": synonyms}


def flag_list(flags: Flags) -> list[str]:
    """Return flags as parts of a command."""
    return [part for name, value in flags.items() for part in (f"--{name}", value)]


def compare(contenders: Sequence[Contender], scenes: Path, count: int, case: Flags, folder: Path, repeats: int) -> bool:
    """Run the command of each contender in turn; return True if all outputs are the same bytes."""
    outs = [folder / f"{number}.json" for number in range(len(contenders))]
    works = {
        out: partial(run_command, each.generating(scenes, count, case, out), **each.variables)
        for each, out in zip(contenders, outs, strict=True)
    }
    in_turn(works, 1)  # not measured: Python compiles modules that it has not met
    runs = in_turn(works, repeats)
    cpu = [[ran.cpu for ran in runs[out]] for out in outs]
    for each, out, seconds in zip(contenders, outs, cpu, strict=True):
        compared = f"  {ratio(seconds, cpu[1])}" if len(outs) > 1 else ""
        click.echo(
            f"{f'{count:,} scenes':14}{each.name[-27:]:28}{figures(runs[out], count, questions_in(out))}{compared}"
        )
    digests = [digest(out) for out in outs]
    differing = [each.name for each, found in zip(contenders, digests, strict=True) if found != digests[0]]
    if len(outs) > 1:
        click.echo(f"{'':14}{'bytes differ: ' + ', '.join(differing) if differing else 'the same bytes'}")
    return not differing


def questions_in(out: Path) -> int:
    """Return the number of questions in a file."""
    return len(json.loads(out.read_bytes())["questions"])


def phases(scenes: Path, count: int, case: Flags, repeats: int) -> None:
    """Milliseconds a scene of CPU time for each phase, start-up left out.

    Words and programs are made again from the finished questions; the search is what remains of the whole.
    """
    chosen = dict(case)
    settings = {name: chosen.pop(name) for name in ("compat", "degeneracy") if name in chosen}
    materials = load_domain_files(find_domain(**chosen))
    source = find_scenes(scenes)
    compiled = list(islice(load_scenes(source, materials.domain), count))
    run = Generation(source, materials, vqagen.QuestionSettings(count=count, **settings))
    made = [question for _, questions in run.by_scene() for question in questions]
    gc.collect()
    gc.freeze()

    def typical(work: Callable[[], object]) -> float:
        return median(cpu_seconds(work) for _ in range(repeats))

    load = typical(lambda: exhaust(islice(load_scenes(source, materials.domain), count)))
    size = run.settings.reset_counts_every
    windows = [list(window) for _, window in groupby(compiled, key=lambda scene: window_of(scene.index, size))]
    ask = typical(lambda: [exhaust(run.generator.window(window, QuestionTally())) for window in windows])
    wording = {family.template.id: family.wording for family in run.generator.families.values()}
    random = stream(0, "bench").random
    say = typical(lambda: [wording[question.template.id].say(question.words, random) for question in made])
    write = typical(lambda: write_all(made))
    total = load + ask + write
    for name, seconds in (("load", load), ("search", ask - say), ("wording", say), ("write", write), ("sum", total)):
        report(name, f"{seconds / len(compiled) * 1000:.3f} ms/scene  {seconds / total:5.0%}")


def write_all(questions: Sequence[vqagen.Question]) -> None:
    """Write all questions to nowhere, as the command writes them."""
    to_record = record_writer("generator", is_encoded=True)
    with open(os.devnull, "wb") as file:
        writer = RecordWriter(file, JSON, {}, Arrangement("questions", "question_index", "scene", WINDOW))
        for first in range(0, len(questions), 10):
            writer.write(to_record(question) for question in questions[first : first + 10])


def exhaust(items: Iterable[Any]) -> None:
    """Go through items and drop them."""
    for _ in items:
        pass


def start_up(repeats: int) -> None:
    """Print what the command costs before it does anything."""
    runs = [run_command([str(VQAGEN), "--help"]) for _ in range(repeats)]
    report("vqagen --help", f"{median(run.seconds for run in runs):.3f} s, CPU {median(run.cpu for run in runs):.3f} s")
