"""Checking what people write: each mistake and each doubt is told at its place, and sound files pass."""

from __future__ import annotations

import copy
import itertools
import json
from pathlib import Path
from typing import Any

import pyarrow
import pytest
from commands import ROOT, Commands
from pyarrow import parquet
from test_items import DOUBTS as ITEM_DOUBTS

import vqagen
from vqagen.authoring.check.check_report import CODES, CheckReport
from vqagen.authoring.check.checking import check_paths
from vqagen.authoring.check.template_rules import TEMPLATE_RULES
from vqagen.language.domain_files import SHIPPED_DOMAINS

SAMPLES = 120
METADATA: dict[str, Any] = {
    "types": {
        "Size": ["small", "large"],
        "Color": ["red", "blue", "green"],
        "Kind": {"values": ["cup", "box", "hat"], "null": "thing"},
        "Relation": ["left", "right"],
    },
    "sampling": {
        "objects": [2, 6],
        "min_visible_pixels": 0,
        "margin": 0.0,
        "directions": {"left": [-1.0, 0.0, 0.0], "right": [1.0, 0.0, 0.0]},
    },
}
SYNONYMS = {"cup": ["cup", "mug"], "left": ["left of"], "right": ["right of"]}
SLOTS = {"<Z>": "Size", "<C>": "Color", "<K>": "Kind", "<C2>": "Color", "<K2>": "Kind", "<R>": "Relation"}
Record = dict[str, Any]


def template(texts: list[str], nodes: list[Any], constraints: list[Any] = [], **more: Any) -> Record:  # noqa: B006
    """A template of `[type, inputs, side inputs]` and `[constraint, parameters]`, with the slots that nodes use."""
    used = dict.fromkeys(side for _, _, *sides in nodes for each in sides for side in each if side in SLOTS)
    return {
        "text": texts,
        "params": [{"type": SLOTS[slot], "name": slot} for slot in used],
        "nodes": [
            {"type": kind, "inputs": inputs, "side_inputs": [*itertools.chain(*sides)]}
            for kind, inputs, *sides in nodes
        ],
        "constraints": [{"type": kind, "params": params} for kind, params in constraints],
        **more,
    }


SCENE = ["scene", []]
COUNT = template(["How many <C> <K>s are there?"], [SCENE, ["filter_count", [0], ["<C>", "<K>"]]], name="count")
QUERY = template(
    ["What color is the <Z> <K>?"],
    [SCENE, ["filter_unique", [0], ["<Z>", "<K>"]], ["query_color", [1]]],
    name="query",
)
COMPARE = template(
    ["Are there more <C> <K>s than <C2> <K2>s?"],
    [
        SCENE,
        ["filter_count", [0], ["<C>", "<K>"]],
        ["filter_count", [0], ["<C2>", "<K2>"]],
        ["greater_than", [1, 2]],
    ],
    name="compare",
)


def changed(record: Record, **parts: Any) -> Record:
    return {**copy.deepcopy(record), **parts}


def with_constraint(record: Record, kind: str, *params: Any) -> Record:
    return changed(record, constraints=[*record["constraints"], {"type": kind, "params": list(params)}])


def write(path: Path, document: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document if isinstance(document, str) else json.dumps(document, indent=1), "utf-8")
    return path


@pytest.fixture
def domain(tmp_path: Path) -> Path:
    """A domain's folder without templates."""
    write(tmp_path / "toys" / "metadata.json", METADATA)
    write(tmp_path / "toys" / "synonyms.json", SYNONYMS)
    return tmp_path / "toys"


def doubts(report: CheckReport) -> list[tuple[str, str, str]]:
    """(file name, code, path) of each warning."""
    return [(Path(f.path).name, code, problem.path) for f in report.files for code, problem in f.warnings]


def mistakes(report: CheckReport) -> list[tuple[str, str, str]]:
    """(file name, path, message) of each error."""
    return [(Path(f.path).name, each.path, each.message) for f in report.files for each in f.errors]


def warned(report: CheckReport) -> str:
    """The message of the first warning of the last file."""
    return next(problem.message for _, problem in report.files[-1].warnings)


def checked(domain: Path, *records: Record, samples: int = 0) -> CheckReport:
    write(domain / "templates" / "t.json", list(records))
    return check_paths([domain], samples=samples)


# Templates by themselves ------------------------------------------------------------------------------------------

