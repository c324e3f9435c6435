"""The state of the editor: a draft of a catalogue with undo, saved only as a whole."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqagen.authoring.items.catalogue_file import read_catalogue, save
from vqagen.authoring.items.checking import Examined, examine
from vqagen.authoring.items.edits import NAMING, WORD_LISTS, Entry, edited_draft, entries, nouns
from vqagen.authoring.items.sheet import make_sheet, sheet_svg, without_labels
from vqagen.errors import BadInput, Problem, UsageError, VqagenError
from vqagen.pictures.drawing import drawing_faults
from vqagen.tasks.director.catalogue import ItemCatalogue, catalogue_faults, shape_faults
from vqagen.tasks.director.catalogue_words import (
    COLOR,
    COMMENT,
    ITEM,
    name_drawn_item,
    named,
    spoken_plural,
    spoken_singular,
)

PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_MOST_DRAFTS, _MOST_PICTURES = 200, 500
Document = Mapping[str, Any]


class OtherVersion(VqagenError):
    """An edit is about another state of the draft than the current one."""


@dataclass(frozen=True)
class Finding:
    """An error or warning about the draft."""

    level: str
    path: str
    message: str
    entry: str
    """The entry that it is about; "" for the catalogue as a whole."""


class Session:
    """A draft of a catalogue file. Every method may be called from any thread."""

    def __init__(self, path: Path) -> None:
        self._lock = threading.RLock()
        self._file = read_catalogue(path)
        self._drafts: list[Document] = [self._file.document]
        """The drafts since the editor was opened; undo goes back among them."""
        self._at, self._merge = 0, ""
        self._pictures: list[str] = []
        self.version = 1

    @property
    def _draft(self) -> Document:
        return self._drafts[self._at]

    @property
    def has_unsaved(self) -> bool:
        """True if the draft differs from the file as it was read or saved."""
        return self._draft != self._file.document

    # Reading --------------------------------------------------------------------------------------------------------

    def state(self) -> dict[str, Any]:
        """Return all that the page shows."""
        with self._lock:
            draft = self._draft
            return {
                "version": self.version,
                "path": str(self._file.path),
                "unsaved": self.has_unsaved,
                "can_undo": self._at > 0,
                "can_redo": self._at + 1 < len(self._drafts),
                "classes": [each["class"] for each in draft["adjectives"]],
                "color_class": COLOR,
                "entries": [_entry_record(draft, entry) for entry in entries(draft).values()],
                "nouns": [noun for noun in nouns(draft) if noun != ITEM],
                "sizes": len(draft["sizes"]),
                "pictures": self._pictures,
                "findings": [vars(each) for each in self._findings()],
            }

    def find_pictures(self) -> None:
        """Look for pictures in the catalogue's folder and the folders in it, which the page offers."""
        folder = self._file.path.parent
        found = [path for path in (*folder.glob("*"), *folder.glob("*/*")) if path.suffix.lower() in PICTURES]
        with self._lock:
            self._pictures = sorted(path.relative_to(folder).as_posix() for path in found)[:_MOST_PICTURES]

    def _findings(self) -> list[Finding]:
        draft, folder = self._draft, self._file.path.parent
        known = entries(draft)
        faults = list(catalogue_faults(draft, folder))
        examined = Examined((), ()) if faults else examine(ItemCatalogue(draft, folder))
        errors = [
            Finding("error", path, message, _owner(path, known)) for path, message in (*faults, *examined.unreadable)
        ]
        return [
            *errors,
            *(Finding("warning", path, message, _owner(path, known)) for _, path, message in examined.doubts),
        ]

    def picture(self, name: str, side: int, is_single: bool) -> str:
        """Return SVG of a kind or own item: alone, or in every size and color. UsageError if it cannot be drawn."""
        with self._lock:
            catalogue = ItemCatalogue(_drawable(self._draft, name), self._file.path.parent)
        if is_single and name in catalogue.record["kinds"]:
            colors = list(catalogue.paints)
            number = list(self._draft["kinds"]).index(name)
            name = name_drawn_item(colors[number % len(colors)], name, len(catalogue.sizes))
        return sheet_svg(without_labels(make_sheet(catalogue, [name], side=side)))

    # Changing -------------------------------------------------------------------------------------------------------

    def edit(self, version: int, edit: Mapping[str, Any]) -> dict[str, Any]:
        """Change the draft, and return the new state. `edit["merge"]` joins consecutive edits to one step of undo."""
        with self._lock:
            self._check_version(version)
            new = self._edited(edit)
            if new != self._draft:
                self._follow(new, str(edit.get("merge", "")))
            return self.state()

    def _follow(self, draft: Document, merge: str = "") -> None:
        """Take a draft behind the current one, or in its place if both have the same `merge`."""
        is_same_step = merge and merge == self._merge
        self._drafts[self._at + (0 if is_same_step else 1) :] = [draft]
        del self._drafts[:-_MOST_DRAFTS]
        self._at, self._merge = len(self._drafts) - 1, merge
        self.version += 1

    def _edited(self, edit: Mapping[str, Any]) -> Document:
        """Return the changed draft. Mistakes in drawings and missing pictures are kept, for people work on them."""
        new = edited_draft(self._draft, edit)
        folder = self._file.path.parent
        wrong = shape_faults(new)
        if not wrong and edit["action"] in NAMING:
            known = set(catalogue_faults(self._draft, folder))
            wrong = [fault for fault in catalogue_faults(new, folder) if fault not in known]
        if wrong:
            raise BadInput(Problem(message, "", path) for path, message in wrong)
        return new

    def undo(self, version: int) -> dict[str, Any]:
        """Return to the draft before the last edit."""
        return self._step(version, -1)

    def redo(self, version: int) -> dict[str, Any]:
        """Repeat the edit that was undone last."""
        return self._step(version, 1)

    def _step(self, version: int, by: int) -> dict[str, Any]:
        with self._lock:
            self._check_version(version)
            if 0 <= self._at + by < len(self._drafts):
                self._at, self._merge = self._at + by, ""
                self.version += 1
            return self.state()

    def _check_version(self, version: int) -> None:
        if version != self.version:
            raise OtherVersion("the catalogue was changed in another window; this one shows it now, repeat your change")

    # Files ----------------------------------------------------------------------------------------------------------

    def save(self, version: int) -> dict[str, Any]:
        """Save the draft with a backup. Raise ChangedMeanwhile if the file was changed by somebody else."""
        with self._lock:
            self._check_version(version)
            backup = save(self._draft, self._file)
            self._file, self._merge = read_catalogue(self._file.path), ""
            self.version += 1
            return {**self.state(), "backup": str(backup)}

    def reload(self, version: int) -> dict[str, Any]:
        """Read the file again. Undo returns to the draft of before."""
        with self._lock:
            self._check_version(version)
            self._file = read_catalogue(self._file.path)
            self._follow(self._file.document)
            return self.state()


