"""The output of `vqagen explain`: lines for people, with colours if the output is a terminal, and JSON."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, NamedTuple

import click

from vqagen.authoring.catalogues import CatalogueEntry, WordList
from vqagen.errors import counted
from vqagen.language.template import Template
from vqagen.plugin import Record

_SLOT = re.compile(r"<[^<>\s]+>")


class Page(NamedTuple):
    """The output: lines for people, and the record for JSON."""

    lines: list[str]
    record: Any


def list_page(templates: Sequence[Template]) -> Page:
    """Return all templates, one line each."""
    rows = [(each.id, each.answer_type, each.texts[0]) for each in templates]
    wide, narrow = (max((len(row[k]) for row in rows), default=0) for k in (0, 1))
    lines = [f"{bold(name.ljust(wide))}  {kind.ljust(narrow)}  {_slots(text)}" for name, kind, text in rows]
    return Page(lines, [dict(zip(("id", "answer_type", "text"), row, strict=True)) for row in rows])


def short_page(explanations: Sequence[Record]) -> Page:
    """Return templates with one question each."""
    lines = []
    for each in explanations:
        lines.append(f"{bold(each['id'])}  {each['answer_type']}  {dim(_scenes_tried(each['tried']))}".rstrip())
        for example in each["examples"]:
            lines.append(f"  {example['question']} {_answer(example['answer'])}")
        if not each["examples"] and each["failure"]:
            lines.append(f"  {_ended(each['failure'])}")
    return Page(lines, explanations)


def explanation_page(template: Template, told: Record) -> Page:
    """Return the whole explanation of one template; `told` is its record."""
    parts = {
        "Texts": [_slots(text) for text in template.texts],
        "Slots": list(_slot_lines(template)),
        "Program": list(_tree(told["nodes"])),
        "Constraints": [_slots(each.in_words) for each in template.constraints],
        "Examples": [line for n, each in enumerate(told["examples"], 1) for line in _example(n, each, template)],
        "Scenes": [_scenes_tried(told["tried"])] if told["tried"] else [],
    }
    if told["failure"]:
        parts[f"Nothing on scene {told['failure']['scene']}"] = [_ended(told["failure"])]
    never = f"  {dim('never ' + _said(told['impossible']))}" if told["impossible"] else ""
    lines = [f"{bold(template.id)}  {template.answer_type}{never}"]
    for title, part in parts.items():
        if part:
            lines += ["", bold(title), *(f"  {line}" for line in part)]
    return Page(lines, told)


def entries_page(entries: Sequence[CatalogueEntry]) -> Page:
    """Return functions or constraints, grouped by the plug-in that adds them."""
    lines: list[str] = []
    wide = max((len(each.signature) for each in entries), default=0)
    for source, group in groupby(entries, key=lambda each: each.source):
        lines += ["", bold(source)] if lines else [bold(source)]
        for each in group:
            also = dim(f"also {', '.join(each.aliases)}") if each.aliases else ""
            about = "  ".join(filter(None, (each.meaning, also)))
            lines.append(f"  {click.style(each.signature.ljust(wide), fg='cyan')}  {about}".rstrip())
    return Page(lines, [asdict(each) for each in entries])


def vocabulary_page(vocabularies: Sequence[WordList]) -> Page:
    """Return attributes and relations with their values."""
    lines = []
    for each in vocabularies:
        remarks = [f"key {each.key}"] if each.key else []
        remarks += [f"left open: {each.null}"] if each.null else []
        about = "; ".join((*remarks, *each.traits))
        lines.append(f"{bold(each.type)}  {each.name}" + (f"  {dim(about)}" if about else ""))
        for word in each.words:
            said = f"  {dim(' / '.join(word.ways))}" if word.ways else ""
            lines.append("  " * (word.depth + 1) + word.value + said)
    return Page(lines, [asdict(each) for each in vocabularies])


# Parts of an explanation ------------------------------------------------------------------------------------------


def _slot_lines(template: Template) -> Iterator[str]:
    """Yield the slots of each type."""
    by_type: dict[str, list[str]] = {}
    for slot, type_name in template.slots.items():
        by_type.setdefault(type_name, []).append(slot)
    for type_name, slots in by_type.items():
        yield f"{type_name}  {_slots(' '.join(slots))}"


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
