"""`vqagen dialog` as a command: bad input, small and odd scenes, the report, exit codes, and the three laws."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import Commands, finish, start
from conftest import SHARED
from depth import some
from general_domain import METADATA as PANTRY
from generated_dialogs import dialogs_about
from scene_records import sampled_scenes, scene_record

import vqagen
from vqagen.errors import counted
from vqagen.tasks.dialog.quotas import NO_ROUNDS, PRESETS
from vqagen.tasks.dialog.search import DialogSearch
from vqagen.tasks.dialog.settings import MOST_ROUNDS, QUOTAS

Record = dict[str, Any]


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with scenes.json."""
    write("scenes.json", {"scenes": sampled_scenes(4)})
    return vqagen_


def write(name: str, content: Any) -> str:
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return name


def bare(record: Record) -> Record:
    """A scene whose relations cannot be worked out from coordinates."""
    objects = [{name: each[name] for name in ("size", "color", "material", "shape")} for each in record["objects"]]
    return {**{key: value for key, value in record.items() if key != "directions"}, "objects": objects}


def dialogs_in(name: str) -> list[Record]:
    found: list[Record] = json.loads(Path(name).read_text("utf-8"))["dialogs"]
    return found


# Wrong usage and bad input --------------------------------------------------------------------------------------------

USAGE = [
    ("--rounds 101", ["--rounds must be at most 100, found 101"]),
    ("--rounds 0 --dialogs-per-image 0", ["--rounds must be at least 1", "--dialogs-per-image must be at least 1"]),
    ("--target-distance 3.5", ["was removed in version 2.0: references reach back"]),
    ("--semantics legacy", ["was removed in version 2.0: dialogs keep the strict rules"]),
    ("--quotas smoth", ["'smoth' is not one of 'smooth', 'paper', 'reference', 'none'"]),
]


def test_wrong_usage_is_reported_at_once_and_nothing_is_written(vqagen_: Commands) -> None:
    """All that is wrong, what would be right, and the exit code 2."""
    for options, messages in USAGE:
        ran = vqagen_(f"dialog --scenes scenes.json --out d.json {options}")
        errors = [line for line in ran.err.splitlines() if line.startswith(("vqagen:", "Error:"))]

        assert (ran.code, [each for each in messages if each not in ran.err]) == (2, []), (options, ran.err)
        assert len(errors) <= len(messages), ran.err
    assert os.listdir() == ["scenes.json"]


def test_every_preset_of_quotas_can_be_met_by_dialogs_of_any_length() -> None:
    assert tuple(PRESETS) == QUOTAS
    for quotas in PRESETS.values():
        lengths = some(range(1, MOST_ROUNDS + 1, 3))
        assert all(DialogSearch(quotas, rounds, 1).can_finish(0, NO_ROUNDS) for rounds in lengths)


DOMAINS: list[tuple[Any, list[str]]] = [
    (PANTRY, ["they need a relation that is an order with an inverse, such as left and right"]),
    (
        {"types": {"Object": None, "ObjectSet": None, "Integer": None, "Bool": None, "Color": ["red", "blue"],
                   "Tag": {"values": ["a", "b"], "multi": True}, "Relation": ["left", "right"]}},
        ["they need two attributes of which every object has one value"],
    ),
    (
        {"types": {"Object": None, "ObjectSet": None, "Integer": None, "Bool": None, "Color": ["red", "blue"],
                   "Note": {"values": ["x", "y"], "optional": True}, "Relation": ["left", "near"]}},
        ["they need two attributes", "they need a relation that is an order with an inverse"],
    ),
]  # fmt: skip


def test_domain_without_what_dialogs_need_is_reported(vqagen_: Commands) -> None:
    """Before work begins, with all that is missing."""
    for metadata, messages in DOMAINS:
        ran = vqagen_(f"dialog --scenes scenes.json --out d.json --metadata {write('metadata.json', metadata)}")

        assert (ran.code, [each for each in messages if each not in ran.err]) == (2, []), ran.err
        assert "no dialogs about the domain" in ran.err
    assert not Path("d.json").exists()


@pytest.mark.slow
def test_plain_clevr_metadata_is_enough(vqagen_: Commands) -> None:
    """Directions are known by their names if the metadata has no `sampling` section."""
    metadata = SHARED / "data" / "clevr_v1" / "metadata.json"
    if not metadata.is_file():
        pytest.skip("no CLEVR metadata in the shared/ folder beside the repository")
    vqagen_.done(f"dialog --scenes scenes.json --out d.json --metadata '{metadata}' --count 2")

    assert len(dialogs_in("d.json")) == 10


# Scenes that lack something -------------------------------------------------------------------------------------------


def odd_scenes() -> list[Record]:
    no_relations, no_left = bare(sampled_scenes(1)[0]), bare(sampled_scenes(1)[0])
    del no_relations["relationships"], no_left["relationships"]["left"]
    return [sampled_scenes(1)[0], no_relations, no_left, scene_record([], [], [])]


def test_scenes_without_dialogs_are_said_and_the_exit_code_is_1(vqagen_: Commands) -> None:
    """B10: they were dropped without a word. The others have theirs."""
    write("odd.json", {"scenes": odd_scenes()})
    ran = vqagen_("dialog --scenes odd.json --out d.json --rounds 4")

    assert ran.code == 1
    assert [each["scene_index"] for each in dialogs_in("d.json")] == [0] * 5
    assert "short: 3 scenes with fewer than 5 dialogs" in ran.err
    assert "scene 1 (VQAGEN_sample_000000.png): 0 dialogs; no relations 5×" in ran.err
    assert "scene 2 (VQAGEN_sample_000000.png): 0 dialogs; no relations 5×" in ran.err
    assert "scene 3 (TEST_000000.png): 0 dialogs; no caption 5×" in ran.err


