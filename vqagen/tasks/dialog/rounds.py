"""The kinds of rounds: for each label, when it may come and what it may ask.

To add a kind, write one function here and a template with its label in `templates/dialog`. The function looks at the
`Situation`, makes its free choices with `now.pick`, and returns a `Move`, or None if there is nothing to ask; the
decorator names the function that answers, of `answers`, and the slots of its texts. A function that answers in a way of
its own also needs a row in `consequences`, which finds out if its answers follow from what is known.

Labels and preconditions follow CLEVR-Dialog (Kottur et al. 2019), made strict: nothing is asked that is known or that
follows from what is known.
"""

from __future__ import annotations

from vqagen.tasks.dialog.answers import (
    alike,
    attribute_of_focus,
    attribute_of_next,
    group_itself,
    having_value,
    having_value_in_group,
    related,
    rest,
    whole_scene,
)
from vqagen.tasks.dialog.knowledge import Move
from vqagen.tasks.dialog.round_kind import (
    FOCUS,
    GROUP,
    NAMED,
    ROUND_KINDS,
    TOPIC,
    Situation,
    kinds_after,
    round_kind,
)

__all__ = ["ROUND_KINDS", "kinds_after"]

# The whole scene ------------------------------------------------------------------------------------------------------


@round_kind("count-all", whole_scene, needs_history=False)
def count_all(now: Situation) -> Move | None:
    """Count the things in the scene."""
    return None if now.knowledge.size_known else Move("count-all")


@round_kind("count-other", rest)
def count_other(now: Situation) -> Move | None:
    """Count the things that were not mentioned."""
    known = now.knowledge
    return None if known.size_known or known.all_seen or _is_vague(now) else Move("count-other")


@round_kind("exist-other", rest)
def exist_other(now: Situation) -> Move | None:
    """Ask whether there are things that were not mentioned."""
    known = now.knowledge
    return None if known.size_known or known.rest_known or _is_vague(now) else Move("exist-other")


def _is_vague(now: Situation) -> bool:
    """Return whether it is open how many things were mentioned: with "several cubes", are all of them?"""
    return now.rules.is_strict and now.knowledge.uncounted != 0


@round_kind("count-attribute", having_value, needs_history=False, slots=("V",))
def count_attribute(now: Situation) -> Move | None:
    """Count the things with a value."""
    options = now.all_values & ~now.knowledge.value_counts
    return _about_value(now, "count-attribute", now.values_counted("count-attribute", now.scene.everything, options))


@round_kind("exist-attribute", having_value, needs_history=False, slots=("V",))
def exist_attribute(now: Situation) -> Move | None:
    """Ask whether there is a thing with a value."""
    options = now.all_values & ~now.knowledge.value_exists
    return _about_value(now, "exist-attribute", now.values_found("exist-attribute", options, now.scene.present))


# The group of the round before ----------------------------------------------------------------------------------------


@round_kind("count-all-group", group_itself, GROUP)
def count_all_group(now: Situation) -> Move | None:
    """Count the group, if its size is not known."""
    return None if now.knowledge.is_sized else Move("count-all-group")


@round_kind("count-attribute-group", having_value_in_group, GROUP, slots=("V|P",))
def count_attribute_group(now: Situation) -> Move | None:
    """Count the things of the group with a value."""
    label, known = "count-attribute-group", now.knowledge
    options = now.undescribed & ~known.value_counts
    return _about_value(now, label, now.values_counted(label, known.group, options))


@round_kind("exist-attribute-group", having_value_in_group, GROUP, slots=("V|P",))
def exist_attribute_group(now: Situation) -> Move | None:
    """Ask whether a thing of the group has a value."""
    label, known = "exist-attribute-group", now.knowledge
    options = now.undescribed & ~known.value_exists
    return _about_value(now, label, now.values_found(label, options, now.present_in(known.group)))


def _about_value(now: Situation, label: str, options: int) -> Move | None:
    value = now.pick.one(options)
    return Move(label, value=value) if value >= 0 else None


