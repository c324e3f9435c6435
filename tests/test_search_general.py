"""The search and the slow twin agree on a domain with groups of values, lists, missing values and nested keys."""

from __future__ import annotations

import naive
import pytest
from general_domain import METADATA, SCENES, TEMPLATES
from test_search import EVERYTHING, POLICIES, as_instantiation, every, make_search

from vqagen.language.catalogue import Catalogue
from vqagen.language.template_check import read_templates
from vqagen.search import vocabulary
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import compile_scene

CATALOGUE = Catalogue(domain_from_metadata(METADATA))
CASES = [(name, scene) for name in TEMPLATES for scene in range(len(SCENES))]


@pytest.mark.quick(40)
@pytest.mark.parametrize(("name", "scene"), CASES, ids=[f"{name}-{scene}" for name, scene in CASES])
def test_the_search_finds_what_the_twin_finds(name: str, scene: int) -> None:
    """Under every degeneracy policy, and each filling once."""
    (template,), faults = read_templates(TEMPLATES[name], "", CATALOGUE, "pantry.json", 0)
    assert not faults
    compiled = compile_scene(SCENES[scene], CATALOGUE.domain)
    for policy in POLICIES:
        expected = naive.instantiations(TEMPLATES[name], SCENES[scene], METADATA, degeneracy=policy)
        found = every(make_search(template, policy, EVERYTHING), compiled)

        assert {as_instantiation(filling) for filling in found} == expected
        assert len(found) == len(expected), "a filling was found twice"


@pytest.mark.quick(12)
@pytest.mark.parametrize("name", TEMPLATES)
def test_what_is_drawn_without_listing_is_in_the_twins_set(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if six attributes were too many to list: nothing outside of the set is found, and nothing twice."""
    monkeypatch.setattr(vocabulary, "WIDE", 1)
    (template,), _ = read_templates(TEMPLATES[name], "", CATALOGUE, "pantry.json", 0)
    for record in SCENES:
        expected = naive.instantiations(TEMPLATES[name], record, METADATA, degeneracy="all")
        compiled = compile_scene(record, CATALOGUE.domain)
        found = [as_instantiation(filling) for filling in every(make_search(template, "all", EVERYTHING), compiled)]

        assert {*found} <= expected
        assert len(found) == len({*found})
        assert bool(found) == bool(expected)
