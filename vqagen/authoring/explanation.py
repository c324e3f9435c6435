"""Explains a template: its parts in words, example questions, and the reason if it finds none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any

from vqagen.bits import indexes
from vqagen.errors import UsageError, nearest
from vqagen.language.catalogue import Value
from vqagen.language.domain_files import LoadedDomain
from vqagen.language.template import Template, TemplateNode
from vqagen.plugin import Record
from vqagen.rng import stream
from vqagen.search.description import Description
from vqagen.search.instantiate import BUDGET_OF_ALL, Filling, Search, SearchResult
from vqagen.search.plan import Apply, Op
from vqagen.search.state import DEGENERATE, GAVE_UP, TRIVIAL, Balance, SceneTables
from vqagen.tasks.questions.family import Family
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.world.attribute import Attribute, Recorded
from vqagen.world.domain import Domain
from vqagen.world.scene import Scene

UNFINISHED = "the search gave up before it had seen every option"
_CAUSES = {
    DEGENERATE: "a relation in it is idle: the answer would be the same without it",
    TRIVIAL: "its words alone tell the answer, compare a set with a part of itself, or name two objects alike",
}
_SOUGHT = {"unique": "exactly one object", "not_unique": "more than one object"}


def find_templates(templates: Sequence[Template], wanted: str, folder: Path) -> tuple[list[Template], bool]:
    """Return the template of an id, or of a unique name, or all templates of a file; and whether it is a file.

    `folder` is the folder of the templates; any part of its path may stand before the file. A position in the file,
    counted from 0, may replace the name. Raises UsageError with the nearest name, or with all templates of that name.
    """
    root = folder.resolve() if folder.is_dir() else folder.resolve().parent
    wanted = PurePosixPath(wanted).as_posix()
    file, mark, name = wanted.rpartition("#")
    in_file = [template for template in templates if _ends_in(root, template.file, file if mark else wanted)]
    if in_file and not mark:
        return in_file, True
    found = [each for each in in_file if name in (each.name, str(each.index))]
    found = found or [each for each in templates if each.name == wanted]
    if len(found) > 1:
        known = "\n".join(f"  {each.id}" for each in found)
        raise UsageError(f"template {wanted!r} may be any of\n{known}")
    if not found:
        close = nearest(wanted, [name for each in templates for name in (each.id, each.file, each.name) if name])
        hint = f"did you mean {close!r}?" if close else "without one, all are listed"
        raise UsageError(f"unknown template {wanted!r}; {hint}")
    return found, False


def _ends_in(root: Path, file: str, wanted: str) -> bool:
    """True if `wanted` is the path of `file` inside `root`, with any part of the root's own path before it."""
    return f"/{wanted}".endswith(f"/{file}") and f"/{root.as_posix()}/{file}".endswith(f"/{wanted}")


def explain_template(
    materials: LoadedDomain,
    template: Template,
    tables: Sequence[SceneTables],
    source: str = "",
    count: int = 5,
    seed: int = 0,
    in_short: bool = False,
) -> Record:
    """Explain a template, as `vqagen explain --json` prints it, with up to `count` examples of some scenes.

    Each example is of another scene while there are enough scenes; `source` says where they are from.
    `in_short`: look for the reason of a failure only if there is no example, for the reason takes a search of its own
    (a file of 154 wide templates: 3.5 s in place of 11.7, measured with scripts/benches/wide_domain.py).
    """
    family = QuestionGenerator([template], materials.synonyms, QuestionSettings(seed=seed)).families[0]
    attempts = [_Attempt(family, table, seed) for table in tables]
    good = [attempt for attempt in attempts if attempt.first.filling is not None]
    bad = [attempt for attempt in attempts if attempt.first.filling is None]
    # Scenes 0, 1 and 2 take turns: examples of scenes 0, 1, 2, 0, 1.
    turns = zip_longest(*(attempt.fillings() for attempt in good))  # one filling of each scene, then another of each
    found = islice(filter(None, chain.from_iterable(turns)), count)
    examples = [_example(attempt, filling, materials.domain) for attempt, filling in found]
    failures = Counter(attempt.first.reason for attempt in bad).most_common()
    tried = {"source": source, "scenes": len(attempts), "found": len(good), "failures": dict(failures)}
    is_told = bad and not (in_short and examples)
    return {
        "id": template.id,
        "answer_type": template.answer_type,
        "texts": template.texts,
        "slots": dict(template.slots),
        "nodes": [_node(template, number, node) for number, node in enumerate(template.nodes)],
        "constraints": [
            {"type": constraint.kind.name, "meaning": constraint.in_words} for constraint in template.constraints
        ],
        "examples": examples,
        "tried": tried if source else None,
        "failure": why_not(family.search, bad[0].scene, bad[0].first.reason, seed) if is_told else None,
        "impossible": [plain(answer) for answer in sorted(family.plan.impossible)],
    }


