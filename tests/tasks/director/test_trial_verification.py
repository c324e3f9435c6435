"""`vqagen verify` of trials: files, settings, shares, pairs and pictures, and how the result is shown."""

from __future__ import annotations

import json
from dataclasses import asdict
from itertools import product
from pathlib import Path
from typing import Any

from commands import Commands
from handmade_trials import Record, catalogue, codes, document, trial, verified
from test_director_oracle import LEFTMOST_CONTROL, LEFTMOST_TEST, NONE_TEST, TOPMOST_TEST

import vqagen
from vqagen.tasks.director.verification import instruction_hash


def all_settings(**given: Any) -> Record:
    """Return the settings of a run as its info has them."""
    return asdict(vqagen.DirectorSettings(**{"count": 1, "render": ("none",), **given}))


def write_trials(folder: str, *records: Record, settings: Record | None = None) -> None:
    """Write records as `vqagen director` does."""
    Path(folder).mkdir(exist_ok=True)
    Path(folder, "trials.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))
    generator = {
        "name": "vqagen",
        "settings": settings or {},
        "arrangement": {"window": 960},
    }
    info = {"generator": generator, "catalogue": catalogue()}
    Path(folder, "trials.jsonl.info.json").write_text(json.dumps(info))


# The command -----------------------------------------------------------------------------------------------------


def test_progress_is_told_in_batches(vqagen_: Commands) -> None:
    """The rest at the end."""
    write_trials("trials", trial(NONE_TEST, "red ball"))
    told: list[int] = []
    vqagen.verify("trials", on_checked=told.append)

    assert told == [1]


def test_faults_are_grouped_by_rule_with_the_first_of_each(vqagen_: Commands) -> None:
    """The exit code is 1; every trial is judged."""
    wrong = {**trial(NONE_TEST, "red ball"), "answer": "C1"}
    write_trials("trials", *({**wrong, "trial_index": i} for i in range(5)))

    ran = vqagen_("verify trials")

    assert ran.code == 1
    head, *lines = ran.out.decode().splitlines()
    assert head == "5 trials checked, 5 wrong: 5 O4, 4 O15"
    assert "  O4    trials[0].answer  trial 0  written as C1, but the director means A1" in lines
    assert any(line.startswith("  O15        4      0  no question is asked twice") for line in lines)


def test_what_is_not_suited_to_a_kind_of_file_is_refused(vqagen_: Commands) -> None:
    """Questions and dialogs need scenes, and trials have none."""
    write_trials("trials", trial(NONE_TEST, "red ball"))
    Path("q.json").write_text('{"questions": []}')
    Path("d.json").write_text('{"dialogs": []}')
    Path("empty").mkdir()
    nothing = "no questions, dialogs or trials (*.json, *.json.gz, *.json.zst, trials.jsonl) in"
    for line, message in (
        (
            "trials --scenes trials",
            "trials.jsonl holds trials, which come with their grids and items: leave out scenes",
        ),
        ("trials --metadata x.json", "leave out metadata"),
        ("none", "questions, dialogs or trials not found: none"),
        ("empty --scenes trials", nothing),
        ("q.json", "scenes are missing: q.json holds questions"),
        ("d.json", "scenes are missing: d.json holds dialogs"),
    ):
        ran = vqagen_(f"verify {line}")
        assert ran.code == (3 if line in ("none", "empty --scenes trials") else 2)
        assert message in ran.err


def test_trials_without_info_are_judged_with_the_shipped_catalogue(vqagen_: Commands) -> None:
    """The report says so; shares and numbers are then unknown."""
    write_trials("trials", trial(NONE_TEST, "red ball"))
    Path("trials/trials.jsonl.info.json").unlink()

    lines = vqagen_.done("verify trials").out.decode().splitlines()

    assert lines[0] == "1 trial checked, 0 wrong"
    assert lines[1].startswith("no info beside the trials")


def test_trials_are_not_read_by_other_instructions_than_they_were_made_with(vqagen_: Commands) -> None:
    """Texts of one's own are read with --templates; by the shipped ones, each would be a fault."""
    Path("mine.json").write_text('{"templates": [{"name": "fetch", "text": "Fetch the <T> <F>!"}]}')
    right = trial(NONE_TEST, "red ball")
    said = {"instruction": "Fetch the red ball!", "template": "mine.json#fetch"}
    twin = {"no_director": {**right["no_director"], "instruction": "Fetch the red ball!"}}
    write_trials("trials", {**right, **said, **twin})
    beside = Path("trials/trials.jsonl.info.json")
    info = json.loads(beside.read_text())
    info["generator"]["inputs"] = {"templates": instruction_hash("mine.json")}
    beside.write_text(json.dumps(info))

    with_them, without = vqagen_.done("verify trials --templates mine.json"), vqagen_("verify trials")

    assert with_them.err == ""
    assert without.code == 1
    assert b"trials.jsonl: worded by other templates than are at hand" in without.out


def test_a_broken_info_is_one_message_or_none(vqagen_: Commands) -> None:
    """No traceback, and no fault for each item of each trial. What it does not say is unknown."""
    write_trials("trials", trial(NONE_TEST, "red ball"))
    beside = Path("trials/trials.jsonl.info.json")
    for broken in (3, {}, {"kinds": {}}, {"adjectives": 1, "kinds": {}, "sizes": []}):
        beside.write_text(json.dumps({"catalogue": broken}))
        ran = vqagen_("verify trials")
        assert (ran.code, ran.err.count("\n")) == (3, 1)
        assert "info.catalogue: the catalogue of items cannot be read" in ran.err
    for info in ([], 3, {"generator": 1}, {"generator": {"settings": []}}, {"generator": {"arrangement": 1}}):
        beside.write_text(json.dumps(info))
        assert vqagen_("verify trials").out.decode().startswith("1 trial checked, 0 wrong\n")


def test_broken_settings_are_named_at_once(vqagen_: Commands) -> None:
    """No traceback, whoever edited the info. A name that no version has would be dropped, and a default checked."""
    for settings, lines, message in (
        ({"fill": "much", "count": True, "render": "png"}, 3, "fill must be a number or a whole number, found 'much'"),
        ({"fil": 0.5}, 1, "unknown setting 'fil'; did you mean 'fill'?"),
    ):
        write_trials("trials", trial(NONE_TEST, "red ball"), settings=settings)
        ran = vqagen_("verify trials")

        assert (ran.code, ran.err.count("\n")) == (3, lines)
        assert f"trials.jsonl: info.generator.settings: {message}" in ran.err


def test_no_value_of_a_field_is_a_traceback() -> None:
    """Each field of a right trial is replaced by something else."""
    right = trial(LEFTMOST_TEST, "red ball", "leftmost")
    strange = product(right, (None, [], {}, 0, -1, 1.5, "x", [[]], {"a": 1}, True))
    records = [{**right, key: value} for key, value in strange]

    assert verified(*records).checked == len(records)


# Settings --------------------------------------------------------------------------------------------------------


def numbers_found(record: Record, **settings: Any) -> list[vqagen.Mismatch]:
    """Return the faults of a trial that is alone, but for its shares."""
    return [each for each in verified(record, **settings).mismatches if each.kind != "O14"]


def test_numbers_that_are_not_those_of_the_settings_are_found() -> None:
    """The trial has 4 items and 2 blocked cells in 6."""
    right = trial(NONE_TEST, "red ball")
    settings = {"width": 3, "height": 2, "fill": 0.7, "blocked": 0.4, "related": 0.0}
    assert not numbers_found(right, **all_settings(**settings))
    for name, value, place in (
        ("fill", 0.9, ["cells"]),
        ("blocked", 0.1, ["blocked"] * 2),
        ("suffix", "always", ["frame"]),
    ):
        found = numbers_found(right, **all_settings(**{**settings, name: value}))
        assert [mismatch.path for mismatch in found] == place
    assert "width" in {mismatch.path for mismatch in numbers_found(right, **all_settings(width=4))}


def test_other_numbers_of_fitting_items_than_the_settings_allow_are_found() -> None:
    """In version 1.0 one to three more are seen and as many blocked: the settings' least number is one of each."""
    settings = all_settings(width=4, height=2, fill=0.5, blocked=0.25, related=0.3, related_blocked=0.5) | {"design": 1}
    right = trial(LEFTMOST_TEST, "red ball", "leftmost")
    control = trial(LEFTMOST_CONTROL, "red ball", "leftmost", "control")

    assert not numbers_found(right, **settings)
    found = [mismatch.problem for mismatch in numbers_found(control, **settings)]
    assert found == ["expected 1 to 3 fitting items blocked by the settings, found 0"]


def test_repeated_questions_are_faults_within_a_window_and_notes_across_windows() -> None:
    """The generator keeps questions apart within a window only."""
    first, second, in_next_window = (trial(NONE_TEST, "red ball", number=number) for number in (238, 239, 240))

    assert codes(first, second) == {"O15"}
    assert verified(second, in_next_window).notes == {"O16": 1}


# Shares ----------------------------------------------------------------------------------------------------------

DESIGN = {
    "count": 8,
    "suffix": "directional",
    "questions": "superlative",
    "test_share": 0.5,
    "size_share": 0.0,
    "vertical_share": 0.0,
    "horizontal_share": 1.0,
    "physics_share": 0.0,
}


def designed(types: str, frames: str, rules: str) -> set[str]:
    """Return the messages about the shares in a window of trials with the given first letters."""
    names = {"t": "test", "c": "control", "d": "director", "p": "participant", "l": "leftmost", "r": "rightmost"}
    right = trial(LEFTMOST_TEST, "red ball", "leftmost")
    records = [
        {**right, "trial_index": number, "trial_type": names[type_], "frame": names[frame], "rule": names[rule]}
        for number, (type_, frame, rule) in enumerate(zip(types, frames, rules, strict=True))
    ]
    made = document(*records, design=1, **all_settings(**DESIGN))
    made["info"]["generator"]["arrangement"]["window"] = len(types)
    found = vqagen.verify(made).mismatches
    return {each.problem for each in found if each.kind == "O14"}


WINDOWS: list[tuple[str, str, str, set[str]]] = [
    ("ttttcccc", "ddppddpp", "lrlrlrlr", set()),
    (
        "tttttccc",
        "ddppdddp",
        "lrlrlrlr",
        {
            "2 of test, leftmost, no physics, director's view; the settings make 1",
            "0 of control, leftmost, no physics, participant's view; the settings make 1",
        },
    ),
    (
        "ttttcccc",
        "dddpddpp",
        "lrlrlrlr",
        {
            "2 of test, leftmost, no physics, director's view; the settings make 1",
            "0 of test, leftmost, no physics, participant's view; the settings make 1",
        },
    ),
    (
        "ttttcccc",
        "ddppddpp",
        "lllrlrlr",
        {
            "2 of test, leftmost, no physics, director's view; the settings make 1",
            "0 of test, rightmost, no physics, director's view; the settings make 1",
        },
    ),
]


def test_shares_of_version_1_are_exact_in_each_window() -> None:
    """Each cell of the design (type, rule, frame, physics) has as many trials as the settings make of it."""
    for types, frames, rules, messages in WINDOWS:
        assert designed(types, frames, rules) == messages


def test_shares_are_near_to_those_of_the_settings() -> None:
    """1.5 points, and what chance does to so few trials."""
    right = [trial(LEFTMOST_TEST, "red ball", "leftmost", number=number) for number in range(100)]
    settings = all_settings(**{**DESIGN, "count": 100, "test_share": 1.0})
    frames = [{**each, "frame": ("director", "participant")[number % 2]} for number, each in enumerate(right)]
    found = [each.problem for each in verified(*right, **settings).mismatches if each.kind == "O14"]

    assert "100.0% of director's view, test, horizontal; the settings make 50.0%" in found
    assert not [each for each in verified(*frames, **settings).mismatches if each.kind == "O14"]
    half = [
        each.problem for each in verified(*frames, **{**settings, "test_share": 0.5}).mismatches if each.kind == "O14"
    ]
    assert "0.0% of control, horizontal; the settings make 50.0%" in half


# Pairs -----------------------------------------------------------------------------------------------------------


def pair(**changes: Any) -> list[Record]:
    """Return a right pair, of which fields of the second trial are changed."""
    test = {**trial(TOPMOST_TEST, "red ball", "topmost"), "pair": 0}
    opened = TOPMOST_TEST.replace("#red_ball_1", "red_ball_1").replace("green_book_1", "#green_book_1")
    control = {**trial(opened, "red ball", "topmost", "control", number=1), "pair": 0}
    return [test, {**control, **changes}]


WRONG_SECONDS: list[Record] = [
    {"pair": 1},
    {"answer": "A2"},
    {"blocked": ["A1"]},
    {"blocked": []},
    {"instruction": "Pick the topmost red ball, please."},
    {"trial_type": "test"},
    {"rule": "bottommost"},
    {"cells": ["red_ball_1", None, "blue_ball_2", "red_ball_2", None, None, None, "green_book_2", "red_ball_4"]},
]


def test_a_wrong_pair_is_found() -> None:
    """One field of the second trial is changed; a right pair has no fault."""
    assert not codes(*pair(), paired=True)
    found = [codes(*pair(**changes), paired=True, design=1) for changes in WRONG_SECONDS]
    assert [changes for changes, each in zip(WRONG_SECONDS, found, strict=True) if "pair" not in each] == []


def test_since_version_2_more_than_one_block_may_differ() -> None:
    """One that moves shows both answers of a pair to whoever compares the grids."""
    test, control = pair()
    drawn = TOPMOST_TEST.replace("#red_ball_1", "red_ball_1").replace("green_book_1", "#green_book_1")
    more = {**trial(drawn.replace("\n. ", "\n#."), "red ball", "topmost", "control", number=1), "pair": 0}

    assert not codes(test, more, paired=True)
    assert codes(test, more, paired=True, design=1) == {"pair"}
    assert "pair" in codes(test, {**control, "answer": test["answer"]}, paired=True)


def test_a_pair_without_a_rule_moves_the_block_between_its_answers() -> None:
    """Both trials are tests."""
    drawn = ["red_ball_2 blue_ball_2 #red_ball_3\n. #. .", "#red_ball_2 blue_ball_2 red_ball_3\n. #. ."]
    first, second = ({**trial(each, "red ball", number=i), "pair": 0} for i, each in enumerate(drawn))

    assert not codes(first, second, paired=True)
    assert "pair" in codes(first, {**second, "blocked": ["A1"]}, paired=True, design=1)


# Pictures --------------------------------------------------------------------------------------------------------


FILES = [
    ("0.png", b"PNG", ""),
    ("1.png", None, "not there"),
    ("0.md", b"", "empty"),
    ("../0.png", None, "outside of the folder"),
]
"""The picture of a trial, its content, and what is wrong with it."""
WANTED = [
    ({"render": ["png"]}, []),
    ({"render": ["png", "md"]}, ["0.md"]),
    ({"render": ["png"], "view": "both"}, ["0-director.png"]),
    ({"render": ["png"], "view": "director"}, []),
    ({"render": [], "view": "both"}, ["0-director.png"]),
]
"""Settings, and the files that they ask for besides 0.png."""


def test_every_file_that_the_settings_ask_for_is_looked_at(tmp_path: Path) -> None:
    """A missing or empty picture is a fault of its trial. A trial names one file; the others have its stem."""

    def found(name: str | None, settings: Record) -> list[str]:
        write_trials(
            str(tmp_path), {**trial(NONE_TEST, "red ball"), **({"image": name} if name else {})}, settings=settings
        )
        return [mismatch.problem for mismatch in vqagen.verify(tmp_path).mismatches]

    for name, content, message in FILES:
        if content is not None:
            (tmp_path / name).write_bytes(content)
        faults = found(name, {})
        assert len(faults) == bool(message)
        assert all(message in each for each in faults)
    (tmp_path / "0.md").unlink()
    for settings, missing in WANTED:
        assert found("0.png", settings) == [f"{name}: not there" for name in missing]
    for render, is_missing in (([], True), (["svg"], True), (["none"], False)):
        assert bool(found(None, {"render": render})) == is_missing


def test_exchanged_pictures_are_found_by_their_hashes(vqagen_: Commands) -> None:
    """Trials of vqagen 1.0 have no hashes, which is said."""
    vqagen_.done("director generate --count 4 --out made --render svg --render ascii")
    assert b"not proved" not in vqagen_.done("verify made").out
    one, other = (Path(f"made/images/00000{number}.svg") for number in (0, 2))
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    ran = vqagen_("verify made")
    assert (ran.code, b"images/000000.svg: not the picture that was made" in ran.out) == (1, True)

    lines = [json.loads(line) for line in Path("made/trials.jsonl").read_text().splitlines()]
    without = [{key: value for key, value in line.items() if key != "sha256"} for line in lines]
    Path("made/trials.jsonl").write_text("".join(json.dumps(line) + "\n" for line in without))
    assert b"not proved: 8 pictures without a hash in their trial" in vqagen_("verify made").out


def test_trials_that_the_run_did_not_write_are_told_by_the_sums(vqagen_: Commands) -> None:
    """A trial that is left out, and a field that no rule knows."""
    vqagen_.done("director generate --count 4 --out made --render none")
    file = Path("made/trials.jsonl")
    lines = file.read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:-1]))
    assert b"changed file  3 trials, not 4: the file was changed" in vqagen_("verify made").out

    file.write_text("".join([json.dumps({**json.loads(lines[0]), "note": 1}) + "\n", *lines[1:]]))
    ran = vqagen_("verify made")
    assert (ran.code, ran.out.startswith(b"4 trials checked, 0 wrong: 1 changed file\n")) == (1, True)
