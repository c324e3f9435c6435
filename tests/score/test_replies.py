"""Answers inside of replies: one, several or none; in no way that others call a match is a wrong answer right."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, strategies as st
from test_answers import CLEVR, NO_WORDS, credit, gold_of, options_of

from vqagen.items.answers import BOOL, CELL, INTEGER, LIST, TEXT, WORD, Answer, Vocabulary, read_answer
from vqagen.items.table import Gold, Options
from vqagen.score.answers.judging import judge
from vqagen.score.answers.replies import read_reply

AMBIGUOUS, REFUSED = "?", "–"
"""In tables: several answers, and none."""


def answers_in(text: str, gold: Gold, options: Options | None, words: Vocabulary) -> list[str]:
    return read_reply(text, gold, options, words)[0]


def shown(text: str, kind: str, answer: Answer, options: Sequence[str] = (), words: Vocabulary = CLEVR) -> str:
    found = answers_in(text, gold_of(kind, answer), options_of(*options), words)
    return found[0] if len(found) == 1 else AMBIGUOUS if found else REFUSED


def mistakes(table: list[tuple[str, str]], kind: str, right: Answer, options: Sequence[str] = ()) -> list[Any]:
    """Return the replies of a table that are read otherwise, with what they are read as."""
    found = [(reply, shown(reply, kind, right, options)) for reply, _ in table]
    return [each for each, row in zip(found, table, strict=True) if each != row]


def misreadings(name: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield (verdict, reply, what a person reads, what is read) for all replies of a file."""
    for group in json.loads((Path(__file__).parents[1] / "data" / name).read_text(encoding="utf-8"))["groups"]:
        right = tuple(group["right"]) if group["kind"] == LIST else group["right"]
        gold, options = Gold(group["kind"], (right,)), options_of(*group.get("options", ()))
        for reply, read in group["replies"]:
            judged = judge([reply], gold, options, vocabulary=CLEVR)
            found = {"read": judged.given, "ambiguous": "?"}.get(judged.status, "-")
            verdict = "misread" if found not in "?-" else "status" if read in "?-" else "unread"
            yield "right" if found == read else verdict, reply, read, found


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("replies.json", {"right": 783, "unread": 24, "status": 3}),
        ("model_replies.json", {"right": 316, "unread": 5}),
    ],
)
def test_replies_are_read_as_people_read_them_or_are_not_read(name: str, counts: dict[str, int]) -> None:
    """None is misread, and 3 % are not read. Those of the second file are in the manner of five models."""
    found = Counter(verdict for verdict, *_ in misreadings(name))

    assert found == counts
    assert found["misread"] <= 0.005 * found.total() and found["unread"] <= 0.06 * found.total()


STATUSES = [
    ("3", "read"),
    ("2 or 3", "ambiguous"),
    ("There are 2 cubes. Of these, 1 is red.", "not read"),
    ("I cannot see the picture.", "no valid answer"),
    ("red", "no valid answer"),
    ("", "no valid answer"),
    ("<think>There are 4 cubes, so the answer is 4", "no valid answer"),
]


def test_a_reply_without_answer_is_not_read_or_no_valid_answer() -> None:
    assert [(reply, judge([reply], gold_of(INTEGER, 3)).status) for reply, _ in STATUSES] == STATUSES


TOTALS = [
    ("There are 5 objects in the image:\n- 2 cubes\n- 2 cylinders\n- 1 sphere", "5"),
    ("There are five objects in the image: one large cube, two small cylinders, and two spheres.", "5"),
    (
        "There are 9 things. This is how:\n\n1. **Cubes (2):** one big, one small.\n2. **Balls (7):** all are red.",
        "9",
    ),
    ("7 - 2 = 5 objects remain", "5"),
    ("There are 2 cubes and 3 spheres, totaling 5 objects.", "5"),
    ("After removing the 2 red cubes, 5 items remain.", "5"),
    ("There are 3 cubes and 1 sphere.\n#### 4", "4"),
    ("There are 5 objects: 2 cubes and 2 spheres.", AMBIGUOUS),
    ("There are 8 objects. 3 are cubes.", REFUSED),
    ("Total objects: 8\nCubes: 3", REFUSED),
    ("There are a total of 8 objects, 3 of which are cubes.", AMBIGUOUS),
]


def test_a_stated_total_beats_the_last_number() -> None:
    """So does a number to which those listed behind it add up; else the reply is not read."""
    assert mistakes(TOTALS, INTEGER, 0) == []


