"""The functions, constraints and vocabulary that an author of templates can use, each as `vqagen explain` prints it."""

from __future__ import annotations

from collections.abc import Iterator

from vqagen.language.catalogue import Catalogue, Composite, Function
from vqagen.language.synonyms import Synonyms
from vqagen.plugin import NODE, PLURAL_KINDS, SLOT, ConstraintKind, Record
from vqagen.world.attribute import Attribute

BUILT_IN = "built-in"
COMPOSITE = "templates only"


def function_entries(catalogue: Catalogue) -> list[Record]:
    """Return every function of the domain, and the nodes that only templates have."""
    return [
        *(_entry(function, function.signature) for function in catalogue.values()),
        *(_composite_entry(composite) for composite in catalogue.composites.values()),
    ]


def _composite_entry(composite: Composite) -> Record:
    relation = "<relation>, " if composite.relates else ""
    signature = f"{composite.name}({composite.input}; {relation}<value> …) -> {composite.output}"
    steps = ["relate"] if composite.relates else []
    steps += ["a filter for each value that is not left open", *filter(None, [composite.reducer])]
    meaning = "Stands for " + ", then ".join(steps) + "."
    return {"name": composite.name, "signature": signature, "meaning": meaning, "aliases": (), "source": COMPOSITE}


def constraint_entries(catalogue: Catalogue) -> list[Record]:
    """Return every constraint that templates may have, with its names in other generators."""
    kinds = catalogue.constraints.values()
    return [_entry(kind, f"{kind.name}({', '.join(map(_parameter, kind.params))})") for kind in kinds]


def _entry(declared: Function | ConstraintKind, signature: str) -> Record:
    """Return a function or constraint, with its meaning and the plug-in that adds it."""
    return {
        "name": declared.name,
        "signature": signature,
        "meaning": declared.meaning,
        "aliases": declared.aliases,
        "source": declared.source or BUILT_IN,
    }


def _parameter(kind: str) -> str:
    """Return a kind of parameter for people: `<slot> …` takes one or more."""
    one = {SLOT: "<slot>", NODE: "node"}
    return f"{one.get(kind[:-1], kind[:-1])} …" if kind in PLURAL_KINDS else one.get(kind, kind)


def vocabularies(catalogue: Catalogue, synonyms: Synonyms) -> list[Record]:
    """Return the words of the domain's attributes, then of its relations; `traits` are remarks on each."""
    domain = catalogue.domain
    records = [_vocabulary(attribute, synonyms) for attribute in domain.attributes]
    if domain.relations:
        records.append(
            {
                "name": "relations",
                "type": domain.relation_type,
                "words": [_word(domain.relation_type, relation, 0, synonyms) for relation in domain.relations],
                "key": "",
                "null": "",
                "traits": tuple(f"{name} computed by a plug-in" for name in domain.computed_relations),
            }
        )
    return records


def _vocabulary(attribute: Attribute, synonyms: Synonyms) -> Record:
    traits = {
        "a list of values": attribute.multi,
        "may be missing": attribute.optional,
        "computed by a plug-in": attribute.compute is not None,
    }
    return {
        "name": attribute.name,
        "type": attribute.type,
        "words": [_word(attribute.type, value, depth, synonyms) for value, depth in _in_groups(attribute, None, 0)],
        "key": attribute.key,
        "null": " / ".join(filter(None, synonyms.of(attribute.type, None))),
        "traits": tuple(trait for trait, holds in traits.items() if holds),
    }


def _in_groups(attribute: Attribute, group: str | None, depth: int) -> Iterator[tuple[str, int]]:
    """Yield every value below a group with its depth, each group before its members."""
    for value in attribute.values:
        if attribute.parents.get(value) == group:
            yield value, depth
            yield from _in_groups(attribute, value, depth + 1)


def _word(type_name: str, value: str, depth: int, synonyms: Synonyms) -> Record:
    """Return a value, `depth` groups down. `ways` are the ways to say it, empty if it is said as itself."""
    ways = synonyms.of(type_name, value)
    return {"value": value, "depth": depth, "ways": () if ways == (value,) else ways}