DOUBTFUL: list[tuple[str, str, Record]] = [
    ("unused-slot", "[0].params[2]", changed(COUNT, params=[*COUNT["params"], {"type": "Size", "name": "<Z>"}])),
    ("unsaid-slot", "[0].text[1]", changed(COUNT, text=[*COUNT["text"], "What number of <K>s are there?"])),
    ("unsaid-slot", "[0].text[0]", changed(COUNT, text=["How many [<C>] <K>s are there?"])),
    ("other-attribute", "[0].text[1]", changed(QUERY, text=[*QUERY["text"], "How big is the <Z> <K>?"])),
    ("other-kind", "[0].text[0]", changed(COUNT, text=["Are there any <C> <K>s?"])),
    ("singular-count", "[0].text[0]", changed(COUNT, text=["How many <C> <K> are there?"])),
    ("missing-space", "[0].text[0]", changed(COUNT, text=["How many <C><K>s are there?"])),
    ("odd-marks", "[0].text[0]", changed(COUNT, text=["How many <C> <K>s are there??"])),
    ("unsaid-slot", "[0].text", changed(COUNT, text=["How many things are <C>?", "Count all that is <C>."])),
    ("unreached-node", "[0].nodes[1]", template(["How many things?"], [SCENE, ["exist", [0]], ["count", [0]]])),
    ("no-final-mark", "[0].text[1]", changed(COUNT, text=[*COUNT["text"], "Count the <C> <K>s"])),
    ("no-final-mark", "[0].text[0]", changed(COUNT, text=["How many <C> <K>s are there? [Say it]"])),
    ("repeated-text", "[0].text[1]", changed(COUNT, text=[*COUNT["text"], "How many  <C> <K>s are there ?"])),
    ("repeated-text", "[0].text[1]", changed(COUNT, text=[*COUNT["text"], "How many <C> <K>s are [now] there?"])),
    (
        "missing-noun",
        "[0].text[0]",
        template(["How big is the <C>?"], [SCENE, ["filter_unique", [0], ["<C>"]], ["query_size", [1]]]),
    ),
    (
        "missing-noun",
        "[0].text[0]",
        template(["How big is the <C> that is there?"], [SCENE, ["filter_unique", [0], ["<C>"]], ["query_size", [1]]]),
    ),
    (
        "answer-in-text",
        "[0].nodes[1].side_inputs[1]",
        template(
            ["Of what color is the <Z> <C> <K>?"],
            [SCENE, ["filter_unique", [0], ["<Z>", "<C>", "<K>"]], ["query_color", [1]]],
        ),
    ),
    (
        "answer-in-text",
        "[0].nodes[1].side_inputs[0]",
        template(
            ["Of what color is the red <K>?"], [SCENE, ["filter_unique", [0], ["red", "<K>"]], ["query_color", [1]]]
        ),
    ),
    (
        "answer-in-text",
        "[0].nodes[1].side_inputs[0]",
        template(
            ["Of what color is the <C> one?"],
            [SCENE, ["filter_color", [0], ["<C>"]], ["unique", [1]], ["query_color", [2]]],
        ),
    ),
    (
        "impossible-answer",
        "[0].constraints[0]",
        template(
            ["Are there as many <C> things as <K>s?"],
            [SCENE, ["filter_count", [0], ["<C>"]], ["filter_count", [0], ["<K>"]], ["equal_integer", [1, 2]]],
            [["OUT_NEQ", [1, 2]]],
        ),
    ),
]  # fmt: skip


def test_a_doubtful_template_is_told_of_by_its_code(domain: Path) -> None:
    for code, path, record in DOUBTFUL:
        report = checked(domain, record)

        assert (mistakes(report), doubts(report)) == ([], [("t.json", code, path)]), record


SOUND: dict[str, Record] = {
    "plain": COUNT,
    "query": QUERY,
    "compare": COMPARE,
    "slot that is always open, not said": with_constraint(
        changed(COUNT, text=["How many <K>s are there?"]), "NULL", "<C>"
    ),
    "slot with one value, said as a word": with_constraint(
        with_constraint(changed(COUNT, text=["How many red <K>s are there?"]), "IN", "<C>", "red"), "NOT_NULL", "<C>"
    ),
    "slot that is equal to another one": with_constraint(
        changed(COMPARE, text=["Of all <C> things, are there more <K>s than <K2>s?"]), "EQ", "<C>", "<C2>"
    ),
    "node that only a constraint depends on": template(
        ["How many <C> things are there, and is there any <K>?"],
        [SCENE, ["filter_exist", [0], ["<K>"]], ["filter_count", [0], ["<C>"]]],
        [["OUT_EQ", [1, 1]]],
    ),
    "description with a noun in the text": template(
        ["How big is the <C> one?", "How big is the [one] <C> toy?"],
        [SCENE, ["filter_unique", [0], ["<C>"]], ["query_size", [1]]],
    ),
    "description that says something": template(
        ["How big is the <C>?"],
        [SCENE, ["filter_unique", [0], ["<C>"]], ["query_size", [1]]],
        [["NOT_NULL", ["<C>"]]],
    ),
    "attribute asked for, left open": template(
        ["Of what color is the <Z> <C> <K>?"],
        [SCENE, ["filter_unique", [0], ["<Z>", "<C>", "<K>"]], ["query_color", [1]]],
        [["NULL", ["<C>"]]],
    ),
    "attribute asked for, said of another object": template(
        ["What color is the <K> <R> the <C2> <K2>?"],
        [
            SCENE,
            ["filter_unique", [0], ["<C2>", "<K2>"]],
            ["relate_filter_unique", [1], ["<R>", "<K>"]],
            ["query_color", [2]],
        ],
    ),
    "mark before a quote's end, mark in an optional part": changed(
        COUNT, text=['They ask: "How many <C> <K>s are there?"', "Count the <C> <K>s[, all of them]."]
    ),
}  # fmt: skip


