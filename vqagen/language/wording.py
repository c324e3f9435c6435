"""Wording: from a template's text and the words of its slots to a sentence.

The grammar of a text:

    text     = part*
    part     = literal | slot | slot "s" | "[" part* "]"
    slot     = "<" name ">"

* A slot yields one of its value's synonyms; left open, it yields its attribute's null word ("thing") or nothing.
* In one sentence a value is said in one way: in the way that the text itself has ("How many other things …"), else in
  one drawn at random.
* A slot followed by a lone `s` yields the plural: the domain's `plurals`, or the English rule.
* A bracketed part is kept half of the time, each by its own draw; brackets nest.
* A sentence that is too long, or names one thing twice in a row ("the red ball and the ball"), is drawn again, up
  to MOST_DRAWS times in all, the last half of them with each value said in its shortest way; if none will do, the
  shortest stays.
* Then the text is tidied, rewritten as the domain wants it, and given its articles and capital (see `sentence`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Union

from vqagen.language.sentence import (
    Marked,
    edits,
    filled,
    finished,
    is_english,
    looks_like_english,
    squeezed,
    with_own_gaps,
    without_other,
)
from vqagen.language.synonyms import Synonyms, Ways
from vqagen.language.template import Template

Random = Callable[[], float]
"""Draws from [0, 1)."""
Words = Mapping[str, str | None]
"""Slot -> value, None where the slot is left open."""
Part = Union[str, tuple["Part", ...]]  # noqa: UP007 (a string cannot be joined by `|` when this runs)
"""A piece of a `%`-format, or an optional part."""

MOST_DRAWS = 12
"""Enough for all but 0.9 % of the CLEVR questions to have at most 30 words; 8 % are drawn again."""
_SLOT_OR_BRACKET = re.compile(r"(<[^<>\s()]+>(?:s(?!\w))?|[\[\]])")
_SLOT = re.compile(r"<[^<>\s()]+>")
_TWO_THINGS = re.compile(rf"\bthe ((?:{_SLOT.pattern} )+)and the ((?:{_SLOT.pattern} ?)+)")
_OTHER = re.compile(r"\b(?:an)?other\b")
_ARTICLE = re.compile(r"\ban?(?:other)?\b", re.IGNORECASE)


class Style(NamedTuple):
    """How sentences are made in matters that the grammar leaves open."""

    mixed_words: bool = False
    """True if each slot has a draw of its own, so that one value may be said in several ways."""
    most_words: int = 30
    joins_anything: bool = True
    """True if "any thing" becomes "anything"."""


class Text(NamedTuple):
    """A compiled text: `%`-format pieces and optional parts, which hold pieces and parts again."""

    parts: tuple[Part, ...]
    own_ways: Mapping[Ways, str]
    """Ways to say a value -> the one of them that is in the text's own words."""
    plurals: tuple[str, ...]
    """Slots that are said in the plural somewhere."""
    pairs: tuple[tuple[list[str], list[str]], ...]
    """The slots of each two things in a row: "the <C> <K> and the <C2> <K2>"."""
    has_article: bool
    has_other: bool


DEFAULT_STYLE = Style()


