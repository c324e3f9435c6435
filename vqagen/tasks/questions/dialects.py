"""Question records of one dialect, rewritten in the other; see `language.question_records`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vqagen.errors import UsageError
from vqagen.language.question_records import FUNCTION_KEYS, release_answer, typed_answer
from vqagen.tasks.contract import Rewrite

TemplatePlace = tuple[str, int]
"""The file of a template, and its place among the templates of that file."""


def rewriter(info: Mapping[str, Any], dialect: str) -> Rewrite:
    """Return the function that rewrites the records of an output with this info.

    Raises UsageError for an output whose info does not number all families.
    """
    if info["dialect"] == dialect:
        return lambda record: record
    generator = info["generator"]
    if generator["settings"].get("skip_bad_templates") or generator["settings"].get("exclude"):
        why = "made with --skip-bad-templates or --exclude, so its info does not number all families"
        raise UsageError(f"{why}: generate it again with --dialect {dialect}")
    places, types = _places(generator["families"]), generator.get("answer_types", {})
    old, new = FUNCTION_KEYS[info["dialect"]], FUNCTION_KEYS[dialect]
    families = {place: family for family, place in enumerate(places)}

    def rewrite(record: dict[str, Any]) -> dict[str, Any]:
        written: dict[str, Any] = {}
        for key, value in record.items():
            if key == "question_family_index" and dialect == "release":
                written[key] = families[record["template_filename"], value]
            elif key == "question_family_index":
                written["question_family_index"] = places[value][1]
                written["template_filename"] = places[value][0]
            elif key == "answer":
                last = record["program"][-1][old]
                written[key] = _answer(value, dialect, types.get(last, ""))
            elif key == "program":
                written[key] = [{new if name == old else name: each for name, each in node.items()} for node in value]
            elif key != "template_filename":
                written[key] = value
        return written

    return rewrite


def _places(families: list[str]) -> list[TemplatePlace]:
    """Return the place of each family, from the templates' ids in the order of the families."""
    places, seen = [], dict[str, int]()
    for file in (family.partition("#")[0] for family in families):
        places.append((file, seen.get(file, 0)))
        seen[file] = seen.get(file, 0) + 1
    return places


def _answer(value: Any, dialect: str, answer_type: str) -> object:
    if dialect == "release":
        return release_answer(tuple(value) if isinstance(value, list) else value)
    return typed_answer(value, answer_type)
