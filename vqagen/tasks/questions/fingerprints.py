"""Fingerprints: 8 bytes that stand for a question's text or program, so that millions of them can be remembered.

Among a million different texts, two have the same one with a chance of 1 in 37 million.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence

ProgramStep = tuple[str, Sequence[object], Sequence[object]]
"""A function, the steps it takes its inputs from, and its values."""


def text_fingerprint(text: str) -> int:
    """Of a text, letter for letter; unsigned, 64 bits."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def program_fingerprint(steps: Iterable[ProgramStep]) -> int:
    """Of a program, step for step; the same whichever dialect it was written in."""
    return text_fingerprint(repr([(function, tuple(inputs), tuple(values)) for function, inputs, values in steps]))
