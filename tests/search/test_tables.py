"""The tables of a scene: descriptions that fit, and pairs of a relation and a description, in scenes of any size."""

from __future__ import annotations

from collections.abc import Callable, Sized
from random import Random

import pytest
from families import COLLECTIONS
from program_notation import template as notation
from scene_records import large_scene

from vqagen import load_domain_files
from vqagen.bits import indexes
from vqagen.errors import BadInput
from vqagen.language.program import Node
from vqagen.language.template_check import read_templates
from vqagen.rng import skip
from vqagen.search import vocabulary
from vqagen.search.choices import _absent
from vqagen.search.description import DescriptionTable, Sampling, SceneTables
from vqagen.search.filling import Layout
from vqagen.search.plan import make_plan
from vqagen.search.vocabulary import Vocabularies, Vocabulary
from vqagen.world.scene import Scene, compile_scene

DOMAIN = COLLECTIONS[0].materials.domain
SIZES = (1, 6, 63, 64, 65, 128, 129)
"""Numbers of objects; 64 of them fit a word."""
ENOUGH = {
    "unique": lambda objects: objects.bit_count() == 1,
    "not_unique": lambda objects: objects.bit_count() > 1,
    None: lambda objects: objects != 0,
    "count": lambda objects: True,
    "exist": lambda objects: True,
}


def compiled(size: int) -> Scene:
    return compile_scene(large_scene(size), DOMAIN)


def table_of(scene: Scene) -> DescriptionTable:
    return SceneTables(scene).of(Vocabularies(DOMAIN).of(["Size", "Color", "Shape"]))


