"""Datasets, questions, trials and dialogs in the formats of trainers and evaluators."""

from __future__ import annotations

from vqagen.tasks import TASKS

TRAINERS = ("hf", "imagefolder", "trl", "easyr1", "verl", "llava", "sharegpt")
EVALUATORS = ("vlmevalkit", "lmms-eval", "inspect")
TARGETS = (*TRAINERS, *EVALUATORS)
"""Folders of examples: each is a row in the table of `trainers` or `evaluators`."""
FILES = tuple(name for entry in TASKS.values() for name in entry.foreign)
"""Formats of single files, which the tasks list."""
