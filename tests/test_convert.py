"""An output in another format has the bytes that its run writes so."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest
from commands import Commands
from scene_records import sampled_scenes

from vqagen.cli import run

FORMATS = ("json", "jsonl", "parquet")
QUICK = "--scenes scenes.json --templates-per-image 12 --reset-counts-every 4 --trace"


Written = Callable[[str], Path]


@pytest.fixture(scope="module", params=["clevr", pytest.param("market", marks=pytest.mark.slow)])
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Written:
    """Writes one run as "dialect.format", once."""
    folder = tmp_path_factory.mktemp(request.param)
    scenes = sampled_scenes(9, seed=3, domain=request.param)
    (folder / "scenes.json").write_text(json.dumps({"info": {"split": "x"}, "scenes": scenes}))

    @cache
    def write(name: str) -> Path:
        line = f"generate {QUICK} --domain {request.param} --dialect {name.partition('.')[0]} --out {name}"
        with contextlib.chdir(folder):
            assert run(line.split()) == 0
        return folder / name

    return write


def test_an_output_becomes_any_other(written: Written, vqagen_: Commands, tmp_path: Path) -> None:
    for given, made in pairwise([*FORMATS, FORMATS[0]]):
        vqagen_.done(f"convert {written(f'release.{given}')} --out {tmp_path}/made.{made}")

        assert (tmp_path / f"made.{made}").read_bytes() == written(f"release.{made}").read_bytes()


@pytest.mark.quick(1)
def test_a_shard_stays_one(written: Written, vqagen_: Commands) -> None:
    """It merges with the others, in its new format."""
    whole = written("text.json")
    given = json.loads(whole.read_text())["info"]["generator"]["domain"]
    for number in (1, 2):
        line = f"generate {QUICK.replace('scenes.json', f'{whole.parent}/scenes.json')} --domain {given}"
        vqagen_.done(f"{line} --shard {number}/2 --out {number}.jsonl")
    vqagen_.done("convert 1.jsonl --out 1.parquet")
    vqagen_.done("merge 1.parquet 2.jsonl --out whole.json")

    assert Path("whole.json").read_bytes() == whole.read_bytes()


WRONG = [
    ("convert nowhere.json --out a.json", 3, "shard not found: nowhere.json"),
    ("convert scenes.json --out a.parquet", 2, "scenes go to files that end in .json or .jsonl"),
    ("convert foreign.json --out a.json", 3, "foreign.json: not made by vqagen"),
    ("convert changed.jsonl --out a.json", 3, "the records have the checksum"),
    ("convert scenes.json --out scenes.json --force", 2, "is in use by the same run"),
]


def test_what_cannot_be_converted_is_one_line(vqagen_: Commands) -> None:
    vqagen_.done("scenes sample --count 3 --out scenes.json")
    vqagen_.done("scenes sample --count 3 --out changed.jsonl")
    Path("changed.jsonl").write_bytes(Path("changed.jsonl").read_bytes().replace(b"sample_000001", b"sample_000007"))
    Path("foreign.json").write_text('{"info": {}, "questions": []}')
    for line, code, message in WRONG:
        ran = vqagen_(line)

        assert (ran.code, ran.out, len(ran.err.splitlines())) == (code, b"", 1), ran.err
        assert message in ran.err
    assert not Path("a.json").exists()
