"""The cell that a reply names, in the notations that models write."""

from __future__ import annotations

from vqagen.judge.answers.cells import cell_in_reply

REPLIES = [
    ("ANSWER: B2", "B2"),
    ("answer: b2.", "B2"),
    ("ANSWER: b 2", "B2"),
    ("ANSWER: B-2", "B2"),
    ("ANSWER:B,2", "B2"),
    ("ANSWER: (B, 2)", "B2"),
    ("ANSWER: column B row 2", "B2"),
    ("ANSWER: Row 2, Column B", "B2"),
    ("ANSWER: B2 (column B, row 2)", "B2"),
    ("**ANSWER:** B2", "B2"),
    ("**Answer: `B2`**", "B2"),
    ("Final answer = B2", "B2"),
    ("ANSWER:\n\nB2\n", "B2"),
    (r"ANSWER: $\boxed{B2}$", "B2"),
    (r"ANSWER: \text{B}_{2}", "B2"),
    ("ANSWER: Ｂ２", "B2"),
    ("ANSWER：B₂", "B2"),
    ("ANSWER: B\u00a02", "B2"),
    ("ANSWER: <B2>", "B2"),
    ("ANSWER: B02", "B2"),
    ("ANSWER: A10", "A10"),
    ("ANSWER: a 2", "A2"),
    ("ANSWER: A1\nNo, wait.\nANSWER: C3", "C3"),
    ("I end with `ANSWER: <cell>`. It is not A1 but D4.", "D4"),
    ("ANSWER: C3. Not A1.", "C3"),
    ("ANSWER: B2 or C3", None),
    ("ANSWER: A1, A2, A3, A4, B1, B2", None),
    ("A1? ANSWER: none", None),
    ("A1? ANSWER:", None),
    ("B2", "B2"),
    ("b 2", "B2"),
    ("Cell B 2.", "B2"),
    ("The red book is in cell B2.", "B2"),
    ("A1 is hidden, so the item is in column C, row 2.", "C2"),
    ("The item next to A1 is in B-2, a 3 cm book", "B2"),
    ("A1, B2, C3", None),
    ("I see it in A1, B2 and cell C3.", None),
    ("It is either A1 or B2.", None),
    ("Not in A1. C3", "C3"),
    ("A1 is empty. C3", "C3"),
    ("A1 and B2 are blocked, so it is C3", "C3"),
    ("The item is at D4, not C3.", "D4"),
    ("It is in C3 rather than in cell D4", "C3"),
    ("ANSWER: D4, not C3", "D4"),
    ("It must be not A1 but B2.", "B2"),
    ("D 4", "D4"),
    ("The director means the one at D 4.", "D4"),
    ("The item is in cell D 4, I think.", "D4"),
    ("There is A 2 by 4 board in a 3 by 3 room", None),
    ("A 2 by 2 shelf holds nothing.", None),
    ("I cannot see any picture.", None),
    ("It weighs 2 kg; GPT4 and H2O and B2.5 are no cells", None),
    ("", None),
]


def test_the_cell_of_a_reply() -> None:
    """The last `ANSWER:` counts, else the last cell in the text; a mere mention of letters and numbers does not."""
    assert [(reply, cell) for reply, cell in REPLIES if cell_in_reply(reply) != cell] == []
