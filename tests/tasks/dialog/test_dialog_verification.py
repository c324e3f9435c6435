"""`vqagen verify` proves a file of dialogs, or says what is wrong with which sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from dialog_domains import compiled, dialog_domain
from generated_dialogs import generated
from readme_blocks import ROOT
from scene_records import sampled_scenes

import vqagen
from vqagen.language.domain_files import find_domain
from vqagen.report.verification import VerificationReport
from vqagen.run.making import write_dialogs
from vqagen.tasks.dialog.settings import DialogSettings
from vqagen.tasks.dialog.verification import DialogVerification

Record = dict[str, Any]
SCENES = 3


@pytest.fixture
def scenes() -> list[Record]:
    """The scenes of the dialogs."""
    return sampled_scenes(SCENES)


@pytest.fixture
def dialogs() -> Record:
    """A document of two dialogs without faults, which a test may spoil."""
    made = [{**deepcopy(each), "dialog_index": number} for number, each in enumerate(generated(SCENES)[:2])]
    settings = {"rounds": 10, "quotas": "smooth"}
    return {"info": {"generator": {"name": "vqagen", "settings": settings}}, "dialogs": made}


@pytest.fixture
def vqagen_(vqagen_: Commands, scenes: list[Record]) -> Commands:
    """Runs commands in a folder with scenes.json."""
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))
    return vqagen_


def verified(vqagen_: Commands, document: object, name: str = "d.json") -> Record:
    """The report on a document without its checksum, as JSON; the exit code says whether there is a fault."""
    given = {key: value for key, value in document.items() if key != "checksum"} if isinstance(document, dict) else None
    Path(name).write_text(json.dumps(given or document))
    if (beside := Path(f"{name}.info.json")).exists():
        beside.write_text(re.sub('"checksum": "[^"]*"', '"note": ""', beside.read_text()))
    ran = vqagen_(f"verify {name} --scenes scenes.json --json")
    report: Record = json.loads(ran.out)
    assert ran.code == (1 if report["by_problem"] else 0), ran.err
    return report


def judged(
    dialogs: Iterable[Record], scenes: Sequence[Record], domain: str = "clevr", **settings: Any
) -> VerificationReport:
    """The report on generated dialogs."""
    verification = DialogVerification(dialog_domain(domain), settings)
    seen = [compiled(record, domain) for record in scenes]
    for position, dialog in enumerate(dialogs):
        verification.take(dialog, position, replace(seen[dialog["scene_index"]], index=dialog["scene_index"]))
    return verification.report


@pytest.mark.quick(1)
@pytest.mark.parametrize(("domain", "count"), [("clevr", 5), ("market", 2)])
def test_generated_dialogs_have_no_fault(domain: str, count: int) -> None:
    """Sentences, answers, references, what is known, annotations, shares and differences."""
    report = judged(generated(count, domain=domain), sampled_scenes(count, domain=domain), domain, quotas="smooth")

    assert (report.checked, report.mismatches, dict(report.unproven)) == (5 * count, [], {})


@pytest.mark.slow
def test_dialogs_are_of_the_domain_that_their_file_names(tmp_path: Path) -> None:
    given = tmp_path / "scenes.json"
    given.write_text(json.dumps({"scenes": list(sampled_scenes(2, domain="market"))}))
    market = find_domain("market", task="dialogs")
    write_dialogs(given, tmp_path / "d.json", market, DialogSettings(dialogs_per_image=1))

    assert vqagen.verify(tmp_path / "d.json", given).mismatches == []


def test_each_fault_says_dialog_round_sentence_and_why(vqagen_: Commands, dialogs: Record) -> None:
    """The exit code is 1."""
    asked = dialogs["dialogs"][0]["rounds"][3]
    asked["answer"] = 77
    Path("d.json").write_text(json.dumps(dialogs))

    ran = vqagen_("verify d.json --scenes scenes.json")

    assert ran.code == 1
    (line,) = [line for line in ran.out.decode().splitlines() if "the answer is 77" in line]
    assert line.split()[:4] == ["wrong", "dialogs[0].rounds[3]", "dialog", "0"]
    assert repr(asked["question"]) in line


def test_dialogs_in_memory_are_verified_as_in_a_file(scenes: list[Record], dialogs: Record) -> None:
    """A document with its info, or a list of records."""
    dialogs["dialogs"][1]["rounds"][2]["answer"] = "magenta"
    for given in (dialogs, dialogs["dialogs"]):
        report = vqagen.verify(given, scenes)
        assert isinstance(report, VerificationReport)
        assert [(each.position, each.kind) for each in report.mismatches] == [(1, "wrong")]


def _spoil(*path: Any, value: Any) -> Callable[[Record], None]:
    def spoil(dialog: Record) -> None:
        *above, last = path
        place: Any = dialog
        for key in above:
            place = place[key]
        place[last] = value(place[last]) if callable(value) else value

    return spoil


def add_one(number: int) -> int:
    """The number after."""
    return number + 1


ANNOTATIONS = {
    "program": _spoil("rounds", 0, "program", "label", value="count-all"),
    "arguments": _spoil("rounds", 0, "program", "args", value={"focus": 99}),
    "family": _spoil("rounds", 0, "family", value="guess"),
    "class": _spoil("rounds", 0, "history", "class", value="Some"),
    "dependence": _spoil("rounds", 0, "history", "dependence", value=5),
    "reveal": _spoil("rounds", 0, "history", "d_reveal", value=9),
    "last": _spoil("rounds", 0, "history", "d_last", value=9),
    "ellipsis": _spoil("rounds", 0, "history", "d_ellipsis", value=2),
    "antecedent": _spoil("rounds", 0, "history", "antecedents", value=[{"round": 0, "via": "echo"}]),
    "referents": _spoil("rounds", 0, "referents", "result", value=[99]),
    "mentions": _spoil("rounds", 0, "mentions", value=[{"entity": 0, "role": "ghost", "span": [0, 1]}]),
    "no mentions": _spoil("caption", "mentions", value=None),
    "span": _spoil("caption", "mentions", 0, "span", 1, value=add_one),
    "fact": _spoil("caption", "knowledge_delta", 0, value={"fact": "scene-count", "count": 99}),
    "unknown fact": _spoil("caption", "knowledge_delta", 0, value={"fact": "gossip"}),
    "no facts": _spoil("caption", "knowledge_delta", value=3),
    "objects of an entity": _spoil("entities", 0, "objects", value=[99]),
    "mentions of an entity": _spoil("entities", 0, "mentions", value=[]),
    "entities": _spoil("entities", value=7),
    "place in the image": _spoil("objects", value={"0": {"pixel_coords": [0, 0, 0]}}),
}


def test_a_wrong_annotation_is_found(scenes: list[Record], dialogs: Record) -> None:
    """Whatever a field holds, it is compared with what the texts and the scene say."""
    missed = []
    for name, spoil in ANNOTATIONS.items():
        spoilt = deepcopy(dialogs)
        spoil(spoilt["dialogs"][0])
        missed += [] if judged(spoilt["dialogs"], scenes).by_problem["annotation"] else [name]

    assert missed == []


SHAPELESS = {
    "no text": _spoil("caption", "text", value=None),
    "no rounds": _spoil("rounds", value={}),
    "a round of text": _spoil("rounds", 1, value="What?"),
    "no label": _spoil("rounds", 1, "label", value=4),
}


def test_a_record_that_is_no_dialog_is_a_fault(scenes: list[Record], dialogs: Record) -> None:
    """The other dialogs are verified all the same."""
    for name, spoil in SHAPELESS.items():
        spoilt = deepcopy(dialogs)
        spoil(spoilt["dialogs"][0])
        report = judged(spoilt["dialogs"], scenes)

        assert report.by_problem == {"unparseable": 1}, name


# Dialogs beside each other --------------------------------------------------------------------------------------------


def test_b8_dialogs_of_an_image_differ(scenes: list[Record], dialogs: Record) -> None:
    """B8: the same dialog twice, or the same labels and answers in three rounds, is a fault."""
    first, second = dialogs["dialogs"][0], deepcopy(dialogs["dialogs"][0])
    second["caption"]["text"] = "Nothing."
    dialogs["dialogs"] = [first, first, second]
    report = judged(dialogs["dialogs"], scenes)

    assert report.by_problem["set"] == 3
    assert "the same sentences" in report.mismatches[0].problem


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    ("families", "preset", "round"),
    [
        ("seek seek count exist seek", "smooth", None),
        ("seek seek count exist seek", "paper", None),
        ("seek seek count count exist", "reference", 4),
        ("seek seek seek seek seek count", "paper", 4),
        ("count exist count seek", "smooth", 4),
        ("seek seek seek seek seek count", "none", None),
    ],
)
def test_b15_the_quotas_of_the_run_are_kept(
    families: str, preset: str, round: int | None, scenes: list[Record], dialogs: Record
) -> None:
    """B15: a preset bounds the rounds of each family after each round from the fourth on; not if none was found so."""
    labels = {"seek": "seek-attr-imm", "count": "count-obj-rel-imm", "exist": "exist-obj-rel-imm"}
    dialog = dialogs["dialogs"][0]
    dialog["rounds"] = [{**dialog["rounds"][0], "label": labels[family]} for family in families.split()]
    found = judged([dialog], scenes, quotas=preset).mismatches
    relaxed = judged([{**dialog, "relaxed": True}], scenes, quotas=preset)

    assert [each.problem[:14] for each in found if each.kind == "set"] == ([f"after round {round} "] if round else [])
    assert not relaxed.by_problem["set"]


def test_a_dialog_has_the_rounds_of_the_settings(scenes: list[Record], dialogs: Record) -> None:
    """The info says how many."""
    assert judged(dialogs["dialogs"], scenes, rounds=11).by_problem["set"] == len(dialogs["dialogs"])


# Files ----------------------------------------------------------------------------------------------------------------


@pytest.mark.quick("clevr-dialog")
@pytest.mark.parametrize("layout", ["jsonl", "parquet", "clevr-dialog"])
def test_dialogs_are_verified_in_every_format(vqagen_: Commands, dialogs: Record, layout: str) -> None:
    """A format that holds the texts, the answers and the labels is judged as the document is."""
    vqagen_.done("dialog --scenes scenes.json --out d.json --dialogs-per-image 2 --count 1")
    name = f"x.{layout}" if layout in ("jsonl", "parquet") else "x.json"
    vqagen_.done(f"convert d.json --out {name}" if name != "x.json" else f"export d.json --out {name} --to {layout}")
    reports = [json.loads(vqagen_(f"verify {each} --scenes scenes.json --json").out) for each in ("d.json", name)]

    assert [(each["checked"], each["by_problem"], each["unproven"]) for each in reports] == [(2, {}, {})] * 2


def test_a_dialog_of_a_run_has_its_number(vqagen_: Commands) -> None:
    """Where a run numbers dialogs, one without its number, or with another, is a fault."""
    vqagen_.done("dialog --scenes scenes.json --out d.json --count 1 --dialogs-per-image 2")
    document = json.loads(Path("d.json").read_text())
    first, second = document["dialogs"]
    del first["dialog_index"]
    second["dialog_index"] = 7

    assert verified(vqagen_, document)["by_problem"] == {"wrong id": 2}


@pytest.mark.slow
def test_what_no_template_says_in_files_of_clevr_dialog_is_not_proved(vqagen_: Commands) -> None:
    """They do not name the template of a caption; what can be read is judged, and the rest counted."""
    vqagen_.done("dialog --scenes scenes.json --out r.json --count 1 --dialogs-per-image 2")
    vqagen_.done("export r.json --to clevr-dialog --out d.json")
    images = json.loads(Path("d.json").read_text())
    first, second = images[0]["dialogs"]
    del first["template"], second["template"]
    clean = verified(vqagen_, images)
    first["dialog"][7]["question"] = "Whatever is that?"
    second["dialog"][2]["answer"] = "magenta"
    spoilt = verified(vqagen_, images)

    assert (clean["by_problem"], clean["unproven"]) == ({}, {})
    assert (spoilt["by_problem"], list(spoilt["unproven"].values())) == ({"wrong": 1}, [1, 2])


@pytest.mark.slow
def test_a_graph_that_depends_on_another_round_is_a_fault(vqagen_: Commands) -> None:
    """In CLEVR-Dialog's shape, the history of the graph says which round each depends on."""
    vqagen_.done("dialog --scenes scenes.json --out r.json --count 1")
    vqagen_.done("export r.json --to clevr-dialog --out d.json")
    images = json.loads(Path("d.json").read_text())
    before = verified(vqagen_, images)["by_problem"]
    images[0]["dialogs"][0]["graph"]["history"][1]["dependence"] = 8

    assert (before, verified(vqagen_, images)["by_problem"]) == ({}, {"annotation": 1})


