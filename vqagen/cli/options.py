"""Options that several commands have. Those of settings are built from the fields of the settings classes."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Mapping
from dataclasses import Field, fields
from functools import partial, wraps
from tempfile import TemporaryDirectory
from typing import Any

import click

from vqagen.errors import UsageError
from vqagen.tasks import TASKS
from vqagen.tasks.settings import LARGEST, CheckedSettings, flag, setting_of

Command = Callable[..., Any]
AddOption = Callable[[Command], Command]
STDIN = "-"


class Option(click.Option):
    """An option that belongs to a group in the help."""

    def __init__(self, *args: Any, group: str = "", **more: Any) -> None:
        super().__init__(*args, **more)
        self.group = group


LAST_GROUPS = ("running", "compatibility", "other")
"""Groups that come last; the others stand in the order of the first option of each."""


class GroupedCommand(click.Command):
    """A command whose help shows its options by their groups."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each group."""
        rows: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            row = param.get_help_record(ctx) if isinstance(param, click.Option) else None
            if row is not None:
                rows.setdefault(getattr(param, "group", "") or "other", []).append(row)
        for group in sorted(rows, key=lambda name: LAST_GROUPS.index(name) if name in LAST_GROUPS else -1):
            with formatter.section(group.capitalize()):
                formatter.write_dl(rows[group])


def path(text: str) -> str:
    """Return the name of a file or folder, or `-`. An empty name, as from an unset shell variable, is refused."""
    if not text:
        raise click.BadParameter("the name is empty")
    return text


def input_path(text: str) -> str:
    """Return the name of an input. A pipe, or standard input (`-`), can be read only once: it is kept in a file.

    `vqagen generate --scenes <(zcat scenes.json.gz)` reads the scenes as they come, and again to hash them. Raises
    BadParameter for a device such as /dev/zero, which has no end.
    """
    name = path(text)
    mode = os.stat(0 if name == STDIN else name).st_mode if name == STDIN or os.path.exists(name) else 0
    if stat.S_ISCHR(mode) and name not in (STDIN, os.devnull):
        raise click.BadParameter(f"{name} is a device; name a file or folder")
    if name != STDIN and not stat.S_ISFIFO(mode):
        return name
    context = click.get_current_context()
    folder = context.with_resource(TemporaryDirectory(prefix="vqagen-"))
    kept = os.path.join(folder, "stdin" if name == STDIN else f"pipe-{os.path.basename(name)}")
    with open(0 if name == STDIN else name, "rb", closefd=name != STDIN) as given, open(kept, "wb") as file:
        shutil.copyfileobj(given, file)
    return kept


def integer(least: int = -LARGEST) -> Callable[[str | int], int]:
    """Return a converter to whole numbers of at least `least`."""

    def integer(given: str | int) -> int:  # help shows this name
        try:
            number = int(given)
        except ValueError:
            raise click.BadParameter(f"{given!r} is not a whole number") from None
        if not least <= number <= LARGEST:
            bound = f"at least {least}" if number < least else f"at most {LARGEST}"
            raise click.BadParameter(f"must be {bound}, found {number}")
        return number

    return integer


def spelled(flags: Mapping[str, str], token: str) -> str:
    """Return the name of an option as we spell it, by the `flags` of another program: its name -> ours.

    >>> spelled({"scene-start-idx": "start-index"}, "scene_start_idx"), spelled({}, "seed")
    ('start-index', 'seed')
    """
    hyphened = token.replace("_", "-")
    return flags.get(hyphened, hyphened)


# Settings ---------------------------------------------------------------------------------------------------------


def settings_options(**classes: type[CheckedSettings]) -> AddOption:
    """Add the options of settings classes; the command gets each class's settings under its keyword.

    >>> from vqagen.run.options import RunOptions
    >>> @click.command()
    ... @settings_options(options=RunOptions)
    ... def command(options: RunOptions) -> None: ...
    """

    def add(command: Command) -> Command:
        @wraps(command)
        def with_settings(*args: Any, **values: Any) -> Any:
            given = {keyword: _taken(values, settings) for keyword, settings in classes.items()}
            return command(*args, **_checked(classes, given), **values)

        wrapped: Command = with_settings
        for described in reversed([described for settings in classes.values() for described in fields(settings)]):
            wrapped = setting_option(described)(wrapped)
        return wrapped

    return add


def setting_option(described: Field[Any]) -> AddOption:
    """Return the option of one field of a settings class."""
    limits = setting_of(described)
    default: Any = described.default
    keywords: dict[str, Any] = {
        "help": limits.help or None,
        "metavar": limits.metavar or None,
        "cls": Option,
        "group": limits.group,
    }
    name = flag(described.name)
    if default is None:
        keywords |= {"default": None}  # the help says it, as it depends on other settings
    elif isinstance(default, bool):
        keywords |= {"is_flag": True}
    elif isinstance(default, tuple):
        keywords |= {"multiple": True}
    elif limits.least is not None and default < limits.least:
        keywords |= {"required": True}
    elif default != "":
        keywords |= {"default": default, "show_default": True}
    if limits.choices:
        keywords |= {"type": click.Choice(limits.choices)}
    elif limits.types == (int,):
        keywords |= {"type": integer()}  # the settings check the least value, all of them at once
    elif float in limits.types:
        keywords |= {"type": float}
    elif limits.types != (bool,):
        keywords |= {"type": str}
    if limits.bare:
        keywords |= {"is_flag": False, "flag_value": limits.bare}
    return click.option(name, **keywords)


