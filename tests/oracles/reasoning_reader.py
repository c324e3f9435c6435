"""Reads a reasoning back: each sentence's claim is compared with what its step of the program gives.

Nothing is imported from the package. The wordings are those of the metadata; what they claim is read by coordinates, or
by the names of objects where there are none, and the steps are run by the slow twin (see `naive`). A sentence that no
wording of its step reads is wrong, too; so is a step without a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from oracles.naive import Record, attribute_types, outputs, relation_type, step_type, values_of
from oracles.naive_programs import is_filter, step_values
from oracles.naive_vocabulary import World, make_world

SILENT = ("unique", "not_unique", "count", "exist", "point", "mark")
ONE_OBJECT = ("unique", "nearer", "farther")
"""Functions that give an object, and not a set."""
PLACE = r"(?:\(-?\d+, -?\d+\)|\[-?\d+(?:, -?\d+){3}\])"
Claim = Mapping[str, str]
"""Slot -> what a sentence says in its place; "" for nothing."""
Words = list[tuple[str, str]]
"""Attributes, each with a value."""


class Run(NamedTuple):
    """A program, run on a scene: the output of every step."""

    program: Sequence[Record]
    results: Sequence[Any]
    world: World

    def things(self, step: int) -> frozenset[int] | None:
        """The objects that a step gives; None for a number, a truth or a value."""
        result = self.results[step]
        return (
            frozenset([result])
            if step_type(self.program[step]) in ONE_OBJECT
            else result
            if isinstance(result, frozenset)
            else None
        )

    def follows(self, step: int, before: int) -> bool:
        """Whether a step is a filter, or silent, and takes what the step before gives."""
        here = self.program[step] if step < len(self.program) else None
        return here is not None and here["inputs"] == [before] and (is_filter(here) or step_type(here) in SILENT)

    def kind(self, step: int) -> str:
        """The function whose sentences say a step: those of `scene` say a filter of the whole picture."""
        here = self.program[step]
        is_of_all = is_filter(here) and step_type(self.program[here["inputs"][0]]) == "scene"
        return "scene" if is_of_all else step_type(here)

    def ends(self, start: int) -> Iterator[int]:
        """The steps that a sentence may say with the step `start`, the first one first."""
        yield start
        if self.follows(start + 1, start) and step_type(self.program[start + 1]) not in ("count", "exist"):
            yield from self.ends(start + 1)

    def unsaid(self, said: set[int]) -> int | None:
        """The first step that needs a sentence: no scene that others are taken away from, nor what is left of none."""
        for number, step in enumerate(self.program):
            is_bare = step_type(step) == "scene" and not self.follows(number + 1, number)
            takes_away = is_filter(step) or step_type(step) == "difference"
            is_idle = takes_away and self.results[step["inputs"][0]] == frozenset()
            if number not in said and step_type(step) not in SILENT and not is_bare and not is_idle:
                return number
        return None


class ReasoningReader:
    """Reads the reasonings of a domain, whose synonyms file is `synonyms`."""

    def __init__(self, metadata: Record, synonyms: Record) -> None:
        self.metadata, self.texts, self.phrases = metadata, metadata["reasoning"], metadata["reasoning"]["phrases"]
        self.numbers = {word: number for number, word in enumerate(self.phrases["numbers"])}
        self.types = {name.lower(): name for name in attribute_types(metadata)}
        self.tables = (synonyms, metadata.get("synonyms", {}))
        self.meanings: dict[str, Words] = {way: [] for way in ("one", "ones")}
        """What is said of an object, in small letters -> attribute and value; none for a noun that tells nothing."""
        *_, head = [name for name in self.types.values() if isinstance(metadata["types"][name], dict)]
        for name, type_name in self.types.items():
            for value in values_of(metadata, type_name):
                self.meanings |= {way: [(name, value)] for way in self.ways(type_name, value, type_name == head)}
        null = metadata["types"][head].get("null", "thing")
        self.meanings |= {way: [] for way in self.ways(head, null, True)}
        kind = relation_type(metadata)
        self.relations = {way: value for value in values_of(metadata, kind) for way in self.ways(kind, value)}
        described, number, value = (
            f"{either(self.meanings)}(?: {either(self.meanings)})*",
            either(self.numbers),
            "[^.:]+?",
        )
        self.patterns = {
            **dict.fromkeys(("D", "Ds"), described),
            **dict.fromkeys(("A", "B", "C"), f"(?:(?:the|an?) {described}|{value})"),
            **dict.fromkeys(("As", "V"), value),
            **dict.fromkeys(("O", "X"), ".+"),
            "N": rf"(?:{number}|\d+)",
            "P": PLACE,
            "R": either(self.relations),
        }
        self.compiled: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def ways(self, type_name: str, value: str, is_noun: bool = False) -> list[str]:
        """Every way to say a value, in small letters, of a noun in the plural too."""
        listed = [way for table in self.tables for given in (table.get(type_name, {}), table) if isinstance(given, dict)
                  for way in (given.get(value) if isinstance(given.get(value), list) else ())]  # fmt: skip
        details = self.metadata["types"][type_name]
        shown = details.get("display", {}).get(value, value) if isinstance(details, Mapping) else value
        ways = [way.lower() for way in (value, shown, *listed)]
        return [*ways, *(plural for way in ways for plural in self.plurals(way) if is_noun)]

    def plurals(self, way: str) -> list[str]:
        """Forms that a plural may have."""
        *rest, last = way.split(" ")
        irregular = self.metadata.get("plurals", {}).get(last)
        return [" ".join([*rest, irregular])] if irregular else [f"{way}s", f"{way}es", f"{way[:-1]}ies"]

    # Reading --------------------------------------------------------------------------------------------------------

    def faults(self, record: Record, scene: Record) -> tuple[int, list[str]]:
        """Return the number of sentences of a question's reasoning, and what is wrong with each wrong one."""
        results = outputs(record["program"], scene, self.metadata)
        run = Run(record["program"], results, make_world(scene, self.metadata))
        *sentences, last = re.split(r"(?<=\.) ", record["reasoning"])
        wrong, said, named = list[str](), set[int](), None
        for sentence in sentences:
            step = run.unsaid(said)
            end = None if step is None else self.read(sentence, step, run, named)
            if end is None:
                wrong.append(f"{sentence!r} is not what step {step} gives: {step is None or results[step]}")
            said |= set() if step is None else {*range(step, (end or step) + 1)}
            named = None if end is None else run.things(end)
        if (step := run.unsaid(said)) is not None:
            wrong.append(f"step {step} is not said")
        if not any(self.answers_right(claim["X"], record["answer"], run) for _, claim in self.claims("answer", last)):
            wrong.append(f"{last!r}: the answer is {record['answer']}")
        return len(sentences), wrong

    def answers_right(self, said: str, answer: str, run: Run) -> bool:
        """Whether the last sentence says the answer; where that is places, it names their objects."""
        things = run.results[-1]
        if step_type(run.program[-1]) not in ("point", "mark") or not things:
            return said == answer
        return answer == ", ".join(map(str, sorted(things))) and self.names_all(
            said, run.world.everything, things, run.world
        )

    def read(self, sentence: str, start: int, run: Run, named: frozenset[int] | None) -> int | None:
        """The step that gives all that a sentence says of `start` and after it; None if anything is wrong.

        Of several readings, the one that says most steps: "is a red cube" may name an object, or say two filters, too.
        """
        steps, ends = [start], list[int]()
        if step_type(run.program[start]) == "union" and run.follows(start + 1, start):
            steps.append(start + 1)  # "Among these are …", said of both sets
        for step in steps:
            for form, claim in self.claims(run.kind(step), sentence):
                if self.takes_right(claim, run.program[step], run, named):
                    found = [end for end in run.ends(start) if self.gives_right(form, claim, start, end, run)]
                    ends += found[:1]
        return max(ends, default=None)

    def claims(self, function: str, sentence: str) -> Iterator[tuple[str, Claim]]:
        """Each reading of a sentence by a wording of a function: the form of the wording, and its slots."""
        if function not in self.compiled:
            name = max((each for each in self.types if function.endswith(f"_{each}")), key=len, default="")
            keys = (function, function.removesuffix(name) + "{name}")
            listed = next(
                (self.texts["sentences"][key] for key in keys if key in self.texts["sentences"]), self.texts["answer"]
            )
            forms = listed if isinstance(listed, Mapping) else {"": listed}
            texts = [(form, text) for form in forms for wording in forms[form] for text in variants(wording)]
            self.compiled[function] = [(form, self.pattern(text, name)) for form, text in texts]
        for form, pattern in self.compiled[function]:
            if match := pattern.fullmatch(sentence):
                yield form, {slot: said or "" for slot, said in match.groupdict().items()}

    def pattern(self, text: str, attribute: str) -> re.Pattern[str]:
        """A wording as a pattern with a group for each slot."""
        text = text.replace("<Ts>", f"{attribute}s").replace("<T>", attribute)
        pieces, seen = re.split(r"(?:(\ba ))?<(\w+)>( (?<=<E> ))?", text), set[str]()
        for place in range(1, len(pieces), 4):
            article, slot, _ = pieces[place : place + 3]
            group = "(?P<E>other )?" if slot == "E" else f"(?P<{slot}>{self.patterns[slot]})"
            group = f"(?P={slot})" if slot in seen else group
            seen.add(slot)
            pieces[place : place + 3] = ["an? " if article else "", group, ""]
        return re.compile(
            "".join(re.escape(piece) if place % 4 == 0 else piece for place, piece in enumerate(pieces)), re.I
        )

    # Checking -------------------------------------------------------------------------------------------------------

    def takes_right(self, claim: Claim, step: Record, run: Run, named: frozenset[int] | None) -> bool:
        """Whether a sentence names what its step takes: the relation and the inputs."""
        if "R" in claim and self.relations[claim["R"].lower()] != step_values(step)[0]:
            return False
        for slot, source in [pair for pair in zip("ABC", step["inputs"], strict=False) if pair[0] in claim]:
            given, things = claim[slot].lower(), run.things(source)
            if things is None:
                is_right = given == self.value(run.results[source])
            elif given == self.phrases["all"]:
                is_right = things == run.world.start
            elif given in (self.phrases["it"], self.phrases["these"]):
                is_right = named == things
            else:
                is_right = things == self.fitting(self.words(given.partition(" ")[2]), run.world)
            if not is_right:
                return False
        return "As" not in claim or claim["As"].lower() in self.plurals(self.value(run.results[step["inputs"][0]]))

    def gives_right(self, form: str, claim: Claim, start: int, end: int, run: Run) -> bool:
        """Whether what a sentence claims is what the steps from `start` to `end` give."""
        result, things = run.results[end], run.things(end)
        number = result if things is None else len(things)
        right = ("no", "yes")[number] if isinstance(number, bool) else {0: "none", 1: "one"}.get(number, "many")
        if form not in ("", right) or ("N" in claim and claim["N"].lower() != self.value(number)):
            return False
        if things is None:
            return "V" not in claim or claim["V"].lower() == self.value(result)
        described = self.words(claim.get("D") or claim.get("Ds", ""))
        filters = [step for step in run.program[start : end + 1] if is_filter(step)]
        asked = {(step_type(step).removeprefix("filter_"), step_values(step)[0]) for step in filters}
        fitting = self.fitting(described, run.world)
        if described is None or not {*described} <= asked or fitting != self.fitting(asked, run.world):
            return False
        if "E" in claim and bool(claim["E"]) != (run.results[run.program[start]["inputs"][0]] in fitting):
            return False
        if "O" in claim:
            return self.names_all(claim["O"], fitting, things, run.world)
        return things == self.at(claim["P"], run.world) if "P" in claim else things <= fitting

    def names_all(self, text: str, fitting: frozenset[int], things: frozenset[int], world: World) -> bool:
        """Whether a list of names names just these objects, each of which is `fitting`."""
        left, groups = things, list[tuple[int, frozenset[int]]]()
        for part in re.split(r", (?=[a-z])| and (?=[a-z])", text):
            name, _, place = part.partition(" at ")
            article, _, rest = name.partition(" ")
            meant = (
                self.fitting(self.words(rest), world) & fitting & (self.at(place, world) if place else world.everything)
            )
            if article == "the" and not (len(meant) == 1 and meant <= left):
                return False
            if article == "the":
                left -= meant
            else:
                groups.append((self.numbers.get(article, 1), meant))
        counts_fit = all(len(meant & left) >= count for count, meant in groups)
        covered = frozenset[int]().union(*(meant for _, meant in groups))
        return counts_fit and sum(count for count, _ in groups) == len(left) and left <= covered

    def words(self, text: str) -> Words | None:
        """The meanings of "small red one", the longest ways first; None if a word has no meaning."""
        tokens = text.lower().split()
        for size in range(len(tokens), 0, -1):
            meaning, rest = self.meanings.get(" ".join(tokens[:size])), self.words(" ".join(tokens[size:]))
            if meaning is not None and rest is not None:
                return [*meaning, *rest]
        return None if tokens else []

    def fitting(self, words: Iterable[tuple[str, str]] | None, world: World) -> frozenset[int]:
        """The objects of which all words are true."""
        known, can = list(words or ()), world.sayable
        fits = frozenset(i for i in world.everything if all(value in can[name][i] for name, value in known))
        return frozenset() if words is None else fits

    def at(self, place: str, world: World) -> frozenset[int]:
        """The objects at a place."""
        numbers, key = (
            [int(number) for number in re.findall(r"-?\d+", place)],
            "box" if place[0] == "[" else "pixel_coords",
        )
        objects = enumerate(world.scene["objects"])
        return frozenset(i for i, thing in objects if [*map(round, thing[key][: len(numbers)])] == numbers)

    def value(self, result: Any) -> str:
        """A number or a value as a sentence says it."""
        if isinstance(result, tuple):
            return " and ".join(filter(None, [", ".join(result[:-1]), result[-1]]))
        return str(self.phrases["numbers"][result] if type(result) is int and result < len(self.numbers) else result)


def variants(text: str) -> Iterator[str]:
    """A text with and without each of its parts in brackets."""
    pieces = re.split(r"\[([^][]*<\w+>[^][]*)\]", text)
    return map("".join, product(*[("", piece) if place % 2 else (piece,) for place, piece in enumerate(pieces)]))


def either(words: Iterable[str]) -> str:
    """A pattern for any of the words."""
    return f"(?:{'|'.join(sorted(map(re.escape, words), key=len, reverse=True))})"
