"""The sentences of dialogs: every shipped text in every shipped domain, its grammar, its meaning, its marked words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any, NamedTuple

import pytest
from dialog_domains import dialog_domain, dialog_reader
from oracles.dialogs.readings import cases_of

from vqagen.language.domain_files import SHIPPED_DOMAINS
from vqagen.language.sentence import finished, starts_with_vowel_sound
from vqagen.language.synonyms import load_synonyms
from vqagen.tasks.dialog.loading import LoadedDialogDomain, label_rules
from vqagen.tasks.dialog.rounds import ROUND_KINDS
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.tasks.dialog.template import (
    ANY_EXTREME,
    BACK,
    FAR,
    SLOTS,
    UNSURE,
    DialogTemplate,
    find_template,
    names_in,
    parse_text,
    parts_where,
)
from vqagen.tasks.dialog.wording import DialogWords, Sentence, Wordings
from vqagen.world.domain import domain_from_metadata

DOMAINS = list(SHIPPED_DOMAINS)
DRAWS = 40
"""Sentences drawn of each template: each text several times."""


class Drawn(NamedTuple):
    """A sentence and what it says."""

    template: DialogTemplate
    label: str
    slots: dict[str, Any]
    conditions: frozenset[str]
    said: Sentence

    @property
    def marked(self) -> dict[str, str]:
        words = self.said.text.split(" ")
        return {role: " ".join(words[start:end]).rstrip(".,;:?") for role, (start, end) in self.said.spans.items()}


@cache
def drawn(domain: str) -> tuple[Drawn, ...]:
    """Sentences of all templates, with all kinds of fillings."""
    return tuple(_drawn(dialog_domain(domain)))


def _drawn(domain: LoadedDialogDomain) -> Iterator[Drawn]:
    wordings, rng = Wordings(domain.templates, domain.synonyms, domain.vocabulary), Random(3)
    rules = label_rules(domain.vocabulary.relations)
    for template in domain.templates.values():
        for number in range(DRAWS):
            slots, cases = filling(domain, rng), rules[template.label].cases
            label = f"extreme-{slots['R']}" if template.label == ANY_EXTREME else template.label
            conditions = cases[number % len(cases)]
            said = DialogWords(wordings, rng).say(label, template.form, slots, rng, conditions)
            yield Drawn(template, label, slots, conditions, said)


def filling(domain: LoadedDialogDomain, rng: Random) -> dict[str, Any]:
    """Values for every slot."""
    attributes = domain.vocabulary.attributes

    def values(most: int) -> dict[str, str]:
        chosen = rng.sample(attributes, rng.randint(1, most))
        return {each.name: rng.choice(each.leaves) for each in chosen}

    relation = rng.choice(domain.vocabulary.relations)
    told = {"D": values(2), "D2": values(1), "V": values(1)}
    return {"A": rng.choice(attributes).name, "R": relation, "E": relation, "K": rng.randint(2, 14), **told}


over_domains = pytest.mark.parametrize("domain", DOMAINS)


# The shipped templates ----------------------------------------------------------------------------------------------


@over_domains
def test_every_label_has_several_texts(domain: str) -> None:
    templates = dialog_domain(domain).templates
    rules = label_rules(dialog_domain(domain).vocabulary.relations)
    found = {label: [find_template(templates, label, form) for form in rule.forms] for label, rule in rules.items()}

    assert set(ROUND_KINDS) < set(found)
    assert [label for label, each in found.items() if None in each] == []
    assert [each.id for each in templates.values() if len(each.texts) < 4] == []


@over_domains
def test_no_shipped_text_names_anything_of_a_domain(domain: str) -> None:
    """So each fits every domain: values, relations, attributes and nouns come from slots alone."""
    vocabulary, synonyms = dialog_domain(domain).vocabulary, dialog_domain(domain).synonyms
    known = {each.name for each in vocabulary.attributes}
    known |= {way for each in vocabulary.attributes for leaf in each.leaves for way in synonyms.of(each.type, leaf)}
    known |= {way for name in vocabulary.relations for way in synonyms.extreme(name)}
    known |= {"thing", "things", "object", "objects", "item", "items", "previous"}
    texts = [text for each in dialog_domain(domain).templates.values() for text in each.texts]
    words = {word.lower() for text in texts for word in re.findall(r"(?<![<{])\b\w[\w-]*\b(?![>|])", text)}

    assert words & known == set()


@pytest.mark.quick(1)
@over_domains
def test_the_rewrites_of_a_domain_change_no_shipped_text(domain: str) -> None:
    """Or a reader of the templates could not read the sentences."""
    rewrites = dialog_domain(domain).domain.rewrites
    changed = [each.said.text for each in drawn(domain) for pattern, _ in rewrites if pattern.search(each.said.text)]

    assert changed == []


# Grammar --------------------------------------------------------------------------------------------------------------

FAULTS = {
    "needless space": r"  |^ | $| [?.,;:!]",
    "no end": r"[^?.]$|[?.].*[?.]",
    "no capital": r"^[^A-Z]",
    "two articles": r"(?i)\b(?:a|an|the|any) (?:a|an|the|any)\b",
    "repeated word": r"(?i)\b(\w+) \1\b",
    "left over": r"[<>\[\]{}|%_]",
    "to behind": r"\bto (?:its |the )?(?:behind|in front|nearer|closer|farther)",
    "previous": r"(?i)\bprevious",
}  # fmt: skip


@pytest.mark.quick(1)
@over_domains
def test_sentences_have_no_fault_of_grammar(domain: str) -> None:
    texts = [each.said.text for each in drawn(domain)]

    assert [(fault, text) for fault, pattern in FAULTS.items() for text in texts if re.search(pattern, text)] == []


@pytest.mark.quick(1)
@over_domains
def test_articles_fit_their_words(domain: str) -> None:
    pairs = {pair for each in drawn(domain) for pair in re.findall(r"\b([Aa]n?) (\S+)", each.said.text)}

    assert {pair for pair in pairs if (pair[0].lower() == "an") != starts_with_vowel_sound(pair[1])} == set()


@over_domains
def test_the_family_can_be_heard(domain: str) -> None:
    """Counts are asked by "how many" or "what is the number"; what may be yes or no begins with a verb.

    But for an ellipsis, which leaves it to the round before: "And behind it?".
    """
    for each in drawn(domain):
        if re.match(r"(?:and|what about) ", each.said.text.lower()) and each.label in ELLIPSES:
            continue
        text = each.said.text.lower()
        counts = "how many" in text or "number of" in text
        assert counts == (family_of(each) == "count"), each.said.text
        if family_of(each) == "exist":
            assert re.search(r"(?:^|^and |, )(?:is|are|does|do|can) ", text), text


def family_of(each: Drawn) -> str:
    """The family of a sentence; "" for a caption."""
    return ROUND_KINDS[each.label].family if each.label in ROUND_KINDS else ""


ELLIPSES = [label for label, kind in ROUND_KINDS.items() if kind.after]
ONE = r"an?|just one|only one|exactly one|at least one|more than one|the earlier|the next|the very next"
MANY = (
    r"how many(?: other)?|number of(?: other)?|all other|all the|any(?: other)?|at least two|two or more|of those"
    r"|(?:exactly|are) (?!one|any|other)\w+|of all"
)


@pytest.mark.quick(1)
@over_domains
def test_numbers_and_nouns_agree(domain: str) -> None:
    """After "how many", "any other" and "exactly three" stands a plural; after "one" and "a" a singular."""
    synonyms, attributes = dialog_domain(domain).synonyms, dialog_domain(domain).vocabulary.attributes
    ways = {each.name: [way for leaf in each.leaves for way in synonyms.of(each.type, leaf)] for each in attributes}
    head = attributes[-1]
    singulars = [*ways.pop(head.name), *synonyms.of(head.type, None)]
    plurals = [synonyms.plural(way) for way in singulars]
    before = rf"(?:{_any(way for adjectives in ways.values() for way in adjectives)} )*"
    checked = 0
    for each in drawn(domain):
        for words, number in ((ONE, singulars), (MANY, plurals)):
            nouns = _any([*singulars, *plurals])
            for noun in re.findall(rf"(?i)\b(?:{words}) {before}({nouns})", each.said.text):
                assert noun in number, each.said.text
                checked += 1
    assert checked > len(drawn(domain)) / 2


# Reading sentences back -----------------------------------------------------------------------------------------------


def _any(words: Any) -> str:
    return rf"(?:{'|'.join(sorted(map(re.escape, words), key=len, reverse=True))})\b"


@pytest.mark.quick(1)
@over_domains
def test_every_sentence_has_one_meaning(domain: str) -> None:
    """Its label, its form, what fills it and its marks can be read back, and no other template could have said it."""
    reader = dialog_reader(domain)
    for each in drawn(domain):
        fitting = parts_where(parse_text(each.template.texts[each.said.variant]), each.conditions)
        text, written = each.said.text, set(names_in(fitting, *SLOTS))
        meant = {name: each.slots[name] for name in (*(written - {"N", "P"}), *("V" for _ in written & {"P"}))}
        readings = [reading for label in reader.rules for reading in reader.read(text, label)]

        assert {(reading.label, reading.form) for reading in readings} == {(each.label, each.template.form)}, text
        cases = {case - {BACK} for reading in readings for case in cases_of(reader, reading)}
        assert each.conditions - {BACK} in cases, text
        for reading in readings:
            assert (reading.slots, reading.said.spans) == (meant, each.said.spans), text


# Marked words ---------------------------------------------------------------------------------------------------------


@over_domains
def test_marks_are_at_their_words(domain: str) -> None:
    """Counted in words, behind articles, optional parts, synonyms and descriptions of several words."""
    for each in drawn(domain):
        marked = {role: words.lower() for role, words in each.marked.items()}
        if "<D>" in each.template.texts[0] and "focus" in marked:
            assert re.match(r"the (?:earlier )?", marked["focus"]), each
            is_earlier = re.search("earlier|before|we talked about", marked["focus"]) is not None
            assert is_earlier == (FAR in each.conditions and not each.said.text.startswith("Coming back")), each
        elif "focus" in marked:
            assert marked["focus"] in ("it", "its"), each
        if "group" in marked:
            assert re.fullmatch(r"them|that|those \w+", marked["group"]), each
        for role in ("subject", "anchor"):
            assert re.match(r"an? |$", marked.get(role, "")), each


def said_of(
    text: str, domain: str = "clevr", seed: int = 0, conditions: frozenset[str] = frozenset(), **slots: Any
) -> Sentence:
    """A sentence of one text."""
    files = dialog_domain(domain)
    templates, rng = {("own", ""): DialogTemplate("own", "own", "", (text,))}, Random(seed)
    words = DialogWords(Wordings(templates, files.synonyms, files.vocabulary), rng)
    return words.say("own", "", slots, rng, conditions)


SPACES: list[tuple[str, str, dict[str, tuple[int, int]]]] = [
    ("a {focus| <D> } ?", "A cube?", {"focus": (1, 2)}),
    ("{result| a {focus|<D> here } , }now [] ?", "A cube here, now?", {"result": (0, 3), "focus": (1, 3)}),
    ("So  {result|{focus|the <D>}}.", "So the cube.", {"result": (1, 3), "focus": (1, 3)}),
    ("50% of {focus|all} <V>s", "50% of all cubes", {"focus": (2, 3)}),
]


@pytest.mark.parametrize(("text", "sentence", "spans"), SPACES)
def test_spaces_are_tidied_and_marks_follow(text: str, sentence: str, spans: dict[str, tuple[int, int]]) -> None:
    said = said_of(text, D={"shape": "cube"}, V={"shape": "cube"})
    tidied = said.text.replace("block", "cube")

    assert (tidied, dict(said.spans)) == (sentence, spans)


def test_rewrites_of_a_domain_move_the_marks() -> None:
    """In the market, "any item" becomes "anything" behind "is"."""
    said = said_of("Is any <N> <R> {focus|the <D>} [at all] now?", "market", R="nearer", D={"material": "wood"})
    words = said.text.split()

    assert words[:2] == ["Is", "anything"]
    assert " ".join(words[slice(*said.spans["focus"])]) in ("the wooden item", "the wooden thing")


# Words that fit what the listener knows ------------------------------------------------------------------------------

THE_CUBE = {"D": {"shape": "cube"}}
FITTING: list[tuple[str, tuple[str, ...], str | None]] = [
    ("And {focus|the [far|earlier] <D>}'s?", ("near",), "And the cube's?"),
    ("And {focus|the [far|earlier] <D>}'s?", ("far", "back"), "And the earlier cube's?"),
    ("And {focus|the <D> [far|from before]}[unsure|, if any]?", ("far",), "And the cube from before?"),
    ("And {focus|the <D> [far|from before]}[unsure|, if any]?", ("near", "unsure"), "And the cube, if any?"),
    ("[back|Back to {focus|the <D>}[unsure|, if any]?]", ("far", "back"), "Back to the cube?"),
    ("[back|Back to {focus|the <D>}[unsure|, if any]?]", ("far", "unsure"), None),
    ("[back|Back [near|and forth] to {focus|the <D>}?]", ("back", "near"), "Back and forth to the cube?"),
]  # fmt: skip


def test_a_part_with_a_condition_is_said_exactly_where_it_holds() -> None:
    """And a text of which nothing is left is not said."""
    for text, conditions, expected in FITTING:
        fitting = parts_where(parse_text(text), conditions)
        said = (
            said_of(text, conditions=frozenset(conditions), **THE_CUBE).text.replace("block", "cube")
            if fitting
            else None
        )

        assert said == expected, (text, conditions)


@over_domains
def test_a_dialog_comes_back_once(domain: str) -> None:
    files = dialog_domain(domain)
    wordings, rng = Wordings(files.templates, files.synonyms, files.vocabulary), Random(5)
    slots, back = filling(files, rng), frozenset({FAR, BACK, UNSURE})
    labels = [label for label, rule in label_rules(files.vocabulary.relations).items() if {FAR, BACK} in rule.cases]
    for _ in range(10):
        words = DialogWords(wordings, rng)
        texts = [words.say(label, "", slots, rng, back).text for label in labels * 10]
        assert sum(text.startswith("Coming back") for text in texts) == 1
    assert len(labels) >= 5


def test_a_value_is_said_as_it_was_answered() -> None:
    """After "rubber", the thing is no longer the matte one; a word that is no way to say a value is not taken over."""
    files, rng = dialog_domain("market"), Random(6)
    wordings = Wordings(files.templates, files.synonyms, files.vocabulary)
    large, wooden = {"V": {"size": "large"}}, {"V": {"material": "wood"}}
    said = set[str]()
    for _ in range(20):
        words = DialogWords(wordings, rng)
        for attribute, value in (("size", "large"), ("material", "wood")):
            words.hear(attribute, value)
        said |= {words.say("exist-attribute", "", slots, rng).text for slots in (large, wooden)}

    assert all(re.search(r"\b(large|wooden)\b", text) for text in said), said


def test_what_several_objects_are_is_an_adjective_or_a_noun() -> None:
    said = {said_of("Are they <P>?", V={name: value}).text for name, value in (("color", "red"), ("shape", "sphere"))}

    assert said in ({"Are they red?", "Are they spheres?"}, {"Are they red?", "Are they balls?"})


# Words of one dialog --------------------------------------------------------------------------------------------------


@over_domains
def test_a_dialog_says_one_thing_in_one_way(domain: str) -> None:
    files = dialog_domain(domain)
    wordings, rng = Wordings(files.templates, files.synonyms, files.vocabulary), Random(4)
    ways = list(map(files.synonyms.plural, files.synonyms.of(files.domain.attributes[-1].type, None)))
    for _ in range(20):
        words = DialogWords(wordings, rng)
        texts = [words.say("count-all", "", {}, rng).text for _ in range(10)]
        assert sum(any(re.search(rf"\b{way}\b", text) for text in texts) for way in ways) == 1


def test_a_direction_without_a_word_is_said_by_its_relation() -> None:
    files = dialog_domain("clevr")
    synonyms = load_synonyms(None, files.domain)
    wordings, rng = Wordings(files.templates, synonyms, files.vocabulary), Random(1)
    texts = [
        DialogWords(wordings, rng).say("extreme-left", "", {"R": "left", "E": "left", "D": {"color": "red"}}, rng)
        for _ in range(40)
    ]

    assert {said.variant for said in texts} == {3, 4, 5}


def test_a_domain_whose_noun_may_be_missing_is_said_by_the_word_for_it() -> None:
    """Objects without a kind are still animals."""
    metadata = {
        "types": {
            "Size": ["big", "little"], "Coat_Color": ["red", "old gold"],
            "Kind": {"values": ["cat"], "optional": True, "null": "animal"}, "Relation": ["left", "right"],
        }
    }  # fmt: skip
    domain = domain_from_metadata(metadata)
    wordings = Wordings(dialog_domain("clevr").templates, load_synonyms(None, domain), DialogVocabulary.of(domain))
    rng = Random(1)
    slots = {"D": {"coat_color": "old gold", "size": "big"}, "A": "coat_color"}
    said = DialogWords(wordings, rng).say("seek-attr-early", "", slots, rng)

    assert "big old gold animal" in said.text
    assert "coat color" in said.text
    assert finished(said.text) == said.text
