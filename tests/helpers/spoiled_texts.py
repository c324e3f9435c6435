"""Texts of questions that do not say what their programs ask, made without the code that reads them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from vqagen.language.synonyms import Synonyms
from vqagen.rng import Random, pick

Record = dict[str, Any]
Spoil = Callable[[Record, Sequence[Record], "Sayings", Random], str]
"""(question, all questions, words, rng) -> another text for it; the same where it cannot be spoiled so."""


class Sayings:
    """The words of a domain: each with all that can be said in its place of another value."""

    def __init__(self, synonyms: Synonyms) -> None:
        self.others: dict[str, list[str]] = {}
        for kind in synonyms.domain.slot_types:
            ways = [list(of_value) for of_value in synonyms.of_type(kind).values() if of_value != ("",)]
            for form in (str, synonyms.plural):
                forms = [[form(way) for way in of_value] for of_value in ways]
                for number, of_value in enumerate(forms):
                    others = [way for k, each in enumerate(forms) if k != number for way in each]
                    self.others.update({way: others for way in of_value if others})
        longest_first = sorted(self.others, key=len, reverse=True)
        self.pattern = re.compile(rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b")


def pipe(question: Record, questions: Sequence[Record], sayings: Sayings, rng: Random) -> str:
    """Ask for something else."""
    return "Is this a pipe?"


def turned(question: Record, questions: Sequence[Record], sayings: Sayings, rng: Random) -> str:
    """Exchange left and right everywhere."""
    sides = {"left": "right", "right": "left", "Left": "Right", "Right": "Left"}
    return re.sub(r"\b(?:[Ll]eft|[Rr]ight)\b", lambda match: sides[match[0]], question["question"])


def revalued(question: Record, questions: Sequence[Record], sayings: Sayings, rng: Random) -> str:
    """Say another value in one place."""
    text = question["question"]
    said = list(sayings.pattern.finditer(text))
    if not said:
        return text
    match = pick(rng, said)
    return text[: match.start()] + pick(rng, sayings.others[match[0]]) + text[match.end() :]


def exchanged(question: Record, questions: Sequence[Record], sayings: Sayings, rng: Random) -> str:
    """Exchange two words, each of which can stand in the place of the other."""
    text = question["question"]
    said = list(sayings.pattern.finditer(text))
    pairs = [(a, b) for a in said for b in said if a.start() < b.start() and b[0] in sayings.others[a[0]]]
    if not pairs:
        return text
    one, other = pick(rng, pairs)
    return "".join((text[: one.start()], other[0], text[one.end() : other.start()], one[0], text[other.end() :]))


def misspelt(question: Record, questions: Sequence[Record], sayings: Sayings, rng: Random) -> str:
    """Leave out a letter, write it twice, or exchange it with the next one."""
    text = question["question"]
    at = pick(rng, [match.start() for match in re.finditer(r"\w(?=\w)", text)])
    here = text[at]
    return text[:at] + pick(rng, ["", here * 2, text[at + 1] + here]) + text[at + (1 if rng.random() < 0.5 else 2) :]


def foreign(question: Record, questions: Sequence[Record], sayings: Sayings, rng: Random) -> str:
    """Take the text of a question with another program."""
    other = pick(rng, questions)
    same = [step_values(each) for each in (question, other)]
    return other["question"] if same[0] != same[1] else question["question"]


def step_values(question: Record) -> list[tuple[str, tuple[str, ...]]]:
    """Return the functions of a program with their values."""
    return [(step.get("type", step.get("function")), tuple(step["value_inputs"])) for step in question["program"]]


def alone(question: Record, questions: Sequence[Record], sayings: Sayings, rng: Random) -> str:
    """Lose "other"."""
    text = re.sub(r"\b([Aa])nother\b", r"\1", question["question"])
    return re.sub(r" other\b|\bOther ", "", text)


SPOILS: Mapping[str, Spoil] = {
    "something else": pipe,
    "left and right": turned,
    "another value": revalued,
    "values exchanged": exchanged,
    "misspelt": misspelt,
    "another question's": foreign,
    '"other" lost': alone,
}


def spoiled(questions: Sequence[Record], sayings: Sayings, rng: Random, kind: str) -> Iterator[Record | None]:
    """Yield each question with its text spoiled; None where it cannot be spoiled so."""
    for question in questions:
        text = SPOILS[kind](question, questions, sayings, rng)
        yield {**question, "question": text} if text != question["question"] else None
