"""Policies as solvers: they answer by a rule in place of a model, and so show what the trials measure."""

from __future__ import annotations

from inspect_ai.model import ModelOutput
from inspect_ai.solver import Generate, Solver, TaskState, solver

from vqagen.errors import UsageError, unknown
from vqagen.inspect_tasks.prompts import shown_by_inspect
from vqagen.inspect_tasks.questions import BLIND_POLICIES
from vqagen.shortcuts.policies import POLICIES

_NAMES = tuple(dict.fromkeys((*POLICIES, *BLIND_POLICIES)))


@solver
@shown_by_inspect
def policy(name: str = "oracle") -> Solver:
    """Answer by a rule, and need no model.

    Args:
        name: For trials a policy of the director task, such as egocentric; for questions and dialogs a guess without
            the picture, such as majority-family; for all of them oracle, which is always right.
    """
    if name not in _NAMES:
        raise UsageError(unknown("policy", name, _NAMES))

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        known = state.metadata["policies"]
        if name not in known and name not in POLICIES:
            raise UsageError(f"no policy {name!r} for these samples: there are {', '.join(known)}")
        answer = known.get(name)
        reply = f"ANSWER: {answer}" if answer else "I cannot tell."
        state.output = ModelOutput.from_content(f"policy/{name}", reply)
        state.messages.append(state.output.message)
        return state

    return solve
