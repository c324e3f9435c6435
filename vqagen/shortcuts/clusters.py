"""Clusters: questions that betray each other's answers, so that none is guessed by what another one teaches.

These are questions about one image, and those of one block or pair, in which one answer excludes the others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

Key = tuple[str, str]


def cluster_numbers(images: Sequence[str], blocks: Sequence[str], parts: int) -> list[int]:
    """Return the number of each question's cluster, by its image and its block; "" for a question of no block.

    Images that share blocks are one cluster. If a cluster then has more than one of `parts` equal parts of the
    questions, blocks alone are clusters, and so are the questions about one image that are in no block.
    """
    joined = _joined(images, blocks)
    if Counter(joined).most_common(1)[0][1] * parts <= len(joined):
        return joined
    return numbered([("block", block) if block else ("image", image) for image, block in _both(images, blocks)])


def numbered(keys: Sequence[Hashable]) -> list[int]:
    """Return a number for each key, from 0 on, in the order of first appearance."""
    numbers: dict[Hashable, int] = {}
    return [numbers.setdefault(key, len(numbers)) for key in keys]


def _joined(images: Sequence[str], blocks: Sequence[str]) -> list[int]:
    parents: dict[Key, Key] = {}

    def root(key: Key) -> Key:
        parents.setdefault(key, key)
        while parents[key] != key:
            parents[key] = parents[parents[key]]
            key = parents[key]
        return key

    for image, block in _both(images, blocks):
        about = root(("image", image))
        if block:
            parents[root(("block", block))] = about
    return numbered([root(("image", image)) for image in images])


def _both(images: Sequence[str], blocks: Sequence[str]) -> zip[tuple[str, str]]:
    return zip(images, blocks, strict=True)
