"""Answers by their frequency, or learned from what is read beside the picture: words, phrases, other questions.

Regressions and trees are scikit-learn's (extra `stats`). They run in one thread, so that figures are the same
everywhere. Items of different types are learned apart, such as questions for a colour and questions for a shape; where
too few are known, the most frequent answer of the family is taken.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from vqagen.extras import in_one_thread, needed
from vqagen.items.groups import Integers, distinct
from vqagen.items.guessing import YES_NO, Floats, Guesses, Guessing, of_family
from vqagen.items.table import NONE, Places
from vqagen.rng import shuffled, stream
from vqagen.shortcuts.clues import clues_of, words_of

WHAT = "a predictor that learns"
LEARNABLE = 40
"""Items of a type below which its answers are guessed by majority."""
MOST_ANSWERS = 200
"""Different answers of a type that are told apart, the most frequent ones: the time grows with their number."""
RAREST = 200
"""An answer to fewer than one item in so many is not learned: of 2,000 colors, none."""
MANY_FAMILIES = 250
"""Families beyond which scikit-learn takes no categories."""
MOST_BINS = 255
"""Bins of a feature that scikit-learn allows."""
CYCLES = (7, 9, 11, 12, 16, 20, 50, 64, 100)
"""Lengths of cycles in which answers may return from image to image: these and all that divide them."""
TOLD = 60
"""Most frequent answers of other questions that are counted, as "3 to a count"."""
PAIRS = 24
"""Pairs of words that trees read, those that tell most of the answers."""
PAIRED = 128
"""Words, the most frequent ones, of which pairs are made: the time grows with the square."""
LEAST = 20
"""Items that say a word, or a pair of words, below which it is not read."""
FREQUENT = 10
"""Answers, the most frequent ones, by which pairs are chosen."""
COUNTED = 99
"""Questions of a family in a window that are counted; the rest count as the last of these."""
_WORD = re.compile(r"\w+")
Shares = tuple[Integers, Floats]
"""The answers that are known, and of each item that is asked the probability of each of them."""
Learner = Callable[[Guessing, Any, Places, Places], Shares]
"""Learns from the rows of the first places, and answers those of the last."""


# Features of items ----------------------------------------------------------------------------------------------------


def tokens(text: str) -> list[str]:
    """Return the words of a text.

    >>> tokens("Is it red?")
    ['is', 'it', 'red']
    """
    return _WORD.findall(text.lower())


def counted(rows: Sequence[Sequence[str]], least: int = 1) -> Any:
    """Return how often each row has each token, as a sparse matrix; a token of fewer rows than `least` is none."""
    vectorizer = needed("sklearn.feature_extraction.text", "stats", WHAT).CountVectorizer
    return vectorizer(analyzer=lambda row: (*row, ""), min_df=least).fit_transform(rows)


def _words(guessing: Guessing) -> Any:
    """Return the words of each item, and its family."""
    return _beside(guessing.once(_text_words), _one_hot(guessing.families))


def _all_words(guessing: Guessing) -> Any:
    """Return the same, and the words said before, which are other words than those of the text."""
    before = guessing.learning.histories
    counts = counted([sorted(set(tokens(text))) for text in (*before.values, "")])[before.codes]
    return _beside(guessing.once(_words), counts)


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
    return _beside(
        *map(_one_hot, (guessing.families, np.minimum(places, 99), *(numbers % length for length in CYCLES))),
        behind.astype(float),
    )


def _occurrences(guessing: Guessing) -> Any:
    """Return the family, the number of its questions before in the window, whether that is even, and these crossed."""
    windows, families = guessing.items.windows, guessing.families
    own = families if windows is None else distinct(families, windows.codes + 1)[1]
    order = np.argsort(own, kind="stable")
    numbers = np.empty(len(own), dtype=np.int64)
    numbers[order] = np.minimum(np.arange(len(own)) - np.searchsorted(own[order], own[order]), COUNTED)
    return _crossed(families, numbers, numbers % 2)


def _previous(guessing: Guessing) -> Any:
    """Return the family, the answer to its question before (as a number; 0 for the first), and both crossed.

    Who answers a dialog sees no other one about its image: a round there is none before.
    """
    families, items = guessing.families, guessing.items
    order = np.argsort(families, kind="stable")
    before = np.zeros(len(families), dtype=np.int64)
    is_same = families[order[1:]] == families[order[:-1]]
    if items.kind == "dialogs":
        is_same &= items.images.codes[order[1:]] != items.images.codes[order[:-1]]
    before[order[1:]] = np.where(is_same, guessing.answers[order[:-1]] + 1, 0)
    return _crossed(families, before)


def _crossed(families: Integers, *columns: Integers) -> Any:
    """Return families, columns of codes, and each of these within each family."""
    return _beside(*map(_one_hot, (families, *columns, *(distinct(families, column)[1] for column in columns))))


def _beside(*parts: Any) -> Any:
    """Return the columns of several matrices as one sparse matrix."""
    return needed("scipy.sparse", "stats", WHAT).hstack(parts, format="csr")


def _one_hot(codes: Integers) -> Any:
    return needed("scipy.sparse", "stats", WHAT).csr_matrix(
        (np.ones(len(codes)), (np.arange(len(codes)), codes)), shape=(len(codes), int(codes.max(initial=0)) + 1)
    )


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
    return _with_others(guessing, told[:, None] == frequent)


def _other_texts(guessing: Guessing) -> Floats:
    """Return the phrases, and how many other items of the same image say each of the most frequent words."""
    return _with_others(guessing, guessing.once(_said)[:, :TOLD])


def _with_others(guessing: Guessing, own: npt.NDArray[Any]) -> Floats:
    """Return the phrases, and how many other items of the image have each column that an item has (1) or not (0)."""
    images = guessing.items.images
    counts = np.zeros((len(images.values), own.shape[1]))
    np.add.at(counts, images.codes, own)
    return np.hstack([guessing.once(_phrases), counts[images.codes] - own])


def _said(guessing: Guessing) -> npt.NDArray[np.float32]:
    """Return whether each item says each word, in its text or by its program; the most frequent words come first."""
    programs = guessing.learning.programs
    rows = [*map(list, map(words_of, programs.values)), []]
    both = _beside(guessing.once(_text_words), counted(rows)[programs.codes])
    numbers = both.getnnz(axis=0)
    frequent = np.argsort(-numbers, kind="stable")
    frequent = frequent[(numbers[frequent] >= LEAST) & (numbers[frequent] < len(guessing.items))]
    found: npt.NDArray[np.float32] = (both[:, frequent[:PAIRED]].toarray() > 0).astype(np.float32)
    return found


def _text_words(guessing: Guessing) -> Any:
    texts = guessing.learning.texts
    return counted([tokens(text) for text in (*texts.values, "")])[texts.codes]


# Learning -------------------------------------------------------------------------------------------------------------


def regression(penalty: float = 10) -> Any:
    """Return a logistic regression. A tolerance ten times smaller takes half as long again and guesses no better."""
    return needed("sklearn.linear_model", "stats", WHAT).LogisticRegression(C=1 / penalty, max_iter=300, tol=1e-3)


def _by_regression(guessing: Guessing, rows: Any, taught: Places, asked: Places, penalty: float = 10) -> Shares:
    """Learn by logistic regression."""
    model = regression(penalty).fit(rows[taught], guessing.answers[taught])
    return model.classes_, model.predict_proba(rows[asked])


_by_neighbours = partial(_by_regression, penalty=50)
"""Learn from what is crossed with families: few items have the same, and a leak in all families must outweigh these."""


def _by_trees(guessing: Guessing, rows: Floats, taught: Places, asked: Places) -> Shares:
    """Learn by boosted trees; the first feature is the family.

    A feature with one value parts nothing, and a bin without a value costs as much as one with many: without both, the
    trees are the same, and grow in two thirds of the time (`vqagen stats` of 5,000 questions).
    """
    values = 1 + np.count_nonzero(np.diff(np.sort(rows[taught], axis=0), axis=0), axis=0)
    """How many different values each feature has."""
    kept = np.append(0, 1 + np.flatnonzero(values[1:] > 1))
    model = (
        needed("sklearn.ensemble", "stats", WHAT)
        .HistGradientBoostingClassifier(
            random_state=0,
            max_iter=15,
            learning_rate=0.15,
            max_leaf_nodes=8,
            max_bins=min(MOST_BINS, max(2, int(values.max()))),
            early_stopping=False,
            categorical_features=[0] if int(guessing.families.max(initial=0)) < MANY_FAMILIES else None,
        )
        .fit(rows[np.ix_(taught, kept)], guessing.answers[taught])
    )
    return model.classes_, model.predict_proba(rows[np.ix_(asked, kept)])


def _by_trees_with_pairs(guessing: Guessing, rows: Floats, taught: Places, asked: Places) -> Shares:
    """Learn by boosted trees that read pairs of words too."""
    said = guessing.once(_said)
    first, second = _telling_pairs(guessing, said, taught)
    return _by_trees(guessing, np.hstack([rows, said[:, first] * said[:, second]]), taught, asked)


def _telling_pairs(guessing: Guessing, said: npt.NDArray[np.float32], taught: Places) -> tuple[Places, Places]:
    """Return the pairs of words with which answers differ most from those of their families, by chi squared.

    A word alone is a pair with itself. If "red" and "left" tell the answer together and neither does alone, trees that
    read words one by one do not find it.
    """
    own, answers = said[taught], guessing.answers[taught]
    families = np.unique(guessing.families[taught], return_inverse=True)[1]
    codes, counts = np.unique(answers, return_counts=True)
    found = np.zeros((own.shape[1], own.shape[1]), dtype=np.float32)
    for answer in codes[np.argsort(-counts, kind="stable")[:FREQUENT]]:
        expected = (np.bincount(families, answers == answer) / np.bincount(families))[families]
        apart = own.T @ (own * ((answers == answer) - expected).astype(np.float32)[:, None])
        variance = own.T @ (own * (expected * (1 - expected)).astype(np.float32)[:, None])
        found += apart**2 / (variance + 1)
    found[own.T @ own < LEAST] = 0
    best = np.argsort(-np.round(np.triu(found), 3), axis=None, kind="stable")[:PAIRS]
    return best // max(1, len(found)), best % max(1, len(found))


def _learned(
    guessing: Guessing, learn: Places, ask: Places, learner: Learner, make: Callable[[Guessing], Any]
) -> Guesses:
    """Answer by models that learn the answers to each type from rows of features, which `make` makes."""
    rows, ranked = guessing.once(make), of_family(guessing, learn, ask).ranked.copy()
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


# Predictors -----------------------------------------------------------------------------------------------------------

words = partial(_learned, learner=_by_regression, make=_words)
"""Answers by regression over the words and the family."""
history = partial(_learned, learner=_by_regression, make=_all_words)
"""The same, also over the words of the dialog before."""
occurrence = partial(_learned, learner=_by_neighbours, make=_occurrences)
"""Answers by regression over the family and how many of its questions came before in the window of balance."""
previous = partial(_learned, learner=_by_neighbours, make=_previous)
"""Answers by regression over the family and the right answer to its question before, in the order of the file."""
tree = partial(_learned, learner=_by_trees_with_pairs, make=_phrases)
"""Answers by boosted trees over the family, what is seen of the program, and pairs of words."""
others = partial(_learned, learner=_by_trees, make=_others)
"""Answers by boosted trees over the family, the program, and the answers to the other questions about the image."""
other_texts = partial(_learned, learner=_by_trees, make=_other_texts)
"""Answers by boosted trees over the family, the program, and the words of the other questions about the image."""
_by_order = partial(_learned, learner=_by_regression, make=_order)


def order(guessing: Guessing, learn: Places, ask: Places) -> Guesses:
    """Answer by regression over the family, the place among the questions about the image, and the image's number.

    Nothing is learned from the image that is asked about, whose number would stand for what is in it. Folds of pairs
    part the questions about an image: there, each half of the images is answered by what the other half teaches.
    """
    images = guessing.items.images
    if len(guessing.splits) == 1 or not np.isin(images.codes[ask], images.codes[learn]).any():
        return _by_order(guessing, learn, ask)
    halves = np.array(shuffled(stream(guessing.seed, "order"), range(len(images.values))))[images.codes] % 2
    found = guessing.guesses(ask, np.full((len(ask), guessing.top_k), NONE))
    for half in (0, 1):
        own = halves[ask] == half
        part = _by_order(guessing, learn[halves[learn] != half], ask[own])
        found.ranked[own], found.expected[own] = part.ranked, part.expected
    return found
