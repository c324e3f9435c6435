"""Statistics of dialogs say what is asked in which round, how far back it refers, and how that compares."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from dialog_records import Record, as_clevr_dialog, dialog_record, round_record

from vqagen.tasks.dialog.statistics import GENERATOR, NO_DISTANCES, NO_LAST


def written(dialogs: Sequence[Record], name: str = "d.json", **info: Any) -> str:
    """Write dialogs; the name of their file."""
    text = json.dumps({"info": info, "dialogs": dialogs})
    if "jsonl" in name:
        text = "".join(json.dumps(record) + "\n" for record in dialogs)
    if "list" in name:
        text = json.dumps(dialogs)
    Path(name).write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return name


def found(vqagen_: Commands, line: str) -> Any:
    """The statistics as JSON, without the tables of the report."""
    record = json.loads(vqagen_.done(f"stats --json {line}").out)
    return {name: figure for name, figure in record.items() if name != "tables"}


SMALL = [
    dialog_record(
        [
            round_record("exist-attribute", "yes", question="Any red cubes?"),
            round_record("seek-attr-imm", "large", 1, question="Its size?"),
            round_record("count-other", 2, question="Others, how many?"),
            round_record("seek-attr-early", "cube", 4, 1, question="Its size?"),
        ],
        image=1,
        caption="extreme-left",
    ),
    dialog_record([round_record("exist-attribute", "no", question="Any red cubes?")], image=1),
    dialog_record([round_record("count-all", 3), round_record("count-obj-rel-imm", 0, 1)], image=2),
]


# Files ------------------------------------------------------------------------------------------------------------


def test_all_layouts_have_the_same_statistics(vqagen_: Commands) -> None:
    wanted = found(vqagen_, written(SMALL))

    assert found(vqagen_, written(SMALL, "d.jsonl.gz")) == found(vqagen_, written(SMALL, "list.json")) == wanted


def test_clevr_dialogs_shape_has_the_same_figures_but_the_last_mention(vqagen_: Commands) -> None:
    """Its distances follow from the round that a question depends on."""
    wanted = found(vqagen_, written(SMALL))
    shaped = found(vqagen_, written(as_clevr_dialog(SMALL), "list.json"))

    assert (shaped.pop("d_last"), shaped.pop("notes")[0]) == (None, NO_LAST)
    assert shaped == {name: figure for name, figure in wanted.items() if name not in ("d_last", "notes")}


def test_a_file_without_graphs_has_no_distances(vqagen_: Commands) -> None:
    images = as_clevr_dialog(SMALL)
    for dialog in (each for image in images for each in image["dialogs"]):
        del dialog["graph"], dialog["template_info"]
        dialog["template"] = "unique-obj"
    bare = found(vqagen_, written(images, "list.json"))

    assert bare["d_reveal"] is None
    assert NO_DISTANCES in bare["notes"]
    assert bare["captions"] == {"unique-obj": 3}
    assert bare["labels"].keys() == found(vqagen_, written(SMALL))["labels"].keys()


FAULTS: list[tuple[Record, str]] = [
    ({"caption": "Red."}, "dialogs[1].caption: expected an object with the text of the caption, found 'Red.'"),
    ({"rounds": {}}, "dialogs[1].rounds: expected a list of rounds, found an object"),
    ({"rounds": [7]}, "dialogs[1].rounds[0]: expected a round, found 7"),
    ({"rounds": [{"label": "x"}]}, "dialogs[1].rounds[0].question: expected text, found null or nothing"),
    ({"rounds": [{"question": "x"}]}, "dialogs[1].rounds[0].label: expected text, found null or nothing"),
    ({"rounds": [{**round_record("x", 1), "answer": []}]}, "dialogs[1].rounds[0].answer: expected a number or"),
    (
        {"rounds": [{**round_record("x", 1), "history": {"d_last": "1"}}]},
        "dialogs[1].rounds[0].history.d_last: expected a number of rounds, found '1'",
    ),
    ({"dialogs": 3}, "dialogs[1].dialogs: expected a list of dialogs, found 3"),
    ({"dialogs": [3]}, "dialogs[1].dialogs[0]: expected a dialog, found 3"),
    ({"dialogs": [{"caption": "x"}]}, "dialogs[1].dialogs[0].dialog: expected a list of rounds, found null"),
]


def test_a_record_that_is_no_dialog_is_placed(vqagen_: Commands) -> None:
    for fault, message in FAULTS:
        ran = vqagen_(f"stats {written([SMALL[0], {**SMALL[1], **fault}])}")

        assert (ran.code, ran.out) == (3, b"")
        assert message in ran.err


UNCOUNTED = [
    ("stats empty.json", 3, "empty.json: no rounds"),
    ("stats short.json", 3, "short.json: no rounds"),
    ("stats d.json --against ./d.json", 2, "--against d.json is the file itself"),
    ("stats d.json --against q.json", 2, "--against q.json holds questions, but d.json holds dialogs"),
]


def test_what_cannot_be_counted_is_said(vqagen_: Commands) -> None:
    written(SMALL)
    written([], "empty.json")
    written([dialog_record([])], "short.json")
    Path("q.json").write_text('{"questions": [{"question": "Why?"}]}')
    for line, code, message in UNCOUNTED:
        ran = vqagen_(line)

        assert ran.code == code
        assert message in ran.err


# What is counted --------------------------------------------------------------------------------------------------


def test_dialogs_rounds_texts_and_words_are_counted(vqagen_: Commands) -> None:
    statistics = found(vqagen_, written(SMALL))

    names = ("dialogs", "rounds", "images", "distinct_questions", "distinct_answers")
    assert [statistics[name] for name in names] == [3, 7, 2, 5, 7]
    assert statistics["rounds_per_dialog"]["counts"] == {"1": 1, "2": 1, "4": 1}
    assert statistics["dialogs_per_image"]["counts"] == {"1": 1, "2": 1}
    assert statistics["question_words"]["counts"] == {"2": 2, "3": 5}
    assert statistics["question_tokens"]["counts"] == {"3": 2, "4": 4, "5": 1}


def test_rounds_are_counted_by_label_type_place_and_history(vqagen_: Commands) -> None:
    statistics = found(vqagen_, written(SMALL))

    assert statistics["types"] == {"count": 0.4286, "exist": 0.2857, "seek": 0.2857}
    assert statistics["types_of_round"]["1"] == {"count": 0.3333, "exist": 0.6667, "seek": 0.0}
    assert statistics["labels_of_round"]["2"] == {"count-obj-rel-imm": 1, "seek-attr-imm": 1}
    assert statistics["captions"] == {"unique-obj": 2, "extreme-left": 1}
    assert statistics["history"] == {"None": 0.4286, "All": 0.1429, "Coref": 0.4286}
    assert statistics["standalone"] == 0.5714
    assert statistics["last_round_bits"] == 1.585
    assert statistics["labels"]["exist-attribute"] == {
        "family": "exist",
        "rounds": 2,
        "share": 0.2857,
        "yes": 0.5,
        "answers": {"no": 1, "yes": 1},
    }
    assert statistics["labels"]["count-all"] == {"family": "count", "rounds": 1, "share": 0.1429, "answers": {"3": 1}}


def test_distances_are_counted_for_questions_that_refer_to_something(vqagen_: Commands) -> None:
    statistics = found(vqagen_, written(SMALL))

    told, mentioned = statistics["d_reveal"], statistics["d_last"]
    assert (told["mean"], told["least"], told["most"], told["counts"]) == (2.0, 1, 4, {"1": 2, "4": 1})
    assert mentioned["counts"] == {"1": 3}


def test_answers_are_guessed_by_the_majority_of_their_label_in_other_images(vqagen_: Commands) -> None:
    """Three answers of four are the same for one label; of the other, all are."""
    rounds = [round_record("count-all", 3 if number % 4 else 2) for number in range(4)]
    dialogs = [dialog_record([*rounds, *[round_record("seek-attr-imm", "red", 1)] * 4], image) for image in range(8)]
    guessed = found(vqagen_, written(dialogs))["guessed"]

    assert guessed["families"]["count-all"] == {"questions": 32, "majority": 0.75}
    assert guessed["families"]["seek-attr-imm"]["majority"] == 1.0
    assert guessed["all"]["majority"] == 0.875


def test_guesses_can_be_tested_on_another_file(vqagen_: Commands) -> None:
    written([dialog_record([round_record("count-all", 3)])], "learned.json")
    written([dialog_record([round_record("count-all", number)]) for number in (3, 4)], "tested.json")
    guessed = found(vqagen_, "learned.json --against tested.json")["guessed"]

    assert (guessed["tested_on"], guessed["all"]["majority"]) == ("2 rounds of tested.json", 0.5)


def test_the_report_shows_each_figure_beside_those_of_clevr_dialog(vqagen_: Commands) -> None:
    out = vqagen_.done(f"stats {written(SMALL)}").out.decode()

    assert out.startswith("3 dialogs of 7 rounds about 2 images, beside CLEVR-Dialog")
    line = next(line for line in out.splitlines() if "since told" in line)
    assert line.split("  ")[-1].strip() == "3.10 (1 to 10)"
    assert "2.00 (1 to 4)" in line
    assert "3.2 (1 to 10)" in line
    assert re.search(r"^Captions\n.*\n  unique-obj +2 +66.7% +20.0%\n  extreme-left +1 ", out, re.MULTILINE)


def test_the_shares_of_clevr_dialog_add_up() -> None:
    for name in ("labels", "captions", "types", "history", "since_told_shares"):
        assert sum(GENERATOR[name].values()) == pytest.approx(1, abs=1e-3)
