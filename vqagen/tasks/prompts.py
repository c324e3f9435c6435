"""The words in which models are asked: the story of the director task, how backs of cells look, and how to answer."""

from __future__ import annotations

from collections.abc import Mapping

DIRECTOR, NO_DIRECTOR = STORIES = "director", "no_director"
PLAIN, THINK, REACT = THOUGHTS = "none", "think", "react"
BLOCK_TEXTS = 3
"""Ways to describe blocked cells, from the most explicit to the least leading."""

_BEGINNINGS: Mapping[str, str] = {
    DIRECTOR: (
        "You take part in a game for two: you and the director. {} shows a shelf from the front, as you see it. The"
        " director stands on the opposite side, faces you, and sees the shelf from behind. The director has never been"
        " on your side, and knows of the shelf only what can be seen from behind."
    ),
    NO_DIRECTOR: "You take stock of a shelf, alone. {} shows it from the front, as you see it. Every item counts.",
}
_OPEN = "The other cells are open at the back."
_HIDDEN = "the director cannot see into them, and does not know what they hold."
_BACKS_IN_PICTURES: Mapping[str, tuple[str, ...]] = {
    DIRECTOR: (
        f"Cells with a grey back are blocked: {_HIDDEN}",
        f"Cells with a grey back have an opaque wall behind them. {_OPEN}",
        "The back of each cell is either open or a grey panel.",
    ),
    NO_DIRECTOR: (
        f"Cells with a grey back are closed behind. {_OPEN}",
        f"Cells with a grey back have an opaque wall behind them. {_OPEN}",
        "The back of each cell is either open or a grey panel.",
    ),
}
_BACKS_IN_TEXTS: Mapping[str, tuple[str, ...]] = {
    DIRECTOR: (
        f'Cells marked "blocked" are blocked: {_HIDDEN}',
        f'Cells marked "#" have an opaque wall behind them. {_OPEN}',
        'The back of each cell is of the material that is named; "none" is an open back.',
    ),
    NO_DIRECTOR: (
        f'Cells marked "blocked" are closed behind. {_OPEN}',
        f'Cells marked "#" have an opaque wall behind them. {_OPEN}',
        'The back of each cell is of the material that is named; "none" is an open back.',
    ),
}
_TASKS: Mapping[str, str] = {
    DIRECTOR: "The director asks you to pick one item. Find the cell of the item that the director means.",
    NO_DIRECTOR: "You are asked to pick one item. Find its cell. If several items fit, any of them is right.",
}
_LABELS = (
    "Name the cell by its column and row as you see them: columns have letters from left to right, and rows have"
    " numbers from top to bottom."
)
CELL_ENDING = "Reply with one line and nothing else:\nANSWER: <cell>"
_ENDINGS: Mapping[str, str] = {
    PLAIN: CELL_ENDING,
    THINK: "Think step by step. Then end your reply with a line of its own:\nANSWER: <cell>",
    REACT: "Think step by step, and use the tools where they help. Then call submit() with the cell.",
}


def system_prompt(story: str, block_text: int, thought: str, is_picture: bool) -> str:
    """Return the system message of a trial."""
    return f"{rules(story, block_text, is_picture)}\n\n{_ENDINGS[thought]}"


def rules(story: str, block_text: int, is_picture: bool) -> str:
    """Return the system message of a trial without its last part, which says how to reply."""
    beginning = _BEGINNINGS[story].format("The picture" if is_picture else "The text")
    backs = (_BACKS_IN_PICTURES if is_picture else _BACKS_IN_TEXTS)[story][block_text]
    return f"{beginning} {backs}\n\n{_TASKS[story]} {_LABELS}"


_ANSWERS: Mapping[str, str] = {
    "open": "Answer with yes or no, a whole number, or as few words as possible.",
    "mc": "Answer with one of the options.",
}
_ANSWER_ENDINGS: Mapping[str, str] = {
    PLAIN: "Reply with one line and nothing else:\nANSWER: <answer>",
    THINK: "Think step by step. Then end your reply with a line of its own:\nANSWER: <answer>",
}


def question_prompt(mode: str, thought: str, has_picture: bool) -> str:
    """Return the system message of a question, answered freely ("open") or by an option ("mc")."""
    about = "You are asked about a picture." if has_picture else "You are asked about a picture that you cannot see."
    return f"{about} {_ANSWERS[mode]}\n\n{_ANSWER_ENDINGS[thought]}"


def request(story: str, instruction: str) -> str:
    """Return the text of the question.

    >>> request("director", "Please pick the red book.")
    'The director says: "Please pick the red book."'
    """
    return f'The director says: "{instruction}"' if story == DIRECTOR else instruction
