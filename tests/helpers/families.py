"""Every question family there is to test: the shipped ones, and the reference's where ../shared lies."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conftest import SHARED
from scene_records import SMALL_SCENES, sampled_scenes

from vqagen import LoadedDomain, find_domain, load_domain_files
from vqagen.language.catalogue import Catalogue
from vqagen.language.domain_files import METADATA, QUESTIONS, SHIPPED_DOMAINS
from vqagen.language.template_record import canonical_form, choices_of, inferred_params, with_choice, with_drawn_values
from vqagen.world.domain import Domain, domain_from_metadata
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules

ROOT = Path(__file__).parents[2]
REFERENCE = SHARED / "clevr_v1" if (SHARED / "clevr_v1").is_dir() else SHARED / "data" / "clevr_v1"

Record = dict[str, Any]


@dataclass(frozen=True)
class Collection:
    """A domain with its templates: as loaded, and as raw JSON for the slow twin."""

    name: str
    metadata: Path
    templates: Path
    synonyms: Path | None = None
    is_clevr: bool = False
    """Whether its scenes are CLEVR's."""

    def __str__(self) -> str:
        return self.name

    @property
    def materials(self) -> LoadedDomain:
        """As the generator loads them."""
        return _materials(self)

    @property
    def raw_metadata(self) -> Record:
        """The metadata file's JSON."""
        return _json(self.metadata)

    def raw_template(self, file: str, index: int) -> Record:
        """One template's JSON in canonical form; meta-templates count as what they make."""
        document = _json(self.templates / file)
        records = document if isinstance(document, list) else document["templates"]
        return [made for each in records for made in _canonical_records(each, self.materials.catalogue)][index]

    def sampled(self, count: int, seed: int) -> list[Record]:
        """Scenes by the rules of the domain; for a domain without rules, CLEVR's."""
        return sampled_scenes(count, seed, "clevr" if self.is_clevr else self.name)

    @property
    def small_scenes(self) -> tuple[Record, ...]:
        """Three scenes of three or four objects, few enough for brute force."""
        return SMALL_SCENES if self.is_clevr else _small_scenes(self.metadata)


@cache
def _materials(collection: Collection) -> LoadedDomain:
    files = find_domain(metadata=collection.metadata, templates=collection.templates, synonyms=collection.synonyms)
    return load_domain_files(files)


@cache
def _json(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


@cache
def _small_scenes(metadata: Path) -> tuple[Record, ...]:
    record = _json(metadata)
    small: Domain = domain_from_metadata({**record, "sampling": {**record["sampling"], "objects": [3, 3]}})
    return tuple(sample_scene(SamplingRules.from_domain(small), 5, index) for index in range(3))


SHIPPED = [
    Collection(name, ROOT / listed[METADATA], ROOT / listed[QUESTIONS], is_clevr=name == "clevr")
    for name, listed in SHIPPED_DOMAINS.items()
]
COLLECTIONS = [*SHIPPED]
if REFERENCE.is_dir():
    reference = Collection(
        "reference", REFERENCE / "metadata.json", REFERENCE / "templates", REFERENCE / "synonyms.json", is_clevr=True
    )
    COLLECTIONS.append(reference)


def _canonical_records(written: Record, catalogue: Catalogue) -> list[Record]:
    """The records in canonical form, slot types and all, of the templates that a record without faults makes."""
    record = canonical_form(written)[0]
    choices = choices_of(written["for"], catalogue.domain)[0] if "for" in written else []
    made = [with_choice(record, choice) for choice in choices] or [record]
    made = [dict(with_drawn_values(each, catalogue)) for each in made]
    return [
        each if "params" in each else {**each, "params": inferred_params(each["nodes"], catalogue)[0]} for each in made
    ]
