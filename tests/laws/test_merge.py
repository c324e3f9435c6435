"""`vqagen merge`: shards make exactly the file that one run makes, or are refused with the reason."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.parquet as pq
import pytest
from commands import Commands
from families import SHIPPED, Collection
from hypothesis import HealthCheck, given, settings, strategies as st
from scene_records import sampled_scenes

from vqagen import __version__
from vqagen.cli import run
from vqagen.errors import UsageError
from vqagen.files.formats import FORMATS, JSON_LINES, Arrangement, choose_format, info_beside, record_file
from vqagen.files.parquet import CHECKSUM
from vqagen.run.blocks import Block, held
from vqagen.run.merge import merge
from vqagen.run.windows import Shard, Span, parse_shard, plan_shard

SCENES, WINDOW = 40, 16
ONE_FILE = {"clevr": "one_hop.json", "market": "asking.json"}
"""The templates of one file load in a third of the time."""
ENDINGS = ("json", "json.gz", "jsonl", "jsonl.gz", "jsonl.zst")
ARRANGEMENT = Arrangement("questions", "question_index", "scene", 0)
"""Name endings -> layout."""


@dataclass(frozen=True)
class Questions:
    """What one run made of all scenes, and shards of it that are cut out of that."""

    folder: Path
    """Where the run's outputs lie."""
    info: Mapping[str, Any]
    by_scene: list[list[Mapping[str, Any]]]

    @property
    def count(self) -> int:
        """How many questions there are."""
        return sum(map(len, self.by_scene))

    def shard(self, path: Path | str, first: int, count: int, **changes: Any) -> str:
        """Write a shard as a run makes it; `changes` are further settings, or a `shard` key of the generator."""
        end = first + count if count else SCENES
        records = [record for questions in self.by_scene[first:end] for record in questions]
        info = deepcopy(dict(self.info))
        key = changes.pop("shard", None)
        info["generator"]["settings"] |= {"start_index": first, "count": count, **changes}
        info["generator"] |= {"shard": key} if key else {}
        form = choose_format(str(path), None, FORMATS, "questions")
        with record_file(str(path), form, info, ARRANGEMENT) as writer:
            writer.write({**record, "question_index": 0} for record in records)
        return str(path)

    def whole(self, ending: str) -> bytes:
        """What the run wrote into a file with that ending."""
        return (self.folder / f"whole.{ending}").read_bytes()


def generate(folder: Path, collection: Collection, out: str, flags: str = "") -> Path:
    """Run the real generator; where its output is."""
    path = folder / out
    templates = collection.templates / ONE_FILE[collection.name]
    line = f"generate --scenes {folder}/scenes.json --metadata {collection.metadata} --templates {templates}"
    line += f" --templates-per-image 3 --reset-counts-every {WINDOW} {flags}"
    assert run([*line.split(), "--out", str(path)]) == 0
    return path


def scenes_folder(folder: Path, collection: Collection) -> Path:
    (folder / "scenes.json").write_text(json.dumps({"info": {"split": "x"}, "scenes": collection.sampled(SCENES, 3)}))
    return folder


@pytest.fixture(scope="module")
def one(tmp_path_factory: pytest.TempPathFactory) -> Questions:
    """A run over all scenes in every layout."""
    folder = scenes_folder(tmp_path_factory.mktemp("one"), SHIPPED[0])
    for ending in ENDINGS:
        generate(folder, SHIPPED[0], f"whole.{ending}")
    document = json.loads((folder / "whole.json").read_text())
    groups = {image: list(group) for image, group in groupby(document["questions"], key=lambda q: q["image_index"])}
    return Questions(folder, document["info"], [groups.get(index, []) for index in range(SCENES)])


# As one run ----------------------------------------------------------------------------------------------------------


