"""The revocation list: `revoked.txt` in the study's folder, one token or whole link a line, `#` for remarks."""

from __future__ import annotations

from pathlib import Path

REVOKED_FILE = "revoked.txt"


def is_revoked(token: str, folder: Path) -> bool:
    """True if a token is revoked. The file is read each time, so that a link is revoked while the study is served."""
    try:
        return token in revoked_tokens((folder / REVOKED_FILE).read_text("utf-8", errors="replace"))
    except FileNotFoundError:
        return False


def revoked_tokens(text: str) -> list[str]:
    """Return the tokens of a revocation list.

    >>> revoked_tokens("abc\\n# a remark\\nhttps://study.example/s/def?id=7  # who left\\n\\n")
    ['abc', 'def']
    """
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line.partition("?")[0].rpartition("/")[2] for line in lines if line]
