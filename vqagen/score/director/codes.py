"""The rules that trials are judged by, and their meanings."""

from __future__ import annotations

from collections.abc import Mapping

MEANINGS: Mapping[str, str] = {
    "O1": "grid, cells and labels are well-formed, and every item is in the catalogue",
    "O2": "the text says the question: rule, frame, noun and adjectives",
    "O3": "the fields that follow from the others are right",
    "O4": "the director sees exactly one answer, and it is the written one",
    "O5": "in a control trial, both give the same answer",
    "O6": "in a test trial, the answers differ, and the participant's other answers are in blocked cells",
    "O7": "in a test trial with a rule, the participant's own answer is one other cell",
    "O8": "in a test trial without a rule, a blocked item fits too",
    "O9": "the rule is needed: the director sees two fitting items",
    "O10": "each adjective is needed",
    "O11": "left and right in the other frame give another answer",
    "O12": "items that are compared in size are of one kind, and drawn the larger, the higher their level",
    "O13": "the numbers of items and blocked cells are those of the settings",
    "O14": "the shares of types, rules, frames and physics are those of the settings",
    "O15": "no question is asked twice of one grid; control and test trials are alike in cells and numbers",
    "O17": "each picture is there, and can be shown",
    "R1": "the reference object is the only one of its description, for both, and not blocked",
    "R2": "the answer is the nearest item that the director sees in the direction",
    "R4": "a blocked item is nearer in a test trial, and none in a control trial",
    "R5": "the reference object is in the catalogue",
    "twin": "the question without a director is the same one in the participant's words",
    "pair": "two trials of a pair differ in one blocked cell and in the answer",
}
"""Code -> the rule. A fault of a code is a trial, or a file, that breaks the rule."""
LOOSE = frozenset({"O7", "O9", "O10", "O11"})
"""Rules that trials made with `--compat reference` may break."""
