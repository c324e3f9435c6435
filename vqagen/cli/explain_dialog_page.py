"""The output of `vqagen explain --dialog`: lines for people, with colours if the output is a terminal, and JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from textwrap import wrap

import click

from vqagen.authoring.dialog_explanation import DialogExplanation, ExplainedRound, Reference
from vqagen.cli.explain_page import Page, bold, dim
from vqagen.errors import counted

_WIDTH = 8
"""Of the names in front of the lines of a round."""
_LINE = 110
"""Characters after which a list of labels continues on the next line."""


def dialog_page(explanation: DialogExplanation) -> Page:
    """Return the explanation of a dialog."""
    image = f", {explanation.image}" if explanation.image else ""
    lines = [f"{bold(explanation.place)}  {dim(f'scene {explanation.scene}{image}')}", "", bold("Objects")]
    lines += (f"  #{number} {words}" for number, words in enumerate(explanation.objects))
    for each in explanation.rounds:
        lines += ["", *_round(each)]
    return Page(lines, explanation.to_record())


def _round(each: ExplainedRound) -> Iterator[str]:
    title = f"Round {each.number}" if each.number else "Caption"
    answer = f" {click.style(each.answer, fg='yellow', bold=True)}" if each.number else ""
    yield f"{bold(title)}  {click.style(each.text, fg='green')}{answer}  {dim(each.label)}"
    yield from _part("knows", each.knows)
    yield from _part("refers", [_history(each), *map(_reference, each.references)] if each.number else [])
    yield from _part("program", [each.program])
    yield from _part("about", [_objects(each.result)] if each.result else [])
    yield from _part("tells", each.tells)
    yield from _part("instead", _wrapped(", ".join(each.possible)))
    ruled_out = (f"{', '.join(labels)}: {why}" for why, labels in _by_reason(each.not_possible).items())
    yield from _part("not", [line for text in ruled_out for line in _wrapped(text)])


def _part(name: str, lines: list[str]) -> Iterator[str]:
    """Yield lines with their name in front of the first one."""
    for number, line in enumerate(lines):
        yield f"  {dim((name if number == 0 else '').ljust(_WIDTH))}{line}"


def _wrapped(text: str) -> list[str]:
    return wrap(text, _LINE, subsequent_indent="  ", break_on_hyphens=False)


def _history(each: ExplainedRound) -> str:
    """Return the part of the history that a question needs."""
    needs = {"None": "to nothing said before", "All": "to all that was mentioned"}.get(each.history)
    if needs:
        return needs
    ago = [
        f"{what} {counted(number, 'round')} ago"
        for what, number in (("told", each.since_told), ("last mentioned", each.since_mentioned))
        if number is not None
    ]
    return ", ".join(ago) or "to the history"


def _reference(reference: Reference) -> str:
    words = f'"{reference.words}"' if reference.words else f"left out ({reference.via})"
    where = f"round {reference.round}" if reference.round else "the caption"
    said = f': "{reference.antecedent}"' if reference.antecedent else ""
    return f"{words} = {_objects(reference.objects)}, of {where}{said}"


def _objects(objects: list[int]) -> str:
    return " ".join(f"#{i}" for i in objects) or "nothing"


def _by_reason(reasons: Mapping[str, str]) -> dict[str, list[str]]:
    """Return reason -> the labels that it rules out."""
    found: dict[str, list[str]] = {}
    for label, reason in reasons.items():
        found.setdefault(reason, []).append(label)
    return found
