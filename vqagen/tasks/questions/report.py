"""What happened in a run of the question generator: counted, and reported for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from vqagen.errors import counted
from vqagen.language.question import RELEASE
from vqagen.language.template import Template
from vqagen.tasks.contract import RunReport, RunResult
from vqagen.tasks.questions.exclusion import TemplateKey
from vqagen.tasks.questions.settings import QuestionSettings


@dataclass
class Tally:
    """Questions made and, for every failed try, its reason."""

    scenes: int = 0
    short_scenes: int = 0
    """Scenes for which too few templates succeeded; with pairs, scenes that have too few questions."""
    parted_pairs: int = 0
    """Questions whose partner is about a scene outside the run."""
    questions: Counter[str] = field(default_factory=Counter)
    tries: Counter[str] = field(default_factory=Counter)
    failures: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def families(self) -> list[str]:
        """The families tried, and those of pairs that a scene of another shard began."""
        return list(dict.fromkeys([*self.tries, *self.questions]))

    def failures_of(self, family: str) -> Counter[str]:
        """Why tries of one template failed."""
        return Counter({reason: count for (name, reason), count in self.failures.items() if name == family})

    def add(self, other: Tally) -> None:
        """Count what another tally counted as well."""
        for counter in ("questions", "tries", "failures"):
            getattr(self, counter).update(getattr(other, counter))
        self.scenes += other.scenes
        self.short_scenes += other.short_scenes
        self.parted_pairs += other.parted_pairs

    def take(self) -> dict[str, Any]:
        """Return the counts as JSON, and start again from zero."""
        record = self.to_record()
        vars(self).update(vars(Tally()))
        return record

    def to_record(self) -> dict[str, Any]:
        """For JSON. Families and reasons stay in the order in which they came up."""
        return {
            "scenes": self.scenes,
            "short_scenes": self.short_scenes,
            "parted_pairs": self.parted_pairs,
            "questions": dict(self.questions),
            "tries": dict(self.tries),
            "failures": [[family, reason, count] for (family, reason), count in self.failures.items()],
        }

    @staticmethod
    def from_record(record: Mapping[str, Any]) -> Tally:
        """The tally that gave the record."""
        counters = {name: Counter[str](record[name]) for name in ("questions", "tries")}
        failures = Counter({(family, reason): count for family, reason, count in record["failures"]})
        return Tally(**{**record, **counters, "failures": failures})


SHORT = 0.9
"""A family is short when it made less than this share of the families' median."""
SHOWN = 5


class QuestionReport(RunReport):
    """What was made of each family, what was left out, and what fell short."""

    def __init__(
        self, settings: QuestionSettings, templates: Sequence[Template], dialect: str, skipped: Sequence[str] = ()
    ) -> None:
        """`dialect` decides how the records of the output name their templates.

        `skipped` are the ids of templates, and names of files, that were skipped for their mistakes.
        """
        super().__init__("question", "scene")
        self.settings, self.skipped = settings, skipped
        self.tally = Tally()
        """Of what was made, before anything was left out of the whole."""
        self.left_out = Counter[str]()
        """Family -> questions that were made and are not in the output."""
        self.emptied_scenes = 0
        """Scenes that lost all their questions so."""
        self._key_of = {template.id: _template_key(template, dialect) for template in templates}

    @property
    def questions(self) -> int:
        """Questions in the output."""
        return self.records

    def add(self, tally: Mapping[str, Any]) -> None:
        """Add the tally of a block."""
        self.tally.add(Tally.from_record(tally))

    def finish(self, result: RunResult) -> None:
        """Take the result of the run, and work out what was left out of the whole."""
        super().finish(result)
        if result.selection:
            kept = Counter({(file, index): count for file, index, count in result.selection["kept"]})
            made = self.tally.questions
            self.left_out = Counter({family: count - kept[self._key_of[family]] for family, count in made.items()})
            self.emptied_scenes = result.selection["scenes"] - result.selection["scenes_left"]

    def content(self) -> dict[str, Any]:
        """Return the part of the report that is the same for the same settings and inputs."""
        tally = self.tally
        return {
            "questions": self.questions,
            "scenes": tally.scenes,
            "short_scenes": tally.short_scenes,
            **({"parted_pairs": tally.parted_pairs} if self.settings.balance == "pairs" else {}),
            "emptied_scenes": self.emptied_scenes,
            "families": {
                family: {
                    "questions": tally.questions[family] - self.left_out[family],
                    "left_out": self.left_out[family],
                    "tries": tally.tries[family],
                    "failures": dict(tally.failures_of(family)),
                }
                for family in tally.families
            },
            "skipped_templates": list(self.skipped),
            "settings": self.settings.to_record(),
        }

    def summary(self) -> str:
        """Return questions, scenes and families; then which families and scenes fell short, and why."""
        tally, settings = self.tally, self.settings
        if not tally.scenes:
            return f"no questions: there is no scene from index {settings.start_index} on"
        used = sum(1 for made in tally.questions.values() if made)
        about = f"{counted(self.questions, 'question')} about {counted(tally.scenes, 'scene')}"
        lines = [f"{about}, from {used} of {len(tally.families)} families tried"]
        if self.skipped:
            shown = ", ".join(self.skipped[:SHOWN]) + (", …" if len(self.skipped) > SHOWN else "")
            lines.append(f"  skipped: {counted(len(self.skipped), 'bad template')} ({shown})")
        if self.left_out.total():
            emptied = f", and {counted(self.emptied_scenes, 'scene')} with none" if self.emptied_scenes else ""
            lines.append(f"  left out of the whole: {counted(self.left_out.total(), 'more question')}{emptied}")
        if tally.parted_pairs:
            partners = f"{counted(tally.parted_pairs, 'question')} with the partner in a scene outside this run"
            lines.append(f"  parted: {partners}; merge it with the other shards")
        return "\n".join([*lines, *_short_families(tally), *_short_scenes(tally, settings)])


def _template_key(template: Template, dialect: str) -> TemplateKey:
    return ("", template.family) if dialect == RELEASE else (template.file, template.index)


def _short_families(tally: Tally) -> Iterator[str]:
    usual = median(tally.questions[family] for family in tally.families) if tally.families else 0
    short = sorted((tally.questions[family], family) for family in tally.tries if tally.failures_of(family))
    short = [(made, family) for made, family in short if made < SHORT * usual or not made]
    for made, family in short[:SHOWN]:
        why = _format_reasons(tally.failures_of(family))
        beside = f" (median of all families: {usual:,.0f})" if usual else ""
        yield f"  short: {family} made {made:,}{beside}; failed tries: {why}"
    if len(short) > SHOWN:
        yield f"  … and {len(short) - SHOWN} more short families"


def _short_scenes(tally: Tally, settings: QuestionSettings) -> Iterator[str]:
    if tally.short_scenes:
        reasons = Counter[str]()
        for (_, reason), count in tally.failures.items():
            reasons[reason] += count
        why = f"; failed tries: {_format_reasons(reasons)}" if reasons else ""
        wanted, there = settings.templates_per_image, len(tally.families)
        lack = f"questions from fewer than {wanted} families" + ("" if there >= wanted else f": there are {there}")
        if settings.balance == "pairs":
            lack = f"fewer than {counted(wanted, 'question')}"
        yield f"  {tally.short_scenes:,} of {tally.scenes:,} scenes have {lack}{why}"


def _format_reasons(reasons: Counter[str]) -> str:
    return ", ".join(f"{reason} {count:,}×" for reason, count in reasons.most_common())
