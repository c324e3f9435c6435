"""What the objects of a scene can be called: sets of descriptions as ints, so that thousands are compared at once.

A position is `object * space.size + description`: this description, said of this object. A set of positions is an int.
What fits an object is one AND for each attribute; how many of some objects a description fits follows from sums of bits
in parallel, without going through the descriptions.

An example: a red cube 0 and a red ball 1 with two attributes of one word each, so four descriptions: "thing", "red
thing", "cube" (or "ball") and "red cube". Positions 0 to 3 are said of object 0, 4 to 7 of object 1. "Red thing" fits
both, so `described[0]` has positions 0, 1, 2, 3 and also 4 and 5; `singling_out` of both objects has 2, 3, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from vqagen.bits import Objects, indexes
from vqagen.language.catalogue import Value
from vqagen.search.space import ANY_SET
from vqagen.search.vocabulary import Vocabulary
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.search.description import Description, Sampling

Positions = int
"""A set of positions."""
ALL: Positions = -1
ABSENT_TRIES = 20
"""Draws after which a scene that is out of absent descriptions gets one fewer."""


def member(positions: Positions, rank: int) -> int:
    """Return the member of a set that so many members are above.

    >>> member(0b1011, 1)
    1
    """
    return len(f"{positions:b}".split("1", rank + 1)[-1])


class Fits:
    """How many objects of a set each description fits; or of several sets, as those in each relation to an anchor.

    Each set has a slot of positions: `slot * width + position`, so that all sets are looked at in one go. `spread` puts
    the same positions into all slots, if it is multiplied by them.
    distinct: of the positions with equal words the first one.
    some, several: the positions whose descriptions fit at least one, and at least two, objects of the slot's set.
    """

    __slots__ = ("_addends", "_others", "_planes", "_slots", "_table", "_without", "distinct", "several", "some", "spread")

    def __init__(self, table: DescriptionTable, slots: Mapping[int, Positions], spread: int) -> None:
        """`slots`: object -> the slots of the sets that have it."""
        self._table, self._slots, self.spread = table, slots, spread
        self.distinct = table.distinct * spread
        self._addends = [table.described[i] * slot for i, slot in slots.items()]
        self._planes: list[Positions] = []
        self._others: dict[Objects, Positions] = {}
        self._without: dict[Objects, Fits] = {}
        self.some = self.several = 0
        for fitting in self._addends:
            self.several |= self.some & fitting
            self.some |= fitting

    def singling_out(self) -> Positions:
        """Return the positions that are said of an object of the slot's set and fit no other of it."""
        own = sum([self._table.said_of[i] * slot for i, slot in self._slots.items()])
        return self.some & ~self.several & own

    def others(self, beside: Objects = 0) -> Positions:
        """Return the positions whose descriptions fit an object outside the slot's set, not counting those `beside`."""
        positions = self._others.get(beside)
        if positions is None:
            table, rest = self._table, self._table.scene.everything & ~beside
            positions = 0
            for i in indexes(rest):
                positions |= table.described[i] * (self.spread & ~self._slots.get(i, 0))
            self._others[beside] = positions
        return positions

    def without(self, objects: Objects) -> Fits:
        """Return the same of the sets without some objects."""
        fits = self._without.get(objects)
        if fits is None:
            slots = {i: slot for i, slot in self._slots.items() if not objects >> i & 1}
            fits = self._without[objects] = Fits(self._table, slots, self.spread)
        return fits

    def as_many(self, numbers: int) -> Positions:
        """Return the distinct positions that fit such a number of objects: bit n of `numbers` for n."""
        most = len(self._addends)
        every = (2 << most) - 1
        wanted = numbers & every
        if wanted == every:
            return self.distinct
        if wanted | 1 == every:
            return self.distinct & self.some
        if wanted | 3 == every and not wanted & 3:
            return self.distinct & self.several
        found = 0
        for number in range(most + 1):
            if wanted >> number & 1:
                found |= self.exactly(number)
        return found

    def exactly(self, number: int) -> Positions:
        """Return the distinct positions that fit exactly so many objects."""
        if number < 2:
            return self.distinct & (self.some & ~self.several if number else ~self.some)
        planes = self._planes or self._count()
        if number >> len(planes):
            return 0
        found = self.distinct
        for plane in planes:
            found &= plane if number & 1 else ~plane
            number >>= 1
        return found

    def _count(self) -> list[Positions]:
        """Add up, for all positions at once, the objects that each fits: plane k has bit k of the sums.

        Where a description fits three objects, its position is in planes 0 and 1.
        """
        self._planes = [0] * max(1, len(self._addends).bit_length())
        for fitting in self._addends:
            carry, k = fitting, 0
            while carry:
                self._planes[k], carry = self._planes[k] ^ carry, self._planes[k] & carry
                k += 1
        return self._planes