def test_a_sound_template_passes(domain: Path) -> None:
    for name, record in SOUND.items():
        report = checked(domain, record)

        assert (mistakes(report), doubts(report)) == ([], []), name


def test_two_templates_that_ask_the_same_compute_the_same(domain: Path) -> None:
    """Slots go by other names, parts are optional; it is still the same text."""
    other = json.loads(json.dumps(COUNT).replace("<K>", "<K2>"))
    exists = changed(
        COUNT, name="exist", nodes=copy.deepcopy(COUNT["nodes"]), text=["[Tell me]: how many <C> <K>s are there?"]
    )
    exists["nodes"][1]["type"] = "filter_exist"

    assert doubts(checked(domain, COUNT, changed(other, name="other"))) == []
    codes = "other-kind", "same-text"
    assert doubts(checked(domain, COUNT, exists)) == [("t.json", code, "[1].text[0]") for code in codes]


# Templates on scenes ----------------------------------------------------------------------------------------------

TRIED: list[tuple[str, str, Record]] = [
    ("unsatisfied", "[0]", with_constraint(COUNT, "OUT_GT_CONST", 1, 50)),
    ("idle-constraint", "[0].constraints[0]", with_constraint(COUNT, "OUT_GE_CONST", 1, 0)),
    (
        "idle-constraint",
        "[0].constraints[1]",
        with_constraint(with_constraint(COUNT, "NULL", "<C>"), "NOT_IN", "<C>", "red"),
    ),
    ("impossible-answer", "[0].nodes[3]", with_constraint(COMPARE, "OUT_EQ", 1, 2)),
    (
        "impossible-answer",
        "[0].nodes[2]",
        template(
            ["What color is the large <K>?"],
            [SCENE, ["filter_unique", [0], ["large", "<K>"]], ["query_color", [1]]],
        ),
    ),
    (
        "answer-in-text",
        "[0].nodes[4]",
        template(
            ["What color is the other thing of the same color as the <C> <K>?"],
            [SCENE, ["filter_unique", [0], ["<C>", "<K>"]], ["same_color", [1]], ["unique", [2]], ["query_color", [3]]],
            [["NOT_NULL", ["<C>"]]],
        ),
    ),
    (
        "answer-in-text",
        "[0].nodes[5]",
        template(
            ["Are the <C> <K> and the <C2> <K2> of one color?"],
            [
                SCENE,
                ["filter_unique", [0], ["<C>", "<K>"]],
                ["filter_unique", [0], ["<C2>", "<K2>"]],
                ["query_color", [1]],
                ["query_color", [2]],
                ["equal_color", [3, 4]],
            ],
            [["NOT_NULL", ["<C>"]], ["NOT_NULL", ["<C2>"]], ["OUT_NEQ", [1, 2]]],
        ),
    ),
]
NO_LARGE_GREEN = {"attribute": "size", "value": "large", "only": {"color": ["red", "blue"]}}


@pytest.mark.quick(1)
@pytest.mark.parametrize(("code", "path", "record"), TRIED)
def test_what_trying_shows_is_told_with_the_number_of_scenes(
    code: str, path: str, record: Record, domain: Path
) -> None:
    """In these scenes nothing large is green."""
    write(domain / "metadata.json", {**METADATA, "sampling": {**METADATA["sampling"], "restrict": [NO_LARGE_GREEN]}})

    report = checked(domain, record, samples=SAMPLES)

    assert (mistakes(report), doubts(report)) == ([], [("t.json", code, path)])
    assert f"{SAMPLES} sampled scenes" in warned(report)


def test_a_sound_template_is_tried_until_all_has_been_seen(domain: Path) -> None:
    """Long before the last scene."""
    tried: list[int] = []
    slots = COMPARE["nodes"][1]["side_inputs"]
    write(domain / "templates" / "t.json", [with_constraint(COMPARE, "NOT_ALL_NULL", *slots)])

    report = check_paths([domain], samples=5000, on_progress=tried.append)

    assert (report.errors, doubts(report)) == (0, [])
    assert 0 < sum(tried) < 1000


