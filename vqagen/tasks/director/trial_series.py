"""Trials beside each other and beside the settings of their run: numbers, shares, pairs, repetition and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import sqrt
from pathlib import Path, PurePosixPath
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.files.records import RecordSource
from vqagen.files.stream import reading
from vqagen.tasks.director.design import WINDOW, Cell, cell_shares, numbers_of
from vqagen.tasks.director.pictures import HASHES, hash_of
from vqagen.tasks.director.reading import WrittenTrial
from vqagen.tasks.director.rules import CONTROL, FRAMES, NONE, TEST, TYPES, says_frame
from vqagen.tasks.director.settings import BOTH, FILE_ENDINGS, DirectorSettings
from vqagen.tasks.director.views import Views
from vqagen.tasks.record_files import SAMPLES, generator_of, settings_of

SHOWN_ONLY = frozenset({"render", "view", "no_figure"})
"""Settings that do not change trials."""
ALIKE = ("cells", "noun", "adjectives", "rule", "frame", "instruction", "template", "twin_instruction")
"""Fields that the trials of a pair have in common."""


TrialFault = tuple[str, str, str]
"""The code of a broken rule, the JSON path in the record, and what is wrong."""
UNREADABLE = "unreadable"
REPEATED = "O16"
"""The code of a question that is asked again in another window: the generator keeps them apart within one only."""
PHYSICS = "physics"
OFF, FAR_OFF, CHANCE = 0.015, 0.05, 3
"""How far a share may be off on most grids and on others, and how many standard errors of a draw at random more."""
MOST_GRIDS, FEWEST_ITEMS, MOST_PHYSICS = range(12, 37), 6, 0.5
"""Cells and items of grids that have questions enough of every kind, and the share of physics up to which they have."""


class TrialSeries:
    """The trials of one file, taken in their order."""

    def __init__(self, source: RecordSource) -> None:
        """BadInput for settings that are none."""
        given, arrangement = settings_of(source), generator_of(source).get("arrangement")
        self._source, self._given = source, given
        self.settings = _read_settings(source, given)
        """Of the run that made the trials, as far as they are known; the others are the usual ones."""
        self._is_known = given.keys() >= set(DirectorSettings.names()) - SHOWN_ONLY
        window = arrangement.get("window") if isinstance(arrangement, Mapping) else None
        self._window = window if type(window) is int and window > 1 else WINDOW
        self.halves: dict[int, WrittenTrial] = {}
        """The first trial of each pair whose second one was not taken yet."""
        self._last: int | None = None
        """The number of the trial before."""
        self._taken: Counter[str] = Counter()
        """Type, or UNREADABLE -> trials."""
        self._cells: Counter[Cell] = Counter()
        """The trials by cell of the design."""
        self._asked: dict[int, int] = {}
        """Hash of a question about a grid -> the first trial with it."""
        self.unhashed = 0
        """Pictures of which no hash is known, such as those of vqagen 1.0."""
        self._images: dict[str, int] = {}
        """Picture -> the first trial with it."""

    def skip(self) -> int:
        """Take a trial that cannot be read; return the number that it should have."""
        self._taken[UNREADABLE] += 1
        self._last = self.settings.start_index if self._last is None else self._last + 1
        return self._last

    def take(self, views: Views, record: Mapping[str, Any]) -> Iterator[TrialFault]:
        """Take a trial, and yield its faults."""
        trial, last, self._last = views.trial, self._last, views.trial.index
        self._taken[trial.type] += 1
        if last is not None and trial.index <= last:
            yield "O1", "trial_index", f"{trial.index} after {last}: numbers must grow"
        if "suffix" in self._given and (trial.frame is not None) != says_frame(self.settings.suffix, trial.rule_class):
            message = f"{trial.frame} does not suit the setting suffix and the rule {trial.rule}"
            yield "O3", "frame", message
        if self._is_known:
            yield from self._number_faults(views)
        self._count(trial)
        yield from self._pair_faults(trial, record)
        asked = hash((trial.cells, trial.blocked, trial.width, trial.noun, trial.adjectives, trial.rule, trial.frame))
        first = self._asked.setdefault(asked, trial.index)
        if first != trial.index:
            is_near = first // self._window == trial.index // self._window
            yield "O15" if is_near else REPEATED, "", f"the question and grid of trial {first}"
        yield from (("O17", "image", message) for message in self._picture_faults(trial, record.get(HASHES)))

    def file_faults(self) -> Iterator[TrialFault]:
        """Yield what is wrong with all trials together, once they are taken."""
        settings, taken = self.settings, self._taken.total()
        end = settings.start_index + settings.count
        if "count" in self._given and self._last is not None and (taken, self._last + 1) != (settings.count, end):
            there = f"{counted(taken, 'trial')}, the last with number {self._last}"
            yield "O1", "", f"{there}; the settings ask for {settings.start_index} to {end - 1}"
        elif self._is_known and taken and not self._taken[UNREADABLE]:
            yield from (("O14", "", f"{there}; the settings make {made}") for there, made in self._wrong_shares(taken))
        if self._source.kind is SAMPLES and self._source.layout == "document":
            totals = {"total_samples": taken, **{f"{type_}_samples": self._taken[type_] for type_ in (CONTROL, TEST)}}
            with reading(self._source.path) as reader:
                written = {key: reader.value() for key in reader.members() if key in totals}
            for key, value in written.items():
                if value != totals[key]:
                    yield "O1", key, f"written as {value}, but there are {totals[key]}"

    def _count(self, trial: WrittenTrial, is_test: bool | None = None) -> None:
        """Count a trial in its cell of the design."""
        is_test = trial.type == TEST if is_test is None else is_test
        self._cells[Cell(is_test, trial.rule_class, trial.rule, trial.frame, trial.is_physics)] += 1

    def _wrong_shares(self, trials: int) -> Iterator[tuple[str, str]]:
        """Yield which parts of the design have not about the share that the settings name."""
        settings, parts = self.settings, Counter[str]()
        shares = {f"{TYPES[test]}, {rule_class}": share for (test, rule_class), share in cell_shares(settings).items()}
        shares[PHYSICS] = settings.physics_share
        for cell, number in self._cells.items():
            part = f"{TYPES[cell.is_test]}, {cell.rule_class}"
            parts.update({part: number, PHYSICS: number * cell.is_physics})
            if cell.frame:
                shares[f"{cell.frame}'s view, {part}"] = shares.get(part, 0) / len(FRAMES)
                parts[f"{cell.frame}'s view, {part}"] += number
        draws = trials / 2 if settings.paired else trials
        is_usual = settings.width * settings.height in MOST_GRIDS and numbers_of(settings).items >= FEWEST_ITEMS
        is_usual &= settings.physics_share <= MOST_PHYSICS
        off = OFF if is_usual else FAR_OFF
        for part in sorted(parts.keys() | shares.keys()):
            share, there = shares.get(part, 0), parts[part] / trials
            # Bernstein's inequality: of two trials, both may well be of one kind, whose share is an eighth.
            most = off + CHANCE * sqrt(share * (1 - share) / draws) + CHANCE**2 / 6 / draws
            is_short = share - there > most and (part != PHYSICS or not there)  # few grids have much of it
            if is_short or there - share > most:
                yield f"{there:.1%} of {part}", f"{share:.1%}"

    def _number_faults(self, views: Views) -> Iterator[TrialFault]:
        trial, settings = views.trial, self.settings
        numbers = numbers_of(settings)
        rows = [
            ("width", "columns", trial.width, range(settings.width, settings.width + 1)),
            ("height", "rows", trial.height, range(settings.height, settings.height + 1)),
            ("cells", "items", views.all.bit_count(), range(numbers.items, numbers.items + 1)),
            ("blocked", "blocked cells", trial.blocked.bit_count(), range(numbers.blocked, numbers.blocked + 1)),
        ]
        for path, what, number, wanted in (*rows, *self._item_rows(views)):
            if number not in wanted:
                numbers_wanted = f"{wanted[0]} to {wanted[-1]}" if len(wanted) > 1 else wanted[0]
                yield "O13", path, f"expected {numbers_wanted} {what} by the settings, found {number}"

    def _item_rows(self, views: Views) -> Iterator[tuple[str, str, int, range]]:
        """Yield numbers of some of the items: their path, what they are, how many there are, and may be."""
        number = (views.all & views.trial.blocked).bit_count()
        yield "blocked", "blocked items", number, numbers_of(self.settings).hidden

    def _pair_faults(self, trial: WrittenTrial, record: Mapping[str, Any]) -> Iterator[TrialFault]:
        if trial.pair is None:
            if self.settings.paired:
                yield "pair", "pair", "missing, in a file of pairs"
            return
        if trial.pair != trial.index // 2:
            yield "pair", "pair", f"expected {trial.index // 2}, found {trial.pair}"
        first = self.halves.pop(trial.pair, None)
        if first is None:
            self.halves[trial.pair] = trial
            return
        types, wanted = sorted([first.type, trial.type]), [TEST if trial.rule == NONE else CONTROL, TEST]
        rows = [
            *(
                (getattr(first, key) != getattr(trial, key), key, "differs between the trials of the pair")
                for key in ALIKE
            ),
            (first.answer == trial.answer, "answer", "the same in both trials of the pair"),
            (
                types != wanted,
                "trial_type",
                f"the trials of the pair are {' and '.join(types)}, not {' and '.join(wanted)}",
            ),
        ]
        yield from (("pair", path, message) for is_broken, path, message in rows if is_broken)
        yield from (("pair", "blocked", message) for message in self._move_faults(first, trial))

    def _move_faults(self, first: WrittenTrial, second: WrittenTrial) -> Iterator[str]:
        """Yield what is wrong with the blocked cells of a pair: nothing, as any may be blocked."""
        yield from ()

    def _picture_faults(self, trial: WrittenTrial, hashes: object) -> Iterator[str]:
        """Yield what is wrong with the files of a trial, which names one; those of other forms have its stem."""
        renders = self.settings.renders if "render" in self._given else ()
        path = self._source.path
        if trial.image is None and renders:
            yield f"missing; the settings ask for {', '.join(renders)}"
        if trial.image is None or not isinstance(path, Path) or not path.is_file():
            return
        first = self._images.setdefault(trial.image, trial.index)
        if first != trial.index:
            yield f"{trial.image} is the picture of trial {first} too"
        name = PurePosixPath(trial.image)
        if name.is_absolute() or ".." in name.parts:
            yield f"{trial.image} is outside of the folder"
            return
        stems = (name.stem, f"{name.stem}-director") if self.settings.view == BOTH else (name.stem,)
        others = (name.with_name(f"{stem}{FILE_ENDINGS[form]}") for form in renders for stem in stems)
        for file in dict.fromkeys((name, *others)):
            picture = path.parent / file
            wanted = hashes.get(str(file)) if isinstance(hashes, Mapping) else None
            if not picture.is_file() or not picture.stat().st_size:
                yield f"{file}: {'empty' if picture.is_file() else 'not there'}"
            elif wanted is None:
                self.unhashed += 1
            elif hash_of(picture.read_bytes()) != wanted:
                yield f"{file}: not the picture that was made; its hash differs from the one in {HASHES}"


def _read_settings(source: RecordSource, given: Mapping[str, Any]) -> DirectorSettings:
    """Return the settings that an info names. BadInput for wrong values, and for names that no version has."""
    lines = [*DirectorSettings.name_faults(given)]
    known = {name: given[name] for name in DirectorSettings.names() if name in given}
    try:
        settings = DirectorSettings(**{"count": 1, **known})
    except UsageError as error:
        lines += str(error).splitlines()
    if lines:
        raise BadInput(Problem(line, str(source.path), "info.generator.settings") for line in lines)
    return settings
