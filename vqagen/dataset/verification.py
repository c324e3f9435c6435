"""Verification of a dataset: its files against their hashes, its rows against proved questions, scenes and pictures.

Questions and dialogs are proved as any file of them is (see `score.verify`). Then every row is made of its record
again, and must be the one that is written: its text, answer, options, program, scene and picture.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.dataset.folder import LAST, STATE, changed_files, read_state
from vqagen.dataset.holdout import HoldOut, choose_held
from vqagen.dataset.joining import KINDS, families_of, kinds_of, row_of
from vqagen.dataset.rows import READ_AT_ONCE, SPLITS, Row, picture_columns, row_files
from vqagen.dataset.settings import DatasetSettings
from vqagen.errors import BadInput, Problem, as_written, collecting, describe
from vqagen.files.info import differences
from vqagen.files.parquet import open_columns
from vqagen.files.records import open_records
from vqagen.language.domain_files import QUESTIONS, LoadedDomain, PathLike, find_domain, load_domain_files
from vqagen.language.program import Program
from vqagen.score.record_files import shipped_domain
from vqagen.score.scene_lookup import QuestionFault, records_with_scenes
from vqagen.score.verify.report import KEPT, Mismatch, VerificationReport
from vqagen.score.verify.verification import verify
from vqagen.score.verify.whole import CHANGED_FILE
from vqagen.world.loading import find_scenes

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
    own: dict[str, Any] = {"metadata": metadata, "synonyms": synonyms, "plugins": plugins}
    own = {**own, "domain": domain, "templates": templates}
    place, report = Path(folder), VerificationReport("rows")
    state = read_state(place)
    for name, why in changed_files(place, state):
        report.add(Mismatch(None, CHANGED_FILE, why, name))
    if "files" not in state["steps"][LAST]:
        report.unproven[f"dataset: vqagen {state['vqagen']} recorded no hashes of its files"] = 1
    problems = [Problem(each.problem, str(place / each.path)) for each in report.mismatches]
    changed = len(problems)
    with collecting(problems):
        _Verification(place, state, own, report, on_checked).run()
    if len(problems) > changed:
        raise BadInput(problems)
    return report


class _Wanted(NamedTuple):
    """A row as it must be."""

    id: int
    split: str
    row: Row | None
    """None if its record or its scene is so wrong that no row can be made of them."""


@dataclass
class _Verification:
    """Verifies the contents of one dataset."""

    place: Path
    state: Mapping[str, Any]
    own: Mapping[str, Any]
    """The domain and its files, as the user gives them."""
    report: VerificationReport
    on_checked: Callable[[int], None]
    places: list[int] = field(default_factory=list)
    """Scene -> its place among those of its split, by which rows of dialogs name it."""
    rows: int = 0
    """Rows so far."""
    seen: dict[int, str] = field(default_factory=dict)
    """Hash of a picture, a text or a program -> the split that has it."""

    def run(self) -> None:
        """Add all faults to the report."""
        known, steps = self.state["settings"], self.state["steps"]
        settings = DatasetSettings(**{name: known[name] for name in DatasetSettings.names() if name in known})
        info = open_records(self.place / "questions.jsonl", KINDS["questions"][0]).info
        recipe = {key: value for key, value in self.state.items() if key != "steps"}
        for difference in differences(info.get("dataset"), recipe):
            self._add(CHANGED_FILE, f"differs from the info of questions.jsonl: {difference}", STATE)
        own = {**self.own, "domain": self.own["domain"] or (None if self.own["metadata"] else shipped_domain(info))}
        loaded = load_domain_files(find_domain(**own, task=QUESTIONS))
        holdout = choose_held(settings, loaded)
        holdout = replace(holdout, longest=steps["longest"]["steps"]) if "longest" in steps else holdout
        scenes = find_scenes(self.place / "scenes.json")
        pictures = Counter[str]()
        for each in scenes.records():
            split = str(each.get("split"))
            self.places.append(pictures[split])
            pictures[split] += 1
        counts: dict[str, Any] = {"splits": {"scenes": {name: pictures[name] for name in SPLITS}}, "joined": {}}
        splits = [name for name in SPLITS if pictures[name]]
        counts |= {f"rows {name}": {"pictures": pictures[name]} for name in splits}
        for kind in kinds_of(settings):
            file, given = f"{kind}.jsonl", own if kind == "questions" else {**own, "templates": None}
            self._absorb(verify(str(self.place / file), str(scenes.path), **given), file)
            records, rows = self._check_rows(kind, loaded, holdout, settings)
            counts["joined"][kind] = {name: records[name] for name in splits}
            for name in splits:
                counts[f"rows {name}"][kind] = rows[name]
        for step, right in counts.items():
            for difference in differences(right, steps.get(step), {"splits.together", "splits.left_out"}, step):
                self._add("wrong count", f"{difference}, as counted", STATE)

    def _add(self, kind: str, problem: str, path: str, position: int | None = None, name: str = "") -> None:
        self.report.add(Mismatch(position, kind, problem, path, name))

    def _absorb(self, proved: VerificationReport, file: str) -> None:
        """Add the report of a file."""
        self.report.remarks += [f"{file}: {proved.summary}", *proved.remarks]
        self.report.mismatched += proved.mismatched
        for mine, other in (("by_problem", proved.by_problem), ("unproven", proved.unproven)):
            getattr(self.report, mine).update(other)
        self.report.by_label.update(proved.by_label)
        for kind, examples in proved.examples.items():
            placed = {key: proved.placed(each, file) for key, each in examples.items()}
            self.report.examples.setdefault(kind, {}).update(placed)
        self.report.mismatches += [proved.placed(each, file) for each in proved.mismatches]
        del self.report.mismatches[KEPT:]

    # Rows -------------------------------------------------------------------------------------------------------------

    def _check_rows(
        self, kind: str, loaded: LoadedDomain, holdout: HoldOut, settings: DatasetSettings
    ) -> tuple[Counter[str], Counter[str]]:
        """Compare the rows of a kind with what their records make; return how many of both each split has."""
        records, rows, key, belongs = Counter[str](), Counter[str](), f"{kind[:-1]}_id", list[str]()

        def expected() -> Iterator[_Wanted]:
            for each in self._wanted(kind, loaded, holdout, settings):
                records[each.split] += 1
                belongs.append(each.split)
                yield each

        left, data = expected(), KINDS[kind][1]
        total = open_records(self.place / f"{kind}.jsonl", KINDS[kind][0]).count()
        wanted = next(left, None)
        for file, number, split, row in _rows_in(self.place, data):
            rows[split] += 1
            id = row.get(key)
            name = f"{file}, row {number}, {key} {id}"
            while wanted and isinstance(id, int) and wanted.id < id < total:
                self._missing(kind, wanted)
                wanted = next(left, None)
            if wanted is None or wanted.id != id:
                of = f"; {key} {id} is of the split {belongs[id]}" if type(id) is int and 0 <= id < len(belongs) else ""
                self._add(
                    "stray row", f"the row stands there twice, or where it does not belong{of}", "", self.rows, name
                )
            else:
                for why in _differences_of(row, split, wanted):
                    self._add("wrong row", why, "", self.rows, name)
                wanted = next(left, None)
            self.rows += 1
            self.report.checked += 1
            self.on_checked(1)
        while wanted:
            self._missing(kind, wanted)
            wanted = next(left, None)
        return records, rows

    def _missing(self, kind: str, wanted: _Wanted) -> None:
        self._add("missing row", f"no row in {wanted.split or 'any split'}", f"{kind}.jsonl: {kind}[{wanted.id}]")

    def _wanted(
        self, kind: str, loaded: LoadedDomain, holdout: HoldOut, settings: DatasetSettings
    ) -> Iterator[_Wanted]:
        """Yield the row of each record, and report what is wrong with its number, its place and its split."""
        source, scenes = (
            open_records(self.place / f"{kind}.jsonl", KINDS[kind][0]),
            find_scenes(self.place / "scenes.json"),
        )
        families, file, image = families_of(loaded), self.place, b""
        for position, record, scene in records_with_scenes(source.records(), scenes, loaded.domain, BATCH):
            if isinstance(scene, QuestionFault):  # named by the report of the file
                yield _Wanted(position, "", None)
                continue
            split, own = str(scene.record.get("split")), scene.record.get("image_index")
            if (picture := self.place / "pictures" / "images" / scene.image) != file:
                file, image = picture, picture.read_bytes() if picture.is_file() else b""
            columns = picture_columns(scene.record, own if isinstance(own, int) else scene.index, image)
            try:
                row = row_of(kind, {**record, "scene_index": self.places[scene.index]}, columns, loaded, families)
                keeps = kind != "questions" or _keeps(holdout, split, row, record, loaded)
            except (BadInput, LookupError, TypeError, AttributeError, ValueError):  # named by the report of the file
                yield _Wanted(position, split, None)
                continue
            told = {f"{kind[:-1]}_index": position, "scene_index": scene.index, "split": split}
            faults = [
                f"{key} is {as_written(record.get(key))}, not {right}"
                for key, right in told.items()
                if record.get(key) != right
            ]
            faults += [] if keeps else [f"{split} has what --hold-out {holdout.kind} keeps out of it"]
            if kind == "questions" and bool(record.get("choices")) != (settings.choices != "none"):
                faults.append(f"--choices {settings.choices}, but choices are {describe(record.get('choices'))}")
            faults += self._leaks(row, split)
            for why in faults:
                self._add("wrong split", why, f"{kind}.jsonl: {kind}[{position}]")
            yield _Wanted(position, split, row)

    def _leaks(self, row: Row, split: str) -> Iterator[str]:
        """Yield what a row has in common with a row of another split."""
        for what, value in (
            ("picture", row["image"]["bytes"]),
            ("question", row.get("question")),
            ("program", row.get("program")),
        ):
            if value and (first := self.seen.setdefault(hash((what, value)), split)) != split:
                yield f"the {what} is in {first} too"


def _keeps(holdout: HoldOut, split: str, row: Row, record: Mapping[str, Any], loaded: LoadedDomain) -> bool:
    """True if a question belongs into its split, by what only the test split has."""
    only = holdout.only(split)
    program = Program.from_records(record["program"], loaded.catalogue)
    return (not only or row["family"] in only) and holdout.keeps(split, program, row["answer"])


def _rows_in(place: Path, data: str) -> Iterator[tuple[str, int, str, Row]]:
    """Yield each row with the name of its file, its number in it and the split of the file."""
    for split, path in row_files(place, None, data):
        with open_columns(path) as file:
            rows = (row for batch in file.iter_batches(READ_AT_ONCE) for row in batch.to_pylist())
            for number, row in enumerate(rows):
                yield f"{data}/{path.name}", number, split, row


def _differences_of(row: Row, split: str, wanted: _Wanted) -> Iterator[str]:
    """Yield each column that is not as its record, scene and picture make it."""
    if split != wanted.split:
        yield f"the row is in {split}, and its picture in {wanted.split}"
    for column, right in (wanted.row or {}).items():
        if (found := row.get(column)) == right:
            continue
        if column == "image":
            yield f"image: not the picture pictures/images/{right['path']}"
        else:
            yield f"{column}: written as {as_written(found)}, but {as_written(right)} follows from the record"