REASONINGS = [
    ("<reasoning>My answer: 3</reasoning>\n\n5", "5"),
    ("<thinking>I think the answer is 3</thinking>\n\n5", "5"),
    ("<reason>So the answer is 3? No, two more.</reason>5", "5"),
    ('<THOUGHT step="1">3</THOUGHT> 5', "5"),
    ("\u25c1think\u25b73\u25c1/think\u25b75", "5"),
    ("[THINK]3[/THINK]5", "5"),
    ("<|begin_of_thought|>3<|end_of_thought|>5<|im_end|>", "5"),
    ("3?</think>5", "5"),
    ("<scratchpad>3", REFUSED),
    ("<think>a<think>b</think><answer>3</answer>", REFUSED),
    ("<think><answer>3</answer>", REFUSED),
    ("<CAPTION>2 balls</CAPTION><CONCLUSION>5</CONCLUSION>", "5"),
    ("<b>5</b>", "5"),
    ('{"reasoning": "3", "Answer": 5}', "5"),
    ('{"response": "There are 5."}', "5"),
    ('{"final_answer": "five", "answer": "3"}', "5"),
]


def test_text_in_tags_of_any_name_is_reasoning() -> None:
    assert mistakes(REASONINGS, INTEGER, 0) == []


def test_a_number_word_is_a_number_among_annotations() -> None:
    assert judge(["two"], Gold(TEXT, ("2", "3"))).credits == (1.0,)
    assert judge(["There are two cats."], Gold(TEXT, ("2", "3"))).given == "2"
    assert judge(["two"], Gold(TEXT, ("2", "a few"))).credits == (1.0,)
    assert judge(["Yes, it is."], Gold(TEXT, ("yes",))).credits == (1.0,)


NUMBERS = [
    ("10", "10"),
    ("There are 10.", "10"),
    ("none", "0"),
    ("There are no cubes.", "0"),
    ("There are no more than 3.", REFUSED),
    ("There are 2 cubes and 3 spheres. So 5.", "5"),
    ("There are 2 cubes and 3 spheres", AMBIGUOUS),
    ("2 + 3 = 5", "5"),
    ("2-3", AMBIGUOUS),
    ("2,3", AMBIGUOUS),
    ("not 3 but 4", "4"),
    ("1,000", "1000"),
    ("2.5", REFUSED),
    ("1/2", REFUSED),
    ("B2", REFUSED),
    ("3D", REFUSED),
    ("50%", REFUSED),
    ("1. cube\n2. sphere\nTotal: 2", "2"),
    ("There is only one.", "1"),
    ("The red one and the blue one, so two.", "2"),
    ("the answer is five cubes", "5"),
    ("Answer: 2. There are 3 more.", "2"),
    ("Answer: 2. Wait, 3.", "3"),
    ("ANSWER: 3 (1 red, 2 blue)", "3"),
    ("The answer is 3, because 1 + 2 = 3.", "3"),
    ("ANSWER: 2, 3", AMBIGUOUS),
    ("at least 3", REFUSED),
    ("three or more", REFUSED),
    ("ANSWER: **7**", "7"),
    (r"So $\boxed{7}$.", "7"),
    ("<think>3 or 4</think> 4", "4"),
    ("<answer>4</answer>", "4"),
    ("2 or 3? ANSWER:", REFUSED),
    ("ANSWER: <number>. I see 3.", REFUSED),
    ("I cannot tell whether it is 3.", REFUSED),
    ("", REFUSED),
]


def test_the_number_of_a_reply() -> None:
    assert mistakes(NUMBERS, INTEGER, 0) == []


TRUTHS = [
    ("Yes.", "yes"),
    ("yes, there is", "yes"),
    ("The answer is yes", "yes"),
    ("It is false", "no"),
    ("No red cubes are there.", "no"),
    ("No, I don’t see one.", "no"),
    ("ANSWER: no red cubes", "no"),
    ("I know", REFUSED),
    ("There is no doubt.", REFUSED),
    ("There is no doubt: yes", "yes"),
    ("not true", REFUSED),
    ("no idea", REFUSED),
    ("I am not sure, yes", REFUSED),
    ("Yes. No.", AMBIGUOUS),
    ("yes/no", AMBIGUOUS),
]


def test_the_truth_of_a_reply() -> None:
    """A "no" that is a determiner is no answer, unless the reply begins with it."""
    assert mistakes(TRUTHS, BOOL, False) == []


