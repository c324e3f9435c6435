"""Descriptions over many attributes are drawn, not listed, with the shares that the listing search gives them.

That nothing else is drawn is tested on the general domain (`test_search_general.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import naive
import program_notation
import pytest
from families import SHIPPED
from scene_records import SMALL_SCENES
from test_search import EVERYTHING, make_search

from vqagen.language.template import Template
from vqagen.language.template_check import read_templates
from vqagen.search import vocabulary, wide
from vqagen.search.description import Sampling
from vqagen.search.filling import FOUND, Filling
from vqagen.search.tables import SceneTables
from vqagen.world.scene import compile_scene

CLEVR = SHIPPED[0]
TEMPLATES = CLEVR.materials.templates
SMALL = [template for template in TEMPLATES if sum(1 for node in template.nodes if node.composite) < 3]
"""Of larger ones the twin needs minutes to say that nothing fits."""
BUDGET = 20_000


@pytest.fixture
def everything_is_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four attributes are drawn as eleven would be."""
    monkeypatch.setattr(vocabulary, "WIDE", 1)


def fillings(
    template: Template, record: naive.Record, sampling: Sampling, policy: str = "none", count: int = 5
) -> Iterator[Filling]:
    """Fillings of searches that each begin anew."""
    search = make_search(template, policy, sampling)
    tables = SceneTables(compile_scene(record, CLEVR.materials.domain))
    for seed in range(count):
        outcome = search.find(tables, Random(seed), (), set(), BUDGET)
        if outcome.reason == FOUND:
            assert outcome.filling is not None
            yield outcome.filling


@pytest.mark.quick(13)
@pytest.mark.usefixtures("everything_is_wide")
@pytest.mark.parametrize("template", SMALL, ids=[template.id for template in SMALL])
def test_a_filling_is_drawn_where_the_twin_has_one(template: Template) -> None:
    raw = CLEVR.raw_template(template.file, template.index)
    for record in SMALL_SCENES:
        has_one = next(naive.each_instantiation(raw, record, CLEVR.raw_metadata), None) is not None
        assert any(True for _ in fillings(template, record, EVERYTHING, count=1)) == has_one


def shares(family: str, sampling: Sampling, count: int) -> dict[str, float]:
    """How often each text of slots is drawn on one scene."""
    template = next(template for template in TEMPLATES if template.id == family)
    drawn = Counter(str(filling.words()) for filling in fillings(template, SMALL_SCENES[2], sampling, count=count))
    return {words: times / drawn.total() for words, times in drawn.items()}


@pytest.mark.parametrize("family", ["zero_hop.json#query_color", "zero_hop.json#count", "zero_hop.json#exist"])
def test_what_fits_is_drawn_as_often_as_when_it_is_listed(family: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Total variation between 1,000 draws of each kind; that of two listed runs is about .09."""
    sampling = Sampling(absent="none")
    listed = shares(family, sampling, 1000)
    monkeypatch.setattr(vocabulary, "WIDE", 1)
    drawn = shares(family, sampling, 1000)

    names = sorted({*listed, *drawn})
    assert sum(abs(listed.get(name, 0) - drawn.get(name, 0)) for name in names) / 2 < 0.15


@pytest.mark.usefixtures("everything_is_wide")
@pytest.mark.parametrize("listed", [0, 12])
@pytest.mark.parametrize(
    ("constraints", "said"),
    [
        (["NOT_NULL <C>"], {(True, False), (True, True)}),
        (["NULL <C>"], {(False, False), (False, True)}),
        (["NULL <C>", "NOT_NULL <C>"], set()),
        (["ONE_OF_FORCE <C> <S>"], {(True, False), (False, True)}),
        (["NOT_ALL_NULL <C> <S>", "NONE_OF <C> <S>"], set()),
        (["IN <C> red"], {(True, False), (True, True)}),
    ],
    ids=str,
)
def test_what_is_drawn_meets_the_constraints(
    constraints: list[str], said: set[tuple[bool, bool]], listed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Most of it is not checked again, for it is drawn so."""
    monkeypatch.setattr(wide, "LISTED", listed)
    slots = {"<C>": "Color", "<S>": "Size"}
    raw = {"text": ["?"], **program_notation.template("scene, filter_count 0 <C> <S>", slots, *constraints)}
    (template,), faults = read_templates(raw, "", CLEVR.materials.catalogue, "made.json", 0)

    words = [filling.words() for filling in fillings(template, SMALL_SCENES[0], EVERYTHING, count=40)]

    assert not faults
    assert {(each["<C>"] is not None, each["<S>"] is not None) for each in words} == said
    assert "IN <C> red" not in constraints or {each["<C>"] for each in words} == {"red"}
