"""The oracle itself is tested: of right dialogs that are spoilt, it catches nearly all."""

from __future__ import annotations

import json
from copy import deepcopy
from random import Random
from typing import Any

import pytest
from depth import fewer
from dialog_mutations import ALWAYS_WRONG, ANNOTATIONS, TEXTS, Record
from scene_records import sampled_scenes
from spoken_dialogs import compiled, dialog_judge

import vqagen
from vqagen.judge.dialogs.verification import DialogVerification
from vqagen.world.scene import Scene

SCENES = 6
SPOILT = fewer(25)
"""Dialogs spoilt in each way."""


def is_clean(record: Record, scene: Scene) -> bool:
    """Whether the oracle finds no hard fault in a record."""
    verification = DialogVerification(dialog_judge(), {})
    verification.take(record, 0, scene)
    return verification.report.is_clean


def texts_of(dialog: Record) -> Record:
    """The texts, answers and labels alone, in CLEVR-Dialog's shape."""
    rounds = [
        {key: each[key] for key in ("question", "answer")} | {"template": each["label"]} for each in dialog["rounds"]
    ]
    caption = dialog["caption"]
    return {"dialogs": [{"caption": caption["text"], "template": caption["label"], "dialog": rounds}]}


@pytest.fixture(scope="module")
def right(tmp_path_factory: pytest.TempPathFactory) -> list[tuple[Record, Scene]]:
    """Right dialogs with their scenes."""
    folder = tmp_path_factory.mktemp("dialogs")
    records: list[dict[str, Any]] = sampled_scenes(SCENES, seed=5)
    (folder / "scenes.json").write_text(json.dumps({"scenes": records}))
    vqagen.write_dialogs(folder / "scenes.json", folder / "d.json", settings=vqagen.DialogSettings(seed=9))
    scenes = [compiled(record) for record in records]
    dialogs = json.loads((folder / "d.json").read_text())["dialogs"]
    found = [(each, scenes[each["scene_index"]]) for each in dialogs]
    return [(each, scene) for each, scene in found if is_clean(each, scene)]


def spoilt(right: list[tuple[Record, Scene]], name: str) -> list[tuple[Record, Scene]]:
    """Dialogs that are spoilt in one way."""
    random, found = Random(name), list[tuple[Record, Scene]]()
    spoil = (TEXTS | ANNOTATIONS)[name]  # type: ignore[operator]
    while len(found) < SPOILT:
        dialog, scene = random.choice(right)
        others = [other for other, elsewhere in right if elsewhere is not scene]
        changed = deepcopy(dialog)
        if spoil(changed, random.choice(others), random) and changed != dialog:
            found.append((changed, scene))
    return found


@pytest.mark.parametrize("name", [*TEXTS, *ANNOTATIONS])
def test_a_spoilt_record_is_caught(right: list[tuple[Record, Scene]], name: str) -> None:
    """Texts and annotations are compared with each other and with the scene."""
    caught = [not is_clean(dialog, scene) for dialog, scene in spoilt(right, name)]

    assert sum(caught) >= 0.95 * SPOILT


@pytest.mark.parametrize("name", ALWAYS_WRONG)
def test_spoilt_texts_are_caught_without_annotations(right: list[tuple[Record, Scene]], name: str) -> None:
    """Texts, answers, labels and the scene are enough."""
    caught = [not is_clean(texts_of(dialog), scene) for dialog, scene in spoilt(right, name)]

    assert sum(caught) >= 0.95 * SPOILT
