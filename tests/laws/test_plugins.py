"""Plug-ins: what they declare is as good as what vqagen has, and what is wrong with them is told with its place."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from program_notation import template
from scene_records import scene_record

from vqagen.errors import BadInput, Problem, VqagenError
from vqagen.files.locations import shipped
from vqagen.language.catalogue import Catalogue
from vqagen.language.program import Program
from vqagen.language.template import ruled_out_answers
from vqagen.language.template_check import read_templates
from vqagen.plugin import BUILT_IN, RELATION, Declarations
from vqagen.plugin.loading import load_plugins
from vqagen.search.description import Sampling
from vqagen.search.instantiate import Filling, Search
from vqagen.search.plan import make_plan
from vqagen.search.state import FOUND, Balance, SceneTables
from vqagen.search.vocabulary import Vocabularies
from vqagen.world.domain import load_domain
from vqagen.world.scene import compile_scene

CLEVR = load_domain(shipped("metadata") / "clevr.json")
SCENE = compile_scene(
    scene_record(("large red metal cube", "small red rubber sphere", "small blue metal cube"), [2, 0, 1], [0, 1, 2]),
    CLEVR,
)

WEIGHTS = '''
"""Weights and parts."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.bits import indexes, union_of
from vqagen.plugin import (
    CONSTANT, NODE, RELATION, Undefined, attribute, attribute_function, constraint, function, relation,
)


@dataclass(frozen=True)
class Part:
    """Of which object, and which of its sides."""

    owner: int
    side: str


@function("Object", output="ObjectSet", role=RELATION, aliases=["outweighing"])
def heavier(scene, anchor):
    """The objects that weigh more than an object."""
    return union_of(i for i, size in enumerate(scene.values["size"]) if size > scene.values["size"][anchor])


@function("ObjectSet", output="PartSet")
def sides(scene, objects):
    """All sides of the objects of a set."""
    return tuple(Part(i, side) for i in indexes(objects) for side in ("top", "bottom"))


@function("PartSet", output="Integer", asks="count")
def count_parts(scene, parts):
    """How many parts there are."""
    return len(parts)


@function("ObjectSet", output="Bool", name="is")
def is_any(scene, objects):
    """Whether there is any."""
    return objects != 0


@attribute_function("majority_{name}", "ObjectSet", output="{type}")
def majority(attribute):
    """The value that most objects of a set have."""
    def run(scene, objects):
        counts = {value: (mask & objects).bit_count() for value, mask in scene.having[attribute.name].items()}
        best = max(counts, key=counts.get)
        if counts[best] * 2 <= objects.bit_count():
            raise Undefined("no value is that of most")
        return best
    return run


@attribute("Side", values=["west", "east"])
def side(thing, scene):
    """Which half an object is in."""
    return "west" if thing["3d_coords"][0] < 0 else "east"


@relation("touching")
def touching(thing, anchor, scene):
    """Whether two objects touch."""
    return True


@constraint("OUT_MULTIPLE", NODE, CONSTANT, compares="numbers")
def is_multiple(output, factor):
    """The node's number is a multiple of the constant."""
    return output % factor == 0
