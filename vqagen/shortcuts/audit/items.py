"""The items of an audit: questions, rounds of dialogs and trials, as far as they can be known without the picture."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vqagen.language.program import Node
from vqagen.shortcuts.stats.sample import Clue


@dataclass(frozen=True, slots=True)
class AuditItem:
    """One question, round or trial."""

    record: int
    """The place of its record in the file."""
    name: str
    """Its id, as predictions name it: `17`; of a round, the dialog's number and the round's: `3/5`."""
    clue: Clue
    """What a reader knows of it without the picture, and the answer."""
    image: str
    order: int | None = None
    """The index of its image; None if the file does not say."""
    scene: int | None = None
    """The place of its scene among the scenes; None if that is unknown."""
    place: int = 0
    """Its place among the items about its image."""
    block: str = ""
    """Items with one block (or pair) are kept or removed together; "" if it is in none."""
    options: tuple[str, ...] = ()
    right: int = -1
    """The place of the right option."""
    program: tuple[Node, ...] | None = None
    history: str = ""
    """The text of a dialog before the question, with the answers."""
    tokens: tuple[tuple[str, ...], ...] = ()
    """What is known of each option without the instruction (trials)."""
    policies: Mapping[str, float] = field(default_factory=dict)
    """Policy without the instruction -> the probability that its answer is right (trials)."""

    @property
    def chance(self) -> float:
        """The chance to guess the right option."""
        return 1 / len(self.options)


@dataclass
class AuditFile:
    """The items of one file."""

    name: str
    kind: str
    """questions, dialogs or trials."""
    items: list[AuditItem]
    window: int = 0
    """Scenes (or trials) whose answers are balanced together; 0 if that is unknown."""
    unanswered: int = 0
    """Items without an answer, which are left out."""
    notes: list[str] = field(default_factory=list)

    @property
    def has_options(self) -> bool:
        """True if every item has options."""
        return all(len(item.options) > 1 for item in self.items)

    @property
    def has_programs(self) -> bool:
        """True if every item has a program."""
        return all(item.program is not None for item in self.items)

    @property
    def clues(self) -> list[Clue]:
        """Return the clues of all items."""
        return [item.clue for item in self.items]
