"""Formats of other tools: CLEVR-Dialog's own files, and the shape of VisDial, which models for photographs read.

CLEVR-Dialog's own files have one entry for each image, with its dialogs.

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

VisDial has questions and answers by number, and options to choose from.

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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem
from vqagen.files.formats import (
    JSON,
    JSON_LINES,
    PARQUET,
    Arrangement,
    Checksum,
    Entry,
    Format,
    FoundEntry,
    List,
    Record,
    Shape,
    decode_lines,
    encode_lines,
    image_number,
)
from vqagen.files.locations import Location
from vqagen.files.stream import JsonReader, reading
from vqagen.world.domain import Domain

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


class ClevrDialog(Shape):
    """The dialogs of an image with their templates and graphs."""

    key = "images"

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each image."""
        for _, about_image in groupby(records, key=lambda record: record["scene_index"]):
            first, *rest = about_image
            yield {
                "split": first.get("split"),
                "image_index": image_number(first),
                "image_filename": first.get("image_filename"),
                "dialogs": [_dialog(each) for each in (first, *rest)],
            }

    def records_in(self, entry: Entry) -> int:
        """Return how many dialogs an image has."""
        return len(entry["dialogs"])


CLEVR_DIALOG = Format("clevr-dialog", (), List, holds_info=False, shape=ClevrDialog)


def _dialog(record: Record) -> dict[str, Any]:
    caption, rounds = record["caption"], record["rounds"]
    return {
        "caption": caption["text"],
        "template": caption["label"],
        "dialog": [
            {"question": each["question"], "answer": typed_answer(each), "template": each["label"]} for each in rounds
        ],
        "template_info": [_template("caption", caption), *(_template(each["family"], each) for each in rounds)],
        "graph": _graph(record),
    }


def _template(family: str, each: Record) -> dict[str, Any]:
    """Return the template of a caption or round, without its texts.

    The place of the text that was used is the `index`. `references` has a list for each text up to that one, which says
    where it mentions objects; the other lists are empty.
    """
    said = [{"role": mention["role"], "span": mention["span"]} for mention in each["mentions"]]
    variant = each["variant"]
    return {
        "name": each["label"],
        "type": family,
        "label": each["label"],
        "inputs": [INPUTS[name] for name in each["program"]["args"] if name in INPUTS],
        "constraints": [],
        "references": [*([] for _ in range(variant)), said],
        "index": variant,
    }


# The graph ------------------------------------------------------------------------------------------------------------


def _graph(record: Record) -> Facts:
    item = _caption_item(record["caption"])
    history, known, relationships = [item], dict[int, Facts](), {}
    if "relation" in item:
        subject, anchor = item["objects"]
        relationships = {item["relation"]: {str(anchor["id"]): [subject["id"]]}}
    _merge(known, item)
    for number, each in enumerate(record["rounds"], start=1):
        item = _round_item(number, each, history[-1], known)
        history.append(item)
        _merge(known, item)
        if "focus_id" in item:
            known.setdefault(item["focus_id"], {"id": item["focus_id"]}).update(_told_of_focus(each))
    objects = {str(entity): facts for entity, facts in sorted(known.items())}
    return {"objects": objects, "relationships": relationships, "counts": {}, "exists": {}, "history": history}


def _merge(known: dict[int, Facts], item: Facts) -> None:
    if item["mergeable"]:
        for told in item["objects"]:
            known.setdefault(told["id"], {}).update(told)


def _caption_item(caption: Record) -> Facts:
    label, args = caption["label"], caption["program"]["args"]
    item: Facts = {"round": 0, "template": label, "mergeable": label not in UNTOLD, "objects": []}
    if "relation" in args:
        told = [{"id": args[each], **args[f"{each}_value"]} for each in ("subject", "anchor")]
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


def _round_item(number: int, each: Record, before: Facts, known: dict[int, Facts]) -> Facts:
    label, args = each["label"], each["program"]["args"]
    said = _said(each, known)
    is_own_value = each["family"] == "seek" and "relation" not in args
    found = [args["focus"]] if is_own_value else each["referents"]["result"]
    inherited = {told["id"]: told for told in before["objects"]} if label.endswith("-group") else {}
    item: Facts = {
        "round": number,
        "template": label,
        "mergeable": label not in UNTOLD,
        "objects": [{**inherited.get(entity, {"id": entity}), **said} for entity in found],
    }
    if each["family"] == "count":
        item["count"] = typed_answer(each)
    if "value" in args:
        item |= said
    if "focus" in args:
        name: Mapping[str, str] | None = args.get("descriptor")  # none for a pronoun, or for no words at all
        described = {"required": list(name), "optional": [], **name} if name else None
        item |= {"focus_id": args["focus"], "focus_desc": described}
    return {**item, "dependence": each["history"]["dependence"]}


def _said(each: Record, known: dict[int, Facts]) -> Facts:
    """Return the value that a round tells of the objects its answer is about."""
    args = each["program"]["args"]
    if "attribute" not in args:
        return {}
    attribute = args["attribute"]
    if "value" in args:
        return {attribute: args["value"]}
    if each["family"] == "seek":
        return {attribute: each["answer"]}
    value = known.get(args["focus"], {}).get(attribute)  # others with its value
    return {} if value is None else {attribute: value}


