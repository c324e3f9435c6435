"""Statistics of dialogs say what is asked in which round, how far back it refers, and how that compares."""

from __future__ import annotations

from pathlib import Path

import pytest

from vqagen.tasks.dialog.dialog_files import holds_dialogs


@pytest.mark.parametrize(
    ("text", "is_dialogs"),
    [
        ('{"info": {}, "dialogs": []}', True),
        ('[{"split": "val", "image_index": 0, "dialogs": []}]', True),
        ('{"dialog_index": 0, "scene_index": 0}\n', True),
        ('{"info": {}, "questions": [{"dialogs": 1}]}', False),
        ('[{"question": "Why?"}]', False),
        ("[]", False),
        ("", False),
    ],
)
def test_a_file_of_dialogs_is_told_from_one_of_questions_by_its_first_keys(
    text: str, is_dialogs: bool, tmp_path: Path
) -> None:
    """A folder is judged by its first file."""
    (tmp_path / "some.json").write_text(text)

    assert holds_dialogs(tmp_path / "some.json") is is_dialogs
    assert holds_dialogs(tmp_path) is is_dialogs


def test_a_missing_file_holds_no_dialogs(tmp_path: Path) -> None:
    """The reader of questions then says that it is missing."""
    assert not holds_dialogs(tmp_path / "no.json")
