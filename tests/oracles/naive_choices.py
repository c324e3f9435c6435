"""The slow check of questions with options: each is answered again, each mistake made again, each block counted.

It reads raw JSON, and knows of `vqagen choices` only what its records promise.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from oracles.naive_programs import Undefined, Value, run, run_step, step_type, step_values
from oracles.naive_vocabulary import Record, World, attribute_types, make_world, values_of

SWAPS = {
    "both for either": [("union", "intersect"), ("or", "and")],
    "either for both": [("intersect", "union"), ("and", "or")],
    "less for more": [("add", "subtract"), ("addition", "subtraction")],
    "more for less": [("subtract", "add"), ("subtraction", "addition")],
    "more for fewer": [("less_than", "greater_than")],
    "fewer for more": [("greater_than", "less_than")],
    "as many for fewer": [("less_than", "equal_integer")],
    "as many for more": [("greater_than", "equal_integer")],
    "fewer for as many": [("equal_integer", "less_than")],
    "more for as many": [("equal_integer", "greater_than")],
}

IGNORED = (("ignores the negation", "not"), ("ignores the exception", "difference"))


def said(value: Value) -> str:
    """An answer as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, tuple) else str(value)


# One question ---------------------------------------------------------------------------------------------------------


def question_faults(record: Record, scene: Record, metadata: Record) -> Iterator[str]:
    """What is wrong with the options of one question."""
    world, program, options = make_world(scene, metadata), record["program"], record["choices"]
    outputs = run(world, program)
    right = said(outputs[-1])
    if options[record["choice"]] != right:
        yield f"the right option is {right}, not {options[record['choice']]}"
    if len(set(options)) != len(options) or not 2 <= len(options) <= 4:
        yield f"options {options}"
    wrong = [option for option in options if option != right]
    if "mistakes" not in record:
        known = plausible(world, outputs[-1], step_type(program[-1]).removeprefix("query_"))
        yield from (f"{option} is not plausible in the scene" for option in wrong if option not in known)
        return
    for option, words in zip(options, record["mistakes"], strict=True):
        if (words is None) != (option == right):
            yield f"mistake of {option}: {words}"
        elif words and option not in {said(each) for each in answers_by(words, world, program, outputs, metadata)}:
            yield f"{words} does not give {option}"


def plausible(world: World, answer: Value, attribute: str) -> set[str]:
    """The answers of the type of an answer that a scene makes plausible."""
    if isinstance(answer, bool):
        return {"yes", "no"}
    if isinstance(answer, int):
        return {str(number) for number in range(len(world.everything) + 1)}
    return {said(value) for value in world.values[attribute] if value is not None}


def answers_by(
    words: str, world: World, program: Sequence[Record], outputs: Sequence[Value], metadata: Record
) -> Iterator[Value]:
    """Every answer that the mistake gives, made at any step."""
    if words == "answers for another object of the question":
        last = program[-1]
        for step, output in zip(program, outputs, strict=True):
            if step_type(step) == "unique":
                yield run_step(world, step_type(last), [output], step_values(last))
        return
    vocabulary = {name.lower(): values_of(metadata, name) for name in attribute_types(metadata)}
    for place, step in enumerate(program):
        for result in wrong_results(words, world, step, [outputs[i] for i in step["inputs"]], vocabulary):
            yield from finished(world, program, {place: result}, outputs, words.startswith("ignores the "))


def wrong_results(
    words: str, world: World, step: Record, inputs: Sequence[Any], vocabulary: Mapping[str, Sequence[str]]
) -> Iterator[Value]:
    """What a step gives by a mistake, if it can be made there."""
    name, values = step_type(step), step_values(step)
    family, _, attribute = name.partition("_")
    spoken = attribute.replace("_", " ")
    one, _, other = words.partition(" for ")
    try:
        if words == "ignores the relation" and name == "relate":
            yield world.everything - {inputs[0]}
        elif (words, name) in IGNORED or (words, family) == (f"ignores the {spoken}", "filter"):
            yield inputs[0]
        elif words == f"mistakes the {spoken}" and family == "filter":
            others = (word for word in vocabulary[attribute] if word not in values)
            yield from (run_step(world, name, inputs, [word]) for word in others)
        elif words == "takes in the object itself" and family == "same":
            yield run_step(world, name, inputs, values) | {inputs[0]}
        elif words in ("different for same", "same for different") and family == other:
            yield run_step(world, f"{one}_{attribute}", inputs, values)
        elif name == "relate" and [other] == list(values):
            yield run_step(world, name, inputs, [one])
        elif family in ("same", "different") and spoken == other:
            yield run_step(world, f"{family}_{one.replace(' ', '_')}", inputs, values)
        for of, taken in SWAPS.get(words, ()):
            if of == name:
                yield run_step(world, taken, inputs, values)
    except Undefined:
        return


