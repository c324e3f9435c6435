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

from vqagen.authoring.check.readings import never_said
from vqagen.authoring.check.template_rules import Finding, revealed_answers
from vqagen.authoring.naming import plain
from vqagen.authoring.scenes_at_hand import SAMPLED
from vqagen.bits import first_n
from vqagen.language.loading import PlacedTemplate
from vqagen.language.registry import Value
from vqagen.language.template import Constraint, Template
from vqagen.plugin import VALUES, PlugInError
from vqagen.rng import stream
from vqagen.search.description import Sampling, SceneTables
from vqagen.search.filling import Filling
from vqagen.search.instantiate import Search
from vqagen.search.plan import make_plan
from vqagen.search.vocabulary import Vocabularies
from vqagen.world.scene import Scene

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
    tryouts = [_TemplateTryout(each, vocabularies, source == SAMPLED) for each in placed]
    waiting, count = tryouts, 0
    shown: dict[str, set[str]] = {}
    """Attribute -> the values that objects of the scenes have."""
    for scene in scenes:
        count += 1
        for name, having in scene.having.items():
            shown.setdefault(name, set()).update(value for value, objects in having.items() if objects)
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
        on_few(f"only {where}: too few to know what never occurs; {ENOUGH} are enough")
    for tryout in tryouts:
        yield from tryout.findings(f"in {where}", shown if count >= ENOUGH else None)


class _TemplateTryout:
    """One template, and what scenes have shown of it."""

    def __init__(self, placed: PlacedTemplate, vocabularies: Vocabularies, is_sampled: bool) -> None:
        self.placed, self.template, self.is_sampled = placed, placed.template, is_sampled
        plan = make_plan(self.template, vocabularies, Sampling())
        self.search = Search(plan, "all", keeps_trivial=True)  # warnings name the words that tell an answer
        self.impossible = plan.impossible
        self.seen: set[Value] = set()
        self.found = 0
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
    def least(self) -> int:
        """Number of answers to find: two, unless constraints leave one."""
        return 1 if self.impossible else 2

    @property
    def has_all_answers(self) -> bool:
        return len(self.seen) >= self.least and self.expected <= self.seen

    @property
    def is_done(self) -> bool:
        return bool(self.lacking) or (self.has_all_answers and not self.idle and not self.tellers)

    def look(self, tables: SceneTables, few: SceneTables) -> None:
        """Try one more scene; `few` are the same with few of its objects."""
        try:
            self.search_in(tables, few)
        except PlugInError as error:
            if not (self.is_sampled and isinstance(error.__cause__, KeyError)):
                raise
            self.lacking = str(error)

    def search_in(self, tables: SceneTables, few: SceneTables) -> None:
        rng = stream(SEED, f"check/{self.template.id}", tables.scene.index)
        if not self.has_all_answers or self.tellers:
            filling = self.search.find(tables, rng, self.seen, set(), BUDGET).filling
            if filling is None and self.seen and self.tellers:
                filling = self.search.find(tables, rng, (), set(), BUDGET).filling
            if filling is not None:
                self.learn(filling)
        for k, search in list(self.idle.items()):
            if any(search.find(each, rng, (), set(), BUDGET).filling is not None for each in (tables, few)):
                del self.idle[k]

    def learn(self, filling: Filling) -> None:
        self.found += 1
        self.seen.add(filling.answer)
        words = filling.words()
        for slots in list(self.tellers):
            said = [words[slot] for slot in slots]
            if None in said:
                continue
            if (said[0] if len(said) == 1 else said[0] == said[1]) == filling.answer:
                self.tellers[slots] += 1
            else:
                del self.tellers[slots]

    # The warnings -------------------------------------------------------------------------------------------------

    def findings(self, where: str, shown: Mapping[str, set[str]] | None) -> Iterator[Finding]:
        """Yield the warnings. `where` says how many scenes were tried; `shown` is None if they were too few."""
        last = f"nodes[{len(self.template.nodes) - 1}]"
        if self.lacking:
            message = f"given up, as sampled scenes lack what a plug-in reads ({self.lacking}); give --scenes"
            yield Finding("unsatisfied", self.placed, "", message)
        if self.is_done:
            return
        if not self.found:
            hint = f"`vqagen explain {self.template.id}` says why"
            yield Finding("unsatisfied", self.placed, "", f"no question was found {where}; {hint}")
        if shown is None or not self.found:
            return
        if message := self.missing_answers(shown):
            yield Finding("impossible-answer", self.placed, last, f"{message} {where}")
        for slots, times in self.tellers.items():
            if times >= ENOUGH_FILLINGS and len(self.seen) > 1:
                yield Finding("answer-in-text", self.placed, last, _given_away(slots, where))
        for k in self.idle:
            said = self.template.constraints[k].in_words
            message = f"beside the others, this constraint ruled nothing out {where}: {said}"
            yield Finding("idle-constraint", self.placed, f"constraints[{k}]", message)

    def missing_answers(self, shown: Mapping[str, set[str]]) -> str:
        """Return the sentence for answers that did not occur, or "" if none is missing."""
        if len(self.seen) < self.least:
            return f"the answer was always {_answer(next(iter(self.seen)))}"
        attribute = self.template.catalogue.domain.attribute_of(self.template.answer_type)
        could = shown.get(attribute.name, set()) if attribute else self.expected
        missing = [answer for answer in _in_order(self.expected - self.seen, self.template) if answer in could]
        return f"the answer was never {' or '.join(map(_answer, missing))}" if missing else ""


def _answer(answer: Value) -> str:
    if isinstance(answer, bool):
        return '"yes"' if answer else '"no"'
    return repr(plain(answer))


def _given_away(slots: tuple[str, ...], where: str) -> str:
    if len(slots) == 1:
        return f"the answer is given away: it was what {slots[0]} says in every question found {where}"
    return f'the answer is given away: it was "yes" just where {slots[0]} and {slots[1]} say the same, {where}'


def _in_order(answers: set[Value], template: Template) -> list[Value]:
    values = template.catalogue.domain.values_of(template.answer_type)
    return [value for value in (*values, True, False) if value in answers]


def _expected(template: Template) -> set[Value]:
    """Return the answers that should all occur; none if the template itself limits them."""
    attribute = template.catalogue.domain.attribute_of(template.answer_type)
    if attribute is None:
        return {True, False} if template.answer_type == "Bool" else set()
    sides = [side for node in template.nodes for side in node.side_inputs]
    is_limited = any(side in attribute.values for side in sides) or any(
        template.slots.get(slot) == attribute.type and each.kind.compares == VALUES
        for each in template.constraints
        for slot in each.slots
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
    if any(revealed_answers(template)):
        return {}
    silent = never_said(template)
    slots = [slot for slot in template.slots if slot not in silent]
    if template.answer_type != "Bool":
        return {(slot,): 0 for slot in slots if template.slots[slot] == template.answer_type}
    pairs = itertools.combinations(slots, 2)
    return {pair: 0 for pair in pairs if template.slots[pair[0]] == template.slots[pair[1]]}
