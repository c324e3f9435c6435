"""Tasksets of verifiers, version 1: endless questions about drawn scenes, and trials of the director task.

verifiers finds them under the ids `vqagen-questions` and `vqagen-director`. Needs the extra `verifiers`.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from itertools import count
from typing import Any

import verifiers.v1 as vf

from vqagen.environments.director import RULES, shelves
from vqagen.environments.endless import environment
from vqagen.items.answers import ANSWER_TYPES, PLACES
from vqagen.language.question import BOXES
from vqagen.rewards import FORMAT_WEIGHT, HOW_TO_REPLY, format_score, grounding_score, score
from vqagen.tasks.prompts import DIRECTOR, request

_QUESTION_RULES = "You are asked about a picture. Answer with yes or no, a whole number, or as few words as possible."
_PLACE_RULES = (
    "You are asked where objects are in a picture. Answer with the point (x, y) of one object, or with the box"
    " [left, top, right, bottom] of each, in pixels of the picture; with none if there is no such object."
)


class PictureData(vf.TaskData):
    """A question about a picture."""

    answer: str
    answer_type: str
    domain: str | None = None
    boxes: list[list[int]] | None = None
    """Of an answer that is places, the box of each object."""
    info: dict[str, Any]
    """Program, family and level of a question; type and rule of a trial."""


class PictureTask(vf.Task[PictureData, vf.State, vf.TaskConfig]):
    """Asks the question, and rewards the right answer and, a little, the form of the reply."""

    @vf.reward(weight=1.0)
    async def accuracy(self, trace: vf.Trace) -> float:
        """Return 1 for the right answer, or how well boxes agree with the right ones; see `grounding_score`."""
        return _earned(trace.last_reply, self.data)

    @vf.reward(weight=FORMAT_WEIGHT)
    async def format(self, trace: vf.Trace) -> float:
        """Return 1 for a thought and an answer between their tags."""
        return format_score(trace.last_reply)

    async def validate(self, runtime: Any) -> bool:
        """Return True if the right answer earns the reward."""
        told = str(self.data.boxes or "")[1:-1]
        return _earned(told or self.data.answer, self.data) == 1


class QuestionConfig(vf.TasksetConfig):
    """Which questions are asked."""

    domain: str = "clevr"
    levels: str | int | list[int | str] = "all"
    """`all`, `curriculum`, or a level or several: numbers from 1 to 5, `viewpoint`, `places`."""
    seed: int = 0
    start: int = 0
    """The index of the first sample."""
    width: int = 240
    """The width of pictures in pixels."""


class QuestionTaskset(vf.Taskset[PictureTask, QuestionConfig]):
    """Endless questions about drawn scenes."""

    INFINITE = True

    def load(self) -> Iterator[PictureTask]:
        """Yield the samples of the environment in the order of their indices."""
        config = self.config
        samples = environment(config.domain, config.levels, config.seed, width=config.width)
        for index in count(config.start):
            sample = samples[index]
            info = {"program": sample.program, "family": sample.family, "level": sample.level}
            is_place = sample.answer_type == ANSWER_TYPES[PLACES]
            asked = sample.question, sample.answer, sample.answer_type, info, config.domain
            boxes = sample.to_row()[BOXES] if is_place else None
            data = _data(sample.png(), _PLACE_RULES if is_place else _QUESTION_RULES, *asked, boxes)
            yield PictureTask(data, config.task)


class DirectorConfig(vf.TasksetConfig):
    """Which trials are made."""

    seed: int = 0
    start: int = 0
    """The index of the first trial."""
    width: int = 4
    """Columns of the shelf."""
    height: int = 4
    """Rows of the shelf."""
    test_share: float = 0.5
    """Share of trials in which the director's blocked view matters."""


class DirectorTaskset(vf.Taskset[PictureTask, DirectorConfig]):
    """Endless trials of the director task."""

    INFINITE = True

    def load(self) -> Iterator[PictureTask]:
        """Yield the trials in the order of their indices."""
        config = self.config
        settings = {name: getattr(config, name) for name in ("width", "height", "test_share")}
        for record, png in shelves(config.seed, config.start, **settings):
            info = {name: record[name] for name in ("trial_type", "rule_class", "rule")}
            question = request(DIRECTOR, record["instruction"])
            data = _data(png, RULES, question, record["answer"], "cell", info)
            yield PictureTask(data, config.task)


def _earned(reply: str, data: PictureData) -> float:
    if data.boxes is not None:
        return grounding_score(reply, data.boxes)
    return score(reply, data.answer, data.answer_type, domain=data.domain)


def _data(
    png: bytes,
    rules: str,
    question: str,
    answer: str,
    answer_type: str,
    info: dict[str, Any],
    domain: str | None = None,
    boxes: list[list[int]] | None = None,
) -> PictureData:
    url = f"data:image/png;base64,{b64encode(png).decode()}"
    picture = vf.ImageUrlContentPart(image_url=vf.ImageUrlSource(url=url))
    return PictureData(
        prompt=[vf.UserMessage(content=[picture, vf.TextContentPart(text=question)])],
        system_prompt=f"{rules}\n\n{HOW_TO_REPLY}",
        answer=answer,
        answer_type=answer_type,
        domain=domain,
        boxes=boxes,
        info=info,
    )
