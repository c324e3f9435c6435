"""Baselines answer as they say: their accuracies are those that follow from the frequencies of answers and values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from depth import fewer
from scene_records import sampled_scenes, scene_record

import vqagen
from vqagen.calls.baselines import BaselineFiles, baseline, baseline_ladder
from vqagen.errors import BadInput, UsageError
from vqagen.files.locations import locate
from vqagen.judge.baselines import option_learners, option_rules, priors, text_learners
from vqagen.judge.baselines.execution import ProgramRunner
from vqagen.judge.baselines.learning_task import Guess, LearningTask, credit, gold_text
from vqagen.judge.baselines.rungs import RUNGS
from vqagen.judge.baselines.settings import BaselineSettings
from vqagen.judge.gold.item import GoldItem
from vqagen.judge.intervals import wilson
from vqagen.language.domain_files import load_catalogue
from vqagen.language.question_records import record_writer
from vqagen.world.loading import find_scenes

Record = dict[str, Any]


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are written to a folder of the test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def vqagen_(capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the folder."""
    return Commands(capsysbinary)


def item(number: int, answer: str, options: Sequence[str] = (), **fields: Any) -> GoldItem:
    """A question of a type, about an image of its own unless another is given."""
    image = str(fields.pop("image", number))
    text, pair = fields.pop("question", "What?"), fields.pop("pair", None)
    named = {"function": "what", **fields}
    return GoldItem(str(number), "text", (answer,), image, named, tuple(options), text, pair=pair)


def shares(guesses: Sequence[Guess], items: Sequence[GoldItem]) -> float:
    """The share of questions whose first candidates hold the answer."""
    return sum(gold_text(each) in guess.candidates for each, guess in zip(items, guesses, strict=True)) / len(items)


@cache
def question_text(domain: str, scenes: int, per_image: int = 10) -> str:
    """A question document about sampled scenes."""
    drawn = sampled_scenes(scenes, domain=domain)
    made = vqagen.generate(drawn, domain=domain, seed=5, templates_per_image=per_image)
    to_record = record_writer("generator")
    return json.dumps({"questions": [to_record(question, i) for i, question in enumerate(made)]})


def written(domain: str = "clevr", scenes: int = 6) -> BaselineFiles:
    """Write scenes and questions; their names."""
    Path("s.json").write_text(json.dumps({"scenes": sampled_scenes(scenes, domain=domain)}))
    Path("q.json").write_text(question_text(domain, scenes))
    return BaselineFiles("q.json", scenes="s.json", domain=vqagen.find_domain(domain))


def ladder_lines(**answers: int) -> Iterator[GoldItem]:
    """Questions with so many of each answer."""
    number = 0
    for answer, count in answers.items():
        for _ in range(count):
            yield item(number, answer)
            number += 1


# Priors -----------------------------------------------------------------------------------------------------------

GROUPED = [
    *[("count", "a", "0")] * 5,
    *[("count", "a", "1")] * 2,
    *[("count", "b", "1")] * 4,
    *[("color", "c", "red")] * 3,
    *[("color", "c", "blue")] * 2,
    *[("color", "d", "blue")] * 2,
]
"""(type, family, answer) of each question."""


@pytest.mark.parametrize(("per", "right"), [("all", 6), ("type", 6 + 4), ("family", 5 + 4 + 3 + 2)])
def test_majority_is_right_as_often_as_its_answers_occur(per: str, right: int) -> None:
    """Learned from the questions themselves, the accuracy is the sum of the largest share of each group."""
    items = [item(i, answer, function=kind, family=family) for i, (kind, family, answer) in enumerate(GROUPED)]

    guesses = priors.majority(LearningTask(items, items), per)

    assert sum(guess.expected for guess in guesses) == right
    assert shares(guesses, items) == right / len(items)


def test_majority_of_generated_questions_is_the_sum_of_the_largest_shares() -> None:
    """On generated questions, the accuracy per type is Σ max p."""
    files = written(scenes=12)
    records = json.loads(Path("q.json").read_text())["questions"]
    by_type: dict[str, Counter[str]] = {}
    for record in records:
        by_type.setdefault(record["program"][-1]["type"], Counter())[str(record["answer"])] += 1
    Path("train.json").write_text(Path("q.json").read_text())

    result = baseline("majority", files._replace(train="train.json"), "p.jsonl")

    assert result.everything.correct == sum(max(counts.values()) for counts in by_type.values())


