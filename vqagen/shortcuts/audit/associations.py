"""What tells of the answers: how far words, place, scene size and indexes are associated with them, within families.

Association is measured within each family and added up: what a family is asked for is known anyhow. Cramér's V is
corrected for bias, so that it is about 0 where nothing is associated. Words are tested by chi-square, of which rare
cells are left out; what belongs to images by permuting images, and places by permuting the items of a family.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import log, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vqagen.extras import needed
from vqagen.rng import stream
from vqagen.score.intervals import holm
from vqagen.shortcuts.audit.folds import WHAT
from vqagen.shortcuts.audit.items import AuditFile, AuditItem
from vqagen.shortcuts.audit.significance import uniform_p

Codes = NDArray[np.int64]
LEAST = 5.0
"""Least expected count of the cells of a chi-square test."""
TENTHS = 10
MODULI = (2, 3, 4, 5)
PERMUTATIONS = 999
"""Permutations of each permutation test."""
_WORD = re.compile(r"\w+")


class Association(NamedTuple):
    """What the answers are associated with."""

    name: str
    bits: float
    """Mutual information in bits, within families."""
    v: float
    """Cramér's V, corrected for bias."""
    p: float
    is_tested: bool = True
    """False for what may be associated: the family, and what only the picture shows."""
    detail: str = ""


class _Strength(NamedTuple):
    """Sums over families."""

    items: int = 0
    chi_square: float = 0.0
    freedom: int = 0
    most: float = 0.0
    """The highest value of chi-square."""
    information: float = 0.0
    """Items times nats."""

    def plus(self, other: _Strength) -> _Strength:
        return _Strength(
            self.items + other.items,
            self.chi_square + other.chi_square,
            self.freedom + other.freedom,
            self.most + other.most,
            self.information + other.information,
        )

    @property
    def v(self) -> float:
        return sqrt(max(0.0, self.chi_square - self.freedom) / self.most) if self.most else 0.0

    @property
    def bits(self) -> float:
        return self.information / self.items / log(2) if self.items else 0.0


def associations(file: AuditFile, sizes: Mapping[str, int]) -> Iterator[Association]:
    """Yield the associations of a file's answers; `sizes` are the numbers of objects of images, as far as known."""
    items = file.items
    strata = _codes([item.clue.family for item in items])
    answers = _codes([_answer_of(item) for item in items])
    if file.kind != "trials":
        yield _of_words(items, strata, answers)
    types = _codes([item.clue.type for item in items])
    families = _strength(types, answers, strata)
    if len(set(strata.tolist())) > 1:
        yield Association("family", families.bits, families.v, _chi_square_p(families), is_tested=False)
    if file.has_options:
        yield _of_positions(items)
    test = _Permutation(strata, answers)
    if all(item.image in sizes for item in items):
        number = _codes([sizes[item.image] for item in items])
        yield test.of_images("scene size", number, items)._replace(is_tested=False)
    if all(item.order is not None for item in items):
        yield from _of_indexes(items, test)
    if len({item.place for item in items}) > 1:
        yield test.of_items("place about its image", _codes([item.place for item in items]), items)


