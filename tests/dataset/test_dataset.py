"""`vqagen dataset`: one command gives pictures, questions with options, splits, rows and a card; it can be resumed."""

from __future__ import annotations

import json
import shutil
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Commands
from depth import is_quick
from numpy.typing import NDArray
from oracles.leaks import leaks, nearly_same
from scene_records import sampled_scenes

import vqagen
from vqagen.dataset.build import write_dataset
from vqagen.dataset.rows import SPLITS, read_rows
from vqagen.dataset.settings import DatasetSettings
from vqagen.errors import BadInput, UsageError
from vqagen.language.domain_files import find_domain, load_domain_files
from vqagen.run.options import RunOptions
from vqagen.run.runner import OnProgress

SMALL: dict[str, Any] = {
    "count": 8,
    "pictures": "drawn",
    "width": 96,
    "questions": 5,
    "shares": "50/25/25",
    "reasoning": "points",
}
STOP_EVERY = 3 if is_quick else 1
"""Steps from one stop of a dataset to the next."""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small dataset."""
    out = tmp_path_factory.mktemp("dataset") / "out"
    write_dataset(out, DatasetSettings(**SMALL))
    return out


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def contents(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*")) if path.is_file()}


def test_rows_have_pictures_options_and_boxes(made: Path) -> None:
    rows = list(read_rows(made))

    assert {row["split"] for row in rows} == set(SPLITS)
    assert [row["question_id"] for row in rows] == list(range(len(rows)))
    for row in rows:
        assert row["image"]["bytes"].startswith(b"\x89PNG")
        assert row["choices"][row["choice"]] == row["answer"]
        assert len(row["boxes"]) == len(json.loads(row["scene"])["objects"])
        assert row["answer_type"] in ("count", "yes/no", "value")
        assert "#" in row["family"]


def test_rows_say_where_each_step_looks(made: Path) -> None:
    """Masks, boxes and points are those of the objects, and what mentions objects says a word that is true of them."""
    for row in read_rows(made):
        objects, masks = json.loads(row["scene"])["objects"], json.loads(row["masks"])
        for box, (x, y), mask in zip(row["boxes"], row["points"], masks, strict=True):
            rows, columns = np.nonzero(decoded(mask))
            assert box == [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
            assert box[0] - 2 <= x <= box[2] + 2
            assert box[1] - 2 <= y <= box[3] + 2
        *steps, last = (json.loads(step) for step in row["trace"])
        assert len(steps) + 1 == len(json.loads(row["program"]))
        assert steps[0] == list(range(len(objects)))
        assert (("no", "yes")[last] if isinstance(last, bool) else str(last)) == row["answer"]
        assert row["reasoning"].endswith(f"{row['answer']}.")
        for each in row["mentions"]:
            assert row["question"][slice(*each["span"])].strip()
            assert each["objects"] in steps


def decoded(mask: dict[str, Any]) -> NDArray[np.bool_]:
    """The pixels of a mask: lengths of runs of 0 and 1 in turn, column by column, as COCO counts them."""
    height, width = mask["size"]
    runs = [np.full(length, number % 2 == 1) for number, length in enumerate(mask["counts"])]
    return np.concatenate(runs).reshape(width, height).T


def test_questions_and_rows_say_the_same(made: Path) -> None:
    """Of questions.jsonl, `scene_index` is the place in pictures/scenes.json."""
    scenes = json.loads((made / "pictures/scenes.json").read_bytes())["scenes"]
    asked = lines(made / "questions.jsonl")

    assert [each["question"] for each in asked] == [row["question"] for row in read_rows(made)]
    assert all(scenes[each["scene_index"]]["image_index"] == each["image_index"] for each in asked)
    sharing = Counter(each["block"] for each in asked)
    assert all(sharing[each["block"]] == len(each["choices"]) for each in asked)


class Stop(Exception):
    """An interruption."""


def test_every_step_is_resumed_and_none_is_done_again(made: Path, tmp_path: Path) -> None:
    """A run that is stopped at the beginning of each step, or of every third, gives in the end what one run gives."""
    begun, stopped = list[str](), list[str]()

    @contextmanager
    def stop_once(step: str) -> Iterator[OnProgress]:
        begun.append(step)
        if begun.count(step) == 1 and len(set(begun)) % STOP_EVERY == 0:
            stopped.append(step)
            raise Stop
        yield lambda _: None

    while True:
        try:
            report = write_dataset(tmp_path / "out", DatasetSettings(**SMALL), on_step=stop_once)
            break
        except Stop:
            assert "card" not in begun or begun[-1] == "card"

    assert Counter(begun) == Counter([*set(begun), *stopped])
    assert contents(tmp_path / "out") == contents(made)
    assert not report.was_complete
    assert write_dataset(tmp_path / "out", DatasetSettings(**SMALL)).was_complete


def test_another_dataset_is_refused_with_what_differs(made: Path, tmp_path: Path) -> None:
    before = contents(made)

    with pytest.raises(UsageError, match=r"--force begins anew[^$]*settings\.questions: 5, not 6"):
        write_dataset(made, DatasetSettings(**{**SMALL, "questions": 6}), options=RunOptions(resume=True))
    assert contents(made) == before

    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match="folder of something else"):
        write_dataset(tmp_path, DatasetSettings(**SMALL), options=RunOptions(force=True))
    (tmp_path / "dataset.json").write_text('{"steps": {}}')
    (tmp_path / "README.md").write_text("mine")
    with pytest.raises(UsageError, match="not of vqagen, or damaged"):
        write_dataset(tmp_path, DatasetSettings(**SMALL), options=RunOptions(force=True))
    assert (tmp_path / "README.md").read_text() == "mine"


@pytest.mark.slow
def test_a_dataset_of_which_nothing_is_made_may_become_another(tmp_path: Path) -> None:
    """Such as one whose first command named the wrong domain."""
    scenes = tmp_path / "scenes.json"
    scenes.write_text(json.dumps({"scenes": list(sampled_scenes(3, domain="market"))}))
    settings = DatasetSettings(**{**SMALL, "count": 0, "choices": "none"})
    with pytest.raises(BadInput, match=r"clevr\.json"):
        write_dataset(tmp_path / "out", settings, scenes=scenes)

    assert write_dataset(tmp_path / "out", settings, find_domain("market"), scenes=scenes).steps


def test_drawn_pictures_have_no_settings_of_the_renderer(tmp_path: Path) -> None:
    for chosen in ({"variant": "llvm"}, {"samples": 4}):
        with pytest.raises(UsageError, match="--samples and --variant are about rendered pictures"):
            write_dataset(tmp_path / "out", DatasetSettings(pictures="drawn", **chosen))
    assert not (tmp_path / "out").exists()


def test_without_a_renderer_nothing_is_begun(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mitsuba", None)
    with pytest.raises(UsageError, match="a drawn one does not: --pictures drawn"):
        write_dataset(tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_force_begins_anew_and_leaves_the_files_of_others(made: Path, tmp_path: Path) -> None:
    shutil.copytree(made, tmp_path / "out")
    (tmp_path / "out/notes.txt").write_text("mine")

    report = write_dataset(
        tmp_path / "out", DatasetSettings(**{**SMALL, "count": 4, "choices": "none"}), options=RunOptions(force=True)
    )

    assert (tmp_path / "out/notes.txt").read_text() == "mine"
    assert sum(report.steps[f"rows {name}"]["pictures"] for name in SPLITS) == 4
    assert all((row["choices"], row["choice"]) == ([], -1) for row in read_rows(tmp_path / "out"))


@pytest.mark.slow
def test_questions_about_what_no_picture_shows_are_left_out(tmp_path: Path) -> None:
    """Of the market, these are three attributes and the two relations that do not follow from places."""
    small = DatasetSettings(**{**SMALL, "count": 6, "choices": "none"})

    report = write_dataset(tmp_path / "out", small, find_domain("market"))

    hidden = "condition, decoration, facing, tag, tied"
    assert report.steps["kept train"]["left_out"][f"pictures do not show {hidden}"]
    asked = [node for row in read_rows(tmp_path / "out") for node in json.loads(row["program"])]
    words = {word for node in asked for word in (*node["type"].split("_"), *node["value_inputs"])}
    assert not words & {*hidden.split(", "), "new", "worn", "broken", "sold", "reserved", "striped"}
    assert {"material", "kind", "left"} <= words


@pytest.mark.slow
def test_questions_about_what_can_hardly_be_seen_are_left_out(tmp_path: Path) -> None:
    settings = DatasetSettings(**{**SMALL, "choices": "none", "min_visible": 60})

    report = write_dataset(tmp_path / "out", settings)

    least = min(
        thing["visible_pixels"] for row in read_rows(tmp_path / "out") for thing in json.loads(row["scene"])["objects"]
    )
    assert least < 60
    assert "an object shows fewer than 60 pixels" in report.summary()


@pytest.mark.slow
def test_given_scenes_are_pictured_and_asked_about(tmp_path: Path) -> None:
    info = {"license": "Creative Commons Attribution (CC BY 4.0)"}
    scenes = sampled_scenes(6, 3)
    (tmp_path / "scenes.json").write_text(json.dumps({"info": info, "scenes": scenes}))
    settings = DatasetSettings(**{**SMALL, "count": 4, "start_index": 1})

    write_dataset(tmp_path / "out", settings, scenes=tmp_path / "scenes.json")

    card = (tmp_path / "out/README.md").read_text()
    pictured = json.loads((tmp_path / "out/pictures/scenes.json").read_bytes())["scenes"]
    assert [each["image_index"] for each in pictured] == [each["image_index"] for each in scenes[1:5]]
    assert 'license: "cc-by-4.0"' in card
    assert "CC BY 4.0), as the file says" in card
    with pytest.raises(UsageError, match="leave out --scenes"):
        write_dataset(tmp_path / "b", DatasetSettings(hold_out="condition"), scenes=tmp_path / "scenes.json")


@pytest.mark.slow
def test_only_train_must_have_questions(tmp_path: Path) -> None:
    """The only picture of a split may have no question whose objects can all be seen and that gets options."""
    few = {**SMALL, "questions": 1, "choices": "none", "min_visible": 60, "shares": "80/10/10"}
    made = (write_dataset(tmp_path / f"{seed}", DatasetSettings(**few, seed=seed)) for seed in range(20))
    report = next(each for each in made if not each.steps["rows test"]["questions"])

    assert ", test 0) in" in report.summary()
    assert "test-*.parquet" not in (report.place / "README.md").read_text()
    with pytest.raises(UsageError, match="no question is left in the split train"):
        write_dataset(tmp_path / "none", DatasetSettings(**{**few, "min_visible": 10**6}))


@pytest.mark.slow
def test_a_dataset_may_be_a_test_set_alone(tmp_path: Path) -> None:
    report = write_dataset(tmp_path / "out", DatasetSettings(**{**SMALL, "count": 4, "shares": "0/0/100"}))

    assert {row["split"] for row in read_rows(tmp_path / "out")} == {"test"}
    assert "(test " in report.summary()
    with pytest.raises(UsageError, match="no question is left in the split test"):
        none = {**SMALL, "count": 1, "shares": "0/0/100", "min_visible": 10**6}
        write_dataset(tmp_path / "none", DatasetSettings(**none))


def test_dialogs_have_rows_of_their_own(tmp_path: Path) -> None:
    write_dataset(tmp_path / "out", DatasetSettings(**{**SMALL, "count": 4, "dialogs": 1}))
    assert vqagen.verify(tmp_path / "out/dialogs.jsonl", tmp_path / "out/scenes.json").mismatched == 0

    rows = list(read_rows(tmp_path / "out", data="dialogs"))

    assert [row["dialog_id"] for row in rows] == list(range(4))
    assert all(len(row["questions"]) == len(row["answers"]) == 10 for row in rows)
    assert '"config_name":"dialogs"' in (tmp_path / "out/README.md").read_text()


@pytest.mark.slow
def test_dialogs_are_worded_by_the_synonyms_of_ones_own_domain(tmp_path: Path, vqagen_: Commands) -> None:
    assert vqagen_(f"init {tmp_path}/meadow").code == 0
    settings = DatasetSettings(**{**SMALL, "count": 4, "choices": "none", "dialogs": 1, "reasoning": "none"})
    write_dataset(tmp_path / "out", settings, find_domain(tmp_path / "meadow"))

    ran = vqagen_(f"verify {tmp_path}/out/dialogs.jsonl --scenes {tmp_path}/out/scenes.json --domain {tmp_path}/meadow")

    assert ran.code == 0, ran.err


@pytest.mark.slow
def test_the_card_says_how_to_make_it_again(made: Path, tmp_path: Path, vqagen_: Commands) -> None:
    card = (made / "README.md").read_text()
    command = next(line for line in card.splitlines() if line.startswith("$ vqagen dataset OUT"))

    ran = vqagen_(command.removeprefix("$ vqagen ").replace("OUT", str(tmp_path / "out")))

    assert ran.code == 0, ran.err
    assert contents(tmp_path / "out") == contents(made)
    for part in ('license: "mit"', "## Licences", "## Audit", "## Statistics", "visual-question-answering"):
        assert part in card


@pytest.mark.slow
def test_files_of_ones_own_are_named_in_the_card(tmp_path: Path) -> None:
    own = tmp_path / "mine"
    shutil.copytree(find_domain().templates, own)
    write_dataset(tmp_path / "out", DatasetSettings(**SMALL, choices="none"), find_domain(templates=own))

    card = (tmp_path / "out/README.md").read_text()
    assert f"--templates {own}" in card
    assert f"- `{own}`: of whoever made it; **fill in their licence**." in card
    assert 'license: "other"' in card


# Leaks ----------------------------------------------------------------------------------------------------------------


def test_no_split_leaks_into_another(made: Path) -> None:
    assert list(leaks(read_rows(made))) == []


def test_the_oracle_finds_planted_leaks(made: Path) -> None:
    rows = list(read_rows(made))
    planted = {**rows[-1], "split": "train"}
    scene = json.loads(rows[0]["scene"])
    for each in scene["objects"]:
        each["3d_coords"][0] += 0.1
    copy = {**rows[-1], "image_id": 99, "scene": json.dumps(scene), "image": {"bytes": b""}}

    found = list(leaks([*rows, planted, copy]))

    assert {each.split()[0] for each in found} == {"text", "program", "picture", "image_id", "scenes"}
    assert not nearly_same(scene["objects"], scene["objects"][1:], 0.5)


@pytest.mark.slow
@pytest.mark.parametrize("hold_out", ["none", "family", "length", "value-pair", "condition"])
def test_a_thousand_rows_leak_nothing_and_test_alone_has_what_is_held_out(hold_out: str, tmp_path: Path) -> None:
    settings = DatasetSettings(count=120, pictures="drawn", width=96, choices="none", hold_out=hold_out, seed=5)
    write_dataset(tmp_path / "out", settings, options=RunOptions(workers=2))
    rows = list(read_rows(tmp_path / "out"))
    test, rest = ([row for row in rows if (row["split"] == "test") == is_test] for is_test in (True, False))

    assert len(rows) > 850
    assert len(test) > 25
    assert list(leaks(rows)) == []
    if hold_out == "family":
        assert {row["family"] for row in test}.isdisjoint(row["family"] for row in rest)
    if hold_out == "length":
        lengths = [[len(json.loads(row["program"])) for row in part] for part in (test, rest)]
        assert min(lengths[0]) > max(lengths[1])
    if hold_out == "value-pair":
        pairs = held_pairs(tmp_path / "out/README.md")
        assert all(any(pair <= named(row) for pair in pairs) for row in test)
        assert not any(pair <= named(row) for pair in pairs for row in rest)
    if hold_out == "condition":
        from vqagen.world.sampling_rules import SamplingRules

        domain = load_domain_files().domain
        assert all(SamplingRules.from_domain(domain, "A").keeps(json.loads(row["scene"])) for row in rest)
        assert all(SamplingRules.from_domain(domain, "B").keeps(json.loads(row["scene"])) for row in test)


def named(row: dict[str, Any]) -> set[str]:
    return {row["answer"], *(value for node in json.loads(row["program"]) for value in node["value_inputs"])}


def held_pairs(card: Path) -> list[set[str]]:
    line = next(each for each in card.read_text().splitlines() if each.startswith("Held out:"))
    return [set(each.split("+")) for each in line.replace(",", " ").split() if "+" in each]


@pytest.mark.slow
def test_datasets_opens_it_with_pictures(made: Path, tmp_path: Path) -> None:
    import datasets

    loaded = datasets.load_dataset(str(made), cache_dir=str(tmp_path))

    assert list(loaded) == list(SPLITS)
    first, row = loaded["train"][0], next(read_rows(made))
    assert (first["image"].size, first["image"].format) == ((96, 64), "PNG")
    assert [first[name] for name in ("choices", "choice", "boxes")] == [
        row[name] for name in ("choices", "choice", "boxes")
    ]
    assert [row["question"] for name in SPLITS for row in loaded[name]] == [row["question"] for row in read_rows(made)]


def test_what_cannot_be_held_out_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    market = find_domain("market")
    with pytest.raises(UsageError, match=r"market\.json: unknown condition 'A'"):
        write_dataset(tmp_path / "out", DatasetSettings(pictures="drawn", hold_out="condition"), market)
    with pytest.raises(UsageError, match="--held: unknown question type or template 'coutn'"):
        write_dataset(tmp_path / "out", DatasetSettings(pictures="drawn", hold_out="family", held=("coutn",)))

    assert not (tmp_path / "out").exists()
