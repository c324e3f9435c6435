"""Settings of scoring."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.errors import unknown
from vqagen.tasks.settings import CheckedSettings, setting

HUMANR, CLUSTER, BRADLEY_TERRY = METHODS = "humanr", "cluster", "bt"
CHECKS, INSTRUCTED, PARTIAL, FAST, STRAIGHT, SIDE, WEBDRIVER = FLAGS = (
    *("checks", "instructed", "partial", "fast", "straight", "side", "webdriver"),
)
"""Reasons to doubt answers. The first three are of an assignment, the others of a rater."""
_RETIRED = {
    "bootstrap": "--method bootstrap was removed in version 2.0: intervals of `cluster` are by raters and images, too",
}
"""Method that version 2.0 removed -> what to do instead."""
NOTHING = "none"
STRICT = "strict"
INTERVAL, ORDINAL, NOMINAL = ALPHAS = "interval", "ordinal", "nominal"


@dataclass(frozen=True)
class ScoreSettings(CheckedSettings):
    """How the answers of a study are scored."""

    method: str = setting(
        CLUSTER,
        f"Of {', '.join(METHODS)}. `humanr` gives HUMANr's own figures.",
        metavar="NAME,…",
    )
    check_rule: str = setting(
        HUMANR,
        "When an attention check fails. `humanr`: in the middle of the scale or beyond. `strict`: unless clearly"
        " right, or if missing.",
        choices=(HUMANR, STRICT),
    )
    exclude: str = setting(CHECKS, f"Leave out answers flagged as {', '.join(FLAGS)}, or `none`.", metavar="FLAG,…")
    by: str = setting("", "Fields with a table each: a stratum such as template, image, task.", metavar="FIELD,…")
    alpha: str = setting(INTERVAL, "Differences that Krippendorff's alpha counts.", choices=ALPHAS)

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods in their own order."""
        return tuple(each for each in METHODS if each in _names(self.method))

    @property
    def excluded(self) -> tuple[str, ...]:
        """The flags whose answers are left out."""
        return tuple(each for each in FLAGS if each in _names(self.exclude))

    @property
    def fields(self) -> tuple[str, ...]:
        """The fields that scores are grouped by."""
        return tuple(dict.fromkeys(_names(self.by)))

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        methods, flags = _names(self.method), _names(self.exclude)
        strange = [each for each in methods if each not in METHODS]
        yield from (_RETIRED.get(each) or f"--method: {unknown('method', each, METHODS)}" for each in strange)
        if not methods:
            yield f"--method is empty; name some of {', '.join(METHODS)}"
        known = (*FLAGS, NOTHING)
        yield from (f"--exclude: {unknown('flag', each, known)}" for each in flags if each not in known)
        if NOTHING in flags and len(flags) > 1:
            yield f"--exclude {self.exclude} contradicts itself; give `none` alone"


def _names(text: str) -> list[str]:
    """Return the names of a list such as `checks,fast`."""
    return [name for name in map(str.strip, text.split(",")) if name]
