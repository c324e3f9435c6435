"""Answers by their frequency, or learned from what is read beside the picture: words, phrases, other questions.

Regressions and trees are scikit-learn's (extra `stats`). They run in one thread, so that figures are the same
everywhere. Items of different types are learned apart, such as questions for a colour and questions for a shape; where
too few are known, the most frequent answer of the family is taken.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np
import orjson

from vqagen.extras import in_one_thread, needed
from vqagen.items.groups import Integers, distinct
from vqagen.items.guessing import YES_NO, Floats, Guesses, Guessing, of_family
from vqagen.items.table import NONE, Column, Places
from vqagen.language.program import Node
from vqagen.rng import shuffled, stream

WHAT = "a predictor that learns"
LEARNABLE = 40
"""Items of a type below which its answers are guessed by majority."""
MOST_ANSWERS = 200
"""Different answers of a type that are told apart, the most frequent ones: the time grows with their number."""
RAREST = 2_000
"""An answer to fewer than one item in so many is not learned: of 20,000 colors, none."""
MANY_FAMILIES = 250
"""Families beyond which scikit-learn takes no categories."""
MOST_BINS = 255
"""Bins of a feature that scikit-learn allows."""
CYCLES = (7, 9, 11, 12, 16, 20, 50, 64, 100)
"""Lengths of cycles in which answers may return from image to image: these and all that divide them."""
TOLD = 60
"""Most frequent answers of other questions that are counted, as "3 to a count"."""
_WORD = re.compile(r"\w+")
PHRASES = 6
"""Phrases of a program that count; few programs have more."""
RELATIONS = 3
_ABSENT = -9
_NUMBERS = 1 << 16
_FILTER = "filter"
"""How the names of functions begin that say one word of a set, in CLEVR's files and in those of its kin."""
_GIVES_ONE = ("unique", "query", "count")
"""Beginnings of the names of functions whose result is no set, so that nothing said of it is no phrase."""

Phrase = frozenset[tuple[str, ...]]
Shares = tuple[Integers, Floats]
"""The answers that are known, and of each item that is asked the probability of each of them."""
Learner = Callable[[Guessing, Any, Places, Places], Shares]
"""Learns from the rows of the first places, and answers those of the last."""


