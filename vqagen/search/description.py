"""Nodes with a choice: what each may say, which of that its own constraints allow, and how options are offered.

A description says values of attributes, a plain choice the words of a primitive function with slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

from vqagen.bits import Objects, is_single, union_of
from vqagen.language.catalogue import Value
from vqagen.language.template import Template
from vqagen.search.vocabulary import Vocabulary
from vqagen.world.scene import Scene

Pick = tuple[Any, ...]
"""What was chosen at an op: (relation or None, description code, objects that fit) or the words of plain slots."""


class LocalCheck(NamedTuple):
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
        number: LocalCheck(tuple(place[slot] for slot in each.slots), each.holds, each.kind.of_openness, str(each))
        for number, each in enumerate(template.constraints)
        if each.slots and not each.nodes and place.keys() >= {*each.slots}
    }


class Sampling(NamedTuple):
    """Options of sampling; the defaults are the reference's, without its bug of absent descriptions that fit."""

    idle_share: float = 0.1
    """Share of idle relations among what is offered; 1 offers every idle pair, 0 none."""
    absent: str = "new"
    """"new": descriptions that fit no object; "any": drawn blindly, as the reference does; "none"."""
    shortens: bool = False
    """True if a reference to one object loses words that it does not need."""

    def share_of_idle(self, telling: int, idle: int) -> float:
        """Return how likely an idle pair is offered, beside each of so many telling ones."""
        if self.idle_share >= 1 or not idle:
            return 1.0
        return min(idle, round(telling * self.idle_share / (1 - self.idle_share))) / idle


class Description:
    """A node that describes objects: where it starts, what it may say, and what ends it."""

    __slots__ = (
        "checks", "joint_checks", "openness", "reducer", "relates", "relation", "sets", "source", "vocabulary", "way",
        "word_checks",
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
        self.way = relation or "" if relates else None
        """The relation by way of which it describes; "" where it is chosen, None where the source is a set."""
        self.vocabulary, self.checks = vocabulary, checks
        of_words = [check for check in checks if not check.of_openness]
        self.word_checks = tuple([check for check in of_words if len(check.places) == 1])
        self.joint_checks = tuple([check for check in of_words if len(check.places) > 1])
        """The node's own constraints on one word, and on several, beside those on which words are there."""
        self.openness = openness_of(vocabulary.sets, checks)
        """Set of attributes that are said -> True if the node's constraints allow that."""
        self.sets = union_of([said for said, is_allowed in self.openness.items() if is_allowed])
        """The sets of attributes that the node's own constraints allow to say: bit s for set s."""

    def relations_in(self, scene: Scene) -> list[str]:
        """The relations that the node may say in a scene; none where the scene says nothing of the named one."""
        return [name for name in scene.related if self.relation in (None, name)]

    def allows(self, code: int) -> bool:
        """True if the node's own constraints allow a code."""
        words, used = self.vocabulary.said[code]
        return self.openness[used] and all(check.holds(words) for check in (*self.word_checks, *self.joint_checks))

    def offers_absent(self, sampling: Sampling) -> bool:
        """True if descriptions that fit nothing are among the options."""
        return sampling.absent != "none" and self.reducer not in ("unique", "not_unique") and not self.relates

    def suits(self, code: int, outcome: Objects) -> bool:
        """True if a description with this outcome is one that the node can use."""
        if self.reducer == "unique":
            return is_single(outcome)
        if self.reducer == "not_unique":
            return outcome & (outcome - 1) != 0
        if self.reducer is None:
            return outcome != 0 if self.relates else code != 0
        return True


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


class PlainChoice(NamedTuple):
    """A primitive node with slots or literals as its values.

    `options` has, for each value, what it may be; a slot that an earlier node filled is looked up by `bound`.
    """

    run: Callable[..., Value]
    inputs: tuple[int, ...]
    options: tuple[WordTuple, ...]
    bound: tuple[Callable[[Sequence[Pick]], str | None] | None, ...]
    checks: tuple[LocalCheck, ...] = ()

    def allows(self, words: WordTuple) -> bool:
        """True if the node's own constraints allow these words."""
        return all(check.holds(words) for check in self.checks)

    def bound_words(self, picked: Sequence[Pick]) -> list[tuple[int, str | None]]:
        """Return (place, word) of the slots that earlier nodes filled."""
        return [(k, word_of(picked)) for k, word_of in enumerate(self.bound) if word_of is not None]
