"""Reasoning in words: what sentences say is what steps give, by an independent reader; and how they are written."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from commands import ROOT, Commands
from oracles.reasoning_reader import ReasoningReader
from program_notation import program as steps
from scene_records import SMALL_SCENES, sampled_scenes, scene_record

import vqagen
from vqagen.authoring.check.checking import check_paths
from vqagen.bits import indexes
from vqagen.language.domain_files import LoadedDomain, find_domain, load_domain_files
from vqagen.language.hops import hops_of
from vqagen.language.program import Program
from vqagen.language.reasoning import FORMS, reason
from vqagen.world.scene import compile_scene

TEMPLATES = (("clevr", None), ("market", None), ("clevr", "clevr-viewpoint"), ("clevr", "clevr-places"))
"""Domains, each with a folder of templates."""
QUICK = "--count 6 --templates-per-image 4"


@cache
def loaded(domain: str = "clevr") -> LoadedDomain:
    return load_domain_files(find_domain(domain))


@cache
def reader(domain: str) -> ReasoningReader:
    metadata = json.loads((ROOT / "metadata" / f"{domain}.json").read_text("utf-8"))
    shared = json.loads((ROOT / "synonyms.json").read_text("utf-8"))
    return ReasoningReader(metadata, {} if "synonyms" in metadata else shared)


def reasoned(
    domain: str, form: str, scenes: int, seed: int = 0, templates: str | None = None
) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Questions with their reasoning, and the scenes that they are about."""
    records = sampled_scenes(scenes, seed, domain)
    for thing in (thing for record in records for thing in record["objects"]):
        x, y, _ = thing["pixel_coords"]
        thing["box"] = [max(0, x - 9), max(0, y - 7), x + 8, y + 11]
    for question in vqagen.generate(records, domain=domain, templates=templates, seed=seed):
        yield question.to_record(reasoning=form), records[question.scene.index]


def said(text: str, scene: dict[str, Any], form: str = "text", question: str = "", answer: str = "") -> str:
    """The reasoning of a program in a CLEVR scene."""
    given, domain = Program.from_records(steps(text), loaded().catalogue), loaded().domain
    return reason(given, compile_scene(scene, domain), question, answer, loaded().synonyms, form)


# What is said is so -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("domain", "templates"), TEMPLATES)
@pytest.mark.parametrize(
    ("scenes", "seed"),
    [(12, 0), pytest.param(150, 1, marks=pytest.mark.slow)],
)
def test_every_sentence_says_what_its_step_gives(domain: str, templates: str | None, scenes: int, seed: int) -> None:
    """By an oracle that runs the program itself, and reads coordinates, or names where there are none."""
    for form in FORMS:
        read = [reader(domain).faults(*pair) for pair in reasoned(domain, form, scenes, seed, templates)]

        assert [fault for _, faults in read for fault in faults] == []
        assert sum(count for count, _ in read) > 15 * scenes


def test_a_spoiled_sentence_is_found() -> None:
    """Another object, color, number, side, place or answer; a sentence that is left out, or said twice."""
    found = Counter[str]()
    told = [
        (domain, *pair)
        for (domain, templates), form in zip(TEMPLATES, ("points", "text", "points", "points"), strict=True)
        for pair in reasoned(domain, form, 6, templates=templates)
    ]
    for domain, record, scene in told:
        text, sentences = record["reasoning"], record["reasoning"].split(". ")
        shown = re.findall(r"\(\d+, \d+\)", sentences[0])
        others = [f"({x}, {y})" for x, y, _ in (thing["pixel_coords"] for thing in scene["objects"])]
        other = next((point for point in others if point not in shown), "")
        *_, end = ["", *re.findall(r"\(\d+, \d+\)", text)]
        before, last, after = text.rpartition(end) if end else (text, "", "")
        away = next(point for point in others if point != last)
        spoiled = {
            "object": text.replace(shown[0], other, 1) if shown and other else text,
            "color": re.sub(r"\b(?:red|blue|yellow|white|black|gray)\b", "green", text, count=1),
            "number": re.sub(r"\b(?:one|two|three)\b", "five", text, count=1),
            "answer": re.sub(r" is \S+$", " is nineteen.", text),
            "side": re.sub(r"\b(?:left|right)\b", lambda side: {"left": "right"}.get(side[0], "left"), text, count=1),
            "last place": f"{before}{away}{after}" if last else text,
            "left out": ". ".join(sentences[1:]),
            "twice": ". ".join([sentences[0], *sentences]),
        }
        for kind, changed in spoiled.items():
            if changed != text:
                assert reader(domain).faults({**record, "reasoning": changed}, scene)[1], (kind, changed)
                found[kind] += 1
    assert len(found) == 8 and min(found.values()) > 20


