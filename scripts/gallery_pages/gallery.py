"""Make the pages of docs/gallery with their pictures, and the picture of the README. Every run makes the same pages.

A picture is kept if what it shows is what `docs/gallery/scenes.json` says of it, for rendering is not the same to the
last bit on every machine. `python scripts/gallery_pages/gallery.py FOLDER` writes into a copy of `docs`.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from PIL import Image
from readme_picture import Panel, compose

import vqagen
from vqagen.authoring.explanation import ObjectNames, plain
from vqagen.tasks.rendering.settings import PictureSettings
from vqagen.world.domain import Domain
from vqagen.world.scene import compile_scene

DOCS = Path(__file__).parents[2] / "docs"
SEED = 1
SCENES = {"clevr": 10, "market": 4}
"""Domain -> scenes whose pictures are in the gallery."""
TITLES = {"clevr": "Questions about CLEVR's scenes", "market": "Questions about market stalls"}
PAGES = {"clevr": "questions", "market": "market"}
INTRODUCTIONS = {
    "clevr": "One question of each of CLEVR's 90 families, about ten scenes. Open a program to see its steps.",
    "market": "The second domain that is shipped: things for sale. Pictures show kind, color, size and"
    " material; tags, conditions, decorations and ties are in the scenes alone.",
}
SEARCHED = 96
"""Trials among which one of each rule is looked for."""
QUALITY = 90
FIRST = "one_hop.json#query_color"
"""The family of the question in the README's picture, and below the rule of the trial beside it."""
FIRST_RULE = "topmost"
FIRST_WIDTH = 1080
GENERATED = "<!-- Made by scripts/gallery; change that. -->\n\n"

Record = dict[str, Any]


def main(docs: Path) -> None:
    """Write all pages and pictures."""
    gallery = docs / "gallery"
    (gallery / "images").mkdir(parents=True, exist_ok=True)
    (docs / "images").mkdir(exist_ok=True)
    kept_file = gallery / "scenes.json"
    kept = json.loads(kept_file.read_text("utf-8")) if kept_file.exists() else {}
    shown: Record = {}
    for domain, count in SCENES.items():
        scenes = list(vqagen.sample_scenes(count, seed=SEED, domain=domain))
        names = [f"{domain}-{number}.jpg" for number in range(count)]
        shown |= dict(zip(names, scenes, strict=True))
        draw(domain, {name: scene for name, scene in shown.items() if name in names}, kept, gallery / "images")
        write(gallery / f"{PAGES[domain]}.md", "".join(question_page(domain, scenes)))
    write(gallery / "dialog.md", "".join(dialog_page(shown["clevr-0.jpg"])))
    trials = list(trials_of_rules())
    for trial, settings in trials:
        name = f"{trial['rule']}.png"
        shown[name] = trial["instruction"]
        if kept.get(name) != trial["instruction"] or not (gallery / "images" / name).exists():
            draw_trial(trial, settings, gallery / "images" / name)
    write(gallery / "trials.md", "".join(trial_page([trial for trial, _ in trials])))
    first_picture(docs, shown, kept, next(trial for trial, _ in trials if trial["rule"] == FIRST_RULE))
    write(kept_file, json.dumps(shown, separators=(",", ":")) + "\n")


def write(path: Path, text: str) -> None:
    """Write a file, and say so."""
    path.write_text(text, "utf-8")
    print(f"{path.parent.name}/{path.name}: {len(text):,} characters")


# Pictures -------------------------------------------------------------------------------------------------------------


def draw(domain: str, scenes: Mapping[str, Record], kept: Record, folder: Path) -> None:
    """Render the scenes whose picture is not there or shows another scene."""
    for name, scene in scenes.items():
        if kept.get(name) != scene or not (folder / name).exists():
            rendered(domain, scene).save(folder / name, quality=QUALITY, subsampling=0)


