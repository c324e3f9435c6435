"""Tries templates on scenes: finds answers that never occur, idle constraints, and words that give the answer away.

A template is tried on one scene after the other until nothing is left to show. A search rejects answers that occurred
before, so that it finds new ones. A constraint is not idle if a search finds a filling that meets all other constraints
and breaks this one. If a scene has none, the search is repeated with few of its objects, for which some constraints are
made.

Sampled scenes may lack what a plug-in reads, such as the parts of objects. A template is given up at the first that
does.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from vqagen.authoring.check.readings import never_said
from vqagen.authoring.check.template_rules import Finding, revealed_answers
from vqagen.authoring.explanation import plain, why_not
from vqagen.bits import first_n
from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.language.catalogue import Value
from vqagen.language.loading import PlacedTemplate
from vqagen.language.template import Constraint, Template
from vqagen.plugin import VALUES, PlugInError
from vqagen.rng import stream
from vqagen.search.description import Sampling
from vqagen.search.instantiate import Filling, Search
from vqagen.search.plan import make_plan
from vqagen.search.state import NOTHING_FITS, Balance, SceneTables
from vqagen.search.vocabulary import Vocabularies
from vqagen.world.domain import Domain
from vqagen.world.loading import find_scenes, load_scenes
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene, compile_scene

ENOUGH = 100
"""Scenes after which all warnings are given; with fewer scenes, only that a template found nothing."""
BUDGET = 2_000
"""Options tried in one scene for one search."""
FEW = 3
"""Largest number of objects for constraints: they are tried on the first one, two, …"""
ENOUGH_FILLINGS = 20
"""Fillings after which a word that was the answer each time is warned of."""
SEED = 0


def try_out(
    placed: Sequence[PlacedTemplate],
    scenes: Iterable[Scene],
    source: str,
    on_scene: Callable[[int], None],
    on_few: Callable[[str], None],
) -> Iterator[Finding]:
    """Try templates on scenes and yield the warnings; `source` describes the scenes, as in "sampled".

    `on_few` is called if the scenes are too few for some of the templates.
    """
    if not placed:
        return
    vocabularies = Vocabularies(placed[0].template.catalogue.domain)
    tryouts = [_TemplateTryout(each, vocabularies) for each in placed]
    waiting, count = tryouts, 0
    shown: dict[str, set[str]] = {}
    """Attribute -> the values that objects of the scenes have."""
    for scene in scenes:
        count += 1
        for name, having in scene.having.items():
            shown.setdefault(name, set()).update(value for value, objects in having.items() if objects)
        # "The count is 1" breaks in most scenes of ten objects, and rules something out in those of one to three.
        tables, few = SceneTables(scene), SceneTables(scene.seen(first_n(1 + scene.index % FEW)))
        for tryout in waiting:
            tryout.look(tables, few)
        waiting = [tryout for tryout in waiting if not tryout.is_done]
        on_scene(1)
        if not waiting:
            break
    if not count:
        return
    where = f"{count:,} {source} scene{'' if count == 1 else 's'}"
    if waiting and count < ENOUGH:
        on_few(f"templates were tried on only {where}: too few to know what never occurs; {ENOUGH} are enough")
    for tryout in tryouts:
        yield from tryout.findings(f"in {where}", shown if count >= ENOUGH else None)


class _TemplateTryout:
    """One template, and what scenes have shown of it."""

    def __init__(self, placed: PlacedTemplate, vocabularies: Vocabularies) -> None:
        self.placed, self.template = placed, placed.template
        plan = make_plan(self.template, vocabularies, Sampling())
        self.search = Search(plan, "all", keeps_trivial=True)  # warnings name the words that tell an answer
        self.least = 1 if plan.impossible else 2
        """Number of answers to find: two, unless constraints leave one."""
        self.seen: set[Value] = set()
        self.scene: Scene | None = None
        """The scene that was tried last."""
        self.lacking = ""
        """The failure of a plug-in for want of what sampled scenes lack."""
        self.expected = _expected(self.template) - plan.impossible
        self.idle = {
            k: Search(make_plan(_breaking(self.template, k), vocabularies, Sampling()), "none")
            for k in range(len(self.template.constraints))
        }
        """Constraints, by number, that have ruled nothing out so far."""
        self.tellers = _tellers(self.template)
        """Slots that may give the answer away, and the number of fillings in which they did."""

    @property
    def has_all_answers(self) -> bool:
        return len(self.seen) >= self.least and self.expected <= self.seen

    @property
    def is_done(self) -> bool:
        return bool(self.lacking) or (self.has_all_answers and not self.idle and not self.tellers)

    def look(self, tables: SceneTables, few: SceneTables) -> None:
        """Try one more scene; `few` are the same with few of its objects."""
        rng, self.scene = stream(SEED, f"check/{self.template.id}", tables.scene.index), tables.scene
        try:
            if not self.has_all_answers or self.tellers:
                filling = self.search.find(tables, rng, Balance(self.seen), set(), BUDGET).filling
                if filling is None and self.seen and self.tellers:
                    filling = self.search.find(tables, rng, Balance(), set(), BUDGET).filling
                if filling is not None:
                    self.seen.add(filling.answer)
                    self.tellers = dict(_still_telling(self.tellers, filling))
            # A filling that breaks constraint k, and no other, shows that k rules something out.
            for k, search in list(self.idle.items()):
                if any(search.find(some, rng, Balance(), set(), BUDGET).filling is not None for some in (tables, few)):
                    del self.idle[k]
        except PlugInError as error:
            # `thing["load"]` of a sampled object: no mistake of the plug-in, as real scenes may have it.
            if not isinstance(error.__cause__, KeyError):
                raise
            self.lacking = str(error)

    def findings(self, where: str, shown: Mapping[str, set[str]] | None) -> Iterator[Finding]:
        """Yield the warnings. `where` says how many scenes were tried; `shown` is None if they were too few."""
        if self.lacking:
            message = f"given up, as scenes lack what a plug-in reads ({self.lacking}); give --scenes"
            yield Finding("unsatisfied", self.placed, "", message)
        elif not self.seen:
            assert self.scene is not None, "who reports has tried a scene"
            why = why_not(self.search, self.scene, NOTHING_FITS, SEED)["verdict"]
            message = f"no question was found {where}; in the last one, {why} (`vqagen explain {self.template.id}`)"
            yield Finding("unsatisfied", self.placed, "", message)
        elif shown is not None:
            last = f"nodes[{len(self.template.nodes) - 1}]"
            if message := self.missing_answers(shown):
                yield Finding("impossible-answer", self.placed, last, f"{message} {where}")
            for slots, times in self.tellers.items():
                if times >= ENOUGH_FILLINGS and len(self.seen) > 1:
                    where_told = f"what {slots[0]} says"
                    if len(slots) > 1:
                        where_told = f'"yes" just where {slots[0]} and {slots[1]} agree'
                    message = f"the answer is given away: it was {where_told} in every question found {where}"
                    yield Finding("answer-in-text", self.placed, last, message)
            for k in self.idle:
                meaning = self.template.constraints[k].in_words
                message = f"beside the others, this constraint ruled nothing out {where}: {meaning}"
                yield Finding("idle-constraint", self.placed, f"constraints[{k}]", message)

    def missing_answers(self, shown: Mapping[str, set[str]]) -> str:
        """Return the sentence for answers that did not occur, or "" if none is missing."""
        if len(self.seen) < self.least:
            return f"the answer was always {_answer(next(iter(self.seen)))}"
        attribute = self.template.catalogue.domain.attribute_of(self.template.answer_type)
        in_order = [leaf for leaf in attribute.leaves if leaf in shown[attribute.name]] if attribute else [True, False]
        missing = [answer for answer in in_order if answer in self.expected - self.seen]
        return f"the answer was never {' or '.join(map(_answer, missing))}" if missing else ""


def _answer(answer: Value) -> str:
    if isinstance(answer, bool):
        return '"yes"' if answer else '"no"'
    return repr(plain(answer))


def _expected(template: Template) -> set[Value]:
    """Return the answers that should all occur; none if the template itself limits them."""
    attribute = template.catalogue.domain.attribute_of(template.answer_type)
    if attribute is None:
        return {True, False} if template.answer_type == "Bool" else set()
    sides = [side for node in template.nodes for side in node.side_inputs]
    is_limited = any(side in attribute.values for side in sides) or any(
        template.slots.get(slot) == attribute.type and constraint.kind.compares == VALUES
        for constraint in template.constraints
        for slot in constraint.slots
    )
    return set() if attribute.multi or is_limited else set(attribute.leaves)


def _breaking(template: Template, number: int) -> Template:
    """Return the template with one constraint negated."""
    constraints = list(template.constraints)
    broken = constraints[number]
    negated = replace(broken.kind, holds=lambda *known: not broken.kind.holds(*known))
    constraints[number] = Constraint(negated, broken.params)
    return replace(template, constraints=tuple(constraints))


def _tellers(template: Template) -> dict[tuple[str, ...], int]:
    """Return slots that may give the answer away: those of its type or, for yes or no, pairs of one type.

    Empty if a rule has warned of the template already.
    """
    silent = never_said(template)
    slots = [] if any(revealed_answers(template)) else [slot for slot in template.slots if slot not in silent]
    if template.answer_type != "Bool":
        return {(slot,): 0 for slot in slots if template.slots[slot] == template.answer_type}
    pairs = itertools.combinations(slots, 2)
    return {pair: 0 for pair in pairs if template.slots[pair[0]] == template.slots[pair[1]]}


def _still_telling(tellers: Mapping[tuple[str, ...], int], filling: Filling) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield the slots that may tell the answer after this filling too, and the number of fillings in which they did."""
    words = filling.words()
    for slots, times in tellers.items():
        values = [words[slot] for slot in slots]
        answer = values[0] if len(values) == 1 else values[0] == values[1]
        if None in values or answer == filling.answer:
            yield slots, times + (None not in values)


