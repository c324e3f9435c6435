"""Recognition: a sentence is read back as one of a template's texts with words in its slots.

Sentence and text are compared bare: in small letters, without spaces, "other" and "else", with one article. So it does
not matter what `sentence` edits, and the bare wordings of a text are a regular expression, with a group for each slot:

    text      [Tell me,] how many <Z> <S>s are <R> the <S2>?
    pattern   (?:tellme,)?howmany(large|big|small|…|)(things|cubes|…)are(totheleftof|leftof|…)the(cube|block|…)\\?
    sentence  howmanybigthingsaretotheleftofthecube?

What it finds is said again by `Wording`, with any optional parts, and must be the sentence to the letter: bare, "a
orange cube" and "an orange cube" are one.

The pattern does not see rewrites of the domain, nor words of which only a part is optional (`a[nother]`). Where these
may have had a hand, every way to say the template is tried, up to MOST_SENTENCES.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from vqagen.language.sentence import FIELD, GUARD
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template
from vqagen.language.text_doubts import is_determined, left_out_slots
from vqagen.language.wording import Part, Wording, Words

MOST_SENTENCES = 2_000
"""Sentences that are tried for one text; one takes 8 µs."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_BARE = {"an": "a", "another": "a", "other": "", "else": "", "each": "every", GUARD: ""}
"""Words that `sentence` drops or changes -> what is compared in their place."""
_GLUED = re.compile(r"[\w>][\[\]]+[\w<]|\w<|>(?!s(?!\w))\w|><")
"""A word of which a slot or an optional part is only a piece."""
_ESCAPED = re.compile(r"\\g<[^>]*>|\\.")
"""A reference to a group, or another escape, in what a rewrite puts in place of a match."""


class Retelling(NamedTuple):
    """A way in which a template's texts say a sentence: what `Wording.retold` and `Wording.remarked` take."""

    number: int
    """That of the text."""
    form: str
    """Its `%`-format, with the optional parts that stay."""
    said: Mapping[str, str]
    """Slot -> how it is said."""
    keep_other: bool
    joins_anything: bool


class UndecidedError(Exception):
    """Raised if there are too many ways to say a template to try them all."""


_Way = tuple[str | None, str]
"""A value, None for a slot that is left open, and a way to say it."""
_Ways = Mapping[str, Sequence[_Way]]
"""Slot -> the ways in which a sentence may say it."""


@lru_cache(maxsize=100)
def _pieces(synonyms: Synonyms, kind: str, is_plural: bool) -> Mapping[str, list[_Way]]:
    """Return the ways to say any value of a type by what they are in the bare sentence, the longest first.

    Of colors: {"yellow": [("yellow", "yellow")], "silver": [("gray", "silver")], …}. All templates of a domain share
    them: to make them for each takes two thirds of the start.
    """
    pieces: dict[str, list[_Way]] = {}
    for value, ways in synonyms.of_type(kind).items():
        for way in dict.fromkeys(ways):
            form = synonyms.plural(way) if is_plural else way
            pieces.setdefault(_bare(form), []).append((value, way))
    return dict(sorted(pieces.items(), key=lambda item: -len(item[0])))