def test_equally_frequent_answers_are_ranked_by_first_occurrence() -> None:
    """Count descends; then the answer that was learned first comes first, whatever its text."""
    train = [item(i, answer) for i, answer in enumerate(["zebra", "ant", "ant", "zebra", "bee", "cat", "cat", "cat"])]

    [guess] = priors.majority(LearningTask([item(0, "?")], train, top_k=4), "all")

    assert guess.candidates == ("cat", "zebra", "ant", "bee")


def test_an_unknown_group_is_answered_by_the_next_larger_one() -> None:
    """A family that was not learned from is answered by its type, and an unknown type by all questions."""
    train = [item(0, "1", function="count", family="a"), *(item(i, "red", function="color") for i in (1, 2))]
    new = {"question": "Who?", "family": "new"}
    asked = [item(0, "?", function="count", **new), item(1, "?", function="new", **new)]

    guesses = priors.majority(LearningTask(asked, train), "question")

    assert [guess.candidates for guess in guesses] == [("1",), ("red",)]


def test_without_questions_to_learn_from_images_are_kept_apart() -> None:
    """An image's own questions never teach the answers to its other questions."""
    items = [item(i, f"answer {i // 3}", image=i // 3) for i in range(60)]
    learning = LearningTask(items)

    assert sorted(place for split in learning.splits for place in split.places) == list(range(60))
    for split in learning.splits:
        assert {each.image for each in split.trained}.isdisjoint(items[place].image for place in split.places)
    assert not any(guess.expected for guess in priors.majority(learning, "all"))


def test_the_two_questions_of_a_pair_are_not_learned_from_each_other() -> None:
    """Of a pair, one question betrays that the answer of the other is a different one."""
    items = [item(i, "yes" if i % 2 else "no", pair=i // 2) for i in range(40)]

    for split in LearningTask(items).splits:
        pairs = {each.pair for each in split.trained}
        assert pairs.isdisjoint(items[place].pair for place in split.places)


def test_questions_about_one_image_go_with_its_pairs() -> None:
    """Neither an image nor a pair or block is divided, also if an image has questions in several and in none."""
    items = [
        item(4 * i + j, "a", image=i, pair=None if j < 2 else f"{i // 2}, {j}") for i in range(40) for j in range(4)
    ]

    for split in LearningTask(items).splits:
        asked = [items[place] for place in split.places]
        assert {each.image for each in split.trained}.isdisjoint(each.image for each in asked)
        assert {each.pair for each in split.trained} & {each.pair for each in asked} <= {None}


def test_uniform_expects_one_of_the_possible_answers() -> None:
    """The expected accuracy is 1/k for k answers of the type; yes and no are two, though only one was learned."""
    train = [*ladder_lines(red=9, blue=1, green=1), item(90, "yes", function="exist")]
    asked = [item(0, "blue"), item(1, "no", function="exist"), item(2, "pink")]

    assert [guess.expected for guess in priors.uniform(LearningTask(asked, train))] == [1 / 3, 1 / 2, 0]
    assert priors.uniform(LearningTask(asked, train, top_k=2))[0].expected == 2 / 3


@pytest.mark.parametrize("name", ["uniform", "prior"])
def test_drawn_answers_are_right_as_often_as_expected(name: str) -> None:
    """The accuracy of drawn answers has the expected value, Σp² for the prior, in its interval of 99.9 %."""
    items = list(ladder_lines(red=300, blue=150, green=50))
    learning = LearningTask(items, items, seed=3)
    guesses = priors.uniform(learning) if name == "uniform" else priors.prior(learning, "type")

    expected = sum(guess.expected for guess in guesses) / len(items)

    assert expected == pytest.approx(1 / 3 if name == "uniform" else 0.6**2 + 0.3**2 + 0.1**2)
    low, high = wilson(500 * shares(guesses, items), 500, level=0.999)
    assert low < expected < high


def test_the_prior_draws_different_candidates() -> None:
    """With several candidates, no answer is given twice, and none that was not learned."""
    items = list(ladder_lines(red=30, blue=2, green=1))

    for guess in priors.prior(LearningTask(items, items, top_k=9), "all"):
        assert sorted(guess.candidates) == ["blue", "green", "red"]


@pytest.mark.parametrize("name", ["uniform", "prior", "wrong-image", "scene-blind", "noisy-oracle"])
def test_the_same_seed_gives_the_same_answers(name: str) -> None:
    """Files of one seed have the same bytes; of another seed, others."""
    files = written()
    for seed, out in ((1, "a.jsonl"), (1, "b.jsonl"), (2, "c.jsonl")):
        baseline(name, files, out, BaselineSettings(seed=seed, rate=0.2))

    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert Path("a.jsonl").read_bytes() != Path("c.jsonl").read_bytes() or name == "scene-blind"


def test_annotators_give_credit_as_in_vqa() -> None:
    """The credit of an answer that 0, 1, 2, 3 and 4 of ten annotators gave is 0, .3, .6, .9 and 1."""
    asked = GoldItem("1", "text", ("a", "b", "c", "d"), "1", weights=(4, 3, 2, 1))

    assert [credit([text], asked) for text in ("e", "d", "C", "b", "a")] == pytest.approx([0, 0.3, 0.6, 0.9, 1])
    assert credit(["e", "d", "b"], asked) == pytest.approx(0.9)


# Words ------------------------------------------------------------------------------------------------------------


def leaky(count: int) -> list[GoldItem]:
    """Questions whose words give the answer away."""
    colors = ("red", "blue", "green")
    return [item(i, colors[i % 3], question=f"What about {'xyz'[i % 3]} {i % 7}?", image=i) for i in range(count)]


@pytest.mark.parametrize("learner", [text_learners.learned, text_learners.naive_bayes])
def test_learners_find_words_that_give_the_answer_away(learner: Any) -> None:
    """All answers that a word betrays are right, where the majority is right about a third."""
    items = leaky(90)

    assert shares(learner(LearningTask(items)), items) == 1


@pytest.mark.parametrize("neighbours", [1, 5])
def test_the_nearest_question_is_found(neighbours: int) -> None:
    """The answer is that of the most similar questions, where the majority is right about a third."""
    items = leaky(90)

    assert shares(text_learners.nearest(LearningTask(items), neighbours), items) > 0.9


@pytest.mark.parametrize("question", ["", "?!"])
def test_texts_without_words_are_answered(question: str) -> None:
    """scikit-learn refuses to count no words."""
    items = [item(i, "red" if i % 3 else "blue", question=question) for i in range(60)]

    assert all(guess.candidates for guess in text_learners.learned(LearningTask(items)))


def test_few_questions_are_answered_by_majority() -> None:
    """Of a type with fewer questions than can be learned from, the majority is the answer."""
    items = list(ladder_lines(red=4, blue=3))

    assert {guess.candidates for guess in text_learners.learned(LearningTask(items, items))} == {("red",)}


# Options ----------------------------------------------------------------------------------------------------------


def test_visual7w_most_frequent_answers() -> None:
    """Open and multiple-choice answers, and the shares of right ones, are those of the Visual7W toolkit's example."""
    answers = ("Red.", "3", "Red.", "3", "Blue.")
    train = [item(i, answer) for i, answer in enumerate(answers)]
    asked = [
        item(10, "3", ("3", "Red.", "4", "5"), type="how"),
        item(11, "2", ("2", "3", "4", "5"), type="how"),
        item(12, "red.", ("red.", "Red.", "green.", "Blue."), type="what"),
    ]
    learning = LearningTask(asked, train, top_k=2)

    opened = priors.majority(learning, "all")
    chosen = option_rules.most_frequent_option(LearningTask(asked, train))

    assert {guess.candidates for guess in opened} == {("Red.", "3")}
    assert [guess.expected for guess in opened] == [1, 0, 1]
    assert [guess.expected for guess in chosen] == [0, 0, 1]


def test_unknown_options_are_chosen_by_text() -> None:
    """If no option was ever right, the first by text is taken: the first of the file may be the right one."""
    [guess] = option_rules.most_frequent_option(LearningTask([item(0, "zoo", ("zoo", "ant"))], [item(1, "sea")]))

    assert guess.candidates == ("ant",)


def multiple_choice(count: int) -> list[GoldItem]:
    """Questions of four options, the right one at each position in turn."""
    made = []
    for i in range(count):
        options = [f"{'abcdefg'[(i + shift) % 7]}" * (shift + 1) for shift in range(4)]
        right = options[2]
        turned = options[i % 4 :] + options[: i % 4]
        made.append(item(i, right, turned))
    return made


def test_any_option_is_right_once_in_four() -> None:
    """The expected accuracy is 1/k; the observed one has it in its interval."""
    items = multiple_choice(400)
    guesses = option_rules.random_option(LearningTask(items))

    assert {guess.expected for guess in guesses} == {0.25}
    low, high = wilson(400 * shares(guesses, items), 400, level=0.999)
    assert low < 0.25 < high


@pytest.mark.parametrize("position", range(4))
def test_balanced_positions_are_right_once_in_four(position: int) -> None:
    """If the right option stands at each position equally often, every fixed position is right once in four."""
    items = multiple_choice(40)

    assert shares(option_rules.option_at(LearningTask(items), position), items) == 0.25


def test_a_position_that_a_question_lacks_is_not_answered() -> None:
    """The third of two options is not the first one."""
    assert option_rules.option_at(LearningTask([item(0, "a", ("a", "b"))]), 2) == [Guess((), 0.0)]


def test_a_position_needs_an_order() -> None:
    """Files that do not record the order of options, as Visual7W's, have no fixed position."""
    items = [GoldItem("1", "text", ("a",), "1", options=("a", "b"), has_letters=False)]

    with pytest.raises(UsageError, match="order of options"):
        option_rules.option_at(LearningTask(items), 0)


def test_longest_and_shortest_options() -> None:
    """The number of characters decides, then the text."""
    learning = LearningTask([item(0, "bb", ("cc", "bb", "a", "d"))])

    assert option_rules.longest_option(learning)[0].candidates == ("bb",)
    assert option_rules.shortest_option(learning)[0].candidates == ("a",)


def test_choices_that_give_the_answer_away_are_learned() -> None:
    """An answer that is always the third longest option is found without the question."""
    items = multiple_choice(120)

    assert shares(option_learners.choices_only(LearningTask(items)), items) > 0.95


def test_blocks_that_exchange_their_options_are_right_once_in_four() -> None:
    """Each option of a block is right once. What is learned of a part of a block would be below chance."""
    items = []
    for block in range(30):
        options = [f"{'abcdefg'[(block + shift) % 7]}" for shift in range(4)]
        items += [item(4 * block + i, right, options)._replace(block=block) for i, right in enumerate(options)]

    for learner in (option_learners.choices_only, option_rules.most_frequent_option):
        assert shares(learner(LearningTask(items)), items) == 0.25


def test_question_and_choices_are_learned_together() -> None:
    """If only question and option together tell, the options alone are right about half, both together always."""
    items = [
        item(i, ("red", "blue")[i % 2], ("blue", "red"), question=f"{('warm', 'cold')[i % 2]}?") for i in range(120)
    ]

    assert shares(option_learners.choices_only(LearningTask(items)), items) < 0.7
    assert shares(option_learners.question_and_choices(LearningTask(items)), items) == 1


# Programs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("domain", ["clevr", "market"])
def test_the_oracle_is_right_in_every_group(domain: str) -> None:
    """Programs that are run on their own scenes give all answers, in each category, type and family."""
    result = baseline("oracle", written(domain), "p.jsonl")

    assert result.unanswered == 0
    for groups in ({"all": {"all": result.everything}}, result.groups):
        assert all(each.accuracy == 1 for group in groups.values() for each in group.values())
    assert len(result.groups["family"]) > 20


SCENE = scene_record(
    [
        "large red metal cube",
        "small blue metal cube",
        "small gray rubber sphere",
        "large blue rubber cylinder",
        "small green rubber cube",
    ],
    [0, 1, 2, 3, 4],
    [0, 1, 2, 3, 4],
)


def _program(*steps: str) -> list[Record]:
    """A chain: `filter_color red` and so on."""
    nodes: list[Record] = [{"type": "scene", "inputs": [], "value_inputs": []}]
    for step in steps:
        function, *values = step.split()
        nodes.append({"type": function, "inputs": [len(nodes) - 1], "value_inputs": values})
    return nodes


def _noisy_shares(rate: float, copies: int, *steps: str, answer: Any) -> tuple[float, int]:
    """The share of right answers to one program about many copies of SCENE, and their number."""
    copies = fewer(copies)
    scenes = [SCENE | {"image_index": i, "image_filename": f"{i}.png"} for i in range(copies)]
    Path("s.json").write_text(json.dumps({"scenes": scenes}))
    asked = {"question": "?", "answer": answer, "program": _program(*steps)}
    questions = [asked | {"image_filename": f"{i}.png"} for i in range(copies)]
    Path("q.json").write_text(json.dumps({"questions": questions}))
    files = BaselineFiles("q.json", scenes="s.json")
    return baseline(
        "noisy-oracle", files, "p.jsonl", BaselineSettings(rate=rate), force=True
    ).everything.accuracy, copies


@pytest.mark.quick("blue-2-0.2", "red-1-0.5", "purple-0-0.05")
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2, 0.5])
@pytest.mark.parametrize(("color", "number"), [("blue", 2), ("red", 1), ("purple", 0)])
def test_the_noisy_oracle_falls_as_predicted_for_exist(rate: float, color: str, number: int) -> None:
    """An object of k of a color is seen in it with 1 − ε, any other with ε/7: no object is, with their product."""
    none_seen = rate**number * (1 - rate / 7) ** (5 - number)
    predicted = 1 - none_seen if number else none_seen

    found, n = _noisy_shares(rate, 1500, f"filter_color {color}", "exist", answer=number > 0)

    low, high = wilson(found * n, n, level=0.9999)
    assert low - 1e-9 <= predicted <= high + 1e-9


@pytest.mark.quick("0.2")
@pytest.mark.parametrize("rate", [0.0, 0.05, 0.2, 0.5])
def test_the_noisy_oracle_falls_as_predicted_for_query(rate: float) -> None:
    """The shape of the red thing: it alone is seen red and its shape is seen, or only another thing is seen red whose
    shape is seen as a cube."""
    seen_red, keeps = 1 - rate, 1 - rate
    others = rate / 7
    alone = seen_red * (1 - others) ** 4 * keeps
    another = (1 - seen_red) * others * (1 - others) ** 3
    cubes, rest = 2, 2
    predicted = alone + another * (cubes * keeps + rest * rate / 2)

    found, n = _noisy_shares(rate, 1500, "filter_color red", "unique", "query_shape", answer="cube")

    low, high = wilson(found * n, n, level=0.9999)
    assert low - 1e-9 <= predicted <= high + 1e-9


def test_more_noise_means_fewer_right_answers() -> None:
    """At every higher rate the noisy oracle is right less often; without noise, always."""
    files = written(scenes=20)
    accuracies = [
        baseline("noisy-oracle", files, "p.jsonl", BaselineSettings(rate=rate), force=True).everything.accuracy
        for rate in (0, 0.02, 0.1, 0.3)
    ]

    assert accuracies[0] == 1
    assert accuracies == sorted(accuracies, reverse=True)
    assert len(set(accuracies)) == 4


def _runner(files: BaselineFiles) -> ProgramRunner:
    catalogue, _ = load_catalogue(files.domain or vqagen.find_domain())
    return ProgramRunner(locate(files.questions), find_scenes(str(files.scenes)), catalogue)


def _existence(colors: Sequence[str]) -> tuple[BaselineFiles, list[GoldItem]]:
    """One scene of one object for each color, and for each the question whether anything is red."""
    scenes = [scene_record([f"large {color} metal cube"], [0], [0], i) for i, color in enumerate(colors)]
    Path("s.json").write_text(json.dumps({"scenes": scenes}))
    program = _program("filter_color red", "exist")
    questions = [
        {"question": "?", "answer": color == "red", "program": program, "image_index": i}
        for i, color in enumerate(colors)
    ]
    Path("q.json").write_text(json.dumps({"questions": questions}))
    items = [
        GoldItem(str(i), "bool", (color == "red",), str(i), {"function": "exist"}) for i, color in enumerate(colors)
    ]
    return BaselineFiles("q.json", scenes="s.json"), items


def test_the_wrong_image_is_never_the_own_one() -> None:
    """If one scene of many has a red thing, its question is never answered right by another scene."""
    files, items = _existence(["red", *["blue"] * 9])

    done = _runner(files).wrong_image(LearningTask(items), 50)

    assert done.guesses[0] == Guess(("no",), 0.0)
    assert (done.runs, done.invalid) == (10 * 9, 0)


def test_the_expected_value_of_wrong_images_is_the_share_of_their_answers() -> None:
    """Of four other scenes of which three have no red thing, each question without one expects three quarters."""
    files, items = _existence(["red", "blue", "blue", "blue", "blue"])

    done = _runner(files).wrong_image(LearningTask(items), 4)

    assert [guess.expected for guess in done.guesses] == [0, 0.75, 0.75, 0.75, 0.75]


def test_runs_without_an_answer_are_counted_apart(vqagen_: Commands) -> None:
    """Where no other scene has the one red thing, the question has no prediction, and the report says so."""
    _existence(["red", "blue", "blue"])
    questions = json.loads(Path("q.json").read_text())["questions"][:1]
    questions[0] |= {"answer": "cube", "program": _program("filter_color red", "unique", "query_shape")}
    Path("q.json").write_text(json.dumps({"questions": questions}))

    ran = vqagen_.done("baseline wrong-image --questions q.json --scenes s.json -o p.jsonl")

    assert "no answer to 1 question" in ran.err
    assert "runs without an answer: 2 of 2" in ran.err
    assert Path("p.jsonl").read_bytes() == b""


def test_imagined_scenes_have_independent_attributes() -> None:
    """If all red things are cubes, half of the red things that the scene-blind executor imagines are spheres."""
    kinds = ["large red metal cube", "large blue rubber sphere"]
    scenes = [scene_record([kinds[i % 2]], [0], [0], i) for i in range(10)]
    Path("s.json").write_text(json.dumps({"scenes": scenes}))
    program = _program("filter_color red", "unique", "query_shape")
    Path("q.json").write_text(json.dumps({"questions": [{"question": "?", "program": program, "image_index": 0}]}))
    files = BaselineFiles("q.json", scenes="s.json")
    items = [item(0, "sphere")]

    answers = Counter(
        _runner(files).scene_blind(LearningTask(items, seed=seed), 1).guesses[0].candidates for seed in range(200)
    )

    assert answers[("cube",)] > 25
    assert answers[("sphere",)] > 25
    assert answers[()] > 50


# The command ------------------------------------------------------------------------------------------------------


def test_predictions_name_their_questions_and_say_how_they_were_made() -> None:
    """A prediction file has one line for each question, and an info with the baseline, its settings and its inputs."""
    baseline("majority", written(), "p.jsonl", BaselineSettings(per="family", top_k=2))

    lines = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert [line["question_index"] for line in lines] == list(range(60))
    assert {tuple(line) for line in lines} <= {("question_index", "candidates"), ("question_index", "answer")}
    generator = json.loads(Path("p.jsonl.info.json").read_text())["generator"]
    assert generator["settings"]["baseline"] == "majority"
    assert generator["settings"]["per"] == "family"
    assert set(generator["inputs"]) == {"questions", "scenes"}


def _scored(predictions: str, questions: str = "q.json", **settings: Any) -> float:
    return vqagen.evaluate(questions, predictions, **settings).overall().accuracy


def test_the_evaluator_scores_the_files_of_all_baselines_alike(vqagen_: Commands) -> None:
    """Evaluated as predictions, each file has the accuracy that the ladder says."""
    written()

    found = json.loads(vqagen_.done("baseline all --questions q.json --scenes s.json -o folder --json").out)[
        "baselines"
    ]

    for each in found:
        name = each["baseline"].replace(" ", "-")
        assert _scored(f"folder/{name}.jsonl") == pytest.approx(each["accuracy"], abs=1e-6), name


@pytest.mark.parametrize(
    ("name", "mode", "accuracy"), [("majority", "open", 2 / 4), ("most-frequent-option", "mc", 1 / 4)]
)
def test_visual7w_files_are_read_and_answered(name: str, mode: str, accuracy: float) -> None:
    """The toolkit's baselines of a dataset with splits: its own numbers, and a pair that it cannot read."""
    train = [{"answer": text} for text in ("Red.", "3", "Red.", "3", "Blue.")]
    val = [
        {"answer": "3", "multiple_choices": ["Red.", "4", "5"], "type": "how"},
        {"answer": "2", "multiple_choices": ["3", "4", "5"], "type": "how"},
        {"answer": "red.", "multiple_choices": ["Red.", "green.", "Blue."], "type": "what"},
        {"answer": "Café", "multiple_choices": ["Bar", "Inn", "Pub"], "type": "what"},
    ]
    more = {"question": "?", "multiple_choices": ["x", "y", "z"], "type": "what"}
    pairs = [{**more, **pair, "qa_id": number} for number, pair in enumerate([*train, *val])]
    splits = {"train": pairs[:5], "val": pairs[5:]}
    images = [
        {"image_id": number, "filename": f"v7w_{number}.jpg", "split": split, "qa_pairs": own}
        for number, (split, own) in enumerate(splits.items())
    ]
    Path("dataset.json").write_text(json.dumps({"dataset": "visual7w-telling", "images": images}))
    files = BaselineFiles("dataset.json", "dataset.json", mode=mode, split="val", train_split="train")

    result = baseline(name, files, "p.jsonl", BaselineSettings(per="all", top_k=2 if mode == "open" else 1))

    assert result.everything.accuracy == accuracy
    settings = {"mode": mode, "split": "val", "normalise": "visual7w"}
    assert _scored("p.jsonl", "dataset.json", top_k=(2 if mode == "open" else 1,), **settings) == accuracy


def test_predictions_about_visual7w_are_written_as_its_toolkit_reads_them(vqagen_: Commands) -> None:
    """A list with the question and candidates of each pair, a box by its number; of other questions they are lines."""
    boxes = [{"box_id": number, "name": "x", "x": 0, "y": 0, "width": 5, "height": 5} for number in range(4)]
    pair = {"qa_id": 7, "question": "Which one?", "answer": 2, "multiple_choices": [0, 1, 3], "type": "which"}
    image = {"image_id": 1, "filename": "v7w_1.jpg", "split": "val", "qa_pairs": [pair]}
    Path("dataset.json").write_text(json.dumps({"images": [image], "boxes": boxes}))

    vqagen_.done("baseline random-option --questions dataset.json -o result.json")

    (entry,) = json.loads(Path("result.json").read_text())
    ((chosen,),) = (list(each.values()) for each in entry["candidates"])
    assert entry == {"qa_id": 7, "question": "Which one?", "candidates": [{"answer": chosen}]}
    assert chosen in range(4)
    assert _scored("result.json", "dataset.json", normalise="visual7w") == (chosen == 2)
    written()
    refused = vqagen_("baseline majority --questions q.json -o result2.json")
    assert (refused.code, Path("result2.json").exists()) == (2, False)
    assert "result2.json: predictions are JSON Lines; name it result2.jsonl" in refused.err


@pytest.mark.parametrize("kind", ["dialogs", "trials"])
def test_dialogs_and_trials_are_answered(kind: str, vqagen_: Commands) -> None:
    """Rounds of dialogs and trials get predictions that the evaluator reads, also of a folder."""
    if kind == "dialogs":
        vqagen_.done("scenes sample --count 2 -o s.json")
        vqagen_.done("dialog --scenes s.json --out dialogs --format jsonl")
    else:
        vqagen_.done("director generate --count 12 --out trials --render none")

    result = baseline("majority", BaselineFiles(kind), "p.jsonl", BaselineSettings(per="family"))

    assert result.everything.n == {"dialogs": 100, "trials": 12}[kind]
    assert _scored("p.jsonl", kind) == pytest.approx(result.everything.accuracy)


def test_all_prints_a_ladder(vqagen_: Commands) -> None:
    """Each baseline that the files allow has a line; baselines for options have none where there are no options."""
    written()

    table = vqagen_.done("baseline all --questions q.json --scenes s.json -o folder").out.decode()

    names = [line.split()[0] for line in table.splitlines()[5:] if ":" not in line]
    expected = [name for name, rung in RUNGS.items() if not rung.needs_options]
    assert list(dict.fromkeys(names)) == expected
    assert len(list(Path("folder").glob("*.jsonl"))) == len(names)


def test_the_ladder_as_json_has_types_and_families(vqagen_: Commands) -> None:
    """Each baseline has its accuracy, interval and lift over the majority per type, also for each type and family."""
    written()

    found = json.loads(vqagen_.done("baseline all --questions q.json --json").out)["baselines"]

    floor = next(each for each in found if each["baseline"] == "majority type")
    assert floor["lift"] == 0
    assert sum(each["n"] for each in floor["by_family"].values()) == 60
    assert {"accuracy", "interval", "lift"} <= set(next(iter(found[-1]["by_type"].values())))


def test_the_ladder_of_multiple_choice_has_each_position() -> None:
    """Rules for options are run where there are options, a fixed position for each of them."""
    questions = [
        {"question": "?", "answer": each.options[2], "options": list(each.options), "image_index": i}
        for i, each in enumerate(multiple_choice(40))
    ]
    Path("q.json").write_text(json.dumps({"questions": questions}))

    names = [rung.name for rung in baseline_ladder(BaselineFiles("q.json")).rungs]

    assert [name for name in names if "position" in name or "option" in name] == [
        "random-option",
        *(f"option-at {position}" for position in range(1, 5)),
        "most-frequent-option",
        "longest-option",
        "shortest-option",
    ]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("nobody --questions q.json -o p.jsonl", "unknown baseline 'nobody'"),
        ("majorty --questions q.json -o p.jsonl", "did you mean 'majority'?"),
        ("majority --questions q.json", "give --out"),
        ("oracle --questions q.json -o p.jsonl", "give --scenes"),
        ("choices-only --questions q.json -o p.jsonl", "no options"),
        ("noisy-oracle --rate 2 --questions q.json -o p.jsonl", "--rate must lie from 0 to 1"),
        ("majority --questions q.json -o q.json --force", "in use by the same run"),
        ("all --questions q.json -o -", "give --out a folder"),
        ("all --questions q.json -o .", "exists already"),
    ],
)
def test_wrong_usage_is_one_line(vqagen_: Commands, line: str, said: str) -> None:
    """Each mistake names what is missing, and ends in 2."""
    written()

    ran = vqagen_(f"baseline {line}")

    assert (ran.code, said in ran.err) == (2, True), ran.err