def _taken(values: dict[str, Any], settings: type[CheckedSettings]) -> dict[str, Any]:
    """Remove from the options' `values` those of a settings class, and return the ones that were given."""
    taken = {name: values.pop(name) for name in settings.names()}
    return {name: value for name, value in taken.items() if value is not None}


def _checked(classes: dict[str, type[CheckedSettings]], given: dict[str, dict[str, Any]]) -> dict[str, CheckedSettings]:
    """Make all settings. The faults of all of them are one UsageError."""
    made, faults = {}, []
    for keyword, settings in classes.items():
        try:
            made[keyword] = settings(**given[keyword])
        except UsageError as error:
            faults.append(str(error))
    if faults:
        raise UsageError("\n".join(faults))
    return made


# Scores -----------------------------------------------------------------------------------------------------------

missing_option = click.option(
    "--missing",
    type=click.Choice(["wrong", "skip"]),
    default="wrong",
    show_default=True,
    help="Questions without a prediction are wrong, or left out (of several models, for all).",
)
image_key_option = click.option(
    "--image-key",
    default="",
    metavar="NAME",
    help="Key of the image that a question is about. [default: image_filename, image_id, imageId, image, …]",
)

prediction_key_option = click.option(
    "--prediction-key", default="", metavar="NAME", help="Key or column of the predictions, if its name does not tell."
)

coordinates_option = click.option(
    "--coordinates",
    type=click.Choice(["pixels", "1000"]),
    help="What the coordinates of predicted points and boxes count: pixels, or thousandths of the picture.",
)

# Inputs and outputs -----------------------------------------------------------------------------------------------

shard_option = click.option(
    "--shard",
    cls=Option,
    group="running",
    metavar="K/N",
    help="Only the K-th of N parts of the run, counted from 1; see `vqagen merge`.",
)

scenes_option = click.option(
    "--scenes",
    cls=Option,
    group="input",
    required=True,
    type=input_path,
    metavar="PATH",
    help="Scenes: a document, JSON Lines, Parquet, or a folder of files. - for standard input.",
)

catalogue_option = click.option(
    "--catalogue",
    cls=Option,
    group="input",
    type=path,
    metavar="FILE",
    help="Catalogue of items, in place of the shipped one.",
)


def out_option(metavar: str, help: str) -> AddOption:
    """Return the option `--out`."""
    return click.option("--out", "-o", cls=Option, group="output", required=True, type=path, metavar=metavar, help=help)


class _FormatName(click.Choice[str]):
    """The name of a format of files."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name. UsageError for a format that another command writes."""
        from vqagen.files.formats import refuse_foreign

        refuse_foreign(value)
        return super().convert(value, param, ctx)


def output_options(*keys: str, records: str = "") -> AddOption:
    """Add the options of an output: `--out`, and `--format` with every format of the tasks of these keys.

    The command gets the name of the format as `layout`. `records`, for people, are by default those of the first key.
    """
    formats = list(dict.fromkeys(name for key in keys for name in TASKS[key].formats))
    if all(TASKS[key].makes_files for key in keys):
        out = out_option("FOLDER", f"Folder for the {records or keys[0]} and their files.")
        help_format = f"Format of the records. [default: {formats[0]}]"
    else:
        out = out_option("FILE", f"File for the {records or keys[0]}; its ending is the format. - for standard output.")
        help_format = "Format of standard output."

    def add(command: Command) -> Command:
        layout = click.option(
            "--format", "layout", cls=Option, group="output", type=_FormatName(formats), help=help_format
        )
        return out(layout(command))

    return add


# Domains ----------------------------------------------------------------------------------------------------------

_given = partial(click.option, cls=Option, group="input")
_input = partial(_given, type=input_path)
_DOMAIN_OPTIONS = {
    "domain": _given(
        "--domain",
        type=path,
        metavar="NAME|FOLDER",
        help="A shipped domain by its name, or a folder (./farm) with metadata.json, templates, synonyms.json."
        " [default: clevr]",
    ),
    "metadata": _input("--metadata", metavar="FILE", help="Metadata file, in place of the domain's."),
    "templates": _input(
        "--templates",
        metavar="PATH",
        help="Template file or folder, in place of the domain's; or clevr-places or clevr-viewpoint.",
    ),
    "synonyms": _input("--synonyms", metavar="FILE", help="Synonyms file, in place of the domain's."),
    "plugins": _given(
        "--plugin",
        "plugins",
        type=path,
        multiple=True,
        metavar="FILE.py",
        help="Functions, attributes, relations and constraints in Python; may be given several times.",
    ),
}


def domain_options(*names: str) -> AddOption:
    """Add the options of these names in the order given; the command gets their values together, as `domain`."""

    def add(command: Command) -> Command:
        @wraps(command)
        def with_domain(*args: Any, **values: Any) -> Any:
            return command(*args, domain={name: values.pop(name) for name in names}, **values)

        wrapped: Command = with_domain
        for name in reversed(names):
            wrapped = _DOMAIN_OPTIONS[name](wrapped)
        return wrapped

    return add
