"""Settings of an evaluation."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.errors import UsageError, unknown

AUTO = "auto"
WRONG, SKIP, ERROR = MISSING = "wrong", "skip", "error"
WILSON, CLUSTER, BOOTSTRAP = INTERVALS = "wilson", "cluster", "bootstrap"
IMAGE = "image"


@dataclass(frozen=True)
class EvaluationSettings:
    """How predictions are scored."""

    mode: str = AUTO
    """open, mc, pointing or rank; AUTO for that of the gold file."""
    preset: str = "typed"
    """The comparison of answers; a key of `judge.answers.presets.PRESETS`."""
    top_k: tuple[int, ...] = ()
    """Numbers of candidates that may be right; scores are of the first one. Empty: 1; of rankings: 1, 5 and 10."""
    missing: str = WRONG
    """A question without prediction counts as WRONG, is left out (SKIP), or is an ERROR."""
    interval: str = WILSON
    cluster: str = IMAGE
    """The field whose equal values make a cluster; IMAGE for the image."""
    small: int = 30
    """Rows of fewer questions are marked as small."""
    seed: int = 0
    """Seed of bootstrapped intervals."""

    def __post_init__(self) -> None:
        """Raise UsageError for a policy or an interval that does not exist."""
        for what, name, known in (("policy of missing", self.missing, MISSING), ("interval", self.interval, INTERVALS)):
            if name not in known:
                raise UsageError(unknown(what, name, known))
