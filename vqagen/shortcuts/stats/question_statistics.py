"""Statistics of a question file, taken in one pass, for people and for machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError, counted
from vqagen.extras import needed
from vqagen.language.question_files import QUESTIONS
from vqagen.records.discovery import find_records
from vqagen.records.source import RecordSource
from vqagen.score.gold.census import Census, PairCounts, Spread, evenness
from vqagen.score.gold.phrases import Numbering
from vqagen.score.gold.question_facts import FactReader
from vqagen.shortcuts.stats.guessing import Guessing, guess
from vqagen.shortcuts.stats.sample import Sample

PROGRESS_EVERY = 1000
"""Questions between two calls for the progress bar."""
NO_PROGRAMS = "no programs in the file: what they would tell (lengths, the tree's guesses) is left out"
NO_ANSWERS = "no answers in the file: what they would tell (evenness, guesses) is left out"
FEW = 40
"""Questions of a family below which its answers can hardly be learned."""
FEW_QUESTIONS = "only {} questions of each family: guesses learned from more would be better"


@dataclass
class QuestionStatistics:
    """The statistics of one file."""

    name: str
    census: Census
    names: Mapping[str, str]
    """Family as records name it -> its id, if the file's info tells."""
    guessing: Guessing | None = None
    tested_on: str = ""
    notes: list[str] = field(default_factory=list)
    """What is left out, and why."""

    def family_name(self, family: str) -> str:
        """Return the name of a family for people."""
        return self.names.get(family, family) or "no family"

    @property
    def families(self) -> dict[str, int]:
        """Return family -> questions, with the families of which the info says that they were tried in vain."""
        return {**dict.fromkeys(sorted(self.names), 0), **dict(sorted(self.census.family_questions.items()))}

    @property
    def images(self) -> int:
        """Return the number of images."""
        return sum(self.per_image["questions"].values())

    @property
    def has_families(self) -> bool:
        """True if the records name families."""
        return set(self.families) != {""}

    @property
    def files(self) -> int:
        """Return the number of template files that the records name."""
        return len(self.census.files - {""})

    @cached_property
    def per_image(self) -> dict[str, Counter[int]]:
        """Return how many images have so many questions, families and template files, as far as records name these."""
        shown = self.census.per_image()
        known = {"questions": True, "families": self.has_families, "template files": bool(self.files)}
        return {name: shown[name] for name, is_known in known.items() if is_known}

    @cached_property
    def pairs(self) -> PairCounts | None:
        """Return the counts of pairs, if there are any."""
        return self.census.pairs()

    def family_share(self) -> float:
        """Return the questions of the smallest family as a share of those of the largest."""
        counts = self.families.values()
        return min(counts) / max(counts) if counts else 0.0

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        census, pairs = self.census, self.pairs
        return {
            "questions": census.questions,
            "images": self.images,
            "families": len(self.families) if self.has_families else 0,
            "template_files": self.files,
            "distinct_texts": census.distinct_texts(),
            "words": Spread.record_of(census.words),
            "program_steps": Spread.record_of(census.steps),
            "per_image": {name.replace(" ", "_"): Spread.record_of(counts) for name, counts in self.per_image.items()},
            "family_questions": {self.family_name(name): count for name, count in self.families.items()},
            "family_share": round(self.family_share(), 4),
            "pairs": None if pairs is None else vars(pairs),
            "answers": {
                "types": {kind: _answers(counts) for kind, counts in sorted(census.answers.items())},
                "families": {
                    self.family_name(name): {"type": census.family_types[name], **_answers(counts)}
                    for name, counts in sorted(census.family_answers.items())
                },
            },
            "guessed": self._guessed_record(),
            "notes": self.notes,
        }

    def _guessed_record(self) -> dict[str, Any] | None:
        if self.guessing is None:
            return None
        record = self.guessing.to_record()
        worst = record["worst_yes_no_family"]
        record["worst_yes_no_family"] = worst and self.family_name(worst)
        record["families"] = {self.family_name(name): accuracy for name, accuracy in record["families"].items()}
        return {"tested_on": self.tested_on, **record}


