"""Dialogs for tests, as the generator makes them; each set of them is made once in a process."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import orjson
import pytest
from conftest import SHARED
from dialog_domains import dialog_domain
from scene_records import sampled_scenes

from vqagen import DialogSettings
from vqagen.tasks.dialog.quotas import PRESETS
from vqagen.tasks.dialog.search import DialogGenerator
from vqagen.world.scene import compile_scene

Record = dict[str, Any]


def real_scenes(count: int) -> list[Record]:
    """The first CLEVR scenes beside the repository; without them the test is skipped."""
    path = SHARED / "data" / "clevr_v1_train_scenes_1000.json"
    if not path.is_file():
        pytest.skip("no CLEVR scenes in the shared/ folder beside the repository")
    return [orjson.loads(text) for text in _real_scenes(str(path))[:count]]


@cache
def _real_scenes(path: str) -> list[bytes]:
    with open(path, "rb") as file:
        return [orjson.dumps(each) for each in orjson.loads(file.read())["scenes"]]


def dialogs_about(scenes: Sequence[Record], domain: str = "clevr", first: int = 0, **settings: Any) -> list[Record]:
    """The dialogs of scenes, numbered from `first`."""
    generator, made = _generator(domain, **settings), list[Record]()
    balance = generator.balance(0)
    for index, record in enumerate(scenes, start=first):
        made += generator.dialogs(compile_scene(record, dialog_domain(domain).domain, index), balance)[0]
    return made


@cache
def _generator(domain: str, **settings: Any) -> DialogGenerator:
    """What it works out about quotas serves all scenes."""
    chosen = DialogSettings(**settings)
    return DialogGenerator(dialog_domain(domain), chosen, PRESETS[chosen.quotas])


@cache
def generated(count: int, domain: str = "clevr", **settings: Any) -> tuple[Record, ...]:
    """The dialogs of the first sampled scenes. Nobody may change them."""
    return tuple(dialogs_about(sampled_scenes(count, domain=domain), domain, **settings))


def family_counts(dialog: Record, rounds: int) -> dict[str, int]:
    """Family -> its rounds among the first ones of a dialog."""
    families = [each["family"] for each in dialog["rounds"][:rounds]]
    return {family: families.count(family) for family in ("count", "exist", "seek")}
