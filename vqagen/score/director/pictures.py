"""Checks of the pictures and texts of grids that a run rendered: each is there, and has content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from vqagen.score.director.trial import Trial, TrialFault

SUFFIXES: Mapping[str, str] = {"png": ".png", "svg": ".svg", "md": ".md", "ascii": ".txt", "json": ".json"}
"""Render -> the suffix of its files."""
DEFAULT_RENDER = ("png",)


class PictureCheck:
    """Looks at the files of each trial."""

    def __init__(self, folder: Path | None, settings: Mapping[str, Any]) -> None:
        """`folder`: the folder that file names are relative to; None for records without a local folder."""
        self._folder = folder
        self._settings = settings
        self._renders: Sequence[str] = _renders(settings)
        self._taken: dict[str, int] = {}

    def take(self, trial: Trial) -> Iterator[TrialFault]:
        """Yield the faults of the files of a trial."""
        if trial.image is None and any(each in SUFFIXES for each in self._renders):
            yield TrialFault("O17", "image", f"missing; the settings ask for {', '.join(self._renders)}")
        if trial.image is None or self._folder is None:
            return
        first = self._taken.setdefault(trial.image, trial.index)
        if first != trial.index:
            yield TrialFault("O17", "image", f"{trial.image} is the picture of trial {first} too")
        name = PurePosixPath(trial.image)
        if name.is_absolute() or ".." in name.parts:
            yield TrialFault("O17", "image", f"{trial.image} is outside of the folder")
            return
        for each in dict.fromkeys((str(name), *self._others(name))):
            wrong = self._fault(each)
            if wrong:
                yield TrialFault("O17", "image", f"{each}: {wrong}")

    def _others(self, name: PurePosixPath) -> Iterator[str]:
        """Yield the files that the settings ask for besides the named one."""
        view = self._settings.get("view")
        for suffix in (SUFFIXES[each] for each in self._renders if each in SUFFIXES):
            yield str(name.with_suffix(suffix))
            if view == "both":
                yield str(name.with_name(f"{name.stem}-director{suffix}"))

    def _fault(self, name: str) -> str:
        """Return what is wrong with a file; "" if nothing is."""
        assert self._folder is not None
        try:
            with open(self._folder / name, "rb") as file:
                return "" if file.read(1) else "empty"
        except FileNotFoundError:
            return "not there"
        except OSError as error:
            return f"cannot be read: {error.strerror}"


def _renders(settings: Mapping[str, Any]) -> Sequence[str]:
    """Return what a run rendered: pictures if nothing is asked for; nothing if its settings are unknown."""
    return settings.get("render", ()) or (DEFAULT_RENDER if "render" in settings else ())
