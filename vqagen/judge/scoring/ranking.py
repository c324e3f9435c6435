"""The normalised discounted cumulative gain of a ranking."""

from __future__ import annotations

from collections.abc import Sequence
from math import log2


def ndcg(ranks: Sequence[int], relevance: Sequence[float]) -> float:
    """Return the normalised discounted cumulative gain of a ranking, as VisDial computes it.

    As many ranks count as options are relevant; the gain is linear. `ranks` (1 is the best) and `relevance` are in the
    order of the options.

    >>> round(ndcg((5, 1, 3, 4, 2), (1, 0, 0.5, 0, 0.5)), 6)
    0.361212
    """
    counted = sum(each > 0 for each in relevance)
    gain = sum(each / log2(rank + 1) for rank, each in zip(ranks, relevance, strict=True) if rank <= counted)
    ideal = sum(each / log2(place + 1) for place, each in enumerate(sorted(relevance, reverse=True)[:counted], 1))
    return gain / ideal
