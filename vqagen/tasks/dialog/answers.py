"""Answers to the questions of dialogs, and what each answer conveys."""

from __future__ import annotations

from vqagen.bits import Objects, is_single, only
from vqagen.tasks.dialog.knowledge import Learner, Move
from vqagen.tasks.dialog.round_kind import RoundAnswer
from vqagen.tasks.dialog.scene import Values


def _settle(learner: Learner, move: Move, objects: Objects, described: Values) -> RoundAnswer:
    """Introduce the objects that a question about a set asks for, and return its answer."""
    learner.introduce_set(objects, described, move.is_count)
    after = learner.after
    has_rival = move.focus >= 0 and after.topic not in (-1, move.focus)
    if learner.is_strict and move.is_count and has_rival:
        after.topic = -1  # "it" could be the focus as well
    answer = objects.bit_count() if move.is_count else "yes" if objects else "no"
    return RoundAnswer(answer, objects)


def whole_scene(learner: Learner, move: Move) -> RoundAnswer:
    """Count all objects."""
    learner.after.size_known = True
    return _settle(learner, move, learner.scene.everything, 0)


def rest(learner: Learner, move: Move) -> RoundAnswer:
    """Ask for the objects that were not mentioned. If there are some, their question does not mention them yet."""
    after, objects = learner.after, learner.scene.everything & ~learner.before.mentioned
    after.rest_known = True
    after.all_seen = not objects
    after.least_size = after.mentioned.bit_count() + (objects != 0)
    if move.is_count or after.mentioned == after.singles == learner.scene.everything:
        after.size_known = True
    if learner.is_strict:
        after.lacking, after.rest_of = learner.mentioned_wholly(), learner.before.mentioned
        if move.is_count:
            after.rest = after.rest_of, objects.bit_count(), after.lacking
    if move.is_count or not objects:
        return _settle(learner, move, objects, 0)
    after.group, after.is_sized, after.described, after.result = objects, False, 0, objects
    return RoundAnswer("yes", objects)


def having_value(learner: Learner, move: Move) -> RoundAnswer:
    """Ask for the objects with a value."""
    learner.learn_value(move.value, move.is_count)
    learner.after.exhausted |= 1 << move.value
    return _settle(learner, move, learner.scene.having[move.value], 1 << move.value)


def having_value_in_group(learner: Learner, move: Move) -> RoundAnswer:
    """Ask for the objects of the group that have a value. The group may be the whole scene."""
    before, objects = learner.before, learner.before.group & learner.scene.having[move.value]
    if before.group == learner.scene.everything and before.is_sized:
        learner.learn_value(move.value, move.is_count)
    if learner.is_strict and not objects and is_single(before.described):
        of_group = only(before.described)
        if before.group == learner.scene.having[of_group]:
            learner.keep_apart(of_group, move.value)
    if before.rest_of and (move.is_count or not objects):
        learner.after.parts += ((move.value, before.rest_of, objects.bit_count()),)
    if before.anchor is not None and objects:
        number = objects.bit_count() if move.is_count else 1
        learner.after.at_least += ((*before.anchor, number),)
    _keep_group(learner)
    if learner.is_strict:
        _learn_of_all(learner, move, objects)
        _learn_of_members(learner, objects)
        _learn_of_others(learner, move, objects)
    outcome = _settle(learner, move, objects, before.described | 1 << move.value)
    if learner.is_strict:
        learner.after.group = 0  # "them" could be the whole group as well: how many of the cubes, or of the red ones
    return outcome


def _keep_group(learner: Learner) -> None:
    """Keep what is known of all members of the group, for some of them."""
    learner.after.anchor, learner.after.lacking = learner.before.anchor, learner.before.lacking


