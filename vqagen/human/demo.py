"""A demonstration of rater studies: one of every kind of trial, from nothing to scores, with simulated raters.

The answer that each rater gives in each trial follows from the seed and the ids alone. A rater's opinion is that of all
raters about the system, plus what is special about the rater and about the text of this image, plus noise.

"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from math import exp, floor
from pathlib import Path
from statistics import NormalDist

import orjson
from msgspec.structs import replace

from vqagen.errors import UsageError, counted
from vqagen.files.records import open_records
from vqagen.human.export import PEOPLE, PREDICTIONS, export_study
from vqagen.human.items import FAMILY, make_items, write_items
from vqagen.human.scores.report import score_study
from vqagen.human.settings import ItemSettings, PlanSettings
from vqagen.human.store.facts import Claimed, Fact, Submitted
from vqagen.human.store.opening import open_log
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.checks import DISTRACTOR
from vqagen.human.study.item import (
    AFTER,
    ANSWER,
    BEFORE,
    CHECK,
    COMPARE,
    LENGTH_DIFFERENCE,
    PRACTICE,
    RATE,
    REFERENCE,
    SYSTEM,
    Candidate,
    CellForm,
    ChoiceForm,
    GoldValue,
    NumberForm,
    StudyItem,
    TextForm,
    length_difference,
)
from vqagen.human.study.making import make_item_tasks
from vqagen.human.study.study import ShownTrial, Study, load_study
from vqagen.human.study.texts import TEXTS_FILE
from vqagen.language.domain_files import PathLike
from vqagen.report.table import Report
from vqagen.report.writers import write_report
from vqagen.rng import pick, stream
from vqagen.run.making import write_dialogs, write_pictures, write_questions, write_scenes, write_trials
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.tasks.record_files import DIALOGS
from vqagen.tasks.rendering.settings import DRAWN, PictureSettings
from vqagen.tasks.sampling.settings import SamplingSettings

RATERS, SCENES, ROUNDS, TRIALS = 6, 13, 3, 2
CAREFUL, CARELESS = "careful", "careless"
"""A system whose captions are true, and one that describes the next picture."""
_WRONG = "There is nothing in the picture."
"""The wrong text of the check."""
OPINIONS = {CAREFUL: 0.0, CARELESS: -0.72}
"""Opinions of the simulated raters about the systems. As a scale cuts opinions off, -0.72 gives a mean of -0.6."""
RATER_SD, IMAGE_SD, NOISE = 0.2, 0.25, 0.5
"""Deviations of raters in how much they like systems, of a system over images, and of single answers."""
_CHECK_SCORE, _CHECK_NOISE = 0.9, 0.3
"""How clear an attention check is to a rater: one of a thousand fails."""
_RIGHT = 0.9
"""The probability of the right answer to a question."""
_TYPICAL_MS = 6000
_WANTED = {
    "compare careful": 3,
    "compare careless": 3,
    "compare distractor": 1,
    **dict.fromkeys(("rate careful", "rate careless", "exist", "count", "query", "dialog"), 1),
}
"""How many items of each sort the study has."""
_TEXTS: Mapping[str, object] = {
    "title": "Every kind of trial",
    "instructions": ["Please look at each picture, and answer what is asked about it."],
    "values": {
        "institution": "the demonstration of vqagen",
        "contact": "nobody@demo.example",
        "ethics_reference": "none: no person takes part",
        "pay": "nothing",
        "duration": "three minutes",
    },
}
_QUESTIONS = (
    StudyItem(kind=ANSWER, use=BEFORE, dimension="rater", prompt="How old are you?", form=NumberForm(18, 99)),
    StudyItem(kind=ANSWER, use=AFTER, dimension="rater", prompt="What was hard, or not clear?", form=TextForm()),
)
"""Questions to the rater, before the first trial and after the last one."""
Say = Callable[[str], object]


def demonstrate(out: PathLike, *, seed: int = 0, say: Say = lambda _: None) -> Report:
    """Make, plan, answer, export and score a small study in a new folder; return its report.

    Simulated raters answer; their answers are stored as a server stores them. `say` is called with a line at each step.
    """
    top = Path(out)
    if top.exists() or not top.absolute().parent.is_dir():
        raise UsageError(f"{out} must be a new folder, in one that exists; name it with --out")
    top.mkdir()
    say(f"{SCENES} scenes and {TRIALS} director trials; drawing their pictures …")
    _write_files(top, seed)
    items = list(_items(top, seed))
    write_items(items, top / "items.jsonl")
    # All in one task: each trial is about a picture of its own.
    settings = PlanSettings(seed=seed, raters_per_item=RATERS + 1, trials_per_task=len(items))
    make_item_tasks(top / "study", top / "items.jsonl", top, settings)
    texts = top / "study" / TEXTS_FILE
    texts.write_bytes(orjson.dumps({**orjson.loads(texts.read_bytes()), **_TEXTS}, option=orjson.OPT_INDENT_2))
    study, raters = load_study(top / "study"), Raters(seed, OPINIONS)
    with closing(open_log(study.store, study.id, create=True)) as log:
        log.append(StudyState().take(simulated_facts(study, raters, RATERS, time.time_ns() // 1_000_000)))
    stored, *_ = export_study(study.folder, top / "export")
    say(f"{counted(stored, 'answer')} of {RATERS} simulated raters to {counted(len(items), 'item')}")
    report = score_study(study.folder).report()
    write_report(report, top / "scores.html")
    return report


def _write_files(top: Path, seed: int) -> None:
    """Write scenes, what is said and asked about them, director trials, and the pictures of all."""
    scenes = top / "scenes.json"
    write_scenes(scenes, SamplingSettings(seed=seed, count=SCENES, split="demo"))
    write_pictures(scenes, top / "pictures", settings=PictureSettings(kind=DRAWN))
    (top / "pictures" / "images").rename(top / "images")
    write_questions(scenes, top / "questions.json", settings=QuestionSettings(seed=seed))
    for number, name in enumerate((REFERENCE, CAREFUL, CARELESS)):
        settings = DialogSettings(seed=3 * seed + number, rounds=ROUNDS)
        write_dialogs(scenes, top / f"{name}.json", settings=settings)
    write_trials(top / "trials", DirectorSettings(seed=seed, count=TRIALS, render=("png",)))


# Items ----------------------------------------------------------------------------------------------------------------


def _items(top: Path, seed: int) -> Iterator[StudyItem]:
    """Yield the items of one task, with the places of their pictures."""
    scenes, settings = top / "scenes.json", ItemSettings(seed, per_image=9)
    asked = (make_items(scenes, top / f"{name}.json", settings) for name in ("questions", REFERENCE))
    for item in _chosen([*_caption_items(top), *chain(*asked)]):
        yield replace(item, image=f"images/{item.image}")
    for item in make_items(None, top / "trials", settings):
        yield replace(item, image=f"trials/{item.image}")
    yield from _QUESTIONS


def _caption_items(top: Path) -> Iterator[StudyItem]:
    """Yield items about captions: both systems compared with a reference and rated, and checks."""
    texts = {source: _captions(top, source) for source in (REFERENCE, CAREFUL, CARELESS)}
    images = list(texts[REFERENCE])
    for image, next_image in zip(images, [*images[1:], images[0]], strict=True):
        right = Candidate(texts[REFERENCE][image], REFERENCE, REFERENCE, "1")
        careful = Candidate(texts[CAREFUL][image], CAREFUL, SYSTEM, "2")
        careless = Candidate(texts[CARELESS][next_image], CARELESS, SYSTEM, "2")
        wrong = Candidate(_WRONG, DISTRACTOR, REFERENCE, "2")
        for system in (careful, careless):
            longer = length_difference(right.text, system.text)
            yield StudyItem(image=image, candidates=(right, system), strata={LENGTH_DIFFERENCE: longer})
        gold = GoldValue(better="1", reason="there are things in each picture")
        yield StudyItem(image=image, use=CHECK, dimension=CHECK, candidates=(right, wrong), gold=gold)
        for system in (careful, careless):
            yield StudyItem(image=image, kind=RATE, candidates=(system,))


def _captions(top: Path, source: str) -> dict[str, str]:
    """Return the caption of each picture by a source."""
    records = open_records(top / f"{source}.json", DIALOGS).records()
    return {record["image_filename"]: record["caption"]["text"] for record in records}


def _chosen(items: Iterable[StudyItem]) -> Iterator[StudyItem]:
    """Yield the first items of each sort: each about a picture of its own, but for the rounds of one dialog."""
    left, shown = dict(_WANTED), dict[str, str]()
    for item in items:
        if item.image not in shown and left.get(_sort(item)):
            left[_sort(item)] -= 1
            shown[item.image] = item.series or item.prompt
            yield item
        elif item.series and shown.get(item.image) == item.series:
            yield item


def _sort(item: StudyItem) -> str:
    if item.candidates:
        return f"{item.kind} {item.candidates[-1].source}"
    return "dialog" if item.series else str(item.strata[FAMILY])


# After the raters -----------------------------------------------------------------------------------------------------


def places(out: PathLike) -> list[str]:
    """Return lines that name what lies where in the folder of a demonstration, and what to do next."""
    top = Path(out)
    named = {
        "images/": "pictures of the scenes in scenes.json",
        "trials/": "director trials with their pictures",
        "items.jsonl": "all that raters see, with right answers",
        "study/": "the study with its answers",
        "export/": "the answers as JSON Lines and CSV, and as predictions",
        "scores.html": "the report of the scores",
    }
    people = top / "export" / PREDICTIONS / "questions" / f"{PEOPLE}.jsonl"
    return [
        "Everything is kept:",
        *(f"  {top / name}  {meaning}" for name, meaning in named.items()),
        "The answers of people are scored like those of a model:",
        f"  vqagen evaluate {top / 'questions.json'} {people} --missing skip",
        "There is a place left for you; make a link, serve, and open it:",
        f"  vqagen human links {top / 'study'} --mode general --format txt",
        f"  vqagen human serve {top / 'study'}",
    ]


# Simulated raters -----------------------------------------------------------------------------------------------------


def simulated_facts(study: Study, raters: Raters, count: int, start: int = 0) -> Iterator[Fact]:
    """Yield the log of a study in which raters do tasks in turn until all slots are taken.

    No rater does a task twice, nor more tasks than the study allows. The slots of all tasks are filled evenly. Every
    task begins at the time `start`.
    """
    waiting = [(task, slot) for slot in range(study.slots) for task in study.tasks]
    done: dict[str, set[str]] = {f"rater{number:04}": set() for number in range(1, count + 1)}
    for _ in range(study.serving.tasks_per_person or len(study.tasks)):
        for rater, tasks_done in done.items():
            free = next((slot for slot in waiting if slot[0] not in tasks_done), None)
            if free is not None:
                waiting.remove(free)
                tasks_done.add(free[0])
                yield from _work(raters, rater, f"{free[0]}-{free[1]}-0", study.trials(*free), start)


def _work(raters: Raters, rater: str, assignment: str, trials: Sequence[ShownTrial], now: int) -> Iterator[Fact]:
    yield Claimed(now, assignment, rater, len(trials), "", now)
    for trial in trials:
        spent = raters.milliseconds(rater, trial)
        now += spent
        yield Submitted(now, assignment, trial.number, raters.answer(rater, trial), spent, spent, spent, now)


@dataclass(frozen=True)
class Raters:
    """Simulated raters, by any names."""

    seed: int = 0
    opinions: Mapping[str, float] = field(default_factory=dict)
    """System -> what all raters think of it beside a reference: 1 if it is clearly better; 0 for others."""

    def answer(self, rater: str, trial: ShownTrial) -> int | str:
        """Return what a rater answers: a value from the left end of the scale to its right end, or to a question."""
        item, scale = trial.item, trial.item.scale
        if scale is None:
            return self._said(rater, item)
        if item.gold is not None and item.gold.value is not None:
            return item.gold.value
        chosen = floor(scale.center + self._opinion(rater, item) * (scale.largest - scale.least) / 2 + 0.5)
        bounded = min(max(chosen, scale.least), scale.largest)
        return item.toward_second(bounded, second_on_right=trial.second_on_right or item.kind != COMPARE)

    def milliseconds(self, rater: str, trial: ShownTrial) -> int:
        """Return the time from the image being shown to the choice."""
        return int(_TYPICAL_MS * exp(0.4 * self._normal("time", rater, trial.item.id)))

    def _opinion(self, rater: str, item: StudyItem) -> float:
        """Return what a rater thinks: 1 if the second text is clearly better, or the rated one is perfect."""
        noise = self._normal("noise", rater, item.id)
        if item.use in (CHECK, PRACTICE) and item.gold is not None and item.gold.better is not None:
            is_second = item.gold.better == item.candidates[-1].id
            return (_CHECK_SCORE if is_second else -_CHECK_SCORE) + _CHECK_NOISE * noise
        liked = [self._liking(rater, item, candidate) for candidate in item.candidates]
        return liked[-1] - (liked[0] if item.kind == COMPARE else 0.0) + NOISE * noise

    def _liking(self, rater: str, item: StudyItem, candidate: Candidate) -> float:
        """Return how much a rater likes a text; 0 for a reference."""
        if candidate.role != SYSTEM:
            return 0.0
        of_image = self._normal("image", item.image or item.id, candidate.source)
        of_rater = self._normal("rater", rater)
        return self.opinions.get(candidate.source, 0.0) + RATER_SD * of_rater + IMAGE_SD * of_image

    def _said(self, rater: str, item: StudyItem) -> int | str:
        """Return the answer to a question: mostly the right one if it is known, else another one of those allowed."""
        rng, gold = stream(self.seed, f"human/raters/answer/{rater}/{item.id}"), item.gold.answer if item.gold else None
        allowed, is_right = _allowed(item, gold), rng.random() < _RIGHT
        return pick(rng, [answer for answer in allowed if (str(answer) == gold) == is_right] or allowed)

    def _normal(self, *label: str) -> float:
        drawn = stream(self.seed, f"human/raters/{'/'.join(label)}").random()
        return NormalDist().inv_cdf(min(max(drawn, 1e-12), 1 - 1e-12))


def _allowed(item: StudyItem, gold: str | None) -> Sequence[int | str]:
    """Return answers to a question, with the right one if it is known."""
    match item.form:
        case ChoiceForm(options=options):
            return options
        case CellForm(cells=cells):
            return [cell for cell in cells if cell]
        case NumberForm(least=least, largest=largest):
            near = int(gold) if gold else least
            return range(max(near - 2, least), min(near + 2, largest) + 1)
    return gold or "nothing", "something else"
