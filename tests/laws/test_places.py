"""A file or folder that is missing, or that cannot be read or written, ends every command with 3."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest
from commands import Commands, all_commands
from depth import some
from scene_records import SMALL_SCENES

UNREADABLE = ("missing.json", "scenes.json/below.json", "empty")
"""A name without a file, a name below a file, and a folder with nothing in it."""
UNWRITABLE = ("scenes.json/out{}", "/proc/out{}", "missing/out{}", "folder{}")
"""A name below a file and one on a disk that takes no files; for files also a name in no folder, and a folder."""
READS = {
    "generate": [
        "--scenes X -o new.json",
        *(f"--scenes scenes.json -o new.json {flag} X" for flag in ("--metadata", "--templates", "--synonyms")),
        *(f"--scenes scenes.json -o new.json {flag}X" for flag in ("--plugin ", "--disjoint-from ", "--domain ./")),
    ],
    "dialog": ["--scenes X -o d.json", "--scenes scenes.json -o d.json --templates X"],
    "director generate": ["--count 1 -o trials --catalogue X", "--count 1 -o trials --templates X"],
    "director items check": ["--catalogue X"],
    "director items preview": ["-o p.svg --catalogue X"],
    "director items copy": ["c.json --catalogue X"],
    "director export": ["X --lists 2 --per-list 2 -o t.csv"],
    "dataset": ["made --count 2 --pictures drawn --scenes X"],
    "choices": ["X --scenes scenes.json -o c.json", "q.json --scenes X -o c.json"],
    "export": ["X --without-pictures --to trl -o exported"],
    "show": ["X -o page", "q.json --scenes X -o page"],
    "merge": ["X -o m.json"],
    "convert": ["X -o c.json"],
    "verify": ["X --scenes scenes.json", "q.json --scenes X"],
    "stats": ["X", "q.json --against X"],
    "evaluate": ["X p.jsonl", "q.json X", "q.json p.jsonl --scenes X"],
    "compare": ["X p.jsonl p.jsonl", "q.json X p.jsonl"],
    "baseline": ["majority --questions X -o b.jsonl", "majority --questions q.json --train X -o b.jsonl"],
    "audit": ["X", "q.json --scenes X", "q.json --train X"],
    "human items": ["X --scenes scenes.json -o i.json", "q.json --scenes X -o i.json"],
    "human make-tasks": ["--items X --images folder -o study", "--items q.json --images X -o study"],
    "human check": ["X"],
    "human extend": ["X --raters-per-item 5"],
    "human links": ["X"],
    "human serve": ["X"],
    "human status": ["X"],
    "human export": ["X -o e"],
    "human score": ["X"],
    "scenes draw": ["X -o drawn"],
    "scenes render": ["X -o rendered"],
    "scenes sample": ["--count 1 -o s.json --metadata X"],
    "check": ["X"],
    "explain": ["one_hop.json --scenes X"],
}
"""Command -> what follows it, with X for the place."""
WRITES = {
    "generate": ["--scenes scenes.json -o X.json", "--scenes scenes.json -o new.json --report X.json"],
    "dialog": ["--scenes scenes.json -o X.json"],
    "director generate": ["--count 1 -o X"],
    "director items preview": ["-o X.svg"],
    "director items copy": ["X.json"],
    "dataset": ["X --count 2 --pictures drawn"],
    "choices": ["q.json --scenes scenes.json -o X.json"],
    "export": ["q.json --without-pictures --to trl -o X"],
    "show": ["q.json --scenes scenes.json -o X"],
    "merge": ["q.json -o X.json"],
    "convert": ["q.json -o X.json"],
    "evaluate": ["q.json p.jsonl -o X.html", "q.json p.jsonl --per-item X.jsonl"],
    "baseline": ["majority --questions q.json --train q.json -o X.jsonl"],
    "human items": ["q.json --scenes scenes.json -o X.json"],
    "scenes draw": ["scenes.json -o X"],
    "scenes render": ["scenes.json -o X"],
    "scenes sample": ["--count 1 -o X.json"],
}
ELSEWHERE = {"human demo", "human import", "human store"}
"""Commands whose places are those of other commands; their own tests have more."""
MAKES_FOLDER = {"director generate", "scenes draw", "scenes render", "dataset", "export", "show"}


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with scenes, questions about them, and predictions."""
    Path("scenes.json").write_text(json.dumps({"scenes": SMALL_SCENES}))
    for folder in ("empty", "folder", "folder.json", "folder.html", "folder.jsonl", "folder.svg", "folder.csv"):
        Path(folder).mkdir()
    vqagen_.done("generate --scenes scenes.json --only zero_hop.json -o q.json")
    questions = json.loads(Path("q.json").read_bytes())["questions"]
    lines = [json.dumps({"question_index": each["question_index"], "answer": each["answer"]}) for each in questions]
    Path("p.jsonl").write_text("\n".join(lines))
    return vqagen_


def test_every_command_is_here() -> None:
    commands = {name.removeprefix("vqagen ") for name, each in all_commands() if not isinstance(each, click.Group)}

    assert commands == READS.keys() | WRITES.keys() | ELSEWHERE | {"init"}


def test_a_place_that_cannot_be_read_ends_in_3(vqagen_: Commands) -> None:
    lines = [
        f"{name} {rest}".replace("X", place) for name, rests in READS.items() for rest in rests for place in UNREADABLE
    ]
    assert not (others := wrong(vqagen_, some(lines))), "\n".join(others)


def test_a_place_that_cannot_be_written_ends_in_3(vqagen_: Commands) -> None:
    lines = []
    for name, rests in WRITES.items():
        for rest in rests:
            before, _, after = rest.partition("X")
            ending, _, after = after.partition(" ")
            for place in UNWRITABLE[:2] if name in MAKES_FOLDER else UNWRITABLE:
                lines.append(f"{name} {before}{place.format(ending)} {after}")
    assert not (others := wrong(vqagen_, some(lines))), "\n".join(others)


def wrong(commands: Commands, lines: list[str]) -> list[str]:
    """Return the lines that end otherwise, or with a message of several lines."""
    ran = [(line, commands(line)) for line in lines]
    return [f"{line}: {found.code} {found.err}" for line, found in ran if found.code != 3 or found.out]
