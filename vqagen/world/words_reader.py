"""Read the words of a domain: plurals and rewrites, written in the metadata or in files that it names."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from vqagen.errors import BadInput
from vqagen.files.parsing import parse_json, read_text
from vqagen.world.findings import Findings
from vqagen.world.named_files import find_beside

Rewrite = tuple[re.Pattern[str], str]


class _Section(NamedTuple):
    """A section, the findings of the file it is written in, and its JSON path there."""

    value: Any
    findings: Findings
    path: str


class WordsReader:
    """Reader of sections of metadata in `folder` (None: metadata that is no file); faults go to `findings`."""

    def __init__(self, metadata: Mapping[str, Any], folder: Path | None, findings: Findings) -> None:
        self.metadata, self.folder, self.findings = metadata, folder, findings

    def plurals(self) -> Mapping[str, str]:
        """Return word -> its plural."""
        value, findings, path = self._section("plurals", {})
        return MappingProxyType(findings.words(value, path))

    def rewrites(self) -> tuple[Rewrite, ...]:
        """Return patterns and their replacements in finished text."""
        value, findings, path = self._section("rewrites", [])
        findings.records(value, path)
        listed = enumerate(value if isinstance(value, list) else [])
        records = [(f"{path}[{i}]", each) for i, each in listed if isinstance(each, Mapping)]
        return tuple(rewrite for place, record in records for rewrite in _rewrite(record, place, findings))

    def _section(self, name: str, default: object) -> _Section:
        """Return a section, read from its file if the metadata names one; the default where that cannot be read."""
        value = self.metadata.get(name, default)
        if not isinstance(value, str):
            return _Section(value, self.findings, name)
        path = find_beside(value, self.folder, name, self.findings)
        if path is not None:
            try:
                text = read_text(path)
                return _Section(parse_json(text, str(path)), self.findings.for_file(str(path), text), "")
            except BadInput as error:
                self.findings.problems += error.problems
        return _Section(default, self.findings, name)


def _rewrite(record: Mapping[str, Any], path: str, findings: Findings) -> Iterator[Rewrite]:
    problems = len(findings.problems)
    findings.strange_keys(record, ("pattern", "replace", "comment"), path)
    pattern = findings.text_at(record.get("pattern"), f"{path}.pattern", may_be_empty=False)
    replace = findings.text_at(record.get("replace"), f"{path}.replace")
    if len(findings.problems) > problems:
        return
    at = f"{path}.pattern"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of patterns that a later Python may read differently
            compiled = re.compile(pattern)
        at = f"{path}.replace"
        compiled.sub(replace, "")
    except (re.error, IndexError, RecursionError, OverflowError) as error:
        kind = "a regular expression" if at.endswith("pattern") else "a replacement for this pattern"
        findings.fault(at, f"not {kind}: {error}")
    else:
        yield compiled, replace
