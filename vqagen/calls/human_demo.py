"""A demonstration of rater studies by the Python API: from nothing to scores, with simulated raters."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from itertools import chain
from pathlib import Path

import orjson

from vqagen.calls.human_items import write_items
from vqagen.calls.sampled_scenes import write_scenes
from vqagen.calls.scene_dialogs import write_dialogs
from vqagen.draw.scene_pictures import draw_scenes
from vqagen.errors import PlaceError, UsageError, counted
from vqagen.human.export.folder import export_study
from vqagen.human.items.captions import HUMAN_LIKE, caption_items, untrue_captions
from vqagen.human.items.material import SceneTexts, captions_of, texts_of_scenes
from vqagen.human.items.settings import ItemSettings
from vqagen.human.scores.report import rater_report
from vqagen.human.scores.study_scores import score_study
from vqagen.human.simulation.raters import Raters, simulated_facts
from vqagen.human.simulation.settings import RaterSettings
from vqagen.human.store.facts import encode_fact
from vqagen.human.store.opening import open_log
from vqagen.human.study.making import make_item_tasks
from vqagen.human.study.settings import PlanSettings
from vqagen.human.study.study import Study, load_study
from vqagen.human.study.texts import TEXTS_FILE
from vqagen.language.catalogue import Catalogue
from vqagen.language.domain_files import PathLike, find_domain, load_catalogue
from vqagen.language.shipped_domains import DIALOGS
from vqagen.score.report.table import Report
from vqagen.score.report.writers import write_report
from vqagen.tasks.dialog.dialog_files import DIALOGS as DIALOG_FILES
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.sampling.settings import SamplingSettings
from vqagen.world.loading import find_scenes

RATERS, SCENES = 3, 9
CAREFUL, CARELESS = "careful", "careless"
"""A system whose captions are true, and one that makes mistakes."""
TRUE_SCORES = (f"{CAREFUL}=0", f"{CARELESS}=-0.6")
"""Opinions of the simulated raters about the systems."""
_FILLED = {
    "institution": "the demonstration of vqagen",
    "contact": "nobody@demo.example",
    "ethics_reference": "none: no person takes part",
    "pay": "nothing",
    "duration": "one minute",
}
Say = Callable[[str], object]


def check_demo(out: PathLike) -> None:
    """Raise UsageError if a demonstration cannot be written to a folder."""
    folder = Path(out)
    if folder.is_file() or (folder.is_dir() and any(folder.iterdir())):
        raise UsageError(f"output folder {out} holds files already; name a new folder with --out")
    if not folder.absolute().parent.is_dir():
        raise PlaceError(f"folder {folder.absolute().parent} does not exist; create it first")


def demonstrate(out: PathLike, *, seed: int = 0, scenes: int = SCENES, say: Say = lambda _: None) -> Report:
    """Make, plan, answer, export and score a small study in a new folder; return its report.

    Simulated raters answer; their answers are stored as a server stores them. `say` is called with a line at each step.
    """
    check_demo(out)
    top = Path(out)
    top.mkdir(exist_ok=True)
    study = _planned(top, seed, scenes, say)
    raters = Raters(RaterSettings(effect=TRUE_SCORES), seed)
    facts = simulated_facts(study, raters, RATERS, time.time_ns() // 1_000_000)
    with closing(open_log(study.store, study.id, create=True)) as log:
        log.append([(number, encode_fact(fact)) for number, fact in enumerate(facts, 1)])
    stored = export_study(study.folder, top / "export").answers
    say(f"{counted(stored, 'answer')} of {RATERS} simulated raters")
    report = rater_report(score_study(study.folder))
    write_report(report, top / "scores.html")
    return report


# Before the raters ----------------------------------------------------------------------------------------------------


def _planned(top: Path, seed: int, scenes: int, say: Say) -> Study:
    """Make scenes, pictures, captions and items, and plan the study."""
    write_scenes(top / "scenes.json", SamplingSettings(seed=seed, count=scenes, split="demo"))
    say(f"{scenes} scenes; drawing their pictures …")
    draw_scenes(top / "scenes.json", top / "images", find_domain())
    catalogue, _ = load_catalogue(find_domain())
    about = _with_captions(top, catalogue, seed)
    mistakes = _plant_mistakes(about, catalogue)
    (top / "mistakes.json").write_bytes(orjson.dumps(mistakes, option=orjson.OPT_INDENT_2))
    say(f"captions of two systems; {len(mistakes)} of {CARELESS} are wrong, each proven by a program")
    items = list(caption_items(about, (HUMAN_LIKE, CAREFUL, CARELESS), True, catalogue, ItemSettings(seed=seed)))
    counts = write_items(items, top / "items.jsonl")
    settings = PlanSettings(seed=seed, raters_per_item=RATERS + 1, trials_per_task=1 + 2 * scenes // 3)
    planned = make_item_tasks(top / "study", top / "items.jsonl", top / "images", settings).study
    texts = orjson.loads((planned.folder / TEXTS_FILE).read_bytes())
    (planned.folder / TEXTS_FILE).write_bytes(orjson.dumps({**texts, "values": _FILLED}, option=orjson.OPT_INDENT_2))
    say(f"{counts.comparisons} comparisons and {counts.checks} checks in {len(planned.tasks)} tasks")
    return load_study(planned.folder)


def _with_captions(top: Path, catalogue: Catalogue, seed: int) -> list[SceneTexts]:
    """Return the scenes with dialogs for people and both systems, each made with a seed of its own."""
    files = [top / f"{name}.json" for name in (HUMAN_LIKE, CAREFUL, CARELESS)]
    for number, file in enumerate(files):
        settings = DialogSettings(seed=3 * seed + number, rounds=1)
        write_dialogs(top / "scenes.json", file, find_domain(task=DIALOGS), settings)
    return texts_of_scenes(files, DIALOG_FILES, find_scenes(top / "scenes.json"), catalogue)


def _plant_mistakes(about: list[SceneTexts], catalogue: Catalogue) -> dict[str, dict[str, str]]:
    """Give every second scene an untrue caption by the careless system; return them with their proofs by image."""
    mistakes: dict[str, dict[str, str]] = {}
    for at in range(0, len(about), 2):
        own = about[at]
        others = chain.from_iterable(each.records[2] for each in about if each.image != own.image)
        by_text = {str(record["caption"]["text"]): record for record in others}
        found = next(untrue_captions(iter(captions_of(by_text.values(), CARELESS)), own, catalogue), None)
        if found is not None:
            caption, proof = found
            about[at] = replace(own, records=(*own.records[:2], (by_text[caption.text],)))
            mistakes[own.image] = {"caption": caption.text, "proof": str(proof)}
    return mistakes


# After the raters -----------------------------------------------------------------------------------------------------


def places(out: PathLike) -> list[str]:
    """Return lines that name what lies where in the folder of a demonstration, and what to do next."""
    named: Sequence[tuple[str, str]] = (
        ("images/", "pictures of the scenes in scenes.json"),
        ("mistakes.json", "captions that are wrong, with their proofs"),
        ("items.jsonl", "comparisons and checks, with their proofs"),
        ("study/", "the study with its answers"),
        ("export/", "the answers as JSON Lines and CSV"),
        ("scores.html", "the report of the scores"),
    )
    lines = [f"  {Path(out) / name}  {meaning}" for name, meaning in named]
    study = Path(out) / "study"
    own = [
        "There is a place left for you; make a link, serve, and open it:",
        f"  vqagen human links {study} --mode general --format txt",
        f"  vqagen human serve {study}",
    ]
    return ["Everything is kept:", *lines, *own]
