"""Verification of a dataset: its files against their hashes, its rows against proved questions, scenes and pictures.

Questions and dialogs are proved as any file of them is (see `score.verification`). Then every row is made of its record
again, and must be the one that is written: its text, answer, options, program, scene and picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from vqagen.dataset.folder import LAST, STATE, changed_files, read_state
from vqagen.dataset.holdout import HoldOut, choose_held
from vqagen.dataset.joining import KINDS, families_of, kinds_of, row_of
from vqagen.dataset.rows import (
    SINCE_2,
    SPLITS,
    Row,
    SceneMasks,
    picture_columns,
    row_files,
    rows_of_file,
    with_picture,
    without_masks,
)
from vqagen.dataset.settings import DatasetSettings
from vqagen.errors import BadInput, Problem, as_written, collecting, describe
from vqagen.files.info import differences
from vqagen.files.records import RecordSource, open_records
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.language.domain_files import QUESTIONS, LoadedDomain, PathLike, find_domain, load_domain_files
from vqagen.language.program import Program
from vqagen.language.question import MARKS, picture_name, same_json
from vqagen.pictures.looks import LARGEST_MISS, SceneLooks
from vqagen.pictures.marks import marked, pixels_of
from vqagen.pictures.masks import seen_again
from vqagen.report.verification import Mismatch, VerificationReport
from vqagen.score.verification import verify
from vqagen.tasks.record_files import shipped_domain
from vqagen.tasks.whole import CHANGED_FILE
from vqagen.world.loading import SceneSource, find_scenes

ROUNDING = 1.0
"""Pixels that a camera may see an object beside its `pixel_coords`, if no scenes were given: they are rounded."""
BATCH = 500
"""Records whose scenes are held at once."""


def verify_dataset(
    folder: PathLike,
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    on_checked: Callable[[int], None] = lambda _: None,
) -> VerificationReport:
    """Check everything in the folder of a dataset; the files of a domain of one's own are needed, as for `verify`.

    `on_checked` is called now and then with the number of rows checked since. Raises BadInput for files that cannot be
    read, with all that was changed, and UsageError for a dataset that is not finished.
    """
    given: dict[str, Any] = {"domain": domain, "metadata": metadata, "templates": templates}
    given |= {"synonyms": synonyms, "plugins": plugins}
    place, report = Path(folder), VerificationReport("rows")
    state = read_state(place)
    for name, why in changed_files(place, state):
        report.add(Mismatch(None, CHANGED_FILE, why, name))
    if "files" not in state["steps"][LAST]:
        report.unproven[f"dataset: vqagen {state['vqagen']} recorded no hashes of its files"] = 1
    problems = [Problem(mismatch.problem, str(place / mismatch.path)) for mismatch in report.mismatches]
    changed = len(problems)
    with collecting(problems):
        _Verification(place, state, given, report, on_checked).run()
    if len(problems) > changed:
        raise BadInput(problems)
    return report


ExpectedRow = tuple[int, str, Row | None]
"""Id, split and columns; None if the record or its scene is so wrong that no row can be made of them."""


@dataclass
class _Verification:
    """Verifies the contents of one dataset."""

    place: Path
    state: Mapping[str, Any]
    given: Mapping[str, Any]
    """The domain and its files, as the user gives them."""
    report: VerificationReport
    on_checked: Callable[[int], None]
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    """("pictures", "questions", "question rows" or such, split) -> number of them."""
    places: list[int] = field(default_factory=list)
    """Scene -> its place among those of its split, by which rows of dialogs name it."""
    seen: dict[int, str] = field(default_factory=dict)
    """Hash of a picture, a text or a program -> the split that has it."""

    def run(self) -> None:
        """Add all faults to the report."""
        known, steps = self.state["settings"], self.state["steps"]
        settings = DatasetSettings(**{name: known[name] for name in DatasetSettings.names() if name in known})
        info = self._records("questions").info
        recipe = {key: value for key, value in self.state.items() if key != "steps"}
        for difference in differences(info.get("dataset"), recipe):
            self._add(CHANGED_FILE, f"differs from the info of questions.jsonl: {difference}", STATE)
        given = dict(self.given)
        given["domain"] = given["domain"] or (None if given["metadata"] else shipped_domain(info))
        loaded = load_domain_files(find_domain(**given, task=QUESTIONS))
        holdout = choose_held(settings, loaded)
        holdout = replace(holdout, longest=steps["longest"]["steps"]) if "longest" in steps else holdout
        scenes = find_scenes(self.place / "scenes.json")
        self._check_scenes(scenes, SceneLooks.from_domain(loaded.domain))
        kinds = kinds_of(settings)
        for kind in kinds:
            if kind == "dialogs":
                given["templates"] = None
            proved = verify(str(self.place / f"{kind}.jsonl"), str(scenes.path), **given)
            self.report.remarks += [f"{kind}.jsonl: {proved.summary}", *proved.remarks]
            self.report.mismatched += proved.mismatched
            self.report.unproven.update(proved.unproven)
            for mismatch in proved.mismatches:  # the first KEPT; the remark has their number
                self.report.add(proved.placed(mismatch, f"{kind}.jsonl"))
            self._check_rows(kind, self._expected_rows(kind, scenes, loaded, holdout, settings))
        splits = [name for name in SPLITS if self.counts["pictures", name]]
        counted: dict[str, Any] = {
            f"rows {name}": {
                "pictures": self.counts["pictures", name],
                **{kind: self.counts[f"{kind} rows", name] for kind in kinds},
            }
            for name in splits
        }
        counted["splits"] = {"scenes": {name: self.counts["pictures", name] for name in SPLITS}}
        counted["joined"] = {kind: {name: self.counts[kind, name] for name in splits} for kind in kinds}
        for difference in differences(
            counted, steps, {*steps} - counted.keys() | {"splits.together", "splits.left_out"}
        ):
            self._add("wrong count", f"{difference}, as counted", STATE)

    def _add(self, kind: str, problem: str, path: str, position: int | None = None, name: str = "") -> None:
        self.report.add(Mismatch(position, kind, problem, path, name))

    def _records(self, kind: str) -> RecordSource:
        return open_records(self.place / f"{kind}.jsonl", KINDS[kind][0])

    def _check_scenes(self, scenes: SceneSource, looks: SceneLooks) -> None:
        """Count the scenes, and check that they are those of the pictures, and these as their cameras see them."""
        pictured = find_scenes(self.place / "pictures" / "scenes.json")
        miss = LARGEST_MISS if "scenes" in self.state["inputs"] else ROUNDING
        for place, (scene, shown) in enumerate(zip_longest(scenes.records(), pictured.records())):
            path = f"scenes[{place}]"
            if scene is None or shown is None:
                self._add("wrong scene", f"{path} stands in one of scenes.json and pictures/scenes.json", "scenes.json")
                return
            self.places.append(self.counts["pictures", str(scene.get("split"))])
            self.counts["pictures", str(scene.get("split"))] += 1
            again = seen_again(shown, looks, miss, f"{pictured.path}: {path}")
            for difference in differences(again, shown):
                self._add("wrong scene", f"{difference}, as the camera sees it", f"pictures/scenes.json: {path}")
            for difference in differences(without_masks(shown), scene, {"split"}):
                self._add("wrong scene", f"{difference}, as in pictures/scenes.json", f"scenes.json: {path}")
        self.report.remarks.append("pictures: not made again, so that they show their scenes is not checked")

    # Rows -------------------------------------------------------------------------------------------------------------

    def _check_rows(self, kind: str, expected: Iterator[ExpectedRow]) -> None:
        """Compare the rows of a kind, whose ids count from 0, with those that their records make."""
        wanted, total, key = next(expected, None), self._records(kind).count(), f"{kind[:-1]}_id"
        for file, number, split, row in chain(_rows_in(self.place, KINDS[kind][1]), [("", 0, "", None)]):
            id = row.get(key) if row else total
            while wanted and isinstance(id, int) and wanted[0] < id <= total:
                path = f"{kind}.jsonl: {kind}[{wanted[0]}]"
                self._add("missing row", f"no row in {wanted[1] or 'any split'}", path)
                wanted = next(expected, None)
            if row is None:
                return
            if wanted and wanted[0] == id:
                faults = [("wrong row", why) for why in _differences_of(row, split, wanted)]
                wanted = next(expected, None)
            else:
                faults = [("stray row", f"in {split}, it stands there twice or belongs into another place or split")]
            for fault, why in faults:
                self._add(fault, why, "", self.report.checked, f"{file}, row {number}, {key} {id}")
            self.counts[f"{kind} rows", split] += 1
            self.report.checked += 1
            self.on_checked(1)

    def _expected_rows(
        self, kind: str, scenes: SceneSource, loaded: LoadedDomain, holdout: HoldOut, settings: DatasetSettings
    ) -> Iterator[ExpectedRow]:
        """Yield the row of each record, and report what is wrong with its number, its place and its split."""
        families, file, image, drawn = families_of(loaded), self.place, b"", dict[str, bool]()
        masks = SceneMasks(self.place / "pictures" / "scenes.json")
        older = SINCE_2 if str(self.state["vqagen"]).startswith("1.") else ()
        for position, record, scene in records_with_scenes(self._records(kind).records(), scenes, loaded.domain, BATCH):
            if isinstance(scene, QuestionFault):  # named by the report of the file
                yield position, "", None
                continue
            split = str(scene.record.get("split"))
            self.counts[kind, split] += 1
            if (picture := self.place / "pictures" / "images" / scene.image) != file:
                file, image = picture, picture.read_bytes() if picture.is_file() else b""
            columns = picture_columns(scene.record, scene.index, image, masks.at(scene.index))
            right = {f"{kind[:-1]}_index": position, "scene_index": scene.index, "split": split}
            faults = [
                f"{key} is {as_written(record.get(key))}, not {value}"
                for key, value in right.items()
                if record.get(key) != value
            ]
            if marks := record.get(MARKS):
                name = f"pictures/{picture_name(record)}"
                columns = with_picture(columns, self.place / name)
                if name not in drawn:
                    drawn[name] = _shows(columns["image"]["bytes"], image, masks.at(scene.index), marks)
                if not drawn[name]:
                    faults.append(f"{name} is not the picture of its scene with letters on the objects {marks}")
            row: Row | None = None
            with suppress(BadInput, LookupError, TypeError, AttributeError, ValueError):  # named by the file's report
                row = row_of(kind, {**record, "scene_index": self.places[scene.index]}, columns, loaded, families)
                row = {name: value for name, value in row.items() if name not in older}
                if kind == "questions" and not _keeps(holdout, split, row, record, loaded):
                    faults.append(f"{split} has what --hold-out {holdout.kind} keeps out of it")
                faults += self._leaks(row, split)
            if kind == "questions" and bool(record.get("choices")) != (settings.choices != "none"):
                faults.append(f"--choices {settings.choices}, but choices are {describe(record.get('choices'))}")
            for why in faults:
                self._add("wrong record", why, f"{kind}.jsonl: {kind}[{position}]")
            yield position, split, row

    def _leaks(self, row: Row, split: str) -> Iterator[str]:
        """Yield what a row has in common with a row of another split."""
        parts = {"picture": row["image"]["bytes"], "question": row.get("question"), "program": row.get("program")}
        for what, value in parts.items():
            if value and (first := self.seen.setdefault(hash((what, value)), split)) != split:
                yield f"the {what} is in {first} too"


def _shows(found: bytes, plain: bytes, masks: Sequence[Any], marks: Sequence[int]) -> bool:
    """True if a picture is the plain one with letters on these objects."""
    with suppress(OSError, LookupError, TypeError, ValueError):
        return np.array_equal(pixels_of(found), marked(plain, masks, marks))
    return False


def _keeps(holdout: HoldOut, split: str, row: Row, record: Mapping[str, Any], loaded: LoadedDomain) -> bool:
    """True if a question belongs into its split, by what only the test split has."""
    only = holdout.only(split)
    program = Program.from_records(record["program"], loaded.catalogue)
    return (not only or row["family"] in only) and holdout.keeps(split, program, row["answer"])


def _rows_in(place: Path, data: str) -> Iterator[tuple[str, int, str, Row]]:
    """Yield each row with the name of its file, its number in it and the split of the file."""
    for split, path in row_files(place, None, data):
        for number, row in enumerate(rows_of_file(path)):
            yield f"{data}/{path.name}", number, split, row


def _differences_of(row: Row, split: str, expected: ExpectedRow) -> Iterator[str]:
    """Yield each column that is not as its record, scene and picture make it."""
    _, right_split, columns = expected
    if split != right_split:
        yield f"the row is in {split}, and its picture in {right_split}"
    if columns:
        yield from (f"{column}: no column of a dataset" for column in row if column not in columns)
    for column, right in (columns or {}).items():
        written = row.get(column)
        if column == "image" and written != right:
            yield f"image: not the picture pictures/{'marked' if row.get(MARKS) else 'images'}/{right['path']}"
        elif column != "image" and not same_json(written, right):  # 1.0 is no 1
            yield (
                f"{column}: written as {as_written(written, right)}, but"
                f" {as_written(right, written)} follows from the record"
            )
