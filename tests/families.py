"""Every question family there is to test: the shipped ones, and the reference's where ../shared lies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conftest import SHARED

from vqagen.api import Materials, load_materials

ROOT = Path(__file__).parents[1]
REFERENCE = SHARED / "clevr_v1" if (SHARED / "clevr_v1").is_dir() else SHARED / "data" / "clevr_v1"


@dataclass(frozen=True)
class Collection:
    """A domain with its templates: as loaded, and as raw JSON for the slow twin."""

    name: str
    metadata: Path
    templates: Path
    synonyms: Path

    def __str__(self) -> str:
        return self.name

    @property
    def materials(self) -> Materials:
        """As the generator loads them."""
        return _materials(self)

    @property
    def raw_metadata(self) -> dict[str, Any]:
        """The metadata file's JSON."""
        return _json(self.metadata)

    def raw_template(self, file: str, index: int) -> dict[str, Any]:
        """One template's JSON."""
        document = _json(self.templates / file)
        return (document if isinstance(document, list) else document["templates"])[index]


@cache
def _materials(collection: Collection) -> Materials:
    return load_materials(collection.metadata, collection.templates, collection.synonyms)


@cache
def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


SHIPPED = [Collection("clevr", ROOT / "metadata/clevr.json", ROOT / "templates/clevr", ROOT / "synonyms.json")]
COLLECTIONS = [*SHIPPED]
if REFERENCE.is_dir():
    reference = Collection(
        "reference", REFERENCE / "metadata.json", REFERENCE / "templates", REFERENCE / "synonyms.json"
    )
    COLLECTIONS.append(reference)
