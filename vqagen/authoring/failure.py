"""The reason why a template found nothing in a scene: the step that failed, and why its options were rejected."""

from __future__ import annotations

from collections import Counter

from vqagen.plugin import Record
from vqagen.rng import stream
from vqagen.search.description import Description, SceneTables
from vqagen.search.examination import Ended, Examination
from vqagen.search.filling import DEGENERATE, GAVE_UP, TRIVIAL
from vqagen.search.instantiate import Search
from vqagen.search.plan import Apply, Op, Plan
from vqagen.world.scene import Scene

IDLE = "a relation in it is idle: the answer would be the same without it"
TOLD = "its words alone tell the answer, compare a set with a part of itself, or name two objects alike"
UNFINISHED = "the search gave up before it had seen every option"
_SOUGHT = {
    "unique": "exactly one object",
    "not_unique": "more than one object",
}


def why_not(search: Search, scene: Scene, reason: str, seed: int) -> Record:
    """Return the step of the search that failed in a scene, with the reason; `reason` is the search's own.

    `node` is the step that failed; None if all steps had options.
    """
    watch = search.examine(SceneTables(scene), stream(seed, "examine", scene.index))
    node, verdict = _Story(search.plan, scene).verdict(watch, reason)
    return {"scene": scene.index, "reason": reason, "node": node, "verdict": verdict}


class _Story:
    """Describes the search of one plan in one scene."""

    def __init__(self, plan: Plan, scene: Scene) -> None:
        self.plan, self.scene, self.template = plan, scene, plan.template
        self.node_of: list[int] = []
        """Op -> its template node. A composite node with a reducer has two ops."""
        for number, node in enumerate(plan.template.nodes):
            self.node_of += [number] * (2 if node.composite is not None and node.composite.reducer else 1)
        self.constraints = {str(each): each.in_words for each in plan.template.constraints}

    def cause(self, cause: str) -> str:
        """Return the sentence for the cause by which an option was rejected."""
        return {DEGENERATE: IDLE, TRIVIAL: TOLD}.get(cause) or self.constraints.get(cause, cause)

    def verdict(self, watch: Examination, reason: str) -> tuple[int | None, str]:
        """Return the step that failed, and the sentence."""
        if watch.ended is not None:
            return self.without_choice(watch.ended)
        ended = next((report for report in watch.reports if not report.passed), None)
        if ended is None:
            return None, self.finished(watch.finished)
        node, gave_up = self.node_of[ended.op.index], bool(watch.finished[GAVE_UP])
        if not ended.offered and gave_up:
            return node, UNFINISHED
        if not ended.offered and reason == DEGENERATE:
            return node, f"nothing is tried here, whatever was chosen before: {IDLE}"
        if not ended.offered:
            return node, f"no option: {self.nothing_offered(ended.op)}"
        (cause, times), *more = ended.died.most_common()
        because = f"{times:,} of them because" if more else "because"
        said = f"none of {ended.offered:,} options led on, {because}: {self.cause(cause)}"
        return node, f"{said}; {UNFINISHED}" if gave_up else said

    def finished(self, finished: Counter[str]) -> str:
        """Return the sentence for a search in which every step had options."""
        if finished[GAVE_UP] and not finished[TRIVIAL] and not finished[DEGENERATE]:
            return UNFINISHED
        return f"every filling is refused: {TOLD if finished[TRIVIAL] > finished[DEGENERATE] else IDLE}"

    def without_choice(self, ended: Ended) -> tuple[int, str]:
        """Return the step before any choice that had no result, or a forbidden one, and the sentence."""
        same = "it is the same for every question of the scene, but: "
        said = f"no result: {ended.cause}" if ended.is_undefined else same + self.cause(ended.cause)
        return self.node_of[ended.op], said

    def nothing_offered(self, op: Op) -> str:
        """Return the reason why a step had no options."""
        if not isinstance(op.does, Description):
            return f"no value has a result{self.demands(op)}"
        if not self.scene.everything:
            return "the scene has no objects"
        if op.does.relates and not op.does.relations_in(self.scene):
            relation = op.does.relation
            asked = "how objects are related" if relation is None else f"what is {relation!r} of an object"
            return f"the scene does not say {asked}"
        sought = _SOUGHT.get(op.does.reducer or "", "anything")
        return f"no description fits {sought} of {self.among(op)}{self.demands(op)}"

    def among(self, op: Op) -> str:
        """Return the name of the objects that a description is chosen for."""
        source = self.node_of[op.inputs[0]]
        if isinstance(op.does, Description) and op.does.relates:
            relation = f"the relation {op.does.relation!r}" if op.does.relation else "a relation"
            return f"what stands in {relation} to the object of node {source}"
        if not self.plan.ops[op.inputs[0]].inputs and self.template.nodes[source].type == "scene":
            return f"the {self.scene.size} objects of the scene"
        return f"the objects that node {source} gives"

    def demands(self, op: Op) -> str:
        """Return the constraints that the options must meet, as an addition to a sentence."""
        checks = () if isinstance(op.does, Apply) else op.does.checks
        said = [self.constraints[check.meaning] for check in checks if check.meaning]
        return "; its options must also meet: " + " ".join(said) if said else ""
