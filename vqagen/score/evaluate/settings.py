"""Settings of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.errors import UsageError, unknown

WRONG, SKIP = MISSING = "wrong", "skip"
IMAGE = "image"


@dataclass(frozen=True)
class EvaluationSettings:
    """How predictions are scored."""

    mode: str = ""
    """open or mc; empty for that of the items."""
    preset: str = "typed"
    """The comparison of answers; a key of `score.answers.judging.PRESETS`."""
    top_k: tuple[int, ...] = ()
    """Numbers of candidates that may be right; scores are of the first one. Empty: 1."""
    missing: str = WRONG
    """An item without prediction counts as WRONG, or is left out (SKIP)."""
    cluster: str = IMAGE
    """The field whose equal values make a cluster, by which intervals are robust; IMAGE for the image. Empty: intervals
    are Wilson's, as if all items were independent."""
    small: int = 30
    """Rows of fewer items are marked as small."""

    def __post_init__(self) -> None:
        """Raise UsageError for a policy that does not exist."""
        if self.missing not in MISSING:
            raise UsageError(unknown("policy of missing", self.missing, MISSING))
