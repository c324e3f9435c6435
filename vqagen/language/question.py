"""A finished question, and its record in the CLEVR question format, in one of three dialects.

* `generator` is what the reference script writes: program nodes have a `type`, answers are booleans, ints or words,
  `question_family_index` counts inside `template_filename`.
* `text`, the default, is the same with answers as text ("yes", "no", "3", "red"): one column has one type, so that
  Arrow, `datasets` and `pandas` read it.
  A domain may have words of its own for "yes", "no" and numbers (`Domain.answer_words`).
* `release` is what the CLEVR v1.0 files have: nodes have a `function`, answers are text, and
  `question_family_index` counts over all families.

All have a `question_type`, and a paired question has the number of its `pair`. With `--trace`, `trace` lists every
step's output (object sets as lists of object indexes), and `mentions` says where the text describes which objects; with
`--reasoning`, `reasoning` says the steps in words. With `--hide-answers`, as for a test set, a record has neither the
answer nor what gives it away: no program, no trace and no reasoning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import PurePosixPath
from string import ascii_uppercase
from typing import Any, NamedTuple, NoReturn

from vqagen.bits import Objects, indexes
from vqagen.errors import UsageError, unknown
from vqagen.files.locations import Location
from vqagen.files.records import RecordKind, open_records
from vqagen.frozen import frozen
from vqagen.language.catalogue import Value
from vqagen.language.program import Program
from vqagen.language.template import PLACE, PLACES, Template
from vqagen.world.scene import Scene, boxes_of, pixels_of

QuestionRecord = dict[str, Any]
TEXT, GENERATOR, RELEASE = "text", "generator", "release"
FUNCTION_KEYS = {TEXT: "type", GENERATOR: "type", RELEASE: "function"}
"""Dialect -> the key under which a program node names its function."""
RELEASE_WORDS = {True: "yes", False: "no"}
SPOT_KEYS = POINTS, BOXES = "answer_points", "answer_boxes"
"""Keys of the points and boxes of an answer that is places, of each object in the order of the answer."""
MARKS = "marks"
"""Key of the objects that letters mark in a question's picture: A the first, B the second; its answer is a letter."""
NO_PLACES = "none"
"""The answer where no object is to be marked."""
NO_WORDS: Mapping[str, str] = {}
"""The answer words of a domain that has none of its own: its answers are "yes", "no" and digits."""


class Mention(NamedTuple):
    """A part of a text that describes objects: the characters from `start` up to `end`, and the described objects."""

    start: int
    end: int
    objects: Objects


@frozen
class Question(Mapping[str, Any]):
    """One question about one scene, with the program that proves its answer.

    It is the record that `vqagen generate` writes, too: `question["answer"]`, `dict(question)`.
    """

    scene: Scene
    template: Template
    question: str
    """The text."""
    program: Program
    value: Value
    """What the program gives: True, 3 or "red", where `answer` is "yes", "3" or "red"."""
    words: Mapping[str, str | None]
    """What each slot was filled with; None where it was left open."""
    mentions: tuple[Mention, ...] = ()
    """Where the text describes objects, in reading order; empty unless the questions were made with marks."""
    pair: int | None = None
    """The number of its pair: the same question about another scene, with another answer; None without pairs."""
    question_index: int = 0
    """Its place among the questions of the run, from 0."""

    def __repr__(self) -> str:
        return f"Question(question={self.question!r}, answer={self.answer!r})"

    @property
    def answer(self) -> str:
        """The answer as text, as files have it."""
        return release_answer(self.value, self.template.catalogue.domain.answer_words)

    @property
    def question_type(self) -> str:
        """The kind of question: count, exist, query, compare_integer, compare_attribute, …"""
        return self.template.last_function.asks

    @property
    def image_filename(self) -> str:
        """The picture that the question is about; "" if its scene names none."""
        return self.scene.image

    @property
    def text(self) -> NoReturn:
        """Raise AttributeError: the name that vqagen 1.0 had for `question`."""
        raise AttributeError("the text of a question is `question`, as in its record")

    @cached_property
    def record(self) -> QuestionRecord:
        """The record that `vqagen generate` writes; read it only, `to_record` makes a new one."""
        return self.to_record()

    def to_record(
        self, *, dialect: str = TEXT, trace: bool = False, hide_answers: bool = False, reasoning: str = "none"
    ) -> QuestionRecord:
        """Return the record that `vqagen generate` writes with the flags of these names."""
        return record_writer(dialect, trace, hide_answers, reasoning=reasoning)(self)

    def reason(self, form: str) -> str:
        """Return the reasoning in a form: text, points or boxes. Raises BadInput if the scene lacks these places."""
        from vqagen.language.domain_files import synonyms_of  # few runs need them
        from vqagen.language.reasoning import reason

        said = synonyms_of(self.template.catalogue)
        return reason(self.program, self.scene, self.question, self.answer, said, form)

    def __getitem__(self, key: str) -> Any:
        return self.record[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.record)

    def __len__(self) -> int:
        return len(self.record)


