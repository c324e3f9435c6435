"""Guess answers without the picture: how often simple predictors are right that see only the question.

majority: the most frequent answer of the question's family.
words: logistic regression over the words of the text (bag of words).
tree: gradient-boosted trees over the family, the words said of each set, their overlap, relations and program length.

The last two are scikit-learn's (extra `stats`). They run in one thread, so that the figures are the same everywhere.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import mean
from typing import Any

import numpy as np

from vqagen.errors import counted
from vqagen.extras import in_one_thread, needed
from vqagen.score.gold.question_facts import YES_NO, answer_kind
from vqagen.shortcuts.stats.sample import Clue, Sample

LEARNABLE = 40
"""Questions of a group below which its answers are guessed by majority."""
MANY_FAMILIES = 250
"""Families beyond which scikit-learn takes no categories."""
RANKED = 30
"""Tested questions that a family needs in order to be ranked: of fewer, chance decides."""
ONE_WINDOW = (
    "the file's answers are balanced as one whole, so guesses learned from a part of it are too poor; "
    "--against another file of the same making shows the true figures"
)
PREDICTORS = ("majority", "words", "tree")
_WORD = r"(?u)\w+"
Guesses = Mapping[str, Sequence[str]]
"""Predictor -> its answers to the tested questions."""


@dataclass
class Accuracy:
    """How often each predictor was right about a group of questions."""

    questions: int = 0
    right: Counter[str] = field(default_factory=Counter)
    answers: Counter[str] = field(default_factory=Counter)

    def share(self, predictor: str) -> float:
        """Return the share of questions that a predictor got right."""
        return self.right[predictor] / self.questions

    def best(self, predictors: Sequence[str]) -> float:
        """Return the share of the best predictor."""
        return max(map(self.share, predictors))

    def to_record(self, predictors: Sequence[str]) -> dict[str, Any]:
        """Return the record for JSON."""
        return {"questions": self.questions} | {name: round(self.share(name), 4) for name in predictors}


@dataclass
class Guessing:
    """The result: accuracies over all questions, of each type and of each family."""

    predictors: tuple[str, ...]
    everything: Accuracy = field(default_factory=Accuracy)
    types: dict[str, Accuracy] = field(default_factory=dict)
    families: dict[str, Accuracy] = field(default_factory=dict)

    def add(self, clue: Clue, guessed: Mapping[str, str]) -> None:
        """Count one tested question."""
        kind = clue.type or answer_kind(clue.answer)
        of_type = self.types.setdefault(kind, Accuracy())
        of_family = self.families.setdefault(clue.family, Accuracy())
        for accuracy in (self.everything, of_type, of_family):
            accuracy.questions += 1
            accuracy.answers[clue.answer] += 1
            for name, answer in guessed.items():
                accuracy.right[name] += answer == clue.answer

    def mean_of_types(self, predictor: str) -> float:
        """Return the mean of a predictor's accuracies of the types, each of equal weight."""
        return mean(accuracy.share(predictor) for accuracy in self.types.values())

    def ranked_families(self) -> list[str]:
        """Return the families with enough tested questions, those that are guessed best in front."""
        ranked = [name for name, accuracy in self.families.items() if accuracy.questions >= RANKED]
        return sorted(ranked, key=lambda name: (-self.families[name].best(self.predictors), name))

    def worst_yes_no(self) -> str | None:
        """Return the yes/no family that the strongest predictor guesses best; None if no family is ranked.

        The best of several predictors would be better than it is by chance.
        """
        ranked = [name for name in self.ranked_families() if self.families[name].answers.keys() <= YES_NO]
        strongest = self.predictors[-1]
        return max(ranked, key=lambda name: self.families[name].share(strongest), default=None)

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        names = self.predictors
        return {
            "all": self.everything.to_record(names),
            "mean_of_types": {name: round(self.mean_of_types(name), 4) for name in names},
            "worst_yes_no_family": self.worst_yes_no(),
            "types": {kind: accuracy.to_record(names) for kind, accuracy in sorted(self.types.items())},
            "families": {name: accuracy.to_record(names) for name, accuracy in sorted(self.families.items())},
        }


