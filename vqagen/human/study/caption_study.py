"""A study of captions: from HUMANr's three inputs to a plan."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vqagen.files.locations import locate
from vqagen.files.reading import content_hash
from vqagen.human.study.checks import KnownTexts, RightText
from vqagen.human.study.humanr_files import Captions, read_captions
from vqagen.human.study.images import StudyImage, find_images, read_images, same_picture
from vqagen.human.study.item import Item
from vqagen.human.study.making import MadeStudy, planned_study, read_texts
from vqagen.human.study.pairs import comparisons, raise_no_pairs, scale_of
from vqagen.human.study.plan import Material
from vqagen.human.study.settings import PRACTICE_TRIALS, PlanSettings
from vqagen.rng import shuffled, stream


@dataclass(frozen=True)
class CaptionFiles:
    """HUMANr's inputs."""

    human: str
    systems: Mapping[str, str]
    """System -> its file of captions."""
    images: str
    texts: Path | None = None
    """The words of the study; None for the English ones."""


def make_caption_study(inputs: CaptionFiles, settings: PlanSettings) -> MadeStudy:
    """Plan comparisons of captions. BadInput with all mistakes of the inputs; PlanError if there are too few images."""
    texts = read_texts(inputs.texts)
    captions = read_captions(inputs.human, inputs.systems, list(find_images(inputs.images)))
    if settings.human_human:
        raise_no_pairs(captions, inputs.human)
    chosen, spare = _choose_images(sorted(captions.human), settings)
    images = read_images(inputs.images, [*chosen, *spare])
    shown = {name: images[name] for name in chosen}
    real = list(comparisons(captions, shown, texts, settings.seed, settings.human_human))
    known = _known_texts(captions, images, real)
    material = Material(real, images, known, texts, scale_of(texts), spare=frozenset(spare))
    files = planned_study(material, settings, inputs.images, _hashes(inputs))
    return MadeStudy(files, (*captions.left_out, *_notes(captions, shown, real, settings)))


def _choose_images(names: Sequence[str], settings: PlanSettings) -> tuple[list[str], list[str]]:
    """Return the images of the study, drawn at random, and others of which practice is made."""
    order = shuffled(stream(settings.seed, "human/images"), names)
    number = settings.num_images or len(order)
    return order[:number], order[number : number + PRACTICE_TRIALS]


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
    systems = {name: content_hash([locate(file)]) for name, file in inputs.systems.items()}
    return {"human": content_hash([locate(inputs.human)]), "systems": systems}


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