ToRecord = Callable[[Question], QuestionRecord]


class ProgramRecords(Iterable[QuestionRecord]):
    """The records of a program's nodes, made when they are read; `encode_lines` asks for their JSON text alone."""

    __slots__ = ("_function_key", "_program")

    def __init__(self, program: Program, function_key: str) -> None:
        self._program, self._function_key = program, function_key

    def to_json(self) -> bytes:
        """Return the JSON text of the records."""
        return self._program.to_json(self._function_key)

    def __iter__(self) -> Iterator[QuestionRecord]:
        return iter(self._program.to_records(self._function_key))


def record_writer(
    dialect: str,
    trace: bool = False,
    hide_answers: bool = False,
    is_encoded: bool = False,
    reasoning: str = "none",
) -> ToRecord:
    """Return the function that turns a question into a record of a dialect.

    `is_encoded`: the record is only encoded, so its program is a `ProgramRecords` and not a list. Raises UsageError for
    an unknown dialect.
    """
    if dialect not in FUNCTION_KEYS:
        raise UsageError(unknown("dialect", dialect, list(FUNCTION_KEYS)))
    is_release = dialect == RELEASE
    function_key = FUNCTION_KEYS[dialect]
    last: Scene | None = None
    fields: QuestionRecord = {}

    def to_record(question: Question) -> QuestionRecord:
        nonlocal last, fields
        template, program = question.template, question.program
        if question.scene is not last:  # all questions about a scene are made one after the other
            last, fields = question.scene, _image_fields(question.scene)
        record = fields.copy()
        record["question_index"] = question.question_index
        # The released files number families over all templates, the reference script inside of each file.
        if is_release:
            record["question_family_index"] = template.family
        else:
            record["question_family_index"] = template.index
            record["template_filename"] = template.file
        record["question_type"] = question.question_type
        if question.pair is not None:
            record["pair"] = question.pair
        record["question"] = question.question
        if not hide_answers:
            record["answer"] = question.value if dialect == GENERATOR else question.answer
            if template.answer_type in (PLACE, PLACES):
                record |= answer_places(question.scene.record, question.value)
            record["program"] = (
                ProgramRecords(program, function_key) if is_encoded else program.to_records(function_key)
            )
        if trace:
            record["trace"] = program.readable_outputs(question.scene)
            record["mentions"] = [
                {"span": [start, end], "objects": indexes(objects)} for start, end, objects in question.mentions
            ]
        if reasoning != "none":
            record["reasoning"] = question.reason(reasoning)
        return record

    return to_record


def answer_places(scene: Mapping[str, Any], objects: Iterable[int]) -> dict[str, list[list[int]]]:
    """Return where objects of a scene record are in its picture, as far as it says so, under the SPOT_KEYS.

    >>> answer_places({"objects": [{"pixel_coords": [212, 140, 9.8]}, {"pixel_coords": [60, 99, 9.1]}]}, [1])
    {'answer_points': [[60, 99]]}
    """
    places: dict[str, list[list[int]]] = {}
    at = list(objects)
    if pixels := pixels_of(scene):
        places[POINTS] = [[round(pixel) for pixel in pixels[i]] for i in at]
    if (boxes := boxes_of(scene)) is not None:
        places[BOXES] = [boxes[i] for i in at]
    return places


def unmarked(record: Mapping[str, Any]) -> object:
    """Return the answer of a record as programs give it: of a letter, the object that it marks; None if it marks none.

    >>> unmarked({"answer": "B", "choices": ["A", "B"], "marks": [4, 0]}), unmarked({"answer": "B"})
    ('0', 'B')
    """
    marks, answer = record.get(MARKS), record["answer"]
    if not isinstance(marks, list):
        return answer
    return {letter: str(i) for letter, i in zip(ascii_uppercase, marks, strict=False)}.get(str(answer))


def prompt_of(record: Mapping[str, Any]) -> str:
    """Return the text of a question and, in a line below, which letters its picture has.

    >>> prompt_of({"question": "Point to the cube.", "choices": ["A", "B"], "marks": [4, 0]})
    'Point to the cube.\\nObjects in the picture have letters: A, B. Answer with the letter of the one that is meant.'
    """
    letters = f"Objects in the picture have letters: {', '.join(record.get('choices') or ())}."
    told = f"\n{letters} Answer with the letter of the one that is meant." if record.get(MARKS) else ""
    return f"{record['question']}{told}"


