"""Runs trainers and evaluators on what vqagen makes for them, each in an environment of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import click

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "scripts" / "benches" / "trainers"
WIDTH = 120
SFT_STEPS = 60
"""Steps of supervised training before GRPO: replies of a random model have no form, and all rewards would be 0."""
SFT_STEPS_OF_REASONINGS = 120
TORCH = "torch"
SHOWN = 3
"""Last lines of a command's output that are shown."""


class Trial(NamedTuple):
    """What is run for a package."""

    packages: tuple[str, ...]
    """What its environment has besides vqagen; TORCH stands for torch."""
    commands: tuple[str, ...]
    """The first word is a program of the environment. `EXPORT` is the export, `ROOT` the checkout."""
    export: str = ""
    """The target of the export."""
    has_places: bool = False
    """Whether it gets questions for places with reasonings, in place of those of an environment."""


_LOADS = "python SCRIPTS/loads.py {} EXPORT"
_VALIDATES = "vf-validate vqagen-{} --select.limit 3 --only-gold --runtime.type subprocess"
_TESTS = "python -m pytest -q --noconftest -p no:cacheprovider -o filterwarnings= ROOT/tests/score/test_tasksets.py"
TRIALS = {
    "trl": Trial(
        (TORCH, "transformers", "trl", "accelerate", "datasets"), (f"python SCRIPTS/grpo.py EXPORT {SFT_STEPS}",), "trl"
    ),
    "trl-places": Trial(
        (TORCH, "transformers", "trl", "accelerate", "datasets", "scipy"),
        (f"python SCRIPTS/grpo.py EXPORT {SFT_STEPS_OF_REASONINGS}",),
        "trl",
        has_places=True,
    ),
    "verifiers": Trial(
        ("verifiers", "pytest", "scipy"),
        (_TESTS, _VALIDATES.format("questions"), _VALIDATES.format("director")),
    ),
    "lmms-eval": Trial((TORCH, "lmms-eval"), (_LOADS.format("lmms-eval"),), "lmms-eval"),
    "verl": Trial((TORCH, "verl"), (_LOADS.format("verl"),), "verl"),
    "inspect": Trial(("inspect-ai",), (_LOADS.format("inspect"),), "inspect"),
}


def environment_options(command: click.Command) -> click.Command:
    """Add the options of benchmarks that make environments."""
    folder = click.Path(file_okay=False, path_type=Path, resolve_path=True)
    command = click.option("--env", "folder", type=folder, help="Make environments here, and keep them.")(command)
    return click.option(
        "--torch", default=TORCH, show_default=True, help="What pip installs as torch, such as a wheel for CPUs."
    )(command)


@click.command()
@click.option("--only", multiple=True, type=click.Choice(list(TRIALS)), help="Run only these.")
@click.option("--samples", default=400, show_default=True, help="Questions that are exported.")
@environment_options
def trainers(only: tuple[str, ...], samples: int, folder: Path | None, torch: str) -> None:
    """Train with TRL, and load what was made for other trainers and evaluators with the real packages.

    TRL takes three steps of GRPO with a small random model, and each shows the rewards. Environments are made in a
    temporary folder; all of them take 12 GB.

    \b
    Example:
      scripts/bench trainers --only trl --env ~/environments
    """
    failed = []
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        _write_dataset(work / "dataset", samples)
        if any(TRIALS[name].has_places for name in only or TRIALS):
            places = f"--count {samples // 4} --pictures drawn --width {WIDTH} --questions 4 --choices none"
            asked = f"{places} --templates clevr-places --reasoning points --shares 100/0/0"
            run(Path(sys.executable), "-m", "vqagen", "dataset", work / "places", *asked.split(" "))
        (work / "exports").mkdir()
        for name in only or TRIALS:
            began = time.monotonic()
            problem = _run(name, work, folder or work / "environments", torch)
            click.echo(f"{name}: {problem or 'passed'} ({time.monotonic() - began:.0f} s)")
            failed += [name] if problem else []
    if failed:
        raise SystemExit(1)


def _write_dataset(folder: Path, samples: int) -> None:
    from vqagen.dataset.rows import write_rows
    from vqagen.environments.endless import environment

    (folder / "data").mkdir(parents=True)
    made = environment(levels=1, width=WIDTH)
    write_rows(folder / "data" / "train-00000-of-00001.parquet", (made[index].to_row() for index in range(samples)))


def _run(name: str, work: Path, environments: Path, torch: str) -> str:
    """Run a trial; return the problem, or ""."""
    trial = TRIALS[name]
    try:
        programs = make_environment(environments / name, trial.packages, torch)
    except subprocess.CalledProcessError as error:
        return f"cannot be installed: {_last(error.stderr)}"
    export = work / "exports" / name
    if trial.export:
        source = work / ("places" if trial.has_places else "dataset")
        run(Path(sys.executable), "-m", "vqagen", "export", source, "--to", trial.export, "-o", export)
    (work / name).mkdir()
    for command in trial.commands:
        words = command.replace("SCRIPTS", str(SCRIPTS)).replace("EXPORT", str(export)).replace("ROOT", str(ROOT))
        program, *arguments = words.split(" ")
        try:
            output = run(programs / program, *arguments, folder=work / name).stdout
        except subprocess.CalledProcessError as error:
            return f"failed: {_last(error.stdout + error.stderr)}"
        for line in output.strip().splitlines()[-SHOWN:]:
            click.echo(f"  {line}")
    return ""


def make_environment(folder: Path, packages: tuple[str, ...], torch: str = TORCH) -> Path:
    """Return the folder of programs of an environment with vqagen and the packages, which is made if it is new."""
    programs = folder / "bin"
    if not (folder / "complete").exists():
        run(Path(sys.executable), "-m", "venv", "--clear", folder)
        wanted = [torch if each == TORCH else each for each in packages]
        for each in (*([torch] if TORCH in packages else []), " ".join(wanted)):  # torch first, as it was asked for
            run(programs / "python", "-m", "pip", "install", "--quiet", *each.split(" "))
        (folder / "complete").touch()
    run(programs / "python", "-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps", ROOT)
    run(programs / "python", "-m", "pip", "install", "--quiet", f"{ROOT}[parquet,draw]")
    return programs


def run(program: Path, *arguments: object, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run a program; CalledProcessError if it fails."""
    command = [str(program), *map(str, arguments)]
    variables = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": "" if folder else str(ROOT)}
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=True)


def _last(output: str) -> str:
    lines = [line for line in output.strip().splitlines() if line.strip()]
    return lines[-1][:300] if lines else "no output"
