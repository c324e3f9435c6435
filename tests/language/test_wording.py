"""The grammar of texts, rule by rule; and no shipped text can come out wrong."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from families import COLLECTIONS, SHIPPED, Collection
from fillings import random_words
from hypothesis import given, settings, strategies as st

from vqagen.authoring.check.synonym_rules import ambiguous_words, unknown_synonyms, unsaid_plurals
from vqagen.errors import BadInput
from vqagen.language.catalogue import Catalogue
from vqagen.language.sentence import finished, starts_with_vowel_sound, without_other
from vqagen.language.synonyms import Synonyms, load_synonyms
from vqagen.language.template import Template
from vqagen.language.wording import Style, Wording
from vqagen.rng import stream
from vqagen.world.domain import Domain, domain_from_metadata

FARM = domain_from_metadata(
    {
        "language": "en",
        "types": {
            "Color": ["red", "orange", "ash"],
            "Kind": {"values": ["mouse", "box", "fly", "ox", "stop sign"], "null": "animal"},
            "Relation": ["left", "in"],
        },
        "plurals": {"mouse": "mice", "ox": "oxen"},
    }
)
SLOTS = {"<C>": "Color", "<K>": "Kind", "<C2>": "Color", "<K2>": "Kind", "<R>": "Relation"}


def wording(*texts: str, synonyms: Mapping[str, Any] | None = None, domain: Domain = FARM, **style: Any) -> Wording:
    catalogue = Catalogue(domain)
    template = Template("it", "farm.json", 0, 0, texts, SLOTS, (), (), catalogue)
    return Wording(template, Synonyms(synonyms or {}, domain), Style(**style))


def words(filled: str) -> dict[str, str | None]:
    """Written as `C=red, K=stop sign`; the other slots are left open."""
    given = dict(part.strip().split("=") for part in filled.split(",")) if filled else {}
    return {slot: given.get(slot.strip("<>")) for slot in SLOTS}


def said(text: str, filled: str = "", keep_other: bool = True, **synonyms: Any) -> str:
    """One sentence, in which nothing is left to chance unless there are synonyms or optional parts."""
    return wording(text, synonyms=synonyms).say(words(filled), stream(0, "said").random, keep_other)


def sayings(text: str, filled: str = "", count: int = 200, **synonyms: Any) -> Counter[str]:
    """How often each sentence comes when `count` are drawn."""
    compiled, rng = wording(text, synonyms=synonyms), stream(0, text)
    return Counter(compiled.say(words(filled), rng.random) for _ in range(count))


GRAMMAR = [
    # slots
    ("The <C> <K>?", "C=red, K=fly", "The red fly?"),
    ("The <C> <K> and the <C2> <K2>?", "C=red, K=fly, K2=ox, C2=ash", "The red fly and the ash ox?"),
    ("<K>-like <C>,<K>", "C=red, K=ox", "Ox-like red,ox"),
    ("The <K>'s color?", "K=ox", "The ox's color?"),
    # open slots: the head noun's null word, and nothing for the others
    ("The <C> <K>?", "", "The animal?"),
    ("The <C> <K>?", "C=red", "The red animal?"),
    ("The <C> <K> <R>?", "", "The animal?"),
    ("<C> <K>s", "", "Animals"),
    # plural
    ("The <C> <K>s?", "C=red, K=fly", "The red flies?"),
    ("The <K>s?", "K=box", "The boxes?"),
    ("The <K>s?", "K=mouse", "The mice?"),
    ("The <K>s?", "K=ox", "The oxen?"),
    ("The <K>s?", "K=stop sign", "The stop signs?"),
    ("<K>s, <K>s; <K>s.", "K=ox", "Oxen, oxen; oxen."),
    ("The <K>st?", "K=ox", "The oxst?"),
    ("The <K>'s and <K>s' color?", "K=ox", "The ox's and oxen' color?"),
    ("The <C>s <K>", "K=ox", "The ox"),
    # a and an
    ("A <C> <K>?", "C=orange, K=ox", "An orange ox?"),
    ("An <C> <K>?", "C=red, K=ox", "A red ox?"),
    ("Is a <C> <K> an <K>?", "K=ox", "Is an ox an ox?"),
    ("Is it a <C> <K>?", "K=fly", "Is it a fly?"),
    ("Is it a <C> <K>?", "", "Is it an animal?"),
    ("Is a unicorn a animal, an box, or an one-eyed ox?", "", "Is a unicorn an animal, a box, or a one-eyed ox?"),
    ("Say a. Any anchor, an, a", "", "Say a. Any anchor, an, a"),
    ("Is it a  <C> an[] <K>?", "C=orange, K=fly", "Is it an orange a fly?"),
    # capital
    ("<C> is it?", "C=red", "Red is it?"),
    ("<C> <K> is it?", "K=ox", "Ox is it?"),
    ("iS IT?", "", "IS IT?"),
    # spaces and gaps
    ("  The   <C>  <K> \t<C2> ?  ", "K=ox", "The ox?"),
    ("Is <C> , <C2> ; <K> .", "K=ox", "Is,; ox."),
    ("Count the <K>s !", "K=ox", "Count the oxen!"),
    # two things in a row of which one is named by words of the other, where no other text is left to draw
    ("Find the <K> and the <K2>; is it old?", "K=ox, K2=ox", "Find the ox and the ox; is it old?"),
    # what only looks like grammar
    ("Is 50% of <K> %s %(x)s?", "K=ox", "Is 50% of ox %s %(x)s?"),
]


@pytest.mark.quick(12)
@pytest.mark.parametrize(("text", "filled", "expected"), GRAMMAR)
def test_grammar(text: str, filled: str, expected: str) -> None:
    assert said(text, filled) == expected


# Optional parts ---------------------------------------------------------------------------------------------------


OPTIONAL = [
    ("x[ a] y", {"X a y": 0.5, "X y": 0.5}),
    ("x [a] y", {"X a y": 0.5, "X y": 0.5}),
    ("x [a][b]", {"X": 0.25, "X a": 0.25, "X b": 0.25, "X ab": 0.25}),
    ("x [a [b]] y", {"X y": 0.5, "X a y": 0.25, "X a b y": 0.25}),
    ("x [a [b] [c]]", {"X": 0.5, "X a": 0.125, "X a b": 0.125, "X a c": 0.125, "X a b c": 0.125}),
    ("x [[[a]]]", {"X a": 0.125, "X": 0.875}),
    ("x [<C>] [<K>s]?", {"X?": 0.25, "X red?": 0.25, "X oxen?": 0.25, "X red oxen?": 0.25}),
    ("Is [a] [<C>] <K>", {"Is ox": 0.25, "Is an ox": 0.25, "Is red ox": 0.25, "Is a red ox": 0.25}),
]


@pytest.mark.quick(2)
@pytest.mark.parametrize(("text", "shares"), OPTIONAL)
def test_each_optional_part_is_kept_half_of_the_time(text: str, shares: dict[str, float]) -> None:
    """By a draw of its own, and only where the part around it is kept. 4,000 draws: 0.03 is four standard errors."""
    found = sayings(text, "C=red, K=ox", count=4000)

    assert {sentence: found[sentence] / 4000 for sentence in shares} == pytest.approx(shares, abs=0.03)
    assert set(found) == set(shares)


# A model of the grammar: a text is a list of words, slots, plurals and optional lists.
PIECES = st.recursive(
    st.sampled_from(["is", "a", "the", "<C>", "<K>", "<K>s", "<C2>", "other", ",", "100%"]),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=6,
)


def written(pieces: list[Any]) -> str:
    return " ".join(f"[{written(piece)}]" if isinstance(piece, list) else piece for piece in pieces)


def readings(pieces: list[Any]) -> Iterator[str]:
    """Every way to keep and drop the optional parts."""
    if not pieces:
        yield ""
        return
    first, *others = pieces
    for rest in readings(others):
        if isinstance(first, list):
            yield rest
            yield from (f"{kept} {rest}" for kept in readings(first))
        else:
            yield f"{first} {rest}"


@given(st.lists(PIECES, min_size=1, max_size=4), st.sampled_from(["", "C=red", "C=orange, K=mouse", "K=box, C2=ash"]))
@settings(max_examples=100)
def test_a_sentence_is_one_of_the_readings(pieces: list[Any], filled: str) -> None:
    """The readings are written out first, and filled word by word: no compiled text, no chance."""
    form = {slot: value or ("animal" if slot == "<K>" else "") for slot, value in words(filled).items()}
    form["<K>s"] = {"animal": "animals", "mouse": "mice", "box": "boxes"}[form["<K>"]]
    expected = {
        finished(" ".join(" ".join(form.get(word, word) for word in reading.split()).split()))
        for reading in readings(pieces)
    }

    assert set(sayings(written(pieces), filled, count=20)) <= expected


# Synonyms ---------------------------------------------------------------------------------------------------------


ONE_WORD = [
    # a value, whichever slot has it, in the singular and the plural
    ("<K> <K2>", "K=ox, K2=ox", {"Bull bull", "Cow cow"}),
    ("<K> <K2>s", "K=ox, K2=ox", {"Bull bulls", "Cow cows"}),
    # with the plural and the article of the way it is said
    ("A <K>, many <K>s [or <K>s]", "K=fly", {
        "An insect, many insects", "A mouse, many mice", "An insect, many insects or insects",
        "A mouse, many mice or mice",
    }),
    # what is left open
    ("<K> <K2>s", "", {"Beast beasts", "Thing things"}),
    # two values have two draws
    ("<K> <K2>", "K=ox", {"Bull beast", "Bull thing", "Cow beast", "Cow thing"}),
    # words of the text's own decide, the first of them if there are several
    ("<K> and things", "", {"Thing and things"}),
    ("[Thing] <K>", "", {"Thing", "Thing thing"}),
    ("<K>, beasts, things", "", {"Beast, beasts, things"}),
    # all words of it, and nothing between them
    ("<K> and <K2>", "K=stop sign, K2=stop sign", {"Halt sign and halt sign", "Red sign and red sign"}),
    ("<K>, halt sign", "K=stop sign", {"Halt sign, halt sign"}),
    ("<K>, Red signs", "K=stop sign", {"Red sign, Red signs"}),
    ("<K>, red <C> signs", "K=stop sign", {"Halt sign, red signs", "Red sign, red signs"}),
    ("<K> beastly anything", "", {"Beast beastly anything", "Thing beastly anything"}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "filled", "expected"), ONE_WORD)
def test_a_value_is_said_in_one_way(text: str, filled: str, expected: set[str]) -> None:
    synonyms = {"ox": ["bull", "cow"], "animal": ["beast", "thing"], "stop sign": ["halt sign", "red sign"]}
    synonyms["fly"] = ["insect", "mouse"]

    assert set(sayings(text, filled, **synonyms)) == expected


def test_a_value_of_two_attributes_is_said_in_the_ways_of_each() -> None:
    """Kinds and colors may have a value in common; it is said alike only if the ways to say it are the same."""
    domain = domain_from_metadata({"types": {"Color": ["orange"], "Kind": ["orange"], "Relation": ["in"]}})
    ways = {"Color": {"orange": ["amber", "orange"]}, "Kind": {"orange": ["orange", "fruit"]}}
    apart, alike = (
        wording("<C> <K>", domain=domain, synonyms=synonyms) for synonyms in (ways, {"orange": ["orange", "amber"]})
    )
    rng, filled = stream(0, "orange"), {"<C>": "orange", "<K>": "orange"}

    assert len({apart.say(filled, rng.random) for _ in range(100)}) == 4
    assert {alike.say(filled, rng.random) for _ in range(100)} == {"Orange orange", "Amber amber"}


def test_mixed_words_have_a_draw_for_each_slot() -> None:
    compiled, rng = wording("<K> <K2>", synonyms={"ox": ["bull", "cow"]}, mixed_words=True), stream(0, "mixed")
    found = {compiled.say(words("K=ox, K2=ox"), rng.random) for _ in range(200)}

    assert found == {"Bull bull", "Bull cow", "Cow bull", "Cow cow"}


LONG = [
    (("Is the <K> old?",), {"ox": ["ox", "big old ox"]}, {4, 6}),
    (("Is the <K> old?",), {"ox": [*(f"big {age} ox" for age in range(50)), "ox"]}, {4, 6}),
    (("Is the <K> [so very] old?",), {}, {4, 6}),
    (("Is the <K> old?", "How very old is the <K>?"), {}, {4, 6}),
]


@pytest.mark.quick(5)
@pytest.mark.parametrize(("texts", "synonyms", "lengths"), LONG)
@pytest.mark.parametrize("most_words", [9, 6, 5, 4, 1])
def test_a_long_sentence_is_drawn_again(
    texts: tuple[str, ...], synonyms: dict[str, list[str]], lengths: set[int], most_words: int
) -> None:
    """Its text, optional parts and synonyms, of these at last the shortest; if all are too long, the shortest stays."""
    compiled, rng = wording(*texts, synonyms=synonyms, most_words=most_words), stream(1, "long")
    found = {len(compiled.say(words("K=ox"), rng.random).split()) for _ in range(200)}

    assert found == ({length for length in lengths if length <= most_words} or {min(lengths)})


TWICE = [
    ("K=ox, K2=ox", {"Which ox is older?"}),
    ("C=red, K=ox, K2=ox", {"Which ox is older?"}),
    ("C=red, K=ox, C2=red", {"Which ox is older?"}),
    ("K=ox, K2=fly", {"Find the ox and the fly; which is older?", "Which ox is older?"}),
    ("C=red, C2=ash", {"Find the red animal and the ash animal; which is older?", "Which animal is older?"}),
]


@pytest.mark.parametrize(("filled", "expected"), TWICE)
def test_a_sentence_that_names_one_thing_twice_in_a_row_is_drawn_again(filled: str, expected: set[str]) -> None:
    texts = ("Find the <C> <K> and the <C2> <K2>; which is older?", "Which <K> is older?")
    compiled, rng = wording(*texts), stream(0, "twice")

    assert {compiled.say(words(filled), rng.random) for _ in range(50)} == expected


# Other ------------------------------------------------------------------------------------------------------------

OTHER = [
    ("How many other <K>s?", "How many oxen?"),
    ("Is there another <K>?", "Is there an ox?"),
    ("Is there another <C> <K>?", "Is there a red ox?"),
    ("Another <K>?", "An ox?"),
    ("Other <K>s?", "Oxen?"),
    ("Is any other, or another, <K> here?", "Is any, or a, ox here?"),
    ("Do others or mothers bother?", "Do others or mothers bother?"),
]


@pytest.mark.parametrize(("text", "expected"), OTHER)
def test_other_is_dropped_on_request(text: str, expected: str) -> None:
    filled = "K=ox, C=red" if "<C>" in text else "K=ox"

    assert said(text, filled, keep_other=False) == expected
    assert said(text, filled) == text.replace("<C>", "red").replace("<K>s", "oxen").replace("<K>", "ox")


ANYTHING = [
    ("Is any <K> here?", "Is anything here?"),
    ("Any <K>?", "Anything?"),
    ("Every <K> and each <K>?", "Everything and everything?"),
    ("Does any other <K> match?", "Does anything else match?"),
    ("Is any <C> <K> here?", "Is any red thing here?"),
    ("Are any <K>s here?", "Are any things here?"),
    ("Is any <K>-like ox here?", "Is any thing-like ox here?"),
    ("Are many <K> here?", "Are many thing here?"),
]


@pytest.mark.parametrize(("text", "expected"), ANYTHING)
def test_any_thing_is_one_word(text: str, expected: str) -> None:
    """Unless something is said between the two."""
    assert said(text, "C=red" if "<C>" in text else "", animal=["thing"]) == expected


def test_any_thing_may_stay_two_words() -> None:
    compiled = wording("Is any <K> here?", synonyms={"animal": ["thing"]}, joins_anything=False)
    found = compiled.say(words(""), stream(0, "").random), compiled.say_marked(words(""), stream(0, "").random).text

    assert found == ("Is any thing here?",) * 2


def test_any_thing_is_one_word_without_other() -> None:
    assert said("Does any other <K> match?", keep_other=False, animal=["thing"]) == "Does anything match?"


def test_whether_other_is_mentioned() -> None:
    mentions = {text: wording("It", text).mentions_other for text in ("An other", "Another", "Others", "Mother")}

    assert mentions == {"An other": True, "Another": True, "Others": False, "Mother": False}
    assert without_other("the other of another other one") == "the of a one"


# Rewrites ---------------------------------------------------------------------------------------------------------

REWRITES = [
    # one after the other, each on what the one before left
    ([("ox", "cow"), ("cow", "bull")], "The <K>?", "K=ox", "The bull?"),
    ([("cow", "bull"), ("ox", "cow")], "The <K>?", "K=ox", "The cow?"),
    # before articles and the capital: patterns see the text's own
    ([("red", "orange")], "Is it a <C> <K>?", "C=red, K=ox", "Is it an orange ox?"),
    ([("Red", "Blue"), ("^red", "orange")], "<C> is it?", "C=red", "Orange is it?"),
    ([(r"\ban ox", "an eel"), (r"\ba ox", "a eel")], "Is it a <K>?", "K=ox", "Is it an eel?"),
    ([("the", "an")], "Is it the <C> <K>?", "C=red, K=ox", "Is it a red ox?"),
    # after white space and gaps, which are tidied again
    ([("the ox[?]", "this")], "Is it  the <C>  <K> ?", "K=ox", "Is it this"),
    ([(r"\bred ", "  "), ("ox", " ,  ")], "The <C> <K>?", "C=red, K=ox", "The,?"),
    ([("The", "")], "The <C> <K>?", "C=red, K=ox", "Red ox?"),
    ([("ox", "ox !")], "Count the <K>", "K=ox", "Count the ox!"),
    # groups
    ([(r"(\w+) ox", r"ox that is \1")], "The <C> <K>?", "C=red, K=ox", "The ox that is red?"),
    ([("(?P<what>ox)|(cow)", r"\g<what>\2!")], "The <K>?", "K=ox", "The ox!?"),
]


@pytest.mark.parametrize(("rewrites", "text", "filled", "expected"), REWRITES)
def test_rewrites(rewrites: list[tuple[str, str]], text: str, filled: str, expected: str) -> None:
    section = [{"pattern": pattern, "replace": new} for pattern, new in rewrites]
    domain = domain_from_metadata({**FARM.record, "rewrites": section})

    assert wording(text, domain=domain).say(words(filled), stream(0, "said").random) == expected


def test_rewrites_see_a_sentence_without_other() -> None:
    domain = replace(FARM, rewrites=((re.compile("other"), "further"), (re.compile("is a ox"), "is it")))
    compiled = wording("This is another <K>?", domain=domain)

    said = {keep: compiled.say(words("K=ox"), stream(0, "").random, keep) for keep in (True, False)}
    assert said == {True: "This is anfurther ox?", False: "This is it?"}


# Words ------------------------------------------------------------------------------------------------------------

AN = """
apple egg ice orange umbrella umber hour honest heir honor honour unimportant uninteresting unidentified unlit utter
usher eight 8 80 8-sided 11 18 L-shaped S X-ray F M animal olive ivory indigo azure open
"""
A = """
box one one-eyed once unicorn unit uniform union unique use used user usual useful european euro ewe u-shaped U UFO USB
ukulele utensil utility utopian yellow house hot heap 7 1 10 110 180 T-shaped B-side wood red
"""


@pytest.mark.parametrize(("expected", "listed"), [("an", AN), ("a", A)])
def test_article(expected: str, listed: str) -> None:
    wrong = [word for word in listed.split() if finished(f"is it a {word}?") != f"Is it {expected} {word}?"]

    assert wrong == []
    assert {starts_with_vowel_sound(word) for word in listed.split()} == {expected == "an"}


# What is not the template's English ---------------------------------------------------------------------------------

LABELS = domain_from_metadata(
    {
        "types": {
            "Label": ["A", "an", "a", "U", "8", "N/A", "St. Ives", "3.5 ,", "? box", ".5", "other", "another one"],
            "Kind": {"values": ["block", "apple"], "null": "thing"},
            "Relation": ["next to a", "by"],
        }
    }
)


def labeled(text: str, label: str, language: str = "", keep_other: bool = True) -> str:
    domain = domain_from_metadata({**LABELS.record, "language": language or "en"}) if language else LABELS
    slots = {"<L>": "Label", "<K>": "Kind", "<R>": "Relation"}
    template = Template("it", "it.json", 0, 0, (text,), slots, (), (), Catalogue(domain))
    filled = {"<L>": label, "<K>": "apple", "<R>": "next to a"}
    made = Wording(template, Synonyms({}, domain))
    plain = made.say(filled, stream(0, "").random, keep_other)
    assert made.say_marked(filled, stream(0, "").random, keep_other).text == plain
    return plain


@pytest.mark.quick(6)
@pytest.mark.parametrize("label", LABELS.values_of("Label"))
@pytest.mark.parametrize("language", ["", "en", "fr"])
def test_a_value_stands_in_a_sentence_as_it_is(label: str, language: str) -> None:
    text = "What color is the block <L> in the picture, and is the other one left of <K> <L>?"

    assert labeled(text, label, language) == text.replace("<L>", label).replace("<K>", "apple")


def test_an_article_agrees_with_a_value_and_a_value_with_nothing() -> None:
    assert labeled("Is it a <K> <R> <L> , or an <L> ?", "8") == "Is it an apple next to a 8, or an 8?"
    without_other = labeled("Is there another <K> of the kind <L>?", "other", keep_other=False)
    assert without_other == "Is there an apple of the kind other?"


FOREIGN = [
    ("es", "¿Hay algo igual a <K> a la izquierda?", "¿Hay algo igual a apple a la izquierda?"),
    ("fr", "Y a un <K> ?", "Y a un apple ?"),
    ("fr", "De quelle couleur a l'unique <K>\u00a0?", "De quelle couleur a l'unique apple\u00a0?"),
    ("fr", "Voici <L> : de quelle couleur ? Ou bien ;  non !", "Voici A : de quelle couleur ? Ou bien ; non !"),
    ("ar", "ما لون <K> ؟", "ما لون apple ؟"),
    ("ar", "في الصورة ، ما لون <K>؟", "في الصورة ، ما لون apple؟"),
    ("hu", "A <K> kocka, vagy a piros?", "A apple kocka, vagy a piros?"),
]


@pytest.mark.parametrize(("language", "text", "expected"), FOREIGN)
def test_the_rules_of_english_hold_for_english_alone(language: str, text: str, expected: str) -> None:
    """The first line would be "igual an apple". Without a language, the words of a text show that it is no English."""
    assert labeled(text, "A", language) == expected
    assert labeled(text, "A") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("De quelle couleur est la chose <L> ?", "De quelle couleur est la chose ?"),
        ("La cosa <L>, de qué color es <L>?", "La cosa, de qué color es?"),
        ("الصورة <L>، ما لون <L>؟", "الصورة، ما لون؟"),
        ("Quelle chose <L>\u202f?", "Quelle chose\u202f?"),
    ],
)
def test_the_gap_of_an_open_slot_closes_in_any_language(text: str, expected: str) -> None:
    template = Template("it", "it.json", 0, 0, (text,), {"<L>": "Label"}, (), (), Catalogue(LABELS))

    assert Wording(template, Synonyms({}, LABELS)).say({"<L>": None}, stream(0, "").random) == expected


# What is shipped --------------------------------------------------------------------------------------------------


def flaws(sentence: str) -> list[str]:
    found = [mark for mark in ("<", ">", "[", "]", "  ", " ?", " !", " ,", " ;", " .", ",,", "%") if mark in sentence]
    found += re.findall(r"\ba [aeiou]\w*|\ban [^aeiou]\w*|\ba an?\b|\ban an?\b|\bthe the\b", sentence, re.IGNORECASE)
    found += [] if sentence[:1].isupper() and sentence.strip() == sentence else ["start or end"]
    return found


@pytest.mark.quick(1)
@pytest.mark.parametrize("collection", COLLECTIONS, ids=str)
@pytest.mark.parametrize("keep_other", [True, False])
def test_texts_come_out_clean(collection: Collection, keep_other: bool) -> None:
    """For any filling: no grammar is left over, no gaps, right articles, a capital."""
    rng = stream(0, collection.name)

    for template in collection.materials.templates:
        compiled = Wording(template, collection.materials.synonyms)
        sentences = [compiled.say(random_words(template, rng), rng.random, keep_other) for _ in range(40)]
        assert [(template.id, sentence, flaws(sentence)) for sentence in sentences if flaws(sentence)] == []
        if not keep_other:
            assert [sentence for sentence in sentences if re.search(r"\b(an)?other\b", sentence, re.I)] == []


# Synonyms -------------------------------------------------------------------------------------------------------------

METADATA: dict[str, Any] = {
    "types": {
        "Color": ["red", "orange", "ash"],
        "Kind": {
            "values": [{"cattle": ["ox", "cow"]}, "mouse", "fly", "stop_sign"],
            "null": "animal",
            "display": {"cattle": "head of cattle", "stop_sign": "stop sign"},
        },
        "Relation": ["left", "in"],
    },
    "plurals": {"mouse": "mice", "ox": "oxen", "head of cattle": "head of cattle", "man": "men", "knifes": "knives"},
}
MEADOW = domain_from_metadata(METADATA)


def farm(**sections: Any) -> Domain:
    return domain_from_metadata({**METADATA, **sections})


# Where ways come from ---------------------------------------------------------------------------------------------


def test_ways_to_say_a_value_of_one_type_come_before_those_of_any() -> None:
    table = {"ash": ["gray"], "Kind": {"ash": ["tree"], "ox": ["bull"]}, "ox": ["cow"], "Color": {"red": ["ruby"]}}

    synonyms = Synonyms(table, MEADOW)

    assert synonyms.of("Kind", "ash") == ("tree",)
    assert synonyms.of("Color", "ash") == ("gray",)
    assert synonyms.of("Kind", "ox") == ("bull",)
    assert synonyms.of("Kind", "fly") == ("fly",)
    assert synonyms.of("Color", None) == ("",)
    assert synonyms.of("Relation", None) == ("",)


FILE_AND_SECTION = [
    # the file's table, the metadata's section, and what Color's ash is called
    ({}, {}, "ash"),
    ({}, {"ash": ["gray"]}, "gray"),
    ({}, {"Color": {"ash": ["pale"]}}, "pale"),
    ({}, {"ash": ["gray"], "Color": {"ash": ["pale"]}}, "pale"),
    ({"ash": ["wan"]}, {"ash": ["gray"], "Color": {"ash": ["pale"]}}, "wan"),
    ({"Color": {"ash": ["wan"]}}, {"ash": ["gray"], "Color": {"ash": ["pale"]}}, "wan"),
    ({"Kind": {"ash": ["tree"]}}, {"ash": ["gray"]}, "gray"),
    ({"red": ["ruby"], "Color": {"red": ["ruby"]}}, {"ash": ["gray"]}, "gray"),
    ({"color": {"ash": ["wan"]}}, {"COLOR": {"ash": ["gray"]}}, "ash"),
    ({"comment": "x", "$schema": "x", "ox": ["cow"], "Color": {"comment": "x", "ash": ["wan"]}}, {}, "wan"),
]


@pytest.mark.parametrize(("table", "section", "expected"), FILE_AND_SECTION)
def test_the_file_comes_before_the_metadata_value_by_value(
    tmp_path: Path, table: dict[str, Any], section: dict[str, Any], expected: str
) -> None:
    path = tmp_path / "synonyms.json"
    path.write_text(json.dumps(table))

    assert load_synonyms(path, farm(synonyms=section)).of("Color", "ash") == (expected,)


DISPLAYED = [
    ("stop_sign", {}, ("stop sign",)),
    ("cattle", {}, ("head of cattle",)),
    ("ox", {}, ("ox",)),
    ("mouse", {}, ("mouse",)),
    (None, {}, ("animal",)),
    ("cattle", {"cattle": ["cows"]}, ("cows",)),
    ("cattle", {"Kind": {"cattle": ["cows"]}}, ("cows",)),
    ("cattle", {"head of cattle": ["cows"]}, ("head of cattle",)),
]


@pytest.mark.parametrize(("value", "table", "expected"), DISPLAYED)
def test_a_value_is_said_as_displayed_where_it_has_no_synonym(
    value: str | None, table: dict[str, Any], expected: tuple[str, ...]
) -> None:
    """Groups too; and a value without either is said as itself."""
    assert Synonyms(table, MEADOW).of("Kind", value) == expected


SYNONYM_MISTAKES = [
    ("[]", 1, "", "expected an object, found a list of 0"),
    ('{\n"red": []}', 2, "red", "expected a list of at least 1, found a list of 0"),
    ('{\n"red": ["ruby", 3]}', 2, "red[1]", "expected text, found 3"),
    ('{"red": ["a <Z>"]}', 1, "red[0]", "expected a way to say it, without < > [ ], found 'a <Z>'"),
    ('{\n"Color": {\n"red": {"ruby": []}}}', 3, "Color.red", "expected a list, found an object"),
    ('{\n"red": ["ruby"\n}', 3, "", "not valid JSON"),
]


@pytest.mark.parametrize(("text", "line", "path", "message"), SYNONYM_MISTAKES)
def test_mistake_in_synonyms(tmp_path: Path, text: str, line: int, path: str, message: str) -> None:
    (tmp_path / "synonyms.json").write_text(text)

    with pytest.raises(BadInput) as raised:
        load_synonyms(tmp_path / "synonyms.json", MEADOW)

    (problem,) = raised.value.problems
    assert (problem.line, problem.path) == (line, path)
    assert message in problem.message


# Plurals ----------------------------------------------------------------------------------------------------------

WAYS = [
    *[("box", "boxes"), ("bus", "buses"), ("bush", "bushes"), ("bench", "benches"), ("quartz", "quartzes")],
    *[("cube", "cubes"), ("berry", "berries"), ("toy", "toys")],
    ("mouse", "mice"),
    ("computer mouse", "computer mice"),
    ("head of cattle", "head of cattle"),
    ("big head of cattle", "big head of cattles"),
    ("stop sign", "stop signs"),
    ("grown man", "grown men"),
    ("human", "humans"),
    ("tin box", "tin boxes"),
    ("bread knife", "bread knives"),
    ("toy-mouse", "toy-mice"),
    ("toy-box", "toy-boxes"),
    ("dormouse", "dormouses"),
]


@pytest.mark.parametrize(("way", "expected"), WAYS)
def test_plural_of_a_way(way: str, expected: str) -> None:
    """The domain's plurals of all of it, then of its last word, where a hyphen may begin it; then the English rule."""
    assert Synonyms({}, MEADOW).plural(way) == expected


