"""Inputs of rater studies: HUMANr's flags and files, items, images; all mistakes of them in one message."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from PIL import Image
from study_files import picture, write_caption_files, write_json
from vqagen.calls.human_studies import check_study
from vqagen.human.study.item_shape import is_well_formed

from vqagen.human.study.study import load_study
from vqagen.human.study.texts import default_document, texts_of
from vqagen.json.schema import schema_faults

MAKE = "human make-tasks --human human.json --system ours=ours.json --images images --out study"


def code_of(message: str) -> int:
    """Return the exit code of a message: 3 for a place that is not there, else 2."""
    return 3 if "not found" in message or "does not exist" in message else 2


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with 12 pictures, human captions and captions of `ours`."""
    write_caption_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def vqagen_(folder: Path, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the working folder."""
    return Commands(capsysbinary)


def edit(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change a JSON file."""
    document = json.loads(path.read_text("utf-8"))
    change(document)
    write_json(path, document)


# HUMANr's flags ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "--images images --human_captions human.json --model_captions ours.json theirs.json --model_names ours theirs",
        "images --human_captions human.json --model_captions ours.json theirs.json --model_names ours theirs",
        "--human human.json --images=images --model-names=ours --model-captions ours.json --system theirs=theirs.json",
    ],
)
def test_the_flags_of_humanr_do_the_same(line: str, folder: Path, vqagen_: Commands) -> None:
    """Its spellings, its folder of images as an argument, and the flags that say nothing here."""
    write_caption_files(folder, systems=("ours", "theirs"))
    theirs = "--num_images 8 --num_trials_per_task 5 --num_attention_check 2 --human_human"
    theirs += " --reward_per_task 1.5 --sandbox --experiment_name x"
    ours = "--num-images 8 --trials-per-task 5 --checks-per-task 2 --human-human"
    vqagen_.done(f"{MAKE} --system theirs=theirs.json {ours}")
    vqagen_.done(f"human make-tasks {line} {theirs} --out legacy")

    for name in ("study.json", "items.jsonl", "tasks.jsonl"):
        assert Path("legacy", name).read_bytes() == Path("study", name).read_bytes()


WRONG_USAGE = [
    ("human make-tasks --out study", "missing --human and --images, or --items"),
    ("human make-tasks --out study --items i.jsonl --human human.json", "leave out --human and --system"),
    (f"{MAKE} --system ours=ours.json", "--system 'ours' is named twice"),
    (f"{MAKE} --system ours", "'ours' is not of the form NAME=FILE"),
    (
        f"{MAKE} --model_captions a.json b.json --model_names a",
        "--model-captions has 2 values",
    ),
    (f"{MAKE} images", "--images images and images are two folders"),
    (f"{MAKE} --raters-per-item 0", "--raters-per-item must be at least 1, found 0"),
    (MAKE.replace("--system ours=ours.json", ""), "no system to compare with people: give --system, or"),
    (MAKE.replace("human.json", "no.json"), "human captions not found: no.json"),
    (MAKE.replace("=ours.json", "=no.json"), "captions of ours not found: no.json"),
    (MAKE.replace("--images images", "--images no"), "images not found: no"),
    ("human check nothing", "study folder nothing does not exist; make a study with `vqagen human make-tasks`"),
]


def test_wrong_usage_ends_in_2_and_says_what_would_be_right(vqagen_: Commands) -> None:
    ran = {message: vqagen_(line) for line, message in WRONG_USAGE}

    assert [
        (message, each) for message, each in ran.items() if each.code != code_of(message) or message not in each.err
    ] == []
    assert not Path("study").exists()


