"""The README's examples: found, run in one folder in the order they stand, and compared with what is printed there.

A ```console block holds commands (`$ `, continued by `> `) and what they print on both streams. A ```python block is
run; a ```text block right behind it is what it prints.

Run as a script, this file writes the real output into the README.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
_BLOCK = re.compile(r"^```(console|python)\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """Something to run, and what the README says that it prints."""

    kind: str
    code: str
    printed: str

    def __str__(self) -> str:
        return self.code.split("\n")[0][:60]


def examples() -> list[Example]:
    """All examples of the README, in order."""
    return [example for match in _BLOCK.finditer(README.read_text("utf-8")) for example in _examples_of(match)]


def _examples_of(match: re.Match[str]) -> Iterator[Example]:
    kind, body, printed = match.groups()
    if kind == "python":
        yield Example(kind, body, printed or "")
        return
    for command, output in re.findall(r"^\$ (.*\n(?:> ?.*\n)*)((?:(?!\$ ).*\n)*)", body, re.MULTILINE):
        yield Example(kind, re.sub(r"^> ?", "", command, flags=re.MULTILINE), output)


def run(example: Example, folder: Path, programs: Path) -> str:
    """What the example prints, run in `folder` with `programs` first on the path."""
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", example.code] if example.kind == "python" else ["bash", "-c", example.code]
    done = subprocess.run(command, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    output = done.stdout.decode()
    assert done.returncode == 0, output
    return output


def make_programs(folder: Path) -> Path:
    """A folder with `vqagen` and `python`, as an environment has them."""
    folder.mkdir()
    for name, arguments in (("vqagen", " -c 'from vqagen.cli import main; main()'"), ("python", "")):
        program = folder / name
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}"{arguments} "$@"\n')
        program.chmod(0o755)
    return folder


def _with_real_output(folder: Path) -> str:
    programs = make_programs(folder / "programs")

    def filled(match: re.Match[str]) -> str:
        lines = []
        for example in _examples_of(match):
            output = run(example, folder, programs)
            if example.kind == "python":
                return f"```python\n{example.code}```\n\n```text\n{output}```\n"
            first, *rest = example.code.removesuffix("\n").split("\n")
            lines += [f"$ {first}\n", *(f"> {line}\n" if line else ">\n" for line in rest), output]
        return f"```console\n{''.join(lines)}```\n"

    return _BLOCK.sub(filled, README.read_text("utf-8"))


if __name__ == "__main__":
    import tempfile

    with tempfile.TemporaryDirectory() as scratch:
        README.write_text(_with_real_output(Path(scratch)), "utf-8")
