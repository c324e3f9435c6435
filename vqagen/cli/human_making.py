"""`vqagen human make-tasks`, `extend`, `check`, `items` and `demo`: studies are made."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.options import domain_options, input_path, integer, path, settings_options, spelled
from vqagen.human.settings import ItemSettings, PlanSettings

if TYPE_CHECKING:
    from vqagen.human.study.study import Study

_REWARD = click.option(
    "--reward-per-task", type=click.FloatRange(min=0), default=0.0, metavar="AMOUNT", help="Print the cost."
)


_OURS = {
    "human-captions": "human",
    "image-dir": "images",
    "num-trials-per-task": "trials-per-task",
    "num-attention-checks": "checks-per-task",
    "num-attention-check": "checks-per-task",
}
"""HUMANr's flag -> ours. Its README writes one of them in the singular."""
_FILES, _NAMES = "--model-captions", "--model-names"
"""Flags that take several values, the files and the names of systems."""


class HumanrCommand(click.Command):
    """A command that takes the flags of HUMANr too, and its folder of images as an argument."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.context_settings = {**self.context_settings, "token_normalize_func": partial(spelled, _OURS)}
        self.params += [
            click.Option(["--experiment-name"], hidden=True, expose_value=False),
            click.Option(["--sandbox"], is_flag=True, hidden=True, expose_value=False),
        ]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse arguments after the names and files of systems are paired, as `--system` has them."""
        return super().parse_args(ctx, list(_with_systems(args)))


def _with_systems(args: Sequence[str]) -> Iterator[str]:
    """Yield the arguments with `--system NAME=FILE` in place of HUMANr's two flags."""
    values: dict[str, list[str]] = {}
    taken: list[str] | None = None
    for argument in args:
        flag, separator, value = argument.partition("=")
        name = flag.replace("_", "-")
        if name in (_FILES, _NAMES):
            taken = values.setdefault(name, [])
            if separator:
                taken.append(value)
                taken = None
        elif argument.startswith("-") or taken is None:
            taken = None
            yield argument
        else:
            taken.append(argument)
    files, names = values.get(_FILES, []), values.get(_NAMES, [])
    if len(files) != len(names):
        raise click.UsageError(
            f"{_FILES} has {len(files)} values and {_NAMES} has {len(names)}; give one name per file"
        )
    for name, file in zip(names, files, strict=True):
        yield from ("--system", f"{name}={file}")


@click.command("make-tasks", cls=HumanrCommand)
@click.argument("folder", required=False, type=path, metavar="[FOLDER]")
@click.option("--human", type=path, metavar="FILE", help="Human captions: a JSON object, image -> list of captions.")
@click.option(
    "--system",
    "systems",
    multiple=True,
    metavar="NAME=FILE",
    help="Captions of a system: a JSON object, image -> caption; give one for each system.",
)
@click.option("--items", type=path, metavar="FILE", help="Items as JSON Lines, in place of captions.")
@click.option("--images", type=path, metavar="FOLDER", help="The folder of the images.")
@click.option("--out", "-o", required=True, type=path, metavar="FOLDER", help="Folder for the study.")
@settings_options(settings=PlanSettings)
@_REWARD
@click.option(
    "--force",
    is_flag=True,
    help="Replace a study that was not served yet; its words, serving settings and secret stay.",
)
def make_tasks(
    folder: str | None,
    human: str | None,
    systems: tuple[str, ...],
    items: str | None,
    images: str | None,
    out: str,
    settings: PlanSettings,
    reward_per_task: float,
    force: bool,
) -> None:
    """Plan a study: which trials stand in which task, and on which side.

    No task shows an image twice, but for the rounds of a dialog. Each item is in one task, which --raters-per-item
    people do; sides are exactly balanced. Attention checks show a human caption beside one of another image. Prints
    what precision to expect. Raters see the words of texts.json in the study: edit them, and plan again with --force if
    those of trials change.

    \b
    Example:
      vqagen human make-tasks --human human.json --system ours=model.json --images images --out study
    """
    from vqagen.human.study.making import make_caption_tasks, make_item_tasks

    if images is not None and folder is not None:
        raise click.UsageError(f"--images {images} and {folder} are two folders of images; name one")
    images = images or folder
    if items is not None:
        if human is not None or systems:
            raise click.UsageError("--items holds all texts: leave out --human and --system")
        study, notes = make_item_tasks(out, items, images, settings, force=force)
    else:
        missing = [flag for flag, given in (("--human", human), ("--images", images)) if given is None]
        if human is None or images is None:
            raise click.UsageError(f"missing {' and '.join(missing)}, or --items")
        study, notes = make_caption_tasks(out, human, systems_of(systems), images, settings, force=force)
    _print(study, notes, reward_per_task)