# Things in a direction ------------------------------------------------------------------------------------------------


@round_kind("count-obj-rel-imm", related, TOPIC, slots=("R",))
def count_related_to_topic(now: Situation) -> Move | None:
    """Count the things left of it."""
    topic = now.knowledge.topic
    return _about_relation(now, "count-obj-rel-imm", topic, now.sides_counted("count-obj-rel-imm", topic))


@round_kind("exist-obj-rel-imm", related, TOPIC, slots=("R",))
def exist_related_to_topic(now: Situation) -> Move | None:
    """Ask whether there is a thing left of it."""
    topic = now.knowledge.topic
    return _about_relation(now, "exist-obj-rel-imm", topic, now.sides_found("exist-obj-rel-imm", topic))


@round_kind("count-obj-rel-imm2", related, FOCUS, after=("count-obj-rel-imm", "count-obj-rel-imm2"), slots=("R",))
def count_related_again(now: Situation) -> Move | None:
    """Count the things in another direction of the same focus; not if one was found, for "it" would be that."""
    focus = now.previous.focus
    if now.rules.is_strict and now.knowledge.result.bit_count() == 1:
        return None
    return _about_relation(now, "count-obj-rel-imm2", focus, now.sides_counted("count-obj-rel-imm2", focus))


@round_kind("exist-obj-rel-imm2", related, FOCUS, after=("exist-obj-rel-imm", "exist-obj-rel-imm2"), slots=("R",))
def exist_related_again(now: Situation) -> Move | None:
    """Ask whether there is a thing in another direction of the same focus."""
    focus = now.previous.focus
    return _about_relation(now, "exist-obj-rel-imm2", focus, now.sides_found("exist-obj-rel-imm2", focus))


@round_kind("count-obj-rel-early", related, NAMED, slots=("R",))
def count_related_to_earlier(now: Situation) -> Move | None:
    """Count the things left of the earlier red thing."""
    label = "count-obj-rel-early"
    focus, descriptor, options = now.named(lambda i: now.sides_counted(label, i))
    return _about_relation(now, label, focus, options, descriptor)


@round_kind("exist-obj-rel-early", related, NAMED, slots=("R",))
def exist_related_to_earlier(now: Situation) -> Move | None:
    """Ask whether there is a thing left of the earlier red thing."""
    label = "exist-obj-rel-early"
    focus, descriptor, options = now.named(lambda i: now.sides_found(label, i))
    return _about_relation(now, label, focus, options, descriptor)


def _about_relation(now: Situation, label: str, focus: int, options: int, descriptor: int = -1) -> Move | None:
    relation = now.pick.one(options)
    return Move(label, focus, relation, descriptor=descriptor) if relation >= 0 else None


# Things with the same value -------------------------------------------------------------------------------------------


@round_kind("count-obj-exclude-imm", alike, TOPIC, slots=("A",))
def count_alike_to_topic(now: Situation) -> Move | None:
    """Count the other things of its color."""
    topic = now.knowledge.topic
    return _about_likes(now, "count-obj-exclude-imm", topic, now.likes_counted("count-obj-exclude-imm", topic))


@round_kind("exist-obj-exclude-imm", alike, TOPIC, slots=("A",))
def exist_alike_to_topic(now: Situation) -> Move | None:
    """Ask whether there is another thing of its color."""
    topic = now.knowledge.topic
    return _about_likes(now, "exist-obj-exclude-imm", topic, now.likes_found("exist-obj-exclude-imm", topic))


@round_kind("count-obj-exclude-early", alike, NAMED, slots=("A",))
def count_alike_to_earlier(now: Situation) -> Move | None:
    """Count the other things with the shape of the earlier red thing."""
    label = "count-obj-exclude-early"
    focus, descriptor, options = now.named(lambda i: now.likes_counted(label, i))
    return _about_likes(now, label, focus, options, descriptor)


