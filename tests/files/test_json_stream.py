"""The streaming reader agrees with `json.loads`, wherever the chunks are cut, and points at the byte that is wrong."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from vqagen.files import stream as json_stream
from vqagen.files.stream import JsonFault, JsonReader, position_of

# Few letters, so that separators, quotes and braces turn up where they confuse most.
TEXT = st.text(alphabet='ab{}[]",:\\ é\n', max_size=8)
NUMBERS = st.integers(-(10**12), 10**12) | st.floats(allow_nan=False, allow_infinity=False)
VALUES = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab") | TEXT, inner, max_size=3),
    max_leaves=8,
)
LAYOUTS = st.sampled_from(
    [{}, {"indent": 1}, {"separators": (",", ":")}, {"separators": (" ,\n", "\t: ")}, {"ensure_ascii": False}]
)
SIZES = st.sampled_from([1, 5, 17, 64, json_stream.CHUNK])


@pytest.fixture(autouse=True)
def _chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunk sizes that a test sets last no longer than the test."""
    monkeypatch.setattr(json_stream, "CHUNK", json_stream.CHUNK)
    monkeypatch.setattr(json_stream, "FIRST_TRY", json_stream.FIRST_TRY)


def reader_of(text: str | bytes, size: int = 64) -> JsonReader:
    json_stream.CHUNK = json_stream.FIRST_TRY = size
    return JsonReader(BytesIO(text.encode() if isinstance(text, str) else text))


@settings(max_examples=150)
@given(values=st.lists(VALUES, min_size=1, max_size=6), skipped=st.integers(0, 63), layout=LAYOUTS, size=SIZES)
def test_elements_are_read_or_skipped_one_by_one(
    values: list[Any], skipped: int, layout: dict[str, Any], size: int
) -> None:
    reader = reader_of(json.dumps(values, **layout), size)
    reader.take(b"[")
    read = {index: reader.value() for index in reader.rest_of_list("") if not skipped >> index & 1}
    reader.take_end()

    assert read == {index: value for index, value in enumerate(values) if not skipped >> index & 1}


@settings(max_examples=80)
@given(document=st.dictionaries(TEXT, VALUES, max_size=5), wanted=TEXT, layout=LAYOUTS, size=SIZES)
def test_members_are_read_or_skipped_one_by_one(
    document: dict[str, Any], wanted: str, layout: dict[str, Any], size: int
) -> None:
    reader = reader_of(json.dumps(document, **layout), size)
    found = [(key, reader.value() if key == wanted else None) for key in reader.members()]
    reader.take_end()

    assert found == [(key, value if key == wanted else None) for key, value in document.items()]


@settings(max_examples=60)
@given(values=st.lists(VALUES, min_size=1, max_size=4), cut=st.integers(0), size=SIZES, is_read=st.booleans())
def test_a_text_that_is_cut_off_is_a_fault(values: list[Any], cut: int, size: int, is_read: bool) -> None:
    text = json.dumps(values).encode()
    reader = reader_of(text[: cut % len(text)], size)
    with pytest.raises(JsonFault):
        reader.take(b"[")
        for _ in reader.rest_of_list(""):
            if is_read:
                reader.value()


LOOKS_ALIKE = [
    '[{"a": [{"a": 1}, {"a": 2}]}, {"a": 3}]',
    '[{"a": "}, {"}, {"a": "}, {\\"a\\""}, {"a": 3}]',
    '[{"a": 1}, {"b": 2}, {"a": 3}, {"b": 4}]',
    '[{"a": 1},{"a": 2}, {"a": 3} ,\n{"a": 4}]',
    '[{"a": 1}, {}, {"a": 2}, [], {"a": 3}, {"a": 4}]',
    '[{"a": 0}, {"a": [{"a": "}"}, {"a": 2}]}, {"a": 3}]',
    '[{"a": 0}, {"a": [{"a": "\\"}\\""}, {"a": 2}]}, {"a": 3}]',
    '[{"a": "]}"}, {"a": "{[", "b": [{"a": 1}, {"a": 1}]}, {"a": 2}]',
]
"""Texts in which the bytes between two elements come up elsewhere too, or not between all of them."""


@pytest.mark.parametrize("text", LOOKS_ALIKE)
def test_a_wrong_guess_of_an_end_changes_nothing(text: str) -> None:
    values = json.loads(text)
    for first in range(len(values)):
        reader = reader_of(text, json_stream.CHUNK)
        reader.take(b"[")
        assert [reader.value() for index in reader.rest_of_list("") if index >= first] == values[first:]


FAULTS = [
    (b'[{"a": 1}, {"a": }]', 1, 17, "Expecting value"),
    (b'[{"a": 1}, {"a": NaN}]', 1, 17, "NaN and Infinity are not numbers"),
    (b'[{"a": 1}, {"a": -Infinity}]', 1, 18, "NaN and Infinity are not numbers"),
    (b'[{"a": 1}, {"a": "\xe9"}]', 1, 18, "not UTF-8 text"),
    (b'[{"a": 1}, {"a": "\xc3\xa9" 3}]', 1, 22, "Expecting ',' delimiter"),
    (b'[{"a": 1} {"a": 2}]', 0, 10, "expected ',' or ']', found '{'"),
    (b'[{"a": 1}, {"a": 2}', 1, 19, "found the end of the file"),
    (b'[{"a": 1}, {"a": [2', 1, 19, "the file ends inside a value"),
    (b'[{"a": 1}, {"a": "2', 1, 17, "the file ends inside a value"),
    (b"[" + b"[" * 5000, 0, 1, "nested too deeply"),
    (b'[{"a": 1}, {"a": 2 {"a": 3}, {"a": 4}]', 1, 19, "Expecting ',' delimiter"),
]


@pytest.mark.parametrize("size", [16, json_stream.CHUNK])
@pytest.mark.parametrize(("text", "element", "offset", "message"), FAULTS)
def test_a_fault_tells_element_and_byte(text: bytes, element: int, offset: int, message: str, size: int) -> None:
    reader = reader_of(text, size)
    reader.take(b"[")
    with pytest.raises(JsonFault, match=message) as caught:
        for _ in reader.rest_of_list("list"):
            reader.value()

    assert (caught.value.path, caught.value.offset) == (f"list[{element}]", offset)


def test_a_fault_is_found_without_reading_all_that_follows() -> None:
    """A missing brace does not pull the rest of a large file into memory."""
    file = BytesIO(b'[{"a": 1, "b": [{"c": 2]}, ' + b'{"a": 1}, ' * 100_000)
    reader = JsonReader(file)
    reader.take(b"[")
    with pytest.raises(JsonFault):
        reader.value()

    assert file.tell() <= 2 * json_stream.CHUNK


@pytest.mark.parametrize(
    ("before", "position"), [(b"", (1, 1)), (b"abc", (1, 4)), (b"ab\n\nc", (3, 2)), ("é\né€".encode(), (2, 3))]
)
def test_position_counts_lines_and_characters(before: bytes, position: tuple[int, int]) -> None:
    assert position_of(BytesIO(before + b"x\ny"), len(before)) == position
