"""`vqagen explain`: the meaning of a template, and the functions, constraints and words for authors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.messages import print_listing
from vqagen.cli.options import domain_options, input_path, integer, path
from vqagen.errors import counted

if TYPE_CHECKING:
    from vqagen.language.domain_files import DomainFiles
    from vqagen.language.template import Template
    from vqagen.plugin import Record
    from vqagen.world.scene import Scene

_SLOT = re.compile(r"<[^<>\s]+>")


@click.command("explain")
@click.argument("template", type=path, required=False)
@click.option(
    "--scenes", type=input_path, metavar="PATH", help="Scenes to try the template on. [default: 20 sampled scenes]"
)
@click.option("--scene", type=integer(0), metavar="INDEX", help="The index of one scene to try the template on.")
@click.option("--count", type=integer(0), default=5, show_default=True, help="Number of examples.")
@click.option("--seed", type=integer(), default=0, show_default=True, help="Random seed.")
@click.option(
    "--list",
    "catalogue",
    type=click.Choice(["functions", "constraints", "vocabulary"]),
    help="List what templates can use, in place of templates.",
)
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@click.option("--json", "as_json", is_flag=True, help="Print the output as JSON.")
def command(
    template: str | None,
    scenes: str | None,
    scene: int | None,
    count: int,
    seed: int,
    catalogue: str | None,
    domain: dict[str, Any],
    as_json: bool,
) -> None:
    """Show the parts of a template in words, and questions that it makes.

    TEMPLATE is an id such as one_hop.json#query_color, a name, or a file, whose templates are then listed. Without
    TEMPLATE, all templates are listed. If a template makes no question about a scene, the output shows at which step
    the search failed, and why.

    \b
    Example:
      vqagen explain one_hop.json#query_color --scenes scenes.json --count 2
    """
    from vqagen.language.domain_files import SHIPPED_DOMAINS, find_domain

    if template and catalogue:
        raise click.UsageError(f"--list {catalogue} lists all there are; leave out TEMPLATE")
    if template and not (domain["domain"] or domain["metadata"] or domain["templates"]):
        first, _, rest = template.partition("/")  # as in clevr/one_hop.json#count
        domain["domain"] = first if rest and first in SHIPPED_DOMAINS else None
    files = find_domain(**domain)
    made = _catalogue(files, catalogue) if catalogue else _templates(files, template, scenes, scene, count, seed)
    print_listing(*made, as_json)


Listing = tuple["Record | Sequence[Record]", "Iterator[str]"]
"""A record for JSON, and its lines for people."""


def _catalogue(files: DomainFiles, which: str) -> Listing:
    from vqagen.authoring.catalogues import constraint_entries, function_entries, vocabularies
    from vqagen.language.domain_files import load_catalogue, synonyms_file
    from vqagen.language.synonyms import load_synonyms

    catalogue, _ = load_catalogue(files)
    if which == "vocabulary":
        synonyms = load_synonyms(synonyms_file(files, catalogue.domain), catalogue.domain)
        told = vocabularies(catalogue, synonyms)
        return told, vocabulary_lines(told)
    told = function_entries(catalogue) if which == "functions" else constraint_entries(catalogue)
    return told, entry_lines(told)


def _templates(
    files: DomainFiles, wanted: str | None, scenes: str | None, scene: int | None, count: int, seed: int
) -> Listing:
    from vqagen.authoring.check.tryouts import SAMPLED, sampled_scenes, scenes_of_file
    from vqagen.authoring.explanation import explain_template, find_templates
    from vqagen.language.domain_files import load_domain_files
    from vqagen.search.state import SceneTables

    materials = load_domain_files(files)
    if wanted is None:
        told = [
            {"id": template.id, "answer_type": template.answer_type, "text": template.texts[0]}
            for template in materials.templates
        ]
        return told, list_lines(told)
    templates, is_file = find_templates(materials.templates, wanted, files.templates)
    at_hand: list[Scene] = []
    if count:
        domain = materials.domain
        at_hand = scenes_of_file(Path(scenes), domain, scene) if scenes else sampled_scenes(domain, seed, scene)
    tables = [SceneTables(tried) for tried in at_hand]  # what one template's search fills in, the next one finds
    source, examples = (scenes or SAMPLED) if count else "", 1 if is_file else count
    explained = [
        explain_template(materials, template, tables, source, examples, seed, in_short=is_file)
        for template in templates
    ]
    if is_file:
        return explained, short_lines(explained)
    return explained[0], explanation_lines(templates[0], explained[0])


# Lines for people -----------------------------------------------------------------------------------------------------


def list_lines(templates: Sequence[Record]) -> Iterator[str]:
    """Yield templates, one line each."""
    wide, narrow = (max((len(template[key]) for template in templates), default=0) for key in ("id", "answer_type"))
    for template in templates:
        yield f"{bold(template['id'].ljust(wide))}  {template['answer_type'].ljust(narrow)}  {_slots(template['text'])}"


def short_lines(explanations: Sequence[Record]) -> Iterator[str]:
    """Yield templates with one question each."""
    for explanation in explanations:
        tried = dim(_scenes_tried(explanation["tried"]))
        yield f"{bold(explanation['id'])}  {explanation['answer_type']}  {tried}".rstrip()
        for example in explanation["examples"]:
            yield f"  {example['question']} {_answer(example['answer'])}"
        if not explanation["examples"] and explanation["failure"]:
            yield f"  {_ended(explanation['failure'])}"


def explanation_lines(template: Template, told: Record) -> Iterator[str]:
    """Yield the whole explanation of one template; `told` is its record."""
    parts = {
        "Texts": [_slots(text) for text in told["texts"]],
        "Slots": list(_slot_lines(told["slots"])),
        "Program": list(_tree(told["nodes"])),
        "Constraints": [_slots(constraint["meaning"]) for constraint in told["constraints"]],
        "Examples": [line for n, example in enumerate(told["examples"], 1) for line in _example(n, example, template)],
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
    wide = max((len(entry["signature"]) for entry in entries), default=0)
    for number, (source, group) in enumerate(groupby(entries, key=itemgetter("source"))):
        yield from ([""] if number else [])
        yield bold(source)
        for entry in group:
            also = dim(f"also {', '.join(entry['aliases'])}") if entry["aliases"] else ""
            about = "  ".join(filter(None, (entry["meaning"], also)))
            yield f"  {click.style(entry['signature'].ljust(wide), fg='cyan')}  {about}".rstrip()


def vocabulary_lines(vocabularies: Sequence[Record]) -> Iterator[str]:
    """Yield attributes and relations with their values."""
    for vocabulary in vocabularies:
        remarks = [f"key {vocabulary['key']}"] if vocabulary["key"] else []
        remarks += [f"left open: {vocabulary['null']}"] if vocabulary["null"] else []
        about = "; ".join((*remarks, *vocabulary["traits"]))
        yield f"{bold(vocabulary['type'])}  {vocabulary['name']}" + (f"  {dim(about)}" if about else "")
        for word in vocabulary["words"]:
            ways = f"  {dim(' / '.join(word['ways']))}" if word["ways"] else ""
            yield "  " * (word["depth"] + 1) + word["value"] + ways


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
        for needed in node["inputs"]:
            yield from walk(needed, depth + 1)

    for root in reversed(range(len(nodes))):
        if root not in met:
            yield from walk(root, 0)


def _example(number: int, example: Record, template: Template) -> Iterator[str]:
    """Yield the question, its answer, and its steps."""
    where = f"scene {example['scene']}" + (f", {example['image']}" if example["image"] else "")
    yield f"{number}. {click.style(example['question'], fg='green')} {_answer(example['answer'])}  {dim(where)}"
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
    return (", ".join(map(_said, value)) or "none") if isinstance(value, list) else str(value)


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
