"""Everything that can surely be said wrong about an emitted question, from its record, its scene and the vocabulary.

Both dialects are known: the reference script's (`type`, answers true, 3, "red") and the released files' (`function`,
answers "yes", "3", "red"). A list-valued answer is a list there, and its values joined by ", " here. Wording is checked
only where no reading of it could be right.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import PurePath
from typing import Any, NamedTuple

from oracles.naive import Record, Undefined, Value, answer, attribute_types, relation_type, step_type, values_of

ARTICLES = {"a", "an", "the"}
HEAD_WORDS = {"thing", "object"}
FINAL_MARKS = ("?", ".", "!")
UNCLEAR_ONSET = re.compile(r"u|eu|ewe|one|once|h|[a-z]\b|\d|x")
"""Beginnings of words whose sound the letters do not tell: a unicorn, an umbrella; an hour, a house; an L, a U."""
LEFTOVERS = ["<", ">", "[", "]", "  ", " ?", " ,", " ;", " ."]


class Signature(NamedTuple):
    """What a function takes and gives: kinds of inputs, types of values, kind of output; a color is of kind Color."""

    inputs: tuple[str, ...]
    values: tuple[str, ...]
    output: str


PLAIN = {
    "scene": Signature((), (), "ObjectSet"),
    "unique": Signature(("ObjectSet",), (), "Object"),
    "not_unique": Signature(("ObjectSet",), (), "ObjectSet"),
    "union": Signature(("ObjectSet", "ObjectSet"), (), "ObjectSet"),
    "intersect": Signature(("ObjectSet", "ObjectSet"), (), "ObjectSet"),
    "difference": Signature(("ObjectSet", "ObjectSet"), (), "ObjectSet"),
    "count": Signature(("ObjectSet",), (), "Integer"),
    "exist": Signature(("ObjectSet",), (), "Bool"),
    "equal_object": Signature(("Object", "Object"), (), "Bool"),
    "equal_integer": Signature(("Integer", "Integer"), (), "Bool"),
    "less_than": Signature(("Integer", "Integer"), (), "Bool"),
    "greater_than": Signature(("Integer", "Integer"), (), "Bool"),
    "add": Signature(("Integer", "Integer"), (), "Integer"),
    "addition": Signature(("Integer", "Integer"), (), "Integer"),
    "subtract": Signature(("Integer", "Integer"), (), "Integer"),
    "subtraction": Signature(("Integer", "Integer"), (), "Integer"),
    "and": Signature(("Bool", "Bool"), (), "Bool"),
    "or": Signature(("Bool", "Bool"), (), "Bool"),
    "not": Signature(("Bool",), (), "Bool"),
}


def signatures(metadata: Record) -> dict[str, Signature]:
    """Every primitive function of the vocabulary."""
    found = {**PLAIN, "relate": Signature(("Object",), (relation_type(metadata),), "ObjectSet")}
    for name in attribute_types(metadata):
        found[f"filter_{name.lower()}"] = Signature(("ObjectSet",), (name,), "ObjectSet")
        found[f"query_{name.lower()}"] = Signature(("Object",), (), name)
        found[f"same_{name.lower()}"] = Signature(("Object",), (), "ObjectSet")
        found[f"different_{name.lower()}"] = Signature(("Object",), (), "ObjectSet")
        found[f"equal_{name.lower()}"] = Signature((name, name), (), "Bool")
        found[f"count_different_{name.lower()}"] = Signature(("ObjectSet",), (), "Integer")
    return found


def check_question(question_record: Record, scene: Record, metadata: Record) -> list[str]:
    """What is wrong with the record, one line each; an empty list for a question that may be published."""
    program = question_record.get("program")
    wrong = check_image(question_record, scene) + check_text(question_record.get("question"), metadata)
    malformed = check_program(program, metadata)
    return wrong + (malformed or check_answer(question_record, scene, metadata))


def check_image(record: Record, scene: Record) -> list[str]:
    """The fields that say which picture is asked about; each but the file name may be absent."""
    name = scene["image_filename"]
    expected = {"image_filename": name, "image": PurePath(name).stem}
    expected.update({key: scene[key] for key in ("image_index", "split") if key in scene})
    wrong = [f"{key} is {record[key]!r}, the scene's is {want!r}" for key, want in expected.items()
             if key in record and record[key] != want]  # fmt: skip
    return wrong if "image_filename" in record else ["no image_filename", *wrong]


# Program ----------------------------------------------------------------------------------------------------------


def check_program(program: Any, metadata: Record) -> list[str]:
    """Shape, names, kinds and use of the steps, without running them."""
    if not isinstance(program, list) or not program:
        return ["no program"]
    wrong = [problem for step in program for problem in _check_keys(step)] or _check_dialect(program)
    wrong = wrong or [problem for index in range(len(program)) for problem in _check_step(program, index, metadata)]
    return wrong or _check_use(program) + _check_kinds(program, signatures(metadata))


def _check_keys(step: Any) -> list[str]:
    if not isinstance(step, Mapping) or ("type" in step) == ("function" in step):
        return [f"step {step!r} has not exactly one of type and function"]
    wrong_lists = [key for key in ("inputs", "value_inputs") if not isinstance(step.get(key), list)]
    return [f"{step_type(step)}: {key} is no list" for key in wrong_lists]


def _check_dialect(program: Sequence[Record]) -> list[str]:
    return ["type and function are mixed"] if len({"type" in step for step in program}) > 1 else []


def _check_step(program: Sequence[Record], index: int, metadata: Record) -> list[str]:
    """One step by itself: its function is known, its inputs are earlier steps, its values are in the vocabulary."""
    step, name = program[index], step_type(program[index])
    signature = signatures(metadata).get(name)
    if signature is None:
        return [f"step {index}: no function {name!r}"]
    wrong = [
        f"step {index} ({name}): {key} are {step[key]!r}, {len(wanted)} wanted"
        for key, wanted in (("inputs", signature.inputs), ("value_inputs", signature.values))
        if len(step[key]) != len(wanted)
    ]
    late = [i for i in step["inputs"] if type(i) is not int or not 0 <= i < index]
    wrong += [f"step {index} ({name}): input {i!r} is no earlier step" for i in late]
    typed = zip(step["value_inputs"], signature.values, strict=False)
    return wrong + [f"step {index} ({name}): no {t} {v!r}" for v, t in typed if v not in values_of(metadata, t)]


def _check_use(program: Sequence[Record]) -> list[str]:
    """Every step but the last, which is the answer, feeds a later one."""
    used = {i for step in program for i in step["inputs"]}
    return [f"step {index} ({step_type(step)}) is not used" for index, step in enumerate(program[:-1])
            if index not in used]  # fmt: skip


def _check_kinds(program: Sequence[Record], known: Mapping[str, Signature]) -> list[str]:
    """Inputs are of the kinds their function takes, and the last step gives something that can be said."""
    kinds = [known[step_type(step)].output for step in program]
    wrong = [f"the last step ({step_type(program[-1])}) gives no answer"] if kinds[-1].startswith("Object") else []
    for index, step in enumerate(program):
        given, wanted = tuple(kinds[i] for i in step["inputs"]), known[step_type(step)].inputs
        wrong += [] if given == wanted else [f"step {index} ({step_type(step)}): inputs are {given}, {wanted} wanted"]
    return wrong


# Answer -----------------------------------------------------------------------------------------------------------


def spelled(value: Value, is_text: bool) -> bool | int | str | list[str]:
    """The answer as its dialect writes it: the released files, and the default, have strings only."""
    if isinstance(value, tuple):
        return ", ".join(value) if is_text else list(value)
    if not is_text:
        return value
    return ("yes" if value else "no") if isinstance(value, bool) else str(value)


def check_answer(record: Record, scene: Record, metadata: Record) -> list[str]:
    """The answer written is the answer of the (well-formed) program, of the right type."""
    try:
        is_text = "function" in record["program"][0] or isinstance(record.get("answer"), str)
        right = spelled(answer(record["program"], scene, metadata), is_text)
    except Undefined as problem:
        return [f"the program has no answer: {problem}"]
    given = record.get("answer")
    return [] if type(given) is type(right) and given == right else [f"answer is {given!r}, should be {right!r}"]


# Text -------------------------------------------------------------------------------------------------------------


def check_text(text: Any, metadata: Record) -> list[str]:
    """Leftovers of the template, first and last character, articles."""
    if not isinstance(text, str) or not text.strip():
        return ["no question"]
    wrong = [f"text contains {mark!r}" for mark in LEFTOVERS if mark in text]
    wrong += [] if text[0].isupper() else ["text does not start with an upper-case letter"]
    wrong += [] if text.endswith(FINAL_MARKS) else ["text does not end with '?', '.' or '!'"]
    return wrong + _check_articles(re.findall(r"[\w'-]+|[^\w\s]", text.lower()), metadata)


def _check_articles(words: Sequence[str], metadata: Record) -> list[str]:
    """a and an by the next letter, one article at a time, and none of a, an before a plural."""
    wrong = [f"{first!r} before {second!r}" for first, second in pairwise(words)
             if first in ARTICLES and (second in ARTICLES or _is_wrong_article(first, second))]  # fmt: skip
    adjectives = {value.lower() for name in attribute_types(metadata) for value in values_of(metadata, name)}
    adjectives |= {value.lower() for value in values_of(metadata, relation_type(metadata))}
    heads = adjectives | HEAD_WORDS | _null_words(metadata)
    for index, word in enumerate(words):
        noun = next((later for later in words[index + 1 :] if later not in adjectives), "")
        if word in {"a", "an"} and noun.endswith("s") and noun[:-1] in heads:
            wrong.append(f"{word!r} before the plural {noun!r}")
    return wrong


def _is_wrong_article(article: str, word: str) -> bool:
    is_clear = word[0].isalpha() and not UNCLEAR_ONSET.match(word)
    return article != "the" and is_clear and (article == "an") != (word[0] in "aeio")


def _null_words(metadata: Record) -> set[str]:
    """What stands for attributes that are left open."""
    given = [entry.get("null") for entry in metadata["types"].values() if isinstance(entry, Mapping)]
    return {word.lower() for word in given if isinstance(word, str)}