# How it is said -----------------------------------------------------------------------------------------------------


def test_the_steps_of_a_program_become_hops() -> None:
    """A filter begins a hop where its set is used twice, or was said to be of several; a count is no hop."""
    scene = compile_scene(SMALL_SCENES[2], loaded().domain)  # four objects, the last one a ball
    cases = {
        "scene, filter_shape 0 sphere, unique 1, relate 2 left, filter_size 3 small, count 4": [
            ((0, 1, 2), [3]), ((3, 4, 5), []),
        ],
        "scene, filter_shape 0 cube, filter_size 1 small, difference 1 2, count 3": [
            ((0, 1), [0, 1, 2]), ((2,), [1, 2]), ((3, 4), [0]),
        ],
        "scene, filter_shape 0 cube, not_unique 1, filter_size 2 large, exist 3": [
            ((0, 1, 2), [0, 1, 2]), ((3, 4), [0]),
        ],
        "scene, filter_size 0 small, not_unique 1, filter_size 2 small, exist 3": [((0, 1, 2, 3, 4), [1, 2, 3])],
        "scene, filter_size 0 large, difference 0 1, count 2": [((0, 1), [0]), ((2, 3), [1, 2, 3])],
        "scene, filter_shape 0 cylinder, filter_size 1 small, difference 1 2, count 3": [((0, 1, 4), [])],
        "scene, count 0": [((0, 1), [0, 1, 2, 3])],
    }  # fmt: skip
    for text, expected in cases.items():
        hops = hops_of(Program.from_records(steps(text), loaded().catalogue), scene)
        assert [(hop.steps, indexes(hop.objects or 0)) for hop in hops] == expected, text


def test_names_do_not_tell_what_is_asked_unless_words_alone_must_single_out() -> None:
    """The two balls differ in color alone."""
    looks = ["small red rubber sphere", "small blue rubber sphere", "large gray metal cube"]
    scene = scene_record(looks, [0, 2, 1], [0, 1, 2])
    for place, thing in enumerate(scene["objects"]):
        thing["pixel_coords"] = [place, 7, 1.0]
    text = "scene, filter_shape 0 cube, unique 1, relate 2 left, unique 3, query_color 4"

    assert "red" not in said(text, scene, "points", answer="red").removesuffix("red.").split("is red")[0]
    assert "red" in said(text, scene, "text", answer="red").split("is red")[0]


def test_objects_that_words_do_not_tell_apart_are_counted() -> None:
    text = said("scene, filter_size 0 small, count 1", SMALL_SCENES[1], answer="2")

    assert re.search(r"two \w+ (?:things|objects): two gray \w+ cylinders\. \w+", text), text


def test_a_program_may_end_in_objects_or_none() -> None:
    for value, question, answer in (
        (
            "cube",
            "Which of the red and blue, large and small things are cubes?",
            r"the (red|large) cube and the (blue|small) cube",
        ),
        ("cylinder", "Which are cylinders?", "none"),
    ):
        assert re.search(
            f" answer is {answer}\\.$",
            said(f"scene, filter_shape 0 {value}, mark 1", SMALL_SCENES[0], question=question),
        )


