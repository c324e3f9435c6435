"""What is wrong, or may be, with the sentences of reasonings in the metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vqagen.authoring.check.check_report import CheckReport
from vqagen.errors import unknown
from vqagen.files.schema import content_of
from vqagen.language.catalogue import Catalogue
from vqagen.language.hops import SILENT
from vqagen.language.reasoning import SLOTS, reasoning_texts, slots_of, texts_of
from vqagen.plugin import BUILT_IN

UNKNOWN, MISSING = "unknown-reasoning", "no-reasoning"


def check_reasoning(catalogue: Catalogue, report: CheckReport) -> None:
    """Add errors for unknown slots, and warnings for unknown functions and for those without sentences."""
    domain = catalogue.domain
    if "reasoning" not in domain.record:
        return
    found, sentences = report.of(domain.source), reasoning_texts(domain)["sentences"]
    known = [*catalogue, *BUILT_IN.functions, *catalogue.plugins.functions]
    for name, texts in content_of(sentences).items():
        if name not in known:
            found.warn(UNKNOWN, domain.problem(f"reasoning.sentences.{name}", unknown("function", name, known)))
        for path, text in _placed(texts, f"reasoning.sentences.{name}"):
            for slot in sorted(slots_of(text) - SLOTS):
                found.error(domain.problem(path, unknown("slot", slot, sorted(SLOTS))))
    for function in catalogue.values():
        if function.name not in SILENT and not texts_of(function, catalogue):
            why = f"no sentences for {function.signature}: reasonings say its docstring, {function.meaning!r}"
            found.warn(MISSING, domain.problem("reasoning.sentences", why))


def _placed(texts: Any, path: str) -> Iterator[tuple[str, str]]:
    """Yield the path of each text of a function, and the text."""
    if isinstance(texts, Mapping):
        for form in content_of(texts):
            yield from _placed(texts[form], f"{path}.{form}")
    else:
        yield from ((f"{path}[{number}]", text) for number, text in enumerate(texts))
