"""The texts of questions are read: what the generator writes is right, and what says something else is wrong."""

from __future__ import annotations

import json
import re
import warnings
from pathlib import Path
from typing import Any

import general_domain
import pytest
from commands import Commands
from depth import fewer
from families import SHIPPED
from program_notation import template
from spoiled_texts import SPOILS, Record, Sayings, spoiled

import vqagen
from vqagen.files.info import without_run
from vqagen.files.locations import shipped
from vqagen.language import recognition
from vqagen.rng import stream
from vqagen.tasks.questions.texts import UNREAD

DOMAINS = {collection.name: collection.materials for collection in SHIPPED}
TEMPLATES = shipped("templates/clevr")
SCENES = fewer(40, least=8)

CLEAN = b" questions checked, 0 wrong: answers recomputed; texts match their templates\n"


SAMPLED = [f"scenes sample --domain {name} --count {SCENES} --seed 3 -o {name}.json" for name in DOMAINS]


@pytest.fixture
def vqagen_(vqagen_: Commands) -> Commands:
    """Runs commands in a folder with scenes of both shipped domains."""
    vqagen_.given(*SAMPLED)
    return vqagen_


def generated(vqagen_: Commands, flags: str = "", domain: str = "clevr") -> Record:
    """Make questions in q.json; return the document."""
    vqagen_.given(*SAMPLED, f"generate --domain {domain} --scenes {domain}.json --out q.json {flags}")
    document: Record = json.loads(Path("q.json").read_bytes())
    return document


def verified(document: Record, domain: str = "clevr", **given: Any) -> vqagen.VerificationReport:
    """Verify the questions of a document, which may be others than those that its run wrote."""
    info = {"info": without_run(document["info"])} if "info" in document else {}
    Path("v.json").write_text(json.dumps({**info, "questions": document["questions"]}))
    return vqagen.verify("v.json", f"{domain}.json", **given)


# No false alarm ---------------------------------------------------------------------------------------------------

MADE = [
    *(("clevr", flags) for flags in ("", "--seed 5 --dialect release", "--balance pairs", "--trace", "--compat clevr")),
    ("clevr", "--instances-per-template 3 --templates-per-image 20 --dialect generator"),
    *(("market", flags) for flags in ("", "--compat clevr", "--balance pairs")),
]


@pytest.mark.quick(1)
@pytest.mark.parametrize(("domain", "flags"), MADE)
@pytest.mark.parametrize("out", ["q.json", "q.jsonl", "q.parquet"])
def test_every_text_that_is_written_is_read(domain: str, flags: str, out: str, vqagen_: Commands) -> None:
    """By the domain and templates that the file's info names, without any flag."""
    vqagen_.done(f"generate --domain {domain} --scenes {domain}.json --out {out} {flags}")
    ran = vqagen_.done(f"verify {out} --scenes {domain}.json")

    assert re.fullmatch(rb"[\d,]+" + CLEAN, ran.out)


@pytest.mark.slow
def test_templates_of_ones_own_are_read_with_their_domain(vqagen_: Commands) -> None:
    """Groups, lists, literals, slots that are used again, and all functions."""
    Path("pantry/templates").mkdir(parents=True)
    Path("pantry/metadata.json").write_text(json.dumps(general_domain.METADATA))
    Path("pantry/templates/all.json").write_text(json.dumps([*general_domain.TEMPLATES.values()]))
    Path("pantry.json").write_text(json.dumps({"scenes": general_domain.SCENES}))
    flags = "--domain ./pantry --scenes pantry.json"
    vqagen_.done(f"generate {flags} --templates-per-image 40 --instances-per-template 4 --degeneracy none --out q.json")
    ran = vqagen_.done(f"verify q.json {flags}")

    assert re.fullmatch(rb"\d{3}" + CLEAN, ran.out)

    edited = json.dumps([*general_domain.TEMPLATES.values()]).replace("How many", "What number of")
    Path("pantry/templates/all.json").write_text(edited)
    warned = vqagen_(f"verify q.json {flags}")
    assert warned.err.startswith("vqagen: warning: q.json: other templates than the questions were made from")
    assert re.search(rb'"How many .*" is no wording of all.json#\w+; the program asks: "What number of ', warned.out)


