"""Statistics of a dialog file, taken in one pass, for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.records.discovery import find_records
from vqagen.records.source import RecordSource
from vqagen.score.gold.census import Spread
from vqagen.score.gold.dialog_facts import ALL, COREF, NONE, DialogFacts, DialogReader
from vqagen.score.gold.phrases import Numbering
from vqagen.score.gold.question_facts import QuestionFacts
from vqagen.shortcuts.stats.dialog_census import LIMITING, DialogCensus, entropy
from vqagen.shortcuts.stats.dialog_published import GENERATOR, PAPER
from vqagen.shortcuts.stats.guessing import Guessing, guess
from vqagen.shortcuts.stats.sample import Sample
from vqagen.tasks.dialog.dialog_files import DIALOGS
from vqagen.tasks.dialog.round_kind import FAMILIES

PROGRESS_EVERY = 100
"""Records between two calls for the progress bar."""
NO_DISTANCES = "no coreference distances in the file: they are left out"
NO_LAST = "the file does not say when a referent was last mentioned: that distance is left out"
NO_ANSWERS = "no answers in the file: what they would tell is left out"


@dataclass
class DialogStatistics:
    """The statistics of one file."""

    name: str
    census: DialogCensus
    quotas: str = ""
    """The quotas that the file was made with, if its info tells."""
    guessing: Guessing | None = None
    tested_on: str = ""
    notes: list[str] = field(default_factory=list)
    """What is left out, and why."""

    @cached_property
    def per_image(self) -> Counter[int]:
        """Return how many images have so many dialogs."""
        return self.census.per_image()

    @property
    def images(self) -> int:
        """Return the number of images."""
        return self.per_image.total()

    @cached_property
    def distinct_questions(self) -> int:
        """Return the number of different questions."""
        return self.census.distinct_questions()

    @property
    def distinct_answers(self) -> int:
        """Return the number of different answers."""
        return len(set().union(*self.census.answers.values()))

    @property
    def standalone_share(self) -> float:
        """Return the share of questions that refer to nothing in particular: history None or All."""
        histories = self.census.histories
        return (histories[NONE] + histories[ALL]) / self.census.rounds

    def history_shares(self) -> dict[str, float]:
        """Return the share of rounds for each part of the history."""
        return {name: self.census.histories[name] / self.census.rounds for name in (NONE, ALL, COREF)}

    def type_shares(self) -> dict[str, float]:
        """Return the share of rounds of each family: count, exist, seek and others that the file has."""
        return _shares(self.census.types)

    def types_of_round(self) -> dict[int, dict[str, float]]:
        """Return the shares of the families in each round, counted from 1."""
        census = self.census
        found = sorted(census.positions.items())
        return {number: _shares(census.in_families(labels)) for number, labels in found}

    def yes_share(self, label: str) -> float | None:
        """Return the share of "yes" among a label's answers; None if they are not yes and no."""
        answers = self.census.answers.get(label)
        return answers["yes"] / answers.total() if answers and answers.keys() <= {"yes", "no"} else None

    def guessed_share(self, label: str | None = None) -> float | None:
        """Return the share of answers, of one label or all, that the majority guesses; None if nothing is guessed."""
        if self.guessing is None:
            return None
        accuracy = self.guessing.everything if label is None else self.guessing.families.get(label)
        return None if accuracy is None else accuracy.share("majority")

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        census = self.census
        return {
            "dialogs": census.dialogs,
            "rounds": census.rounds,
            "images": self.images,
            "dialogs_per_image": Spread.record_of(self.per_image),
            "rounds_per_dialog": Spread.record_of(census.lengths),
            "question_words": Spread.record_of(census.words),
            "question_tokens": Spread.record_of(census.tokens),
            "caption_words": Spread.record_of(census.caption_words),
            "distinct_questions": self.distinct_questions,
            "distinct_answers": self.distinct_answers,
            "history": _rounded(self.history_shares()),
            "standalone": round(self.standalone_share, 4),
            "d_reveal": Spread.record_of(census.since_told),
            "d_last": Spread.record_of(census.since_mentioned),
            "types": _rounded(self.type_shares()),
            "types_of_round": {str(number): _rounded(shares) for number, shares in self.types_of_round().items()},
            "labels_of_round": {
                str(number): dict(ordered(labels)) for number, labels in sorted(census.positions.items())
            },
            "last_round_bits": round(entropy(census.last_families), 4),
            "captions": dict(ordered(census.captions)),
            "labels": {label: self._label_record(label, count) for label, count in ordered(census.labels)},
            "quotas": {"made_with": self.quotas} | {each.name: census.quotas[each.name] for each in LIMITING},
            "guessed": None if self.guessing is None else {"tested_on": self.tested_on, **self.guessing.to_record()},
            "notes": self.notes,
            "published": {"paper": PAPER, "generator": GENERATOR},
        }

    def _label_record(self, label: str, count: int) -> dict[str, Any]:
        yes = self.yes_share(label)
        return {
            "family": self.census.families[label],
            "rounds": count,
            "share": round(count / self.census.rounds, 4),
            **({} if yes is None else {"yes": round(yes, 4)}),
            "answers": dict(ordered(self.census.answers.get(label, {}))),
        }


