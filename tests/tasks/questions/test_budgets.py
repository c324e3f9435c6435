"""How many questions, of which families, and none of those that were asked before: what each setting promises."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from depth import fewer
from families import SHIPPED, Collection
from hypothesis import given, settings, strategies as st

import vqagen
from vqagen.language.question import record_writer
from vqagen.language.template import Template
from vqagen.rng import stream
from vqagen.search.balance import AnswerCounts, known_answers
from vqagen.tasks.questions.exclusion import IN_OTHER_SET, Exclusion, QuestionSelection
from vqagen.tasks.questions.family import QuestionTally
from vqagen.tasks.questions.generator import QuestionGenerator, check_names
from vqagen.world.scene import Scene, compile_scene

SCENES, WINDOW = fewer(40, least=24), 15
SIMPLE = {"clevr": "zero_hop.json", "market": "existence.json"}
"""A file of each domain whose questions have few texts, so that they come again."""
BY_COLLECTION = pytest.mark.parametrize("collection", SHIPPED, ids=str)

Record = dict[str, Any]


class Run(NamedTuple):
    """What came of a run: the questions of each scene, and its tally."""

    by_scene: list[list[vqagen.Question]]
    tally: QuestionTally

    @property
    def questions(self) -> list[vqagen.Question]:
        """All of them, in order."""
        return [question for made in self.by_scene for question in made]

    @property
    def texts(self) -> list[str]:
        """Theirs."""
        return [question.question for question in self.questions]


@cache
def scene_records(collection: Collection) -> list[Record]:
    """Sampled scenes."""
    return collection.sampled(SCENES, seed=33)


@cache
def scenes(collection: Collection) -> list[Scene]:
    """The same, compiled."""
    domain = collection.materials.domain
    return [compile_scene(record, domain, index) for index, record in enumerate(scene_records(collection))]


def run(
    collection: Collection, exclusion: Exclusion | None = None, start: int = 0, end: int = SCENES, **chosen: Any
) -> Run:
    """The scenes from `start` up to `end`, in windows of WINDOW scenes; what comes before in the first is replayed."""
    materials, tally = collection.materials, QuestionTally()
    run_settings = vqagen.QuestionSettings(**{"reset_counts_every": WINDOW, **chosen})
    task = QuestionGenerator(materials.templates, materials.synonyms, run_settings, exclusion=exclusion)
    made = []
    for first in range(start - start % WINDOW, end, WINDOW):
        window = scenes(collection)[first : min(first + WINDOW, end)]
        made += [asked for scene, asked in task.window(window, tally, start) if scene.index >= start]
    return Run(made, tally)


def written(questions: list[vqagen.Question], dialect: str = "generator", **how: Any) -> list[Record]:
    """As they come back from a file. Their numbers are left out: merging numbers them anew."""
    to_record = record_writer(dialect, **how)
    records = [json.loads(json.dumps(to_record(question))) for question in questions]
    return [{key: value for key, value in record.items() if key != "question_index"} for record in records]


def selected(records: list[Record], dedupe: str = "all") -> list[Record]:
    """What a selection keeps of an output."""
    selection = QuestionSelection()
    return [record for record in records if dedupe != "all" or selection.keeps(record)]


# Questions per image ----------------------------------------------------------------------------------------------


def test_counts_of_answers_learn_of_each_scene_that_is_larger_than_all_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """A number up to the largest scene's size is an answer that may still come."""
    met: list[int] = []
    monkeypatch.setattr(AnswerCounts, "meet", lambda counts, size: met.append(size))
    run(SHIPPED[0], end=WINDOW, only=(SIMPLE["clevr"],))

    sizes = [scene.size for scene in scenes(SHIPPED[0])[:WINDOW]]
    assert set(met) == set(accumulate(sizes, max)) != set(sizes)


# Families ---------------------------------------------------------------------------------------------------------


def asks(template: Template) -> str:
    return template.last_function.asks


@pytest.mark.quick(1)
@BY_COLLECTION
@pytest.mark.parametrize("called", ["id", "file", "name", "question type"])
def test_only_the_families_named_are_asked(collection: Collection, called: str) -> None:
    """By any of their names, one or several; what is written of them is what a run of all families writes."""
    name_of = {"id": lambda t: t.id, "file": lambda t: t.file, "name": lambda t: t.name, "question type": asks}[called]
    templates = collection.materials.templates
    only = [name_of(templates[3]), name_of(templates[-2])]
    named = {template.id for template in templates if name_of(template) in only}

    made = run(collection, only=only, templates_per_image=60)

    assert {question.template.id for question in made.questions} == named == set(made.tally.tries)
    assert all(question.template is templates[question.template.family] for question in made.questions)


