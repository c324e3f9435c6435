"""The benchmark `reference`: one balance window beside the generator of CLEVR, for whoever has it."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import click
from bench_costs import HEADER, VQAGEN, figures, in_turn, ratio, run_command
from bench_generate import WINDOW, clevr_flags, flag_list, scenes_of

ADDRESS = "https://github.com/facebookresearch/clevr-dataset-gen"
SCRIPT, TEMPLATES = "generate_questions.py", "CLEVR_1.0_templates"
NEEDED = (SCRIPT, "question_engine.py", "metadata.json", "synonyms.json", TEMPLATES)


@click.command()
@click.option("--generator", type=Path, required=True, metavar="PATH", help=f"A checkout of {ADDRESS}.")
@click.option("--scenes", type=Path, help="Scene file in the format of CLEVR. [default: sampled with seed 0]")
@click.option("--count", default=WINDOW, show_default=True, help="How many scenes.")
@click.option("--repeats", default=3, show_default=True, help="Runs of which the median is shown.")
def reference(generator: Path, scenes: Path | None, count: int, repeats: int) -> None:
    """Time the CLEVR generator and vqagen on the same scenes, whole processes in turn; print how often ours is faster.

    Its random draws have no seed, so its time differs from run to run. Ratios are of CPU time in user mode, with their
    range. Both write ten questions for each scene.

    \b
    Example:
      scripts/bench reference --generator ../clevr-dataset-gen
    """
    folder = checked(generator / "question_generation")
    with tempfile.TemporaryDirectory() as made:
        path, count = scenes_of(scenes, count, Path(made))
        if count < WINDOW:
            click.echo(
                f"{count} of the {WINDOW} scenes of a balance window, within which the CLEVR generator slows down"
            )
        commands = commands_for(folder, path.resolve(), count, Path(made))
        runs = in_turn({name: partial(run_command, command) for name, command in commands.items()}, repeats)
        click.echo(f"{'':32}{HEADER}  times as fast")
        (_, its), *_ = runs.items()
        for name, ran in runs.items():
            questions = len(json.loads(Path(commands[name][-1]).read_bytes())["questions"])
            faster = ratio([each.cpu for each in its], [each.cpu for each in ran])
            click.echo(f"{name:32}{figures(ran, count, questions)}  {faster}")


def checked(folder: Path) -> Path:
    """Return a folder that has all files of the CLEVR generator. Raises UsageError."""
    missing = [name for name in NEEDED if not (folder / name).exists()]
    if missing:
        raise click.UsageError(
            f"--generator has no CLEVR generator: {folder} lacks {', '.join(missing)}; give a checkout of {ADDRESS}"
        )
    return folder.resolve()


def commands_for(folder: Path, scenes: Path, count: int, made: Path) -> Mapping[str, list[str]]:
    """Return each command by its name, the CLEVR generator's first; each ends with the file that it writes."""
    script = [sys.executable, str(folder / SCRIPT), "--input_scene_file", str(scenes), "--num_scenes", str(count)]
    inputs = {"metadata_file": "metadata.json", "synonyms_json": "synonyms.json", "template_dir": TEMPLATES}
    script += flag_list({flag: str(folder / name) for flag, name in inputs.items()})
    ours = [str(VQAGEN), "generate", "--force", "--scenes", str(scenes), "--count", str(count)]
    its_files = flag_list({**clevr_flags(folder / TEMPLATES), "compat": "clevr"})
    return {
        "CLEVR generator": [*script, "--output_questions_file", str(made / "reference.json")],
        "vqagen, its templates, --compat": [*ours, *its_files, "--out", str(made / "compat.json")],
        "vqagen, shipped templates": [*ours, "--out", str(made / "shipped.json")],
    }
