"""Meta-templates: one record that makes several templates, by what is put in place of its placeholders.

The key `for` says what that is:

* An object `{placeholder: "*"}`, or a list of attribute types in place of the `"*"`, makes a template for each choice
  of attributes; no two placeholders ever take the same one. `{attribute}` becomes the attribute's name ("color"), and
  `{Attribute}` its type ("Color").
* A list of objects `{placeholder: text}` makes a template for each of them.

Placeholders are replaced in every text of the record, though not in keys, nor deep inside of what vqagen does not know.
A name without placeholders gets what is put in for them at its end, so that "query" becomes "query-color".
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from vqagen.errors import Fault, unknown
from vqagen.world.domain import Attribute, Domain

MOST = 10_000
"""Templates that one record may make."""

_PLACEHOLDER = re.compile(r"\{([A-Za-z_]\w*)\}")
_WORD = re.compile(r"[A-Za-z_]\w*")


class Replacement(NamedTuple):
    """The texts that replace the placeholders of one template."""

    chosen: Mapping[str, str]
    texts: Mapping[str, str]
    """`chosen`, and the types where attributes are chosen."""
    place: str = ""
    """Where it stands in the record, if it stands there by itself."""

    def __str__(self) -> str:
        """Format the first placeholders for errors, such as `attribute = color`."""
        shown = ", ".join(f"{name} = {text}" for name, text in itertools.islice(self.chosen.items(), 2))
        return f"{self.place}: {shown}" if self.place else shown


def choices_of(wanted: Any, domain: Domain) -> tuple[list[Replacement], list[Fault]]:
    """Return the choices of a `for`, in order, and its mistakes; no choices if there is any mistake."""
    given = _listed_choices(wanted) if isinstance(wanted, list) else _attribute_choices(_placeholders(wanted), domain)
    faults = [each for each in given if not isinstance(each, Replacement)]
    return ([] if faults else [each for each in given if isinstance(each, Replacement)]), faults


def with_choice(record: Mapping[str, Any], choice: Replacement) -> dict[str, Any]:
    """Return the record with its placeholders replaced."""
    made: dict[str, Any] = _replaced(record, choice.texts)
    if "name" in record and not _PLACEHOLDER.search(record["name"]):
        made["name"] = "-".join((record["name"], *choice.chosen.values()))
    return made


def unknown_placeholders(record: Any, choice: Replacement, path: str = "") -> Iterator[Fault]:
    """Yield placeholders that a choice has no text for."""
    if isinstance(record, str):
        for name in dict.fromkeys(_PLACEHOLDER.findall(record)):
            if name not in choice.texts:
                known = ", ".join(f"{{{each}}}" for each in choice.texts)
                yield path, f"unknown placeholder {{{name}}}; known: {known}"
    elif isinstance(record, Mapping):
        for key, value in record.items():
            yield from unknown_placeholders(value, choice, f"{path}.{key}".removeprefix("."))
    elif isinstance(record, list):
        for i, value in enumerate(record):
            yield from unknown_placeholders(value, choice, f"{path}[{i}]")


def _replaced(value: Any, texts: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        return _PLACEHOLDER.sub(lambda match: texts.get(match[1], match[0]), value)
    if isinstance(value, Mapping):
        return {key: _replaced(each, texts) for key, each in value.items()}
    if isinstance(value, list):
        return [_replaced(each, texts) for each in value]
    return value


def _placeholders(wanted: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in wanted.items() if key != "comment"}


def _name_faults(names: Sequence[str], path: str) -> Iterator[Fault]:
    if not names:
        yield path, "expected at least one placeholder"
    for name in names:
        if not _WORD.fullmatch(name):
            yield f"{path}.{name}", f"expected a word of letters, digits and '_' as a placeholder, found {name!r}"


# A list of texts ------------------------------------------------------------------------------------------------------


def _listed_choices(wanted: Sequence[Mapping[str, str]]) -> list[Replacement | Fault]:
    choices = [_placeholders(each) for each in wanted]
    first = list(choices[0])
    found: list[Replacement | Fault] = [*_name_faults(first, "for[0]")]
    for i, texts in enumerate(choices):
        if texts.keys() == choices[0].keys():
            found.append(Replacement({name: texts[name] for name in first}, texts, f"for[{i}]"))
        else:
            found.append((f"for[{i}]", f"expected the placeholders of for[0], {_shown(first)}; found {_shown(texts)}"))
    return found


def _shown(names: Sequence[str] | Mapping[str, str]) -> str:
    return ", ".join(names) or "none"


# Attributes -----------------------------------------------------------------------------------------------------------


def _attribute_choices(wanted: Mapping[str, Any], domain: Domain) -> list[Replacement | Fault]:
    faults = [*_name_faults(list(wanted), "for")]
    for name, listed in wanted.items():
        faults += _list_faults(name, listed, domain)
    options = [_options(listed, domain) for listed in wanted.values()]
    if not faults and math.prod(map(len, options)) > MOST:
        faults.append(("for", f"makes more than {MOST:,} templates"))
    if faults:
        return [*faults]
    picks = [pick for pick in itertools.product(*options) if len({each.type for each in pick}) == len(pick)]
    if not picks:
        return [("for", "leaves no choice, as no two placeholders take the same attribute")]
    return [_attribute_choice(list(wanted), pick) for pick in picks]


def _options(listed: Any, domain: Domain) -> list[Attribute]:
    return [each for each in domain.attributes if listed == "*" or each.type in listed]


def _list_faults(name: str, listed: Any, domain: Domain) -> Iterator[Fault]:
    types = [attribute.type for attribute in domain.attributes]
    if name[:1].isupper():
        small = name[:1].lower() + name[1:]
        yield f"for.{name}", f"write {small!r}: {{{small}}} is an attribute's name and {{{name}}} its type"
    for i, each in enumerate(() if listed == "*" else listed):
        if each not in types:
            yield f"for.{name}[{i}]", unknown("attribute type", each, types)


def _attribute_choice(names: Sequence[str], attributes: Sequence[Attribute]) -> Replacement:
    chosen = {name: attribute.name for name, attribute in zip(names, attributes, strict=True)}
    types = {name[:1].upper() + name[1:]: attribute.type for name, attribute in zip(names, attributes, strict=True)}
    return Replacement(chosen, {**types, **chosen})
