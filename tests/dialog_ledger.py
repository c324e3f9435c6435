"""What a dialog has said, kept from its questions and answers alone: the slow twin of the generator's knowledge.

It reads the scene's JSON, and knows objects by their numbers and values by their words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Any

Answer = int | str
Program = Mapping[str, Any]
"""A question: its `label` and its `args`, as in a record."""


def objects_with(scene: Mapping[str, Any], attribute: str, value: str) -> set[int]:
    """Return the objects with a value."""
    return {number for number, each in enumerate(scene["objects"]) if each[attribute] == value}


def found_and_answer(scene: Mapping[str, Any], program: Program) -> tuple[set[int], Answer]:
    """Run a question on its scene: the objects that it is about, and its answer."""
    label, args = program["label"], program["args"]
    everything = set(range(len(scene["objects"])))
    if label.startswith("seek"):
        return _sought(scene, args)
    found = everything - set(args.get("mentioned", ())) if "group" not in args else set(args["group"])
    if "relation" in args:
        found = set(scene["relationships"][args["relation"]][args["focus"]])
    elif "focus" in args:
        value = scene["objects"][args["focus"]][args["attribute"]]
        found = objects_with(scene, args["attribute"], value) - {args["focus"]}
    elif "value" in args:
        found &= objects_with(scene, args["attribute"], args["value"])
    return found, len(found) if label.startswith("count") else "yes" if found else "no"


def _sought(scene: Mapping[str, Any], args: Mapping[str, Any]) -> tuple[set[int], Answer]:
    found = args["focus"]
    if "relation" in args:
        table = scene["relationships"][args["relation"]]
        there = table[args["focus"]]
        if not there:
            return set(), "none"
        (found,) = (j for j in there if set(there) - {j} <= set(table[j]))  # the one that no other lies before
        assert args["reading"] == "nearest" or len(there) == 1
    return {found}, scene["objects"][found][args["attribute"]]


class Ledger:
    """The single things of a dialog and what was told of them, the values of its sets, and its topic."""

    def __init__(self, scene: Mapping[str, Any], caption: Program) -> None:
        self.scene = scene
        self.told: dict[int, set[str]] = defaultdict(set)
        self.of_sets: set[str] = set()
        self.topic: int | None = None
        self.group: set[int] = set()
        self.described: set[str] = set()
        self.is_sized = False
        self.mentioned: set[int] = set()
        self.asked: set[tuple[Any, ...]] = set()
        self.last_asked: tuple[Any, ...] = ()
        args = caption["args"]
        if "subject" in args:
            self._single(args["subject"], *args["subject_value"].values())
            self._single(args["anchor"], *args["anchor_value"].values())
            self.topic = None
        elif "object" in args:
            self._single(args["object"], *args["values"].values())
        else:
            self._set(set(args["objects"]), {args["value"]}, "count" in args)

    def add(self, program: Program) -> None:
        """Add a round."""
        label, args = program["label"], program["args"]
        found, answer = found_and_answer(self.scene, program)
        self.last_asked = self.question_about(program)
        self.asked.add(self.last_asked)
        before, self.topic, self.group = self.described, None, set()
        focus = args.get("focus")
        if focus is not None:
            self.mentioned.add(focus)
        if label.startswith("seek"):
            for i in found:
                self._single(i, str(answer))
            return
        described = before if "group" in args else set()
        described = described | {args["value"]} if "value" in args else described
        if focus is not None and "attribute" in args:
            described = {self.scene["objects"][focus][args["attribute"]]}
        is_sized = label.startswith("count")
        if label == "exist-other":  # it asks for things, and mentions none
            self.group, self.is_sized, self.described = found, False, set()
        elif answer == 1 and is_sized:
            self._single(*found, *described)
            self.topic = None if focus is not None and focus not in found else self.topic
        elif found:
            self._set(found, described, is_sized)

    def _single(self, i: int, *values: str) -> None:
        self.told[i] |= set(values)
        self.topic = i
        self.mentioned.add(i)

    def _set(self, objects: set[int], described: set[str], is_sized: bool) -> None:
        self.group, self.described, self.is_sized = objects, described, is_sized
        self.mentioned |= objects
        self.of_sets |= described

    def question_about(self, program: Program) -> tuple[Any, ...]:
        """Return what a question asks: the same for two that differ only in how they refer to their object.

        A group is known by the question that it answers: the same objects may be another one's answer, too.
        """
        label, args = program["label"], program["args"]
        kind = label.split("-")[0], "other" in label, "exclude" in label, "rel" in label
        about = (args.get(name) for name in ("focus", "relation", "attribute", "value"))
        return (*kind, *about, self.last_asked if "group" in args else None)

    @property
    def names(self) -> dict[str, int]:
        """Value -> the object that "the earlier one" with this value is (spec 3.3)."""
        of_value: dict[str, list[int]] = defaultdict(list)
        for i, values in self.told.items():
            for value in values - self.of_sets:
                of_value[value].append(i)
        return {value: one[0] for value, one in of_value.items() if len(one) == 1 and one != [self.topic]}
