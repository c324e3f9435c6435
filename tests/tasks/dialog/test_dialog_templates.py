"""Dialog templates as authors write them: what is wrong, where, and what would be right; and what is doubtful."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import ROOT, Commands
from generated_dialogs import generated
from scene_records import sampled_scenes

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.checking import check_paths
from vqagen.errors import BadInput
from vqagen.language.domain_files import DIALOGS, find_domain, load_domain_files
from vqagen.tasks.dialog.loading import load_dialog_domain
from vqagen.tasks.dialog.quotas import PRESETS
from vqagen.tasks.dialog.search import DialogGenerator
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.world.scene import compile_scene

SHIPPED = ROOT / "templates" / "dialog"
SEEK: dict[str, Any] = {
    "name": "seek",
    "label": "seek-attr-imm",
    "family": "seek",
    "slots": {"A": "Attribute"},
    "text": ["What is {focus|its} <A>?", "Which <A> has {focus|it}?"],
}
EXTREME: dict[str, Any] = {
    "name": "extreme",
    "label": "extreme-*",
    "family": "caption",
    "text": ["{result|The <E> <N>} is a <D>.", "Nothing is <R> {result|a <D>}."],
}
EARLY: dict[str, Any] = {
    "name": "early",
    "label": "seek-attr-early",
    "family": "seek",
    "text": ["What is the <A> of {focus|the <D> from before}?"],
}


UNIQUE: dict[str, Any] = {
    "name": "unique",
    "label": "unique-obj",
    "family": "caption",
    "text": "There is {result|a <D>}.",
}


def file(folder: Path, *records: dict[str, Any], name: str = "own.json") -> Path:
    """A file of dialog templates."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps({"templates": records}), "utf-8")
    return path


def mistakes(report: CheckReport) -> list[tuple[str, str]]:
    return [(each.path, each.message) for found in report.files for each in found.errors]


def doubts(report: CheckReport) -> list[tuple[str, str]]:
    return [(code, problem.path) for found in report.files for code, problem in found.warnings]


def found_in(folder: Path, *records: dict[str, Any], domain: str = "clevr") -> CheckReport:
    return check_paths([file(folder, *records)], domain=domain)


# Mistakes -----------------------------------------------------------------------------------------------------------