def _learn_of_all(learner: Learner, move: Move, objects: Objects) -> None:
    """Learn how many of the group have the value; if all were counted, or none, that each has it or lacks it."""
    group, value = learner.before.group, move.value
    if move.is_count or not objects:
        learner.after.counted += ((value, group, objects.bit_count()),)
    if not objects:
        learner.keep_from(group, 1 << value)
    elif move.is_count and learner.before.is_sized and objects == group:
        of_attribute = learner.scene.vocabulary.value_sets[learner.scene.vocabulary.values[value][0]]
        learner.keep_from(group, of_attribute & ~(1 << value))


def _learn_of_members(learner: Learner, objects: Objects) -> None:
    """Learn of the one object found in a group that it stands where all of the group do."""
    if learner.before.anchor is not None and is_single(objects):
        learner.relate(*learner.before.anchor, only(objects))


def _learn_of_others(learner: Learner, move: Move, objects: Objects) -> None:
    """Learn of those of the group without a value that they have the other one, if there are but two."""
    before, numbers = learner.before, learner.scene.vocabulary.numbers_of
    pair = next(each for each in numbers if move.value in each)
    least = before.group.bit_count() if before.is_sized else 2 if before.move is None else 1  # None: "several cubes"
    others = least - objects.bit_count()
    is_told = move.is_count or not objects
    if len(pair) == 2 and is_told and others > 0:
        other = pair[0] + pair[1] - move.value
        learner.learn_value(other, is_counted=False)
        if others > 1:
            learner.after.several |= 1 << other


def related(learner: Learner, move: Move) -> RoundAnswer:
    """Ask for the objects in a relation to the focus."""
    (learner.count_related if move.is_count else learner.find_related)(move.focus, move.relation)
    learner.after.anchor = move.focus, move.relation
    learner.after.lacking = learner.borne_by_one(move.focus)
    return _settle(learner, move, learner.scene.related[move.relation][move.focus], 0)


def alike(learner: Learner, move: Move) -> RoundAnswer:
    """Ask for the other objects with the focus's value of an attribute."""
    scene = learner.scene
    value = scene.value_at[move.attribute][move.focus]
    (learner.count_alike if move.is_count else learner.find_alike)(move.focus, value)
    learner.after.exhausted |= 1 << value
    return _settle(learner, move, scene.having[value] & ~(1 << move.focus), 1 << value)


def group_itself(learner: Learner, move: Move) -> RoundAnswer:
    """Count the group: the answer conveys what counting at once would have conveyed."""
    before, asked = learner.before, learner.before.move
    if asked is not None and asked.label.startswith("exist-other"):
        learner.after.size_known = True
    elif asked is not None and "obj-rel" in asked.label:
        learner.count_related(asked.focus, asked.relation)
    elif asked is not None and "obj-exclude" in asked.label:
        learner.count_alike(asked.focus, learner.scene.value_at[asked.attribute][asked.focus])
    elif (asked is None or asked.label == "exist-attribute") and is_single(before.described):
        learner.learn_value(only(before.described))
    _keep_group(learner)
    learner.after.rest_of = before.rest_of
    return _settle(learner, move, before.group, before.described)


def attribute_of_focus(learner: Learner, move: Move) -> RoundAnswer:
    """Ask for an attribute of the focus."""
    value = learner.scene.value_at[move.attribute][move.focus]
    learner.introduce(move.focus)
    learner.tell(move.focus, value)
    return RoundAnswer(learner.scene.vocabulary.values[value][1], 1 << move.focus)


def attribute_of_next(learner: Learner, move: Move) -> RoundAnswer:
    """Ask for an attribute of the thing next to the focus, or "none" if nothing lies there."""
    scene, focus, relation = learner.scene, move.focus, move.relation
    j = scene.next[relation][focus]
    learner.after.mentioned |= 1 << focus
    if j < 0:
        if learner.is_strict:
            learner.count_related(focus, relation)
        return RoundAnswer("none", 0)
    learner.link(focus, relation, j)
    learner.introduce(j, is_found=not learner.before.links >> focus * len(scene.related) + relation & 1)
    value = scene.value_at[move.attribute][j]
    learner.tell(j, value)
    return RoundAnswer(scene.vocabulary.values[value][1], 1 << j)