def _of_indexes(items: Sequence[AuditItem], test: _Permutation) -> Iterator[Association]:
    """Yield the associations with the image's index: its tenth of the file, and its remainders."""
    orders = np.array([item.order for item in items])
    ranks = np.unique(orders, return_inverse=True)[1]
    number = ranks.max() + 1
    if number >= 2 * TENTHS:
        yield test.of_images("image index, tenth", ranks * TENTHS // number, items)
    for modulus in MODULI:
        if number >= 2 * modulus:
            yield test.of_images(f"image index mod {modulus}", orders % modulus, items)


def _answer_of(item: AuditItem) -> str:
    return f"{len(item.options)}/{item.right}" if item.tokens else item.clue.answer


def _codes(values: Sequence[object]) -> Codes:
    numbers: dict[object, int] = {}
    return np.array([numbers.setdefault(value, len(numbers)) for value in values], dtype=np.int64)


def _of_positions(items: Sequence[AuditItem]) -> Association:
    """Return how uneven the positions of right options are, by chi-square."""
    by_number: defaultdict[int, Counter[int]] = defaultdict(Counter)
    for item in items:
        by_number[len(item.options)][item.right] += 1
    p_values, strength, worst = [], _Strength(), ""
    for options, counts in sorted(by_number.items()):
        row = [counts[place] for place in range(options)]
        total = sum(row)
        if total < LEAST * options:
            continue
        p_values.append(uniform_p(row))
        chi_square = sum((count - total / options) ** 2 for count in row) * options / total
        strength = strength.plus(_Strength(total, chi_square, options - 1, total * (options - 1), 0.0))
        worst = f"position {row.index(max(row)) + 1}: {max(row) / total:.0%}"
    p = min(holm(p_values), default=1.0)
    return Association("right position", 0.0, strength.v, p, detail=worst)


def _of_words(items: Sequence[AuditItem], strata: Codes, answers: Codes) -> Association:
    """Return the association of the word that tells most, its p-value adjusted for the number of words."""
    texts = [set(_WORD.findall(item.clue.text.lower())) for item in items]
    places: defaultdict[str, list[int]] = defaultdict(list)
    for place, words in enumerate(texts):
        for word in words:
            places[word].append(place)
    found: dict[str, _Strength] = {}
    tables = _Tables(strata, answers)
    for word, having in sorted(places.items()):
        strength = tables.of_word(np.array(having))
        if strength.freedom:
            found[word] = strength
    if not found:
        return Association("words", 0.0, 0.0, 1.0)
    tested = [_chi_square_p(strength) for strength in found.values()]
    p_values = dict(zip(found, holm(tested), strict=True))
    strongest = max(found, key=lambda word: (-p_values[word], found[word].v))
    strength = found[strongest]
    return Association("words", strength.bits, strength.v, p_values[strongest], detail=f"most: {strongest!r}")


class _Tables:
    """The counts of answers in each family, which words divide."""

    def __init__(self, strata: Codes, answers: Codes) -> None:
        width = int(answers.max()) + 1
        self._cells = strata * width + answers
        self._shape = (int(strata.max()) + 1, width)
        self._totals = np.bincount(self._cells, minlength=self._shape[0] * width).reshape(self._shape)

    def of_word(self, having: NDArray[np.int64]) -> _Strength:
        """Return the strength with which a word, which these items have, is associated with the answers."""
        size = self._shape[0] * self._shape[1]
        counts = np.bincount(self._cells[having], minlength=size).reshape(self._shape)
        strength = _Strength()
        for stratum in np.flatnonzero(counts.sum(axis=1)):
            table = np.stack([counts[stratum], self._totals[stratum] - counts[stratum]])
            strength = strength.plus(_of_table(_dense(table)))
        return strength


def _dense(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a table of two rows whose rare answers are counted as one, or an empty one if too few are left."""
    rows = table.sum(axis=1)
    total = rows.sum()
    if not rows.all():
        return table[:, :0]
    is_rare = table.sum(axis=0) * rows.min() < LEAST * total
    kept = np.column_stack([table[:, ~is_rare], table[:, is_rare].sum(axis=1)])
    if kept[:, -1].sum() * rows.min() < LEAST * total:
        kept = kept[:, :-1]
    return kept


def _of_table(table: NDArray[np.int64]) -> _Strength:
    """Return the strength of the association in a table of counts."""
    table = table[:, table.sum(axis=0) > 0][table.sum(axis=1) > 0]
    if min(table.shape) < 2:
        return _Strength()
    total = int(table.sum())
    expected = needed("scipy.stats.contingency", "stats", WHAT).expected_freq(table)
    chi_square = float(((table - expected) ** 2 / expected).sum())
    is_seen = table > 0
    nats = float((table[is_seen] * np.log(table[is_seen] / expected[is_seen])).sum())
    rows, columns = table.shape
    return _Strength(total, chi_square, (rows - 1) * (columns - 1), total * (min(rows, columns) - 1.0), nats)


def _strength(strata: Codes, answers: Codes, values: Codes) -> _Strength:
    """Return the strength of the association of values with answers, within strata."""
    strength = _Strength()
    for stratum in range(int(strata.max()) + 1):
        own = strata == stratum
        table = np.zeros((int(values.max()) + 1, int(answers.max()) + 1), dtype=np.int64)
        np.add.at(table, (values[own], answers[own]), 1)
        strength = strength.plus(_of_table(table))
    return strength


def _chi_square_p(strength: _Strength) -> float:
    if not strength.freedom:
        return 1.0
    return float(needed("scipy.stats", "stats", WHAT).chi2.sf(strength.chi_square, strength.freedom))


class _Permutation:
    """Tests associations by permuting values: of images as wholes, or of the items of a family."""

    def __init__(self, strata: Codes, answers: Codes) -> None:
        self._strata, self._answers = strata, answers
        width = int(answers.max()) + 1
        found, self._pairs, counts = np.unique(strata * width + answers, return_inverse=True, return_counts=True)
        self._of_pairs = found // width
        """The family of each pair of a family and an answer; `_pairs` are the pairs of the items."""
        self._totals, self._answers_of = np.bincount(strata), np.bincount(self._of_pairs)
        self._shares = counts / self._totals[self._of_pairs]

    def of_images(self, name: str, values: Codes, items: Sequence[AuditItem]) -> Association:
        """Test values that belong to images."""
        images = _codes([item.image for item in items])
        of_images = np.zeros(int(images.max()) + 1, dtype=np.int64)
        of_images[images] = values
        return self._test(name, values, lambda draw: draw.permutation(of_images)[images])

    def of_items(self, name: str, values: Codes, items: Sequence[AuditItem]) -> Association:
        """Test values of items, which are permuted within families; those of a block, within the block.

        The answers of a block are no independent evidence: in a pair, one excludes the other.
        """
        groups = _codes([("block", item.block) if item.block else ("family", item.clue.family) for item in items])
        order = np.argsort(groups, kind="stable")

        def permuted(draw: np.random.Generator) -> Codes:
            shuffled = np.empty_like(values)
            shuffled[order] = values[np.lexsort((draw.random(len(values)), groups))]
            return shuffled

        return self._test(name, values, permuted)

    def _test(self, name: str, values: Codes, permuted: Callable[[np.random.Generator], Codes]) -> Association:
        """Return the association; its V is corrected for what chance alone would give."""
        strength = _strength(self._strata, self._answers, values)
        draw = np.random.default_rng(stream(0, f"audit/{name}").getrandbits(128))
        found = self._statistic(values)
        drawn = np.array([self._statistic(permuted(draw)) for _ in range(PERMUTATIONS)])
        p = (1 + int((drawn >= found - 1e-9).sum())) / (1 + len(drawn))
        v = sqrt(max(0.0, found) / strength.most) if strength.most else 0.0
        return Association(name, strength.bits, v, p)

    def _statistic(self, values: Codes) -> float:
        """Return chi-square in excess of what is expected of the same margins, added up over families.

        A generator spreads a family evenly over images, and permuted images do not: only the excess can be compared.
        """
        number = int(values.max()) + 1
        pairs, rows = len(self._of_pairs), len(self._totals)
        table = np.bincount(values * pairs + self._pairs, minlength=number * pairs).reshape(number, pairs)
        of_values = np.bincount(values * rows + self._strata, minlength=number * rows).reshape(number, rows)
        expected = of_values[:, self._of_pairs] * self._shares
        chi_square = float(np.divide(table**2, expected, where=expected > 0, out=np.zeros_like(expected)).sum())
        freedom = ((of_values > 0).sum(axis=0) - 1) * (self._answers_of - 1)
        return chi_square - len(values) - float((freedom * self._totals / np.maximum(self._totals - 1, 1)).sum())