# What broke HUMANr ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "flags", "code", "message"),
    [
        (lambda: keep_images(1), "", 3, "an attention check needs texts of at least two different images"),
        (lambda: keep_images(1), "--checks-per-task 0", 0, "1 task of 1 trial "),
        (lambda: None, "--checks-per-task 10", 3, "no trial of a task is scored: --checks-per-task 10"),
        (
            lambda: set_captions(["one", "one"]),
            "--human-human",
            3,
            "none of 12 images has two different human captions",
        ),
        (lambda: set_captions([]), "", 3, "human.json:1:14: im00.png: expected at least one caption, found none"),
        (lambda: set_captions("a text"), "", 3, "im00.png: expected a list of captions, found 'a text'"),
        (lambda: set_captions(["x", " ", 3]), "", 3, "im00.png[2]: expected a caption, found 3"),
        (lambda: set_captions(["the same"]), "", 3, "all texts of other images are also texts about this one"),
        (lambda: None, "--imc-per-task 9", 3, "--imc-per-task 9 is more than the 8 different instructed trials"),
        (lambda: None, "--imc-per-task 9", 3, "--checks-per-task 1 and --imc-per-task 9 leave nothing of"),
        (lambda: None, "--trials-per-task 5 --reward-per-task 1.5", 0, "cost: 13.50 for 9 assignments at 1.50, before"),
        (lambda: None, "--trials-per-task 20", 3, "a task would show an image twice"),
        (
            lambda: None,
            "--system human1=ours.json --compat humanr",
            3,
            "has a name that HUMANr takes for something else",
        ),
    ],
)
def test_what_crashed_humanr_is_refused_or_works(
    change: Callable[[], object], flags: str, code: int, message: str, vqagen_: Commands
) -> None:
    """Specification 1.9 A4: endless loops, divisions by zero, errors of indexes and types."""
    change()
    ran = vqagen_(f"{MAKE} {flags}")

    assert (ran.code, message in ran.err) == (code, True), ran.err
    assert Path("study").exists() == (code == 0)


def keep_images(number: int) -> None:
    """Delete the images but the first ones."""
    for path in sorted(Path("images").iterdir())[number:]:
        path.unlink()


def set_captions(captions: object) -> None:
    """Give all images these human captions, and `ours` the same ones if they are texts."""
    edit(Path("human.json"), lambda human: human.update(dict.fromkeys(human, captions)))


def test_a_shortage_of_images_names_what_fits(folder: Path, vqagen_: Commands) -> None:
    """The number of trials in the message makes a plan."""
    write_caption_files(folder, images=4, systems=("ours", "b", "c"))
    keep_images(4)
    line = f"{MAKE} --system b=b.json --system c=c.json"
    ran = vqagen_(line)
    assert ran.code == 3
    assert "one image has 3 comparisons, and 12 comparisons of 4 images make 2 tasks of up to 9" in ran.err
    assert ran.err.rstrip().endswith("add images, or use --trials-per-task 4 or less")

    vqagen_.done(f"{line} --trials-per-task 4")


# Messages ---------------------------------------------------------------------------------------------------------


def test_all_mistakes_of_all_files_are_one_message(folder: Path, vqagen_: Commands) -> None:
    edit(folder / "human.json", lambda human: human.update({"im01.png": "x", "im02.png": [""]}))
    (folder / "ours.json").write_text('{"im01.png": "a",,}', "utf-8")
    ran = vqagen_(MAKE)

    assert ran.code == 3
    assert "human.json:1:" in ran.err and "im01.png: expected a list of captions, found 'x'" in ran.err
    assert "im02.png[0]: expected a caption, found ''" in ran.err
    assert "ours.json:1:18: not valid JSON" in ran.err


def test_images_that_are_missing_anywhere_are_counted_and_named(folder: Path, vqagen_: Commands) -> None:
    edit(folder / "human.json", lambda human: human.pop("im03.png"))
    edit(folder / "ours.json", lambda ours: ours.pop("im05.png"))
    (folder / "images" / "im07.png").unlink()
    ran = vqagen_.done(f"{MAKE} --trials-per-task 5")

    assert "left out: 1 image captioned but not in the folder: im07.png" in ran.err
    assert "left out: 1 image in the folder without human captions: im03.png" in ran.err
    assert "left out: 1 image in the folder without a caption of ours: im05.png" in ran.err
    assert "fit, ours: 9 items, 27 answers, half-width of the 95 % interval about 0.237" in ran.err


# The folder -------------------------------------------------------------------------------------------------------


def test_any_changed_word_is_another_version_of_the_consent() -> None:
    """Raters agree to what they were told, instructions and values of placeholders included."""
    words = texts_of(default_document()).words
    changed = {
        key: f"{text} changed" if isinstance(text, str) else [*text, "changed"]
        for key, text in words.items()
        if key != "direction"
    }
    versions = {texts_of({**default_document(), key: text}).version for key, text in changed.items()}
    versions |= {texts_of(default_document()).version, texts_of({"values": {"pay": "2 euros"}}).version}

    assert len(versions) == len(changed) + 2


