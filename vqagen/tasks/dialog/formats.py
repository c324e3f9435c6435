"""Dialogs in the formats of other tools: CLEVR-Dialog's own files, and VisDial's, which models for photographs read.

CLEVR-Dialog has one entry for each image, with its dialogs:

    {"split", "image_index", "image_filename", "dialogs": [
        {"caption", "template", "dialog": [{"question", "answer", "template"}, …],
         "template_info": [of the caption, and of each round], "graph": {…}}, …]}

An answer is a whole number if the question counts, and else a text. Two things differ from the reference's files: a
dialog says the `template` of its caption, and an item of the history keeps what its round told when later rounds tell
more of the same objects. The `graph` says what each round told (`history`), and what is known at the end:

    objects        object -> {"id", the values that were told, and what was answered about it: <relation>_count,
                   <relation>_exist, <attribute>_exclude_count, <attribute>_exclude_exist; "unique"}
    relationships  relation -> {object: [those that stand so to it]}, of captions; as in scenes
    counts, exists empty, as in the reference
    history        the caption and the rounds: {"round", "template", "mergeable", "objects"} and, as far as there are
                   any, "count", the value asked about, "focus_id", "focus_desc" and "dependence"

An item's `objects` are those that its answer is about, each with what this round told of it and nothing that was told
later; the focus of the question is known by its `focus_id`. The items that are `mergeable`, merged one after the other,
give the graph's objects, but for what was answered about a focus.

VisDial has questions and answers by number, and options to choose from:

    {"version", "data": {
        "dialogs": [{"image_id", "dialog_id", "split", "image_filename", "caption", "dialog": [
            {"question": 3, "answer": 0, "template": "exist-attribute", "answer_options": [0, 1, …], "gt_index": 0}, …
        ]}, …],
        "questions": ["…"], "answers": ["…"]}, "split"}

As in VisDial's files, a question has no question mark and a caption no full stop: readers put them there. `image_id` is
the number of the image. As an image has several dialogs, `dialog_id` numbers the dialogs: a reader that numbers the
questions of all files by `10 * image_id + round` must take it instead.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem
from vqagen.files.formats import Record
from vqagen.files.locations import Location
from vqagen.files.records import RecordKind
from vqagen.files.stream import JsonReader, reading
from vqagen.tasks.foreign import Entry, ForeignFormat, FoundEntry, image_number

INPUTS = {
    "attribute": {"type": "Attribute", "name": "<A>"},
    "relation": {"type": "Relation", "name": "<R>"},
    "descriptor": {"type": "Description", "name": "<D>"},
    "value": {"type": "Value", "name": "<V>"},
    "values": {"type": "Description", "name": "<D>"},
    "subject_value": {"type": "Description", "name": "<D>"},
    "anchor_value": {"type": "Description", "name": "<D2>"},
    "count": {"type": "Number", "name": "<K>"},
}
"""Argument of a program -> the slot that says it."""
Facts = dict[str, Any]
UNTOLD = frozenset({"count-att-no", "exist-other"})
"""Labels of which nobody knows afterwards how many objects, and which, are meant: they are not mergeable."""


class ClevrDialog(ForeignFormat):
    """The dialogs of an image with their templates and graphs."""

    name = "clevr-dialog"
    kind = RecordKind("images")

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each image."""
        for _, about_image in groupby(records, key=lambda record: record["scene_index"]):
            dialogs = list(about_image)
            yield {
                "split": dialogs[0].get("split"),
                "image_index": image_number(dialogs[0]),
                "image_filename": dialogs[0].get("image_filename"),
                "dialogs": list(map(_dialog, dialogs)),
            }

    def records_in(self, entry: Entry) -> int:
        """Return how many dialogs an image has."""
        return len(entry["dialogs"])


def _dialog(record: Record) -> dict[str, Any]:
    caption, rounds = record["caption"], record["rounds"]
    return {
        "caption": caption["text"],
        "template": caption["label"],
        "dialog": [
            {"question": round["question"], "answer": _typed_answer(round), "template": round["label"]}
            for round in rounds
        ],
        "template_info": [_template("caption", caption), *(_template(round["family"], round) for round in rounds)],
        "graph": _graph(record),
    }


def _typed_answer(round: Record) -> str | int:
    """Return the answer of a round as CLEVR-Dialog has it: a number if the question counts."""
    return int(round["answer"]) if round["family"] == "count" else str(round["answer"])


