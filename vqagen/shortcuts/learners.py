"""Answers by their frequency, or learned from what is read beside the picture: words, phrases, other questions.

Regressions and trees are scikit-learn's (extra `stats`). They run in one thread, so that figures are the same
everywhere. Items of different types are learned apart, such as questions for a colour and questions for a shape; where
too few are known, the most frequent answer of the family is taken.
"""

from __future__ import annotations

import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any
from zlib import crc32

import numpy as np
import orjson

from vqagen.extras import in_one_thread, needed
from vqagen.items.groups import Integers, distinct
from vqagen.items.table import NONE, Codes, Column, Places
from vqagen.language.program import Node
from vqagen.rng import shuffled, stream
from vqagen.shortcuts.task import YES_NO, Floats, Guesses, Task, credits_of

WHAT = "a predictor that learns"
LEARNABLE = 40
"""Items of a type below which its answers are guessed by majority."""
MOST_ANSWERS = 200
"""Different answers of a type that are told apart, the most frequent ones: the time grows with their number."""
RAREST = 2_000
"""An answer to fewer than one item in so many is not learned: of 20,000 colors, none."""
MANY_FAMILIES = 250
"""Families beyond which scikit-learn takes no categories."""
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


def words(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer by regression over the words and the family."""
    return _learned(task, learn, ask, regression, task.once("words", lambda: _words(task, with_history=False)))


def history(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer by regression over the words, the family, and the words of the dialog before."""
    return _learned(task, learn, ask, regression, task.once("history", lambda: _words(task, with_history=True)))


def order(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer by regression over the family, the place among the questions about the image, and the image's number.

    Nothing is learned from the image that is asked about, whose number would stand for what is in it. Folds of pairs
    part the questions about an image: there, each half of the images is answered by what the other half teaches.
    """
    rows, images = task.once("order", lambda: _order(task)), task.items.images
    if len(task.splits) == 1 or not np.isin(images.codes[ask], images.codes[learn]).any():
        return _learned(task, learn, ask, regression, rows)
    half_of_image = np.array(shuffled(stream(task.seed, "order"), range(len(images.values)))) % 2
    halves = half_of_image[images.codes]
    found = task.guesses(ask, np.full((len(ask), task.top_k), NONE))
    for half in (0, 1):
        own = halves[ask] == half
        part = _learned(task, learn[halves[learn] != half], ask[own], regression, rows)
        found.ranked[own], found.expected[own] = part.ranked, part.expected
    return found


def tree(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer by boosted trees over the family and what is seen of the program."""
    return _learned(task, learn, ask, _trees, task.once("phrases", lambda: _phrases(task)))


def others(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer by boosted trees over the same, and the answers to the other questions about the image."""
    return _learned(task, learn, ask, _trees, task.once("others", lambda: np.hstack([_phrases(task), _others(task)])))


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


def _words(task: Task, with_history: bool) -> Any:
    """Return the words of each item; those said before it are other words than those of its text."""
    learning = task.learning
    sparse = needed("scipy.sparse", "stats", WHAT)
    own = counted([tokens(text) for text in (*learning.texts.values, "")])
    parts = [own[learning.texts.codes], _one_hot(task.families)]
    if with_history:
        before = counted([sorted(set(tokens(text))) for text in (*learning.histories.values, "")])
        parts.append(before[learning.histories.codes])
    return sparse.hstack(parts, format="csr")


def _order(task: Task) -> Any:
    """Return the family, the place among the questions about the image, the image's place in cycles, and its part.

    That is which quarters of the images, by number, it comes behind: answers may differ from some image on.
    """
    images, scenes = task.items.images.codes, task.learning.scenes
    by_image = np.argsort(images, kind="stable")
    places = np.empty(len(images), dtype=np.int64)
    places[by_image] = np.arange(len(images)) - np.searchsorted(images[by_image], images[by_image])
    numbers = np.where(scenes.codes == NONE, images, np.array([*scenes.values, NONE])[scenes.codes])
    different, ranks = np.unique(numbers, return_inverse=True)
    behind = np.arange(1, 4) <= (ranks * 4 // len(different))[:, None]
    columns = [task.families, np.minimum(places, 99), *(numbers % length for length in CYCLES)]
    sparse = needed("scipy.sparse", "stats", WHAT)
    return sparse.hstack([*(_one_hot(each) for each in columns), sparse.csr_matrix(behind.astype(float))], format="csr")


def _one_hot(codes: Integers) -> Any:
    ones = np.ones(len(codes)), (np.arange(len(codes)), codes)
    return needed("scipy.sparse", "stats", WHAT).csr_matrix(ones, shape=(len(codes), int(codes.max(initial=0)) + 1))


def _phrases(task: Task) -> Floats:
    """Return the family, the first column, and what a reader of the question sees of its program."""
    families = task.families[:, None].astype(np.float64)
    if not task.learning.programs.values:
        return families
    clues = task.once("clues", lambda: clues_of(task.learning.programs))
    return np.hstack([families, np.array([*clues.values, clues.values[0]])[clues.codes]])


def _others(task: Task) -> Floats:
    """Return how many other items of the same image have each answer to a type."""
    _, told = distinct(task.types, task.answers + 1)
    frequent = np.argsort(-np.bincount(told), kind="stable")[:TOLD]
    own = told[:, None] == frequent
    counts = np.zeros((len(task.items.images.values), len(frequent)))
    np.add.at(counts, task.items.images.codes, own)
    found: Floats = counts[task.items.images.codes] - own
    return found


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


def regression(task: Task) -> Any:
    """Return a logistic regression."""
    return needed("sklearn.linear_model", "stats", WHAT).LogisticRegression(C=0.1, max_iter=300)


def _trees(task: Task) -> Any:
    """Return boosted trees whose first feature is the family."""
    return needed("sklearn.ensemble", "stats", WHAT).HistGradientBoostingClassifier(
        random_state=0,
        max_iter=30,
        learning_rate=0.1,
        max_leaf_nodes=8,
        early_stopping=False,
        categorical_features=[0] if int(task.families.max(initial=0)) < MANY_FAMILIES else None,
    )


def _learned(task: Task, learn: Places, ask: Places, make: Callable[[Task], Any], rows: Any) -> Guesses:
    """Answer by models that learn the answers to each type from rows of features."""
    ranked = of_family(task, learn, ask).ranked.copy()
    with in_one_thread(WHAT), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # many answers, or not converged
        for ours, theirs in _by_type(task, learn, ask):
            model = make(task)
            model.fit(rows[ours], task.answers[ours])
            shares = model.predict_proba(rows[ask[theirs]])
            best = np.argsort(-shares, axis=1, kind="stable")[:, : task.top_k]
            ranked[theirs] = NONE
            ranked[theirs, : best.shape[1]] = np.asarray(model.classes_)[best]
    return task.guesses(ask, ranked)


def _by_type(task: Task, learn: Places, ask: Places) -> Iterator[tuple[Places, Places]]:
    """Yield the items to learn from, and the numbers of those to answer, of each type that is learned by itself.

    That is the function; functions of one category that are all answered by yes or no are learned together.
    """
    is_open = ~np.isin(task.answers[learn], [task.numbers[text] for text in YES_NO])
    open_functions = np.unique(task.types[learn[is_open]])
    _, kinds = distinct(task.categories, np.where(np.isin(task.types, open_functions), task.types + 1, 0))
    for kind in np.unique(kinds[ask]):
        ours, theirs = learn[kinds[learn] == kind], np.flatnonzero(kinds[ask] == kind)
        codes, counts = np.unique(task.answers[ours], return_counts=True)
        kept = codes[np.argsort(-counts, kind="stable")[:MOST_ANSWERS]]
        kept = kept[np.isin(kept, codes[counts * RAREST >= len(ours)])]
        if len(ours) >= LEARNABLE and len(kept) > 1:
            yield ours[np.isin(task.answers[ours], kept)], theirs


def majority_of(*names: str) -> Callable[[Task, Places, Places], Guesses]:
    """Return the predictor by the most frequent answers of an item's group, or of the first of its groups that was
    learned from, each named as the task names it.
    """

    def majority(task: Task, learn: Places, ask: Places) -> Guesses:
        ranked = np.full((len(ask), task.top_k), NONE, dtype=np.int32)
        left = np.arange(len(ask))
        for groups in (getattr(task, name) for name in names):
            ranked[left] = most_frequent(groups[learn], task.answers[learn], groups[ask[left]], task.top_k)
            left = left[ranked[left, 0] == NONE]
        return task.guesses(ask, ranked)

    return majority


def most_frequent(groups: Codes, answers: Codes, asked: Codes, k: int) -> Integers:
    """Return the k most frequent answers in each asked group; of equally frequent ones, the one that occurs first.

    >>> most_frequent(np.array([0, 0, 0, 1]), np.array([7, 5, 7, 5]), np.array([0, 1]), 2)
    array([[ 7,  5],
           [ 5, -1]])
    """
    if not len(groups):
        return np.full((len(asked), k), NONE)
    (group, answer), pair_of_item = distinct(groups, answers)
    first = np.empty(len(group), dtype=np.int64)
    first[pair_of_item[::-1]] = np.arange(len(groups))[::-1]
    order = np.lexsort((first, -np.bincount(pair_of_item), group))
    group, answer = group[order], answer[order]
    at = np.searchsorted(group, asked)[:, None] + np.arange(k)
    found = np.minimum(at, len(group) - 1)
    return np.where((at < len(group)) & (group[found] == asked[:, None]), answer[found], NONE)


of_family = majority_of("families", "types", "all")


def uniform(task: Task, learn: Places, ask: Places) -> Guesses:
    """Answer with any answer that there is to the type, of which all are known; where "yes" is one, so is "no".

    Answers are drawn; further ones are those behind the drawn one. The expected credit is that of any of them.
    """
    types, answers = _possible(task, np.concatenate([learn, ask]))
    asked = task.types[ask]
    starts, ends = np.searchsorted(types, asked), np.searchsorted(types, asked, side="right")
    sizes = ends - starts
    # RandomState draws the same numbers in all versions of NumPy
    rng = np.random.RandomState(stream(task.seed, "uniform").getrandbits(32))
    drawn = (starts + rng.random_sample(len(task.items))[ask] * sizes).astype(np.int64)
    first, ranks = np.minimum(drawn, ends - 1) - starts, np.arange(task.top_k)
    behind = starts[:, None] + (first[:, None] + ranks) % sizes[:, None]
    ranked = np.where(ranks < sizes[:, None], answers[behind], NONE)
    shares, vocabulary, counts = defaultdict[tuple[int, str], float](float), task.vocabulary, np.bincount(types)
    for kind, code in zip(types.tolist(), answers.tolist(), strict=True):
        shares[kind, vocabulary[code].lower()] += 1 / counts[kind]
    golds = task.items.gold
    (gold, kinds), back = distinct(golds.codes[ask], asked)
    expected = [
        sum(credit * shares.get((kind, text), 0.0) for text, credit in credits_of(golds.values[code]).items())
        for code, kind in zip(gold.tolist(), kinds.tolist(), strict=True)
    ]
    return Guesses(ranked, np.minimum(1.0, task.top_k * np.array(expected)[back]))


def _possible(task: Task, places: Places) -> tuple[Integers, Integers]:
    """Return each type of some items, in ascending order, beside each of its possible answers."""
    (types, answers), _ = distinct(task.types[places], task.answers[places])
    truths = np.array([task.numbers[text] for text in YES_NO])
    closed = np.setdiff1d(types, types[~np.isin(answers, truths)])
    types, answers = np.append(types, np.repeat(closed, 2)), np.append(answers, np.tile(truths, len(closed)))
    return distinct(types, answers)[0]
