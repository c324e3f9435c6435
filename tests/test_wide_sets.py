"""What few of many descriptions fit is drawn with the shares that single draws and listing give it, and is found."""

from __future__ import annotations

import importlib
import itertools
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random

import naive
import program_notation
import pytest
from commands import ROOT
from families import SHIPPED
from general_domain import METADATA, SCENES
from scene_records import SMALL_SCENES, sampled_scenes
from test_fidelity import assert_same_distribution
from test_search import EVERYTHING, make_search

import vqagen
from vqagen import Generation, find_domain, load_domain_files
from vqagen.language.template import Template
from vqagen.language.template_check import read_templates
from vqagen.search import vocabulary, wide, wide_table
from vqagen.search.description import Sampling
from vqagen.search.filling import FOUND, Filling
from vqagen.search.tables import SceneTables
from vqagen.search.vocabulary import Vocabulary
from vqagen.search.wide_table import Span, WideTable
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import Scene, compile_scene

CLEVR = SHIPPED[0].materials
SLOTS = {"<R>": "Relation", **{f"<{t[0]}{n}>": t for t in ("Size", "Color", "Material", "Shape") for n in ("", "2")}}
ONE, TWO = (" ".join(f"<{letter}{number}>" for letter in "SCM") for number in ("", "2"))
FAMILIES = {
    "query": f"scene, filter_unique 0 {ONE}, query_shape 1",
    "count": f"scene, filter_count 0 {ONE}",
    "exist": f"scene, filter_exist 0 {ONE}",
    "kinds": f"scene, filter 0 {ONE}, count_different_shape 1",
    "several": f"scene, filter_not_unique 0 {ONE}, count 1",
    "hop": f"scene, filter_unique 0 {ONE}, relate_filter_unique 1 <R> {TWO}, query_shape 2",
    "hop_count": f"scene, filter_unique 0 {ONE}, relate_filter_count 1 <R> {TWO}",
    "hop_any": f"scene, filter_unique 0 {ONE}, relate_filter 1 <R> {TWO}, count 2",
    "short_hop": "scene, filter_unique 0 <S> <M>, relate_filter_count 1 <R> <S2>",
    "short_kinds": "scene, filter 0 <C> <M>, count_different_size 1",
    "same_count": f"scene, filter_unique 0 {ONE}, same_shape 1, filter_count 2 {TWO}",
}
DEFAULT_SAMPLING = Sampling()
SPANS = [Span((), (0, 1, 2, 3)), Span((1,), (0, 3)), Span((0, 2), ())]


def template_of(family: str, *constraints: str) -> Template:
    """One of the families."""
    used = {slot: kind for slot, kind in SLOTS.items() if slot in FAMILIES[family]}
    raw = {"text": ["?"], **program_notation.template(FAMILIES[family], used, *constraints)}
    (template,), faults = read_templates(raw, "", CLEVR.catalogue, "made.json", 0)
    assert not faults
    return template


def scene_of(number: int) -> Scene:
    """A sampled scene of CLEVR."""
    return compile_scene(sampled_scenes(number + 1)[number], CLEVR.domain)


def described_as(table: WideTable, i: int) -> Mapping[int, dict[int, float]]:
    """Set of objects -> each description of object i that fits just them, with the share that single draws give it."""
    found: dict[int, dict[int, float]] = {}
    for ways in itertools.product(*([None, *ways] for ways in table.rows[i])):
        fits, code, share = table.scene.everything, 0, 1.0
        for way, all_ways in zip(ways, table.rows[i], strict=True):
            if way is not None:
                fits, code, share = fits & way.fits, code + way.code, share / len(all_ways)
        found.setdefault(fits, {})[code] = share
    return found


@pytest.mark.parametrize("record", SCENES, ids=lambda record: record["image_filename"])
def test_sets_have_the_weights_of_single_draws(record: naive.Record) -> None:
    """Also where groups and lists can be said in several ways of one object, and in fewer of another."""
    domain = domain_from_metadata(METADATA)
    table = WideTable(Vocabulary(domain.attributes), compile_scene(record, domain))
    sets = table.sets(Span((), tuple(range(len(domain.attributes)))))
    assert sets is not None
    expected = [described_as(table, i) for i in table.visible]

    for objects, weight in sets.weights.items():
        members = [i for i in table.visible if objects >> i & 1]
        each = [sum(expected[i][objects].values()) for i in members]
        assert weight == sets.weight(objects, objects) == pytest.approx(sum(each) / len(each))
        for i, of_one in zip(members, each, strict=True):
            assert sets.weight(objects, 1 << i) == pytest.approx(of_one)
            random, shares = Random(i).random, expected[i][objects]
            drawn = Counter(sets.draw(objects, 1 << i, random) for _ in range(40 * len(shares)))
            assert_same_distribution(drawn, {code: 40_000 * share for code, share in shares.items()}, f"{objects:b}")


