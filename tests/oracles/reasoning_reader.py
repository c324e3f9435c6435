"""Reads a reasoning back: each sentence's claim is compared with what its step of the program gives.

Nothing is imported from the package. The wordings are those of the metadata; what they claim is read by coordinates, or
by the names of objects where there are none, and the steps are run by the slow twin (see `naive`). A sentence that no
wording of its step reads is wrong, too; so is a step without a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from oracles.naive import Record, attribute_types, outputs, relation_type, step_type, values_of
from oracles.naive_programs import is_filter, step_values
from oracles.naive_vocabulary import World, make_world

SILENT = ("unique", "not_unique", "count", "exist")
POINT, BOX = r"\(-?\d+, -?\d+\)", r"\[-?\d+(?:, -?\d+){3}\]"
PLACE = rf"(?:{POINT}|{BOX})"
OBJECT_SLOTS = ("O", "P")
Word = tuple[str, str]
"""Attribute, value."""
Claim = dict[str, str]
"""Slot -> what a sentence says in its place; `form` is "many", "yes" and so on, or ""."""


class Phrase(NamedTuple):
    """A noun phrase: its article or number, its words, and its place; "" for what it lacks."""

    article: str
    words: Sequence[Word]
    place: str


class ReasoningReader:
    """Reads the reasonings of a domain, whose synonyms file is `synonyms`."""

    def __init__(self, metadata: Record, synonyms: Record) -> None:
        self.metadata, self.texts = metadata, metadata["reasoning"]
        self.phrases = self.texts["phrases"]
        self.numbers = {word: number for number, word in enumerate(self.phrases["numbers"])}
        self.types = {name.lower(): name for name in attribute_types(metadata)}
        self.meanings: dict[str, list[Word | None]] = {}
        """What is said of an object, in small letters -> attribute and value; None for a noun that tells nothing."""
        heads = [name for name in self.types.values() if _details(metadata, name).get("null")] or [[*self.types][-1]]
        tables = (synonyms, metadata.get("synonyms", {}))
        for name, type_name in self.types.items():
            for value in values_of(metadata, type_name):
                self._learn(_ways(metadata, tables, type_name, value), (name, value), type_name == heads[-1])
        null = _details(metadata, heads[-1]).get("null", "thing")
        self._learn([*_ways(metadata, tables, heads[-1], null), self.phrases["one"]], None, True)
        type_name = relation_type(metadata)
        self.relations = {
            way.lower(): value
            for value in values_of(metadata, type_name)
            for way in _ways(metadata, tables, type_name, value)
        }
        words = _either(self.meanings)
        number = _either([*self.numbers, r"\d+"])
        noun_phrase = f"{words}(?: {words})*"
        name = f"(?:the|an?|{number}) {noun_phrase}"
        value = r"[^.:]+?"
        self.patterns = {
            "D": noun_phrase, "Ds": noun_phrase, "N": f"(?:{number}|{value})", "O": ".+", "P": PLACE,
            "R": f"(?:{_either(self.relations)}|{number})", "T": value, "Ts": value, "V": value,
            "A": f"(?:it|{name}|{value})", "B": f"(?:{name}|{value})", "As": value, "Bs": value, "X": ".+",
        }  # fmt: skip
        self.compiled: dict[str, list[tuple[str, re.Pattern[str]]]] = {}

    def _learn(self, ways: Sequence[str], meaning: Word | None, is_noun: bool) -> None:
        for way in ways:
            for form in [way, *(_plurals(way, self.metadata) if is_noun else ())]:
                meanings = self.meanings.setdefault(form.lower(), [])
                meanings += [meaning] if meaning not in meanings else []

    # Reading --------------------------------------------------------------------------------------------------------

    def faults(self, record: Record, scene: Record) -> tuple[int, list[str]]:
        """Return the number of sentences of a question's reasoning, and what is wrong with each wrong one."""
        program, results = record["program"], outputs(record["program"], scene, self.metadata)
        *sentences, last = re.split(r"(?<=\.) ", record["reasoning"])
        world = make_world(scene, self.metadata)
        wrong = list[str]()
        said, named = set[int](), None
        for sentence in sentences:
            step = self._next(program, results, said)
            if step is None:
                wrong.append(f"{sentence!r}: every step was said before")
                continue
            read = self._read(sentence, step, program, results, world, named)
            if read is None:
                wrong.append(
                    f"{sentence!r}: not what step {step} ({step_type(program[step])}) gives: {results[step]!r}"
                )
                read = step, None
            end, named = read
            said |= set(range(step, end + 1))
        if (step := self._next(program, results, said)) is not None:
            wrong.append(f"step {step} ({step_type(program[step])}) is not said")
        answers = [claim["X"] for _, claim in self._claims("answer", last)]
        if record["answer"] not in answers:
            wrong.append(f"{last!r}: the answer is {record['answer']}")
        return len(sentences), wrong

    def _next(self, program: Sequence[Record], results: Sequence[Any], said: set[int]) -> int | None:
        """The first step that needs a sentence and has none.

        A scene that others are only taken away from needs none, and nor does what is left of nothing.
        """
        for number, step in enumerate(program):
            following = program[number + 1] if number + 1 < len(program) else None
            is_bare = step_type(step) == "scene" and not (following and _follows(following, number))
            takes = is_filter(step) or step_type(step) == "difference"
            is_idle = takes and results[step["inputs"][0]] == frozenset()
            if number not in said and step_type(step) not in SILENT and not is_idle and not is_bare:
                return number
        return None

    def _read(
        self, sentence: str, start: int, program: Sequence[Record], results: Sequence[Any], world: World, named: Any
    ) -> tuple[int, frozenset[int] | None] | None:
        """The last step that a sentence says, and the objects that it names; None if it claims anything wrong."""
        names = [step_type(program[start])]
        if names == ["union"] and start + 1 < len(program) and is_filter(program[start + 1]):
            names.append(step_type(program[start + 1]))
        for name in names:
            for form, claim in self._claims(name, sentence):
                if not self._inputs_are_right(claim, name, start, program, results, world, named):
                    continue
                for end in _ends(program, start):
                    if self._is_right(form, claim, start, end, program, results, world):
                        things = _things(results[end], program[end])
                        return end, things
        return None

    def _claims(self, function: str, sentence: str) -> Iterator[tuple[str, Claim]]:
        """Each reading of a sentence by a wording of a function: its form, and what stands in the slots."""
        if function not in self.compiled:
            self.compiled[function] = [
                (form, self._pattern(shown)) for form, text in self._texts(function) for shown in _variants(text)
            ]
        for form, pattern in self.compiled[function]:
            if match := pattern.fullmatch(sentence):
                yield form, {slot: said or "" for slot, said in match.groupdict().items()}

    def _texts(self, function: str) -> Iterator[tuple[str, str]]:
        if function == "answer":
            listed = self.texts["answer"]
        else:
            families = [f"{function[: -len(name)]}{{name}}" for name in self.types if function.endswith(f"_{name}")]
            listed = next(
                self.texts["sentences"][key] for key in (function, *families) if key in self.texts["sentences"]
            )
        forms = listed if isinstance(listed, Mapping) else {"": listed}
        yield from ((form, text) for form, texts in forms.items() for text in texts)

    def _pattern(self, text: str) -> re.Pattern[str]:
        pieces = re.split(r"((?:\ba )?<\w+>(?:(?<=<E>) )?)", text)
        parts = [re.escape(piece) for piece in pieces]
        for place in range(1, len(pieces), 2):
            slot = pieces[place].split("<")[1].split(">")[0]
            article = "an? " if pieces[place].startswith("a ") else ""
            parts[place] = f"{article}(?P<{slot}>{self.patterns[slot]})" if slot != "E" else "(?P<E>other )?"
        return re.compile("".join(parts), re.IGNORECASE)

    # Checking -------------------------------------------------------------------------------------------------------

    def _inputs_are_right(
        self,
        claim: Claim,
        name: str,
        start: int,
        program: Sequence[Record],
        results: Sequence[Any],
        world: World,
        named: frozenset[int] | None,
    ) -> bool:
        """Whether a sentence names what its step takes: inputs, relation and attribute."""
        inputs, values = program[start]["inputs"], step_values(program[start])
        attribute = max((each for each in self.types if name.endswith(f"_{each}")), key=len, default="")
        for slot, wanted in (("T", attribute), ("Ts", f"{attribute}s")):
            if claim.get(slot, wanted).lower() != wanted:
                return False
        if "R" in claim and self.relations.get(claim["R"].lower(), str(self.numbers.get(claim["R"]))) != values[0]:
            return False
        for slot, index in (("A", 0), ("B", 1), ("As", 0), ("Bs", 1)):
            if slot not in claim:
                continue
            given, wanted = claim[slot].lower(), results[inputs[index]]
            if step_type(program[inputs[index]]) != "unique":
                if given not in (
                    _plurals(self._value(wanted), self.metadata) if slot.endswith("s") else [self._value(wanted)]
                ):
                    return False
            elif given == self.phrases["it"]:
                if named != frozenset([wanted]):
                    return False
            elif wanted not in self._fitting(self._phrase(given), world):
                return False
        return True

    def _is_right(
        self,
        form: str,
        claim: Claim,
        start: int,
        end: int,
        program: Sequence[Record],
        results: Sequence[Any],
        world: World,
    ) -> bool:
        """Whether what a sentence claims is what the steps from `start` to `end` give."""
        result = results[end]
        things = _things(result, program[end])
        if things is None:
            right = _form(int(result)) if type(result) is int else ("no", "yes")[result] if type(result) is bool else ""
            if form not in ("", right):
                return False
            return all(claim[slot].lower() == self._value(result) for slot in ("V", "N") if slot in claim)
        if form != _form(len(things)) or self.numbers.get(claim.get("N", "").lower(), len(things)) != len(things):
            return False
        phrase = self._phrase(claim.get("D", claim.get("Ds", "")))
        words = {(step_type(each).removeprefix("filter_"), step_values(each)[0])
                 for each in program[start : end + 1] if is_filter(each)}  # fmt: skip
        if phrase is None or not self._same_words(set(phrase.words), words):
            return False
        if "E" in claim and bool(claim["E"]) != (results[program[start]["inputs"][0]] in self._fitting(phrase, world)):
            return False
        if "O" in claim:
            return self._names_all(claim["O"], phrase, things, world)
        if "P" in claim:
            return [self._at(claim["P"], world)] == [*things]
        return not things or things <= self._fitting(phrase, world)

    def _same_words(self, said: set[Word], meant: set[Word]) -> bool:
        """Whether two descriptions are one; a group may be left out beside its member."""
        groups = {
            (name, value) for name, value in meant for _, other in meant if (name, other) in said and value != other
        }
        return said == meant or (said <= meant and meant - said <= groups)

    def _names_all(self, text: str, described: Phrase, things: frozenset[int], world: World) -> bool:
        """Whether a list of names names just these objects, which are `described` already."""
        left = set(things)
        groups = list[tuple[int, frozenset[int]]]()
        for part in re.split(r", (?=the |an? |\w+ )| and (?=the |an? |\w+ )", text):
            phrase = self._phrase(part.lower())
            if phrase is None:
                return False
            fitting = self._fitting(phrase, world) & self._fitting(described, world)
            if phrase.place:
                thing = self._at(phrase.place, world)
                if thing not in fitting or thing not in left:
                    return False
                left.remove(thing)
            elif phrase.article == "the":
                if len(fitting) != 1 or not fitting <= left:
                    return False
                left -= fitting
            else:
                groups.append((self.numbers.get(phrase.article, 1), fitting))
        counts_fit = all(len(fitting & left) >= count for count, fitting in groups)
        return (
            counts_fit and sum(count for count, _ in groups) == len(left) and left <= {i for _, f in groups for i in f}
        )

    def _phrase(self, text: str) -> Phrase | None:
        """Read "the small red one at (212, 140)"; None for what is no noun phrase."""
        text = text.lower()
        place = re.search(rf" at ({PLACE})$", text)
        text = text[: place.start()] if place else text
        article, _, rest = text.partition(" ")
        if article not in ("the", "a", "an", *self.numbers):
            article, rest = "", text
        words = self._words(rest.split(" "))
        return None if words is None else Phrase(article, words, place[1] if place else "")

    def _words(self, tokens: Sequence[str]) -> list[Word] | None:
        """The meanings of words, read from the left, the longest first; None if some have none."""
        if not tokens:
            return []
        for size in range(len(tokens), 0, -1):
            for meaning in self.meanings.get(" ".join(tokens[:size]), ()):
                rest = self._words(tokens[size:])
                if rest is not None:
                    return [*([meaning] if meaning else []), *rest]
        return None

    def _fitting(self, phrase: Phrase | None, world: World) -> frozenset[int]:
        if phrase is None:
            return frozenset()
        return frozenset(
            i for i in world.everything if all(value in world.sayable[name][i] for name, value in phrase.words)
        )

    def _at(self, place: str, world: World) -> int | None:
        """The object at a place."""
        numbers = [int(number) for number in re.findall(r"-?\d+", place)]
        key = "box" if place.startswith("[") else "pixel_coords"
        at = [
            i for i, thing in enumerate(world.scene["objects"]) if [*map(round, thing[key][: len(numbers)])] == numbers
        ]
        return at[0] if len(at) == 1 else None

    def _value(self, result: Any) -> str:
        """A number, truth or value as a sentence says it."""
        if isinstance(result, tuple):
            return str(self.phrases["and"]).join(filter(None, [", ".join(result[:-1]), result[-1]]))
        if type(result) is int and result < len(self.numbers):
            return str(self.phrases["numbers"][result])
        return str(result)