def test_templates_are_tried_on_given_scenes(domain: Path) -> None:
    """In which everything is red."""
    scenes = list(vqagen.sample_scenes(SAMPLES, domain=str(domain)))
    for scene in scenes:
        for thing in scene["objects"]:
            thing["color"] = "red"
    given = write(domain.parent / "given.json", {"scenes": scenes})
    write(domain / "templates" / "t.json", [QUERY])

    report = check_paths([domain], scenes=given)

    assert doubts(report) == [("t.json", "impossible-answer", "[0].nodes[2]")]
    assert warned(report) == f"the answer was always 'red' in {SAMPLES} given scenes"


def test_without_scenes_templates_are_not_tried_and_that_is_said(domain: Path) -> None:
    """The relation has no direction."""
    write(domain / "metadata.json", {**METADATA, "types": {**METADATA["types"], "Relation": ["near"]}, "sampling": {}})
    write(domain / "synonyms.json", {})

    report = checked(domain, TRIED[0][2], samples=SAMPLES)

    assert doubts(report) == []
    assert "templates were not tried out" in "".join(report.notes)


# Mistakes ---------------------------------------------------------------------------------------------------------


def test_all_mistakes_of_all_files_are_told_in_one_run(domain: Path) -> None:
    """What is sound beside them is still looked at for doubts."""
    wrong = changed(COUNT, nodes=[*COUNT["nodes"][:1], {**COUNT["nodes"][1], "type": "filter_cuont"}])
    write(domain / "templates" / "a.json", [wrong, changed(QUERY, text=["What color is the <Z> <K>"])])
    write(
        domain / "templates" / "b.json", [with_constraint(COUNT, "NUL", "<C>"), with_constraint(QUERY, "NULL", "<Q>")]
    )
    write(domain / "templates" / "c.json", '[{"text": ["x"]\n "nodes": []}]')
    write(domain / "synonyms.json", {"cup": "mug"})

    report = check_paths([domain], samples=0)

    assert [(file, path) for file, path, _ in mistakes(report)] == [
        ("synonyms.json", "cup"),
        ("a.json", "[0].nodes[1].type"),
        ("b.json", "[0].constraints[0].type"),
        ("b.json", "[1].constraints[0].params[0]"),
        ("c.json", ""),
    ]
    assert doubts(report) == [("a.json", "no-final-mark", "[1].text[0]")]
    broken = next(iter(report.files[-1].errors))
    assert (broken.line, broken.excerpt.splitlines()[0]) == (2, ' "nodes": []}]')


def test_nothing_is_checked_against_metadata_with_mistakes(domain: Path) -> None:
    write(domain / "metadata.json", {"types": {"Color": []}})
    scenes = write(domain / "scenes.json", {"scenes": [{"objects": []}]})

    report = checked(domain, COUNT)

    assert [(file, path) for file, path, _ in mistakes(report)] == [("metadata.json", "types.Color")]
    skipped = {Path(file.path).name: file.not_checked for file in report.files if file.not_checked}
    told = [f"the metadata ({domain / 'metadata.json'}) has mistakes"]
    assert skipped == {"synonyms.json": told, "t.json": told, scenes.name: told}


def test_declared_functions_with_mistakes_hide_none_in_the_vocabulary_or_in_scenes(domain: Path) -> None:
    """Templates need the functions."""
    functions = [{"name": f"filter_{kind}", "inputs": ["Object"]} for kind in ("size", "color", "kind")]
    write(domain / "metadata.json", {**METADATA, "functions": functions, "sampling": {"objects": "many"}})
    write(domain / "scenes.json", {"scenes": [scene({**CUP, "kind": "cap"})]})

    report = checked(domain, COUNT)

    found = {path for _, path, _ in mistakes(report)}
    assert found == {*(f"functions[{i}].inputs" for i in range(3)), "sampling.objects", "scenes[0].objects[0].kind"}
    assert [Path(file.path).name for file in report.files if file.not_checked] == ["t.json"]


def test_one_template_of_the_wrong_shape_hides_nothing_in_the_others(domain: Path) -> None:
    """Neither mistakes of meaning nor doubts."""
    misshapen = {**COUNT, "nodes": "none", "name": "misshapen"}
    unfinished = changed(COMPARE, text=["Are there more <C> <K>s than <C2> <K2>s"])
    report = checked(domain, misshapen, with_constraint(QUERY, "NUL"), unfinished)

    assert [path for _, path, _ in mistakes(report)] == ["[0].nodes", "[1].constraints[0].type"]
    assert doubts(report) == [("t.json", "no-final-mark", "[2].text[0]")]


# Metadata, synonyms, plug-ins -------------------------------------------------------------------------------------


