"""The three laws: same seed, same bytes; shards concatenate; answers can be re-derived."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import chdir
from dataclasses import replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from depth import fewer
from families import SHIPPED, Collection
from hypothesis import given, settings, strategies as st
from oracles import oracle

import vqagen
from vqagen import Generation, find_scenes
from vqagen.cli import run
from vqagen.language.question import record_writer

SCENES, WINDOW = fewer(60, least=10), 25


@pytest.fixture(scope="module")
def scenes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A sampled scene document for each collection, longer than two windows."""
    folder = tmp_path_factory.mktemp("scenes")
    paths = {str(collection): folder / f"{collection}.json" for collection in SHIPPED}
    for collection in SHIPPED:
        paths[str(collection)].write_text(json.dumps({"info": {}, "scenes": collection.sampled(SCENES, seed=8)}))
    return paths


def records(
    scenes: dict[str, Path], collection: Collection, dialect: str = "generator", **chosen: Any
) -> list[dict[str, Any]]:
    """The question records of a run, with windows of WINDOW scenes."""
    run_settings = vqagen.QuestionSettings(**{"reset_counts_every": WINDOW, **chosen})
    run = Generation(find_scenes(scenes[str(collection)]), collection.materials, run_settings)
    questions = (question for _, made in run.by_scene() for question in made)
    to_record = record_writer(dialect)
    return [
        json.loads(json.dumps(to_record(replace(question, question_index=index))))
        for index, question in enumerate(questions)
    ]


def unnumbered(question_records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Records without their place in the file: merging numbers them anew."""
    return [{key: value for key, value in record.items() if key != "question_index"} for record in question_records]


@pytest.mark.quick(1)
@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_same_seed_same_bytes(collection: Collection, scenes: dict[str, Path], tmp_path: Path) -> None:
    """Another process, another hash seed, another folder: the output is the same to the byte."""
    written = []
    for number, hash_seed in enumerate(("0", "4242")):
        folder = tmp_path / f"run{number}"
        folder.mkdir()
        arguments = [
            "generate",
            "--scenes",
            str(scenes[str(collection)]),
            "--out",
            "questions.json",
            "--seed",
            "3",
            "--count",
            "6",
        ]
        arguments += ["--metadata", str(collection.metadata), "--templates", str(collection.templates)]
        if number == 0:
            with chdir(folder):
                assert run(arguments) == 0
            written.append((folder / "questions.json").read_bytes())
            continue
        path = os.pathsep.join([str(Path(vqagen.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
        env = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": path}
        code = "from vqagen.cli import main; main()"
        subprocess.run([sys.executable, "-c", code, *arguments], cwd=folder, env=env, check=True, capture_output=True)
        written.append((folder / "questions.json").read_bytes())

    assert written[0] == written[1]
    assert len(json.loads(written[0])["questions"]) >= 55


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("count", "window", "examples"), [(9, 4, 3), pytest.param(SCENES, WINDOW, 30, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_shards_concatenate(
    collection: Collection, scenes: dict[str, Path], count: int, window: int, examples: int
) -> None:
    """Shards at any cuts, laid end to end, are the questions of one run."""

    @cache
    def made(start: int, end: int, compat: str, instances: int) -> list[dict[str, Any]]:
        chosen = {"compat": compat, "instances_per_template": instances, "templates_per_image": 4}
        cut = {"start_index": start, "count": end - start, "reset_counts_every": window}
        return unnumbered(records(scenes, collection, **chosen, **cut))

    @given(
        cuts=st.sets(st.integers(1, count - 1), max_size=4),
        compat=st.sampled_from(["none", "clevr"]),
        instances=st.integers(1, 2),
    )
    @settings(max_examples=examples)
    def concatenate(cuts: set[int], compat: str, instances: int) -> None:
        edges = [0, *sorted(cuts), count]
        shards = [made(start, end, compat, instances) for start, end in pairwise(edges)]
        assert [record for shard in shards for record in shard] == made(0, count, compat, instances)

    concatenate()


@pytest.mark.quick(1)
@pytest.mark.parametrize("count", [8, pytest.param(SCENES, marks=pytest.mark.slow)])
@pytest.mark.parametrize("dialect", ["generator", "release"])
@pytest.mark.parametrize("compat", ["none", "clevr"])
@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_answers_can_be_re_derived(
    collection: Collection, scenes: dict[str, Path], compat: str, dialect: str, count: int
) -> None:
    """The independent checker finds nothing wrong with any record, read back from JSON."""
    by_image = {
        record["image_filename"]: record for record in json.loads(scenes[str(collection)].read_text())["scenes"]
    }
    made = records(scenes, collection, dialect, compat=compat, seed=5, count=count)

    faults = [
        (record["question"], fault)
        for record in made
        for fault in oracle.check_question(record, by_image[record["image_filename"]], collection.raw_metadata)
    ]

    assert faults == []
    assert len(made) >= 9.5 * count