'''


def write(folder: Path, text: str, name: str = "mine.py") -> str:
    """A plug-in's file; its path as one would type it."""
    path = folder / name
    path.write_text(text, "utf-8")
    return str(path)


@pytest.fixture
def weights(tmp_path: Path) -> Declarations:
    return load_plugins([write(tmp_path, WEIGHTS)])


def problems_of(*names: str) -> list[Problem]:
    with pytest.raises(BadInput) as raised:
        load_plugins(names)
    return list(raised.value.problems)


# What is declared ------------------------------------------------------------------------------------------------


def test_a_file_declares_everything(weights: Declarations) -> None:
    """Each with its first docstring line, and where it stands."""
    declared = weights

    assert list(declared.functions) == ["heavier", "sides", "count_parts", "is", "majority_{name}"]
    assert declared.functions["heavier"].role == RELATION
    assert declared.functions["heavier"].meaning == "The objects that weigh more than an object."
    assert WEIGHTS.split("\n")[declared.functions["heavier"].line - 1].startswith('@function("Object"')
    assert declared.attributes["Side"].values == ("west", "east")
    assert declared.attributes["Side"].compute({"3d_coords": [1, 0, 0]}, {}) == "east"
    assert declared.relations["touching"].holds({}, {}, {}) is True
    assert declared.constraints["OUT_MULTIPLE"].holds(4, 2) is True
    assert not BUILT_IN.functions.keys() & declared.functions.keys()


def test_a_plugin_function_is_as_good_as_a_built_in_one(weights: Declarations) -> None:
    catalogue = Catalogue(CLEVR, weights)
    records = [
        {"type": "scene", "inputs": []},
        {"type": "filter_color", "inputs": [0], "value_inputs": ["blue"]},
        {"type": "unique", "inputs": [1]},
        {"type": "outweighing", "inputs": [2]},
        {"type": "sides", "inputs": [0]},
        {"type": "count_parts", "inputs": [4]},
    ]
    program = Program.from_records(records, catalogue)

    assert program.outputs(SCENE)[3] == 0
    assert (program.run(SCENE), program.answer_type) == (6, "Integer")
    assert catalogue["heavier"].signature == "heavier(Object) -> ObjectSet"
    assert catalogue["majority_size"].signature == "majority_size(ObjectSet) -> Size"
    assert catalogue["majority_size"].run(SCENE, 0b111) == "small"
    assert catalogue.constraints["OUT_MULTIPLE"].compares == "numbers"
    assert list(catalogue)[-8:] == [
        "heavier",
        "sides",
        "count_parts",
        "is",
        *(f"majority_{a.name}" for a in CLEVR.attributes),
    ]


# Loading ---------------------------------------------------------------------------------------------------------


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    """A plug-in can be loaded again, also after it was changed, and no plug-in sees another. A hash is of contents."""
    first = load_plugins([write(tmp_path, WEIGHTS)])
    again = load_plugins([write(tmp_path, WEIGHTS)])
    changed = load_plugins([write(tmp_path, WEIGHTS.replace("heavier", "lighter"))])

    (tmp_path / "other").mkdir()
    elsewhere = load_plugins([write(tmp_path / "other", WEIGHTS, "else.py")])
    assert (again.hashes, elsewhere.hash) == (first.hashes, first.hash)
    assert list(first.hashes) == [str(tmp_path / "mine.py")]
    assert changed.hash != first.hash
    assert next(iter(changed.functions)) == "lighter"
    assert "mine" not in sys.modules
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["else.py", "mine.py", "other"]


# What is wrong with a file ----------------------------------------------------------------------------------------

HEAD = "from vqagen.plugin import *\nfrom vqagen.plugin import Undefined\n"
FUNCTION = "def f(*given):\n    return 1\n"


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    """Also those in several files, and those in the command line."""
    one = write(
        tmp_path, f"{HEAD}@function('Object', output='Bool', role='x')\n{FUNCTION}@relation('near')\n{FUNCTION}"
    )
    two = write(tmp_path, f"{HEAD}@function('Object', output='Bool')\n{FUNCTION}@constraint('C')\n{FUNCTION}", "two.py")
    three = write(tmp_path, "x =\n", "three.py")

    found = problems_of(one, str(tmp_path / "thre.py"), two, three)

    assert [Path(problem.source).name for problem in found] == ["thre.py", "mine.py", "two.py", "three.py"]


def test_two_plugins_that_declare_the_same(tmp_path: Path) -> None:
    one, two = write(tmp_path, WEIGHTS), write(tmp_path, WEIGHTS + "\n", "two.py")

    found = problems_of(one, two)

    assert found[0].message == f"function heavier is declared in {one} too"
    assert [each.message.partition(" is ")[0] for each in found[-3:]] == [
        "constraint OUT_MULTIPLE",
        "attribute Side",
        "relation touching",
    ]
    assert {each.source for each in found} == {two}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    """The nearest file beside it is named."""
    path = write(tmp_path, WEIGHTS, "weights.py")

    (misspelt,) = problems_of(str(tmp_path / "wieghts.py"))
    (folder,) = problems_of(str(tmp_path))

    assert f"did you mean '{path}'?" in misspelt.message
    assert "this is a folder" in folder.message


# What does not go together with a domain --------------------------------------------------------------------------

MISFITS: list[tuple[str, str]] = [
    ("@function('ObjectSet', output='Bool', name='exist')", "exist has the name of vqagen's own exist(ObjectSet) -> B"),
    (
        "@function('ObjectSet', output='Bool', aliases=['addition'])",
        "addition has the name of vqagen's own add(Integer",
    ),
    ("@attribute_function('query_{name}', 'Object', output='{type}')", "query_size has the name of vqagen's own query"),
    ("@function('ObjectSet', output='Bool', name='filter_exist')", "has the name of the template-only node filter_exi"),
    ("@constraint('NULL', SLOT)", "constraint NULL has the name of vqagen's own NULL; choose another"),
    ("@constraint('CONST_GT', NODE)", "constraint CONST_GT has the name of vqagen's own OUT_GE_CONST"),
    ("@function('Objct', output='Bool')", "function f: unknown type 'Objct'; did you mean 'Object'?"),
    ("@function('Object', values=['Colour'], output='Bool')", "unknown type of values 'Colour'; did you mean 'Color'?"),
    ("@function('Object', values=['Bool'], output='Bool')", "function f: unknown type of values 'Bool'"),
    ("@function('Object', output='ObjctSet')", "function f: unknown type 'ObjctSet'; did you mean 'ObjectSet'?"),
]


def test_all_misfits_are_told_of_at_once_at_their_lines(tmp_path: Path) -> None:
    lines = [f"{decorator}\n{FUNCTION.replace('f(', f'f{i}(')}" for i, (decorator, _) in enumerate(MISFITS)]
    path = write(tmp_path, HEAD + "".join(lines))
    plugins = load_plugins([path])

    with pytest.raises(BadInput) as raised:
        Catalogue(CLEVR, plugins)

    told = [(problem.line, problem.message) for problem in raised.value.problems]
    for i, (_, message) in enumerate(MISFITS):
        expected = message.replace("function f:", f"function f{i}:")
        assert any(line == 3 + 3 * i and expected in text for line, text in told), message
    assert {problem.source for problem in raised.value.problems} == {path}


def test_an_alias_of_another_plugin_function_is_taken(tmp_path: Path) -> None:
    """Which of the two would be meant?"""
    text = f"{HEAD}@function('Object', output='Bool', aliases=['g'])\n{FUNCTION}@function('Object', output='Bool')\n"
    plugins = load_plugins([write(tmp_path, text + FUNCTION.replace("f(", "g("))])

    with pytest.raises(BadInput, match=r"mine.py:6:1: function g has the name of f\(Object\) -> Bool in .*mine.py"):
        Catalogue(CLEVR, plugins)


def test_a_role_of_a_constraint_rules_out_an_answer(tmp_path: Path) -> None:
    """Under whatever name, what demands that two numbers differ leaves "no" to the question whether they are equal."""
    text = HEAD + "@constraint('OUT_APART', NODE, NODE, role='different')\n" + FUNCTION
    catalogue = Catalogue(CLEVR, load_plugins([write(tmp_path, text)]))
    nodes = "scene, filter_count 0 <C>, scene, filter_count 2 <C2>, equal_integer 1 3"
    record = {"text": ["?"], **template(nodes, {"<C>": "Color", "<C2>": "Color"}, "OUT_APART 3 1")}

    (made,), _ = read_templates(record, "", catalogue, "mine.json", 0)

    assert ruled_out_answers(made) == {0: True}


# What goes wrong while it runs ------------------------------------------------------------------------------------

RESULTS: list[tuple[str, str, str, int]] = [
    ("ObjectSet", "1 / 0", "plug-in: function f failed: ZeroDivisionError: division by zero", 5),
    ("ObjectSet", "[0, 1]", "it gives ObjectSet, of the type int, but gave [0, 1]", 3),
    ("Integer", "True", "it gives Integer, of the type int, but gave True", 3),
    ("Bool", "1", "it gives Bool, of the type bool, but gave 1", 3),
    ("PartSet", "None", "it gives PartSet, but gave None; where there is no result, raise Undefined", 3),
]


def function_giving(folder: Path, output: str, result: str) -> Any:
    path = write(
        folder, f"{HEAD}@function('ObjectSet', output='{output}')\ndef f(scene, objects):\n    return {result}\n"
    )
    return Catalogue(CLEVR, load_plugins([path]))["f"]


def test_a_function_that_fails_is_told_of_by_the_last_line_of_its_file(tmp_path: Path) -> None:
    """Or by its declaration, if its result is wrong."""
    for output, result, message, line in RESULTS:
        with pytest.raises(VqagenError) as raised:
            function_giving(tmp_path, output, result).run(SCENE, 0b111)

        assert message in str(raised.value)
        assert str(raised.value).startswith(f"{tmp_path / 'mine.py'}:{line}:"), result
    assert function_giving(tmp_path, "PartSet", "('leg',)").run(SCENE, 0b111) == ("leg",)


FAILING: dict[str, tuple[str, Any]] = {
    "attribute Side": ("@attribute('Side', values=['a'])\ndef f(thing, scene):\n    return thing['x']\n",
                       lambda d: d.attributes["Side"].compute({}, {})),
    "relation near": ("@relation('near')\ndef f(thing, anchor, scene):\n    return thing['x']\n",
                      lambda d: d.relations["near"].holds({}, {}, {})),
    "constraint C": ("@constraint('C', NODE)\ndef f(output):\n    return {}['x']\n",
                     lambda d: d.constraints["C"].holds(1)),
    "function most_{name} of Size": ("@attribute_function('most_{name}', output='Bool')\ndef f(attribute):\n"
                           "    def run(scene): return {}['x']\n    return run\n",
                           lambda d: Catalogue(CLEVR, d)["most_size"].run(SCENE)),
    "function most_{name}": ("@attribute_function('most_{name}', output='Bool')\ndef f(attribute):\n    {}['x']\n",
                             lambda d: Catalogue(CLEVR, d)),
}  # fmt: skip


def test_anything_else_that_fails_is_told_of_so_too(tmp_path: Path) -> None:
    for what, (text, use) in FAILING.items():
        declared: Declarations = load_plugins([write(tmp_path, HEAD + text)])

        with pytest.raises(BadInput, match=rf"mine.py:5:\d+: plug-in: {re.escape(what)} failed: KeyError: 'x'"):
            use(declared)


def test_functions_of_vqagen_have_no_guard() -> None:
    """They are called as they are."""
    assert Catalogue(CLEVR)["count"].run is BUILT_IN.functions["count"].run
    assert not hasattr(BUILT_IN.functions["count"].run, "__wrapped__")


def test_a_constraint_protects_a_function_of_a_plugin_that_comes_after_it(tmp_path: Path) -> None:
    """Nothing is computed from a result that a constraint refuses: here nobody divides by zero."""
    text = (
        "from vqagen.plugin import function\n"
        "@function('Integer', output='Integer')\ndef share(scene, number):\n    return 12 // number\n"
    )
    catalogue = Catalogue(CLEVR, load_plugins([write(tmp_path, text)]))
    nodes = "scene, filter_unique 0 <C>, same_size 1, count 2, share 3"
    raw = {"text": ["How many?"], **template(nodes, {"<C>": "Color"}, "OUT_GT_CONST 3 0")}
    (read,), faults = read_templates(raw, "", catalogue, "made.json", 0)
    things = ("large red metal cube", "small blue metal cube", "small gray metal cube")
    record = scene_record(things, [1, 0, 2], [0, 1, 2])
    search = Search(make_plan(read, Vocabularies(CLEVR), Sampling()), "none", keeps_trivial=True)
    found: list[Filling] = []

    search.find_all(SceneTables(compile_scene(record, CLEVR)), Random(1), found.append, Balance(), 99)

    assert not faults and [filling.answer for filling in found] == [12, 12]
    assert search.examine(SceneTables(compile_scene(record, CLEVR)), Random(1), 99).finished[FOUND] == 2


@pytest.mark.parametrize("kind", ["constraint", "relation"])
def test_a_condition_may_give_any_value_that_is_true_or_false(tmp_path: Path, kind: str) -> None:
    """A constraint that gave numpy's bool, or a list, ended the compiled build with a traceback: it demands a bool."""
    declared = {"constraint": "@constraint('C', NODE, NODE)", "relation": "@relation('r')"}[kind]
    text = f"from vqagen.plugin import NODE, constraint, relation\n{declared}\ndef c(left, right, *more):\n"
    declarations = load_plugins([write(tmp_path, text + "    return [left] * right\n")])
    holds = declarations.constraints["C"].holds if kind == "constraint" else declarations.relations["r"].holds

    assert [holds(7, 2), holds(7, 0)] == [True, False]


EITHER = """
from vqagen.plugin import function

@function('ObjectSet', values=['Color', 'Size'], output='ObjectSet')
def either(scene, objects, color, size):
    return objects & (scene.having['color'][color] | scene.having['size'][size])
"""


@pytest.mark.parametrize("color", ["<C>", "red"])
def test_a_node_of_a_plugin_may_take_two_words(color: str, tmp_path: Path) -> None:
    """Two slots, or a slot beside a word."""
    catalogue = Catalogue(CLEVR, load_plugins([write(tmp_path, EITHER)]))
    slots = {"<C>": "Color", "<Z>": "Size"} if color == "<C>" else {"<Z>": "Size"}
    raw = {"text": ["How many?"], **template(f"scene, either 0 {color} <Z>, count 1", slots)}
    (read,), faults = read_templates(raw, "", catalogue, "made.json", 0)
    search, seen = Search(make_plan(read, Vocabularies(CLEVR), Sampling()), "none"), set[Any]()

    assert not faults
    while (filling := search.find(SceneTables(SCENE), Random(len(seen)), Balance(), seen, 1000).filling) is not None:
        words = filling.words()
        objects = SCENE.having["color"][words.get("<C>") or "red"] | SCENE.having["size"][words["<Z>"] or ""]
        assert words.keys() == slots.keys()
        assert filling.answer == filling.program().run(SCENE) == objects.bit_count()
    assert len(seen) == (16 if color == "<C>" else 2)
