"""Settings of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.errors import UsageError, unknown

AUTO = "auto"
WRONG, SKIP = MISSING = "wrong", "skip"
IMAGE = "image"


@dataclass(frozen=True)
class EvaluationSettings:
    """How predictions are scored."""

    mode: str = AUTO
    """open or mc; AUTO for that of the gold file."""
    preset: str = "typed"
    """The comparison of answers; a key of `judge.answers.presets.PRESETS`."""
    top_k: tuple[int, ...] = ()
    """Numbers of candidates that may be right; scores are of the first one. Empty: 1."""
    missing: str = WRONG
    """A question without prediction counts as WRONG, or is left out (SKIP)."""
    cluster: str = ""
    """The field whose equal values make a cluster, by which intervals are robust; IMAGE for the image. Empty: intervals
    are Wilson's, as if all questions were independent."""
    small: int = 30
    """Rows of fewer questions are marked as small."""

    def __post_init__(self) -> None:
        """Raise UsageError for a policy that does not exist."""
        if self.missing not in MISSING:
            raise UsageError(unknown("policy of missing", self.missing, MISSING))
