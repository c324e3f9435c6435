"""Policies as solvers: they answer by a rule in place of a model, and so show what the trials measure."""

from __future__ import annotations

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from vqagen.errors import UsageError, unknown
from vqagen.inspect_tasks.usage import shown_by_inspect
from vqagen.shortcuts.policies import POLICIES


@solver
@shown_by_inspect
def policy(name: str = "oracle") -> Solver:
    """Answer as a policy of `shortcuts.policies` does, such as egocentric. Needs no model."""
    if name not in POLICIES:
        raise UsageError(unknown("policy", name, list(POLICIES)))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        cell = state.metadata["policies"].get(name)
        reply = "No item fits." if cell is None else f"ANSWER: {cell}"
        state.output = ModelOutput.from_content(f"policy/{name}", reply)
        state.messages.append(state.output.message)
        return state

    return solve
