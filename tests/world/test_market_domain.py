"""The market: a shipped domain with what CLEVR has not. Groups of values, lists, missing values, given relations."""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from depth import fewer
from families import SHIPPED
from scene_records import sampled_scenes

import vqagen
from vqagen import Generation, find_scenes

MARKET = next(each for each in SHIPPED if each.name == "market")
ATTRIBUTES = MARKET.materials.domain.attributes
SCENES = 120


@cache
def scenes() -> list[dict[str, Any]]:
    """Sampled scenes."""
    return sampled_scenes(SCENES, seed=3, domain="market")


@pytest.mark.slow
def test_no_question_about_one_item_says_the_answer(tmp_path: Path) -> None:
    """What is asked for is not said of the item, by no synonym; the group it belongs to may be."""
    source = tmp_path / "scenes.jsonl"
    source.write_text("\n".join(map(json.dumps, scenes())))
    materials = MARKET.materials
    run = Generation(
        find_scenes(source), materials, vqagen.QuestionSettings(seed=1, count=fewer(30), templates_per_image=30)
    )
    asking = [q for _, made in run.by_scene() for q in made if q.template.file == "asking.json"]

    told = [
        question.question
        for question in asking
        for value in ([question.value] if isinstance(question.value, str) else question.value)
        for way in (value, *materials.synonyms.of(question.template.answer_type, value))
        if re.search(rf"\b{way}\b", question.question.lower())
    ]

    assert told == []
    assert len(asking) > fewer(75)


def test_every_text_says_which_level_of_a_group_it_means() -> None:
    """A brass flute is of metal too, and a wind instrument: "exactly", or the group, tells what is asked for."""
    level = re.compile(r"exact|which metal|kind of metal|each metal|kinds? of <K>", re.IGNORECASE)
    grouped = [attribute.name for attribute in ATTRIBUTES if attribute.parents]
    about = re.compile(f"(?:query|equal|same|different|count_different)_(?:{'|'.join(grouped)})")
    texts = [
        (template.id, text)
        for template in MARKET.materials.templates
        if any(about.fullmatch(node.type) for node in template.nodes)
        for text in template.texts
    ]

    assert grouped == ["material", "kind"]
    assert len(texts) > 30
    assert [(name, text) for name, text in texts if not level.search(text)] == []
