"""An endless environment: for any index a scene with its picture, and a question about it whose answer is proven.

A sample depends on the domain, the levels, the seed and its index alone, not on what was asked for before. Answers are
balanced without counting: a question is drawn, then others of its family that say the same attributes in their last
phrase, each with an answer that none before it had; one of these answers is drawn evenly. So neither the index nor the
shape of a text tells the answer. Scenes of one sample have equally many objects.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from io import BytesIO
from itertools import accumulate, count
from random import Random
from typing import Any

from numpy import asarray, uint8
from numpy.typing import NDArray

from vqagen.dataset.rows import OUTPUT_TYPES, Row, picture_columns, question_row
from vqagen.environments.director import RULES, trial_at
from vqagen.errors import UsageError
from vqagen.items.answers import ANSWER_TYPES, CELL, PLACES
from vqagen.language.domain_files import QUESTIONS, PathLike, find_domain
from vqagen.language.question import answer_places
from vqagen.language.template import PLACE, Template
from vqagen.pictures.looks import SceneLooks
from vqagen.pictures.masks import Mask, masks_of
from vqagen.pictures.meshes import AROUND
from vqagen.pictures.png import png_file
from vqagen.pictures.sketch import sketch
from vqagen.pictures.sprites import pillow
from vqagen.plugin import RELATION, SAMENESS
from vqagen.rng import below, pick, stream
from vqagen.search.balance import OtherAnswers
from vqagen.search.instantiate import Filling
from vqagen.search.state import SceneTables
from vqagen.tasks.prompts import DIRECTOR, request
from vqagen.tasks.questions.family import Family
from vqagen.tasks.questions.generator import QuestionGenerator, load_families
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene, compile_scene

ALL, CURRICULUM = "all", "curriculum"
CURRICULUM_SAMPLES = 2000
"""Samples of a level in the curriculum before the next one begins."""
SCENES = 5
"""Scenes among which the one of a sample is chosen."""
ANSWERS = {"Bool": (2, 2), "Integer": (3, 4), PLACE: (2, 3)}
"""Type of the answer -> how many different answers there must be to draw one, and after how many no more are sought.
Values are as common as each other by themselves: two will do."""
PATIENCE, ATTEMPTS = 24, 96
"""Draws of a first question before other scenes and question types are tried, and before a sample fails."""
BUDGET = 300
"""Options tried in one search; see `search.instantiate.BUDGET`."""
SMALL = 300
"""Pixels across of pictures whose objects do with coarser meshes: an outline is a fifth of a pixel off at most."""
SPLIT = "environment"

SceneFilling = tuple[Scene, Filling]
"""A question that may be asked, and its scene."""
Picture = NDArray[uint8]
"""Shape (height, width, 3), red, green and blue."""


# Levels of difficulty -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Level:
    """How difficult questions are. Ranges are pairs: the least and the most, both allowed."""

    objects: tuple[int, int]
    """Objects in a scene."""
    steps: tuple[int, int] = (1, 100)
    """Nodes of the program, `scene` among them."""
    relations: tuple[int, int] = (0, 10)
    """Steps from an object to others: by a relation, or by an attribute that they have in common."""
    visible: float = 0.0
    """Share of the pixels of each object that other objects leave visible, at least."""
    samples: int = 0
    """How many indices have this level before the next one begins; 0 for one that stays."""
    templates: str = ""
    """The templates of its questions: a file, a folder, or the name of shipped ones; "" for the domain's own."""
    trials: float = 0.0
    """Share of samples that are trials of the director task in place of questions."""

    def __post_init__(self) -> None:
        for name in ("objects", "steps", "relations"):
            match getattr(self, name):
                case [int(low), int(high)] if 0 <= low <= high:
                    continue
                case given:
                    raise UsageError(f"level: {name} must be two numbers from 0 on, the smaller first; found {given!r}")
        for name in ("visible", "trials"):
            share = getattr(self, name)
            if not (isinstance(share, int | float) and 0 <= share <= 1):
                raise UsageError(f"level: {name} must be a share from 0 to 1, found {share!r}")
        if self.samples < 0:
            raise UsageError(f"level: samples must be 0 or more, found {self.samples}")


