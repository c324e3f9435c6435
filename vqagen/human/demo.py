"""A demonstration of rater studies: one of every kind of trial, from nothing to scores, with simulated raters."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from itertools import chain
from pathlib import Path

import orjson
from msgspec.structs import replace

from vqagen.errors import UsageError, counted
from vqagen.files.records import open_records
from vqagen.human.export import PEOPLE, PREDICTIONS, export_study
from vqagen.human.items import FAMILY, make_items, write_items
from vqagen.human.raters import Raters, simulated_facts
from vqagen.human.scores.report import score_study
from vqagen.human.settings import ItemSettings, PlanSettings
from vqagen.human.store.opening import open_log
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.checks import DISTRACTOR
from vqagen.human.study.item import (
    AFTER,
    ANSWER,
    BEFORE,
    CHECK,
    LENGTH_DIFFERENCE,
    RATE,
    REFERENCE,
    SYSTEM,
    Candidate,
    GoldValue,
    NumberForm,
    StudyItem,
    TextForm,
    length_difference,
)
from vqagen.human.study.making import make_item_tasks
from vqagen.human.study.study import load_study
from vqagen.human.study.texts import TEXTS_FILE
from vqagen.language.domain_files import PathLike
from vqagen.report.table import Report
from vqagen.report.writers import write_report
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