IT_FILLS = "it fills <A> (Attribute), <N> (Noun)"
WRONG: list[tuple[dict[str, Any], dict[str, Any], list[tuple[str, str]]]] = [
    (SEEK, {"label": "seek-attr-im"}, [("label", "unknown label 'seek-attr-im'; did you mean 'seek-attr-imm'?")]),
    (SEEK, {"family": "count"}, [("family", "seek-attr-imm belongs to the family 'seek', not 'count'")]),
    (SEEK, {"family": "seeks"},
     [("family", "expected 'caption', 'count', 'exist' or 'seek', found 'seeks'; did you mean 'seek'?")]),
    (SEEK, {"form": "bare"}, [("form", "seek-attr-imm has no forms; leave 'form' out")]),
    (SEEK, {"slots": {"A": "Attribute", "R": "Relation"}},
     [("slots.R", f"seek-attr-imm does not fill the slot 'R'; {IT_FILLS}")]),
    (SEEK, {"slots": {"A": "Relation"}}, [("slots.A", "the type of the slot 'A' is Attribute, not Relation")]),
    (SEEK, {"slots": {"N": "Noun"}}, [("slots", "the slot A is missing, which seek-attr-imm must say")]),
    (SEEK, {"text": "What is {focus|its} <A> <R>?"},
     [("text", f"seek-attr-imm does not fill the slot <R>; {IT_FILLS}")]),
    (SEEK, {"text": ["What is {focus|its} color?"]},
     [("text[0]", "it does not always say <A>, and so leaves open what seek-attr-imm is about")]),
    (SEEK, {"text": ["What is {focus|its} [<A>]?"]},
     [("text[0]", "it does not always say <A>, and so leaves open what seek-attr-imm is about")]),
    (SEEK, {"text": ["What are {focus|its} <A>s?"]}, [("text[0]", "<A>s: only <N> and <V> have a plural")]),
    (SEEK, {"text": ["What is its <A>?"]},
     [("text[0]", "no mark {focus|…}: put it around the words that name the object that the question refers back to")]),
    (SEEK, {"text": ["What is {fokus|its} <A>?"]},
     [("text[0]", "unknown role 'fokus'; did you mean 'focus'?")]),
    (SEEK, {"text": ["What is {focus|its} <A>, {group|them}?"]},
     [("text[0]", "seek-attr-imm has no group to mark; it has focus, result")]),
    (SEEK, {"text": ["What of {focus|it} is {focus|its} <A>?"]},
     [("text[0]", "focus is marked twice; mark the place that says most")]),
    (SEEK, {"text": ["What is {focus|} <A>?"]}, [("text[0]", "the mark {focus|…} holds no words")]),
    (SEEK, {"text": ["What is the <A> [of {focus|it}]?"]},
     [("text[0]", "the mark {focus|…} is in an optional part; seek-attr-imm must always say it")]),
    (SEEK, {"text": ["What is {focus|its} <A>?", "What [is {focus|its} <A>?"]},
     [("text[1]", "brackets [ ] and marks { } do not pair up: '[' is never closed")]),
    (SEEK, {"text": ["What is {focus|its <A>?"]},
     [("text[0]", "brackets [ ] and marks { } do not pair up: '{' is never closed")]),
    (SEEK, {"text": ["What is {focus|its} <A>]?"]},
     [("text[0]", "brackets [ ] and marks { } do not pair up: ']' closes nothing that is open")]),
    (SEEK, {"text": ["What [is {focus|its] <A>}?"]},
     [("text[0]", "brackets [ ] and marks { } do not pair up: ']' closes nothing that is open")]),
    (SEEK, {"text": ["What [is [now] {focus|its} <A>]?"]},
     [("text[0]", "optional parts [ ] cannot stand inside each other")]),
    (SEEK, {"text": ["What is {its} <A>?"]}, [("text[0]", "a stray '{'; a mark is written {role|words}")]),
    (SEEK, {"text": ["What is {focus|its} <A >?"]}, [("text[0]", "a stray '<'; a slot is written <X>"),
                                                    ("text[0]", "a stray '>'; a slot is written <X>")]),
    (SEEK, {"text": [" "]}, [("text[0]", "expected some text, found ' '")]),
    (SEEK, {"text": []}, [("text", "expected a list of at least 1, found a list of 0")]),
    (EARLY, {"text": ["What is the <A> of {focus|it}, the <D>?"]},
     [("text[0]", "the mark {focus|…} must hold <D>")]),
    (EARLY, {"text": "What is the <A> of {focus|the [fare|earlier] <D>}?"},
     [("text", "unknown condition 'fare'; did you mean 'far'?")]),
    (EARLY, {"text": "What is the <A> of {focus|the <D>}[unsure|, if any]?"},
     [("text", "seek-attr-early has no condition 'unsure'; it has near, far, back")]),
    (SEEK, {"text": "What is {focus|its} <A> [far|then]?"},
     [("text", "seek-attr-imm has no condition 'far'; it has none")]),
    (EARLY, {"text": ["[far|What is the <A> of {focus|the earlier <D>}?]"]},
     [("text", "no text can be said where these conditions hold: near")]),
    (EARLY, {"text": "What is [near|the <A> of] {focus|the <D>}?"},
     [("text", "it does not always say <A>, and so leaves open what seek-attr-early is about")]),
    (EXTREME, {"label": "extreme-nearer"},
     [("label", "unknown label 'extreme-nearer'; known: extreme-*, extreme-center, unique-obj, count-att, count-att-no,"
      " obj-relation, extreme-left, extreme-right, extreme-behind, extreme-front, count-all, count-other, …")]),
    (EXTREME, {"text": ["{result|A <D>} is there."]},
     [("text[0]", "it does not always say <E> or <R>, and so leaves open what extreme-* is about")]),
    (UNIQUE, {}, [("", "missing key 'form': unique-obj needs one of exact, bare")]),
    (UNIQUE, {"form": "exct"}, [("form", "unknown form of unique-obj 'exct'; did you mean 'exact'?")]),
]  # fmt: skip


