"""Which questions stay in a split: what the test split alone has, and how well their objects can be seen.

The test split may have question families, programs longer than all others, or pairs of values of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vqagen.bits import Objects, union_of
from vqagen.dataset.rows import TEST
from vqagen.dataset.settings import (
    CONDITION,
    FAMILY,
    LENGTH,
    TEST_CONDITION,
    TRAIN_CONDITION,
    VALUE_PAIR,
    DatasetSettings,
)
from vqagen.errors import UsageError, unknown
from vqagen.language.domain_files import LoadedDomain
from vqagen.language.program import Program
from vqagen.plugin import FILTER
from vqagen.rng import below, shuffled, stream
from vqagen.tasks.questions.generator import check_names, chosen_templates
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.world.domain import Domain
from vqagen.world.sampling_rules import SamplingRules
from vqagen.world.scene import Scene

HELD_FAMILIES = 5
"""One of so many families is held out."""
KEPT_LENGTHS = 0.8
"""Share of the questions whose programs are short enough for the other splits."""


@dataclass(frozen=True)
class HoldOut:
    """What is held out of all splits but test."""

    kind: str = "none"
    families: tuple[str, ...] = ()
    """Ids of the families that only the test split has."""
    others: tuple[str, ...] = ()
    """Ids of all other families."""
    pairs: tuple[tuple[str, str], ...] = ()
    """Values that, together, only questions of the test split name."""
    longest: int = 0
    """Steps of the longest programs of the other splits; 0 while this is unknown."""

    def only(self, split: str) -> tuple[str, ...]:
        """Return the ids of the families that a split has; none for all."""
        return self.families if split == TEST else self.others

    def keeps_few(self, split: str) -> bool:
        """True if most questions about the pictures of a split do not belong into it."""
        return split == TEST and self.kind in (LENGTH, VALUE_PAIR)

    def keeps(self, split: str, program: Program, answer: str) -> bool:
        """True if a question belongs into its split."""
        is_test = split == TEST
        if self.kind == LENGTH:
            return (len(program.nodes) > self.longest) == is_test
        if self.kind != VALUE_PAIR:
            return True
        if is_test:
            return any(described.issuperset(pair) for described in descriptions(program) for pair in self.pairs)
        named = {answer, *(value for node in program.nodes for value in node.values)}
        return not any(named.issuperset(pair) for pair in self.pairs)

    def sentence(self) -> str:
        """Return what is held out, for people; "" if nothing is."""
        if self.kind == FAMILY:
            return f"only test has the question families {', '.join(self.families)}"
        if self.kind == LENGTH:
            return f"only test has programs of more than {self.longest} steps, and no shorter ones"
        if self.kind == VALUE_PAIR:
            pairs = ", ".join(map("+".join, self.pairs))
            return f"only questions of test name both values of {pairs}, each as an object's description"
        return "scenes of test are sampled by condition B, all others by condition A" if self.kind == CONDITION else ""


def descriptions(program: Program) -> Iterator[set[str]]:
    """Yield the values by which each step's objects are described: those of a chain of filters."""
    found: list[set[str]] = []
    for node in program.nodes:
        is_filter = program.catalogue[node.function].role == FILTER
        before = found[node.inputs[0]] if is_filter and node.inputs else set[str]()
        found.append({*node.values, *before} if is_filter else set())
    yield from filter(None, found)


def longest_kept(lengths: Sequence[int]) -> int:
    """Return the length of programs that a share KEPT_LENGTHS of all does not exceed, shorter than the longest.

    >>> longest_kept([3, 3, 5, 5, 5, 5, 7, 7, 9, 20])
    7
    """
    ordered = sorted(lengths)
    longest = ordered[int(len(ordered) * KEPT_LENGTHS) - 1] if ordered else 0
    return max((length for length in ordered if length <= longest and length < ordered[-1]), default=longest)


