"""Nodes with a choice: what each may say, which of that its own constraints allow, and what of it fits a scene.

A description says values of attributes, a plain choice the words of a primitive function with slots. The tables of a
scene hold every description that fits at least one of its objects, and the pairs of a relation and a description.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import compress
from operator import or_
from typing import TYPE_CHECKING, Any, NamedTuple

from vqagen.bits import Objects, is_single, union_of
from vqagen.language.catalogue import Value
from vqagen.language.template import Template
from vqagen.search.vocabulary import REMEMBERED, Vocabulary
from vqagen.world.scene import Scene

if TYPE_CHECKING:
    from vqagen.search.filling import Frame


@dataclass(frozen=True)
class LocalCheck:
    """A condition on the words of one node alone. `places` are those it reads."""

    places: tuple[int, ...]
    test: Callable[..., bool]
    of_openness: bool = False
    """True if it only asks which words are there."""
    meaning: str = ""
    """The constraint it stands for; "" where it stands for none."""

    def holds(self, words: Sequence[str | None]) -> bool:
        """True if the node's words meet it."""
        return self.test(*[words[k] for k in self.places])


def local_checks(template: Template, slots: Sequence[str]) -> dict[int, LocalCheck]:
    """Return the constraints on these slots of one node and nothing else, by number ("" stands for a literal)."""
    place = {slot: k for k, slot in enumerate(slots) if slot}
    return {
        number: LocalCheck(
            tuple(place[slot] for slot in each.slots), each.holds, each.kind.of_openness, meaning=str(each)
        )
        for number, each in enumerate(template.constraints)
        if each.slots and not each.nodes and place.keys() >= {*each.slots}
    }


@dataclass(frozen=True)
class Sampling:
    """Options of sampling; the defaults are the reference's, without its bug of absent descriptions that fit."""

    idle_share: float = 0.1
    """Share of idle relations among what is offered; 1 offers every idle pair, 0 none."""
    absent: str = "new"
    """"new": descriptions that fit no object; "any": drawn blindly, as the reference does; "none"."""
    shortens: bool = False
    """True if a reference to one object loses words that it does not need."""

    def idle_count(self, telling: int, idle: int) -> int:
        """Return how many idle pairs are offered beside so many telling ones."""
        if self.idle_share >= 1:
            return idle
        return min(idle, round(telling * self.idle_share / (1 - self.idle_share)))


class Description:
    """A node that describes objects: where it starts, what it may say, and what ends it."""

    __slots__ = (
        "_openness", "_patterns", "checks", "checks_words", "has_checks", "reducer", "relates", "relation", "source",
        "vocabulary",
    )  # fmt: skip

    def __init__(
        self,
        source: int,
        relates: bool,
        reducer: str | None,
        vocabulary: Vocabulary,
        checks: tuple[LocalCheck, ...] = (),
        relation: str | None = None,
    ) -> None:
        """`source`: the op it starts from: an object set, or the anchor where it relates.

        `relation`: the one that the template names; None where it is chosen, or where the node does not relate.
        """
        self.source, self.relates, self.reducer, self.relation = source, relates, reducer, relation
        self.vocabulary, self.checks = vocabulary, checks
        self.has_checks = bool(checks)
        """True if the node's own constraints ask for anything."""
        self.checks_words = not all(check.of_openness for check in checks)
        """True if the node's own constraints ask for more than which attributes are said."""
        self._openness: dict[int, bool] = {}
        self._patterns = -1

    def relations_in(self, scene: Scene) -> list[str]:
        """The relations that the node may say in a scene; none where the scene says nothing of the named one."""
        return [name for name in scene.related if self.relation in (None, name)]

    @property
    def openness(self) -> dict[int, bool]:
        """Set of attributes that are said -> True if the node's constraints allow that."""
        if not self._openness:
            self._openness = openness_of(self.vocabulary.patterns, self.checks)
        return self._openness

    @property
    def patterns(self) -> int:
        """The sets of attributes that the node's own constraints allow to say, by their numbers, as bits."""
        if self._patterns < 0:
            openness = self.openness
            self._patterns = sum([1 << number for used, number in self.vocabulary.patterns.items() if openness[used]])
        return self._patterns

    def allows(self, code: int) -> bool:
        """True if the node's own constraints allow a code."""
        words, used = self.vocabulary.said[code]
        return self.openness[used] and (not self.checks_words or all(check.holds(words) for check in self.checks))

    def may_say(self, k: int) -> bool:
        """True if the constraints on attribute k alone allow to say it."""
        return all(check.test("") for check in self.checks if check.of_openness and check.places == (k,))

    def offers_absent(self, sampling: Sampling) -> bool:
        """True if descriptions that fit nothing are among the options."""
        return sampling.absent != "none" and self.reducer not in ("unique", "not_unique") and not self.relates

    def shortened(self, scene: Scene, code: int, among: Objects, turns: Sequence[int]) -> tuple[int, Objects]:
        """Leave open, one by one, every attribute without which a code still fits the same ones of some objects.

        `turns`: the order in which the words of the code are tried, as `draw_turns` gives it.

        Returns the shorter code and the objects of the scene that it fits. Where the only cube is red and large, and
        nothing else is red, "the large red cube" becomes "the cube" or "the red thing".
        """
        having = scene.having
        spare = [(digit, having[name][word]) for digit, name, word in self.vocabulary.parts[code]]
        kept = scene.everything
        """What the words that must stay fit; those in `spare` are still to be tried."""
        for turn in turns:
            digit, fits = spare.pop(turn)
            rest = kept & among & ~fits
            for _, objects in spare:
                rest &= objects
            if not rest and self.allows(code - digit):
                code -= digit
            else:
                kept &= fits
        return code, kept

    def suits(self, code: int, outcome: Objects) -> bool:
        """True if a description with this outcome is one that the node can use."""
        if self.reducer == "unique":
            return is_single(outcome)
        if self.reducer == "not_unique":
            return outcome & (outcome - 1) != 0
        if self.reducer is None:
            return outcome != 0 if self.relates else code != 0
        return True