LEVELS = (
    Level(objects=(3, 4), steps=(1, 6), relations=(0, 0), visible=0.9),
    Level(objects=(3, 6), steps=(1, 12), relations=(0, 1), visible=0.7),
    Level(objects=(4, 7), steps=(4, 16), relations=(1, 2), visible=0.5),
    Level(objects=(5, 8), steps=(6, 22), relations=(1, 3), visible=0.3),
    Level(objects=(6, 10), steps=(8, 100), relations=(2, 10)),
)
"""From easy to hard; by number, from 1."""
NAMED = {
    "viewpoint": Level(objects=(4, 7), visible=0.5, templates="clevr-viewpoint", trials=0.25),
    "places": Level(objects=(4, 7), visible=0.5, templates="clevr-places"),
}
"""Levels of other questions, by their names."""

Levels = str | int | Level | Sequence[str | int | Level]
"""`all`, `curriculum`, `viewpoint`, `places`, a number in `LEVELS`, a level, or several of the last four."""


class Schedule:
    """Which level each index has.

    Levels with `samples` come first, in their order; behind them the others are mixed. The last one stays if there are
    no others.
    """

    def __init__(self, levels: Levels) -> None:
        """Raise UsageError for an unknown name or number."""
        self.levels = _listed(levels)
        timed = [number for number, level in enumerate(self.levels) if level.samples]
        self._timed, self._ends = timed, list(accumulate(self.levels[number].samples for number in timed))
        self._mixed = [number for number, level in enumerate(self.levels) if not level.samples] or timed[-1:]

    def at(self, index: int, rng: Random) -> int:
        """Return the place among `levels` of an index's level, drawn if several are mixed."""
        for number, end in zip(self._timed, self._ends, strict=True):
            if index < end:
                return number
        return pick(rng, self._mixed)


def _listed(levels: Levels) -> tuple[Level, ...]:
    if levels == ALL:
        return LEVELS
    if levels == CURRICULUM:
        return (*(replace(level, samples=CURRICULUM_SAMPLES) for level in LEVELS[:-1]), LEVELS[-1])
    found = []
    for level in [levels] if isinstance(levels, str) or not isinstance(levels, Sequence) else levels:
        if isinstance(level, int) and 1 <= level <= len(LEVELS):
            found.append(LEVELS[level - 1])
        elif isinstance(level, Level):
            found.append(level)
        elif isinstance(level, str) and level in NAMED:
            found.append(NAMED[level])
        else:
            names = ", ".join(map(repr, (ALL, CURRICULUM, *NAMED)))
            known = f"{names}, a number from 1 to {len(LEVELS)}, or a Level"
            raise UsageError(f"levels must be {known}, or a list of these but the first two; found {level!r}")
    if not found:
        raise UsageError("levels must not be empty")
    return tuple(found)


# Samples --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Sample:
    """A scene, a question about it, and its answer."""

    index: int
    question: str
    answer: str
    answer_type: str
    """`count`, `yes/no`, `value`, `list` or, of an answer that is numbers of objects, `places`."""
    program: list[dict[str, Any]] = field(repr=False)
    """The nodes that prove the answer."""
    trace: list[Any] = field(repr=False)
    """What each node gives: a list of the numbers of objects, the number of one object, or a value."""
    mentions: list[dict[str, Any]] = field(repr=False)
    """Where the question mentions objects: a `span` of characters, and the `objects`."""
    scene: dict[str, Any] = field(repr=False)
    """In the format of scene files."""
    family: str
    """The id of the template."""
    level: int
    """The place of the level among those of the environment, from 1."""
    looks: SceneLooks = field(repr=False)
    shelf: Picture | None = field(default=None, repr=False)
    """The picture of a trial, which has no objects that are drawn."""

    @cached_property
    def picture(self) -> Picture:
        """The drawn picture, of shape (height, width, 3); drawn when it is first asked for."""
        return sketch(self.scene, self.looks) if self.shelf is None else self.shelf

    @cached_property
    def masks(self) -> list[Mask]:
        """The pixels that show each object."""
        return masks_of(self.scene, self.looks)

    @property
    def boxes(self) -> list[tuple[int, int, int, int] | None]:
        """For each object the left, top, right and bottom of what is visible in the picture; None if nothing is."""
        return [mask.box for mask in self.masks]

    def __getstate__(self) -> dict[str, Any]:
        """Take along what the looks are needed for."""
        return {**self.__dict__, "looks": None, "picture": self.picture, "masks": self.masks}

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        return png_file(self.picture)

    def to_row(self) -> Row:
        """Return the sample as a row of a dataset; see `dataset.rows`. The number of the question is the index."""
        masks = [mask.to_record() for mask in self.masks]
        objects = [{**thing, "box": mask["box"]} for thing, mask in zip(self.scene["objects"], masks, strict=True)]
        scene = {**self.scene, "objects": objects}
        columns = picture_columns(scene, self.index, self.png(), [mask["mask"] for mask in masks])
        asked = {key: getattr(self, key) for key in ("question", "answer", "program", "trace", "mentions")}
        if self.answer_type == ANSWER_TYPES[PLACES]:
            asked |= answer_places(scene, self.trace[-1])
        return question_row(asked, columns, self.index, self.answer_type, self.family)


