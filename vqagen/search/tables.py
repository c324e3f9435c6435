"""What the objects of a scene can be called: sets of descriptions as ints, so that thousands are compared at once.

A position is `object * space.size + description`: this description, said of this object. A set of positions is an int.
What fits an object is one AND for each attribute; how many of some objects a description fits follows from sums of bits
in parallel, without going through the descriptions.

An example: a red cube 0 and a red ball 1 with two attributes of one word each, so four descriptions: "thing", "red
thing", "cube" (or "ball") and "red cube". Positions 0 to 3 are said of object 0, 4 to 7 of object 1. "Red thing" fits
both, so `described[0]` has positions 0, 1, 2, 3 and also 4 and 5; `singling_out` of both objects has 2, 3, 6 and 7.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING

from vqagen.bits import Objects, indexes, union, union_of
from vqagen.search.vocabulary import ANY_SET, Memo, Vocabulary
from vqagen.world.attribute import Attribute
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.search.description import Description, Sampling

Positions = int
"""A set of positions."""
ALL: Positions = -1
MEMBERS = Memo(indexes, 5_000)
"""Sets of objects -> their members: scenes of ten have 1,024 sets."""


class Fits:
    """How many objects of a set each description fits; or of several sets, as those in each relation to an anchor.

    Each set has a slot of positions: `slot * width + position`, so that all sets are looked at in one go.
    relations: that of each slot; None for a set. sets: the objects of each slot.
    some, several: the positions whose descriptions fit at least one, and at least two, objects of the slot's set.
    distinct: of the positions with equal words the first one.
    """

    __slots__ = ("_others", "_own", "_parts", "_planes", "_table", "distinct", "relations", "sets", "several", "some")

    def __init__(self, table: DescriptionTable, relations: Sequence[str | None], sets: Sequence[Objects]) -> None:
        self._table, self.relations, self.sets = table, relations, sets
        self.distinct = table.repeated(table.distinct, len(sets))
        self.some = self.several = self._own = 0
        self._planes: list[Positions] = []
        self._others: dict[Objects, Positions] = {}
        self._parts = [table.fits(objects) for objects in sets] if len(sets) != 1 else []
        if self._parts:
            self.some = table.in_slots([part.some for part in self._parts])
            self.several = table.in_slots([part.several for part in self._parts])
            self._own = table.in_slots([part._own for part in self._parts])
        elif sets:
            for i in MEMBERS[sets[0]]:
                described = table.described[i]
                self.several |= self.some & described
                self.some |= described
                self._own |= table.said_of[i]

    def singling_out(self) -> Positions:
        """Return the positions that are said of an object of the slot's set and fit no other of it."""
        return self._own & ~self.several

    def others(self, beside: Objects = 0) -> Positions:
        """Return the positions whose descriptions fit an object outside the slot's set, not counting those `beside`."""
        positions = self._others.get(beside)
        if positions is None:
            table, rest = self._table, self._table.scene.everything & ~beside
            parts = [union([table.described[i] for i in MEMBERS[rest & ~objects]]) for objects in self.sets]
            positions = self._others[beside] = table.in_slots(parts)
        return positions

    def without(self, objects: Objects) -> Fits:
        """Return the same of the sets without some objects."""
        sets = [each & ~objects for each in self.sets]
        return self._table.fits(sets[0]) if len(sets) == 1 else Fits(self._table, self.relations, sets)

    def as_many(self, numbers: int) -> Positions:
        """Return the distinct positions that fit such a number of objects: bit n of `numbers` for n."""
        most = max([objects.bit_count() for objects in self.sets], default=0)
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
        planes = self.planes
        if number >> len(planes):
            return 0
        found = self.distinct
        for plane in planes:
            found &= plane if number & 1 else ~plane
            number >>= 1
        return found

    @property
    def planes(self) -> list[Positions]:
        """How many objects each position fits, in binary: plane k has bit k of the numbers of all positions at once.

        Where a description fits three objects, its position is in planes 0 and 1.
        """
        if self._planes:
            return self._planes
        if self._parts:
            planes = zip_longest(*[part.planes for part in self._parts], fillvalue=0)
            self._planes = [self._table.in_slots(each) for each in planes]
            return self._planes
        objects = self.sets[0] if self.sets else 0
        self._planes = [0] * max(1, objects.bit_count().bit_length())
        for i in MEMBERS[objects]:
            carry, k = self._table.described[i], 0
            while carry:
                self._planes[k], carry = self._planes[k] ^ carry, self._planes[k] & carry
                k += 1
        return self._planes


class References:
    """Descriptions that single out one object of a set, or of several: by way of one relation each.

    A start is drawn, and words that it does not need are dropped while it stays in `kept`; what is left must be one of
    the `targets`. A start outside `telling` counts a `share` of one within: there the relation is idle, though it need
    not be. Where it must not, no target is idle, and all starts count alike.
    """

    __slots__ = ("fits", "kept", "share", "starts", "targets", "telling")

    def __init__(self, fits: Fits, kept: Positions, targets: Positions, starts: Positions) -> None:
        self.fits, self.kept, self.targets, self.starts = fits, kept, targets, starts
        self.telling, self.share = ALL, 1.0