def draw_turns(count: int, random: Callable[[], float]) -> list[int]:
    """Draw a random order of so many things: the place of the next one among those that are left."""
    return [int(random() * left) for left in range(count, 0, -1)]


def openness_of(patterns: Iterable[int], checks: Iterable[LocalCheck]) -> dict[int, bool]:
    """Return for each set of attributes whether the checks of openness allow a node to say just these.

    Each check is asked once for each way to say the attributes that it reads.
    """
    allowed = dict.fromkeys(patterns, True)
    for check in checks:
        if check.of_openness:
            read, verdicts = union_of(check.places), dict[int, bool]()
            for used in allowed:
                if used & read not in verdicts:
                    verdicts[used & read] = check.test(*["" if used >> k & 1 else None for k in check.places])
                allowed[used] = allowed[used] and verdicts[used & read]
    return allowed


WordTuple = tuple[str | None, ...]


@dataclass(frozen=True)
class PlainChoice:
    """A primitive node with slots or literals as its values.

    `options` has, for each value, what it may be; a slot that an earlier node filled is looked up by `bound`.
    """

    run: Callable[..., Value]
    inputs: tuple[int, ...]
    options: tuple[WordTuple, ...]
    bound: tuple[Callable[[Frame], str | None] | None, ...]
    checks: tuple[LocalCheck, ...] = ()

    def allows(self, words: WordTuple) -> bool:
        """True if the node's own constraints allow these words."""
        return all(check.holds(words) for check in self.checks)

    def bound_words(self, frame: Frame) -> list[tuple[int, str | None]]:
        """Return (place, word) of the slots that earlier nodes filled."""
        return [(k, word_of(frame)) for k, word_of in enumerate(self.bound) if word_of is not None]


_AS_NUMBERS = bytes.maketrans(b"01", b"\0\1")


class RelationOptions(NamedTuple):
    """For one object, the (relation, description) pairs a node may pick, as flat indexes `relation * n + description`.

    Of three objects let 0 be red and left of the others. "The red thing left of object 1" is idle: "the red thing"
    names the same object. "The thing left of object 1" is telling.
    """

    telling: list[int]
    """Those in which the relation tells something."""
    idle: int
    """The others, as bits: half of these sets are never drawn from, and not listed (`DescriptionTable.members`)."""


LARGE = 64
"""Objects of a scene above which the pairs of an anchor are not kept: of 100 objects one in eight comes again."""


