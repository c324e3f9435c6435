"""The house rules, read off the source: folder order is dependency order, and code stays small and seeded."""

from __future__ import annotations

import ast
import graphlib
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "vqagen"
SOURCES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 400
LONGEST_FUNCTION = 60

LAYERS = (
    ("errors", "frozen", "bits", "rng", "extras", "files", "plugin"),
    ("report",),
    ("world",),
    ("language",),
    ("search", "pictures", "items"),
    ("tasks",),
    ("run",),
    ("authoring", "score", "shortcuts", "human", "dataset"),
    ("inspect_tasks", "rewards", "environments", "export", "show", "api", "__init__"),
    ("cli", "__main__"),
)
"""Lowest first. A part imports from lower layers, and from its own layer as long as no two parts need each other."""

KEPT_APART = {
    ("score", "search"): "scoring reads records",
    ("shortcuts", "search"): "shortcuts are found in records",
    ("score", "shortcuts"): "a shortcut is measured with what scores; the floor is handed to an evaluation",
    ("search", "pictures"): "neither needs the other",
    ("pictures", "search"): "neither needs the other",
    ("cli", "api"): "a command loads what it calls: all of the API takes three times as long to load",
}
"""(importer, imported) that the layers alone would allow."""

ONLY_FROM = {"human": ("human", "cli", "api")}
"""Part -> those that alone import it."""

SEVERAL_MEANINGS = frozenset(
    [
        "Column",
        "Vocabulary",
    ]
)
"""Names that types in several files have. The list only shrinks."""

OF_ONE_TASK = frozenset({"vqagen.tasks.dialog", "vqagen.tasks.director", "vqagen.tasks.questions"})
MAY_NAME_A_TASK = {
    "run/making.py": "the typed calls, each of which loads its own task",
    "authoring/check/checking.py": "checks instructions of trials",
    "authoring/check/template_rules.py": "checks templates of dialogs",
    "authoring/explanation.py": "explains how a question is made",
    "authoring/item_catalogue.py": "edits and shows items of trials",
    "dataset/build.py": "settings of the questions and dialogs of a dataset",
    "dataset/holdout.py": "chooses templates of questions",
    "environments/director.py": "makes trials without end",
    "environments/endless.py": "makes questions without end",
    "export/examples.py": "to go by the contract's foreign formats",
    "human/demo.py": "makes a study of each kind of records",
    "human/items.py": "shows the cells of trials",
    "inspect_tasks/scoring.py": "scores trials",
    "inspect_tasks/tasks.py": "makes trials",
    "inspect_tasks/trials.py": "shows trials",
    "show/entries.py": "shows trials",
}
"""A file outside of `tasks`, `cli` and `api` that knows one task by nature, and why. The list only shrinks."""

CIRCLES: frozenset[str] = frozenset()
"""Files that need each other, named by the first. The set only shrinks."""

LEVEL = {part: level for level, parts in enumerate(LAYERS) for part in parts}


def part_of(module: str) -> str:
    """The part of the house that a dotted name lies in: `vqagen.world.scene.Scene` is in `world`."""
    inside = module.split(".")[1:]
    return inside[0] if inside and inside[0] in LEVEL else "__init__"


def imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[str]:
    """Dotted names of everything imported anywhere in a module that lies in `package`, in functions too."""
    for node in statements(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else ()
            base = ".".join((*above, *filter(None, [node.module])))
            yield from (f"{base}.{alias.name}" for alias in node.names)


def own_imports(tree: ast.Module, package: tuple[str, ...]) -> Iterator[str]:
    """Those of the `imports` that are vqagen's own. The version is a plain fact that every part may read."""
    for name in imports(tree, package):
        if name.split(".")[0] == "vqagen" and name != "vqagen.__version__":
            yield name


def why_wrong(importer: str, imported: str) -> str | None:
    """The rule that an import breaks, or None."""
    if LEVEL[imported] > LEVEL[importer]:
        return f"{imported} stands above {importer}"
    if importer not in ONLY_FROM.get(imported, (importer,)):
        return f"{imported} is for {', '.join(ONLY_FROM[imported])} alone"
    return KEPT_APART.get((importer, imported))


@cache
def statements(tree: ast.Module) -> tuple[ast.AST, ...]:
    """All statements of a module, and the handlers and cases of some: most rules look at no other nodes."""
    found: list[ast.AST] = [tree]
    for node in found:  # it grows while it is walked
        for field in ("body", "orelse", "handlers", "finalbody", "cases"):
            inner = getattr(node, field, ())
            found += inner if isinstance(inner, list) else ()
    return tuple(found)


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def arrows() -> Iterator[tuple[Path, str, str]]:
    """(file, its part, dotted name it imports) for all imports inside the package."""
    for path in SOURCES:
        relative = path.relative_to(ROOT)
        importer = part_of(".".join(relative.with_suffix("").parts))
        for name in own_imports(parsed(path), relative.parent.parts):
            yield relative, importer, name


def global_random(tree: ast.Module) -> Iterator[int]:
    """Lines that draw from the random module itself; a stream from `vqagen.rng` is the way."""
    modules = {
        alias.asname or alias.name
        for node in statements(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name == "random"
    }
    for node in ast.walk(tree) if modules else statements(tree):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name))) if name in modules:
                yield node.lineno
            case ast.ImportFrom(module="random", names=names) if any(alias.name != "Random" for alias in names):
                yield node.lineno