def _node(template: Template, number: int, node: TemplateNode) -> Record:
    """Return a node with its meaning: that of its function, or the primitive steps that it stands for."""
    composite, steps, meaning = node.composite, list[str](), ""
    if composite is None:
        function = template.catalogue[node.type]
        output, meaning = function.output, function.meaning
    else:
        output = composite.output
        steps = ["relate"] if template.relation(node) is not None else []
        steps += [composite.filters[side.type] for side in template.described(node)]
        steps += [composite.reducer] if composite.reducer else []
    return {
        "number": number,
        "type": node.type,
        "side_inputs": node.side_inputs,
        "inputs": node.inputs,
        "output": output,
        "stands_for": steps,
        "meaning": meaning,
    }


class _Attempt:
    """The search of one template in one scene, which gives one filling after the other."""

    def __init__(self, family: Family, tables: SceneTables, seed: int) -> None:
        self.family, self.scene = family, tables.scene
        self.rng = stream(seed, f"explain {family.template.id}", self.scene.index)
        self._tables = tables
        self._seen: set[Any] = set()
        self.first = self.next()

    def next(self) -> SearchResult:
        """Return a filling that was not given before, or the reason if there is none."""
        return self.family.search.find(self._tables, self.rng, Balance(), self._seen, BUDGET_OF_ALL)

    def fillings(self) -> Iterator[tuple[_Attempt, Filling]]:
        """Yield all fillings, the first one first."""
        outcome = self.first
        while outcome.filling is not None:
            yield self, outcome.filling
            outcome = self.next()


def _example(attempt: _Attempt, filling: Filling, domain: Domain) -> Record:
    """Return a question in the words of a run: "other" is dropped if the anchor does not fit the description."""
    scene, program = attempt.scene, filling.program()
    text = attempt.family.wording.say(filling.words(), attempt.rng.random, filling.needs_other() is not False)
    functions = [program.catalogue[node.function] for node in program.nodes]
    talked_of = {type_name for function in functions for type_name in (*function.values, function.output)}
    names = ObjectNames(scene, domain, talked_of)
    steps = zip(program.to_records(), functions, program.outputs(scene), strict=True)
    return {
        "scene": scene.index,
        "image": scene.image,
        "objects": names.names,
        "question": text,
        "answer": plain(filling.answer),
        "steps": [{**node, "output": names.output(value, function.output)} for node, function, value in steps],
    }


# Why nothing was found ------------------------------------------------------------------------------------------------


def why_not(search: Search, scene: Scene, reason: str, seed: int) -> Record:
    """Return the step of the search that failed in a scene, with the reason; `reason` is the search's own.

    `node` is the step that failed; None if all steps had options.
    """
    watch, template = search.examine(SceneTables(scene), stream(seed, "examine", scene.index)), search.plan.template
    node_of = list[int]()  # the node of each op; a composite node with a reducer has two ops
    for number, node in enumerate(template.nodes):
        node_of += [number] * (2 if node.composite is not None and node.composite.reducer else 1)
    causes = {**_CAUSES, **{str(constraint): constraint.in_words for constraint in template.constraints}}
    failed = next((report for report in watch.reports if not report.passed), None)
    op = watch.ended.op if watch.ended else failed.op.index if failed else None
    if watch.ended:
        verdict = f"the same for every question of the scene: {causes.get(watch.ended.failure, watch.ended.failure)}"
    elif failed and failed.died:
        (cause, times), *more = failed.died.most_common()
        because = f"{times:,} of them because" if more else "because"
        verdict = f"none of {failed.offered:,} options led on, {because}: {causes.get(cause, cause)}"
    elif watch.finished[GAVE_UP]:
        verdict = UNFINISHED
    elif failed:
        verdict = f"no option, whatever was chosen before: {_nothing_offered(failed.op, scene, reason, causes)}"
    else:
        verdict = f"every filling is refused: {_CAUSES[max(_CAUSES, key=watch.finished.__getitem__)]}"
    return {"scene": scene.index, "reason": reason, "node": None if op is None else node_of[op], "verdict": verdict}


