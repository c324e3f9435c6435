"""`vqagen explain --dialog` shows what the questioner knows in each round, and what the question refers to."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from dialog_play import dialog_scene
from generated_dialogs import generated
from scene_records import SMALL_SCENES, sampled_scenes

import vqagen
from vqagen.authoring.dialog_explanation import FoundDialog, explain_dialog, scene_of, split_place
from vqagen.authoring.known_facts import KnownFacts
from vqagen.language.domain_files import find_domain
from vqagen.language.shipped_domains import DIALOGS
from vqagen.records.discovery import find_records
from vqagen.tasks.dialog.consequences import answer_follows
from vqagen.tasks.dialog.dialog_files import DIALOGS as DIALOG_RECORDS
from vqagen.tasks.dialog.knowledge import Rules
from vqagen.tasks.dialog.loading import load_dialog_domain
from vqagen.tasks.dialog.origin import origin_of
from vqagen.tasks.dialog.prospect import Prospect
from vqagen.tasks.dialog.quotas import PRESETS
from vqagen.tasks.dialog.replay import POSSIBLE, possible_moves, replay
from vqagen.tasks.dialog.rounds import ROUND_KINDS

Record = dict[str, Any]


def said(label: str, args: Record, facts: list[Record], **more: Any) -> Record:
    """A round or a caption, without what `more` adds."""
    program = {"label": label, "args": args}
    return {"label": label, "variant": 0, "program": program, "mentions": [], "knowledge_delta": facts, **more}


def refers(history: str, antecedents: list[Record], told: int | None = None, last: int | None = None) -> Record:
    """A history entry."""
    return {"class": history, "dependence": 0, "d_reveal": told, "d_last": last, "antecedents": antecedents}


def antecedent(to: int, entity: int, via: str, span: list[int] | None, earlier: list[int] | None = None) -> Record:
    """An antecedent."""
    return {"round": to, "entity": entity, "via": via, "span": span, "antecedent_span": earlier}


DIALOG: Record = {
    "dialog_index": 0,
    "scene_index": 0,
    "image_filename": "TEST_000000.png",
    "dialog": 0,
    "caption": said(
        "unique-obj",
        {"object": 2, "values": {"color": "blue"}, "exactly": True},
        [
            {"fact": "attribute", "object": 2, "attribute": "color", "value": "blue"},
            {"fact": "value-count", "attribute": "color", "value": "blue", "count": 1},
        ],
        text="Just one thing is blue.",
        mentions=[{"entity": 0, "role": "result", "span": [0, 3]}],
    ),
    "rounds": [
        said(
            "exist-obj-rel-imm",
            {"focus": 2, "relation": "right"},
            [{"fact": "related-exists", "object": 2, "relation": "right", "exists": True}],
            question="Is anything right of it?",
            answer="yes",
            history=refers("Coref", [antecedent(0, 0, "pronoun", [4, 5], [0, 3])], 1, 1),
            referents={"focus": [2], "result": [0, 1]},
        ),
        said(
            "count-all-group",
            {"group": [0, 1]},
            [
                {"fact": "related-count", "object": 2, "relation": "right", "count": 2},
                {"fact": "group", "objects": [0, 1], "size": 2, "values": {}},
            ],
            question="How many?",
            answer=2,
            history=refers("Coref", [antecedent(1, 1, "group", None)], 1, 1),
            referents={"focus": [0, 1], "result": [0, 1]},
        ),
        said(
            "count-attribute",
            {"attribute": "color", "value": "green"},
            [{"fact": "value-count", "attribute": "color", "value": "green", "count": 0}],
            question="How many things are green?",
            answer=0,
            history=refers("None", []),
            referents={"focus": [], "result": []},
        ),
    ],
    "entities": [
        {"id": 0, "objects": [2], "mentions": [{"round": 0, "span": [0, 3]}]},
        {"id": 1, "objects": [0, 1], "mentions": []},
    ],
}


@pytest.fixture
def vqagen_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in a folder with scenes and a dialog."""
    monkeypatch.chdir(tmp_path)
    Path("scenes.json").write_text(json.dumps({"info": {}, "scenes": SMALL_SCENES}))
    write(DIALOG)
    return Commands(capsysbinary)


