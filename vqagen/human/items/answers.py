"""Items that raters answer as models do: questions, rounds of dialogs and director trials of a file.

The right answer is the gold answer, and the `record` is that of a prediction, so that the answers of people are
predictions like those of a model. A question is answered by the form that its kind of answer has: yes or no, a number,
a value of one attribute; or by a text, where nothing is known of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from msgspec.structs import replace

from vqagen.errors import BadInput, Problem
from vqagen.files.locations import Location
from vqagen.files.records import RecordKind
from vqagen.human.items.captions import FAMILY, PROGRAM_LENGTH, SCENE_SIZE, TEMPLATE, records_about_scenes
from vqagen.human.items.settings import ItemSettings
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
from vqagen.items.table import Items
from vqagen.language.domain_files import DomainFiles, load_catalogue, load_domain_files
from vqagen.language.question import QUESTIONS
from vqagen.pictures.canvas import DIRECTOR, GridStyle
from vqagen.rng import shuffled, stream
from vqagen.score.items import read_items
from vqagen.tasks.director.rules import labels
from vqagen.tasks.record_files import DIALOGS, TRIALS, find_trials, settings_of
from vqagen.world.domain import Domain
from vqagen.world.loading import SceneSource

_STRATA: Mapping[str, Mapping[str, str]] = {
    QUESTIONS.key: {TEMPLATE: "family", FAMILY: "category", PROGRAM_LENGTH: "program_length"},
    DIALOGS.key: {TEMPLATE: "label", FAMILY: "category", "history": "history", "round": "round"},
    TRIALS.key: {name: name for name in ("type", "rule_class", "frame", "physics")},
}
"""Kind of file -> stratum -> the field that `vqagen evaluate` groups by."""
_LARGEST = 10
"""The largest number that may be given, if no scene has more objects."""
_MOST_OPTIONS = 60
_STORY = (
    "You see a shelf from the front. The director stands on the opposite side and sees it from behind. Cells with a"
    " grey back are blocked: the director cannot see into them, and does not know what they hold. Find the item that"
    " the director means."
)


def scene_answers(
    file: Location, kind: RecordKind, scenes: SceneSource, files: DomainFiles, settings: ItemSettings
) -> Iterator[StudyItem]:
    """Yield the items of questions, or of the rounds of dialogs. BadInput for those whose scene has no picture."""
    items = read_items(str(file), learning=True, allow_unanswered=True)
    domain = load_catalogue(files)[0].domain
    about = [scene for _, scene in records_about_scenes(file, kind, scenes, domain)]
    forms = _forms(items, files, domain, max((_LARGEST, *(scene.size for scene in about))))
    units: dict[int, dict[str, list[StudyItem]]] = {}
    for place, number in enumerate(items.records.tolist()):
        scene, gold = about[number], items.gold.at(place)
        known = [each.at(place) for name, each in items.fields.items() if name in ("attribute", "family")]
        keys = (*((gold.kind, gold.text) if gold else ()), *known)
        form = next((forms[key] for key in keys if key in forms), TextForm())
        item = _item(items, place, scene.image, form, scene.size)
        unit = units.setdefault(scene.index, {}).setdefault(item.series or items.ids[place], [])
        unit.append(replace(item, history=_history(unit, items, place)) if item.series else item)
    for index in sorted(units):
        order = shuffled(stream(settings.seed, "human/items/answers", index), list(units[index].values()))
        yield from chain.from_iterable(order[: settings.per_image])


def _item(items: Items, place: int, image: str, form: AnswerForm, size: int | None = None) -> StudyItem:
    """Return an item without history."""
    id, answer, key = items.ids[place], items.answers.at(place), f"{items.kind.removesuffix('s')}_index"
    dialog, _, number = id.rpartition("/") if items.kind == DIALOGS.key else ("", "", "0")
    known = {name: items.fields[each].at(place) for name, each in _STRATA[items.kind].items() if each in items.fields}
    return StudyItem(
        kind=ANSWER,
        dimension=items.kind,
        prompt=items.learning.texts.at(place),
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


def _history(earlier: Sequence[StudyItem], items: Items, place: int) -> tuple[Exchange, ...]:
    """Return the caption of a dialog and its earlier rounds with their right answers."""
    if earlier:
        last, gold = earlier[-1], earlier[-1].gold
        return (*last.history, Exchange(last.prompt, gold.answer or "" if gold else ""))
    return (Exchange(items.learning.histories.at(place)),)  # before the first round, this is the caption


def _forms(items: Items, files: DomainFiles, domain: Domain, largest: int) -> dict[str, AnswerForm]:
    """Return forms by what decides them: a kind of answers, a value, an attribute; a template if answers are hidden."""
    further = (NONE_THERE,) if items.kind == DIALOGS.key else ()
    values = {name: domain.values_of(name) for name in domain.value_types}
    choices = {name: ChoiceForm((*each, *further)) for name, each in values.items() if 1 < len(each) <= _MOST_OPTIONS}
    forms: dict[str, AnswerForm] = {"Bool": ChoiceForm(("yes", "no")), "Integer": NumberForm(0, largest), **choices}
    types = {
        BOOL: "Bool",
        INTEGER: "Integer",
        **{value: name for name, each in values.items() for value in each},
        **{attribute.name: attribute.type for attribute in domain.attributes},
    }
    if items.unanswered:
        types |= {template.id: template.answer_type for template in load_domain_files(files).templates}
    return {key: forms[name] for key, name in types.items() if name in forms}


# Director trials ------------------------------------------------------------------------------------------------------


def trial_answers(file: Location) -> Iterator[StudyItem]:
    """Yield the items of director trials: a cell of the grid is chosen.

    Every cell with an item can be chosen, also one that the director cannot see: to choose it is the mistake that such
    trials measure. The instruction asks for an item, so an empty cell cannot be chosen.
    """
    source = find_trials(file)
    items = read_items(str(file), learning=True)
    for place, record in enumerate(source.records()):
        image = str(record.get("image"))
        if not image.endswith(".png") or settings_of(source).get("view") == DIRECTOR:
            message = "no PNG picture of the participant's view; make trials by `vqagen director generate --render png`"
            raise BadInput([Problem(message, str(file), TRIALS.path(place))])
        item = _item(items, place, image, _grid_form(record["width"], record["height"], record["cells"]))
        yield replace(item, prompt=f'The director says: "{item.prompt}"', history=(Exchange(_STORY),))


def _grid_form(columns: int, rows: int, names: Sequence[str | None]) -> CellForm:
    """Return the form of a drawn grid, whose cells are given row by row."""
    canvas = GridStyle(columns, rows)
    (width, height), shelf = canvas.size, canvas.shelf
    area = shelf.left / width, shelf.top / height, shelf.width / width, shelf.height / height
    cells = (label if name else "" for label, name in zip(labels(columns, rows), names, strict=True))
    return CellForm(rows, columns, area, tuple(cells))
