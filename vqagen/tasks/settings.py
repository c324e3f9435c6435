"""The settings of a run: everything that decides what is generated, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from typing import Any

from vqagen.errors import UsageError
from vqagen.search.degeneracy import POLICIES

REDUNDANCY = ("keep", "reduce")
COMPAT = ("none", "clevr")
DEDUPE = ("none", "image", "all")
LARGEST = 2**63 - 1
_NOUNS = {int: "a whole number", bool: "true or false", str: "text", tuple: "a list of names"}


@dataclass(frozen=True)
class Settings:
    """A frozen record of a run. It is written into the output's `info`, so a file says how to make it again."""

    seed: int = 0
    start_index: int = 0
    """First scene, by its place in the input."""
    count: int = 0
    """How many scenes; 0 means all that follow."""
    templates_per_image: int = 10
    questions_per_image: int = 0
    """Families are tried until a scene has so many questions; 0 means until `templates_per_image` gave some."""
    instances_per_template: int = 1
    """Questions from one template and scene; 0 means all that the balance of answers and the budget let in."""
    reset_counts_every: int = 250
    """Scenes in one balance window, by absolute index; 0 means one window for the whole input."""
    shuffle_templates: bool = False
    """Whether equally used templates are tried in random order, in place of file order."""
    degeneracy: str = ""
    """Which idle relations are refused: none, clevr or all. "" means all, or clevr with `compat` clevr."""
    redundancy: str = "keep"
    compat: str = "none"
    search_budget: int = 20_000
    """Options tried before one template gives up on one scene."""
    only: tuple[str, ...] = ()
    """Question types, template files, names and ids: no other families are tried. None given means all."""
    max_per_template: int = 0
    """Questions of one template in the whole output, the first ones; 0 means no limit."""
    dedupe: str = "none"
    """Within what no text comes twice: none, image (the questions about one scene) or all (the whole output)."""

    def __post_init__(self) -> None:
        if isinstance(self.only, list):
            object.__setattr__(self, "only", tuple(self.only))
        if not self.degeneracy:
            object.__setattr__(self, "degeneracy", "clevr" if self.compat == "clevr" else "all")
        faults = list(self._type_faults()) or list(self._faults())
        if faults:
            raise UsageError("\n".join(faults))

    def _type_faults(self) -> Iterator[str]:
        """A seed of 1.0 would draw other questions than 1, so types are checked here for callers in Python."""
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not type(field.default):
                yield f"{field.name} must be {_NOUNS[type(field.default)]}, found {value!r}"
            elif isinstance(value, int) and abs(value) > LARGEST:
                yield f"{field.name} must lie within 64 bits, found {value}"
        if isinstance(self.only, tuple):
            yield from (f"only must hold names, found {each!r}" for each in self.only if not isinstance(each, str))

    def _faults(self) -> Iterator[str]:
        for name, least in _LEAST.items():
            if getattr(self, name) < least:
                yield f"{flag(name)} must be at least {least}, found {getattr(self, name)}"
        for name, known in _CHOICES:
            if getattr(self, name) not in known:
                yield f"{flag(name)} must be one of {', '.join(known)}, found {getattr(self, name)!r}"

    def to_record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self) | {"only": list(self.only)}

    @staticmethod
    def names() -> tuple[str, ...]:
        """The names of all settings."""
        return tuple(field.name for field in fields(Settings))


_LEAST = {
    "start_index": 0,
    "count": 0,
    "templates_per_image": 1,
    "questions_per_image": 0,
    "instances_per_template": 0,
    "reset_counts_every": 0,
    "search_budget": 1,
    "max_per_template": 0,
}
_CHOICES = (("degeneracy", POLICIES), ("redundancy", REDUNDANCY), ("compat", COMPAT), ("dedupe", DEDUPE))


def flag(name: str) -> str:
    """The command-line flag of a setting."""
    return "--" + name.replace("_", "-")