def test_the_domain_is_that_of_the_questions(vqagen_: Commands) -> None:
    """Questions of another shipped domain are run without naming it; other scenes than theirs are a warning."""
    for seed in (0, 1):
        vqagen_.done(f"scenes sample --domain market --seed {seed} --count 2 -o s{seed}.json")
    vqagen_.done("generate --domain market --scenes s0.json -o q.json")

    ran = vqagen_.done("baseline oracle --questions q.json --scenes s0.json -o p.jsonl")
    other = vqagen_.done("baseline oracle --questions q.json --scenes s1.json -o o.jsonl")

    assert ran.err.startswith("oracle: 1.000 of 20 right")
    assert "other scenes than the questions were made from" in other.err


def test_all_questions_that_cannot_be_run_are_counted() -> None:
    """Missing scenes and bad programs are named, the first of them, and the others counted."""
    files = written()
    document = json.loads(Path("q.json").read_text())
    for record in document["questions"][:7]:
        record["image_filename"] = "nowhere.png"
    document["questions"][9]["program"][-1]["type"] = "guess"
    Path("q.json").write_text(json.dumps(document))

    with pytest.raises(BadInput) as caught:
        baseline("oracle", files, "p.jsonl")

    assert "questions[0]: there is no scene of this image_filename" in str(caught.value)
    assert "and 3 other questions that cannot be run" in str(caught.value)
    assert not Path("p.jsonl").exists()
