"""What is remembered of descriptions is forgotten in time, so that memory does not grow with the number of scenes."""

from __future__ import annotations

from collections.abc import Callable, Sized

import pytest
from program_notation import template as notation

from vqagen import load_domain_files
from vqagen.language.program import Node
from vqagen.language.template_check import read_templates
from vqagen.search import vocabulary
from vqagen.search.description import Sampling
from vqagen.search.filling import Layout
from vqagen.search.plan import make_plan
from vqagen.search.vocabulary import Vocabularies, Vocabulary

DOMAIN = load_domain_files().domain
CODES = range(9 * 4 * 3 * 3)
"""All descriptions by the four attributes."""
FEW = 100


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Vocabulary:
    """All attributes, of whose descriptions few are remembered."""
    monkeypatch.setattr(vocabulary, "REMEMBERED", FEW)
    return Vocabulary(DOMAIN.attributes)


MEMOS: dict[str, tuple[Callable[[Vocabulary, int], object], str]] = {
    "words": (lambda words, code: words.said[code], "said"),
    "chains": (lambda words, code: words.chains[0, 1, None, code], "chains"),
    "words of slots": (lambda words, code: words.worded[("<Z>", "", "<M>", "<S>"), code], "worded"),
    "codes": (lambda words, code: words.codes[words.said[code].words], "codes"),
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


def test_what_was_forgotten_is_found_again(words: Vocabulary) -> None:
    said = [words.said[code] for code in CODES]

    assert [words.said[code] for code in CODES] == said
    digits = [{None: 0, **of_attribute} for of_attribute in words.digits]
    assert [sum(map(dict.__getitem__, digits, each.words)) for each in said] == list(CODES)


def test_a_description_that_says_nothing_is_what_it_starts_from() -> None:
    """Also where other nodes come between: the count is of the scene, not of the object that was described before."""
    template = {
        "text": ["?"],
        **notation("scene, filter_unique 0 <C>, filter_count 0 <C2>", {"<C>": "Color", "<C2>": "Color"}),
    }
    (read,), faults = read_templates(template, "", load_domain_files().catalogue, "made.json", 0)
    first = make_plan(read, Vocabularies(DOMAIN), Sampling()).layout

    assert not faults
    assert first.after(1).after(0).run.nodes == (Node("count", (0,), ()),)
    assert first.after(1).after(1).run.nodes == (Node("count", (3,), ()),)


def remembered(layout: Layout) -> int:
    """How many layouts are remembered from one on."""
    return 1 + sum(map(remembered, layout._after.values()))
