"""A study of items that are given as such: from a file of items to a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import locate
from vqagen.files.reading import content_hash
from vqagen.files.shipped import require
from vqagen.human.study.checks import KnownTexts, RightText
from vqagen.human.study.images import StudyImage, find_images, read_images
from vqagen.human.study.item import CHECK, COMPARE, FIT, INSTRUCTED, PRACTICE, REAL, REFERENCE, Item, Scale
from vqagen.human.study.item_file import FiledItem, raise_first, read_item_file
from vqagen.human.study.item_record import identified
from vqagen.human.study.making import MadeStudy, planned_study, read_texts
from vqagen.human.study.pairs import scale_of
from vqagen.human.study.plan import Material
from vqagen.human.study.settings import PlanSettings


@dataclass(frozen=True)
class ItemFiles:
    """The inputs of a study of items."""

    items: str
    images: str | None
    """The folder of images; None if no item shows one."""
    texts: Path | None = None
    """The words of the study; None for the English ones."""


def make_item_study(inputs: ItemFiles, settings: PlanSettings) -> MadeStudy:
    """Plan a study of items. BadInput with all mistakes of the inputs; PlanError if there are too few images."""
    path = require(locate(inputs.items), "items")
    texts = read_texts(inputs.texts)
    there = find_images(inputs.images) if inputs.images else {}
    filed = read_item_file(path, texts, there)
    names = dict.fromkeys(each.item.image for each in filed if each.item.image)
    images = read_images(inputs.images, names) if inputs.images else {}
    items = _identified(filed, images, inputs.items)
    of_use = {use: [item for item in items if item.use == use] for use in (REAL, CHECK, INSTRUCTED, PRACTICE)}
    known = dict(_known_texts(items)) if not (of_use[CHECK] and of_use[PRACTICE]) else {}
    if settings.checks_per_task and not of_use[CHECK] and not known:
        raise BadInput([Problem(_NO_CHECKS, inputs.items)])
    material = Material(
        of_use[REAL],
        images,
        known,
        texts,
        _common_scale(of_use[REAL]) or scale_of(texts),
        of_use[CHECK],
        of_use[INSTRUCTED],
        of_use[PRACTICE],
    )
    hashes = {"items": content_hash([path])}
    files = planned_study(material, settings, inputs.images or ".", hashes)
    return MadeStudy(files, tuple(_notes(there, names, of_use, settings)))


_NO_CHECKS = (
    "no attention checks: there is no item whose use is check, and checks can be made only of texts by people about"
    " images (role reference, dimension fit); add checks, or use --checks-per-task 0"
)


def _identified(filed: Sequence[FiledItem], images: Mapping[str, StudyImage], source: str) -> list[Item]:
    """Return the items with their ids. BadInput for equal items, and for images whose hash is another."""
    lines: dict[str, int] = {}
    items, problems = [], []
    for item, line, digest in ((each.item, each.line, each.sha256) for each in filed):
        image = images.get(item.image)
        named = identified(item, image.sha256 if image else "")
        if digest and image and digest != image.sha256:
            message = f"the image {item.image} has another content: its hash is {image.sha256}"
            problems.append(Problem(message, source, "context.image.sha256", line, 1))
        if named.id in lines:
            message = f"the same item as in line {lines[named.id]}; leave one out"
            problems.append(Problem(message, source, "", line, 1))
        lines.setdefault(named.id, line)
        items.append(named)
    raise_first([*problems, *_right_wrong_texts(items, lines, source)])
    return items


def _right_wrong_texts(items: Sequence[Item], lines: Mapping[str, int], source: str) -> Iterator[Problem]:
    """Yield checks and practice whose wrong text is one by people about the same image in a scored item."""
    people = {
        (item.image, each.text)
        for item in items
        if item.use == REAL and item.image
        for each in item.candidates
        if each.role == REFERENCE
    }
    for item in items:
        if item.use in (CHECK, PRACTICE) and (item.image, item.candidates[1].text) in people:
            message = "its wrong text stands in a scored item as one by people about the same image; name another text"
            yield Problem(message, source, "candidates", lines[item.id], 1)


def _known_texts(items: Iterable[Item]) -> Iterator[tuple[str, KnownTexts]]:
    """Yield each image with the texts about it, if one of them is by people and so is right."""
    by_image: dict[str, list[Item]] = {}
    for item in items:
        if item.image and item.dimension in (FIT, CHECK):
            by_image.setdefault(item.image, []).append(item)
    for image, about in by_image.items():
        right = {
            each.text: RightText(f"{image}#{item.id}/{each.id}", each.text, False)
            for item in about
            if item.use == REAL
            for each in item.candidates
            if each.role == REFERENCE
        }
        others = frozenset(each.text for item in about for each in item.candidates)
        if right:
            yield image, KnownTexts(tuple(right.values()), others)


def _common_scale(items: Iterable[Item]) -> Scale | None:
    """Return the scale of most comparisons, on which trials that are made are answered too."""
    counts = Counter(item.scale for item in items if item.kind == COMPARE)
    return counts.most_common(1)[0][0] if counts else None


def _notes(
    there: Mapping[str, object],
    used: Mapping[str, object],
    of_use: Mapping[str, Sequence[Item]],
    settings: PlanSettings,
) -> Iterator[str]:
    """Yield what the maker of the study should know."""
    unused = sorted(set(there) - set(used))
    if unused:
        yield f"left out: {len(unused):,} images that no item shows, such as {unused[0]}"
    for use, number, flag in (
        (CHECK, settings.checks_per_task, "--checks-per-task"),
        (INSTRUCTED, settings.imc_per_task, "--imc-per-task"),
    ):
        if of_use[use] and not number:
            yield f"left out: {len(of_use[use]):,} items whose use is {use}, because of {flag} 0"
