"""Baselines run programs as they say, and write what they answer as predictions that the evaluator scores alike."""

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
from vqagen.errors import BadInput
from vqagen.language.domain_files import load_catalogue
from vqagen.language.question import record_writer
from vqagen.score.intervals import wilson
from vqagen.score.items import read_items
from vqagen.shortcuts.baseline import BaselineFiles, baseline, baseline_ladder
from vqagen.shortcuts.predictors import PREDICTORS, SCENES
from vqagen.shortcuts.scenes import Programs, noisy_oracle, scene_blind, wrong_image
from vqagen.shortcuts.settings import BaselineSettings
from vqagen.world.loading import find_scenes

Record = dict[str, Any]
MANY = "several questions about an image"


@pytest.fixture(autouse=True)
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All files are written to a folder of the test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def vqagen_(capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the folder."""
    return Commands(capsysbinary)


@cache
def question_text(domain: str, scenes: int, per_image: int = 10) -> str:
    """A question document about sampled scenes."""
    drawn = sampled_scenes(scenes, domain=domain)
    made = vqagen.generate(drawn, domain=domain, seed=5, templates_per_image=per_image)
    to_record = record_writer("generator")
    return json.dumps({"questions": [to_record(question) for question in made]})


def written(domain: str = "clevr", scenes: int = 6) -> BaselineFiles:
    """Write scenes and questions; their names."""
    Path("s.json").write_text(json.dumps({"scenes": sampled_scenes(scenes, domain=domain)}))
    Path("q.json").write_text(question_text(domain, scenes))
    return BaselineFiles("q.json", scenes="s.json", domain=vqagen.find_domain(domain))


def test_the_same_seed_gives_the_same_answers() -> None:
    """Files of one seed have the same bytes; of another seed, others."""
    files = written()
    for name in ("prior", "wrong-image", "noisy-oracle-0.2"):
        for number, seed in enumerate((1, 1, 2)):
            baseline(name, files, f"{name}-{number}.jsonl", BaselineSettings(seed=seed))
        first, same, other = (Path(f"{name}-{number}.jsonl").read_bytes() for number in range(3))
        assert first == same != other, name


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
    return float(noisy_oracle(_programs(), 0, rate).expected.mean())


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


def _programs() -> Programs:
    """The programs of the questions in the folder."""
    items = read_items("q.json", scenes="s.json", learning=True)
    return Programs(items, find_scenes("s.json"), load_catalogue(vqagen.find_domain())[0])


def _existence(colors: Sequence[str]) -> Programs:
    """One scene of one object for each color, and for each the question whether anything is red."""
    scenes = [scene_record([f"large {color} metal cube"], [0], [0], i) for i, color in enumerate(colors)]
    Path("s.json").write_text(json.dumps({"scenes": scenes}))
    program = _program("filter_color red", "exist")
    questions = [
        {"question": "?", "answer": color == "red", "program": program, "image_index": i}
        for i, color in enumerate(colors)
    ]
    Path("q.json").write_text(json.dumps({"questions": questions}))
    return _programs()


def test_the_wrong_image_is_never_the_own_one() -> None:
    """If one scene of many has a red thing, its question is never answered right by another scene."""
    done = wrong_image(_existence(["red", *["blue"] * 9]), 0, 50)

    assert (done.texts[0], done.expected[0]) == (("no",), 0.0)
    assert (done.runs, done.invalid) == (10 * 9, 0)
    done = wrong_image(_existence(["red", "blue", "blue", "blue", "blue"]), 0, 4)
    assert done.expected.tolist() == [0, 0.75, 0.75, 0.75, 0.75]


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
    question = {"question": "?", "answer": "sphere", "program": program, "image_index": 0}
    Path("q.json").write_text(json.dumps({"questions": [question]}))
    programs = _programs()

    answers = Counter(scene_blind(programs, seed, 1).texts[0] for seed in range(60))

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

    asked = [each.name for each in PREDICTORS if each.needs in ("", "texts", "programs", MANY, SCENES)]
    assert [each["baseline"] for each in found] == asked
    for each in (each for each in found if each["baseline"] not in ("order", "tree", "others")):
        baseline(each["baseline"], files, "p.jsonl", force=True)
        assert _scored("p.jsonl") == pytest.approx(each["accuracy"], abs=1e-6), each["baseline"]
    floor = next(each for each in found if each["baseline"] == "majority")
    assert floor["lift"] == 0
    assert sum(each["n"] for each in floor["by_family"].values()) == 60
    assert {"accuracy", "interval", "lift"} <= set(next(iter(found[-1]["by_type"].values())))
    table = vqagen_.done("baseline all --questions q.json").out.decode().splitlines()
    assert [line.split()[0] for line in table[5:12]] == [each["baseline"] for each in found[:7]]


def test_all_commands_that_guess_have_one_value_of_one_quantity() -> None:
    """What a predictor scores in the ladder it scores in statistics and in an audit; none beats the floor by counting.

    Folds hold whole windows of balance: half of a window would tell what the other half must answer.
    """
    Path("s.json").write_text(json.dumps({"scenes": sampled_scenes(60)}))
    vqagen.write_questions("s.json", "q.json", settings=vqagen.QuestionSettings(only=("exist",), reset_counts_every=10))

    ladder = {rung.baseline.name: rung.everything for rung in baseline_ladder(BaselineFiles("q.json")).rungs}
    guessed = vqagen.stats("q.json").to_record()["guessed"]["all"]
    probes = {probe.name: probe.accuracy for probe in vqagen.audit("q.json").probes}
    baseline("majority-family", BaselineFiles("q.json"), "p.jsonl")
    floor = vqagen.evaluate("q.json", "p.jsonl").overall().floor

    assert guessed.pop("questions") == ladder["majority"].n
    assert guessed == {name: pytest.approx(ladder[name].expected, abs=1e-4) for name in guessed} != {}
    assert probes == {name: pytest.approx(ladder[name].expected) for name in probes} != {}
    assert floor >= max(ladder[name].expected for name in ("uniform", "majority", "majority-family"))


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


def test_the_ladder_has_what_the_file_allows() -> None:
    """Rules for options are run where there are options, and those about numbers where these are numbers."""
    asked = [{"question": "?", "answer": "a", "options": ["a", "b"], "image_index": i} for i in range(40)]

    names = [rung.baseline.name for rung in baseline_ladder(BaselineFiles({"questions": asked})).rungs]

    assert names[:3] == ["uniform", "majority-all", "majority"]
    assert [name for name in names if "option" in name or "number" in name] == [
        "random-option",
        "most-frequent-option",
        "longest-option",
        "shortest-option",
    ]
    assert "position" in names


def test_wrong_usage_is_one_line(vqagen_: Commands) -> None:
    """Each mistake names what is missing, and ends in 2."""
    written()
    cases = {
        "majorty --questions q.json -o p.jsonl": "unknown baseline 'majorty'; did you mean 'majority'?",
        "majority --questions q.json": "give --out",
        "oracle --questions q.json -o p.jsonl": "give --scenes",
        "choices-only --questions q.json -o p.jsonl": "choices-only needs options: q.json has none",
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


def test_questions_that_cannot_be_run_are_named() -> None:
    """Bad and missing programs are named, and missing scenes counted."""
    files = written()
    document = json.loads(Path("q.json").read_text())
    for record in document["questions"][:7]:
        record["program"][-1]["type"] = "guess"
    del document["questions"][9]["program"]
    Path("q.json").write_text(json.dumps(document))

    with pytest.raises(BadInput) as caught:
        baseline("oracle", files, "p.jsonl")

    assert "questions[0]: program[" in str(caught.value)
    assert [each.path for each in caught.value.problems] == [f"questions[{number}]" for number in (*range(7), 9)]
    Path("s.json").write_text(json.dumps({"scenes": sampled_scenes(5)}))
    with pytest.raises(BadInput, match="no scene for 10 records"):
        baseline("oracle", files, "p.jsonl")
    assert not Path("p.jsonl").exists()