def guess(
    sample: Sample,
    tested: Sample | None,
    against: str,
    noun: str,
    notes: list[str],
    window: int = 0,
    is_learned: bool = False,
) -> tuple[Guessing | None, str]:
    """Return what is guessed, and a phrase that says of which questions; None, and a note, if there is no test.

    Guesses are learned from `sample` and tested on `tested`, the questions of the file `against`; without these, each
    quarter of the images is guessed by what the others teach. `window` is that of `balance_window`.
    """
    if tested is not None:
        if not tested.clues:
            notes.append(f"no answers in {against}: nothing to test guesses on")
            return None, ""
        found = guess_others(sample.clues, tested.clues, is_learned)
        return found, f"{counted(len(tested.clues), noun)} of {against}"
    folds, is_apart = sample.folds(window)
    if len(set(folds)) < 2:
        notes.append("one image only: nothing to test guesses on")
        return None, ""
    if not is_apart:
        notes.append(ONE_WINDOW)
    part = " about a part of the images" if sample.is_part else ""
    tested_on = f"{counted(len(sample.clues), noun)}{part}, each by what other images teach"
    return guess_folds(sample.clues, folds, is_learned), tested_on


def guess_others(trained: Sequence[Clue], tested: Sequence[Clue], is_learned: bool) -> Guessing:
    """Learn from some questions, and guess the answers of others; without `is_learned`, by majority alone."""
    predictors = _predictors([*trained, *tested], is_learned)
    return _accuracies(_batches(((trained, tested),), predictors), predictors)


def guess_folds(clues: Sequence[Clue], folds: Sequence[int], is_learned: bool) -> Guessing:
    """Guess the answers of each fold by what the other folds teach."""

    predictors = _predictors(clues, is_learned)
    splits = ((trained, [clues[place] for place in places]) for trained, places in _splits(clues, folds))
    return _accuracies(_batches(splits, predictors), predictors)


def guess_each(clues: Sequence[Clue], folds: Sequence[int], predictors: Sequence[str]) -> dict[str, list[str]]:
    """Return the answers of some of PREDICTORS to all questions, each guessed by what the other folds teach."""
    guesses = {name: [""] * len(clues) for name in predictors}
    for trained, places in _splits(clues, folds):
        for _, found in _batches(((trained, [clues[place] for place in places]),), predictors):
            for name in predictors:
                _fill(guesses[name], places, found[name])
    return guesses


def _splits(clues: Sequence[Clue], folds: Sequence[int]) -> Iterator[tuple[list[Clue], list[int]]]:
    """Yield of each fold the questions of the others, and the places of its own."""
    for number in sorted(set(folds)):
        trained = [clue for clue, fold in zip(clues, folds, strict=True) if fold != number]
        yield trained, [place for place, fold in enumerate(folds) if fold == number]


def _predictors(clues: Sequence[Clue], is_learned: bool) -> tuple[str, ...]:
    """Return the predictors that the questions allow: a tree needs programs."""
    if not is_learned:
        return PREDICTORS[:1]
    return PREDICTORS if any(clue.has_program for clue in clues) else PREDICTORS[:2]


def _accuracies(batches: Iterator[tuple[Sequence[Clue], Guesses]], predictors: tuple[str, ...]) -> Guessing:
    result = Guessing(predictors)
    for tested, guesses in batches:
        for number, clue in enumerate(tested):
            result.add(clue, {name: guesses[name][number] for name in predictors})
    return result