def _answers(counts: Mapping[str, int]) -> dict[str, Any]:
    ordered = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
    return {"questions": sum(counts.values()), "evenness": round(evenness(counts), 4), "answers": ordered}


def question_statistics(
    questions: str, against: str | None = None, on_read: Callable[[int], None] = lambda _: None
) -> QuestionStatistics:
    """Read a question file once and return its statistics.

    Guessing is learned from the file and tested on `against`, another file; without that, each quarter of the file's
    images is guessed by what the others teach. `on_read` is called now and then with the number of questions read
    since.
    """
    words = Numbering()
    source = find_records(questions, QUESTIONS)
    other = None if against is None else find_records(against, QUESTIONS)
    if other is not None and other.path == source.path:
        raise UsageError(f"--against {other.path} is the file itself; name one about other scenes, or leave it out")
    census, sample = Census(), Sample(words)
    count_questions(source, census, sample, on_read)
    result = QuestionStatistics(str(source.path), census, _family_names(source.info, census))
    if not census.questions:
        raise BadInput([Problem("no questions", str(source.path))])
    result.notes += _missing(census)
    tested = None
    if other is not None:
        tested = Sample(words)
        count_questions(other, Census(), tested, on_read)
    if sample.clues:
        window, is_learned = balance_window(source.info), _can_learn(result.notes)
        result.guessing, result.tested_on = guess(
            sample, tested, str(against), "question", result.notes, window, is_learned
        )
        mean = len(sample.clues) // len({clue.family for clue in sample.clues})
        if result.guessing is not None and mean < FEW:
            result.notes.append(FEW_QUESTIONS.format(mean))
    return result


def _missing(census: Census) -> Iterator[str]:
    """Yield a note for programs and for answers that questions lack."""
    for count, what, all_missing in (
        (census.without_program, "no program", NO_PROGRAMS),
        (census.without_answer, "no answer", NO_ANSWERS),
    ):
        if count == census.questions:
            yield all_missing
        elif count:
            yield f"{counted(count, 'question')} with {what}"


def count_questions(
    source: RecordSource, census: Census, sample: Sample, on_read: Callable[[int], None] = lambda _: None
) -> None:
    """Add the questions of a file to a census and to a sample. BadInput, with all faults, for what is no question."""
    reader = FactReader(str(source.path))
    for index, record, _ in source.entries():
        facts = reader.facts(record, QUESTIONS.path(index))
        if facts is not None:
            census.add(facts)
            sample.add(facts)
        if index % PROGRESS_EVERY == PROGRESS_EVERY - 1:
            on_read(PROGRESS_EVERY)
    reader.finish()


def _can_learn(notes: list[str]) -> bool:
    """Return whether scikit-learn is there; note it if not."""
    try:
        needed("sklearn", "stats", "guessing by words and tree")
    except UsageError as error:
        notes.append(str(error))
        return False
    return True


def balance_window(info: Mapping[str, Any]) -> int:
    """Return the scenes whose answers are balanced together; 0 if nothing is known of it."""
    match info:
        case {"generator": {"name": "vqagen", "arrangement": {"window": int(size)}}}:
            return size or 1 << 62  # one window in all
    return 0


def _family_names(info: Mapping[str, Any], census: Census) -> dict[str, str]:
    """Return family as records name it -> its id. Of a run that left families out, the info does not tell which."""
    match info:
        case {"generator": {"name": "vqagen", "settings": dict(settings), "families": list(ids)}}:
            pass
        case _:
            return {}
    if any(settings.get(name) for name in ("only", "skip_bad_templates")):
        return {}
    if not all(isinstance(each, str) and "#" in each for each in ids):
        return {}
    names: dict[str, str] = {}
    is_numbered_by_file = census.files != {""}
    for file, listed in groupby(ids, key=lambda each: str(each).split("#")[0]):
        for index, each in enumerate(listed):
            names[f"{file}#{index}" if is_numbered_by_file else f"#{len(names)}"] = each
    return names if set(census.family_questions) <= set(names) else {}