def test_a_study_that_is_replaced_keeps_what_serving_and_links_need(vqagen_: Commands) -> None:
    """Words, codes of a platform, the secret and revoked links stay; changed words of trials are those of the items."""
    vqagen_.done(f"{MAKE} --trials-per-task 5")
    edit(Path("study/serving.json"), lambda serving: serving.update(code_completed="C1"))
    edit(Path("study/texts.json"), lambda texts: texts.update(item_prompt="Welcher Text passt?"))
    vqagen_.done("human links study")
    Path("study/revoked.txt").write_text("# none")
    before = Path("study/secret").read_bytes()
    assert "study study exists already; give --force to replace it" in vqagen_(MAKE).err
    vqagen_.done(f"{MAKE} --trials-per-task 6 --force")

    study = load_study("study")
    assert study.serving.code_completed == "C1"
    assert {item.prompt for item in study.items.values()} == {"Welcher Text passt?"}
    assert Path("study/secret").read_bytes() == before
    assert Path("study/secret").stat().st_mode & 0o077 == 0
    assert Path("study/revoked.txt").read_text() == "# none"
    assert not Path("study/links").exists()


IN_THE_WAY = [
    ("study/answers.sqlite", "study study was served already"),
    ("study/.lock", "study study was served already"),
    ("study/notes.txt", "study study also holds notes.txt, which --force would delete"),
    ("folder/a.txt", "output folder folder holds other files than a study"),
]


def test_nothing_else_is_replaced_even_by_force(vqagen_: Commands) -> None:
    vqagen_.done(f"{MAKE} --trials-per-task 5")
    wrong = []
    for file, message in IN_THE_WAY:
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text("kept")
        ran = vqagen_(f"{MAKE.replace('--out study', f'--out {Path(file).parts[0]}')} --trials-per-task 5 --force")
        if ran.code != 2 or message not in ran.err or Path(file).read_text() != "kept":
            wrong.append((message, ran))
        Path(file).unlink()
    assert wrong == []
    assert "does not exist; create it first" in vqagen_(MAKE.replace("--out study", "--out no/study")).err


# Images -----------------------------------------------------------------------------------------------------------


def in_format(name: str, **options: Any) -> bytes:
    """Return a small image in a format of Pillow."""
    written = BytesIO()
    Image.new("RGB", (8, 6), (1, 2, 3)).save(written, name, **options)
    return written.getvalue()


