"""Datasets, questions, trials and dialogs in the formats of trainers and evaluators; one file a target."""

from __future__ import annotations

from collections.abc import Mapping

from vqagen.tasks import TASKS

TARGETS: Mapping[str, str] = {
    "hf": "vqagen.export.hf",
    "imagefolder": "vqagen.export.imagefolder",
    "trl": "vqagen.export.trl",
    "easyr1": "vqagen.export.easyr1",
    "verl": "vqagen.export.verl",
    "llava": "vqagen.export.llava",
    "sharegpt": "vqagen.export.sharegpt",
    "vlmevalkit": "vqagen.export.vlmevalkit",
    "lmms-eval": "vqagen.export.lmms_eval",
    "inspect": "vqagen.export.inspect",
}
"""Target -> its module, a `Target`. A new target is one file and one line here."""
FILES = tuple(name for entry in TASKS.values() for name in entry.foreign)
"""Formats of single files, which the tasks list."""
