"""Mutants: small faults put into the package one at a time, to see whether the quick tests notice.

`python tests/mutants.py draw 100` draws them by seed into mutants.json; `python tests/mutants.py run` puts each into a
copy of this checkout, runs the quick tests of its folder and of the files that import its module (of the nearest
importers, if no test file does so itself), and prints which survived. A mutant is found again by its function and its
source text, so lines may move.
"""

from __future__ import annotations

import ast
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LIST = ROOT / "tests" / "mutants.json"
ROOMS = (
    *("vqagen/search", "vqagen/language", "vqagen/run", "vqagen/tasks"),
    *("vqagen/score", "vqagen/shortcuts", "vqagen/human/store"),
    *("vqagen/dataset", "vqagen/environments", "vqagen/export", "vqagen/pictures"),
)
SECONDS = 400
"""A mutant that makes its tests take longer than this, as an endless loop does, counts as killed."""
BYTES = 8 << 30
"""So does one that makes them take more memory than this."""

LEFT_OUT = shutil.ignore_patterns(".venv*", "__pycache__", ".git", "quickstart", ".*_cache")

Mutant = dict[str, Any]
SWAPPED = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.In: "not in",
    ast.NotIn: "in", ast.Is: "is not", ast.IsNot: "is", ast.Add: "-", ast.Sub: "+", ast.Mult: "+", ast.FloorDiv: "*",
    ast.BitAnd: "|", ast.BitOr: "&", ast.LShift: ">>", ast.RShift: "<<",
}  # fmt: skip


def variants(node: ast.AST) -> Iterator[tuple[str, str]]:
    """Yield what may stand in place of `node`: the name of the operator and the new source text."""
    match node:
        case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in SWAPPED:
            yield "compare", f"({ast.unparse(left)} {SWAPPED[type(op)]} {ast.unparse(right)})"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in SWAPPED:
            yield "arithmetic", f"({ast.unparse(left)} {SWAPPED[type(op)]} {ast.unparse(right)})"
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield "and-or", f"({word.join(f'({ast.unparse(value)})' for value in values)})"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", f"({ast.unparse(operand)})"
        case ast.Constant(value=bool() as value):
            yield "constant", str(not value)
        case ast.Constant(value=int() as value):
            yield "constant", str(value + 1)
        case ast.If(test=test) | ast.IfExp(test=test):
            yield "condition", f"(not ({ast.unparse(test)}))"
        case ast.Expr(value=ast.Call()):
            yield "statement", "pass"
        case ast.Continue():
            yield "jump", "break"
        case ast.Break():
            yield "jump", "continue"


def candidates(path: Path) -> Iterator[tuple[Mutant, ast.AST]]:
    """Yield each mutant of a file with the node whose text it replaces."""
    tree = ast.parse(path.read_text(encoding="utf-8"))

    def walk(node: ast.AST, name: str, seen: dict[tuple[str, str, str], int]) -> Iterator[tuple[Mutant, ast.AST]]:
        for field, value in ast.iter_fields(node):
            if field in {"annotation", "returns", "decorator_list", "type_params"}:
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                    yield from walk(child, f"{name}.{child.name}".lstrip("."), seen)
                elif isinstance(child, ast.AST):
                    for operator, after in variants(child):
                        place = child.test if isinstance(child, ast.If | ast.IfExp) else child
                        key = (name, operator, ast.unparse(place))
                        seen[key] = seen.get(key, 0) + 1
                        yield (
                            {
                                "file": str(path.relative_to(ROOT)),
                                "function": name,
                                "line": place.lineno,
                                "operator": operator,
                                "before": key[2],
                                "after": after,
                                "occurrence": seen[key],
                            },
                            place,
                        )
                    yield from walk(child, name, seen)

    yield from (found for found in walk(tree, "", {}) if found[0]["function"])


def draw(count: int, without: list[str]) -> None:
    """Write a list of mutants, spread over the rooms by the places that each has; `without` are file prefixes."""
    places = [
        mutant
        for room in ROOMS
        for path in sorted((ROOT / room).rglob("*.py"))
        if not str(path.relative_to(ROOT)).startswith(tuple(without) or ("/",))
        for mutant, _ in candidates(path)
    ]
    chosen = sorted(random.Random("mutants").sample(range(len(places)), count))
    rows = ",\n".join(json.dumps(places[index]) for index in chosen)
    LIST.write_text(f"[\n{rows}\n]\n", encoding="utf-8")


