"""The domain that each file is checked against.

Flags name the domain. Without them, a file that vqagen ships belongs to the domains that list it, and any other to the
nearest metadata in its own folder or one above:

* a metadata file among those that are checked, or (up to `NEAR` folders above) one called metadata.json;
* `metadata/NAME.json` for what lies in the folder `templates/NAME` beside it.

Without any, it belongs to the only metadata file that is checked, or to the shipped CLEVR if none is checked. Several
candidates are an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vqagen.authoring.check.check_report import CheckReport
from vqagen.authoring.check.recognition import METADATA, PLUGIN, SYNONYMS, CheckedFile, may_be_metadata
from vqagen.errors import Problem
from vqagen.files.locations import shipped
from vqagen.language.domain_files import DEFAULT_DOMAIN, DIALOGS, QUESTIONS, SHIPPED_DOMAINS, find_domain
from vqagen.world.metadata_reader import plugins_named_by

NEAR = 3
SHOWN = 3
"""Files named in one note."""


@dataclass
class DomainGroup:
    """The files of one domain. `shared` is a synonyms file for domains that have none of their own."""

    metadata: Path
    synonyms: Path | None = None
    shared: Path | None = None
    plugins: list[str] = field(default_factory=list)
    items: list[CheckedFile] = field(default_factory=list)


class Grouping:
    """Groups files by domain, in the order in which they were found."""

    def __init__(
        self,
        items: Sequence[CheckedFile],
        domain: str | None,
        metadata: str | None,
        plugins: Sequence[str],
        report: CheckReport,
    ) -> None:
        """`domain`, `metadata` and `plugins` are those of the flags."""
        self.items, self.plugins, self.report = items, plugins, report
        self.given = {_absolute(item.path): item.path for item in items if item.kind == METADATA}
        self.groups: dict[Path, DomainGroup] = {}
        self.homeless: list[str] = []
        """Files without metadata nearby."""
        self.asked: DomainGroup | None = None
        """The domain that the flags name, if any."""
        if domain or metadata:
            files = find_domain(domain, metadata=metadata)
            self.asked = self._group(files.metadata, files.synonyms)

    def run(self) -> list[DomainGroup]:
        """Return every domain with its files."""
        for item in self.items:
            if item.kind:
                for group in self._groups_of(item):
                    self._add(group, item)
        if self.homeless:
            shown = ", ".join(self.homeless[:SHOWN]) + (", …" if len(self.homeless) > SHOWN else "")
            self.report.note(f"no metadata beside {shown}: checked as {DEFAULT_DOMAIN}'s; --domain says otherwise")
        return list(self.groups.values())

    def _group(self, metadata: Path, synonyms: Path | None = None) -> DomainGroup:
        absolute = _absolute(metadata)
        if absolute not in self.groups:
            beside = metadata.parent / "synonyms.json"
            if not synonyms and metadata.name == "metadata.json" and beside.is_file():
                synonyms = beside
            plugins = [*map(str, plugins_named_by(metadata)), *self.plugins]
            self.groups[absolute] = DomainGroup(self.given.get(absolute, metadata), synonyms, plugins=plugins)
        return self.groups[absolute]

    def _add(self, group: DomainGroup, item: CheckedFile) -> None:
        group.items.append(item)
        if item.kind == PLUGIN and _absolute(item.path) not in map(_absolute, map(Path, group.plugins)):
            group.plugins.append(str(item.path))
        if item.kind == SYNONYMS:
            if item.folders[0] == _absolute(group.metadata).parent or group is self.asked:
                group.synonyms = item.path
            elif group.synonyms is None:
                group.shared = item.path

    def _groups_of(self, item: CheckedFile) -> Iterator[DomainGroup]:
        if item.kind == METADATA:
            yield self._group(item.path)
        elif self.asked is not None:
            yield self.asked
        elif listed := _listed_with(item):
            yield from map(self._group, listed)
        elif item.kind == SYNONYMS and (served := self._served(item)):
            yield from map(self._group, served)
        else:
            nearest = self._nearest(item)
            if len(nearest) > 1:
                self._note_unclear(item, nearest)
            elif nearest:
                yield self._group(nearest[0])
            else:
                self.homeless.append(str(item.path))
                yield self._group(find_domain(DEFAULT_DOMAIN).metadata)

    def _served(self, item: CheckedFile) -> list[Path]:
        """Return the domains in the folder `metadata` beside a synonyms file that belongs to no single domain."""
        folder = item.folders[0]
        if (folder / "metadata.json").is_file():
            return []
        return [path for path in sorted((folder / "metadata").glob("*.json")) if may_be_metadata(path)]

    def _nearest(self, item: CheckedFile) -> list[Path]:
        """Return the nearest metadata or, if there is none, all that is checked; several if the choice is unclear.

        Of data/templates/farm/count.json: data/metadata/farm.json, then metadata.json in farm, in templates, in data, …
        """
        for above, folder in enumerate(item.folders):
            named = folder.parent.parent / "metadata" / f"{folder.name}.json"
            if folder.parent.name == "templates" and (named in self.given or (above <= NEAR and named.is_file())):
                return [self.given.get(named, _shown(named, item))]
            usual = folder / "metadata.json"
            if usual in self.given:
                return [self.given[usual]]
            here = [given for path, given in self.given.items() if path.parent == folder]
            if len(here) == 1:
                return here
            if above <= NEAR and usual.is_file():
                return [_shown(usual, item)]
            if here:
                return here
        return list(self.given.values())

    def _note_unclear(self, item: CheckedFile, found: Sequence[Path]) -> None:
        """Add an error, unless the file has one already."""
        file = self.report.of(item.path)
        if not file.errors:
            names = ", ".join(map(str, found[:SHOWN])) + (", …" if len(found) > SHOWN else "")
            file.error(Problem(f"it may belong to any of {names}; choose one with --metadata", str(item.path)))


def _listed_with(item: CheckedFile) -> list[Path]:
    """Return the metadata of the shipped domains that a shipped file belongs to; none for a file of one's own.

    The shipped synonyms belong to all of them.
    """
    path = _absolute(item.path)
    return [
        _shown(shipped(listed[METADATA]), item)
        for listed in SHIPPED_DOMAINS.values()
        if any(path.is_relative_to(shipped(file)) for file in ("synonyms.json", listed[QUESTIONS], listed[DIALOGS]))
    ]


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))


def _shown(path: Path, item: CheckedFile) -> Path:
    """Return a path as the caller would write it."""
    return path if item.path.is_absolute() else Path(os.path.relpath(path))
