"""Runs with `--balance pairs`: the laws of runs hold, every format keeps the pairs, and what cannot be is refused."""

from __future__ import annotations

import json
import os
import signal
import tomllib
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from commands import Commands, finish, start
from packaging.requirements import Requirement
from pyarrow import parquet
from scene_records import many_scenes, sampled_scenes
from waiting import wait_until

import vqagen
from vqagen.cli import run
from vqagen.files.shipped import shipped
from vqagen.records.parquet import to_records

ONE_HOP = shipped("templates") / "clevr" / "one_hop.json"
SCENES, WINDOW = 33, 12
PAIRS = f"generate --templates {ONE_HOP} --balance pairs --templates-per-image 5 --seed 6"
ASKED = f"{PAIRS} --pair-window {WINDOW} --scenes scenes.json"
CUTS = [
    [7],
    [12],
    [3, 5, 11],
    [13, 23, 25, 32],
    [*range(1, SCENES, 2)],
]
"""Where runs are cut: inside of windows, at their borders, and several times in one."""

Record = dict[str, Any]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Scenes, and one run over all of them in each format."""
    folder = tmp_path_factory.mktemp("paired")
    (folder / "scenes.json").write_text(json.dumps({"info": {"split": "x"}, "scenes": sampled_scenes(SCENES, 8)}))
    with pytest.MonkeyPatch.context() as there:
        there.chdir(folder)
        for form in ("json", "jsonl", "parquet"):
            assert run(f"{ASKED} -o whole.{form} --report {form}.report".split()) == 0
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


def parted(records: list[Record]) -> int:
    """How many records have no partner among them."""
    return sum(1 for number in Counter(record["pair"] for record in records).values() if number == 1)


# Same seed, same bytes ------------------------------------------------------------------------------------------------


@pytest.mark.slow  # the workers of the test below have hash seeds of their own
@pytest.mark.parametrize("hash_seed", ["1", "4242"])
def test_another_process_writes_the_same_bytes(made: Path, tmp_path: Path, hash_seed: str) -> None:
    (tmp_path / "scenes.json").write_bytes((made / "scenes.json").read_bytes())
    with pytest.MonkeyPatch.context() as there:
        there.setenv("PYTHONHASHSEED", hash_seed)
        ran = finish(start(f"{ASKED} -o q.json", cwd=tmp_path))

    assert ran.code == 0, ran.err
    assert (tmp_path / "q.json").read_bytes() == (made / "whole.json").read_bytes()


@pytest.mark.parametrize("form", ["json", pytest.param("parquet", marks=pytest.mark.slow)])
def test_workers_write_the_same_bytes(made: Path, vqagen_: Commands, form: str) -> None:
    """And the same report."""
    vqagen_.done(f"{ASKED} --workers 2 -o q.{form} --report q.report")

    assert Path(f"q.{form}").read_bytes() == (made / f"whole.{form}").read_bytes()
    assert shares(Path("q.report")) == shares(made / f"{form}.report")


def shares(report: Path) -> Record:
    """What of a report is the same for the same run."""
    content = json.loads(report.read_text())
    return {key: content[key] for key in ("questions", "scenes", "parted_pairs", "families")}


def test_another_seed_makes_other_pairs(made: Path, vqagen_: Commands) -> None:
    vqagen_.done(f"{ASKED} -o q.json --seed 7")

    assert questions("q.json") != questions(made / "whole.json")


# Shards concatenate ---------------------------------------------------------------------------------------------------


@pytest.mark.quick(3)
@pytest.mark.parametrize("out", ["json", "jsonl", "parquet"])
@pytest.mark.parametrize("cuts", CUTS, ids=str)
def test_runs_cut_anywhere_merge_into_one(made: Path, vqagen_: Commands, cuts: list[int], out: str) -> None:
    """Also inside of a window, where a shard makes questions whose partners are in another."""
    edges = [0, *cuts, SCENES]
    for number, (first, end) in enumerate(pairwise(edges)):
        count = end - first if end < SCENES else 0
        vqagen_.done(f"{ASKED} --start-index {first} --count {count} -o {number:02}.{out}")
    shards = " ".join(f"{number:02}.{out}" for number in range(len(edges) - 1))
    ran = vqagen_.done(f"merge {shards} -o merged.{out}")

    assert Path(f"merged.{out}").read_bytes() == (made / f"whole.{out}").read_bytes()
    assert "parted" not in ran.err


@pytest.mark.quick("2")
@pytest.mark.parametrize("of", [2, 5])
def test_shards_merge_into_one(made: Path, vqagen_: Commands, of: int) -> None:
    for number in range(1, of + 1):
        vqagen_.done(f"{ASKED} --shard {number}/{of} -o {number}.jsonl")
    vqagen_.done(f"merge {' '.join(f'{number}.jsonl' for number in range(1, of + 1))} -o merged.json")

    assert Path("merged.json").read_bytes() == (made / "whole.json").read_bytes()


@pytest.mark.quick(2)
@pytest.mark.parametrize(("window", "start", "count"), [(12, 5, 4), (12, 20, 8), (0, 4, 3), (40, 30, 3), (2, 3, 4)])
def test_a_part_of_a_window_has_the_questions_of_the_whole(
    made: Path, vqagen_: Commands, window: int, start: int, count: int
) -> None:
    """A run of some scenes makes of them what a run of all makes; so do windows that end after the input."""
    line = f"{PAIRS} --pair-window {window} --scenes scenes.json"
    vqagen_.done(f"{line} -o all.json")
    vqagen_.done(f"{line} --start-index {start} --count {count} -o part.json")
    own = [record for record in questions("all.json") if start <= record["scene_index"] < start + count]

    assert unnumbered(questions("part.json")) == unnumbered(own)
    assert own


def unnumbered(records: list[Record]) -> list[Record]:
    """Records without their place in the file."""
    return [{key: value for key, value in record.items() if key != "question_index"} for record in records]


@pytest.mark.quick(3)
@pytest.mark.parametrize(("start", "count"), [(0, 12), (5, 4), (30, 3), (0, 33), (24, 9)])
def test_the_summary_counts_questions_without_their_partner(vqagen_: Commands, start: int, count: int) -> None:
    """So does the report. Whole windows have none."""
    ran = vqagen_.done(f"{ASKED} --start-index {start} --count {count} -o q.json --report q.report")
    alone = parted(questions("q.json"))

    assert json.loads(Path("q.report").read_text())["parted_pairs"] == alone
    assert (f"parted: {alone} question" in ran.err) == bool(alone)
    assert bool(alone) == (start % WINDOW > 0 or ((start + count) % WINDOW > 0 and start + count < SCENES))


def test_a_whole_run_has_every_pair_twice(made: Path) -> None:
    records = questions(made / "whole.json")

    assert set(Counter(record["pair"] for record in records).values()) == {2}
    assert len(records) > 4.9 * SCENES
    assert json.loads((made / "json.report").read_text())["parted_pairs"] == 0


# Interrupted runs -----------------------------------------------------------------------------------------------------


def is_stopped(line: str, out: str) -> bool:
    """Run a command and stop it in the middle; return False if it was done before."""
    journal = Path(f"{out}.journal")
    process = start(f"{line} -o {out} --force")
    wait_until(lambda: process.poll() is not None or (journal.exists() and journal.read_bytes().count(b"\n") > 4))
    process.send_signal(signal.SIGTERM)
    return finish(process).code == 143 and journal.exists()


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("out", ["q.json", pytest.param("q.parquet", marks=pytest.mark.slow)])
def test_an_interrupted_run_is_finished(vqagen_: Commands, out: str, workers: int) -> None:
    """With the bytes of a run that was left alone."""
    Path("many.json").write_text(json.dumps({"scenes": many_scenes(200)}))
    line = f"{PAIRS} --pair-window 10 --scenes many.json --workers {workers}"
    alone = vqagen_.done(f"{line} -o {Path(out).with_stem('alone')}")
    assert any(is_stopped(line, out) for _ in range(9)), "always done before it was stopped"
    ran = vqagen_.done(f"{line} -o {out} --resume")

    assert Path(out).read_bytes() == Path(out).with_stem("alone").read_bytes()
    assert ran.err == alone.err


# Formats --------------------------------------------------------------------------------------------------------------


def test_every_format_holds_the_pairs(made: Path) -> None:
    """As numbers."""
    numbers = [record["pair"] for record in questions(made / "whole.json")]
    lines = [json.loads(line) for line in (made / "whole.jsonl").read_text().splitlines()]
    rows = to_records(parquet.read_table(made / "whole.parquet"))

    assert all(type(number) is int for number in numbers)
    assert [line["pair"] for line in lines if "question" in line] == numbers
    assert [row["pair"] for row in rows] == numbers


@pytest.mark.quick(3)
@pytest.mark.parametrize("given", ["whole.json", "whole.jsonl", "whole.parquet"])
@pytest.mark.parametrize(("form", "dialect"), [("json", "release"), ("parquet", "release"), ("jsonl", "generator")])
def test_an_output_becomes_any_other_with_its_pairs(
    made: Path, vqagen_: Commands, given: str, form: str, dialect: str
) -> None:
    """In the bytes that a run writes so."""
    vqagen_.done(f"{ASKED} --dialect {dialect} -o run.{form}")
    vqagen_.done(f"convert {made}/{given} --dialect {dialect} -o converted.{form}")

    assert Path(f"converted.{form}").read_bytes() == Path(f"run.{form}").read_bytes()


def test_other_balances_have_no_pairs(vqagen_: Commands) -> None:
    """Neither as a key nor as a column."""
    for form in ("json", "parquet"):
        vqagen_.done(f"generate --templates {ONE_HOP} --scenes scenes.json --templates-per-image 2 -o q.{form}")

    assert not any("pair" in record for record in questions("q.json"))
    assert "pair" not in parquet.read_table(Path("q.parquet")).column_names


def test_verify_finds_the_answers_of_pairs_right(made: Path, vqagen_: Commands) -> None:
    ran = vqagen_.done(f"verify {made}/whole.json --scenes scenes.json")

    assert "0 wrong" in (ran.out.decode() + ran.err)


def test_hidden_answers_keep_the_pairs(made: Path, vqagen_: Commands) -> None:
    vqagen_.done(f"{ASKED} --hide-answers -o q.json")
    hidden = questions("q.json")

    assert [record["pair"] for record in hidden] == [record["pair"] for record in questions(made / "whole.json")]
    assert not any("answer" in record or "program" in record for record in hidden)


# Python ---------------------------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize(("window", "start", "count"), [(12, 0, 0), (12, 7, 20), (0, 5, 9), (2, 3, 0), (50, 30, 0)])
def test_a_dataset_is_what_generate_yields(made: Path, window: int, start: int, count: int) -> None:
    """Item by item, in any order."""
    chosen = {"templates_per_image": 3, "pair_window": window, "start_index": start, "count": count, "seed": 6}
    how = {"scenes": made / "scenes.json", "templates": ONE_HOP, "balance": "pairs", **chosen}
    generated: dict[int, list[Any]] = {index: [] for index in range(start, start + count if count else SCENES)}
    for question in vqagen.generate(**how):
        generated[question.scene.index].append(of_question(question))
    dataset = vqagen.dataset(**how)

    assert len(dataset) == len(generated)
    for place in reversed(range(len(dataset))):
        assert [of_question(question) for question in dataset[place]] == generated[start + place]


def of_question(question: vqagen.Question) -> tuple[Any, ...]:
    return question.text, question.answer, question.pair, question.program.nodes


# Inputs that are too small, and settings that are refused -------------------------------------------------------------


@pytest.mark.parametrize("scenes", [1, 3])
def test_without_any_pair_the_summary_says_why(vqagen_: Commands, scenes: int) -> None:
    """One scene, or scenes that are all alike: no question, and no error."""
    alike = [sampled_scenes(1)[0] | {"image_index": n, "image_filename": f"{n}.png"} for n in range(scenes)]
    Path("alike.json").write_text(json.dumps({"scenes": alike}))
    ran = vqagen_.done(f"{PAIRS} --scenes alike.json -o q.json")

    assert questions("q.json") == []
    assert ran.err.startswith(f"0 questions about {scenes} scene")
    assert "no partner" in ran.err


def test_a_report_has_the_families_that_only_another_shard_tried(vqagen_: Commands) -> None:
    """The report left them out, and the summary said "from 8 of 5 families tried"."""
    for index in range(4):
        line = f"{ASKED} --start-index {index} --count 1 --force --report r.json -o q.json --templates-per-image 4"
        said = vqagen_.done(line).err
        report = json.loads(Path("r.json").read_bytes())
        families = report["families"].values()

        assert sum(family["questions"] for family in families) == report["questions"] == len(questions("q.json"))
        assert f"of {len(families)} families tried" in said


def test_the_summary_says_that_scenes_begin_too_few_pairs(vqagen_: Commands) -> None:
    """It said that 7 of 12 scenes have fewer than 5 questions, where all 12 have: it counts the pairs begun."""
    said = vqagen_.done(f"{ASKED} --partners-per-image 1 --questions-per-image 6 -o q.json").err

    assert "scenes begin too few pairs for 6 questions about each scene" in said
    assert "fewer than" not in said


def test_the_oldest_numpy_allowed_counts_bits() -> None:
    """`numpy.bitwise_count`, by which a pool counts objects, is new in 2.0."""
    declared = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())["project"]["dependencies"]
    (numpy,) = [each for each in map(Requirement, declared) if each.name == "numpy"]

    assert not numpy.specifier.contains("1.26.4")


REFUSED = [
    ("--reset-counts-every 100", "--reset-counts-every: the windows of --balance pairs are those of --pair-window"),
    ("--instances-per-template 2", "--instances-per-template: with --balance pairs a scene begins one pair"),
    ("--max-per-template 9", "--max-per-template: a rule about the whole output would part the two of a pair"),
    ("--dedupe", "--dedupe all: a rule about the whole output would part the two of a pair"),
    ("--compat clevr", "--balance pairs: the CLEVR generator balances answers alone; leave out --compat clevr"),
    ("--pair-window -1", "--pair-window"),
    ("--partners-per-image -1", "--partners-per-image"),
    ("--balance pair", "--balance"),
]


@pytest.mark.parametrize("flag", ["--pair-window", "--partners-per-image"])
def test_what_is_for_pairs_alone_is_refused_without_them(vqagen_: Commands, flag: str) -> None:
    """It would be ignored."""
    ran = vqagen_(f"generate --scenes nowhere.json -o q.json {flag} 9")

    assert (ran.code, ran.err.strip()) == (2, f"vqagen: {flag} is for --balance pairs")


@pytest.mark.parametrize(("flags", "message"), REFUSED)
def test_what_cannot_be_had_with_pairs_is_refused_at_once(vqagen_: Commands, flags: str, message: str) -> None:
    """Before any work: the scenes are not even there. Nothing is written."""
    ran = vqagen_(f"{PAIRS} --scenes nowhere.json -o q.json {flags}")

    assert (ran.code, ran.out) == (2, b"")
    assert message in ran.err
    assert "nowhere" not in ran.err
    assert sorted(os.listdir()) == ["scenes.json"]


def test_all_that_cannot_be_had_with_pairs_is_named_at_once(vqagen_: Commands) -> None:
    ran = vqagen_(f"{PAIRS} --scenes scenes.json -o q.json --reset-counts-every 7 --dedupe --instances-per-template 0")

    assert ran.code == 2
    assert all(flag in ran.err for flag in ("--reset-counts-every:", "--dedupe all:", "--instances-per-template:"))
