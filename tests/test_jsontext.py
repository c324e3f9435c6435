"""The place of every value of a JSON text is found, as noted down by a writer that made the text piece by piece."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqagen.jsontext import Path, Position, locate, read_path, show_path

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


class Writer:
    """Writes JSON and notes where each value starts."""

    def __init__(self, style: Style) -> None:
        self.style, self.text = style, ""
        self.starts: dict[Path, int] = {}

    def write(self, value: Any, path: Path = ()) -> None:
        self.starts[path] = len(self.text)
        if isinstance(value, dict | list):
            opened, closed = "{}" if isinstance(value, dict) else "[]"
            self.text += opened
            for number, key in enumerate(value if isinstance(value, dict) else range(len(value))):
                self.text += ("," if number else "") + self.style.gap(len(path) + 1)
                if isinstance(value, dict):
                    self.text += f"{self.scalar(key)}{self.style.gap(0)}:{self.style.gap(0)}"
                self.write(value[key], (*path, key))
            self.text += self.style.gap(len(path)) + closed
        else:
            self.text += self.scalar(value)

    def scalar(self, value: Any) -> str:
        return json.dumps(value, ensure_ascii=self.style.ascii_only)

    def position(self, path: Path) -> Position:
        before = self.text[: self.starts[path]].split("\n")
        return Position(len(before), len(before[-1]) + 1)


@given(DOCUMENTS, STYLES)
@settings(deadline=None, max_examples=150)
def test_every_value_is_found(document: Any, style: Style) -> None:
    writer = Writer(style)
    writer.write(document)
    assert json.loads(writer.text) == document

    for path in writer.starts:
        assert locate(writer.text, show_path(path)) == writer.position(path)


@given(DOCUMENTS, STYLES)
@settings(deadline=None, max_examples=50)
def test_a_path_that_ends_early_gives_the_nearest_value(document: Any, style: Style) -> None:
    """A key that is missing is looked for where it should stand."""
    writer = Writer(style)
    writer.write(document)

    for path in writer.starts:
        assert locate(writer.text, show_path((*path, "no such key", 0))) == writer.position(path)


@given(st.lists(KEYS | st.integers(0, 99), max_size=6))
@settings(deadline=None, max_examples=100)
def test_a_path_is_read_as_it_was_shown(steps: list[str | int]) -> None:
    assert read_path(show_path(tuple(steps))) == tuple(steps)


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
    assert (show_path(path), read_path(text)) == (text, path)


def test_lines_and_columns_count_from_one() -> None:
    text = '\n{\n  "a": 1,\n  "b": [2,\n 3]\n}'

    assert locate(text, "") == (2, 1)
    assert locate(text, "a") == (3, 8)
    assert locate(text, "b[1]") == (5, 2)


def test_of_a_key_written_twice_the_last_is_meant() -> None:
    """It is the one that a parser keeps."""
    text = '{"a": [1], "a": [2]}'

    assert text[locate(text, "a[0]").column - 1] == str(json.loads(text)["a"][0])


def test_no_depth_is_too_deep() -> None:
    """What the parser can still read can be pointed at."""
    text = f'{{"deep": {"[" * 5000}{"]" * 5000}, "last": 1}}'

    assert text[locate(text, "last").column - 1] == "1"
