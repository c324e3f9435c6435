"""The settings of a run: one flag for each, checked before anything is done, and written so that they can be read."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest

import vqagen
from vqagen.cli.generate import command
from vqagen.tasks.settings import flag

OTHER_FLAGS = {"domain", "metadata", "templates", "synonyms", "plugins"} | {
    "scenes",
    "out",
    "layout",
    "dialect",
    "trace",
    "template_extra",
    "hide_answers",
    "disjoint_from",
    "shard",
    "workers",
    "cluster",
    "resume",
    "report",
    "force",
}
"""Parameters of `vqagen generate` that say where things are and how they are made, not what is generated."""

OPTIONS = {option.name: option for option in command.params if isinstance(option, click.Option) and option.expose_value}


def test_settings_and_flags_are_the_same_set() -> None:
    assert set(OPTIONS) - OTHER_FLAGS == set(vqagen.Settings.names())
    assert set(OPTIONS) > OTHER_FLAGS


@pytest.mark.parametrize("name", vqagen.Settings.names())
def test_a_setting_has_its_flag_in_help_with_the_same_default(name: str) -> None:
    """Apart from those whose default depends on `--compat`, as their help says."""
    option = OPTIONS[name]
    context = click.Context(command)
    default = option.get_default(context)

    assert flag(name) in command.get_help(context)
    assert option.opts == [flag(name)]
    if name not in {"degeneracy", "shuffle_templates"}:
        assert (() if option.multiple else default or False) == getattr(vqagen.Settings(), name)


@pytest.mark.parametrize(
    ("compat", "name", "default", "other"),
    [
        ("none", "degeneracy", "all", "none"),
        ("clevr", "degeneracy", "clevr", "none"),
        ("none", "shuffle_templates", True, False),
        ("clevr", "shuffle_templates", False, True),
    ],
)
def test_compat_decides_a_default(compat: str, name: str, default: object, other: object) -> None:
    """A value that the user gives stays."""
    assert getattr(vqagen.Settings(compat=compat), name) == default
    assert getattr(vqagen.Settings(compat=compat, **{name: other}), name) == other


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"count": -1}, "--count must be at least 0, found -1"),
        ({"start_index": -5}, "--start-index must be at least 0, found -5"),
        ({"templates_per_image": 0}, "--templates-per-image must be at least 1, found 0"),
        ({"instances_per_template": -1}, "--instances-per-template must be at least 0, found -1"),
        ({"reset_counts_every": -1}, "--reset-counts-every must be at least 0, found -1"),
        ({"search_budget": 0}, "--search-budget must be at least 1, found 0"),
        ({"degeneracy": "some"}, "--degeneracy must be one of none, clevr, all, found 'some'"),
        ({"redundancy": ""}, "--redundancy must be one of keep, reduce, found ''"),
        ({"compat": "gqa"}, "--compat must be one of none, clevr, found 'gqa'"),
        ({"questions_per_image": -1}, "--questions-per-image must be at least 0, found -1"),
        ({"max_per_template": -2}, "--max-per-template must be at least 0, found -2"),
        ({"dedupe": "text"}, "--dedupe must be one of none, image, all, found 'text'"),
        ({"shuffle_templates": 1}, "shuffle_templates must be true or false, found 1"),
        ({"only": "count"}, "only must be a list of names, found 'count'"),
        ({"only": ("count", 3, None)}, "only must hold names, found 3\nonly must hold names, found None"),
        (
            {"only": {"count"}, "dedupe": 1},
            "only must be a list of names, found {'count'}\ndedupe must be text, found 1",
        ),
        (
            {"count": -1, "compat": "gqa", "search_budget": -2},
            "--count must be at least 0, found -1\n--compat must be one of none, clevr, found 'gqa'\n"
            "--search-budget must be at least 1, found -2",
        ),
    ],
)
def test_all_that_is_wrong_is_told_at_once(wrong: dict[str, Any], told: str) -> None:
    with pytest.raises(vqagen.UsageError) as caught:
        vqagen.Settings(**wrong)

    assert str(caught.value) == told


@pytest.mark.parametrize(
    "settings",
    [
        vqagen.Settings(),
        vqagen.Settings(seed=-3, compat="clevr"),
        vqagen.Settings(start_index=5, count=7, instances_per_template=0, shuffle_templates=True, degeneracy="none"),
        vqagen.Settings(questions_per_image=3, only=("count", "one_hop.json"), max_per_template=9, dedupe="all"),
    ],
    ids=["default", "compat", "many", "selected"],
)
def test_a_record_makes_the_settings_again(settings: vqagen.Settings) -> None:
    """By way of JSON, as it stands in a file's `info`."""
    record = json.loads(json.dumps(settings.to_record()))

    assert tuple(record) == vqagen.Settings.names()
    assert vqagen.Settings(**record) == settings
    assert settings.to_record() == record, "as it is compared when a run goes on"