WORDS = [
    ("metallic", "metal"),
    ("A rubber cube", "rubber"),
    ("The large red cube is metal", "metal"),
    ("It isn't shiny, it's matte", "rubber"),
    ("It is metal, not rubber.", "metal"),
    ("metal rather than rubber", "metal"),
    ("not red", REFUSED),
    ("The answer is not metal", REFUSED),
    ("neither rubber nor metal", REFUSED),
    ("rubber or metal", AMBIGUOUS),
    ("red", "red"),
    ("metallurgy", REFUSED),
]


def test_the_word_of_a_reply() -> None:
    """Of a sentence the words of the asked attribute count; a reply that is a value of another one is that value."""
    assert mistakes(WORDS, WORD, "metal") == []


OPTIONS = [
    ("B", "rubber"),
    ("(b)", "rubber"),
    ("Option B", "rubber"),
    ("B. rubber", "rubber"),
    ("B - rubber", "rubber"),
    ("ANSWER: B", "rubber"),
    ("ANSWER: A rubber cube", "rubber"),
    ("A rubber cube", "rubber"),
    ("I choose option (A).", "metal"),
    ("I pick B.", "rubber"),
    ("My choice: B", "rubber"),
    ("I choose a metal cube", "metal"),
    ("B) metal", AMBIGUOUS),
    ("A: metal\nB: rubber", AMBIGUOUS),
    ("not metal", REFUSED),
    ("purple", "purple"),
    ("C", REFUSED),
]


def test_the_option_of_a_reply() -> None:
    """An article is no letter; a letter beside another option's text is no answer."""
    assert mistakes(OPTIONS, WORD, "metal", ["metal", "rubber"]) == []


def test_letters_name_no_options_in_an_unknown_order() -> None:
    unordered = Options(("metal", "rubber"), 0, has_letters=False)

    assert answers_in("B", gold_of(WORD, "metal"), unordered, CLEVR) == []


PARTS = [("10", "10"), ("ten", "10"), ("C", "10"), ("1 or 10", AMBIGUOUS)]


def test_options_that_are_parts_of_one_another() -> None:
    """ "10" is neither 1 nor 0."""
    assert mistakes(PARTS, INTEGER, 10, ["0", "1", "10", "2"]) == []


OTHERS = [
    (TEXT, "It is a red car", "red car"),
    (TEXT, "the café", "Café"),
    (TEXT, "green", REFUSED),
    (LIST, "blue, red", "blue, red"),
    (LIST, "It has red and blue", "blue, red"),
    (LIST, "I see some red", REFUSED),
    (CELL, "ANSWER: B2", "B2"),
    (CELL, "ANSWER: B2 or C3", AMBIGUOUS),
    (CELL, "nothing", REFUSED),
]


def test_replies_of_other_kinds() -> None:
    options = {TEXT: ["Red.", "red car", "Café"]}
    found = [(kind, reply, shown(reply, kind, "Red.", options.get(kind, []))) for kind, reply, _ in OTHERS]
    assert found == OTHERS


TRAPS = [
    ("10", INTEGER, 0, (), 0.0),
    ("not red", WORD, "red", (), 0.0),
    ("I know", BOOL, False, (), 0.0),
    ("Answer: 2.", INTEGER, 2, (), 1.0),
    ("A rubber cube", WORD, "rubber", ("metal", "rubber"), 1.0),
    ("A rubber cube", WORD, "metal", ("metal", "rubber"), 0.0),
    ("10", INTEGER, 10, ("0", "1", "10", "2"), 1.0),
    ("10", INTEGER, 1, ("0", "1", "10", "2"), 0.0),
    ("metallic", WORD, "metal", (), 1.0),
    ("metallic", WORD, "metal", ("metal", "rubber"), 1.0),
]


def test_traps_of_other_tools() -> None:
    """Inspect's `match` and VLMEvalKit judge each of these otherwise."""
    found = []
    for reply, kind, right, options, _ in TRAPS:
        [share] = judge([reply], gold_of(kind, right), options_of(*options), vocabulary=CLEVR).credits
        found.append((reply, kind, right, options, share))
    assert found == TRAPS


@pytest.mark.parametrize("options", [(), ("metal", "wood")])
def test_a_part_of_a_word_is_no_match_without_a_synonym(options: Sequence[str]) -> None:
    assert shown("metallic", TEXT, "metal", options, NO_WORDS) == (REFUSED if options else "metallic")
    assert credit("typed", "metallic", gold_of(TEXT, "metal")) == 0.0