MADE: Record = {"generator": {"name": "vqagen", "settings": {"quotas": "smooth"}}}
"""An info that says how dialogs were made."""


def write(*dialogs: Mapping[str, Any], **info: Any) -> None:
    """Write dialogs.json."""
    Path("dialogs.json").write_text(json.dumps({"info": info, "dialogs": dialogs}))


def explained(vqagen_: Commands, place: str = "dialogs.json") -> Any:
    """The explanation as JSON."""
    return json.loads(vqagen_.done(f"explain --dialog {place} --scenes scenes.json --json").out)


def test_each_round_shows_what_was_known_before_it_and_what_its_answer_tells(vqagen_: Commands) -> None:
    rounds = explained(vqagen_)["rounds"]

    assert [each["knows"] for each in rounds] == [
        [],
        ["#2: blue", "scene: 1 blue"],
        ["#2: blue, something right of it", "scene: 1 blue"],
        ["#2: blue, 2 right of it", "scene: 1 blue, a set of 2 (#0 #1)"],
    ]
    assert [each["tells"] for each in rounds[1:]] == [
        ["#2: something right of it"],
        ["#2: 2 right of it", "scene: a set of 2 (#0 #1)"],
        ["scene: no green"],
    ]


def test_references_show_their_words_objects_and_antecedents(vqagen_: Commands) -> None:
    """The third round refers to nothing; in the second, the group is not said."""
    rounds = explained(vqagen_)["rounds"]

    assert [each["references"] for each in rounds[1:]] == [
        [{"words": "it", "via": "pronoun", "objects": [2], "round": 0, "antecedent": "Just one thing"}],
        [{"words": "", "via": "group", "objects": [0, 1], "round": 1, "antecedent": ""}],
        [],
    ]
    assert [each["result"] for each in rounds] == [[2], [0, 1], [0, 1], []]
    assert rounds[1]["program"] == "exist-obj-rel-imm(focus=2, relation=right)"


def test_people_read_one_block_for_each_round(vqagen_: Commands) -> None:
    out = vqagen_.done("explain --dialog dialogs.json#0 --scenes scenes.json").out.decode()

    assert "  #2 small blue metal cube\n" in out
    assert (
        "Round 1  Is anything right of it? yes  exist-obj-rel-imm\n"
        "  knows   #2: blue\n"
        "          scene: 1 blue\n"
        "  refers  told 1 round ago, last mentioned 1 round ago\n"
        '          "it" = #2, of the caption: "Just one thing"\n'
        "  program exist-obj-rel-imm(focus=2, relation=right)\n"
        "  about   #0 #1\n"
        "  tells   #2: something right of it\n"
    ) in out
    assert "left out (group) = #0 #1, of round 1\n" in out
    assert "  refers  to nothing said before\n" in out


def test_other_kinds_of_rounds_are_possible_or_have_a_reason(vqagen_: Commands) -> None:
    """The info says by which rules; kinds with the same reason share a line."""
    write(DIALOG, **MADE)
    first = explained(vqagen_)["rounds"][1]

    assert "seek-attr-imm" in first["possible"]
    assert first["not_possible"]["count-attribute-group"] == "no group that 'they' stands for"
    assert "exist-obj-rel-imm" not in {*first["possible"], *first["not_possible"]}
    out = vqagen_.done("explain --dialog dialogs.json --scenes scenes.json").out.decode()
    assert "count-all-group, count-attribute-group, exist-attribute-group: no group that 'they' stands for\n" in out


def test_nothing_is_said_of_other_kinds_if_the_file_does_not_say_how_it_was_made(vqagen_: Commands) -> None:
    rounds = explained(vqagen_)["rounds"]

    assert all((each["possible"], each["not_possible"]) == ([], {}) for each in rounds)


