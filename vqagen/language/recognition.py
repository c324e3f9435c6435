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
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from vqagen.language.sentence import FIELD
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template
from vqagen.language.wording import MOST_FORMS, Part, Wording, Words

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
    """A way to say a value."""

    value: str | None
    way: str
    plural: str


_Pieces = Sequence[tuple[str, _Way]]
"""Ways to say a slot with what each of them is in the bare sentence."""


class _Step(NamedTuple):
    """Words of a text, and the slot or the optional part behind them."""

    raw: str
    """The words and the slot in the `%`-format."""
    bare: str
    """The words alone."""
    slot: str = ""
    ways: Mapping[str | None, _Pieces] = {}
    """Value -> how the slot says it here, in the singular or in the plural."""
    skip: int = 0
    """The number of the step behind an optional part, whose own steps come next; 0 if there is none."""


class Lexicon:
    """The ways to say all values of a domain. Templates share it: to make it for each takes two thirds of the start."""

    def __init__(self, synonyms: Synonyms) -> None:
        self.synonyms = synonyms
        self._ways: dict[str, Mapping[str | None, tuple[_Way, ...]]] = {}
        self._pieces: dict[tuple[str, bool], Mapping[str | None, _Pieces]] = {}

    def ways(self, kind: str) -> Mapping[str | None, tuple[_Way, ...]]:
        """Return the ways to say each value of a type, and an open slot."""
        if kind not in self._ways:
            self._ways[kind] = {
                value: tuple(_Way(value, way, self.synonyms.plural(way)) for way in dict.fromkeys(ways))
                for value, ways in self.synonyms.of_type(kind).items()
            }
        return self._ways[kind]

    def pieces(self, kind: str, is_plural: bool) -> Mapping[str | None, _Pieces]:
        """Return the same with the bare singular or plural of each way."""
        if (kind, is_plural) not in self._pieces:
            self._pieces[kind, is_plural] = {
                value: [(_bare(way.plural if is_plural else way.way), way) for way in ways]
                for value, ways in self.ways(kind).items()
            }
        return self._pieces[kind, is_plural]


class Recogniser:
    """The texts of a template, ready to be found in sentences."""

    def __init__(self, template: Template, lexicon: Lexicon, manner: Manner) -> None:
        self.wording = Wording(template, lexicon.synonyms)
        self.manner, self.lexicon, self.types = manner, lexicon, template.slots
        texts = [self.wording.text(number).parts for number in range(len(template.texts))]
        self.texts = [tuple(self._steps(parts)) for parts in texts]
        self._forms: list[dict[tuple[int, ...], str]] = [{} for _ in texts]
        self._is_glued = any(_GLUED.search(text) for text in template.texts)
        self._signs = [_sign(replacement) for _, replacement in lexicon.synonyms.domain.rewrites]

    def says(self, sentence: str, words: Words, keep_other: bool) -> bool:
        """True if the template words these slots as the sentence. Raises UndecidedError."""
        attempt = _Attempt(self, sentence, words, (keep_other,))
        if attempt.walk() is not None:
            return True
        is_changeable = self._is_glued or any(sign in attempt.bare for sign in self._signs)
        return is_changeable and attempt.is_among_all()

    def read(self, sentence: str, words: Words) -> dict[str, str | None] | None:
        """Return the words that a sentence says, if possible these. None if it is no wording of the template."""
        attempt = _Attempt(self, sentence, words, (True, False), takes_others=True)
        try:
            found = attempt.walk()
        except UndecidedError:
            return None
        return None if found is None else {**words, **{slot: way.value for slot, way in found.items()}}

    def example(self, words: Words, keep_other: bool) -> str:
        """Return a sentence that says these words: the first text in the first ways."""
        return self.wording.say(words, lambda: 0.0, keep_other)

    def _steps(self, parts: Sequence[Part], first: int = 0) -> Iterator[_Step]:
        """Yield the steps of a text's parts; `first` is the number of the first one."""
        number = first
        for part in parts:
            if isinstance(part, str):
                steps = list(self._steps_of_piece(part))
            else:
                inner = list(self._steps(part, number + 1))
                steps = [_Step("", "", skip=number + 1 + len(inner)), *inner]
            yield from steps
            number += len(steps)

    def _steps_of_piece(self, form: str) -> Iterator[_Step]:
        """Yield the slots of a `%`-format, each with the words before it, and the words at the end."""
        at = 0
        for field in FIELD.finditer(form):
            slot = field["slot"]
            if slot:
                ways = self.lexicon.pieces(self.types[slot], is_plural=field["said"] != slot)
                yield _Step(form[at : field.end()], _bare(form[at : field.start()].replace("%%", "%")), slot, ways)
                at = field.end()
        yield _Step(form[at:], _bare(form[at:].replace("%%", "%")))

    def form(self, number: int, dropped: tuple[int, ...]) -> str:
        """Return the `%`-format of a text without the optional parts that begin at the steps `dropped`."""
        forms = self._forms[number]
        if dropped not in forms:
            if len(forms) >= MOST_FORMS:
                forms.clear()
            steps, at, raw = self.texts[number], 0, ""
            while at < len(steps):
                raw += steps[at].raw
                at = steps[at].skip if at in dropped else at + 1
            forms[dropped] = raw
        return forms[dropped]


