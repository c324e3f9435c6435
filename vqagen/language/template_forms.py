"""The forms that a template record may be written in, and the canonical one that they all come to.

Canonical is `{"text": […], "nodes": […], "constraints": […]}`, with `name` and `params` where they are given, and nodes
`{"type": …, "inputs": […], "side_inputs": […]}`. Other generators write `function` for `type` and `value_inputs` for
`side_inputs`. Inputs, side inputs and constraints may be missing, and a single text may stand without its list. The
constants of a constraint may stand under a key that its type names: `{"type": "COLOR_SET", "params": ["<C>"], "color":
["red", "blue"]}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from difflib import get_close_matches
from typing import Any, NamedTuple

from vqagen.errors import Fault

_TEMPLATE_KEYS = frozenset(("name", "text", "params", "nodes", "constraints", "for", "comment", "$schema"))
_NODE_KEYS = frozenset(("type", "function", "inputs", "side_inputs", "value_inputs", "comment"))
_CONSTRAINT_KEYS = ("type", "params", "comment")
_ALIASES = {"type": "function", "side_inputs": "value_inputs"}


class Form(NamedTuple):
    """A record in canonical form; paths in it and in the other fields start from the record itself."""

    record: dict[str, Any]
    renamed: dict[str, str]
    """Path in the canonical record -> path in what was written, where they differ."""

    def written_path(self, path: str) -> str:
        """Return the path, as the author wrote it, of a path in the canonical record."""
        for canonical, written in self.renamed.items():
            if path == canonical or path.startswith((f"{canonical}.", f"{canonical}[")):
                return written + path[len(canonical) :]
        return path


def canonical_form(written: Mapping[str, Any]) -> Form:
    """The canonical form of a record of the right shape."""
    renamed: dict[str, str] = {}
    text, constraints = written["text"], written.get("constraints") or []
    if isinstance(text, str):
        renamed["text[0]"] = "text"
    record = {
        **{key: written[key] for key in ("name", "params") if key in written},
        "text": [text] if isinstance(text, str) else text,
        "nodes": [_node(node, f"nodes[{i}]", renamed) for i, node in enumerate(written["nodes"])],
        "constraints": [_constraint(each, f"constraints[{i}]", renamed) for i, each in enumerate(constraints)],
    }
    return Form(record, renamed)


def _node(written: Mapping[str, Any], path: str, renamed: dict[str, str]) -> dict[str, Any]:
    node = {"type": None, "inputs": written.get("inputs", []), "side_inputs": []}
    for key, alias in _ALIASES.items():
        if key in written:
            node[key] = written[key]
        elif alias in written:
            node[key] = written[alias]
            renamed[f"{path}.{key}"] = f"{path}.{alias}"
    return node


def _constraint(written: Mapping[str, Any], path: str, renamed: dict[str, str]) -> dict[str, Any]:
    """Return the constraint with the constants of its own key appended to its params."""
    params, key = [*written["params"]], written["type"].lower().removesuffix("_set")
    if key in written and key not in _CONSTRAINT_KEYS:
        apart = written[key] if isinstance(written[key], list) else [written[key]]
        places = [
            f"{path}.{key}[{k}]" if isinstance(written[key], list) else f"{path}.{key}" for k in range(len(apart))
        ]
        renamed |= {f"{path}.params[{len(params) + k}]": place for k, place in enumerate(places)}
        params += apart
    return {"type": written["type"], "params": params}


def key_faults(written: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield keys given twice under two names, and unknown keys that are nearly a known one.

    Unknown keys are ignored, but a misspelt `constraints` would constrain nothing, and nobody would notice.
    """
    yield from _misspelt(written, ("constraints", "params"), _TEMPLATE_KEYS, "")
    for i, node in enumerate(written["nodes"]):
        path = f"nodes[{i}]"
        yield from _misspelt(node, ("inputs", "side_inputs", "value_inputs"), _NODE_KEYS, path)
        for key, alias in _ALIASES.items():
            if key in node and alias in node:
                yield f"{path}.{alias}", f"{alias!r} is another name for {key!r}; give only one of them"


def _misspelt(written: Mapping[str, Any], optional: Sequence[str], known: Set[str], path: str) -> Iterator[Fault]:
    """Yield unknown keys that are close to a missing `optional` one."""
    if written.keys() <= known:
        return
    missing = [key for key in optional if key not in written]
    for key in written:
        if key not in known and (close := get_close_matches(key.lower(), missing, n=1, cutoff=0.8)):
            yield f"{path}.{key}".removeprefix("."), f"unknown key {key!r}; did you mean {close[0]!r}?"
