"""What is remembered of descriptions is forgotten in time, so that memory does not grow with the number of scenes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sized
from dataclasses import replace
from itertools import product

import pytest
from program_notation import template as notation

from vqagen.api import load_domain_files
from vqagen.language.program import Node
from vqagen.language.template_check import read_templates
from vqagen.search import description, vocabulary
from vqagen.search.description import Description, Sampling
from vqagen.search.layout import MOST_LAYOUTS, Layout
from vqagen.search.local_checks import LocalCheck
from vqagen.search.plan import make_plan
from vqagen.search.vocabulary import Vocabularies, Vocabulary

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
    many = Vocabulary([replace(DOMAIN.attributes[0], name=f"a{number}") for number in range(10)])
    node = Description(0, False, None, many, (LocalCheck((0,), lambda word: word is None, of_openness=True),))
    remembered, most = node._wide, 0
    assert remembered is not None
    for said in product((False, True), repeat=10):
        code = sum(min(digits.values()) for digits, is_said in zip(many.digits, said, strict=True) if is_said)
        assert node.allows(code) is not said[0]
        most = max(most, len(remembered))

    assert 1 < most <= FEW + 1


def test_what_was_forgotten_is_found_again(words: Vocabulary) -> None:
    said = [words.said(code) for code in CODES]

    assert [words.said(code) for code in CODES] == said
    digits = [{None: 0, **of_attribute} for of_attribute in words.digits]
    assert [sum(map(dict.__getitem__, digits, each.words)) for each in said] == list(CODES)


def test_fewer_descriptions_of_more_attributes_are_remembered() -> None:
    """So a worker on 11 attributes needs as much memory for them as one on four."""
    attributes = [replace(DOMAIN.attributes[0], name=f"a{number}") for number in range(11)]

    assert [Vocabulary(attributes[:width]).remembered for width in (1, 4, 11)] == [50_000, 12_500, 4_545]


def test_few_meanings_are_remembered(words: Vocabulary) -> None:
    meanings = Vocabularies(DOMAIN).meanings(words)
    found = {code: meanings[code].possible for code in CODES}

    assert 1 < len(meanings) <= FEW + 1
    assert all(meanings[code].possible == possible for code, possible in found.items())


def test_few_layouts_are_remembered() -> None:
    """Of a chain of four things, whose descriptions may be of any length; forgotten ones are made anew."""
    template = next(each for each in load_domain_files().templates if each.file == "three_hop.json")
    first = make_plan(template, Vocabularies(DOMAIN), Sampling()).layout

    def end(lengths: Iterable[int]) -> tuple[int, tuple[int, ...]]:
        layout = first
        for length in lengths:
            layout = layout.after(length)
        return layout.count, tuple(node.inputs[0] for node in layout.run.nodes)

    ends = {lengths: end(lengths) for lengths in product(range(1, 6), repeat=4)}

    assert len(ends) > 2 * MOST_LAYOUTS
    assert 1 < remembered(first) <= MOST_LAYOUTS + 1
    assert all(end(lengths) == found for lengths, found in ends.items())


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
