"""A reader such as `head` may close standard output early: the command ends quietly."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from commands import finish, start
from scene_records import sampled_scenes

from vqagen.cli import run


@pytest.mark.quick(1)
@pytest.mark.parametrize("flags", ["", "--workers 2 --format jsonl", "--format parquet"])
def test_a_reader_that_has_enough_ends_the_run_quietly(
    flags: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 141, as of any program; no message, and no file is left."""
    monkeypatch.chdir(tmp_path)
    scenes = sampled_scenes(12, seed=1)
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))
    line = f"generate --scenes scenes.json --templates-per-image 3 --reset-counts-every 4 -o - {flags}"
    reading, writing = os.pipe()
    os.close(reading)
    try:
        process = start(line, stdout=writing)
    finally:
        os.close(writing)
    ran = finish(process)

    assert ran.code == 141
    assert ran.err == ""
    assert os.listdir() == ["scenes.json"]


def test_the_exit_code_stays_if_nobody_reads_the_message(monkeypatch: pytest.MonkeyPatch) -> None:
    """As behind `2>&1 | head`; Python itself would end with 1."""

    def refuse(*message: object, **more: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("click.echo", refuse)

    assert run(["generate", "--sceens", "x"]) == 2
