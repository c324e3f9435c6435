"""The place of every value of a JSON text is found, as noted down by a writer that made the text piece by piece."""

from __future__ import annotations

import json
import warnings
from itertools import cycle
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings, strategies as st

from vqagen.errors import InputWarning
from vqagen.files.diagnosis import Path, Position, Scan
from vqagen.files.parsing import locate_path, parse_json, show_path

# Keys that hold dots or brackets cannot be told apart in a path, and an empty one cannot be seen.
KEYS = st.text(st.characters(exclude_characters=".[]", exclude_categories=["Cs"]), min_size=1, max_size=6)
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.sampled_from('ab"\\{}[],: \n\té∀'), max_size=8)
)
DOCUMENTS = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=20
)


class Style(NamedTuple):
    """How a text is laid out: what stands between two pieces at some depth, and how letters are written."""

    indent: str | None
    newline: str
    ascii_only: bool

    def gap(self, depth: int) -> str:
        return "" if self.indent is None else self.newline + self.indent * depth


STYLES = st.builds(Style, st.sampled_from([None, "", "  ", "\t"]), st.sampled_from(["\n", "\r\n", " "]), st.booleans())


NOTES = st.lists(
    st.sampled_from(["", "/**/", '/* "]}, \n// */', '// [{"\n', "# */ \\\r\n", '-- [{"\n', "/*/ , /*/"]),
    min_size=1,
    max_size=5,
)
"""Comments, to be written one after the other wherever white space may stand."""


class Writer:
    """Writes JSON and notes where each value starts; as people write it, with notes and with commas at the end."""

    def __init__(self, style: Style, notes: list[str] | None = None, last_comma: str = "") -> None:
        self.style, self.notes, self.last_comma = style, cycle(notes or [""]), last_comma
        self.text = self.note()
        self.starts: dict[Path, int] = {}

    def note(self) -> str:
        return next(self.notes)

    def gap(self, depth: int) -> str:
        return self.note() + self.style.gap(depth) + self.note()

    def write(self, value: Any, path: Path = ()) -> None:
        self.starts[path] = len(self.text)
        if isinstance(value, dict | list):
            opened, closed = "{}" if isinstance(value, dict) else "[]"
            self.text += opened
            for number, key in enumerate(value if isinstance(value, dict) else range(len(value))):
                self.text += ("," if number else "") + self.gap(len(path) + 1)
                if isinstance(value, dict):
                    self.text += f"{self.scalar(key)}{self.gap(0)}:{self.gap(0)}"
                self.write(value[key], (*path, key))
                self.text += self.note()
            self.text += (self.last_comma if value else "") + self.gap(len(path)) + closed
        else:
            self.text += self.scalar(value)

    def scalar(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self.style.ascii_only)

    def position(self, path: Path) -> Position:
        before = self.text[: self.starts[path]].split("\n")
        return Position(len(before), len(before[-1]) + 1)


@given(DOCUMENTS, STYLES, NOTES, st.sampled_from(["", ","]))
@settings(max_examples=100)
def test_every_value_is_found_whatever_notes_and_last_commas_stand_between(
    document: Any, style: Style, notes: list[str], last_comma: str
) -> None:
    writer = Writer(style, notes, last_comma)
    writer.write(document)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        assert parse_json(writer.text + writer.note(), "f.json") == document

    assert Scan(writer.text).repeated == []
    for path in writer.starts:
        assert locate_path(writer.text, show_path(path)) == writer.position(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), ""),
        (("templates", 3, "text"), "templates[3].text"),
        ((3, "nodes", 0, "inputs", 1), "[3].nodes[0].inputs[1]"),
        (("a", "b", "c"), "a.b.c"),
        (("relationships", "in front", 12), "relationships.in front[12]"),
    ],
)
def test_how_a_path_looks(path: Path, text: str) -> None:
    assert show_path(path) == text


def test_lines_and_columns_count_from_one() -> None:
    text = '\n{\n  "a": 1,\n  "b": [2,\n 3]\n}'

    assert locate_path(text, "") == (2, 1)
    assert locate_path(text, "a") == (3, 8)
    assert locate_path(text, "b[1]") == (5, 2)


def test_of_a_key_written_twice_the_last_is_meant() -> None:
    """It is the one that a parser keeps."""
    text = '{"a": [1], "a": [2]}'

    assert text[locate_path(text, "a[0]").column - 1] == str(json.loads(text)["a"][0])


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("a.b", "1"),
        ("a.c", "3"),
        ("a.b.c", "2"),
        ("a.b.c[0]", "2"),
        ("a[0]", "4"),
        ("St. Bernard[1]", "6"),
        ("St. Bern", "{"),
        ("x[1", "{"),
    ],
)
def test_a_key_with_a_dot_or_bracket_is_found(path: str, found: str) -> None:
    """The longest key that the path can mean."""
    text = '{"a.b": 1, "a.b.c": 2, "a": {"b": 0, "c": 3}, "a[0]": 4, "St. Bernard": [5, 6]}'

    assert text[locate_path(text, path).column - 1] == found


def test_a_key_may_be_written_twice_anywhere() -> None:
    text = '[{"a": 1, "b": {"a": ["a", "a"], "a": 2}}, {"a": 1, "c": 2, "a": {"a": 1}, "a": "a"}]'

    scan = Scan(text)
    found = [(show_path((*scan.paths[inside], key)), text[at - 2 : at + 3]) for inside, key, at in scan.repeated]
    assert found == [
        ("[0].b.a", ', "a"'),
        ("[1].a", ', "a"'),
        ("[1].a", ', "a"'),
    ]
