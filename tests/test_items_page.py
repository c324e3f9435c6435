"""The page of the items editor in a real browser: the system's Chromium, driven by Playwright."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import expect, needs_chromium, new_window
from catalogues import DOT, SMALL_CATALOGUE, small_catalogue, write_catalogue
from item_editors import running_editor

from vqagen.authoring.items.editor import EditorServer

pytestmark = [pytest.mark.slow, needs_chromium]


@pytest.fixture
def server(tmp_path: Path) -> Iterator[EditorServer]:
    document = small_catalogue({"kinds.pear": {"nouns": ["fruit"], "art": DOT}})
    with running_editor(write_catalogue(tmp_path / "c.json", document)) as server:
        yield server


@pytest.fixture
def page(browser: Any, server: EditorServer) -> Iterator[Any]:
    """The page, loaded. It must not fail or break a rule of its own content security policy."""
    context = new_window(browser, viewport={"width": 1400, "height": 950})
    made = context.new_page()
    failures: list[str] = []
    made.on("pageerror", lambda error: failures.append(str(error)))
    made.on("console", lambda said: failures.append(said.text) if "Content Security Policy" in said.text else None)
    made.goto(server.url)
    made.get_by_role("heading", name="apple kind").wait_for()
    yield made
    context.close()
    assert failures == []


def entry(page: Any, name: str) -> Any:
    return page.locator("#list").get_by_role("button", name=name, exact=True)


def save(page: Any) -> None:
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#status")).to_contain_text("Saved. The old file is")


def saved(tmp_path: Path) -> Any:
    return json.loads((tmp_path / "c.json").read_bytes())


EDITS: list[tuple[str, str, list[Any], dict[str, Any]]] = [
    ("setTruth", "apple", ["hot", "true"], {"kinds.apple.properties": ["sweet", "hot"]}),
    ("setTruth", "apple", ["sweet", "true"], {}),
    ("setTruth", "apple", ["sweet", "false"], {"kinds.apple.properties": []}),
    ("setTruth", "apple", ["sweet", "unclear"], {"kinds.apple.properties": [], "kinds.apple.unclear": ["sweet"]}),
    ("setTruth", "lemon", ["sweet", "true"], {"kinds.lemon.properties": ["sweet"], "kinds.lemon.unclear": None}),
    ("setTruth", "apple", ["snack", "true"], {"kinds.apple.nouns": ["fruit", "snack"]}),
    ("setForm", "box", ["plural", "boxes"], {"nouns.box": {"plural": "boxes"}}),
    ("setForm", "fruit", ["singular", ""], {"nouns.fruit.singular": None}),
    ("setValue", "red", ["paint", "#ff0000"], {"adjectives.1.values.red.paint": "#ff0000"}),
    ("setValue", "hot", ["is_physics", None], {"adjectives.0.values.hot": {}}),
    ("rename", "mug", ["cup"], {"kinds.cup": SMALL_CATALOGUE["kinds"]["mug"], "kinds.mug": None}),
    (
        *("rename", "hot", ["warm"]),
        {"adjectives.0.values": {"warm": {"is_physics": True}, "sweet": {}}, "kinds.mug.properties": ["warm"]},
    ),
    (
        *("rename", "fruit", ["crop"]),
        {
            "nouns": {"crop": SMALL_CATALOGUE["nouns"]["fruit"]},
            "kinds.apple.nouns": ["crop"],
            "kinds.lemon.nouns": ["crop"],
        },
    ),
    ("remove", "box", [], {"kinds.box": None}),
    (
        *("remove", "sweet", []),
        {"adjectives.0.values.sweet": None, "kinds.apple.properties": [], "kinds.lemon.unclear": []},
    ),
    ("remove", "fruit", [], {"nouns": {}, "kinds.apple.nouns": [], "kinds.lemon.nouns": []}),
]
"""A function of draft.js, its entry and other arguments, and what is then different in the document."""
RUN = """async ([document, action, name, values]) => {
    const draft = await import("./draft.js");
    const entry = draft.entries(document).find((each) => each.name === name);
    draft[action](document, action === "setForm" ? name : entry, ...values);
    return document;
}"""


def test_an_edit_changes_its_entry_and_nothing_else(page: Any) -> None:
    wrong = [
        (action, name, values)
        for action, name, values, changes in EDITS
        if page.evaluate(RUN, [SMALL_CATALOGUE, action, name, values]) != small_catalogue(changes)
    ]
    assert wrong == []


def test_a_kind_is_edited_previewed_checked_and_saved(page: Any, tmp_path: Path) -> None:
    before = (tmp_path / "c.json").read_bytes()
    entry(page, "mug").click()
    preview = page.get_by_role("img", name="mug in its colors and sizes")
    preview.wait_for()
    first = preview.get_attribute("src")

    page.get_by_label("sweet: unclear").check()
    expect(page.locator("#status")).to_have_text("Changes are not saved.")
    page.get_by_label("Several are called").fill("mugs of tea")
    drawing = page.get_by_role("textbox", name="Drawing")
    drawing.fill('[{"ellipse": [0.5, 0.5')
    expect(page.locator("#art-message")).to_contain_text("Not JSON")
    drawing.fill('[{"elipse": [0.5, 0.5, 0.3, 0.3]}]')
    expect(page.locator("#art-message")).to_contain_text("unknown shape 'elipse'; did you mean 'ellipse'?")
    expect(page.locator("#findings")).to_contain_text("unknown shape 'elipse'")
    expect(page.locator("#list button[data-name=mug] .mark")).to_have_text("1")
    drawing.fill('[{"ellipse": [0.5, 0.5, 0.3, 0.3]}]')
    expect(page.locator("#art-message")).to_have_text("")
    expect(page.locator("#findings")).to_have_text("Nothing is wrong.")
    expect(preview).not_to_have_attribute("src", first)

    for shown in ("elipse", "rect"):
        page.get_by_role("button", name="Undo").click()
        expect(drawing).to_have_value(re.compile(shown))
    drawing.fill('[{"ellipse": [0.5, 0.5, 0.3, 0.3]}]')
    expect(page.locator("#art-message")).to_have_text("")
    preview.wait_for()

    save(page)
    changed = {
        "kinds.pear": {"nouns": ["fruit"], "art": DOT},
        "kinds.mug.unclear": ["sweet"],
        "kinds.mug.art": [{"ellipse": [0.5, 0.5, 0.3, 0.3]}],
        "nouns.mug": {"plural": "mugs of tea"},
    }
    assert saved(tmp_path) == small_catalogue(changed)
    assert (tmp_path / "c.json.bak").read_bytes() == before


def test_entries_are_added_renamed_and_removed(page: Any, tmp_path: Path) -> None:
    page.get_by_role("button", name="Add an entry").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill("Big Ball")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("use small letters, digits and underscores")
    dialog.get_by_label("Name").fill("ball")
    dialog.get_by_label("Start from the drawing of").select_option("apple")
    dialog.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("heading", name="ball kind").wait_for()
    page.get_by_label("New noun that is true").fill("toy")
    page.keyboard.press("Enter")
    expect(page.get_by_label("toy: true")).to_be_checked()

    entry(page, "hot").click()
    page.get_by_role("textbox", name="Name").fill("mug")
    page.keyboard.press("Tab")
    expect(page.locator("#form-messages")).to_contain_text("kind 'mug' exists already")
    page.get_by_role("textbox", name="Name").fill("warm")
    page.keyboard.press("Tab")
    page.get_by_role("heading", name="warm adjective").wait_for()
    entry(page, "pear").click()
    page.on("dialog", lambda asked: asked.accept())
    page.get_by_role("button", name="Remove").click()
    expect(entry(page, "pear")).to_have_count(0)

    save(page)
    changed = {
        "kinds.ball": {"nouns": ["toy"], "properties": [], "art": DOT},
        "adjectives.0.values": {"warm": {"is_physics": True}, "sweet": {}},
        "kinds.mug.properties": ["warm"],
    }
    assert saved(tmp_path) == small_catalogue(changed)


def test_a_file_that_changed_meanwhile_can_be_loaded_again(page: Any, tmp_path: Path) -> None:
    page.get_by_label("hot: true").check()
    expect(page.locator("#status")).to_have_text("Changes are not saved.")
    write_catalogue(tmp_path / "c.json", small_catalogue())
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#banner")).to_contain_text("was changed by someone else meanwhile; nothing was saved")
    page.get_by_role("button", name="Load the file again").click()
    expect(entry(page, "pear")).to_have_count(0)
    expect(page.get_by_label("hot: true")).not_to_be_checked()
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_label("hot: true")).to_be_checked()

    assert saved(tmp_path) == small_catalogue()


def test_two_windows_do_not_overwrite_each_other(page: Any, browser: Any, server: EditorServer) -> None:
    other = new_window(browser).new_page()
    other.goto(server.url)
    other.get_by_label("hot: true").check()
    expect(other.locator("#status")).to_have_text("Changes are not saved.")
    page.get_by_label("sweet: unclear").click()  # check() would look whether it stayed so, and the page takes it back
    expect(page.locator("#form-messages")).to_contain_text("changed in another window")
    expect(page.get_by_label("hot: true")).to_be_checked()
    expect(page.get_by_label("sweet: true")).to_be_checked()
    other.context.close()
