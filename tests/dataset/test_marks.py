"""Letters on objects: each is right once in its block, all can be seen, and no rule without eyes gains by them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import Commands
from depth import fewer
from oracles.naive_choices import advantage, option_rules
from oracles.places import block_faults
from scene_records import sampled_scenes

import vqagen
from vqagen import ChoiceSettings
from vqagen.dataset.build import write_dataset
from vqagen.dataset.choices import with_choices
from vqagen.dataset.rows import FEATURES, read_rows, write_rows
from vqagen.dataset.settings import DatasetSettings
from vqagen.dataset.verification import verify_dataset
from vqagen.errors import BadInput
from vqagen.export.exporting import export_dataset
from vqagen.language.domain_files import find_domain
from vqagen.pictures.marks import markable, marked, pixels_of
from vqagen.pictures.masks import mask_pixels

Record = dict[str, Any]
PLACES = find_domain(templates="clevr-places")
MADE = (
    "scenes sample --count 3 --seed 5 -o sampled.json",
    "scenes draw sampled.json -o pictures",
    "generate --scenes pictures/scenes.json --templates clevr-places -o places.jsonl",
    "choices places.jsonl --scenes pictures/scenes.json -o marked.jsonl",
)
CHECK = "verify {} --scenes pictures/scenes.json --templates clevr-places"


def questions_about(scenes: list[Record]) -> list[Record]:
    """Questions for places, of each family about each scene as far as it fits."""
    asked = vqagen.generate(scenes, templates="clevr-places", templates_per_image=18)
    return [each.to_record() for each in asked]


@pytest.fixture(scope="module")
def asked() -> tuple[list[Record], list[Record]]:
    """Scenes and questions about them."""
    scenes = sampled_scenes(fewer(400, least=60), 4)
    return scenes, questions_about(scenes)


def records(path: str) -> list[Record]:
    return [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]


# Blocks ---------------------------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize("mode", [{}, {"hard": True}, {"options": 2, "seed": 3}, {"rotations": True}])
def test_marks_are_the_answers_of_their_block(mode: dict[str, Any], asked: tuple[list[Record], list[Record]]) -> None:
    made, report = with_choices(asked[1], asked[0], ChoiceSettings(**mode), PLACES)

    assert list(block_faults(made, asked[0])) == []
    assert report.sizes.total() + report.left_out.total() == len(asked[1])
    assert report.sizes.total() > 0.6 * sum(each["answer"].isdecimal() for each in asked[1])
    for each in made if mode.get("hard") else ():
        assert [place for place, mistake in enumerate(each["mistakes"]) if mistake is None] == [each["choice"]]


def test_no_rule_without_eyes_gains(asked: tuple[list[Record], list[Record]]) -> None:
    """By words within the error, by letters or objects exactly; if right objects are all small, the same rule gains."""
    scenes = asked[0]
    made, _ = with_choices(asked[1], scenes, None, PLACES)

    def thing(each: Record, letter: str) -> Any:
        return scenes[each["scene_index"]]["objects"][each["marks"]["ABCD".index(letter)]]

    def gain(rule: Callable[[Record, str], Any], among: list[Record]) -> float:
        right = [max(each["choices"], key=lambda letter: rule(each, letter)) == each["answer"] for each in among]
        return float(np.mean(right) - np.mean([1 / len(each["choices"]) for each in among]))

    words = gain(lambda each, letter: sha256(f"{letter} {each['question'].split()[:2]}".encode()).digest(), made)
    looks: list[Callable[[Record, str], Any]] = [
        lambda each, letter: thing(each, letter)["pixel_coords"],
        lambda each, letter: [thing(each, letter)[key] for key in ("size", "color", "shape")],
    ]
    error = advantage(made, lambda options, _: options[0])[1]
    assert abs(words) < 4 * error
    assert max(abs(gain(rule, made)) for rule in looks) < 1e-9
    assert max(abs(advantage(made, rule)[0]) for rule in option_rules(made).values()) < 1e-9
    assert gain(looks[1], [each for each in made if thing(each, each["answer"])["size"] == "small"]) > 8 * error


@pytest.mark.slow
def test_learners_gain_nothing() -> None:
    """Of 10,000 questions, by words, letters, order and neighbours."""
    made, _ = with_choices(questions_about(scenes := sampled_scenes(1500, 4)), scenes, None, PLACES)

    assert len(made) > 10_000
    assert all(probe.mean <= 0.02 and probe.p_holm > 0.01 for probe in vqagen.audit(made).probes)


def test_what_a_letter_cannot_mark_is_left_out(asked: tuple[list[Record], list[Record]]) -> None:
    """A disc has 14 pixels where the width of the picture is not known, and 2 * 14² is 392."""
    hidden = [
        {**scene, "objects": [{**each, "visible_pixels": 380 + 20 * i} for i, each in enumerate(scene["objects"])]}
        for scene in asked[0]
    ]
    made, report = with_choices(asked[1], hidden, None, PLACES)

    answers = [each["answer"] for each in asked[1]]
    left, several = report.left_out, sum(not each.isdecimal() for each in answers)
    assert min(number for each in made for number in each["marks"]) == 1
    assert left["too little of the object can be seen to mark it"] == answers.count("0")
    assert left["the answer is no object or several, and a letter marks one"] == several
    wide = {
        "objects": [{"visible_pixels": pixels} for pixels in (400, 511, 512)],
        "camera": {"width": 480, "height": 320},
    }
    assert markable(wide) == [2], "a disc has 16 pixels in a picture of 480"


# Pictures and files ---------------------------------------------------------------------------------------------------


def test_a_disc_is_on_its_object_and_hides_less_than_half_of_it(vqagen_: Commands) -> None:
    """All else of the picture is as it was, and letters differ."""
    vqagen_.given(*MADE)
    for scene in json.loads(Path("pictures/scenes.json").read_bytes())["scenes"]:
        image = Path("pictures/images", scene["image_filename"]).read_bytes()
        masks, objects = [each["mask"] for each in scene["objects"]], markable(scene)
        for number in objects:
            changed = (marked(image, masks, [number]) != pixels_of(image)).any(axis=2)
            on_object = (changed & mask_pixels(masks[number])).sum()
            assert 100 < changed.sum() < 280
            assert on_object > 0.75 * changed.sum()
            assert on_object < 0.5 * mask_pixels(masks[number]).sum()
        assert len({marked(image, masks, objects[:1] * times).tobytes() for times in (1, 2, 3, 4, 4)}) == 4


def put_wrong(record: Record, number: Any) -> None:
    """Put something in place of a wrong mark."""
    record["marks"][record["choice"] - 1] = number


SPOILED: dict[str, tuple[Callable[[list[Record]], object], str]] = {
    "answer": (lambda all: all[0].update(answer="ABCD"[all[0]["choice"] - 1]), "but the program gives"),
    "no letter": (lambda all: all[0].update(answer="E"), "the answer is written as 'E', but the program gives"),
    "no marks": (lambda all: all[0].update(marks=None), "but the program gives"),
    "a number of marks": (lambda all: all[0].update(marks=5), "but the program gives"),
    "no object": (lambda all: put_wrong(all[0], 99), "marks: expected an object that can be seen for each letter"),
    "one twice": (lambda all: put_wrong(all[0], all[0]["marks"][all[0]["choice"]]), "marks: expected an object that"),
    "no number": (lambda all: put_wrong(all[0], [1]), "marks: expected an object that can be seen for each letter"),
    "options": (lambda all: all[0].update(choices=[*all[0]["choices"], "Z"]), "marks: expected an object that can be"),
    "no options": (lambda all: [all[0].pop(key) for key in ("choices", "choice")], "choices: expected a list of texts"),
    "choice": (lambda all: all[0].update(choice=3 - all[0]["choice"]), "choice: written as"),
    "another picture": (
        lambda all: [put_wrong(each, ({*range(9)} - {*each["marks"]}).pop()) for each in all[:1]],
        "marks: an earlier question of the block has others than",
    ),
    "a question twice": (
        lambda all: all[1].update({key: all[0][key] for key in all[0] if key != "question_index"}),
        "or the answer",
    ),
}


def test_verify_finds_what_is_spoiled(vqagen_: Commands) -> None:
    """By the file of questions alone."""
    vqagen_.given(*MADE)
    missed = list[str]()
    vqagen_.done(CHECK.format("marked.jsonl"))
    for name, (spoil, why) in SPOILED.items():
        spoil(made := records("marked.jsonl"))
        Path("spoiled.jsonl").write_text("".join(json.dumps(each) + "\n" for each in made))
        ran = vqagen_(CHECK.format("spoiled.jsonl"))
        missed += [f"{name}: {ran.out.decode()} {ran.err}"] if ran.code != 1 or why not in ran.out.decode() else []
    assert not missed, "\n".join(missed)


def test_verify_refuses_letters_as_answers_to_other_questions() -> None:
    """A number of objects is none of their numbers."""
    scenes = sampled_scenes(5)
    asked = [each.to_record() for each in vqagen.generate(scenes)]
    counted = next(each for each in asked if each["answer"] == "1")
    record = {**counted, "answer": "A", "choices": ["A", "B"], "choice": 0, "block": 0, "marks": [1, 0]}

    assert [each.problem for each in vqagen.verify([record], scenes).mismatches] == [
        "marks: only questions for places have letters"
    ]


def test_a_letter_is_an_answer_for_all_that_read_questions(vqagen_: Commands) -> None:
    """And the questions are refused where their picture would lack it."""
    vqagen_.given(*MADE)
    replies = [{"id": each["question_index"], "answer": f"It is {each['answer']}."} for each in records("marked.jsonl")]

    assert vqagen.evaluate("marked.jsonl", replies).overall().accuracy == 1.0
    vqagen_.done("baseline position --questions marked.jsonl -o guessed.jsonl")
    assert {each["answer"] for each in records("guessed.jsonl")} <= {*"ABCD"}
    ran = vqagen_("human items marked.jsonl --scenes pictures/scenes.json -o items.jsonl")
    assert (ran.code, "asks for places, to which raters have no way to point" in ran.err) == (2, True)


# Datasets -------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with marked pictures."""
    out = tmp_path_factory.mktemp("dataset") / "out"
    settings = DatasetSettings(count=8, pictures="drawn", questions=8, shares="50/25/25", reasoning="points")
    write_dataset(out, settings, PLACES)
    return out