def test_unknown_names_are_told_with_the_nearest() -> None:
    """All at once, and the known ones among them are not."""
    with pytest.raises(vqagen.UsageError) as caught:
        check_names(
            SHIPPED[0].materials,
            vqagen.QuestionSettings(only=("counts", "exist", "one_hop.jsn", "one_hop.json#query_colour")),
        )

    assert str(caught.value) == (
        "--only: unknown question type or template 'counts'; did you mean 'count'?\n"
        "--only: unknown question type or template 'one_hop.jsn'; did you mean 'one_hop.json'?\n"
        "--only: unknown question type or template 'one_hop.json#query_colour'; "
        "did you mean 'one_hop.json#query_color'?"
    )


# Repeated questions -----------------------------------------------------------------------------------------------


def often(collection: Collection, **chosen: Any) -> dict[str, Any]:
    """Settings under which texts come again from scene to scene."""
    return {"only": (SIMPLE[str(collection)],), "instances_per_template": 12, **chosen}


def with_templates(collection: Collection, folder: Path, **files: Any) -> Collection:
    """The same domain with other template files."""
    for name, templates in files.items():
        (folder / f"{name}.json").write_text(json.dumps(templates), "utf-8")
    return replace(collection, templates=folder)


HOW_MANY = {
    "name": "how_many",
    "params": [],
    "text": ["How many things are there?"],
    "nodes": [{"type": "scene", "inputs": []}, {"type": "count", "inputs": [0]}],
    "constraints": [],
}
"""A template of one text and one program."""


@pytest.mark.slow
@BY_COLLECTION
def test_no_text_comes_twice_about_one_image(collection: Collection, tmp_path: Path) -> None:
    """Of families that ask the same, each makes other questions; about another image they may come again.

    With a number of instances no text comes twice about an image anyway: its other questions would tell the answer.
    """
    same = json.loads((collection.templates / SIMPLE[str(collection)]).read_text("utf-8"))
    doubled = with_templates(collection, tmp_path, one=same, two=same)
    chosen = {"instances_per_template": 0, "templates_per_image": 60, "end": WINDOW}
    plain, made = (run(doubled, **chosen, dedupe=dedupe) for dedupe in ("none", "image"))

    assert any(len({question.question for question in asked}) < len(asked) for asked in plain.by_scene)
    assert all(len({question.question for question in asked}) == len(asked) for asked in made.by_scene)
    assert len(set(made.texts)) < len(made.texts)


@pytest.mark.quick(1)
@BY_COLLECTION
@pytest.mark.parametrize("dialect", ["generator", "release"])
def test_no_text_comes_twice_in_the_whole_output(collection: Collection, dialect: str) -> None:
    """Windows know nothing of each other; the selection finds what comes again in a later one."""
    made = run(collection, **often(collection, dedupe="all"))
    kept = selected(written(made.questions, dialect))
    texts = [record["question"] for record in kept]

    assert texts == list(dict.fromkeys(made.texts))
    assert len(texts) < len(made.texts)


@pytest.mark.quick(1)
@BY_COLLECTION
def test_what_is_refused_does_not_count_for_the_balance(collection: Collection) -> None:
    """Counting the questions that were made, and no others, no answer was too common when it was given. The counts of a
    window start by draws of a stream of its own, which hangs on what its first scene shows.
    """
    made = run(
        collection, **often(collection, dedupe="all", only=("exist",), instances_per_template=3, balance="answers")
    )
    counts: dict[tuple[int, str], list[AnswerCounts]] = {}
    for question in made.questions:
        key = question.scene.index // WINDOW, question.template.id
        if key not in counts:
            shown = scenes(collection)[key[0] * WINDOW].values
            coins = stream(0, f"answers of {question.template.id} {shown}", key[0] * WINDOW)
            known = known_answers(question.template)
            counts[key] = [AnswerCounts(known, coins=coins), AnswerCounts(known)]  # a family may have lost its coins
        counts[key] = [so_far for so_far in counts[key] if question.value not in so_far.refused]

        assert counts[key]
        for so_far in counts[key]:
            so_far.add(question.value)

    assert len(made.questions) > 100


