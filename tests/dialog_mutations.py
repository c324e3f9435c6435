"""Ways to spoil a right dialog: each changes what it says, or what its annotations say of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from random import Random
from typing import Any

from spoken_dialogs import dialog_domain

from vqagen.judge.dialogs.labels import LABELS

Record = dict[str, Any]
Spoil = Callable[[Record, Record, Random], object]
"""(dialog, another dialog, random stream) -> true if the dialog was changed."""


def _values() -> tuple[dict[str, tuple[str, str]], dict[str, list[str]]]:
    """Word -> (attribute, value) that it says; attribute -> its values."""
    loaded = dialog_domain()
    words = {
        way: (attribute.name, value)
        for attribute in loaded.vocabulary.attributes
        for value in attribute.leaves
        for way in loaded.synonyms.of(attribute.type, value)
    }
    return words, {attribute.name: list(attribute.leaves) for attribute in loaded.vocabulary.attributes}


def flip_an_answer(dialog: Record, _: Record, random: Random) -> object:
    """Yes for no, a number beside it, another value."""
    each = random.choice(dialog["rounds"])
    answer = each["answer"]
    if isinstance(answer, int):
        each["answer"] = answer + 1
    elif answer in ("yes", "no"):
        each["answer"] = "no" if answer == "yes" else "yes"
    else:
        values = _values()[1][each["program"]["args"]["attribute"]]
        each["answer"] = random.choice([value for value in values if value != answer])
    return True


def repeat_a_question(dialog: Record, _: Record, random: Random) -> object:
    """A round is that of an earlier one."""
    first, second = sorted(random.sample(range(len(dialog["rounds"])), 2))
    dialog["rounds"][second] = deepcopy(dialog["rounds"][first])
    return True


def _say_another_value(text: str, random: Random) -> str | None:
    words, _ = _values()
    said = [word for word in re.findall(r"[\w-]+", text) if word in words]
    if not said:
        return None
    word = random.choice(said)
    attribute, value = words[word]
    others = [each for each, (kind, other) in words.items() if kind == attribute and other != value]
    fitting = [each for each in others if (each[0] in "aeiou") == (word[0] in "aeiou")]
    return re.sub(rf"\b{word}\b", random.choice(fitting), text, count=1) if fitting else None


def _round_with(dialog: Record, key: str, random: Random) -> Record | None:
    having = [each for each in dialog["rounds"] if key in each["program"]["args"]]
    return random.choice(having) if having else None


def _ask_with_another_value(dialog: Record, key: str, random: Random) -> object:
    each = _round_with(dialog, key, random)
    text = each and _say_another_value(each["question"], random)
    if each and text:
        each["question"] = text
    return text


def refer_by_another_value(dialog: Record, _: Record, random: Random) -> object:
    """The earlier blue thing, not the earlier red thing."""
    return _ask_with_another_value(dialog, "descriptor", random)


def ask_for_another_value(dialog: Record, _: Record, random: Random) -> object:
    """How many cubes, not how many spheres."""
    return _ask_with_another_value(dialog, "value", random)


def ask_for_another_relation(dialog: Record, _: Record, random: Random) -> object:
    """Behind it, not left of it."""
    each = _round_with(dialog, "relation", random)
    if each is None:
        return False
    synonyms, relations = dialog_domain().synonyms, dialog_domain().vocabulary.relations
    own = each["program"]["args"]["relation"]
    other = random.choice([relation for relation in relations if relation != own])
    said = next(way for way in sorted(synonyms.of("Relation", own), key=len)[::-1] if way in each["question"])
    each["question"] = each["question"].replace(said, synonyms.of("Relation", other)[0], 1)
    return True


def ask_for_another_attribute(dialog: Record, _: Record, random: Random) -> object:
    """Its size, not its color."""
    each = _round_with(dialog, "attribute", random)
    own = each and each["program"]["args"]["attribute"]
    if each is None or own not in each["question"]:
        return False
    other = random.choice([name for name in _values()[1] if name != own])
    each["question"] = each["question"].replace(str(own), other)
    return True


def give_another_label(dialog: Record, _: Record, random: Random) -> object:
    """Another label of the same family."""
    each = random.choice(dialog["rounds"])
    family = LABELS[each["label"]].family
    labels = [label for label in LABELS if LABELS[label].family == family and label != each["label"]]
    each["label"] = random.choice(labels)
    return True


def drop_the_caption(dialog: Record, _: Record, __: Random) -> object:
    """Nothing is said at first."""
    dialog["caption"]["text"] = ""
    return True


def say_another_value_in_the_caption(dialog: Record, _: Record, random: Random) -> object:
    """There is a red thing, not a blue one."""
    text = _say_another_value(dialog["caption"]["text"], random)
    dialog["caption"]["text"] = text or dialog["caption"]["text"]
    return text


def take_another_caption(dialog: Record, other: Record, _: Random) -> object:
    """The caption of a dialog about another scene."""
    dialog["caption"] = deepcopy(other["caption"])
    return True


def exchange_two_rounds(dialog: Record, _: Record, random: Random) -> object:
    """A round before the one that it came after."""
    rounds, first = dialog["rounds"], random.randrange(len(dialog["rounds"]) - 1)
    rounds[first], rounds[first + 1] = rounds[first + 1], rounds[first]
    return True


def drop_a_round(dialog: Record, _: Record, random: Random) -> object:
    """Any but the last."""
    dialog["rounds"].pop(random.randrange(len(dialog["rounds"]) - 1))
    return True


def misspell_a_word(dialog: Record, _: Record, random: Random) -> object:
    """Any word of a question."""
    each = random.choice(dialog["rounds"])
    words = each["question"].split()
    words[random.randrange(len(words))] += "x"
    each["question"] = " ".join(words)
    return True


# Annotations ----------------------------------------------------------------------------------------------------------


def change_an_argument(dialog: Record, _: Record, random: Random) -> object:
    """One argument of a program."""
    arguments = random.choice(dialog["rounds"])["program"]["args"]
    if not arguments:
        return False
    key = random.choice(list(arguments))
    arguments[key] = [99] if isinstance(arguments[key], list) else "other"
    return True


def change_a_referent(dialog: Record, _: Record, random: Random) -> object:
    """One object more or fewer."""
    referents = random.choice(dialog["rounds"])["referents"]
    key = random.choice(list(referents))
    referents[key] = referents[key][:-1] or [99]
    return True


def shift_a_span(dialog: Record, _: Record, random: Random) -> object:
    """A mention one word longer."""
    mentions = [each for each in random.choice(dialog["rounds"])["mentions"] if each["span"]]
    if mentions:
        random.choice(mentions)["span"][1] += 1
    return mentions


def change_the_history(dialog: Record, _: Record, random: Random) -> object:
    """The class, or a distance."""
    history = random.choice(dialog["rounds"])["history"]
    key = random.choice(["class", "dependence", "d_reveal", "d_last", "d_ellipsis"])
    history[key] = 77
    return True


def change_an_antecedent(dialog: Record, _: Record, random: Random) -> object:
    """Another round, entity, way or span."""
    antecedents = random.choice(dialog["rounds"])["history"]["antecedents"]
    if antecedents:
        each = random.choice(antecedents)
        each[random.choice(list(each))] = 77
    return antecedents


def change_a_fact(dialog: Record, _: Record, random: Random) -> object:
    """A number or a value that the scene does not have."""
    facts = [each for each in random.choice(dialog["rounds"])["knowledge_delta"] if {"count", "value"} & set(each)]
    if facts:
        each = random.choice(facts)
        each["count" if "count" in each else "value"] = 77
    return facts


def change_an_entity(dialog: Record, _: Record, random: Random) -> object:
    """The objects or a mention of a cluster."""
    each = random.choice(dialog["entities"])
    if each["mentions"] and random.random() < 0.5:
        each["mentions"][0] = {"round": 0, "span": [7, 77]}
    else:
        each["objects"] = each["objects"][:-1] or [99]
    return True


TEXTS: Mapping[str, Spoil] = {
    spoil.__name__: spoil
    for spoil in (
        flip_an_answer,
        repeat_a_question,
        refer_by_another_value,
        ask_for_another_value,
        ask_for_another_relation,
        ask_for_another_attribute,
        give_another_label,
        drop_the_caption,
        say_another_value_in_the_caption,
        take_another_caption,
        exchange_two_rounds,
        drop_a_round,
        misspell_a_word,
    )
}
ALWAYS_WRONG = (
    *("flip_an_answer", "refer_by_another_value", "give_another_label", "drop_the_caption"),
    *("say_another_value_in_the_caption", "take_another_caption", "misspell_a_word", "repeat_a_question"),
)
"""Changes after which the texts alone are wrong. The others may make a right dialog: there may be as many cubes as
spheres."""
ANNOTATIONS: Mapping[str, Spoil] = {
    spoil.__name__: spoil
    for spoil in (
        change_an_argument,
        change_a_referent,
        shift_a_span,
        change_the_history,
        change_an_antecedent,
        change_a_fact,
        change_an_entity,
    )
}
