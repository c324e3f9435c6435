"""Warnings about templates, each by itself and all together. What is no template at all, loading refuses.

A rule yields (path in the canonical record, message). To add one, write a function of a template and enter it in
TEMPLATE_RULES under its code.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.readings import (
    as_sentence,
    never_said,
    plainly,
    readings,
    repeated,
    shared,
    shortest,
    slots_in,
    ways_to_say,
    without_words,
)
from vqagen.errors import Fault, UsageError
from vqagen.language.catalogue import Catalogue
from vqagen.language.loading import PlacedTemplate, TemplateFile, read_template_files
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import Template, ruled_out_answers
from vqagen.language.text_doubts import DOUBTS, is_determined
from vqagen.plugin import FILTER, VALUES
from vqagen.tasks.dialog.loading import (
    read_dialog_templates,
    unsayable_directions,
    with_shipped,
)
from vqagen.tasks.dialog.scene import DialogVocabulary
from vqagen.world.domain import Domain

Rule = Callable[[Template], Iterator[Fault]]

_MARK = re.compile(r"[.?!…。？！\u061f\u06d4\u0964\u037e][\"'”’)]*\Z")
_NO_NOUN = re.compile(
    r"\b(?:the|an?|another|any|each|every|other|how many|of) "
    r"(?:is|are|was|were|has|have|does|do|that|which|who|and|or|than|as|of|in|on|at|to|with|there|made)\b"
    r"|\b(?:the|an?|another|any|each|every|other|how many|of) ?(?=[?.,;:!]|\Z)",
    re.IGNORECASE,
)
"""An article or similar word without a noun after it."""


def unused_slots(template: Template) -> Iterator[Fault]:
    """Yield slots that are declared but used by no node."""
    for k, slot in enumerate(template.slots):
        if not any(slot in node.side_inputs for node in template.nodes):
            yield f"params[{k}]", f"slot {slot} is declared, but no node uses it"


def unsaid_slots(template: Template) -> Iterator[Fault]:
    """Yield texts that do not say the value of a slot."""
    filled = [slot for slot in template.slots if any(slot in node.side_inputs for node in template.nodes)]
    texts = [slots_in(shortest(text)) for text in template.texts]
    silent = never_said(template)
    for slot in filled:
        missing = [i for i, said in enumerate(texts) if not is_determined(template, slot, said)]
        if slot in silent or not missing:
            continue
        is_said = any(slot in text for text in template.texts)
        # One warning in place of one for each text.
        if len(missing) == len(texts) > 1 and not is_said:
            yield "text", f"no text says {slot}, so what it is filled with is not asked"
            continue
        for i in missing if not is_said else [i for i in missing if slot in template.texts[i]]:  # see `text_doubts`
            only = "only in an optional part" if slot in template.texts[i] else "not at all"
            yield f"text[{i}]", f"text {i} says {slot} {only}, so it does not ask what the program answers"


def unreached_nodes(template: Template) -> Iterator[Fault]:
    """Yield nodes on which neither the answer nor a constraint depends."""
    reached = {len(template.nodes) - 1, *(node for constraint in template.constraints for node in constraint.nodes)}
    for i in range(len(template.nodes) - 1, -1, -1):
        if i in reached:
            reached.update(template.nodes[i].inputs)
    for i, node in enumerate(template.nodes):
        if i not in reached:
            yield f"nodes[{i}]", f"nothing depends on node {i} ({node.type}): no later node uses its result"


def unended_texts(template: Template) -> Iterator[Fault]:
    """Yield texts without a mark at the end."""
    rewrites = template.catalogue.domain.rewrites
    for i, text in enumerate(template.texts):
        if not all(_MARK.search(as_sentence(reading, rewrites)) for reading in readings(text)):
            yield f"text[{i}]", f"text {i} does not end with a mark: . ? or !"


def repeated_texts(template: Template) -> Iterator[Fault]:
    """Yield texts that the template has already; such a text is drawn more often than the others."""
    return repeated([list(map(plainly, readings(text))) for text in template.texts])


def missing_nouns(template: Template) -> Iterator[Fault]:
    """Yield texts without a noun of their own for a description that may be left open entirely."""
    attribute_of = template.catalogue.domain.attribute_of
    for node in template.nodes:
        composite, described = node.composite, template.described(node)
        if composite is None or not all(each.slot for each in described):
            continue
        # A plain `filter` only narrows a set that is named elsewhere: "Of the <K>s, how many are <C>?"
        needs_words = composite.reducer is None and not composite.relates
        has_null_word = any(each and each.null for each in (attribute_of(side.type) for side in described))
        if not needs_words and not has_null_word and frozenset() in ways_to_say(template, node):
            yield from _texts_without_noun(template, [each.slot for each in described])


def _texts_without_noun(template: Template, slots: list[str]) -> Iterator[Fault]:
    for i, text in enumerate(template.texts):
        for reading in readings(text) if set(slots) & set(slots_in(text)) else ():
            said = as_sentence(without_words(reading, slots), ())
            if _NO_NOUN.search(said) and not _NO_NOUN.search(as_sentence(reading, ())):
                remedy = "put one there, give an attribute a null word, or forbid it with NOT_ALL_NULL"
                left_open = f"where {' and '.join(slots)} are left open, text {i} has no noun"
                yield f"text[{i}]", f"{left_open}: {said!r}; {remedy}"
                break


def revealed_answers(template: Template) -> Iterator[Fault]:
    """Yield descriptions that say the value that is asked for."""
    domain, last = template.catalogue.domain, template.nodes[-1]
    attribute = domain.attribute_of(template.answer_type)
    if attribute is None or attribute.multi or template.last_function.asks != "query" or not last.inputs:
        return
    silent = never_said(template)
    for i in _describing_nodes(template, last.inputs[0]):
        node = template.nodes[i]
        for k, side in enumerate(node.side_inputs):
            kind = template.slots.get(side) or (attribute.type if side in attribute.values else "")
            if kind == attribute.type and side not in silent and _may_tell(template, side):
                message = f"the answer is given away: the description says {side}, which is what {last.type} asks for"
                yield (
                    f"nodes[{i}].side_inputs[{k}]",
                    f"{message}; leave it open with NULL" if side in template.slots else message,
                )


def _describing_nodes(template: Template, i: int) -> Iterator[int]:
    """Yield the nodes that describe the object of node i: its filters, back to a relation or to the start."""
    while True:
        node = template.nodes[i]
        if node.composite is not None or template.catalogue[node.type].role == FILTER:
            yield i
            if node.composite is not None and node.composite.relates:
                return
        elif node.type not in ("unique", "not_unique"):  # the object of `same_color` is not described by its anchor
            return
        if not node.inputs:
            return
        i = node.inputs[0]


def _may_tell(template: Template, side: str) -> bool:
    """True if the answer follows from the word. It does not follow from a group, which has several members."""
    attribute = template.catalogue.domain.attribute_of(template.answer_type)
    assert attribute is not None
    words = list(attribute.values) if side in template.slots else [side]
    for constraint in template.constraints:
        if constraint.kind.compares == VALUES and constraint.slots == (side,):
            words = [word for word in words if constraint.holds(word)]
    return any(len(attribute.leaves_of(word)) == 1 for word in words)


def impossible_answers(template: Template) -> Iterator[Fault]:
    """Yield constraints that leave a comparison only one answer."""
    compared = sorted(template.nodes[-1].inputs)
    for k, ruled_out in ruled_out_answers(template).items():
        always, differ = ("no", "differ") if ruled_out else ("yes", "agree")
        said = f"{template.constraints[k].kind.name} demands that nodes {compared[0]} and {compared[1]}"
        yield (
            f"constraints[{k}]",
            f'the answer is always "{always}": {said} {differ}, and the question is whether they are equal',
        )


TEMPLATE_RULES: Mapping[str, Rule] = {
    "unused-slot": unused_slots,
    "unsaid-slot": unsaid_slots,
    "unreached-node": unreached_nodes,
    "no-final-mark": unended_texts,
    "repeated-text": repeated_texts,
    "missing-noun": missing_nouns,
    "answer-in-text": revealed_answers,
    "impossible-answer": impossible_answers,
}
"""Rules of a single template, by code."""


class Finding(NamedTuple):
    """A warning that a rule gives about a template."""

    code: str
    placed: PlacedTemplate
    place: str
    message: str


def read_template_file(path: Path, catalogue: Catalogue, report: CheckReport) -> list[PlacedTemplate]:
    """Return the templates of a file that have no mistakes, and note the mistakes of the others."""
    with report.listening(path, "not-json"):
        placed, bad = read_template_files(path, catalogue)
    for each in bad:
        report.add_errors(path, each.problems)
    return placed


def add_rule_warnings(placed: Sequence[PlacedTemplate], report: CheckReport) -> None:
    """Add the warnings of rules about the templates of a domain, each by itself and all together."""
    findings = [
        Finding(code, each, *fault)
        for each in placed
        for code, rule in (*DOUBTS.items(), *TEMPLATE_RULES.items())
        for fault in rule(each.template)
    ]
    add_findings([*findings, *same_texts(placed)], placed, report)


def add_findings(findings: Iterable[Finding], placed: Sequence[PlacedTemplate], report: CheckReport) -> None:
    """Add each finding as a warning; findings of several templates of one record at one place become one."""
    made_of: dict[tuple[str, str], int] = {}
    for entry in placed:
        made_of[entry.source, entry.path] = made_of.get((entry.source, entry.path), 0) + 1
    together: dict[tuple[str, str, str, str], list[Finding]] = {}
    for finding in findings:
        key = (finding.code, finding.placed.source, finding.placed.path, finding.place)
        together.setdefault(key, []).append(finding)
    for same in together.values():
        first = same[0].placed
        is_of_all = len({finding.message for finding in same}) == 1 and len(same) == made_of[first.source, first.path]
        more = f" and {len(same) - 1} more" if len(same) > 1 else ""
        remark = "" if is_of_all else f" (in {first.template.name}{more})"
        problem = first.problem(same[0].place, same[0].message + remark)
        report.of(first.source).warn(same[0].code, problem)


def same_texts(placed: Sequence[PlacedTemplate]) -> Iterator[Finding]:
    """Yield texts that another template has too while its program computes something else."""
    numbers: dict[Any, int] = {}
    texts = [
        (
            entry,
            entry.template.id,
            i,
            _typed_readings(text, entry.template),
            _meaning(entry.template, text, numbers),
        )
        for entry in placed
        for i, text in enumerate(entry.template.texts)
    ]
    return (Finding("same-text", *found) for found in shared(texts))


def _typed_readings(text: str, template: Template) -> list[str]:
    """Return the readings of a text with slots named by their types, so that two templates can be compared."""
    typed = list(map(plainly, readings(text)))
    for k, reading in enumerate(typed):
        for number, slot in enumerate(slots_in(reading)):
            typed[k] = typed[k].replace(slot, f"<{template.slots[slot]}:{number}>")
    return typed


def _meaning(template: Template, text: str, numbers: dict[Any, int]) -> int:
    """Return a number for the computation of a template, equal for equal ones; slots count by their order in a text.

    `numbers` has a number for each computation so far: {("scene", (), ()): 0, ("filter_count", (0,), ("<0>",)): 1}.
    """
    order = slots_in(text)
    rest = [slot for slot in template.slots if slot not in order]
    name_of = {slot: f"<{number}>" for number, slot in enumerate(itertools.chain(order, rest))}
    results: list[int] = []
    for node in template.nodes:
        sides = tuple(name_of.get(side, side) for side in node.side_inputs)
        key = (node.type, tuple(results[i] for i in node.inputs), sides)
        results.append(numbers.setdefault(key, len(numbers)))
    return results[-1]


# Templates of dialogs: their errors, and texts that cannot be told apart ------------------------------------------

_ROLE = re.compile(r"\{\w*\||\}")
_CONDITION = re.compile(r"\[\w+\|")
_DESCRIPTION = re.compile(r"<(?:D2|V)>")


def check_dialog_templates(
    paths: Sequence[Path], domain: Domain, synonyms: Synonyms | None, report: CheckReport
) -> None:
    """Add the errors and warnings of a domain's files of dialog templates.

    The shipped templates of other labels are used with these; their own faults are no faults of these files.
    """
    if not paths:
        return
    try:
        vocabulary = DialogVocabulary.of(domain)
    except UsageError as error:
        for path in paths:
            report.of(path).not_checked.append(str(error))
        return
    given = {str(path) for path in paths}
    with report.listening(paths[0], "not-json"):
        files = with_shipped([TemplateFile(path, path.name) for path in paths])
        templates, problems = read_dialog_templates(files, vocabulary)
    problems += unsayable_directions(templates, vocabulary, synonyms) if synonyms else ()
    report.add_errors(paths[0], (problem for problem in problems if problem.source in given))
    ordered = sorted(templates.values(), key=lambda template: template.source in given)
    texts = [
        (template, template.id, i, _readings_of(text), template.id)
        for template in ordered
        for i, text in enumerate(template.texts)
    ]
    findings = [("same-text", *fault) for fault in shared(texts)]
    for template in ordered:
        sayings = [sayings for of, _, _, sayings, _ in texts if of is template]
        findings += [("repeated-text", template, *fault) for fault in repeated(sayings)]
        for i, text in enumerate(template.texts):
            if not _MARK.search(_ROLE.sub("", text).rstrip(" ]")):
                message = f"text {i} does not end with a mark: . ? or !"
                findings.append(("no-final-mark", template, f"text[{i}]", message))
    for code, template, inside, message in findings:
        if template.source in given:
            report.of(template.source).warn(code, template.problem(inside, message))


def _readings_of(written: str) -> list[str]:
    """Return the readings of a text, for comparison: without marks, and with one name for slots of one kind."""
    every = readings(_CONDITION.sub("[", _ROLE.sub("", written)))
    return [plain for reading in every if (plain := plainly(_DESCRIPTION.sub("<D>", reading)))]