def test_a_mistake_is_found_at_its_place(tmp_path: Path) -> None:
    """All records stand in one file."""
    records = [{**record, **change, "name": f"record {number}"} for number, (record, change, _) in enumerate(WRONG)]
    expected = [
        (f"templates[{number}].{path}".removesuffix("."), message)
        for number, (_, _, faults) in enumerate(WRONG)
        for path, message in faults
    ]

    assert sorted(mistakes(found_in(tmp_path, *records))) == sorted(expected)


def test_all_mistakes_are_found_at_once(tmp_path: Path) -> None:
    """Of shape and of meaning, in several records of several files."""
    file(tmp_path, {**SEEK, "family": 3}, {**SEEK, "label": "seek"}, name="a.json")
    file(tmp_path, {**EARLY, "text": "<A>"}, name="b.json")
    report = check_paths([tmp_path], domain="clevr")

    assert [path for path, _ in mistakes(report)] == [
        "templates[0].family", "templates[1].label", "templates[0].text", "templates[0].text",
    ]  # fmt: skip
    with pytest.raises(BadInput) as caught:
        load_dialog_domain(find_domain("clevr", templates=tmp_path))
    assert len(caught.value.problems) == len(mistakes(report))


def test_a_name_or_a_label_is_taken_once(tmp_path: Path) -> None:
    taken = [
        ("templates[1].name", "name 'seek' is taken by templates[0]"),
        ("templates[1].label", "seek-attr-imm has texts in own.json#seek; put these there"),
    ]

    assert mistakes(found_in(tmp_path, SEEK, SEEK)) == taken


def test_a_direction_without_a_word_needs_a_text_with_its_relation(tmp_path: Path) -> None:
    """Such as nearer, if nobody wrote "frontmost" into the synonyms."""
    synonyms = tmp_path / "words.json"
    synonyms.write_text('{"Extreme": {"left": ["leftmost"], "right": ["rightmost"], "front": ["frontmost"]}}', "utf-8")
    own = file(tmp_path / "own", {**EXTREME, "text": EXTREME["text"][:1]})
    report = check_paths([own, synonyms], domain="clevr")

    assert [path for path, _ in mistakes(report)] == ["templates[0].text"]
    assert "no text can say extreme-behind" in mistakes(report)[0][1]
    with pytest.raises(BadInput, match="no text can say extreme-behind"):
        load_dialog_domain(find_domain("clevr", templates=own, synonyms=synonyms))


# Doubts ---------------------------------------------------------------------------------------------------------------

DOUBTFUL: list[tuple[list[dict[str, Any]], list[tuple[str, str]]]] = [
    ([{**SEEK, "text": ["Tell me {focus|its} <A>"]}], [("no-final-mark", "templates[0].text[0]")]),
    ([{**SEEK, "text": ["What is {focus|its} <A>?", "What [now] is {focus|its} <A> ?"]}],
     [("repeated-text", "templates[0].text[1]")]),
    ([SEEK, {**SEEK, "name": "x", "label": "seek-attr-imm2", "text": ["What is the <A>?", "What is {focus|its} <A>?"]}],
     [("same-text", "templates[1].text[1]")]),
]  # fmt: skip


def test_what_is_doubtful_has_its_code(tmp_path: Path) -> None:
    for records, expected in DOUBTFUL:
        report = found_in(tmp_path, *records)

        assert (mistakes(report), doubts(report)) == ([], expected)


def test_a_text_that_a_shipped_label_has_is_doubtful(tmp_path: Path) -> None:
    """The shipped templates of the other labels are used with one's own."""
    again = {**SEEK, "label": "seek-attr-imm2", "text": "What is {focus|its} <A>?"}

    assert doubts(found_in(tmp_path, again)) == [("same-text", "templates[0].text")]


