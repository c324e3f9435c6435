"""Dialogs about one scene: which captions they begin with, and what is tried if a search finds nothing.

A scene's dialogs depend on the settings, the scene's index and the answers of the window's dialogs before it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, NamedTuple

from vqagen.rng import shuffled, stream
from vqagen.tasks.dialog.annotation import Annotator
from vqagen.tasks.dialog.balance import AnswerBalance
from vqagen.tasks.dialog.captions import CATEGORIES, Caption, knowledge_after
from vqagen.tasks.dialog.knowledge import Knowledge, Rules
from vqagen.tasks.dialog.loading import LoadedDialogDomain
from vqagen.tasks.dialog.prospect import NO_GAINS, Gains
from vqagen.tasks.dialog.quotas import PRESETS, Quotas
from vqagen.tasks.dialog.round_kind import Pick
from vqagen.tasks.dialog.search import Beam, DialogSearch, Limits, Prefix, SearchRules
from vqagen.tasks.dialog.settings import STRICT, DialogSettings
from vqagen.tasks.dialog.tables import DialogScene
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
    failures: Counter[str] = field(default_factory=Counter)
    """Reason -> dialogs that it cost."""

    def limits(self, is_balanced: bool) -> Limits:
        """Return what the next dialog may not have; dialogs that are hard to find may have any answers."""
        if not is_balanced:
            return Limits(self.prefixes)
        return Limits(self.prefixes, self.balance.refused, self.balance.refused_at_first)

    def take(self, found: Found) -> None:
        """Take a dialog, which the next ones must differ from."""
        self.captions.add(found.caption)
        self.prefixes.add(found.beam.prefix)
        self.balance.add(found.beam.answers())


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
        self._beam_searches = (DialogSearch(usual), DialogSearch(wide), DialogSearch(_without_quotas(wide)))

    def balance(self, first: int) -> AnswerBalance:
        """Return the balance of a window before its first scene, which has the index `first`."""
        return AnswerBalance(self.vocabulary, self.settings.seed, first)

    def dialogs(self, scene: Scene, balance: AnswerBalance) -> SceneDialogs:
        """Return the dialogs of a scene, and why some are missing; their answers are added to the balance."""
        if any(name not in scene.related for name in self.vocabulary.relations):
            return SceneDialogs(failures=Counter({NO_RELATIONS: self.settings.dialogs_per_image}))
        table, rng = DialogScene(scene, self.vocabulary), stream(self.settings.seed, "dialogs", scene.index)
        words = stream(self.settings.seed, "dialog words", scene.index)  # so that templates do not change what is asked
        search, records = _Search(table, rng, Pick(rng), balance), list[dict[str, Any]]()
        for found in self._found(search):
            annotator = Annotator(table, self._wordings.dialog(words), words)
            record = annotator.dialog(found.caption, found.knowledge, found.beam)
            place = {"dialog_index": 0, "scene_index": scene.index, "dialog": len(records)}
            records.append({**place, **({"relaxed": True} if found.is_relaxed else {}), **record})
        return SceneDialogs(records, search.failures)

    def _found(self, search: _Search) -> Iterator[Found]:
        """Yield the dialogs of a scene; count those that cannot be found by the reason."""
        for category in self._categories(search.rng):
            found = self._first_found(category, search)
            if found is not None:
                search.take(found)
                yield found

    def _categories(self, rng: Random) -> list[str]:
        """Return the categories of captions to begin with: one of each, then any."""
        names, wanted = list(CATEGORIES), self.settings.dialogs_per_image
        first = shuffled(rng, names)[:wanted]
        return first + [names[int(rng.random() * len(names))] for _ in range(wanted - len(first))]

    def _first_found(self, category: str, search: _Search) -> Found | None:
        """Return a dialog; with other captions, then more beams, then without quotas if there is none."""
        reason = NO_CAPTION
        for beams, tries in zip(self._beam_searches, (TRIES, WIDER_TRIES, WIDER_TRIES // 2), strict=True):
            for number in range(tries):
                caption = self._caption(category if number < tries / 2 else None, search)
                if caption is None:
                    continue
                reason = TOO_FEW_QUESTIONS
                knowledge = knowledge_after(caption, search.scene, self.rules)
                limits = search.limits(beams is self._beam_searches[0])
                beam = beams.find(search.scene, Beam(knowledge, gains=self._plan(search.pick)), search.rng, limits)
                if beam is not None:
                    return Found(caption, knowledge, beam, beams is self._beam_searches[-1])
        search.failures[reason] += 1
        return None

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


def _without_quotas(how: SearchRules) -> SearchRules:
    return replace(how, quotas=replace(PRESETS["none"], objective=how.quotas.objective))
