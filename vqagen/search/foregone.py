"""Foregone questions: those that words alone answer, or nearly so. The policy `all` of `degeneracy` refuses them.

Refused is a filling of which the words tell, whatever the picture:

* a number, a value or a yes or no that its program computes: "how many metal cubes are left of the only metal thing";
* that of two described sets that are compared or joined one holds the other: "more large cubes than large things";
* nothing to tell two of its objects apart: "the green thing right of the green thing".

The test reads words and not results, so what it refuses decides no memo of dead ends. What can be decided before the
last choice is tested there, or all that follows would be tried in vain.
"""

from __future__ import annotations

from collections.abc import Mapping

from vqagen.search.claims import alike_tests, claims_of
from vqagen.search.frame import Frame, Test
from vqagen.search.outline import Outline, outlines_of
from vqagen.search.plan import Plan
from vqagen.search.reading import Reader


def foregone_tests(plan: Plan) -> tuple[Test | None, ...]:
    """Return a test for each stage, which is True once the words decide something; None where nothing can be decided.

    The test of the last stage tests all, the others only what their stage adds.
    """
    starts = [stage.choice.index for stage in plan.stages]
    ends = [*starts[1:], len(plan.ops)]
    firsts = [*starts[:-1], 0]
    outlines = outlines_of(plan)
    return tuple(_test(plan, outlines, first, end) for first, end in zip(firsts, ends, strict=True))


def _test(plan: Plan, of_all: Mapping[int, Outline], first: int, end: int) -> Test | None:
    """Return the test of what ops before `end` compute, as far as op `first` or a later one decides it."""
    catalogue, ops, vocabularies = plan.template.catalogue, plan.ops[:end], plan.vocabularies
    outlines = {op: outline for op, outline in of_all.items() if op < end}
    references = [op.index for op in ops if op.function and catalogue[op.function].output == "Object"]
    described = [op for op in references if plan.ops[op].function == "unique" and outlines[op].is_known]
    undecided = [{*op.inputs} for op in plan.ops if op.function == "equal_object"]
    reader = Reader(outlines, references, vocabularies.values, vocabularies.order, undecided, vocabularies.logics)
    is_last = end == len(plan.ops)
    found = (claim for claim in claims_of(plan, ops, reader) if claim.op >= first and (is_last or claim.is_early))
    claims = [claim.is_decided for claim in found]
    alike = [are_alike for op, are_alike in alike_tests(described, outlines) if op >= first]

    def is_foregone(frame: Frame) -> bool:
        for are_alike in alike:
            if are_alike(frame):
                return True
        if not claims or frame.scene.start != frame.scene.everything:
            return False
        reading = reader.read(frame)
        return any(is_decided(reading) for is_decided in claims)

    return is_foregone if claims or alike else None