def _told_of_focus(each: Record) -> Facts:
    """Return what a round tells of the object that it refers back to."""
    args, answer = each["program"]["args"], typed_answer(each)
    if each["family"] != "seek":
        about = args["relation"] if "relation" in args else f"{args['attribute']}_exclude"
        return {f"{about}_{each['family']}": answer}
    if "relation" not in args:
        return {}
    relation = args["relation"]
    return {f"{relation}_count": 0, f"{relation}_exist": "no"} if answer == "none" else {f"{relation}_exist": "yes"}


def typed_answer(each: Record) -> str | int:
    """Return the answer of a round as this format has it: a number if the question counts."""
    return int(each["answer"]) if each["family"] == "count" else str(each["answer"])


# VisDial --------------------------------------------------------------------------------------------------------------

VERSION = b"1.0"
DIALOGS = "dialogs"
LISTS = ("questions", "answers")
"""The lists behind the dialogs."""
EXIST_ANSWERS = ("yes", "no")
NONE = "none"
MOST_OBJECTS = 10
"""Objects of a scene, for a domain that does not say how many its scenes have: those of CLEVR."""
MOST_COUNTED = 1000
"""Larger numbers of objects are not listed as answers beforehand."""


class VisDial(Shape):
    """A dialog with its texts; the layout numbers them."""

    key = "dialogs"
    number_key = "dialog_id"

    def entries(self, records: Iterable[Record]) -> Iterator[Entry]:
        """Yield the entry of each dialog."""
        for record in records:
            rounds = [
                {
                    "question": each["question"].removesuffix("?"),
                    "answer": str(each["answer"]),
                    "template": each["label"],
                }
                for each in record["rounds"]
            ]
            image = {"split": record.get("split"), "image_filename": record.get("image_filename")}
            yield {
                "image_id": image_number(record),
                "dialog_id": record["dialog_index"],
                **image,
                "caption": record["caption"]["text"].removesuffix("."),
                "dialog": rounds,
            }

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


class VisDialDocument(List):
    """A document of dialogs, one a line, and behind them the questions and answers that their numbers refer to.

    A question has its number from the first dialog that asks it. The answers are all that the domain has, and each is
    an option of every round; an answer that is none of them, such as a larger number, is added when it comes first. The
    document's split is that of its first dialog.
    """

    def __init__(self, arrangement: Arrangement) -> None:
        super().__init__(arrangement)
        self._split: str | None = None
        self._questions: dict[str, int] = {}
        self._answers: dict[str, int] = {}

    def head(self, info: Record) -> bytes:
        """Return the document up to its first dialog, and take the answers of the domain."""
        self._answers = {answer: number for number, answer in enumerate(info["generator"].get("answers", ()))}
        return b'{"version": "%s", "data": {"%s": [' % (VERSION, DIALOGS.encode())

    def placed(self, body: bytes, number: int) -> bytes:
        """Return the dialogs, separated by commas."""
        entries = decode_lines(body)
        if not number and entries:
            self._split = entries[0]["split"]
        return super().placed(encode_lines(self._written(entry) for entry in entries), number)

    def lines(self, placed: bytes) -> bytes:
        """Return the dialogs with their texts, so that the checksum is of all that they say."""
        lists = self._lists()
        return encode_lines(_restored(entry, lists) for entry in decode_lines(super().lines(placed)))

    def tail(self, checksum: Checksum) -> bytes:
        """Return the lists behind the dialogs, and the end of the document."""
        lists = b"".join(b', "%s": %s' % (name.encode(), orjson.dumps(texts)) for name, texts in self._lists().items())
        return b'\n]%s}, "split": %s}\n' % (lists, orjson.dumps(self._split))

    def _lists(self) -> dict[str, list[str]]:
        return dict(zip(LISTS, (list(self._questions), list(self._answers)), strict=True))

    def _written(self, entry: Entry) -> Entry:
        return {**entry, "dialog": [self._indexed(each) for each in entry["dialog"]]}

    def _indexed(self, each: dict[str, Any]) -> dict[str, Any]:
        question = self._questions.setdefault(each["question"], len(self._questions))
        answer = self._answers.setdefault(each["answer"], len(self._answers))
        options = {"answer_options": list(range(len(self._answers))), "gt_index": answer}
        return {**each, "question": question, "answer": answer, **options}


VISDIAL = Format("visdial", (), VisDialDocument, holds_info=False, shape=VisDial, is_gathered=True)


def _restored(entry: Entry, lists: Mapping[str, list[str]]) -> Entry:
    """Return a dialog of a document with its texts in place of their numbers, which `lists` has.

    Raises LookupError, TypeError or AttributeError for what no such document holds.
    """
    rounds = []
    for each in entry["dialog"]:
        rest = {key: value for key, value in each.items() if key not in ("answer_options", "gt_index")}
        texts = {"question": lists["questions"][each["question"]], "answer": lists["answers"][each["answer"]]}
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


def all_answers(values: Sequence[str], most: int) -> list[str]:
    """Return the answers that dialogs can have: yes, no, none, the values, and the numbers up to `most` objects.

    >>> all_answers(["red", "cube"], 2)
    ['yes', 'no', 'none', 'red', 'cube', '0', '1', '2']
    """
    return [*EXIST_ANSWERS, NONE, *dict.fromkeys(values), *map(str, range(most + 1))]


def most_objects(domain: Domain) -> int:
    """Return how many objects a scene of a domain can have: those of its sampled scenes. Others may have more."""
    match domain.record.get("sampling"):
        case {"objects": [int(), int(most)]} if 0 < most <= MOST_COUNTED:
            return most
    return MOST_OBJECTS


DIALOG_FORMATS = (JSON, JSON_LINES, PARQUET, CLEVR_DIALOG, VISDIAL)