class Recogniser:
    """The texts of a template, ready to be found in sentences."""

    def __init__(
        self, template: Template, synonyms: Synonyms, joins_anything: Sequence[bool] = (True,), is_exact: bool = True
    ) -> None:
        """`joins_anything`: True for "anything", False for "any thing"; both where either is right.

        Without `is_exact`, capitals and articles may be those of another generator.
        """
        self.template, self.wording = template, Wording(template, synonyms)
        self._joins_anything, self._is_exact, self._synonyms = joins_anything, is_exact, synonyms
        self._ways = {slot: synonyms.of_type(kind) for slot, kind in template.slots.items()}
        self._plural = synonyms.plural
        self.texts = [self.wording.text(number).parts for number in range(len(template.texts))]
        self._fields = [_fields(next(_forms(parts))) for parts in self.texts]
        self._openings = [_bare(FIELD.split(str(parts[0]), maxsplit=1)[0]) for parts in self.texts]
        self._patterns: dict[int, re.Pattern[str]] = {}
        self._is_glued = any(_GLUED.search(text) for text in template.texts)
        self._signs = [_sign(replacement) for _, replacement in synonyms.domain.rewrites]

    def retelling(self, sentence: str, words: Words, keep_other: bool) -> Retelling | None:
        """Return how the template words these slots as the sentence; None if it does not. Raises UndecidedError."""
        bare = _bare(sentence)
        # Of two slots in a row, "light blue" may be one word or two: after texts with all words, those with these.
        for known in (None, words):
            for number, found in self._fitting(bare, known):
                ways = {slot: [each for each in found[slot] if each[0] == words[slot]] for slot in found}
                if said := self._said(sentence, words, [number], ways, (keep_other,)):
                    return said[1]
        # Neither a rewrite nor a glued part can have had a hand: then no other way is worth a try.
        is_changeable = self._is_glued or any(sign in bare for sign in self._signs)
        return self._among_all(sentence, bare, words, keep_other) if is_changeable else None

    def read(self, sentence: str, words: Words) -> dict[str, str | None] | None:
        """Return the words that a sentence says, if possible these. None if it is no wording of the template."""
        for number, ways_of_slot in self._fitting(_bare(sentence)):
            ways = {slot: _known_first(of_slot, words[slot]) for slot, of_slot in ways_of_slot.items()}
            with suppress(UndecidedError):
                said = self._said(sentence, words, [number], ways, (True, False))
                if said is not None:
                    return {slot: value for slot, (value, _) in said[0].items()}
        return None

    def unsaid(self, sentence: str, words: Words) -> list[str]:
        """Return the slots whose words a sentence that says these words leaves out, though nothing determines them."""
        if not any(left_out_slots(self.template)):
            return []
        fitting = [ways for _, ways in self._fitting(_bare(sentence), words)]
        # Of two texts that fit, the one that says more: "the [<Z>] cube" of a large cube may be read both ways.
        said = max(fitting, key=len, default=words)
        return [slot for slot in words if words[slot] and not is_determined(self.template, slot, said)]

    def example(self, words: Words, keep_other: bool) -> str:
        """Return a sentence that says these words: the first text in the first ways."""
        return self.wording.say(words, lambda: 0.0, keep_other)

    def _pattern(self, parts: Sequence[Part], words: Words | None = None) -> str:
        """Return the pattern of a text's bare wordings, of all words or of these."""
        pattern = ""
        for part in parts:
            if not isinstance(part, str):
                pattern += f"(?:{self._pattern(part, words)})?"
                continue
            at = 0
            for field in _fields(part):
                pieces = self._pieces(field)
                if words is not None:
                    known = words[field["slot"]]
                    pieces = {piece: ways for piece, ways in pieces.items() if any(value == known for value, _ in ways)}
                pattern += f"{_literal(part[at : field.start()])}({'|'.join(map(re.escape, pieces))})"
                at = field.end()
            pattern += _literal(part[at:])
        return pattern

    def _pieces(self, field: re.Match[str]) -> Mapping[str, list[_Way]]:
        return _pieces(self._synonyms, self.template.slots[field["slot"]], field["said"] != field["slot"])

    def _fitting(self, bare: str, words: Words | None = None) -> Iterator[tuple[int, _Ways]]:
        """Yield the texts that a bare sentence fits, and the ways in which it may say each slot.

        Of "howmanysilverballs?": 0, {"<C>": [("gray", "silver")], "<S>": [("sphere", "ball")]}.
        A pattern is compiled for a sentence that begins like its text: of all at once, that takes a second.
        """
        for number, parts in enumerate(self.texts):
            if not bare.startswith(self._openings[number]):
                continue
            # The words of one question make a short pattern, which is not worth keeping.
            if words is None and number not in self._patterns:
                self._patterns[number] = re.compile(self._pattern(parts))
            match = re.fullmatch(self._patterns[number] if words is None else self._pattern(parts, words), bare)
            if match:
                found: dict[str, Sequence[_Way]] = {}
                for field, piece in zip(self._fields[number], match.groups(), strict=True):
                    if piece is not None:
                        found.setdefault(field["slot"], self._pieces(field)[piece])
                yield number, found

    def _among_all(self, sentence: str, bare: str, words: Words, keep_other: bool) -> Retelling | None:
        """Return the first of all ways to say the template that is the sentence. Raises UndecidedError.

        Ways that do not occur in the sentence are tried last: "any item is" may have become "anything is".
        """
        every = {slot: [(word, way) for way in self._ways[slot][word]] for slot, word in words.items()}
        occurring = {
            slot: [way for way in ways if _bare(way[1]) in bare or _bare(self._plural(way[1])) in bare] or ways
            for slot, ways in every.items()
        }
        numbers = range(len(self.texts))
        tries = (occurring, every) if occurring != every else (every,)
        found = (self._said(sentence, words, numbers, ways, (keep_other,)) for ways in tries)
        return next((said[1] for said in found if said), None)

    def _said(
        self, sentence: str, words: Words, numbers: Iterable[int], ways: _Ways, keeps_other: Sequence[bool]
    ) -> tuple[Mapping[str, _Way], Retelling] | None:
        """Return how one of the texts, with any of its optional parts, says the sentence.

        Slots that have no `ways` are said in the first way of their words. Raises UndecidedError.
        """
        first = {slot: (word, self._ways[slot][word][0]) for slot, word in words.items()}
        tried = 0
        for number in numbers:
            for form in _forms(self.texts[number]):
                for choice in product(*ways.values()):
                    tried += 1
                    if tried > MOST_SENTENCES:
                        raise UndecidedError
                    chosen = {**first, **dict(zip(ways, choice, strict=True))}
                    if retelling := self._retelling(sentence, number, form, chosen, keeps_other):
                        return chosen, retelling
        return None

    def _retelling(
        self, sentence: str, number: int, form: str, chosen: Mapping[str, _Way], keeps_other: Sequence[bool]
    ) -> Retelling | None:
        """Return how this form of a text, said in these ways, is the sentence; None if it is not."""
        way_of = {slot: way for slot, (_, way) in chosen.items()}
        for slot in self.wording.text(number).plurals:
            way_of[slot + "s"] = self._plural(way_of[slot])
        for keep_other, joins in product(keeps_other, self._joins_anything):
            retelling = Retelling(number, form, way_of, keep_other, joins)
            again = self.wording.retold(*retelling)
            if again == sentence or (not self._is_exact and _loose(again) == _loose(sentence)):
                return retelling
        return None