class Wording:
    """A template's texts, compiled; `say` makes one sentence."""

    def __init__(self, template: Template, synonyms: Synonyms, style: Style = DEFAULT_STYLE) -> None:
        self._style = style
        self._synonyms = synonyms
        self._types = template.slots
        self._ways = {slot: synonyms.of_type(kind) for slot, kind in template.slots.items()}
        self._rewrites = synonyms.domain.rewrites
        self._in_english = is_english(template.texts, synonyms.domain.language)
        self._sources = template.texts if self._in_english else tuple(map(with_own_gaps, template.texts))
        self._texts: dict[int, Text] = {}
        """The texts that were drawn, by number: a run of a few scenes draws few of them."""
        self.mentions_other = self._in_english and any(_says_other(text) for text in template.texts)
        """True if any text says "other" or "another"."""

    def say(self, words: Words, random: Random, keep_other: bool = True) -> str:
        """One sentence: a text and synonyms drawn at random. `keep_other` is False to drop "other"."""
        text, form, said, sentence = self._drawn(words, random)
        return self._finished(text, form, said, sentence, keep_other, self._style.joins_anything)

    def retold(self, number: int, form: str, said: Mapping[str, str], keep_other: bool, joins_anything: bool) -> str:
        """The sentence that `say` makes if it draws this text, these of its parts and these ways."""
        return self._finished(self.text(number), form, said, squeezed(form % said), keep_other, joins_anything)

    def remarked(
        self, number: int, form: str, said: Mapping[str, str], keep_other: bool, joins_anything: bool
    ) -> Marked:
        """The sentence that `retold` gives, with where each slot is said in it."""
        return self._edited(filled(form, said), self.text(number), keep_other, joins_anything)

    def _finished(
        self, text: Text, form: str, said: Mapping[str, str], sentence: str, keep_other: bool, joins_anything: bool
    ) -> str:
        """Return the sentence of `form % said`, whose squeezed text is `sentence`."""
        # "Block A": the slot's own "A" is no article, so the edits must know where slots are said.
        is_delicate = any(map(looks_like_english, said.values()))
        if is_delicate or not self._in_english:
            marked = filled(form, said) if is_delicate else Marked(form % said, ())
            return self._edited(marked, text, keep_other, joins_anything).text
        if text.has_other and not keep_other:
            sentence = without_other(sentence)
        return finished(sentence, text.has_article, self._rewrites, joins_anything)

    def say_marked(self, words: Words, random: Random, keep_other: bool = True) -> Marked:
        """The sentence that `say` makes of the same draws, with where each slot is said in it."""
        text, form, said, _ = self._drawn(words, random)
        return self._edited(filled(form, said), text, keep_other, self._style.joins_anything)

    def _edited(self, marked: Marked, text: Text, keep_other: bool, joins_anything: bool) -> Marked:
        in_english, drops_other = self._in_english, text.has_other and not keep_other
        joins_anything = joins_anything and in_english
        language = self._synonyms.domain.language
        return marked.edited(edits(text.has_article, drops_other, self._rewrites, joins_anything, in_english, language))

    def _drawn(self, words: Words, random: Random) -> _Draw:
        """Return the first of MOST_DRAWS draws that reads well, or else the shortest."""
        draws = [self._draw(words, random)]
        while _length(draws[-1]) > self._style.most_words or self._names_twice(draws[-1][0], words):
            if len(draws) == MOST_DRAWS:
                return min(draws, key=_length)
            draws.append(self._draw(words, random, is_terse=len(draws) >= MOST_DRAWS // 2))
        return draws[-1]

    def _names_twice(self, text: Text, words: Words) -> bool:
        """True if of two things in a row one is described by words of the other: "the red ball and the ball"."""
        for pair in text.pairs:
            one, other = ({(self._types[slot], words[slot]) for slot in slots if words[slot]} for slots in pair)
            if one <= other or other <= one:
                return True
        return False

    def _draw(self, words: Words, random: Random, is_terse: bool = False) -> _Draw:
        """Draw a text, its optional parts and how each slot is said."""
        ways_of = self._ways
        said: dict[str, str] = {}
        if self._style.mixed_words:
            for slot, value in words.items():
                ways = ways_of[slot][value]
                said[slot] = ways[0] if len(ways) == 1 else ways[int(random() * len(ways))]
            text = self.text(int(random() * len(self._sources)))
        else:
            text = self.text(int(random() * len(self._sources)))
            # "How many other things are as large as the <S>?": an open <S> is a "thing" too, as the text says it so.
            drawn = dict(text.own_ways)
            for slot, value in words.items():
                ways = ways_of[slot][value]
                if len(ways) == 1:
                    said[slot] = ways[0]
                    continue
                way = drawn.get(ways)
                if way is None:
                    way = drawn[ways] = min(ways, key=len) if is_terse else ways[int(random() * len(ways))]
                said[slot] = way
        for slot in text.plurals:
            said[slot + "s"] = self._synonyms.plural(said[slot])
        form = _kept(text.parts, random)
        return text, form, said, squeezed(form % said)

    def text(self, number: int) -> Text:
        """Return a text, compiled when it is first drawn."""
        text = self._texts.get(number)
        if text is None:
            source = self._sources[number]
            text = _compile(source, self._in_english, bool(self._rewrites), self._synonyms.said_in(source))
            self._texts[number] = text
        return text


_Draw = tuple[Text, str, dict[str, str], str]
"""A text, the `%`-format of those of its parts that stay, how each slot is said, and the text with its slots filled."""


def words_differ(template: Template, words: Words) -> bool:
    """The reference's test for dropping "other": some attribute of its two descriptions has two different words.

    It applies only to templates with exactly two slots of each attribute and no other slots. An open head noun counts
    as a word of its own ("thing"), which is why it drops "other" where the anchor does fit.
    """
    domain = template.catalogue.domain
    slots_of: dict[str, list[str]] = {attribute.type: [] for attribute in domain.attributes}
    for slot, slot_type in template.slots.items():
        slots_of.setdefault(slot_type, []).append(slot)
    if any(len(slots) != 2 for slots in slots_of.values()) or len(slots_of) != len(domain.attributes):
        return False
    for attribute in domain.attributes:
        first, second = (words[slot] or attribute.null for slot in slots_of[attribute.type])
        if first and second and first != second:
            return True
    return False


def _length(draw: _Draw) -> int:
    """Return the number of words."""
    return draw[-1].count(" ") + 1


def _says_other(text: str) -> bool:
    """True if a text says "other" or "another"."""
    small = text.lower()
    return "other" in small and _OTHER.search(small) is not None


def _compile(text: str, in_english: bool, may_bring_article: bool, own_ways: Mapping[Ways, str]) -> Text:
    """Compile a text. `may_bring_article`: the sentence may have an "a" that is not in the text."""
    outer: list[list[Part]] = []
    parts: list[Part] = []
    piece, plurals = "", dict[str, None]()
    for at, token in enumerate(_SLOT_OR_BRACKET.split(text)):
        if token == "[":
            outer.append([*parts, piece])
            parts, piece = [], ""
        elif token == "]":
            inner = (*parts, piece)
            parts, piece = [*outer.pop(), inner], ""
        elif at % 2:  # split with a group: every second token is a slot or a bracket
            piece += f"%({token})s"
            if token.endswith("s"):
                plurals[token[:-1]] = None
        else:
            piece += token.replace("%", "%%")
    has_article = in_english and (may_bring_article or _ARTICLE.search(text) is not None)
    pairs = tuple((_SLOT.findall(one), _SLOT.findall(other)) for one, other in _TWO_THINGS.findall(text))
    return Text((*parts, piece), own_ways, tuple(plurals), pairs, has_article, in_english and _says_other(text))


def _kept(parts: Sequence[Part], random: Random) -> str:
    """The format of the parts that stay: every piece, and each optional part with probability one half."""
    kept = [part if isinstance(part, str) else _kept(part, random) if random() < 0.5 else "" for part in parts]
    return "".join(kept)
