"""Checks that scenes do not change while a run reads them.

A run may be killed and resumed, and what it made until then be kept: a change of the scenes must be noticed before
anything is made of them, and not only at the end. (A change of one file in a store is noticed at the end; see
`check_while_reading`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location, Stamp, stamp_of
from vqagen.world.loading import SceneSource, SceneText


def check_while_reading(
    texts: Iterable[SceneText], source: SceneSource, stamps: Sequence[Stamp]
) -> Iterator[SceneText]:
    """Yield texts; raise BadInput before one whose file changed since `stamps`.

    A file is checked after a text has been read: if it is unchanged then, it was when any byte of the text was read.
    For what the reader has read ahead, the file is checked again, text by text. Checking a local file takes 2 µs, the
    questions about a scene take 1,500. One file in a store, where checking is a request over the network, is checked
    behind the first text and at the end only; a folder there takes requests for each file anyway.
    """
    files, is_folder = source.files, source.layout == "files"
    for number, text in enumerate(texts):
        if is_folder:
            _check(files[text.index], stamps[text.index])
        elif number == 0 or isinstance(files[0], Path):
            _check(files[0], stamps[0])
        yield text
    if not is_folder:  # lines may have gone from its end
        _check(files[0], stamps[0])


def check_unchanged(source: SceneSource, stamps: Sequence[Stamp]) -> None:
    """Raise BadInput if a file of the source changed since `stamps`."""
    for file, stamp in zip(source.files, stamps, strict=True):
        _check(file, stamp)


def _check(file: Location, stamp: Stamp) -> None:
    if stamp_of(file) != stamp:
        raise BadInput([Problem("changed while it was read", str(file))])
