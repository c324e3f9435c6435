"""Rows with pictures in Parquet: what goes in comes out, as `datasets` reads it too, and each picture is there once."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from vqagen.dataset.rows import (
    COLUMNS,
    DIALOG_FEATURES,
    LEAST_ROWS,
    SceneMasks,
    dialog_row,
    picture_columns,
    question_row,
    read_rows,
    write_rows,
)
from vqagen.errors import PlaceError, UsageError

ROUNDS = [{"question": "What color is it?", "answer": "red"}, {"question": "How many?", "answer": 3}]
SCENE: dict[str, Any] = {
    "image_filename": "picture.png",
    "objects": [{"color": "red", "box": [1, 2, 3, 4], "mask": {"size": [4, 4]}}, {"color": "blue", "box": None}],
}


def picture(number: int, edge: int = 64) -> bytes:
    """A PNG of noise, which no compression makes smaller."""
    from PIL import Image

    noise = np.random.default_rng(number).integers(0, 255, (edge, edge, 3), dtype=np.uint8)
    Image.fromarray(noise).save(file := io.BytesIO(), "PNG")
    return file.getvalue()


def question(number: int) -> dict[str, Any]:
    return {
        "question": f"How many things are there in {number}?",
        "answer": "3",
        "program": [{"type": "scene", "inputs": [], "value_inputs": []}],
        "choices": ["2", "3"],
        "choice": 1,
    }


def rows(pictures: int, questions: int = 10) -> Iterator[dict[str, Any]]:
    for image in range(pictures):
        columns = picture_columns(SCENE, image, picture(image))
        for number in range(image * questions, (image + 1) * questions):
            yield question_row(question(number), columns, number, "count", "zero_hop.json#count")


def test_rows_come_back_as_they_were_written(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    written = write_rows(tmp_path / "data/train-00000-of-00002.parquet", rows(12))
    write_rows(tmp_path / "data/train-00001-of-00002.parquet", rows(1))
    write_rows(tmp_path / "data/test-00000-of-00001.parquet", rows(1))

    read = list(read_rows(tmp_path))

    assert written == 120
    assert [row.pop("split") for row in read] == ["train"] * 130 + ["test"] * 10
    assert read == [*rows(12), *rows(1), *rows(1)]
    assert tuple(read[0]) == COLUMNS
    assert len(list(read_rows(tmp_path, "test"))) == 10


def test_a_row_says_all_of_its_question_and_scene() -> None:
    row = next(rows(1))

    assert row["solution"] == "<answer> 3 </answer>"
    assert row["boxes"] == [[1, 2, 3, 4], []]
    assert "mask" not in row["scene"]
    assert row["image"]["path"] == "picture.png"


def test_a_picture_takes_space_once_however_many_ask_about_it(tmp_path: Path) -> None:
    write_rows(tmp_path / "rows.parquet", rows(30, questions=20))

    pictures = sum(len(picture(number)) for number in range(30))
    assert (tmp_path / "rows.parquet").stat().st_size < 1.3 * pictures


def test_rows_are_written_group_by_group(tmp_path: Path) -> None:
    """A group ends with its picture; the same rows give the same bytes."""
    import pyarrow.parquet as parquet

    write_rows(tmp_path / "a.parquet", rows(20, questions=30))
    write_rows(tmp_path / "b.parquet", rows(20, questions=30))

    file = parquet.ParquetFile(tmp_path / "a.parquet")
    assert {file.metadata.row_group(place).num_rows for place in range(file.num_row_groups)} == {120}
    assert LEAST_ROWS <= 120
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_a_dialog_has_its_rounds_in_columns(tmp_path: Path) -> None:
    record = {"caption": {"text": "There is a red thing."}, "rounds": ROUNDS}
    row = dialog_row(record, picture_columns(SCENE, 5, picture(5)), 7)
    (tmp_path / "dialogs").mkdir()
    write_rows(tmp_path / "dialogs/test-00000-of-00001.parquet", [row], DIALOG_FEATURES)

    read = next(read_rows(tmp_path, data="dialogs"))

    assert (read["questions"], read["answers"]) == (["What color is it?", "How many?"], ["red", "3"])
    assert (read["image_id"], read["dialog_id"], read["caption"]) == (5, 7, "There is a red thing.")


def test_what_is_no_dataset_or_split_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PlaceError, match="no dataset in"):
        list(read_rows(tmp_path))
    (tmp_path / "data").mkdir()
    write_rows(tmp_path / "data/train-00000-of-00001.parquet", rows(1))
    with pytest.raises(UsageError, match="trian"):
        list(read_rows(tmp_path, "trian"))


def test_masks_are_read_once_as_long_as_places_do_not_fall(tmp_path: Path) -> None:
    """Every question about a picture asks for them."""
    scenes = [{"objects": [{"mask": place}]} for place in range(3)]
    (tmp_path / "scenes.json").write_text(json.dumps({"scenes": scenes}))
    masks = SceneMasks(tmp_path / "scenes.json")

    assert [masks.at(place) for place in (0, 0, 2, 1)] == [[0], [0], [2], [1]]
    assert masks.at(1) is masks.at(1)
