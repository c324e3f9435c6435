"""`vqagen verify` finds every broken rule in trials made by hand, and none in right ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from handmade_trials import Record, codes, codes_of_each, trial, verified

from vqagen.tasks.director.verification import MEANINGS

NONE_TEST = """
red_ball_2   blue_ball_2   #red_ball_3
.            #.            green_book_1
"""
NONE_CONTROL = NONE_TEST.replace("#red_ball_3", "#blue_ball_3")
TOPMOST_TEST = """
#red_ball_1  .             blue_ball_2
red_ball_2   .             .
.            green_book_1  red_ball_4
"""
TOPMOST_CONTROL = TOPMOST_TEST.replace("#red_ball_1", "#red_book_1")
LEFTMOST_TEST = """
#red_ball_1  red_ball_2    .            red_ball_3
blue_ball_1  .             #.           .
"""
LEFTMOST_CONTROL = LEFTMOST_TEST.replace("#red_ball_1", "#red_book_1")
LARGEST_TEST = """
#red_ball_4  red_ball_3    red_ball_1   blue_ball_3
"""
LARGEST_CONTROL = LARGEST_TEST.replace("#red_ball_4", "#red_ball_2")
RELATION_TEST = """
blue_book_1  #red_ball_2   .            green_apple_1
red_book_1   .             .            .
"""
RELATION_CONTROL = RELATION_TEST.replace("#red_ball_2", "#.")
PHYSICS_TEST = """
red_axe_1    red_hammer_1  #blue_saw_2
"""
RIGHT: dict[str, Callable[[], Record]] = {
    "none_test": lambda: trial(NONE_TEST, "red ball"),
    "none_control": lambda: trial(NONE_CONTROL, "red ball", type_="control"),
    "topmost_test": lambda: trial(TOPMOST_TEST, "red ball", "topmost"),
    "topmost_framed": lambda: trial(TOPMOST_TEST, "red ball", "topmost", frame="director"),
    "topmost_control": lambda: trial(TOPMOST_CONTROL, "red ball", "topmost", "control"),
    "leftmost_test": lambda: trial(LEFTMOST_TEST, "red ball", "leftmost"),
    "leftmost_yours": lambda: trial(LEFTMOST_TEST, "red ball", "leftmost", frame="participant"),
    "leftmost_control": lambda: trial(LEFTMOST_CONTROL, "red ball", "leftmost", "control"),
    "largest_test": lambda: trial(LARGEST_TEST, "red ball", "largest"),
    "largest_control": lambda: trial(LARGEST_CONTROL, "red ball", "largest", "control"),
    "relation_test": lambda: trial(RELATION_TEST, "blue book", "right_of"),
    "relation_control": lambda: trial(RELATION_CONTROL, "blue book", "right_of", "control"),
    "physics_test": lambda: trial(PHYSICS_TEST, "sharp tool"),
}


def test_a_right_trial_has_no_fault() -> None:
    """Trials of every class of rules and both types are right by hand."""
    faults = codes_of_each(make() for make in RIGHT.values())

    assert [name for name, found in zip(RIGHT, faults, strict=True) if found] == []


def _drawn(drawn: str, phrase: str, *question: str) -> Callable[[], Record]:
    return lambda: trial(drawn, phrase, *question)


BROKEN: dict[str, tuple[Callable[[], Record], str]] = {
    "two answers for the director": (_drawn(NONE_TEST.replace(" #red", " red"), "red ball"), "O4"),
    "no answer for the director": (_drawn(NONE_TEST.replace("red_ball_2", "#red_ball_2"), "red ball"), "O4"),
    "an item of which people may not agree": (
        _drawn(PHYSICS_TEST + "red_key_1 . .", "sharp tool"),
        "O4",
    ),
    "a control trial with two answers": (_drawn(TOPMOST_TEST, "red ball", "topmost", "control"), "O5"),
    "a test trial with one answer": (_drawn(TOPMOST_CONTROL, "red ball", "topmost"), "O6"),
    "a tie with a blocked item": (
        _drawn(
            TOPMOST_TEST.replace("#red_ball_1", ".").replace("red_ball_2   .", "red_ball_2   #red_ball_2"),
            "red ball",
            "topmost",
        ),
        "O7",
    ),
    "two own answers of the participant": (
        _drawn(TOPMOST_TEST.replace(" .             blue", " #red_ball_1 blue"), "red ball", "topmost"),
        "O7",
    ),
    "a rule that says nothing": (_drawn(TOPMOST_TEST.replace("red_ball_4", "red_book_4"), "red ball", "topmost"), "O9"),
    "an adjective that says nothing": (
        _drawn(NONE_TEST.replace("blue_ball_2", "blue_book_2"), "red ball"),
        "O10",
    ),
    "one answer for left and right": (
        _drawn("#red_ball_1  red_ball_2  blue_ball_1\n.  .  .\nblue_ball_1 .  .", "red ball", "leftmost"),
        "O11",
    ),
    "several kinds compared in size": (
        _drawn(LARGEST_TEST.replace("red_ball_1", "red_kite_1"), "red toy", "largest"),
        "O12",
    ),
    "a second reference object": (
        _drawn(RELATION_TEST.replace("red_book_1", "blue_book_1"), "blue book", "right_of"),
        "R1",
    ),
    "a blocked reference object": (
        _drawn(RELATION_TEST.replace("blue_book_1", "#blue_book_1"), "blue book", "right_of"),
        "R1",
    ),
    "nothing in the direction": (
        _drawn(RELATION_TEST.replace("green_apple_1", "."), "blue book", "right_of"),
        "O4",
    ),
    "nothing of the description in the catalogue": (_drawn(RELATION_TEST, "cold book", "right_of"), "R1"),
    "no blocked item that fits too": (_drawn(NONE_CONTROL, "red ball"), "O6"),
    "a control trial with a nearer blocked item": (_drawn(RELATION_TEST, "blue book", "right_of", "control"), "O5"),
    "a test trial with no nearer blocked item": (_drawn(RELATION_CONTROL, "blue book", "right_of"), "O6"),
}


def test_a_wrong_grid_is_found() -> None:
    """The fields of these trials are right: only the grid breaks the rule."""
    found = codes_of_each(make() for make, _ in BROKEN.values())

    assert [name for (name, (_, code)), each in zip(BROKEN.items(), found, strict=True) if code not in each] == []


def _set(**fields: Any) -> Callable[[Record], Any]:
    return lambda record: record.update(fields)


def _in(key: str, **fields: Any) -> Callable[[Record], Any]:
    return lambda record: record[key].update(fields)


def _without(key: str) -> Callable[[Record], Any]:
    return lambda record: record.pop(key)


def _replaced(old: str, new: str) -> Callable[[Record], Any]:
    return lambda record: record.update(instruction=record["instruction"].replace(old, new))


def _cells(**fields: Any) -> Callable[[Record], Any]:
    return lambda record: [record["cells"].__setitem__(int(place[1:]), name) for place, name in fields.items()]


SPOILED: list[tuple[str, Callable[[Record], Any], str]] = [
    ("none_test", _without("noun"), "O1"),
    ("none_test", _set(width="3"), "O1"),
    ("none_test", _set(width=27), "O1"),
    ("none_test", _set(trial_type="trial"), "O1"),
    ("none_test", _cells(_0="red_bal_2"), "O1"),
    ("none_test", lambda record: record["cells"].pop(), "O1"),
    ("none_test", _set(blocked=["C1", "B2", "D1"]), "O1"),
    ("none_test", _set(blocked=["B2", "C1"]), "O1"),
    ("none_test", _set(answer="A9"), "O1"),
    ("none_test", _replaced("red", "blue"), "O2"),
    ("none_test", _replaced("red ", ""), "O2"),
    ("none_test", _replaced("ball", "kite"), "O2"),
    ("none_test", _replaced("red ball", "red_ball"), "O2"),
    ("none_test", _replaced("Please", "Never"), "O2"),
    ("none_test", _set(template="instructions.json#take"), "O2"),
    ("topmost_test", _replaced("topmost", "bottommost"), "O2"),
    ("topmost_test", _set(rule="bottommost"), "O2"),
    ("topmost_test", _replaced(".", " from my point of view."), "O2"),
    ("leftmost_test", _replaced("rightmost", "leftmost"), "O2"),
    ("leftmost_test", _replaced("my", "your"), "O2"),
    ("leftmost_test", _set(frame="participant"), "O2"),
    ("leftmost_yours", _replaced("your", "my"), "O2"),
    ("leftmost_test", _set(frame=None), "O2"),
    ("leftmost_yours", _set(is_contested=False), "O3"),
    ("leftmost_test", _set(is_contested=True), "O3"),
    ("physics_test", _set(adjectives=[]), "O2"),
    ("physics_test", _set(is_physics=False), "O3"),
    ("none_test", _set(is_physics=True), "O3"),
    ("none_test", _set(rule_class="size"), "O3"),
    ("none_test", _set(participant_answers=["A1"]), "O3"),
    ("none_test", _in("counts", items=5), "O3"),
    ("none_test", _in("counts", related_blocked=0), "O3"),
    ("relation_test", _in("counts", related_visible=2), "O3"),
    ("none_test", _set(answer="C1"), "O4"),
    ("topmost_test", _set(answer="A1"), "O4"),
    ("topmost_test", _set(answer="A3"), "O4"),
    ("none_test", _set(blocked=["A1", "C1", "B2"]), "O4"),
    ("topmost_test", _set(blocked=[]), "O6"),
    ("topmost_test", _set(trial_type="control"), "O5"),
    ("topmost_control", _set(trial_type="test"), "O6"),
    ("none_control", _set(trial_type="test"), "O6"),
    ("topmost_test", _in("no_director", answers=["A2"]), "O3"),
    ("topmost_test", _in("no_director", instruction="Please pick the topmost red balls."), "O3"),
    ("topmost_test", _in("no_director", instruction="Pick the topmost red ball, please."), "O3"),
    ("topmost_test", _in("no_director", instruction="Please pick the uppermost red ball."), "O3"),
    ("leftmost_test", _in("no_director", instruction="Please pick the rightmost red ball."), "O3"),
    ("leftmost_test", _in("no_director", instruction="Please pick the leftmost red ball as I see it."), "O3"),
]


def test_a_spoiled_field_is_found() -> None:
    """One field of a right trial is changed."""
    records = [RIGHT[name]() for name, _, _ in SPOILED]
    for record, (_, spoil, _) in zip(records, SPOILED, strict=True):
        spoil(record)
    found = codes_of_each(records)

    assert [(number, SPOILED[number]) for number, each in enumerate(found) if SPOILED[number][2] not in each] == []


def test_all_faults_of_a_form_are_found_at_once() -> None:
    """Nobody has to verify a file five times."""
    record = {**RIGHT["none_test"](), "noun": 3, "blocked": "A1", "frame": "mine"}

    assert [mismatch.path for mismatch in verified(record).mismatches] == ["frame", "noun", "blocked"]


def test_trials_with_looser_rules_may_have_ties_and_idle_words() -> None:
    """Trials made with --compat reference are judged so; what would be a fault is a note."""
    tie = BROKEN["a tie with a blocked item"][0]()

    report = verified(tie, compat="reference")

    assert report.is_clean
    assert set(report.notes) == {"O7"}


def test_missing_and_repeated_trials_are_found() -> None:
    """Numbers grow, and are those of the settings."""
    first, second = (trial(each, "red ball", number=i) for i, each in enumerate((NONE_TEST, PHYSICS_TEST)))

    assert codes(second, first) >= {"O1"}
    assert not verified(first, count=1).by_problem["O1"]
    assert verified(first, count=2).by_problem["O1"] == 1
    assert verified(second, count=2).by_problem["O1"] == 1
    assert not verified(second, start_index=1, count=1).by_problem["O1"]


OF_FILES = {"O13", "O14", "O15", "O16", "O17", "pair", "changed file"}
"""Rules about several trials, settings, pictures or files, which `test_trial_verification.py` breaks."""


def test_every_rule_is_broken_by_a_test() -> None:
    """A new rule is not finished without a trial that breaks it."""
    broken = {code for _, code in BROKEN.values()} | {code for _, _, code in SPOILED}

    assert broken | OF_FILES == set(MEANINGS)
