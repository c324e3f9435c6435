"""An endless environment: for any index a scene with its picture, and a question about it whose answer is proven.

A sample depends on the domain, the levels, the seed and its index alone, not on what was asked for before. Answers are
balanced without counting: a question is drawn, then others of its family that say the same attributes in their last
phrase, each with an answer that none before it had; one of these answers is drawn evenly. So neither the index nor the
shape of a text tells the answer. Scenes of one sample have equally many objects.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property, partial
from itertools import accumulate, count
from random import Random
from typing import Any

from numpy import uint8
from numpy.typing import NDArray

from vqagen.dataset.rows import OUTPUT_TYPES, Row, picture_columns, question_row
from vqagen.errors import UsageError
from vqagen.language.catalogue import Value
from vqagen.language.domain_files import QUESTIONS, PathLike, find_domain
from vqagen.language.template import Template
from vqagen.pictures.looks import SceneLooks
from vqagen.pictures.masks import Mask, find_masks
from vqagen.pictures.png import png_file
from vqagen.pictures.sketch import sketch
from vqagen.plugin import RELATION, SAMENESS
from vqagen.rng import below, pick, stream
from vqagen.search.balance import measured
from vqagen.search.instantiate import Filling
from vqagen.search.state import Balance, SceneTables
from vqagen.tasks.questions.family import Family
from vqagen.tasks.questions.generator import QuestionGenerator, load_families
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene, compile_scene

ALL, CURRICULUM, VIEWPOINT = "all", "curriculum", "viewpoint"
CURRICULUM_SAMPLES = 2000
"""Samples of a level in the curriculum before the next one begins."""
SCENES = 5
"""Scenes among which the one of a sample is chosen."""
TRIES = 15
"""Searches for questions with other answers."""
ANSWERS = {"Bool": (2, 2), "Integer": (3, 4)}
"""Type of the answer -> how many different answers there must be to draw one, and after how many no more are sought.
Values are as common as each other by themselves: two will do."""
PATIENCE, ATTEMPTS = 24, 96
"""Draws of a first question before other scenes and question types are tried, and before a sample fails."""
BUDGET = 3000
"""Options tried in one search; see `search.instantiate.BUDGET`."""
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

    def __post_init__(self) -> None:
        for name in ("objects", "steps", "relations"):
            low, high = getattr(self, name)
            if not 0 <= low <= high:
                raise UsageError(f"level: {name} must be two numbers from 0 on, the smaller first; found {low}, {high}")
        if not 0 <= self.visible <= 1:
            raise UsageError(f"level: visible must be a share from 0 to 1, found {self.visible}")
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
FROM_A_VIEWPOINT = Level(objects=(4, 7), visible=0.5, templates="clevr-viewpoint")

Levels = str | int | Level | Sequence[int | Level]
"""`all`, `curriculum`, `viewpoint`, a number in `LEVELS`, a level, or several of these."""


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
    if levels == VIEWPOINT:
        return (FROM_A_VIEWPOINT,)
    if levels == CURRICULUM:
        return (*(replace(level, samples=CURRICULUM_SAMPLES) for level in LEVELS[:-1]), LEVELS[-1])
    given = [levels] if isinstance(levels, int | Level) else levels
    found = []
    for level in given if not isinstance(given, str) else [given]:
        if isinstance(level, int) and 1 <= level <= len(LEVELS):
            found.append(LEVELS[level - 1])
        elif isinstance(level, Level):
            found.append(level)
        else:
            known = f"{ALL!r}, {CURRICULUM!r}, {VIEWPOINT!r}, a number from 1 to {len(LEVELS)}, or a Level"
            raise UsageError(f"levels must be {known}, or a list of numbers and Levels; found {level!r}")
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
    """`count`, `yes/no`, `value` or `list`."""
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
    width: int = field(repr=False)
    """The width of the picture in pixels."""

    @cached_property
    def picture(self) -> Picture:
        """The drawn picture, of shape (height, width, 3); drawn when it is first asked for."""
        return sketch(self.scene, self.looks, self.width)

    @cached_property
    def masks(self) -> list[Mask]:
        """The pixels that show each object."""
        return find_masks(self.looks.camera(self.scene).scaled(self.width), self.looks.things(self.scene))

    @cached_property
    def points(self) -> list[tuple[int, int, float]]:
        """The pixel of the middle of each object, and how far it is."""
        camera = self.looks.camera(self.scene).scaled(self.width)
        pixels = [camera.project(thing["3d_coords"]) for thing in self.scene["objects"]]
        return [(round(pixel.x), round(pixel.y), round(pixel.depth, 6)) for pixel in pixels]

    @property
    def boxes(self) -> list[tuple[int, int, int, int] | None]:
        """For each object the left, top, right and bottom of what is visible in the picture; None if nothing is."""
        return [mask.box for mask in self.masks]

    def __getstate__(self) -> dict[str, Any]:
        """Take along what the looks are needed for."""
        return {**self.__dict__, "looks": None, "picture": self.picture, "masks": self.masks, "points": self.points}

    def png(self) -> bytes:
        """Return the picture as a PNG file."""
        return png_file(self.picture)

    def to_row(self) -> Row:
        """Return the sample as a row of a dataset; see `dataset.rows`. The number of the question is the index."""
        masks = [mask.to_record() for mask in self.masks]
        places = zip(self.scene["objects"], self.points, masks, strict=True)
        objects = [{**thing, "pixel_coords": [*point], "box": mask["box"]} for thing, point, mask in places]
        scene = {**self.scene, "objects": objects}
        columns = picture_columns(scene, self.index, self.png(), [mask["mask"] for mask in masks])
        asked = {key: getattr(self, key) for key in ("question", "answer", "program", "trace", "mentions")}
        return question_row(asked, columns, self.index, self.answer_type, self.family)


class Environment:
    """Samples by their index: `environment[i]` for any i from 0 on. It can be pickled."""

    def __init__(self, domain: PathLike, levels: Levels, seed: int, width: int) -> None:
        """Load the domain. Raises VqagenError, also for a level that no question of the domain has."""
        self._arguments = (domain, levels, seed, width)
        self.seed, self.schedule = seed, Schedule(levels)
        settings = QuestionSettings(seed=seed)
        generators: dict[str, QuestionGenerator] = {}
        for templates in dict.fromkeys(level.templates for level in self.schedule.levels):
            loaded = load_families(find_domain(domain, templates=templates or None, task=QUESTIONS), settings)
            generators[templates] = QuestionGenerator(loaded.templates, loaded.synonyms, settings, marks=True)
        self._domain, self._looks, self._width = loaded.domain, SceneLooks.from_domain(loaded.domain), width
        self._rules = self._looks.rules
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
        record = sample_scene(rules, self.seed, index * ATTEMPTS + place, SPLIT)
        record |= {"image_index": index, "image_filename": f"VQAGEN_{SPLIT}_{index:06d}.png"}
        return compile_scene(record, self._domain, index)

    def _choose(
        self, family: Family, level: Level, scenes: Callable[[int], SceneTables], rng: Random
    ) -> SceneFilling | None:
        """Return one of several questions of a family that say as much and have different answers; None if none is."""
        least, most = ANSWERS.get(family.template.answer_type, (2, 2))
        said: object = None
        found: dict[Value, SceneFilling] = {}
        for place in range(TRIES):
            if len(found) < place // SCENES:
                return None  # the phrase says too much for other answers
            candidate = _find(family, level, scenes(place % SCENES), rng, found)
            if candidate is None or not self._looks.shows(candidate[1].program()):
                continue
            attributes = _attributes_said(family, candidate[1])
            if found and attributes != said:
                continue
            said, found[candidate[1].answer] = attributes, candidate
            if len(found) == most:
                break
        return pick(rng, list(found.values())) if len(found) >= least else None

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
            self._width,
        )

    def _type_of(self, template: Template) -> str:
        attribute = self._domain.attribute_of(template.answer_type)
        return OUTPUT_TYPES.get(template.answer_type) or ("list" if attribute and attribute.multi else "value")


def environment(domain: PathLike = "clevr", levels: Levels = ALL, seed: int = 0, *, width: int = 240) -> Environment:
    """Return an endless environment of questions about sampled scenes of a domain.

    `levels`: `all`, `curriculum`, `viewpoint`, a number in `LEVELS`, a `Level`, or a list of these.
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


def _find(
    family: Family, level: Level, tables: SceneTables, rng: Random, refused: Container[Value]
) -> SceneFilling | None:
    """Find a question about a scene whose answer is not refused."""
    filling = family.search.find(tables, rng, Balance(refused), set(), BUDGET).filling
    if filling is None or not level.steps[0] <= len(filling.program().nodes) <= level.steps[1]:
        return None
    return tables.scene, filling


def _attributes_said(family: Family, filling: Filling) -> object:
    """Return which attributes the last phrase says; of two that are compared, how many more the first."""
    answer_type, said = family.template.answer_type, filling.said()
    if answer_type not in ("Bool", "Integer") or not said:
        return None
    return said[0] if len(said) == 1 else measured(said, answer_type)[0]