def _nothing_offered(op: Op, scene: Scene, reason: str, causes: dict[str, str]) -> str:
    """Return the reason why a step had no options."""
    if reason == DEGENERATE:
        return causes[DEGENERATE]
    if isinstance(op.does, Description) and op.does.relates and not op.does.relations_in(scene):
        return "the scene does not say how objects are related"
    checks = () if isinstance(op.does, Apply) else op.does.checks
    demands = " ".join(causes[check.meaning] for check in checks if check.meaning)
    sought = _SOUGHT.get(op.does.reducer or "", "anything") if isinstance(op.does, Description) else "a value"
    return f"nothing fits {sought}" + (f"; its options must also meet: {demands}" if demands else "")


# Names of a scene's objects, for people: "the small red cube" in place of object 3 ----------------------------------

SPELLED_OUT = 4
"""Attributes up to which a name says all; of more, it says those in use and those that tell objects apart."""
NOUN = "object"


class ObjectNames:
    """The names of the objects of one scene, all different. `talked_of` are types of attributes that are in use."""

    def __init__(self, scene: Scene, domain: Domain, talked_of: Collection[str] = ()) -> None:
        attributes = _in_speaking_order(domain)
        if len(attributes) > SPELLED_OUT:
            attributes = _telling(scene, attributes, talked_of)
        self.names = _numbered([_name(scene, attributes, i) for i in range(scene.size)])

    def output(self, value: Value, type_name: str) -> Any:
        """Return a step's result for people and JSON: a set as a list of names, an object as "the …"."""
        if type_name == "ObjectSet":
            return [self.names[i] for i in indexes(value)]
        if type_name == "Object":
            return f"the {self.names[value]}"
        return plain(value)


def plain(value: Value) -> Any:
    """Return a value as JSON holds it. A set, which a plug-in may give, is sorted."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, frozenset | set):
        return sorted((plain(part) for part in value), key=str)
    return str(value)


def listed(words: Sequence[str]) -> str:
    """Return "a", "a and b", or "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _in_speaking_order(domain: Domain) -> list[Attribute]:
    """Return the attributes with the head noun at the end: the last one that has a word for its open slot."""
    nouns = [attribute for attribute in domain.attributes if attribute.null]
    head = nouns[-1:]  # "large red cube", wherever the metadata lists the shape
    return [attribute for attribute in domain.attributes if attribute not in head] + head


def _telling(scene: Scene, attributes: Sequence[Attribute], talked_of: Collection[str]) -> list[Attribute]:
    """Return the last attribute, those in use and, of the others, those that make more names different."""
    chosen = [other for other in attributes if other.type in talked_of or other is attributes[-1]]
    for attribute in attributes:
        longer = [other for other in attributes if other in chosen or other is attribute]
        if _how_many_names(scene, longer) > _how_many_names(scene, chosen):
            chosen = longer
    return chosen


def _how_many_names(scene: Scene, attributes: Sequence[Attribute]) -> int:
    return len({_name(scene, attributes, i) for i in range(scene.size)})


def _name(scene: Scene, attributes: Sequence[Attribute], i: int) -> str:
    words = [_word(attribute, scene.values[attribute.name][i]) for attribute in attributes]
    return " ".join(filter(None, words)) or NOUN


def _word(attribute: Attribute, value: Recorded) -> str:
    """Return the word for a value, or for the lack of one."""
    if not value:
        return attribute.null
    values = [value] if isinstance(value, str) else value
    return listed([attribute.display.get(leaf, leaf) for leaf in values])


def _numbered(names: Sequence[str]) -> list[str]:
    """Return the names, with "(2 of 3)" after those that several objects have."""
    shared, met = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        met[name] += 1
        numbered.append(name if shared[name] == 1 else f"{name} ({met[name]} of {shared[name]})")
    return numbered
