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
from vqagen.human.items.questions import question_items
from vqagen.human.items.settings import ANSWERS, ItemSettings
from vqagen.human.study.item import Item
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue, load_domain_files
from vqagen.language.question_files import QUESTIONS
from vqagen.tasks.record_files import DIALOGS, SAMPLES, TRIALS, kind_of_file
from vqagen.world.loading import find_scenes


def make_items(
    scenes: PathLike | None = None,
    file: PathLike | None = None,
    systems: Mapping[str, PathLike] | None = None,
    settings: ItemSettings | None = None,
    files: DomainFiles | None = None,
) -> list[Item]:
    """Return items for raters.

    `file` holds questions, whose wordings are compared, or dialogs, whose captions are the reference of
    the captions in the dialogs of each of `systems`. Without `file` the systems are compared with each other. Each
    check has a text that a program proves to be untrue of its scene. With `compare="answers"` raters answer the
    questions, the rounds of dialogs or the director trials in `file`; trials have no `scenes`. Raises BadInput.
    """
    settings, systems, files = settings or ItemSettings(), dict(systems or {}), files or find_domain()
    if HUMAN_LIKE in systems:
        raise UsageError(f"a system cannot be called {HUMAN_LIKE!r}, as the captions of people are; rename it")
    given = {**({} if file is None else {HUMAN_LIKE: file}), **systems}
    paths = {name: require(locate(str(path)), "questions, dialogs or trials") for name, path in given.items()}
    kinds = [kind_of_file(path) for path in paths.values()]
    if settings.compare == ANSWERS and list(given) != [HUMAN_LIKE]:
        raise UsageError("raters answer what is in one file: name it, and no system")
    if settings.compare == ANSWERS and kinds[0] in (TRIALS, SAMPLES):
        return list(trial_answers(paths[HUMAN_LIKE]))
    if scenes is None:
        raise UsageError("--scenes is missing: raters see the pictures of scenes")
    source = find_scenes(str(scenes))
    if settings.compare == ANSWERS:
        return list(scene_answers(paths[HUMAN_LIKE], kinds[0], source, files, settings))
    if kinds == [QUESTIONS]:
        return list(question_items(paths[HUMAN_LIKE], source, load_domain_files(files), settings))
    if len(kinds) > 1 and set(kinds) == {DIALOGS}:
        return list(caption_items(captions_of_scenes(paths, source, load_catalogue(files)[0]), settings))
    shown = ", ".join(f"{path} holds {kind.key}" for path, kind in zip(given.values(), kinds, strict=True))
    raise UsageError(
        f"nothing to compare: name a file of questions, or dialogs of two sources (--system NAME=FILE); found"
        f" {shown or 'none'}"
    )


def write_items(items: Sequence[Item], out: PathLike, *, force: bool = False) -> None:
    """Write items as JSON Lines, which `make_item_tasks` reads."""
    check_ending(str(out), [".jsonl"], "items")
    check_output(str(out), force)
    with atomic_output(str(out)) as file:
        file.write(Encoder().encode_lines(items))
