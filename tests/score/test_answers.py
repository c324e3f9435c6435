"""Kinds of answers and presets: what counts as the same answer, with the numbers that the original tools gave."""

from __future__ import annotations

import itertools

import pytest

from vqagen.errors import UsageError
from vqagen.files.locations import shipped
from vqagen.items import answers as kinds
from vqagen.items.answers import BOOL, CELL, INTEGER, LIST, TEXT, WORD, Answer, Vocabulary, read_answer, text_of
from vqagen.items.table import Gold, Options
from vqagen.language.synonyms import load_synonyms, words_of
from vqagen.score.answers.judging import PRESETS, credit_of, judge, normal
from vqagen.score.evaluation import EvaluationSettings
from vqagen.world.domain import load_domain

NO_WORDS = Vocabulary()


def vocabulary_of(metadata: str, synonyms: str | None = None) -> Vocabulary:
    domain = load_domain(shipped(f"metadata/{metadata}.json"))
    return Vocabulary.of_attributes(words_of(domain, load_synonyms(synonyms and shipped(synonyms), domain)))


CLEVR = vocabulary_of("clevr", "synonyms.json")


def gold_of(kind: str, *answers: Answer) -> Gold:
    return Gold(kind, answers)


def options_of(*texts: str) -> Options | None:
    return Options(texts, None) if texts else None


def credit(preset: str, text: str, gold: Gold) -> float:
    return credit_of(normal(text, gold.kind, preset, NO_WORDS), gold, preset)


READ = [
    ("Yes.", BOOL, True),
    ("FALSE", BOOL, False),
    ("“no”", BOOL, False),
    ("maybe", BOOL, None),
    ("1", BOOL, None),
    ("2", INTEGER, 2),
    ("2.0", INTEGER, 2),
    ("Two.", INTEGER, 2),
    ("zero", INTEGER, 0),
    ("none", INTEGER, 0),
    ("twenty-one", INTEGER, 21),
    ("1,000", INTEGER, 1000),
    ("-3", INTEGER, -3),
    ("2.5", INTEGER, None),
    ("two cubes", INTEGER, None),
    ("9" * 30, INTEGER, None),
    ("Metallic", WORD, "metal"),
    ("a block", WORD, "cube"),
    ("spheres", WORD, "sphere"),
    ("Grey", WORD, "gray"),
    ("plastic", WORD, None),
    ("red, blue and green", LIST, ("blue", "green", "red")),
    ('["red", "red"]', LIST, ("red",)),
    ("[]", LIST, ()),
    ("none", LIST, ()),
    ("red plastic", LIST, None),
    ("column B, row 2", CELL, "B2"),
    (" Café  au lait!", TEXT, "café au lait"),
    ("...", TEXT, None),
]


def test_nothing_is_none_in_a_dialog() -> None:
    """The answer about the next object, where there is none."""
    words = kinds.vocabulary_of({}, are_dialogs=True)

    for reply in ("Nothing.", "There is nothing in front of the brown cube.", "none"):
        for right in ("none", "metal"):
            assert judge([reply], gold_of(WORD, right), vocabulary=words).given == "none"


def test_a_text_is_read_by_the_kind_of_its_answer() -> None:
    found = [(text, kind, read_answer(text, kind, CLEVR)) for text, kind, _ in READ]
    assert list(map(repr, found)) == list(map(repr, READ))  # True is not 1


@pytest.mark.parametrize(
    ("kind", "answer"), [(BOOL, True), (INTEGER, 1), (WORD, "metal"), (LIST, ("blue", "red")), (LIST, ()), (CELL, "C3")]
)
def test_the_text_of_an_answer_is_read_as_this_answer(kind: str, answer: Answer) -> None:
    assert read_answer(text_of(answer), kind, CLEVR) == answer


def test_a_vocabulary_keeps_names_and_drops_synonyms_of_two_values() -> None:
    """The market calls an instrument "instrument": no other value's synonym may take a name."""
    market = vocabulary_of("market")

    assert {market.words[value] for group in market.groups for value in group} == {
        value for group in market.groups for value in group
    }
    assert CLEVR.words["shiny"] == "metal"
    assert CLEVR.beside(["red"]) >= {"red", "blue"} and "metal" not in CLEVR.beside(["red"])


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"preset": "typd"}, "unknown preset 'typd'; did you mean 'typed'"),
        ({"preset": "vqa-official"}, "'vqa-official' was removed in version 2.0: VQA's own script"),
        ({"missing": "skp"}, "unknown policy of missing 'skp'; did you mean 'skip'"),
    ],
)
def test_a_setting_that_does_not_exist_is_a_usage_error(given: dict[str, str], message: str) -> None:
    """A typing error must not fall back on another one."""
    with pytest.raises(UsageError, match=message):
        EvaluationSettings(**given)


