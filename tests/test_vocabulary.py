"""What is remembered of descriptions is forgotten in time, so that memory does not grow with the number of scenes."""

from __future__ import annotations

from collections.abc import Callable, Sized

import pytest

from vqagen.api import load_domain_files
from vqagen.search import description, vocabulary
from vqagen.search.description import Openness
from vqagen.search.local_checks import LocalCheck
from vqagen.search.vocabulary import Vocabulary

DOMAIN = load_domain_files().domain
CODES = range(9 * 4 * 3 * 3)
"""All descriptions by the four attributes."""
FEW = 20


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Vocabulary:
    """All attributes, of whose descriptions few are remembered."""
    monkeypatch.setattr(vocabulary, "REMEMBERED", FEW)
    monkeypatch.setattr(description, "REMEMBERED", FEW)
    return Vocabulary(DOMAIN.attributes)


MEMOS: dict[str, tuple[Callable[[Vocabulary, int], object], str]] = {
    "words": (lambda words, code: words.said(code), "_said"),
    "chains": (lambda words, code: words.chain(0, 1, None, code), "_chains"),
    "words of slots": (lambda words, code: words.words_of(("<Z>", "", "<M>", "<S>"), code), "_worded"),
    "codes": (lambda words, code: words.codes_of(words.said(code).words), "_codes"),
}


@pytest.mark.parametrize(("ask", "memo"), MEMOS.values(), ids=MEMOS)
def test_few_descriptions_are_remembered(
    words: Vocabulary, ask: Callable[[Vocabulary, int], object], memo: str
) -> None:
    """However many are asked for."""
    remembered: Sized = getattr(words, memo)
    most = 0
    for code in CODES:
        ask(words, code)
        most = max(most, len(remembered))

    assert 1 < most <= FEW + 1


def test_few_ways_to_leave_attributes_open_are_remembered(words: Vocabulary) -> None:
    """However many attributes a node may leave open."""
    openness = Openness(10, [LocalCheck((0,), lambda word: word is None, of_openness=True)])
    most = 0
    for used in range(1 << 10):
        assert openness[used] is (used & 1 == 0)
        most = max(most, len(openness))

    assert 1 < most <= FEW + 1


def test_what_was_forgotten_is_found_again(words: Vocabulary) -> None:
    said = [words.said(code) for code in CODES]

    assert [words.said(code) for code in CODES] == said
    digits = [{None: 0, **of_attribute} for of_attribute in words.digits]
    assert [sum(map(dict.__getitem__, digits, each.words)) for each in said] == list(CODES)
