"""Texts of questions that leave out words without which their program asks something else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vqagen.errors import as_written
from vqagen.language.binding import Bound, Step
from vqagen.language.catalogue import Value
from vqagen.language.recognition import Recogniser
from vqagen.plugin import FILTER, Undefined
from vqagen.score.scene_lookup import QuestionFault
from vqagen.world.scene import Scene


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
