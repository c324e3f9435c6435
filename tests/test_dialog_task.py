"""`vqagen dialog` as a command: bad input, small and odd scenes, the report, exit codes, and the three laws."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import Commands, finish, start
from conftest import SHARED
from general_domain import METADATA as PANTRY
from generated_dialogs import dialogs_about
from scene_records import sampled_scenes, scene_record

Record = dict[str, Any]


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in a folder with scenes.json."""
    monkeypatch.chdir(tmp_path)
    write("scenes.json", {"scenes": sampled_scenes(4)})
    return Commands(capsysbinary)


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
    ("--caption-mix extrem=1", ["unknown kind of captions 'extrem'; did you mean 'extreme'?"]),
    ("--caption-mix extreme", ["expected extreme=WEIGHT with a number of at least 0, found 'extreme'"]),
    ("--caption-mix extreme=-1", ["expected extreme=WEIGHT with a number of at least 0, found 'extreme=-1'"]),
    ("--caption-mix extreme=nan", ["expected extreme=WEIGHT with a number of at least 0, found 'extreme=nan'"]),
    ("--caption-mix extreme=0,unique=0", ["--caption-mix: one weight must be above 0"]),
    ("--caption-mix extreme=1,extreme=2", ["--caption-mix: a kind of captions is given twice"]),
    (
        "--caption-mix foo=1,count=x --rounds 0",
        ["--rounds must be at least 1", "kind of captions 'foo'", "expected count=WEIGHT"],
    ),
    ("--rounds 101", ["--rounds must be at most 100, found 101"]),
    ("--beams 0 --dialogs-per-image 0", ["--beams must be at least 1", "--dialogs-per-image must be at least 1"]),
    ("--target-distance -1", ["--target-distance must be 0 or a distance above it, found -1.0"]),
    ("--target-distance inf", ["--target-distance must be 0 or a distance above it"]),
    ("--semantics lax", ["'lax' is not one of 'strict', 'legacy'"]),
    ("--rel-seek near", ["'near' is not one of 'nearest', 'literal'"]),
    ("--quotas smoth", ["--quotas smoth: no such file", "unknown preset 'smoth'; did you mean 'smooth'?"]),
    ("--quotas lost.json", ["--quotas lost.json: no such file", "known: smooth, paper, reference, none"]),
]


@pytest.mark.parametrize(("options", "messages"), USAGE, ids=[options for options, _ in USAGE])
def test_wrong_usage_is_reported_at_once_and_nothing_is_written(
    vqagen_: Commands, options: str, messages: list[str]
) -> None:
    """All that is wrong, what would be right, and the exit code 2."""
    ran = vqagen_(f"dialog --scenes scenes.json --out d.json {options}")

    assert ran.code == 2
    assert [message for message in messages if message not in ran.err] == []
    assert len([line for line in ran.err.splitlines() if line.startswith(("vqagen:", "Error:"))]) <= len(messages)
    assert os.listdir() == ["scenes.json"]


WEIGHT = "a whole number from 0 to 1000000"
QUOTAS: list[tuple[Any, list[str]]] = [
    ([1], ["q.json:1:1: expected an object of shares, found a list of 1"]),
    ('{"count": [0.1, }', ["q.json:1:17: not valid JSON"]),
    ('{"count": [NaN, 1]}', ["not valid JSON: JSON has no NaN"]),
    ({"counts": [0, 1]}, ["counts: unknown quota 'counts'; did you mean 'count'?"]),
    ({"count": [0.5, 0.2]}, ["count: expected [least, most], shares from 0 to 1, found [0.5, 0.2]"]),
    ({"seek": "most"}, ["seek: expected [least, most]"]),
    ({"exist": [0, 1.5]}, ["exist: expected [least, most]"]),
    ({"exist": [0.5]}, ["exist: expected [least, most]"]),
    ({"together": 2}, ["together: expected a share from 0 to 1, found 2"]),
    ({"standalone": True}, ["standalone: expected a share from 0 to 1, found True"]),
    ({"from_round": -3}, [f"from_round: expected {WEIGHT}, found -3"]),
    ({"from_round": 1.5}, [f"from_round: expected {WEIGHT}, found 1.5"]),
    ({"from_round": 10**30}, [f"from_round: expected {WEIGHT}"]),
    ({"objective": 3}, ["objective: expected an object of weights, found 3"]),
    ({"objective": {"erly": 2}}, ["objective.erly: unknown weight 'erly'; did you mean 'early'?"]),
    ({"objective": {"early": -1, "similar": 10**30}}, ["objective.early: expected", "objective.similar: expected"]),
    ({"count": 1, "exist": 2, "together": -1}, ["count: expected", "exist: expected", "together: expected"]),
]


