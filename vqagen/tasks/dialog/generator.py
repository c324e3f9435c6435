"""Dialogs about one scene: which captions they begin with, and what is tried if a search finds nothing.

A scene's dialogs depend on the settings and the scene's index alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, NamedTuple

from vqagen.rng import shuffled, stream
from vqagen.tasks.dialog.annotation import Annotator
from vqagen.tasks.dialog.captions import CATEGORIES, Caption, CaptionRules, knowledge_after
from vqagen.tasks.dialog.knowledge import Knowledge, Rules
from vqagen.tasks.dialog.loading import LoadedDialogDomain
from vqagen.tasks.dialog.quotas import PRESETS, Quotas
from vqagen.tasks.dialog.round_kind import Pick
from vqagen.tasks.dialog.search import Beam, DialogSearch, Prefix, SearchRules
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.tables import DialogScene
from vqagen.tasks.dialog.wording import Wordings
from vqagen.world.scene import Scene

TRIES = 6
"""Captions drawn for one dialog before the search is widened."""
WIDER, WIDER_TRIES = 8, 8
"""Then, so many times as many beams, and so many captions; after that quotas are dropped."""
FRESH = 4
"""Draws of a caption until one is taken that another dialog of the scene has."""

USUAL_DISTANCE = 2.7
"""The mean coreference distance of dialogs that name of two objects any (measured on 120 CLEVR scenes: 2.8)."""

NO_CAPTION, NO_ROUNDS, NO_RELATIONS = "no caption", "too few questions", "no relations"
"""Reasons for a dialog that a scene lacks."""


class Found(NamedTuple):
    """A dialog without its words."""

    caption: Caption
    knowledge: Knowledge
    beam: Beam
    is_relaxed: bool = False
    """True if it was found only without quotas."""


@dataclass
class SceneDialogs:
    """The dialogs of a scene."""

    records: list[dict[str, Any]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    """Reason -> dialogs that it cost."""


class DialogGenerator:
    """Makes the dialogs of scenes. Everything here is the same for all scenes of a run."""

    def __init__(self, loaded: LoadedDialogDomain, settings: DialogSettings, quotas: Quotas) -> None:
        self.settings = settings
        self.vocabulary = loaded.vocabulary
        target = float(settings.target_distance)
        self.rules = Rules(settings.semantics == "strict", settings.rel_seek, not target or target > USUAL_DISTANCE)
        self._caption_rules = CaptionRules(self.rules, settings.extreme_attributes)
        self._wordings = Wordings(loaded.templates, loaded.synonyms, loaded.vocabulary)
        usual = SearchRules(self.rules, quotas, settings.rounds, settings.beams, target)
        wide = replace(usual, beams=settings.beams * WIDER)
        self._searches = (DialogSearch(usual), DialogSearch(wide), DialogSearch(_without_quotas(wide)))

    def dialogs(self, scene: Scene) -> SceneDialogs:
        """Return the dialogs of a scene, and why some are missing."""
        made = SceneDialogs()
        if any(name not in scene.related for name in self.vocabulary.relations):
            made.failures[NO_RELATIONS] = self.settings.dialogs_per_image
            return made
        table, rng = DialogScene(scene, self.vocabulary), stream(self.settings.seed, "dialogs", scene.index)
        words = stream(self.settings.seed, "dialog words", scene.index)  # so that no template decides what is asked
        for found in self._found(table, rng, made.failures):
            annotator = Annotator(table, self._wordings.dialog(words), self.rules.reading, words)
            record = annotator.dialog(found.caption, found.knowledge, found.beam)
            place = {"dialog_index": 0, "scene_index": scene.index, "dialog": len(made.records)}
            made.records.append({**place, **({"relaxed": True} if found.is_relaxed else {}), **record})
        return made

    def _found(self, scene: DialogScene, rng: Random, failures: Counter[str]) -> Iterator[Found]:
        """Yield the dialogs of a scene; count those that cannot be found by the reason."""
        pick, captions, taken = Pick(rng), set[Caption](), set[Prefix]()
        for category in self._categories(rng):
            found = self._first_found(scene, category, rng, pick, captions, taken, failures)
            if found is not None:
                captions.add(found.caption)
                taken.add(found.beam.prefix)
                yield found

    def _categories(self, rng: Random) -> list[str]:
        """Return the categories of captions to begin with: one of each, then any; or by their weights."""
        names, wanted, weights = list(CATEGORIES), self.settings.dialogs_per_image, self.settings.caption_weights
        if weights:
            return [_weighted(rng, weights) for _ in range(wanted)]
        first = shuffled(rng, names)[:wanted]
        return first + [names[int(rng.random() * len(names))] for _ in range(wanted - len(first))]

    def _first_found(
        self,
        scene: DialogScene,
        category: str,
        rng: Random,
        pick: Pick,
        captions: set[Caption],
        taken: set[Prefix],
        failures: Counter[str],
    ) -> Found | None:
        """Return a dialog; with other captions, then more beams, then without quotas if there is none."""
        reason = NO_CAPTION
        for search, tries in zip(self._searches, (TRIES, WIDER_TRIES, WIDER_TRIES), strict=True):
            for number in range(tries):
                caption = self._caption(scene, category if number < tries / 2 else None, rng, pick, captions)
                if caption is None:
                    continue
                reason = NO_ROUNDS
                knowledge = knowledge_after(caption, scene, self.rules)
                beam = search.find(scene, knowledge, rng, taken)
                if beam is not None:
                    return Found(caption, knowledge, beam, search is self._searches[-1])
        failures[reason] += 1
        return None

    def _caption(
        self, scene: DialogScene, category: str | None, rng: Random, pick: Pick, captions: set[Caption]
    ) -> Caption | None:
        """Draw a caption, of any allowed category if None is given or has none; one that is new if that is easy."""
        weights = self.settings.caption_weights
        allowed = [name for name in CATEGORIES if not weights or weights.get(name)]
        order: Sequence[str] = shuffled(rng, allowed)
        for name in order if category is None else (category, *order):
            drawn = None
            for _ in range(FRESH):
                drawn = CATEGORIES[name](scene, pick, self._caption_rules)
                if drawn is None or drawn not in captions:
                    break
            if drawn is not None:
                return drawn
        return None


def _without_quotas(how: SearchRules) -> SearchRules:
    return replace(how, quotas=replace(PRESETS["none"], objective=how.quotas.objective))


def _weighted(rng: Random, weights: dict[str, float]) -> str:
    drawn = rng.random() * sum(weights.values())
    for name, weight in weights.items():
        drawn -= weight
        if drawn < 0:
            return name
    return next(name for name, weight in reversed(weights.items()) if weight)