# Every spoil is found ---------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("kind", SPOILS)
@pytest.mark.parametrize("domain", DOMAINS)
def test_a_text_that_says_something_else_is_wrong(domain: str, kind: str, vqagen_: Commands) -> None:
    """The command ends in 1; nothing but the text is wrong."""
    document = generated(vqagen_, domain=domain)
    sayings = Sayings(DOMAINS[domain].synonyms)
    found = [*spoiled(document["questions"][: fewer(300)], sayings, stream(2, kind), kind)]
    questions = [question for question in found if question]
    report = verified({**document, "questions": questions}, domain)

    assert report.mismatched == report.checked == len(questions) >= 3
    assert report.by_problem.keys() <= {"wrong text", "wrong words", "wrong other"}
    assert vqagen_(f"verify v.json --scenes {domain}.json").code == 1


def test_a_wrong_text_is_told_with_both_readings(vqagen_: Commands) -> None:
    """What the text says, slot by slot, and what the program asks."""
    document = generated(vqagen_, "--only query_size")
    question = next(each for each in document["questions"] if re.search(r"\bleft\b", each["question"]))
    turned = re.sub(r"\bleft\b", "right", question["question"])
    (mismatch,) = verified({**document, "questions": [{**question, "question": turned}]}).mismatches

    assert mismatch.kind == "wrong words"
    assert (
        re.match(r'"(.*)" says (<R\d?>) right, the program \2 left; the program asks: "', mismatch.problem)[1] == turned
    )


def test_other_must_be_said_where_the_anchor_fits_and_only_there(vqagen_: Commands) -> None:
    """The question says what is wrong with it."""
    document = generated(vqagen_, "--only same_relate.json")
    said = [each for each in document["questions"] if " other " in each["question"]]
    lost = [{**each, "question": each["question"].replace(" other ", " ")} for each in said]
    texts = {
        mismatch.problem.split('"; the program')[0] for mismatch in verified({**document, "questions": lost}).mismatches
    }

    assert texts == {f'"{each["question"]}" leaves out "other' for each in lost}


def test_traces_and_mentions_are_those_of_the_program_and_its_text(vqagen_: Commands) -> None:
    """Each spoil is found, and nothing else."""
    document = generated(vqagen_, "--trace")
    questions = [each for each in document["questions"] if each["mentions"]][:40]
    with_object_1 = [each for each in questions if any(step == 1 and step is not True for step in each["trace"])]
    assert with_object_1
    spoils = {
        "wrong trace": [
            *({**each, "trace": [[], *each["trace"][1:]]} for each in questions),
            *({**each, "trace": each["trace"][:-1]} for each in questions),
            {**questions[0], "trace": {}},
            {**questions[1], "trace": None},
            *({**each, "trace": [True if step == 1 else step for step in each["trace"]]} for each in with_object_1),
        ],
        "wrong mentions": [
            *({**each, "mentions": each["mentions"][1:]} for each in questions),
            {key: value for key, value in questions[2].items() if key != "mentions"},
            *(moved(each, "span", [0, 3]) for each in questions),
            *(moved(each, "objects", [0, 1, 2, 3, 4]) for each in questions),
        ],
    }

    for kind, found in spoils.items():
        numbered = [{**each, "question_index": number} for number, each in enumerate(found)]
        assert verified({**document, "questions": numbered}).by_problem == {kind: len(found)}


def moved(question: Record, key: str, value: Any) -> Record:
    """A question whose first mention is of something else."""
    first, *others = question["mentions"]
    return {**question, "mentions": [{**first, key: value}, *others]}


