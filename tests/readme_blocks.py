"""The examples of the documentation: found, run in the order they stand, and compared with what is printed there.

Each page runs in an empty folder. A ```console block holds commands (`$ `, continued by `> `) and what they print on
both streams. A ```python block is run; a ```text block right behind it is what it prints.

Run as a script, this file writes the real output into all pages, or into those that are given.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from vqagen.cli import run as run_command

ROOT = Path(__file__).parents[1]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "vqagen" / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
)
_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
_VQAGEN = re.compile(r"vqagen((?: [\w./#=-]+)+?)( 2>&1)?( \|\|? .*)?\n")
_PROGRESS = re.compile(r"^vqagen: .* \w+s/s\b.*\n", re.MULTILINE)
"""A line of progress, which a slow machine prints every 30 seconds."""


@dataclass(frozen=True)
class Example:
    """Code to run, and what the page says that it prints."""

    page: Path
    kind: str
    code: str
    printed: str

    @property
    def needs_process(self) -> bool:
        """True for all but Python and a line of `vqagen` with plain words, whatever is behind its first `|` or `||`."""
        return self.kind != "python" and not _VQAGEN.fullmatch(self.code)

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
    return _PROGRESS.sub("", output)


def run_here(example: Example, folder: Path) -> str:
    """Return what the example prints when its Python, or its `vqagen`, runs in this process."""
    if example.kind == "python":
        with _streams(folder, is_joined=True) as (printed, _), warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)  # a page may open a file without closing it
            exec(compile(example.code, str(example.page), "exec"), {"__name__": "__main__"})
        return _PROGRESS.sub("", printed.getvalue().decode())
    words, joined, rest = _VQAGEN.fullmatch(example.code).groups()
    with _streams(folder, is_joined=bool(joined or not rest)) as (out, err):
        code = run_command(words.split())
    output, errors = (_PROGRESS.sub("", stream.getvalue().decode()) for stream in (out, err))
    if rest:
        return errors + _piped(output, code, rest, folder)
    assert code == 0, output
    return output


@contextlib.contextmanager
def _streams(folder: Path, is_joined: bool) -> Iterator[tuple[io.BytesIO, io.BytesIO]]:
    """Work in a folder, and catch both streams: each in its own buffer, or both in the first one if they are joined."""
    out, err = io.BytesIO(), io.BytesIO()
    output = io.TextIOWrapper(out, "utf-8", write_through=True)
    errors = output if is_joined else io.TextIOWrapper(err, "utf-8", write_through=True)
    with contextlib.chdir(folder), contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        yield out, err
    for stream in {output, errors}:  # or each closes its buffer when it goes
        stream.detach()


def _piped(output: str, code: int, rest: str, folder: Path) -> str:
    """Return what a shell prints for a command with this output and exit code, and the `rest` of its line."""
    command = ["bash", "-c", f"(cat; exit {code}){rest}"]
    done = subprocess.run(command, cwd=folder, input=output.encode(), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode()


def make_programs(folder: Path) -> Path:
    """Make a folder with `vqagen` and `python`, as an environment has them."""
    folder.mkdir()
    for name, arguments in (("vqagen", " -c 'from vqagen.cli import main; main()'"), ("python", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        program.chmod(0o755)
    return folder


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


if __name__ == "__main__":
    for given in [Path(each).resolve() for each in sys.argv[1:]] or PAGES:
        with tempfile.TemporaryDirectory() as scratch:
            text = _with_real_output(given, Path(scratch))
        given.write_text(text, "utf-8")
