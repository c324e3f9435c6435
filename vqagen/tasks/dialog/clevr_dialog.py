"""CLEVR-Dialog's own files: one entry for each image, with its dialogs.

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
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from vqagen.files.formats import Record
from vqagen.files.records import RecordKind
from vqagen.tasks.foreign import Entry, ForeignFormat, image_number

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