def _template(family: str, sentence: Record) -> dict[str, Any]:
    """Return the template of a caption or round, without its texts.

    The place of the text that was used is the `index`. `references` has a list for each text up to that one, which says
    where it mentions objects; the other lists are empty.
    """
    variant = sentence["variant"]
    return {
        "name": sentence["label"],
        "type": family,
        "label": sentence["label"],
        "inputs": [INPUTS[name] for name in sentence["program"]["args"] if name in INPUTS],
        "constraints": [],
        "references": [
            *([] for _ in range(variant)),
            [{"role": mention["role"], "span": mention["span"]} for mention in sentence["mentions"]],
        ],
        "index": variant,
    }


def _graph(record: Record) -> Facts:
    item = _caption_item(record["caption"])
    history, known, relationships = [item], dict[int, Facts](), {}
    if "relation" in item:
        subject, anchor = item["objects"]
        relationships = {item["relation"]: {str(anchor["id"]): [subject["id"]]}}
    _merge(known, item)
    for number, round in enumerate(record["rounds"], start=1):
        item = _round_item(number, round, history[-1], known)
        history.append(item)
        _merge(known, item)
        if "focus_id" in item:
            known.setdefault(item["focus_id"], {"id": item["focus_id"]}).update(_told_of_focus(round))
    objects = {str(entity): facts for entity, facts in sorted(known.items())}
    return {"objects": objects, "relationships": relationships, "counts": {}, "exists": {}, "history": history}


def _merge(known: dict[int, Facts], item: Facts) -> None:
    for told in item["objects"] if item["mergeable"] else ():
        known.setdefault(told["id"], {}).update(told)


def _caption_item(caption: Record) -> Facts:
    label, args = caption["label"], caption["program"]["args"]
    item: Facts = {"round": 0, "template": label, "mergeable": label not in UNTOLD, "objects": []}
    if "relation" in args:
        told = [{"id": args[role], **args[f"{role}_value"]} for role in ("subject", "anchor")]
        item |= {"objects": told, "relation": args["relation"]}
    elif "attribute" in args:
        said = {args["attribute"]: args["value"]}
        item |= {"objects": [{"id": entity, **said} for entity in args["objects"]], **said}
        item |= {"count": args["count"]} if "count" in args else {}
    else:
        item["objects"] = [{"id": args["object"], **args["values"], **_told_of_place(label)}]
    return {**item, "group_id": 0}  # which the reference writes and nothing reads


def _told_of_place(label: str) -> Facts:
    """Return what a caption about one object tells besides its values."""
    if label == "unique-obj":
        return {"unique": True}
    place = label.removeprefix("extreme-")
    return {} if place == "center" else {f"{place}_count": 0, f"{place}_exist": False}


def _round_item(number: int, round: Record, before: Facts, known: dict[int, Facts]) -> Facts:
    label, args, result = round["label"], round["program"]["args"], round["referents"]["result"]
    said = _said(round, known)
    if round["family"] == "seek" and "relation" not in args:
        result = [args["focus"]]
    inherited = {told["id"]: told for told in before["objects"]} if label.endswith("-group") else {}
    item: Facts = {
        "round": number,
        "template": label,
        "mergeable": label not in UNTOLD,
        "objects": [{**inherited.get(entity, {"id": entity}), **said} for entity in result],
    }
    if round["family"] == "count":
        item["count"] = _typed_answer(round)
    if "value" in args:
        item |= said
    if "focus" in args:
        name: Mapping[str, str] | None = args.get("descriptor")  # none for a pronoun, or for no words at all
        described = {"required": list(name), "optional": [], **name} if name else None
        item |= {"focus_id": args["focus"], "focus_desc": described}
    return {**item, "dependence": round["history"]["dependence"]}


def _said(round: Record, known: dict[int, Facts]) -> Facts:
    """Return the value that a round tells of the objects its answer is about."""
    args = round["program"]["args"]
    if "attribute" not in args:
        return {}
    attribute, value = args["attribute"], args.get("value")
    if round["family"] == "seek":
        value = round["answer"]
    elif value is None:  # it asks for others with the value of the focus
        value = known.get(args["focus"], {}).get(attribute)
    return {} if value is None else {attribute: value}


def _told_of_focus(round: Record) -> Facts:
    """Return what a round tells of the object that it refers back to."""
    args, answer = round["program"]["args"], _typed_answer(round)
    relation = args.get("relation")
    if round["family"] != "seek":
        return {f"{relation or args['attribute'] + '_exclude'}_{round['family']}": answer}
    if relation is None:
        return {}
    return {f"{relation}_count": 0, f"{relation}_exist": "no"} if answer == "none" else {f"{relation}_exist": "yes"}


