"""The revocation list: `revoked.txt` in the study's folder, one token or whole link a line, `#` for remarks."""

from __future__ import annotations

from pathlib import Path

REVOKED_FILE = "revoked.txt"


class Revoked:
    """Revoked tokens. The file is read again when it changes, so that a link is revoked while the study is served."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / REVOKED_FILE
        self._state: tuple[int, int] | None = None
        self._tokens: frozenset[str] = frozenset()

    def __contains__(self, token: str) -> bool:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            self._state, self._tokens = None, frozenset()
            return False
        state = found.st_mtime_ns, found.st_size
        if state != self._state:
            self._tokens = frozenset(revoked_tokens(self._path.read_text("utf-8", errors="replace")))
            self._state = state
        return token in self._tokens


def revoked_tokens(text: str) -> list[str]:
    """Return the tokens of a revocation list.

    >>> revoked_tokens("abc\\n# a remark\\nhttps://study.example/s/def?id=7  # who left\\n\\n")
    ['abc', 'def']
    """
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line.partition("?")[0].rpartition("/")[2] for line in lines if line]