def test_a_scene_of_too_many_sets_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Single descriptions are drawn there."""
    monkeypatch.setattr(wide_table, "MOST_SETS", 20)
    table = WideTable(Vocabulary(CLEVR.domain.attributes), scene_of(0))

    assert table.sets(SPANS[0]) is None


@pytest.mark.parametrize(("family", "scene"), [("short_hop", 1), ("short_kinds", 0)])
def test_every_filling_is_found_by_sets(family: str, scene: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after another: a set whose descriptions fail by their words alone is not taken to be a dead end."""

    def found() -> set[str]:
        search, seen, words = make_search(template_of(family), "all", EVERYTHING), set[object](), list[str]()
        tables = SceneTables(compile_scene(SMALL_SCENES[scene], CLEVR.domain))
        while (filling := search.find(tables, Random(len(words)), (), seen, 20_000).filling) is not None:
            words.append(str(filling.words()))
        assert len(words) == len({*words})
        return {*words}

    listed = found()
    monkeypatch.setattr(vocabulary, "WIDE", 1)
    monkeypatch.setattr(wide, "WORD_TRIES", wide.DRAWS)
    monkeypatch.setattr(wide, "FIRST_DRAWS", 0)
    assert found() == listed != set()


def drawn_fillings(family: str, policy: str) -> list[Filling]:
    """Fillings of two scenes, from searches that each begin anew."""
    search, found = make_search(template_of(family), policy, DEFAULT_SAMPLING), list[Filling]()
    for record in SMALL_SCENES[1:]:
        tables = SceneTables(compile_scene(record, CLEVR.domain))
        tries = (search.find(tables, Random(seed), (), set(), 20_000).filling for seed in range(500))
        found += [filling for filling in tries if filling is not None]
    return found


@pytest.mark.quick("query-none", "kinds-none", "several-none", "hop-all", "hop_any-none", "short_hop-all")
@pytest.mark.parametrize("policy", ["none", "all"])
@pytest.mark.parametrize("family", FAMILIES)
def test_sets_are_drawn_as_often_as_single_descriptions(
    family: str, policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chi-square tests of the words and results of fillings: only sets are drawn, or only single descriptions."""
    monkeypatch.setattr(vocabulary, "WIDE", 1)
    monkeypatch.setattr(wide, "WORD_TRIES", wide.DRAWS)
    monkeypatch.setattr(wide, "FIRST_DRAWS", wide.DRAWS)
    single = drawn_fillings(family, policy)
    monkeypatch.setattr(wide, "FIRST_DRAWS", 0)
    sets = drawn_fillings(family, policy)

    assert len(sets) == len(single) > 0
    for of in (lambda filling: str(filling.words()), lambda filling: filling.values):
        assert_same_distribution(Counter(map(of, sets)), Counter(map(of, single)), family)


@pytest.mark.slow
def test_questions_are_as_with_single_descriptions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Families, answers, and how many words are said: of 80 scenes, as if four attributes were too many to list."""

    def counts(first_draws: int) -> tuple[Counter[str], Counter[str], Counter[str]]:
        monkeypatch.setattr(wide, "FIRST_DRAWS", first_draws)
        run = Generation(sampled_scenes(80), CLEVR, vqagen.QuestionSettings())
        questions = [question for _, made in run.by_scene() for question in made]
        return (
            Counter(question.template.id for question in questions),
            Counter(f"{question.template.last_function.asks} {question.answer}" for question in questions),
            Counter(f"{question.template.file} {len(question.program.nodes)}" for question in questions),
        )

    monkeypatch.setattr(vocabulary, "WIDE", 1)
    for sets, single in zip(counts(wide.FIRST_DRAWS), counts(wide.DRAWS), strict=True):
        assert_same_distribution(sets, single, "80 scenes")


def test_few_of_many_descriptions_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 11 attributes: an answer that one draw in hundreds gives is given in each scene that has it.

    Such families stayed least used, so that each later scene of a window tried them all in vain: 250 scenes took four
    times what the first ones took.
    """
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    folder = importlib.import_module("wide_domain").make_wide_domain(tmp_path / "wide")
    loaded = load_domain_files(find_domain(folder))
    template = next(each for each in loaded.templates if each.name == "same_count_hue")
    search, found = make_search(template, "all", Sampling()), []
    for index, record in enumerate(vqagen.sample_scenes(12, metadata=folder / "metadata.json")):
        scene = compile_scene(record, loaded.domain)
        if any(objects & (objects - 1) for objects in scene.having["hue"].values()):
            found.append(search.find(SceneTables(scene), Random(index), (0,), set(), 20_000).reason)

    assert len(found) > 6
    assert set(found) == {FOUND}
