"""Names of a scene's objects, for people: "the small red cube" in place of object 3."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from vqagen.bits import indexes
from vqagen.language.catalogue import Value
from vqagen.world.attribute import Attribute, Recorded
from vqagen.world.domain import Domain
from vqagen.world.scene import Scene

SPELLED_OUT = 4
"""Attributes up to which a name says all; of more, it says those in use and those that tell objects apart."""
NOUN = "object"


class ObjectNames:
    """The names of the objects of one scene, all different. `talked_of` are types of attributes that are in use."""

    def __init__(self, scene: Scene, domain: Domain, talked_of: Collection[str] = ()) -> None:
        attributes = _in_speaking_order(domain)
        if len(attributes) > SPELLED_OUT:
            attributes = _telling(scene, attributes, talked_of)
        self.names = _numbered([_name(scene, attributes, i) for i in range(scene.size)])

    def output(self, value: Value, type_name: str) -> Any:
        """Return a step's result for people and JSON: a set as a list of names, an object as "the …"."""
        if type_name == "ObjectSet":
            return [self.names[i] for i in indexes(value)]
        if type_name == "Object":
            return f"the {self.names[value]}"
        return plain(value)


def plain(value: Value) -> Any:
    """Return a value as JSON holds it. A set, which a plug-in may give, is sorted."""
    if value is None or isinstance(value, bool | int | float | str):
        return value
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, frozenset | set):
        return sorted((plain(part) for part in value), key=str)
    return str(value)


def listed(words: Sequence[str]) -> str:
    """Return "a", "a and b", or "a, b and c"."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def _in_speaking_order(domain: Domain) -> list[Attribute]:
    """Return the attributes with the head noun at the end: the last one that has a word for its open slot."""
    nouns = [attribute for attribute in domain.attributes if attribute.null]
    head = nouns[-1:]  # "large red cube", wherever the metadata lists the shape
    return [attribute for attribute in domain.attributes if attribute not in head] + head


def _telling(scene: Scene, attributes: Sequence[Attribute], talked_of: Collection[str]) -> list[Attribute]:
    """Return the last attribute, those in use and, of the others, those that make more names different."""
    chosen = [other for other in attributes if other.type in talked_of or other is attributes[-1]]
    for attribute in attributes:
        longer = [other for other in attributes if other in chosen or other is attribute]
        if _how_many_names(scene, longer) > _how_many_names(scene, chosen):
            chosen = longer
    return chosen


def _how_many_names(scene: Scene, attributes: Sequence[Attribute]) -> int:
    return len({_name(scene, attributes, i) for i in range(scene.size)})


def _name(scene: Scene, attributes: Sequence[Attribute], i: int) -> str:
    words = [_word(attribute, scene.values[attribute.name][i]) for attribute in attributes]
    return " ".join(filter(None, words)) or NOUN


def _word(attribute: Attribute, value: Recorded) -> str:
    """Return the word for a value, or for the lack of one."""
    if not value:
        return attribute.null
    values = [value] if isinstance(value, str) else value
    return listed([attribute.display.get(leaf, leaf) for leaf in values])


def _numbered(names: Sequence[str]) -> list[str]:
    """Return the names, with "(2 of 3)" after those that several objects have."""
    shared, met = Counter(names), Counter[str]()
    numbered = []
    for name in names:
        met[name] += 1
        numbered.append(name if shared[name] == 1 else f"{name} ({met[name]} of {shared[name]})")
    return numbered
