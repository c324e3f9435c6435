"""Exports: what each target reads is what was in the source, and what it cannot hold is refused."""

from __future__ import annotations

import asyncio
import base64
import importlib.util
import io
import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml
from commands import Commands

from vqagen.cli.export import TARGETS as SHOWN
from vqagen.dataset.parquet import write_rows
from vqagen.dataset.rows import COLUMNS, question_row, read_rows
from vqagen.errors import BadInput, UsageError
from vqagen.export.exporting import TARGETS, export
from vqagen.files.formats import Record
from vqagen.pictures.png import png_bytes
from vqagen.rewards import easyr1_score, verl_score
from vqagen.run.making import write_dialogs, write_scenes, write_trials

datasets: Any = pytest.importorskip("datasets")
ASKED = {"count": ("3", ["2", "3"]), "yes/no": ("yes", ["yes", "no"]), "value": ("red", ["red", "blue", "gray", "green"])}
SPLITS = {"train": 4, "test": 2}
"""Split -> its pictures, each of which has a question of each type."""