def rendered(domain: str, scene: Record, width: int = 0) -> Image.Image:
    """Return the picture of a scene."""
    with TemporaryDirectory() as scratch:
        file, folder = Path(scratch, "scene.json"), Path(scratch, "pictures")
        file.write_text(json.dumps({"info": {"generator": "vqagen"}, "scenes": [scene]}), "utf-8")
        vqagen.write_pictures(file, folder, vqagen.find_domain(domain), PictureSettings(width=width))
        return Image.open(next(iter((folder / "images").iterdir()))).convert("RGB")


def draw_trial(trial: Record, settings: vqagen.DirectorSettings, path: Path) -> None:
    """Draw the grid of a trial."""
    one = settings.cut_to(trial["trial_index"], 1)
    with TemporaryDirectory() as scratch:
        vqagen.write_trials(Path(scratch, "trials"), one)
        made = json.loads(Path(scratch, "trials", "trials.jsonl").read_text("utf-8").splitlines()[0])
        assert made["instruction"] == trial["instruction"]
        path.write_bytes(Path(scratch, "trials", made["image"]).read_bytes())


# Questions ------------------------------------------------------------------------------------------------------------


def question_page(domain: str, scenes: Sequence[Record]) -> Iterator[str]:
    """Yield the page of a domain: each scene with its questions, and all families once."""
    yield GENERATED
    yield f"# {TITLES[domain]}\n\n{INTRODUCTIONS[domain]}\n"
    chosen = choose(list(vqagen.generate(scenes, domain=domain, seed=SEED, templates_per_image=200)), len(scenes))
    for number, questions in enumerate(chosen):
        names = ObjectNames(questions[0].scene, domain_of(domain)).names
        yield f"\n## Scene {number + 1}\n\n![{len(names)} objects: {'; '.join(names)}](images/{domain}-{number}.jpg)\n"
        for question in questions:
            yield from question_text(question)


def domain_of(name: str) -> Domain:
    """Return a shipped domain."""
    return vqagen.load_domain(vqagen.find_domain(name).metadata)


def choose(questions: Sequence[vqagen.Question], scenes: int) -> list[list[vqagen.Question]]:
    """Return for each scene some of its questions: of each family one, about the scene with the fewest so far."""
    families: dict[str, dict[int, vqagen.Question]] = {}
    for question in questions:
        families.setdefault(question.template.id, {}).setdefault(question.scene.index, question)
    chosen: list[list[vqagen.Question]] = [[] for _ in range(scenes)]
    for _, asked in sorted(families.items(), key=lambda each: (len(each[1]), each[0])):
        chosen[min(asked, key=lambda scene: (len(chosen[scene]), scene))].append(
            asked[min(asked, key=lambda scene: (len(chosen[scene]), scene))]
        )
    return [sorted(each, key=lambda question: question.template.id) for each in chosen]


def question_text(question: vqagen.Question) -> Iterator[str]:
    """Yield a question, its answer and its program."""
    steps = list(steps_of(question))
    yield f"\n**{question.question}** {question.answer}\n"
    yield f"\n<details>\n<summary>{question.template.id}, {len(steps)} steps</summary>\n\n"
    yield "| | step | finds |\n|--:|---|---|\n"
    for place, (call, found) in enumerate(steps):
        yield f"| {place} | {call} | {found} |\n"
    yield "\n</details>\n"


def steps_of(question: vqagen.Question) -> Iterator[tuple[str, str]]:
    """Yield each step of a program in words, and what it finds."""
    scene, program = question.scene, question.program
    names = ObjectNames(scene, program.catalogue.domain)
    for place, (node, value) in enumerate(zip(program.nodes, program.outputs(scene), strict=True)):
        name, inputs, values = node
        said = " ".join([name, *values])
        if list(inputs) not in ([], [place - 1]):
            said += " of " + " and ".join(map(str, inputs))
        found = names.output(value, program.catalogue[name].output)
        if name == "scene":
            found = f"{len(found)} objects"
        elif isinstance(found, list):
            found = "; ".join(found) or "nothing"
        else:
            found = found if isinstance(found, str) else answer_word(found)
        yield said, found


def answer_word(answer: Any) -> str:
    """Return an answer as text."""
    if isinstance(answer, bool):
        return "yes" if answer else "no"
    shown = plain(answer)
    return ", ".join(shown) if isinstance(shown, list) else str(shown)


