"""Answers with all that scoring needs: one row for each, made from a study's log or read from an export."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_type_hints

from msgspec import DecodeError, Meta, Struct, ValidationError
from msgspec.json import Decoder, Encoder

from vqagen.errors import BadInput, PlaceError, Problem, UsageError
from vqagen.files.records import RecordKind, RecordSource
from vqagen.files.stream import BYTE_ORDER_MARK, mistake_in
from vqagen.human.settings import WEBDRIVER
from vqagen.human.store.facts import Fact, Noted, StoreError, Submitted, hide_password
from vqagen.human.store.opening import read_facts
from vqagen.human.store.study_state import Assignment, StudyState
from vqagen.human.study.item import ANSWER, CHECK, GoldValue
from vqagen.human.study.study import STUDY_FILE, ShownTrial, Study, load_study

ANSWERS_FILE, EVENTS_FILE = "answers.jsonl", "events.jsonl"
_MOST_PROBLEMS = 20
MILLISECONDS = "Milliseconds since 1970-01-01 UTC"
State = Literal["claimed", "complete", "expired", "withdrawn"]


class AnswerRow(Struct, frozen=True, kw_only=True):
    """An answer, and what it was about. It is also a line of `answers.jsonl`, whose dictionary has these meanings."""

    assignment: Annotated[str, Meta(description="One rater's work on one task: task-slot-attempt.")]
    rater: Annotated[str, Meta(description="Pseudonym of the rater: the same person has the same one in one study.")]
    task: Annotated[str, Meta(description="Trials that are done in a row; an id of the study.")]
    slot: Annotated[
        int, Meta(ge=0, description="Which of the task's raters, from 0. Sides alternate from slot to slot.")
    ]
    state: Annotated[
        State,
        Meta(description="Of the assignment. claimed: unfinished. expired: another rater has the slot."),
    ]
    trial: Annotated[int, Meta(ge=0, description="Number of the trial in the order that the rater saw, from 1.")]
    item: Annotated[str, Meta(description="What was judged: `id` in items.jsonl of the study.")]
    image: Annotated[str, Meta(description="Id of the image; empty for none.")]
    kind: Annotated[
        Literal["compare", "rate", "answer"],
        Meta(description="compare: two texts on one scale. rate: one text. answer: a question."),
    ]
    use: Annotated[
        Literal["real", "check", "instructed", "practice", "before", "after"],
        Meta(
            description="real: scored. check: the right answer is known. instructed: the value is asked for."
            " before, after: a question to the rater."
        ),
    ]
    dimension: Annotated[
        str, Meta(description="What was judged, such as fit; scores of different dimensions are never mixed.")
    ]
    value: Annotated[
        int | str,
        Meta(description="The value as chosen, from the left end of the scale to its right end; the answer given."),
    ]
    second_on_right: Annotated[bool | None, Meta(description="The second text stood on the right.")] = None
    toward_second: Annotated[
        int | None, Meta(description="The value turned so that larger is better for the second text.")
    ] = None
    least: Annotated[int | None, Meta(description="The smallest value of the scale; empty for kind answer.")] = None
    largest: Annotated[int | None, Meta(description="The largest value of the scale; empty for kind answer.")] = None
    first_source: Annotated[
        str, Meta(description="Where the first text is from, such as human or the name of a model.")
    ] = ""
    first_role: Annotated[
        Literal["reference", "system", ""],
        Meta(description="reference: what people wrote. system: what is measured. Empty for kind answer."),
    ] = ""
    second_source: Annotated[str, Meta(description="Where the second text is from; empty if one text was rated.")] = ""
    second_role: Annotated[
        Literal["reference", "system", ""], Meta(description="As first_role; empty if one text was rated.")
    ] = ""
    gold_is_second: Annotated[
        bool | None, Meta(description="Of attention checks: the second text is the right one.")
    ] = None
    gold_value: Annotated[int | None, Meta(description="Of instructed trials: the value that was asked for.")] = None
    gold: Annotated[str | None, Meta(description="Of kind answer: the right answer, where it is known.")] = None
    rt_ms: Annotated[
        int, Meta(description="Milliseconds from the image being shown to the choice, by the rater's browser.")
    ] = 0
    shown_ms: Annotated[int, Meta(description="Milliseconds from the image being shown to the submission.")] = 0
    server_ms: Annotated[
        int, Meta(description="Milliseconds from the trial being sent to the answer being stored, by the server.")
    ] = 0
    blur: Annotated[int, Meta(description="How often the page was hidden meanwhile.")] = 0
    stored: Annotated[int, Meta(description=f"When the answer was stored. {MILLISECONDS}.")] = 0
    strata: Annotated[
        dict[str, str | int | float],
        Meta(description="Fields to group scores by, such as template; JSON in the CSV file."),
    ] = {}
    record: Annotated[
        dict[str, int | str],
        Meta(description="What a file of predictions says about the question; JSON in the CSV file."),
    ] = {}
    weight: Annotated[float, Meta(gt=0, description="Weight of the item.")] = 1.0

    def __post_init__(self) -> None:
        """Raise ValueError for a value that is not on its scale."""
        if self.kind == ANSWER:
            return
        least, largest, value, turned = self.least, self.largest, self.value, self.toward_second
        if least is None or largest is None or least >= largest:
            raise ValueError(f"largest must be above least ({least}), found {largest}")
        if isinstance(value, str) or not least <= value <= largest:
            raise ValueError(f"value must lie on the scale from {least} to {largest}, found {value}")
        if turned != (value if self.second_on_right else least + largest - value):
            raise ValueError(f"toward_second contradicts value {value} and second_on_right, found {turned}")


row_lines = Encoder().encode_lines
"""Returns rows as the content of `answers.jsonl`."""


# From a study -------------------------------------------------------------------------------------------------------


def study_facts(study: Study, store: str | Path | None = None) -> list[tuple[int, Fact]]:
    """Return all that happened in a study, also while it is served. A study that was never served has no answers.

    `store` is a place other than the study's own.
    """
    return read_facts(store or study.store, study.id) if store or study.was_served else []


def answer_rows(study: Study, study_state: StudyState) -> Iterator[AnswerRow]:
    """Yield all answers of a study, sorted by assignment and trial. StoreError for what no rater can have answered."""
    for id in sorted(study_state.assignments):
        assignment = study_state.assignments[id]
        try:
            trials = study.trials(assignment.task, assignment.slot)
            rows = [answer_row(assignment, trials[number - 1], answer) for number, answer in assignment.answers.items()]
        except (LookupError, ValueError):
            message = f"the answers are damaged: assignment {id} and its answers fit no task of study {study.id}"
            raise StoreError(f"{message}; restore a backup of them") from None
        yield from sorted(rows, key=lambda row: row.trial)


def answer_row(assignment: Assignment, trial: ShownTrial, answer: Submitted) -> AnswerRow:
    """Return an answer with all that it is about."""
    item, scale, gold = trial.item, trial.item.scale, trial.item.gold or GoldValue()
    first, second = (*item.candidates, None, None)[:2]
    on_right = None if scale is None else trial.second_on_right or second is None  # one text has no side
    is_known = item.use == CHECK and gold.better is not None and second is not None
    return AnswerRow(
        assignment=assignment.id,
        rater=assignment.rater,
        task=assignment.task,
        slot=assignment.slot,
        state=cast(State, assignment.state),
        trial=answer.trial,
        item=item.id,
        image=item.image,
        kind=item.kind,
        use=item.use,
        dimension=item.dimension,
        value=answer.value,
        second_on_right=on_right,
        toward_second=None if on_right is None else item.toward_second(int(answer.value), second_on_right=on_right),
        least=scale.least if scale else None,
        largest=scale.largest if scale else None,
        first_source=first.source if first else "",
        first_role=first.role if first else "",
        second_source=second.source if second else "",
        second_role=second.role if second else "",
        gold_is_second=gold.better == second.id if is_known and second else None,
        gold_value=gold.value,
        gold=gold.answer,
        rt_ms=answer.rt_ms,
        shown_ms=answer.shown_ms,
        server_ms=answer.server_ms,
        blur=answer.blur,
        stored=answer.time,
        strata=item.strata,
        record=item.record,
        weight=item.weight,
    )


def automated(facts: Iterable[tuple[int, Fact]]) -> list[str]:
    """Return the assignments whose browser says that a program drives it."""
    return [fact.assignment for _, fact in facts if isinstance(fact, Noted) and fact.kind == WEBDRIVER]


# From files ---------------------------------------------------------------------------------------------------------


def load_answers(source: str | Path, store: str | Path = "") -> tuple[list[AnswerRow], list[str] | None]:
    """Return the answers of a study, of an export folder, or of its `answers.jsonl`, and what a program did.

    A study may be served meanwhile; `store` is the place of its answers, by default its own file. The second value has
    the assignments that are `automated`, None if that is not known. Raises BadInput for answers that are wrong,
    UsageError if there are none to read, and StoreError.
    """
    path = Path(source)
    if (path / STUDY_FILE).is_file():
        study = load_study(path)
        facts = study_facts(study, store)
        return list(answer_rows(study, StudyState(facts))), automated(facts)
    if store:
        raise UsageError(f"{path} is no study, whose answers could be in a store; leave out {hide_password(store)}")
    events = path / EVENTS_FILE
    return read_rows(path), automated(enumerate(_lines(events, Fact))) if events.is_file() else None


def read_rows(source: str | Path) -> list[AnswerRow]:
    """Return the answers of an export folder, or of its `answers.jsonl`. BadInput with what is wrong in which line."""
    path = Path(source)
    file = path / ANSWERS_FILE if path.is_dir() else path
    if not file.is_file():
        what = f"folder {path} holds no {ANSWERS_FILE}" if path.is_dir() else f"{path} does not exist"
        raise PlaceError(f"{what}; export the study: vqagen human export STUDY --out FOLDER")
    return _lines(file, AnswerRow)


def _lines(path: Path, kind: Any) -> list[Any]:
    """Return the lines of a file, of a type. BadInput with what is wrong, up to 20 problems, each with its line."""
    decoder, problems = Decoder(kind), list[Problem]()
    rows: dict[object, Any] = {}
    for number, _, where, text in RecordSource(path, RecordKind("lines"), "lines", [path]).texts():
        try:
            line = decoder.decode(text.removeprefix(BYTE_ORDER_MARK))
        except ValidationError as error:
            problems.append(_problem(str(error), where))
            continue
        except (DecodeError, UnicodeDecodeError):
            message, (_, column) = mistake_in(text.removeprefix(BYTE_ORDER_MARK), "line")
            problems.append(Problem(message, f"{where}:{column}"))
            continue
        key = (line.assignment, line.trial) if kind is AnswerRow else number
        if key in rows:
            message = f"a second answer to trial {line.trial} of assignment {line.assignment}"
            problems.append(Problem(message, where, "trial"))
        rows[key] = line
    if problems:
        raise BadInput(problems[:_MOST_PROBLEMS])
    return list(rows.values())


def _problem(text: str, where: str) -> Problem:
    """Return what msgspec says about a line, with the right values where it does not say them."""
    message, _, path = text.partition(" - at `$.")
    key = path.rstrip("`")
    known = get_args(get_type_hints(AnswerRow)[key]) if message.startswith("Invalid enum value") else ()
    return Problem(f"{message}; expected {', '.join(map(repr, known))}" if known else message, where, key)
