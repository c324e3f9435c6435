"""The director's instructions: what they say, that they can be read back, and what is wrong in files of one's own."""

from __future__ import annotations

import json
import re
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from commands import ROOT, Commands

from vqagen import export_file, write_trials
from vqagen.authoring.check.checking import check_paths
from vqagen.errors import BadInput
from vqagen.tasks.director.catalogue import load_catalogue_file
from vqagen.tasks.director.instructions import DESCRIPTION, FRAME, TARGET, Form, Instructions, load_instructions
from vqagen.tasks.director.layout import describe_items, layout_maker
from vqagen.tasks.director.rules import CLASS_OF, FRAMES, MIRRORED, RELATION, RULES, says_frame
from vqagen.tasks.director.settings import ALWAYS, DIRECTIONAL, NEVER, SUFFIXES, DirectorSettings
from vqagen.tasks.director.task import director_task

SHIPPED = ROOT / "templates" / "director" / "instructions.json"
DOCUMENT: dict[str, Any] = json.loads(SHIPPED.read_text("utf-8"))
CATALOGUE = load_catalogue_file()
PHRASES = ("red book", "item", "hot pair of scissors")
FORMS = [(rule, frame) for rule in CLASS_OF for frame in (None, *FRAMES)]


@pytest.fixture(scope="module")
def always() -> Instructions:
    return load_instructions(suffix=ALWAYS)


Reading = tuple[str, str | None, str]
"""Spoken rule, frame and description."""


@pytest.fixture(scope="module")
def readings() -> dict[str, list[Reading]]:
    """Every text about the PHRASES by the grammar of the shipped file, with the ways to read it."""
    frames = [(None, "")] + [(name, f"{said}, ") for name in FRAMES for said in DOCUMENT["frames"][name]]
    sentences = [said for record in DOCUMENT["templates"] for said in record["text"]]
    found: dict[str, list[Reading]] = {}
    for sentence, rule, (frame, beginning), phrase in product(sentences, CLASS_OF, frames, PHRASES):
        for target in DOCUMENT["targets"][rule]:
            text = sentence.replace(f"{FRAME}, ", beginning).replace(TARGET, target).replace(DESCRIPTION, phrase)
            text = text[0].upper() + text[1:]
            found.setdefault(text, []).append((rule, frame, phrase))
    return found


# The shipped texts ----------------------------------------------------------------------------------------------------


def test_each_rule_is_said_in_several_ways_that_can_be_read_back(
    always: Instructions, readings: dict[str, list[Reading]]
) -> None:
    """At least thirty sentences, fifteen templates, and two ways to say each rule but none; no text twice.

    The spoken rule is the opposite one only for left and right in other words than the participant's. The twin says the
    rule in the participant's words, without a frame, by a sentence of the same template.
    """
    for rule, frame in FORMS:
        forms = always.forms(rule, frame)
        texts = [form.instruction("…") for form in forms]
        assert len(DOCUMENT["targets"][rule]) >= (1 if rule == "none" else 2)
        assert len({form.template for form in forms}) >= 15
        assert len(texts) == len(set(texts)) >= 30
        spoken = MIRRORED.get(rule, rule) if frame != "participant" else rule
        for form, phrase in product(forms, PHRASES):
            assert readings[form.instruction(phrase)] == [(spoken, frame, phrase)]
        without = always.forms(MIRRORED.get(rule, rule), None)
        twins = {(form.template, form.twin("…")) for form in forms}
        assert twins == {(form.template, form.instruction("…")) for form in without}


def test_twins_differ_from_the_director_s_words_in_left_and_right_alone(always: Instructions) -> None:
    """Without a frame, they are the same sentence in the same way, but for the words for left and right."""
    swapped = {"left": "right", "right": "left", "leftmost": "rightmost", "rightmost": "leftmost"}
    for rule in CLASS_OF:
        for form in always.forms(rule, None):
            words = re.split(r"\b", form.instruction("…"))
            expected = "".join(swapped.get(word, word) for word in words)

            assert form.twin("…") == (expected if rule in MIRRORED else form.instruction("…"))


def test_sentences_are_tidy_and_name_no_speaker_but_the_line_that_relations_run_along() -> None:
    """The twin is said where nobody else is there; and no sentence hints at what the director cannot see."""
    for said in (text for record in DOCUMENT["templates"] for text in record["text"]):
        assert re.fullmatch(r"<F>, [a-z][^.?!]*[.?]", said), "who speaks comes first, not behind the item"
        assert not re.search(r"\b(I|me|my|we|us|see|hidden|blocked|behind)\b", said)
    for rule in RULES[RELATION]:
        line = "column" if rule in ("above", "below") else "row"
        assert all(text.endswith(line) for text in DOCUMENT["targets"][rule])


