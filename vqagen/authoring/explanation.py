"""Explains a template: its parts in words, example questions, and the reason if it finds none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from vqagen.authoring.failure import Failure, why_not
from vqagen.authoring.naming import ObjectNames, plain
from vqagen.authoring.scenes_at_hand import ScenesAtHand
from vqagen.authoring.tree import NodeSketch, sketches
from vqagen.language.domain_files import LoadedDomain
from vqagen.language.program import Node
from vqagen.language.template import Template
from vqagen.rng import stream
from vqagen.search.filling import Filling, SearchResult
from vqagen.search.tables import SceneTables
from vqagen.tasks.questions.family import Family
from vqagen.tasks.questions.generator import QuestionGenerator
from vqagen.tasks.questions.settings import QuestionSettings


@dataclass(frozen=True)
class ExampleStep:
    """A step of a filled program: its inputs and its output, with objects by their names."""

    node: Node
    output_type: str
    output: Any

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {
            "type": self.node.function,
            "inputs": list(self.node.inputs),
            "value_inputs": list(self.node.values),
            "output": self.output,
        }


@dataclass(frozen=True)
class Example:
    """A question that the template makes of a scene."""

    scene: int
    image: str
    objects: tuple[str, ...]
    """The names of the scene's objects."""
    question: str
    answer: Any
    steps: tuple[ExampleStep, ...]

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        return {**asdict(self), "steps": [step.to_record() for step in self.steps]}


@dataclass(frozen=True)
class ScenesTried:
    """The number of scenes in which a template found a question; `failures` counts the others by reason."""

    source: str
    """The source of the scenes."""
    scenes: int = 0
    found: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Explanation:
    """The explanation of a template."""

    template: Template
    nodes: tuple[NodeSketch, ...]
    examples: tuple[Example, ...]
    tried: ScenesTried | None
    """None if no scenes were given."""
    failure: Failure | None
    """The reason for the first scene that has no question."""
    impossible: tuple[Any, ...]
    """Answers that the constraints rule out in every scene."""

    def to_record(self) -> dict[str, Any]:
        """Return the record for JSON."""
        template = self.template
        return {
            "id": template.id,
            "answer_type": template.answer_type,
            "texts": list(template.texts),
            "slots": dict(template.slots),
            "nodes": [node.to_record() for node in self.nodes],
            "constraints": [{"type": each.kind.name, "meaning": each.in_words} for each in template.constraints],
            "examples": [example.to_record() for example in self.examples],
            "tried": asdict(self.tried) if self.tried else None,
            "failure": self.failure.to_record() if self.failure else None,
            "impossible": list(self.impossible),
        }


def explain_template(
    materials: LoadedDomain,
    template: Template,
    at_hand: ScenesAtHand | None,
    count: int = 5,
    seed: int = 0,
    in_short: bool = False,
) -> Explanation:
    """Explain a template with up to `count` examples, each of another scene while there are enough scenes.

    `in_short`: look for the reason of a failure only if there is no example, for the reason takes a search of its own
    (a file of 154 wide templates: 3.5 s in place of 11.7, measured with scripts/wide_domain.py).
    """
    tryout = _Tryout(materials, template, at_hand.tables if at_hand else (), seed)
    examples = tuple(tryout.examples(count))
    return Explanation(
        template,
        sketches(template),
        examples,
        tryout.tried(at_hand.source) if at_hand else None,
        None if in_short and examples else tryout.failure(),
        tuple(plain(answer) for answer in sorted(tryout.family.plan.impossible)),
    )


class _Attempt:
    """The search of one template in one scene, which gives one filling after the other."""

    def __init__(self, family: Family, tables: SceneTables, seed: int) -> None:
        self.scene = tables.scene
        self.rng = stream(seed, f"explain {family.template.id}", self.scene.index)
        self._search, self._tables = family.search, tables
        self._seen: set[Any] = set()
        self.first = self.next()

    def next(self) -> SearchResult:
        """Return a filling that was not given before, or the reason if there is none."""
        return self._search.find(self._tables, self.rng, (), self._seen)


class _Tryout:
    """One template on some scenes."""

    def __init__(self, materials: LoadedDomain, template: Template, tables: Sequence[SceneTables], seed: int) -> None:
        self._settings = QuestionSettings(seed=seed)
        (self.family,) = QuestionGenerator([template], materials.synonyms, self._settings).families
        self._domain = materials.domain
        attempts = [_Attempt(self.family, each, seed) for each in tables]
        self._good = [attempt for attempt in attempts if attempt.first.filling is not None]
        self._bad = [attempt for attempt in attempts if attempt.first.filling is None]

    def tried(self, source: str) -> ScenesTried:
        failures = Counter(attempt.first.reason for attempt in self._bad).most_common()
        return ScenesTried(source, len(self._good) + len(self._bad), len(self._good), dict(failures))

    def failure(self) -> Failure | None:
        if not self._bad:
            return None
        first, settings = self._bad[0], self._settings
        return why_not(self.family.search, first.scene, first.first.reason, settings.seed)

    def examples(self, count: int) -> Iterator[Example]:
        """Yield one example of each scene, then another of each, and so on."""
        waiting = [(attempt, attempt.first) for attempt in self._good]
        while waiting and count > 0:
            for attempt, outcome in waiting[:count]:
                assert outcome.filling is not None
                yield self._example(attempt, outcome.filling)
            count -= len(waiting)
            if count > 0:
                asked = [(attempt, attempt.next()) for attempt, _ in waiting]
                waiting = [(attempt, outcome) for attempt, outcome in asked if outcome.filling is not None]

    def _example(self, attempt: _Attempt, filling: Filling) -> Example:
        """Return the example with the words of a run: "other" is dropped if the anchor does not fit the description."""
        scene, program = attempt.scene, filling.program()
        text = self.family.wording.say(filling.words(), attempt.rng.random, filling.anchor_fits() is not False)
        functions = [program.catalogue[node.function] for node in program.nodes]
        talked_of = {each for function in functions for each in (*function.values, function.output)}
        names = ObjectNames(scene, self._domain, talked_of)
        steps = [
            ExampleStep(node, function.output, names.output(value, function.output))
            for node, function, value in zip(program.nodes, functions, program.outputs(scene), strict=True)
        ]
        return Example(scene.index, scene.image, tuple(names.names), text, plain(filling.answer), tuple(steps))