# The scenes: some of a file, or sampled by the domain's own rules --------------------------------------------------

OF_A_FILE, DRAWN = 200, 20
"""Scenes to try by default: enough to show a rare failure, few enough to wait for."""
SAMPLED = "sampled"
"""The source of scenes that are drawn."""


def scenes_of_file(path: Path, domain: Domain, index: int | None = None) -> list[Scene]:
    """Return the scene of that index or, without one, the first `OF_A_FILE`."""
    start, count = (0, OF_A_FILE) if index is None else (index, 1)
    scenes = list(load_scenes(find_scenes(path), domain, start, count))
    if not scenes:
        raise UsageError(f"there is no scene {index} in {path}" if index is not None else f"no scenes in {path}")
    return scenes


def sampled_scenes(domain: Domain, seed: int, index: int | None = None) -> list[Scene]:
    """Return the sampled scene of that index or, without one, the first `DRAWN` of this seed."""
    rules = SamplingRules.from_domain(domain)
    return [drawn_scene(rules, domain, seed, i) for i in (range(DRAWN) if index is None else [index])]


def drawn_scene(rules: SamplingRules, domain: Domain, seed: int, index: int) -> Scene:
    """Return a sampled scene. Raises VqagenError if it lacks what a plug-in's attribute or relation reads."""
    try:
        return compile_scene(sample_scene(rules, seed, index), domain, index, SAMPLED)
    except BadInput as error:
        raise VqagenError(f"a sampled scene cannot be used ({error.problems[0].message}); give --scenes") from None
