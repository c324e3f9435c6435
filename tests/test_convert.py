"""An output in another format or dialect has the bytes that its run writes so."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from functools import cache
from itertools import product
from pathlib import Path

import pytest
from commands import Commands
from scene_records import sampled_scenes

from vqagen.cli import run

FORMATS = ("json", "jsonl", "parquet")
DIALECTS = ("generator", "release")
QUICK = "--scenes scenes.json --templates-per-image 12 --reset-counts-every 4 --trace"


Written = Callable[[str], Path]


@pytest.fixture(scope="module", params=["clevr", "market"])
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


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return Commands(capsysbinary)


@pytest.mark.quick(2)
@pytest.mark.parametrize("given", [f"generator.{form}" for form in FORMATS] + ["release.parquet"])
@pytest.mark.parametrize(("form", "dialect"), list(product(FORMATS, DIALECTS)))
def test_an_output_becomes_any_other(
    written: Written, vqagen_: Commands, tmp_path: Path, given: str, form: str, dialect: str
) -> None:
    vqagen_.done(f"convert {written(given)} --dialect {dialect} --out {tmp_path}/made.{form}")

    assert (tmp_path / f"made.{form}").read_bytes() == written(f"{dialect}.{form}").read_bytes()


@pytest.mark.quick(1)
def test_a_shard_stays_one(written: Written, vqagen_: Commands) -> None:
    """It merges with the others, in its new format."""
    whole = written("generator.json")
    given = json.loads(whole.read_text())["info"]["generator"]["domain"]
    for number in (1, 2):
        line = f"generate {QUICK.replace('scenes.json', f'{whole.parent}/scenes.json')} --domain {given}"
        vqagen_.done(f"{line} --shard {number}/2 --out {number}.jsonl")
    vqagen_.done("convert 1.jsonl --out 1.parquet")
    vqagen_.done("merge 1.parquet 2.jsonl --out whole.json")

    assert Path("whole.json").read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("convert nowhere.json --out a.json", 2, "shard not found: nowhere.json"),
        ("convert scenes.json --dialect release --out a.json", 2, "not a dialect of scenes; they have none"),
        ("convert scenes.json --out a.parquet", 2, "scenes are written as json (.json) or jsonl (.jsonl)"),
        ("convert foreign.json --out a.json", 3, "foreign.json: not made by vqagen"),
        ("convert changed.jsonl --out a.json", 3, "the records have the checksum"),
        ("convert scenes.json --out scenes.json --force", 2, "is in use by the same run"),
    ],
)
def test_what_cannot_be_converted_is_one_line(vqagen_: Commands, line: str, code: int, message: str) -> None:
    vqagen_.done("scenes sample --count 3 --out scenes.json --force")
    vqagen_.done("scenes sample --count 3 --out changed.jsonl")
    Path("changed.jsonl").write_bytes(Path("changed.jsonl").read_bytes().replace(b"sample_000001", b"sample_000007"))
    Path("foreign.json").write_text('{"info": {}, "questions": []}')
    ran = vqagen_(line)

    assert (ran.code, ran.out) == (code, b"")
    assert message in ran.err
    assert len(ran.err.splitlines()) == 1
    assert not Path("a.json").exists()