def picture_name(record: Mapping[str, Any]) -> Any:
    """Return the name of a question's picture: `image_filename`, or that of this picture with marks.

    >>> picture_name({"image_filename": "CLEVR_000003.png", "marks": [4, 0]})
    'marked/CLEVR_000003.4-0.png'
    """
    name, marks = record.get("image_filename"), record.get(MARKS)
    if not (name and isinstance(name, str) and isinstance(marks, list) and {*map(type, marks)} == {int}):
        return name
    return str(PurePosixPath("marked", name).with_suffix(f".{'-'.join(map(str, marks))}.png"))


def _image_fields(scene: Scene) -> QuestionRecord:
    """The image's file name and stem, the split and index if the scene has them, and the scene's place in the input."""
    fields: QuestionRecord = {}
    if "split" in scene.record:
        fields["split"] = scene.record["split"]
    fields["image_filename"] = scene.image
    index = image_index(scene)
    if index is not None:
        fields["image_index"] = index
    fields["image"] = PurePosixPath(scene.image).stem
    fields["scene_index"] = scene.index
    return fields


def image_index(scene: Scene) -> Any:
    """Return the scene's own `image_index`; if it has neither that nor an image, its place in the input."""
    index = scene.record.get("image_index")
    return scene.index if index is None and not scene.image else index


def release_answer(answer: Value, words: Mapping[str, str] = NO_WORDS) -> str:
    """Return an answer as text, as the released files write it, or in the `words` of its domain.

    >>> release_answer(True), release_answer(3), release_answer("red"), release_answer(("red", "blue"))
    ('yes', '3', 'red', 'red, blue')
    >>> release_answer((0, 3)), release_answer(())  # the objects of an answer that is places
    ('0, 3', 'none')
    """
    if isinstance(answer, tuple):
        return ", ".join(map(str, answer)) or NO_PLACES
    # A bool is an int too: both may have words of their domain ("sí", "drei"), an attribute's value has none.
    text = RELEASE_WORDS[answer] if isinstance(answer, bool) else str(answer)
    return words.get(text, text) if words and isinstance(answer, int) else text


def typed_answer(text: str, answer_type: str) -> object:
    """Return the answer of a type that `release_answer` wrote.

    >>> typed_answer("yes", "Bool"), typed_answer("3", "Integer"), typed_answer("red, blue", "list")
    (True, 3, ['red', 'blue'])
    >>> typed_answer("2, 5", PLACES), typed_answer("none", PLACES)
    ([2, 5], [])
    """
    restore: dict[str, Callable[[str], object]] = {
        "Bool": lambda text: text == "yes",
        "Integer": int,
        "list": lambda text: text.split(", ") if text else [],
        **dict.fromkeys((PLACE, PLACES), lambda text: [int(i) for i in text.split(", ")] if text != NO_PLACES else []),
    }
    return restore.get(answer_type, str)(text)


def answers_in(info: Mapping[str, Any]) -> dict[str, str]:
    """Return the words of a file's answers -> "yes", "no" and digits; {} if it has no words of its own.

    >>> answers_in({"generator": {"vocabulary": {"answers": {"yes": "sí", "0": "Cero"}}}})
    {'sí': 'yes', 'cero': '0'}
    """
    section: Any = info
    for key in ("generator", "vocabulary", "answers"):
        section = section.get(key) if isinstance(section, Mapping) else None
    return {str(word).casefold(): answer for answer, word in section.items()} if isinstance(section, Mapping) else {}


OPTION_KEYS = ("options", "choices", "multiple_choices")
"""Keys under which a question lists the options of multiple choice, in the order that a model sees."""


def family_name(file: object, number: object) -> str:
    """Return the name of a question's family by the template file and the number in it that its record gives.

    >>> family_name("one_hop.json", 3), family_name(None, 3)  # a released file numbers families over all files
    ('one_hop.json#3', '#3')
    """
    return f"{file or ''}#{number}"


def same_answer(written: object, derived: Value, words: Mapping[str, str] = NO_WORDS) -> bool:
    """True if a written answer of any dialect is the derived one; `true` is not 1."""
    if isinstance(written, str) and not isinstance(derived, str):
        return written == release_answer(derived, words)
    if isinstance(written, list):
        written = tuple(written)
    return type(written) is type(derived) and written == derived


def same_json(written: object, derived: object) -> bool:
    """True if two values are the same JSON: 1 is neither true nor 1.0."""
    import orjson  # not needed for most files

    one, other = (orjson.dumps(each, option=orjson.OPT_SORT_KEYS) for each in (written, derived))
    return one == other


# Files of questions ---------------------------------------------------------------------------------------------------

QUESTIONS = RecordKind("questions", own_keys=("program", "question", "answer"), json_columns=("trace",))


def read_questions(path: Location) -> Iterator[QuestionRecord]:
    """Yield every question of a file, in order. BadInput for what is not a question."""
    return open_records(path, QUESTIONS).records()