def test_a_program_of_another_family_is_wrong(vqagen_: Commands) -> None:
    """The text may fit the program; the family that the question names does not."""
    document = generated(vqagen_, "--only zero_hop.json")
    for question in document["questions"]:
        question["question_family_index"] = (question["question_family_index"] + 1) % 6

    assert verified(document).by_problem == {"wrong family": len(document["questions"])}


def test_a_family_that_is_no_template_is_wrong(vqagen_: Commands) -> None:
    """A question that names no family at all may be of any."""
    document = generated(vqagen_, "--only zero_hop.json")
    first, second, third, *_ = document["questions"]
    first["question_family_index"] = 9999
    second["template_filename"] = "nowhere.json"
    del third["question_family_index"]

    assert verified(document).by_problem == {"wrong family": 2}


# Templates at hand ------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_texts_are_not_read_without_the_templates_they_were_made_from(vqagen_: Commands) -> None:
    """The last line says so, and why; what is at hand would be wrong about them."""
    document = generated(vqagen_, "--only one_hop.json")
    generator = document["info"]["generator"]
    cases = [
        ({}, "the file does not say which templates it was made from; give --templates"),
        *(
            (
                {"generator": {**generator, "inputs": {**generator["inputs"], role: "sha256:0"}}},
                f"the file was made from other {role} than",
            )
            for role in ("templates", "synonyms")
        ),
    ]
    for question in document["questions"]:
        question["question"] = "Is this a pipe?"
    for info, why in cases:
        report = verified({**document, "info": info})

        assert report.by_problem == ({"unread": 1} if info else {}), "vqagen's own texts must be read"
        assert [
            each.startswith(f"texts, and any mentions and reasonings, not read: {why}")
            for each, number in report.unproven.items()
            if number
        ] == [True]
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            given = verified({**document, "info": info}, templates=TEMPLATES, synonyms=shipped("synonyms.json"))
        assert given.by_problem == {"wrong text": report.checked}
        assert len(warned) == bool(info)


def test_texts_are_not_read_by_given_templates_with_other_synonyms(vqagen_: Commands) -> None:
    """The given templates alone do not word the texts: by other synonyms, each "box" would be wrong."""
    document = generated(vqagen_, "--only one_hop.json")
    document["info"]["generator"]["inputs"]["synonyms"] = "sha256:0"
    report = verified(document, templates=TEMPLATES)

    assert [*report.unproven][-1].endswith("other synonyms than are at hand; give --synonyms to read by these")


def test_answers_are_verified_without_any_templates(vqagen_: Commands) -> None:
    """A domain's folder may have metadata alone."""
    generated(vqagen_, "--only one_hop.json")
    Path("bare").mkdir()
    Path("bare/metadata.json").write_bytes(shipped("metadata/clevr.json").read_bytes())
    ran = vqagen_("verify q.json --scenes clevr.json --domain ./bare")

    assert (
        ran.code,
        b" checked, 0 wrong: 1 unread; answers recomputed; texts not checked\nnot proved: " in ran.out,
    ) == (1, True)


def as_elsewhere(text: str) -> str:
    """Write a text as the CLEVR generator does: without capitals and "an"."""
    return re.sub(r"\b([Aa])n\b", r"\1", text[:1].lower() + text[1:])


@pytest.mark.slow
def test_texts_of_other_generators_are_read_by_given_templates(vqagen_: Commands) -> None:
    """Families are found by the programs; texts for other programs are still found."""
    document = generated(vqagen_, "--compat clevr --dialect release")
    questions = [{**each, "question": as_elsewhere(each["question"])} for each in document["questions"]]
    for number, question in enumerate(questions):
        question["question_family_index"] = number
    given = {"templates": TEMPLATES}
    report = verified({"questions": questions}, **given)
    sayings = Sayings(DOMAINS["clevr"].synonyms)
    misspelt = [each for each in spoiled(questions, sayings, stream(2, "x"), "misspelt") if each]

    assert (report.mismatched, report.unproven[UNREAD]) == (0, 0)
    assert verified({"questions": misspelt}, **given).mismatched == len(misspelt)


