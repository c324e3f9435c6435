"""Templates tried out on scenes: which answers never come, which constraints rule nothing out, which words tell all.

A template is tried on one scene after the other until all that can be doubted of it has been seen. A search refuses the
answers that came before, so that it looks for new ones. To see a constraint rule something out, a search is made for a
filling that meets all other constraints and breaks this one; if not in a scene, then in one with few of its objects,
which is what some constraints are there for.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from vqagen.authoring.check.openness import never_said
from vqagen.authoring.check.template_files import Finding
from vqagen.authoring.check.template_rules import told_answers
from vqagen.authoring.constraint_words import in_words
from vqagen.authoring.naming import plain
from vqagen.bits import first_n
from vqagen.language.loading import PlacedTemplate
from vqagen.language.registry import Value
from vqagen.language.template import Constraint, Template
from vqagen.plugin import VALUES
from vqagen.rng import stream
from vqagen.search.description import Sampling
from vqagen.search.filling import Filling
from vqagen.search.instantiate import Search
from vqagen.search.plan import make_plan
from vqagen.search.tables import SceneTables
from vqagen.search.vocabulary import Vocabularies
from vqagen.world.scene import Scene

ENOUGH = 100
"""Scenes after which something that has not been seen is told of; of fewer, only that nothing was found at all."""
BUDGET = 2_000
"""Options tried in one scene for one thing to be seen."""
FEW = 3
"""Objects of which constraints are tried on the first one, two, …"""
TELLING = 20
"""Fillings after which it is no accident that a word was the answer each time."""
SEED = 0


def try_out(
    placed: Sequence[PlacedTemplate],
    scenes: Iterable[Scene],
    source: str,
    on_scene: Callable[[int], None],
    on_few: Callable[[str], None],
) -> Iterator[Finding]:
    """What is doubtful in templates after they were tried; `source` says what scenes these are, as in "sampled".

    `on_few` is told where there are too few scenes for some of the templates.
    """
    if not placed:
        return
    vocabularies = Vocabularies(placed[0].template.catalogue.domain)
    tryouts = [_TemplateTryout(each, vocabularies) for each in placed]
    waiting, count, shown = tryouts, 0, _Shown()
    for scene in scenes:
        count += 1
        shown.add(scene)
        tables, few = SceneTables(scene), SceneTables(scene.seen(first_n(1 + scene.index % FEW)))
        for tryout in waiting:
            tryout.look(tables, few)
        waiting = [tryout for tryout in waiting if not tryout.is_settled]
        on_scene(1)
        if not waiting:
            break
    if not count:
        return
    where = f"{count:,} {source} scene{'' if count == 1 else 's'}"
    if waiting and count < ENOUGH:
        on_few(f"only {where}: too few to tell what never happens; {ENOUGH} are enough")
    for tryout in waiting:
        yield from tryout.findings(f"in {where}", shown if count >= ENOUGH else None)


class _Shown:
    """The values that objects of some scenes have; shown[attribute]."""

    def __init__(self) -> None:
        self.values: dict[str, set[str]] = {}

    def add(self, scene: Scene) -> None:
        for name, by_value in scene.having.items():
            self.values.setdefault(name, set()).update(value for value, objects in by_value.items() if objects)


class _TemplateTryout:
    """One template, and what has been seen of it."""

    def __init__(self, placed: PlacedTemplate, vocabularies: Vocabularies) -> None:
        self.placed, self.template = placed, placed.template
        plan = make_plan(self.template, vocabularies, Sampling())
        self.search = Search(plan, "all")
        self.impossible = plan.impossible
        self.seen: set[Value] = set()
        self.found = 0
        self.expected = _expected(self.template) - plan.impossible
        self.idle = {
            k: Search(make_plan(_breaking(self.template, k), vocabularies, Sampling()), "none")
            for k in range(len(self.template.constraints))
        }
        """Constraints, by number, that have ruled nothing out as yet."""
        self.tellers = _tellers(self.template)
        """What may tell the answer, and in how many fillings it did."""

    @property
    def least(self) -> int:
        """How many answers there must be: two, unless constraints leave one."""
        return 1 if self.impossible else 2

    @property
    def has_all_answers(self) -> bool:
        return len(self.seen) >= self.least and self.expected <= self.seen

    @property
    def is_settled(self) -> bool:
        return self.has_all_answers and not self.idle and not self.tellers

    def look(self, tables: SceneTables, few: SceneTables) -> None:
        """Try one more scene; `few` are the same with few of its objects."""
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

    # What is doubtful in the end ----------------------------------------------------------------------------------

    def findings(self, where: str, shown: _Shown | None) -> Iterator[Finding]:
        """`where` says how many scenes were tried; `shown` is what they showed, if they were enough."""
        last = f"nodes[{len(self.template.nodes) - 1}]"
        if not self.found:
            hint = f"`vqagen explain {self.template.id}` tells why"
            yield Finding("unsatisfied", self.placed, "", f"no question was found {where}; {hint}")
        if shown is None or not self.found:
            return
        if message := self.missing_answers(shown):
            yield Finding("impossible-answer", self.placed, last, f"{message} {where}")
        for slots, times in self.tellers.items():
            if times >= TELLING and len(self.seen) > 1:
                yield Finding("answer-in-text", self.placed, last, _told(slots, where))
        for k in self.idle:
            said = in_words(self.template.constraints[k], self.template.slots)
            message = f"beside the others, this constraint ruled nothing out {where}: {said}"
            yield Finding("idle-constraint", self.placed, f"constraints[{k}]", message)

    def missing_answers(self, shown: _Shown) -> str:
        """Which answers were not given, or "" if none is missing."""
        if len(self.seen) < self.least:
            return f"the answer was always {_answer(next(iter(self.seen)))}"
        attribute = self.template.catalogue.domain.attribute_of(self.template.answer_type)
        could = shown.values.get(attribute.name, set()) if attribute else self.expected
        missing = [answer for answer in _in_order(self.expected - self.seen, self.template) if answer in could]
        return f"the answer was never {' or '.join(map(_answer, missing))}" if missing else ""


def _answer(answer: Value) -> str:
    if isinstance(answer, bool):
        return '"yes"' if answer else '"no"'
    return repr(plain(answer))


def _told(slots: tuple[str, ...], where: str) -> str:
    if len(slots) == 1:
        return f"the answer is given away: it was what {slots[0]} says in every question found {where}"
    return f'the answer is given away: it was "yes" just where {slots[0]} and {slots[1]} say the same, {where}'


def _in_order(answers: set[Value], template: Template) -> list[Value]:
    values = template.catalogue.domain.values_of(template.answer_type)
    return [value for value in (*values, True, False) if value in answers]


def _expected(template: Template) -> set[Value]:
    """The answers that should all come: not those of which the template itself leaves some out."""
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
    """The template with one constraint turned into its opposite."""
    constraints = list(template.constraints)
    broken = constraints[number]
    constraints[number] = Constraint(replace(broken.kind, holds=_negated(broken.kind.holds)), broken.params)
    return replace(template, constraints=tuple(constraints))


def _negated(holds: Callable[..., bool]) -> Callable[..., bool]:
    def breaks(*known: Any) -> bool:
        return not holds(*known)

    return breaks


def _tellers(template: Template) -> dict[tuple[str, ...], int]:
    """Slots of the answer's type; of a yes or no, pairs of slots of one type. None where a rule has told of it."""
    if any(told_answers(template)):
        return {}
    silent = never_said(template)
    slots = [slot for slot in template.slots if slot not in silent]
    if template.answer_type != "Bool":
        return {(slot,): 0 for slot in slots if template.slots[slot] == template.answer_type}
    pairs = itertools.combinations(slots, 2)
    return {pair: 0 for pair in pairs if template.slots[pair[0]] == template.slots[pair[1]]}
