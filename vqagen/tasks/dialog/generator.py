"""Dialogs about one scene: which captions they begin with, and what is tried if a search finds nothing.

A scene's dialogs depend on the settings, the scene's index and the answers of the window's dialogs before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from vqagen.rng import shuffled, stream
from vqagen.tasks.dialog.annotation import Annotator
from vqagen.tasks.dialog.captions import CATEGORIES, Caption, knowledge_after
from vqagen.tasks.dialog.knowledge import Rules
from vqagen.tasks.dialog.loading import LoadedDialogDomain
from vqagen.tasks.dialog.quotas import NO_GAINS, PRESETS, AnswerBalance, Gains, Quotas
from vqagen.tasks.dialog.round_kind import Pick
from vqagen.tasks.dialog.scene import DialogScene
from vqagen.tasks.dialog.search import Beam, DialogSearch, Limits, Prefix, SearchRules
from vqagen.tasks.dialog.settings import STRICT, DialogSettings
from vqagen.tasks.dialog.wording import Wordings
from vqagen.world.scene import Scene

BEAMS = 3
"""Unfinished dialogs kept in each round of the search; more find dialogs that need more of the history, slowly."""
TARGET_BEAMS = 6
"""The same where a distance is aimed for: there must be some to choose from."""
TRIES = 6
"""Captions that are tried for one dialog with so many beams."""
WIDER, WIDER_TRIES = 8, 4
"""If no search finds a dialog: so many times as many beams, and captions tried with them; then again without quotas."""
FRESH = 4
"""Draws of a caption, at most, until it differs from those of the scene's other dialogs."""
USUAL_DISTANCE = 2.7
"""About the mean coreference distance of dialogs that draw which object they refer to (2.8 on 120 CLEVR scenes). If a
smaller one is aimed for, questions prefer what was told just now; otherwise, what was told long ago."""
NO_CAPTION, TOO_FEW_QUESTIONS, NO_RELATIONS = "no caption", "too few questions", "no relations"
"""Reasons for which a scene lacks a dialog."""


@dataclass
class SceneDialogs:
    """The dialogs of a scene."""

    records: list[dict[str, Any]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    """Reason -> dialogs that it cost."""


@dataclass
class _Search:
    """The dialogs of one scene while they are searched for."""

    scene: DialogScene
    rng: Random
    pick: Pick
    balance: AnswerBalance
    captions: set[Caption] = field(default_factory=set)
    """The captions of the dialogs found."""
    prefixes: set[Prefix] = field(default_factory=set)
    """The first rounds of the dialogs found."""


class DialogGenerator:
    """Makes the dialogs of scenes. Everything here is the same for all scenes of a run."""

    def __init__(self, loaded: LoadedDialogDomain, settings: DialogSettings, quotas: Quotas) -> None:
        self.settings = settings
        self.vocabulary = loaded.vocabulary
        target = float(settings.target_distance)
        self.rules = Rules(settings.semantics == STRICT, not target or target > USUAL_DISTANCE)
        self._wordings = Wordings(loaded.templates, loaded.synonyms, loaded.vocabulary)
        self._quotas = quotas
        usual = SearchRules(self.rules, quotas, settings.rounds, TARGET_BEAMS if target else BEAMS, target)
        wide = replace(usual, beams=usual.beams * WIDER)
        free = replace(PRESETS["none"], objective=quotas.objective)
        self._beam_searches = (DialogSearch(usual), DialogSearch(wide), DialogSearch(replace(wide, quotas=free)))

    def balance(self, first: int) -> AnswerBalance:
        """Return the balance of a window before its first scene, which has the index `first`."""
        return AnswerBalance(self.vocabulary, self.settings.seed, first)

    def dialogs(self, scene: Scene, balance: AnswerBalance) -> SceneDialogs:
        """Return the dialogs of a scene, and why some are missing; their answers are added to the balance."""
        if any(name not in scene.related for name in self.vocabulary.relations):
            return SceneDialogs(failures=Counter({NO_RELATIONS: self.settings.dialogs_per_image}))
        table, rng = DialogScene(scene, self.vocabulary), stream(self.settings.seed, "dialogs", scene.index)
        words = stream(self.settings.seed, "dialog words", scene.index)  # so that templates do not change what is asked
        search, made = _Search(table, rng, Pick(rng), balance), SceneDialogs()
        for category in self._categories(rng):
            found = self._found(category, search)
            if isinstance(found, str):
                made.failures[found] += 1
                continue
            caption, beam, is_relaxed = found
            search.captions.add(caption)
            search.prefixes.add(beam.prefix)
            for _, move, outcome, _ in beam.rounds():
                balance.add(move, outcome.answer)
            place = {"dialog_index": 0, "scene_index": scene.index, "dialog": len(made.records)}
            record = Annotator(table, self._wordings.dialog(words), words).dialog(caption, beam)
            made.records.append({**place, **({"relaxed": True} if is_relaxed else {}), **record})
        return made

    def _categories(self, rng: Random) -> list[str]:
        """Return the categories of captions to begin with: one of each, then any."""
        names, wanted = list(CATEGORIES), self.settings.dialogs_per_image
        first = shuffled(rng, names)[:wanted]
        return first + [names[int(rng.random() * len(names))] for _ in range(wanted - len(first))]

    def _found(self, category: str, search: _Search) -> tuple[Caption, Beam, bool] | str:
        """Return a dialog, and whether it was found only without quotas; or the reason why there is none.

        Other captions are tried first, then more beams with any answers, then those without quotas.
        """
        reason = NO_CAPTION
        balance, usual = search.balance, self._beam_searches[0]
        for beams, tries in zip(self._beam_searches, (TRIES, WIDER_TRIES, WIDER_TRIES // 2), strict=True):
            limits = Limits(search.prefixes)
            if beams is usual:
                limits = Limits(search.prefixes, balance.refused, balance.refused_at_first)
            for number in range(tries):
                caption = self._caption(category if number < tries / 2 else None, search)
                if caption is None:
                    continue
                reason = TOO_FEW_QUESTIONS
                start = Beam(knowledge_after(caption, search.scene, self.rules), gains=self._plan(search.pick))
                beam = beams.find(search.scene, start, search.rng, limits)
                if beam is not None:
                    return caption, beam, beams is self._beam_searches[-1]
        return reason

    def _plan(self, pick: Pick) -> Gains:
        """Draw the rounds of the objective that a dialog does without: it counts them as had. Targets need them all."""
        if self.settings.target_distance:
            return NO_GAINS
        spared = Gains(*(each[pick.below(len(each))] for each in self._quotas.spared))
        return spared.capped(self._quotas.objective)

    def _caption(self, category: str | None, search: _Search) -> Caption | None:
        """Draw a caption, of any category if None is given or has none; one that is new if that is easy."""
        order: Sequence[str] = shuffled(search.rng, list(CATEGORIES))
        for name in order if category is None else (category, *order):
            drawn = None
            for _ in range(FRESH):
                drawn = CATEGORIES[name](search.scene, search.pick, self.rules)
                if drawn is None or drawn not in search.captions:
                    break
            if drawn is not None:
                return drawn
        return None
