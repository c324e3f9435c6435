"""The search and the slow twin agree on a domain with groups of values, lists, missing values and nested keys."""

from __future__ import annotations

import importlib
from pathlib import Path
from random import Random

import pytest
from commands import ROOT
from general_domain import METADATA, SCENES, TEMPLATES
from oracles import naive
from test_search import EVERYTHING, POLICIES, as_instantiation, every, make_search

from vqagen import find_domain, load_domain_files, sample_scenes
from vqagen.language.catalogue import Catalogue
from vqagen.language.template_check import read_templates
from vqagen.search import vocabulary
from vqagen.search.description import Sampling, SceneTables
from vqagen.search.filling import FOUND
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
def test_of_many_descriptions_the_short_ones_are_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if six attributes were too many to list: all fillings whose descriptions say at most two words, each once."""
    monkeypatch.setattr(vocabulary, "MOST_LISTED", 1)
    (template,), _ = read_templates(TEMPLATES[name], "", CATALOGUE, "pantry.json", 0)
    for record in SCENES:
        expected = naive.instantiations(TEMPLATES[name], record, METADATA, degeneracy="all")
        compiled = compile_scene(record, CATALOGUE.domain)
        found = every(make_search(template, "all", EVERYTHING), compiled)

        assert {*map(as_instantiation, found)} == {each for each in expected if longest_chain(each) <= 2}
        assert len(found) == len({as_instantiation(filling) for filling in found})


def test_few_of_many_descriptions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 11 attributes: an answer that one description of hundreds gives is given in each scene that has it."""
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    folder = importlib.import_module("wide_domain").make_wide_domain(tmp_path / "wide")
    loaded = load_domain_files(find_domain(folder))
    template = next(each for each in loaded.templates if each.name == "same_count_hue")
    search, found = make_search(template, "all", Sampling()), []
    for index, record in enumerate(sample_scenes(12, metadata=folder / "metadata.json")):
        scene = compile_scene(record, loaded.domain)
        if any(objects & (objects - 1) for objects in scene.having["hue"].values()):
            found.append(search.find(SceneTables(scene), Random(index), (0,), set()).reason)

    assert len(found) > 6 and set(found) == {FOUND}


def longest_chain(each: naive.Instantiation) -> int:
    """The most filters that follow one another."""
    chains = [0]
    for function, inputs, _ in each.program:
        chains.append(chains[inputs[0] + 1] + 1 if function.startswith("filter_") else 0)
    return max(chains)