def bare_except(tree: ast.Module) -> Iterator[int]:
    for node in statements(tree):
        if isinstance(node, ast.ExceptHandler) and node.type is None:
            yield node.lineno


def long_function(tree: ast.Module) -> Iterator[int]:
    for node in statements(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _length(node) > LONGEST_FUNCTION:
            yield node.lineno


def _length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


HOUSE_RULES: dict[Callable[[ast.Module], Iterator[int]], tuple[str, ...]] = {
    global_random: (
        "import random\nrandom.random()",
        "import random as dice\ndef roll():\n    return dice.Random()",
        "from random import Random, choice",
    ),
    bare_except: ("try:\n    1\nexcept:\n    2",),
    long_function: ("def f():\n" + "    1\n" * LONGEST_FUNCTION,),
}
"""Each rule, and sources that break it."""


def test_every_part_has_its_place_in_the_order() -> None:
    """A new top-level file or folder of the package is entered in LAYERS."""
    parts = {path.relative_to(PACKAGE).with_suffix("").parts[0] for path in SOURCES}

    assert parts - set(LEVEL) == set()


def test_imports_point_down() -> None:
    """No file imports from a layer above its own, nor from a part it is kept apart from."""
    wrong = [
        f"{path} imports {name}: {why}"
        for path, importer, name in arrows()
        if (why := why_wrong(importer, part_of(name))) is not None
    ]

    assert not wrong, "\n".join(wrong)


def test_no_two_parts_need_each_other() -> None:
    """Parts of one layer may use each other in one direction only."""
    needs: dict[str, set[str]] = {}
    for _, importer, name in arrows():
        needs.setdefault(importer, set()).add(part_of(name))

    order = graphlib.TopologicalSorter({part: needed - {part} for part, needed in needs.items()}).static_order()
    assert set(order) >= set(needs), "a circle is a CycleError"


def test_only_some_files_know_a_task() -> None:
    """Whoever works on any records asks their task, found in `TASKS`, by the contract."""
    known = {
        path.relative_to("vqagen").as_posix()
        for path, importer, name in arrows()
        if importer not in ("tasks", "cli", "api") and ".".join(name.split(".")[:3]) in OF_ONE_TASK
    }

    assert known == set(MAY_NAME_A_TASK)


def test_no_file_needs_itself() -> None:
    """Imports in functions and for types count too: of two files, one can be read before the other."""
    modules = {module_of(path.relative_to(ROOT)) for path in SOURCES}
    needs: dict[str, set[str]] = {module: set() for module in modules}
    for path, _, name in arrows():
        needed = name if name in modules else name.rpartition(".")[0]
        if needed in modules and needed != module_of(path):
            needs[module_of(path)].add(needed)

    assert set(circles(needs)) == CIRCLES


def module_of(path: Path) -> str:
    """The dotted name of a source file: `vqagen/world/__init__.py` is `vqagen.world`."""
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def circles(needs: dict[str, set[str]]) -> Iterator[str]:
    """The first module of each group in which every one needs every other."""
    reached = {module: reachable(module, needs) for module in needs}
    for module in sorted(needs):
        group = {other for other in reached[module] if module in reached[other]}
        if len(group) > 1 and module == min(group):
            yield module


def reachable(module: str, needs: dict[str, set[str]]) -> set[str]:
    """All that a module needs, what these need, and so on."""
    found, following = set[str](), [module]
    while following:
        for needed in needs[following.pop()] - found:
            found.add(needed)
            following.append(needed)
    return found


@pytest.mark.parametrize("rule", HOUSE_RULES, ids=lambda rule: rule.__name__)
def test_house_rule_holds(rule: Callable[[ast.Module], Iterator[int]]) -> None:
    broken = [f"{path.relative_to(ROOT)}:{line}" for path in SOURCES for line in rule(parsed(path))]

    assert not broken, "\n".join(broken)


def test_files_can_be_read_in_one_sitting() -> None:
    lengths = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in SOURCES}

    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_a_type_name_has_one_meaning() -> None:
    """The list only shrinks, to 10 names. A leading underscore makes no other name of it.

    A new type whose name is taken is renamed by what it is in its room: `OutputHead`, not a second `Description`. Who
    renames or removes one of these takes its name off the list.
    """
    owners: dict[str, set[str]] = {}
    for path in SOURCES:
        for node in statements(parsed(path)):
            if isinstance(node, ast.ClassDef):
                owners.setdefault(node.name.lstrip("_"), set()).add(str(path.relative_to(ROOT)))
    repeated = {name: sorted(files) for name, files in owners.items() if len(files) > 1}

    assert {name: files for name, files in repeated.items() if name not in SEVERAL_MEANINGS} == {}, "rename the new one"
    assert SEVERAL_MEANINGS - repeated.keys() == set(), "take these off SEVERAL_MEANINGS: one type has the name now"