def words(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Answer by regression over the words and the family."""
    return _learned(guessing, learn, ask, _by_regression, guessing.once(_words))


def history(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Answer by regression over the words, the family, and the words of the dialog before."""
    return _learned(guessing, learn, ask, _by_regression, guessing.once(_all_words))


def order(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Answer by regression over the family, the place among the questions about the image, and the image's number.

    Nothing is learned from the image that is asked about, whose number would stand for what is in it. Folds of pairs
    part the questions about an image: there, each half of the images is answered by what the other half teaches.
    """
    rows, images = guessing.once(_order), guessing.items.images
    if len(guessing.splits) == 1 or not np.isin(images.codes[ask], images.codes[learn]).any():
        return _learned(guessing, learn, ask, _by_regression, rows)
    half_of_image = np.array(shuffled(stream(guessing.seed, "order"), range(len(images.values)))) % 2
    halves = half_of_image[images.codes]
    found = guessing.guesses(ask, np.full((len(ask), guessing.top_k), NONE))
    for half in (0, 1):
        own = halves[ask] == half
        part = _learned(guessing, learn[halves[learn] != half], ask[own], _by_regression, rows)
        found.ranked[own], found.expected[own] = part.ranked, part.expected
    return found


def tree(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Answer by boosted trees over the family and what is seen of the program."""
    return _learned(guessing, learn, ask, _by_trees, guessing.once(_phrases))


def others(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Answer by boosted trees over the same, and the answers to the other questions about the image."""
    return _learned(guessing, learn, ask, _by_trees, guessing.once(_others))


# Features of items ----------------------------------------------------------------------------------------------------


def tokens(text: str) -> list[str]:
    """Return the words of a text.

    >>> tokens("Is it red?")
    ['is', 'it', 'red']
    """
    return _WORD.findall(text.lower())


def counted(rows: Sequence[Sequence[str]], least: int = 1) -> Any:
    """Return how often each row has each token, as a sparse matrix; a token of fewer rows than `least` is none."""
    text = needed("sklearn.feature_extraction.text", "stats", WHAT)
    return text.CountVectorizer(analyzer=lambda row: (*row, ""), min_df=least).fit_transform(rows)


def _words(guessing: Guessing) -> Any:
    """Return the words of each item, and its family."""
    texts = guessing.learning.texts
    counts = counted([tokens(text) for text in (*texts.values, "")])[texts.codes]
    return needed("scipy.sparse", "stats", WHAT).hstack([counts, _one_hot(guessing.families)], format="csr")


def _all_words(guessing: Guessing) -> Any:
    """Return the same, and the words said before, which are other words than those of the text."""
    before = guessing.learning.histories
    counts = counted([sorted(set(tokens(text))) for text in (*before.values, "")])[before.codes]
    return needed("scipy.sparse", "stats", WHAT).hstack([guessing.once(_words), counts], format="csr")


def _order(guessing: Guessing) -> Any:
    """Return the family, the place among the questions about the image, the image's place in cycles, and its part.

    That is which quarters of the images, by number, it comes behind: answers may differ from some image on.
    """
    images, scenes = guessing.items.images.codes, guessing.learning.scenes
    by_image = np.argsort(images, kind="stable")
    places = np.empty(len(images), dtype=np.int64)
    places[by_image] = np.arange(len(images)) - np.searchsorted(images[by_image], images[by_image])
    numbers = np.where(scenes.codes == NONE, images, np.array([*scenes.values, NONE])[scenes.codes])
    different, ranks = np.unique(numbers, return_inverse=True)
    behind = np.arange(1, 4) <= (ranks * 4 // len(different))[:, None]
    columns = [guessing.families, np.minimum(places, 99), *(numbers % length for length in CYCLES)]
    sparse = needed("scipy.sparse", "stats", WHAT)
    parts = [*map(_one_hot, columns), sparse.csr_matrix(behind.astype(float))]
    return sparse.hstack(parts, format="csr")


def _one_hot(codes: Integers) -> Any:
    ones = np.ones(len(codes)), (np.arange(len(codes)), codes)
    return needed("scipy.sparse", "stats", WHAT).csr_matrix(ones, shape=(len(codes), int(codes.max(initial=0)) + 1))


def _phrases(guessing: Guessing) -> Floats:
    """Return the family, the first column, and what a reader of the question sees of its program."""
    families = guessing.families[:, None].astype(np.float64)
    if not guessing.learning.programs.values:
        return families
    clues = clues_of(guessing.learning.programs)
    return np.hstack([families, np.array([*clues.values, clues.values[0]])[clues.codes]])


def _others(guessing: Guessing) -> Floats:
    """Return the phrases, and how many other items of the same image have each answer to a type."""
    _, told = distinct(guessing.types, guessing.answers + 1)
    frequent = np.argsort(-np.bincount(told), kind="stable")[:TOLD]
    own = told[:, None] == frequent
    counts = np.zeros((len(guessing.items.images.values), len(frequent)))
    np.add.at(counts, guessing.items.images.codes, own)
    return np.hstack([guessing.once(_phrases), counts[guessing.items.images.codes] - own])


# Clues of programs ----------------------------------------------------------------------------------------------------
#
# What a reader of a question sees of its program. A phrase is what a question says of one set of objects: the filters
# between two steps that are no filters. Known of it are how many words it says, and how they overlap with those of
# other phrases: "more large cubes than cubes?" is answered by the words alone.


def clues_of(programs: Column) -> Column:
    """Return the `features` of each item's program, which is JSON as files hold it, in either dialect."""
    rows: list[tuple[int, ...] | None] = [None] * len(programs.values)
    for code in np.unique(programs.codes).tolist():  # of a sample, those of the sample only
        if code != NONE:
            rows[code] = features([_step(node) for node in orjson.loads(programs.values[code])])
    return Column.of(rows).spread(programs.codes)


def phrases(steps: Sequence[Node]) -> Iterator[Phrase]:
    """Yield the (filter function, values) said of each set that a step other than a filter takes, in order."""
    for step in steps:
        if step.function.startswith(_FILTER):
            continue
        for place in step.inputs:
            said = []
            at = steps[place]
            while at.function.startswith(_FILTER) and len(at.inputs) == 1:
                said.append((at.function, *at.values))
                at = steps[at.inputs[0]]
            if said or not at.function.startswith(_GIVES_ONE):
                yield frozenset(said)


def _step(node: Mapping[str, Any]) -> Node:
    values = node.get("value_inputs") or node.get("side_inputs") or []
    values = values if isinstance(values, list) else [values]  # what no generator writes, and verify reports
    return Node(str(node.get("type") or node.get("function")), tuple(node["inputs"]), tuple(map(str, values)))


def features(steps: Sequence[Node]) -> tuple[int, ...]:
    """Return the features of a program, the same number of them for all programs.

    Relation words are numbered by their checksums, so that files need not be read together to be compared.
    """
    said = list(phrases(steps))[:PHRASES]
    sizes = [len(phrase) for phrase in said]
    row = [len(steps), sum(sizes), *sizes, *[_ABSENT] * (PHRASES - len(said))]
    for first, second in combinations(range(PHRASES), 2):
        row += _overlap(said[first], said[second]) if second < len(said) else [_ABSENT] * 5
    related = [step.values[0] for step in steps if step.values and not step.function.startswith(_FILTER)]
    numbers = [crc32(word.encode()) % _NUMBERS for word in related[:RELATIONS]]
    return (*row, len(set(related)), *numbers, *[_ABSENT] * (RELATIONS - len(numbers)))


def _overlap(first: Phrase, second: Phrase) -> list[int]:
    """Return how much two phrases share, what each has alone, the difference of sizes, and what they contradict in."""
    shared = len(first & second)
    asked = {said[0] for said in first} & {said[0] for said in second}
    contradicted = len(asked) - len({said[0] for said in first & second})
    return [shared, len(first) - shared, len(second) - shared, len(first) - len(second), contradicted]


# Learning -------------------------------------------------------------------------------------------------------------


def regression(guessing: Guessing) -> Any:
    """Return a logistic regression."""
    return needed("sklearn.linear_model", "stats", WHAT).LogisticRegression(C=0.1, max_iter=300)


def _by_regression(guessing: Guessing, rows: Any, taught: Places, asked: Places) -> Shares:
    """Learn by logistic regression."""
    model = regression(guessing).fit(rows[taught], guessing.answers[taught])
    return model.classes_, model.predict_proba(rows[asked])


def _by_trees(guessing: Guessing, rows: Floats, taught: Places, asked: Places) -> Shares:
    """Learn by boosted trees; the first feature is the family.

    A feature with one value parts nothing, and a bin without a value costs as much as one with many: without both, the
    trees are the same, and grow in two thirds of the time (`vqagen stats` of 5,000 questions).
    """
    values = 1 + np.count_nonzero(np.diff(np.sort(rows[taught], axis=0), axis=0), axis=0)
    """How many different values each feature has."""
    kept = np.append(0, 1 + np.flatnonzero(values[1:] > 1))
    model = needed("sklearn.ensemble", "stats", WHAT).HistGradientBoostingClassifier(
        random_state=0,
        max_iter=15,
        learning_rate=0.15,
        max_leaf_nodes=8,
        max_bins=min(MOST_BINS, max(2, int(values.max()))),
        early_stopping=False,
        categorical_features=[0] if int(guessing.families.max(initial=0)) < MANY_FAMILIES else None,
    )
    model.fit(rows[np.ix_(taught, kept)], guessing.answers[taught])
    return model.classes_, model.predict_proba(rows[np.ix_(asked, kept)])


def _learned(guessing: Guessing, learn: Places, ask: Places, learner: Learner, rows: Any) -> Guesses:
    """Answer by models that learn the answers to each type from rows of features."""
    ranked = of_family(guessing, learn, ask).ranked.copy()
    with in_one_thread(WHAT), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # many answers, or not converged
        for ours, theirs in _by_type(guessing, learn, ask):
            answers, shares = learner(guessing, rows, ours, ask[theirs])
            best = np.argsort(-shares, axis=1, kind="stable")[:, : guessing.top_k]
            ranked[theirs] = NONE
            ranked[theirs, : best.shape[1]] = answers[best]
    return guessing.guesses(ask, ranked)


def _by_type(guessing: Guessing, learn: Places, ask: Places) -> Iterator[tuple[Places, Places]]:
    """Yield the items to learn from, and the numbers of those to answer, of each type that is learned by itself.

    That is the function; functions of one category that are all answered by yes or no are learned together.
    """
    is_open = ~np.isin(guessing.answers[learn], [guessing.numbers[text] for text in YES_NO])
    open_functions = np.unique(guessing.types[learn[is_open]])
    _, kinds = distinct(guessing.categories, np.where(np.isin(guessing.types, open_functions), guessing.types + 1, 0))
    for kind in np.unique(kinds[ask]):
        ours, theirs = learn[kinds[learn] == kind], np.flatnonzero(kinds[ask] == kind)
        codes, counts = np.unique(guessing.answers[ours], return_counts=True)
        kept = codes[np.argsort(-counts, kind="stable")[:MOST_ANSWERS]]
        kept = kept[np.isin(kept, codes[counts * RAREST >= len(ours)])]
        if len(ours) >= LEARNABLE and len(kept) > 1:
            yield ours[np.isin(guessing.answers[ours], kept)], theirs
