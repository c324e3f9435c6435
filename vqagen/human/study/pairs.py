"""A study of captions: files of them are read and compared, each system's with one by people, and two by people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from vqagen.errors import BadInput, Problem, collecting, counted
from vqagen.files.locations import locate
from vqagen.files.parsing import read_object
from vqagen.files.schema import schema_faults
from vqagen.human.settings import PlanSettings
from vqagen.human.study.images import StudyImage, find_images, read_images
from vqagen.human.study.item import (
    LENGTH_DIFFERENCE,
    REFERENCE,
    SYSTEM,
    Candidate,
    Role,
    StudyItem,
    identified,
    length_difference,
    plain_text,
)
from vqagen.human.study.plan import PRACTICE_TRIALS, Draft
from vqagen.human.study.texts import Texts
from vqagen.rng import shuffled, stream

HUMAN, HUMANS = "human", ("human1", "human2")


def caption_draft(human: str, files: Mapping[str, str], folder: str, texts: Texts, settings: PlanSettings) -> Draft:
    """Return what a study of captions is made of. BadInput with all mistakes of the inputs."""
    there = find_images(folder)
    documents = read_captions({human: "people", **dict.fromkeys(files.values(), "system")})
    common, notes = common_images({"the folder": there, **documents})
    people = {
        name: list({plain_text(caption): caption for caption in documents[human][name][::-1]}.values())
        for name in common
    }
    order = shuffled(stream(settings.seed, "human/images"), common)
    number = settings.num_images or len(order)
    single = sum(len(people[name]) < 2 for name in order[:number])
    if settings.human_human and single == len(order[:number]):
        message = "no image has two different human captions, which --human-human compares; leave it out"
        raise BadInput([Problem(message, human)])
    images = read_images(folder, order[: number + PRACTICE_TRIALS])  # practice is made of others, if there are any
    shown, systems = {name: images[name] for name in order[:number]}, {name: documents[files[name]] for name in files}
    items = list(comparisons(shown, people, systems, texts, settings.seed, human_human=settings.human_human))
    notes += equal_captions(items, systems, len(shown))
    copies = len(images) - len({image.sha256 for image in images.values()})
    table = (
        (single * settings.human_human, "image", "without a human-human pair: there is one human caption"),
        (copies, "image", "with the picture of another one; no task shows a picture twice"),
    )
    notes += [f"{counted(times, thing)} {what}" for times, thing, what in table if times]
    return Draft(
        items, images, folder, {"human captions": human, **files}, notes, {name: people[name] for name in images}
    )


def equal_captions(items: Collection[StudyItem], systems: Iterable[str], images: int) -> list[str]:
    """Return for each system how many comparisons about a number of images were left out. BadInput if all were."""
    made = Counter(item.candidates[1].source for item in items if item.candidates[1].role == SYSTEM)
    left_out = {name: counted(images - made[name], "comparison") for name in systems if made[name] < images}
    if left_out and not items:
        raise BadInput([Problem(f"{', '.join(left_out)} wrote what people wrote: there is nothing to compare")])
    return [f"left out: {number}, as {name} wrote what people wrote" for name, number in left_out.items()]


def read_captions(files: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Return the content of each file. BadInput with the mistakes of all files.

    `files` says whose captions a file has: of "people", image -> list of captions, or of a "system", image -> caption.
    """
    problems: list[Problem] = []
    documents = {}
    for file, kind in files.items():
        with collecting(problems):
            documents[file] = read_object(locate(file), partial(schema_faults, name="human-captions", definition=kind))
    if problems:
        raise BadInput(problems)
    return documents


def common_images(listed: Mapping[str, Mapping[str, object]]) -> tuple[list[str], list[str]]:
    """Return the images that every place has, in sorted order, and a sentence for each place that lacks images.

    `listed` has the images of each place by its name. BadInput if there is no such image.
    """
    everything = set[str]().union(*listed.values())
    common = sorted(everything.intersection(*listed.values()))
    if not common:
        shown = ", ".join(f"{source} has {next(map(repr, names), 'none')}" for source, names in listed.items())
        raise BadInput([Problem(f"no image has captions in all files: {shown}")])
    missing = {source: sorted(everything.difference(names)) for source, names in listed.items()}
    left_out = [
        f"left out: {counted(len(names), 'image')} that {source} lacks, such as {', '.join(names[:3])}"
        for source, names in missing.items()
        if names
    ]
    return common, left_out


def comparisons(
    images: Mapping[str, StudyImage],
    human: Mapping[str, Sequence[str]],
    systems: Mapping[str, Mapping[str, str]],
    texts: Texts,
    seed: int,
    *,
    human_human: bool = False,
) -> Iterator[StudyItem]:
    """Yield the comparisons of each image: at most one of two people, then one of each system.

    A human caption is drawn for each comparison, never one that equals the system's (see `plain_text`): without another
    one, the comparison is left out.
    """
    for name, image in sorted(images.items()):
        order = shuffled(stream(seed, f"human/captions/{image.sha256}/{name}"), human[name])
        pairs: list[list[tuple[str, str, Role]]] = []
        if human_human and len(order) > 1:
            pairs.append([(text, who, REFERENCE) for text, who in zip(order, HUMANS, strict=False)])
        for number, (system, captions) in enumerate(systems.items()):
            drawn = [*order[number % len(order) :], *order[: number % len(order)]]
            others = [caption for caption in drawn if plain_text(caption) != plain_text(captions[name])]
            pairs += [[(caption, HUMAN, REFERENCE), (captions[name], system, SYSTEM)] for caption in others[:1]]
        for pair in pairs:
            candidates = tuple(
                Candidate(*text_and_source, str(number)) for number, text_and_source in enumerate(pair, 1)
            )
            longer = length_difference(*(candidate.text for candidate in candidates))
            item = StudyItem(image=name, candidates=candidates, strata={LENGTH_DIFFERENCE: longer})
            yield identified(texts.worded(item), image.sha256)
