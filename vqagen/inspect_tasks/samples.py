"""Samples: trials as Inspect gives them to models, with all that the scorer and the report need in their metadata."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from inspect_ai.dataset import Sample
from inspect_ai.model import ChatMessageSystem, ChatMessageUser, ContentText

from vqagen.inspect_tasks.grids import GridContent
from vqagen.inspect_tasks.prompts import DIRECTOR, request, system_prompt
from vqagen.inspect_tasks.scoring import CHANCES
from vqagen.inspect_tasks.trials import LoadedTrial, TrialSet
from vqagen.rng import pick, stream
from vqagen.shortcuts.policies import POLICIES, expected_accuracy
from vqagen.tasks.director.reading import WrittenTrial
from vqagen.tasks.director.rules import PARTICIPANT
from vqagen.tasks.director.views import Views, kinds_of_cells


def samples_of(trials: TrialSet, grids: GridContent, story: str, block_text: int, thought: str) -> Iterator[Sample]:
    """Yield the sample of each trial. Media stand in the samples: Inspect rejects those that a solver adds."""
    system = system_prompt(story, block_text, thought, grids.is_picture)
    has_director = story == DIRECTOR
    for each in trials.trials:
        told = each.record if has_director else each.record["no_director"]
        text = ContentText(text=request(story, told["instruction"]))
        yield Sample(
            id=each.trial.index,
            input=[
                ChatMessageSystem(content=system),
                ChatMessageUser(content=[grids.content(each, has_director), text]),
            ],
            target=[told["answer"]] if has_director else list(told["answers"]),
            metadata={
                **_conditions(each),
                "story": story,
                "format": grids.format,
                "kinds": kinds_of_cells(Views(each.trial), has_director),
                **_policies(each.trial, len(trials.catalogue.sizes), has_director),
            },
        )


def _conditions(each: LoadedTrial) -> dict[str, Any]:
    """Return the conditions of a trial. `condition` names the four crossed ones, so that they can be grouped by."""
    trial = each.trial
    frame, physics = trial.frame or "none", "yes" if trial.is_physics else "no"
    return {
        "trial_type": trial.group,
        "rule_class": trial.rule_class,
        "rule": trial.rule,
        "frame": frame,
        "physics": physics,
        "condition": f"{trial.group}/{trial.rule_class}/{frame}/{'physics' if trial.is_physics else 'no physics'}",
        "pair": trial.pair,
        "cluster": f"trial {trial.index}" if trial.pair is None else f"pair {trial.pair}",
    }


def _policies(trial: WrittenTrial, sizes: int, has_director: bool) -> dict[str, Any]:
    """Return the cell that each policy answers with, as a label, and how probably it is right.

    Without a director, no cell is blocked, and all that fits is right.
    """
    seen = trial if has_director else replace(trial, blocked=0, frame=PARTICIPANT, answer=trial.participant_answers)
    views = Views(seen, sizes)
    chosen = {name: trial.labels(policy.choose(views)) for name, policy in POLICIES.items()}
    cells = {name: pick(stream(0, f"policy {name}", trial.index), cells) for name, cells in chosen.items() if cells}
    return {"policies": cells, CHANCES: {name: expected_accuracy(each, views) for name, each in POLICIES.items()}}