@pytest.mark.slow
@given(
    cuts=st.lists(st.integers(1, SCENES - 1), max_size=6, unique=True),
    endings=st.lists(st.sampled_from(ENDINGS), min_size=7, max_size=7),
    out=st.sampled_from(ENDINGS),
    turn=st.integers(0, 6),
)
@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_cuts_in_any_layouts_and_order(
    one: Questions, tmp_path: Path, cuts: list[int], endings: list[str], out: str, turn: int
) -> None:
    """The last shard says that it holds all that follow, as the whole run does."""
    edges = [0, *sorted(cuts), SCENES]
    paths = [
        one.shard(tmp_path / f"{first}.{ending}", first, end - first if end < SCENES else 0)
        for (first, end), ending in zip(pairwise(edges), endings, strict=False)
    ]
    merged = tmp_path / f"merged.{out}"
    came_to = merge(paths[turn:] + paths[:turn], str(merged), force=True)

    assert merged.read_bytes() == one.whole(out)
    assert came_to == (one.count, len(paths), "question", "")


@pytest.mark.quick(1)
@pytest.mark.parametrize("flags", ["", "--dedupe all"])
@pytest.mark.parametrize("ending", ["jsonl", "parquet"])
def test_shards_made_as_k_of_n_are_merged_into_what_one_run_writes(
    one: Questions, vqagen_: Commands, ending: str, flags: str
) -> None:
    """What chooses from the whole output does so again."""
    generate(one.folder, SHIPPED[0], f"all.{ending}", f"{flags} --force")
    for number in (1, 2, 3, 4):
        generate(one.folder, SHIPPED[0], f"{number}-4.{ending}", f"{flags} --shard {number}/4 --force")
    vqagen_.done(f"merge {' '.join(str(path) for path in one.folder.glob(f'?-4.{ending}'))} -o merged.{ending}")

    assert Path(f"merged.{ending}").read_bytes() == (one.folder / f"all.{ending}").read_bytes()


def test_the_command_says_what_it_came_to_and_writes_to_standard_output(one: Questions, vqagen_: Commands) -> None:
    """In the format of the shards; a document of shards in several."""
    one.shard("a.jsonl", 0, 7)
    one.shard("b.jsonl", 7, 0)
    one.shard("b.json", 7, 0)
    ran = vqagen_.done("merge a.jsonl b.jsonl -o -")

    assert ran.err == f"{one.count} questions from 2 shards\n"
    assert ran.out == one.whole("jsonl")
    assert vqagen_.done("merge a.jsonl b.json -o -").out == one.whole("json")


def test_a_merge_has_the_name_of_its_output_to_itself(one: Questions, vqagen_: Commands) -> None:
    """Against runs that are at it, and those that were begun."""
    one.shard("a.jsonl", 0, 7)
    one.shard("b.jsonl", 7, 0)
    with held(Path("merged.json")):
        ran = vqagen_("merge a.jsonl b.jsonl -o merged.json")
    assert (ran.code, ran.err) == (2, "vqagen: another run is writing merged.json\n")

    vqagen_.done("merge a.jsonl b.jsonl -o whole.json")
    with held(Path("merged.json")) as folder:
        folder.begin({})
        folder.add(Block(0, 1, b"", 0, {}))
    ran = vqagen_("merge a.jsonl b.jsonl -o merged.json")
    assert ran.code == 2
    assert ran.err.startswith("vqagen: merged.json.part holds an unfinished run; give --resume")
    vqagen_.done("merge a.jsonl b.jsonl -o merged.json --force")

    assert Path("merged.json").read_bytes() == Path("whole.json").read_bytes()
    assert not [name for name in os.listdir() if name.startswith("merged.json.")]


# Refused -------------------------------------------------------------------------------------------------------------


def part(number: int, of: int = 3, start_index: int = 0, count: int = 0) -> dict[str, int]:
    """The info's key of a shard K/N."""
    return {"number": number, "of": of, "start_index": start_index, "count": count}


Shards = dict[str, tuple[int, int, dict[str, Any]]]
"""Name -> first scene, count, changes."""

