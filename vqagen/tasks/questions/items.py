"""Questions of vqagen, in both dialects, and of released CLEVR files, as items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import orjson

import vqagen.language.functions  # noqa: F401  (importing the module declares them)
from vqagen.errors import FieldFault, describe
from vqagen.items.answers import BOOL, INTEGER, LIST, NO_VOCABULARY, PLACES, WORD, read_answer, text_of
from vqagen.items.builder import TableBuilder, gold_of
from vqagen.items.table import CHOICE, NONE, OPEN, Gold, Items, Options
from vqagen.language.question import MARKS, OPTION_KEYS, answers_in, family_name
from vqagen.language.template import PLACE, PLACES as PLACES_TYPE
from vqagen.plugin import BUILT_IN

GROUPS = ("answer_type", "category", "function", "family", "program_length", "depth", "scene_size")
_OPTIONS = frozenset(OPTION_KEYS)
HASHED = ("answer", "template_filename", "question_family_index", "question_type", "split", "block", "pair")
"""Keys of values by which questions are grouped. Answers of one `block` or `pair` exclude each other."""
PROGRAM_FIELDS = ("function", "program_length", "depth", "topology", "relates", "sames", "filters", "attributes")
"""Fields that the functions and the inputs of a program decide. `relates` and `sames` are steps to other objects."""
_NO_PROGRAM = "expected a list of nodes with a function and a list of inputs"
_ANSWER = "true, false, a number, a text or a list of texts"
_ABSENT = object()
_ID_KEYS = ("question_index", "question_id", "questionId", "id")
_DECLARED = {"Bool": BOOL, "Integer": INTEGER, "list": LIST, PLACE: PLACES, PLACES_TYPE: PLACES}
"""Type of answers in the info -> kind."""


def read_questions(table: TableBuilder) -> Items:
    """Return the items of a question file."""
    reader = _QuestionReader(table)
    has_options = any(
        record.get(key) != [] for record in table.source.records(0, 1) for key in _OPTIONS & record.keys()
    )
    for record in table.records():
        try:
            if table.wants(record, id := _id(record, table.index)):
                reader.add(record, id)
        except FieldFault as fault:
            table.add_fault(fault.key, str(fault))
    return table.table(GROUPS, CHOICE if has_options else OPEN, typed=True)


class _QuestionReader:
    """Adds questions to a table."""

    def __init__(self, table: TableBuilder) -> None:
        self._table, self._families = table, _family_names(table.info)
        generator = table.info.get("generator")
        declared = generator.get("answer_types") if isinstance(generator, Mapping) else None
        types = declared if isinstance(declared, Mapping) else {}
        self._kinds = {str(name): _DECLARED.get(str(kind), WORD) for name, kind in types.items()}
        """Last function -> the kind of its answers, if the info says."""
        self._asks_places = frozenset(("point", "mark", *(name for name in self._kinds if self._kinds[name] == PLACES)))
        """Last functions whose answers are places, also without any info."""
        self._own = answers_in(table.info)
        self._asked = table.rows("family", "category")
        self._facts, self._rest = table.rows(*PROGRAM_FIELDS), table.rows("question_length", "split")
        self._programs: dict[tuple[Any, ...], tuple[int, str]] = {}
        """Functions and inputs of a program -> the number of its facts, and its last function."""
        self._known: dict[tuple[Any, ...], tuple[int, int]] = {}
        """What decides the answer, the family and the category of a question -> the numbers of these."""

    def add(self, record: Mapping[str, Any], id: Any) -> None:
        """Add the question of a record. FieldFault for a value of another type; BadInput for one without answer."""
        get, table = record.get, self._table
        answer, program, text = get("answer"), get("program"), get("question")
        if isinstance(program, str):  # as Parquet has it
            program = _json_of(program)
        facts, function = self._program(program) if program else (NONE, None)
        if not isinstance(text, str):
            raise FieldFault("question", f"expected text, found {describe(text)}")
        if type(answer) is list:
            answer = (*answer,)
        file, family, category = get("template_filename"), get("question_family_index"), get("question_type", _ABSENT)
        try:
            is_place = function in self._asks_places and not record.get(MARKS)
            key = answer, type(answer), function, file, family, category, is_place
            gold, asked = self._known.get(key) or self._learn(key)
            if is_place and answer is not None:
                own = self._gold(answer, function, is_place)
                gold = table.gold(own._replace(spots=table.spots(record, own.objects)))
            self._rest.codes.append(self._rest[text.count(" ") + 1, get("split")])
            options = None if record.keys().isdisjoint(_OPTIONS) else _options(record)
            table.add(id, gold, options=options, pair=get("pair"), block=get("block"))
        except TypeError:
            raise _unhashable(record) from None
        self._asked.codes.append(asked)
        self._facts.codes.append(facts)
        table.learn(text, program=program)

    def _program(self, program: Sequence[Mapping[str, Any]]) -> tuple[int, str]:
        """Return the number of the facts, and the last function, of raw nodes in either dialect.

        FieldFault for what is no program.

        As each function has a fixed number of inputs, the key says which node has which. (A loop takes 1.9 µs for a
        program of 9 nodes, `map` and `chain` 3.1: `bench evaluate`.)
        """
        key: list[Any] = []
        try:
            name = "function" if "function" in program[0] else "type"
            for node in program:
                key.append(node[name])
                key += node["inputs"]
            known = self._programs.get(tuple(key))
        except (AttributeError, KeyError, TypeError):
            raise FieldFault("program", _NO_PROGRAM) from None
        if known is None:
            names = [str(node[name]) for node in program]
            facts = _facts(names, [node["inputs"] for node in program])
            known = self._programs[tuple(key)] = self._facts[facts], names[-1]
        return known

    def _learn(self, key: Any) -> tuple[int, int]:
        """Return the numbers of the answer, and of family and category."""
        answer, _, function, file, family, category, is_place = key
        if category is _ABSENT:
            category = function and question_type(function)
        name = file if family is None else self._families.get((file or "", family), family_name(file, family))
        asked = self._asked[None if name is None else str(name), category]
        gold = None if answer is None else self._gold(answer, function, is_place)
        known = self._known[key] = self._table.gold(gold), asked
        return known

    def _gold(self, answer: Any, function: str | None, is_place: bool) -> Gold:
        """Return an answer with its kind. FieldFault for what is no answer."""
        if is_place:
            objects = read_answer(text_of(answer), PLACES, NO_VOCABULARY)
            if objects is None:
                raise FieldFault("answer", f"expected the indexes of objects, or none, found {describe(answer)}")
            return Gold(PLACES, (objects,))
        if isinstance(answer, tuple):
            return Gold(LIST, (answer,))
        if not isinstance(answer, str | int):
            raise FieldFault("answer", f"expected {_ANSWER}, found {describe(answer)}")
        word = str(answer).casefold()
        if word in self._own and self._kinds.get(function or "", BOOL) in (BOOL, INTEGER):
            answer = self._own[word]
        gold = gold_of(answer)
        if not isinstance(answer, str) or not self._kinds or not function:
            return gold
        # The info says what the function answers: a "2" may be a word, "red, blue" a list.
        kind = self._kinds.get(function, WORD)
        if kind == LIST:
            return Gold(LIST, (tuple(answer.split(", ")),))
        return gold if kind == gold.kind else Gold(WORD, (answer,))


def _json_of(text: str) -> Any:
    try:
        return orjson.loads(text or "null")
    except orjson.JSONDecodeError:
        raise FieldFault("program", _NO_PROGRAM) from None


def _id(record: Mapping[str, Any], position: int) -> Any:
    """Return the id of a question; without one, its place in the file is its id."""
    for key in _ID_KEYS:
        if (id := record.get(key)) is not None:
            return id
    return position


def _unhashable(record: Mapping[str, Any]) -> FieldFault:
    """Return the fault of the first value that is an object or a list; an answer may be a list of texts."""
    for key in HASHED:
        value, is_answer = record.get(key), key == "answer"
        parts = value if is_answer and isinstance(value, list) else [value]
        if any(isinstance(part, list | Mapping) for part in parts):
            return FieldFault(
                key, f"expected {_ANSWER if is_answer else 'a text or a number'}, found {describe(value)}"
            )
    raise AssertionError("all values can be hashed")


def _options(record: Mapping[str, Any]) -> Options | None:
    """Return the options of a question that has one of OPTION_KEYS; None if it lists none."""
    key = next(option_key for option_key in OPTION_KEYS if option_key in record)
    listed, answer = record[key], record.get("answer")
    if listed == []:
        return None
    if not isinstance(listed, list):
        raise FieldFault(key, f"expected a list of options, found {describe(listed)}")
    options = tuple(map(text_of, listed))
    if answer is None:
        return Options(options, None, are_marks=bool(record.get(MARKS)))
    right = text_of(answer)
    if right not in options:
        raise FieldFault(key, f"the answer {right!r} is not among the options")
    return Options(options, options.index(right), are_marks=bool(record.get(MARKS)))


# Programs and families -----------------------------------------------------------------------------------------------


def _facts(names: Sequence[str], inputs: Sequence[Sequence[int]]) -> tuple[Any, ...]:
    """Return the PROGRAM_FIELDS of a program. FieldFault for an input that is no earlier node."""
    depths: list[int] = []
    for number, listed in enumerate(inputs):
        if any(type(source) is not int or not 0 <= source < number for source in listed):
            raise FieldFault("program", f"node {number}: expected inputs that are earlier nodes, found {list(listed)}")
        depths.append(1 + max((depths[source] for source in listed), default=0))
    filtered = [name.removeprefix("filter_") for name in names if name.startswith("filter_")]
    return (
        names[-1],  # the last function
        len(names),
        depths[-1],  # nodes on the longest path
        "chain" if all(len(listed) < 2 for listed in inputs) else "tree",
        names.count("relate"),
        sum(name.startswith("same_") for name in names),
        len(filtered),
        ", ".join(sorted(set(filtered))),  # color, shape
    )


@lru_cache
def question_type(function: str) -> str:
    """Return the question type of programs that end in a function, in a domain that need not be known.

    >>> question_type("query_color"), question_type("equal_season"), question_type("less_than")
    ('query', 'compare_attribute', 'compare_integer')
    """
    declared = BUILT_IN.functions.values()
    exact = [declaration for declaration in declared if function in (declaration.name, *declaration.aliases)]
    # `query_{name}` stands for query_color, query_shape, …
    families = [
        declaration
        for declaration in declared
        if declaration.per_attribute and function.startswith(declaration.name.partition("{")[0])
    ]
    family = next(iter(exact or families), None)
    return (family.asks if family else None) or function


def _family_names(info: Mapping[str, Any]) -> dict[tuple[Any, Any], str]:
    """Return (template file, family index) of a record -> `one_hop.json#count`, for the ids that the info lists.

    A family is a template file with an index inside it, or (in released files) an index alone.
    """
    ids = list(family_ids(info))
    names = {("", index): name for index, name in enumerate(ids)}
    for file, listed in groupby(ids, key=lambda name: name.partition("#")[0]):
        names.update(((file, index), name) for index, name in enumerate(listed))
    return names


def family_ids(info: Mapping[str, Any]) -> Iterator[str]:
    """Yield the ids of all families, in order; nothing if the info does not number all of them."""
    match info:
        case {"generator": {"name": "vqagen", "settings": dict(settings), "families": list(ids)}}:
            if not any(settings.get(name) for name in ("only", "skip_bad_templates")):
                yield from map(str, ids)
