"""Faults of a question besides its program and answer: words left out, options, and copies of what its scene says."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any

from vqagen.errors import as_written, describe
from vqagen.items.answers import text_of
from vqagen.items.scene_lookup import QuestionFault
from vqagen.language.binding import Bound, Step
from vqagen.language.catalogue import Function, Value
from vqagen.language.recognition import Recogniser
from vqagen.plugin import FILTER, Undefined
from vqagen.world.domain import Domain
from vqagen.world.scene import Scene


@lru_cache(maxsize=1000)
def _stem(image: str) -> str:
    return PurePosixPath(image).stem


def options_fault(record: Mapping[str, Any], function: Function, domain: Domain) -> QuestionFault | None:
    """Return the fault of the `choices` of a question whose answer is right: `choice` is the place of the answer.

    Options are different texts of one kind: numbers, values of one attribute, or at most two truths.
    """
    options, choice = record.get("choices"), record.get("choice")
    if not options and choice in (None, -1):
        return None
    if not isinstance(options, list) or not all(isinstance(each, str) for each in options):
        return QuestionFault("wrong options", f"choices: expected a list of texts, found {describe(options)}")
    answer = record["answer"]
    right = text_of(tuple(answer) if isinstance(answer, list) else answer)
    attribute = domain.attribute_of(function.output)
    known = set(attribute.values if attribute and right in attribute.values else options)
    odd = [each for each in options if each.isdecimal() != right.isdecimal() or each not in known]
    odd += options[2:] if function.output == "Bool" else []
    place = options.index(right) if right in options else None
    rows = [
        (len({*options}) < len(options), "choices: an option stands there twice"),
        (place is None, f"choices: the answer {right!r} is not among them"),
        (bool(odd), f"choices: {odd and odd[0]!r} is of another kind than the answer {right!r}"),
        (
            "choice" in record and (type(choice) is not int or choice != place),
            f"choice: written as {as_written(choice)}, but the answer {right!r} stands at {place}",
        ),
    ]
    return next((QuestionFault("wrong options", why) for is_wrong, why in rows if is_wrong), None)


def field_fault(record: Mapping[str, Any], scene: Scene, function: Function, is_ours: bool) -> QuestionFault | None:
    """Return the fault of a field that follows from scene or program; other generators may have types of their own."""
    split = scene.record.get("split")
    right = {"split": split, "question_type": function.asks, "image": _stem(scene.image)}
    for key, wanted in right.items() if is_ours else [("split", split)] if split else ():
        if record.get(key, wanted) != wanted:
            found, expected = as_written(record[key]), as_written(wanted)
            return QuestionFault(f"wrong {key}", f"{key}: written as {found}, but {expected} follows from the scene")
    return None


def vague_text(
    text: str, recogniser: Recogniser, bound: Bound, scene: Scene, steps: Sequence[Step], outputs: Sequence[Value]
) -> QuestionFault | None:
    """Return the fault of a text if its program, without the filters that the text leaves out, answers otherwise.

    "What color is the cube?" does not single out the small one of two cubes.
    """
    unsaid = recogniser.unsaid(text, bound.words)
    skipped = {step for slot in unsaid for step in bound.steps.get(slot, ())}
    if not skipped:
        return None
    catalogue, results = recogniser.template.catalogue, list[Any]()
    try:
        for i, (function, inputs, values) in enumerate(steps):
            known = [results[k] for k in inputs]
            is_left_out = i in skipped and catalogue[function].role == FILTER
            results.append(known[0] if is_left_out else catalogue[function].run(scene, *known, *values))
        if results[-1] == outputs[-1]:
            return None
        why = f"without it, the answer is {as_written(results[-1])}"
    except Undefined as error:
        why = f"without it, the program has no answer: {error}"
    left_out = ", ".join(f"{slot} {bound.words[slot]}" for slot in unsaid)
    return QuestionFault("vague text", f'"{text}" leaves out {left_out}; {why}')