PLURALS = {"mug": "mugge", "boks": "boxes"}
REASONING = json.loads((ROOT / "metadata" / "clevr.json").read_text("utf-8"))["reasoning"]
MISSPELT = {
    "chose" if name == "choose" else name: texts
    for name, texts in REASONING["sentences"].items()
    if not name.endswith(("_material", "_shape"))
}
VOCABULARY: list[tuple[dict[str, object], list[tuple[str, str, str]]]] = [
    (
        {"synonyms.json": f"// words\n{json.dumps(SYNONYMS)}", "templates/t.json": json.dumps([COUNT])[:-1] + ",]"},
        [("synonyms.json", "not-json", ""), ("t.json", "not-json", "")],
    ),
    (
        {"synonyms.json": {**SYNONYMS, "boxx": ["box"], "Colour": {"red": ["red"]}}},
        [("synonyms.json", "unknown-synonym", "boxx"), ("synonyms.json", "unknown-synonym", "Colour")],
    ),
    ({"synonyms.json": {**SYNONYMS, "hat": ["hat", "Mug"]}}, [("synonyms.json", "ambiguous-word", "hat")]),
    (
        {
            "synonyms.json": {"Color": {"red": ["red"]}},
            "metadata.json": {**METADATA, "synonyms": {**SYNONYMS, "boks": ["case"], "box": ["mug"]}},
        },
        [
            ("metadata.json", "unknown-synonym", "synonyms.boks"),
            ("metadata.json", "ambiguous-word", "synonyms.box"),
        ],
    ),
    # plurals, also of the words that synonyms bring
    ({"metadata.json": {**METADATA, "plurals": PLURALS}}, [("metadata.json", "unsaid-plural", "plurals.boks")]),
    # sentences of reasonings
    (
        {"metadata.json": {**METADATA, "reasoning": {**REASONING, "sentences": MISSPELT}}},
        [
            ("metadata.json", "no-reasoning", "reasoning.sentences"),
            ("metadata.json", "unknown-reasoning", "reasoning.sentences.chose"),
        ],
    ),
]


def test_what_is_doubtful_in_the_words_of_a_domain(domain: Path) -> None:
    for files, expected in VOCABULARY:
        for name, document in {"metadata.json": METADATA, "synonyms.json": SYNONYMS, **files}.items():
            write(domain / name, document)

        assert sorted(doubts(check_paths([domain]))) == sorted(expected), files
        (domain / "templates" / "t.json").unlink(missing_ok=True)


PLUGIN = """
from vqagen.plugin import function

@function("ObjectSet", output="Integer")
def count_twice(scene, objects):
    '''Twice as many.'''
    return {result}
"""


def test_a_plug_in_in_the_folder_belongs_to_the_domain(domain: Path) -> None:
    """It is run, and what its functions do wrong is told of it."""
    record = template(["How many pairs?"], [SCENE, ["count_twice", [0]]])
    write(domain / "more.py", PLUGIN.format(result="2 * objects.bit_count()"))
    assert mistakes(checked(domain, record, samples=SAMPLES)) == []

    write(domain / "more.py", PLUGIN.format(result="'two'"))
    ((file, _, message),) = mistakes(checked(domain, record, samples=SAMPLES))
    assert file == "more.py"
    assert "count_twice failed: TypeError: it gives Integer" in message


LADEN = """
from vqagen.bits import union_of
from vqagen.plugin import function

@function("ObjectSet", output="ObjectSet")
def laden(scene, objects):
    '''Those that carry something.'''
    return union_of(i for i, thing in enumerate(scene.record["objects"]) if thing["load"])
"""


def test_what_sampled_scenes_lack_is_no_mistake_of_a_plug_in(domain: Path) -> None:
    """The template is given up, and the warning names what the plug-in looked for."""
    write(domain / "more.py", LADEN)
    record = template(["What color is the laden one?"], [SCENE, ["laden", [0]], ["unique", [1]], ["query_color", [2]]])
    write(domain / "templates" / "t.json", [record])

    report = check_paths([domain], samples=SAMPLES)

    assert (mistakes(report), doubts(report)) == ([], [("t.json", "unsatisfied", "[0]")])
    assert "function laden failed: KeyError: 'load'); give --scenes" in warned(report)


def test_a_plug_in_with_mistakes_is_told_of_and_nothing_else_is(domain: Path) -> None:
    write(domain / "more.py", PLUGIN.format(result="2 *"))

    report = checked(domain, COUNT)

    assert [file for file, _, _ in mistakes(report)] == ["more.py"]
    assert {file.not_checked[0] for file in report.files if file.not_checked} == {"a plug-in has mistakes"}


# What a file is, and whose ----------------------------------------------------------------------------------------

