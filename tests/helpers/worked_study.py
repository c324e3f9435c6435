"""The worked example of the specification of human studies (6.3): two tasks, six images, eight assignments."""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace as changed  # noqa: F401 (how tests change a row)

from vqagen.human.answers import ANSWERS_FILE, AnswerRow, row_lines

TABLE = """
a1 R1 i1 img01 human A 4
a1 R1 i2 img02 B human 7
a1 R1 i3 img03 human1 human2 5
a1 R1 i4 img04 A human 6
a1 R1 k1 img05 distractor correct 9
a2 R1 i5 img01 human B 2
a2 R1 i6 img02 human A 3
a2 R1 i7 img04 B human 8
a2 R1 i8 img05 human2 human1 4
a2 R1 k2 img03 correct distractor 1
a3 R2 i1 img01 human A 5
a3 R2 i2 img02 B human 8
a3 R2 i3 img03 human1 human2 6
a3 R2 i4 img04 A human 3
a3 R2 k1 img05 distractor correct 8
a4 R2 i5 img01 human B 1
a4 R2 i6 img02 human A 6
a4 R2 i7 img04 B human 6
a4 R2 i8 img05 human2 human1 5
a4 R2 k2 img03 correct distractor 4
a5 R3 i1 img01 human A 2
a5 R3 i2 img02 B human 5
a5 R3 i3 img03 human1 human2 3
a5 R3 i4 img04 A human 7
a5 R3 k1 img05 distractor correct 7
a6 R4 i5 img01 human B 4
a6 R4 i6 img02 human A 4
a6 R4 i7 img04 B human 9
a6 R4 i8 img05 human2 human1 7
a6 R4 k2 img03 correct distractor 2
a7 R5 i1 img01 human A 9
a7 R5 i2 img02 B human 1
a7 R5 i3 img03 human1 human2 9
a7 R5 i4 img04 A human 1
a7 R5 k1 img05 distractor correct 3
a8 R6 i5 img01 human B 9
a8 R6 i6 img02 human A 9
a8 R6 i7 img04 B human 1
a8 R6 i8 img05 human2 human1 1
a8 R6 k2 img03 correct distractor 5
"""
"""assignment, rater, item, image, left source, right source, value"""


def worked_rows() -> list[AnswerRow]:
    """Return the answers of the example."""
    lines = [line.split() for line in TABLE.split("\n") if line]
    return [_row(number, *line) for number, line in enumerate(lines)]


def write_worked_rows(folder: Path) -> None:
    """Write the answers of the example as an export has them."""
    folder.mkdir()
    (folder / ANSWERS_FILE).write_bytes(row_lines(worked_rows()))


def _row(
    number: int, assignment: str, rater: str, item: str, image: str, left: str, right: str, value: str
) -> AnswerRow:
    second_on_right = left in ("human", "human1", "correct")
    first, second = (left, right) if second_on_right else (right, left)
    is_check = first == "correct"
    return AnswerRow(
        assignment=assignment,
        rater=rater,
        task="t1" if int(assignment[1]) % 2 else "t2",
        slot=(int(assignment[1]) - 1) // 2,
        state="complete",
        trial=number % 5 + 1,
        item=item,
        image=f"{image}.png",
        kind="compare",
        use="check" if is_check else "real",
        dimension="fit",
        value=int(value),
        second_on_right=second_on_right,
        toward_second=int(value) if second_on_right else 10 - int(value),
        least=1,
        largest=9,
        first_source=first,
        first_role="reference",
        second_source=second,
        second_role="reference" if is_check or first == "human1" else "system",
        gold_is_second=False if is_check else None,
    )
