"""Trials beside each other and beside the settings of their run: numbers, shares, pairs, repetition and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from math import sqrt
from pathlib import Path, PurePosixPath
from typing import Any

from vqagen.bits import is_single
from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.files.records import RecordSource
from vqagen.files.stream import reading
from vqagen.tasks.director.design import DESIGN, WINDOW, Cell, cell_shares, numbers_of
from vqagen.tasks.director.pictures import HASHES, hash_of
from vqagen.tasks.director.reading import WrittenTrial
from vqagen.tasks.director.rules import CLASS_OF, CONTROL, FRAMES, NONE, RELATION, TEST, TYPES, says_frame
from vqagen.tasks.director.settings import BOTH, FILE_ENDINGS, REFERENCE, DirectorSettings
from vqagen.tasks.director.version_1 import MORE, number_of_trials, related_numbers
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
MOST_GRIDS, MOST_PHYSICS = range(12, 37), 0.5
"""Cells of grids that have questions enough of every kind, and the share of physics up to which they have."""


class TrialSeries:
    """The trials of one file, taken in their order."""

    def __init__(self, source: RecordSource) -> None:
        """BadInput for settings that are none."""
        given, arrangement = settings_of(source), generator_of(source).get("arrangement")
        self._source, self._given = source, given
        self.settings = _read_settings(source, given)
        """Of the run that made the trials, as far as they are known; the others are the usual ones."""
        self._is_known = given.keys() >= set(DirectorSettings.names()) - SHOWN_ONLY
        self._is_exact = source.info.get("design") != DESIGN
        """Whether version 1.0 made them, whose numbers and shares are exact."""
        window = arrangement.get("window") if isinstance(arrangement, Mapping) else None
        self._window = window if type(window) is int and window > 1 else WINDOW
        self.halves: dict[int, WrittenTrial] = {}
        """The first trial of each pair whose second one was not taken yet."""
        self._last: int | None = None
        """The number of the trial before."""
        self._taken: Counter[str] = Counter()
        """Type, or UNREADABLE -> trials."""
        self._cells: Counter[Cell] = Counter()
        """The trials by cell of the design; version 1.0 counts one of each pair, whose cell is that of its test."""
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
        counts_pairs = self._is_exact and self.settings.paired
        if not counts_pairs or trial.index % 2 == 0:
            is_test = trial.type == TEST or counts_pairs
            self._cells[Cell(is_test, trial.rule_class, trial.rule, trial.frame, trial.is_physics)] += 1
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
            shares = self._exact_shares() if self._is_exact else self._about_shares(taken)
            yield from (("O14", "", f"{there}; the settings make {made}") for there, made in shares)
        if self._source.kind is SAMPLES and self._source.layout == "document":
            totals = {"total_samples": taken, **{f"{type_}_samples": self._taken[type_] for type_ in (CONTROL, TEST)}}
            with reading(self._source.path) as reader:
                written = {key: reader.value() for key in reader.members() if key in totals}
            for key, value in written.items():
                if value != totals[key]:
                    yield "O1", key, f"written as {value}, but there are {totals[key]}"

    def _exact_shares(self) -> Iterator[tuple[str, str]]:
        """Yield which cells of the design have other numbers of trials than version 1.0 makes."""
        wanted = number_of_trials(self.settings, self._window)
        for cell in sorted(wanted.keys() | self._cells.keys(), key=repr):
            if self._cells[cell] != wanted[cell]:
                kind = "physics" if cell.is_physics else "no physics"
                frame = f", {cell.frame}'s view" if cell.frame else ""
                yield f"{self._cells[cell]} of {TYPES[cell.is_test]}, {cell.rule}, {kind}{frame}", f"{wanted[cell]}"

    def _about_shares(self, trials: int) -> Iterator[tuple[str, str]]:
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
        is_usual = settings.width * settings.height in MOST_GRIDS and settings.physics_share <= MOST_PHYSICS
        off = OFF if is_usual else FAR_OFF
        for part in sorted(parts.keys() | shares.keys()):
            share, there = shares.get(part, 0), parts[part] / trials
            most = off + CHANCE * sqrt(share * (1 - share) / draws)
            is_short = share - there > most and (part != PHYSICS or not there)  # few grids have much of it
            if is_short or there - share > most:
                yield f"{there:.1%} of {part}", f"{share:.1%}"

    def _number_faults(self, views: Views) -> Iterator[TrialFault]:
        trial, settings, rule_class = views.trial, self.settings, CLASS_OF[views.trial.rule]
        numbers = numbers_of(settings)
        rows = [
            ("width", "columns", trial.width, range(settings.width, settings.width + 1)),
            ("height", "rows", trial.height, range(settings.height, settings.height + 1)),
            ("cells", "items", views.all.bit_count(), range(numbers.items, numbers.items + 1)),
            ("blocked", "blocked cells", trial.blocked.bit_count(), range(numbers.blocked, numbers.blocked + 1)),
        ]
        seen, hidden = (views.fitting & cells for cells in (views.open, trial.blocked))
        if not self._is_exact:
            rows.append(("blocked", "blocked items", (views.all & trial.blocked).bit_count(), numbers.hidden))
        elif settings.compat != REFERENCE and rule_class != RELATION:
            least_seen, least_hidden = related_numbers(settings, rule_class)
            more = MORE if rule_class != NONE else 0
            rows.append(("cells", "fitting items seen", seen.bit_count(), range(1 + least_seen, 2 + least_seen + more)))
            blocked = range(least_hidden, least_hidden + MORE + 1)
            if rule_class == NONE and trial.type == CONTROL:
                blocked = range(1)
            rows.append(("cells", "fitting items blocked", hidden.bit_count(), blocked))
        for path, what, number, wanted in rows:
            if number not in wanted:
                numbers_wanted = f"{wanted[0]} to {wanted[-1]}" if len(wanted) > 1 else wanted[0]
                yield "O13", path, f"expected {numbers_wanted} {what} by the settings, found {number}"

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
        opened, closed = first.blocked & ~trial.blocked, trial.blocked & ~first.blocked
        moves = ((first, opened, trial.answer), (trial, closed, first.answer))
        freed = [moved == answer for one, moved, answer in moves if one.type == TEST]
        is_moved = is_single(opened) and is_single(closed) and all(freed)
        moved = f"{first.labels(opened)} was opened and {first.labels(closed)} blocked"
        types, wanted = sorted([first.type, trial.type]), [TEST if trial.rule == NONE else CONTROL, TEST]
        is_broken = self._is_exact and not is_moved
        rows = [
            *(
                (getattr(first, key) != getattr(trial, key), key, "differs between the trials of the pair")
                for key in ALIKE
            ),
            (
                is_broken,
                "blocked",
                f"one block must move, from what is the answer without it in a test trial: {moved}",
            ),
            (first.answer == trial.answer, "answer", "the same in both trials of the pair"),
            (
                types != wanted,
                "trial_type",
                f"the trials of the pair are {' and '.join(types)}, not {' and '.join(wanted)}",
            ),
        ]
        yield from (("pair", path, message) for is_broken, path, message in rows if is_broken)

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