# Entries ------------------------------------------------------------------------------------------------------------


def _entry_record(draft: Document, entry: Entry) -> dict[str, Any]:
    record = {key: value for key, value in entry.record.items() if key != COMMENT}
    record |= {key: list(entry.record.get(key, ())) for key in WORD_LISTS} if entry.is_thing else {}
    forms = draft.get("nouns", {}).get(entry.name, {})
    return {
        **record,
        "name": entry.name,
        "sort": entry.sort,
        "class": entry.adjective_class,
        "forms": {"singular": forms.get("singular", ""), "plural": forms.get("plural", "")},
        "spoken": {"singular": spoken_singular(draft, entry.name), "plural": spoken_plural(draft, entry.name)},
    }


def _owner(path: str, known: Mapping[str, Any]) -> str:
    """Return the entry that a JSON path lies in; "" if there is none."""
    for prefix in ("kinds.", "items.", "nouns.", ".values."):
        _, found, rest = path.partition(prefix)
        if found:
            return next((name for name in sorted(known, key=len, reverse=True) if _starts(rest, name)), "")
    return ""


def _starts(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}.", f"{name}["))


def _drawable(draft: Document, name: str) -> dict[str, Any]:
    """Return the document of one kind or own item, with the colors that have a paint."""
    colors = [
        {**each, "values": {word: value for word, value in named(each["values"]).items() if "paint" in value}}
        for each in draft["adjectives"]
        if each["class"] == COLOR
    ]
    kinds, own = draft["kinds"], draft.get("items", {})
    for path, message in drawing_faults(kinds[name]["art"]) if name in named(kinds) else ():
        raise UsageError(f"{name} cannot be drawn: art{path}: {message}")
    return {
        **draft,
        "adjectives": [*colors, *(each for each in draft["adjectives"] if each["class"] != COLOR)],
        "kinds": {name: kinds[name]} if name in kinds else {},
        "items": {name: own[name]} if name in own else {},
    }


def messages(error: VqagenError) -> list[str]:
    """Return the messages of an error, one for each problem."""
    if isinstance(error, BadInput):
        return [": ".join(filter(None, (each.path, each.message))) for each in error.problems]
    return str(error).splitlines()