@round_kind("exist-obj-exclude-early", alike, NAMED, slots=("A",))
def exist_alike_to_earlier(now: Situation) -> Move | None:
    """Ask whether there is another thing with the shape of the earlier red thing."""
    label = "exist-obj-exclude-early"
    focus, descriptor, options = now.named(lambda i: now.likes_found(label, i))
    return _about_likes(now, label, focus, options, descriptor)


def _about_likes(now: Situation, label: str, focus: int, options: int, descriptor: int = -1) -> Move | None:
    vocabulary = now.scene.vocabulary
    if now.rules.is_strict and descriptor >= 0:  # nobody asks how many others share the shape of the cube
        options &= ~vocabulary.value_sets[vocabulary.values[descriptor][0]]
    value = now.pick.one(options)
    if value < 0:
        return None
    attribute = vocabulary.values[value][0]
    return Move(label, focus, attribute=attribute, descriptor=descriptor)


# Attributes -----------------------------------------------------------------------------------------------------------

ASKED_OF_ONE = ("seek-attr-imm", "seek-attr-imm2")


@round_kind("seek-attr-imm", attribute_of_focus, TOPIC, slots=("A",))
def seek_of_topic(now: Situation) -> Move | None:
    """Ask for its color."""
    topic = now.knowledge.topic
    return _about_attribute(now, "seek-attr-imm", topic, now.open_attributes(topic))


@round_kind("seek-attr-imm2", attribute_of_focus, TOPIC, after=(*ASKED_OF_ONE, "seek-attr-rel-imm"), slots=("A",))
def seek_again(now: Situation) -> Move | None:
    """Ask for another attribute of the thing just asked about."""
    topic = now.knowledge.topic
    return _about_attribute(now, "seek-attr-imm2", topic, now.open_attributes(topic))


@round_kind("seek-attr-early", attribute_of_focus, NAMED, slots=("A",))
def seek_of_earlier(now: Situation) -> Move | None:
    """Ask for the shape of the earlier red thing."""
    focus, descriptor, options = now.named(now.open_attributes)
    return _about_attribute(now, "seek-attr-early", focus, options, descriptor)


@round_kind("seek-attr-sim-early", attribute_of_focus, NAMED, after=ASKED_OF_ONE)
def seek_same_of_earlier(now: Situation) -> Move | None:
    """Ask for the attribute just asked about, of the earlier red thing."""
    asked = now.previous.attribute
    focus, descriptor, options = now.named(
        lambda i: now.open_attributes(i) & 1 << asked, besides=now.scene.vocabulary.value_sets[asked]
    )
    return _about_attribute(now, "seek-attr-sim-early", focus, options, descriptor)


def _about_attribute(now: Situation, label: str, focus: int, options: int, descriptor: int = -1) -> Move | None:
    attribute = now.pick.one(options)
    return Move(label, focus, attribute=attribute, descriptor=descriptor) if attribute >= 0 else None


@round_kind("seek-attr-rel-imm", attribute_of_next, TOPIC, slots=("R", "A"))
def seek_of_next_to_topic(now: Situation) -> Move | None:
    """Ask for the color of the next thing left of it."""
    topic = now.knowledge.topic
    return _about_next(now, "seek-attr-rel-imm", topic, now.seekable(topic))


@round_kind("seek-attr-rel-early", attribute_of_next, NAMED, slots=("R", "A"))
def seek_of_next_to_earlier(now: Situation) -> Move | None:
    """Ask for the color of the next thing left of the earlier cube."""
    focus, descriptor, options = now.named(now.seekable)
    return _about_next(now, "seek-attr-rel-early", focus, options, descriptor)


def _about_next(now: Situation, label: str, focus: int, options: int, descriptor: int = -1) -> Move | None:
    chosen = now.pick.one(options)
    if chosen < 0:
        return None
    relation, attribute = now.relation_and_attribute(chosen)
    return Move(label, focus, relation, attribute, descriptor=descriptor)
