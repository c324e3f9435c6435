"""Trials as raters see them, without a word about sources, gold answers and uses; and images by opaque ids."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from itertools import islice
from typing import Any

from vqagen.human.links.secret import Secret
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import Item
from vqagen.human.study.study import Study
from vqagen.human.study.trial import Trial

MOST_SLOTS = 4096
"""Slots whose trials are kept in order; those of others are ordered again when they are needed."""
LEFT, RIGHT = "left", "right"


class ShownStudy:
    """The trials of a study as records for the page."""

    def __init__(self, study: Study, secret: Secret) -> None:
        self._study = study
        opaque = {id: secret.mac("image", f"{study.id}/{id}").hex() for id in study.images}
        self._opaque = opaque
        self._images = {opaque[id]: image for id, image in study.images.items()}
        self._trials: OrderedDict[tuple[str, int], tuple[Trial, ...]] = OrderedDict()

    def image(self, opaque: str) -> StudyImage | None:
        """Return the image of an opaque id."""
        return self._images.get(opaque)

    def trials(self, task: str, slot: int) -> tuple[Trial, ...]:
        """Return the trials of a slot in its order."""
        key = task, slot
        found = self._trials.get(key)
        if found is None:
            found = self._trials[key] = self._study.trials(task, slot)
            if len(self._trials) > MOST_SLOTS:
                self._trials.popitem(last=False)
        return found

    def next_trial(self, trials: tuple[Trial, ...], answered: set[int]) -> dict[str, Any]:
        """Return the first trial without an answer, or that all are answered."""
        coming = list(islice((each for each in trials if each.number not in answered), 2))
        progress = {"total": len(trials), "answered": len(answered)}
        if not coming:
            return {"done": True, **progress}
        next_image = self._image_record(coming[1].item) if len(coming) == 2 else None
        return {
            "number": coming[0].number,
            **progress,
            **self._record(coming[0].item, coming[0].texts),
            "next_image": next_image["url"] if next_image else None,
        }

    def practice(self, feedback_right: str, feedback_wrong: str) -> list[dict[str, Any]]:
        """Return the trials of the practice, whose expected side is known to the page."""
        return [
            {
                **self._record(item, Trial(number, item, second_on_right).texts),
                "expected": RIGHT if (_is_second_better(item) == second_on_right) else LEFT,
                "feedback_right": feedback_right,
                "feedback_wrong": feedback_wrong,
            }
            for number, (item, second_on_right) in enumerate(_by_turns(self._study.practice), 1)
        ]

    def _record(self, item: Item, texts: tuple[str, ...]) -> dict[str, Any]:
        scale = item.scale
        return {
            "image": self._image_record(item),
            "prompt": item.prompt,
            "texts": texts,
            "scale": {
                "least": scale.least,
                "largest": scale.largest,
                "left": scale.left,
                "middle": scale.middle,
                "right": scale.right,
            },
        }

    def _image_record(self, item: Item) -> dict[str, Any] | None:
        if not item.image:
            return None
        image = self._study.images[item.image]
        return {"url": f"/img/{self._opaque[item.image]}", "width": image.width, "height": image.height}


def _by_turns(items: Iterable[Item]) -> Iterable[tuple[Item, bool]]:
    """Yield items of the practice, with the second text on the right of every second one."""
    yield from ((item, place % 2 == 1) for place, item in enumerate(items))


def _is_second_better(item: Item) -> bool:
    return item.gold is not None and item.gold.better == item.candidates[-1].id
