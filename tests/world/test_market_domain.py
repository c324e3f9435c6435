"""The market: a shipped domain with what CLEVR has not. Groups of values, lists, missing values, given relations."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from depth import fewer
from families import SHIPPED
from scene_records import sampled_scenes

import vqagen
from vqagen import Generation, find_scenes
from vqagen.language.domain_files import LoadedDomain
from vqagen.world.attribute import Attribute

MARKET = next(each for each in SHIPPED if each.name == "market")
ATTRIBUTES = MARKET.materials.domain.attributes
SCENES = 120

over_attributes = pytest.mark.parametrize("attribute", ATTRIBUTES, ids=lambda each: each.name)


@cache
def scenes() -> list[dict[str, Any]]:
    """Sampled scenes."""
    return sampled_scenes(SCENES, seed=3, domain="market")


def recorded(attribute: Attribute) -> Iterator[tuple[str, ...]]:
    """What each sampled object has: one value, several, or none."""
    for scene in scenes():
        for item in scene["objects"]:
            value = item.get(attribute.key)
            yield tuple(value) if isinstance(value, list) else (value,) if value else ()


def ways(materials: LoadedDomain, type_name: str) -> Iterator[str]:
    """All that a type's values can be called, as one and as several, and its word when left open."""
    for value in (*materials.domain.values_of(type_name), None):
        for way in materials.synonyms.of(type_name, value):
            yield from {way: None, materials.synonyms.plural(way): None} if way else ()


@over_attributes
def test_sampled_items_have_every_leaf_and_no_group(attribute: Attribute) -> None:
    """Groups are only said."""
    assert {value for values in recorded(attribute) for value in values} == set(attribute.leaves)


def test_ties_are_mutual_and_looks_are_not() -> None:
    """`tied` holds both ways or not at all; `facing` is drawn for each direction."""
    tables = [scene["relationships"] for scene in scenes()]
    one_way = {
        name: sum(i not in table[name][j] for table in tables for i, near in enumerate(table[name]) for j in near)
        for name in ("tied", "facing")
    }

    assert one_way["tied"] == 0
    assert one_way["facing"] > 100


def test_no_question_about_one_item_says_the_answer(tmp_path: Path) -> None:
    """What is asked for is not said of the item, by no synonym; the group it belongs to may be."""
    source = tmp_path / "scenes.jsonl"
    source.write_text("\n".join(map(json.dumps, scenes())))
    materials = MARKET.materials
    run = Generation(
        find_scenes(source), materials, vqagen.QuestionSettings(seed=1, count=fewer(60), templates_per_image=30)
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
    assert len(asking) > fewer(150)


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