# Another set ------------------------------------------------------------------------------------------------------


def programs(questions: list[vqagen.Question]) -> set[Any]:
    return {question.program.nodes for question in questions}


@pytest.mark.quick(1)
@BY_COLLECTION
@pytest.mark.parametrize(("dialect", "instances"), [("generator", 2), ("release", 2)])
def test_no_text_and_no_program_of_the_other_set_comes_again(
    collection: Collection, dialect: str, instances: int
) -> None:
    """Though the scenes and the families are the same; by default some do come again."""
    chosen = {"instances_per_template": instances, "templates_per_image": 10, "end": fewer(WINDOW, least=7)}
    other = run(collection, seed=1, **chosen).questions
    plain = run(collection, **chosen)
    apart = run(collection, Exclusion.from_records(written(other, dialect)), **chosen)

    assert programs(plain.questions) & programs(other)
    assert not set(apart.texts) & {question.question for question in other}
    assert not programs(apart.questions) & programs(other)
    assert len(apart.questions) > len(plain.questions) / 2


@pytest.mark.quick(1)
@BY_COLLECTION
@pytest.mark.parametrize("instances", [2, 0])
@pytest.mark.parametrize(
    "other",
    [{"question": "How many things are there?"}, {"question": "Count!", "program": HOW_MANY["nodes"]}],
    ids=["text", "program"],
)
def test_a_family_that_is_all_in_the_other_set_tells_so(
    collection: Collection, instances: int, other: Record, tmp_path: Path
) -> None:
    """By its text or by its program; nothing was answered, so nothing is out of balance."""
    single = with_templates(collection, tmp_path, how_many=[HOW_MANY])
    apart = run(single, Exclusion.from_records([other]), instances_per_template=instances)

    assert apart.questions == []
    assert apart.tally.failures == {("how_many.json#how_many", IN_OTHER_SET): SCENES}


# Laws -------------------------------------------------------------------------------------------------------------

SOME_OF_ALL = st.fixed_dictionaries(
    {
        "instances_per_template": st.sampled_from([1, 2]),
        "dedupe": st.sampled_from(["none", "image", "all"]),
        "only": st.sampled_from([(), ("exist", "query"), ("count",)]),
        "templates_per_image": st.just(4),
    }
)


@pytest.mark.slow
@BY_COLLECTION
@pytest.mark.parametrize("examples", [3, pytest.param(8, marks=pytest.mark.slow)])
def test_shards_make_what_one_run_makes(collection: Collection, examples: int) -> None:
    """Cut anywhere, each selected by itself and then all together; so do the counts of what happened."""

    @given(chosen=SOME_OF_ALL, cuts=st.lists(st.integers(1, SCENES - 1), max_size=3), is_apart=st.booleans())
    @settings(max_examples=examples)
    def are_equal(chosen: dict[str, Any], cuts: list[int], is_apart: bool) -> None:
        assert_shards_make_the_whole(collection, chosen, cuts, is_apart)

    are_equal()


def assert_shards_make_the_whole(
    collection: Collection, chosen: dict[str, Any], cuts: list[int], is_apart: bool
) -> None:
    exclusion = Exclusion.from_records(written(run(collection, seed=1, end=5).questions)) if is_apart else None
    whole = run(collection, exclusion, **chosen)
    shards = [run(collection, exclusion, *cut, **chosen) for cut in pairwise([0, *sorted(set(cuts)), SCENES])]
    laid_out = [each for shard in shards for each in selected(written(shard.questions), chosen["dedupe"])]
    total = QuestionTally()
    for shard in shards:
        total.add(QuestionTally.from_record(json.loads(json.dumps(shard.tally.to_record()))))

    assert selected(laid_out, chosen["dedupe"]) == selected(written(whole.questions), chosen["dedupe"])
    assert json.dumps(total.to_record()) == json.dumps(whole.tally.to_record()), "to the order"


# Hidden answers ---------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@BY_COLLECTION
@pytest.mark.parametrize("dialect", ["generator", "release"])
def test_hidden_records_are_the_same_without_what_tells_the_answer(collection: Collection, dialect: str) -> None:
    questions = run(collection, end=5).questions
    hidden, full = written(questions, dialect, hide_answers=True), written(questions, dialect)

    for record, told in zip(hidden, full, strict=True):
        assert record == {key: value for key, value in told.items() if key not in ("answer", "program")}
        assert {"question", "question_type", "question_family_index", "image_filename"} <= record.keys()
