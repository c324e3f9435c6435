"""The files that a metadata file names by their paths beside it: plug-ins, plurals and rewrites.

Plurals and rewrites may stand in the metadata itself; `WordsReader` reads them from either place.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from vqagen.errors import BadInput, InputWarning, VqagenError, describe, nearest
from vqagen.files.parsing import parse_json, read_text
from vqagen.world.findings import Findings

PLUGINS = "plugins"
WORDS = ("plurals", "rewrites")
"""Sections of the metadata that may be files of their own."""


class NamedFiles(NamedTuple):
    """The files that a metadata file names."""

    plugins: tuple[Path, ...] = ()
    words: Mapping[str, Path] = {}
    """Section -> its file, for sections that are files."""

    @property
    def paths(self) -> tuple[Path, ...]:
        """All of them."""
        return (*self.plugins, *self.words.values())


def files_named_by(metadata: Path) -> NamedFiles:
    """Return the files that a metadata file names and that exist. `load_domain` reports what is wrong with names."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        try:
            document = parse_json(read_text(metadata), str(metadata))
        except VqagenError:
            return NamedFiles()
    if not isinstance(document, Mapping):
        return NamedFiles()
    unheard = Findings(str(metadata))
    plugins = find_plugins(document, metadata.parent, unheard)
    found = {name: find_beside(document[name], metadata.parent, name, unheard) for name in WORDS if name in document}
    return NamedFiles(plugins, {name: path for name, path in found.items() if path})


def find_plugins(metadata: Mapping[str, Any], folder: Path | None, findings: Findings) -> tuple[Path, ...]:
    """Return the plug-in files that metadata in `folder` names; what is wrong with the names goes to `findings`."""
    listed = metadata.get(PLUGINS, [])
    if not isinstance(listed, list):
        findings.fault(PLUGINS, f'expected a list of files such as ["parts.py"], found {describe(listed)}')
        return ()
    for i, name in enumerate(listed):
        if not isinstance(name, str):
            findings.fault(f"{PLUGINS}[{i}]", f"expected a file such as 'parts.py', found {describe(name)}")
    found = [find_beside(name, folder, f"{PLUGINS}[{i}]", findings) for i, name in enumerate(listed)]
    return tuple(path for path in found if path)


def find_beside(name: object, folder: Path | None, place: str, findings: Findings) -> Path | None:
    """Return the file that metadata in `folder` names at a `place`. None for what is no name, and for a fault."""
    if not isinstance(name, str):
        return None
    if folder is None:
        findings.fault(place, f"only a metadata file can name other files, found {describe(name)}")
    elif Path(name).is_absolute():
        findings.fault(place, f"expected a path beside this file, found the absolute path {describe(name)}")
    elif not _is_file(folder / name):
        close = nearest(name, sorted(each.name for each in folder.glob(f"*{Path(name).suffix}")))
        hint = f"; did you mean {close!r}?" if close else f"; it is looked for in {folder}"
        findings.fault(place, f"no such file: {describe(name)}{hint}")
    else:
        return folder / name
    return None


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long, or holds a null byte
        return False


# Plurals and rewrites -----------------------------------------------------------------------------------------------


Rewrite = tuple[re.Pattern[str], str]


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

    def _section(self, name: str, default: object) -> tuple[Any, Findings, str]:
        """Return a section, the findings of its file and its JSON path there.

        It is read from its file if the metadata names one; where that cannot be read, it is the default.
        """
        value = self.metadata.get(name, default)
        if not isinstance(value, str):
            return value, self.findings, name
        path = find_beside(value, self.folder, name, self.findings)
        if path is not None:
            try:
                text = read_text(path)
                return parse_json(text, str(path)), self.findings.for_file(str(path), text), ""
            except BadInput as error:
                self.findings.problems += error.problems
        return default, self.findings, name


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
