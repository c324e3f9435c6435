"""Plans of rater studies: what every plan keeps, and what makes none."""

from __future__ import annotations

from pathlib import Path

import pytest
from study_files import make_study

from vqagen.errors import BadInput
from vqagen.human.study.study import load_study


def test_a_study_is_loaded_as_it_was_made(tmp_path: Path) -> None:
    """Each comparison stands in one task, and every rater sees each trial once."""
    study = make_study(tmp_path, systems=("ours", "human"), imc_per_task=1)
    real = [
        trial.item for task in study.tasks.values() for trial in task.trials if study.items[trial.item].use == "real"
    ]

    assert len(real) == len(set(real)) == 24
    assert {len(task.trials) for task in study.tasks.values()} == {5}
    assert [trial.number for trial in study.trials(next(iter(study.tasks)), 1)] == [1, 2, 3, 4, 5]
    assert study.texts.placeholders() == []


@pytest.mark.parametrize("name", ["items.jsonl", "tasks.jsonl", "images.json"])
def test_a_changed_file_is_refused(name: str, tmp_path: Path) -> None:
    """A study whose trials were edited would not say what raters saw."""
    study = make_study(tmp_path)
    path = study.folder / name
    path.write_text(path.read_text("utf-8").replace("5", "6", 1), "utf-8")

    with pytest.raises(BadInput, match="changed since the study was made"):
        load_study(study.folder)
