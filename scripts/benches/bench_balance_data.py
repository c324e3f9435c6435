"""Questions about files of scenes, which the sections of `bench balance` measure."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import vqagen
from vqagen.files.records import open_records
from vqagen.items.table import Items
from vqagen.language.question import QUESTIONS
from vqagen.score.items import read_items

Record = Mapping[str, Any]


class Asked:
    """Questions about the scenes of a file, with one or several seeds, asked with one `--balance`."""

    def __init__(self, domain: str, scenes: Path, balance: str, seeds: int) -> None:
        self.domain, self.scenes, self.balance = domain, scenes, balance
        self.loaded = vqagen.load_domain_files(vqagen.find_domain(domain))
        self.files = [scenes.with_name(f"{scenes.stem}-{balance}-{seed}.json") for seed in range(seeds)]
        """The question file of each seed."""
        self.milliseconds = 0.0
        """CPU time for a scene, from file to file in one process."""
        for seed, out in enumerate(self.files):
            settings = vqagen.QuestionSettings(seed=seed, balance=balance)
            started = time.process_time()
            vqagen.write_questions(scenes, out, self.loaded.files, settings)
            self.milliseconds += (time.process_time() - started) * 1000 / seeds / self.number_of_scenes
        self.window = settings.reset_counts_every

    @cached_property
    def number_of_scenes(self) -> int:
        """The number of scenes in the file."""
        return sum(1 for _ in vqagen.find_scenes(self.scenes).records())

    def records(self, seed: int = 0) -> Iterator[Record]:
        """Yield the question records of one seed, in the order of the file."""
        return open_records(self.files[seed], QUESTIONS).records()

    @cached_property
    def items(self) -> list[Items]:
        """The questions of each seed as a table."""
        return [read_items(path, learning=True) for path in self.files]

    @cached_property
    def compiled(self) -> Mapping[int, vqagen.Scene]:
        """The scenes by their index."""
        found = vqagen.load_scenes(vqagen.find_scenes(self.scenes), self.loaded.domain)
        return {scene.index: scene for scene in found}

    def program(self, record: Record) -> vqagen.Program:
        """Return the program of a question."""
        return vqagen.Program.from_records(record["program"], self.loaded.catalogue)


Section = Callable[[Asked, Asked], Mapping[str, float]]
"""What a section measures: name -> figure, of the questions to learn from and those to test on. It may differ by
`Asked.balance`."""


def write_scenes(path: Path, scenes: Iterable[Record]) -> Path:
    """Write scenes as a file, and return its path."""
    path.write_text(json.dumps({"info": {}, "scenes": list(scenes)}))
    return path
