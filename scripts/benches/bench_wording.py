"""Counts what reads badly in questions: wordings that readers found stilted or unclear, and long sentences."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import click
from bench_costs import count_option

import vqagen
from vqagen.language.domain_files import SHIPPED_DOMAINS

LONG, VERY_LONG = 25, 30
"""Words of a long sentence, and of a very long one."""
WIDTH = 46
Said = frozenset[tuple[str, str]]
"""The types and values that a phrase says."""


@click.command()
@count_option("--scenes", default=500, help="Sampled scenes of each domain; each gets ten questions.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of scenes and questions.")
@click.option("--examples", type=click.IntRange(min=0), default=0, show_default=True, help="Questions shown of each.")
def wording(scenes: int, seed: int, examples: int) -> None:
    """Count what reads badly in questions about sampled scenes, by domain.

    Every pattern is found by the domain's own words, so in whatever text it stands.

    \b
    Example:
      scripts/bench wording --scenes 500 --examples 2
    """
    tables = {name: _count(name, scenes, seed) for name in SHIPPED_DOMAINS}
    click.echo(f"{'':{WIDTH}}" + "".join(f"{name:>10}" for name in tables))
    click.echo(f"{'questions':{WIDTH}}" + "".join(f"{len(each.texts):10,}" for each in tables.values()))
    for name in next(iter(tables.values())).found:
        shares = (len(each.found[name]) / len(each.texts) for each in tables.values())
        click.echo(f"{name:{WIDTH}}" + "".join(f"{share:10.2%}" for share in shares))
        for text in [text for each in tables.values() for text in each.found[name][:examples]]:
            click.echo(f"    {text}")


class _Table(NamedTuple):
    """The questions of a domain, and the texts that each pattern is found in."""

    texts: list[str]
    found: dict[str, list[str]]


def _count(domain: str, scenes: int, seed: int) -> _Table:
    patterns = _Words(vqagen.load_domain_files(vqagen.find_domain(domain))).patterns()
    sampled = list(vqagen.sample_scenes(scenes, seed=seed, domain=domain))
    records = [question.to_record() for question in vqagen.generate(sampled, domain=domain, seed=seed)]
    found = {
        name: [each["question"] for each in records if is_found(each["question"], each["program"])]
        for name, is_found in patterns.items()
    }
    return _Table([each["question"] for each in records], found)


Found = Callable[[str, Sequence[Mapping[str, Any]]], bool]
"""True if a pattern is in a text with a program."""


class _Words:
    """The words of a domain, as regular expressions."""

    def __init__(self, loaded: Any) -> None:
        synonyms, domain = loaded.synonyms, loaded.domain
        self.said: dict[str, tuple[str, str]] = {}
        """Word -> its type and value."""
        types = [attribute.type for attribute in domain.attributes]
        for name in types:
            for value, ways in synonyms.of_type(name).items():
                for way in ways if value else ():
                    self.said[way] = self.said[synonyms.plural(way)] = (name, value)
        generic = synonyms.of(types[-1], None)
        self.generic = _either([*generic, *map(synonyms.plural, generic)])
        self.values = _either(self.said)
        self.thing = rf"(?:{self.values} )*(?:{self.values}|{self.generic})"
        kinds = [name for name in domain.slot_types if name not in types]
        related = [ways for name in kinds for ways in synonyms.of_type(name).values()]
        self.relation = _either(way for ways in related for way in ways if way)
        self.attributes = _either(attribute.name for attribute in domain.attributes)

    def patterns(self) -> dict[str, Found]:
        """Return name -> test, in the order in which they are shown."""
        step = rf"{self.relation} (?:the|an?|that) {self.thing} "
        are_things = rf"\b(?<!there )(?:is|are) (?:(?:an?|or|not|either|both) )*(?:{self.values} )*{self.generic}\b"
        found: dict[str, Found] = {
            "one thing named twice in a row": self._names_twice,
            "a number of what the question calls one": lambda text, program: _counts_one(program),
            "that color, without an antecedent": self._has_no_antecedent,
            "nothing twice": _finds(r"\b(?:twice|double)\b"),
            "things that are large things": _finds(rf"\b{self.generic}\b[^;?]*{are_things}"),
            "Taking … together with …": _finds(r"^(?:Taking|Looking|Counting|Considering)\b"),
            "count X, and then Y": _finds(r"\bcount\b[^;?]*\bthen\b"),
            "three phrases of place in a row": _finds(rf"{step}{step}{self.relation} "),
            "compare the X behind the Y with the Z": _finds(rf"{step}with\b"),
            "the X behind the Y and the Z": _finds(rf"{step}and (?:for |of )?(?:the|every)\b"),
            "one or the other or both, without commas": _finds(r"[^,] or both\b"),
            "… it made of": _finds(r"(?<!\bis )\bit made of\b"),
            f"more than {LONG} words": lambda text, program: len(text.split()) > LONG,
            f"more than {VERY_LONG} words": lambda text, program: len(text.split()) > VERY_LONG,
        }
        return found

    def _names_twice(self, text: str, program: Sequence[Mapping[str, Any]]) -> bool:
        """True if one of two things that are joined is described by words of the other."""
        for pair in re.finditer(rf"\bthe ({self.thing}) and the ({self.thing})\b", text, re.IGNORECASE):
            one, other = (self._meaning(phrase) for phrase in pair.groups())
            if one <= other or other <= one:
                return True
        return False

    def _meaning(self, phrase: str) -> Said:
        return frozenset(self.said[word.lower()] for word in re.findall(self.values, phrase, re.IGNORECASE))

    def _has_no_antecedent(self, text: str, program: Sequence[Mapping[str, Any]]) -> bool:
        """True if "that color" stands where no color was spoken of before."""
        found = re.search(rf"\b(?:that|this|such) ({self.attributes})\b", text)
        return found is not None and found[1] not in text[: found.start()]


def _finds(pattern: str) -> Found:
    compiled = re.compile(pattern, re.IGNORECASE)
    return lambda text, program: compiled.search(text) is not None


def _either(words: Iterable[str]) -> str:
    """Return a regular expression for any of the words, of which the longest is found first."""
    longest_first = sorted({*words}, key=lambda word: (-len(word), word))
    return rf"\b(?:{'|'.join(map(re.escape, longest_first))})\b"


def _counts_one(program: Sequence[Mapping[str, Any]]) -> bool:
    """True if a set that is counted or searched has the words of an object that is the only one of its words."""
    sets = Counter(i for step in program if step["type"] in ("count", "exist", "union") for i in step["inputs"])
    ones = [step["inputs"][0] for step in program if step["type"] == "unique"]
    alone = [words for words, start in (_filters(program, i) for i in ones) if start == "scene"]
    return any(one <= _filters(program, i)[0] for i in sets for one in alone)


def _filters(program: Sequence[Mapping[str, Any]], number: int) -> tuple[Said, str]:
    """Return the filters that end at a step, and the function before them."""
    said = set[tuple[str, str]]()
    while program[number]["type"].startswith("filter_"):
        said.add((program[number]["type"], program[number]["value_inputs"][0]))
        number = program[number]["inputs"][0]
    return frozenset(said), program[number]["type"]