KINDS: list[tuple[str, object, str]] = [
    ("x.json", METADATA, "metadata"),
    ("metadata.json", {"typos": {}}, "metadata"),
    ("x.json", [COUNT], "templates"),
    ("x.json", {"templates": [COUNT]}, "templates"),
    ("x.json", COUNT, "templates"),
    ("templates/x.json", [], "templates"),
    ("templates/x.json", '{"a": ', "templates"),
    ("x.json", SYNONYMS, "synonyms"),
    ("x.json", {"Color": {"red": ["red"]}}, "synonyms"),
    ("synonyms.json", {"red": "crimson"}, "synonyms"),
    ("x.json", {"scenes": []}, "scenes"),
    ("x.json", [{"objects": []}], "scenes"),
    ("x.json", {"objects": []}, "scenes"),
    ("x.jsonl", '{"objects": []}\n{"objects": []}\n', "scenes"),
    ("x.json", '{"objects": []}\n{"objects": []}\n', "scenes"),
    ("x.json", {"questions": []}, "questions"),
    ("x.json", [{"question": "?", "answer": "yes"}], "questions"),
    ("x.jsonl", '{"program": []}\n', "questions"),
    ("x.json", {"$schema": "schemas/templates.schema.json"}, "templates"),
    ("x.py", "", "plug-in"),
    ("x.json", {"a": 1}, ""),
    ("x.json", "", ""),
    ("x.json", "[1", ""),
    ("x.json", "7", ""),
]


def test_a_file_is_known_by_its_content_or_its_name(tmp_path: Path) -> None:
    for number, (name, document, kind) in enumerate(KINDS):
        report = check_paths([write(tmp_path / str(number) / name, document)], domain="clevr", samples=0)

        assert [file.kind for file in report.files][:1] == [kind], document
        assert kind or report.errors == 1


def write_table(path: Path, rows: list[Record]) -> Path:
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    return path


@pytest.mark.slow
def test_parquet_is_checked_as_json_is(tmp_path: Path) -> None:
    write(tmp_path / "metadata.json", METADATA)
    plain = write(tmp_path / "s.json", {"scenes": WRONG[:2]})
    columns = write_table(tmp_path / "s.parquet", WRONG[:2])

    (found,), (expected,) = (mistakes(check_paths([path])) for path in (columns, plain))

    assert found[1:] == expected[1:]


def test_of_a_file_that_is_nothing_it_is_told_what_there_is(tmp_path: Path) -> None:
    ((_, _, message),) = mistakes(check_paths([write(tmp_path / "x.json", {"a": 1})]))

    assert all(kind in message for kind in ("metadata", "templates", "synonyms", "scenes", "questions"))


OTHER = {"types": {"Colour": ["red"]}}
HOMES: list[tuple[str, list[str], dict[str, object]]] = [
    ("d/metadata.json", ["d"], {"d/metadata.json": METADATA, "d/templates/deep/t.json": [COUNT]}),
    ("d/metadata.json", ["d/templates/t.json"], {"d/metadata.json": METADATA, "d/templates/t.json": [COUNT]}),
    ("d/words.json", ["d"], {"d/words.json": METADATA, "d/t.json": [COUNT]}),
    ("words.json", ["words.json", "t"], {"words.json": METADATA, "t/t.json": [COUNT]}),
    ("a/words.json", ["a/words.json", "b/t.json"], {"a/words.json": METADATA, "b/t.json": [COUNT]}),
    (
        "d/metadata.json",
        ["."],
        {"metadata.json": OTHER, "d/metadata.json": METADATA, "d/templates/t.json": [COUNT]},
    ),
    (
        "metadata/b.json",
        ["metadata", "templates"],
        {"metadata/a.json": OTHER, "metadata/b.json": METADATA, "templates/b/t.json": [COUNT]},
    ),
    ("metadata/b.json", ["templates/b"], {"metadata/b.json": METADATA, "templates/b/t.json": [COUNT]}),
]


