"""Descriptions of objects: their codes, and what their words leave possible of an object.

A description is one choice of value, or "left open", for each of some attributes. It is held as a code, an int in mixed
radix (digit 0 = left open), so that tables of descriptions are tables of ints.

What words leave possible is an int too. Each attribute has a field of bits: one for each value that objects have, and
one for no value where there may be none. Of a list-valued attribute each value and group has a field of its own: said,
or not. A description leaves possible the bits of the values that it says; an object of which less is possible fits it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import accumulate, combinations
from typing import NamedTuple, TypeVar

from vqagen.bits import union_of
from vqagen.world.domain import Attribute, Domain


class PossibleValues:
    """The fields of a domain's attributes."""

    def __init__(self, domain: Domain) -> None:
        self.everything = 0
        """All bits: of an object of which nothing is said."""
        self.fields: dict[str, tuple[int, ...]] = {}
        """Attribute -> its fields: one, or of a list-valued attribute one for each value and group."""
        self.none: dict[str, int] = {}
        """Attribute -> the bit of having no value; 0 where each object has one."""
        self.field_of: list[int] = [0]
        """field_of[bits.bit_length()]: the field of the highest bit; 0 for no bits."""
        self.lists: set[str] = set()
        """The list-valued attributes."""
        denied: dict[tuple[str, str], int] = {}
        for attribute in domain.attributes:
            of_value = self._add_list(attribute) if attribute.multi else self._add_single(attribute)
            denied |= {(attribute.name, value): bits for value, bits in of_value.items()}
        self._left = {key: self.everything & ~bits for key, bits in denied.items()}

    def _add_list(self, attribute: Attribute) -> dict[str, int]:
        """Add the fields of a list-valued attribute; return the bits that each value denies if it is said."""
        bits = {value: self._field(2) for value in attribute.values}
        self.lists.add(attribute.name)
        self.none[attribute.name] = 0
        self.fields[attribute.name] = tuple(bits.values())
        return {
            value: sum(bits[true] & bits[true] << 1 for true in attribute.lineage[value]) for value in attribute.values
        }

    def _add_single(self, attribute: Attribute) -> dict[str, int]:
        """Add the field of an attribute with one value each; return the bits that each value denies if it is said."""
        field = self._field(len(attribute.leaves) + attribute.optional)
        bit = field & -field
        bit_of = {leaf: bit << number for number, leaf in enumerate(attribute.leaves)}
        self.none[attribute.name] = bit << len(attribute.leaves) if attribute.optional else 0
        self.fields[attribute.name] = (field,)
        return {value: field & ~sum(bit_of[leaf] for leaf in attribute.leaves_of(value)) for value in attribute.values}

    def _field(self, size: int) -> int:
        first = len(self.field_of) - 1
        field = ((1 << size) - 1) << first
        self.field_of += [field] * size
        self.everything |= field
        return field

    def left_by(self, attribute: str, word: str) -> int:
        """What one word leaves possible."""
        return self._left[attribute, word]

    def is_decided(self, possible: int, attribute: str) -> bool:
        """True if only one value of an attribute is possible, given that there is one."""
        if attribute in self.lists:
            return False
        bits = possible & self.fields[attribute][0] & ~self.none[attribute]
        return bits != 0 and bits & (bits - 1) == 0


K = TypeVar("K")
V = TypeVar("V")

REMEMBERED = 50_000
"""Entries after which a memo starts anew."""


class Memo(dict[K, V]):
    """Key -> what `make` returns for it, made when first asked for."""

    def __init__(self, make: Callable[[K], V], most: int) -> None:
        """`most`: the entries after which the memo starts anew."""
        super().__init__()
        self._make, self._most = make, most

    def __missing__(self, key: K) -> V:
        if len(self) > self._most:
            self.clear()
        value = self[key] = self._make(key)
        return value


ANY_SET = -1
"""All sets of attributes, as bits."""
MOST_SAYING = 5_000
"""Sets after which a memo of what says them starts anew."""