@pytest.mark.slow
def test_rows_have_the_picture_with_their_letters(made: Path) -> None:
    for row in read_rows(made):
        plain = (made / "pictures/images" / json.loads(row["scene"])["image_filename"]).read_bytes()
        drawn = (made / "pictures/marked" / row["image"]["path"]).read_bytes()
        assert np.array_equal(pixels_of(drawn), marked(plain, json.loads(row["masks"]), row["marks"]))
        assert row["image"]["bytes"] == drawn
        end = f"have letters: {', '.join(row['choices'])}. Answer with the letter of the one that is meant."
        assert row["problem"] == f"{row['question']}\nObjects in the picture {end}"
        assert row["solution"] == f"<answer> {row['choices'][row['choice']]} </answer>"
        assert row["reasoning"].endswith(f" It has the letter {row['answer']}.")
        assert json.loads(row["trace"][-1]) == [row["marks"][row["choice"]]]
    assert not verify_dataset(made, templates="clevr-places").mismatches


@pytest.mark.slow
@pytest.mark.parametrize("content", [None, b"", b"plain"])
def test_verify_draws_marks_again(content: bytes | None, made: Path, tmp_path: Path) -> None:
    """Without the hashes of files; of a file, of its content, and of a row."""
    place = Path(shutil.copytree(made, tmp_path / "out"))
    rows, why = list(read_rows(place, "train")), ".png is not the picture of its scene with letters on the objects ["
    if content is None:
        rows[0]["image"], why = rows[-1]["image"], "image: not the picture pictures/marked/"
        write_rows(place / "data/train-00000-of-00001.parquet", rows, FEATURES)
    else:
        plain = (place / "pictures/images" / json.loads(rows[0]["scene"])["image_filename"]).read_bytes()
        (place / "pictures/marked" / rows[0]["image"]["path"]).write_bytes(content and plain)

    problems = [each.problem for each in verify_dataset(place, templates="clevr-places").mismatches]
    assert any(why in each for each in problems), problems


