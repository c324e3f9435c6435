"""The examples of the documentation: found, run in the order they stand, and compared with what is printed there.

Each page runs in an empty folder. A ```console block holds commands (`$ `, continued by `> `) and what they print on
both streams. A ```python block is run; a ```text block right behind it is what it prints.

Run as a script, this file writes the real output and the flag tables into all pages, or into those that are given.
`--flags` writes only the flag tables, which takes no time.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click

from vqagen.cli import generate
from vqagen.cli import run as run_command

ROOT = Path(__file__).parents[1]
PAGES = tuple(ROOT / name for name in ("README.md", "templates/README.md", "metadata/README.md", "CONTRIBUTING.md"))
_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_FLAGS = re.compile(r"^\| flag \| meaning \|\n(?:\|.*\n)+", re.MULTILINE)


@dataclass(frozen=True)
class Example:
    """Code to run, and what the page says that it prints."""

    page: Path
    kind: str
    code: str
    printed: str

    @property
    def needs_process(self) -> bool:
        """True for all but a line of `vqagen` with plain words."""
        return not re.fullmatch(r"vqagen( [\w./#=-]+)+\n", self.code)

    def __str__(self) -> str:
        first = self.code.split("\n", 1)[0]
        return f"{self.page.relative_to(ROOT)}: {first[:60]}"


def examples() -> list[Example]:
    """Return all examples of all pages, in order."""
    return [
        example for page in PAGES for match in _BLOCK.finditer(_text(page)) for example in _examples_of(page, match)
    ]


def _text(page: Path) -> str:
    return page.read_text("utf-8")


def _examples_of(page: Path, match: re.Match[str]) -> Iterator[Example]:
    kind, body, printed = match.groups()
    if kind == "python":
        yield Example(page, kind, body, printed or "")
        return
    for command, output in re.findall(r"^\$ (.*\n(?:> ?.*\n)*)((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
        yield Example(page, kind, re.sub(r"^> ?", "", command, flags=re.MULTILINE), output)


def run(example: Example, folder: Path, programs: Path) -> str:
    """Return what the example prints, run in `folder` with `programs` first on the path."""
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", example.code] if example.kind == "python" else ["bash", "-c", example.code]
    done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = done.stdout.decode()
    assert done.returncode == 0, output
    return output


def run_here(example: Example, folder: Path) -> str:
    """Return what the example, a line of `vqagen`, prints when run in this process."""
    printed = io.BytesIO()
    stream = io.TextIOWrapper(printed, "utf-8", write_through=True)
    with contextlib.chdir(folder), contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        code = run_command(example.code.split()[1:])
    output = printed.getvalue().decode()
    assert code == 0, output
    return output


def make_programs(folder: Path) -> Path:
    """Make a folder with `vqagen` and `python`, as an environment has them."""
    folder.mkdir()
    for name, arguments in (("vqagen", " -c 'from vqagen.cli import main; main()'"), ("python", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        program.chmod(0o755)
    return folder


def flag_tables(page: Path) -> list[str]:
    """Return the flag tables of a page."""
    return _FLAGS.findall(_text(page))


def generate_flags() -> str:
    """Return the flag table of `vqagen generate`: each option as its help has it."""
    context = click.Context(generate.command)
    records = [each.get_help_record(context) for each in generate.command.params if isinstance(each, click.Option)]
    rows = [f"| `{flag}` | {meaning} |\n".replace("  [", " [") for flag, meaning in filter(None, records)]
    escaped = [re.sub(r"`[^`]*`", lambda code: code[0].replace("|", r"\|"), row) for row in rows]
    return "".join(["| flag | meaning |\n", "|---|---|\n", *escaped])


def _with_real_output(page: Path, folder: Path) -> str:
    programs = make_programs(folder / "programs")
    (folder / "work").mkdir()

    def filled(match: re.Match[str]) -> str:
        lines = []
        for example in _examples_of(page, match):
            output = run(example, folder / "work", programs)
            if example.kind == "python":
                return f"```python\n{example.code}```\n" + (f"\n```text\n{output}```\n" if output else "")
            first, *rest = example.code.removesuffix("\n").split("\n")
            lines += [f"$ {first}\n", *(f"> {line}\n" if line else ">\n" for line in rest), output]
        return f"```console\n{''.join(lines)}```\n"

    return _BLOCK.sub(filled, _text(page))


def _write(page: Path, is_run: bool) -> None:
    with tempfile.TemporaryDirectory() as scratch:
        text = _with_real_output(page, Path(scratch)) if is_run else _text(page)
    page.write_text(_FLAGS.sub(lambda _: generate_flags(), text), "utf-8")


if __name__ == "__main__":
    arguments = sys.argv[1:]
    for given in [Path(each).resolve() for each in arguments if each != "--flags"] or PAGES:
        _write(given, "--flags" not in arguments)
