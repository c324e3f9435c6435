"""Who a rater is: an id on a platform, and the pseudonym that stands for it everywhere else."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.human.links.secret import Secret

PROLIFIC, CONNECT, MTURK, ID, ANONYMOUS = PLATFORMS = "prolific", "connect", "mturk", "id", "anonymous"
LINK = "link"
"""The platform of who has a personal link: the link says who it is."""
PARTICIPANT_ID = r"[A-Za-z0-9_-]{1,64}"
"""The pattern of an id on a platform."""


@dataclass(frozen=True, slots=True)
class Participant:
    """A person on a platform."""

    platform: str
    id: str


def pseudonym(secret: Secret, participant: Participant) -> str:
    """Return the name of a participant in answers and exports: 16 hexadecimal digits."""
    return secret.mac("rater", f"{participant.platform}/{participant.id}")[:8].hex()
