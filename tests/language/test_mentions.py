"""Where slots are said: spans that stay exact whatever is done to the sentence, and the mentions they make up."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from depth import fewer
from families import COLLECTIONS, Collection
from fillings import random_words
from hypothesis import given, settings, strategies as st

from vqagen.language.catalogue import Catalogue
from vqagen.language.sentence import Marked, SlotSpan, mention_spans
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template
from vqagen.language.wording import Wording
from vqagen.rng import stream
from vqagen.world.domain import Domain, domain_from_metadata


def marked(text: str) -> Marked:
    """Written as `the {C:red} {K:ox}`."""
    plain, spans, at = "", list[SlotSpan](), 0
    for mark in re.finditer(r"\{(\w+):([^{}]*)\}", text):
        plain += text[at : mark.start()]
        at = mark.end()
        spans.append(SlotSpan(f"<{mark[1]}>", len(plain), len(plain) + len(mark[2])))
        plain += mark[2]
    return Marked(plain + text[at:], tuple(spans))


def written(found: Marked) -> str:
    """The inverse of `marked`, of spans that do not overlap."""
    text = found.text
    for slot, start, end in reversed(found.spans):
        text = f"{text[:start]}{{{slot.strip('<>')}:{text[start:end]}}}{text[end:]}"
    return text


# Edits ------------------------------------------------------------------------------------------------------------

EDITS: list[tuple[str, str, str | Callable[[re.Match[str]], str], str]] = [
    # away from spans
    ("the {C:red} {K:ox} here", "the", "some of the", "some of the {C:red} {K:ox} here"),
    ("the {C:red} {K:ox} here", "here", "", "the {C:red} {K:ox} "),
    ("the {C:red} {K:ox} here", "^the ", "", "{C:red} {K:ox} here"),
    ("a {C:red}a{K:ox}a", "a", "bcd", "bcd {C:red}bcd{K:ox}bcd"),
    ("{C:red} {K:ox}", "^", "the ", "the {C:red} {K:ox}"),
    ("{C:red} {K:ox}", "$", "?", "{C:red} {K:ox}?"),
    ("{C:red} {K:ox}", "none", "x", "{C:red} {K:ox}"),
    # inside of one
    ("the {K:leafs} of", "f(?=s)", "ve", "the {K:leaves} of"),
    ("the {K:stop  sign} of", " +", " ", "the {K:stop sign} of"),
    ("{C:red} {K:ox}", "^.", lambda match: match[0].upper(), "{C:Red} {K:ox}"),
    ("{K:ßox} it", "^.", lambda match: match[0].upper(), "{K:SSox} it"),
    # at its ends: spans keep no spaces
    ("the {K:other ox} is", "other", "", "the  {K:ox} is"),
    ("the {K:ox other} is", "other", "", "the {K:ox}  is"),
    ("the{K: ox }is", "x", "xen", "the {K:oxen} is"),
    # all of it
    ("the {C:red} {K:ox}", "red", "", "the  {K:ox}"),
    ("the {C:red} {K:ox}", "red ", "", "the {K:ox}"),
    ("the {C:red} {K:ox}", "red", "blue", "the {C:blue} {K:ox}"),
    ("the {C:red} {K:ox}", "the red", "no", "{C:no} {K:ox}"),
    ("the {C:red} {K:ox}", "red", "  ", "the    {K:ox}"),
    # what a match and its replacement have in common is not touched
    ("the {C:red} {K:ox} of of it", "red ox of of", "red ox of", "the {C:red} {K:ox} of it"),
    ("the {C:red} {K:ox}", r"the (\w+) ox", r"this \1 ox", "this {C:red} {K:ox}"),
    ("the {C:red} {K:ox}", r"(\w+)(?= ox)", r"\1dish", "the {C:reddish} {K:ox}"),
    # what reaches over an end makes a span wider
    ("a {K:ox}-like one", "ox-like", "bovine", "a {K:bovine} one"),
    ("a {C:red} thing of {M:wood}", "thing of wood", "wooden one", "a {C:red} {M:wooden one}"),
]


@pytest.mark.parametrize(("before", "pattern", "replacement", "after"), EDITS)
def test_spans_move_along(before: str, pattern: str, replacement: Any, after: str) -> None:
    assert written(marked(before).sub(re.compile(pattern), replacement)) == after


def test_what_replaces_two_slots_says_both() -> None:
    found = marked("the {C:red} {K:ox} is").sub(re.compile("red ox"), "roan")

    assert found == Marked("the roan is", (SlotSpan("<C>", 4, 8), SlotSpan("<K>", 4, 8)))


# Sentences --------------------------------------------------------------------------------------------------------

FARM = domain_from_metadata(
    {
        "types": {
            "Color": ["red", "orange"],
            "Kind": {"values": ["ox", "fly"], "null": "animal"},
            "Relation": ["left"],
        },
        "plurals": {"ox": "oxen"},
    }
)
SLOTS = {"<C>": "Color", "<K>": "Kind", "<K2>": "Kind", "<R>": "Relation"}
ODD_WAYS = {
    "red": ["red", " deep  red ", "other", "an 50% red"],
    "ox": ["ox", "another ox", "ßox", "ox of a age"],
    "left": ["left of a", "a"],
}
WORDS = {"<C>": "red", "<K>": "ox", "<K2>": None, "<R>": "left"}


def wording(text: str, domain: Domain = FARM, **synonyms: Any) -> Wording:
    template = Template("it", "farm.json", 0, 0, (text,), SLOTS, (), (), Catalogue(FARM))
    return Wording(template, Synonyms(synonyms, domain))


SENTENCES = [
    ("Is the <C> <K> <R> the <K2>?", WORDS, "Is the {C:red} {K:ox} {R:left} the {K2:animal}?"),
    ("<K>s , <K>s ; a <K2>?", WORDS, "{K:Oxen}, {K:oxen}; an {K2:animal}?"),
    (" Is  a <K>  100%  <C><K> ?", WORDS, "Is an {K:ox} 100% {C:red}{K:ox}?"),
    ("Is there another <C> <K>?", WORDS, "Is there another {C:red} {K:ox}?"),
    ("<C>", WORDS, "{C:Red}"),
    ("No slot?", WORDS, "No slot?"),
    # a slot that says nothing has no span
    ("The <C> <K> <R>?", dict.fromkeys(SLOTS), "The {K:animal}?"),
]


@pytest.mark.parametrize(("text", "words", "expected"), SENTENCES)
def test_every_slot_that_is_said_has_its_span(text: str, words: dict[str, str | None], expected: str) -> None:
    assert written(wording(text).say_marked(words, stream(0, "").random)) == expected


def test_spans_move_with_the_rules_of_english() -> None:
    """Without "other"; and "any thing" becomes one word, which then is what the slot is said by."""
    without = wording("Is another <C> <K> or other <K>s ?").say_marked(WORDS, stream(0, "").random, keep_other=False)
    joined = wording("Is any other <K2> <R> every <K2>?", animal=["thing"]).say_marked(WORDS, stream(0, "").random)

    assert written(without) == "Is a {C:red} {K:ox} or {K:oxen}?"
    assert written(joined) == "Is {K2:anything else} {R:left} {K2:everything}?"


REWRITTEN = [
    ("of the", "by its", "A {C:red} {K:ox} by its {K2:animal}?"),
    ("red", "orange", "An {C:orange} {K:ox} of the {K2:animal}?"),
    ("red ", "", "An {K:ox} of the {K2:animal}?"),
]


@pytest.mark.parametrize(("pattern", "new", "expected"), REWRITTEN)
def test_spans_after_a_rewrite(pattern: str, new: str, expected: str) -> None:
    domain = replace(FARM, rewrites=((re.compile(pattern), new),))
    found = wording("A <C> <K> of the <K2>?", domain).say_marked(WORDS, stream(0, "").random)

    assert written(found) == expected


def balanced(pieces: list[str]) -> str:
    """A text of the pieces; of brackets that do not match, without any."""
    text, depth = "".join(pieces), 0
    for mark in re.findall(r"[\[\]]", text):
        depth += 1 if mark == "[" else -1
        if depth < 0:
            break
    return text if depth == 0 else re.sub(r"[\[\]]", "", text)


PIECES = ["<C>", "<K>", "<K>s", "<K2>", "<R>", "a", "an", "other", "another", "100%", "%(x)s", "the", "é", "[", "]"]
PIECES += [" ", "  ", "\t", "\x1c", "\u2003", ",", "?", " ?", " ."]
TEXTS = st.lists(st.sampled_from(PIECES), max_size=12).map(balanced)
RULES = [
    (r"\bred\b", "a orange"),
    (r"(\w+) (\w+)", r"\2 \1"),
    (r"(o)?x(e)?", r"\2\1"),
    (r"\s*", " "),
    (r"^\w+", ""),
    (r"\Z", " other\n"),
    ("e", ""),
    ("a", " ?"),
    (" ", "  "),
]


@given(TEXTS, st.lists(st.sampled_from(RULES), max_size=3), st.integers(0, 99), st.booleans())
@settings(max_examples=300)
def test_a_marked_sentence_is_the_sentence(text: str, rules: list[tuple[str, str]], seed: int, keep: bool) -> None:
    """The same draws make the same text, for any text, odd ways to say things, and wild rewrites."""
    domain = replace(FARM, rewrites=tuple((re.compile(pattern), new) for pattern, new in rules))
    compiled = wording(text, domain, **ODD_WAYS)

    plain = compiled.say(WORDS, stream(seed, "").random, keep)
    found = compiled.say_marked(WORDS, stream(seed, "").random, keep)

    assert found.text == plain
    assert all(plain[start:end].strip() == plain[start:end] != "" for _, start, end in found.spans)


@given(TEXTS, st.integers(0, 99), st.booleans())
@settings(max_examples=200)
def test_spans_are_where_the_words_are(text: str, seed: int, keep: bool) -> None:
    """Where every slot is said by a word that is nowhere else, all its places can be found in the sentence."""
    domain = replace(FARM, plurals={"qzk": "qzm"})
    compiled = wording(text, domain, red=["qzc"], ox=["qzk"], animal=["qzl"], left=["qzr"])
    slots = {"c": "<C>", "k": "<K>", "m": "<K>", "l": "<K2>", "r": "<R>"}

    found = compiled.say_marked(WORDS, stream(seed, "").random, keep)

    places = re.finditer("qz([ckmlr])", found.text, re.IGNORECASE)
    assert list(found.spans) == [(slots[place[1]], *place.span()) for place in places]


# What is shipped --------------------------------------------------------------------------------------------------


def ways(synonyms: Synonyms, type_name: str, value: str | None) -> set[str]:
    singular = synonyms.of(type_name, value)
    return {way.casefold() for way in (*singular, *map(synonyms.plural, singular))}


IN_ONE_WORD = {"anything", "anything else", "everything", "everything else"}


@pytest.mark.quick(1)
@pytest.mark.parametrize("collection", COLLECTIONS, ids=str)
def test_spans_of_every_template(collection: Collection) -> None:
    """The text is that of the plain sentence, and each span says its slot."""
    synonyms = collection.materials.synonyms
    rewritten = bool(synonyms.domain.rewrites)

    for template in collection.materials.templates:
        compiled, rng = Wording(template, synonyms), stream(0, template.id)
        for number in range(fewer(20)):
            words, keep = random_words(template, rng), number % 2 == 0
            found = compiled.say_marked(words, stream(number, template.id).random, keep)
            assert found.text == compiled.say(words, stream(number, template.id).random, keep)
            wrong = [
                (span, found.text)
                for span in found.spans
                if found.text[span.start : span.end].casefold()
                not in ways(synonyms, template.slots[span.slot], words[span.slot]) | IN_ONE_WORD
            ]
            assert rewritten or wrong == []


# Mentions ---------------------------------------------------------------------------------------------------------

MENTIONS = [
    ("the {S:big} {C:red} {K:ox} is", [["<S>", "<C>", "<K>"]], [["big red ox"]]),
    ("the {S:big}, {C:red} , {K:ox} is", [["<S>", "<C>", "<K>"]], [["big, red , ox"]]),
    ("{C:red} {K:ox} {R:on} the {C2:ash} {K2:fly}", [["<C2>", "<K2>"], ["<C>", "<K>"]], [["ash fly"], ["red ox"]]),
    # in several places
    ("the {K:ox} that is {C:red}", [["<C>", "<K>"]], [["ox", "red"]]),
    ("a {C:red} {K:ox}, or the {K:ox}", [["<C>", "<K>"]], [["red ox", "ox"]]),
    ("the {C:red} {C2:ash} {K:ox}", [["<C>", "<K>"], ["<C2>"]], [["red", "ox"], ["ash"]]),
    # the order of a group does not count, nor does what is not said
    ("the {C:red} {K:ox}", [["<K>", "<Z>", "<C>"]], [["red ox"]]),
    ("the {C:red} {K:ox}", [["<Z>"], []], [[], []]),
    ("is it", [["<K>"]], [[]]),
    ("{C:red}{K:ox}", [["<C>", "<K>"]], [["redox"]]),
    # of two groups with a slot in common, each has it
    ("the {C:red} {K:ox}", [["<C>", "<K>"], ["<K>"]], [["red ox"], ["ox"]]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "groups", "expected"), MENTIONS)
def test_mentions(text: str, groups: list[list[str]], expected: list[list[str]]) -> None:
    """The slots of a group that stand side by side are one mention."""
    found = marked(text)

    assert [[found.text[slice(*span)] for span in spans] for spans in mention_spans(found, groups)] == expected


def test_a_phrase_that_says_two_slots_is_one_mention() -> None:
    found = marked("the {C:red} {K:ox} is").sub(re.compile("red ox"), "roan")

    assert mention_spans(found, [["<C>", "<K>"], ["<K>"]]) == [[(4, 8)], [(4, 8)]]
