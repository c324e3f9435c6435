"""The words that a rater sees, all of them in `texts.json`: written by make-tasks, edited by hand, in any language."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import msgspec

from vqagen.files.parsing import read_object
from vqagen.files.schema import schema_faults
from vqagen.human.study.item import ANSWER, COMPARE, RATE, Scale, StudyItem

Words = Mapping[str, str | tuple[str, ...]]
"""Key -> a text, or its paragraphs."""

TEXTS_FILE = "texts.json"
DEFAULT_TEXTS = Path(__file__).with_name(TEXTS_FILE)
_OF_QUESTIONS = Path(__file__).with_name("texts_questions.json")
"""What stands in place of some first paragraphs where raters answer questions."""
_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_OTHERS = ("comment", "$schema", "values")
"""Keys that hold no words."""
_USUAL = {COMPARE: ("item", Scale()), RATE: ("rate", Scale(largest=7))}
"""Kind -> what the keys of its words begin with, and its usual scale."""
ITEM_WORDS = (
    *("item_prompt", "item_left", "item_middle", "item_right"),
    *("rate_prompt", "rate_left", "rate_middle", "rate_right"),
    *("instructed_prompt", "instructed_text"),
)
"""Keys that make-tasks writes into items. A change takes effect when `make-tasks --force` plans the study again."""


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
        words = self.words[key]
        assert isinstance(words, str), key
        return words

    def shown(self) -> dict[str, str | tuple[str, ...]]:
        """Return the words that the page shows."""
        return {key: words for key, words in self.words.items() if key not in ITEM_WORDS}

    def of_gone(self) -> dict[str, str | tuple[str, ...]]:
        """Return the words of the page for a link that is not valid."""
        return {key: self.words[key] for key in ("language", "direction", "title", "gone")}

    def placeholders(self) -> list[str]:
        """Return the names of placeholders that the operator has not filled, in reading order."""
        return list(dict.fromkeys(_PLACEHOLDER.findall(str(self.shown()))))

    def worded(self, item: StudyItem) -> StudyItem:
        """Return an item with the study's words, and the usual scale, where it has none of its own."""
        if item.kind == ANSWER:
            return item
        key, usual = _USUAL[item.kind]
        scale = item.scale or usual
        given = {part: getattr(scale, part) or self[f"{key}_{part}"] for part in ("left", "middle", "right")}
        return msgspec.structs.replace(
            item, prompt=item.prompt or self[f"{key}_prompt"], scale=msgspec.structs.replace(scale, **given)
        )


def first_texts(*, has_questions: bool) -> bytes:
    """Return the file of words of a new study, which tells raters what they are to do in its trials."""
    if not has_questions:
        return DEFAULT_TEXTS.read_bytes()
    document = dict(_english())
    for key, words in msgspec.json.decode(_OF_QUESTIONS.read_bytes()).items():
        document[key] = words if isinstance(words, str) else [*words, *document[key][len(words) :]]
    return msgspec.json.format(msgspec.json.encode(document), indent=2) + b"\n"


def load_texts(path: Path) -> Texts:
    """Load the words of a study. BadInput with every mistake in the file."""
    return texts_of(read_object(path, partial(schema_faults, name="human-texts")))


def texts_of(document: Mapping[str, Any]) -> Texts:
    """Return the words of a document without mistakes."""
    values = {name: value for name, value in document.get("values", {}).items() if value.strip()}
    given = {**_english(), **document}
    words = {
        key: filled(words_of_key, values)
        if isinstance(words_of_key, str)
        else tuple(filled(part, values) for part in words_of_key)
        for key, words_of_key in ((key, given[key]) for key in _english() if key not in _OTHERS)
    }
    digest = hashlib.sha256(msgspec.json.encode(words, order="sorted")).hexdigest()
    return Texts(words, digest[:16], tuple(key for key in words if key not in document))


def filled(text: str, values: Mapping[str, str]) -> str:
    """Return a text with the values of placeholders; those without a value stay."""
    return _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text)


@cache
def _english() -> dict[str, Any]:
    document: dict[str, Any] = msgspec.json.decode(DEFAULT_TEXTS.read_bytes())
    return document
