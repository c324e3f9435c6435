"""Every tampering with a dataset is found by `vqagen verify DATASET`, and named with its file."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

from vqagen.dataset.build import write_dataset
from vqagen.dataset.folder import changed_files, read_state
from vqagen.dataset.rows import DIALOG_FEATURES, FEATURES, write_rows
from vqagen.dataset.settings import DatasetSettings
from vqagen.dataset.verification import verify_dataset
from vqagen.errors import BadInput
from vqagen.files.parquet import pyarrow

SETTINGS = DatasetSettings(
    count=12, pictures="drawn", width=96, questions=5, dialogs=1, shares="60/20/20", reasoning="boxes"
)
Rows = list[dict[str, Any]]
TRAIN, TEST = (f"data/{split}-00000-of-00001.parquet" for split in ("train", "test"))
DIALOGS = "dialogs/train-00000-of-00001.parquet"
PICTURED = "pictures/scenes.json"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset as it was made."""
    out = tmp_path_factory.mktemp("made") / "set"
    write_dataset(out, SETTINGS)
    return out


@pytest.fixture
def copy(made: Path, tmp_path: Path) -> Path:
    """A dataset that a test may change."""
    return Path(shutil.copytree(made, tmp_path / "set"))


def rows_of(path: Path) -> Rows:
    rows: Rows = pyarrow("pyarrow.parquet").read_table(path).to_pylist()
    return rows


def in_rows(change: Callable[[Rows], object], file: str = TRAIN) -> Callable[[Path], None]:
    """Return what changes the rows of a file."""

    def tamper(place: Path) -> None:
        rows = rows_of(place / file)
        change(rows)
        write_rows(place / file, rows, DIALOG_FEATURES if file.startswith("dialogs") else FEATURES)

    return tamper


def in_lines(change: Callable[[Rows], object], file: str = "questions.jsonl") -> Callable[[Path], None]:
    """Return what changes the records of a file of lines."""

    def tamper(place: Path) -> None:
        records = [json.loads(line) for line in (place / file).read_text().splitlines()]
        change(records)
        (place / file).write_text("".join(json.dumps(each) + "\n" for each in records))

    return tamper


def in_json(change: Callable[[Any], object], file: str) -> Callable[[Path], None]:
    """Return what changes a document."""

    def tamper(place: Path) -> None:
        document = json.loads((place / file).read_text())
        change(document)
        (place / file).write_text(json.dumps(document))

    return tamper


def put(column: str, value: Callable[[Any], Any]) -> Callable[[Rows], object]:
    """Return what changes a column of the fourth row."""
    return lambda rows: rows[3].update({column: value(rows[3][column])})


def exchanged(column: str) -> Callable[[Rows], object]:
    """Return what exchanges a column of the first and the last row."""

    def change(rows: Rows) -> None:
        rows[0][column], rows[-1][column] = rows[-1][column], rows[0][column]

    return change


def other_program(text: str) -> str:
    return text.replace('"value_inputs":["', '"value_inputs":["un', 1)


def exchange_pictures(place: Path) -> None:
    one, two = sorted((place / "pictures/images").iterdir())[:2]
    first, second = one.read_bytes(), two.read_bytes()
    one.write_bytes(second)
    two.write_bytes(first)


def move_a_row(place: Path) -> None:
    train, test = (rows_of(place / file) for file in (TRAIN, TEST))
    write_rows(place / TEST, [*test, train.pop(2)])
    write_rows(place / TRAIN, train)


def copy_a_row(place: Path) -> None:
    write_rows(place / TEST, [*rows_of(place / TEST), rows_of(place / TRAIN)[0]])


def add_a_column(place: Path) -> None:
    parquet = pyarrow("pyarrow.parquet")
    table = parquet.read_table(place / TRAIN)
    parquet.write_table(table.append_column("gold", table["answer"]), place / TRAIN)


def flip(file: str, at: float) -> Callable[[Path], None]:
    """Return what changes a byte of a file."""

    def tamper(place: Path) -> None:
        content = bytearray((place / file).read_bytes())
        content[int(len(content) * at)] ^= 1
        (place / file).write_bytes(content)

    return tamper


def rotate(rows: Rows, is_told: bool = True) -> None:
    each = rows[0]
    each["choices"] = [*each["choices"][1:], each["choices"][0]]
    if is_told:
        each["choice"] = each["choices"].index(each["answer"])


def hidden(place: Path) -> None:
    """Leave out the hashes."""
    (place / "SHA256SUMS").unlink(missing_ok=True)
    in_json(lambda state: state["steps"]["card"].pop("files"), "dataset.json")(place)


def in_both(change: Callable[[Any], object], *files: str) -> Callable[[Path], None]:
    """Return what changes the first object of the second scene, in the files of scenes that are named, or in both."""

    def tamper(place: Path) -> None:
        for file in files or ("scenes.json", PICTURED):
            in_json(lambda document: change(document["scenes"][1]["objects"][0]), file)(place)

    return tamper