NOT_TOGETHER: dict[str, tuple[Shards, list[str]]] = {
    "another seed": (
        {"a.json": (0, 9, {}), "b.json": (9, 0, {"seed": 1})},
        ["b.json differs from a.json in generator.settings.seed: 1, not 0"],
    ),
    "other settings": (
        {"a.json": (0, 9, {}), "b.jsonl": (9, 5, {"compat": "clevr", "more": 1}), "c.json": (14, 0, {"seed": 7})},
        [
            "b.jsonl differs from a.json in generator.settings.compat: 'clevr', not 'none'",
            "b.jsonl differs from a.json in generator.settings.more: 1, not nothing",
            "c.json differs from a.json in generator.settings.seed: 7, not 0",
        ],
    ),
    "gaps": (
        {"a.json": (0, 5, {}), "b.json": (10, 5, {}), "c.json": (16, 0, {})},
        [
            "scenes 5 to 9 are in no shard: make them with --start-index 5 --count 5",
            "scene 15 is in no shard: make it with --start-index 15 --count 1",
        ],
    ),
    "overlaps": (
        {"a.json": (0, 20, {}), "b.json": (5, 5, {}), "c.json": (19, 5, {})},
        ["a.json and b.json both hold scenes 5 to 9", "a.json and c.json both hold scene 19"],
    ),
    "an overlap and a gap": (
        {"a.json": (0, 20, {}), "b.json": (18, 5, {}), "c.json": (30, 0, {})},
        [
            "a.json and b.json both hold scenes 18 to 19",
            "scenes 23 to 29 are in no shard: make them with --start-index 23 --count 7",
        ],
    ),
    "all that follow, and more": (
        {"a.json": (0, 0, {}), "b.json": (30, 5, {}), "c.json": (35, 0, {})},
        [
            "a.json holds all scenes from 0 on (its count is 0), and b.json begins at 30",
            "a.json holds all scenes from 0 on (its count is 0), and c.json begins at 35",
        ],
    ),
    "missing shards": (
        {"a.json": (0, 9, {"shard": part(1, 5)}), "b.json": (20, 9, {"shard": part(3, 5)})},
        ["shard 2/5 is missing", "shard 4/5 is missing", "shard 5/5 is missing"],
    ),
    "many missing shards": (
        {"a.json": (0, 9, {"shard": part(1, 40)})},
        [*(f"shard {number}/40 is missing" for number in range(2, 7)), "34 more shards are missing"],
    ),
    "shards of another cut": (
        {"a.json": (0, 9, {"shard": part(1, 2)}), "b.json": (9, 0, {"shard": part(2, 3)})},
        ["b.json differs from a.json in generator.shard.of: 3, not 2"],
    ),
    "shards of another run": (
        {"a.json": (0, 9, {"shard": part(1, 2)}), "b.json": (9, 6, {"shard": part(2, 2, count=15)})},
        ["b.json differs from a.json in generator.shard.count: 15, not 0"],
    ),
    "a beginning by hand is missing": (
        {"a.json": (4, 9, {}), "b.json": (13, 0, {"shard": part(2, 2)})},
        ["scenes 0 to 3 are in no shard: make them with --start-index 0 --count 4"],
    ),
    "an end by hand is missing": (
        {"a.json": (0, 9, {"shard": part(1, 2)}), "b.json": (9, 5, {})},
        ["the scenes from 14 on are in no shard: make them with --start-index 14"],
    ),
    "a counted end by hand is missing": (
        {"a.json": (0, 9, {"shard": part(1, 2, count=15)}), "b.json": (9, 5, {})},
        ["scene 14 is in no shard: make it with --start-index 14 --count 1"],
    ),
}


def test_shards_that_do_not_belong_together(one: Questions, vqagen_: Commands) -> None:
    """Every reason is told, in a line of its own, and nothing is written."""
    for name, (shards, told) in NOT_TOGETHER.items():
        for file, (first, count, changes) in shards.items():
            one.shard(file, first, count, **changes)
        ran = vqagen_(f"merge {' '.join(shards)} -o merged.json")

        assert ran.err.splitlines() == [f"vqagen: {line}" for line in told], name
        assert (ran.code, Path("merged.json").exists()) == (3, False), name


FOREIGN = "not made by vqagen: its info does not say how to make it again"


NOT_OURS = [
    (b'{"info": {"split": "x"}, "questions": []}', FOREIGN),
    (b'{"info": {"generator": {"name": "vqagen", "settings": {"seed": 0}}}, "scenes": []}', FOREIGN),
    (b'{"info": 3, "questions": []}', FOREIGN),
    (b"[1, 2]", "its info is missing"),
    (b"no JSON", FOREIGN),
    (b'{"question": "Is it?"}\n', "its info is missing: it does not begin with one, and there is no other.json.info"),
    (b"", "its info is missing"),
    (b'{"info": {"a": tru', "not valid JSON"),
]