def ordered(counts: Mapping[Any, int]) -> list[tuple[Any, int]]:
    """Return the items, the most frequent ones first."""
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _shares(counts: Mapping[str, int]) -> dict[str, float]:
    """Return the share of each name; families come first, even if there are none."""
    total = sum(counts.values())
    return {name: counts.get(name, 0) / total for name in dict.fromkeys((*FAMILIES, *sorted(counts)))}


def _rounded(shares: Mapping[str, float]) -> dict[str, float]:
    return {name: round(share, 4) for name, share in shares.items()}


def dialog_statistics(
    dialogs: str, against: str | None = None, on_read: Callable[[int], None] = lambda _: None
) -> DialogStatistics:
    """Read a dialog file once and return its statistics.

    The majority answer of each label is learned from the file and tested on `against`, another file; without that,
    each quarter of the file's images is guessed by what the others teach. `on_read` is called now and then with the
    number of dialogs read since.
    """
    source = find_records(dialogs, DIALOGS)
    other = None if against is None else find_records(against, DIALOGS)
    if other is not None and other.path == source.path:
        raise UsageError(f"--against {other.path} is the file itself; name one about other scenes, or leave it out")
    census, sample = DialogCensus(), Sample(Numbering())
    for dialog in _read(source, on_read):
        census.add(dialog)
        _take(sample, dialog)
    if not census.rounds:
        what = "dialogs without rounds" if census.dialogs else "no dialogs"
        raise BadInput([Problem(what, str(source.path))])
    result = DialogStatistics(str(source.path), census, _quotas_of(source.info))
    result.notes += _missing(census)
    tested = None
    if other is not None:
        tested = Sample(Numbering())
        for dialog in _read(other, on_read):
            _take(tested, dialog)
    if sample.clues:
        result.guessing, result.tested_on = guess(sample, tested, str(against), "round", result.notes)
    return result


def _quotas_of(info: Mapping[str, Any]) -> str:
    """Return the name of the quotas that a file was made with, by its info; "" if vqagen did not make it."""
    match info:
        case {"generator": {"name": "vqagen", "settings": {"quotas": str(name)}}}:
            return name
    return ""


def _read(source: RecordSource, on_read: Callable[[int], None]) -> Iterator[DialogFacts]:
    """Yield the dialogs of a file. BadInput, with all faults, for what is no dialog."""
    reader = DialogReader(str(source.path))
    since = 0
    for index, record, _ in source.entries():
        for dialog in reader.dialogs(record, index):
            since += 1
            yield dialog
        if index % PROGRESS_EVERY == PROGRESS_EVERY - 1:
            on_read(since)
            since = 0
    reader.finish()


def _take(sample: Sample, dialog: DialogFacts) -> None:
    """Take the rounds of a dialog as questions whose families are their labels."""
    for each in dialog.rounds:
        named = ("", each.label, each.family, each.answer)
        sample.add(QuestionFacts(each.question, dialog.image, dialog.scene_index, *named, steps=None, pair=None))


def _missing(census: DialogCensus) -> Iterator[str]:
    """Yield a note for what dialogs lack."""
    if not census.since_told and census.histories[COREF]:
        yield NO_DISTANCES
    elif not census.since_mentioned and census.histories[COREF]:
        yield NO_LAST
    if not census.answers:
        yield NO_ANSWERS
