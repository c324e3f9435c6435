"""The secret of a study: the keys that sign links, sessions and codes, and that hide who a rater is.

`secret` in the study's folder has one key a line, 64 hexadecimal digits each. The first key never changes while a study
runs: pseudonyms, completion codes and sessions come from it. The others sign links: the last one those that are made
now, and each one verifies those that name its number. A line `-` is a retired key, all of whose links are refused.
A single key, as there may be in the environment, does both, and cannot be retired.
"""

from __future__ import annotations

import base64
import hmac
import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from vqagen.errors import BadInput, PlaceError, Problem, UsageError
from vqagen.files.output import settle

SECRET_VARIABLE = "VQAGEN_STUDY_SECRET"
"""The environment variable that replaces the file: keys of at least 32 characters, separated by commas."""
SECRET_FILE = "secret"
SHORTEST = 32
"""Characters of a key in the environment."""
MAC_BYTES = 16
"""128 bits."""
_KEY = re.compile(r"[0-9a-f]{64}")
_RETIRED = "-"


class Secret:
    """Keys in order; a retired one is None. The first and the last are always there."""

    def __init__(self, keys: Sequence[bytes | None]) -> None:
        assert keys[0] is not None and keys[-1] is not None
        self.keys = tuple(keys)
        self._first: bytes = keys[0]

    @property
    def newest(self) -> int:
        """The number of the key that signs links. The first of all keys has the number 0."""
        return len(self.keys) - 1

    def link_mac(self, number: int, text: str) -> bytes | None:
        """Return the code of a link by the key with this number; None if there is no such key or it is retired."""
        key = self.keys[number] if 0 <= number <= self.newest else None
        return None if key is None else mac(key, "link", text)

    def mac(self, purpose: str, text: str) -> bytes:
        """Return 128 bits that only the owner of the secret can make. Texts of two purposes have different ones."""
        return mac(self._first, purpose, text)


def mac(key: bytes, purpose: str, text: str) -> bytes:
    """Return the first 128 bits of HMAC-SHA256."""
    return hmac.digest(key, f"{purpose}\n{text}".encode(), "sha256")[:MAC_BYTES]


def url_text(content: bytes) -> str:
    """Return bytes as base64url without padding."""
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def signed_bytes(text: str) -> tuple[str, bytes] | None:
    """Return the ASCII text and the MAC in base64url; None for what nobody signed.

    Several base64 texts can mean the same bytes. The caller compares the whole text with the one it makes itself.
    """
    try:
        content = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        return content[:-MAC_BYTES].decode("ascii"), content[-MAC_BYTES:]
    except ValueError:
        return None


def has_secret(folder: Path) -> bool:
    """True if the secret of a study is in the environment or its file."""
    return SECRET_VARIABLE in os.environ or (folder / SECRET_FILE).exists()


def load_secret(folder: Path, missing: str = "") -> Secret:
    """Return the secret of a study from the environment or its file.

    If there is none, make the file, or raise BadInput if `missing` says what cannot be done without the old one.
    """
    given = os.environ.get(SECRET_VARIABLE)
    if given is not None:
        return Secret(_keys_of_environment(given))
    path = folder / SECRET_FILE
    if not path.exists():
        if missing:
            raise BadInput([Problem(f"the secret is missing: {missing}", str(path))])
        _write(path, [secrets.token_hex(32) for _ in range(2)], is_first=True)
    return Secret([None if line == _RETIRED else bytes.fromhex(line) for line in _lines(path)])


def add_key(folder: Path) -> int:
    """Add a key, which signs all links that are made from now on, and return its number."""
    if SECRET_VARIABLE in os.environ:
        raise UsageError(f"the keys are in {SECRET_VARIABLE}; append a new one there, after a comma")
    load_secret(folder)
    path = folder / SECRET_FILE
    lines = [*_lines(path), secrets.token_hex(32)]
    _write(path, lines)
    return len(lines) - 1


def _keys_of_environment(given: str) -> list[bytes | None]:
    keys = [each.strip() for each in given.split(",")]
    if any(len(each) < SHORTEST and each != _RETIRED for each in keys) or _RETIRED in (keys[0], keys[-1]):
        message = f"needs keys of at least {SHORTEST} characters, separated by commas"
        raise UsageError(f"{SECRET_VARIABLE} {message}; '-' between others is a retired key")
    return [None if each == _RETIRED else each.encode() for each in keys]


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_mode & 0o077:
            raise BadInput([Problem(f"others can read the secret; run: chmod 600 {path}", str(path))])
        lines = path.read_text("ascii").split()
    except OSError as error:
        raise PlaceError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        lines = [""]
    problems = [
        Problem(f"expected 64 hexadecimal digits, or '-' between other keys, in line {number}", str(path))
        for number, line in enumerate(lines, 1)
        if not (_KEY.fullmatch(line) or (line == _RETIRED and 1 < number < len(lines)))
    ]
    if problems or not lines:
        raise BadInput(problems or [Problem("is empty; delete it, and a new one is made", str(path))])
    return lines


def _write(path: Path, lines: Sequence[str], *, is_first: bool = False) -> None:
    """Write the keys so that nobody else can ever read the file, and half of it never has its name.

    The first keys stay if another process has written its own meanwhile: links may be signed with them.
    """
    beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(handle, "w", encoding="ascii") as file:
                file.write("".join(f"{line}\n" for line in lines))
                file.flush()
                os.fsync(file.fileno())
            if is_first:
                with suppress(FileExistsError):
                    os.link(beside, path)
            else:
                os.replace(beside, path)
        finally:
            beside.unlink(missing_ok=True)
        settle(path.parent)
    except OSError as error:
        raise PlaceError(f"cannot write {path}: {error.strerror}") from None
