"""The kinds of rounds: for each label, when it may come, what it may ask, how it is answered, and what that conveys.

Such as `RoundKind("seek-attr-imm", ask_attribute, attribute_of_focus, TOPIC, slots=("A",))`: "What is its color?" comes
where there is an "it", `ask_attribute` draws an attribute that is not known, and `attribute_of_focus` answers.

To add a kind, write one row of `ROUND_KINDS` and a template with its label in `templates/dialog`. A row names two
functions. One asks: it looks at the `Situation`, makes its free choices with `now.pick`, and returns a `Move`, or None
if there is nothing to ask. The other answers, and tells the `Learner` what the answer conveys.

Labels and preconditions follow CLEVR-Dialog (Kottur et al. 2019), made strict: nothing is asked that was told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from vqagen.bits import Objects, is_single, only
from vqagen.tasks.dialog.knowledge import Answer, Knowledge, Learner, Move, is_counting
from vqagen.tasks.dialog.scene import Values
from vqagen.tasks.dialog.situation import Situation
from vqagen.tasks.dialog.template import FOCUS, GROUP

FAMILIES = ("count", "exist", "seek")
NOTHING, TOPIC, NAMED = "nothing", "topic", "named"
"""What a kind of round refers to, besides GROUP ("them") and FOCUS (that of the round before): nothing, "it", or an
object named by a value."""


@dataclass(frozen=True)
class RoundKind:
    """A kind of round. Its texts are the templates of its label."""

    label: str
    """Begins with its family, which decides the type of the answer, and which quota the round counts for."""
    ask: Ask
    learn: Learn
    refers: str = NOTHING
    """What the question refers to; without it no question is looked for."""
    after: tuple[str, ...] = ()
    """Labels of which one must be the round before; none: any may."""
    needs_history: bool = True
    """False for questions that can be understood without the dialog."""
    slots: tuple[str, ...] = ()
    """What every text says, as templates call it; <D>, the object named by a value, comes with NAMED."""

    @property
    def family(self) -> str:
        """The first word of the label."""
        return self.label.partition("-")[0]

    @property
    def history_class(self) -> str:
        """None, All or Coref: the part of the history that the question depends on."""
        return ("Coref" if self.refers != NOTHING else "All") if self.needs_history else "None"


Ask = Callable[[Situation, RoundKind], Move | None]
"""Chooses a question of a kind; None if there is none."""
Learn = Callable[[Learner, Move], Answer]
"""Answers a question, and adds what the answer conveys to what is known."""


def referents(known: Knowledge) -> tuple[str, ...]:
    """Return what a question may refer to, of all that `RoundKind.refers` can be."""
    there = ((TOPIC, known.topic >= 0), (GROUP, known.group != 0), (NAMED, known.singles != 0))
    return (NOTHING, FOCUS, *(name for name, is_there in there if is_there))


def kinds_after(label: str) -> Iterator[RoundKind]:
    """Yield the kinds of rounds that may follow a round with this label."""
    return (kind for kind in ROUND_KINDS.values() if not kind.after or label in kind.after)


# Questions ------------------------------------------------------------------------------------------------------------


def ask_size(now: Situation, kind: RoundKind) -> Move | None:
    """Count the things in the scene."""
    return None if now.knowledge.size_known else Move(kind.label)


def ask_rest(now: Situation, kind: RoundKind) -> Move | None:
    """Ask for the things that were not mentioned; not with "several cubes", for are all cubes mentioned then?"""
    known = now.knowledge
    is_known = known.size_known or (known.all_seen if is_counting(kind.label) else known.rest_known)
    return None if is_known or known.uncounted else Move(kind.label)


def ask_value(now: Situation, kind: RoundKind) -> Move | None:
    """Ask for the things with a value: those of the scene, or of the group of the round before."""
    known, objects, options = now.knowledge, now.scene.everything, now.all_values
    if kind.refers == GROUP:
        objects, options = known.group, now.undescribed
    options &= ~(known.value_counts if is_counting(kind.label) else known.value_exists)
    value = now.pick.one(now.values_among(kind.label, objects, options))
    return Move(kind.label, value=value) if value >= 0 else None


def ask_group(now: Situation, kind: RoundKind) -> Move | None:
    """Count the group, if its size is not known."""
    return None if now.knowledge.is_sized else Move(kind.label)


def ask_related(now: Situation, kind: RoundKind) -> Move | None:
    """Ask for the things left of an object. After one was found, "it" would be that, and not the focus once more."""
    is_found = is_counting(kind.label) and is_single(now.knowledge.result)
    if kind.refers == FOCUS and is_found:
        return None
    focus, name, options = _focus(now, kind, lambda i: now.sides(kind.label, i))
    relation = now.pick.one(options)
    return Move(kind.label, focus, relation, name=name) if relation >= 0 else None


def ask_alike(now: Situation, kind: RoundKind) -> Move | None:
    """Ask for the other things of an object's color."""
    values = now.scene.vocabulary.values
    is_named = kind.refers == NAMED
    focus, name, options = _focus(now, kind, lambda i: now.likes(kind.label, i) & (now.unneeded(i) if is_named else -1))
    value = now.pick.one(options)
    # nobody asks how many others share the shape of the red cube: that of the red thing
    return Move(kind.label, focus, attribute=values[value][0], name=name & ~(1 << value)) if value >= 0 else None


