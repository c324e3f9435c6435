"""The floor of an evaluation: the credit that guesses without the picture have of each item.

Three predictors are asked, which need no training file and no library: the most frequent answer of the family, that of
the function, and any possible answer. Each learns from the other folds only, and so from other images. Of each function
the best is taken. Options are guessed by chance.
"""

from __future__ import annotations

import numpy as np

from vqagen.score.items.table import CHOICE, NONE, Items
from vqagen.shortcuts.predictors import NAMED, predict
from vqagen.shortcuts.task import Floats, Task

GUESSES = ("uniform", "majority", "majority-family")


def floor(items: Items, top_k: int = 1) -> Floats:
    """Return the credit of each item, if `top_k` answers may be named."""
    task = Task.within(items, top_k)
    guessed = [predict(NAMED[name], task).expected for name in GUESSES]
    of_types = np.stack([np.bincount(task.types, weights=each) for each in guessed])
    found: Floats = np.stack(guessed)[of_types.argmax(axis=0)[task.types], np.arange(len(items))]
    if items.mode != CHOICE:
        return found
    sizes = np.array([len(options.texts) for options in items.options.values] or [1])
    options = items.options.codes
    return np.where(options == NONE, found, np.minimum(1.0, top_k / sizes[options]))
