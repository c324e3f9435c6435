"""The folder of a dataset: what it was asked for, and which steps are finished.

dataset.json    the settings and the hashes of all inputs, and what each finished step counted
README.md       the card
data/           Parquet files of questions; dialogs/ has those of dialogs
questions.jsonl all questions with options, and the split of each; dialogs.jsonl has dialogs, scenes.json the scenes
pictures/       scenes.json, with boxes and masks, and images
steps/          what the steps hand on to each other
SHA256SUMS      the hash of every other file but those in steps/, as `sha256sum` reads it; dataset.json has its own hash
"""

from __future__ import annotations

import hashlib
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import PlaceError, UsageError, VqagenError
from vqagen.files.info import differences, listed_differences
from vqagen.files.output import atomic_output
from vqagen.language.domain_files import PathLike

STATE = "dataset.json"
SUMS = "SHA256SUMS"
RECORDS = ("questions.jsonl", "dialogs.jsonl")
OURS = (
    "README.md",
    "data",
    "dialogs",
    "scenes.json",
    *RECORDS,
    *(f"{name}.info.json" for name in RECORDS),
    "pictures",
    "steps",
    SUMS,
    STATE,
)
"""All that --force deletes."""
LAST = "card"
"""The last step."""
Counts = dict[str, Any]


class DatasetFolder:
    """The folder of a dataset. Each step is recorded when it is finished, and then never done again."""

    def __init__(self, place: Path, recipe: Mapping[str, Any], steps: Mapping[str, Counts]) -> None:
        self.place, self.recipe, self.steps = place, recipe, dict(steps)

    def path(self, *parts: str) -> Path:
        """Return a place inside, whose folder is made if it is not there."""
        path = self.place.joinpath(*parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def once(self, step: str, do: Callable[[], Counts]) -> Counts:
        """Return what a step counted: now, or when it was finished. A step that was interrupted begins again."""
        if step not in self.steps:
            counts = do()
            self.steps[step] = counts
            self.save()
        return self.steps[step]

    def save(self) -> None:
        """Write what is finished."""
        with atomic_output(str(self.place / STATE)) as file:
            file.write(orjson.dumps({**self.recipe, "steps": self.steps}, option=orjson.OPT_INDENT_2) + b"\n")


def open_folder(out: PathLike, recipe: Mapping[str, Any], force: bool) -> DatasetFolder:
    """Return the folder of a dataset with this recipe, new or begun. Without `force`, nothing in it is lost.

    Raises UsageError, with all that differs, for a dataset of another recipe, and for a folder of something else.
    """
    place = Path(out)
    if place.exists() and not place.is_dir():
        raise PlaceError(f"output {out} is a file; name a folder")
    state, steps = place / STATE, dict[str, Counts]()
    if state.is_file():
        known = _read(state)
        steps = known.pop("steps", {})
        if force or [each.name for each in place.iterdir()] == [STATE]:  # nothing is made yet
            steps = {}
            _clear(place)
        else:
            _refuse_other(state, recipe, known)
    elif place.is_dir() and any(place.iterdir()):
        raise UsageError(f"output {out} is a folder of something else: it has no {STATE}; name another folder")
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise PlaceError(f"cannot make the folder {out}: {error.strerror}") from None
    folder = DatasetFolder(place, recipe, steps)
    folder.save()
    return folder


def _read(state: Path) -> dict[str, Any]:
    try:
        known = orjson.loads(state.read_bytes())
    except (OSError, orjson.JSONDecodeError):
        known = None
    match known:
        case {"steps": dict(steps), "vqagen": str()}:
            is_readable = LAST not in steps or isinstance(known.get("settings"), dict)
            if is_readable and all(isinstance(counts, dict) for counts in steps.values()):
                return dict(known)
    raise UsageError(f"{state} is not of vqagen, or damaged; name another folder, or delete this one")


def is_finished(place: Path) -> bool:
    """True if no dataset is begun in a folder that is not finished."""
    state = place / STATE
    return not state.is_file() or LAST in _read(state)["steps"]


def read_state(place: Path) -> dict[str, Any]:
    """Return what dataset.json says of a finished dataset. UsageError if it is not finished."""
    if not is_finished(place):
        raise UsageError(f"the dataset {place} is not finished: repeat the `vqagen dataset` command that began it")
    return _read(place / STATE)


# Hashes of files ------------------------------------------------------------------------------------------------------


def write_sums(place: Path) -> str:
    """Write the hash of each file of a dataset, and return that of the file that lists them."""
    with atomic_output(str(place / SUMS)) as file:
        file.writelines(f"{_hash_of(place / name)}  {name}\n".encode() for name in _files_in(place))
    return _hash_of(place / SUMS)


def changed_files(place: Path, state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the name of each file that is not as it was made, and why; none if no hashes were recorded."""
    recorded = state["steps"][LAST].get("files")
    if recorded is None and not (place / SUMS).exists():
        return
    if not (place / SUMS).is_file() or _hash_of(place / SUMS) != recorded:
        yield SUMS, f"not there, or not the one whose hash {STATE} has, so that no other file can be compared"
        return
    sums = dict(line.split("  ", 1)[::-1] for line in (place / SUMS).read_text("utf-8").splitlines())
    there = _files_in(place)
    for name in dict.fromkeys((*sums, *there)):
        if name not in sums:
            yield name, f"not a file of the dataset: {SUMS} does not list it"
        elif name not in there:
            yield name, "not there any more"
        elif _hash_of(place / name) != sums[name]:
            yield name, f"changed after it was made: its hash is not that of {SUMS}"


def _files_in(place: Path) -> list[str]:
    """Return the names of the files that are the dataset, sorted."""
    tops = (place / name for name in OURS if name not in ("steps", SUMS, STATE))
    files = (file for top in tops for file in (top.rglob("*") if top.is_dir() else [top]) if file.is_file())
    return sorted(file.relative_to(place).as_posix() for file in files)


def _hash_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _refuse_other(state: Path, recipe: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    found = list(differences(orjson.loads(orjson.dumps(recipe)), known))
    if found:
        raise UsageError(f"{state} is of another dataset; --force begins anew. It says:\n{listed_differences(found)}")


def _clear(place: Path) -> None:
    """Delete a dataset, its record of finished steps first: killed in between, no step counts as finished."""
    try:
        for name in reversed(OURS):
            path = place / name
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
    except OSError as error:
        raise VqagenError(f"cannot delete {error.filename}: {error.strerror}") from None


def left_out_of(steps: Mapping[str, Counts]) -> dict[str, int]:
    """Return reason -> number of questions, dialogs or scenes that are not in the dataset."""
    found = Counter[str]()
    for counts in steps.values():
        found.update(counts.get("left_out", {}))
    return {reason: number for reason, number in found.items() if number}


def front_matter(settings: Mapping[str, Any]) -> str:
    """Return settings for the head of a card as YAML, of which JSON is a part: a line for each."""
    return "".join(f"{key}: {orjson.dumps(value).decode()}\n" for key, value in settings.items())