@pytest.mark.quick(1)
@pytest.mark.parametrize("domain", ["clevr", "market"])
def test_generated_dialogs_can_be_explained(domain: str, tmp_path: Path) -> None:
    """Names refer to one object, and each question but those without history refers to something."""
    (tmp_path / "scenes.json").write_text(json.dumps({"scenes": sampled_scenes(2, domain=domain)}))
    files = find_domain(domain, task=DIALOGS)
    vqagen.write_dialogs(tmp_path / "scenes.json", tmp_path / "dialogs.json", files)
    synonyms = load_dialog_domain(files).synonyms

    source = find_records(tmp_path / "dialogs.json", DIALOG_RECORDS)
    origin = origin_of(source.info, "d")
    assert origin is not None
    for dialog in source.entries():
        scene = scene_of(dialog, vqagen.find_scenes(tmp_path / "scenes.json"), synonyms.domain)
        caption, *rounds = explain_dialog(FoundDialog(dialog, origin), "d", scene, synonyms).rounds
        assert caption.tells
        assert all(len(each.possible) + len(each.not_possible) == len(ROUND_KINDS) - 1 for each in rounds)
        assert all(bool(each.references) == (each.history == "Coref") for each in rounds)
        named = [to for each in rounds for to in each.references if to.via == "np"]
        assert named and all(to.words and len(to.objects) == 1 for to in named)


def test_a_dialog_is_found_by_its_place_and_its_scene_by_the_image(vqagen_: Commands) -> None:
    """Its `scene_index` may be that of a shard's input."""
    other = {**DIALOG, "scene_index": 2, "image_filename": "TEST_000001.png"}
    write(DIALOG, other)

    found = explained(vqagen_, "dialogs.json#1")
    assert (found["place"], found["scene"], found["image"]) == ("dialogs.json#1", 1, "TEST_000001.png")


def test_programs_that_do_not_fit_the_scene_are_refused(vqagen_: Commands) -> None:
    """As those of another version, or of another file."""
    dialog: Any = copy.deepcopy(DIALOG)
    dialog["rounds"][0]["program"]["args"]["relation"] = "above"
    write(dialog, **MADE)
    ran = vqagen_("explain --dialog dialogs.json --scenes scenes.json")

    assert ran.code == 3
    assert "dialogs[0]: its programs cannot be run again on this scene" in ran.err


def test_a_file_may_have_a_number_sign_in_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("d#1").touch()

    assert split_place("d#1") == ("d#1", 0)
    assert split_place("d#1#2") == ("d#1", 2)
    assert split_place("x#1") == ("x", 1)


