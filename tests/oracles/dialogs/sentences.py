"""Sentences of dialogs, parsed back: the texts of templates are compiled to patterns, with groups for slots and marks.

The grammar of a text is that of dialog templates (`tasks.dialog.template`). A part that is said on a condition claims
that it holds, and its absence that it does not; `manner` checks these claims. Every synonym of a value matches;
capitals, articles and "anything" do not matter for the meaning, and are checked by themselves.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from oracles.dialogs.labels import EXTREME

from vqagen.language.sentence import finished
from vqagen.language.synonyms import Synonyms
from vqagen.tasks.dialog.template import ANY_EXTREME, DialogTemplate
from vqagen.tasks.dialog.vocabulary import DialogVocabulary

NUMBER_WORDS = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"),
    *("eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)
MOST_REMEMBERED = 20_000
_TOKEN = re.compile(r"\{(?P<role>[\w-]+)\||(?P<close>\})|<(?P<slot>\w+)>(?P<plural>s(?!\w))?|(?P<text>[^{}<>]+)")
_BRACKET = re.compile(r"\[(?:(?P<condition>\w+)\|)?(?P<words>[^\[\]]*)\]")
_ARTICLE = re.compile(r"\b(a)n?(?= )")
_JOINED = re.compile(r"\b(any|every)thing( else)?\b")
GAP = "\u00a0"
"""Stands for a space inside what is one word of the sentence."""


class Reading(NamedTuple):
    """One way to understand a sentence."""

    label: str
    form: str
    slots: Mapping[str, Any]
    """A: attribute, R and E: relation, K: number, D, D2 and V: {attribute: value}."""
    spans: Mapping[str, tuple[int, int]]
    """Role -> its words, by their offsets."""
    variants: frozenset[int] = frozenset()
    """The texts of the template that say it."""
    claims: frozenset[frozenset[str]] = frozenset()
    """The conditions on which it is said, such as "far"; several sets if several texts say it."""

    @property
    def meaning(self) -> tuple[object, ...]:
        """Return what two readings of the same meaning have in common."""
        return self.label, self.form, repr(sorted(self.slots.items()))


@dataclass(frozen=True)
class _Pattern:
    label: str
    form: str
    variant: int
    regex: re.Pattern[str]
    roles: Mapping[str, str]
    """Group -> role."""
    claims: frozenset[str]
    """The conditions on which the text is said so; "not far" where a part that is said on a condition is missing."""


class SentenceParser:
    """Parses sentences of the templates of a domain."""

    def __init__(self, templates: Iterable[DialogTemplate], synonyms: Synonyms, vocabulary: DialogVocabulary) -> None:
        self._words = SlotWords(synonyms, vocabulary)
        self._patterns: dict[str, list[_Pattern]] = {}
        for template in templates:
            made = self._patterns.setdefault(template.label, [])
            for variant, text in enumerate(template.texts):
                made.extend(_pattern(template, variant, each, self._words) for each in _expanded(_Said(text.written)))
        self._remembered: dict[tuple[str, str], list[Reading]] = {}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of all templates."""
        return tuple(self._patterns)

    def _patterns_of(self, label: str) -> Iterator[_Pattern]:
        yield from self._patterns.get(label, ())
        if label.startswith(EXTREME) and label not in self._patterns:
            yield from self._patterns.get(ANY_EXTREME, ())

    def parse(self, sentence: str, label: str) -> list[Reading]:
        """Return the readings of a sentence under a label, each once."""
        key = sentence, label
        if key not in self._remembered:
            if len(self._remembered) >= MOST_REMEMBERED:
                self._remembered.clear()
            self._remembered[key] = self._parse(sentence, label)
        return self._remembered[key]

    def labels_of(self, sentence: str) -> list[str]:
        """Return the labels under which a sentence can be read."""
        return [label for label in self._patterns if self.parse(sentence, label)]

    def _parse(self, sentence: str, label: str) -> list[Reading]:
        plain, found = normal(sentence), dict[tuple[object, ...], Reading]()
        for pattern in self._patterns_of(label):
            match = pattern.regex.fullmatch(plain)
            slots = None if match is None else self._words.slots(match)
            if match is not None and slots is not None:
                spans = {role: _words_of(match, group) for group, role in pattern.roles.items() if match[group]}
                reading = Reading(_label_said(label, slots), pattern.form, slots, spans)
                reading = found.setdefault(reading.meaning, reading)
                found[reading.meaning] = reading._replace(
                    variants=reading.variants | {pattern.variant}, claims=reading.claims | {pattern.claims}
                )
        return list(found.values())