def ask_attribute(now: Situation, kind: RoundKind) -> Move | None:
    """Ask for an object's color; without words for the attribute, for the one that was just asked for."""
    asked = -1 if kind.slots else 1 << now.previous.attribute
    focus, name, options = _focus(now, kind, lambda i: now.open_attributes(i) & asked)
    attribute = now.pick.one(options)
    return Move(kind.label, focus, attribute=attribute, name=name) if attribute >= 0 else None


def ask_next(now: Situation, kind: RoundKind) -> Move | None:
    """Ask for the color of the next thing left of an object."""
    focus, name, options = _focus(now, kind, now.seekable)
    chosen = now.pick.one(options)
    relation, attribute = divmod(chosen, now.scene.widths[1])
    return Move(kind.label, focus, relation, attribute, name=name) if chosen >= 0 else None


def _focus(now: Situation, kind: RoundKind, is_open: Callable[[int], int]) -> tuple[int, int, int]:
    """Return the object that a question refers to, the values that name it, and what is open of it, as a set."""
    if kind.refers == NAMED:
        return now.named(is_open)
    focus = now.previous.focus if kind.refers == FOCUS else now.knowledge.topic
    return focus, 0, is_open(focus)


# Answers --------------------------------------------------------------------------------------------------------------


def _settle(learner: Learner, move: Move, objects: Objects, described: Values) -> Answer:
    """Introduce the objects that a question about a set asks for, and return its answer."""
    learner.introduce_set(objects, described, move.is_count)
    after = learner.after
    has_rival = move.focus >= 0 and after.topic not in (-1, move.focus)
    if move.is_count and has_rival:
        after.topic = -1  # "it" could be the focus as well
    return objects.bit_count() if move.is_count else "yes" if objects else "no"


def whole_scene(learner: Learner, move: Move) -> Answer:
    """Count all objects."""
    learner.after.size_known = True
    return _settle(learner, move, learner.scene.everything, 0)


def rest(learner: Learner, move: Move) -> Answer:
    """Ask for the objects that were not mentioned. If there are some, their question does not mention them yet."""
    after, objects = learner.after, learner.scene.everything & ~learner.before.mentioned
    after.rest_known = True
    after.all_seen = not objects
    if move.is_count or after.mentioned == after.singles == learner.scene.everything:
        after.size_known = True
    if move.is_count or not objects:
        return _settle(learner, move, objects, 0)
    after.group, after.is_sized, after.described, after.result = objects, False, 0, objects
    return "yes"


def having_value(learner: Learner, move: Move) -> Answer:
    """Ask for the objects with a value."""
    learner.learn_value(move.value, move.is_count)
    return _settle(learner, move, learner.scene.having[move.value], 1 << move.value)


def having_value_in_group(learner: Learner, move: Move) -> Answer:
    """Ask for the objects of the group that have a value. The group may be the whole scene."""
    before, objects = learner.before, learner.before.group & learner.scene.having[move.value]
    if before.group == learner.scene.everything and before.is_sized:
        learner.learn_value(move.value, move.is_count)
    answer = _settle(learner, move, objects, before.described | 1 << move.value)
    learner.after.group = 0  # "them" could be the whole group as well: how many of the cubes, or of the red ones
    return answer


def related(learner: Learner, move: Move) -> Answer:
    """Ask for the objects in a relation to the focus."""
    (learner.count_related if move.is_count else learner.find_related)(move.focus, move.relation)
    return _settle(learner, move, learner.scene.related[move.relation][move.focus], 0)


