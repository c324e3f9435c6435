"""Checks of dialogs beside each other: those of one image must differ, and all must keep the settings of their run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vqagen.score.dialogs.judging import Asked, Transcript
from vqagen.score.dialogs.labels import LABELS, STANDALONE
from vqagen.score.dialogs.verdicts import Verdict

LONGEST_SHARED = 2
"""Rounds from the first on in which two dialogs of an image may have the same labels and answers."""


class DialogsSeen:
    """The dialogs of each scene, as far as a file was read: their words and their first rounds."""

    def __init__(self) -> None:
        self._words: dict[tuple[int, int], str] = {}
        self._openings: dict[tuple[int, int], str] = {}

    def faults(self, dialog: Transcript, scene: int, name: str) -> Iterator[Verdict]:
        """Take the next dialog of a scene; yield a fault for an earlier one that it is too much like."""
        words = scene, hash((dialog.caption, *(asked.question for asked in dialog.rounds)))
        if words in self._words:
            yield Verdict("set", f"{self._words[words]} has the same sentences")
        opening = [(asked.label, repr(asked.answer)) for asked in dialog.rounds[: LONGEST_SHARED + 1]]
        begun = scene, hash(tuple(opening))
        if len(opening) > LONGEST_SHARED and begun in self._openings:
            why = f"{self._openings[begun]} has the same labels and answers in the first {len(opening)} rounds"
            yield Verdict("set", why)
        self._words.setdefault(words, name)
        self._openings.setdefault(begun, name)


# Settings ---------------------------------------------------------------------------------------------------------


def settings_faults(
    rounds: Sequence[Asked], settings: Mapping[str, Any], keeps_quotas: bool = True
) -> Iterator[Verdict]:
    """Yield a fault for each setting of the run that a dialog does not keep."""
    number = settings.get("rounds")
    if type(number) is int and len(rounds) != number:
        yield Verdict("set", f"it has {len(rounds)} rounds, and the settings say {number}")
    quotas = settings.get("quotas")
    if keeps_quotas and isinstance(quotas, str) and quotas in PRESETS:
        yield from _quota_faults(rounds, quotas)


def _quota_faults(rounds: Sequence[Asked], preset: str) -> Iterator[Verdict]:
    for number in range(FIRST_ROUND, len(rounds) + 1):
        so_far = [asked.label for asked in rounds[:number] if asked.label in LABELS]
        families = [LABELS[label].family for label in so_far]
        types, most_counted, most_standalone = _limits(preset, number)
        found = {
            **{family: (families.count(family), *types[family]) for family in types},
            "count and exist": (len(families) - families.count("seek"), 0, most_counted),
            "standalone": (sum(label in STANDALONE for label in so_far), 0, most_standalone),
        }
        for name, (there, least, most) in found.items():
            if not least <= there <= most:
                why = f"after round {number} it has {there} of {name}, and the quotas say {least} to {most}"
                yield Verdict("set", why)
                return


FIRST_ROUND = 4
PRESETS = {
    "paper": {"count": (10, 20), "exist": (10, 20), "seek": (30, 60)},
    "smooth": {"count": (10, 30), "exist": (10, 30), "seek": (30, 70)},
    "reference": {},
}
"""Preset -> family -> percent of the rounds so far: at least, rounded down, and at most, rounded up (4.3)."""
_REFERENCE = {
    4: ((0, 1), (0, 1), (1, 4), 2, 1),
    5: ((0, 1), (0, 1), (2, 4), 2, 1),
    6: ((0, 2), (0, 2), (2, 5), 3, 1),
    7: ((0, 2), (0, 2), (2, 5), 3, 1),
    8: ((0, 2), (0, 2), (3, 5), 3, 2),
    9: ((0, 3), (0, 3), (3, 6), 3, 2),
    10: ((0, 3), (0, 3), (3, 6), 4, 2),
}
"""Round -> count, exist, seek; count and exist together; standalone (4.1)."""

_Limits = tuple[Mapping[str, tuple[int, int]], int, int]
"""Family -> least and most rounds; most of count and exist together; most standalone ones."""


def _limits(preset: str, number: int) -> _Limits:
    if preset == "reference":
        if number not in _REFERENCE:
            return {}, number, number
        count, exist, seek, counted, standalone = _REFERENCE[number]
        return {"count": count, "exist": exist, "seek": seek}, counted, standalone
    types = {family: (low * number // 100, -(-high * number // 100)) for family, (low, high) in PRESETS[preset].items()}
    return types, -(-40 * number // 100), max(1, -(-10 * number // 100))
