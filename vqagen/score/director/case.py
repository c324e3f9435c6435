"""A trial under judgement: its views, and who answers what in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from vqagen.bits import Objects
from vqagen.score.director.rules import DIRECTOR
from vqagen.score.director.trial import Trial, TrialFault
from vqagen.score.director.views import Views, answers, fitting, views_of
from vqagen.score.director.vocabulary import Item, Vocabulary


class Found(NamedTuple):
    """A trial that has been read, the words that it is judged by, and the items that its cells name."""

    trial: Trial
    vocabulary: Vocabulary
    items: Mapping[str, Item]


@dataclass(frozen=True, slots=True)
class Case:
    """A trial with all that its checks ask of its grid. Sets are cells."""

    trial: Trial
    vocabulary: Vocabulary
    items: Mapping[str, Item]
    """The items that its cells name."""
    views: Views
    fitting: Objects
    """Items of which noun and adjectives are true."""
    own: Objects
    """The answers of the participant, who sees all."""
    gold: Objects
    """The answers that the director means."""

    @property
    def open_fitting(self) -> Objects:
        """Fitting items that the director sees."""
        return self.fitting & ~self.trial.blocked

    def with_criteria(self, criteria: frozenset[str]) -> Objects:
        """Return the answers that the director would mean with another description."""
        return answers(self.views.director, criteria, self.trial.spoken_rule(DIRECTOR))


Check = Callable[[Case], Iterator[TrialFault]]


def case_of(found: Found) -> Case:
    """Return the case of a trial that has been read."""
    trial, vocabulary, items = found
    views, criteria = views_of(trial, items), trial.criteria
    own = answers(views.participant, criteria, trial.rule)
    gold = answers(views.director, criteria, trial.spoken_rule(DIRECTOR))
    return Case(trial, vocabulary, items, views, fitting(views.participant, criteria), own, gold)
