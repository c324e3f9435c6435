"""What the objects of a scene can be called: sets of descriptions as ints, so that thousands are compared at once.

A position is `object * space.size + description`: this description, said of this object. A set of positions is an int.
What fits an object is one AND for each attribute; how many of some objects a description fits follows from sums of bits
in parallel, without going through the descriptions.

An example: a red cube 0 and a red ball 1 with two attributes of one word each, so four descriptions: "thing", "red
thing", "cube" (or "ball") and "red cube". Positions 0 to 3 are said of object 0, 4 to 7 of object 1. "Red thing" fits
both, so `described[0]` has positions 0, 1, 2, 3 and also 4 and 5; `singling_out` of both objects has 2, 3, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import compress, count
from typing import TYPE_CHECKING, NamedTuple

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
_AS_NUMBERS = bytes.maketrans(b"01", b"\0\1")


def members(positions: Positions) -> list[int]:
    """Return the members of a set, ascending: of a hundred in a third of the time of `bits.indexes`."""
    return list(compress(count(), f"{positions:b}".encode().translate(_AS_NUMBERS)[::-1]))


def member(positions: Positions, rank: int) -> int:
    """Return the member of a set that so many members are below, by halving it.

    >>> member(0b1011, 2)
    3
    """
    at, half = 0, 1 << max(0, (positions.bit_length() - 1).bit_length() - 1)
    while half:
        low = positions & (1 << half) - 1
        below = low.bit_count()
        if rank < below:
            positions = low
        else:
            rank -= below
            positions >>= half
            at += half
        half >>= 1
    return at


class Fitting(NamedTuple):
    """The positions whose descriptions fit at least one, and at least two, of some objects."""

    some: Positions
    several: Positions


class Related(NamedTuple):
    """Descriptions by way of one relation from an anchor."""

    relation: str
    objects: Objects
    """Those that stand in the relation to the anchor."""
    telling: Positions
    """Descriptions that fit other objects too: without the relation something else would be meant."""


class References:
    """Descriptions that single out one object, by way of one relation or of none.

    A start is drawn, and words that it does not need are dropped while it stays in `kept`; what is left must be one of
    the `targets`. `weight`: how likely a start is, beside those of other relations. `count`: how many starts there are.
    """

    __slots__ = ("_listed", "count", "kept", "relation", "starts", "targets", "weight")

    def __init__(
        self, relation: str | None, kept: Positions, targets: Positions, starts: Positions, weight: float
    ) -> None:
        self.relation, self.kept, self.targets = relation, kept, targets
        self.starts, self.count, self.weight = starts, starts.bit_count(), weight
        self._listed: list[int] = []

    def draw(self, random: Callable[[], float]) -> int:
        """Draw a start. They are listed, since many searches draw from the same ones."""
        if not self._listed:
            self._listed = members(self.starts)
        return self._listed[int(random() * self.count)]


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
        self._fitting: dict[Objects, Fitting] = {}
        self._counts: dict[Objects, list[Positions]] = {}
        self._entries: dict[int, tuple[int, Objects]] = {}
        self._allowed: dict[Description, Positions] = {}
        self._references: dict[tuple[Objects, Positions], list[References]] = {}
        self._by_way_of: dict[tuple[int, Positions, bool, str | None], list[References]] = {}
        self._related: dict[tuple[int, str | None], list[Related]] = {}
        self._absent_chances: dict[int, float] | None = None
        self._said_of_sets: dict[Objects, Positions] = {}

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
        found = self._entries.get(position)
        if found is None:
            i, description = divmod(position, self.space.size)
            code, fits, vocabulary, having = 0, self.scene.everything, self.vocabulary, self.scene.having
            for k, number, _ in self.space.words[description]:
                word = self._words[i][k][number]
                code += vocabulary.digits[k][word]
                fits &= having[vocabulary.attributes[k].name][word]
            found = self._entries[position] = (code, fits)
        return found

    def saying(self, sets: int) -> Positions:
        """Return the positions that say one of some sets of attributes."""
        return self.every if sets == ANY_SET else self.space.saying(sets) * self.saying_nothing & self.every

    def of(self, objects: Objects) -> Positions:
        """Return the positions that are said of some objects; `ALL` of all."""
        if objects == ALL:
            return ALL
        found = self._said_of_sets.get(objects)
        if found is None:
            found = self._said_of_sets[objects] = sum([self.said_of[i] for i in indexes(objects)])
        return found

    def allowed(self, node: Description) -> Positions:
        """Return the positions that the constraints of a node by itself allow."""
        if not node.has_checks:
            return self.every
        found = self._allowed.get(node)
        if found is None:
            found = self.saying(node.sets)
            if node.checks_words:
                found = sum([1 << each for each in members(found) if node.allows(self.option(each)[0])])
            self._allowed[node] = found
        return found

    # How many objects fit ---------------------------------------------------------------------------------------------

    def fitting(self, objects: Objects) -> Fitting:
        """Return the positions whose descriptions fit some, and several, of these objects."""
        found = self._fitting.get(objects)
        if found is None:
            some = several = 0
            for i in indexes(objects):
                several |= some & self.described[i]
                some |= self.described[i]
            found = self._fitting[objects] = Fitting(some, several)
        return found

    def singling_out(self, objects: Objects) -> Positions:
        """Return the positions that are said of one of these objects and fit no other of them."""
        some, several = self.fitting(objects)
        return some & ~several & self.of(objects)

    def fitting_as_many(self, objects: Objects, numbers: int) -> Positions:
        """Return the distinct positions that fit such a number of these objects: bit n of `numbers` for n."""
        most = objects.bit_count()
        wanted = numbers & (2 << most) - 1
        every = (2 << most) - 1
        if wanted == every:
            return self.distinct
        if wanted | 1 == every:
            return self.distinct & self.fitting(objects).some
        if wanted | 3 == every and not wanted & 3:
            return self.distinct & self.fitting(objects).several
        found = 0
        for number in range(most + 1):
            if wanted >> number & 1:
                found |= self.fitting_exactly(objects, number)
        return found

    def fitting_exactly(self, objects: Objects, number: int) -> Positions:
        """Return the distinct positions that fit exactly so many of these objects."""
        planes = self._counts.get(objects)
        if planes is None:
            planes = self._counts[objects] = self._count(objects)
        if number >> len(planes):
            return 0
        found = self.distinct
        for plane in planes:
            found &= plane if number & 1 else ~plane
            number >>= 1
        return found

    def _count(self, objects: Objects) -> list[Positions]:
        """Add up, for all positions at once, the objects that each fits: plane k has bit k of the sums.

        Where a description fits three objects, its position is in planes 0 and 1.
        """
        planes = [0] * max(1, objects.bit_count().bit_length())
        for i in indexes(objects):
            carry, k = self.described[i] & self.distinct, 0
            while carry:
                planes[k], carry = planes[k] ^ carry, planes[k] & carry
                k += 1
        return planes

    # References -------------------------------------------------------------------------------------------------------

    def references(self, among: Objects, allowed: Positions, shortens: bool) -> list[References]:
        """Return the descriptions that single out one of some objects; () where there are none."""
        key = (among, allowed)
        found = self._references.get(key)
        if found is None:
            kept = self.singling_out(among) & allowed
            targets = self.shortest(kept) if shortens else kept
            found = self._references[key] = [References(None, kept, targets, kept, 1.0)] if kept else []
        return found

    def by_way_of(
        self, anchor: int, allowed: Positions, sampling: Sampling, matters: bool, relation: str | None
    ) -> list[References]:
        """Return the descriptions that single out an object related to the anchor: with one relation, or any for None.

        `matters`: leave out what singles out one of all objects but the anchor: there the relation would be idle.
        """
        key = (anchor, allowed, matters, relation)
        found = self._by_way_of.get(key)
        if found is None:
            found = self._by_way_of[key] = [*self._by_relation(anchor, allowed, sampling, matters, relation)]
        return found

    def _by_relation(
        self, anchor: int, allowed: Positions, sampling: Sampling, matters: bool, relation: str | None
    ) -> Iterable[References]:
        known = self.singling_out(self.scene.everything & ~(1 << anchor)) if matters else 0
        related = self.related(anchor, relation)
        kept = [self.singling_out(each.objects) & allowed for each in related]
        telling = sum([(each & one.telling).bit_count() for each, one in zip(kept, related, strict=True)])
        idle = sum([each.bit_count() for each in kept]) - telling
        share = sampling.idle_count(telling, idle) / idle if idle else 0.0
        for one, each in zip(related, kept, strict=True):
            targets = (self.shortest(each) if sampling.shortens else each) & ~known
            starts = targets if not sampling.shortens else each & self.longer(targets)
            if starts & one.telling:
                yield References(one.relation, each, targets, starts & one.telling, 1.0)
            if share and starts & ~one.telling:
                yield References(one.relation, each, targets, starts & ~one.telling, share)

    def related(self, anchor: int, relation: str | None) -> list[Related]:
        """Return what stands in each relation to an anchor, or in one relation."""
        key = (anchor, relation)
        found = self._related.get(key)
        if found is None:
            everything, found = self.scene.everything, []
            for name, objects in self.scene.related.items():
                if relation in (None, name):
                    near = objects[anchor]
                    found.append(Related(name, near, self.fitting(everything & ~near).some))
            self._related[key] = found
        return found

    def shortest(self, positions: Positions) -> Positions:
        """Return the positions of a set of which no word can be taken away within the set."""
        longer = 0
        for leaves_open, moves in zip(self._open, self.space.moves, strict=True):
            without = positions & leaves_open
            for move in moves:
                longer |= without << move
        return positions & ~longer

    def longer(self, positions: Positions) -> Positions:
        """Return the positions of a set, and all that become one of them if words are taken away."""
        for leaves_open, moves in zip(self._open, self.space.moves, strict=True):
            without = positions & leaves_open
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
