"""Items that raters answer as models do: questions, rounds of dialogs and director trials of a file.

The right answer is the gold answer, and the `record` is that of a prediction, so that the answers of people are
predictions like those of a model. A question is answered by the form that its kind of answer has: yes or no, a number,
a value of one attribute; or by a text, where nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from msgspec.json import Encoder
from msgspec.structs import replace

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.locations import Location, locate, require
from vqagen.files.output import atomic_output, check_ending, check_output
from vqagen.files.records import RecordKind, open_records
from vqagen.human.settings import ItemSettings
from vqagen.human.study.item import (
    ANSWER,
    AnswerForm,
    CellForm,
    ChoiceForm,
    Exchange,
    GoldValue,
    NumberForm,
    StudyItem,
    TextForm,
)
from vqagen.items.answers import BOOL, INTEGER, NONE_THERE
from vqagen.items.scene_lookup import QuestionFault, records_with_scenes
from vqagen.items.table import Items
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue, load_domain_files
from vqagen.language.question import QUESTIONS
from vqagen.pictures.canvas import DIRECTOR, GridStyle
from vqagen.rng import shuffled, stream
from vqagen.score.items import read_items
from vqagen.tasks.director.rules import labels
from vqagen.tasks.record_files import DIALOGS, SAMPLES, TRIALS, find_trials, kind_of_file, settings_of
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource, find_scenes
from vqagen.world.scene import Scene

SCENE_SIZE, PROGRAM_LENGTH, TEMPLATE, FAMILY = "scene_size", "program_length", "template", "family"
"""Strata of items: objects of the scene, steps of the program, template and kind of the question."""
_STRATA: Mapping[str, Mapping[str, str]] = {
    QUESTIONS.key: {TEMPLATE: "family", FAMILY: "category", PROGRAM_LENGTH: "program_length"},
    DIALOGS.key: {TEMPLATE: "label", FAMILY: "category", "history": "history", "round": "round"},
    TRIALS.key: {name: name for name in ("type", "rule_class", "frame", "physics")},
}
"""Kind of file -> stratum -> the field that `vqagen evaluate` groups by."""
_LARGEST = 10
"""The largest number that may be given, if no scene has more objects."""
_MOST_OPTIONS = 60
_HELD, _SHOWN = 1000, 20
"""Records whose scenes are read at once; mistakes that are shown."""
_STORY = (
    "You see a shelf from the front. The director stands on the opposite side and sees it from behind. Cells with a"
    " grey back are blocked: the director cannot see into them, and does not know what they hold. Find the item that"
    " the director means."
)


def make_items(
    scenes: PathLike | None,
    file: PathLike,
    settings: ItemSettings | None = None,
    files: DomainFiles | None = None,
) -> list[StudyItem]:
    """Return items of the questions, the rounds of dialogs or the director trials in `file`, for raters to answer.

    `scenes` are what questions and dialogs are about; trials have none. Raises BadInput.
    """
    path = require(locate(str(file)), "questions, dialogs or trials")
    kind = kind_of_file(path)
    if kind in (TRIALS, SAMPLES):
        return list(_trial_items(path))
    if scenes is None:
        raise UsageError("--scenes is missing: raters see the pictures of scenes")
    return list(_scene_items(path, kind, find_scenes(str(scenes)), files or find_domain(), settings or ItemSettings()))


def write_items(items: Sequence[StudyItem], out: PathLike, *, force: bool = False) -> None:
    """Write items as JSON Lines, which `make_item_tasks` reads."""
    check_ending(str(out), [".jsonl"], "items")
    check_output(str(out), force)
    with atomic_output(str(out)) as file:
        file.write(Encoder().encode_lines(items))


# Questions and dialogs ------------------------------------------------------------------------------------------------


def _scene_items(
    file: Location, kind: RecordKind, scenes: SceneSource, files: DomainFiles, settings: ItemSettings
) -> Iterator[StudyItem]:
    """Yield the items of questions, or of the rounds of dialogs. BadInput for those whose scene has no picture."""
    items = read_items(str(file), learning=True, allow_unanswered=True)
    if (items.is_place | items.is_marked).any():
        raise UsageError(f"{file} asks for places, to which raters have no way to point; leave these questions out")
    domain = load_catalogue(files)[0].domain
    about = _scenes_of(file, kind, scenes, domain)
    forms = _forms(items, files, domain, max((_LARGEST, *(scene.size for scene in about))))
    units: dict[int, dict[str, list[StudyItem]]] = {}
    for row, number in enumerate(items.records.tolist()):
        scene, gold = about[number], items.gold.at(row)
        known = [column.at(row) for name, column in items.fields.items() if name in ("attribute", "family")]
        keys = (*((gold.kind, gold.text) if gold else ()), *known)
        form = next((forms[key] for key in keys if key in forms), TextForm())
        item = _item(items, row, scene.image, form, scene.size)
        unit = units.setdefault(scene.index, {}).setdefault(item.series or items.ids[row], [])
        unit.append(replace(item, history=_history(unit, items, row)) if item.series else item)
    for index in sorted(units):
        order = shuffled(stream(settings.seed, "human/items/answers", index), list(units[index].values()))
        yield from chain.from_iterable(order[: settings.per_image])


def _scenes_of(file: Location, kind: RecordKind, scenes: SceneSource, domain: Domain) -> list[Scene]:
    """Return the scene of each record of a file. BadInput for a missing scene or picture."""
    found_scenes, problems = list[Scene](), list[Problem]()
    for index, _, scene in records_with_scenes(open_records(file, kind).records(), scenes, domain, _HELD):
        if isinstance(scene, Scene) and scene.image:
            found_scenes.append(scene)
            continue
        unnamed = "image_filename of its scene is missing: raters see the picture of this name"
        message = scene.problem if isinstance(scene, QuestionFault) else unnamed
        problems.append(Problem(message, str(file), kind.path(index)))
    if problems:
        raise BadInput(problems[:_SHOWN])
    return found_scenes


def _item(items: Items, row: int, image: str, form: AnswerForm, size: int | None = None) -> StudyItem:
    """Return an item without history."""
    id, answer, key = items.ids[row], items.answers.at(row), f"{items.kind.removesuffix('s')}_index"
    dialog, _, number = id.rpartition("/") if items.kind == DIALOGS.key else ("", "", "0")
    known = {name: items.fields[field].at(row) for name, field in _STRATA[items.kind].items() if field in items.fields}
    return StudyItem(
        kind=ANSWER,
        dimension=items.kind,
        prompt=items.learning.texts.at(row),
        image=image,
        form=form,
        gold=None if answer is None else GoldValue(answer=answer),
        series=f"dialog {dialog}" if dialog else "",
        place=int(number),
        record={key: _number(dialog), "round": int(number)} if dialog else {key: _number(id)},
        strata={name: value for name, value in {**known, SCENE_SIZE: size}.items() if value is not None},
    )


def _number(id: str) -> int | str:
    """Return an id as files have it: nearly all are numbers."""
    return int(id) if id.isdecimal() and str(int(id)) == id else id


def _history(earlier: Sequence[StudyItem], items: Items, row: int) -> tuple[Exchange, ...]:
    """Return the caption of a dialog and its earlier rounds with their right answers."""
    if earlier:
        last, gold = earlier[-1], earlier[-1].gold
        return (*last.history, Exchange(last.prompt, gold.answer or "" if gold else ""))
    return (Exchange(items.learning.histories.at(row)),)  # before the first round, this is the caption


def _forms(items: Items, files: DomainFiles, domain: Domain, largest: int) -> dict[str, AnswerForm]:
    """Return forms by what decides them: a kind of answers, a value, an attribute; a template if answers are hidden."""
    further = (NONE_THERE,) if items.kind == DIALOGS.key else ()
    values = {name: domain.values_of(name) for name in domain.value_types}
    choices = {
        name: ChoiceForm((*words, *further)) for name, words in values.items() if 1 < len(words) <= _MOST_OPTIONS
    }
    forms: dict[str, AnswerForm] = {"Bool": ChoiceForm(("yes", "no")), "Integer": NumberForm(0, largest), **choices}
    types = {
        BOOL: "Bool",
        INTEGER: "Integer",
        **{value: name for name, words in values.items() for value in words},
        **{attribute.name: attribute.type for attribute in domain.attributes},
    }
    if items.unanswered:
        types |= {template.id: template.answer_type for template in load_domain_files(files).templates}
    return {key: forms[name] for key, name in types.items() if name in forms}


# Director trials ------------------------------------------------------------------------------------------------------


def _trial_items(file: Location) -> Iterator[StudyItem]:
    """Yield the items of director trials: a cell of the grid is chosen.

    Every cell with an item can be chosen, also one that the director cannot see: to choose it is the mistake that such
    trials measure. The instruction asks for an item, so an empty cell cannot be chosen.
    """
    source = find_trials(file)
    items = read_items(str(file), learning=True)
    for row, record in enumerate(source.records()):
        image = str(record.get("image"))
        if not image.endswith(".png") or settings_of(source).get("view") == DIRECTOR:
            message = "no PNG picture of the participant's view; make trials by `vqagen director generate --render png`"
            raise BadInput([Problem(message, str(file), TRIALS.path(row))])
        item = _item(items, row, image, _grid_form(record["width"], record["height"], record["cells"]))
        yield replace(item, prompt=f'The director says: "{item.prompt}"', history=(Exchange(_STORY),))


def _grid_form(columns: int, rows: int, names: Sequence[str | None]) -> CellForm:
    """Return the form of a drawn grid, whose cells are given row by row."""
    canvas = GridStyle(columns, rows)
    (width, height), shelf = canvas.size, canvas.shelf
    area = shelf.left / width, shelf.top / height, shelf.width / width, shelf.height / height
    cells = (label if name else "" for label, name in zip(labels(columns, rows), names, strict=True))
    return CellForm(rows, columns, area, tuple(cells))