def with_floats(place: Path) -> None:
    """Write the boxes as numbers that are equal, but no whole ones."""
    parquet, arrow = pyarrow("pyarrow.parquet"), pyarrow()
    table = parquet.read_table(place / TRAIN)
    at = table.schema.get_field_index("boxes")
    boxes = table["boxes"].cast(arrow.list_(arrow.list_(arrow.float64())))
    parquet.write_table(table.set_column(at, "boxes", boxes), place / TRAIN)


TAMPERINGS: dict[str, tuple[Callable[[Path], None], str, str]] = {
    # in the rows: what is done, the file that is named, and what is said of it without any hash
    "question text": (in_rows(put("question", lambda text: text[::-1])), TRAIN, "question: written as"),
    "problem text": (in_rows(put("problem", lambda text: text + "?")), TRAIN, "problem: written as"),
    "answer": (in_rows(put("answer", lambda _: "7")), TRAIN, "answer: written as '7'"),
    "solution": (in_rows(put("solution", lambda _: "<answer> 7 </answer>")), TRAIN, "solution: written as"),
    "order of options": (in_rows(put("choices", lambda options: options[::-1])), TRAIN, "choices: written as"),
    "right option": (in_rows(put("choice", lambda choice: choice + 1)), TRAIN, "choice: written as"),
    "program": (in_rows(put("program", other_program)), TRAIN, "program: written as"),
    "family": (in_rows(put("family", lambda _: "one_hop.json#none")), TRAIN, "family: written as"),
    "scene": (in_rows(put("scene", lambda text: text.replace("rubber", "metal"))), TRAIN, "scene: written as"),
    "boxes": (in_rows(put("boxes", lambda boxes: boxes[::-1])), TRAIN, "boxes: written as"),
    "points": (in_rows(put("points", lambda points: points[::-1])), TRAIN, "points: written as"),
    "masks": (in_rows(put("masks", lambda text: json.dumps(json.loads(text)[::-1]))), TRAIN, "masks: written as"),
    "a step less": (in_rows(put("trace", lambda steps: steps[:-1])), TRAIN, "trace: written as"),
    "mentions": (in_rows(put("mentions", lambda _: [])), TRAIN, "mentions: written as"),
    "reasoning": (in_rows(put("reasoning", lambda text: text[::-1])), TRAIN, "reasoning: written as"),
    "pictures of two rows": (in_rows(exchanged("image")), TRAIN, "image: not the picture pictures/images/"),
    "a row twice": (in_rows(lambda rows: rows.append(rows[-1])), TRAIN, "it stands there twice"),
    "a row less": (in_rows(lambda rows: rows.pop(4)), TRAIN, "no row in train"),
    "train row in test": (copy_a_row, TEST, "in test, it stands there twice or belongs"),
    "a row moved": (move_a_row, TEST, "in test, it stands there twice or belongs"),
    "a column more": (add_a_column, TRAIN, "gold: no column of a dataset"),
    "id": (in_rows(put("question_id", lambda _: 10**9)), TRAIN, "question_id 1000000000"),
    "answer of a dialog": (
        in_rows(lambda rows: rows[0]["answers"].reverse(), DIALOGS),
        DIALOGS,
        "answers: written as",
    ),
    "boxes of floats": (with_floats, TRAIN, "boxes: written as [["),
    # in the scenes, all of them alike
    "pixels": (in_both(lambda each: each["pixel_coords"].__setitem__(0, 7)), PICTURED, ".pixel_coords[0]: 7, not "),
    "a box": (in_both(lambda each: each["box"].__setitem__(2, 95)), PICTURED, ".box[2]: 95, not "),
    "a mask": (
        in_both(lambda each: each["mask"]["counts"].__setitem__(slice(0, 2), [1, 1]), PICTURED),
        PICTURED,
        "objects[0].mask.counts[0]: 1, not ",
    ),
    "pixels of a mask": (
        in_both(lambda each: each.update(visible_pixels=1)),
        PICTURED,
        ".visible_pixels: 1, not ",
    ),
    "scenes apart": (
        in_both(lambda each: each.update(depth=1.5), "scenes.json"),
        "scenes.json",
        "objects[0].depth: 1.5, not ",
    ),
    "a pictured scene less": (
        in_json(lambda document: document["scenes"].pop(), PICTURED),
        PICTURED,
        "stands in one of scenes.json and pictures/scenes.json",
    ),
    # in the files
    "two pictures": (exchange_pictures, "pictures/images/VQAGEN_sample_000000.png", "image: not the picture"),
    "no picture": (
        lambda place: sorted((place / "pictures/images").iterdir())[0].unlink(),
        "pictures/images/VQAGEN_sample_000000.png",
        "image: not the picture",
    ),
    "no Parquet": (lambda place: (place / TEST).unlink(), TEST, "no row in test"),
    "a Parquet more": (
        lambda place: shutil.copyfile(place / TEST, place / "data/test-00001-of-00002.parquet") and None,
        "data/test-00001-of-00002.parquet",
        "it stands there twice",
    ),
    "answer of a record": (in_lines(lambda all: all[0].update(answer="7")), "questions.jsonl", "written as '7'"),
    "trace of a record": (in_lines(lambda all: all[0]["trace"].pop()), "questions.jsonl", "trace[3]"),
    "reasoning of a record": (
        in_lines(lambda all: all[0].update(reasoning="It is so.")),
        "questions.jsonl",
        "written as 'It is so.', but the steps give",
    ),
    "end of a reasoning": (
        in_lines(lambda all: all[0].update(reasoning=all[0]["reasoning"] + "!")),
        "questions.jsonl",
        ".!', but the steps give …",
    ),
    "option of a record": (in_lines(rotate), "questions.jsonl", "the records have the checksum"),
    "choice of a record": (
        in_lines(lambda all: all[0].update(choice=1 - all[0]["choice"])),
        "questions.jsonl",
        "choice: written as",
    ),
    "a record less": (in_lines(lambda all: all.pop()), "questions.jsonl", "26 questions, not 27"),
    "split of a record": (in_lines(lambda all: all[0].update(split="test")), "questions.jsonl", "split: written as"),
    "answer in a dialog": (
        in_lines(lambda all: all[0]["rounds"][0].update(answer="7"), "dialogs.jsonl"),
        "dialogs.jsonl",
        "7",
    ),
    "a scene": (
        in_json(lambda document: document["scenes"][1]["objects"].reverse(), "scenes.json"),
        "scenes.json",
        "scene: written as",
    ),
    "split of a scene": (
        in_json(lambda document: document["scenes"][3].update(split="train"), "scenes.json"),
        "scenes.json",
        "split",
    ),
    "count of rows": (
        in_json(lambda state: state["steps"]["rows train"].update(questions=99), "dataset.json"),
        "dataset.json",
        "rows train.questions: 99",
    ),
    "settings": (
        in_json(lambda state: state["settings"].update(hold_out="length"), "dataset.json"),
        "dataset.json",
        "settings.hold_out",
    ),
}
BYTES = {
    "data of Parquet": (flip(TRAIN, 0.3), TRAIN),
    "metadata of Parquet": (flip(TRAIN, 0.99), TRAIN),
    "half of Parquet": (lambda place: (place / TRAIN).write_bytes((place / TRAIN).read_bytes()[:9999]), TRAIN),
    "half of the questions": (
        lambda place: (place / "questions.jsonl").write_bytes((place / "questions.jsonl").read_bytes()[:9999]),
        "questions.jsonl",
    ),
    "the card": (flip("README.md", 0.5), "README.md"),
    "the hashes": (flip("SHA256SUMS", 0.5), "SHA256SUMS"),
    "no hash of the hashes": (
        in_json(lambda state: state["steps"]["card"].pop("files"), "dataset.json"),
        "SHA256SUMS",
    ),
    "no scenes": (lambda place: (place / "scenes.json").unlink(), "scenes.json"),
}