def alike(learner: Learner, move: Move) -> Answer:
    """Ask for the other objects with the focus's value of an attribute."""
    scene = learner.scene
    value = scene.value_at[move.attribute][move.focus]
    (learner.count_alike if move.is_count else learner.find_alike)(move.focus, value)
    return _settle(learner, move, scene.having[value] & ~(1 << move.focus), 1 << value)


def group_itself(learner: Learner, move: Move) -> Answer:
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
    return _settle(learner, move, before.group, before.described)


def attribute_of_focus(learner: Learner, move: Move) -> Answer:
    """Ask for an attribute of the focus."""
    value = learner.scene.value_at[move.attribute][move.focus]
    learner.introduce(move.focus)
    learner.tell(move.focus, value)
    return learner.scene.vocabulary.values[value][1]


def attribute_of_next(learner: Learner, move: Move) -> Answer:
    """Ask for an attribute of the thing next to the focus, or "none" if nothing lies there."""
    scene, focus, relation = learner.scene, move.focus, move.relation
    j = scene.next[relation][focus]
    learner.after.mentioned |= 1 << focus
    if j < 0:
        learner.count_related(focus, relation)
        return "none"
    learner.relate(focus, relation, j)
    learner.after.links[focus] |= 1 << relation
    learner.introduce(j, is_found=not learner.before.links[focus] >> relation & 1)
    value = scene.value_at[move.attribute][j]
    learner.tell(j, value)
    return scene.vocabulary.values[value][1]


# The table ------------------------------------------------------------------------------------------------------------

_COUNTED, _FOUND = ("count-obj-rel-imm", "count-obj-rel-imm2"), ("exist-obj-rel-imm", "exist-obj-rel-imm2")
_ASKED = ("seek-attr-imm", "seek-attr-imm2")
_A, _R = ("A",), ("R",)
_KINDS = (
    RoundKind("count-all", ask_size, whole_scene, needs_history=False),
    RoundKind("count-other", ask_rest, rest),
    RoundKind("exist-other", ask_rest, rest),
    RoundKind("count-attribute", ask_value, having_value, needs_history=False, slots=("V",)),
    RoundKind("exist-attribute", ask_value, having_value, needs_history=False, slots=("V",)),
    RoundKind("count-all-group", ask_group, group_itself, GROUP),
    RoundKind("count-attribute-group", ask_value, having_value_in_group, GROUP, slots=("V|P",)),
    RoundKind("exist-attribute-group", ask_value, having_value_in_group, GROUP, slots=("V|P",)),
    RoundKind("count-obj-rel-imm", ask_related, related, TOPIC, slots=_R),
    RoundKind("exist-obj-rel-imm", ask_related, related, TOPIC, slots=_R),
    RoundKind("count-obj-rel-imm2", ask_related, related, FOCUS, _COUNTED, slots=_R),
    RoundKind("exist-obj-rel-imm2", ask_related, related, FOCUS, _FOUND, slots=_R),
    RoundKind("count-obj-rel-early", ask_related, related, NAMED, slots=_R),
    RoundKind("exist-obj-rel-early", ask_related, related, NAMED, slots=_R),
    RoundKind("count-obj-exclude-imm", ask_alike, alike, TOPIC, slots=_A),
    RoundKind("exist-obj-exclude-imm", ask_alike, alike, TOPIC, slots=_A),
    RoundKind("count-obj-exclude-early", ask_alike, alike, NAMED, slots=_A),
    RoundKind("exist-obj-exclude-early", ask_alike, alike, NAMED, slots=_A),
    RoundKind("seek-attr-imm", ask_attribute, attribute_of_focus, TOPIC, slots=_A),
    RoundKind("seek-attr-imm2", ask_attribute, attribute_of_focus, TOPIC, (*_ASKED, "seek-attr-rel-imm"), slots=_A),
    RoundKind("seek-attr-early", ask_attribute, attribute_of_focus, NAMED, slots=_A),
    RoundKind("seek-attr-sim-early", ask_attribute, attribute_of_focus, NAMED, _ASKED),
    RoundKind("seek-attr-rel-imm", ask_next, attribute_of_next, TOPIC, slots=("R", "A")),
    RoundKind("seek-attr-rel-early", ask_next, attribute_of_next, NAMED, slots=("R", "A")),
)
ROUND_KINDS: dict[str, RoundKind] = {kind.label: kind for kind in _KINDS}
"""Label -> kind of round. Another order draws other dialogs."""