def test_what_the_generator_did_not_make(one: Questions, vqagen_: Commands) -> None:
    """What is wrong with the others is told too."""
    one.shard("a.json", 0, 7)
    one.shard("b.json", 7, 0, seed=5)
    for content, told in NOT_OURS:
        Path("other.json").write_bytes(content)
        ran = vqagen_("merge a.json other.json b.json -o merged.json")
        first, second = ran.err.splitlines()

        assert first.startswith("vqagen: other.json") and told in first
        assert second == "vqagen: b.json differs from a.json in generator.settings.seed: 5, not 0"
        assert (ran.code, Path("merged.json").exists()) == (3, False)


GOING = "is still there): finish it with --resume"
WRONG_USAGE = [
    ("no.json also.json a.json -o m.json", 3, ["shard not found: no.json", "shard not found: also.json"]),
    ("a.json folder -o m.json", 3, ["shard folder is a folder without records; name its files"]),
    ("a.json going.jsonl -o m.json", 3, [f"shard going.jsonl is not complete (going.jsonl.part {GOING}"]),
    (
        "a.json elsewhere.jsonl -o m.json",
        3,
        [f"shard elsewhere.jsonl is not complete ({{here}}/folder/far.jsonl.part {GOING}"],
    ),
    ("a.json a.json b.json -o m.json", 3, ["a.json and a.json both hold scenes 0 to 6"]),
    ("a.json b.json link.json -o m.json", 3, ["a.json and link.json both hold scenes 0 to 6"]),
    ("a.json b.json -o there.json", 2, ["output there.json exists already; give --force to replace it"]),
    ("a.json b.json -o a.json --force", 2, ["output a.json is in use by the same run; name another file"]),
]


def test_wrong_usage(one: Questions, vqagen_: Commands) -> None:
    one.shard("a.json", 0, 7)
    one.shard("b.json", 7, 0)
    Path("link.json").symlink_to("a.json")
    Path("folder").mkdir()
    Path("going.jsonl.part").write_bytes(b"{")
    Path("elsewhere.jsonl").symlink_to("folder/far.jsonl")
    Path("folder/far.jsonl.part").write_bytes(b"{")
    Path("there.json").write_bytes(b"kept")
    before = {path: path.read_bytes() for path in Path().iterdir() if path.is_file()}
    for line, code, told in WRONG_USAGE:
        ran = vqagen_(f"merge {line}")

        assert ran.err.splitlines() == [f"vqagen: {message.format(here=Path().resolve())}" for message in told]
        assert ran.code == code
    assert {path: path.read_bytes() for path in Path().iterdir() if path.is_file()} == before


# Parquet -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def columns(one: Questions) -> Path:
    """The folder with whole.parquet, of one run, and shards of it cut inside windows, named by their first scene."""
    edges = [0, 5, 7, 16, 30, SCENES]
    generate(one.folder, SHIPPED[0], "whole.parquet")
    for first, end in pairwise(edges):
        count = end - first if end < SCENES else 0
        generate(one.folder, SHIPPED[0], f"part{first}.parquet", f"--start-index {first} --count {count}")
    return one.folder


@pytest.mark.slow
def test_row_groups_that_a_shard_ended_in_are_put_together(one: Questions, columns: Path, tmp_path: Path) -> None:
    merged = tmp_path / "merged.parquet"
    came_to = merge(sorted(columns.glob("part*.parquet")), merged)

    assert merged.read_bytes() == (columns / "whole.parquet").read_bytes()
    assert came_to == (one.count, 5, "question", "")


@pytest.mark.slow
def test_parquet_goes_to_standard_output_too(one: Questions, columns: Path, vqagen_: Commands) -> None:
    ran = vqagen_.done(f"merge {' '.join(map(str, columns.glob('part*.parquet')))} -o -")

    assert ran.out == (columns / "whole.parquet").read_bytes()
    assert ran.err == f"{one.count} questions from 5 shards\n"