@pytest.mark.slow
def test_a_wider_noun_is_said_of_several_kinds() -> None:
    """A cactus is no "sharp plant", and a carrot no "vegetable": nobody says so, and it is a riddle."""
    places = {item.name: place for place, item in enumerate(CATALOGUE.items)}

    def said(*names: str) -> dict[tuple[str, ...], int]:
        found = describe_items(layout_maker(CATALOGUE), [places[name] for name in names])
        return {(described.noun, *described.adjectives): described.fitting for described in found}

    some = said("red_cactus_1", "blue_tulip_2", "blue_mug_2", "red_pizza_3")
    assert (some["plant",], some["food", "hot"], some["item", "hot"]) == (0b11, 0b1000, 0b1100)
    assert ("plant", "sharp") not in some
    doubted = said("red_cactus_1", "blue_tulip_2", "red_carrot_1")
    assert ("vegetable",) not in doubted
    assert ("plant",) not in doubted, "people may not agree whether a carrot is one"


def test_a_text_is_put_together() -> None:
    wording = load_instructions()
    form = wording.forms("leftmost", "director")[0]
    phrase = CATALOGUE.describe("scissors", ("red", "sharp"))

    assert form.template == "instructions.json#pick"
    assert form.instruction(phrase) == "From my point of view, please pick the rightmost sharp red pair of scissors."
    assert form.twin(phrase) == "Please pick the leftmost sharp red pair of scissors."
    assert CATALOGUE.describe("ice_lolly", ()) == "ice lolly"


SAYING = {
    DIRECTIONAL: {"leftmost", "rightmost", *RULES[RELATION]},
    ALWAYS: set(CLASS_OF),
    NEVER: set[str](),
}


def test_the_suffix_policy_decides_which_texts_say_a_frame() -> None:
    """Without a frame, left and right are the director's."""
    for suffix in SUFFIXES:
        wording = load_instructions(suffix=suffix)
        says = {rule for rule in CLASS_OF if wording.forms(rule, "director") != wording.forms(rule, None)}
        assert says == {rule for rule in CLASS_OF if says_frame(suffix, CLASS_OF[rule])} == SAYING[suffix]
    (form, *_) = load_instructions(suffix=NEVER).forms("leftmost", None)
    assert form.instruction("cup") == "Please pick the rightmost cup."
    assert form.twin("cup") == "Please pick the leftmost cup."


# Files of one's own ---------------------------------------------------------------------------------------------------


def file(folder: Path, document: object, name: str = "own.json") -> Path:
    path = folder / name
    path.write_text(document if isinstance(document, str) else json.dumps(document), "utf-8")
    return path


def test_a_file_replaces_the_sections_that_it_has(tmp_path: Path) -> None:
    """Each rule and frame for itself, and the templates as a whole; the rest is as shipped."""
    path = file(
        tmp_path, {"targets": {"none": ["only <D>"]}, "templates": [{"name": "get", "text": "Get the <T> <F>."}]}
    )
    wording = load_instructions(path, ALWAYS)

    assert [form.instruction("cup") for form in wording.forms("none", None)] == ["Get the only cup."]
    assert wording.forms("topmost", "director")[0] == Form(
        "own.json#get", "Get the topmost ", " from my point of view.", "Get the topmost ", "."
    )


def test_the_files_of_a_folder_are_used_together(tmp_path: Path) -> None:
    file(tmp_path, {"templates": [{"name": "get", "text": "Get the <T> <F>."}]}, "a.json")
    file(tmp_path, {"templates": [{"name": "get", "text": "Get me the <T> <F>."}]}, "b.json")

    assert [form.template for form in load_instructions(tmp_path).forms("none", None)] == ["a.json#get", "b.json#get"]


def test_a_run_names_the_content_of_its_instructions(tmp_path: Path) -> None:
    """Of a single file too, whose hash was once that of no file at all."""
    hashes = set()
    for text in ("Get the <T> <F>.", "Take the <T> <F>."):
        path = file(tmp_path, {"templates": [{"name": "get", "text": text}]})
        hashes.add(director_task(DirectorSettings(count=1), templates=path).hashes()["templates"])

    assert len(hashes) == 2


GERMAN = {
    "language": "de",
    "targets": {"none": ["<D>"], "topmost": ["oberste <D>"], "bottommost": ["unterste <D>"]},
    "templates": [{"name": "nehmen", "text": ["Nimm bitte die <T> <F>."]}],
}


