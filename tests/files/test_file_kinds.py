"""A file's kind of records is told by its first keys."""

from __future__ import annotations

from pathlib import Path

import pytest

import vqagen
from vqagen.tasks.record_files import kind_of_file

KINDS = [
    ('{"info": {}, "dialogs": []}', "dialogs"),
    ('[{"split": "val", "image_index": 0, "dialogs": []}]', "dialogs"),
    ('{"dialog_index": 0, "scene_index": 0}\n', "dialogs"),
    ('{"info": {}, "questions": [{"dialogs": 1}]}', "questions"),
    ('[{"question": "Why?"}]', "questions"),
    ('{"info": {}, "trials": []}', "trials"),
    ('{"trial_index": 0, "trial_type": "test"}\n', "trials"),
    ('{"dataset_name": "director", "total_samples": 0, "samples": []}', "samples"),
    ("[]", "questions"),
    ("", "questions"),
]


def test_the_first_telling_key_of_a_file_decides(tmp_path: Path) -> None:
    """A folder is judged by its first file; files without such a key, or that are missing, are read as questions."""
    assert kind_of_file(tmp_path / "no.json").key == "questions"
    for text, kind in KINDS:
        (tmp_path / "some.json").write_text(text)
        assert (kind_of_file(tmp_path / "some.json").key, kind_of_file(tmp_path).key) == (kind, kind), text


def test_a_folder_of_trials_is_known_by_its_record_file(tmp_path: Path) -> None:
    """Its pictures may be JSON files too, and the info lies beside the trials."""
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "000000.json").write_text('{"question": "Why?"}')
    (tmp_path / "trials.jsonl").write_text('{"trial_index": 0, "trial_type": "test"}\n')
    (tmp_path / "trials.jsonl.info.json").write_text('{"generator": {}}')

    assert kind_of_file(tmp_path).key == "trials"


def test_documents_of_visdials_kind_are_refused(tmp_path: Path) -> None:
    """Their questions are numbers, and they have no annotation: nothing could be judged or counted."""
    (tmp_path / "d.json").write_text('{"version": "1.0", "data": {"dialogs": []}, "split": "val"}')

    with pytest.raises(vqagen.BadInput, match="VisDial's documents and coreference clusters cannot be read"):
        kind_of_file(tmp_path / "d.json")
