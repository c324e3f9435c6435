"""Editing hand-written JSON: the new text says the new value, and all else in it stays as it was."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vqagen.json.editing import edited
from vqagen.json.tolerant import read_tolerantly

TABLE = """{
  // the first
  "apple": {"nouns": ["fruit"], "art": [1,  2]}, // round
  "pear":  {"nouns": []},
  /* long */ "plum": {}
}
"""

EDITS: list[tuple[str, str, Any, str]] = [
    ("one value changes", '{"a" : 1,"b":2}', {"a": 3, "b": 2}, '{"a" : 3,"b":2}'),
    ("a key is renamed", '{"a" : 1,"b":2}', {"c": 1, "b": 2}, '{"c" : 1,"b":2}'),
    ("a key is renamed and its value changed", '{ "a": [1, 2] }', {"c": [1]}, '{ "c": [1] }'),
    ("a member is added in a line", '{"a": 1}', {"a": 1, "b": 2}, '{"a": 1, "b": 2}'),
    ("a member is added in front", '{"a": 1}', {"b": 2, "a": 1}, '{"b": 2, "a": 1}'),
    ("the first member is removed", '{"a": 1, "b": 2}', {"b": 2}, '{"b": 2}'),
    ("the last member is removed", '{"a": 1, "b": 2}', {"a": 1}, '{"a": 1}'),
    ("a list grows", "[1,  2]", [1, 2, 3], "[1,  2,  3]"),
    ("a list of objects changes inside", '[{"a": 1}, {"b":2}]', [{"a": 5}, {"b": 2}], '[{"a": 5}, {"b":2}]'),
    ("an empty object is filled", '{"a": {}}', {"a": {"b": 1}}, '{"a": {"b": 1}}'),
    ("a spare comma is not doubled", "[1, 2,]", [1, 2, 3], "[1, 2, 3]"),
    ("equal numbers are left alone", "[1.0, 0.50]", [1, 0.5], "[1.0, 0.50]"),
    ("true is not one", "[1]", [True], "[true]"),
    (
        "the comment behind a removed member goes, that before it stays",
        TABLE,
        {"pear": {"nouns": []}, "plum": {}},
        '{\n  // the first\n  "pear":  {"nouns": []},\n  /* long */ "plum": {}\n}\n',
    ),
    (
        "a member is added on a line of its own, behind the comment of the one before it",
        '{\n    "a": 1 // one\n}',
        {"a": 1, "b": 2},
        '{\n    "a": 1, // one\n    "b": 2\n}',
    ),
    (
        "the last lines are removed with the comma before them",
        '{\n  "a": 1,\n  "b": 2\n}',
        {"a": 1},
        '{\n  "a": 1\n}',
    ),
    (
        "a table of objects is written one a line",
        '{\n  "items": {}\n}',
        {"items": {"mug": {"size": 2}}},
        '{\n  "items": {\n    "mug": {"size": 2}\n  }\n}',
    ),
    ("line ends are those of the file", '{\r\n  "a": 1\r\n}', {"a": 1, "b": 2}, '{\r\n  "a": 1,\r\n  "b": 2\r\n}'),
    (
        "a deep value changes alone",
        TABLE,
        {"apple": {"nouns": ["fruit", "food"], "art": [1, 2]}, "pear": {"nouns": []}, "plum": {}},
        TABLE.replace('["fruit"]', '["fruit", "food"]'),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "expected"), [each[1:] for each in EDITS], ids=[each[0] for each in EDITS])
def test_only_what_changes_is_written_anew(text: str, value: Any, expected: str) -> None:
    assert edited(text, value) == expected


def test_a_new_member_is_broken_into_lines_where_it_is_long() -> None:
    """Unless its neighbors are as long."""
    long = {"art": [{"ellipse": [0.5] * 10}] * 4}
    broken = edited('{\n  "a": {"art": []}\n}', {"a": {"art": []}, "b": long})
    line = edited(f'{{\n  "a": {json.dumps(long)}\n}}', {"a": long, "b": long})

    assert max(map(len, broken.splitlines())) <= 120
    assert broken.count("\n") == 10, "one shape a line"
    assert line.splitlines()[1:3] == [f'  "a": {json.dumps(long)},', f'  "b": {json.dumps(long)}']


def test_text_without_a_change_is_returned_as_it_is() -> None:
    assert edited(TABLE, read_tolerantly(TABLE).value) == TABLE


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "a", 'q"', "//", "ü"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcde/"), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150)
@given(VALUES, VALUES, st.sampled_from([None, 2]), st.booleans())
def test_the_edited_text_says_the_new_value(old: Any, new: Any, indent: int | None, has_comments: bool) -> None:
    """Whatever was there before, in whatever layout; comments on lines of their own are kept."""
    text = json.dumps(old, indent=indent, ensure_ascii=False)
    if has_comments and indent:
        text = text.replace("\n", " // note\n")

    assert read_tolerantly(edited(text, new)).value == new
