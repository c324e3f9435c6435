"""The page of `vqagen show`: what it holds is what the product's engine finds, and it works from the disk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import expect, needs_chromium, new_window, open_browser
from commands import Commands
from scene_records import sampled_scenes

import vqagen
from vqagen.dataset.rows import DIALOG_FEATURES, dialog_row, picture_columns, question_row, write_rows
from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.language.domain_files import find_domain
from vqagen.pictures.png import png_file
from vqagen.run.making import write_dialogs, write_questions, write_trials
from vqagen.show import showing
from vqagen.show.showing import show_file
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.questions.settings import QuestionSettings, RecordForm

SCENES = 3
BOX = [10, 20, 40, 50]


def boxed(scene: dict[str, Any]) -> dict[str, Any]:
    """A scene as `vqagen scenes render` writes it: its objects have boxes, the last one none."""
    *most, last = scene["objects"]
    objects = [*({**each, "box": BOX} for each in most), {**last, "box": None}]
    return {**scene, "camera": {"width": 480, "height": 320}, "objects": objects}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with questions, dialogs and trials, and `pictures` with scenes, two of which have a picture."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "pictures/images").mkdir(parents=True)
    scenes = [boxed(dict(scene)) for scene in sampled_scenes(SCENES, seed=3)]
    (folder / "pictures/scenes.json").write_text(json.dumps({"scenes": scenes}))
    for number, scene in enumerate(scenes[:-1]):
        pixels = np.full((320, 480, 3), 40 * number + 90, dtype=np.uint8)
        (folder / "pictures/images" / scene["image_filename"]).write_bytes(png_file(pixels))
    given = folder / "pictures/scenes.json"
    write_questions(given, folder / "questions.jsonl", settings=QuestionSettings(templates_per_image=12))
    write_dialogs(given, folder / "dialogs.jsonl", settings=DialogSettings(dialogs_per_image=2))
    write_trials(folder / "trials", DirectorSettings(count=4, render=("png",)))
    return folder


def script(file: Path) -> Any:
    """The value that a script of the data gives to the page."""
    found = re.fullmatch(r"show\.\w+\((?:\d+, )?(.*)\);\n", file.read_text("utf-8"), re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def entries(page: Path) -> Iterator[dict[str, Any]]:
    """All entries of a page, each with its picture."""
    for number in range(len(list((page / "data").glob("part-*.js")))):
        part = script(page / f"data/part-{number}.js")
        for entry in part["entries"]:
            yield {**entry, "picture": part["pictures"][entry["picture"]]}


def records(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


# Data -----------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_each_step_has_the_objects_that_the_engine_finds(made: Path, tmp_path: Path) -> None:
    done = show_file(made / "questions.jsonl", tmp_path / "page", images=made / "pictures")
    traced = list(vqagen.generate(made / "pictures/scenes.json", templates_per_image=12))

    assert done == ("questions", len(traced), SCENES - 1)
    for entry, question in zip(entries(tmp_path / "page"), traced, strict=True):
        outputs = question.program.readable_outputs(question.scene)
        for step, node, output in zip(entry["steps"], question.program.nodes, outputs, strict=True):
            assert (step["function"], step["inputs"], step["values"]) == (node[0], [*node[1]], [*node[2]])
            if "objects" in step:
                assert step["objects"] == (output if isinstance(output, list) else [output])
            else:
                assert step["value"] == vqagen_answer(output)
        assert entry["steps"][-1]["value"] == entry["answer"]
        assert entry["note"] == ""


def vqagen_answer(output: Any) -> str:
    return {True: "yes", False: "no"}[output] if isinstance(output, bool) else str(output)


@pytest.mark.slow
def test_pictures_stand_in_the_page_once_with_boxes_and_names(made: Path, tmp_path: Path) -> None:
    show_file(made / "questions.jsonl", tmp_path / "page", images=made / "pictures")
    shown = [entry["picture"] for entry in entries(tmp_path / "page")]
    scenes = json.loads((made / "pictures/scenes.json").read_text())["scenes"]

    assert sorted(file.name for file in (tmp_path / "page/images").iterdir()) == ["000000.png", "000001.png"]
    for each, scene in zip(shown[::12], scenes, strict=True):
        assert [one["box"] for one in each["objects"]] == [one["box"] for one in scene["objects"]]
        assert all(one["color"] in one["name"] for one in each["objects"])
        assert each["size"] == [480, 320]
    assert shown[-1]["file"] == ""
    pixels = (made / "pictures/images" / scenes[1]["image_filename"]).read_bytes()
    assert (tmp_path / "page" / shown[12]["file"]).read_bytes() == pixels


def test_the_index_numbers_family_answer_and_length(
    made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also over several parts."""
    monkeypatch.setattr(showing, "PART", 10)
    show_file(made / "questions.jsonl", tmp_path / "page", images=made / "pictures")
    index, shown = script(tmp_path / "page/data/index.js"), list(entries(tmp_path / "page"))
    named = {name: [column["values"][code] for code in column["codes"]] for name, column in index["columns"].items()}

    assert (index["kind"], index["part"], index["count"]) == ("questions", 10, len(shown))
    assert len(list((tmp_path / "page/data").iterdir())) == 1 + -(-len(shown) // 10)
    assert named["answer"] == [entry["answer"] for entry in shown]
    assert named["length"] == [len(entry["steps"]) for entry in shown]
    written = records(made / "questions.jsonl")
    assert named["family"] == [f"{each['template_filename']}#{each['question_family_index']}" for each in written]


def test_a_question_that_cannot_be_run_says_why(made: Path, tmp_path: Path) -> None:
    """And one without scenes shows its program alone."""
    written = records(made / "questions.jsonl")[:3]
    written[0]["program"][0]["type"] = "scen"
    written[1]["image_filename"] = "none.png"
    file = tmp_path / "questions.jsonl"
    file.write_text("".join(json.dumps(each) + "\n" for each in written))
    show_file(file, tmp_path / "page", images=made / "pictures")
    show_file(file, tmp_path / "plain")

    first, second, third = entries(tmp_path / "page")
    assert first["note"] == "unknown function 'scen'; did you mean 'scene'?"
    assert second["note"] == "there is no scene of this image_filename"
    assert third["note"] == ""
    assert all("objects" not in step for step in list(entries(tmp_path / "plain"))[2]["steps"])


def test_a_trace_is_shown_as_it_is_written(tmp_path: Path) -> None:
    """With what mentions objects and the reasoning, and without any scene."""
    form = RecordForm(trace=True, reasoning="text")
    write_questions(list(sampled_scenes(1)), tmp_path / "q.jsonl", form=form)
    questions = records(tmp_path / "q.jsonl")
    show_file(tmp_path / "q.jsonl", tmp_path / "page")

    for entry, written in zip(entries(tmp_path / "page"), questions, strict=True):
        found = [step["objects"] if "objects" in step else step["value"] for step in entry["steps"]]
        assert found[0] == written["trace"][0]
        assert found[-1] == written["answer"]
        assert entry["reasoning"] == written["reasoning"]
        assert entry["mentions"] == [[*each["span"], each["objects"]] for each in written["mentions"]]


def test_mentions_of_dialogs_are_words_of_their_sentences(made: Path, tmp_path: Path) -> None:
    show_file(made / "dialogs.jsonl", tmp_path / "page", images=made / "pictures")

    for entry, dialog in zip(entries(tmp_path / "page"), records(made / "dialogs.jsonl"), strict=True):
        assert entry["entities"] == [each["objects"] for each in dialog["entities"]]
        assert [said["text"] for said in entry["sentences"][1:]] == [each["question"] for each in dialog["rounds"]]
        for said in entry["sentences"]:
            assert all(0 <= start < end <= len(said["text"].split(" ")) for _, start, end in said["mentions"])


def test_a_dataset_is_shown_from_its_rows(made: Path, tmp_path: Path) -> None:
    scenes = json.loads((made / "pictures/scenes.json").read_text())["scenes"]
    pictures = [
        picture_columns(scene, number, png_file(np.zeros((4, 4, 3), np.uint8))) for number, scene in enumerate(scenes)
    ]
    asked, told = records(made / "questions.jsonl"), records(made / "dialogs.jsonl")
    for data in ("data", "dialogs"):
        (tmp_path / "set" / data).mkdir(parents=True)
    rows = (question_row(each, pictures[each["scene_index"]], at, "value", "family") for at, each in enumerate(asked))
    write_rows(tmp_path / "set/data/train-00000-of-00001.parquet", rows)
    rows = (dialog_row(each, pictures[each["scene_index"]], at) for at, each in enumerate(told))
    write_rows(tmp_path / "set/dialogs/train-00000-of-00001.parquet", rows, DIALOG_FEATURES)

    assert show_file(tmp_path / "set", tmp_path / "page") == ("questions", len(asked), SCENES)
    assert show_file(tmp_path / "set/dialogs", tmp_path / "said") == ("dialogs", len(told), SCENES)
    assert [entry["answer"] for entry in entries(tmp_path / "page")] == [each["answer"] for each in asked]
    assert all(entry["split"] == "train" for entry in entries(tmp_path / "said"))
    assert next(entries(tmp_path / "page"))["steps"][0]["objects"]


def test_a_domain_of_ones_own_is_to_be_named_and_a_dataset_to_be_finished(made: Path, tmp_path: Path) -> None:
    for name in ("questions.jsonl", "questions.jsonl.info.json"):
        (tmp_path / name).write_text((made / name).read_text().replace('"clevr"', '"meadow"'))
    with pytest.raises(UsageError, match="a domain that vqagen does not ship; name it by --domain"):
        show_file(tmp_path / "questions.jsonl", tmp_path / "page")
    assert show_file(tmp_path / "questions.jsonl", tmp_path / "page", files=find_domain()).entries

    (tmp_path / "data").mkdir()
    write_rows(tmp_path / "data/train-00000-of-00001.parquet", [])
    (tmp_path / "dataset.json").write_text('{"vqagen": "1.0.0", "steps": {"rows train": {}}}')
    with pytest.raises(UsageError, match="not finished: repeat the `vqagen dataset` command"):
        show_file(tmp_path, tmp_path / "page", files=find_domain(), force=True)


def test_faulty_input_is_named_and_leaves_nothing(made: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("")
    foreign = {"dialogs": [{"caption": "A cube.", "dialog": [{"question": "?", "answer": "red"}]}]}
    (tmp_path / "foreign.json").write_text(json.dumps(foreign))
    (tmp_path / "trials.jsonl").write_text('{"trial_index": 0}')
    wrong = {}
    for message, (file, options) in {
        "no questions to show": (tmp_path / "empty.jsonl", {}),
        "no folder of pictures: nowhere": (made / "questions.jsonl", {"images": "nowhere"}),
        "dialogs[0]: no marks in this dialog; show dialogs as": (tmp_path / "foreign.json", {}),
        "trials[0].trial_type: missing; expected control or test": (tmp_path / "trials.jsonl", {}),
        "not found": (tmp_path / "nothing", {}),
    }.items():
        with pytest.raises(VqagenError) as caught:
            show_file(file, tmp_path / "page", **options)
        if message not in str(caught.value):
            wrong[message] = str(caught.value)

    assert wrong == {}
    assert sorted(each.name for each in tmp_path.iterdir()) == ["empty.jsonl", "foreign.json", "trials.jsonl"]


def test_a_picture_outside_of_its_folder_gets_into_no_page(made: Path, tmp_path: Path) -> None:
    """By the name in a question, in a scene or in a trial, or behind a link; nor does what is no picture."""
    (tmp_path / "private.png").write_bytes(png_file(np.zeros((4, 4, 3), np.uint8)))
    (inside := tmp_path / "in").mkdir()
    (inside / "text.png").write_text("no picture")
    (inside / "link.png").symlink_to("../private.png")
    (inside / "images").symlink_to("..")
    question = records(made / "questions.jsonl")[0]
    (trial,) = [each for each in records(made / "trials/trials.jsonl") if each["trial_index"] == 1]
    for name, reason in {
        "/etc/passwd": "is not inside the folder of the pictures",
        "../private.png": "is not inside the folder of the pictures",
        "link.png": "is behind a symbolic link to outside of",
        "private.png": "is behind a symbolic link to outside of",
        "text.png": "is no picture: its content is of another kind",
    }.items():
        (inside / "q.jsonl").write_text(json.dumps(question | {"image_filename": name}))
        (inside / "trials.jsonl").write_text(json.dumps(trial | {"image": name}))
        for file, key in (("q.jsonl", "questions[0].image_filename"), ("trials.jsonl", "trials[0].image")):
            with pytest.raises(BadInput, match=rf"{re.escape(key)}: .*{reason}"):
                show_file(inside / file, tmp_path / "page")

    assert not (tmp_path / "page").exists()


def test_what_a_dataset_calls_a_picture_is_one(made: Path, tmp_path: Path) -> None:
    (scene, *_) = json.loads((made / "pictures/scenes.json").read_text())["scenes"]
    (tmp_path / "data").mkdir()
    row = question_row(records(made / "questions.jsonl")[0], picture_columns(scene, 0, b"secret"), 0, "value", "")
    write_rows(tmp_path / "data/train-00000-of-00001.parquet", [row])
    with pytest.raises(BadInput, match="row 0 has no picture: its content is of another kind"):
        show_file(tmp_path, tmp_path / "page")


def test_a_page_may_be_one_file(made: Path, tmp_path: Path, capsysbinary: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """With style, code, data and pictures inside; a text that ends a script stays a text."""
    monkeypatch.setattr(showing, "PART", 10)
    asked = records(made / "questions.jsonl")
    asked[0]["question"] = "</script><script>alert(1)</script>"
    (tmp_path / "q.jsonl").write_text("".join(json.dumps(each) + "\n" for each in asked))
    line = f"show '{tmp_path}/q.jsonl' --images '{made}/pictures' -o '{tmp_path}/page.html'"
    run = Commands(capsysbinary)
    assert run.done(line).err == f"{12 * SCENES} questions with {SCENES - 1} pictures: open {tmp_path}/page.html\n"
    text = (tmp_path / "page.html").read_text("utf-8")

    assert sorted(each.name for each in tmp_path.iterdir()) == ["page.html", "q.jsonl"]
    assert text.count("</script>") == text.count("<script") == 2 + -(-12 * SCENES // 10)
    assert not re.search(r'(src|href)="(?!data:)', text)
    assert text.count("data:image/png;base64,") >= SCENES - 1
    assert "exists already; give --force to replace it" in run(line).err


def test_only_a_page_is_ever_replaced(made: Path, tmp_path: Path, capsysbinary: Any) -> None:
    run, page = Commands(capsysbinary), tmp_path / "page"
    line = f"show '{made}/questions.jsonl' --images '{made}/pictures' -o '{page}'"
    assert run.done(line).err == f"{12 * SCENES} questions with {SCENES - 1} pictures: open {page}/index.html\n"
    before = {file: file.read_bytes() for file in page.rglob("*.*")}

    assert "exists already; give --force to replace it" in run(line).err
    run.done(f"{line} --force")
    assert {file: file.read_bytes() for file in page.rglob("*.*")} == before
    (page / "index.html").write_text("My own.")
    assert "holds other files than a page of vqagen" in run(f"{line} --force").err


# In a browser ---------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def pages(made: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a page of each kind; that of questions has parts of ten."""
    folder = tmp_path_factory.mktemp("pages")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(showing, "PART", 10)
        show_file(made / "questions.jsonl", folder / "questions", images=made / "pictures")
    show_file(made / "dialogs.jsonl", folder / "dialogs", images=made / "pictures")
    show_file(made / "trials", folder / "trials")
    return folder


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page without a network. Whatever goes wrong in it fails the test."""
    window = new_window(browser, offline=True)
    opened, faults = window.new_page(), list[str]()
    opened.on("pageerror", lambda error: faults.append(str(error)))
    opened.on("console", lambda message: faults.append(message.text))
    yield opened
    window.close()
    assert faults == []


@pytest.mark.slow
@needs_chromium
def test_a_page_of_one_file_opens(page: Any, made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its parts too, and its pictures."""
    monkeypatch.setattr(showing, "PART", 10)
    show_file(made / "questions.jsonl", tmp_path / "page.html", images=made / "pictures")
    asked = records(made / "questions.jsonl")
    page.goto((tmp_path / "page.html").as_uri())

    expect(page.locator("#list button").first).to_be_visible()
    expect(page.locator(".picture img")).to_have_js_property("naturalWidth", 480)
    page.locator("#list button").nth(12).click()
    expect(page.locator(".asked")).to_contain_text(asked[12]["question"])


def open_page(page: Any, folder: Path) -> None:
    page.goto((folder / "index.html").as_uri())
    expect(page.locator("#list button").first).to_be_visible()


@pytest.mark.slow
@needs_chromium
def test_a_step_lights_its_objects(page: Any, pages: Path) -> None:
    """By the mouse, by the keyboard and, once pressed, for good."""
    open_page(page, pages / "questions")
    entry = next(entries(pages / "questions"))
    step = next(number for number, each in enumerate(entry["steps"]) if "filter" in each["function"])
    lit = entry["steps"][step]["objects"]
    button = page.locator(".steps button").nth(step)
    names = "; ".join(entry["picture"]["objects"][at]["name"] for at in lit)

    expect(page.locator(".asked")).to_contain_text(entry["question"])
    expect(page.locator(".picture img")).to_have_js_property("naturalWidth", 480)
    for do in (button.hover, button.focus, button.click):
        do()
        expect(page.locator("figcaption")).to_have_text(names)
        expect(page.locator(".lit")).to_have_count(len(lit))
    page.mouse.move(0, 0)
    expect(button).to_have_attribute("aria-pressed", "true")
    expect(page.locator("figcaption")).to_have_text(names)


@pytest.mark.slow
@needs_chromium
def test_filters_and_keys_walk_through_all_parts(page: Any, pages: Path) -> None:
    open_page(page, pages / "questions")
    shown = list(entries(pages / "questions"))
    answer = shown[-1]["answer"]
    kept = [entry["question"] for entry in shown if entry["answer"] == answer]

    page.get_by_label("Answer").select_option(label=f"{answer} ({len(kept)})")
    expect(page.locator("#count")).to_have_text(re.compile(rf"^{len(kept)} questions? of {len(shown)}$"))
    page.keyboard.press("Escape")
    page.locator("#list button").first.focus()
    for question in kept:
        expect(page.locator(".asked")).to_contain_text(question)
        page.keyboard.press("ArrowDown")
    page.get_by_label("Answer").select_option(label="all")
    page.get_by_role("button", name="Earlier").click()
    page.get_by_role("button", name="Later").click()
    expect(page.locator("#place")).to_have_text(f"26–{len(shown)}")
    expect(page.locator(".asked")).to_contain_text(shown[25]["question"])
    page.reload()
    expect(page.locator(".asked")).to_contain_text(shown[25]["question"])


@pytest.mark.slow
@needs_chromium
def test_what_is_mentioned_again_has_one_color(page: Any, pages: Path) -> None:
    open_page(page, pages / "dialogs")
    colors = page.locator("mark").evaluate_all(
        "marks => marks.map(each => [each.dataset.entity, getComputedStyle(each).backgroundColor])"
    )
    entry = next(entries(pages / "dialogs"))
    mentioned = [str(entity) for said in entry["sentences"] for entity, _, _ in said["mentions"]]

    assert sorted(entity for entity, _ in colors) == sorted(mentioned)
    assert len(set(map(tuple, colors))) == len(set(mentioned)) == len({color for _, color in colors})
    said = page.locator(".rounds > li")
    for number, each in enumerate(entry["sentences"]):
        words = re.sub(r"\s+|\d", "", said.nth(number).inner_text())
        assert words.startswith(re.sub(r"\s+|\d", "", each["text"]))
    page.locator("mark").first.hover()
    lit = [entry["picture"]["objects"][at]["name"] for at in entry["entities"][int(colors[0][0])]]
    expect(page.locator("figcaption")).to_have_text("; ".join(lit))


@pytest.mark.slow
@needs_chromium
@pytest.mark.parametrize("kind", ["questions", "dialogs", "trials"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_page_has_a_fault_of_accessibility(kind: str, scheme: str, browser: Any, pages: Path) -> None:
    from axe_playwright_python.sync_playwright import Axe

    window = new_window(browser, color_scheme=scheme)
    opened = window.new_page()
    open_page(opened, pages / kind)
    found = Axe().run(opened)
    window.close()

    assert found.violations_count == 0, found.generate_report()