@pytest.mark.slow
def test_instructions_of_another_language_need_no_english_article(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    """German sentences, and a catalogue that says what an `item` is called, make trials that are verified."""
    with pytest.raises(BadInput, match="no article"):
        load_instructions(file(tmp_path, {**GERMAN, "language": "en"}, "wrong.json"))
    file(tmp_path, GERMAN, "de.json")
    document = json.loads((ROOT / "metadata" / "director.json").read_text("utf-8"))
    document["nouns"]["item"] = {"singular": "Sache"}
    file(tmp_path, document, "things.json")

    monkeypatch.chdir(tmp_path)
    vqagen = Commands(capsysbinary)
    design = "--size-share 0 --horizontal-share 0 --vertical-share 0.5 --render none"
    vqagen.done(f"director generate --count 30 {design} --catalogue things.json --templates de.json --out trials")
    vqagen.done("verify --templates de.json trials")

    found = [json.loads(line) for line in (tmp_path / "trials" / "trials.jsonl").read_text("utf-8").splitlines()]
    assert all(each["instruction"].startswith("Nimm bitte die ") for each in found)
    assert {"Sache" in each["instruction"] for each in found if each["noun"] == "item"} == {True}


BLANKS = "blanks at an end, or several in a row; write single blanks between words"
NO_BLANK = "no blank before <F>; it is left out with its blank where no frame is said"
MISTAKES: list[tuple[dict[str, Any], list[str]]] = [
    ({"targets": {"none": ["the <D>"]}},
     ["targets.none[0]: an article before the target; the sentence has it: leave out 'the'"]),
    ({"targets": {"none": ["cup"]}}, ["targets.none[0]: expected <D> once, found no slot"]),
    ({"targets": {"none": ["<D> <D>"]}}, ["targets.none[0]: expected <D> once, found <D> <D>"]),
    ({"targets": {"none": ["<T>"]}}, ["targets.none[0]: expected <D> once, found <T>"]),
    ({"targets": {"none": [" <D>"]}}, [f"targets.none[0]: {BLANKS}"]),
    ({"targets": {"largest": ["smallest <D>"]}},
     ["targets.largest[0]: the same words as targets.smallest[0]; a text can have one meaning only"]),
    ({"targets": {"leftmost": ["leftmost <D>"]}},
     ["targets.leftmost: unequal numbers of ways: leftmost has 1 and rightmost has 3; give both the same number, "
      "way i of leftmost being the mirror image of way i of rightmost"]),
    ({"frames": {"director": ["as <D> sees it"]}}, ["frames.director[0]: expected no slot, found <D>"]),
    ({"frames": {"director": ["From your side of the shelf"]}},
     ["frames.director[0]: the same words as frames.participant[2]; a text can have one meaning only"]),
    ({"templates": [{"name": "a", "text": "Get the <T>."}]},
     ["templates[0].text: expected <T> and behind it <F> once, found <T>"]),
    ({"templates": [{"name": "a", "text": ["Get the <T>(<F>)"]}]},
     [f"templates[0].text[0]: {NO_BLANK}", "templates[0].text[0]: no mark at the end; write . ? or !"]),
    ({"templates": [{"name": "a", "text": "<F> get the <T>."}]},
     ["templates[0].text: no comma and blank behind <F>; they are left out with it where no frame is said"]),
    ({"templates": [{"name": "a", "text": "Get a <T> <F>."}]},
     ["templates[0].text: no article before the target; write: the <T>"]),
    ({"templates": [{"name": "a", "text": "Get the <T> <F>."}, {"name": "a", "text": "Get the <T> <F>!"}]},
     ["templates[1].name: name 'a' is taken by templates[0]"]),
    ({"templates": [{"name": "a", "text": ["Get the <T> <F>.", "get the <T> <F>."]}]},
     ["templates[0].text[1]: the same words as templates[0].text[0]; a text can have one meaning only"]),
]  # fmt: skip


def test_a_mistake_is_an_error_at_its_place(tmp_path: Path) -> None:
    """The loader and `vqagen check` find the same ones."""
    for document, told in MISTAKES:
        path = file(tmp_path, {"$schema": "director-templates.schema.json", **document})
        with pytest.raises(BadInput) as caught:
            load_instructions(path)
        report = check_paths([path])

        assert [f"{each.path}: {each.message}" for each in caught.value.problems] == told
        assert list(report.files[0].errors) == sorted(caught.value.problems, key=lambda each: (each.line, each.column))
        assert [each.kind for each in report.files] == ["director-templates"]


def test_the_command_checks_instructions_and_catalogues(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    """Shipped ones have no mistakes; instructions are known by their keys."""
    vqagen = Commands(capsysbinary)
    path = file(tmp_path, '{\n  "targets": {\n    "topmots": ["topmost <D>"]}}')
    shipped = vqagen.done(f"check {SHIPPED.parent} {ROOT / 'metadata' / 'director.json'}")
    found = vqagen(f"check {path}")

    assert shipped.out == b"0 errors, 0 warnings in 2 files\n"
    assert (found.code, found.out.decode().splitlines()[:2]) == (
        1,
        [str(path), "  error  3:16  targets.topmots  unknown key 'topmots'; did you mean 'topmost'?"],
    )


def test_check_says_that_trials_are_verified_elsewhere(tmp_path: Path) -> None:
    """And takes no info beside an output for one: it was once an error of an unknown kind."""
    for form in ("jsonl", "json"):
        write_trials(tmp_path / form, DirectorSettings(count=4, render=("none",)), format=form)
    export_file(tmp_path / "json", tmp_path / "reference.json", "reference")
    for form in ("jsonl", "json", "reference.json"):
        report = check_paths([tmp_path / form])
        assert [(each.kind, each.not_checked) for each in report.files] == [("trials", ["trials: see `vqagen verify`"])]
        assert report.errors == 0