PIECES = [*"ab12 .,:()\n-/$", "yes ", "no ", "not ", "red ", "metal ", "ANSWER: ", "\\boxed{", "B2 ", "one "]
REPLIES = st.lists(st.sampled_from(PIECES), max_size=12).map("".join) | st.text(max_size=30)


@given(REPLIES, st.sampled_from([BOOL, INTEGER, WORD, LIST, CELL, TEXT]), st.booleans())
def test_an_answer_of_a_reply_is_an_answer(reply: str, kind: str, has_options: bool) -> None:
    """An answer is read as this answer again."""
    gold, options = gold_of(kind, "metal"), options_of("metal", "red") if has_options else None
    found = answers_in(reply, gold, options, CLEVR)

    assert all(found)
    if len(found) == 1 and not has_options:
        assert answers_in(found[0], gold, None, CLEVR) == found


VALUES: dict[str, list[str]] = {
    BOOL: ["yes", "no"],
    INTEGER: ["0", "1", "2", "3", "10", "12"],
    WORD: ["red", "gray", "cyan", "purple"],
    CELL: ["A1", "B2", "C10"],
}
SAYINGS: dict[str, list[str]] = {"0": ["zero", "none"], "2": ["two", "2.0"], "12": ["twelve"], "yes": ["true"]}
CLEAR = (
    *("{a}", "{a}.", "  {a}\n", "**{a}**", "`{a}`", '"{a}"', "ANSWER: {a}", "Answer: **{a}**.", "<answer>{a}</answer>"),
    *(
        "I first thought {b}. ANSWER: {a}",
        "<think>{b}, or {c}?</think>{a}",
        r"So $\boxed{{{a}}}$.",
        r"\boxed{{\text{{{a}}}}}",
    ),
    *(
        "The answer is {a}.",
        "The correct answer is: {a}",
        "ANSWER: {b}\nI was wrong.\nANSWER: {a}",
        "Final answer: {a}",
    ),
)
"""Replies that say `a`, whatever `b` and `c` are."""
UNCLEAR = (
    "ANSWER: {b} or {a}",
    "The answer is either {b} or {a}.",
    r"\boxed{{{b}, {a}}}",
    "ANSWER:",
    "ANSWER: I do not know.",
)
"""Replies that say none of them."""


def values_of(kind: str, random: Any) -> list[str]:
    """Return three different values, each in one of the ways to say it."""
    chosen = random.sample(VALUES[kind], min(3, len(VALUES[kind])))
    return [random.choice([value, *SAYINGS.get(value, [])]) for value in (*chosen, chosen[-1])][:3]


@given(kind=st.sampled_from(sorted(VALUES)), frame=st.sampled_from(CLEAR), random=st.randoms(use_true_random=False))
def test_a_clear_reply_is_read_as_what_it_says(kind: str, frame: str, random: Any) -> None:
    a, b, c = values_of(kind, random)
    gold = gold_of(kind, read_answer(VALUES[kind][0], kind, CLEVR) or 0)
    [answer] = answers_in(frame.format(a=a, b=b, c=c), gold, None, CLEVR)

    assert read_answer(answer, kind, CLEVR) == read_answer(a, kind, CLEVR)


@given(kind=st.sampled_from(sorted(VALUES)), frame=st.sampled_from(UNCLEAR), random=st.randoms(use_true_random=False))
def test_an_unclear_reply_has_no_answer(kind: str, frame: str, random: Any) -> None:
    """In a sentence, the last cell counts."""
    assume(kind != CELL or "ANSWER" in frame)
    a, b, _ = values_of(kind, random)
    gold = gold_of(kind, read_answer(VALUES[kind][0], kind, CLEVR) or 0)

    assert len(answers_in(frame.format(a=a, b=b), gold, None, CLEVR)) != 1


@given(frame=st.sampled_from(CLEAR), options=st.permutations(["red car", "red", "a car", "dark red"]))
def test_a_letter_or_text_of_an_option_is_read_as_this_option(frame: str, options: list[str]) -> None:
    """Also if one option stands inside of another."""
    gold, shown_options = gold_of(TEXT, "red"), options_of(*options)
    for place, option in enumerate(options):
        letter, other = "ABCD"[place], "ABCD"[place - 1]
        for said in (option, letter, f"({letter})", f"{letter}) {option}", f"Option {letter}"):
            reply = frame.format(a=said, b=options[place - 1], c=other)
            assert answers_in(reply, gold, shown_options, NO_WORDS) == [option], reply
