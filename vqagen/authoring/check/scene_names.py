"""Names in scenes that are never read, such as a relation or the key of an optional attribute that is misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vqagen.errors import nearest
from vqagen.world.domain import Domain
from vqagen.world.sampling_rules import WRITTEN_KEYS

UNKNOWN_RELATION, UNUSED_ATTRIBUTE = "unknown-relation", "unused-attribute"
ENOUGH_OBJECTS = 20
"""Objects after which an attribute that none of them has is warned of."""
SHOWN = 5
"""Relations named in one warning."""
_COMMENT = "comment"
_NOT_MISSPELT = (*WRITTEN_KEYS, "id", _COMMENT)


class ScenePlace(NamedTuple):
    """A place in a scene: the source of the scene, and the JSON path."""

    source: str
    path: str


class NameWarning(NamedTuple):
    """A warning about a name."""

    code: str
    place: ScenePlace
    message: str


class NamesSeen:
    """The relations and the objects' keys in all scenes of a file."""

    def __init__(self, domain: Domain, source: str) -> None:
        self.source = source
        self.optional = {each.key: each.name for each in domain.attributes if each.optional and each.compute is None}
        self.opened = frozenset(
            key.rsplit(".", depth)[0] for key in self.optional for depth in range(1, key.count(".") + 1)
        )
        """Keys of objects that hold other keys, as "text" does for "text.body"."""
        self.objects = 0
        self.relations = _Names([*domain.relations, _COMMENT])
        self.keys = _Names([each.key for each in domain.attributes] + [*self.opened, *_NOT_MISSPELT])
        self.wanted = domain.relations

    def add(self, record: Mapping[str, Any], index: int, source: str) -> None:
        """Add a scene, with or without faults."""
        self.relations.add(_relation_paths(record.get("relationships")), source, f"scenes[{index}].relationships")
        things = record.get("objects")
        if self.optional and isinstance(things, list):
            for i, thing in enumerate(things):
                if isinstance(thing, Mapping):
                    self.objects += 1
                    self.keys.add(_key_paths(thing, self.opened), source, f"scenes[{index}].objects[{i}]")

    def warnings(self) -> Iterator[NameWarning]:
        """Yield the warnings after all scenes were added."""
        misspelt = self.relations.misspelt(self.wanted)
        for other, name in misspelt.items():
            message = f"unknown relation {other!r}, which is never read; did you mean {name!r}?"
            yield NameWarning(UNKNOWN_RELATION, self.relations.strange[other], message)
        rest = [name for name in self.relations.strange if name not in misspelt]
        if rest:
            shown = ", ".join(map(repr, rest[:SHOWN])) + (", …" if len(rest) > SHOWN else "")
            message = f"unknown relation{'' if len(rest) == 1 else 's'} {shown}, which the domain does not have"
            yield NameWarning(UNKNOWN_RELATION, self.relations.strange[rest[0]], message)
        misspelt = self.keys.misspelt(self.optional)
        for other, key in misspelt.items():
            message = f"{other!r} is never read, and this object has no {key!r}; did you mean {key!r}?"
            yield NameWarning(UNUSED_ATTRIBUTE, self.keys.strange[other], message)
        for key, name in self.optional.items() if self.objects >= ENOUGH_OBJECTS else ():
            if key not in self.keys.found and key not in misspelt.values():
                message = f"none of the {self.objects:,} objects has {key!r}, the key of attribute {name}"
                yield NameWarning(UNUSED_ATTRIBUTE, ScenePlace(self.source, ""), message)


class _Names:
    """The known names that were found, the first place of each strange one, and the known names beside it."""

    def __init__(self, known: Sequence[str]) -> None:
        self.known = frozenset(known)
        self.found: set[str] = set()
        self.strange: dict[str, ScenePlace] = {}
        self.beside: dict[str, set[str]] = {}

    def add(self, paths: Iterator[tuple[str, str]], source: str, inside: str) -> None:
        """Add the names of one object or scene, with their paths inside of it."""
        places = dict(paths)
        here = places.keys() & self.known
        self.found |= here
        for name, path in places.items():
            if name not in self.known:
                self.strange.setdefault(name, ScenePlace(source, inside + path))
                self.beside.setdefault(name, set()).update(here)

    def misspelt(self, wanted: Iterable[str]) -> dict[str, str]:
        """Return strange name -> the wanted name that it may misspell, which no object or scene has beside it."""
        wanted = tuple(wanted)
        close = {
            name: nearest(name, [each for each in wanted if each not in self.beside[name]]) for name in self.strange
        }
        return {name: each for name, each in close.items() if each}


def _relation_paths(given: object) -> Iterator[tuple[str, str]]:
    """Yield (relation, path) from relationships of either form."""
    if isinstance(given, Mapping):
        yield from ((str(name), f".{name}") for name in given)
    elif isinstance(given, list):
        for i, entry in enumerate(given):
            if isinstance(entry, Mapping) and isinstance(entry.get("type"), str):
                yield entry["type"], f"[{i}].type"


def _key_paths(thing: Mapping[str, Any], opened: frozenset[str], above: str = "") -> Iterator[tuple[str, str]]:
    """Yield (key, path) of an object; a key inside another key is joined to it by a dot."""
    for name, value in thing.items():
        key = f"{above}{name}"
        yield key, f".{key}"
        if key in opened and isinstance(value, Mapping):
            yield from _key_paths(value, opened, f"{key}.")