class DescriptionTable:
    """The descriptions that fit at least one object of a scene, in a fixed order; the first leaves everything open.

    codes[k], fits[k] — a description, and the objects it fits; fits_of[code] is the same by code.
    used[k] — the set of attributes that the description says.
    singles — the k whose description fits exactly one object; single_patterns — the sets of attributes that they say,
    by their numbers in the vocabulary, as bits.
    """

    def __init__(self, vocabulary: Vocabulary, scene: Scene) -> None:
        rows = [scene.values[attribute.name] for attribute in vocabulary.attributes]
        fits_of: dict[int, Objects] = {}
        used_of: dict[int, int] = {}
        codes_of: dict[int, Sequence[int]] = {}
        for i, values in enumerate(zip(*rows, strict=True) if rows else [()] * scene.size):
            bit = 1 << i & scene.everything
            if bit:
                codes, used = vocabulary.codes[values]
                used_of.update(zip(codes, used, strict=True))
                for code in codes:
                    fits_of[code] = fits_of.get(code, 0) | bit
                codes_of[i] = codes
        self.vocabulary = vocabulary
        self.scene = scene
        self.fits_of = fits_of
        self.codes = list(fits_of)
        self.fits = list(fits_of.values())
        self.used = [used_of[code] for code in self.codes]
        self.everything = list(range(len(self.codes)))
        self.singles = [k for k, objects in enumerate(self.fits) if not objects & (objects - 1)]
        self.single_patterns = sum([1 << vocabulary.patterns[used] for used in {self.used[k] for k in self.singles}])
        self.relations = list(scene.related)
        self._codes_of = codes_of
        self._shortened: dict[Any, tuple[int, Objects]] = {}
        self._options: dict[tuple[str | None, int, str | None], RelationOptions] = {}
        self._described: list[int] = []
        """Object -> the descriptions that fit it, as bits; empty until pairs are asked for."""
        self._pairs: dict[int, tuple[int, int, int]] = {}
        """Object -> the pairs that name at least one object by way of it, those that name two, and the telling ones."""
        self._flat = list(range(len(self.codes) * len(self.relations)))

    def relation_options(self, reducer: str | None, anchor: int, relation: str | None = None) -> RelationOptions:
        """The pairs that describe objects by way of an anchor: with one relation, or with any for None.

        For `unique` pairs that name one object, for `not_unique` pairs that name several, for None pairs that name
        any, for `count` and `exist` all pairs.
        """
        key = (reducer, anchor, relation)
        options = self._options.get(key)
        if options is None:
            pairs = self._pairs.get(anchor)
            if pairs is None:
                pairs = self._pairs[anchor] = self._count(anchor)
            (some, several, telling), allowed = pairs, self._pairs_with(relation)
            if reducer == "unique":
                allowed &= some & ~several
            elif reducer == "not_unique":
                allowed &= several
            elif reducer is None:
                allowed &= some
            options = RelationOptions(self.members(allowed & telling), allowed & ~telling)
            if self.scene.size <= LARGE:
                self._options[key] = options
        return options

    def members(self, pairs: int) -> list[int]:
        """The members of a set of pairs, ascending: of a hundred in a third of the time of `bits.indexes`."""
        return list(compress(self._flat, f"{pairs:b}".encode().translate(_AS_NUMBERS)[::-1]))

    def _count(self, anchor: int) -> tuple[int, int, int]:
        """Count how many objects the pairs of an anchor name: sets of descriptions are ints, so all pairs at once."""
        if not self._described:
            bit_of = {code: 1 << k for k, code in enumerate(self.codes)}
            each = (self._codes_of.get(i, ()) for i in range(self.scene.size))
            self._described = [reduce(or_, [bit_of[code] for code in codes], 0) for codes in each]
        some = several = telling = place = 0
        for relation in self.relations:
            reached, once, twice, left_out = self.scene.related[relation][anchor], 0, 0, 0
            for descriptions in self._described:
                if reached & 1:
                    twice |= once & descriptions
                    once |= descriptions
                else:
                    left_out |= descriptions
                reached >>= 1
            some |= once << place
            several |= twice << place
            telling |= left_out << place
            place += len(self.codes)
        return some, several, telling

    def _pairs_with(self, relation: str | None) -> int:
        """The pairs with a relation; all pairs for None."""
        width = len(self.codes)
        if relation is None:
            return (1 << len(self.relations) * width) - 1
        if relation not in self.relations:
            return 0
        return (1 << width) - 1 << self.relations.index(relation) * width

    def shortened(self, node: Description, k: int, among: Objects, random: Callable[[], float]) -> tuple[int, Objects]:
        """Return description k as short as `node.shortened` makes it, in random order, and the objects that it fits.

        Remembered for all nodes whose constraints allow the same: of 101,000 in 300 scenes 65 % come again.
        """
        code, turns = self.codes[k], draw_turns(self.used[k].bit_count(), random)
        key = (node if node.checks_words else node.patterns, code, among, *turns)
        found = self._shortened.get(key)
        if found is None:
            if len(self._shortened) > REMEMBERED:
                self._shortened.clear()
            found = self._shortened[key] = node.shortened(self.scene, code, among, turns)
        return found


class SceneTables:
    """The description tables of one scene, made when first asked for. The scene itself is never written to."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self._tables: dict[Vocabulary, DescriptionTable] = {}

    def of(self, vocabulary: Vocabulary) -> DescriptionTable:
        """The scene's table for a vocabulary."""
        table = self._tables.get(vocabulary)
        if table is None:
            table = self._tables[vocabulary] = DescriptionTable(vocabulary, self.scene)
        return table
