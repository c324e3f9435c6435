"""A gold file: items that are streamed, with what is known of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError, VqagenError
from vqagen.language.domain_files import PathLike, find_domain, synonyms_file
from vqagen.language.shipped_domains import DEFAULT_DOMAIN
from vqagen.language.synonyms import load_synonyms
from vqagen.records.info import find_info_beside
from vqagen.records.source import RecordSource
from vqagen.score.answers.kinds import Vocabulary
from vqagen.score.gold.item import GoldItem
from vqagen.world.domain import load_domain

OPEN, CHOICE = MODES = "open", "mc"
"""How items are answered: freely, or by an option."""
NO_ANSWERS = "no answers, so nothing to compare predictions with: give a file that was made without --hide-answers"


@dataclass(frozen=True)
class GoldFile:
    """What is to be answered, found and not yet read."""

    name: str
    """The path as messages show it."""
    format: str
    """vqagen, dialogs, trials, visual7w, vqav2 or gqa."""
    read: Callable[[], Iterable[GoldItem]] = field(repr=False)
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)
    mode: str = OPEN
    """How its items are answered unless the user says otherwise."""
    groups: tuple[str, ...] = ()
    """The fields that reports group by unless the user says otherwise."""
    further_words: tuple[str, ...] = ()
    """Answers that are no words of the domain."""

    @property
    def kind(self) -> str:
        """The kind of its records: questions, dialogs or trials."""
        return self.format if self.format in ("dialogs", "trials") else "questions"

    def items(self) -> Iterator[GoldItem]:
        """Yield the items in the order of the file. BadInput, with all faults, for what cannot be read."""
        return iter(self.read())

    def vocabulary(self) -> Vocabulary:
        """Return the words that are answers: those of the domain, and further answers that the info lists.

        The words of a domain that cannot be read are left out.
        """
        generator = self.info.get("generator")
        found = generator if isinstance(generator, Mapping) else {}
        own = {str(answer).lower(): str(answer) for answer in (*self.further_words, *(found.get("answers") or ()))}
        name = found.get("domain") or (None if found else DEFAULT_DOMAIN)
        of_domain = Vocabulary()
        if name:
            with suppress(VqagenError):  # it is not at hand
                of_domain = _domain_words(name)
        return replace(of_domain, words={**own, **of_domain.words}) if of_domain.words else of_domain


def file_info(source: RecordSource) -> Mapping[str, Any]:
    """Return the info in a file or beside it; empty if there is none."""
    info = source.info or find_info_beside(source.path)
    return info if isinstance(info, Mapping) else {}


def _domain_words(name: PathLike) -> Vocabulary:
    """Return the words of a domain."""
    files = find_domain(name)
    domain = load_domain(files.metadata)
    return Vocabulary.of_domain(domain, load_synonyms(synonyms_file(files, domain), domain))


class Splits:
    """The split that is asked for, "" for all, and those that the records of a file have."""

    def __init__(self, wanted: str) -> None:
        self._wanted = wanted
        self._found: set[str] = set()

    def has(self, record: Mapping[str, Any]) -> bool:
        """Return true for a record of the split that is asked for."""
        split = str(record.get("split"))
        self._found.add(split)
        return not self._wanted or split == self._wanted

    def finish(self, name: str, noun: str) -> None:
        """Raise UsageError if no record of a file is of the split that is asked for."""
        if self._wanted and self._wanted not in self._found:
            listed = ", ".join(sorted(self._found)) or "none"
            raise UsageError(f"{name} has no {noun} of split {self._wanted!r}; it has {listed}")


def no_answers(name: str, path: str = "") -> BadInput:
    """Return the error of a file whose items have no answers."""
    return BadInput([Problem(NO_ANSWERS, name, path)])
