"""A description node: what it may say of objects, and which of that its constraints allow."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from vqagen.bits import Objects, is_single
from vqagen.search.local_checks import LocalCheck, allow_openness
from vqagen.search.vocabulary import REMEMBERED, Vocabulary
from vqagen.world.scene import Scene


@dataclass(frozen=True)
class Sampling:
    """Options of sampling; the defaults are the reference's, without its bug of absent descriptions that fit."""

    idle_share: float = 0.1
    """Share of idle relations among what is offered; 1 offers every idle pair, 0 none."""
    absent: str = "new"
    """"new": descriptions that fit no object; "any": drawn blindly, as the reference does; "none"."""
    shorten: bool = False
    """True if a reference to one object loses words it does not need."""

    def idle_count(self, telling: int, idle: int) -> int:
        """Return how many idle pairs are offered beside so many telling ones."""
        if self.idle_share >= 1:
            return idle
        return min(idle, round(telling * self.idle_share / (1 - self.idle_share)))


class Openness(dict[int, bool]):
    """Set of attributes that are said -> True if a node's constraints allow that; decided when first asked for."""

    def __init__(self, width: int, checks: Sequence[LocalCheck]) -> None:
        super().__init__()
        self._width, self._checks = width, checks

    def __missing__(self, used: int) -> bool:
        if len(self) > REMEMBERED:
            self.clear()
        allowed = self[used] = allow_openness(self._checks, [bool(used >> k & 1) for k in range(self._width)])
        return allowed


@dataclass(frozen=True)
class Description:
    """A node that describes objects: where it starts, what it may say, and what ends it."""

    source: int
    """The op it starts from: an object set, or the anchor where it relates."""
    relates: bool
    reducer: str | None
    vocabulary: Vocabulary
    checks: tuple[LocalCheck, ...] = ()
    relation: str | None = None
    """The relation that the template names; None where it is chosen, or where the node does not relate."""

    def relations_in(self, scene: Scene) -> list[str]:
        """The relations that the node may say in a scene; none where the scene says nothing of the named one."""
        return [name for name in scene.related if self.relation in (None, name)]

    @cached_property
    def openness(self) -> Mapping[int, bool] | Sequence[bool]:
        """Set of attributes that are said -> True if the node's own constraints allow that: a list if that is short."""
        width = len(self.vocabulary.attributes)
        openness = Openness(width, self.checks)
        return openness if self.vocabulary.is_wide else [openness[used] for used in range(1 << width)]

    @property
    def has_checks(self) -> bool:
        """True if the node's own constraints ask for anything."""
        return bool(self.checks)

    @cached_property
    def patterns(self) -> int:
        """The sets of attributes that the node's own constraints allow to say, as bits; not for wide vocabularies."""
        return sum(1 << used for used in range(1 << len(self.vocabulary.attributes)) if self.openness[used])

    @cached_property
    def checks_words(self) -> bool:
        """True if the node's own constraints ask for more than which attributes are said."""
        return not all(check.of_openness for check in self.checks)

    def allows(self, code: int) -> bool:
        """True if the node's own constraints allow a code."""
        words, used = self.vocabulary.said(code)
        if not self.openness[used]:
            return False
        return not self.checks_words or all(check.holds(words) for check in self.checks)

    def allows_openness(self, said: Collection[int]) -> bool:
        """True if the constraints on openness allow the node to say just these attributes."""
        return allow_openness(self.checks, [k in said for k in range(len(self.vocabulary.attributes))])

    def may_say(self, k: int) -> bool:
        """True if the constraints on attribute k alone allow to say it."""
        return all(check.test("") for check in self.checks if check.of_openness and check.places == (k,))

    def may_leave_open(self, k: int) -> bool:
        """True if the constraints on attribute k alone allow to leave it open."""
        return all(check.test(None) for check in self.checks if check.of_openness and check.places == (k,))

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
