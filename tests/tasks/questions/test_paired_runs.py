"""Runs with `--balance pairs`: the laws of runs hold, every format keeps the pairs, and what cannot be is refused."""

from __future__ import annotations

import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from pyarrow import parquet
from scene_records import sampled_scenes

from vqagen.cli import run
from vqagen.files.locations import shipped

ONE_HOP = shipped("templates") / "clevr" / "one_hop.json"
SCENES, WINDOW = 33, 12
PAIRS = f"generate --templates {ONE_HOP} --balance pairs --templates-per-image 5 --seed 6"
ASKED = f"{PAIRS} --reset-counts-every {WINDOW} --scenes scenes.json"

Record = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scenes, and one run over all of them in each format."""
    folder = tmp_path_factory.mktemp("paired")
    (folder / "scenes.json").write_text(json.dumps({"info": {"split": "x"}, "scenes": sampled_scenes(SCENES, 8)}))
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        for form in ("json", "jsonl", "parquet"):
            assert run(f"{ASKED} -o whole.{form} --report {form}.report.json".split()) == 0
    return folder


@pytest.fixture
def vqagen_(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> Commands:
    """Runs commands in a folder of its own that has the scenes."""
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_bytes((made / "scenes.json").read_bytes())
    return Commands(capfdbinary)


def questions(path: Path | str) -> list[Record]:
    """The records of a document."""
    return json.loads(Path(path).read_bytes())["questions"]


# The laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shards", "out"),
    [
        (5, "json"),
        pytest.param(2, "parquet", marks=pytest.mark.slow),
        pytest.param(SCENES // 2, "jsonl", marks=pytest.mark.slow),
    ],
)
def test_shards_cut_anywhere_merge_into_one_run(made: Path, vqagen_: Commands, shards: int, out: str) -> None:
    """Also inside of a window, where a shard makes questions whose partners are in another."""
    names = [f"{number:02}.{out}" for number in range(shards)]
    for number, name in enumerate(names):
        vqagen_.done(f"{ASKED} --shard {number + 1}/{shards} -o {name}")
    ran = vqagen_.done(f"merge {' '.join(names)} -o merged.{out}")

    assert Path(f"merged.{out}").read_bytes() == (made / f"whole.{out}").read_bytes()
    assert "parted" not in ran.err


@pytest.mark.parametrize(("window", "shard"), [(12, "2/6"), pytest.param(40, "3/3", marks=pytest.mark.slow)])
def test_a_part_of_a_window_has_the_questions_of_the_whole(
    window: int, shard: str, made: Path, vqagen_: Commands
) -> None:
    """A shard of some scenes makes of them what a run of all makes; so do windows that end after the input."""
    line = f"{PAIRS} --reset-counts-every {window} --scenes scenes.json --force"
    vqagen_.done(f"{line} -o all.json")
    vqagen_.done(f"{line} --shard {shard} -o part.json")
    part = questions("part.json")
    scenes = {record["scene_index"] for record in part}

    assert unnumbered(part) == unnumbered([r for r in questions("all.json") if r["scene_index"] in scenes])
    assert 0 < len(scenes) < WINDOW


def unnumbered(records: list[Record]) -> list[Record]:
    """Records without their place in the file."""
    return [{key: value for key, value in record.items() if key != "question_index"} for record in records]


@pytest.mark.slow
def test_the_summary_counts_questions_without_their_partner(made: Path, vqagen_: Commands) -> None:
    """So does the report. Whole windows have none, and a whole run has every pair twice."""
    for part, is_parted in (("--count 12", False), ("--shard 2/6", True)):
        ran = vqagen_.done(f"{ASKED} {part} -o q.json --report q.report.json --force")
        sizes = Counter(Counter(record["pair"] for record in questions("q.json")).values())

        assert json.loads(Path("q.report.json").read_text())["parted_pairs"] == sizes[1]
        assert (f"parted: {sizes[1]} question" in ran.err) == bool(sizes[1]) == is_parted
    records = questions(made / "whole.json")
    assert set(Counter(record["pair"] for record in records).values()) == {2}
    assert max(Counter(record["scene_index"] for record in records).values()) == 5
    assert len(records) > 0.9 * 5 * SCENES, "windows of 12 scenes and 6 families: the last scenes find no partner"


# Formats --------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_an_output_becomes_any_other_with_its_pairs(made: Path, vqagen_: Commands) -> None:
    """In the bytes that a run writes so; and hidden answers keep the pairs."""
    for given, form in (("json", "parquet"), ("parquet", "jsonl")):
        vqagen_.done(f"convert {made}/whole.{given} -o converted.{form}")
        assert Path(f"converted.{form}").read_bytes() == (made / f"whole.{form}").read_bytes()
    vqagen_.done(f"{ASKED} --hide-answers -o hidden.json")
    vqagen_.done(f"generate --templates {ONE_HOP} --scenes scenes.json --templates-per-image 2 -o plain.parquet")

    numbers = [record["pair"] for record in questions(made / "whole.json")]
    assert all(type(number) is int for number in numbers)
    assert [record["pair"] for record in questions("hidden.json")] == numbers
    assert "pair" not in parquet.read_table(Path("plain.parquet")).column_names


# Inputs that are too small, and settings that are refused -------------------------------------------------------------


@pytest.mark.slow
def test_without_any_pair_the_summary_says_why(vqagen_: Commands) -> None:
    """One scene, or scenes that are all alike: no question, and no error."""
    for scenes in (1, 3):
        alike = [sampled_scenes(1)[0] | {"image_index": n, "image_filename": f"{n}.png"} for n in range(scenes)]
        Path("alike.json").write_text(json.dumps({"scenes": alike}))
        ran = vqagen_.done(f"{PAIRS} --scenes alike.json -o q.json --force")

        assert questions("q.json") == []
        assert ran.err.startswith(f"0 questions about {scenes} scene")
        assert "no partner" in ran.err


def test_a_report_has_the_families_that_only_another_shard_tried(vqagen_: Commands) -> None:
    """The report left them out, and the summary said "from 8 of 5 families tried"."""
    for index in range(2):
        line = f"{ASKED} --shard {index + 1}/{SCENES} --force --report r.json -o q.json --templates-per-image 4"
        said = vqagen_.done(line).err
        report = json.loads(Path("r.json").read_bytes())
        families = report["families"].values()

        assert sum(family["questions"] for family in families) == report["questions"] == len(questions("q.json"))
        assert f"of {len(families)} families tried" in said


def test_what_cannot_be_had_with_pairs_is_refused_at_once(vqagen_: Commands) -> None:
    """Before any work: the scenes are not even there. Nothing is written."""
    refused = {
        "--instances-per-template 2": "--instances-per-template: with --balance pairs a scene begins one pair",
        "--dedupe": "--dedupe all: a rule about the whole output would part the two of a pair",
        "--compat clevr": "--balance pairs: the CLEVR generator balances answers alone; leave out --compat clevr",
        "--reset-counts-every -1": "--reset-counts-every",
        "--instances-per-template 2 --dedupe": "--dedupe all:",
        "--count 1500": "parts pairs, which are made in windows of 1,000 scenes: --count 1000 and --count 2000 do not",
        "--count 20": "--count 0 (all) and --count 1000 do not",
        "--start-index 1000 --count 1700": "--count 1000 and --count 2000 do not",
        "--start-index 30 --reset-counts-every 20": "--start-index 20 and --start-index 40 do not",
        "--count 7 --reset-counts-every 0": "made in one window of all scenes: --count 0 (all) does not",
    }
    for flags, message in refused.items():
        ran = vqagen_(f"{PAIRS} --scenes nowhere.json -o q.json {flags}")
        assert (ran.code, ran.out, message in ran.err, "nowhere" in ran.err) == (2, b"", True, False), ran
    assert sorted(os.listdir()) == ["scenes.json"]