class WordColumn:
    """The words of one attribute that are true of the objects of a scene: its value, and the groups it belongs to.

    words: for each object; alike: each different such words, and the objects of which they are true.
    most: how many words are true of an object at most.
    """

    __slots__ = ("alike", "most", "words")

    def __init__(self, attribute: Attribute, scene: Scene) -> None:
        self.words = [attribute.sayable(value) for value in scene.values[attribute.name]]
        self.most = max(map(len, self.words), default=0)
        alike = dict[tuple[str, ...], list[int]]()
        for i in indexes(scene.everything):
            alike.setdefault(self.words[i], []).append(i)
        self.alike = [*alike.items()]


class DescriptionTable:
    """The descriptions of the objects of a scene over one vocabulary.

    described[i]: the positions whose descriptions fit object i; said_of[i]: those that are said of object i.
    distinct: of positions with equal words the first one.
    """

    def __init__(self, vocabulary: Vocabulary, scene: Scene, columns: Sequence[WordColumn]) -> None:
        """`columns`: for each attribute of the vocabulary the words that are true of the objects."""
        self.vocabulary, self.scene, self._columns = vocabulary, scene, columns
        self.space = vocabulary.spaces[tuple([column.most for column in columns])]
        size, objects = self.space.size, indexes(scene.everything)
        self.width = scene.size * size
        """How many positions a slot has."""
        self.saying_nothing = sum([1 << i * size for i in objects])
        """The position of each object that leaves all attributes open."""
        self._spreads = [self.in_slots([1] * slots) for slots in range(len(scene.related) + 1)]
        """Number of slots -> what repeats positions in each, if they are multiplied by it."""
        self._opens: dict[int, Sequence[tuple[Positions, Sequence[int]]]] = {}
        self.every = self.space.full * self.saying_nothing
        self._saying_word: list[dict[str, Positions]] = []
        """For each attribute: word -> the positions that say it."""
        self.described = [self.every if scene.everything >> i & 1 else 0 for i in range(scene.size)]
        for column, says, (leaves_open, _) in zip(columns, self.space.says, self._open_in(1), strict=True):
            self._describe(column, says, leaves_open)
        self.described = [each & self.every for each in self.described]
        within = (1 << size) - 1
        self.said_of = [self.every & within << i * size for i in range(scene.size)]
        self.distinct = self.every
        for i in objects:
            after = (i + 1) * size
            self.distinct &= ~(self.described[i] >> after << after)
        self._fits: dict[tuple[Objects, str | None], Fits] = {}
        self._options: dict[int, tuple[int, Objects]] = {}
        self._allowed: dict[Description, Positions] = {}
        self._saying: dict[int, Positions] = {ANY_SET: self.every}
        self._wanted: dict[tuple[int, Objects], Positions] = {}
        self._references: dict[tuple[int, str | None, Positions, bool], References] = {}
        self._absent_chances: dict[int, float] | None = None

    def _describe(self, column: WordColumn, says: Sequence[int], leaves_open: Positions) -> None:
        """Leave in `described` what says nothing of an attribute that is not true of the object, and so in `every`."""
        saying, size = dict[str, Positions](), self.space.size
        self._saying_word.append(saying)
        for words, objects in column.alike:
            first = sum([1 << i * size for i in objects])
            for word, descriptions in zip(words, says, strict=False):
                saying[word] = saying.get(word, 0) | descriptions * first
            for descriptions in says[len(words) :]:
                self.every &= ~(descriptions * first)
        for words, objects in column.alike:
            fits = union([leaves_open, *[saying[word] for word in words]])
            for i in objects:
                self.described[i] &= fits

    # Positions --------------------------------------------------------------------------------------------------------

    def option(self, position: int) -> tuple[int, Objects]:
        """Return the code of a description, and the objects that it fits."""
        option = self._options.get(position)
        if option is None:
            i, description = divmod(position, self.space.size)
            code, fits, vocabulary, having = 0, self.scene.everything, self.vocabulary, self.scene.having
            for k, number, _ in self.space.words[description]:
                word = self._columns[k].words[i][number]
                code += vocabulary.digits[k][word]
                fits &= having[vocabulary.attributes[k].name][word]
            option = self._options[position] = (code, fits)
        return option

    def in_slots(self, parts: Sequence[Positions]) -> Positions:
        """Return positions of several sets as those of one, each in a slot of its own."""
        positions = 0
        for part in reversed(parts):
            positions = positions << self.width | part
        return positions

    def repeated(self, positions: Positions, slots: int) -> Positions:
        """Return the same positions in each of some slots."""
        return positions if slots == 1 else positions * self._spreads[slots]

    def saying(self, sets: int) -> Positions:
        """Return the positions that say one of some sets of attributes."""
        positions = self._saying.get(sets)
        if positions is None:
            positions = self._saying[sets] = self.space.saying(sets) * self.saying_nothing & self.every
        return positions

    def of(self, objects: Objects) -> Positions:
        """Return the positions that are said of some objects."""
        return self.every if objects == ALL else union([self.said_of[i] for i in MEMBERS[objects]])

    def wanted(self, sets: int, objects: Objects) -> Positions:
        """Return the positions that say one of some sets of attributes of some objects."""
        key = (sets, objects)
        positions = self._wanted.get(key)
        if positions is None:
            positions = self._wanted[key] = self.saying(sets) & self.of(objects)
        return positions

    def allowed(self, node: Description) -> Positions:
        """Return the positions that the constraints of a node by itself allow."""
        if not node.checks:
            return self.every
        positions = self._allowed.get(node)
        if positions is None:
            positions = self.saying(node.sets)
            for check in node.word_checks:
                (k,) = check.places
                saying = [each for word, each in self._saying_word[k].items() if check.test(word)]
                if check.test(None):
                    saying.append(self._open_in(1)[k][0])
                positions &= union(saying)
            if node.joint_checks:
                positions = union_of([each for each in indexes(positions) if node.allows(self.option(each)[0])])
            self._allowed[node] = positions
        return positions

    def forget(self) -> None:
        """Let go of what refers to the table: without circles its memory is free at once, and nobody looks for it."""
        self._fits.clear()
        self._references.clear()

    # Sets of objects --------------------------------------------------------------------------------------------------

    def fits(self, source: Objects, relation: str | None = None) -> Fits:
        """Return how many objects of a set the descriptions fit; with a relation, of those related to an anchor.

        `relation`: one by its name, "" for each of the scene; then `source` is the anchor's index.
        """
        key = (source, relation)
        fits = self._fits.get(key)
        if fits is None:
            relations: list[str | None] = [relation]
            sets = [source]
            if relation is not None:
                related = self.scene.related
                relations = [name for name in related if relation in ("", name)]
                sets = [related[name][source] for name in related if relation in ("", name)]
            fits = self._fits[key] = Fits(self, relations, sets)
        return fits

    def references(self, node: Description, source: int, sampling: Sampling, matters: bool) -> References:
        """Return the descriptions that single out an object of a set, or of those in a relation to an anchor.

        `matters`: leave out what singles out one of all objects but the anchor: there the relation would be idle.
        """
        allowed = self.allowed(node)
        key = (source, node.way, allowed, matters)
        references = self._references.get(key)
        if references is None:
            fits = self.fits(source, node.way)
            slots = len(fits.sets)
            kept = fits.singling_out() & self.repeated(allowed, slots)
            targets = self.shortest(kept, slots) if sampling.shortens else kept
            if matters:
                known = self.fits(self.scene.everything & ~(1 << source)).singling_out()
                targets &= ~self.repeated(known, slots)
            starts = kept & self.longer(targets, slots) if sampling.shortens else targets
            references = self._references[key] = References(fits, kept, targets, starts)
            if node.way is not None and not matters:
                references.telling = fits.others()
                telling = (kept & references.telling).bit_count()
                references.share = sampling.share_of_idle(telling, kept.bit_count() - telling)
                if not references.share:
                    references.targets &= references.telling
                    references.starts &= references.telling
        return references

    def shortest(self, positions: Positions, slots: int) -> Positions:
        """Return the positions of a set of which no word can be taken away within the set."""
        longer = 0
        for leaves_open, moves in self._open_in(slots):
            without = positions & leaves_open
            for move in moves:
                longer |= without << move
        return positions & ~longer

    def longer(self, positions: Positions, slots: int) -> Positions:
        """Return the positions of a set, and all that become one of them if words are taken away."""
        for leaves_open, moves in self._open_in(slots):
            without = positions & leaves_open
            for move in moves:
                positions |= without << move
        return positions

    def _open_in(self, slots: int) -> Sequence[tuple[Positions, Sequence[int]]]:
        """Return for each attribute the positions that leave it open, and what its words add to them."""
        of_attributes = self._opens.get(slots)
        if of_attributes is None:
            opens = [self.repeated(each * self.saying_nothing, slots) for each in self.space.leaves_open]
            of_attributes = self._opens[slots] = [*zip(opens, self.space.moves, strict=True)]
        return of_attributes

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

    def absent_chances(self) -> dict[int, float]:
        """Return set of attributes -> how likely a description that is drawn blindly says these and fits nothing."""
        if self._absent_chances is None:
            vocabulary, space = self.vocabulary, self.space
            self._absent_chances = {}
            for said, ways, chance in vocabulary.blind_chances:
                if vocabulary.is_limited:  # then they are as long as what fits
                    chance = space.by_said.get(said, 0).bit_count() / space.full.bit_count()
                fitting = (self.saying(1 << said) & self.distinct).bit_count()
                if fitting < ways:
                    self._absent_chances[said] = chance * (1 - fitting / ways)
        return self._absent_chances
