"""Trials as raters see them, without a word about sources, gold answers and uses; and images by opaque ids."""

from __future__ import annotations

import base64
from collections.abc import Collection
from functools import lru_cache
from typing import Any

from vqagen.human.links.secret import Secret
from vqagen.human.study.images import StudyImage
from vqagen.human.study.item import AFTER, BEFORE, COMPARE, Item
from vqagen.human.study.study import Study, Trial

MOST_SLOTS = 4096
"""Slots whose trials are kept in order; those of others are ordered again when they are needed."""
LEFT, RIGHT = "left", "right"


class ShownStudy:
    """The trials of a study as records for the page."""

    def __init__(self, study: Study, secret: Secret) -> None:
        self._study = study
        opaque = {id: secret.mac("image", f"{study.id}/{id}") for id in study.images}
        self._opaque = {id: base64.urlsafe_b64encode(mac).rstrip(b"=").decode() for id, mac in opaque.items()}
        self.images: dict[str, StudyImage] = {self._opaque[id]: image for id, image in study.images.items()}
        """By opaque id."""
        self.trials = lru_cache(MOST_SLOTS)(study.trials)
        """(task, slot) -> the trials of a slot in its order."""

    def next_trial(self, trials: tuple[Trial, ...], answered: Collection[int]) -> dict[str, Any] | None:
        """Return the first trial without an answer; None if all have one."""
        coming = [each for each in trials if each.number not in answered][:2]
        if not coming:
            return None
        trial, *after = coming
        next_image = self._image(after[0].item) if after else None
        return {
            "number": trial.number,
            "total": len(trials),
            "answered": len(answered),
            "use": trial.item.use if trial.item.use in (BEFORE, AFTER) else "trial",
            **self._record(trial),
            "next_image": next_image and next_image["url"],
        }

    def practice(self, feedback_right: str, feedback_wrong: str) -> list[dict[str, Any]]:
        """Return the trials of the practice, with what the page shall expect. Sides are taken by turns."""
        trials = [Trial(number, item, number % 2 == 0) for number, item in enumerate(self._study.practice, 1)]
        feedback = {"feedback_right": feedback_right, "feedback_wrong": feedback_wrong}
        return [{**self._record(trial), "expected": _expected(trial), **feedback} for trial in trials]

    def _record(self, trial: Trial) -> dict[str, Any]:
        item = trial.item
        return {
            "kind": item.kind,
            "image": self._image(item),
            "prompt": item.prompt,
            "texts": trial.texts,
            "scale": item.scale,
            "form": item.form,
            "history": [{"text": each.text, "answer": each.answer} for each in item.history],
        }

    def _image(self, item: Item) -> dict[str, Any] | None:
        if not item.image:
            return None
        image = self._study.images[item.image]
        return {"url": f"/img/{self._opaque[image.id]}", "width": image.width, "height": image.height}


def _expected(trial: Trial) -> str | None:
    """Return the side of the better text, or the right answer; None where there is none."""
    item, gold = trial.item, trial.item.gold
    if item.kind != COMPARE or gold is None:
        return gold.answer if gold else None
    is_second = gold.better == item.candidates[1].id
    return RIGHT if is_second == trial.second_on_right else LEFT
