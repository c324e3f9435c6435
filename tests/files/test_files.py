"""Hand-edited JSON: what is taken with a warning, and what is said of a text that cannot be read."""

from __future__ import annotations

import json
import warnings
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from commands import Commands
from hypothesis import given, settings, strategies as st

from vqagen.errors import BadInput, InputWarning, Problem
from vqagen.files.diagnosis import Path as DocumentPath, Position, Scan
from vqagen.files.parsing import locate_path, parse_json, show_path


def read_with_warnings(text: str) -> tuple[Any, list[str]]:
    """The value of a text, and what was warned of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        value = parse_json(text, "f.json")
    return value, [str(warning.message) for warning in caught]


def problem_of(text: str) -> Problem:
    with pytest.raises(BadInput) as raised:
        parse_json(text, "f.json")
    (problem,) = raised.value.problems
    return problem


# What is taken ------------------------------------------------------------------------------------------------------

COMMENT = "a comment, which JSON does not have, is skipped"
COMMA = "a comma behind the last item, which JSON does not allow, is skipped"

TAKEN: list[tuple[str, Any, list[str]]] = [
    ('{"a": [1, 2]}', {"a": [1, 2]}, []),
    ('"// no comment, /* nor this */ # nor this, ]"', "// no comment, /* nor this */ # nor this, ]", []),
    ('["\\"// still text"]', ['"// still text'], []),
    ("[1] // end", [1], [f"f.json:1:5: {COMMENT}"]),
    ("# start\r\n[1]", [1], [f"f.json:1:1: {COMMENT}"]),
    ('{"a" /* key */: /**/ 1//x\n}', {"a": 1}, [f"f.json:1:6: {COMMENT} (and 2 more in this file)"]),
    ("[1, /* [ \n \" */ 2]", [1, 2], [f"f.json:1:5: {COMMENT}"]),
    ("[1, 2,]", [1, 2], [f"f.json:1:6: {COMMA}"]),
    ('{"a": [1,\n],\n}', {"a": [1]}, [f"f.json:1:9: {COMMA} (and 1 more in this file)"]),
    ("[1, -- one\n -2,--two\n]", [1, -2], [f"f.json:1:5: {COMMENT} (and 1 more in this file)", f"f.json:2:4: {COMMA}"]),
    ("[1, # one, two\n]", [1], [f"f.json:1:3: {COMMA}", f"f.json:1:5: {COMMENT}"]),
    ('{"a": 1,\n "b": 2, "a": 3}', {"a": 3, "b": 2},
     ["f.json:2:10: a: the key 'a' is written twice in one object; the first one is lost"]),
    ('[{"a": {"é": 1, "\\u00e9": 2}}, {"a": 1}]', [{"a": {"é": 2}}, {"a": 1}],
     ["f.json:1:17: [0].a.é: the key 'é' is written twice in one object; the first one is lost"]),
    ('{"a": 1, // one\n "a": 1,}', {"a": 1},
     [f"f.json:1:10: {COMMENT}",
      "f.json:2:2: a: the key 'a' is written twice in one object; the first one is lost", f"f.json:2:8: {COMMA}"]),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "warned"), TAKEN)
def test_what_is_taken_and_what_is_warned_of(text: str, value: Any, warned: list[str]) -> None:
    assert read_with_warnings(text) == (value, warned)


# What cannot be read ------------------------------------------------------------------------------------------------

# (text, line and column of the mistake, what is said)
MISTAKES: list[tuple[str, tuple[int, int], str]] = [
    # commas
    ('{"a": 1\n "b": 2}', (2, 2), "a comma is missing before this"),
    ("[1 2]", (1, 4), "a comma is missing before this"),
    ("[[] {}]", (1, 5), "a comma is missing before this"),
    ("[1,, 2]", (1, 4), "a value is missing before this ','"),
    ("[,]", (1, 2), "a value is missing before this ','"),
    ('{"a": 1,, "b": 2}', (1, 9), "a comma too many"),
    ("{,}", (1, 2), "a key is missing before this ','"),
    ('{"a": 1; "b": 2}', (1, 8), "expected ',' or '}', found ';'"),
    # quotes
    ("{'a': 1}", (1, 2), 'text and keys stand in double quotes, "…", not in \''),
    ('{"a": “b”}', (1, 7), 'text and keys stand in double quotes, "…", not in “'),
    ("{name: 1}", (1, 2), 'a key stands in double quotes: "name"'),
    ("{1: 2}", (1, 2), 'a key stands in double quotes: "1"'),
    ("{true: 2}", (1, 2), 'a key stands in double quotes: "true"'),
    ("[red cube]", (1, 2), 'text stands in double quotes: "red"'),
    ('["red\n, 2]', (1, 2), "this text is not closed: '\"' is missing before the end of the line"),
    ('["red', (1, 2), "this text is not closed"),
    ('["red\\', (1, 2), "this text is not closed"),
    ('["red, "blue"]', (1, 9), "'blue' follows a text at once: a '\"' is missing, or one inside a text is not written"),
    ('{"name: "count"}', (1, 10), "'count' follows a text at once"),
    ('["say "hi" now"]', (1, 8), "'hi' follows a text at once"),
    ('["a\tb"]', (1, 4), "a tab inside a text is written \\t"),
    ('["a\x01b"]', (1, 4), "a control character inside a text is written \\u0001"),
    ('["\\d+"]', (1, 3), "JSON has no \\d; a backslash in a text is written \\\\, as in \\\\d"),
    ('["\\u12"]', (1, 3), "JSON has no \\u12; a backslash in a text"),
    ('["\\\t"]', (1, 3), "a backslash inside a text is written \\\\"),
    # words and numbers
    ('{"a": True}', (1, 7), "JSON writes true, found True"),
    ("[FALSE]", (1, 2), "JSON writes false, found FALSE"),
    ("[None]", (1, 2), "JSON writes null, found None"),
    ("[NaN]", (1, 2), "JSON has no NaN; write a number, or null"),
    ("[1, -Infinity]", (1, 5), "JSON has no -Infinity; write a number, or null"),
    ("[01]", (1, 2), "01 is not a number as JSON writes it; is 1 meant?"),
    ("[.5]", (1, 2), ".5 is not a number as JSON writes it; is 0.5 meant?"),
    ("[+1]", (1, 2), "+1 is not a number as JSON writes it; is 1 meant?"),
    ("[1_000]", (1, 2), "1_000 is not a number as JSON writes it; is 1000 meant?"),
    ("[0x1F]", (1, 2), "0x1F is not a number as JSON writes it"),
    ("[<X>]", (1, 2), "expected a value, found '<'"),
    # keys and values
    ('{"a" 1}', (1, 6), "expected ':' between the key \"a\" and its value, found '1'"),
    ('{"a" = 1}', (1, 6), "expected ':' between the key \"a\" and its value, found '='"),
    ('{"a"}', (1, 5), "the key \"a\" has no value: ':' and a value are missing before this '}'"),
    ('{"a":, "b": 1}', (1, 6), "a value is missing before this ','"),
    ('{"a":}', (1, 6), "a value is missing before this '}'"),
    ("{: 1}", (1, 2), "a key is missing before this ':'"),
    ('{"a": "b": 1}', (1, 10), "expected ',' or '}', found ':'"),
    # brackets
    ("{", (1, 2), "the file ends, but the object opened at line 1, column 1 is not closed"),
    ('{"a":\n [1,\n2\n', (3, 2), "the file ends, but the list opened at line 2, column 2 is not closed"),
    ('{"a": [1, 2}', (1, 12), "expected ',' or ']', found '}'; the list opened at line 1, column 7 is not closed"),
    ('{"a": [1,\n"b": 2}', (2, 4), "only the keys of an object take ':'; is the ']' of the list opened at"),
    ('{"a": 1, {"a": 2}}', (1, 10), "found '{'; is the '}' of the object opened at line 1, column 1 missing?"),
    ('{"a": 1}}', (1, 9), "this '}' closes nothing"),
    ("]", (1, 1), "a value is missing before this ']'"),
    ("[1] [2]", (1, 5), "expected the end of the file, found '['; several values go into a list, [ … ]"),
    # nothing, and comments
    ("", (1, 1), "there is nothing in the file"),
    (" \n// only a comment", (1, 1), "there is nothing in the file"),
    ("[1 /* one ]", (1, 4), "this comment is never closed: '*/' is missing"),
    ("[1, /* one */ // two\n 2 3]", (2, 4), "a comma is missing before this"),
    ("\ufeff[1]", (1, 1), "expected a value, found"),
]  # fmt: skip

UNUSABLE: list[tuple[str, tuple[int, int], str]] = [
    ('{"a": "\\ud83d"}', (1, 7), "\\ud83d alone is half a character"),
    ('["\\ud83d\\ude00", {"\\udead": 1}]', (1, 19), "\\udead alone is half a character"),
    ("[1, 1e999]", (1, 5), "the number 1e999 is too large"),
    ("[1" + "0" * 5000 + "]", (1, 2), "a whole number of 5,001 digits"),
    ("[1, " + "[" * 100_000, (1, 100_004), "nested too deeply"),
]


def test_a_mistake_is_told_in_our_own_words() -> None:
    others = []
    for text, place, message in MISTAKES:
        problem = problem_of(text)
        if (problem.line, problem.column) != place or message not in problem.message:
            others.append((text, problem))

    assert others == []


@pytest.mark.quick(2)
@pytest.mark.parametrize(("text", "place", "message"), UNUSABLE)
def test_what_no_one_can_read_is_told_as_such(text: str, place: tuple[int, int], message: str) -> None:
    problem = problem_of(text)

    assert (problem.line, problem.column) == place
    assert problem.message.startswith(f"not usable JSON: {message}")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('{\n  "a": 1\n  "b": 2\n}', '      "b": 2\n      ^'),
        ("[1,\r\n\t01]\r\n", "     01]\n     ^"),
        ('["日本", x]', '    ["日本", x]\n             ^'),
        ('["e\u0301", x]', '    ["e\u0301", x]\n          ^'),
        ("[1", "    [1\n      ^"),
        (f'["{"a" * 200}", x, "{"b" * 200}"]', f"""    … {"a" * 47}", x, "{"b" * 46} …\n    {" " * 52}^"""),
    ],
)
def test_the_place_is_shown_below_the_message(text: str, shown: str) -> None:
    with pytest.raises(BadInput) as raised:
        parse_json(text, "f.json")
    (problem,) = raised.value.problems

    assert str(raised.value) == f"{problem}\n{shown}"
    assert "\n" not in str(problem)


# Any text -----------------------------------------------------------------------------------------------------------

SOUND = """{"a": [1, -2.5e3, true, null, "x\\n\\u00e9 \\"// #"], /* c */ "b": {"a": {}, "": []}, # d
 "k<X>": ["", [[]],], } // e"""
PIECES = st.sampled_from(
    [*"{}[]:,\"\\/#*\n\t '-+.019eEu", "//", "/*", "*/", "true", "NaN", '"a"', "\\u", "é", "\x00", "[1,"]
)
EDITS = st.lists(st.tuples(st.integers(0, len(SOUND)), st.integers(0, 9), st.lists(PIECES, max_size=3)), max_size=4)


def edited(text: str, edits: list[tuple[int, int, list[str]]]) -> str:
    for at, dropped, added in edits:
        text = text[:at] + "".join(added) + text[at + dropped :]
    return text


@given(EDITS.map(lambda edits: edited(SOUND, edits)) | st.lists(PIECES, max_size=12).map("".join))
@settings(max_examples=400)
def test_any_text_is_read_or_told_with_a_place_in_it(text: str) -> None:
    try:
        value, _ = read_with_warnings(text)
    except BadInput as error:
        (problem,) = error.problems
        lines = text.split("\n")
        assert problem.line and problem.column
        assert problem.column <= len(lines[problem.line - 1]) + 1
    else:
        for path in (path for path, _ in places(value)):
            assert locate_path(text, show_path(path)).line <= text.count("\n") + 1


def places(value: Any, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], Any]]:
    """Each value inside a value, with its path."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [(path, value), *(found for key, inner in members for found in places(inner, (*path, key)))]


@given(EDITS.map(lambda edits: edited('{"a": [1, -2.5e3, true, "x\\n\\u00e9"], "b": {"a": {}}}', edits)))
@settings(max_examples=400)
def test_there_is_a_mistake_wherever_a_strict_parser_finds_one(text: str) -> None:
    scan = Scan(text)

    assert bool(scan.mistake or scan.comments or scan.commas) == (not is_strict_json(text))


def is_strict_json(text: str) -> bool:
    def refuse(name: str) -> None:
        raise ValueError(name)

    try:
        json.JSONDecoder(parse_constant=refuse).decode(text)
    except ValueError:
        return False
    return True


LONG = [
    "/*",
    '"',
    '\\"',
    "//",
    "[",
    "{",
    '{"a":',
    "[,",
    "1,",
    "[],",
    "{},",
    '"a",',
    "/* */",
    "#",
    '"\\',
    "-",
    " ",
    "\n",
]


@pytest.mark.slow
def test_no_text_takes_long() -> None:
    """Time in the square of the length would be minutes here."""
    for piece in LONG:
        for start in ("", "["):
            with pytest.raises(BadInput):
                parse_json(start + piece * 60_000, "f.json")


# Commands -----------------------------------------------------------------------------------------------------------


def test_a_command_prints_each_warning_once_and_goes_on(vqagen_: Commands) -> None:
    vqagen_.done("scenes sample --count 1 -o scenes.json")
    Path("words.json").write_text('{"red": ["red"], // plain\n "red": ["ruby"],}')
    ran = vqagen_.done("generate --scenes scenes.json --synonyms words.json --out q.json")

    assert [line for line in ran.err.splitlines() if "warning" in line] == [
        f"vqagen: warning: words.json:1:18: {COMMENT}",
        "vqagen: warning: words.json:2:2: red: the key 'red' is written twice in one object; the first one is lost",
        f"vqagen: warning: words.json:2:17: {COMMA}",
    ]


def test_a_command_shows_the_place_of_a_mistake(vqagen_: Commands) -> None:
    Path("mine.json").write_text('{\n  "types": {"Size": ["small" "large"]}\n}')
    ran = vqagen_("scenes sample --count 1 -o scenes.json --metadata mine.json")

    assert ran.code == 3
    assert ran.err.splitlines() == [
        "vqagen: mine.json:2:30: not valid JSON: a comma is missing before this",
        '      "types": {"Size": ["small" "large"]}',
        "                                 ^",
    ]


# JSON text ------------------------------------------------------------------------------------------------------------

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
        self.starts: dict[DocumentPath, int] = {}

    def note(self) -> str:
        return next(self.notes)

    def gap(self, depth: int) -> str:
        return self.note() + self.style.gap(depth) + self.note()

    def write(self, value: Any, path: DocumentPath = ()) -> None:
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

    def position(self, path: DocumentPath) -> Position:
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
    ("path", "found"),
    [
        ("a", "{"),
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
    """The longest key that the path can mean; of a key that is written twice the last, as a parser keeps it."""
    text = '{"a": 7, "a.b": 1, "a.b.c": 2, "a": {"b": 0, "c": 3}, "a[0]": 4, "St. Bernard": [5, 6]}'

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
