"""The settings of a run: one flag for each, checked before anything is done, and written so that they can be read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import click
import pytest

import vqagen
from vqagen.cli.dialog import command as dialog
from vqagen.cli.director import generate as trials
from vqagen.cli.generate import command as generate
from vqagen.cli.messages import RETIRED
from vqagen.cli.options import settings_options
from vqagen.cli.scenes import sample
from vqagen.tasks.settings import CheckedSettings, flag, setting

FIELDS = [
    (command, settings, name)
    for command, classes in {
        generate: (vqagen.QuestionSettings, vqagen.RecordForm, vqagen.RunOptions),
        sample: (vqagen.SamplingSettings, vqagen.RunOptions),
    }.items()
    for settings in classes
    for name in settings.names()
    if (command, name) != (sample, "cluster")
]


def test_a_setting_has_its_flag_in_help_with_the_same_default() -> None:
    """Apart from settings without a fixed default: `--degeneracy`, whose help says it, and `scenes sample --count`."""
    for command, settings, name in FIELDS:
        (option,) = [each for each in command.params if isinstance(each, click.Option) and each.name == name]
        context, field = click.Context(command), settings.__dataclass_fields__[name]
        default = option.get_default(context)

        assert option.opts == [flag(name)] and option.help and flag(name) in command.get_help(context), name
        if option.required:
            assert (command.name, name) == ("sample", "count")
        else:
            assert field.default in (default, "" if default is None else type(field.default)()), name


def test_a_new_field_is_a_checked_option_without_more() -> None:
    """Its name, type, default, limits and help stand in the class alone."""

    @dataclass(frozen=True)
    class Brush(CheckedSettings):
        width: int = setting(3, "Width in pixels.", least=1)
        colours: tuple[str, ...] = setting((), "Colours to use.", metavar="COLOUR")
        tip: str = setting("round", "The form of the tip.", choices=("round", "flat"), bare="flat")
        is_wet: bool = setting(False, "Paint wet.")

    @click.command()
    @settings_options(brush=Brush)
    def paint(brush: Brush) -> None:
        made.append(brush)

    made: list[Brush] = []
    paint.main(["--colours", "red", "--colours", "blue", "--is-wet", "--tip"], standalone_mode=False)
    assert made == [Brush(3, ("red", "blue"), "flat", True)]
    with pytest.raises(vqagen.UsageError, match=r"^--width must be at least 1, found 0$"):
        paint.main(["--width", "0"], standalone_mode=False)
    assert "--tip [round|flat]  The form of the tip." in paint.get_help(click.Context(paint))


@pytest.mark.parametrize("command", [generate, dialog, trials, sample], ids=lambda each: each.name)
def test_every_option_has_a_group_in_the_help(command: click.Command) -> None:
    """Input, output and so on; `--help` alone stands by itself."""
    shown = command.get_help(click.Context(command)).replace("-h, --help", "--help")  # as the program shows it
    assert shown.endswith("\n\nOther:\n  --help  Show this message and exit.")


def test_faults_of_all_settings_of_a_command_are_reported_at_once() -> None:
    """Also of settings that are not in one class."""
    flags = ["--scenes", "-", "--out", "-", "--count", "-1", "--workers", "0", "--trace", "--hide-answers"]
    with pytest.raises(vqagen.UsageError) as caught:
        generate.main(flags, standalone_mode=False)

    assert str(caught.value).splitlines() == [
        "--trace shows the answers that --hide-answers leaves out; choose one of the two",
        "--count must be at least 0, found -1",
        "--workers must be a number from 1 on, or auto; found '0'",
    ]


def test_compat_decides_a_default() -> None:
    """A value that the user gives stays."""
    for name, plain, clevr, other in (
        ("degeneracy", "all", "clevr", "none"),
        ("balance", "words", "answers", "answers"),
    ):
        assert getattr(vqagen.QuestionSettings(), name) == plain
        assert getattr(vqagen.QuestionSettings(compat="clevr"), name) == clevr
        assert getattr(vqagen.QuestionSettings(compat="clevr", **{name: other}), name) == other


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"degeneracy": "some"}, "--degeneracy must be one of none, clevr, all, found 'some'"),
    ({"skip_bad_templates": 1}, "skip_bad_templates must be true or false, found 1"),
    ({"only": "count"}, "only must be a list of names, found 'count'"),
    ({"only": ("count", 3, None)}, "only must hold names, found 3\nonly must hold names, found None"),
    ({"only": {"count"}, "dedupe": 1}, "only must be a list of names, found {'count'}\ndedupe must be text, found 1"),
    (
        {"count": -1, "compat": "gqa", "templates_per_image": -2},
        "--count must be at least 0, found -1\n--templates-per-image must be at least 1, found -2\n"
        "--compat must be one of none, clevr, found 'gqa'",
    ),
]


def test_all_that_is_wrong_is_told_at_once() -> None:
    for wrong, told in WRONG:
        with pytest.raises(vqagen.UsageError) as caught:
            vqagen.QuestionSettings(**wrong)

        assert str(caught.value) == told


def test_a_record_makes_the_settings_again() -> None:
    """By way of JSON, as it stands in a file's `info`."""
    for settings in (
        vqagen.QuestionSettings(seed=-3, compat="clevr", start_index=5, count=7),
        vqagen.QuestionSettings(
            templates_per_image=3, only=("count", "one_hop.json"), dedupe="all", reset_counts_every=0
        ),
    ):
        record = json.loads(json.dumps(settings.to_record()))

        assert tuple(record) == vqagen.QuestionSettings.names()
        assert vqagen.QuestionSettings(**record) == settings
        assert settings.to_record() == record, "as it is compared when a run goes on"


def test_an_info_of_version_1_names_settings_that_are_gone() -> None:
    """They are known by name, and their options say what to do instead; any other unknown name is a fault."""
    of_version_1 = (*vqagen.DialogSettings.names(), "semantics", "target_distance")

    assert not [*vqagen.DialogSettings.name_faults(of_version_1)]
    assert {f"vqagen dialog {flag(name)}" for name in vqagen.DialogSettings.RETIRED} <= RETIRED.keys()
    assert [*vqagen.DialogSettings.name_faults(["round"])] == ["unknown setting 'round'; did you mean 'rounds'?"]
