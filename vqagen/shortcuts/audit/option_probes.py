"""Probes of multiple choice: rules that look at the options, and learners that see them without the picture."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import median

import numpy as np

from vqagen.shortcuts.audit.folds import Folds
from vqagen.shortcuts.audit.items import AuditFile, AuditItem
from vqagen.shortcuts.audit.probe import Probe
from vqagen.shortcuts.audit.repetition import SceneFacts
from vqagen.shortcuts.audit.significance import Floats
from vqagen.shortcuts.baselines.option_learners import (
    Features,
    are_numbers,
    features_with_question,
    option_features,
    option_scores,
)

Best = Callable[[Sequence[str]], Sequence[float]]
"""Returns the rank of each option by a rule: the highest is chosen, one at random among equals."""


def option_probes(file: AuditFile, folds: Folds) -> Iterator[Probe]:
    """Yield the probes of the options of questions."""
    items = file.items
    yield Probe("position", "the position that is most often right", position_scores(items, folds))
    yield Probe("frequency", "the option that is most often an answer", _frequency_scores(items, folds))
    for name, (meaning, rule) in RULES.items():
        scores = np.array([_score(rule(item.options), item.right) for item in items])
        yield Probe(name, meaning, scores)
    if any(are_numbers(item.options) for item in items):
        for name, (meaning, rule) in NUMBER_RULES.items():
            yield Probe(name, meaning, _number_scores(items, rule))
    seen = list(map(_seen, items))
    yield Probe("choices only", "logistic regression over the options", learned_scores(items, seen, folds))
    asked = [
        features_with_question(own, item.options, item.clue.text, item.clue.family)
        for own, item in zip(seen, items, strict=True)
    ]
    yield Probe("question, choices", "the same over question and options", learned_scores(items, asked, folds))


def visible_scores(items: Sequence[AuditItem], scenes: Sequence[SceneFacts]) -> Floats:
    """Return the scores of one of the options that the scene shows: its values, and numbers of its objects at most."""

    def is_visible(option: str, scene: SceneFacts) -> bool:
        return int(option) <= scene.size if option.isdecimal() else option in scene.values

    scores = []
    for item in items:
        scene = None if item.scene is None else scenes[item.scene]
        seen = [scene is not None and is_visible(option, scene) for option in item.options]
        scores.append(_score(seen, item.right) if any(seen) else np.nan)
    return np.array(scores)


def trial_probes(file: AuditFile, folds: Folds) -> Iterator[Probe]:
    """Yield the probes of trials, whose options are the open cells; none sees the instruction."""
    items = file.items
    for name in items[0].policies if items else ():
        scores = np.array([item.policies[name] for item in items])
        yield Probe(name, "a policy without the instruction", scores)
    cells = [[tokens[0] for tokens in item.tokens] for item in items]
    yield Probe("cell", "the open cell that is most often right", _most_often(items, cells, folds))
    yield Probe("grid", "logistic regression over the items", learned_scores(items, [i.tokens for i in items], folds))


def _score(ranks: Sequence[float], right: int) -> float:
    """Return the probability that one of the highest ranks is the right option."""
    best = max(ranks)
    return 1 / sum(rank == best for rank in ranks) if ranks[right] == best else 0.0


def _closeness(options: Sequence[str]) -> list[float]:
    """Return how near the other numbers each is: how many differ by 1."""
    numbers = [float(option) for option in options]
    return [sum(abs(number - other) == 1 for other in numbers) for number in numbers]


def _near_median(options: Sequence[str]) -> list[float]:
    numbers = [float(option) for option in options]
    return [-abs(number - median(numbers)) for number in numbers]


RULES: Mapping[str, tuple[str, Best]] = {
    "longest": ("the longest option", lambda options: [len(each) for each in options]),
    "shortest": ("the shortest option", lambda options: [-len(each) for each in options]),
}
NUMBER_RULES: Mapping[str, tuple[str, Best]] = {
    "least number": ("the least number", lambda options: [-float(each) for each in options]),
    "greatest number": ("the greatest number", lambda options: [float(each) for each in options]),
    "median number": ("the number nearest to the median", _near_median),
    "most neighbors": ("the number of which most others differ by 1", _closeness),
}
"""Name -> (meaning, rule)."""


def _number_scores(items: Sequence[AuditItem], rule: Best) -> Floats:
    scores = [_score(rule(each.options), each.right) if are_numbers(each.options) else np.nan for each in items]
    return np.array(scores)


def position_scores(items: Sequence[AuditItem], folds: Folds) -> Floats:
    """Return the scores of the position that is most often right among items with as many options."""
    return _most_often(items, [[f"{len(i.options)}/{p}" for p in range(len(i.options))] for i in items], folds)


def _frequency_scores(items: Sequence[AuditItem], folds: Folds) -> Floats:
    return _most_often(items, [item.options for item in items], folds)


def _most_often(items: Sequence[AuditItem], names: Sequence[Sequence[str]], folds: Folds) -> Floats:
    """Return the scores of the option whose name is most often that of the right one in other folds."""
    counts: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for item, own, fold in zip(items, names, folds.of_items, strict=True):
        counts[fold][own[item.right]] += 1
    total = sum(counts.values(), Counter())
    found = []
    for item, own, fold in zip(items, names, folds.of_items, strict=True):
        found.append(_score([total[name] - counts[fold][name] for name in own], item.right))
    return np.array(found)


def _seen(item: AuditItem) -> Features:
    """Return what is seen of each option, its position among it."""
    return [(*own, f"at {place}") for place, own in enumerate(option_features(item.options))]


def learned_scores(items: Sequence[AuditItem], seen: Sequence[Features], folds: Folds) -> Floats:
    """Return the scores of logistic regression, which tells right options from others in other folds."""
    fold_of = np.array(folds.of_items)
    scores = np.zeros(len(items))
    for fold in sorted(set(folds.of_items)):
        trained, tested = np.flatnonzero(fold_of != fold).tolist(), np.flatnonzero(fold_of == fold).tolist()
        ranks = option_scores([seen[i] for i in trained], [items[i].right for i in trained], [seen[i] for i in tested])
        for place, own in zip(tested, ranks, strict=True):
            scores[place] = _score(own, items[place].right)
    return scores