@pytest.mark.slow
@pytest.mark.parametrize("out", ["m.json", "m.jsonl", "m.parquet"])
def test_shards_of_several_formats_make_any_of_them(columns: Path, vqagen_: Commands, out: str) -> None:
    """The records are those of one run in that format, answers with their types."""
    parts = ["part0.parquet", "part5.json", "part9.jsonl"]
    for part, span in zip(parts, ("--count 5", "--start-index 5 --count 4", "--start-index 9"), strict=True):
        generate(columns, SHIPPED[0], f"mixed-{part}", f"{span} --force")
    generate(columns, SHIPPED[0], f"whole-{out}", "--force")
    vqagen_.done(f"merge {' '.join(f'{columns}/mixed-{part}' for part in parts)} -o {columns}/mixed-{out} --force")

    assert (columns / f"mixed-{out}").read_bytes() == (columns / f"whole-{out}").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("tail", ["", "--count 18"])
def test_blocks_without_questions_leave_the_bytes_of_one_run(tmp_path: Path, vqagen_: Commands, tail: str) -> None:
    """At the end of a run without a count, it was unknown how many there are; a shard may end so too."""
    scenes = SHIPPED[0].sampled(18, 3)
    bare = [
        {**scene, "objects": [], "relationships": {name: [] for name in scene["relationships"]}} for scene in scenes
    ]
    scenes = [bare[at] if at < 2 or 4 <= at < 11 or at >= 13 else scene for at, scene in enumerate(scenes)]
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))
    line = "generate --scenes scenes.json --only one_hop.json --templates-per-image 2 --reset-counts-every 2"
    vqagen_.done(f"{line} {tail} -o whole.parquet")
    vqagen_.done(f"{line} {tail} -o whole.json")
    for ending in ("json", "parquet"):
        vqagen_.done(f"{line} --count 9 -o 1.{ending}")
        vqagen_.done(f"{line} --start-index 9 {tail.replace('18', '9')} -o 2.{ending}")
    vqagen_.done("convert whole.json -o converted.parquet")
    merged = ["1.json 2.json", "1.parquet 2.parquet", "1.json 2.parquet", "1.parquet 2.json"]
    for number, shards in enumerate(merged):
        vqagen_.done(f"merge {shards} -o merged{number}.parquet")

    whole = Path("whole.parquet").read_bytes()
    assert pq.ParquetFile("whole.parquet").num_row_groups == 3
    assert [Path(f"merged{number}.parquet").read_bytes() == whole for number in range(len(merged))] == [True] * 4
    assert Path("converted.parquet").read_bytes() == whole


def changed_answers(path: Path, keeps_checksum: bool) -> None:
    """Write the columns of a file anew with other answers, by a library that keeps the info."""
    table, metadata = pq.read_table(path), pq.ParquetFile(path).metadata.metadata
    answers = table.column("answer").slice(1).combine_chunks().to_pylist()
    at = table.schema.get_field_index("answer")
    table = table.set_column(at, table.schema.field(at), pyarrow.array([*answers, answers[0]]))
    with pq.ParquetWriter("part0.parquet", table.schema, compression="zstd") as writer:
        writer.write_table(table)
        if keeps_checksum:
            writer.add_key_value_metadata({CHECKSUM: metadata[CHECKSUM]})


@pytest.mark.slow
@pytest.mark.parametrize("out", ["merged.parquet", "merged.json"])
@pytest.mark.parametrize(
    ("keeps_checksum", "message"),
    [(True, r"the records have the checksum \w{8}, not \w{8}: the"), (False, "its records have no checksum: the")],
)
def test_columns_that_were_changed_are_refused(
    columns: Path, vqagen_: Commands, keeps_checksum: bool, message: str, out: str
) -> None:
    """Libraries for Parquet drop the checksum, so a file without one is refused too."""
    changed_answers(columns / "part0.parquet", keeps_checksum)
    ran = vqagen_(f"merge part0.parquet {' '.join(map(str, columns.glob('part[1-9]*.parquet')))} -o {out}")

    assert ran.code == 3
    assert re.match(f"vqagen: part0.parquet: {message} file was [^\n]*\n$", ran.err)
    assert not Path(out).exists()


# Changed or cut ------------------------------------------------------------------------------------------------------