def _known_first(ways: Sequence[_Way], word: str | None) -> Sequence[_Way]:
    return sorted(ways, key=lambda way: way[0] != word)


def _fields(form: str) -> list[re.Match[str]]:
    """Return the slots of a `%`-format."""
    return [field for field in FIELD.finditer(form) if field["slot"]]


def _literal(words: str) -> str:
    """Return the pattern of words of a `%`-format, without their slots."""
    return re.escape(_bare(words.replace("%%", "%")))


def _bare(text: str) -> str:
    """Return a text as it is compared.

    >>> _bare("Is there another red cube, or an orange one?")
    'istherearedcube,oraorangeone?'
    """
    if not text.isascii():  # a capital of "ı" is "I", one of "i" may be "İ"
        text = text.upper().casefold().replace("\u0307", "")
    return "".join(map(_bare_word, text.casefold().split()))


@lru_cache(maxsize=10_000)
def _bare_word(word: str) -> str:
    """Return what stands between two spaces as it is compared. A memo takes a third of the time."""
    return "".join([_BARE.get(token, token) for token in _TOKEN.findall(word)])


def _loose(text: str) -> list[str]:
    """Return the words and marks of a text, with one article."""
    return ["a" if token == "an" else token for token in _TOKEN.findall(text.casefold())]


def _forms(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the `%`-format of a text with each choice of its optional parts."""
    optional = [(part,) if isinstance(part, str) else (*_forms(part), "") for part in parts]
    return map("".join, product(*optional))


def _sign(replacement: str) -> str:
    """Return bare letters that a sentence has if a rewrite was the last to change it; "" if there are none."""
    return max((_bare(literal) for literal in _ESCAPED.split(replacement)), key=len)