@pytest.mark.slow
def test_exports_ask_for_the_letter(made: Path, tmp_path: Path, vqagen_: Commands) -> None:
    """From the dataset and from its questions; and only so."""
    for target in ("hf", "imagefolder", "trl", "easyr1", "verl", "llava", "sharegpt", "lmms-eval", "inspect"):
        export_dataset(made, tmp_path / target, target, mode="mc", split="train")
    export_dataset(made / "questions.jsonl", tmp_path / "file", "llava", mode="mc", images=made / "pictures")
    row = next(read_rows(made))
    for folder in (tmp_path / "llava", tmp_path / "file"):
        read = json.loads((folder / "train.json").read_text())[0]
        asked, reply = (each["value"] for each in read["conversations"])
        assert asked.startswith(f"<image>\n{row['problem']}\n\n")
        assert reply.endswith(f"<answer>{row['answer']}</answer>")
        assert (folder / read["image"]).read_bytes() == row["image"]["bytes"]
    with pytest.raises(BadInput, match="question 0 asks for a letter on an object: give --mode mc"):
        export_dataset(made, tmp_path / "open", "trl")
    pictures = {each["image"]["bytes"] for each in read_rows(made)}
    for name, line in {"rows": made, "file": f"{made}/questions.jsonl --images {made}/pictures"}.items():
        vqagen_.done(f"show {line} -o {tmp_path}/page-{name}")
        assert {each.read_bytes() for each in (tmp_path / f"page-{name}/images").iterdir()} == pictures
