"""Making a study of captions: from files to a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from vqagen import __version__
from vqagen.errors import BadInput, Problem
from vqagen.files.locations import locate
from vqagen.files.reading import content_hash
from vqagen.human.study.checks import KnownTexts, RightText
from vqagen.human.study.folder import StudyFiles
from vqagen.human.study.humanr_files import Captions, read_captions
from vqagen.human.study.humanr_tasks import COMPARISON_TASKS, RESERVED, comparison_tasks
from vqagen.human.study.images import StudyImage, find_images, read_images, same_picture
from vqagen.human.study.item import Item
from vqagen.human.study.pairs import comparisons, raise_no_pairs, scale_of
from vqagen.human.study.plan import Material, make_plan
from vqagen.human.study.settings import HUMANR, PlanSettings
from vqagen.human.study.texts import Texts, default_texts, load_texts
from vqagen.rng import shuffled, stream


@dataclass(frozen=True)
class CaptionFiles:
    """HUMANr's inputs."""

    human: str
    systems: Mapping[str, str]
    """System -> its file of captions."""
    images: str
    texts: str | None = None
    """The words of the study; None for the English ones."""


class MadeStudy(NamedTuple):
    """A study that is ready to be written, and what its maker should know."""

    files: StudyFiles
    notes: tuple[str, ...]


def make_caption_study(inputs: CaptionFiles, settings: PlanSettings) -> MadeStudy:
    """Plan comparisons of captions. BadInput with all mistakes of the inputs; PlanError if there are too few images."""
    _check_names(inputs, settings)
    captions = read_captions(inputs.human, inputs.systems, list(find_images(inputs.images)))
    if settings.human_human:
        raise_no_pairs(captions, inputs.human)
    words = default_texts() if inputs.texts is None else Path(inputs.texts).read_bytes()
    texts = _texts(inputs.texts)
    chosen, spare = _choose_images(sorted(captions.human), settings)
    images = read_images(inputs.images, [*chosen, *spare])
    shown = {name: images[name] for name in chosen}
    real = list(comparisons(captions, shown, texts, settings.seed, settings.human_human))
    known = _known_texts(captions, images, real)
    material = Material(real, images, known, texts, scale_of(texts), spare=frozenset(spare))
    plan = make_plan(material, settings)
    used = {item.image: images[item.image] for item in plan.items.values() if item.image}
    info = {"generator": {"version": __version__}, "settings": settings.to_record(), "inputs": _hashes(inputs)}
    more = {COMPARISON_TASKS: comparison_tasks(plan, settings.seed)} if settings.compat == HUMANR else {}
    files = StudyFiles(plan, used, Path(inputs.images), words, settings.raters_per_item, info, more)
    return MadeStudy(files, (*captions.left_out, *_notes(captions, shown, real, settings)))


def _texts(file: str | None) -> Texts:
    from vqagen.human.study.texts import default_document, texts_of

    return texts_of(default_document()) if file is None else load_texts(locate(file))


def _check_names(inputs: CaptionFiles, settings: PlanSettings) -> None:
    """Raise BadInput for names of systems that HUMANr's own format would mistake."""
    if settings.compat == HUMANR:
        problems = [
            Problem(
                f"system {name!r} has a name that HUMANr takes for something else; rename it, or leave out --compat"
            )
            for name in inputs.systems
            if name in RESERVED
        ]
        if problems:
            raise BadInput(problems)


def _choose_images(names: Sequence[str], settings: PlanSettings) -> tuple[list[str], list[str]]:
    """Return the images of the study, drawn at random, and others of which practice is made."""
    order = shuffled(stream(settings.seed, "human/images"), names)
    number = settings.num_images or len(order)
    return order[:number], order[number : number + settings.practice]


def _known_texts(captions: Captions, images: Mapping[str, StudyImage], real: Iterable[Item]) -> dict[str, KnownTexts]:
    """Return all texts about each image; those about the same picture under another name are texts about it too."""
    used = {candidate.id for item in real for candidate in item.candidates}
    same = {name: names for names in same_picture(images) for name in names}
    known = {}
    for name in images:
        right = [
            RightText(f"{name}#human={place}", text, f"{name}#human={place}" not in used)
            for place, text in enumerate(captions.human[name])
        ]
        others = [texts[each] for each in same.get(name, (name,)) for texts in captions.systems.values()]
        others += [text for each in same.get(name, ()) for text in captions.human[each]]
        known[name] = KnownTexts(tuple(right), frozenset(others))
    return known


def _hashes(inputs: CaptionFiles) -> dict[str, object]:
    """Return the content hash of each input; images have theirs in images.json."""
    named = {"human": inputs.human, **({"texts": inputs.texts} if inputs.texts else {})}
    return {
        **{role: content_hash([locate(file)]) for role, file in named.items()},
        "systems": {name: content_hash([locate(file)]) for name, file in inputs.systems.items()},
    }


def _notes(
    captions: Captions, images: Mapping[str, StudyImage], real: Sequence[Item], settings: PlanSettings
) -> Iterable[str]:
    """Yield what else the maker of a study should know."""
    single = sum(len(captions.human[name]) < 2 for name in images)
    if settings.human_human and single:
        yield f"no human-human pair for {single:,} images with one human caption"
    equal = sum(item.candidates[0].text == item.candidates[1].text for item in real)
    if equal:
        yield f"{equal:,} comparisons show the same text twice: the system wrote what people wrote"
    copies = sum(len(names) - 1 for names in same_picture(images))
    if copies:
        yield f"{copies:,} images are copies of another under a second name; no task shows a picture twice"
