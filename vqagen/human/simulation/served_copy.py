"""A copy of a study to rehearse with, served by a process of its own: simulated answers never mix with real ones."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from vqagen.errors import VqagenError
from vqagen.human.study.images import IMAGES_FOLDER
from vqagen.human.study.serving import SERVING_FILE
from vqagen.human.study.study import HASHED, STUDY_FILE, Study, load_study
from vqagen.human.study.texts import TEXTS_FILE

_ADDRESS = re.compile(rb"at (http\S+);")
_STOP = 20.0
"""Seconds until a server that does not stop is killed."""


def copy_study(study: Study, out: Path) -> Study:
    """Copy a study without answers, secret and store of its own, with its placeholders filled by their names."""
    out.mkdir(exist_ok=True)
    for name in (STUDY_FILE, *HASHED, TEXTS_FILE, SERVING_FILE):
        shutil.copyfile(study.folder / name, out / name)
    _set_values(out / SERVING_FILE, store="")
    shutil.copytree(study.folder / IMAGES_FOLDER, out / IMAGES_FOLDER)
    unfilled = study.texts.placeholders()
    if unfilled:
        fill_texts(out, {name: f"({name})" for name in unfilled})
    return load_study(out)


def fill_texts(folder: Path, values: dict[str, str]) -> None:
    """Write values of placeholders into the texts of a study."""
    path = folder / TEXTS_FILE
    _set_values(path, values={**orjson.loads(path.read_bytes()).get("values", {}), **values})


def _set_values(path: Path, **values: Any) -> None:
    """Change values of a JSON object in a file."""
    document = {**orjson.loads(path.read_bytes()), **values}
    path.write_bytes(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@contextmanager
def serving(folder: Path) -> Iterator[str]:
    """Serve a study on a free port of this machine, without limits for each rater; yield the address."""
    options = ("--port", "0", "--session-rate", "0", "--client-rate", "0")
    command = [sys.executable, "-m", "vqagen", "human", "serve", str(folder), *options]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
        assert process.stderr is not None
        try:
            yield _address(process.stderr)
        finally:
            stop(process)


def _address(lines: Iterable[bytes]) -> str:
    """Return the address that a server prints after its warnings. VqagenError if it ends before."""
    said = b""
    for line in lines:
        if found := _ADDRESS.search(line):
            return found[1].decode()
        said += line
    raise VqagenError(f"the server did not start: {said.decode(errors='replace').strip()}")


def stop(process: subprocess.Popen[bytes]) -> None:
    """Let a server finish what it has begun, and end."""
    process.send_signal(signal.SIGTERM)
    try:
        process.communicate(timeout=_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
