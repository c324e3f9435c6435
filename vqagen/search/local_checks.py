"""Constraints that ask about the slots of one node alone: the node's options are made to meet them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from vqagen.language.template import Template


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


def allow_openness(checks: Iterable[LocalCheck], is_said: Sequence[bool]) -> bool:
    """True if the checks of openness allow a node to say just these attributes."""
    words = ["" if said else None for said in is_said]
    return all(check.holds(words) for check in checks if check.of_openness)