def _label_said(label: str, slots: Mapping[str, Any]) -> str:
    """Return the label of a sentence; the words decide if it is that of captions of every direction."""
    return EXTREME + str(slots.get("E", slots.get("R"))) if label == ANY_EXTREME else label


def normal(sentence: str) -> str:
    """Return a sentence without capitals, with "a" for "an" and "any thing" for "anything"."""
    return _JOINED.sub(_apart, _ARTICLE.sub(r"\1", sentence.lower()))


def _apart(match: re.Match[str]) -> str:
    return f"{match[1]}{' other' if match[2] else ''}{GAP}thing"


def fault_of_form(sentence: str) -> str:
    """Return what is wrong with a sentence's spaces, capital, articles or end; "" if nothing is."""
    if sentence != " ".join(sentence.split()):
        return "it has white space in excess"
    if not sentence.endswith(("?", ".")):
        return "it ends without a question mark or a full stop"
    tidy = finished(sentence, joins_anything=False)
    return "" if tidy == sentence else f"it should be written {tidy!r}"


def _words_of(match: re.Match[str], group: str) -> tuple[int, int]:
    first = match.string.count(" ", 0, match.start(group))
    return first, first + match[group].strip().count(" ") + 1


# Patterns ---------------------------------------------------------------------------------------------------------


def _pattern(template: DialogTemplate, variant: int, said: _Said, words: SlotWords) -> _Pattern:
    roles: dict[str, str] = {}
    numbers: dict[str, int] = {}

    def group_of(name: str) -> str:
        numbers[name] = numbers.get(name, 0) + 1
        return f"{name}__{numbers[name]}"

    parts: list[str] = []
    for match in _TOKEN.finditer(_lowered(said.text)):
        if match["role"]:
            group = group_of(re.sub(r"\W", "_", match["role"]))
            roles[group] = match["role"]
            parts.append(f"(?P<{group}>")
        elif match["close"]:
            parts.append(")")
        elif match["slot"]:
            parts.append(words.pattern(match["slot"], match["plural"] is not None, group_of))
        else:
            parts.append(re.escape(match["text"]).replace(r"\ ", f"[ {GAP}]"))
    return _Pattern(template.label, template.form, variant, re.compile("".join(parts)), roles, said.claims)


def _lowered(text: str) -> str:
    """Return a text as `normal` writes sentences; slots and roles stay as they are."""
    pieces = re.split(r"(<\w+>|\{[\w-]+\|)", text)
    return "".join(piece if piece[:1] in ("<", "{") else normal(piece) for piece in pieces)


class _Said(NamedTuple):
    """A text, some of whose parts in brackets are decided."""

    text: str
    claims: frozenset[str] = frozenset()


def _expanded(said: _Said) -> Iterator[_Said]:
    """Yield a text with and without each of its parts in brackets, in every combination, if any words are left."""
    match = _BRACKET.search(said.text)
    if match is None:
        text = re.sub(r" +(\}+)", r"\1 ", said.text)  # no mark ends with a space
        text = re.sub(r" (?=[?.,;!])", "", " ".join(text.split()))
        if text:
            yield said._replace(text=text)
        return
    before, after = said.text[: match.start()], said.text[match.end() :]
    for is_said in (True, False):
        claims = {f"{'' if is_said else 'not '}{match['condition']}"} if match["condition"] else set[str]()
        yield from _expanded(_Said(before + match["words"] * is_said + after, said.claims | claims))


# Slots ------------------------------------------------------------------------------------------------------------


