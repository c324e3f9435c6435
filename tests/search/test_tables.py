"""The tables of a scene: what its objects can be called, and how many objects each description fits, beside loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Sized
from itertools import product
from random import Random
from typing import Any

import general_domain
import pytest
from families import COLLECTIONS
from oracles.naive_vocabulary import World, make_world
from program_notation import template as notation
from scene_records import large_scene

from vqagen import load_domain_files
from vqagen.bits import indexes, union_of
from vqagen.errors import BadInput
from vqagen.language.template_check import read_templates
from vqagen.search import vocabulary
from vqagen.search.description import Sampling
from vqagen.search.draws import draw_absent, draw_any, member
from vqagen.search.plan import ProgramWriter, make_plan
from vqagen.search.state import SceneTables
from vqagen.search.tables import ALL, DescriptionTable, Fits
from vqagen.search.vocabulary import Vocabularies, Vocabulary
from vqagen.world.domain import domain_from_metadata
from vqagen.world.scene import Scene, compile_scene

DOMAIN = COLLECTIONS[0].materials.domain
PANTRY = domain_from_metadata(general_domain.METADATA)
Words = tuple[str | None, ...]
Said = tuple[str | None, int, Words]
"""A relation, or None for a set, an object, and a description of it."""


class Called:
    """A scene's table beside all that can be said of its objects: `fitting[words]` are the objects that words fit."""

    def __init__(self, record: dict[str, Any], types: Sequence[str], is_clevr: bool = True) -> None:
        domain, metadata = (DOMAIN, COLLECTIONS[0].raw_metadata) if is_clevr else (PANTRY, general_domain.METADATA)
        self.scene: Scene = compile_scene(record, domain)
        self.table: DescriptionTable = SceneTables(self.scene).of(Vocabularies(domain).of(types))
        world: World = make_world(record, metadata)
        sayable = [world.sayable[each.lower()] for each in types]
        every = [(i, words) for i in world.everything for words in product(*[(None, *said[i]) for said in sayable])]
        longest = self.table.vocabulary.longest
        self.every = {(i, words) for i, words in every if len(words) - words.count(None) <= longest}
        self.fitting: dict[Words, set[int]] = {}
        for _, words in self.every:
            told = [(said, word) for said, word in zip(sayable, words, strict=True) if word is not None]
            self.fitting[words] = {i for i in world.everything if all(word in said[i] for said, word in told)}

    def said(self, positions: int, fits: Fits | None = None) -> set[Said]:
        """What some positions say, each once."""
        found = list[Said]()
        for at in indexes(positions):
            slot, position = divmod(at, self.table.width)
            code, objects = self.table.option(position)
            words = self.table.vocabulary.said[code].words
            assert set(indexes(objects)) == self.fitting[words]
            found.append((fits.relations[slot] if fits else None, position // self.table.space.size, words))
        assert len(found) == len(set(found))
        return set(found)

    def loop(self, fits: Fits) -> Iterator[tuple[Said, set[int], set[int]]]:
        """Each position of each slot, with the objects that it fits, and those of them that are in the slot's set."""
        for relation, objects in zip(fits.relations, fits.sets, strict=True):
            for i, words in self.every:
                yield (relation, i, words), self.fitting[words], self.fitting[words] & {*indexes(objects)}


FOUR = ("Size", "Color", "Material", "Shape")
LISTS = ("Topping", "Kind", "Origin")
CALLED = {
    **{f"{size} objects": (large_scene(size), ("Size", "Color", "Shape"), True) for size in (1, 6, 65)},
    "four attributes": (large_scene(10), FOUR, True),
    "no attribute": (large_scene(3), (), True),
    "lists and groups": (general_domain.SCENES[2], LISTS, False),
    "missing values": (general_domain.SCENES[0], ("Label", "Tint", *LISTS), False),
}


@pytest.fixture(params=CALLED.values(), ids=[*CALLED])
def called(request: pytest.FixtureRequest) -> Called:
    return Called(*request.param)


@pytest.mark.quick(2)
def test_objects_can_be_called_what_is_true_of_them(called: Called) -> None:
    """Each description of each object once, of equal ones the first object's, and by the attributes that it says."""
    table = called.table
    sets = {union_of(k for k, word in enumerate(words) if word is not None) for words in called.fitting}
    some = union_of(each for each in sets if each % 3)

    assert called.said(table.every) == {(None, i, words) for i, words in called.every}
    assert called.said(table.distinct) == {(None, min(fitting), words) for words, fitting in called.fitting.items()}
    for i in range(called.scene.size):
        assert {words for _, _, words in called.said(table.described[i])} == {
            words for words, fitting in called.fitting.items() if i in fitting
        }
        assert called.said(table.wanted(some, 1 << i)) == {
            (None, i, words)
            for j, words in called.every
            if i == j and some >> union_of(k for k, word in enumerate(words) if word is not None) & 1
        }
    assert table.wanted(-1, ALL) == table.every


@pytest.mark.quick(2)
def test_as_many_objects_fit_as_a_loop_finds(called: Called) -> None:
    """Of some objects, of all, and of those in each relation to an anchor, or in one; also without some of them."""
    table, size, rng = called.table, called.scene.size, Random(called.scene.size)
    sets = [rng.getrandbits(size) for _ in range(3)]
    sources: list[Any] = [*((each, None) for each in (called.scene.everything, 0, *sets[:2]))]
    sources += [(rng.randrange(size), relation) for relation in ("", next(iter(called.scene.related)), "unheard-of")]
    for source, relation in sources:
        whole = table.fits(source, relation)
        for fits in (whole, whole.without(sets[2])):
            loop = [*called.loop(fits)]
            for numbers in (-1, ~1, ~3, 0, 2, 1 << size, *(rng.getrandbits(5) for _ in range(3))):
                assert called.said(fits.as_many(numbers), fits) == {
                    said for said, fitting, found in loop if said[1] == min(fitting) and numbers >> len(found) & 1
                }
            for number in (0, 1, 2, 3, size, size + 1):
                assert fits.exactly(number) == fits.as_many(1 << number)
            own = {(relation, i) for relation, objects in zip(fits.relations, fits.sets, strict=True)
                   for i in indexes(objects)}  # fmt: skip
            assert called.said(fits.singling_out(), fits) == {
                said for said, _, found in loop if said[:2] in own and len(found) == 1
            }
            beside = {*indexes(sets[0])}
            others = {said for said, fitting, found in loop if fitting - found - beside}
            assert called.said(fits.others(sets[0]), fits) == others


def test_the_members_of_a_large_set_are_found_by_their_rank() -> None:
    """From the top."""
    rng = Random(1)
    for length in (1, 3, 511, 512, 513, 5_000):
        positions = rng.getrandbits(length) | 1 << length - 1
        assert [member(positions, rank) for rank in range(positions.bit_count())] == indexes(positions)[::-1]


@pytest.mark.parametrize(("most", "longest"), [(256, 3), (8, 3), (7, 2), (1, 2)])
def test_descriptions_of_an_object_are_as_long_as_there_may_be_few_of_them(
    most: int, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three attributes give eight descriptions, seven of up to two words; absent ones are no longer than these."""
    monkeypatch.setattr(vocabulary, "MOST_LISTED", most)
    called = Called(large_scene(6), ("Size", "Color", "Shape"))
    table, random = called.table, Random(most).random
    chances = [*table.absent_chances().items()]
    said = table.vocabulary.said
    absent = [code for _ in range(300) if (code := draw_absent(table, chances, random)) is not None]
    lengths = {said[code].used.bit_count() for code in absent}

    assert {*table.vocabulary.sets} == {used for used in range(8) if used.bit_count() <= longest}
    assert called.said(table.every) == {(None, i, words) for i, words in called.every}
    assert longest in lengths and max(lengths) == longest
    assert not {said[code].words for code in absent} & called.fitting.keys()
    assert max(said[draw_any(table, random)[0]].used.bit_count() for _ in range(300)) == longest


@pytest.mark.parametrize("size", [63, 64, 65, 130])
def test_relations_of_many_objects_are_those_that_rows_list(size: int) -> None:
    """With rows of lists, of other sequences and empty ones."""
    record = large_scene(size)
    rows = record["relationships"]
    rows["behind"], rows["front"] = [[] for _ in range(size)], [tuple(row) for row in rows["front"]]

    related = compile_scene(record, DOMAIN).related

    for relation in ("left", "right", "front", "behind"):
        assert [indexes(objects) for objects in related[relation]] == [sorted(row) for row in rows[relation]]


@pytest.mark.quick(1)
@pytest.mark.parametrize("place", [-1, 64, 1 << 70, "1", None, 3])
def test_faulty_relations_of_many_objects_are_located(place: object) -> None:
    """Object 3 has itself, or none that there is, to its left."""
    record = large_scene(64)
    record["relationships"]["left"][3] = [place]

    with pytest.raises(BadInput, match=r"relationships\.left\[3\]"):
        compile_scene(record, DOMAIN)


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
    "words of slots": (lambda words, code: words.worded[("<Z>", "", "<M>", "<S>"), code], "worded"),
    "parts": (lambda words, code: words.parts[code], "parts"),
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
    plan = make_plan(read, Vocabularies(DOMAIN), Sampling())

    def inputs_of_the_count(first: int, second: int) -> tuple[int, ...]:
        """By the codes of the two descriptions."""
        described = [stage.choice.index for stage in plan.stages]
        picked = [()] * len(plan.ops)
        for op, code in zip(described, (first, second), strict=True):
            picked[op] = (None, code, 0)
        writer = ProgramWriter()
        writer.write(plan.ops, picked)
        return writer.steps[-1][1]

    assert not faults
    assert inputs_of_the_count(1, 0) == (0,)
    assert inputs_of_the_count(1, 1) == (3,)
