"""Dialogs of version 1: with `--semantics legacy` their references followed looser rules, and they list more facts.

What such a reference means is taken from the program of its round. Facts that only follow from what was told need to be
true.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from vqagen.errors import as_written
from vqagen.tasks.dialog.annotation import new_facts
from vqagen.tasks.dialog.captions import Caption, caption_args
from vqagen.tasks.dialog.knowledge import Knowledge
from vqagen.tasks.dialog.scene import DialogScene


def args_of(said: object) -> Mapping[str, Any]:
    """Return the arguments of the program of a caption or a round, as far as it has any."""
    match said:
        case {"program": {"args": Mapping() as args}}:
            return args
    return {}


def captions_named(captions: list[Caption], args: Mapping[str, Any], scene: DialogScene) -> list[Caption]:
    """Return the caption whose program has these arguments, or all if none has: by looser rules several fit."""
    return [each for each in captions if caption_args(each, scene) == args] or captions


def fact_fault(said: Mapping[str, Any], told: list[Any], listed: list[Any], true: list[Any]) -> str:
    """Return why the facts of a round are not those that its answer conveys; "" if they can be.

    Version 1 listed what follows, too: that there are cubes, where three cubes are small. So each fact that is told has
    to be `listed` by now, as itself or by its number, and any other fact has to be true of the scene.
    """
    written = said.get("knowledge_delta")
    if not isinstance(written, list):
        return f"knowledge_delta is {as_written(written)}, expected a list"
    listed += [*written, *map(_exists, written)]
    faults = [f"{as_written(fact)} is not so" for fact in written if fact not in told and fact not in true]
    faults += [f"{as_written(fact)} is missing" for fact in told if fact not in listed]
    return f"knowledge_delta: {faults[0]}" if faults else ""


def _exists(fact: object) -> object:
    """Return what a number of objects says about there being any."""
    match fact:
        case {"fact": str(name), "count": int(count), **said} if name.endswith("-count"):
            return {"fact": f"{name.removesuffix('count')}exists", **said, "exists": count > 0}
    return fact


def facts_of(scene: DialogScene) -> list[Any]:
    """Return all facts about a scene that dialogs can convey."""
    nothing, found = Knowledge.of_nothing(scene.size), list[Any]()
    values, _, relations = scene.widths
    sides = [(1 << relations) - 1] * scene.size
    known = replace(nothing, told=scene.values_of, value_exists=(1 << values) - 1, related_exists=sides)
    known.alike_exists = scene.values_of
    found += new_facts(scene, nothing, known)
    counted = replace(known, value_counts=known.value_exists, related_counts=sides, size_known=True)
    counted.alike_counts = scene.values_of
    return [*found, *new_facts(scene, nothing, counted)]
