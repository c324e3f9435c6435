"""Trials made by hand: a drawn grid and a question, and every other field as the slow twin derives it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cache
from typing import Any

from oracles.director import PHYSICS, STEPS, answers, both_answers, cell_named, on_the_way, placed
from readme_blocks import ROOT

import vqagen
from vqagen.tasks.director.catalogue import ItemCatalogue
from vqagen.tasks.director.reading import WrittenTrial, read_trial
from vqagen.tasks.director.views import Views

Record = dict[str, Any]
CLASSES = {
    **dict.fromkeys(["smallest", "largest"], "size"),
    **dict.fromkeys(["topmost", "bottommost"], "vertical"),
    **dict.fromkeys(["leftmost", "rightmost"], "horizontal"),
    **dict.fromkeys(["left_of", "right_of", "above", "below"], "relation"),
    "none": "none",
}
OPPOSITE = {"leftmost": "rightmost", "rightmost": "leftmost", "left_of": "right_of", "right_of": "left_of"}
SAID = {
    "none": "{}",
    "left_of": "first item to the left of the {} in its row",
    "right_of": "first item to the right of the {} in its row",
    "above": "first item above the {} in its column",
    "below": "first item below the {} in its column",
}
FRAMES = {None: "", "director": "from my point of view, ", "participant": "from your point of view, "}


@cache
def catalogue() -> Record:
    """Return the shipped catalogue."""
    document: Record = json.loads((ROOT / "metadata" / "director.json").read_text())
    return document


@cache
def item_catalogue() -> ItemCatalogue:
    """Return the shipped catalogue, read."""
    return ItemCatalogue(catalogue(), ROOT / "metadata")


def views_of(record: Record) -> Views:
    """Return the views of a trial."""
    read = read_trial(record, item_catalogue())
    assert isinstance(read, WrittenTrial), read
    return Views(read)


def trial(
    drawn: str, phrase: str, rule: str = "none", type_: str = "test", frame: str | None = "", number: int = 0
) -> Record:
    """Return the record of a trial without faults, if there is one in the drawing.

    `drawn` has a line for each row: items, dots for empty cells, and a # before what is blocked. The phrase is a noun
    behind its adjectives. The frame is by default the director's where left and right matter, and else none.
    """
    rows = [line.split() for line in drawn.strip().splitlines()]
    width, cells = len(rows[0]), [cell for row in rows for cell in row]
    *adjectives, noun = phrase.split()
    if frame == "":
        frame = "director" if CLASSES[rule] in ("horizontal", "relation") else None
    record: Record = {
        "trial_index": number,
        "trial_type": type_,
        "rule_class": CLASSES[rule],
        "rule": rule,
        "frame": frame,
        "is_physics": not PHYSICS.isdisjoint(adjectives),
        "instruction": said(OPPOSITE.get(rule, rule) if frame == "director" else rule, phrase, frame),
        "template": "instructions.json#pick",
        "noun": noun,
        "adjectives": adjectives,
        "width": width,
        "height": len(rows),
        "cells": [None if cell.strip("#") == "." else cell.strip("#") for cell in cells],
        "blocked": [f"{chr(65 + i % width)}{i // width + 1}" for i, cell in enumerate(cells) if cell.startswith("#")],
    }
    return derived(record)


def said(rule: str, phrase: str, frame: str | None) -> str:
    """Return the text of an instruction."""
    target = SAID.get(rule, f"{rule} {{}}").format(phrase.replace("_", " "))
    text = f"{FRAMES[frame]}please pick the {target}."
    return text[0].upper() + text[1:]


def derived(record: Record) -> Record:
    """Return a trial with the answers, twin and counts that its grid and question have."""
    own, gold = both_answers(catalogue(), record)
    phrase = " ".join([*record["adjectives"], record["noun"]])
    items, blocked = placed(record), set(map(cell_named, record["blocked"]))
    found = answers(catalogue(), items, [record["noun"], *record["adjectives"]], "none")
    if record["rule_class"] == "relation":
        found = on_the_way(items, found, STEPS[record["rule"]])
    return {
        **record,
        "answer": gold[0] if gold else "A1",
        "participant_answers": own,
        "no_director": {"instruction": said(record["rule"], phrase, None), "answers": own},
        "counts": {
            "items": len(items),
            "blocked": len(blocked),
            "related_visible": sum(cell not in blocked for cell in found),
            "related_blocked": sum(cell in blocked for cell in found),
        },
    }


def document(*records: Record, catalogue_: Record | None = None, design: int = 2, **settings: Any) -> Record:
    """Return a document of trials made with some settings, by the rules of a design; 1 is that of version 1.0."""
    generator = {"name": "vqagen", "settings": settings, "arrangement": {"window": 240 if design == 2 else 960}}
    info = {"generator": generator, "catalogue": catalogue_ or catalogue(), "design": design}
    return {"info": info, "trials": records}


def verified(*records: Record, **settings: Any) -> vqagen.VerificationReport:
    """Return the report on trials made with some settings."""
    return vqagen.verify(document(*records, **settings))


def codes(*records: Record, **settings: Any) -> set[str]:
    """Return the codes of the faults of trials."""
    return set(verified(*records, **settings).by_problem)


def codes_of_each(records: Iterable[Record]) -> list[set[str]]:
    """Return the codes of the faults of each of several trials, which are numbered, and verified as one file."""
    numbered = [{**record, "trial_index": number} for number, record in enumerate(records)]
    mismatches = verified(*numbered).mismatches
    return [{each.kind for each in mismatches if each.position == number} for number in range(len(numbered))]