def _batches(splits: Any, predictors: Sequence[str]) -> Iterator[tuple[Sequence[Clue], Guesses]]:
    learners = {"words": _guess_by_words, "tree": _guess_by_tree}
    for trained, tested in splits:
        majority = _majority(trained, tested)
        guesses = {name: list(majority) for name in predictors}
        learned = [name for name in predictors if name in learners]
        if learned:
            with in_one_thread("guessing"):
                for ours, theirs in _groups(trained, tested):
                    some, others = [trained[i] for i in ours], [tested[i] for i in theirs]
                    for name in learned:
                        _fill(guesses[name], theirs, learners[name](some, others))
        yield tested, guesses


def _fill(guesses: list[str], places: Sequence[int], found: Sequence[str]) -> None:
    for place, answer in zip(places, found, strict=True):
        guesses[place] = answer


def _majority(trained: Sequence[Clue], tested: Sequence[Clue]) -> list[str]:
    """Guess the most frequent answer of the family; of an unknown family, that of the type, or of all."""
    seen: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    for clue in trained:
        for key in _keys(clue):
            seen[key][clue.answer] += 1
    leading = {key: min(counts, key=lambda answer: (-counts[answer], answer)) for key, counts in seen.items()}
    return [next((leading[key] for key in _keys(clue) if key in leading), "") for clue in tested]


def _keys(clue: Clue) -> tuple[tuple[str, ...], ...]:
    return ("family", clue.family), ("type", clue.type), ("all",)


def _groups(trained: Sequence[Clue], tested: Sequence[Clue]) -> Iterator[tuple[list[int], list[int]]]:
    """Yield the trained and the tested questions of each group that share a type and their possible answers.

    Questions for a colour and questions for a shape are of one type, and are learned apart.
    """
    answers: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for clue in trained:
        answers[clue.type, clue.last_function].add(clue.answer)

    def group(clue: Clue) -> tuple[str, str]:
        is_open = not answers[clue.type, clue.last_function] <= YES_NO
        return clue.type, clue.last_function if is_open else ""

    groups: defaultdict[tuple[str, str], tuple[list[int], list[int]]] = defaultdict(lambda: ([], []))
    for side, clues in enumerate((trained, tested)):
        for place, clue in enumerate(clues):
            groups[group(clue)][side].append(place)
    for _, (ours, theirs) in sorted(groups.items()):
        if theirs and len(ours) >= LEARNABLE and len({trained[i].answer for i in ours}) > 1:
            yield ours, theirs


def _guess_by_words(trained: Sequence[Clue], tested: Sequence[Clue]) -> list[str]:
    counting = needed("sklearn.feature_extraction.text", "stats", "guessing").CountVectorizer(token_pattern=_WORD)
    regression = needed("sklearn.linear_model", "stats", "guessing").LogisticRegression(C=0.1, max_iter=300)
    if not any(re.search(_WORD, clue.text) for clue in trained):
        return _majority(trained, tested)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # many answers, or not converged
        regression.fit(counting.fit_transform([clue.text for clue in trained]), [clue.answer for clue in trained])
    return _as_texts(regression.predict(counting.transform([clue.text for clue in tested])))


def _guess_by_tree(trained: Sequence[Clue], tested: Sequence[Clue]) -> list[str]:
    families = {name: number for number, name in enumerate(sorted({clue.family for clue in trained}))}
    rows = [_rows(clues, families) for clues in (trained, tested)]
    trees = needed("sklearn.ensemble", "stats", "guessing").HistGradientBoostingClassifier(
        random_state=0,
        max_iter=100,
        learning_rate=0.08,
        max_leaf_nodes=8,
        early_stopping=False,
        categorical_features=[0] if len(families) <= MANY_FAMILIES else None,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # many answers
        trees.fit(rows[0], [clue.answer for clue in trained])
    return _as_texts(trees.predict(rows[1]))


def _rows(clues: Sequence[Clue], families: Mapping[str, int]) -> Any:
    """Return the features; a family that was not trained on is a missing value."""
    return np.array([(families.get(clue.family, np.nan), *clue.features) for clue in clues], dtype=np.float64)


def _as_texts(guesses: Any) -> list[str]:
    return [str(answer) for answer in guesses]
