"""Making items for raters from the files of questions, dialogs and director trials, as typed calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec.json import Encoder

from vqagen.errors import UsageError
from vqagen.files.locations import locate
from vqagen.files.output import atomic_output, check_ending, check_output
from vqagen.files.shipped import require
from vqagen.human.items.answers import scene_answers, trial_answers
from vqagen.human.items.captions import HUMAN_LIKE, caption_items, captions_of_scenes
from vqagen.human.items.settings import ItemSettings
from vqagen.human.study.item import StudyItem
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue
from vqagen.tasks.record_files import DIALOGS, SAMPLES, TRIALS, kind_of_file
from vqagen.world.loading import find_scenes


def make_items(
    scenes: PathLike | None = None,
    file: PathLike | None = None,
    systems: Mapping[str, PathLike] | None = None,
    settings: ItemSettings | None = None,
    files: DomainFiles | None = None,
) -> list[StudyItem]:
    """Return items for raters.

    Raters answer the questions, the rounds of dialogs or the director trials in `file`; trials have no `scenes`. With
    `systems`, raters compare the captions in the dialogs of each of these with those of the dialogs in `file`, or
    without `file` with each other; each check has a caption that a program proves to be untrue of its scene. Raises
    BadInput.
    """
    settings, systems, files = settings or ItemSettings(), dict(systems or {}), files or find_domain()
    if HUMAN_LIKE in systems:
        raise UsageError(f"a system cannot be called {HUMAN_LIKE!r}, as the captions of people are; rename it")
    given = {**({} if file is None else {HUMAN_LIKE: file}), **systems}
    paths = {name: require(locate(str(path)), "questions, dialogs or trials") for name, path in given.items()}
    kinds = [kind_of_file(path) for path in paths.values()]
    if not systems and kinds and kinds[0] in (TRIALS, SAMPLES):
        return list(trial_answers(paths[HUMAN_LIKE]))
    if scenes is None:
        raise UsageError("--scenes is missing: raters see the pictures of scenes")
    source = find_scenes(str(scenes))
    if not systems and kinds:
        return list(scene_answers(paths[HUMAN_LIKE], kinds[0], source, files, settings))
    if len(kinds) > 1 and set(kinds) == {DIALOGS}:
        catalogue = load_catalogue(files)[0]
        return list(caption_items(captions_of_scenes(paths, source, catalogue), catalogue, settings))
    shown = ", ".join(f"{path} holds {kind.key}" for path, kind in zip(given.values(), kinds, strict=True))
    raise UsageError(
        "nothing to ask: name a file to answer, or dialogs of two sources to compare (--system NAME=FILE); found"
        f" {shown or 'none'}"
    )


def write_items(items: Sequence[StudyItem], out: PathLike, *, force: bool = False) -> None:
    """Write items as JSON Lines, which `make_item_tasks` reads."""
    check_ending(str(out), [".jsonl"], "items")
    check_output(str(out), force)
    with atomic_output(str(out)) as file:
        file.write(Encoder().encode_lines(items))
