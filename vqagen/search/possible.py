"""Values that words leave possible of an object, as the bits of one int.

Each attribute has a field of bits: one for each value that objects have, and one for no value where there may be none.
Of a list-valued attribute each value and group has a field of its own: said, or not. A description leaves possible the
bits of the values that it says; an object of which less is possible fits it.
"""

from __future__ import annotations

from vqagen.world.attribute import Attribute
from vqagen.world.domain import Domain


class Meaning:
    """The meaning of words: the values that they leave possible, and the words themselves, as one bit each."""

    __slots__ = ("possible", "words")

    def __init__(self, possible: int, words: int) -> None:
        self.possible, self.words = possible, words


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
        self._meanings = {
            key: Meaning(self.everything & ~bits, 1 << number) for number, (key, bits) in enumerate(denied.items())
        }

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

    def meaning(self, attribute: str, word: str) -> Meaning:
        """The meaning of one word."""
        return self._meanings[attribute, word]

    def is_decided(self, possible: int, attribute: str) -> bool:
        """True if only one value of an attribute is possible, given that there is one."""
        if attribute in self.lists:
            return False
        bits = possible & self.fields[attribute][0] & ~self.none[attribute]
        return bits != 0 and bits & (bits - 1) == 0
