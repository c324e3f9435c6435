"""The scorer of trials, and the metrics of perspective taking."""

from __future__ import annotations

from collections.abc import Mapping
from statistics import mean
from typing import Any

from inspect_ai.scorer import (
    CORRECT,
    INCORRECT,
    Metric,
    SampleScore,
    Score,
    Scorer,
    Target,
    accuracy,
    ci,
    grouped,
    metric,
    scorer,
    stderr,
    value_to_float,
)
from inspect_ai.solver import TaskState

from vqagen.score.answers.replies import cell_in_reply
from vqagen.tasks.director.policies import BLIND, POLICIES
from vqagen.tasks.director.rules import CONTROL, TEST, TYPES
from vqagen.tasks.director.views import CORRECT as RIGHT, EGOCENTRIC, INVALID

KIND = "kind"
"""The key of a score's metadata under which the kind of the answer stands."""
CHANCES = "chances"
"""The key of a sample's metadata with the probability that each policy is right."""
CLUSTER = "cluster"
"""The key of a sample's metadata that the two trials of a pair share."""
GROUPS: Mapping[str, str] = {
    "trial_type": "type={group_name}",
    "rule_class": "rule={group_name}",
    "frame": "frame={group_name}",
    "physics": "physics={group_name}",
    "format": "format={group_name}",
    "condition": "{group_name}",
}
"""Key of a sample's metadata -> the names of the accuracies of its groups."""
POLICY_NAMES = tuple(POLICIES)
"""Policies of the director task, which `vqagen/policy` answers trials by."""

_as_float = value_to_float()


def judge_reply(reply: str, kinds: Mapping[str, str]) -> tuple[str | None, str]:
    """Return the cell that a reply names, and the kind of answer that it is. `kinds` are those of the grid's cells."""
    cell = cell_in_reply(reply)
    return cell, INVALID if cell is None else kinds.get(cell, INVALID)


@metric
def vpt_gap() -> Metric:
    """The accuracy on control trials minus that on test trials; nothing if there are none of a type."""

    def gap(scores: list[SampleScore]) -> dict[str, float]:
        by_type = {type: [_value(score) for score in scores if _of(score, "trial_type") == type] for type in TYPES}
        return {"vpt_gap": mean(by_type[CONTROL]) - mean(by_type[TEST])} if all(by_type.values()) else {}

    return gap


@metric
def paired_accuracy() -> Metric:
    """The share of pairs of which both trials are answered correctly; nothing without pairs."""

    def accuracy_of_pairs(scores: list[SampleScore]) -> dict[str, float]:
        pairs: dict[int, list[float]] = {}
        for score in scores:
            if (pair := _of(score, "pair")) is not None:
                pairs.setdefault(pair, []).append(_value(score))
        complete = [min(values) for values in pairs.values() if len(values) == 2]
        return {"paired_accuracy": mean(complete)} if complete else {}

    return accuracy_of_pairs


@metric
def egocentric_share() -> Metric:
    """The share of egocentric answers among those on test trials that are no real success; nothing without wrong ones.

    Without a rule, who overlooks the director's view chooses one of several items, and is right by luck now and then:
    each wrong egocentric answer stands for as many as are expected, such as 1.5 where one of three items is the answer.
    """

    def share(scores: list[SampleScore]) -> dict[str, float]:
        kinds = [
            ((score.score.metadata or {}).get(KIND), score) for score in scores if _of(score, "trial_type") == TEST
        ]
        wrong = sum(kind not in (None, RIGHT) for kind, _ in kinds)
        lucky = [(_of(score, CHANCES) or {}).get("egocentric", 0.0) for kind, score in kinds if kind == EGOCENTRIC]
        expected = sum(1 / (1 - luck) for luck in lucky)
        return {"egocentric_share": expected / (wrong - len(lucky) + expected)} if wrong else {}

    return share


@metric
def policy_accuracy() -> Metric:
    """The expected accuracies of the policies that ignore what is blocked, on the same trials."""

    def accuracies(scores: list[SampleScore]) -> dict[str, float]:
        samples = [chances for score in scores if (chances := _of(score, CHANCES))]
        return {f"policy={name}": mean(chances[name] for chances in samples) for name in BLIND if samples}

    return accuracies


def _of(score: SampleScore, key: str) -> Any:
    return (score.sample_metadata or {}).get(key)


def _value(score: SampleScore) -> float:
    return _as_float(score.score.value)


@scorer(
    metrics=[
        paired_accuracy(),  # the headline of pairs
        accuracy(),
        stderr(cluster=CLUSTER),
        ci(cluster=CLUSTER),
        vpt_gap(),
        egocentric_share(),
        policy_accuracy(),
        *(grouped(accuracy(), key, all=False, name_template=names) for key, names in GROUPS.items()),
    ]
)
def cell_answer() -> Scorer:
    """Compare the cell that the reply names with the answer, and say which kind of mistake a wrong cell is."""

    async def score(state: TaskState, target: Target) -> Score:
        cell, kind = judge_reply(state.output.completion, state.metadata["kinds"])
        explanation = f"{cell or 'no cell'}: {kind}; correct: {' or '.join(target)}"
        return Score(
            value=CORRECT if kind == RIGHT else INCORRECT, answer=cell, explanation=explanation, metadata={KIND: kind}
        )

    return score
