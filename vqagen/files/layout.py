"""The layout of JSON that people edit: a value on one line if it fits, an object of objects as a table.

>>> print(laid_out({"kinds": {"cup": {"art": [{"ring": [0, 1]}]}, "pin": {"sizes": [1, 2]}}}), end="")
{
  "kinds": {
    "cup": {"art": [{"ring": [0, 1]}]},
    "pin": {"sizes": [1, 2]}
  }
}
"""

from __future__ import annotations

import json
from typing import Any

WIDTH = 120
"""Columns that a value fills before it is broken into lines."""
_STEP = "  "


def laid_out(document: Any) -> str:
    """Return the text of a document, with a line break at its end."""
    return _laid_out(document, "", 0) + "\n"


def _laid_out(value: Any, indent: str, used: int) -> str:
    """Return a value whose first line has `used` columns before it, besides the indentation."""
    line = json.dumps(value, ensure_ascii=False)
    if not value or not isinstance(value, dict | list):
        return line
    fits = len(indent) + used + len(line) <= WIDTH
    if not _holds_objects(value) or (fits and not _is_table(value)):
        return line
    inner = indent + _STEP
    keys = (
        [f"{json.dumps(key, ensure_ascii=False)}: " for key in value] if isinstance(value, dict) else [""] * len(value)
    )
    members = [
        f"{inner}{key}{_laid_out(each, inner, len(key))}" for key, each in zip(keys, _members(value), strict=True)
    ]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(members) + f"\n{indent}{closing}"


def _holds_objects(value: Any) -> bool:
    """True if an object is inside of an object or list; a list of points, say, is never broken into lines."""
    return isinstance(value, dict | list) and any(
        isinstance(each, dict) or _holds_objects(each) for each in _members(value)
    )


def _is_table(value: dict[str, Any] | list[Any]) -> bool:
    """True for an object of objects."""
    return isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())


def _members(value: dict[str, Any] | list[Any]) -> list[Any]:
    return list(value.values()) if isinstance(value, dict) else value
