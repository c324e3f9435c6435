"""Baselines answer as they say: their accuracies are those that follow from the frequencies of answers and values."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from commands import Commands
from scene_records import sampled_scenes, scene_record

import vqagen
from vqagen.calls.baselines import BaselineFiles, baseline, baseline_ladder
from vqagen.errors import BadInput, UsageError
from vqagen.files.locations import locate
from vqagen.language.domain_files import load_catalogue
from vqagen.language.question_records import record_writer
from vqagen.score.gold.item import GoldItem
from vqagen.score.intervals import wilson
from vqagen.shortcuts.baselines import option_learners, option_rules, priors, text_learners
from vqagen.shortcuts.baselines.execution import ProgramRunner
from vqagen.shortcuts.baselines.learning_task import Guess, LearningTask, gold_text
from vqagen.shortcuts.baselines.rungs import RUNGS
from vqagen.shortcuts.baselines.settings import BaselineSettings
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


def test_majority_is_right_as_often_as_its_answers_occur() -> None:
    """Learned from the questions themselves, the accuracy is the sum of the largest share of each group."""
    items = [item(i, answer, function=kind, family=family) for i, (kind, family, answer) in enumerate(GROUPED)]

    for per, right in {"all": 6, "type": 6 + 4, "family": 5 + 4 + 3 + 2}.items():
        guesses = priors.majority(LearningTask(items, items), per)
        assert sum(guess.expected for guess in guesses) == right
        assert shares(guesses, items) == right / len(items)


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

    assert [guess.candidates for guess in priors.majority(LearningTask(asked, train), "question")] == [("1",), ("red",)]


def test_without_questions_to_learn_from_images_are_kept_apart() -> None:
    """An image's own questions never teach the answers to its other questions."""
    items = [item(i, f"answer {i // 3}", image=i // 3) for i in range(60)]
    learning = LearningTask(items)

    assert sorted(place for split in learning.splits for place in split.places) == list(range(60))
    for split in learning.splits:
        assert {each.image for each in split.trained}.isdisjoint(items[place].image for place in split.places)
    assert not any(guess.expected for guess in priors.majority(learning, "all"))


def test_questions_about_one_image_go_with_its_pairs() -> None:
    """Neither an image nor a pair or block is divided, also if an image has questions in several and in none."""
    items = [
        item(4 * i + j, "a", image=i, pair=None if j < 2 else f"{i // 2}, {j}") for i in range(40) for j in range(4)
    ]

    for split in LearningTask(items).splits:
        asked = [items[place] for place in split.places]
        assert {each.image for each in split.trained}.isdisjoint(each.image for each in asked)
        assert {each.pair for each in split.trained} & {each.pair for each in asked} <= {None}


def test_drawn_answers_are_right_as_often_as_expected() -> None:
    """The accuracy of drawn answers has the expected value, Σp² for the prior, in its interval of 99.9 %."""
    items = [item(i, "red" if i < 300 else "blue" if i < 450 else "green") for i in range(500)]
    learning = LearningTask(items, items, seed=3)
    for guesses, wanted in (
        (priors.uniform(learning), 1 / 3),
        (priors.prior(learning, "type"), 0.6**2 + 0.3**2 + 0.1**2),
    ):
        expected = sum(guess.expected for guess in guesses) / len(items)
        assert expected == pytest.approx(wanted)
        low, high = wilson(500 * shares(guesses, items), 500, level=0.999)
        assert low < expected < high


def test_the_same_seed_gives_the_same_answers() -> None:
    """Files of one seed have the same bytes; of another seed, others."""
    files = written()
    for name in ("prior", "wrong-image", "noisy-oracle-0.2"):
        for number, seed in enumerate((1, 1, 2)):
            baseline(name, files, f"{name}-{number}.jsonl", BaselineSettings(seed=seed))
        first, same, other = (Path(f"{name}-{number}.jsonl").read_bytes() for number in range(3))
        assert first == same != other, name


# Words ------------------------------------------------------------------------------------------------------------


def leaky(count: int) -> list[GoldItem]:
    """Questions whose words give the answer away."""
    colors = ("red", "blue", "green")
    return [item(i, colors[i % 3], question=f"What about {'xyz'[i % 3]} {i % 7}?", image=i) for i in range(count)]


def test_learners_find_words_that_give_the_answer_away() -> None:
    """Nearly all answers that a word betrays are right, where the majority is right about a third."""
    learning = LearningTask(leaky(90))

    assert shares(text_learners.learned(learning), learning.items) == 1


def test_texts_without_words_are_answered() -> None:
    """scikit-learn refuses to count no words."""
    items = [item(i, "red" if i % 3 else "blue", question="?!") for i in range(60)]

    assert all(guess.candidates for guess in text_learners.learned(LearningTask(items)))


# Options ----------------------------------------------------------------------------------------------------------


def multiple_choice(count: int) -> list[GoldItem]:
    """Questions of four options, the right one at each position in turn."""
    made = []
    for i in range(count):
        options = [f"{'abcdefg'[(i + shift) % 7]}" * (shift + 1) for shift in range(4)]
        right = options[2]
        turned = options[i % 4 :] + options[: i % 4]
        made.append(item(i, right, turned))
    return made


def test_balanced_positions_are_right_once_in_four() -> None:
    """If the right option stands at each position equally often, every fixed position is right once in four."""
    items = multiple_choice(40)

    assert {shares(option_rules.option_at(LearningTask(items), place), items) for place in range(1, 5)} == {0.25}
    assert {guess.expected for guess in option_rules.random_option(LearningTask(items))} == {0.25}
    assert option_rules.option_at(LearningTask([item(0, "a", ("a", "b"))]), 3) == [Guess((), 0.0)]


def test_a_position_needs_an_order() -> None:
    """Files that do not record the order of options, as Visual7W's, have no fixed position."""
    items = [GoldItem("1", "text", ("a",), "1", options=("a", "b"), has_letters=False)]

    with pytest.raises(UsageError, match="order of options"):
        option_rules.option_at(LearningTask(items), 1)


def test_longest_and_shortest_options() -> None:
    """The number of characters decides, then the text."""
    learning = LearningTask([item(0, "bb", ("cc", "bb", "a", "d"))])

    assert option_rules.longest_option(learning)[0].candidates == ("bb",)
    assert option_rules.shortest_option(learning)[0].candidates == ("a",)


def test_question_and_choices_are_learned_together() -> None:
    """If only question and option together tell, the options alone are right about half, both together always."""
    items = [
        item(i, ("red", "blue")[i % 2], ("blue", "red"), question=f"{('warm', 'cold')[i % 2]}?") for i in range(120)
    ]

    assert shares(option_learners.choices_only(LearningTask(items)), items) < 0.7
    assert shares(option_learners.question_and_choices(LearningTask(items)), items) == 1
    items = multiple_choice(120)
    assert shares(option_learners.choices_only(LearningTask(items)), items) > 0.95, "always the third longest"


# Programs ---------------------------------------------------------------------------------------------------------


def test_the_oracle_is_right_in_every_group() -> None:
    """Programs that are run on their own scenes give all answers, in each category, type and family."""
    for domain in ("clevr", "market"):
        result = baseline("oracle", written(domain), "p.jsonl", force=True)

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


COPIES = 450


def _noisy_share(rate: float, *steps: str, answer: Any) -> float:
    """The share of right answers to one program about many copies of SCENE."""
    scenes = [SCENE | {"image_index": i, "image_filename": f"{i}.png"} for i in range(COPIES)]
    Path("s.json").write_text(json.dumps({"scenes": scenes}))
    asked = {"question": "?", "answer": answer, "program": _program(*steps)}
    questions = [asked | {"image_filename": f"{i}.png"} for i in range(COPIES)]
    Path("q.json").write_text(json.dumps({"questions": questions}))
    items = [item(i, str(answer)) for i in range(COPIES)]
    return shares(
        _runner(BaselineFiles("q.json", scenes="s.json")).noisy_oracle(LearningTask(items), rate).guesses, items
    )


def _is_near(found: float, predicted: float) -> bool:
    low, high = wilson(found * COPIES, COPIES, level=0.9999)
    return low - 1e-9 <= predicted <= high + 1e-9


def test_the_noisy_oracle_falls_as_predicted() -> None:
    """An object of k of a color is seen in it with 1 − ε, any other with ε/7: no object is, with their product. The
    shape of the red thing is right if it alone is seen red and its shape is seen, or only another thing is seen red
    whose shape is seen as a cube.
    """
    for color, number, rate in (("blue", 2, 0.2), ("red", 1, 0.5), ("purple", 0, 0.05), ("red", 1, 0.0)):
        none_seen = rate**number * (1 - rate / 7) ** (5 - number)
        answer = "yes" if number else "no"
        found = _noisy_share(rate, f"filter_color {color}", "exist", answer=answer)
        assert _is_near(found, 1 - none_seen if number else none_seen), (color, rate)

    rate, cubes, rest = 0.2, 2, 2
    seen_red, keeps, others = 1 - rate, 1 - rate, rate / 7
    alone = seen_red * (1 - others) ** 4 * keeps
    another = (1 - seen_red) * others * (1 - others) ** 3
    predicted = alone + another * (cubes * keeps + rest * rate / 2)
    assert _is_near(_noisy_share(rate, "filter_color red", "unique", "query_shape", answer="cube"), predicted)


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
        _runner(files).scene_blind(LearningTask(items, seed=seed), 1).guesses[0].candidates for seed in range(60)
    )

    assert min(answers[("cube",)], answers[("sphere",)], answers[()] / 2) > 5


# The command ------------------------------------------------------------------------------------------------------


def test_predictions_name_their_questions_and_say_how_they_were_made() -> None:
    """A prediction file has one line for each question, and an info with the baseline, its settings and its inputs."""
    baseline("majority-family", written(), "p.jsonl", BaselineSettings(top_k=2))

    lines = [json.loads(line) for line in Path("p.jsonl").read_text().splitlines()]
    assert [line["question_index"] for line in lines] == list(range(60))
    assert {tuple(line) for line in lines} <= {("question_index", "candidates"), ("question_index", "answer")}
    generator = json.loads(Path("p.jsonl.info.json").read_text())["generator"]
    assert generator["settings"] == {"baseline": "majority-family", "top_k": 2, "seed": 0}
    assert set(generator["inputs"]) == {"questions", "scenes"}


def _scored(predictions: str, questions: str = "q.json", **settings: Any) -> float:
    return vqagen.evaluate(questions, predictions, **settings).overall().accuracy


def test_the_evaluator_scores_the_files_of_all_baselines_alike(vqagen_: Commands) -> None:
    """All that the files allow are in the ladder, each with the accuracy that its predictions have."""
    files = written()

    found = json.loads(vqagen_.done("baseline all --questions q.json --scenes s.json --json").out)["baselines"]

    assert [each["baseline"] for each in found] == [name for name, rung in RUNGS.items() if not rung.options]
    for each in found:
        baseline(each["baseline"], files, "p.jsonl", force=True)
        assert _scored("p.jsonl") == pytest.approx(each["accuracy"], abs=1e-6), each["baseline"]
    floor = next(each for each in found if each["baseline"] == "majority")
    assert floor["lift"] == 0
    assert sum(each["n"] for each in floor["by_family"].values()) == 60
    assert {"accuracy", "interval", "lift"} <= set(next(iter(found[-1]["by_type"].values())))
    table = vqagen_.done("baseline all --questions q.json").out.decode().splitlines()
    assert [line.split()[0] for line in table[5:12]] == [each["baseline"] for each in found[:7]]


@pytest.mark.parametrize(
    ("name", "mode", "accuracy"), [("majority-all", "open", 2 / 4), ("most-frequent-option", "mc", 1 / 4)]
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

    result = baseline(name, files, "p.jsonl", BaselineSettings(top_k=2 if mode == "open" else 1))

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


def test_dialogs_and_trials_are_answered(vqagen_: Commands) -> None:
    """Rounds of dialogs and trials get predictions that the evaluator reads, also of a folder."""
    vqagen_.done("scenes sample --count 2 -o s.json")
    vqagen_.done("dialog --scenes s.json --out dialogs.jsonl")
    vqagen_.done("director generate --count 12 --out trials --render none")
    for name, number in (("dialogs.jsonl", 100), ("trials", 12)):
        result = baseline("majority-family", BaselineFiles(name), "p.jsonl", force=True)

        assert result.everything.n == number
        assert _scored("p.jsonl", name) == pytest.approx(result.everything.accuracy)


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
        *(f"option-at-{position}" for position in range(1, 5)),
        "most-frequent-option",
        "longest-option",
        "shortest-option",
    ]


def test_wrong_usage_is_one_line(vqagen_: Commands) -> None:
    """Each mistake names what is missing, and ends in 2."""
    written()
    cases = {
        "majorty --questions q.json -o p.jsonl": "unknown baseline 'majorty'; did you mean 'majority'?",
        "majority --questions q.json": "give --out",
        "oracle --questions q.json -o p.jsonl": "give --scenes",
        "choices-only --questions q.json -o p.jsonl": "no options",
        "majority --questions q.json --top-k 0 -o p.jsonl": "--top-k must be at least 1, found 0",
        "majority --questions q.json -o q.json --force": "in use by the same run",
    }
    ran = {line: vqagen_(f"baseline {line}") for line in cases}
    assert [(line, ran[line]) for line, said in cases.items() if ran[line].code != 2 or said not in ran[line].err] == []
    Path("none.json").write_text('{"questions": []}')
    nothing = vqagen_("baseline majority --questions none.json -o p.jsonl")
    assert (nothing.code, nothing.err) == (3, "vqagen: none.json: no questions to answer\n")


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