def _things(result: Any, step: Record) -> frozenset[int] | None:
    """The objects that a step gives; None for a number, a truth or a value."""
    return result if isinstance(result, frozenset) else frozenset([result]) if step_type(step) == "unique" else None


def _plurals(way: str, metadata: Record) -> list[str]:
    """Forms that the plural of a way to say a value may have."""
    last = way.split(" ")[-1]
    irregular = [
        way.removesuffix(last) + plural for word, plural in metadata.get("plurals", {}).items() if word == last
    ]
    return irregular or [f"{way}s", f"{way}es", f"{way[:-1]}ies"]


def _form(count: int) -> str:
    return {0: "none", 1: "one"}.get(count, "many")


def _follows(step: Record, number: int) -> bool:
    return step["inputs"] == [number] and (is_filter(step) or step_type(step) in SILENT)


def _ends(program: Sequence[Record], start: int) -> list[int]:
    """The steps with which a sentence that begins with `start` may end, the last one first: filters follow it."""
    ends = [start]
    while ends[-1] + 1 < len(program) and _follows(program[ends[-1] + 1], ends[-1]):
        if step_type(program[ends[-1] + 1]) in ("count", "exist"):
            break
        ends.append(ends[-1] + 1)
    return ends[::-1]


def _variants(text: str) -> list[str]:
    """A text with and without each part in brackets."""
    pieces = re.split(r"\[([^\[\]]*<\w+>[^\[\]]*)\]", text)
    choices = [(piece,) if place % 2 == 0 else ("", piece) for place, piece in enumerate(pieces)]
    return ["".join(chosen) for chosen in product(*choices)]


def _details(metadata: Record, type_name: str) -> Record:
    entry = metadata["types"][type_name]
    return entry if isinstance(entry, Mapping) and "values" in entry else {}


def _ways(metadata: Record, tables: Sequence[Record], type_name: str, value: str) -> list[str]:
    """Every way to say a value that any table has, and the value itself."""
    listed = [way for table in tables for way in [*table.get(type_name, {}).get(value, ()), *_plain(table, value)]]
    return [value, *filter(None, [_details(metadata, type_name).get("display", {}).get(value)]), *listed]


def _plain(table: Record, value: str) -> Sequence[str]:
    return table[value] if isinstance(table.get(value), list) else ()


def _either(words: Any) -> str:
    return "(?:" + "|".join(sorted(map(_escaped, words), key=len, reverse=True)) + ")"


def _escaped(word: str) -> str:
    return word if word == r"\d+" else re.escape(word)
