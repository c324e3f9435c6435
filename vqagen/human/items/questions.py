"""Items of questions: two wordings of a program, two families, and checks with questions that do not apply."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vqagen.errors import BadInput, Problem
from vqagen.human.items.made import FAMILY, NATURAL, PROGRAM_LENGTH, TEMPLATE, Said, check, comparison
from vqagen.human.items.material import Record, SceneTexts
from vqagen.human.items.proof import Proof, chain_to, none_left
from vqagen.human.items.settings import WORDINGS, ItemSettings
from vqagen.human.items.slots import words_of
from vqagen.human.study.item import Item
from vqagen.language.domain_files import LoadedDomain
from vqagen.language.program import Program
from vqagen.language.template import Template
from vqagen.language.wording import Wording
from vqagen.rng import shuffled, stream
from vqagen.world.scene import Scene

_UNIQUE = "unique"


@dataclass(frozen=True)
class Asked:
    """A question of a file."""

    text: str
    program: Program
    template: Template
    type: str
    """Its question type, such as count."""


class QuestionReader:
    """Reads questions of a domain's templates."""

    def __init__(self, domain: LoadedDomain, source: str) -> None:
        self._domain, self._source = domain, source
        self._by_place = {(each.file, each.index): each for each in domain.templates}
        self._by_family = {each.family: each for each in domain.templates}

    def read(self, records: Iterable[Record]) -> list[Asked]:
        """Return the questions of records, each text once. BadInput for one without program or template."""
        found: dict[str, Asked] = {}
        for record in records:
            text = str(record.get("question", ""))
            found.setdefault(text, self._asked(record, text))
        return list(found.values())

    def _asked(self, record: Record, text: str) -> Asked:
        number: Any = record.get("question_family_index")
        file: Any = record.get("template_filename")
        template = self._by_family.get(number) if file is None else self._by_place.get((file, number))
        place = f"{self._source}: question {record.get('question_index', text)}"
        if template is None:
            message = f"the domain has no template {number!r}" + (f" in {file}" if file else "")
            raise BadInput([Problem(f"{message}; name the templates that it was made with", place)])
        program = Program.from_records(record.get("program"), self._domain.catalogue, place)
        return Asked(text, program, template, str(record.get("question_type", "")))


def question_items(
    scenes: Sequence[SceneTexts], domain: LoadedDomain, source: str, settings: ItemSettings
) -> Iterator[Item]:
    """Yield the items of questions: comparisons, then checks."""
    reader = QuestionReader(domain, source)
    asked = [reader.read(each.records[0]) for each in scenes]
    maker = _Wordings(domain)
    for about, questions in zip(scenes, asked, strict=True):
        rng = stream(settings.seed, f"human/items/{settings.compare}", about.scene.index)
        order = shuffled(rng, questions)
        made = maker.items(about, order, settings) if settings.compare == WORDINGS else _families(about, order)
        yield from _first(made, settings.per_image)
    for at, about in enumerate(scenes):
        yield from _checks(about, at, asked, settings)


def _first(items: Iterable[Item], most: int) -> Iterator[Item]:
    yield from (item for item, _ in zip(items, range(most), strict=False))


def _strata(asked: Asked) -> dict[str, str | int | float]:
    return {TEMPLATE: asked.template.id, FAMILY: asked.type, PROGRAM_LENGTH: len(asked.program.nodes)}


def _facts(asked: Asked) -> dict[str, object]:
    return {"template": asked.template.id, "program": asked.program.to_records()}


# Wordings -----------------------------------------------------------------------------------------------------------


class _Wordings:
    """Says a question in two texts of its template, with the same synonyms."""

    def __init__(self, domain: LoadedDomain) -> None:
        self._domain = domain
        self._texts: dict[str, list[tuple[int, Wording]]] = {}

    def items(self, about: SceneTexts, questions: Sequence[Asked], settings: ItemSettings) -> Iterator[Item]:
        for asked in questions:
            item = self._item(about, asked, settings)
            if item is not None:
                yield item

    def _item(self, about: SceneTexts, asked: Asked, settings: ItemSettings) -> Item | None:
        words = words_of(asked.template, asked.program)
        if words is None:
            return None
        rng = stream(settings.seed, f"human/items/texts/{asked.text}", about.scene.index)
        way = rng.random()
        said: dict[str, int] = {}
        for number, wording in shuffled(rng, self._of(asked.template)):
            said.setdefault(wording.say(words, lambda: way), number)
        if len(said) < 2:
            return None
        (one, first), (other, second) = sorted(list(said.items())[:2], key=lambda each: each[1])
        name = asked.template.id
        left = Said(one, f"{name} text {first}", meta=_facts(asked))
        right = Said(other, f"{name} text {second}", meta=_facts(asked))
        return comparison(about, left, right, NATURAL, _strata(asked))

    def _of(self, template: Template) -> list[tuple[int, Wording]]:
        """Return the texts of a template with their numbers from 1, without those whose "other" may have to go."""
        if template.id not in self._texts:
            each = [Wording(replace(template, texts=(text,)), self._domain.synonyms) for text in template.texts]
            self._texts[template.id] = [
                (number, wording) for number, wording in enumerate(each, 1) if not wording.mentions_other
            ]
        return self._texts[template.id]


# Families -----------------------------------------------------------------------------------------------------------


def _families(about: SceneTexts, questions: Sequence[Asked]) -> Iterator[Item]:
    """Yield comparisons of two families with one type of answer; each question stands in one at most."""
    waiting: dict[str, Asked] = {}
    for asked in questions:
        kind = asked.template.answer_type
        before = waiting.get(kind)
        if before is None or before.template.id == asked.template.id:
            waiting[kind] = asked
            continue
        del waiting[kind]
        first, second = sorted((before, asked), key=lambda each: each.template.id)
        yield comparison(about, _said(first), _said(second), NATURAL, _strata(second))


def _said(asked: Asked) -> Said:
    return Said(asked.text, asked.template.id, meta=_facts(asked))


# Checks -------------------------------------------------------------------------------------------------------------


def failed_presupposition(program: Program, scene: Scene) -> Proof | None:
    """Prove that a scene has no object at all of one kind that a question takes for granted; None if it has."""
    for node in program.nodes:
        if node.function == _UNIQUE:
            steps = chain_to(program, node.inputs[0])
            proof = None if steps is None else none_left(steps, scene, program.catalogue)
            if proof is not None:
                return proof
    return None


def _checks(about: SceneTexts, at: int, asked: Sequence[Sequence[Asked]], settings: ItemSettings) -> Iterator[Item]:
    """Yield the check about one scene: one of its questions beside one about a thing that it does not have."""
    rng = stream(settings.seed, "human/items/checks", about.scene.index)
    right = [each for each in shuffled(rng, asked[at]) if _presupposes(each.program)]
    others = shuffled(rng, [place for place in range(len(asked)) if place != at])
    wrong = (
        (other, proof)
        for place in others
        for other in shuffled(rng, asked[place])
        if (proof := failed_presupposition(other.program, about.scene)) is not None
    )
    for own, (other, proof) in zip(right[:1], wrong, strict=False):
        correct, distractor = (Said(each.text, "", meta=_facts(each)) for each in (own, other))
        yield check(about, correct, distractor, proof)


def _presupposes(program: Program) -> bool:
    """True if a question takes an object for granted, as the wrong one of a check does."""
    return any(node.function == _UNIQUE for node in program.nodes)
