"""Scenes of one image name are told apart by `scene_index`, which every question carries."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

import vqagen
from vqagen.records.question_files import read_questions

SCENES = 6
Record = dict[str, Any]


def scenes_of_one_name(copies: int) -> list[Record]:
    """Sampled scenes, of which the last `copies` have the image of the first."""
    scenes = [dict(scene) for scene in vqagen.sample_scenes(SCENES, seed=3)]
    for scene in scenes[len(scenes) - copies :]:
        scene.update(image_filename=scenes[0]["image_filename"], image_index=scenes[0]["image_index"])
    return scenes


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in a folder with scenes.json, where two scenes have one name."""
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_text(json.dumps({"scenes": scenes_of_one_name(1)}))
    return Commands(capsysbinary)


@pytest.mark.parametrize("out", ["q.json", "q.jsonl", "q.parquet"])
@pytest.mark.parametrize("dialect", ["generator", "release"])
def test_questions_name_the_place_of_their_scene_in_the_input(out: str, dialect: str, vqagen_: Commands) -> None:
    """Whatever the scene calls itself, and wherever the run begins."""
    vqagen_.done(f"generate --scenes scenes.json --dialect {dialect} --start-index 4 --out {out}")
    records = list(read_questions(Path(out)))
    keys = list(records[0])

    assert {record["scene_index"] for record in records} == {4, 5}
    assert keys[keys.index("image") + 1] == "scene_index"


def test_shards_name_the_places_that_the_whole_run_names(vqagen_: Commands) -> None:
    vqagen_.done("generate --scenes scenes.json --reset-counts-every 2 --out whole.jsonl")
    for number in (1, 2):
        vqagen_.done(f"generate --scenes scenes.json --reset-counts-every 2 --shard {number}/2 --out {number}.jsonl")
    shards = [record["scene_index"] for number in (1, 2) for record in read_questions(Path(f"{number}.jsonl"))]

    assert shards == [record["scene_index"] for record in read_questions(Path("whole.jsonl"))]
    assert set(shards) == set(range(SCENES))