# VisDial --------------------------------------------------------------------------------------------------------------

VERSION = b"1.0"
DIALOGS = "dialogs"
LISTS = ("questions", "answers")
"""The lists behind the dialogs."""


class VisDial(ForeignFormat):
    """A document of dialogs, and behind them the questions and answers that their numbers refer to.

    A question has its number from the first dialog that asks it. The answers are all that the domain has, and each is
    an option of every round; an answer that is none of them, such as a larger number, is added when it comes first. The
    document's split is that of its first dialog.
    """

    name = "visdial"
    number_key = "dialog_id"

    def __init__(self, info: Mapping[str, Any]) -> None:
        super().__init__(info)
        self._splits: list[str | None] = []
        answers = {answer: number for number, answer in enumerate(info["generator"].get("answers", ()))}
        self._numbers: dict[str, dict[str, int]] = {"questions": {}, "answers": answers}
        """Name of a list -> text -> its number."""

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each dialog, with its texts."""
        for record in records:
            yield {
                "image_id": image_number(record),
                "dialog_id": record["dialog_index"],
                "split": record.get("split"),
                "image_filename": record.get("image_filename"),
                "caption": record["caption"]["text"].removesuffix("."),
                "dialog": [
                    {
                        "question": round["question"].removesuffix("?"),
                        "answer": str(round["answer"]),
                        "template": round["label"],
                    }
                    for round in record["rounds"]
                ],
            }

    def head(self) -> bytes:
        """Return the document up to its first dialog."""
        return b'{"version": "%s", "data": {"%s": [' % (VERSION, DIALOGS.encode())

    def written(self, entry: Entry) -> Entry:
        """Return a dialog with numbers in place of its texts."""
        self._splits = self._splits or [entry["split"]]
        return {**entry, "dialog": list(map(self._indexed, entry["dialog"]))}

    def whole(self, entry: Entry, written: Entry) -> Entry:
        """Return a dialog with its texts."""
        return entry

    def tail(self) -> bytes:
        """Return the lists behind the dialogs, and the end of the document."""
        lists = (b', "%s": %s' % (name.encode(), orjson.dumps(list(texts))) for name, texts in self._numbers.items())
        return b'\n]%s}, "split": %s}\n' % (b"".join(lists), orjson.dumps(next(iter(self._splits), None)))

    def _indexed(self, round: dict[str, Any]) -> dict[str, Any]:
        questions, answers = self._numbers.values()
        question = questions.setdefault(round["question"], len(questions))
        answer = answers.setdefault(round["answer"], len(answers))
        options = {"answer_options": list(range(len(answers))), "gt_index": answer}
        return {**round, "question": question, "answer": answer, **options}

    def read(self, path: Location) -> Iterator[FoundEntry]:
        """Yield the entries of a file, with their texts. BadInput for what is no such document."""
        lists = {name: _list_in(path, name) for name in LISTS}
        with reading(path) as reader:
            for _ in _members_of_data(reader, DIALOGS):
                reader.take(b"[")
                for index in reader.rest_of_list(f"data.{DIALOGS}"):
                    try:
                        entry = _restored(reader.value(), lists)
                    except (LookupError, TypeError, AttributeError):
                        where = f"data.{DIALOGS}[{index}]"
                        raise BadInput([Problem("not a dialog of such a file", str(path), where)]) from None
                    yield FoundEntry(entry, orjson.dumps(entry))


def _restored(entry: Entry, lists: Mapping[str, list[str]]) -> Entry:
    """Return a dialog of a document with its texts in place of their numbers, which `lists` has.

    Raises LookupError, TypeError or AttributeError for what no such document holds.
    """
    rounds = []
    for round in entry["dialog"]:
        rest = {key: value for key, value in round.items() if key not in ("answer_options", "gt_index")}
        texts = {"question": lists["questions"][round["question"]], "answer": lists["answers"][round["answer"]]}
        rounds.append({**rest, **texts})
    return {**entry, "dialog": rounds}


def _list_in(path: Location, name: str) -> list[str]:
    with reading(path) as reader:
        found = [reader.value() for _ in _members_of_data(reader, name)]
    if not found or not isinstance(found[-1], list):
        raise BadInput([Problem("expected a list of texts", str(path), f"data.{name}")])
    return found[-1]


def _members_of_data(reader: JsonReader, name: str) -> Iterator[str]:
    """Stand before each member of a document's `data` that has this name."""
    for key in reader.members():
        if key == "data":
            yield from (inside for inside in reader.members() if inside == name)