def test_a_dataset_as_it_was_made_has_no_fault(made: Path, vqagen_: Commands) -> None:
    ran = vqagen_(f"verify {made}")

    assert (ran.code, ran.out.splitlines()[0].endswith(b" rows checked, 0 wrong")) == (0, True), ran.out
    assert b"not proved" not in ran.out


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", TAMPERINGS)
def test_every_tampering_is_found_and_named(name: str, copy: Path) -> None:
    """By the hash of its file, and by its content where no hash is known, as in datasets of vqagen 1.0."""
    tamper, file, why = TAMPERINGS[name]
    tamper(copy)
    assert file in dict(changed_files(copy, read_state(copy))) or file == "dataset.json"
    hidden(copy)
    by_content = verify_dataset(copy)

    assert any(why in f"{each.problem} {each.name}" for each in by_content.mismatches), by_content.mismatches
    assert any("recorded no hashes" in each for each in by_content.unproven)


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", BYTES)
def test_every_changed_byte_is_found(name: str, copy: Path, vqagen_: Commands) -> None:
    tamper, file = BYTES[name]
    tamper(copy)  # type: ignore[no-untyped-call]
    ran = vqagen_(f"verify {copy}")

    assert ran.code in (1, 3)
    assert file in f"{ran.out!r}{ran.err}"


def test_a_changed_dataset_is_not_called_complete(copy: Path) -> None:
    flip(TRAIN, 0.3)(copy)
    with pytest.raises(BadInput, match=r"train-00000-of-00001.parquet: changed after it was made[^$]*--force"):
        write_dataset(copy, SETTINGS)


def test_a_dataset_comes_with_its_scenes(made: Path, vqagen_: Commands) -> None:
    ran = vqagen_(f"verify {made} --scenes {made}/scenes.json")

    assert (ran.code, "leave out --scenes" in ran.err) == (2, True)