# The official scripts -------------------------------------------------------------------------------------------------


DIFFERENCES = [
    ("visual7w", "CAFÉ", "Café", 1),
    ("visual7w", "red", "Red.", 0),
    ("exact", "yes", True, 1),
    ("exact", "Yes", True, 0),
    ("exact", "2", 2, 1),
    ("typed", "Red!", "Red.", 1),
]


def test_presets_differ() -> None:
    found = [(*row[:3], credit(row[0], row[1], gold_of(TEXT, row[2]))) for row in DIFFERENCES]
    assert found == DIFFERENCES


# Judging --------------------------------------------------------------------------------------------------------------


def test_a_true_answer_is_not_the_number_one() -> None:
    """Python takes True for 1, also as a key."""
    assert judge(["1"], gold_of(INTEGER, 1))[:3] == ((1.0,), "1", "read")
    assert judge(["1"], gold_of(BOOL, True))[:3] == ((0.0,), "1", "no valid answer")
    assert judge(["yes"], gold_of(BOOL, True))[:3] == ((1.0,), "yes", "read")


CANDIDATES = [
    ("typed", ["blue", "Blue!", "red"], (0.0, 1.0)),
    ("visual7w", ["blue", "Blue", "red"], (0.0, 0.0)),
    ("typed", ["blue"], (0.0, 0.0)),
    ("typed", [], (0.0, 0.0)),
]


@pytest.mark.parametrize(("preset", "candidates", "expected"), CANDIDATES)
def test_the_best_of_the_first_candidates_counts(preset: str, candidates: list[str], expected: tuple[float]) -> None:
    """Equal ones take one place, except by Visual7W's rule."""
    assert judge(candidates, gold_of(TEXT, "red"), preset=preset, top_k=(1, 2)).credits == expected


BESIDE = [
    ("metallic", "read"),
    ("B", "read"),
    ("red", "not an option"),
    ("I cannot tell", "no valid answer"),
    ("A B C D", "ambiguous"),
]


def test_an_answer_beside_the_options_is_recognised() -> None:
    gold, options = gold_of(WORD, "metal"), options_of("rubber", "metal")

    assert [(text, judge([text], gold, options, vocabulary=CLEVR).status) for text, _ in BESIDE] == BESIDE


@pytest.mark.parametrize("kind", [WORD, LIST])
@pytest.mark.parametrize(("text", "expected"), [("an SUV.", 0.0), ("SUV", 1.0), ("truck", 0.0)])
def test_an_answer_of_another_domain_is_read_as_text(kind: str, text: str, expected: float) -> None:
    """Files of other generators name no domain. Their right answers were refused, as CLEVR has no such word."""
    found = judge([text], gold_of(kind, "suv" if kind == WORD else ("suv",)), vocabulary=CLEVR)

    assert (found.credits, found.status) == ((expected,), "read")


@pytest.mark.parametrize(("kind", "right"), [(WORD, "metal"), (INTEGER, 3)])
@pytest.mark.parametrize(("text", "given"), [("wood", "wood"), ("C", "wood"), ("It is wood.", "wood")])
def test_an_option_outside_the_vocabulary_is_an_answer(kind: str, right: Answer, text: str, given: str) -> None:
    """It is wrong, and not refused."""
    options = options_of("rubber", text_of(right), "wood")

    assert judge([text], gold_of(kind, right), options, vocabulary=CLEVR)[:3] == ((0.0,), given, "read")


def test_the_gold_answer_is_right_under_every_preset() -> None:
    kinds: dict[str, Answer] = {BOOL: False, INTEGER: 10, WORD: "metal", LIST: ("blue", "red"), CELL: "B2", TEXT: "Hm."}
    for preset, (kind, answer) in itertools.product(PRESETS, kinds.items()):
        found = judge([text_of(answer)], gold_of(kind, answer), preset=preset, vocabulary=CLEVR)
        assert found.credits == (1.0,), (preset, kind)