@pytest.mark.slow
def test_templates_of_ones_own_are_read(vqagen_: Commands, dialogs: Record) -> None:
    """Sentences of other templates can be read with --templates alone; by others, each would be a fault."""
    text = "Say the <A> of {focus|it}!?"
    own = {"name": "own", "label": "seek-attr-imm", "family": "seek", "slots": {"A": "Attribute"}, "text": [text]}
    Path("own.json").write_text(json.dumps({"templates": [own]}))
    vqagen_.done("dialog --scenes scenes.json --out d.json --templates own.json --count 1 --force")

    without = vqagen_("verify d.json --scenes scenes.json")
    assert (without.code, b"d.json: worded by other templates than are at hand" in without.out) == (1, True)
    shipped = vqagen_(f"verify d.json --scenes scenes.json --json --templates {ROOT / 'templates' / 'dialog'}")
    assert json.loads(shipped.out)["by_problem"]["unparseable"] > 0
    own_read = json.loads(vqagen_("verify d.json --scenes scenes.json --templates own.json --json").out)
    assert own_read["by_problem"] == {}


def test_a_dialog_of_no_scene_is_a_fault(vqagen_: Commands, dialogs: Record) -> None:
    """It names its scene as questions do."""
    dialogs["dialogs"][0]["image_filename"] = "no.png"
    report = verified(vqagen_, dialogs)

    assert report["by_problem"] == {"set": 1}
    assert "there is no scene of this image_filename" in str(report["tables"]["mismatches"])
    assert list(report["unproven"].values()) == [10]


def test_a_dialog_about_a_scene_without_relations_is_a_fault(scenes: list[Record], dialogs: Record) -> None:
    """Dialogs need its directions, as the generator does."""
    left_out = ("relationships", "directions")
    bare = [{key: value for key, value in each.items() if key not in left_out} for each in deepcopy(scenes)]
    for each in bare:
        for one in each["objects"]:
            del one["3d_coords"]

    assert judged(dialogs["dialogs"], bare).by_problem == {"set": 2}
