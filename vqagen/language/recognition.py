"""Recognition: a sentence is read back as one of a template's texts with words in its slots.

Sentence and text are compared bare: in small letters, without spaces, "other" and "else", with one article. So it does
not matter what `sentence` edits, and every way to say a slot is a piece of the bare sentence:

    text      [Tell me,] how many <Z> <S>s are <R> the <S2>?
    words     <Z> large   <S> open            <R> left                          <S2> cube
    ways      large, big  things, objects     leftof, totheleftof, …            cube, block
    sentence  howmany     big       things are       totheleftof           the  cube    ?

The walk along the text goes back where several ways, or both readings of an optional part, fit. What it finds is said
again by `Wording`, and must be the sentence to the letter: bare, "a orange cube" and "an orange cube" are one.

A bare walk does not see rewrites of the domain, nor words of which only a part is optional (`a[nother]`). Where these
may have had a hand, every way to say the template is tried, up to MOST_SENTENCES.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from vqagen.language.mentions import FIELD
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template
from vqagen.language.wording import Part, Wording, Words

MOST_SENTENCES = 2_000
"""Sentences that are tried for one text if the domain rewrites them; one takes 8 µs."""
MOST_BRANCHES = 5_000
"""Places of a walk at which it may go on in several ways."""
_TOKEN = re.compile(r"\w+|[^\w\s]")
_BARE = {"an": "a", "another": "a", "other": "", "else": "", "each": "every"}
"""Words that `sentence` drops or changes -> what the walk compares in their place."""
_GLUED = re.compile(r"[\w>][\[\]]+[\w<]|\w<|>(?!s(?!\w))\w|><")
"""A word of which a slot or an optional part is only a piece."""
_ESCAPED = re.compile(r"\\g<[^>]*>|\\.")
"""A reference to a group, or another escape, in what a rewrite puts in place of a match."""


class UndecidedError(Exception):
    """Raised if there are too many ways to say a template to try them all."""


class Manner(NamedTuple):
    """How the sentences of a file were finished."""

    joins_anything: tuple[bool, ...] = (True,)
    """True for "anything", False for "any thing"; both where either is right."""
    is_exact: bool = True
    """False if capitals and articles may be those of another generator."""


class _Way(NamedTuple):
    """A way to say a value in a slot."""

    value: str | None
    way: str
    plural: str
    bare: str
    bare_plural: str


class _Step(NamedTuple):
    """A piece of a text. An optional part is a step with `skip`, and its pieces behind it."""

    raw: str
    """As it is in the `%`-format."""
    bare: str = ""
    slot: str = ""
    is_plural: bool = False
    skip: int = 0
    """The number of the step behind an optional part."""


_Ways = Mapping[str, Sequence[_Way]]
"""Slot -> the ways to say it."""


class Recogniser:
    """The texts of a template, ready to be found in sentences."""

    def __init__(self, template: Template, synonyms: Synonyms, manner: Manner) -> None:
        self.wording = Wording(template, synonyms)
        self.manner = manner
        self.texts = [tuple(_steps(self.wording.text(number).parts)) for number in range(len(template.texts))]
        self._slots = {slot: _ways(synonyms, kind) for slot, kind in template.slots.items()}
        self._is_glued = any(_GLUED.search(text) for text in template.texts)
        self._signs = [_sign(replacement) for _, replacement in synonyms.domain.rewrites]

    def says(self, sentence: str, words: Words, keep_other: bool) -> bool:
        """True if the template words these slots as the sentence. Raises UndecidedError."""
        ways = {slot: self._slots[slot][value] for slot, value in words.items()}
        attempt = _Attempt(self, sentence, ways, (keep_other,))
        if attempt.walk() is not None:
            return True
        is_changeable = self._is_glued or any(sign in attempt.bare for sign in self._signs)
        return is_changeable and attempt.is_among_all()

    def read(self, sentence: str, words: Words) -> dict[str, str | None] | None:
        """Return the words that a sentence says, if possible these. None if it is no wording of the template."""
        ways = {
            slot: [way for value in (words[slot], *of_value) for way in of_value[value]]
            for slot, of_value in self._slots.items()
        }
        try:
            found = _Attempt(self, sentence, ways, (True, False)).walk()
        except UndecidedError:
            return None
        return None if found is None else {**words, **{slot: way.value for slot, way in found.items()}}

    def example(self, words: Words, keep_other: bool) -> str:
        """Return a sentence that says these words: the first text in the first ways."""
        return self.wording.say(words, lambda: 0.0, keep_other)


class _Attempt:
    """An attempt to read a sentence with some ways to say each slot."""

    def __init__(self, recogniser: Recogniser, sentence: str, ways: _Ways, keeps_other: Sequence[bool]) -> None:
        self._recogniser, self._sentence, self._ways, self._keeps_other = recogniser, sentence, ways, keeps_other
        self.bare = _bare(sentence)
        self._number = 0
        self._steps: tuple[_Step, ...] = ()
        self._chosen: dict[str, _Way] = {}
        self._path: list[str] = []
        """The pieces of the text on the way so far."""
        self._branches = 0

    def walk(self) -> dict[str, _Way] | None:
        """Return how each slot of one of the texts is said; None if no text is the sentence."""
        for number, steps in enumerate(self._recogniser.texts):
            self._number, self._steps, self._chosen, self._path = number, steps, {}, []
            if self._goes_on(0, 0):
                return self._chosen
        return None

    def _goes_on(self, number: int, at: int) -> bool:
        """True if the text from step `number` on is the bare sentence from character `at` on."""
        steps, bare, path = self._steps, self.bare, self._path
        while number < len(steps):
            raw, literal, slot, is_plural, skip = steps[number]
            number += 1
            if skip:
                if self._branches_off(number, at):
                    return True
                number = skip
                continue
            if slot:
                known = self._chosen.get(slot)
                fitting = [
                    way
                    for way in (self._ways[slot] if known is None else (known,))
                    if bare.startswith(way.bare_plural if is_plural else way.bare, at)
                ]
                if not fitting:
                    return False
                path.append(raw)
                for way in fitting[:-1]:
                    if self._branches_off(number, at + len(way.bare_plural if is_plural else way.bare), slot, way):
                        return True
                way = self._chosen[slot] = fitting[-1]
                literal = way.bare_plural if is_plural else way.bare
            elif bare.startswith(literal, at):
                path.append(raw)
            else:
                return False
            at += len(literal)
        return at == len(bare) and self._is_sentence("".join(path), self._chosen)

    def _branches_off(self, number: int, at: int, slot: str = "", way: _Way | None = None) -> bool:
        """True if the walk reaches the end on this branch; otherwise all is as before."""
        self._branches += 1
        if self._branches > MOST_BRANCHES:
            raise UndecidedError
        chosen, length = self._chosen, len(self._path)
        self._chosen = {**chosen, slot: way} if way else chosen.copy()
        if self._goes_on(number, at):
            return True
        self._chosen = chosen
        del self._path[length:]
        return False

    def is_among_all(self) -> bool:
        """True if any way to say the template is the sentence. Raises UndecidedError.

        Ways that do not occur in the sentence are tried last: "any item is" may have become "anything is".
        """
        occurring = {slot: self._occurring(ways) for slot, ways in self._ways.items()}
        tried = 0
        for ways in (occurring, self._ways):
            for form, choice in self._drawings(ways):
                tried += 1
                if tried > MOST_SENTENCES:
                    raise UndecidedError
                if self._is_sentence(form, choice):
                    return True
            if all(len(ways[slot]) == len(some) for slot, some in self._ways.items()):
                break
        return False

    def _drawings(self, ways: _Ways) -> Iterator[tuple[str, dict[str, _Way]]]:
        """Yield every form of every text with every choice of ways."""
        for number in range(len(self._recogniser.texts)):
            self._number = number
            for form in _forms(self._recogniser.wording.text(number).parts):
                for choice in product(*ways.values()):
                    yield form, dict(zip(ways, choice, strict=True))

    def _occurring(self, ways: Sequence[_Way]) -> Sequence[_Way]:
        return [way for way in ways if way.bare in self.bare or way.bare_plural in self.bare] or ways

    def _is_sentence(self, form: str, chosen: Mapping[str, _Way]) -> bool:
        """True if this form of the text, said in these ways, is the sentence."""
        said: dict[str, str] = {}
        for slot, way in chosen.items():
            said[slot], said[f"{slot}s"] = way.way, way.plural
        (joins_anything, is_exact), retold = self._recogniser.manner, self._recogniser.wording.retold
        for keep_other, joins in product(self._keeps_other, joins_anything):
            again = retold(self._number, form, said, keep_other, joins)
            if again == self._sentence or (not is_exact and _loose(again) == _loose(self._sentence)):
                return True
        return False


def _bare(text: str) -> str:
    """Return a text as the walk compares it.

    >>> _bare("Is there another red cube, or an orange one?")
    'istherearedcube,oraorangeone?'
    """
    return "".join([_BARE.get(token, token) for token in _TOKEN.findall(text.casefold())])


def _loose(text: str) -> list[str]:
    """Return the words and marks of a text, with one article."""
    return ["a" if token == "an" else token for token in _TOKEN.findall(text.casefold())]


def _ways(synonyms: Synonyms, kind: str) -> dict[str | None, tuple[_Way, ...]]:
    """Return the ways to say each value of a slot's type, and the open slot."""
    ways_of = {
        value: [(way, synonyms.plural(way)) for way in dict.fromkeys(ways)]
        for value, ways in synonyms.of_type(kind).items()
    }
    return {
        value: tuple(_Way(value, way, plural, _bare(way), _bare(plural)) for way, plural in ways)
        for value, ways in ways_of.items()
    }