def choose_held(settings: DatasetSettings, loaded: LoadedDomain) -> HoldOut:
    """Return what settings hold out. UsageError for a name that no family, no value or no condition has."""
    if settings.hold_out == FAMILY:
        return _held_families(settings, loaded)
    if settings.hold_out == VALUE_PAIR:
        pairs = (_read_pair(text, loaded.domain) for text in settings.held)
        return HoldOut(VALUE_PAIR, pairs=tuple(pairs) or tuple(_drawn_pairs(settings.seed, loaded.domain)))
    for condition in (TRAIN_CONDITION, TEST_CONDITION) if settings.hold_out == CONDITION else ():
        SamplingRules.from_domain(loaded.domain, condition)
    return HoldOut(settings.hold_out)


def _held_families(settings: DatasetSettings, loaded: LoadedDomain) -> HoldOut:
    if settings.held:
        named = QuestionSettings(only=settings.held)
        check_names(loaded, named, "--held")
        held = {template.id for template in chosen_templates(loaded.templates, named)}
    else:
        ids = shuffled(stream(settings.seed, "held families"), [template.id for template in loaded.templates])
        held = set(ids[: max(1, len(ids) // HELD_FAMILIES)])
    families, others = (
        tuple(template.id for template in loaded.templates if (template.id in held) == is_held)
        for is_held in (True, False)
    )
    if not others:
        raise UsageError(f"--held {' '.join(settings.held)} are all families: none is left to train on; name fewer")
    return HoldOut(FAMILY, families, others)


def _read_pair(text: str, domain: Domain) -> tuple[str, str]:
    """Return the values of `red+cube`."""
    owner = {value: attribute.name for attribute in domain.attributes for value in attribute.values}
    values = tuple(text.split("+"))
    if len(values) != 2:
        raise UsageError(f"--held {text!r} must be two values, such as red+cube")
    for value in values:
        if value not in owner:
            raise UsageError(f"--held {text!r}: {unknown('value', value, list(owner))}")
    if owner[values[0]] == owner[values[1]]:
        raise UsageError(f"--held {text!r}: both are a {owner[values[0]]}; name values of two attributes")
    return values[0], values[1]


def _drawn_pairs(seed: int, domain: Domain) -> Iterator[tuple[str, str]]:
    """Yield each value of the largest attribute with one of the second largest.

    All values stay in train with others. UsageError for a domain with fewer than two attributes of two values.
    """
    large = sorted((of for of in domain.attributes if len(of.values) > 1), key=lambda of: -len(of.values))
    if len(large) < 2:
        raise UsageError(f"--hold-out {VALUE_PAIR} needs two attributes of two values, and the domain has fewer")
    first, second = (sorted(attribute.values) for attribute in large[:2])
    offset = below(stream(seed, "held pairs"), len(second))
    for place, value in enumerate(shuffled(stream(seed, "held values"), first)):
        yield value, second[(place + offset) % len(second)]


# Visibility -----------------------------------------------------------------------------------------------------------


def hardly_visible(scene: Mapping[str, Any], least: int) -> Objects:
    """Return the objects of a scene with masks of which fewer pixels than `least` can be seen."""
    return union_of(number for number, thing in enumerate(scene["objects"]) if thing["visible_pixels"] < least)


def referred(program: Program, scene: Scene) -> Objects:
    """Return the objects that a program refers to: those that any of its steps takes or gives.

    All objects, from which programs start, count only where something else than a filter takes them, as in "How many
    things are there?". Raises Undefined for a program without an answer in the scene.
    """
    outputs: Sequence[Any] = program.outputs(scene)
    functions = [program.catalogue[node.function] for node in program.nodes]
    objects = 0
    for place, node in enumerate(program.nodes):
        taken = () if functions[place].role == FILTER else node.inputs
        for step in (*taken, place) if node.inputs else ():
            if functions[step].output == "ObjectSet":
                objects |= outputs[step]
            elif functions[step].output == "Object":
                objects |= 1 << outputs[step]
    return objects
