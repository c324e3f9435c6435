"""Sees to it that scenes do not change while a run reads them.

A run may be killed and resumed, and what it made until then be kept: that its scenes have changed must be known before
anything is made of them, and not only at the end. (Of one file in a store it is known at the end; see `watched`.)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from vqagen.errors import BadInput, Problem, VqagenError
from vqagen.files.locations import Location, Stamp, stamp_of
from vqagen.world.loading import SceneSource, SceneText


def watched(texts: Iterable[SceneText], source: SceneSource, stamps: Sequence[Stamp]) -> Iterator[SceneText]:
    """The texts; BadInput in place of the first that may be of another state of its file than the `stamps` are of.

    A text's file is asked about when the text has been read. If it is the old one then, it was when any byte of the
    text was read; of what the reader has read ahead, the file is asked about again, text by text. A local file takes
    2 µs to ask, where the questions about a scene take 1,500. Of one file in a store, where it is a request over the
    network, it is done behind the first text and at the end only; a folder there takes requests for each file anyway.
    """
    files, is_folder = source.files, source.layout == "files"
    for number, text in enumerate(_blamed_on_changes(texts, source, stamps)):
        if is_folder:
            _check(files[text.index], stamps[text.index])
        elif number == 0 or isinstance(files[0], Path):
            _check(files[0], stamps[0])
        yield text
    if not is_folder:  # lines may have gone from its end
        _check(files[0], stamps[0])


def _blamed_on_changes(texts: Iterable[SceneText], source: SceneSource, stamps: Sequence[Stamp]) -> Iterator[SceneText]:
    """The texts. What cannot be read because a file has changed is told so."""
    try:
        yield from texts
    except VqagenError:
        for file, stamp in zip(source.files, stamps, strict=True):
            _check(file, stamp)
        raise


def _check(file: Location, stamp: Stamp) -> None:
    if stamp_of(file) != stamp:
        raise BadInput([Problem("changed while it was read", str(file))])