class References:
    """Descriptions that single out one object of a set, or of several: by way of one relation each.

    A start is drawn, and words that it does not need are dropped while it stays in `kept`; what is left must be one of
    the `targets`. Starts outside `telling` are as likely as `share` says, beside the others: there the relation is idle.
    """

    __slots__ = ("kept", "share", "starts", "targets", "telling")

    def __init__(self, kept: Positions, targets: Positions, starts: Positions, telling: Positions, share: float) -> None:
        self.kept, self.targets, self.starts, self.telling, self.share = kept, targets, starts, telling, share


class DescriptionTable:
    """The descriptions of the objects of a scene over one vocabulary.

    described[i]: the positions whose descriptions fit object i; said_of[i]: those that are said of object i.
    distinct: of positions with equal words the first one.
    """

    def __init__(self, vocabulary: Vocabulary, scene: Scene) -> None:
        self.vocabulary, self.scene = vocabulary, scene
        columns = [[each.sayable(value) for value in scene.values[each.name]] for each in vocabulary.attributes]
        self._words: list[tuple[Sequence[str], ...]] = (
            list(zip(*columns, strict=True)) if columns else [()] * scene.size
        )
        """Object -> for each attribute the words that are true of it."""
        self.space = vocabulary.spaces[tuple([max(map(len, column), default=0) for column in columns])]
        size, objects = self.space.size, indexes(scene.everything)
        self.saying_nothing = sum([1 << i * size for i in objects])
        """The position of each object that leaves all attributes open."""
        self._open = [each * self.saying_nothing for each in self.space.leaves_open]
        true_of = self.space.true_of
        self.every = sum([true_of(tuple(map(len, self._words[i]))) << i * size for i in objects])
        self.described = self._describe(columns)
        within = (1 << size) - 1
        self.said_of = [self.every & within << i * size for i in range(scene.size)]
        self.distinct = self.every
        for i in objects:
            after = (i + 1) * size
            self.distinct &= ~(self.described[i] >> after << after)
        self.width = scene.size * size
        self._fits: dict[Sequence[Objects], Fits] = {}
        self._options: dict[int, tuple[int, Objects]] = {}
        self._allowed: dict[Description, Positions] = {}
        self._saying: dict[int, Positions] = {ANY_SET: self.every}
        self._wanted: dict[tuple[int, Objects], Positions] = {}
        self._references: dict[tuple[Sequence[Objects], Positions, int], References] = {}
        self._related: dict[tuple[int, str | None], tuple[Objects, ...]] = {}
        self._absent_chances: dict[int, float] | None = None

    def _describe(self, columns: Sequence[Sequence[Sequence[str]]]) -> list[Positions]:
        """Return the positions that fit each object: those that say of no attribute what is not true of it."""
        size, everything = self.space.size, self.scene.everything
        described = [self.every if everything >> i & 1 else 0 for i in range(self.scene.size)]
        for column, says, leaves_open in zip(columns, self.space.says, self._open, strict=True):
            saying: dict[str, Positions] = {}
            for i, words in enumerate(column):
                for word, descriptions in zip(words, says, strict=False):
                    saying[word] = saying.get(word, 0) | descriptions << i * size
            for i, words in enumerate(column):
                fits = leaves_open
                for word in words:
                    fits |= saying[word]
                described[i] &= fits
        return described

    # Positions --------------------------------------------------------------------------------------------------------

    def option(self, position: int) -> tuple[int, Objects]:
        """Return the code of a description, and the objects that it fits."""
        option = self._options.get(position)
        if option is None:
            i, description = divmod(position, self.space.size)
            code, fits, vocabulary, having = 0, self.scene.everything, self.vocabulary, self.scene.having
            for k, number, _ in self.space.words[description]:
                word = self._words[i][k][number]
                code += vocabulary.digits[k][word]
                fits &= having[vocabulary.attributes[k].name][word]
            option = self._options[position] = (code, fits)
        return option

    def saying(self, sets: int) -> Positions:
        """Return the positions that say one of some sets of attributes."""
        positions = self._saying.get(sets)
        if positions is None:
            positions = self._saying[sets] = self.space.saying(sets) * self.saying_nothing & self.every
        return positions

    def wanted(self, sets: int, objects: Objects) -> Positions:
        """Return the positions that say one of some sets of attributes of some objects."""
        key = (sets, objects)
        positions = self._wanted.get(key)
        if positions is None:
            positions = self.saying(sets)
            if objects != ALL:
                positions &= sum([self.said_of[i] for i in indexes(objects)])
            self._wanted[key] = positions
        return positions

    def allowed(self, node: Description) -> Positions:
        """Return the positions that the constraints of a node by itself allow."""
        if not node.has_checks:
            return self.every
        positions = self._allowed.get(node)
        if positions is None:
            positions = self.saying(node.sets)
            if node.checks_words:
                positions = sum([1 << each for each in indexes(positions) if node.allows(self.option(each)[0])])
            self._allowed[node] = positions
        return positions

    # Sets of objects --------------------------------------------------------------------------------------------------

    def related(self, anchor: int, relation: str | None) -> tuple[Objects, ...]:
        """Return what stands in each relation to an anchor, or in the one that is named."""
        key = (anchor, relation)
        sets = self._related.get(key)
        if sets is None:
            related = self.scene.related.items()
            sets = self._related[key] = tuple([each[anchor] for name, each in related if relation in (None, name)])
        return sets

    def fits(self, sets: tuple[Objects, ...]) -> Fits:
        """Return how many objects of each set the descriptions fit."""
        fits = self._fits.get(sets)
        if fits is None:
            slots, spread = dict[int, Positions](), 0
            for slot, objects in enumerate(sets):
                unit = 1 << slot * self.width
                spread |= unit
                for i in indexes(objects):
                    slots[i] = slots.get(i, 0) | unit
            fits = self._fits[sets] = Fits(self, slots, spread)
        return fits

    # References -------------------------------------------------------------------------------------------------------

    def references(
        self, sets: tuple[Objects, ...], allowed: Positions, sampling: Sampling, anchor: int | None, matters: bool
    ) -> References:
        """Return the descriptions that single out an object of a set, or of those in a relation to the anchor.

        `matters`: leave out what singles out one of all objects but the anchor: there the relation would be idle.
        """
        key = (sets, allowed, anchor if matters and anchor is not None else -1)
        references = self._references.get(key)
        if references is None:
            fits = self.fits(sets)
            kept = fits.singling_out() & allowed * fits.spread
            targets = self.shortest(kept, fits.spread) if sampling.shortens else kept
            telling, share = ALL, 0.0
            if anchor is not None:
                telling = fits.others()
                count = (kept & telling).bit_count()
                share = sampling.share_of_idle(count, kept.bit_count() - count)
            if key[2] >= 0:
                targets &= ~(self.fits((self.scene.everything & ~(1 << key[2]),)).singling_out() * fits.spread)
            starts = kept & self.longer(targets, fits.spread) if sampling.shortens else targets
            references = self._references[key] = References(kept, targets, starts, telling, share)
        return references

    def shortest(self, positions: Positions, spread: int) -> Positions:
        """Return the positions of a set of which no word can be taken away within the set."""
        longer = 0
        for leaves_open, moves in zip(self._open, self.space.moves, strict=True):
            without = positions & leaves_open * spread
            for move in moves:
                longer |= without << move
        return positions & ~longer

    def longer(self, positions: Positions, spread: int) -> Positions:
        """Return the positions of a set, and all that become one of them if words are taken away."""
        for leaves_open, moves in zip(self._open, self.space.moves, strict=True):
            without = positions & leaves_open * spread
            for move in moves:
                positions |= without << move
        return positions

    def shortened(self, position: int, kept: Positions, random: Callable[[], float]) -> int:
        """Take away words in random order, each if what is left is in `kept`."""
        words = [*self.space.words[position % self.space.size]]
        left = len(words)
        while left:
            at = int(random() * left)
            step = words[at].step
            left -= 1
            words[at] = words[left]
            if kept >> position - step & 1:
                position -= step
        return position

    # Absent descriptions ----------------------------------------------------------------------------------------------

    def absent_chances(self) -> dict[int, float]:
        """Return set of attributes -> how likely a description that is drawn blindly says these and fits nothing."""
        if self._absent_chances is None:
            vocabulary, space = self.vocabulary, self.space
            counts = [len(each.values) for each in vocabulary.attributes]
            self._absent_chances = {}
            for said in vocabulary.sets:
                ways, chance = 1, 1.0
                for k, values in enumerate(counts):
                    ways *= values if said >> k & 1 else 1
                    chance *= (values if said >> k & 1 else 1) / (values + 1)
                if vocabulary.is_limited:  # then they are as long as what fits
                    chance = space.by_said.get(said, 0).bit_count() / space.full.bit_count()
                fitting = (self.saying(1 << said) & self.distinct).bit_count()
                if fitting < ways:
                    self._absent_chances[said] = chance * (1 - fitting / ways)
        return self._absent_chances

    def draw_absent(self, chances: Sequence[tuple[int, float]], random: Callable[[], float]) -> int | None:
        """Draw the code of a description that fits nothing, of a set of attributes as likely as `chances` says."""
        rest, said = random() * sum([chance for _, chance in chances]), 0
        for said, chance in chances:  # noqa: B007
            rest -= chance
            if rest < 0:
                break
        for _ in range(ABSENT_TRIES):
            code, fits = self._blind(said, random)
            if not fits:
                return code
        return None

    def draw_any(self, random: Callable[[], float]) -> tuple[int, Objects]:
        """Draw a description blindly; return its code and the objects that it fits."""
        vocabulary, said = self.vocabulary, 0
        if vocabulary.is_limited:
            position = member(self.distinct, int(random() * self.distinct.bit_count()))
            said = self.space.said[position % self.space.size]
        else:
            for k, attribute in enumerate(vocabulary.attributes):
                said |= (int(random() * (len(attribute.values) + 1)) > 0) << k
        return self._blind(said, random)

    def _blind(self, said: int, random: Callable[[], float]) -> tuple[int, Objects]:
        code, fits, vocabulary = 0, self.scene.everything, self.vocabulary
        for k, attribute in enumerate(vocabulary.attributes):
            if said >> k & 1:
                word = attribute.values[int(random() * len(attribute.values))]
                code += vocabulary.digits[k][word]
                fits &= self.scene.having[attribute.name][word]
        return code, fits


class SceneTables:
    """The description tables of one scene, made when first asked for. The scene itself is never written to."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._tables: dict[Vocabulary, DescriptionTable] = {}
        self.grouped: dict[tuple[tuple[str, ...], ...], list[tuple[Value, Objects]]] = {}
        """Functions, each of the one before -> what they give of one object, and of which objects they give it."""

    def of(self, vocabulary: Vocabulary) -> DescriptionTable:
        """The scene's table for a vocabulary."""
        table = self._tables.get(vocabulary)
        if table is None:
            table = self._tables[vocabulary] = DescriptionTable(vocabulary, self.scene)
        return table