@pytest.mark.quick(3)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("share", [0.3, 0.7, 0.999])
def test_a_shard_that_was_cut_off_is_refused(one: Questions, vqagen_: Commands, ending: str, share: float) -> None:
    one.shard("a.json", 0, 7)
    path = Path(one.shard(f"b.{ending}", 7, 0))
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    ran = vqagen_(f"merge a.json {path} -o merged.json")

    assert ran.code == 3
    assert ran.err.startswith(f"vqagen: {path}") and len(ran.err.splitlines()) == 1
    assert not list(Path().glob("*merged*"))


@pytest.mark.quick(1)
@pytest.mark.parametrize("ending", ["json", "jsonl"])
@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda lines: lines.pop(4), "questions[4]: question_index is 5, not 4"),
        (lambda lines: lines.insert(2, lines[3]), "questions[2]: question_index is 3, not 2"),
        (lambda lines: lines.__setitem__(1, b'{"question": "Is it?"}'), "questions[1]: question_index is null or"),
        (lambda lines: lines.__setitem__(1, b"[]"), "questions[1]: expected a question object, found a list of 0"),
        (lambda lines: lines.__setitem__(2, b'{"question_index" 2}'), "questions[2]: not valid JSON"),
    ],
)
def test_a_shard_that_was_changed_is_refused(
    one: Questions, vqagen_: Commands, ending: str, change: Any, told: str
) -> None:
    path = Path(one.shard(f"a.{ending}", 0, 0))
    is_document = ending == "json"
    opening, *lines = path.read_bytes().splitlines() if is_document else [b"", *path.read_bytes().splitlines()]
    closing = [lines.pop()] if is_document else []
    lines = [line.removesuffix(b",") for line in lines]
    change(lines)
    between = b",\n" if is_document else b"\n"
    path.write_bytes(b"\n".join(filter(None, [opening, between.join(lines), *closing])))
    ran = vqagen_(f"merge {path} -o merged.json")

    assert (ran.code, Path("merged.json").exists()) == (3, False)
    assert told in ran.err and ran.err.startswith(f"vqagen: {path}")


def test_reading_is_by_content_and_not_by_name(one: Questions, vqagen_: Commands) -> None:
    """Such as after `--format jsonl -o shard.json`."""
    one.shard("a.jsonl", 0, 7)
    Path("a.jsonl").rename("a.json")
    Path(info_beside("a.jsonl", JSON_LINES) or "").rename("a.json.info.json")
    one.shard("b.json", 7, 0)
    vqagen_.done("merge a.json b.json -o merged.json.gz")

    assert gzip.decompress(Path("merged.json.gz").read_bytes()) == one.whole("json")


# Other formats --------------------------------------------------------------------------------------------------------

LAYOUTS = ("json", "jsonl", "parquet")
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


@pytest.mark.slow
def test_an_output_becomes_any_other(written: Written, vqagen_: Commands, tmp_path: Path) -> None:
    for form, made in pairwise([*LAYOUTS, LAYOUTS[0]]):
        vqagen_.done(f"convert {written(f'release.{form}')} --out {tmp_path}/made.{made}")

        assert (tmp_path / f"made.{made}").read_bytes() == written(f"release.{made}").read_bytes()


@pytest.mark.slow
def test_a_shard_stays_one(written: Written, vqagen_: Commands) -> None:
    """It merges with the others, in its new format."""
    whole = written("text.json")
    domain = json.loads(whole.read_text())["info"]["generator"]["domain"]
    for number in (1, 2):
        line = f"generate {QUICK.replace('scenes.json', f'{whole.parent}/scenes.json')} --domain {domain}"
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


# Shards K/N -----------------------------------------------------------------------------------------------------------

RUNS = st.tuples(st.integers(0, 40), st.integers(1, 60), st.integers(0, 12), st.integers(1, 60)).filter(
    lambda run: run[3] <= run[1]
)
"""First scene, how many there are, size of a window, how many shards."""


def cuts(first: int, there: int, window: int, of: int) -> list[Span]:
    """All shards of a run over `there` scenes."""
    return [plan_shard(Shard(number, of), Span(first, there), there, window) for number in range(1, of + 1)]