def locate(mutant: Mutant) -> tuple[Path, ast.AST] | None:
    """Return the file and the node of a mutant: in its own file, or wherever the function stands now."""
    keys = ("function", "operator", "before", "after", "occurrence")
    for path in [ROOT / mutant["file"], *sorted((ROOT / "vqagen").rglob("*.py"))]:
        if path.exists() and mutant["function"].split(".")[-1] in path.read_text(encoding="utf-8"):
            for other, node in candidates(path):
                if all(other[key] == mutant[key] for key in keys):
                    return path, node
    return None


def mutated(path: Path, node: Any, after: str) -> str:
    """Return the text of a file with one node replaced."""
    lines = path.read_bytes().splitlines(keepends=True)
    start = sum(map(len, lines[: node.lineno - 1])) + node.col_offset
    end = sum(map(len, lines[: node.end_lineno - 1])) + node.end_col_offset
    text = b"".join(lines)
    return (text[:start] + after.encode() + text[end:]).decode()


def imports(path: Path) -> set[Path]:
    """Return the files of this checkout that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        for name in names:
            for base in (ROOT, ROOT / "tests", ROOT / "tests" / "helpers"):
                place = base / name.replace(".", "/")
                found |= {each for each in (place.with_suffix(".py"), place / "__init__.py") if each.exists()}
    return found - {path}


def importers() -> dict[Path, set[Path]]:
    """Return, for each file, the files that import it."""
    users: dict[Path, set[Path]] = {}
    for path in [*(ROOT / "vqagen").rglob("*.py"), *(ROOT / "tests").rglob("*.py")]:
        for used in imports(path):
            users.setdefault(used, set()).add(path)
    return users


def tests_of(path: Path, users: dict[Path, set[Path]]) -> list[str]:
    """Return the test files of a module: those of its folder, and the nearest to it by who imports whom."""
    folder = ROOT / "tests" / path.parent.relative_to(ROOT / "vqagen")
    tests, seen, near = set(folder.glob("test_*.py")), {path}, {path}
    while near:
        near = {user for each in near for user in users.get(each, ())} - seen
        seen |= near
        if nearest := {each for each in near if each.name.startswith("test_")}:
            tests |= nearest
            break
    return sorted(str(each.relative_to(ROOT)) for each in tests)


def outcome(mutant: Mutant, users: dict[Path, set[Path]]) -> str:
    """Return "killed", "survived" or why a mutant could not be tried."""
    place = locate(mutant)
    if place is None:
        return "gone"
    path, node = place
    tests = tests_of(path, users)
    if not tests:
        return "survived"
    with tempfile.TemporaryDirectory(prefix="mutant-") as folder:
        copy = Path(folder) / "checkout"
        shutil.copytree(ROOT, copy, ignore=LEFT_OUT)
        (copy / path.relative_to(ROOT)).write_text(mutated(path, node, mutant["after"]), encoding="utf-8")
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        variables = {**os.environ, "PYTHONPATH": str(copy), "PYTHONHASHSEED": "0"}
        try:
            done = subprocess.run(
                command, cwd=copy, env=variables, capture_output=True, timeout=SECONDS, preexec_fn=_limit_memory
            )
        except subprocess.TimeoutExpired:
            return "killed"
        if done.returncode > 2:
            return f"not tried: pytest ended with {done.returncode}"
        return "killed" if done.returncode else "survived"


def _limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_DATA, (BYTES, BYTES))


def run(jobs: int) -> None:
    """Try every mutant of the list; print each and the totals."""
    mutants, users = json.loads(LIST.read_text(encoding="utf-8")), importers()
    totals: dict[str, int] = {}
    with ThreadPoolExecutor(jobs) as pool:
        for mutant, result in zip(mutants, pool.map(lambda each: outcome(each, users), mutants), strict=True):
            totals[result] = totals.get(result, 0) + 1
            place = f"{mutant['file']}:{mutant['line']} {mutant['function']}"
            print(f"{result:9} {place} [{mutant['operator']}] {mutant['before']} -> {mutant['after']}", flush=True)
    print(totals)


if __name__ == "__main__":
    if sys.argv[1:2] == ["draw"]:
        draw(int(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1:2] == ["run"]:
        run(int(sys.argv[2]) if sys.argv[2:] else 1)
    else:
        sys.exit(__doc__)
