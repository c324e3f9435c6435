"""Policies as solvers: they answer by a rule in place of a model, and so show what the trials measure."""

from __future__ import annotations

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from vqagen.errors import UsageError, unknown
from vqagen.inspect_tasks.policies import POLICIES
from vqagen.inspect_tasks.usage import shown_by_inspect


@solver
@shown_by_inspect
def policy(name: str = "oracle") -> Solver:
    """Answer as a policy does: oracle, egocentric, no-flip, random-visible or ignore-rule. Needs no model."""
    if name not in POLICIES:
        raise UsageError(unknown("policy", name, list(POLICIES)))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        cell = state.metadata["policies"].get(name)
        state.output = ModelOutput.from_content(f"policy/{name}", f"ANSWER: {cell}")
        state.messages.append(state.output.message)
        return state

    return solve