class SlotWords:
    """The words that slots match, and the values that they say."""

    def __init__(self, synonyms: Synonyms, vocabulary: DialogVocabulary) -> None:
        self._synonyms, self._vocabulary = synonyms, vocabulary
        self._meaning: dict[str, dict[str, list[str]]] = {}
        """Kind of words -> words -> the values that they say."""

    @cached_property
    def _head(self) -> str:
        """The attribute whose values are nouns: the last one with a word for objects of any value."""
        named = [attribute.name for attribute in self._vocabulary.attributes if attribute.null]
        return named[-1] if named else ""

    @cached_property
    def _generic(self) -> tuple[str, ...]:
        """Nouns for any object."""
        for attribute in self._vocabulary.attributes:
            if attribute.name == self._head:
                return self._synonyms.of(attribute.type, None)
        return ("thing", "object")

    def pattern(self, slot: str, is_plural: bool, group_of: Callable[[str], str]) -> str:
        """Return the pattern of a slot; its groups are named by `group_of`."""
        match slot:
            case "N":
                return _either(map(self._synonyms.plural, self._generic) if is_plural else self._generic)
            case "K":
                return f"(?P<{group_of('K')}>\\d+|{'|'.join(NUMBER_WORDS)})"
            case "A":
                words = {attribute.name: [attribute.name] for attribute in self._vocabulary.attributes}
                return self._group(group_of("A"), "A", words)
            case "R":
                kind = self._synonyms.domain.relation_type
                return self._group(group_of("R"), "R", self._ways(kind, self._vocabulary.relations))
            case "E":
                return self._group(group_of("E"), "E", self._ways("Extreme", self._vocabulary.relations))
            case "D" | "D2" | "V":
                return self._description(group_of(slot), is_plural)
            case "P":
                return self._predicate(group_of("V"))
        raise ValueError(f"a dialog template has the slot <{slot}>, which the parser does not know")

    def _ways(self, kind: str, values: Iterable[str]) -> dict[str, Sequence[str]]:
        return {value: self._synonyms.of(kind, value) for value in values}

    def _group(self, group: str, kind: str, ways: Mapping[str, Sequence[str]]) -> str:
        meaning = self._meaning.setdefault(kind, {})
        for value, words in ways.items():
            for word in words:
                said = meaning.setdefault(normal(word), [])
                if value not in said:
                    said.append(value)
        return f"(?P<{group}>{_either(word for words in ways.values() for word in words)})"

    def _description(self, group: str, is_plural: bool) -> str:
        """Return the pattern of a noun phrase: adjectives in the order of the attributes, and a noun."""
        parts = []
        number: Callable[[str], str] = self._synonyms.plural if is_plural else str
        for attribute in self._vocabulary.attributes:
            ways = self._ways(attribute.type, attribute.leaves)
            if attribute.name != self._head:
                parts.append(f"(?:{self._group(f'{group}__{attribute.name}', attribute.name, ways)} )?")
        nouns = _either(map(number, self._generic))
        for attribute in self._vocabulary.attributes:
            if attribute.name == self._head:
                ways = self._ways(attribute.type, attribute.leaves)
                plural = {value: [number(word) for word in words] for value, words in ways.items()}
                nouns = f"(?:{self._group(f'{group}__{attribute.name}', attribute.name, plural)}|{nouns})"
        return f"(?P<{group}>{''.join(parts)}{nouns})"

    def _predicate(self, group: str) -> str:
        """Return the pattern of what several objects are: an adjective, or a noun of its own in the plural."""
        ways = []
        for attribute in self._vocabulary.attributes:
            number: Callable[[str], str] = self._synonyms.plural if attribute.name == self._head else str
            said = self._ways(attribute.type, attribute.leaves)
            plural = {value: [number(word) for word in words] for value, words in said.items()}
            ways.append(self._group(f"{group}__{attribute.name}", attribute.name, plural))
        return f"(?P<{group}>{'|'.join(ways)})"

    def slots(self, match: re.Match[str]) -> dict[str, Any] | None:
        """Return the values that the words of a match say; None if a description says no value."""
        slots: dict[str, Any] = {}
        for group, words in match.groupdict().items():
            slot, _, rest = group.partition("__")
            _, _, attribute = rest.partition("__")
            if words is None or slot not in ("A", "R", "E", "K", "D", "D2", "V"):
                continue
            if slot == "K":
                slots["K"] = NUMBER_WORDS.index(words) if words in NUMBER_WORDS else int(words)
            elif slot in ("A", "R", "E"):
                (slots[slot], *_) = self._meaning[slot][words]
            elif attribute:
                slots.setdefault(slot, {})[attribute] = self._meaning[attribute][words][0]
            else:
                slots.setdefault(slot, {})
        return None if {} in slots.values() else slots


def _either(words: Iterable[str]) -> str:
    escaped = sorted({re.escape(normal(word)).replace(r"\ ", f"[ {GAP}]") for word in words}, key=len, reverse=True)
    return f"(?:{'|'.join(escaped)})"