@pytest.mark.slow
def test_dialogs_that_end_too_early_are_said(vqagen_: Commands) -> None:
    """Nothing is left to ask about one object after some rounds."""
    write("one.json", {"scenes": [scene_record(["large red metal cube"], [0], [0])]})
    ran = vqagen_("dialog --scenes one.json --out d.json --rounds 30 --dialogs-per-image 1")

    assert ran.code == 1
    assert "0 dialogs; too few questions 1×" in ran.err
    assert dialogs_in("d.json") == []


TIED = scene_record(["large red metal cube", "small blue metal cube", "small green metal cube"], [2, 1, 0], [0, 1, 2])
TIED["relationships"] |= {"left": [[1, 2], [], []], "right": [[], [0], [0]]}
UNORDERED = scene_record(
    ["large red metal cube", "small blue metal sphere", "small green rubber cube"], [0, 1, 2], [0, 1, 2]
)
UNORDERED["relationships"] = {name: [[], [], []] for name in UNORDERED["relationships"]}
SMALL: Mapping[str, Record] = {
    "one object": scene_record(["large red metal cube"], [0], [0]),
    "two objects": scene_record(["large red metal cube", "small blue rubber sphere"], [0, 1], [1, 0]),
    "two alike": scene_record(["large red metal cube"] * 2, [0, 1], [1, 0]),
    "all alike": scene_record(["large red metal cube"] * 6, [0, 1, 2, 3, 4, 5], [3, 4, 5, 0, 1, 2]),
    "ties": TIED,
    "no order at all": UNORDERED,
}


@pytest.mark.slow
def test_small_and_odd_scenes_have_dialogs_that_are_right(vqagen_: Commands) -> None:
    """Scenes of one and two objects, of objects alike, and with ties: short dialogs, which the verifier accepts."""
    write("odd.json", {"scenes": [{**record, "image_filename": f"{name}.png"} for name, record in SMALL.items()]})
    vqagen_("dialog --scenes odd.json --out d.json --rounds 5")
    assert {each["image_filename"] for each in dialogs_in("d.json")} == {f"{name}.png" for name in SMALL}

    verified = vqagen_("verify d.json --scenes odd.json")
    assert verified.code == 0, verified.out.decode()


# Report ---------------------------------------------------------------------------------------------------------------


def test_report_counts_what_was_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Dialogs, rounds of each label, captions, and dialogs that exist only without quotas, which are marked (4.3)."""
    monkeypatch.chdir(tmp_path)
    write("scenes.json", {"scenes": [SMALL["two alike"], *sampled_scenes(3)]})
    settings = vqagen.DialogSettings(rounds=16, quotas="reference")
    report = vqagen.write_dialogs("scenes.json", "d.json", settings=settings)
    content, made = report.to_record(), dialogs_in("d.json")
    labels = Counter(each["label"] for dialog in made for each in dialog["rounds"])
    relaxed = sum("relaxed" in dialog for dialog in made)

    assert (content["dialogs"], content["scenes"]) == (len(made), 4)
    assert content["labels"] == labels
    assert content["captions"] == Counter(dialog["caption"]["label"] for dialog in made)
    assert (content["relaxed"], content["settings"]["rounds"]) == (relaxed, 16)
    assert relaxed > 0
    assert f"relaxed: {counted(relaxed, 'dialog')} found only without quotas" in report.summary()


# Laws -----------------------------------------------------------------------------------------------------------------

RUN = "dialog --scenes scenes.json --rounds 4 --dialogs-per-image 3 --seed 7"


@pytest.mark.slow
def test_same_seed_gives_same_bytes_with_workers_and_any_hash_seed(
    vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 1; the CLEVR-Dialog generator chose from sets of text (B18)."""
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    process = start(f"{RUN} --out there.json --workers 2")
    vqagen_.done(f"{RUN} --out here.json")

    assert finish(process).code == 0
    assert Path("here.json").read_bytes() == Path("there.json").read_bytes()


@pytest.mark.slow
def test_other_seeds_give_other_dialogs(vqagen_: Commands) -> None:
    vqagen_.done(f"{RUN} --out one.json")
    vqagen_.done(f"{RUN} --out two.json --seed 8")
    one, two = ([str(each["rounds"]) for each in dialogs_in(name)] for name in ("one.json", "two.json"))

    assert set(one).isdisjoint(two)


@pytest.mark.slow
def test_shards_merge_to_one_run_wherever_they_are_cut(vqagen_: Commands) -> None:
    vqagen_.done(f"{RUN} --out whole.json")
    vqagen_.done(f"{RUN} --out first.json --start-index 0 --count 3")
    vqagen_.done(f"{RUN} --out rest.json --start-index 3 --count 1")
    vqagen_.done("merge first.json rest.json --out merged.json")

    assert dialogs_in("merged.json") == dialogs_in("whole.json")


@pytest.mark.slow
def test_a_part_of_a_window_is_balanced_with_all_that_came_before_it() -> None:
    """The scenes before it are replayed; without them its dialogs would be others."""
    scenes = sampled_scenes(3)
    together, part = (list(vqagen.dialogs(scenes, start_index=first, rounds=8)) for first in (0, 2))

    assert [{**each, "dialog_index": 0} for each in part] == [{**each, "dialog_index": 0} for each in together[10:]]
    assert part != dialogs_about(scenes[2:], first=2, rounds=8)
