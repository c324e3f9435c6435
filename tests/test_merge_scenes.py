"""`vqagen merge` of what another task than the question generator made: it reads how records stand, and no more."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from commands import Commands

from vqagen import __version__

COUNT, FIRST = 30, 240
"""Scenes of the whole run; a window ends among them."""
ENDINGS = ("json", "json.gz", "json.zst", "jsonl", "jsonl.gz", "jsonl.zst")


def sample(commands: Commands, out: str, first: int = FIRST, count: int = COUNT, flags: str = "") -> str:
    """Draw scenes into a file."""
    commands.done(f"scenes sample --seed 3 --start-index {first} --count {count} {flags} -o {out}")
    return out


def written(name: str) -> list[bytes]:
    """A file, and the info beside it if there is one."""
    return [path.read_bytes() for path in (Path(name), Path(f"{name}.info.json")) if path.exists()]


def change(name: str, changes: Mapping[str, Any]) -> None:
    """Change the `generator` of a document; None takes a key away."""
    document = json.loads(Path(name).read_bytes())
    generator = document["info"]["generator"] | changes
    document["info"]["generator"] = {key: value for key, value in generator.items() if value is not None}
    Path(name).write_text(json.dumps(document))


def test_shards_made_as_k_of_n_make_one_run(vqagen_: Commands) -> None:
    whole = sample(vqagen_, "whole.json")
    shards = [sample(vqagen_, f"{number}.jsonl", flags=f"--shard {number}/4") for number in (3, 1, 4, 2)]
    ran = vqagen_.done(f"merge {' '.join(shards)} -o merged.json")

    assert written("merged.json") == written(whole)
    assert ran.err == "30 scenes from 4 shards\n"


def test_json_lines_that_were_cut_between_two_lines_are_not_merged(vqagen_: Commands) -> None:
    path = Path(sample(vqagen_, "a.jsonl", count=7))
    sample(vqagen_, "b.json", FIRST + 7, 7)
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    ran = vqagen_("merge a.jsonl b.json -o merged.json")

    assert ran.code == 3
    assert ran.err == "vqagen: a.jsonl: 6 scenes, not 7: the file was changed or cut after it was made\n"


NO_SHARD_OF_SCENES: list[tuple[dict[str, Any], str]] = [
    (
        {"arrangement": {"key": "questions", "number_key": "question_index", "item": "scene", "window": 250}},
        "b.json holds questions, and a.json scenes: merge them apart",
    ),
    (
        {"arrangement": {"key": "scenes"}},
        "b.json: not made by vqagen: its info does not say how to make it again",
    ),
    (
        {"shard": {"number": 2, "of": "4"}},
        "b.json: not made by vqagen: its info does not say how to make it again",
    ),
    (
        {"version": "0.0.1"},
        f"b.json differs from a.json in generator.version: '0.0.1', not {__version__!r}",
    ),
]


def test_what_is_of_another_task_or_version_is_one_line(vqagen_: Commands) -> None:
    """Of another task it is not told as well that both hold the same scenes."""
    sample(vqagen_, "a.json", count=7)
    for changes, told in NO_SHARD_OF_SCENES:
        sample(vqagen_, "b.json", FIRST + (7 if "version" in changes else 0), 7, "--force")
        change("b.json", changes)
        ran = vqagen_("merge a.json b.json -o merged.json")

        assert (ran.code, ran.err) == (3, f"vqagen: {told}\n")


def test_a_document_without_its_records_is_refused(vqagen_: Commands) -> None:
    sample(vqagen_, "a.json", count=7)
    document = json.loads(Path("a.json").read_bytes())
    Path("a.json").write_text(json.dumps({"info": document["info"], "others": document["scenes"]}))
    ran = vqagen_("merge a.json -o merged.json")

    assert (ran.code, ran.err) == (
        3,
        "vqagen: a.json: expected the key 'scenes' (a list of scenes); found 'info', 'others'\n",
    )
    assert not Path("merged.json").exists()