class Environment:
    """Samples by their index: `environment[i]` for any i from 0 on. It can be pickled."""

    def __init__(self, domain: PathLike, levels: Levels, seed: int, width: int) -> None:
        """Load the domain. Raises VqagenError, also for a level that no question of the domain has."""
        if type(width) is not int or width < 1:
            raise UsageError(f"width must be a whole number from 1 on, found {width!r}")
        self._arguments = (domain, levels, seed, width)
        self.seed, self.schedule = seed, Schedule(levels)
        settings = QuestionSettings(seed=seed)
        generators: dict[str, QuestionGenerator] = {}
        for templates in dict.fromkeys(level.templates for level in self.schedule.levels):
            loaded = load_families(find_domain(domain, templates=templates or None, task=QUESTIONS), settings)
            generators[templates] = QuestionGenerator(loaded.templates, loaded.synonyms, settings, marks=True)
        around = AROUND if width > SMALL else AROUND // 2
        self._domain, self._looks = loaded.domain, SceneLooks.from_domain(loaded.domain, around)
        self._rules = self._looks.rules.scaled(width)
        self._generators = generators
        self._families = [self._families_of(level) for level in self.schedule.levels]
        self._rules_of = cache(self._make_rules)

    def __reduce__(self) -> tuple[Any, ...]:
        return Environment, self._arguments

    def __iter__(self) -> Iterator[Sample]:
        """Yield all samples from index 0 on, without end."""
        return map(self.__getitem__, count())

    def __getitem__(self, index: int) -> Sample:
        """Return the sample of an index. IndexError if it is negative; VqagenError if its level cannot be met."""
        index = operator.index(index)
        if index < 0:
            raise IndexError(f"samples are numbered from 0 on, found {index}")
        rng = stream(self.seed, SPLIT, index)
        number = self.schedule.at(index, rng)
        level = self.schedule.levels[number]
        if level.trials and rng.random() < level.trials:
            return self._trial(index, number)
        low, high = level.objects
        rules = self._rules_of(number, low + below(rng, high - low + 1))
        scenes = cache(lambda turn, place: SceneTables(self._scene(rules, index, turn * SCENES + place)))
        by_type = self._families[number]
        kind = pick(rng, list(by_type))
        for attempt in range(ATTEMPTS):
            if attempt >= PATIENCE:
                kind = pick(rng, list(by_type))
            family = self._generators[level.templates].families[pick(rng, by_type[kind])]
            found = self._choose(family, level, partial(scenes, attempt // PATIENCE), rng)
            if found is not None:
                return self._sample(index, number, family, found, rng)
        raise UsageError(f"no question for sample {index}: {level} leaves too few; widen its ranges")

    def _families_of(self, level: Level) -> dict[str, list[int]]:
        """Return type of the answer -> numbers of the families that may fit a level."""
        found: dict[str, list[int]] = {}
        templates = self._generators[level.templates].templates
        for number, template in enumerate(templates):
            relations, steps = relations_of(template), len(template.nodes)
            if level.relations[0] <= relations <= level.relations[1] and steps <= level.steps[1]:
                found.setdefault(self._type_of(template), []).append(number)
        if not found:
            known = sorted(set(map(relations_of, templates)))
            raise UsageError(
                f"no question fits {level}; those of the domain have {', '.join(map(str, known))} relations"
            )
        return found

    def _make_rules(self, number: int, objects: int) -> SamplingRules:
        visible = max(self.schedule.levels[number].visible, self._rules.min_visible_share)
        return replace(self._rules, objects=(objects, objects), min_visible_share=visible)

    def _scene(self, rules: SamplingRules, index: int, place: int) -> Scene:
        record = sample_scene(rules, self.seed, index * ATTEMPTS + place, SPLIT, is_quick=True)
        record |= {"image_index": index, "image_filename": f"VQAGEN_{SPLIT}_{index:06d}.png"}
        return compile_scene(record, self._domain, index)

    def _choose(
        self, family: Family, level: Level, scenes: Callable[[int], SceneTables], rng: Random
    ) -> SceneFilling | None:
        """Return one of several questions of a family that say as much and have different answers; None if none is."""
        least, most = ANSWERS.get(family.template.balanced_type, (2, 2))
        balance, (low, high) = OtherAnswers(family.plan), level.steps
        for place in range(SCENES):
            tables = scenes(place)
            while len(balance.found) < most:
                filling = family.search.find(tables, rng, balance, set(), BUDGET).filling
                program = filling.program() if filling else None
                if not (filling and program and low <= len(program.nodes) <= high and self._looks.shows(program)):
                    break
                answer = balance.key(tables.scene, filling.answer)
                balance.take(answer, filling.said(), (tables.scene, filling))
            if len(balance.found) >= least:
                chosen: SceneFilling = pick(rng, list(balance.found.values()))
                return chosen
            if not balance.found:
                break
        return None

    def _sample(self, index: int, number: int, family: Family, found: SceneFilling, rng: Random) -> Sample:
        scene, filling = found
        question = family.question(scene, filling, rng.random)
        record = question.to_record(trace=True)
        return Sample(
            index,
            question.question,
            question.answer,
            self._type_of(family.template),
            record["program"],
            record["trace"],
            record["mentions"],
            dict(scene.record),
            family.template.id,
            number + 1,
            self._looks,
        )

    def _trial(self, index: int, number: int) -> Sample:
        record, shelf = trial_at(self.seed, index)
        scene = {key: record[key] for key in ("width", "height", "cells", "blocked")}
        scene |= {"image_index": index, "image_filename": f"VQAGEN_director_{index:06d}.png", "objects": []}
        asked = f"{RULES}\n\n{request(DIRECTOR, record['instruction'])}"
        family, level = f"director/{record['trial_type']}/{record['rule_class']}", number + 1
        picture = asarray(pillow("Image").open(BytesIO(shelf)).convert("RGB"))
        return Sample(
            index, asked, record["answer"], ANSWER_TYPES[CELL], [], [], [], scene, family, level, self._looks, picture
        )

    def _type_of(self, template: Template) -> str:
        attribute = self._domain.attribute_of(template.answer_type)
        return OUTPUT_TYPES.get(template.answer_type) or ("list" if attribute and attribute.multi else "value")


def environment(domain: PathLike = "clevr", levels: Levels = ALL, seed: int = 0, *, width: int = 240) -> Environment:
    """Return an endless environment of questions about sampled scenes of a domain.

    `levels`: `all`, `curriculum`, `viewpoint`, `places`, a number in `LEVELS`, a `Level`, or a list of these.
    `width` is that of the pictures, in pixels; the height follows from the domain's camera. Raises VqagenError.

    >>> sample = environment(levels=1)[7]
    >>> sample.question, sample.answer, sample.picture.shape  # doctest: +SKIP
    ('How many rubber things are there?', '2', (160, 240, 3))
    """
    return Environment(domain, levels, seed, width)


def relations_of(template: Template) -> int:
    """Return how many steps of a template go from an object to others."""
    return sum(
        node.composite.relates if node.composite else template.catalogue[node.type].role in (RELATION, SAMENESS)
        for node in template.nodes
    )