BAD_IMAGES = [
    (b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg'/>", "SVG is refused, since it may hold programs"),
    (b"no image at all", "this is no image that can be read"),
    (b"", "this is no image that can be read"),
    (picture(3)[:-20], "the image is broken"),
    (in_format("TIFF"), "browsers do not show TIFF images; convert the image to PNG"),
]


def test_bad_images_are_named(vqagen_: Commands) -> None:
    """All of them at once."""
    for number, (content, _) in enumerate(BAD_IMAGES):
        Path(f"images/im{number:02}.png").write_bytes(content)
    ran = vqagen_(MAKE)

    assert ran.code == 3
    for number, (_, message) in enumerate(BAD_IMAGES):
        assert f"images/im{number:02}.png: {message}" in ran.err
    assert not Path("study").exists()


def test_an_image_that_links_to_outside_is_refused(vqagen_: Commands) -> None:
    """A link inside of the folder is followed."""
    Path("secret.png").write_bytes(picture(77))
    for name, target in (("im03.png", "../secret.png"), ("im04.png", "im05.png")):
        Path("images", name).unlink()
        Path("images", name).symlink_to(target)
    ran = vqagen_(MAKE)

    assert ran.code == 3
    assert "images/im03.png: the image is a symbolic link to outside of the folder" in ran.err
    assert "im04.png" not in ran.err


def test_a_picture_with_two_names_is_one_picture(vqagen_: Commands) -> None:
    """No task shows it twice, and a caption of one name is no wrong text for the other."""
    for number in range(6):
        Path(f"images/im{number + 6:02}.png").write_bytes(picture(number))
    ran = vqagen_.done(f"{MAKE} --trials-per-task 4")

    assert "6 images are copies of another under a second name" in ran.err
    assert check_study("study").plan == ()
    assert len(os.listdir("study/images")) == 6


def test_the_size_of_an_image_is_that_which_browsers_show(vqagen_: Commands) -> None:
    """Cameras say by a tag that they were held upright."""
    turned = Image.Exif()
    turned[0x0112] = 6
    Path("images/im03.png").write_bytes(in_format("JPEG", exif=turned))
    vqagen_.done(f"{MAKE} --trials-per-task 5")
    images = load_study("study").images

    assert (images["im03.png"].width, images["im03.png"].height) == (6, 8)
    assert images["im03.png"].mime == "image/jpeg"
    assert images["im03.png"].file == f"images/{images['im03.png'].sha256}.jpg"


# HUMANr's own file ------------------------------------------------------------------------------------------------


def test_comparison_tasks_have_the_form_of_humanr(vqagen_: Commands) -> None:
    """The keys, ids and sources that its page and its scoring read; trials in the order of the first rater."""
    vqagen_.done(f"{MAKE} --trials-per-task 6 --human-human --imc-per-task 1 --compat humanr")
    study = load_study("study")
    tasks = json.loads(Path("study/comparison_tasks.json").read_text("utf-8"))

    assert list(tasks) == list(study.tasks)
    for name, entries in tasks.items():
        trials = [trial for trial in study.trials(name, 0) if trial.item.use != "instructed"]
        assert [entry["image"] for entry in entries] == [trial.item.image for trial in trials]
        for entry, trial in zip(entries, trials, strict=True):
            assert list(entry) == ["image", "c1_id", "c1_text", "c1_source", "c2_id", "c2_text", "c2_source"]
            assert (entry["c1_text"], entry["c2_text"]) == trial.texts
    made = [entry for entries in tasks.values() for entry in entries]
    ids = {entry[f"c{side}_id"] for entry in made for side in (1, 2)}
    sources = {frozenset((entry["c1_source"], entry["c2_source"])) for entry in made}
    assert {"im00_ours-human_human", "im00_ours-human_ours", "im00_human-human_human2"} <= ids
    assert any(each.endswith("_attention_check_distractor") for each in ids)
    assert sources == {frozenset(each) for each in (("human", "ours"), ("human1", "human2"), ("correct", "distractor"))}


# Items ------------------------------------------------------------------------------------------------------------

PAIR: dict[str, Any] = {
    "context": {"image": "im00.png"},
    "candidates": [
        {"text": "A text of ours", "source": "ours", "role": "system"},
        {"text": "A text of people", "source": "people", "role": "reference"},
    ],
}
CANDIDATES = PAIR["candidates"]


def write_items(*records: Any) -> None:
    """Write items.jsonl, records as JSON and texts as they are."""
    Path("items.jsonl").write_text(
        "".join((each if isinstance(each, str) else json.dumps(each)) + "\n" for each in records), "utf-8"
    )


MAKE_ITEMS = "human make-tasks --items items.jsonl --images images --out study"


def test_items_are_planned_as_they_are(vqagen_: Commands) -> None:
    """The reference is the first text, systems are in order, and what is not given has defaults."""
    systems = {
        **PAIR,
        "dimension": "naturalness",
        "candidates": [{**CANDIDATES[0], "source": "b", "id": "x"}, {**CANDIDATES[0], "source": "a", "id": "y"}],
        "scale": {"min": 1, "max": 5},
        "strata": {"template": "one_hop"},
    }
    rated = {"kind": "rate", "candidates": [CANDIDATES[0]], "weight": 2.5, "comment": "A text alone."}
    write_items(PAIR, systems, rated)
    vqagen_.done(f"{MAKE_ITEMS} --checks-per-task 0 --trials-per-task 2")
    found = {item.kind + item.dimension: item for item in load_study("study").items.values()}

    assert [each.source for each in found["comparefit"].candidates] == ["people", "ours"]
    assert [each.id for each in found["comparenaturalness"].candidates] == ["y", "x"]
    assert found["comparenaturalness"].strata == {"template": "one_hop"}
    assert (found["ratefit"].scale.largest, found["ratefit"].weight, found["ratefit"].image) == (7, 2.5, "")


def test_the_items_of_a_study_make_it_again(vqagen_: Commands) -> None:
    """What make-tasks writes it also reads: the same items, checks and practice included."""
    size = "--trials-per-task 5 --imc-per-task 1"
    vqagen_.done(f"{MAKE} {size} --human-human")
    vqagen_.done(f"human make-tasks --items study/items.jsonl --images images --out again {size}")

    assert Path("again/items.jsonl").read_bytes() == Path("study/items.jsonl").read_bytes()
    assert check_study("again").plan == ()


def test_checks_are_made_of_texts_by_people(vqagen_: Commands) -> None:
    """If the file has none, and about the fit to an image alone."""
    pairs = [
        {
            "context": {"image": f"im{number:02}.png"},
            "candidates": [{**CANDIDATES[0], "text": f"ours {number}"}, {**CANDIDATES[1], "text": f"people {number}"}],
        }
        for number in range(4)
    ]
    write_items(*pairs)
    vqagen_.done(f"{MAKE_ITEMS} --trials-per-task 3")
    checks = [item for item in load_study("study").items.values() if item.use == "check"]
    assert len(checks) == 2
    assert all(each.text.startswith("people") for check in checks for each in check.candidates)

    write_items(*({**pair, "dimension": "naturalness"} for pair in pairs))
    ran = vqagen_(f"{MAKE_ITEMS.replace('study', 'other')} --trials-per-task 3")
    assert (ran.code, "no attention checks: there is no item whose use is check" in ran.err) == (3, True)


FAULTS: list[tuple[Any, str]] = [
    ("{", "items.jsonl:2:2: not valid JSON: the file ends, but the object"),
    ([1], "items.jsonl:2:1: expected an object, found a list of 1"),
    ({**PAIR, "kind": "answer"}, "kind: expected 'compare' or 'rate', found 'answer'"),
    ({**PAIR, "dimensoin": "fit"}, "dimensoin: unknown key 'dimensoin'; did you mean 'dimension'?"),
    ({**PAIR, "schema": "vqagen.human.item/0"}, "schema: expected 'vqagen.human.item/1', found 'vqagen.human.item/0'"),
    ({**PAIR, "context": {"image": "im00.pgn"}}, "context.image: unknown image 'im00.pgn'; did you mean 'im00.png'?"),
    ({**PAIR, "context": {"image": {"id": "im01.png", "sha256": "0"}}}, "the image im01.png has another content"),
    ({**PAIR, "candidates": CANDIDATES[:1]}, "candidates: expected 2 texts to compare, found 1"),
    ({**PAIR, "kind": "rate"}, "candidates: expected 1 text to rate, found 2"),
    ({**PAIR, "candidates": [CANDIDATES[0]] * 2}, "candidates[1].source: both texts are of the source 'ours'"),
    ({**PAIR, "candidates": [CANDIDATES[0], {"text": "x"}]}, "candidates[1]: missing key 'source'; missing key 'role'"),
    ({**PAIR, "candidates": [CANDIDATES[0], {**CANDIDATES[1], "text": " "}]}, "candidates[1].text: expected some text"),
    ({**PAIR, "gold": {"better": "3"}}, "gold.better: unknown candidate '3'; known: 1, 2"),
    (
        {**PAIR, "gold": {"better": "1"}},
        "candidates[0].role: expected 'reference' where use is 'check'",
    ),
    ({**PAIR, "use": "practice"}, "gold: missing key 'better' where use is 'practice'"),
    ({**PAIR, "gold": {"value": 12}}, "gold.value: expected a value from 1 to 9, found 12"),
    ({**PAIR, "use": "instructed"}, "gold: missing key 'value' where use is 'instructed'"),
    ({**PAIR, "use": "real", "gold": {"better": "2"}}, "gold: expected null where use is 'real'"),
    ({**PAIR, "scale": {"min": 9, "max": 1}}, "scale: expected 2 to 15 values, found min 9 and max 1"),
    ({**PAIR, "scale": {"min": 1, "max": 9, "mid": 4}}, "scale.mid: expected 5, the middle of 1 and 9, found 4"),
    ({**PAIR, "weight": 0}, "weight: expected more than 0, found 0"),
    (PAIR, "items.jsonl:2:1: the same item as in line 1; leave one out"),
    (
        {**PAIR, "gold": {"better": "1"}, "candidates": [{**CANDIDATES[1], "text": "x"}, CANDIDATES[1]]},
        "candidates: its wrong text stands in a scored item as one by people about the same image",
    ),
]


def test_a_mistake_in_items_is_located(vqagen_: Commands) -> None:
    wrong = []
    for record, message in FAULTS:
        write_items(PAIR, record)
        ran = vqagen_(f"{MAKE_ITEMS} --checks-per-task 0")
        if ran.code != 3 or message not in ran.err or "items.jsonl:2:" not in ran.err or "items.jsonl:1:" in ran.err:
            wrong.append((message, ran.err))

    assert wrong == []


def test_a_shape_that_is_taken_at_once_fits_the_schema() -> None:
    """The short way says no more than the schema."""
    records = [*(record for record, _ in FAULTS if isinstance(record, dict)), PAIR, {}, {"a": 1}]
    taken = [record for record in records if is_well_formed(record)]

    assert PAIR in taken
    assert [record for record in taken if list(schema_faults(record, "human-items"))] == []
