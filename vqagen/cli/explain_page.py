"""The lines of `vqagen explain`, made from the records that `--json` prints; with colours if they go to a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import click

from vqagen.errors import counted
from vqagen.language.template import Template
from vqagen.plugin import Record

_SLOT = re.compile(r"<[^<>\s]+>")


def list_lines(templates: Sequence[Record]) -> Iterator[str]:
    """Yield templates, one line each."""
    wide, narrow = (max((len(each[key]) for each in templates), default=0) for key in ("id", "answer_type"))
    for each in templates:
        yield f"{bold(each['id'].ljust(wide))}  {each['answer_type'].ljust(narrow)}  {_slots(each['text'])}"


def short_lines(explanations: Sequence[Record]) -> Iterator[str]:
    """Yield templates with one question each."""
    for each in explanations:
        yield f"{bold(each['id'])}  {each['answer_type']}  {dim(_scenes_tried(each['tried']))}".rstrip()
        for example in each["examples"]:
            yield f"  {example['question']} {_answer(example['answer'])}"
        if not each["examples"] and each["failure"]:
            yield f"  {_ended(each['failure'])}"


def explanation_lines(template: Template, told: Record) -> Iterator[str]:
    """Yield the whole explanation of one template; `told` is its record."""
    parts = {
        "Texts": [_slots(text) for text in told["texts"]],
        "Slots": list(_slot_lines(told["slots"])),
        "Program": list(_tree(told["nodes"])),
        "Constraints": [_slots(each["meaning"]) for each in told["constraints"]],
        "Examples": [line for n, each in enumerate(told["examples"], 1) for line in _example(n, each, template)],
        "Scenes": [_scenes_tried(told["tried"])] if told["tried"] else [],
    }
    if told["failure"]:
        parts[f"Nothing on scene {told['failure']['scene']}"] = [_ended(told["failure"])]
    never = f"  {dim('never ' + _said(told['impossible']))}" if told["impossible"] else ""
    yield f"{bold(told['id'])}  {told['answer_type']}{never}"
    for title, part in parts.items():
        if part:
            yield from ("", bold(title), *(f"  {line}" for line in part))


def entry_lines(entries: Sequence[Record]) -> Iterator[str]:
    """Yield functions or constraints, grouped by the plug-in that adds them."""
    wide = max((len(each["signature"]) for each in entries), default=0)
    for number, (source, group) in enumerate(groupby(entries, key=itemgetter("source"))):
        yield from ([""] if number else [])
        yield bold(source)
        for each in group:
            also = dim(f"also {', '.join(each['aliases'])}") if each["aliases"] else ""
            about = "  ".join(filter(None, (each["meaning"], also)))
            yield f"  {click.style(each['signature'].ljust(wide), fg='cyan')}  {about}".rstrip()


def vocabulary_lines(vocabularies: Sequence[Record]) -> Iterator[str]:
    """Yield attributes and relations with their values."""
    for each in vocabularies:
        remarks = [f"key {each['key']}"] if each["key"] else []
        remarks += [f"left open: {each['null']}"] if each["null"] else []
        about = "; ".join((*remarks, *each["traits"]))
        yield f"{bold(each['type'])}  {each['name']}" + (f"  {dim(about)}" if about else "")
        for word in each["words"]:
            said = f"  {dim(' / '.join(word['ways']))}" if word["ways"] else ""
            yield "  " * (word["depth"] + 1) + word["value"] + said


# Parts of an explanation ------------------------------------------------------------------------------------------


def _slot_lines(slots: Mapping[str, str]) -> Iterator[str]:
    """Yield the slots of each type."""
    for kind in dict.fromkeys(slots.values()):
        yield f"{kind}  {_slots(' '.join(slot for slot in slots if slots[slot] == kind))}"


def _tree(nodes: Sequence[Record]) -> Iterator[str]:
    """Yield the program as a tree: the last node is the root; after it the nodes that the last one does not need."""
    met: set[int] = set()

    def walk(number: int, depth: int) -> Iterator[str]:
        node = nodes[number]
        call = " ".join((node["type"], *node["side_inputs"]))
        begin = f"{'  ' * depth}{dim(str(number))} {_slots(call)}"
        if number in met:
            yield f"{begin}  {dim('as above')}"
            return
        met.add(number)
        about = f"= {', '.join(node['stands_for'])}" if node["stands_for"] else node["meaning"]
        yield f"{begin} -> {node['output']}" + (f"  {dim(about)}" if about else "")
        for each in node["inputs"]:
            yield from walk(each, depth + 1)

    for root in reversed(range(len(nodes))):
        if root not in met:
            yield from walk(root, 0)


def _example(number: int, example: Record, template: Template) -> Iterator[str]:
    """Yield the question, its answer, and its steps."""
    place = f"scene {example['scene']}" + (f", {example['image']}" if example["image"] else "")
    yield f"{number}. {click.style(example['question'], fg='green')} {_answer(example['answer'])}  {dim(place)}"
    calls = [_call(i, step) for i, step in enumerate(example["steps"])]
    wide = max(map(len, calls))
    for i, (call, step) in enumerate(zip(calls, example["steps"], strict=True)):
        is_set = template.catalogue[step["type"]].output == "ObjectSet"
        yield f"   {dim(f'{i:2}')} {call.ljust(wide)}  {_objects(step['output']) if is_set else _said(step['output'])}"


def _call(i: int, step: Record) -> str:
    """Return the call; inputs are named unless they are the step before."""
    inputs = "" if step["inputs"] in ([], [i - 1]) else f"({', '.join(map(str, step['inputs']))})"
    return " ".join((step["type"] + inputs, *step["value_inputs"]))


def _objects(names: Sequence[str]) -> str:
    return f"{counted(len(names), 'object')}: {'; '.join(names)}" if names else "no object"


def _scenes_tried(tried: Record | None) -> str:
    if tried is None:
        return ""
    head = f"found in {tried['found']:,} of {counted(tried['scenes'], 'scene')} ({tried['source']})"
    reasons = ", ".join(f"{reason} {times:,}×" for reason, times in tried["failures"].items())
    return f"{head}; otherwise: {reasons}" if reasons else head


def _ended(failure: Record) -> str:
    at = "" if failure["node"] is None else f"node {failure['node']}: "
    return click.style(at + failure["verdict"], fg="red")


def _said(value: Any) -> str:
    """Return an answer as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(_said, value)) if isinstance(value, list) else str(value)


def _answer(value: Any) -> str:
    return click.style(_said(value), fg="yellow", bold=True)


def _slots(text: str) -> str:
    return _SLOT.sub(lambda match: click.style(match[0], fg="cyan"), text)


def bold(text: str) -> str:
    """Return a text in bold, for terminals."""
    return click.style(text, bold=True)


def dim(text: str) -> str:
    """Return a text in a weaker color, for terminals."""
    return click.style(text, dim=True)