# A dialog -------------------------------------------------------------------------------------------------------------


def dialog_page(scene_record: Record) -> Iterator[str]:
    """Yield the page of a dialog about a scene."""
    dialog = next(vqagen.dialogs([scene_record], seed=SEED))
    domain = domain_of("clevr")
    names = ObjectNames(scene := compile_scene(scene_record, domain), domain).names
    yield GENERATED + "# A dialog\n\n"
    yield "A caption, and ten rounds that refer back to what was said. The last column says what a question is\n"
    yield "about; the question does not.\n\n"
    yield f"![{scene.size} objects: {'; '.join(names)}](images/clevr-0.jpg)\n\n"
    yield f"*{dialog['caption']['text']}*\n\n| | question | answer | about |\n|--:|---|---|---|\n"
    for number, said in enumerate(dialog["rounds"], 1):
        about = "; ".join(names[i] for i in said["referents"]["focus"])
        yield f"| {number} | {said['question']} | {said['answer']} | {about} |\n"


# Trials ---------------------------------------------------------------------------------------------------------------


def trials_of_rules() -> Iterator[tuple[Record, vqagen.DirectorSettings]]:
    """Yield the first test trial of each rule, with the settings that make it."""
    for questions in ("superlative", "relational"):
        settings = vqagen.DirectorSettings(seed=SEED, count=SEARCHED, questions=questions, render=("png",))
        made = list(vqagen.trials(**{**settings.to_record(), "render": ("none",)}))
        rules: Counter[str] = Counter()
        for trial in made:
            if trial["trial_type"] == "test" and not rules[trial["rule"]]:
                rules[trial["rule"]] += 1
                yield trial, settings


def trial_page(trials: Sequence[Record]) -> Iterator[str]:
    """Yield the page of director trials."""
    yield GENERATED + "# Trials of each rule\n\n"
    yield "A director stands behind the shelf and says which item he means. He does not see into cells with a dark\n"
    yield "back, and his left is your right. One test trial of each rule: who forgets this takes another cell.\n"
    for trial in trials:
        rule, instruction = str(trial["rule"]).replace("_", " "), trial["instruction"]
        yield f"\n## {'No rule' if rule == 'none' else rule.capitalize()}\n\n"
        yield f"**{instruction}**\n\n![A shelf of {trial['width']} by {trial['height']} cells]"
        yield f"(images/{trial['rule']}.png)\n\n"
        yield f"He means {trial['answer']}. Who overlooks what he cannot see takes {' or '.join(others(trial))}.\n"


def others(trial: Record) -> list[str]:
    """Return the cells that somebody takes who overlooks what the director cannot see."""
    return [cell for cell in trial["participant_answers"] if cell != trial["answer"]]


# The README's picture -------------------------------------------------------------------------------------------------


def first_picture(docs: Path, shown: Record, kept: Record, trial: Record) -> None:
    """Compose a scene with its question and a trial, unless the picture that is there shows them."""
    made = vqagen.generate([scene := shown["clevr-0.jpg"]], seed=SEED, templates_per_image=200)
    question = next(each for each in made if each.template.id == FIRST)
    steps = [(call, shortly(found)) for call, found in steps_of(question)]
    meant = f"He means {trial['answer']}: he does not see into {' or '.join(others(trial))}, which has a dark back."
    answer = f"Answer: {question.answer}"
    path = docs / "images" / "first.webp"
    shown["first.webp"] = json.loads(json.dumps([question.question, steps, trial["instruction"], meant]))
    if all(kept.get(name) == shown[name] for name in ("first.webp", "clevr-0.jpg")) and path.exists():
        return
    grid = Image.open(docs / "gallery" / "images" / f"{FIRST_RULE}.png").convert("RGB")
    left = Panel(question.question, rendered("clevr", scene, FIRST_WIDTH), steps, answer)
    compose(left, Panel(trial["instruction"], grid, [], meant), path)


def shortly(found: str) -> str:
    """Return what a step finds, with objects counted in place of named."""
    return f"{found.count(';') + 1} objects" if ";" in found else found


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else DOCS)
