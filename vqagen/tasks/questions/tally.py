"""What happened in a run, counted by template: for its summary and its report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


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
        self.scenes += other.scenes
        self.short_scenes += other.short_scenes
        self.parted_pairs += other.parted_pairs
        self.questions.update(other.questions)
        self.tries.update(other.tries)
        self.failures.update(other.failures)

    def take(self) -> dict[str, Any]:
        """Return the counts as JSON, and start again from zero."""
        record = self.to_record()
        self.scenes = self.short_scenes = self.parted_pairs = 0
        for counter in (self.questions, self.tries, self.failures):
            counter.clear()
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
        failures = Counter({(family, reason): count for family, reason, count in record["failures"]})
        questions, tries = Counter[str](record["questions"]), Counter[str](record["tries"])
        return Tally(record["scenes"], record["short_scenes"], record["parted_pairs"], questions, tries, failures)
