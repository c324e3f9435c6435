"""What a run of the question generator came to: for people, for machines, and for whoever called it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson

from vqagen.errors import Problem, warn
from vqagen.files.locations import locate
from vqagen.files.output import atomic_output
from vqagen.language.template import Template
from vqagen.run.progress import BlockWritten
from vqagen.run.runner import RunResult
from vqagen.tasks.questions.selection import TemplateKey
from vqagen.tasks.questions.settings import Settings
from vqagen.tasks.questions.tally import Tally


@dataclass
class Report:
    """Told of each block, and at the end of what the run came to."""

    settings: Settings
    skipped: Sequence[str] = ()
    """Ids of the templates, and names of the files, that were skipped for their mistakes."""
    tally: Tally = field(default_factory=Tally)
    """Of what was made, before anything was left out of the whole."""
    questions: int = 0
    """In the output."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Family -> questions that were made and are not in the output."""
    emptied_scenes: int = 0
    """Scenes that lost all their questions so."""
    was_complete: bool = False
    """Whether there was nothing to do. If that was done long ago, nothing is known of what was made."""
    resumed_scenes: int = 0
    """Scenes that an earlier run had done."""
    seconds: float = 0.0

    def add(self, made: BlockWritten) -> None:
        """Count a block."""
        self.tally.add(Tally.from_record(made.tally))

    def finish(self, came: RunResult, templates: Sequence[Template], dialect: str) -> None:
        """The run is over. `dialect` says by what the records of the output name their templates."""
        self.questions, self.was_complete = came.records, came.was_complete
        self.resumed_scenes, self.seconds = came.resumed_items, came.seconds
        if came.choice:
            kept = Counter({(file, index): count for file, index, count in came.choice["kept"]})
            key_of = {template.id: _template_key(template, dialect) for template in templates}
            made = self.tally.questions
            self.left_out = Counter({family: count - kept[key_of[family]] for family, count in made.items()})
            self.emptied_scenes = came.choice["scenes"] - came.choice["scenes_left"]

    def to_record(self) -> dict[str, Any]:
        """For JSON. All but `run` is the same for the same settings and inputs."""
        tally = self.tally
        return {
            "questions": self.questions,
            "scenes": tally.scenes,
            "short_scenes": tally.short_scenes,
            "emptied_scenes": self.emptied_scenes,
            "families": {
                family: {
                    "questions": tally.questions[family] - self.left_out[family],
                    "left_out": self.left_out[family],
                    "tries": tries,
                    "failures": dict(tally.failures_of(family)),
                }
                for family, tries in tally.tries.items()
            },
            "skipped_templates": list(self.skipped),
            "settings": self.settings.to_record(),
            "run": {
                "was_complete": self.was_complete,
                "resumed_scenes": self.resumed_scenes,
                "seconds": round(self.seconds, 3),
            },
        }

    def write(self, report_to: str) -> None:
        """Into a file, in place of what it holds."""
        with atomic_output(report_to) as file:
            file.write(orjson.dumps(self.to_record(), option=orjson.OPT_INDENT_2) + b"\n")


def tell_that_nothing_is_known(target: str, report_to: str) -> None:
    """Of an output that was complete long ago: a report that is there may be that of the run that made it."""
    if not locate(report_to).exists():
        said = "was complete already, and what was tried for it is not known any more: no report is written"
        warn(Problem(said, target))


def _template_key(template: Template, dialect: str) -> TemplateKey:
    return ("", template.family) if dialect == "release" else (template.file, template.index)
