"""Screening: which finished questions are not wanted, because they were asked before or belong to another set."""

from __future__ import annotations

from vqagen.language.question import Question
from vqagen.tasks.questions.exclusion import Exclusion
from vqagen.tasks.questions.fingerprints import text_fingerprint

ALREADY_ASKED, IN_OTHER_SET = "already asked", "in the other set"
TRIES = 20
"""Unwanted fillings after which a template gives up on one more question about a scene."""


class Screen:
    """Sees every question of one balance window as it is made, in order."""

    def __init__(self, dedupe: str, exclusion: Exclusion | None) -> None:
        """`dedupe`: within what no text comes twice; none, image or all."""
        self._exclusion = exclusion
        self._forgets = dedupe == "image"
        self._said: set[int] | None = None if dedupe == "none" else set()

    def next_scene(self) -> None:
        """What follows is about another scene."""
        if self._forgets:
            self._said = set()

    def refusal(self, question: Question) -> str:
        """Why a question is not wanted; "" when it is, and then its text counts as said."""
        if self._exclusion is not None and _is_shared(question, self._exclusion):
            return IN_OTHER_SET
        if self._said is not None:
            fingerprint = text_fingerprint(question.text)
            if fingerprint in self._said:
                return ALREADY_ASKED
            self._said.add(fingerprint)
        return ""


def _is_shared(question: Question, exclusion: Exclusion) -> bool:
    return exclusion.has_text(question.text) or exclusion.has_program(question.program.nodes)
