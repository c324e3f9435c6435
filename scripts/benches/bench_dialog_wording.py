"""Measures how dialogs are said: whether questions fit what the listener knows, and how they name objects."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

NEXT, NAMED = "seek-attr-rel", "early"
"""Parts of the labels of questions about the next object in a direction, and about an object named by a value."""
DOUBT = re.compile(r"if there is (?:one|anything)|if any\b|if so\b", re.IGNORECASE)
EARLIER = re.compile(r"\b(?:earlier|before|talked about)\b")
BACK = re.compile(r"^Coming back to\b")
Record = Mapping[str, Any]


def wording_lines(dialogs: Sequence[Record]) -> Iterator[str]:
    """Yield the lines of a report about dialogs, as `vqagen dialog` writes them."""
    rounds = sum(len(each["rounds"]) for each in dialogs)
    counts = Counter[str]()
    for dialog in dialogs:
        _count_doubts(dialog["caption"], dialog["rounds"], counts)
        _count_names(dialog, counts)
        _count_returns(dialog["rounds"], counts)
    yield ""
    yield f"questions about the next object: {counts['next']}, answered none: {counts['none']}"
    yield f"  answered none, and not asked with 'if there is one': {counts['none, no doubt']}"
    yield f"  asked with 'if there is one' though it is known that there is one: {counts['known, doubt']}"
    yield f"  asked without it though that is not known: {counts['unknown, no doubt']}"
    for distance in (1, 2):
        share = sum(counts[f"renamed {each}"] for each in range(1, distance + 1)) / rounds
        yield f"rounds that name an object otherwise than the last {distance} did: {share:.1%}"
    yield f"rounds that say 'earlier' of what the round before was about: {counts['earlier, near'] / rounds:.1%}"
    share = counts["far, not earlier"] / rounds
    yield f"rounds that do not say so of what was not talked of in the last two: {share:.1%}"
    most = max(number for number in range(11) if counts[f"{number} returns"])
    yield f"'Coming back to' in a dialog, at most: {most}; dialogs that begin with it: {counts['returns first']}"
    ellipses = f"{counts['sim, short']} of {counts['sim']}"
    yield f"sim-early that says only the object, in at most eight words: {ellipses}"


def _count_doubts(caption: Record, rounds: Sequence[Record], counts: Counter[str]) -> None:
    known = _known_to_be(caption)
    for each in rounds:
        if each["label"].startswith(NEXT):
            args, has_doubt = each["program"]["args"], DOUBT.search(each["question"]) is not None
            is_known, is_none = (args["focus"], args["relation"]) in known, each["answer"] == "none"
            counts["next"] += 1
            counts["none"] += is_none
            counts["none, no doubt"] += is_none and not has_doubt
            counts["known, doubt"] += is_known and has_doubt
            counts["unknown, no doubt"] += not is_known and not has_doubt
        known |= _known_to_be(each)


def _known_to_be(told: Record) -> set[tuple[int, str]]:
    """Return (object, relation) of which a sentence tells that something stands there."""
    facts = told["knowledge_delta"]
    return {(fact["object"], fact["relation"]) for fact in facts if fact.get("exists") or fact.get("count")
            if fact["fact"] in ("related-exists", "related-count")}  # fmt: skip


def _count_names(dialog: Record, counts: Counter[str]) -> None:
    names, talked_of = _named_by(dialog["caption"]), dict[int, int]()
    talked_of = dict.fromkeys(names, 0)
    last = dict.fromkeys(names, 0)
    for at, each in enumerate(dialog["rounds"], start=1):
        args, focus = each["program"]["args"], each["program"]["args"].get("focus")
        if NAMED in each["label"]:
            name, is_earlier = args["descriptor"], EARLIER.search(each["question"]) is not None
            if focus in names and not name.items() <= names[focus].items():
                counts[f"renamed {at - last[focus]}"] += 1
            away = at - talked_of.get(focus, 0)
            counts["earlier, near"] += away == 1 and is_earlier
            counts["far, not earlier"] += away > 2 and not is_earlier and not BACK.search(each["question"])
            names[focus], last[focus] = name, at
        if "sim" in each["label"]:
            counts["sim"] += 1
            counts["sim, short"] += len(each["question"].split()) <= 8 and "answer" not in each["question"]
        result = each["referents"]["result"]
        found = result if len(result) == 1 else []
        talked_of.update(dict.fromkeys((*found, *([] if focus is None else [focus])), at))


def _named_by(caption: Record) -> dict[int, Record]:
    """Return object -> the values that a caption names it by."""
    args = caption["program"]["args"]
    if "subject" in args:
        return {args["subject"]: args["subject_value"], args["anchor"]: args["anchor_value"]}
    return {args["object"]: args["values"]} if "object" in args else {}


def _count_returns(rounds: Sequence[Record], counts: Counter[str]) -> None:
    returns = [at for at, each in enumerate(rounds) if BACK.search(each["question"])]
    counts[f"{len(returns)} returns"] += 1
    counts["returns first"] += returns[:1] == [0]
