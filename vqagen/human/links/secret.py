"""The secret of a study: the keys that sign links, sessions and codes, and that hide who a rater is.

`secret` in the study's folder has one key a line, 64 hexadecimal digits each. The first key never changes while a study
runs: pseudonyms, completion codes, sessions and tickets come from it. The last one signs the links that are made now,
and each one verifies links. To retire a key, delete its line: the links that it signed are then refused.
A single key, as there may be in the environment, does all.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.output import settle

SECRET_VARIABLE = "VQAGEN_STUDY_SECRET"
"""The environment variable that replaces the file: keys of at least 32 characters, separated by commas."""
SECRET_FILE = "secret"
SHORTEST = 32
"""Characters of a key in the environment."""


@dataclass(frozen=True)
class Secret:
    """Keys in order, at least one."""

    keys: Sequence[bytes]

    def mac(self, purpose: str, text: str) -> bytes:
        """Return 128 bits of the first key that only its owner can make. Texts of two purposes have different ones."""
        return hmac.digest(self.keys[0], f"{purpose}\n{text}".encode(), "sha256")[:16]


def has_secret(folder: Path) -> bool:
    """True if the secret of a study is in the environment or its file."""
    return SECRET_VARIABLE in os.environ or (folder / SECRET_FILE).exists()


def load_secret(folder: Path, missing: str = "") -> Secret:
    """Return the secret of a study from the environment or its file.

    If there is none, make the file, or raise BadInput if `missing` says what cannot be done without the old one.
    """
    given = os.environ.get(SECRET_VARIABLE)
    if given is not None:
        keys = [each.strip() for each in given.split(",")]
        if min(map(len, keys)) < SHORTEST:
            raise UsageError(f"{SECRET_VARIABLE} needs keys of at least {SHORTEST} characters, separated by commas")
        return Secret([key.encode() for key in keys])
    path = folder / SECRET_FILE
    if not path.exists():
        if missing:
            raise BadInput([Problem(f"the secret is missing: {missing}", str(path))])
        with suppress(FileExistsError):  # another process has made its own meanwhile: links may be signed with it
            _write(path, [secrets.token_hex(32) for _ in range(2)], os.link)
    return Secret([bytes.fromhex(line) for line in _lines(path)])


def add_key(folder: Path) -> None:
    """Add a key, which signs all links that are made from now on."""
    if SECRET_VARIABLE in os.environ:
        raise UsageError(f"the keys are in {SECRET_VARIABLE}; append a new one there, after a comma")
    load_secret(folder)
    _write(folder / SECRET_FILE, [*_lines(folder / SECRET_FILE), secrets.token_hex(32)], os.replace)


def _lines(path: Path) -> list[str]:
    if path.stat().st_mode & 0o077:
        raise BadInput([Problem(f"others can read the secret; run: chmod 600 {path}", str(path))])
    lines = path.read_text("latin-1").split()
    problems = [
        Problem(f"expected 64 hexadecimal digits in line {number}; to retire a key, delete its line", str(path))
        for number, line in enumerate(lines, 1)
        if not re.fullmatch(r"[0-9a-f]{64}", line)
    ]
    if problems or not lines:
        raise BadInput(problems or [Problem("is empty; delete it, and a new one is made", str(path))])
    return lines


def _write(path: Path, lines: Sequence[str], give_name: Callable[[str, Path], object]) -> None:
    """Write the keys so that nobody else can ever read the file, and half of it never has its name."""
    with tempfile.TemporaryDirectory(".part", f".{path.name}.", dir=path.parent) as folder:  # for its owner
        with open(f"{folder}/{path.name}", "w", opener=partial(os.open, mode=0o600)) as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        give_name(file.name, path)
    settle(path.parent)