class _Attempt:
    """An attempt to read a sentence as a wording of some words."""

    def __init__(
        self,
        recogniser: Recogniser,
        sentence: str,
        words: Words,
        keeps_other: Sequence[bool],
        takes_others: bool = False,
    ) -> None:
        """`takes_others`: slots may also say other values than these words."""
        self._recogniser, self._sentence, self._words = recogniser, sentence, words
        self._keeps_other, self._takes_others = keeps_other, takes_others
        self.bare = _bare(sentence)
        self._number = 0
        self._steps: tuple[_Step, ...] = ()
        self._branches = 0
        self._found: dict[str, _Way] = {}

    def walk(self) -> dict[str, _Way] | None:
        """Return how each slot of one of the texts is said; None if no text is the sentence."""
        for number, steps in enumerate(self._recogniser.texts):
            if self.bare.startswith(steps[0].bare):
                self._number, self._steps = number, steps
                if self._goes_on(0, 0, {}, ()):
                    return self._found
        return None

    def _goes_on(self, number: int, at: int, chosen: dict[str, _Way], dropped: tuple[int, ...]) -> bool:
        """True if the text from step `number` on is the bare sentence from character `at` on.

        `chosen`: how the slots before are said; `dropped`: the steps of optional parts that were left out. At
        "metallicthings", both "metal" and "metallic" fit: the first is tried as a branch, the last is gone on with.
        """
        steps, bare = self._steps, self.bare
        while number < len(steps):
            _, literal, slot, ways, skip = steps[number]
            if not bare.startswith(literal, at):
                return False
            at += len(literal)
            number += 1
            if skip:
                if self._branches_off(number, at, chosen.copy(), dropped):
                    return True
                dropped, number = (*dropped, number - 1), skip
            elif slot:
                pieces = self._pieces(slot, ways) if self._takes_others else ways[self._words[slot]]
                if slot in chosen:
                    pieces = [each for each in pieces if each[1] is chosen[slot]]
                if len(pieces) > 1:
                    pieces = [each for each in pieces if bare.startswith(each[0], at)]
                    if not pieces:
                        return False
                    for piece, way in pieces[:-1]:
                        if self._branches_off(number, at + len(piece), {**chosen, slot: way}, dropped):
                            return True
                piece, way = pieces[-1]
                if not bare.startswith(piece, at):
                    return False
                chosen[slot] = way
                at += len(piece)
        if at == len(bare) and self._is_sentence(self._recogniser.form(self._number, dropped), chosen):
            self._found = chosen
            return True
        return False

    def _branches_off(self, number: int, at: int, chosen: dict[str, _Way], dropped: tuple[int, ...]) -> bool:
        """Go on as one of several ways; raise UndecidedError after too many."""
        self._branches += 1
        if self._branches > MOST_BRANCHES:
            raise UndecidedError
        return self._goes_on(number, at, chosen, dropped)

    def _pieces(self, slot: str, ways: Mapping[str | None, _Pieces]) -> _Pieces:
        """Return the ways to say any value in a slot, those of the known word first."""
        known = self._words[slot]
        return [*ways[known], *(each for value in ways if value != known for each in ways[value])]

    def is_among_all(self) -> bool:
        """True if any way to say the template is the sentence. Raises UndecidedError.

        Ways that do not occur in the sentence are tried last: "any item is" may have become "anything is".
        """
        ways_of, types = self._recogniser.lexicon.ways, self._recogniser.types
        every = {slot: ways_of(types[slot])[value] for slot, value in self._words.items()}
        occurring = {slot: self._occurring(ways) for slot, ways in every.items()}
        tried = 0
        for ways in (occurring, every) if occurring != every else (every,):
            for form, choice in self._drawings(ways):
                tried += 1
                if tried > MOST_SENTENCES:
                    raise UndecidedError
                if self._is_sentence(form, choice):
                    return True
        return False

    def _drawings(self, ways: Mapping[str, Sequence[_Way]]) -> Iterator[tuple[str, dict[str, _Way]]]:
        """Yield every form of every text with every choice of ways."""
        for number in range(len(self._recogniser.texts)):
            self._number = number
            for form in _forms(self._recogniser.wording.text(number).parts):
                for choice in product(*ways.values()):
                    yield form, dict(zip(ways, choice, strict=True))

    def _occurring(self, ways: tuple[_Way, ...]) -> tuple[_Way, ...]:
        return tuple(way for way in ways if _bare(way.way) in self.bare or _bare(way.plural) in self.bare) or ways

    def _is_sentence(self, form: str, chosen: Mapping[str, _Way]) -> bool:
        """True if this form of the text, said in these ways, is the sentence."""
        wording, (joins_anything, is_exact) = self._recogniser.wording, self._recogniser.manner
        said = {slot: way.way for slot, way in chosen.items()}
        for slot in wording.text(self._number).plurals:
            if slot in chosen:
                said[slot + "s"] = chosen[slot].plural
        for keep_other in self._keeps_other:
            for joins in joins_anything:
                again = wording.retold(self._number, form, said, keep_other, joins)
                if again == self._sentence or (not is_exact and _loose(again) == _loose(self._sentence)):
                    return True
        return False


def _bare(text: str) -> str:
    """Return a text as the walk compares it.

    >>> _bare("Is there another red cube, or an orange one?")
    'istherearedcube,oraorangeone?'
    """
    return "".join(map(_bare_word, text.casefold().split()))


@lru_cache(maxsize=10_000)
def _bare_word(word: str) -> str:
    """Return what stands between two spaces as the walk compares it. A memo takes a third of the time."""
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