class SaidWord(NamedTuple):
    """A word of a description: which attribute it says, the number of the word, and what taking it away subtracts."""

    attribute: int
    word: int
    step: int


class DescriptionSpace:
    """The descriptions of an object whose attributes can be said in so many ways each, up to a number of words.

    size: how many numbers there are; full: those of at most `longest` words, as bits.
    words[d], said[d]: the words of description d, and the set of attributes that they say.
    says[k][w], leaves_open[k]: the descriptions that say word w of attribute k, and those that leave k open.
    moves[k]: what each word of attribute k adds to a number.
    """

    def __init__(self, ways: Sequence[int], longest: int) -> None:
        """`ways`: for each attribute the most words that are true of one object."""
        strides, size = list[int](), 1
        for count in ways:
            strides.append(size)
            size *= count + 1
        self.size, self.full = size, 0
        self.says = [[0] * count for count in ways]
        self.leaves_open = [0] * len(strides)
        self.moves = [
            [stride * (word + 1) for word in range(count)] for stride, count in zip(strides, ways, strict=True)
        ]
        self.words: list[tuple[SaidWord, ...]] = []
        self.said: list[int] = []
        self.by_said: dict[int, int] = {}
        """Set of attributes -> the descriptions in `full` that say just these."""
        for number in range(size):
            self._add(number, strides)
            if len(self.words[number]) <= longest:
                self.full |= 1 << number
                said = self.said[number]
                self.by_said[said] = self.by_said.get(said, 0) | 1 << number
        self._saying = {ANY_SET: self.full}

    def _add(self, number: int, strides: Sequence[int]) -> None:
        words, said = list[SaidWord](), 0
        for k, stride in enumerate(strides):
            digit = number // stride % (len(self.says[k]) + 1)
            if digit:
                words.append(SaidWord(k, digit - 1, digit * stride))
                said |= 1 << k
                self.says[k][digit - 1] |= 1 << number
            else:
                self.leaves_open[k] |= 1 << number
        self.words.append(tuple(words))
        self.said.append(said)

    def saying(self, sets: int) -> int:
        """Return the descriptions that say one of some sets of attributes: bit s for set s, `ANY_SET` for all."""
        found = self._saying.get(sets)
        if found is None:
            if len(self._saying) > MOST_SAYING:
                self._saying = {ANY_SET: self.full}
            found = 0
            for said, descriptions in self.by_said.items():
                if sets >> said & 1:
                    found |= descriptions
            self._saying[sets] = found
        return found


MOST_SPACES = 500
"""Spaces of a vocabulary after which they start anew; one of CLEVR's takes 8 KB."""
MOST_LISTED = 256
"""Descriptions of one object above which only the shorter ones are offered: of 11 attributes those of up to 3 words."""


class Said(NamedTuple):
    """A description spelled out: `words` in the node's order, `used` the set of attributes that are not left open."""

    words: tuple[str | None, ...]
    used: int


