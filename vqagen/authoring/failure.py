"""The reason why a template found nothing in a scene: the step that failed, and why its options were rejected."""

from __future__ import annotations

from vqagen.plugin import Record
from vqagen.rng import stream
from vqagen.search.description import Description
from vqagen.search.filling import DEGENERATE, GAVE_UP, TRIVIAL
from vqagen.search.instantiate import Search
from vqagen.search.plan import Apply, Op
from vqagen.search.tables import SceneTables
from vqagen.world.scene import Scene

UNFINISHED = "the search gave up before it had seen every option"
_CAUSES = {
    DEGENERATE: "a relation in it is idle: the answer would be the same without it",
    TRIVIAL: "its words alone tell the answer, compare a set with a part of itself, or name two objects alike",
}
_SOUGHT = {"unique": "exactly one object", "not_unique": "more than one object"}


def why_not(search: Search, scene: Scene, reason: str, seed: int) -> Record:
    """Return the step of the search that failed in a scene, with the reason; `reason` is the search's own.

    `node` is the step that failed; None if all steps had options.
    """
    watch, template = search.examine(SceneTables(scene), stream(seed, "examine", scene.index)), search.plan.template
    node_of = list[int]()  # the node of each op; a composite node with a reducer has two ops
    for number, each in enumerate(template.nodes):
        node_of += [number] * (2 if each.composite is not None and each.composite.reducer else 1)
    causes = {**_CAUSES, **{str(each): each.in_words for each in template.constraints}}
    failed = next((report for report in watch.reports if not report.passed), None)
    op = watch.ended.op if watch.ended else failed.op.index if failed else None
    if watch.ended:
        verdict = f"the same for every question of the scene: {causes.get(watch.ended.cause, watch.ended.cause)}"
    elif failed and failed.died:
        (cause, times), *_ = failed.died.most_common()
        verdict = f"none of {failed.offered:,} options led on, {times:,} because: {causes.get(cause, cause)}"
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
