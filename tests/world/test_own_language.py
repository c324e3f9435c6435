"""Domains in other languages than English: their texts, and answers in their words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

from vqagen.errors import BadInput
from vqagen.language.domain_files import DomainFiles, synonyms_file
from vqagen.language.synonyms import load_synonyms
from vqagen.world.domain import domain_from_metadata

TYPES = {"Color": ["rojo", "azul", "ocre"], "Forma": ["cubo", "esfera", "óvalo"], "Relation": ["izquierda", "derecha"]}
ANSWERS = {"yes": "sí", "no": "no", "numbers": ["cero", "uno", "dos"]}


def filtered(name: str, text: str, *nodes: Any) -> dict[str, Any]:
    return {"name": name, "text": [text], "nodes": [{"type": "scene"}, *nodes], "constraints": []}


SLOTS = ["<Color>", "<Forma>"]
BOTH = {"inputs": [0], "side_inputs": SLOTS}
TEMPLATES = [
    filtered(
        "count",
        "¿Cuántas cosas iguales a <Forma> y a <Color> hay ?",
        {"type": "filter_count", "inputs": [0], "side_inputs": SLOTS},
    ),
    filtered(
        "exist",
        "¿Hay algo igual a <Forma> a la vez <Color>?",
        {"type": "filter_exist", "inputs": [0], "side_inputs": SLOTS},
    ),
    filtered(
        "query",
        "¿De qué color es lo igual a <Forma>?",
        {"type": "filter_unique", "inputs": [0], "side_inputs": ["<Forma>"]},
        {"type": "query_color", "inputs": [1]},
    ),
]
for each in TEMPLATES:
    each["constraints"] = [{"type": "NOT_NULL", "params": [slot]} for slot in SLOTS if slot in each["text"][0]]


def test_a_turkish_sentence_begins_with_a_turkish_capital_and_is_read_back(vqagen_: Commands) -> None:
    template = filtered("e", "", {"type": "filter_exist", "inputs": [0], "side_inputs": ["<Color>"]})
    template["text"] = ["ilk resimde <Color> var mı?", "ırakta <Color> var mı?"]
    scenes = [{"image_filename": f"{n}.png", "objects": [{"color": "ışık"}]} for n in range(8)]
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))
    Path("t.json").write_text(json.dumps([template]))
    Path("tr.json").write_text(json.dumps({"language": "tr", "types": {"Color": ["ışık", "İpek"]}}))
    vqagen_.done("generate --metadata tr.json --templates t.json --scenes scenes.json --out q.json")
    texts = {each["question"] for each in json.loads(Path("q.json").read_text())["questions"]}

    assert {text[:3] for text in texts} == {"İlk", "Ira"}
    vqagen_.done("verify q.json --metadata tr.json --templates t.json --scenes scenes.json")


def test_another_language_has_no_english_synonyms() -> None:
    types = {"Forma": ["cube", "sphere"]}

    for language, ways in (("fr", ("cube",)), ("en", ("cube", "block"))):
        domain = domain_from_metadata({"language": language, "types": types})
        file = synonyms_file(DomainFiles(Path("m.json"), Path("t"), None), domain)
        assert load_synonyms(file, domain).of_type("Forma")["cube"] == ways


@pytest.mark.parametrize("mark", "?؟۔।？")
def test_a_text_may_end_with_the_mark_of_its_script(mark: str, vqagen_: Commands) -> None:
    template = filtered("e", f"<Color>{mark}", {"type": "filter_exist", "inputs": [0], "side_inputs": ["<Color>"]})
    Path("t.json").write_text(json.dumps([template]))
    Path("metadata.json").write_text(json.dumps({"language": "ar", "types": {"Color": ["rojo", "azul"]}}))

    assert b"no-final-mark" not in vqagen_("check t.json --samples 0").out


@pytest.fixture
def made(vqagen_: Commands) -> list[dict[str, Any]]:
    """Questions in Spanish, in q.json, about 12 scenes."""
    colors, shapes = TYPES["Color"], TYPES["Forma"]
    scenes = [
        {
            "image_filename": f"{n}.png",
            "objects": [{"color": colors[(n * k + k) % 3], "forma": shapes[(n + k * k) % 3]} for k in range(2 + n % 3)],
        }
        for n in range(12)
    ]
    Path("scenes.json").write_text(json.dumps({"scenes": scenes}))
    Path("es.json").write_text(json.dumps({"language": "es", "answers": ANSWERS, "types": TYPES}))
    Path("t.json").write_text(json.dumps(TEMPLATES))
    vqagen_.done("generate --metadata es.json --templates t.json --scenes scenes.json --out q.json")
    questions: list[dict[str, Any]] = json.loads(Path("q.json").read_text())["questions"]
    return questions


def test_texts_are_as_their_templates_say(made: list[dict[str, Any]]) -> None:
    """They were "igual an esfera" and "hay?"."""
    texts = {each["question"] for each in made}

    assert any("igual a esfera" in text for text in texts) and any("iguales a óvalo" in text for text in texts)
    assert not any(" an " in text for text in texts)
    assert all(text.endswith("hay ?") for text in texts if "Cuántas" in text)


def test_answers_are_in_the_words_of_the_domain(made: list[dict[str, Any]], vqagen_: Commands) -> None:
    answers = {each["answer"] for each in made}
    by_image = [{"question_index": each["question_index"], "answer": f"{each['answer'].title()}."} for each in made]
    Path("p.jsonl").write_text("".join(json.dumps(each) + "\n" for each in by_image))

    assert {"sí", "uno"} < answers <= {"sí", "no", "cero", "uno", "dos", "3", *TYPES["Color"]}
    assert (
        b" 0 wrong: answers"
        in vqagen_.done("verify q.json --scenes scenes.json --metadata es.json --templates t.json").out
    )
    assert b" 1.000 " in vqagen_.done("evaluate q.json p.jsonl").out.partition(b"overall ")[2].splitlines()[0]


def test_an_english_word_is_no_answer_of_the_domain(made: list[dict[str, Any]], vqagen_: Commands) -> None:
    Path("q.json").write_text(Path("q.json").read_text().replace('"answer":"sí"', '"answer":"yes"'))

    ran = vqagen_("verify q.json --scenes scenes.json --metadata es.json --templates t.json")
    assert ran.code == 1 and b"wrong answer" in ran.out


def test_two_answers_have_two_words() -> None:
    with pytest.raises(BadInput, match="answers: two answers have one word"):
        domain_from_metadata({"types": TYPES, "answers": {"yes": "no"}})