def test_words_for_extremes_are_no_ways_to_say_a_relation() -> None:
    """Those of the file go before those of the metadata; a relation without any has none."""
    own = farm(synonyms={"Extreme": {"left": ["leftmost"], "in": ["innermost"]}})
    synonyms = Synonyms({"left": ["left of"], "Extreme": {"left": ["far left"]}}, own)

    assert synonyms.of("Relation", "left") == ("left of",)
    assert [synonyms.extreme(name) for name in ("left", "in", "behind")] == [("far left",), ("innermost",), ()]


# Doubts -----------------------------------------------------------------------------------------------------------

UNKNOWN: list[tuple[dict[str, Any], list[tuple[str, str]]]] = [
    ({"red": ["ruby"], "cattle": ["cows"], "animal": ["beast"], "left": ["left of"], "comment": "x"}, []),
    ({"Kind": {"ox": ["bull"], "animal": ["beast"], "comment": "x"}, "Relation": {"in": ["within"]}}, []),
    ({"rad": ["ruby"]}, [("rad", "unknown value 'rad'; did you mean 'red'?")]),
    ({"Red": ["ruby"]}, [("Red", "unknown value 'Red'; did you mean 'red'?")]),
    ({"color": {"red": ["ruby"]}}, [("color", "unknown type 'color'; did you mean 'Color'?")]),
    ({"Object": {"red": ["ruby"]}}, [("Object", "unknown type 'Object'; known: Color, Kind, Relation, Extreme")]),
    ({"Extreme": {"left": ["leftmost"], "comment": "x"}}, []),
    ({"Extrem": {"left": ["leftmost"]}}, [("Extrem", "unknown type 'Extrem'; did you mean 'Extreme'?")]),
    ({"Extreme": {"lefd": ["leftmost"]}}, [("Extreme.lefd", "unknown Extreme 'lefd'; did you mean 'left'?")]),
    ({"Color": {"ox": ["bull"]}}, [("Color.ox", "unknown Color 'ox'; known: red, orange, ash")]),
    ({"Kind": {"axe": ["x"], "oxe": ["bull"]}, "read": ["ruby"]}, [
        ("Kind.axe", "unknown Kind 'axe'; known: cattle, ox, cow, mouse, fly, stop_sign, animal"),
        ("Kind.oxe", "unknown Kind 'oxe'; did you mean 'ox'?"),
        ("read", "unknown value 'read'; did you mean 'red'?"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("table", "expected"), UNKNOWN)
def test_synonyms_of_what_the_domain_does_not_have(table: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert list(unknown_synonyms(table, MEADOW)) == expected
    assert list(unknown_synonyms(table, MEADOW, "synonyms")) == [(f"synonyms.{path}", told) for path, told in expected]


AMBIGUOUS: list[tuple[dict[str, Any], list[tuple[str, list[tuple[str, str]]]]]] = [
    ({}, []),
    ({"ox": ["bull", "bull"], "red": ["ruby", "scarlet"]}, []),
    ({"ox": ["bull"], "cow": ["cow", "bull"]}, [("bull", [("Kind", "ox"), ("Kind", "cow")])]),
    ({"ox": ["fly"]}, [("fly", [("Kind", "ox"), ("Kind", "fly")])]),
    ({"ox": ["cattle"]}, []),
    ({"ox": ["head  of Cattle"]}, [("head of cattle", [("Kind", "cattle"), ("Kind", "ox")])]),
    ({"red": ["Ox"]}, [("Ox", [("Color", "red"), ("Kind", "ox")])]),
    ({"left": ["in"]}, [("in", [("Relation", "left"), ("Relation", "in")])]),
    ({"in": ["red"]}, [("red", [("Color", "red"), ("Relation", "in")])]),
    ({"animal": ["mouse"]}, [("mouse", [("Kind", "mouse"), ("Kind", "animal")])]),
]


@pytest.mark.parametrize(("table", "expected"), AMBIGUOUS)
def test_words_that_say_two_things(table: dict[str, Any], expected: list[tuple[str, list[tuple[str, str]]]]) -> None:
    assert list(ambiguous_words(Synonyms(table, MEADOW), MEADOW)) == expected


PLURALS_OF_WORDS: list[tuple[dict[str, Any], dict[str, str], list[str]]] = [
    ({}, {"mouse": "mice", "flys": "flies"}, []),
    ({}, {"stop sign": "stop signs", "sign": "signs"}, []),
    ({}, {"mousse": "mice"}, ["plurals.mousse"]),
    ({}, {"stop_sign": "stop signs"}, ["plurals.stop_sign"]),
    ({"mouse": ["rodent"]}, {"mouse": "mice"}, ["plurals.mouse"]),
    ({"mouse": ["mouse", "field mouse", "toy-mouse"]}, {"mouse": "mice"}, []),
]


@pytest.mark.parametrize(("table", "plurals", "unsaid"), PLURALS_OF_WORDS)
def test_plurals_fit_the_words_that_are_said(table: dict[str, Any], plurals: dict[str, str], unsaid: list[str]) -> None:
    domain = farm(plurals=plurals)

    assert [place for place, _ in unsaid_plurals(Synonyms(table, domain), domain)] == unsaid


@pytest.mark.parametrize("collection", SHIPPED, ids=str)
def test_no_shipped_word_says_two_things(collection: Collection) -> None:
    materials = collection.materials

    assert list(ambiguous_words(materials.synonyms, materials.domain)) == []