@pytest.mark.parametrize(("quotas", "messages"), QUOTAS, ids=[str(quotas) for quotas, _ in QUOTAS])
def test_mistakes_in_a_file_of_quotas_are_all_reported(vqagen_: Commands, quotas: Any, messages: list[str]) -> None:
    """Each with file, line and JSON path; the exit code is 3."""
    ran = vqagen_(f"dialog --scenes scenes.json --out d.json --quotas {write('q.json', quotas)}")

    assert ran.code == 3
    assert [message for message in messages if message not in ran.err] == []
    assert ran.err.count("vqagen:") == len(messages)
    assert not Path("d.json").exists()


@pytest.mark.parametrize(
    ("quotas", "rounds", "last"),
    [
        ({"count": [0.6, 1], "seek": [0.6, 1]}, 10, 5),
        ({"count": [0, 0], "exist": [0, 0], "seek": [0, 0]}, 10, 4),
        ({"count": [0.5, 1], "together": 0.1, "from_round": 1}, 7, 4),
    ],
)
def test_quotas_that_cannot_be_met_are_reported_before_work_begins(
    vqagen_: Commands, quotas: Record, rounds: int, last: int
) -> None:
    ran = vqagen_(f"dialog --scenes scenes.json --out d.json --rounds {rounds} --quotas {write('q.json', quotas)}")

    assert ran.code == 2
    assert f"--quotas q.json: no dialog of {rounds} rounds can meet them: none meets those of round {last}" in ran.err
    assert not Path("d.json").exists()


def test_quotas_that_come_late_do_not_bind_shorter_dialogs(vqagen_: Commands) -> None:
    """They count from `from_round` on."""
    write("q.json", {"count": [0.6, 1], "seek": [0.6, 1], "from_round": 4})

    vqagen_.done("dialog --scenes scenes.json --out d.json --rounds 3 --quotas q.json --count 1")