@click.command("extend")
@click.argument("study", type=path)
@click.option(
    "--raters-per-item",
    required=True,
    type=click.IntRange(min=1),
    metavar="NUMBER",
    help="How many people do each task.",
)
@_REWARD
def extend(study: str, raters_per_item: int, reward_per_task: float) -> None:
    """Have more raters do each task of a study that has answers already.

    Answers, links and tasks stay valid. Stop serving first, and make links for new places afterwards.

    \b
    Example:
      vqagen human extend study --raters-per-item 5
    """
    from vqagen.human.study.making import extend_study

    _print(extend_study(study, raters_per_item), [], reward_per_task)


@click.command("check")
@click.argument("study", type=path)
@click.pass_context
def check(ctx: click.Context, study: str) -> None:
    """Check a study before it is served: its images, its words.

    The exit code is 1 if it cannot be served: an image is broken, or words are missing, such as your institution in
    the consent.

    \b
    Example:
      vqagen human check study
    """
    from vqagen.human.study.making import check_study

    made, faults, notes = check_study(study)
    for problem in faults:
        click.echo(str(problem))
    for problem in notes:
        click.echo(f"note: {problem}")
    checked = f"{len(made.tasks):,} tasks, {len(made.items):,} items, {len(made.images):,} images"
    click.echo(f"{len(faults)} fault{'' if len(faults) == 1 else 's'} in {checked}", err=True)
    ctx.exit(1 if faults else 0)


def systems_of(given: tuple[str, ...]) -> dict[str, str]:
    """Return the file of each system."""
    systems: dict[str, str] = {}
    for option in given:
        name, separator, file = option.partition("=")
        if not (name and separator and file):
            raise click.UsageError(f"--system {option!r} is not of the form NAME=FILE")
        if name in systems:
            raise click.UsageError(f"--system {name!r} is named twice; give each system its own name")
        systems[name] = file
    return systems


def _print(study: Study, notes: list[str], reward_per_task: float) -> None:
    """Print what was left out, what remains to be done before the study is served, and what to expect of it."""
    from vqagen.human.study.making import forecast_lines

    unfilled = study.texts.placeholders()
    if unfilled:
        file = study.folder / "texts.json"
        notes = [*notes, f'fill in {", ".join(unfilled)} under "values" in {file} before serving']
    for line in (*(f"vqagen: {note}" for note in notes), *forecast_lines(study, reward_per_task)):
        click.echo(line, err=True)


@click.command("items")
@click.argument("file", type=path, metavar="QUESTIONS|DIALOGS|TRIALS")
@click.option("--scenes", type=input_path, metavar="PATH", help="Scenes that questions and dialogs are about.")
@click.option("--out", "-o", required=True, type=path, metavar="FILE", help="File for the items, JSON Lines.")
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@settings_options(settings=ItemSettings)
@click.option("--force", is_flag=True, help="Replace a file that exists.")
def items(
    file: str,
    scenes: str | None,
    out: str,
    domain: dict[str, Any],
    settings: ItemSettings,
    force: bool,
) -> None:
    """Make items for raters from files of `vqagen generate`, `dialog` or `director generate`.

    Raters answer QUESTIONS, DIALOGS round by round, or TRIALS, and `vqagen human export` writes their answers as
    predictions.

    Pictures are those that the scenes name, such as of `vqagen scenes draw`, or that lie in the folder of TRIALS.

    \b
    Example:
      vqagen human items questions.json --scenes scenes.json --out asked.jsonl
    """
    from collections import Counter

    from vqagen.errors import counted
    from vqagen.files.output import check_output
    from vqagen.human.items import make_items, write_items
    from vqagen.language.domain_files import find_domain

    check_output(out, force)
    made = make_items(scenes, file, settings, find_domain(**domain))
    write_items(made, out, force=force)
    # Kinds of answers that nothing is known of are texts: a domain that was not named is seen here.
    forms = Counter(item.form.__struct_config__.tag for item in made if item.form)
    lines = [f"{counted(number, 'question')} answered by {form}" for form, number in forms.items()]
    click.echo(f"{', '.join(lines) or 'no items'} in {out}", err=True)


@click.command("demo")
@click.option("--out", "-o", type=path, default="demo", show_default=True, metavar="FOLDER", help="A new folder.")
@click.option("--seed", type=integer(), default=0, show_default=True, help="Random seed.")
def demo(out: str, seed: int) -> None:
    """Show a whole study: pictures, items, plan, raters, scores, and a page to try.

    Scenes are sampled and drawn. Captions of two systems, one of which describes another picture, are compared with
    reference captions and rated. Questions, a dialog and director trials are answered. Simulated raters take part; the
    scores are printed, all files are kept, and one place is left for you.

    \b
    Example:
      vqagen human demo --out demo
    """
    from vqagen.cli.messages import print_message
    from vqagen.human.demo import demonstrate, places

    click.echo(demonstrate(out, seed=seed, say=print_message).text(), nl=False)
    for line in places(out):
        click.echo(line, err=True)
