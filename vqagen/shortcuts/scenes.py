"""Guesses that need scenes: they run each question's program, or take the options that a scene shows.

oracle        its own scene
noisy-oracle  its own scene, of which some values were misread
wrong-image   other scenes of the file
scene-blind   scenes whose attributes were drawn independently

Scenes also tell an audit what is repeated.

A run may have no answer, as when `unique` finds two objects; such runs are counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from random import Random
from typing import Any, NamedTuple

import numpy as np
import orjson

from vqagen.errors import BadInput, FaultList, Problem
from vqagen.items.groups import ordered
from vqagen.items.table import NONE, Codes, Items, Places
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.question import release_answer
from vqagen.plugin import Undefined
from vqagen.rng import below, pick, shuffled, stream
from vqagen.shortcuts.task import Floats, Guesses, Task, best_credit
from vqagen.world.attribute import Attribute, Recorded
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource, load_scenes
from vqagen.world.scene import Scene

POOL = 1000
"""Other scenes that programs are run on at most: they stay in memory."""
OTHER_SCENES, IMAGINED_SCENES = 20, 100
"""Other scenes on which `wrong-image` runs a program, and imagined ones on which `scene-blind` does."""


class Executed(NamedTuple):
    """The answers to items."""

    texts: list[tuple[str, ...]]
    """Best first; empty if no run has an answer."""
    expected: Floats
    """The share of the runs with an answer that give the right one; of sure answers, their credit."""
    runs: int
    invalid: int
    """Runs without an answer."""


class Programs:
    """The programs of a question file, read with `learning` and its scenes, and the functions that these call."""

    def __init__(self, items: Items, scenes: SceneSource, catalogue: Catalogue) -> None:
        """BadInput, with all questions whose program is missing or faulty."""
        self.items, self.scenes, self.catalogue = items, scenes, catalogue
        self.codes, self.places = items.learning.programs.codes, items.learning.places.codes
        self.number_of_scenes = len(items.learning.places.values)
        read = [*map(self._read, items.learning.programs.values), "expected a list of program nodes, found nothing"]
        faults = FaultList(items.name, "question")
        for place, code in enumerate(self.codes.tolist()):
            if isinstance(fault := read[code], str):
                faults.add([("", fault)], f"questions[{items.records[place]}]")
        faults.finish()
        self.programs = {code: each for code, each in enumerate(read) if isinstance(each, Program)}

    def _read(self, written: bytes) -> Program | str:
        try:
            return Program.from_records(orjson.loads(written), self.catalogue)
        except BadInput as error:
            return "; ".join(f"{problem.path}: {problem.message}" for problem in error.problems)

    def of(self, place: int) -> Program:
        """Return the program of an item."""
        return self.programs[int(self.codes[place])]

    def pool(self, seed: int) -> list[Scene]:
        """Return all scenes, or POOL of them. BadInput if there is only one."""
        if self.number_of_scenes < 2:
            raise BadInput([Problem("only one scene: programs are to be run on other scenes", str(self.scenes.path))])
        chosen = set(shuffled(stream(seed, "pool"), range(self.number_of_scenes))[:POOL])
        return [scene for scene in load_scenes(self.scenes, self.catalogue.domain) if scene.index in chosen]

    def allowed(self, place: int, answers: Sequence[str]) -> Sequence[str]:
        """Return the answers that are among the options; all if there are no options, or none is."""
        offered = self.items.options.at(place)
        texts = {text.lower() for text in offered.texts} if offered else set()
        return [answer for answer in answers if answer.lower() in texts] or answers


def run(program: Program, scene: Scene) -> list[str]:
    """Return the answer of a program in a scene; nothing if it has none."""
    try:
        return [release_answer(program.run(scene))]
    except Undefined:
        return []


def oracle(programs: Programs, seed: int, see: Callable[[Scene], Scene] = lambda scene: scene) -> Executed:
    """Run each program on its own scene, or on what is seen of it."""
    by_scene = np.argsort(programs.places, kind="stable")
    ends = np.searchsorted(programs.places[by_scene], np.arange(programs.number_of_scenes + 1)).tolist()
    texts: list[tuple[str, ...]] = [()] * len(by_scene)
    for scene in load_scenes(programs.scenes, programs.catalogue.domain):
        places = by_scene[ends[scene.index] : ends[scene.index + 1]].tolist()
        seen = see(scene) if places else scene
        for place in places:
            texts[place] = tuple(run(programs.of(place), seen))
    return _sure(programs, texts, len(texts), sum(not each for each in texts))


def noisy_oracle(programs: Programs, seed: int, rate: float) -> Executed:
    """Run each program on its own scene, of which values were misread at a rate: once for each scene."""
    domain = programs.catalogue.domain
    return oracle(programs, seed, lambda scene: misread(scene, domain, rate, stream(seed, "noisy-oracle", scene.index)))


def wrong_image(programs: Programs, seed: int, runs: int = OTHER_SCENES) -> Executed:
    """Run each program on other scenes of the file, and answer as the first that has an answer."""
    pool, texts, expected = programs.pool(seed), [], []
    done = found = 0
    for place, own in enumerate(programs.places.tolist()):
        drawn = _sample(pool, runs + 1, stream(seed, "wrong-image", place))
        others = [scene for scene in drawn if scene.index != own][:runs]
        answers = [text for scene in others for text in run(programs.of(place), scene)]
        done, found = done + len(others), found + len(answers)
        answers = list(programs.allowed(place, answers))
        texts.append(tuple(dict.fromkeys(answers)))
        credits = [best_credit(programs.items.gold.at(place), [text]) for text in answers]
        expected.append(sum(credits) / max(1, len(credits)))
    return Executed(texts, np.array(expected), done, done - found)


def scene_blind(programs: Programs, seed: int, runs: int = IMAGINED_SCENES) -> Executed:
    """Run each program on imagined scenes, and answer as most of them do."""
    pool, rng = programs.pool(seed), stream(seed, "scene-blind")
    imagined = [marginal_scene(pool, programs.catalogue.domain, rng) for _ in range(runs)]
    found = {
        code: Counter(text for scene in imagined for text in run(program, scene))
        for code, program in programs.programs.items()
    }
    ranked = {code: [text for text, _ in ordered(each)] for code, each in found.items()}
    texts = [tuple(programs.allowed(place, ranked[code])) for place, code in enumerate(programs.codes.tolist())]
    invalid = sum(runs - found[code].total() for code in programs.codes.tolist())
    return _sure(programs, texts, runs * len(texts), invalid)


def _sure(programs: Programs, texts: list[tuple[str, ...]], runs: int, invalid: int) -> Executed:
    credits = [best_credit(programs.items.gold.at(place), each[:1]) for place, each in enumerate(texts)]
    return Executed(texts, np.array(credits), runs, invalid)


def _sample(scenes: Sequence[Scene], number: int, rng: Random) -> list[Scene]:
    """Return different scenes, all of them if there are no more."""
    if number >= len(scenes):
        return shuffled(rng, scenes)
    chosen: dict[int, None] = {}
    while len(chosen) < number:
        chosen[below(rng, len(scenes))] = None
    return [scenes[place] for place in chosen]


# Scenes that nobody saw -----------------------------------------------------------------------------------------------


def marginal_scene(scenes: Sequence[Scene], domain: Domain, rng: Random) -> Scene:
    """Return a scene whose number of objects and relations are those of one scene, and whose values are each that of
    any object of any scene: all attributes are independent of each other, and of the relations.
    """
    shape, donors = pick(rng, scenes), [scene for scene in scenes if scene.size]

    def value(attribute: Attribute) -> Recorded:
        donor = pick(rng, donors)
        return donor.values[attribute.name][below(rng, donor.size)]

    return with_values(
        shape, domain, {each.name: [value(each) for _ in range(shape.size)] for each in domain.attributes}
    )


def misread(scene: Scene, domain: Domain, rate: float, rng: Random) -> Scene:
    """Return a scene in which each value was replaced, with a probability of `rate`, by any other of its attribute.

    The numbers drawn do not depend on the rate: what is misread at a low rate is misread at a higher rate too.
    """

    def seen(attribute: Attribute, value: Recorded) -> Recorded:
        is_misread, choice = rng.random() < rate, rng.random()
        others = [leaf for leaf in attribute.leaves if leaf != value and (leaf,) != value]
        if not is_misread or not others:
            return value
        other = others[int(choice * len(others))]
        return (other,) if attribute.multi else other

    values = {each.name: [seen(each, value) for value in scene.values[each.name]] for each in domain.attributes}
    return with_values(scene, domain, values)


def with_values(scene: Scene, domain: Domain, values: dict[str, list[Recorded]]) -> Scene:
    """Return a scene with the same relations and other values."""
    having = {each.name: dict.fromkeys(each.values, 0) for each in domain.attributes}
    for attribute in domain.attributes:
        for number, recorded in enumerate(values[attribute.name]):
            for value in attribute.sayable(recorded):
                having[attribute.name][value] |= 1 << number
    return replace(scene, values=values, having=having)


def executed(name: str, run: Callable[[Programs, int], Executed]) -> Callable[[Task, Places, Places], Guesses]:
    """Return the predictor that answers by running the programs of a task, once for all of its items."""

    def answer(task: Task, learn: Places, ask: Places) -> Guesses:
        programs = task.programs
        assert programs is not None
        found = task.once(name, lambda: run(programs, task.seed))
        own, ranked = ask - (len(task.items) - len(programs.items)), np.full((len(ask), task.top_k), NONE)
        for row, place in enumerate(own.tolist()):
            texts = found.texts[place][: task.top_k]
            ranked[row, : len(texts)] = [task.numbers.setdefault(text, len(task.numbers)) for text in texts]
        note = f"runs without an answer: {found.invalid:,} of {found.runs:,}" if found.invalid else ""
        return Guesses(ranked, found.expected[own], note)

    return answer


RUNS: Sequence[tuple[str, str, Callable[[Programs, int], Executed]]] = (
    ("wrong-image", "other scenes", wrong_image),
    ("scene-blind", "imagined scenes", scene_blind),
    *((f"noisy-oracle-{rate}", "misread scenes", partial(noisy_oracle, rate=rate)) for rate in (0.05, 0.1, 0.2)),
    ("oracle", "its scene", oracle),
)
"""Name, what programs are run on, and what runs them, from the weakest to the strongest."""


class SceneFacts(NamedTuple):
    """What an audit knows of a scene."""

    content: bytes
    """Its objects, in one order however they are listed."""
    size: int
    values: frozenset[str]
    """The values of its objects."""


def read_scene_facts(source: SceneSource) -> list[SceneFacts]:
    """Return the facts of each scene of a source, in order."""
    return [_facts(record) for record in source.records()]


def _facts(record: Mapping[str, Any]) -> SceneFacts:
    found = record.get("objects")
    objects = [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
    written = sorted(orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in objects)
    values = frozenset(value for each in objects for value in each.values() if isinstance(value, str))
    return SceneFacts(b"\n".join(written), len(objects), values)


@dataclass(frozen=True)
class Repetition:
    """How often an audit found the same again."""

    scenes: int = 0
    """Scenes that are asked about, if scenes were given; else 0."""
    repeated_scenes: int = 0
    """Scenes of those that repeat an earlier one."""
    questions: int = 0
    """Questions that were compared with a training file; 0 without one."""
    same_text: int = 0
    same_program: int = 0
    same_program_and_scene: int = 0
    same_scene: int = 0
    """Questions about a scene of the training file."""

    @property
    def repeated_share(self) -> float:
        """The share of scenes that repeat another."""
        return self.repeated_scenes / self.scenes if self.scenes else 0.0

    @property
    def overlap(self) -> float:
        """The share of questions whose program and scene are in the training file."""
        return self.same_program_and_scene / self.questions if self.questions else 0.0


def repetition(
    items: Items,
    scenes: Sequence[SceneFacts] | None,
    train: Items | None = None,
    train_scenes: Sequence[SceneFacts] | None = None,
) -> Repetition:
    """Return the repetition in a file. Scenes are compared by their objects if both sides have them, else by image."""
    asked = set() if scenes is None else set(_places(items).tolist()) - {NONE}
    contents = {scenes[place].content for place in asked} if scenes else set()
    repeated = len(asked) - len(contents)
    if train is None:
        return Repetition(len(asked), repeated)
    are_known = scenes is not None and train_scenes is not None
    ours = _keys(items, scenes if are_known else None)
    theirs = _keys(train, train_scenes if are_known else None)
    same = {
        name: len(items) - sum(key not in known for key in ours[name])
        for name, known in ((n, set(theirs[n])) for n in ours)
    }
    return Repetition(len(asked), repeated, len(items), **same)


def _keys(items: Items, scenes: Sequence[SceneFacts] | None) -> dict[str, list[Any]]:
    """Return what is compared of each item: its text, its program (else what was said until then), and its scene."""
    learning = items.learning
    texts, histories, programs = learning.texts, learning.histories, learning.programs
    places = range(len(items))
    asked = [programs.at(place) or (histories.at(place), texts.at(place)) for place in places]
    about = [items.images.at(place) for place in places]
    if scenes is not None:
        found = _places(items).tolist()
        about = [image if at == NONE else scenes[at].content for image, at in zip(about, found, strict=True)]
    return {
        "same_text": [texts.at(place) for place in places],
        "same_program": asked,
        "same_scene": about,
        "same_program_and_scene": list(zip(asked, about, strict=True)),
    }


def _places(items: Items) -> Codes:
    """Return the index of each item's scene; NONE where it is unknown."""
    places = items.learning.places
    return np.array([*places.values, NONE], dtype=np.int32)[places.codes]


def visible_options(items: Items, scenes: Sequence[SceneFacts]) -> Floats:
    """Return how likely one of the options is right that the scene shows; NaN for an item of which it shows none.

    It shows the values of its objects, and numbers up to that of its objects.
    """
    scores = np.full(len(items), np.nan)
    for place, at in enumerate(_places(items).tolist()):
        options = items.options.at(place)
        if at == NONE or options is None or options.right is None:
            continue
        seen = [_is_visible(option, scenes[at]) for option in options.texts]
        if any(seen):
            scores[place] = seen[options.right] / sum(seen)
    return scores


def _is_visible(option: str, scene: SceneFacts) -> bool:
    return int(option) <= scene.size if option.isdecimal() else option in scene.values
