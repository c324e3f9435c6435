"""The benchmark `reference`: one balance window beside the generator of CLEVR, for whoever has it."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import product
from pathlib import Path

import click
from bench_costs import HEADER, Ran, count_option, figures, in_turn, ratio, repeats_option, run_command
from bench_generate import WINDOW, clevr_flags, contenders_at, flag_list, questions_in, scenes_of

ADDRESS = "https://github.com/facebookresearch/clevr-dataset-gen"
SCRIPT, TEMPLATES = "generate_questions.py", "CLEVR_1.0_templates"
NEEDED = (SCRIPT, "question_engine.py", "metadata.json", "synonyms.json", TEMPLATES)


@click.command()
@click.option("--generator", type=Path, required=True, metavar="PATH", help=f"A checkout of {ADDRESS}.")
@click.option("--scenes", type=Path, help="Scene file in the format of CLEVR. [default: sampled with seed 0]")
@count_option("--count", default=WINDOW, help="How many scenes.")
@repeats_option(default=3)
@click.option(
    "--build", type=Path, multiple=True, metavar="PATH", help="Another checkout or executable of vqagen to run too."
)
def reference(generator: Path, scenes: Path | None, count: int, repeats: int, build: tuple[Path, ...]) -> None:
    """Time the CLEVR generator and vqagen on the same scenes, whole processes in turn; print how often ours is faster.

    Its random draws have no seed, so its time differs from run to run. Ratios are of CPU time in user mode, with their
    range. Both write ten questions for each scene.

    \b
    Example:
      scripts/bench reference --generator ../clevr-dataset-gen --build .venv-compiled/bin/vqagen
    """
    folder = checked(generator / "question_generation")
    with tempfile.TemporaryDirectory() as made:
        path, count = scenes_of(scenes, count, Path(made))
        if count < WINDOW:
            click.echo(f"{count} of the {WINDOW} scenes of a balance window: so few say little of the CLEVR generator")
        works = {Path(made, "clevr.json"): clevr_generating(folder, path, count, Path(made, "clevr.json"))}
        names = ["CLEVR generator"]
        cases = {"shipped templates": {}, "--compat clevr": {**clevr_flags(folder / TEMPLATES), "compat": "clevr"}}
        for each, (case, flags) in product(contenders_at(build), cases.items()):
            out = Path(made, f"{len(works)}.json")
            works[out] = each.generating(path, count, flags, out)
            names.append(f"{each.name[-24:]}, {case}")
        runs = in_turn(works, repeats)
        click.echo(f"{'':44}{HEADER}  times as fast")
        its = next(iter(runs.values()))
        for name, (out, ran) in zip(names, runs.items(), strict=True):
            faster = ratio([each.cpu for each in its], [each.cpu for each in ran])
            click.echo(f"{name:44}{figures(ran, count, questions_in(out))}  {faster}")


def checked(folder: Path) -> Path:
    """Return a folder that has all files of the CLEVR generator. Raises UsageError."""
    missing = [name for name in NEEDED if not (folder / name).exists()]
    if missing:
        raise click.UsageError(
            f"--generator has no CLEVR generator: {folder} lacks {', '.join(missing)}; give a checkout of {ADDRESS}"
        )
    return folder.resolve()


def clevr_generating(folder: Path, scenes: Path, count: int, out: Path) -> Callable[[], Ran]:
    """Return what runs the CLEVR generator on so many scenes."""
    files = {"metadata_file": "metadata.json", "synonyms_json": "synonyms.json", "template_dir": TEMPLATES}
    flags = {flag: str(folder / name) for flag, name in files.items()}
    flags |= {"input_scene_file": str(scenes), "num_scenes": str(count), "output_questions_file": str(out)}
    return partial(run_command, [sys.executable, str(folder / SCRIPT), *flag_list(flags)])
