"""Of right dialogs that are spoilt or forged, verification catches all, and so does the oracle of these tests."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from random import Random
from typing import Any

from depth import fewer
from dialog_domains import compiled, dialog_domain, faults_found
from generated_dialogs import generated
from oracles.dialogs.labels import LABELS
from oracles.dialogs.verdicts import HARD
from scene_records import sampled_scenes

from vqagen.tasks.dialog.verification import DialogVerification

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
    if answer.isdecimal():
        each["answer"] = str(int(answer) + 1)
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


def take_another_caption(dialog: Record, other: Record, _: Random) -> object:
    """The caption of a dialog about another scene, which says a color, or more, that nothing here has."""
    objects = sampled_scenes(6)[dialog["scene_index"]]["objects"]
    here = {str(value) for each in objects for value in each.values()}
    args = other["caption"]["program"]["args"]
    told = {**args.get("values", {}), **args.get("subject_value", {}), 0: args.get("value", "")}
    dialog["caption"] = deepcopy(other["caption"])
    return not {value for value in told.values() if value} <= here


def doubt_what_is_known(dialog: Record, _: Record, random: Random) -> object:
    """The next thing behind it, "if there is one", of which it was said that there is one."""
    asked = [each for each in dialog["rounds"] if each["label"].startswith("seek-attr-rel")]
    sure = [each for each in asked if each["question"].startswith("What is") and ", if" not in each["question"]]
    for each in random.sample(sure, min(1, len(sure))):
        each["question"] = each["question"][:-1] + ", if there is one?"
    return sure


def forget_how_long_ago(dialog: Record, _: Record, random: Random) -> object:
    """The cube, of which nobody spoke for a while."""
    early = [each for each in dialog["rounds"] if "the earlier " in each["question"]]
    for each in random.sample(early, min(1, len(early))):
        each["question"] = each["question"].replace("the earlier ", "the ")
    return early


def misspell_a_word(dialog: Record, _: Record, random: Random) -> object:
    """Any word of a question."""
    each = random.choice(dialog["rounds"])
    words = each["question"].split()
    words[random.randrange(len(words))] += "x"
    each["question"] = " ".join(words)
    return True


TEXTS: Mapping[str, Spoil] = {
    spoil.__name__: spoil
    for spoil in (
        flip_an_answer,
        repeat_a_question,
        refer_by_another_value,
        ask_for_another_value,
        ask_for_another_relation,
        give_another_label,
        drop_the_caption,
        take_another_caption,
        misspell_a_word,
    )
}
ALWAYS_WRONG = (
    *("flip_an_answer", "give_another_label", "drop_the_caption"),
    *("take_another_caption", "misspell_a_word"),
)
"""Changes after which the texts alone are wrong. The others may make a right dialog: there may be as many cubes as
spheres."""
BY_ORACLE = (refer_by_another_value, repeat_a_question, doubt_what_is_known, forget_how_long_ago)
"""Changes that leave each sentence true: what was told before, and how it is put, is judged by the oracle alone."""
SPOILT = fewer(12)
"""Dialogs spoilt in each way."""


def is_clean(record: Record) -> bool:
    """Whether verification finds no fault in a record, or in an image of one dialog."""
    verification = DialogVerification(dialog_domain(), {})
    verification.take(record, 0, compiled(sampled_scenes(6)[record["scene_index"]]))
    return verification.report.is_clean


def texts_of(dialog: Record) -> Record:
    """The texts, answers and labels alone, in CLEVR-Dialog's shape."""
    rounds = [
        {key: each[key] for key in ("question", "answer")} | {"template": each["label"]} for each in dialog["rounds"]
    ]
    caption = {"caption": dialog["caption"]["text"], "template": dialog["caption"]["label"]}
    return {"scene_index": dialog["scene_index"], "dialogs": [{**caption, "dialog": rounds}]}


def spoilt(spoil: Spoil) -> list[Record]:
    """Dialogs that are spoilt in one way."""
    random, right, found = Random(spoil.__name__), generated(6), list[Record]()
    while len(found) < SPOILT:
        dialog = random.choice(right)
        others = [other for other in right if other["scene_index"] != dialog["scene_index"]]
        changed = deepcopy(dialog)
        if spoil(changed, random.choice(others), random) and changed != dialog:
            found.append(changed)
    return found


def test_a_spoilt_dialog_is_caught() -> None:
    """Texts and annotations are compared with each other and with the scene; some texts alone with the scene."""
    missed, by_oracle = {}, {}
    for name, spoil in TEXTS.items():
        dialogs = spoilt(spoil)
        missed[name] = sum(map(is_clean, dialogs))
        if name in ALWAYS_WRONG:
            missed[f"{name} in texts"] = sum(is_clean(texts_of(dialog)) for dialog in dialogs)
            by_oracle[name] = sum(not _found_by_oracle(dialog) for dialog in dialogs[: fewer(5)])
    by_oracle |= {each.__name__: sum(not _found_by_oracle(it) for it in spoilt(each)[: fewer(5)]) for each in BY_ORACLE}
    kept = by_oracle.pop("doubt_what_is_known")  # "if there is one" may be said of what follows, and is not told

    assert {name: number for name, number in missed.items() if number > 0.05 * SPOILT} == {}
    assert (set(by_oracle.values()), kept <= 1) == ({0}, True)


def _found_by_oracle(dialog: Record) -> bool:
    return any(
        each.kind in HARD for _, each in faults_found(dialog, compiled(sampled_scenes(6)[dialog["scene_index"]]))
    )
