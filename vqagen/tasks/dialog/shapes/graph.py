"""The `graph` of a dialog in CLEVR-Dialog: what each round told (`history`), and what is known at the end.

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

from collections.abc import Iterable, Mapping
from typing import Any

from vqagen.files.layouts import Record

Facts = dict[str, Any]
HistoryItem = dict[str, Any]
KnownObjects = dict[int, Facts]
CAPTION_GROUP = 0
"""The `group_id` of captions, which the reference writes and nothing reads."""
UNTOLD = frozenset({"count-att-no", "exist-other"})
"""Labels of which nobody knows afterwards how many objects, and which, are meant: they are not mergeable."""


def graph_of(record: Record) -> dict[str, Any]:
    """Return the graph of a dialog."""
    item = _caption_item(record["caption"])
    known: KnownObjects = {}
    relationships = _relationships(item)
    history = [item]
    _merge(known, item)
    for number, each in enumerate(record["rounds"], start=1):
        item = _round_item(number, each, history[-1], known)
        history.append(item)
        _merge(known, item)
        if "focus_id" in item:
            known.setdefault(item["focus_id"], {"id": item["focus_id"]}).update(_told_of_focus(each))
    return {
        "objects": {str(entity): facts for entity, facts in sorted(known.items())},
        "relationships": relationships,
        "counts": {},
        "exists": {},
        "history": history,
    }


def _merge(known: KnownObjects, item: HistoryItem) -> None:
    if item["mergeable"]:
        for told in item["objects"]:
            known.setdefault(told["id"], {}).update(told)


# Captions -------------------------------------------------------------------------------------------------------------


def _caption_item(caption: Record) -> HistoryItem:
    label, args = caption["label"], caption["program"]["args"]
    item: HistoryItem = {"round": 0, "template": label, "mergeable": label not in UNTOLD, "objects": []}
    if "relation" in args:
        told = [{"id": args[each], **args[f"{each}_value"]} for each in ("subject", "anchor")]
        item |= {"objects": told, "relation": args["relation"]}
    elif "attribute" in args:
        said = {args["attribute"]: args["value"]}
        count = {"count": args["count"]} if "count" in args else {}
        item |= {"objects": [{"id": entity, **said} for entity in args["objects"]], **said, **count}
    else:
        item["objects"] = [{"id": args["object"], **args["values"], **_told_of_place(label)}]
    return {**item, "group_id": CAPTION_GROUP}


def _told_of_place(label: str) -> Facts:
    """Return what a caption about one object tells besides its values."""
    if label == "unique-obj":
        return {"unique": True}
    place = label.removeprefix("extreme-")
    return {} if place == "center" else {f"{place}_count": 0, f"{place}_exist": False}


def _relationships(item: HistoryItem) -> dict[str, dict[str, list[int]]]:
    if "relation" not in item:
        return {}
    subject, anchor = item["objects"]
    return {item["relation"]: {str(anchor["id"]): [subject["id"]]}}


# Rounds ---------------------------------------------------------------------------------------------------------------


def _round_item(number: int, each: Record, before: HistoryItem, known: KnownObjects) -> HistoryItem:
    label, args = each["label"], each["program"]["args"]
    said = _said(each, known)
    inherited = {told["id"]: told for told in before["objects"]} if label.endswith("-group") else {}
    item: HistoryItem = {
        "round": number,
        "template": label,
        "mergeable": label not in UNTOLD,
        "objects": [{**inherited.get(entity, {"id": entity}), **said} for entity in _found(each)],
    }
    if each["family"] == "count":
        item["count"] = typed_answer(each)
    if "value" in args:
        item |= said
    if "focus" in args:
        item |= {"focus_id": args["focus"], "focus_desc": _focus_desc(args.get("descriptor"))}
    return {**item, "dependence": each["history"]["dependence"]}


def _found(each: Record) -> Iterable[int]:
    """Return the objects that an answer is about: a value that is asked for is one of the focus."""
    args = each["program"]["args"]
    is_own_value = each["family"] == "seek" and "relation" not in args
    return [args["focus"]] if is_own_value else each["referents"]["result"]


def _said(each: Record, known: KnownObjects) -> Facts:
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


def _focus_desc(descriptor: Mapping[str, str] | None) -> dict[str, Any] | None:
    """Return the description by which a question refers to its focus; None for a pronoun, or for no words at all."""
    return {"required": list(descriptor), "optional": [], **descriptor} if descriptor else None