def _steps(parts: Sequence[Part], first: int = 0) -> Iterator[_Step]:
    """Yield the steps of a text's parts; `first` is the number of the first one."""
    number = first
    for part in parts:
        if isinstance(part, str):
            steps = list(_pieces(part))
        else:
            inner = list(_steps(part, number + 1))
            steps = [_Step("", skip=number + 1 + len(inner)), *inner]
        yield from steps
        number += len(steps)


def _pieces(form: str) -> Iterator[_Step]:
    """Yield the slots of a `%`-format and what stands between them."""
    at = 0
    for field in FIELD.finditer(form):
        if field["slot"]:
            yield from _literal(form[at : field.start()])
            yield _Step(field[0], slot=field["slot"], is_plural=field["said"] != field["slot"])
            at = field.end()
    yield from _literal(form[at:])


def _literal(raw: str) -> Iterator[_Step]:
    if raw:
        yield _Step(raw, _bare(raw.replace("%%", "%")))


def _forms(parts: Sequence[Part]) -> Iterator[str]:
    """Yield the `%`-format of a text with each choice of its optional parts."""
    optional = [(part,) if isinstance(part, str) else (*_forms(part), "") for part in parts]
    return map("".join, product(*optional))


def _sign(replacement: str) -> str:
    """Return bare letters that a sentence has if a rewrite was the last to change it; "" if there are none."""
    return max((_bare(literal) for literal in _ESCAPED.split(replacement)), key=len)
