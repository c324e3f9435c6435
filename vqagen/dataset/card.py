"""The card of a dataset: README.md, which Hugging Face's `datasets` and people read."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import fields

from vqagen import __version__
from vqagen.dataset.folder import Counts, Folder
from vqagen.dataset.holdout import HoldOut
from vqagen.dataset.joining import records_of
from vqagen.dataset.rows import DIALOG_FEATURES, FEATURES, SPLITS, Feature
from vqagen.dataset.settings import DatasetSettings
from vqagen.errors import counted
from vqagen.files.output import atomic_output
from vqagen.language.domain_files import LoadedDomain
from vqagen.shortcuts.audit import FEW_CLUSTERS, Audit, audit
from vqagen.shortcuts.statistics import stats
from vqagen.tasks.settings import flag
from vqagen.world.loading import find_scenes

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
MEANINGS = {
    "image": "the picture",
    "image_id": "number of the picture, over all splits",
    "question_id": "number of the question, over all splits",
    "dialog_id": "number of the dialog, over all splits",
    "problem": "the question, under the name that trainers of reinforcement learning read",
    "solution": "`<answer> 3 </answer>`",
    "question": "the question",
    "answer": "the answer as text",
    "answer_type": "`count`, `yes/no` or `value`",
    "choices": "options, in the order to show them in; empty if there are none",
    "choice": "place of the right option, from 0; -1 if there are none",
    "program": "JSON: the steps that give the answer on the scene",
    "family": "the template of the question",
    "scene": "JSON: objects, their values, places and relations, the camera and the lights",
    "boxes": "of each object `[left, top, right, bottom]` in pixels; `[]` if it cannot be seen",
    "caption": "what is told before the first question",
    "questions": "the question of each round",
    "answers": "the answer of each round",
    "dialog": "JSON: the dialog with its programs and coreference",
}


def write_card(
    folder: Folder, settings: DatasetSettings, holdout: HoldOut, loaded: LoadedDomain, scenes: str | None
) -> Counts:
    """Audit the splits, and write the card; return the verdict of each audit."""
    splits = [name for name in SPLITS if f"rows {name}" in folder.steps]
    audits = {name: _audit(folder, settings, name) for name in splits if folder.steps[f"rows {name}"].get("questions")}
    verdicts = {name: _verdict(each, folder.steps["splits"]["scenes"][name]) for name, each in audits.items()}
    lines = [
        *_yaml(folder, settings, loaded, scenes, splits),
        *_contents(folder, settings, holdout, loaded, splits),
        *_columns(settings),
        *_making(settings, loaded, scenes),
        *_licences(loaded, scenes),
        *_checks(folder, verdicts, audits),
    ]
    with atomic_output(str(folder.path("README.md"))) as file:
        file.write("\n".join([*lines, ""]).encode())
    return {"verdicts": verdicts}


def _audit(folder: Folder, settings: DatasetSettings, name: str) -> Audit:
    own, train = ((str(records_of(folder, settings, each)), _scenes(folder, each)) for each in (name, SPLITS[0]))
    if name == SPLITS[0]:
        return audit(own[0], scenes=own[1])
    return audit(own[0], scenes=own[1], train=train[0], train_scenes=train[1])


def _verdict(found: Audit, pictures: int) -> str:
    if found.passes and pictures < FEW_CLUSTERS:
        return f"fewer than {FEW_CLUSTERS} pictures: too few to tell"
    return "passes: no shortcut found" if found.passes else f"FAILS: {'; '.join(found.failures())}"


def _scenes(folder: Folder, name: str) -> str:
    return str(folder.path("steps", name, "scenes.json"))


# Parts ----------------------------------------------------------------------------------------------------------------


def _yaml(
    folder: Folder, settings: DatasetSettings, loaded: LoadedDomain, scenes: str | None, splits: list[str]
) -> Iterator[str]:
    """Yield the part that machines read."""
    counts: Counter[str] = sum((Counter(folder.steps[f"rows {name}"]) for name in splits), Counter())
    size = next((name for most, name in SIZES if counts["questions"] < most), "n>1M")
    named = _license(loaded, scenes)
    yield from ("---", f"license: {named}")
    yield from ("license_name: see-below", "license_link: README.md") if named == "other" else ()
    yield from ("language:", "- en")
    yield from ("task_categories:", "- visual-question-answering", "size_categories:", f"- {size}")
    yield from ("tags:", "- vqagen", "- synthetic", "- compositional", "configs:")
    kinds = [("default", "data", "questions", FEATURES)]
    kinds += [("dialogs", "dialogs", "dialogs", DIALOG_FEATURES)] if settings.dialogs else []
    for config, data, kind, _ in kinds:
        yield f"- config_name: {config}"
        yield from ("  default: true",) if config == "default" else ()
        yield "  data_files:"
        for name in splits:
            if folder.steps[f"rows {name}"].get(kind):
                yield from (f"  - split: {name}", f"    path: {data}/{name}-*.parquet")
    yield "dataset_info:"
    for config, _, _, features in kinds:
        yield from (f"- config_name: {config}", "  features:")
        for column, feature in features.items():
            yield f"  - name: {column}"
            yield from (f"    {line}" for line in _feature(feature))
    yield from ("---", "")


def _feature(feature: Feature) -> list[str]:
    """Return the type of a column as the card of a dataset says it.

    >>> _feature({"feature": {"dtype": "string", "_type": "Value"}, "_type": "Sequence"})
    ['sequence: string']
    """
    if feature["_type"] == "Image":
        return ["dtype: image"]
    if feature["_type"] == "Value":
        return [f"dtype: {feature['dtype']}"]
    inner = _feature(feature["feature"])
    plain = inner[0].removeprefix("dtype: ")
    return [f"sequence: {plain}"] if plain != inner[0] else ["sequence:", *(f"  {line}" for line in inner)]


def _contents(
    folder: Folder, settings: DatasetSettings, holdout: HoldOut, loaded: LoadedDomain, splits: list[str]
) -> Iterator[str]:
    from vqagen.dataset.build import left_out_of

    domain = loaded.files.name or loaded.domain.name
    yield from (f"# Questions about pictures of {domain} scenes", "")
    how = "path-traced by Mitsuba" if settings.pictures == "rendered" else "drawn as quick sketches"
    yield f"Pictures {how}, with questions, the programs that prove their answers, boxes and scene graphs."
    yield from (f"Made by [vqagen](https://pypi.org/project/vqagen) {__version__}.", "")
    yield from ("| split | pictures | questions | dialogs |", "|---|--:|--:|--:|")
    for name in splits:
        counts = folder.steps[f"rows {name}"]
        yield f"| {name} | {counts['pictures']:,} | {counts.get('questions', 0):,} | {counts.get('dialogs', 0):,} |"
    yield from ("", "Splits are by scene. No question of one split has its text or its program in common with one of")
    yield "another. Scenes that are nearly the same (equal values, objects less than half a unit apart) are together."
    if held := holdout.sentence():
        yield from ("", f"Held out: {held}.")
    if left_out := left_out_of(folder.steps):
        yield from ("", "Left out:", "")
        yield from (f"- {number:,}: {reason}" for reason, number in left_out.items())
    yield ""


def _columns(settings: DatasetSettings) -> Iterator[str]:
    yield from ("## Columns", "", "| column | meaning |", "|---|---|")
    yield from (f"| `{name}` | {MEANINGS[name]} |" for name in FEATURES)
    yield ""
    if settings.dialogs:
        yield from ("Configuration `dialogs`:", "", "| column | meaning |", "|---|---|")
        yield from (f"| `{name}` | {MEANINGS[name]} |" for name in DIALOG_FEATURES)
        yield ""


def command_of(settings: DatasetSettings, loaded: LoadedDomain, scenes: str | None) -> str:
    """Return the command that makes the dataset again.

    Files of one's own domain and scenes are named as they were.
    """
    words = ["vqagen", "dataset", "OUT", *(("--scenes", scenes) if scenes else ())]
    files = loaded.files
    if files.name is None:
        words += ["--metadata", str(files.metadata), "--templates", str(files.templates)]
    elif files.name != "clevr":
        words += ["--domain", files.name]
    for each in fields(settings):
        value = getattr(settings, each.name)
        if each.name == "count" and not scenes and not value:
            continue
        if isinstance(value, tuple):
            words += [word for held in value for word in (flag(each.name), held)]
        elif each.name == "seed" or value not in (each.default, -1 if each.default is None else each.default):
            words += [flag(each.name), *(() if value is True else (str(value),))]
    return shlex.join(words)


def _making(settings: DatasetSettings, loaded: LoadedDomain, scenes: str | None) -> Iterator[str]:
    yield from ("## Make it again", "", "```console")
    yield from (
        f"$ pip install 'vqagen[render]=={__version__}'",
        f"$ {command_of(settings, loaded, scenes)}",
        "```",
        "",
    )
    yield "Scenes, boxes, texts, answers and options are the same everywhere. The pixels of rendered pictures are the"
    yield from ("same on one machine and version of the renderer; each scene has their hash.", "")


def _stated(scenes: str) -> str:
    """Return the licence that a scene file states; "" if it states none."""
    stated = find_scenes(scenes).info.get("license")
    return stated if isinstance(stated, str) else ""


def _license(loaded: LoadedDomain, scenes: str | None) -> str:
    """Return the licence of all parts, by the name that Hugging Face has for it."""
    if not loaded.files.name:
        return "other"
    if scenes is None:
        return "mit"
    return "cc-by-4.0" if "CC BY 4.0" in _stated(scenes).upper().replace("-", " ") else "other"


def _licences(loaded: LoadedDomain, scenes: str | None) -> Iterator[str]:
    yield from ("## Licences", "")
    files = loaded.files
    if files.name:
        yield f"- Templates and vocabulary: those of vqagen's domain `{files.name}` (MIT)."
    else:
        yield (
            "- Templates and vocabulary: `"
            + files.templates.name
            + "`, of whoever made them; **fill in their licence**."
        )
    if scenes is None:
        yield "- Scenes and pictures: made from nothing by vqagen; whoever ran it may choose their licence."
        yield ""
        return
    named = _stated(scenes)
    terms = f"{named}, as the file says" if named else "**fill in their licence**"
    yield f"- Scenes: `{scenes.rpartition('/')[2]}`, {terms}."
    yield "  The released CLEVR scenes are CC BY 4.0; name Johnson et al. 2017 as their source."
    yield from ("- Pictures: made from these scenes by vqagen, so the licence of the scenes applies to them too.", "")


def _checks(folder: Folder, verdicts: Mapping[str, str], audits: Mapping[str, Audit]) -> Iterator[str]:
    yield from ("## Audit", "", "What answers questions without the picture (`vqagen audit`):", "")
    for name, verdict in verdicts.items():
        yield f"- {name}, {counted(len(audits[name].items), 'question')}: **{verdict}**"
    for name, each in audits.items():
        if each.probes:
            yield from (
                "",
                f"Predictors on {name}:",
                "",
                "| predictor | right | by chance | verdict |",
                "|---|--:|--:|---|",
            )
            for probe in each.probes:
                yield f"| {probe.name}: {probe.meaning} | {probe.accuracy:.3f} | {probe.chance:.3f} | {probe.verdict} |"
    report = stats(str(folder.path("questions.jsonl"))).on_screen()
    yield from ("", "## Statistics", "", "```text", report.text().rstrip(), "```")