def test_quotas_of_a_file_are_kept_and_written_down(vqagen_: Commands) -> None:
    """The file may also give the objective; the output says both, and not where the file was."""
    Path("sub").mkdir()
    write("sub/q.json", {"exist": [0.5, 0.75], "from_round": 2, "objective": {"early": 2}})
    vqagen_.done("dialog --scenes scenes.json --out d.json --quotas sub/q.json --count 2 --rounds 8")

    for dialog in dialogs_in("d.json"):
        exists = [each["family"] == "exist" for each in dialog["rounds"]]
        spans = [(n // 2, sum(exists[:n]), -(-3 * n // 4)) for n in range(2, 9)]
        assert all(least <= number <= most for least, number, most in spans) or "relaxed" in dialog
    info = json.loads(Path("d.json").read_text())["info"]["generator"]
    assert info["settings"]["quotas"] == "q.json"
    assert (info["quotas"]["exist"], info["quotas"]["objective"]["early"]) == ([0.5, 0.75], 2)
    assert str(Path.cwd()) not in Path("d.json").read_text()


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


@pytest.mark.parametrize(("metadata", "messages"), DOMAINS, ids=["no direction", "one attribute", "neither"])
def test_domain_without_what_dialogs_need_is_reported(vqagen_: Commands, metadata: Any, messages: list[str]) -> None:
    """Before work begins, with all that is missing."""
    ran = vqagen_(f"dialog --scenes scenes.json --out d.json --metadata {write('metadata.json', metadata)}")

    assert ran.code == 2
    assert "no dialogs about the domain" in ran.err
    assert [message for message in messages if message not in ran.err] == []
    assert not Path("d.json").exists()


def test_plain_clevr_metadata_is_enough(vqagen_: Commands) -> None:
    """Directions are known by their names if the metadata has no `sampling` section."""
    metadata = SHARED / "data" / "clevr_v1" / "metadata.json"
    if not metadata.is_file():
        pytest.skip("no CLEVR metadata in the shared/ folder beside the repository")
    vqagen_.done(f"dialog --scenes scenes.json --out d.json --metadata '{metadata}' --count 2")

    assert len(dialogs_in("d.json")) == 10


def test_both_shipped_domains_have_dialogs(vqagen_: Commands) -> None:
    write("market.json", {"scenes": sampled_scenes(3, domain="market")})
    vqagen_.done("dialog --domain market --scenes market.json --out m.json")
    said = json.dumps(dialogs_in("m.json"))

    assert len(dialogs_in("m.json")) == 15
    assert '"kind"' in said
    assert '"nearer"' in said or '"farther"' in said


# Scenes that lack something -------------------------------------------------------------------------------------------


def odd_scenes() -> list[Record]:
    no_relations, no_left = bare(sampled_scenes(1)[0]), bare(sampled_scenes(1)[0])
    del no_relations["relationships"], no_left["relationships"]["left"]
    return [sampled_scenes(1)[0], no_relations, no_left, scene_record([], [], [])]


def test_scenes_without_dialogs_are_said_and_the_exit_code_is_1(vqagen_: Commands) -> None:
    """B10: they were dropped without a word. The others have theirs, and --allow-missing makes it 0."""
    write("odd.json", {"scenes": odd_scenes()})
    ran = vqagen_("dialog --scenes odd.json --out d.json --report r.json --rounds 4")
    allowed = vqagen_("dialog --scenes odd.json --out allowed.json --rounds 4 --allow-missing")

    assert (ran.code, allowed.code) == (1, 0)
    assert Path("d.json").read_bytes() == Path("allowed.json").read_bytes()
    assert [each["scene_index"] for each in dialogs_in("d.json")] == [0] * 5
    assert "short: 3 scenes with fewer than 5 dialogs" in ran.err
    assert "scene 1 (VQAGEN_sample_000000.png): 0 dialogs; no relations 5×" in ran.err
    assert "scene 3 (TEST_000000.png): 0 dialogs; no caption 5×" in ran.err
    short = json.loads(Path("r.json").read_text())["short_scenes"]
    assert [(each["index"], each["dialogs"], each["missing"]) for each in short] == [
        (1, 0, {"no relations": 5}),
        (2, 0, {"no relations": 5}),
        (3, 0, {"no caption": 5}),
    ]


def test_dialogs_that_end_too_early_are_said(vqagen_: Commands) -> None:
    """Nothing is left to ask about one object after some rounds."""
    write("one.json", {"scenes": [scene_record(["large red metal cube"], [0], [0])]})
    ran = vqagen_("dialog --scenes one.json --out d.json --rounds 60 --dialogs-per-image 1 --beams 2")

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


@pytest.mark.parametrize("record", SMALL.values(), ids=SMALL)
def test_small_and_odd_scenes_have_dialogs_that_are_right(vqagen_: Commands, record: Record) -> None:
    """Scenes of one and two objects, of objects alike, and with ties: short dialogs, which the verifier accepts."""
    write("odd.json", {"scenes": [record]})
    vqagen_.done("dialog --scenes odd.json --out d.json --rounds 5 --allow-missing")
    assert dialogs_in("d.json")

    verified = vqagen_("verify d.json --scenes odd.json")
    assert verified.code == 0, verified.out.decode()


# Report ---------------------------------------------------------------------------------------------------------------


def test_report_counts_what_was_written(vqagen_: Commands) -> None:
    """Dialogs, rounds of each label, captions; the summary has the same numbers."""
    ran = vqagen_.done("dialog --scenes scenes.json --out d.json --report r.json --rounds 5 --seed 3")
    report, made = json.loads(Path("r.json").read_text()), dialogs_in("d.json")
    labels = [each["label"] for dialog in made for each in dialog["rounds"]]
    captions = [dialog["caption"]["label"] for dialog in made]

    assert report["dialogs"] == len(made) == 20
    assert report["scenes"] == 4
    assert report["labels"] == {label: labels.count(label) for label in sorted(set(labels))}
    assert report["captions"] == {label: captions.count(label) for label in sorted(set(captions))}
    assert (report["relaxed"], report["short_scenes"]) == (0, [])
    assert report["settings"]["rounds"] == 5
    assert "20 dialogs of 5 rounds about 4 scenes" in ran.err


def test_relaxed_dialogs_are_counted_and_marked(vqagen_: Commands) -> None:
    """A dialog that exists only without quotas is made, and said to be relaxed (spec 4.3)."""
    write("one.json", {"scenes": [SMALL["two alike"]]})
    write("q.json", {"count": [1, 1], "standalone": 0.1, "from_round": 1})
    ran = vqagen_("dialog --scenes one.json --out d.json --quotas q.json --report r.json --rounds 8 --beams 2")
    relaxed = [dialog for dialog in dialogs_in("d.json") if dialog.get("relaxed")]

    assert relaxed
    assert json.loads(Path("r.json").read_text())["relaxed"] == len(relaxed)
    assert f"relaxed: {len(relaxed)} dialogs found only without quotas" in ran.err


# Laws -----------------------------------------------------------------------------------------------------------------

RUN = "dialog --scenes scenes.json --rounds 5 --beams 4 --seed 7"


def test_same_seed_gives_same_bytes_with_workers_and_any_hash_seed(
    vqagen_: Commands, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law 1; the CLEVR-Dialog generator chose from sets of text (B18)."""
    monkeypatch.setenv("PYTHONHASHSEED", "1")
    process = start(f"{RUN} --out there.json --workers 2")
    vqagen_.done(f"{RUN} --out here.json")

    assert finish(process).code == 0
    assert Path("here.json").read_bytes() == Path("there.json").read_bytes()


def test_other_seeds_give_other_dialogs(vqagen_: Commands) -> None:
    vqagen_.done(f"{RUN} --out one.json")
    vqagen_.done(f"{RUN} --out two.json --seed 8")
    one, two = ([str(each["rounds"]) for each in dialogs_in(name)] for name in ("one.json", "two.json"))

    assert set(one).isdisjoint(two)


@pytest.mark.quick("3")
@pytest.mark.parametrize("cut", [1, 3])
def test_shards_merge_to_one_run_wherever_they_are_cut(vqagen_: Commands, cut: int) -> None:
    vqagen_.done(f"{RUN} --out whole.json")
    vqagen_.done(f"{RUN} --out first.json --start-index 0 --count {cut}")
    vqagen_.done(f"{RUN} --out rest.json --start-index {cut} --count {4 - cut}")
    vqagen_.done("merge first.json rest.json --out merged.json")

    assert dialogs_in("merged.json") == dialogs_in("whole.json")


def test_dialogs_of_a_scene_depend_on_the_scene_alone() -> None:
    """Not on the scenes that came before it, but on its index."""
    scenes = sampled_scenes(3)
    together = dialogs_about(scenes, rounds=4).records
    alone = [each for i, scene in enumerate(scenes) for each in dialogs_about([scene], first=i, rounds=4).records]

    assert together == alone
    assert dialogs_about(scenes[:1], first=1, rounds=4).records != together[:5]
