"""Names in scenes that are never read. A misspelt relation, or key of an optional attribute, counts as missing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
        inside = {key.rsplit(".", depth)[0] for key in self.optional for depth in range(1, key.count(".") + 1)}
        self.objects = 0
        self.opened = frozenset(inside)
        """Keys of objects that hold other keys, as "text" does for "text.body"."""
        every_key = [each.key for each in domain.attributes]
        self.relations = _Names(domain.relations, (*domain.relations, _COMMENT))
        self.keys = _Names(tuple(self.optional), (*every_key, *inside, *_NOT_MISSPELT))

    def add(self, record: Mapping[str, Any], index: int, source: str) -> None:
        """Add a scene, with or without faults."""
        self.relations.add(dict(_relation_paths(record.get("relationships"))), source, f"scenes[{index}].relationships")
        things = record.get("objects")
        if self.optional and isinstance(things, list):
            for i, thing in enumerate(things):
                if isinstance(thing, Mapping):
                    self.objects += 1
                    self.keys.add(dict(_key_paths(thing, self.opened)), source, f"scenes[{index}].objects[{i}]")

    def warnings(self) -> Iterator[NameWarning]:
        """Yield the warnings after all scenes were added."""
        misspelt = list(self.relations.misspelt())
        for name, other, place in misspelt:
            message = f"unknown relation {other!r}, which is never read; did you mean {name!r}?"
            yield NameWarning(UNKNOWN_RELATION, place, message)
        yield from self._unread_relations([other for _, other, _ in misspelt])
        reported = []
        for key, other, place in self.keys.misspelt():
            reported.append(key)
            message = f"{other!r} is never read, and this object has no {key!r}; did you mean {key!r}?"
            yield NameWarning(UNUSED_ATTRIBUTE, place, message)
        for key, name in self.optional.items() if self.objects >= ENOUGH_OBJECTS else ():
            if key not in self.keys.found and key not in reported:
                message = f"none of the {self.objects:,} objects has {key!r}, the key of attribute {name}"
                yield NameWarning(UNUSED_ATTRIBUTE, ScenePlace(self.source, ""), message)

    def _unread_relations(self, reported: Sequence[str]) -> Iterator[NameWarning]:
        rest = [name for name in self.relations.strange if name not in reported]
        if rest:
            shown = ", ".join(map(repr, rest[:SHOWN])) + (", …" if len(rest) > SHOWN else "")
            message = f"unknown relation{'' if len(rest) == 1 else 's'} {shown}, which the domain does not have"
            yield NameWarning(UNKNOWN_RELATION, self.relations.strange[rest[0]], message)


class _Names:
    """The wanted names that were found, and strange ones, which are none of `known`.

    A strange name counts as misspelling of a wanted name if it occurs without it, and nowhere together with it.
    """

    def __init__(self, wanted: Sequence[str], known: Sequence[str]) -> None:
        self.wanted, self.known = wanted, frozenset(known)
        self.found: set[str] = set()
        self.strange: dict[str, ScenePlace] = {}
        """Strange name -> its first place."""
        self.instead: dict[tuple[str, str], ScenePlace] = {}
        """(wanted, strange) -> the first place of the strange name without the wanted one."""
        self.beside: set[tuple[str, str]] = set()
        """(wanted, strange) names that occurred together."""

    def add(self, paths: Mapping[str, str], source: str, inside: str) -> None:
        """Add the names of one object or scene, with their paths inside of it."""
        self.found.update(paths.keys() & self.wanted)
        if paths.keys() <= self.known:
            return
        for strange, path in paths.items():
            if strange in self.known:
                continue
            place = ScenePlace(source, inside + path)
            self.strange.setdefault(strange, place)
            self.beside.update((name, strange) for name in self.wanted if name in paths)
            for name in self.wanted:
                if name not in paths:
                    self.instead.setdefault((name, strange), place)

    def misspelt(self) -> Iterator[tuple[str, str, ScenePlace]]:
        """Yield (wanted name, written name, place) of each strange name that seems to be misspelt."""
        for strange in self.strange:
            wanted = nearest(strange, [name for name in self.wanted if (name, strange) not in self.beside])
            if wanted is not None and (wanted, strange) in self.instead:
                yield wanted, strange, self.instead[wanted, strange]


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