@pytest.mark.parametrize(("text", "shard"), [("3/8", Shard(3, 8)), ("1/1", Shard(1, 1)), ("08/10", Shard(8, 10))])
def test_a_shard_is_written_as_k_of_n(text: str, shard: Shard) -> None:
    assert parse_shard(text) == shard


@pytest.mark.parametrize("text", ["0/8", "9/8", "3/0", "3", "a/b", "", "/", "3/", "-1/8", "3/8/9", "3 / 8", "1.0/2"])
def test_anything_else_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_shard(text)

    assert str(refused.value) == f"--shard must be K/N with K from 1 to N, such as 3/8; found {text!r}"


@given(RUNS)
def test_every_scene_is_in_one_shard(run: tuple[int, int, int, int]) -> None:
    """Shards follow each other from the run's first scene to its last, and none is empty."""
    first, there, _, _ = run
    spans = cuts(*run)

    assert spans[0].first == first
    assert all(span.first + span.length == after.first for span, after in pairwise(spans))
    assert spans[-1].first + spans[-1].length == first + there
    assert all(span.length > 0 for span in spans)


def test_a_cut_leaves_a_border_for_each_later_one() -> None:
    """The nearest border to a third of the way is the last but one, which the second cut needs."""
    assert cuts(249, 501, 250, 3) == [Span(249, 1), Span(250, 250), Span(500, 250)]


def test_a_cut_is_at_the_border_that_is_nearest_to_its_share() -> None:
    """Also if that is the last one."""
    assert cuts(0, 38, 10, 3) == [Span(0, 10), Span(10, 20), Span(30, 8)]


def test_two_cuts_are_not_at_one_border() -> None:
    """Both are nearest to the border at 3."""
    assert cuts(0, 7, 3, 3) == [Span(0, 3), Span(3, 3), Span(6, 1)]


@given(RUNS)
def test_cuts_are_at_the_borders_of_windows_if_there_are_enough(run: tuple[int, int, int, int]) -> None:
    first, there, window, of = run
    borders = [index for index in range(first + 1, first + there) if window and index % window == 0]
    begins = [span.first for span in cuts(*run)[1:]]

    assert len(borders) < of - 1 or all(begin in borders for begin in begins)


@given(RUNS)
def test_shards_are_as_even_as_their_cuts_allow(run: tuple[int, int, int, int]) -> None:
    """Within one scene, or, on the borders of windows, no larger than an even share and a window."""
    _, there, window, of = run
    spans = cuts(*run)
    lengths = [span.length for span in spans]

    if window and all(span.first % window == 0 for span in spans[1:]):
        assert max(lengths) < there / of + window
    else:
        assert max(lengths) - min(lengths) <= 1


@pytest.mark.parametrize(("asked", "length"), [(0, 0), (60, 20), (100, 60)])
def test_the_last_shard_ends_as_the_run_does(asked: int, length: int) -> None:
    """All that follow stays all that follow, and what was asked for beyond the input is still asked for."""
    shards = [plan_shard(Shard(number, 3), Span(100, asked), 60, 0) for number in (1, 2, 3)]

    assert shards == [Span(100, 20), Span(120, 20), Span(140, length)]


@pytest.mark.parametrize(("asked", "there", "least"), [(0, 5, 5), (4, 5, 4), (9, 5, 5), (0, 0, 0)])
def test_more_shards_than_scenes_are_refused(asked: int, there: int, least: int) -> None:
    with pytest.raises(UsageError) as refused:
        plan_shard(Shard(1, 6), Span(0, asked), there, 250)

    assert str(refused.value) == f"--shard 1/6: there are more shards than scenes ({least})"


# Of another task ------------------------------------------------------------------------------------------------------

COUNT, FIRST = 30, 240
"""Scenes of the whole run; a window ends among them."""


def sample(commands: Commands, out: str, first: int = FIRST, count: int = COUNT, flags: str = "") -> str:
    """Draw scenes into a file."""
    commands.done(f"scenes sample --seed 3 --start-index {first} --count {count} {flags} -o {out}")
    return out


def contents(name: str) -> list[bytes]:
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

    assert contents("merged.json") == contents(whole)
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