def test_a_program_that_no_template_asks_leaves_its_text_unread(vqagen_: Commands) -> None:
    """The summary counts such texts."""
    document = generated(vqagen_, "--only zero_hop.json")
    report = verified({"questions": document["questions"]}, templates=shipped("templates/clevr/one_hop.json"))

    assert (report.is_clean, report.unproven[UNREAD]) == (True, report.checked)
    assert (
        report.report()
        .head[-1]
        .endswith(" texts, and any mentions, not read: no template at hand asks what the program asks")
    )


# What a walk along the words does not see --------------------------------------------------------------------------


def own_domain(rewrites: list[Record], *texts: str, template: Record = general_domain.TEMPLATES["and"]) -> str:
    """Write a domain with rewrites and a template of these texts; the flag that names it."""
    Path("own/templates").mkdir(parents=True)
    Path("own/metadata.json").write_text(json.dumps({**general_domain.METADATA, "rewrites": rewrites}))
    record = {**template, "text": [*texts]}
    Path("own/templates/all.json").write_text(json.dumps([record]))
    Path("own.json").write_text(json.dumps({"scenes": general_domain.SCENES}))
    return "--domain ./own --scenes own.json"


REWRITES = [{"pattern": r"\b([Ii]s) there any (\w+)", "replace": r"\1 the shop without a \2"}]


def test_rewritten_texts_are_read(vqagen_: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    """By trying every wording; if there are too many, the summary counts what is not decided."""
    flags = own_domain(REWRITES, "Is there any <K> [here], and is there any food with <T>?")
    vqagen_.done(f"generate {flags} --instances-per-template 9 --out q.json")
    assert b"without a" in Path("q.json").read_bytes()
    assert vqagen_.done(f"verify q.json {flags}").out.endswith(CLEAN)

    text = Path("q.json").read_text()
    Path("q.json").write_text(re.sub('"checksum": "[^"]*"', '"note": ""', text.replace("food with", "food without")))
    assert b" 0 wrong" not in vqagen_(f"verify q.json {flags}").out
    monkeypatch.setattr(recognition, "MOST_SENTENCES", 1)
    assert b"not decided: too many wordings are possible" in vqagen_.done(f"verify q.json {flags}").out


def test_pieces_of_words_are_read(vqagen_: Commands) -> None:
    """An optional part, or a slot, may be part of a word that the sentence changes."""
    flags = own_domain([], "Is there a[nother] <K>, and is there a[n]other thing with <T>-<T>?")
    vqagen_.done(f"generate {flags} --instances-per-template 9 --out q.json")

    assert vqagen_.done(f"verify q.json {flags}").out.endswith(CLEAN)


def test_a_step_that_may_be_of_two_slots_is_tried_for_both(vqagen_: Commands) -> None:
    """Of two nodes in a row that may say toppings, the program does not say which one did."""
    slots = {"<T>": "Topping", "<T2>": "Topping", "<K>": "Kind"}
    record = {**template("scene, filter 0 <K> <T>, filter_count 1 <T2>", slots), "name": "two"}
    flags = own_domain([], "Having <T> first and <T2> second, how many foods of kind <K> are there?", template=record)
    vqagen_.done(f"generate {flags} --degeneracy none --instances-per-template 90 --out q.json")

    assert re.search("Having first and (?:seeds|salt|sugar) second", Path("q.json").read_text())
    assert vqagen_.done(f"verify q.json {flags}").out.endswith(CLEAN)


def test_a_text_of_any_kind_is_only_wrong(vqagen_: Commands) -> None:
    """Whatever stands in its place, and however long it is."""
    document = generated(vqagen_, "--only three_hop.json --count 1")
    question = document["questions"][0]
    strange = (None, 7, "", " ", "?", "the " * 5000, "<Z>%(<Z>)s%", question["question"] * 2, "\ud83d\ude00" * 99)
    document["questions"] = [{**question, "question_index": i, "question": text} for i, text in enumerate(strange)]

    assert verified(document).by_problem == {"wrong text": len(strange)}
