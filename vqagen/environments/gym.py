"""The endless environment as a dataset of reasoning-gym, registered as `vqagen` when this module is imported.

    import reasoning_gym, vqagen.environments.gym
    reasoning_gym.create_dataset("vqagen", size=100, seed=0, levels="curriculum")

reasoning-gym asks in text alone: the scene stands in the question as JSON, unless `pictures` puts a drawn picture (PNG)
into the metadata in its place. Needs the extra `gym`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import orjson
from reasoning_gym.coaching import BaseCurriculum, ScalarAttributeDefinition
from reasoning_gym.factory import ProceduralDataset, register_dataset

from vqagen.environments.endless import Sample, environment
from vqagen.environments.levels import ALL, LEVELS, Levels
from vqagen.errors import UsageError
from vqagen.rewards import score

NAME = "vqagen"
_NOT_ASKED = ("3d_coords", "pixel_coords", "rotation")
_SHOWN_AS_TEXT = """\
A scene with objects is given as JSON. Objects are numbered from 0 in the order of the list. For each relation,
relationships[relation][i] lists the objects that stand in this relation to object i.

{scene}

"""
_HOW_TO_ANSWER = "Answer with yes or no, a whole number, or one word."


@dataclass
class VqagenConfig:
    """What is asked."""

    domain: str = "clevr"
    levels: Levels = ALL
    pictures: bool = False
    width: int = 240
    size: int = 500
    seed: int | None = None

    def validate(self) -> None:
        """Raise UsageError for a size or width below 1."""
        for name in ("size", "width"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be 1 or more, found {getattr(self, name)}")


class VqagenDataset(ProceduralDataset):
    """Samples of an `environment` as entries."""

    def __init__(self, config: VqagenConfig) -> None:
        super().__init__(config=config, seed=config.seed, size=config.size)
        self._samples = environment(config.domain, config.levels, self.seed, width=config.width)

    def __getitem__(self, idx: int) -> dict[str, Any]:
        """Return the entry of an index."""
        sample = self._samples[idx]
        shown = "" if self.config.pictures else _SHOWN_AS_TEXT.format(scene=scene_text(sample))
        metadata = {
            "source_dataset": NAME,
            "source_index": idx,
            "answer_type": sample.answer_type,
            "family": sample.family,
            "program": sample.program,
            "difficulty": {
                "level": sample.level,
                "objects": len(sample.scene["objects"]),
                "steps": len(sample.program),
            },
        }
        if self.config.pictures:
            metadata["image"] = sample.png()
        return {"question": f"{shown}{sample.question} {_HOW_TO_ANSWER}", "answer": sample.answer, "metadata": metadata}

    def score_answer(self, answer: str | None, entry: dict[str, Any]) -> float:
        """Return the reward of an answer, as `vqagen.rewards` gives it."""
        return score(answer or "", entry["answer"], entry["metadata"]["answer_type"], domain=self.config.domain)


class VqagenCurriculum(BaseCurriculum):
    """One level after the other."""

    def __init__(self) -> None:
        super().__init__(VqagenCurriculum.__name__, VqagenConfig)
        levels = list(range(1, len(LEVELS) + 1))
        self._define_attributes(
            ScalarAttributeDefinition(
                name="levels", field_name="levels", levels=levels, description="Difficulty of scenes and questions"
            )
        )


def scene_text(sample: Sample) -> str:
    """Return what can be asked about a scene as JSON: the attributes of its objects, and their relations."""
    objects = [{key: value for key, value in each.items() if key not in _NOT_ASKED} for each in sample.scene["objects"]]
    return orjson.dumps({"objects": objects, "relationships": sample.scene["relationships"]}).decode()


register_dataset(NAME, VqagenDataset, VqagenConfig, VqagenCurriculum)