@pytest.mark.parametrize("size", SIZES)
def test_the_pairs_of_an_anchor_are_those_that_a_loop_finds(size: int) -> None:
    """For every reducer, with every relation and with one; in order, the idle ones apart."""
    scene = compiled(size)
    table = table_of(scene)
    width = len(table.fits)

    for anchor in {0, size // 2, size - 1}:
        for reducer, is_enough in ENOUGH.items():
            for only in (None, "left", "unheard-of"):
                telling, idle = [], []
                for pair in range(len(table.relations) * width):
                    relation, fits = table.relations[pair // width], table.fits[pair % width]
                    named = scene.related[relation][anchor] & fits
                    if only in (None, relation) and is_enough(named):
                        (idle if named == fits else telling).append(pair)
                found = table.relation_options(reducer, anchor, only)
                assert (found.telling, table.members(found.idle)) == (telling, idle)


@pytest.mark.parametrize("size", SIZES)
def test_patterns_of_single_descriptions_are_known(size: int) -> None:
    """They are the sets of attributes that some description of one object says."""
    table = table_of(compiled(size))

    found = {used for used, number in table.vocabulary.patterns.items() if table.single_patterns >> number & 1}

    assert found == {table.vocabulary.said[table.codes[k]].used for k in table.singles}
    assert all(table.fits[k].bit_count() == 1 for k in table.singles)


@pytest.mark.parametrize(("most", "longest"), [(256, 3), (8, 3), (7, 2), (1, 2)])
def test_descriptions_of_an_object_are_as_long_as_there_may_be_few_of_them(
    most: int, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three attributes give eight descriptions, seven of up to two words; absent ones are no longer than these."""
    monkeypatch.setattr(vocabulary, "MOST_LISTED", most)
    table = table_of(compiled(6))
    said = [table.vocabulary.said[code].used for code in table.codes]
    absent = [_absent(table, Sampling(), Random(seed).random) for seed in range(300)]
    lengths = {table.vocabulary.said[each[0]].used.bit_count() for each in absent if each is not None}

    assert table.used == said
    assert {*said} == {*table.vocabulary.patterns} == {used for used in range(8) if used.bit_count() <= longest}
    assert longest in lengths and max(lengths) == longest
    assert all(each[0] not in table.codes and not each[1] for each in absent if each is not None)


@pytest.mark.parametrize("size", [63, 64, 65, 130])
def test_relations_of_many_objects_are_those_that_rows_list(size: int) -> None:
    """With rows of lists, of other sequences and empty ones."""
    record = large_scene(size)
    rows = record["relationships"]
    rows["behind"], rows["front"] = [[] for _ in range(size)], [tuple(row) for row in rows["front"]]

    related = compile_scene(record, DOMAIN).related

    for relation in ("left", "right", "front", "behind"):
        assert [indexes(objects) for objects in related[relation]] == [sorted(row) for row in rows[relation]]


@pytest.mark.parametrize("place", [-1, 64, 1 << 70, "1", None, 3])
def test_faulty_relations_of_many_objects_are_located(place: object) -> None:
    """Object 3 has itself, or none that there is, to its left."""
    record = large_scene(64)
    record["relationships"]["left"][3] = [place]

    with pytest.raises(BadInput, match=r"relationships\.left\[3\]"):
        compile_scene(record, DOMAIN)


@pytest.mark.parametrize("draws", [0, 1, 2, 623, 1000])
def test_what_is_skipped_is_what_draws_use_up(draws: int) -> None:
    """The stream goes on as if every draw had been made."""
    one, other = Random(5), Random(5)
    for _ in range(draws):
        one.random()

    skip(other, draws)

    assert [one.random() for _ in range(700)] == [other.random() for _ in range(700)]


# What is remembered ---------------------------------------------------------------------------------------------------

CODES = range(9 * 4 * 3 * 3)
"""All descriptions by the four attributes."""
FEW = 100


@pytest.fixture
def words(monkeypatch: pytest.MonkeyPatch) -> Vocabulary:
    """All attributes, of whose descriptions few are remembered."""
    monkeypatch.setattr(vocabulary, "REMEMBERED", FEW)
    return Vocabulary(DOMAIN.attributes)


MEMOS: dict[str, tuple[Callable[[Vocabulary, int], object], str]] = {
    "words": (lambda words, code: words.said[code], "said"),
    "chains": (lambda words, code: words.chains[0, 1, None, code], "chains"),
    "words of slots": (lambda words, code: words.worded[("<Z>", "", "<M>", "<S>"), code], "worded"),
    "codes": (lambda words, code: words.codes[words.said[code].words], "codes"),
}


@pytest.mark.parametrize(("ask", "memo"), MEMOS.values(), ids=MEMOS)
def test_few_descriptions_are_remembered(
    words: Vocabulary, ask: Callable[[Vocabulary, int], object], memo: str
) -> None:
    """However many are asked for."""
    remembered: Sized = getattr(words, memo)
    most = 0
    for code in CODES:
        ask(words, code)
        most = max(most, len(remembered))

    assert 1 < most <= FEW + 1


def test_what_was_forgotten_is_found_again(words: Vocabulary) -> None:
    said = [words.said[code] for code in CODES]

    assert [words.said[code] for code in CODES] == said
    digits = [{None: 0, **of_attribute} for of_attribute in words.digits]
    assert [sum(map(dict.__getitem__, digits, each.words)) for each in said] == list(CODES)


def test_a_description_that_says_nothing_is_what_it_starts_from() -> None:
    """Also where other nodes come between: the count is of the scene, not of the object that was described before."""
    template = {
        "text": ["?"],
        **notation("scene, filter_unique 0 <C>, filter_count 0 <C2>", {"<C>": "Color", "<C2>": "Color"}),
    }
    (read,), faults = read_templates(template, "", load_domain_files().catalogue, "made.json", 0)
    first = make_plan(read, Vocabularies(DOMAIN), Sampling()).layout

    assert not faults
    assert first.after(1).after(0).run.nodes == (Node("count", (0,), ()),)
    assert first.after(1).after(1).run.nodes == (Node("count", (3,), ()),)


def remembered(layout: Layout) -> int:
    """How many layouts are remembered from one on."""
    return 1 + sum(map(remembered, layout._after.values()))