def test_a_reasoning_follows_from_the_question_alone() -> None:
    """So it can be found again in any file; the words of the question are its words."""
    text = "scene, filter_shape 0 cube, filter_size 1 small, count 2"
    drawn = {said(text, SMALL_SCENES[0], question=question, answer="1") for question in map(str, range(40))}

    assert len(drawn) > 6
    assert said(text, SMALL_SCENES[0], question="7") == said(text, SMALL_SCENES[0], question="7")
    assert "tiny block" in said(text, SMALL_SCENES[0], question="How many tiny blocks are there?", answer="1")


# Texts of a domain --------------------------------------------------------------------------------------------------


PLUGIN = """
from vqagen.plugin import function

@function("ObjectSet", output="ObjectSet")
def ends(scene, objects):
    '''The first and the last of some objects.'''
    return objects & 1 | objects & 4

@function("ObjectSet", output="Integer")
def twice(scene, objects):
    '''Twice their number.'''
    return 2 * objects.bit_count()
"""


def test_a_function_without_sentences_says_its_docstring(tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(PLUGIN)
    catalogue = load_domain_files(find_domain(plugins=[tmp_path / "ends.py"])).catalogue
    given = Program.from_records(steps("scene, filter_shape 0 cube, ends 1, twice 2"), catalogue)
    text = reason(given, compile_scene(SMALL_SCENES[0], loaded().domain), "cubes", "4", loaded().synonyms)

    assert re.search(
        r"The first and the last of some objects: the \w+ \w+ and the \w+ \w+\. Twice their number: four\.", text
    ), text


def test_check_finds_a_slot_that_there_is_not(tmp_path: Path) -> None:
    wrong = {**SPANISH["reasoning"], "sentences": {"scene": {"comment": "<Q>", "none": ["No hay <Ds>.", "No <Q>."]}}}
    (tmp_path / "metadata.json").write_text(json.dumps({**SPANISH, "reasoning": wrong}))
    (error,) = check_paths([tmp_path / "metadata.json"], samples=0).files[0].errors

    assert error.path == "reasoning.sentences.scene.none[1]" and error.message.startswith("unknown slot 'Q'; known: A")


SPANISH: dict[str, Any] = {
    "language": "es",
    "answers": {"yes": "sí", "no": "no", "numbers": ["cero", "uno", "dos"]},
    "types": {"Color": ["rojo", "azul"], "Forma": {"values": ["cubo", "cono"], "null": "cosa"}},
    "reasoning": {
        "phrases": {"named": "el <D>", "some": "un <D>", "several": "<N> <Ds>", "placed": "<O> en <P>", "and": " y ",
                    "it": "eso", "these": "esos", "none": "nada"},
        "answer": ["La respuesta es <X>."],
        "sentences": {"scene": {"none": ["No hay <Ds>."], "one": ["Hay un <D>."], "many": ["Hay <N> <Ds>: <O>."]}},
    },
}  # fmt: skip


def test_another_language_has_its_own_words_alone(vqagen_: Commands) -> None:
    things = [{"color": color, "forma": form} for color, form in (("rojo", "cubo"), ("azul", "cubo"), ("azul", "cono"))]
    template = {
        "name": "e", "text": ["¿Cuántos <Forma>s hay?"], "constraints": [{"type": "NOT_NULL", "params": ["<Forma>"]}],
        "nodes": [{"type": "scene"}, {"type": "filter_count", "inputs": [0], "side_inputs": ["<Forma>"]}],
    }  # fmt: skip
    for name, content in (
        ("es.json", SPANISH),
        ("t.json", [template]),
        ("s.json", {"scenes": [{"objects": things}] * 30}),
    ):
        Path(name).write_text(json.dumps(content))
    vqagen_.done("generate --metadata es.json --templates t.json --scenes s.json --out q.json --reasoning text")
    texts = {each["reasoning"] for each in json.loads(Path("q.json").read_text())["questions"]}

    assert texts == {
        "Hay dos cubos: el rojo cubo y el azul cubo. La respuesta es dos.",
        "Hay un cono. La respuesta es uno.",
    }
    vqagen_.done("verify q.json --metadata es.json --templates t.json --scenes s.json")


# Files --------------------------------------------------------------------------------------------------------------


def write_scenes(count: int = 6) -> None:
    Path("scenes.json").write_text(json.dumps({"scenes": sampled_scenes(count)}))


def made(vqagen_: Commands, flags: str = "") -> list[dict[str, Any]]:
    vqagen_.done(f"generate --scenes scenes.json --out q.jsonl --force {QUICK} {flags}")
    return [json.loads(line) for line in Path("q.jsonl").read_text().splitlines()]


def test_nothing_else_changes_whatever_the_form_and_the_shards(vqagen_: Commands) -> None:
    """Neither other keys, nor the info of a file without reasoning."""
    write_scenes()
    plain, info = made(vqagen_), Path("q.jsonl.info.json").read_text()
    for form in ("text", "points"):
        whole = made(vqagen_, f"--reasoning {form}")
        assert [{key: record[key] for key in record if key != "reasoning"} for record in whole] == plain != whole
    assert "reasoning" not in info
    for shard in ("1/2", "2/2"):
        vqagen_.done(f"generate --scenes scenes.json --out {shard[0]}.jsonl {QUICK} --reasoning points --shard {shard}")
    vqagen_.done("merge 1.jsonl 2.jsonl --out merged.jsonl")

    assert list(map(json.loads, Path("merged.jsonl").read_text().splitlines())) == whole


def test_verify_finds_another_reasoning(vqagen_: Commands) -> None:
    """A changed one, and a missing one; also in a file without info, whose form is not known."""
    write_scenes()
    records = made(vqagen_, "--reasoning points")
    vqagen_.done("verify q.jsonl --scenes scenes.json")
    for keeps_info in (True, False):
        if not keeps_info:
            Path("q.jsonl.info.json").unlink()
        changed = [{**record} for record in records]
        changed[1]["reasoning"] = changed[1]["reasoning"].replace("answer", "result")
        del changed[2]["reasoning"]
        Path("q.jsonl").write_text("".join(f"{json.dumps(record)}\n" for record in changed))
        ran = vqagen_("verify q.jsonl --scenes scenes.json --templates " + str(ROOT / "templates/clevr") + " --json")
        kinds = [each["kind"] for each in json.loads(ran.out)["tables"]["mismatches"]["rows"]]
        assert [kind for kind in kinds if kind != "changed file"] == ["wrong reasoning"] * (1 + keeps_info)


WRONG = {
    "--reasoning boxes": "scenes[0].objects[",
    "--reasoning points --domain ./plain": '--reasoning: no texts in plain/metadata.json: add a section "reasoning"',
    "--reasoning text --hide-answers": "--reasoning shows the answers that --hide-answers leaves out",
    "--reasoning words": "is not one of 'none', 'text', 'points', 'boxes'",
}


def test_what_is_missing_is_one_message(vqagen_: Commands) -> None:
    write_scenes(2)
    metadata = json.loads((ROOT / "metadata/clevr.json").read_text())
    Path("plain/templates").mkdir(parents=True)
    Path("plain/templates/t.json").write_text((ROOT / "templates/clevr/zero_hop.json").read_text())
    Path("plain/metadata.json").write_text(json.dumps({key: metadata[key] for key in ("types", "sampling")}))
    for flags, message in WRONG.items():
        ran = vqagen_(f"generate --scenes scenes.json --out q.json {flags}")
        assert ran.code in (2, 3) and message in ran.err and len(ran.err.splitlines()) == 1, (flags, ran.err)