class Vocabulary:
    """Codes of descriptions over some attributes of a domain. One for each list of attributes, made once per run."""

    def __init__(self, attributes: Sequence[Attribute]) -> None:
        self.attributes = tuple(attributes)
        self.digits: list[dict[str, int]] = []
        """digits[k][value]: what attribute k, said so, adds to a code."""
        base = 1
        for attribute in self.attributes:
            self.digits.append({value: base * digit for digit, value in enumerate(attribute.values, 1)})
            base *= len(attribute.values) + 1
        self._choices = [(None, *attribute.values) for attribute in self.attributes]
        self.remembered = REMEMBERED // max(len(self.attributes), 1)
        """Descriptions after which a memo of them starts anew. A chain of CLEVR's takes 0.5 KB, one of 11 attributes
        1 KB, and few of those are met again."""
        self.said = Memo(self._spell_out, self.remembered)
        """The words of a code."""
        self.parts = Memo(self._list_parts, self.remembered)
        """Code -> for each word of it what it adds to the code, its attribute's name, and the word."""
        self.worded = Memo(self._words_by_slot, self.remembered)
        """(slots of the attributes, code) -> the words by slot; "" stands for an attribute that has no slot."""
        self.longest = _longest(self.attributes)
        """The most attributes that an offered description says."""
        self.is_limited = self.longest < len(self.attributes)
        """True if no offered description says all attributes."""
        numbers = range(len(self.attributes))
        said = (each for size in range(self.longest + 1) for each in combinations(numbers, size))
        self.sets = tuple(sorted(map(union_of, said)))
        """The sets of attributes that offered descriptions say."""
        self.blind_chances = [(said, *self._blind_chance(said)) for said in self.sets]
        """Set of attributes, how many descriptions say just these, and how likely one that is drawn blindly does."""
        self.spaces: Memo[tuple[int, ...], DescriptionSpace] = Memo(
            lambda ways: DescriptionSpace(ways, self.longest), MOST_SPACES
        )
        """For each attribute the most words that are true of one object of a scene -> the descriptions of one."""

    def _blind_chance(self, said: int) -> tuple[int, float]:
        ways, chance = 1, 1.0
        for k, attribute in enumerate(self.attributes):
            of_attribute = len(attribute.values) if said >> k & 1 else 1
            ways *= of_attribute
            chance *= of_attribute / (len(attribute.values) + 1)
        return ways, chance

    def _spell_out(self, code: int) -> Said:
        words, used, rest = list[str | None](), 0, code
        for k, choices in enumerate(self._choices):
            rest, digit = divmod(rest, len(choices))
            words.append(choices[digit])
            used |= (digit > 0) << k
        return Said(tuple(words), used)

    def _list_parts(self, code: int) -> list[tuple[int, str, str]]:
        said = zip(self.digits, self.attributes, self.said[code].words, strict=True)
        return [(digits[word], attribute.name, word) for digits, attribute, word in said if word is not None]

    def _words_by_slot(self, described: tuple[tuple[str, ...], int]) -> Mapping[str, str | None]:
        slots, code = described
        return {slot: word for slot, word in zip(slots, self.said[code].words, strict=True) if slot}


def _longest(attributes: Sequence[Attribute]) -> int:
    """Return the most words with which one object has at most `MOST_LISTED` descriptions, but at least two words."""
    of_length = [1, *[0] * len(attributes)]
    for attribute in attributes:
        for length in range(len(attributes), 0, -1):
            of_length[length] += of_length[length - 1] * _ways_to_say(attribute)
    longest = max(2, sum(number <= MOST_LISTED for number in accumulate(of_length)) - 1)
    return min(longest, len(attributes))


def _ways_to_say(attribute: Attribute) -> int:
    """Return the most ways to say one object's value: it and its groups; for a list-valued attribute, three times."""
    deepest = max(len(lineage) for lineage in attribute.lineage.values())
    return deepest * min(3, len(attribute.leaves)) if attribute.multi else deepest


class Vocabularies:
    """The vocabularies of a domain, and all else that its plans share."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.values = PossibleValues(domain)
        self._by_types: dict[tuple[str, ...], Vocabulary] = {}
        self._left: dict[Vocabulary, Memo[int, int]] = {}

    def of(self, types: Sequence[str]) -> Vocabulary:
        """The vocabulary over the attributes of these types, in this order."""
        key = tuple(types)
        if key not in self._by_types:
            attributes = [attribute for name in key if (attribute := self.domain.attribute_of(name)) is not None]
            self._by_types[key] = Vocabulary(attributes)
        return self._by_types[key]

    def left_by(self, vocabulary: Vocabulary) -> Memo[int, int]:
        """What each of a vocabulary's codes leaves possible."""
        if vocabulary not in self._left:
            self._left[vocabulary] = Memo(partial(_left_by, vocabulary, self.values), vocabulary.remembered)
        return self._left[vocabulary]


def _left_by(vocabulary: Vocabulary, values: PossibleValues, code: int) -> int:
    possible = values.everything
    for _, name, word in vocabulary.parts[code]:
        possible &= values.left_by(name, word)
    return possible
