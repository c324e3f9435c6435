"""Items of questions: two wordings of a program, and checks with questions that do not apply."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace as replaced
from functools import partial
from itertools import islice
from typing import Any

from msgspec.structs import replace

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.human.items.pairs import (
    FAMILY,
    PROGRAM_LENGTH,
    TEMPLATE,
    ReadText,
    Record,
    chain_to,
    checks,
    compared,
    none_left,
    texts_about_scenes,
)
from vqagen.human.items.settings import WORDINGS, ItemSettings
from vqagen.human.study.item import SYSTEM, Candidate, Item, Scale
from vqagen.language.binding import Binder
from vqagen.language.domain_files import LoadedDomain
from vqagen.language.program import Program
from vqagen.language.question_files import QUESTIONS
from vqagen.language.template import Template
from vqagen.language.wording import Wording
from vqagen.rng import shuffled, stream
from vqagen.world.loading import SceneSource
from vqagen.world.scene import Scene

_UNIQUE = "unique"
_NATURAL: Mapping[str, Any] = {
    "dimension": "naturalness",
    "prompt": "Which question about the image is worded more naturally?",
    "scale": Scale(
        left="only the left question is natural",
        middle="both are equally natural",
        right="only the right question is natural",
    ),
}
"""The fields of items that ask which question is better worded."""


@dataclass(frozen=True)
class ReadQuestion(ReadText):
    """A question of a file, whose source is its template."""

    program: Program
    template: Template
    strata: Mapping[str, str | int]


def question_items(file: Location, scenes: SceneSource, domain: LoadedDomain, settings: ItemSettings) -> Iterator[Item]:
    """Yield the items of questions: comparisons, then checks. BadInput for a question without program or template."""
    templates: dict[Any, Template] = {
        key: each for each in domain.templates for key in ((each.file, each.index), each.family)
    }
    read = partial(_read, templates, domain, str(file))
    about = list(texts_about_scenes(file, QUESTIONS, scenes, domain.domain, read).values())
    used = {each.template.id: each.template for _, questions in about for each in questions}
    ways = {name: (Binder(each), _texts(each, domain)) for name, each in used.items()}
    for scene, questions in about:
        order = shuffled(stream(settings.seed, f"human/items/{WORDINGS}", scene.index), questions)
        made = (each for asked in order for each in _wordings(scene, asked, *ways[asked.template.id], settings))
        yield from islice(made, settings.per_image)
    listed = [questions for _, questions in about]
    # A right question takes an object for granted too: its form must not tell it from a wrong one.
    right = [
        [each for each in questions if any(node.function == _UNIQUE for node in each.program.nodes)]
        for questions in listed
    ]
    yield from checks([scene for scene, _ in about], right, listed, settings.seed)


def _read(templates: Mapping[Any, Template], domain: LoadedDomain, source: str, record: Record) -> ReadQuestion:
    text, number, file = (record.get(key) for key in ("question", "question_family_index", "template_filename"))
    template = templates.get(number if file is None else (file, number))
    place = f"{source}: question {record.get('question_index', text)}"
    if template is None:
        message = f"the domain has no template {number!r}" + (f" in {file}" if file else "")
        raise BadInput([Problem(f"{message}; name the templates that it was made with", place)])
    program = Program.from_records(record.get("program"), domain.catalogue, place)
    facts = {"template": template.id, "program": program.to_records()}
    strata: dict[str, str | int] = {
        TEMPLATE: template.id, FAMILY: str(record.get("question_type", "")), PROGRAM_LENGTH: len(program.nodes)
    }  # fmt: skip
    candidate = Candidate(str(text), template.id, SYSTEM, meta=facts)
    return ReadQuestion(candidate, partial(_disproof, program), program, template, strata)


def _texts(template: Template, domain: LoadedDomain) -> list[tuple[int, Wording]]:
    """Return the texts of a template with their numbers from 1, without those whose "other" may have to go."""
    each = [Wording(replaced(template, texts=(text,)), domain.synonyms) for text in template.texts]
    return [(number, wording) for number, wording in enumerate(each, 1) if not wording.mentions_other]


def _wordings(
    scene: Scene, asked: ReadQuestion, binder: Binder, texts: Sequence[tuple[int, Wording]], settings: ItemSettings
) -> Iterator[Item]:
    """Yield the comparison of a question in two texts of its template, with the same synonyms, if there are two."""
    rng = stream(settings.seed, f"human/items/texts/{asked.candidate.text}", scene.index)
    way = rng.random()
    said: dict[str, int] = {}
    for bound in binder.bind(asked.program.nodes)[:1]:
        for number, wording in shuffled(rng, texts):
            said.setdefault(wording.say(bound.words, lambda: way), number)
    pair = sorted(list(said.items())[:2], key=lambda each: each[1])
    if len(pair) == 2:
        first, second = (
            replace(asked.candidate, text=text, source=f"{asked.template.id} text {number}") for text, number in pair
        )
        yield compared(scene, first, second, asked.strata, **_NATURAL)


def _disproof(program: Program, scene: Scene) -> str | None:
    """Prove that a scene has no object at all of one kind that a question takes for granted; None if it has."""
    chains = (chain_to(program, node.inputs[0]) for node in program.nodes if node.function == _UNIQUE)
    proofs = (none_left(steps, scene, program.catalogue) for steps in chains if steps is not None)
    return next(filter(None, proofs), None)