def test_a_domain_without_directions_has_no_dialogs(tmp_path: Path) -> None:
    """Its dialog templates are not checked, and that is said."""
    (tmp_path / "metadata.json").write_text('{"types": {"Size": ["big"], "Kind": ["cat"]}}', "utf-8")
    report = check_paths([tmp_path, file(tmp_path / "dialogs", SEEK)])

    assert mistakes(report) == []
    assert ["no dialogs about" in reason for found in report.files for reason in found.not_checked] == [True]


# Recognition and loading ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["clevr", "market"])
def test_the_shipped_templates_pass(domain: str, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    ran = Commands(capsysbinary).done(f"check {SHIPPED} --strict --domain {domain}")

    assert ran.out == b"0 errors, 0 warnings in 4 files\n"


@pytest.mark.parametrize("form", ["list", "document", "not-json"])
def test_dialog_templates_are_known_by_their_keys(form: str, tmp_path: Path) -> None:
    """Whether they stand in a list or a document; by the file's name if it is no JSON."""
    path = tmp_path / "my-dialog-templates.json"
    texts = {"list": json.dumps([SEEK]), "document": json.dumps({"templates": [SEEK]}), "not-json": "[{"}
    path.write_text(texts[form], "utf-8")
    report = check_paths([path], domain="clevr")

    assert [each.kind for each in report.files] == ["dialog-templates"]
    assert bool(report.errors) == (form == "not-json")


def test_templates_of_another_kind_are_named_once() -> None:
    """And not as 90 records without a label."""
    with pytest.raises(BadInput, match=r"zero_hop.json: these are templates of questions") as caught:
        load_dialog_domain(find_domain("clevr", templates=ROOT / "templates" / "clevr" / "zero_hop.json"))
    assert len(caught.value.problems) == 1
    with pytest.raises(BadInput, match=r"seek.json: these are templates of dialogs") as caught:
        load_domain_files(find_domain("clevr", templates=SHIPPED / "seek.json"))
    assert len(caught.value.problems) == 1


def test_own_templates_go_before_the_shipped_ones(tmp_path: Path) -> None:
    """A folder with one label is enough."""
    loaded = load_dialog_domain(find_domain("market", templates=file(tmp_path, SEEK)))
    shipped = load_dialog_domain(find_domain("market", task=DIALOGS))

    assert list(loaded.templates["seek-attr-imm", ""].texts) == SEEK["text"]
    assert loaded.templates.keys() == shipped.templates.keys()
    assert loaded.hashes["templates"] != shipped.hashes["templates"]


def test_templates_do_not_decide_what_is_asked(tmp_path: Path) -> None:
    """With other texts, dialogs differ in their words alone: these draw from a stream of their own."""
    own = file(tmp_path, {**SEEK, "text": ["What [now] is [then] {focus|its} <A> [here]?"]})
    loaded = load_dialog_domain(find_domain("clevr", templates=own))
    scene = compile_scene(sampled_scenes(1)[0], loaded.domain)
    generator = DialogGenerator(loaded, DialogSettings(), PRESETS["smooth"])
    made = generator.dialogs(scene, generator.balance(scene.index))[0]
    asked, usual = ([[(each["program"], each["answer"]) for each in one["rounds"]] for one in dialogs]
                    for dialogs in (made, generated(1)))  # fmt: skip

    assert asked == usual != []


def test_a_folder_of_a_domain_may_have_dialogs(tmp_path: Path) -> None:
    """Beside its question templates; without them, the shipped ones are used."""
    (tmp_path / "metadata.json").write_bytes((ROOT / "metadata" / "clevr.json").read_bytes())

    assert find_domain(tmp_path, task=DIALOGS).templates.resolve() == SHIPPED.resolve()
    file(tmp_path / "dialogs", SEEK)
    assert find_domain(tmp_path, task=DIALOGS).templates == tmp_path / "dialogs"