@pytest.mark.parametrize(
    ("facts", "lines"),
    [
        (
            [
                {"fact": "alike-exists", "object": 1, "attribute": "color", "exists": False},
                {"fact": "attribute", "object": 1, "attribute": "color", "value": "red"},
                {"fact": "value-exists", "attribute": "color", "value": "red", "exists": True},
            ],
            ["#1: red, no other of its color"],
        ),
        (
            [
                {"fact": "related-count", "object": 1, "relation": "left", "count": 0},
                {"fact": "related-exists", "object": 1, "relation": "left", "exists": False},
                {"fact": "related-exists", "object": 1, "relation": "front", "exists": True},
            ],
            ["#1: nothing left of it, something front it"],
        ),
        (
            [
                {"fact": "alike-exists", "object": 1, "attribute": "size", "exists": True},
                {"fact": "alike-count", "object": 1, "attribute": "size", "count": 1},
                {"fact": "alike-exists", "object": 2, "attribute": "size", "exists": False},
                {"fact": "alike-count", "object": 3, "attribute": "size", "count": 3},
            ],
            ["#1: 1 other of its size", "#2: no other of its size", "#3: 3 others of its size"],
        ),
        (
            [
                {"fact": "scene-count", "count": 7},
                {"fact": "rest-exists", "exists": False},
                {"fact": "group", "objects": [], "size": None, "values": {"color": "red"}},
                {"fact": "value-exists", "attribute": "color", "value": "cyan", "exists": False},
            ],
            ["scene: 7 objects, all had been mentioned, a set of some red, no cyan"],
        ),
        ([{"fact": "new", "of": 1}], ['scene: {"fact": "new", "of": 1}']),
    ],
)
def test_facts_have_words(facts: list[Record], lines: list[str]) -> None:
    """Values come first; a number replaces that there is any; a fact of another version is shown as it is."""
    assert KnownFacts({"left": "left of"}).add(facts).lines() == lines


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("--dialog dialogs.json", 2, "--dialog needs --scenes: the scenes that dialogs.json is about"),
        ("--dialog dialogs.json one_hop.json", 2, "--dialog explains a dialog; leave out one_hop.json"),
        ("--dialog dialogs.json --functions", 2, "leave out --functions"),
        ("--dialog dialogs.json --scenes scenes.json --scene 4", 2, "--dialog needs no --scene: the dialog says"),
        ("--dialog no.json#1 --scenes scenes.json", 2, "dialogs not found: no.json"),
        ("--dialog dialogs.json#4 --scenes scenes.json", 2, "there is no dialog 4 in dialogs.json: it has 1"),
        ("--dialog clevr.json --scenes scenes.json", 2, "clevr.json is in CLEVR-Dialog's shape"),
        ("--dialog scenes.json --scenes scenes.json", 3, "expected the key 'dialogs'"),
    ],
)
def test_what_cannot_be_explained_is_said(line: str, code: int, message: str, vqagen_: Commands) -> None:
    Path("clevr.json").write_text('[{"image_filename": "x", "dialogs": []}]')
    ran = vqagen_(f"explain {line}")

    assert (ran.code, ran.out) == (code, b"")
    assert message in ran.err


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["rounds"], {}, "dialogs[0].rounds: expected a list, found an object"),
        (["rounds", 0], 3, "dialogs[0].rounds[0]: expected a round, found 3"),
        (["rounds", 0, "question"], None, "dialogs[0].rounds[0].question: expected text"),
        (["rounds", 0, "program"], None, "dialogs[0].rounds[0].program: expected an object"),
        (["rounds", 0, "knowledge_delta"], None, "dialogs[0].rounds[0].knowledge_delta: expected a list"),
        (["rounds", 0, "knowledge_delta", 0], {"fact": "group"}, "knowledge_delta[0]: expected a fact as"),
        (["rounds", 0, "knowledge_delta", 0, "object"], 9, "object: expected objects 0 to 2 of scene 0, found 9"),
        (["rounds", 0, "referents", "result"], ["0"], "referents.result: expected objects 0 to 2 of scene 0"),
        (["rounds", 0, "history", "antecedents"], [{"round": 7}], "expected the number of an earlier round, found 7"),
        (["caption"], "Red.", "dialogs[0].caption: expected an object, found 'Red.'"),
        (["entities", 0, "objects"], 1, "dialogs[0].entities[0].objects: expected a list of objects, found 1"),
        (["image_filename"], "x.png", "dialogs[0]: there is no scene of this image_filename in scenes.json"),
    ],
)
def test_a_dialog_that_is_not_as_it_should_be_is_placed(
    path: list[str | int], value: Any, message: str, vqagen_: Commands
) -> None:
    dialog: Any = copy.deepcopy(DIALOG)
    part = dialog
    for key in path[:-1]:
        part = part[key]
    part[path[-1]] = value
    write(dialog)
    ran = vqagen_("explain --dialog dialogs.json --scenes scenes.json")

    assert ran.code == 3, ran.err
    assert message in ran.err


def test_a_kind_of_round_whose_answers_are_all_known_was_not_possible() -> None:
    """Answers that follow by counting too: the search would not have taken such a question."""
    prospect = Prospect(PRESETS["smooth"], 10)
    for record in generated(6)[::5]:
        scene = dialog_scene(sampled_scenes(6)[record["scene_index"]])
        for moment in replay(record, scene, Rules(), prospect):
            for label in (name for name, reason in moment.reasons.items() if reason == POSSIBLE):
                moves = possible_moves(ROUND_KINDS[label], scene, moment.knowledge, Rules())
                assert not all(answer_follows(scene, moment.knowledge, move) for move in moves), label