def finished(
    world: World, program: Sequence[Record], forced: Mapping[int, Value], outputs: Sequence[Value], is_wide: bool
) -> Iterator[Value]:
    """The answers of a program of which some outputs are forced.

    After something is ignored, the first `unique` of several objects takes any of them but the right one.
    """
    try:
        yield run(world, program, forced)[-1]
        return
    except Undefined:
        if not is_wide:
            return
    for place, step in enumerate(program):
        if place in forced or step_type(step) != "unique":
            continue
        try:
            found = run(world, program[:place], forced)[step["inputs"][0]]
        except Undefined:
            return
        if len(found) > 1:
            for thing in sorted(found - {outputs[place]}):
                yield from finished(world, program, {**forced, place: thing}, outputs, False)
            return


# All questions --------------------------------------------------------------------------------------------------------


def block_faults(records: Sequence[Record]) -> Iterator[str]:
    """Blocks in which an option is right more often than another, or stands at a place more often."""
    blocks: dict[int, list[Record]] = defaultdict(list)
    for record in records:
        blocks[record["block"]].append(record)
    for number, members in blocks.items():
        options = sorted(members[0]["choices"])
        if any(sorted(each["choices"]) != options for each in members):
            yield f"block {number}: different options"
        if sorted(each["choices"][each["choice"]] for each in members) != options:
            yield f"block {number}: not every option is right once"
        if len({tuple(said_options(each)) for each in members}) > 1:
            yield f"block {number}: the questions name different options"
        if sorted(each["choice"] for each in members) != list(range(len(options))):
            yield f"block {number}: not every place is right once"


def said_options(record: Record) -> list[str]:
    """The options that a question about a property of an object names as such a property of another."""
    family, _, attribute = step_type(record["program"][-1]).partition("_")
    filters = [step for step in record["program"] if step_type(step) == f"filter_{attribute}"]
    named = {value for step in filters for value in step_values(step)}
    return sorted(named & set(record["choices"])) if family == "query" else []


Rule = Callable[[Sequence[str], int], str]
"""(options in order, the question's block) -> the option that it takes."""


def option_rules(records: Sequence[Record]) -> dict[str, Rule]:
    """Rules that see only options; those that learn do it from the questions of all other blocks."""
    rights, of_set, ours = Counter[str](), defaultdict(Counter[str]), defaultdict(Counter[str])
    for record in records:
        right, options = record["choices"][record["choice"]], tuple(sorted(record["choices"]))
        rights[right] += 1
        of_set[options][right] += 1
        ours[record["block"]][right] += 1

    def learned(counts: Mapping[str, int], block: int, options: Sequence[str]) -> str:
        return max(sorted(options), key=lambda option: counts[option] - ours[block][option])

    def drawn(options: Sequence[str]) -> str:
        return min(options, key=lambda option: sha256(f"{sorted(options)}{option}".encode()).digest())

    def of_order(options: Sequence[str]) -> str:
        return min(options, key=lambda option: sha256(f"{options}{option}".encode()).digest())

    return {
        "most frequent answer of the file": lambda options, block: learned(rights, block, options),
        "least frequent answer of the file": lambda options, block: min(
            sorted(options), key=lambda option: rights[option] - ours[block][option]
        ),
        "majority of the set": lambda options, block: learned(of_set[tuple(sorted(options))], block, options),
        "longest": lambda options, block: max(sorted(options), key=len),
        "shortest": lambda options, block: min(sorted(options), key=len),
        "first by text": lambda options, block: min(options),
        "last by text": lambda options, block: max(options),
        "middle by text": lambda options, block: sorted(options)[len(options) // 2],
        "drawn for each set": lambda options, block: drawn(options),
        **{f"place {place}": lambda options, block, at=place: options[at % len(options)] for place in range(4)},
        "drawn for each order": lambda options, block: of_order(options),
    }


def advantage(records: Sequence[Record], rule: Rule) -> tuple[float, float]:
    """By how much a rule is above chance, and the standard error of that under chance."""
    shares = [1 / len(record["choices"]) for record in records]
    right = sum(rule(record["choices"], record["block"]) == record["choices"][record["choice"]] for record in records)
    variance = sum(share * (1 - share) for share in shares)
    return (right - sum(shares)) / len(records), variance**0.5 / len(records)
