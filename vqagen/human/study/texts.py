"""The words that a rater sees, all of them in `texts.json`: written by make-tasks, edited by hand, in any language."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import BadInput, Problem, describe, unknown
from vqagen.files.locations import Location
from vqagen.json.parsing import parse_json, read_text
from vqagen.json.text import locate

Words = Mapping[str, str | tuple[str, ...]]
"""Key -> a text, or its paragraphs."""

TEXTS_FILE = "texts.json"
_DEFAULT = Path(__file__).with_name(TEXTS_FILE)
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_OTHERS = ("comment", "$schema", "values")
"""Keys that hold no words."""
DIRECTIONS = ("ltr", "rtl")
ITEM_WORDS = (
    *("item_prompt", "item_left", "item_middle", "item_right"),
    *("rate_prompt", "rate_left", "rate_middle", "rate_right"),
    *("instructed_prompt", "instructed_text"),
)
"""Keys that make-tasks writes into items. A change takes effect when `make-tasks --force` plans the study again."""
TRIAL_VALUE = "value"
"""The placeholder of instructed trials: the number to choose."""


@dataclass(frozen=True)
class Texts:
    """The words of a study, with the operator's values in place of placeholders."""

    words: Words
    version: str
    """Hash of all words: the version that a rater consents to."""
    absent: tuple[str, ...] = ()
    """Keys that the file lacks, whose words are the English ones."""

    def __getitem__(self, key: str) -> str:
        """Return a text that is no list of paragraphs."""
        found = self.words[key]
        assert isinstance(found, str), key
        return found

    @property
    def language(self) -> str:
        """The language of the words, such as `en`."""
        return self["language"]

    def shown(self) -> dict[str, str | tuple[str, ...]]:
        """Return the words that the page shows."""
        return {key: words for key, words in self.words.items() if key not in ITEM_WORDS}

    def of_gone(self) -> dict[str, str | tuple[str, ...]]:
        """Return the words of the page for a link that is not valid."""
        return {key: self.words[key] for key in ("language", "direction", "title", "gone")}

    def placeholders(self) -> list[str]:
        """Return the names of placeholders that the operator has not filled, in reading order."""
        texts = (text for words in self.shown().values() for text in ((words,) if isinstance(words, str) else words))
        return list(dict.fromkeys(name for text in texts for name in _PLACEHOLDER.findall(text)))

    def instructed(self, key: str, value: int) -> str:
        """Return a text of instructed trials that asks for `value`."""
        return _filled(self[key], {TRIAL_VALUE: str(value)})


def default_texts() -> bytes:
    """Return the English words as their file has them."""
    return _DEFAULT.read_bytes()


def load_texts(path: Location) -> Texts:
    """Load the words of a study. BadInput with every mistake in the file."""
    text, source = read_text(path), str(path)
    document = parse_json(text, source)
    faults = list(_faults(document))
    if faults:
        raise BadInput(Problem(message, source, place, *locate(text, place)) for place, message in faults)
    return texts_of(document)


def texts_of(document: Mapping[str, Any]) -> Texts:
    """Return the words of a document without mistakes."""
    values = {name: value for name, value in document.get("values", {}).items() if value.strip()}
    given = {**default_document(), **document}
    words = {key: _all_filled(given[key], values) for key in default_document() if key not in _OTHERS}
    digest = hashlib.sha256(orjson.dumps(words, option=orjson.OPT_SORT_KEYS)).hexdigest()
    return Texts(words, digest[:16], tuple(key for key in words if key not in document))


def _all_filled(words: Any, values: Mapping[str, str]) -> str | tuple[str, ...]:
    return _filled(words, values) if isinstance(words, str) else tuple(_filled(each, values) for each in words)


def _filled(text: str, values: Mapping[str, str]) -> str:
    return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)


@cache
def default_document() -> dict[str, Any]:
    """Return the English words; do not write into them."""
    document: dict[str, Any] = orjson.loads(default_texts())
    return document


def _faults(document: object) -> Iterator[tuple[str, str]]:
    """Yield (path, mistake) of a file of texts: its keys and the kinds of their values are those of the English one."""
    if not isinstance(document, dict):
        yield "", f"expected an object, found {describe(document)}"
        return
    known = list(default_document())
    for key, value in document.items():
        if key not in known and key != "$schema":
            yield key, unknown("key", key, known)
        elif key == "values":
            yield from _faulty_values(value)
        elif key not in _OTHERS:
            yield from _faulty_words(key, value, isinstance(default_document()[key], list))
    if document.get("direction", "ltr") not in DIRECTIONS:
        yield "direction", f"expected 'ltr' or 'rtl', found {describe(document['direction'])}"


def _faulty_values(values: object) -> Iterator[tuple[str, str]]:
    if not isinstance(values, dict):
        yield "values", f"expected an object, found {describe(values)}"
        return
    for name, value in values.items():
        if not isinstance(value, str):
            yield f"values.{name}", f"expected text, found {describe(value)}"


def _faulty_words(key: str, words: object, is_list: bool) -> Iterator[tuple[str, str]]:
    if not is_list:
        if not isinstance(words, str) or not words.strip():
            yield key, f"expected some text, found {describe(words)}"
    elif not isinstance(words, list) or not words:
        yield key, f"expected a list of paragraphs, found {describe(words)}"
    else:
        for place, each in enumerate(words):
            if not isinstance(each, str) or not each.strip():
                yield f"{key}[{place}]", f"expected some text, found {describe(each)}"
