"""A baseline that learns from the words of questions: logistic regression.

Texts are counted with scikit-learn's TF-IDF over single words and pairs of words. Questions of different types are
learned apart. A type of which fewer than LEARNABLE questions, or only one answer, are known is answered by majority.
It runs in one thread, so that answers are the same everywhere.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from vqagen.extras import in_one_thread, needed
from vqagen.score.gold.item import GoldItem
from vqagen.shortcuts.baselines.learning_task import Answering, Guess, LearningTask, gold_text, type_of
from vqagen.shortcuts.baselines.priors import Rankings

WHAT = "a baseline that learns"
LEARNABLE = 20
"""Questions of a type below which its answers are guessed by majority."""
MOST_ANSWERS = 200
"""Different answers of a type that regression tells apart, the most frequent ones: its time grows with their number."""


def learned(learning: LearningTask) -> list[Guess]:
    """Answer by logistic regression over the words of the question."""

    def learn(trained: Sequence[GoldItem]) -> Answering:
        known: defaultdict[str, list[GoldItem]] = defaultdict(list)
        for item in trained:
            known[type_of(item)].append(item)
        rankings = Rankings(trained, "type")

        def answer(places: Sequence[int]) -> list[Guess]:
            asked: defaultdict[str, list[int]] = defaultdict(list)
            for place in places:
                asked[type_of(learning.items[place])].append(place)
            found: dict[int, Guess] = {}
            for name, own in asked.items():
                for place, candidates in zip(own, candidates_of(known[name], own), strict=True):
                    found[place] = learning.sure(place, candidates)
            return [found[place] for place in places]

        def candidates_of(items: Sequence[GoldItem], own: Sequence[int]) -> list[tuple[str, ...]]:
            answers = [gold_text(item) for item in items]
            if len(items) < LEARNABLE or len(set(answers)) < 2:
                return [rankings.of(learning.items[place]).texts for place in own]
            texts = [learning.items[place].question for place in own]
            return _ranked([item.question for item in items], answers, texts, learning.top_k)

        return answer

    with in_one_thread(WHAT):
        return learning.answer(learn)


def _counted_words(trained: Sequence[str], asked: Sequence[str]) -> tuple[Any, Any]:
    """Return the TF-IDF rows of both lists of texts; texts without any word have one column of nothing."""
    text = needed("sklearn.feature_extraction.text", "stats", WHAT)
    words = text.TfidfVectorizer(token_pattern=r"(?u)\w+", ngram_range=(1, 2))
    try:
        return words.fit_transform(trained), words.transform(asked)
    except ValueError:  # no text has a word
        sparse = needed("scipy.sparse", "stats", WHAT)
        return sparse.csr_matrix((len(trained), 1)), sparse.csr_matrix((len(asked), 1))


def _ranked(trained: Sequence[str], answers: Sequence[str], asked: Sequence[str], k: int) -> list[tuple[str, ...]]:
    """Return the k most probable answers to each text; each different text is asked once."""
    model = needed("sklearn.linear_model", "stats", WHAT).LogisticRegression(C=1.0)
    frequent = {answer for answer, _ in Counter(answers).most_common(MOST_ANSWERS)}
    kept = [place for place, answer in enumerate(answers) if answer in frequent]
    different = list(dict.fromkeys(asked))
    rows, others = _counted_words([trained[place] for place in kept], different)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # many answers, or not converged
        model.fit(rows, [answers[place] for place in kept])
        shares = model.predict_proba(others)
    order = np.argsort(-shares, axis=1, kind="stable")[:, :k]
    best = {text: tuple(str(model.classes_[i]) for i in row) for text, row in zip(different, order, strict=True)}
    return [best[text] for text in asked]