def test_templates_belong_to_the_nearest_metadata(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (home, paths, files) in enumerate(HOMES):
        (tmp_path / str(number)).mkdir()
        monkeypatch.chdir(tmp_path / str(number))
        for name, document in files.items():
            write(Path(name), document)

        report = check_paths(paths, samples=0)

        assert [Path(file.domain) for file in report.files if file.kind == "templates"] == [Path(home)], paths
        assert (report.errors, report.notes) == (0, [])


def test_files_without_metadata_are_checked_as_clevrs_and_that_is_said(tmp_path: Path) -> None:
    path = write(tmp_path / "t.json", [COUNT])

    report = check_paths([path], samples=0)

    assert report.notes == [f"no metadata beside {path}: checked as clevr's; --domain says otherwise"]
    assert report.errors > 0


UNCLEAR: list[tuple[list[str], str]] = [
    (["d"], "d/farm.json, d/market.json"),
    (["a", "d/templates"], "a/farm.json, a/market.json"),
]


@pytest.mark.parametrize(("paths", "named"), UNCLEAR)
def test_of_several_domains_none_is_guessed(
    paths: list[str], named: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for stem in ("farm", "market"):
        write(Path(paths[0], f"{stem}.json"), METADATA)
    path = write(Path("d/templates/t.json"), [COUNT])

    report = check_paths(paths, samples=0)

    assert mistakes(report) == [("t.json", "", f"it may belong to any of {named}; choose one with --metadata")]
    assert report.notes == []
    assert check_paths([path], metadata=str(Path(paths[0], "farm.json")), samples=0).errors == 0


# Scenes ---------------------------------------------------------------------------------------------


def scene(*things: Record) -> Record:
    return {"objects": list(things), "image_filename": "x.png"}


CUP = {"size": "small", "color": "red", "kind": "cup"}
WRONG = [scene(CUP), scene({**CUP, "color": "rad"}), scene(CUP, {**CUP, "kind": 3, "size": None})]
LAYOUTS: dict[str, tuple[str, list[tuple[int | None, str]]]] = {
    "document": (
        json.dumps({"scenes": WRONG}, indent=1),
        [(17, "scenes[1].objects[0].color"), (30, "scenes[2].objects[1]"), (33, "scenes[2].objects[1].kind")],
    ),
    "list": (
        json.dumps(WRONG, indent=1),
        [(16, "[1].objects[0].color"), (29, "[2].objects[1]"), (32, "[2].objects[1].kind")],
    ),
    "lines": (
        "\n".join(map(json.dumps, WRONG)),
        [(2, "scenes[1].objects[0].color"), (3, "scenes[2].objects[1]"), (3, "scenes[2].objects[1].kind")],
    ),
    "alone": (json.dumps(WRONG[1], indent=1), [(5, "objects[0].color")]),
}


def test_every_fault_of_every_scene_is_told_at_its_line(domain: Path) -> None:
    for layout, (text, expected) in LAYOUTS.items():
        path = write(domain / ("x.jsonl" if layout == "lines" else "x.json"), text)

        (file,) = check_paths([path]).files

        assert file.kind == "scenes"
        assert [(problem.line, problem.path) for problem in file.errors] == expected, layout


NAMED: dict[str, Any] = {
    **METADATA,
    "types": {**METADATA["types"], "Label": {"values": ["new", "old"], "optional": True, "key": "tag.label"}},
}
NEXT = {"left": [[1], []], "right": [[], [0]]}
ODD_NAMES: list[tuple[list[Record], list[tuple[str, str, str]]]] = [
    (
        [{**scene(CUP, CUP), "relationships": {"lefft": [[1], []], "right": [[], [0]]}}] * 2,
        [("unknown-relation", "scenes[0].relationships.lefft", "did you mean 'left'?")],
    ),
    (
        [{**scene(CUP, CUP), "relationships": [{"type": "lefft", "indexes": [[1], []]}]}],
        [("unknown-relation", "scenes[0].relationships[0].type", "did you mean 'left'?")],
    ),
    (
        [{**scene(CUP, CUP), "relationships": {**NEXT, "lefft": [[], []], "above": [[], []]}}] * 2,
        [
            ("unknown-relation", "scenes[0].relationships.lefft", "unknown relation 'lefft'; did you"),
            ("unknown-relation", "scenes[0].relationships.above", "unknown relation 'above'; known: left"),
        ],
    ),
    ([{**scene(CUP, CUP), "relationships": {**NEXT, "comment": "as seen"}}] * 20, []),
    ([scene(CUP)] * 19, []),
    ([scene(CUP)] * 20, [("unused-attribute", "", "none of the 20 objects has 'tag.label'")]),
    ([scene(CUP)] * 20 + [scene({**CUP, "tag": {"label": "old"}, "rotation": 1})], []),
]


def test_names_in_scenes_that_nothing_reads_are_told_of_once(tmp_path: Path) -> None:
    for scenes, expected in ODD_NAMES:
        has_relations = any("relationships" in each for each in scenes)
        write(tmp_path / "metadata.json", METADATA if has_relations else NAMED)
        named = [{**each, "image_filename": f"{number}.png"} for number, each in enumerate(scenes)]
        path = write(tmp_path / "scenes.json", {"scenes": named})

        report = check_paths([path]).of(path)

        found = [(code, problem.path) for code, problem in report.warnings]
        assert (not report.errors, found) == (True, [each[:2] for each in expected]), scenes
        assert all(said in each.message for (_, each), (*_, said) in zip(report.warnings, expected, strict=True))


FAILING = """
from vqagen.plugin import attribute

@attribute("Weight", values=["light", "heavy"])
def weight(thing, scene):
    '''How heavy it is.'''
    return thing["weight"]
"""


def test_a_plug_in_that_fails_for_every_object_is_told_of_once(domain: Path) -> None:
    write(domain / "more.py", FAILING)
    write(domain / "scenes.json", {"scenes": [scene(CUP, CUP, CUP)] * 4})

    ((file, path, message),) = mistakes(check_paths([domain]))

    assert (file, path) == ("more.py", "")
    assert message.endswith("attribute Weight failed: KeyError: 'weight'")


# The command ------------------------------------------------------------------------------------------------------


@pytest.fixture
def vqagen_(domain: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in the folder above the domain."""
    monkeypatch.chdir(domain.parent)
    return Commands(capsysbinary)


def test_the_command_tells_by_file_errors_first_and_counts(domain: Path, vqagen_: Commands) -> None:
    write(domain / "templates" / "a.json", [changed(COUNT, text=["How many <C> <K>s"]), with_constraint(QUERY, "NUL")])
    write(domain / "templates" / "b.json", '{"templates": [}')

    ran = vqagen_("check toys")

    assert ran.code == 1
    assert ran.err == ""
    assert ran.out.decode().splitlines() == [
        "toys/templates/a.json",
        "  error  76:13  [1].constraints[0].type  unknown constraint 'NUL'; did you mean 'NULL'?",
        "  warning  4:4  [0].text[0]  text 0 does not end with a mark: . ? or ! [no-final-mark]",
        "",
        "toys/templates/b.json",
        "  error  1:16  not valid JSON: a value is missing before this '}'",
        '      {"templates": [}',
        "                     ^",
        "",
        "2 errors, 1 warning in 4 files",
    ]


def test_warnings_count_only_if_that_is_asked_for(domain: Path, vqagen_: Commands) -> None:
    write(domain / "templates" / "a.json", [changed(COUNT, text=["How many <C> <K>s"])])
    ran = vqagen_("check toys --json")
    report = json.loads(ran.out)

    assert (ran.code, vqagen_("check toys --strict").code) == (0, 1)
    assert (report["errors"], report["warnings"]) == (0, 1)
    assert report["files"][-1]["warnings"] == [
        {
            "code": "no-final-mark",
            "line": 4,
            "column": 4,
            "path": "[0].text[0]",
            "message": "text 0 does not end with a mark: . ? or !",
            "excerpt": "",
        }
    ]


@pytest.mark.parametrize("line", ["check", "check toys --domain x", "check toys --samples -1"])
def test_wrong_usage_ends_in_2(line: str, vqagen_: Commands) -> None:
    assert vqagen_(line).code == 2


# Codes, and files that are there ----------------------------------------------------------------------------------


def test_every_code_is_in_the_list_and_tested() -> None:
    of_files = (
        "not-json",
        "no-effect",
        "unknown-synonym",
        "ambiguous-word",
        "unsaid-plural",
        "unknown-reasoning",
        "no-reasoning",
        "same-text",
        "repeated-image",
    )
    of_scenes = [code for _, expected in ODD_NAMES for code, _, _ in expected]
    of_items = [code for _, code, _, _ in ITEM_DOUBTS]

    assert set(CODES) == {*of_files, *of_scenes, *of_items, *(code for code, _, _ in (*DOUBTFUL, *TRIED))}
    assert set(TEMPLATE_RULES) <= set(CODES)


@pytest.mark.parametrize("samples", [0, pytest.param(2000, marks=pytest.mark.slow)])
def test_the_shipped_files_pass_without_a_doubt(samples: int) -> None:
    domains = SHIPPED_DOMAINS.values()
    templates = sorted({ROOT / templates for each in domains for templates in (each["questions"], each["dialogs"])})
    paths = [ROOT / "synonyms.json", *(ROOT / each["metadata"] for each in domains), *templates]
    report = check_paths(paths, samples=samples)

    assert (mistakes(report), doubts(report), report.notes) == ([], [], [])
    assert all(file.kind and not file.not_checked for file in report.files)


@pytest.mark.slow
def test_the_defects_of_the_reference_are_found(shared: Path) -> None:
    """An answer that is always "no", a question mark that is missing, texts that are there twice."""
    folder = next((each for each in (shared / "clevr_v1", shared / "data" / "clevr_v1") if each.is_dir()), None)
    if folder is None:
        pytest.skip("no reference templates in shared/")

    report = check_paths([folder])

    assert mistakes(report) == []
    assert [doubt for doubt in doubts(report) if doubt[0] != "synonyms.json"] == [
        ("compare_integer.json", "impossible-answer", "[0].constraints[0]"),
        ("comparison.json", "repeated-text", "[0].text[2]"),
        ("same_relate.json", "no-final-mark", "[6].text[3]"),
        ("zero_hop.json", "repeated-text", "[2].text[3]"),
    ]
