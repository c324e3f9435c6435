"""The compiled build: which modules it compiles, what they may not contain, and what stops it."""

from __future__ import annotations

import ast
import os
import sysconfig
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from scripts.mypyc_hook import compile_files, compiled_files, find_problems

ROOT = Path(__file__).parents[2]
HOOK = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"][
    "hooks"
]
CONFIG = HOOK["custom"]
COMPILED = compiled_files(ROOT, CONFIG)
SUFFIX = sysconfig.get_config_var("EXT_SUFFIX")
DERIVABLE = {"Exception", "NamedTuple", "Protocol", "dict"}
NOT_CACHED = {"cached_property", "lru_cache", "cache"}


@cache
def trees() -> tuple[ast.Module, ...]:
    """The compiled modules."""
    return tuple(ast.parse((ROOT / file).read_text("utf-8")) for file in COMPILED)


@cache
def class_names() -> set[str]:
    return {each.name for tree in trees() for each in ast.walk(tree) if isinstance(each, ast.ClassDef)}


def cached_methods(tree: ast.Module) -> Iterator[str]:
    """Methods that Python would call once, and a class of a compiled module each time."""
    for each in ast.walk(tree):
        for method in each.body if isinstance(each, ast.ClassDef) else ():
            for decorator in method.decorator_list if isinstance(method, ast.FunctionDef) else ():
                names = {node.id for node in ast.walk(decorator) if isinstance(node, ast.Name)}
                names |= {node.attr for node in ast.walk(decorator) if isinstance(node, ast.Attribute)}
                if names & NOT_CACHED:
                    yield f"{each.name}.{method.name}"


def test_no_method_of_a_compiled_class_is_cached() -> None:
    """mypyc ignores `cached_property`: `Description.openness` was computed for each draw so, and the build slower."""
    assert [each for tree in trees() for each in cached_methods(tree)] == []


def foreign_bases(tree: ast.Module) -> Iterator[str]:
    """Classes that others derive from, other than those of compiled modules and the few that mypyc knows."""
    for each in ast.walk(tree):
        for base in each.bases if isinstance(each, ast.ClassDef) else ():
            name = base.value if isinstance(base, ast.Subscript) else base
            if not isinstance(name, ast.Name) or name.id not in class_names() | DERIVABLE:
                yield f"{each.name}({ast.unparse(base)})"


def test_no_compiled_class_derives_from_a_foreign_one() -> None:
    """One that derived from `random.Random` ended the process with a segmentation fault."""
    assert [each for tree in trees() for each in foreign_bases(tree)] == []


@pytest.mark.parametrize("pattern", [*CONFIG["modules"], *CONFIG["interpreted"]])
def test_no_entry_of_the_list_is_stale(pattern: str) -> None:
    """A renamed module is not left out of the build without notice, nor an exception kept for nothing."""
    assert [*ROOT.glob(pattern)]


@pytest.mark.skipif(os.environ.get("VQAGEN_TESTS_COMPILED") != "1", reason="scripts/test --compiled runs this")
def test_the_tests_run_on_compiled_modules() -> None:
    """The sources beside the tests do not stand in for the build."""
    modules = [import_module(file.removesuffix(".py").replace("/", ".")) for file in COMPILED]

    assert [each.__name__ for each in modules if not str(each.__file__).endswith(SUFFIX)] == []


def test_no_compiled_module_lies_beside_its_source() -> None:
    """It would be run in place of the source, whatever is edited there."""
    assert [*(ROOT / "vqagen").rglob("*" + SUFFIX)] == []


@pytest.mark.slow
def test_an_editable_installation_is_not_compiled() -> None:
    (problem,) = find_problems("editable")

    assert "editable" in problem


@pytest.mark.slow
def test_a_missing_compiler_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """With what to do, in place of a traceback of setuptools."""
    monkeypatch.setenv("CC", "no-such-compiler -O2")

    assert any("no-such-compiler is missing; run: " in problem for problem in find_problems("standard"))


@pytest.mark.slow
def test_a_compiler_that_fails_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A traceback of setuptools followed the messages of a compiler that did not work."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CC", "false")
    Path("small.py").write_text("NUMBER: int = 1\n")

    (problem,) = compile_files(["small.py"], tmp_path / "built")

    assert "the C compiler failed" in problem and "false' failed" in problem
