"""The settings of runs: everything that decides what is made, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from vqagen.errors import UsageError
from vqagen.search.degeneracy import POLICIES

REDUNDANCY = ("keep", "reduce")
COMPAT = ("none", "clevr")
DEDUPE = ("none", "image", "all")
LARGEST = 2**63 - 1
_NOUNS = {int: "a whole number", bool: "true or false", str: "text", tuple: "a list of names"}


@dataclass(frozen=True)
class RunSettings:
    """What every run of a task is told. A frozen record: in the output's `info` it says how to make the file again.

    Whatever is wrong with the values is one UsageError.
    """

    seed: int = 0
    start_index: int = 0
    """First scene, by its place in the input."""
    count: int = 0
    """How many scenes; 0 means all that follow."""

    def __post_init__(self) -> None:
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
            elif isinstance(value, str) and not is_text(value):
                yield f"{field.name} cannot be written as UTF-8: {value!r}"

    def _faults(self) -> Iterator[str]:
        yield from self._too_small({"start_index": 0, "count": 0})

    def _too_small(self, least: Mapping[str, int]) -> Iterator[str]:
        for name, lowest in least.items():
            if getattr(self, name) < lowest:
                yield f"{flag(name)} must be at least {lowest}, found {getattr(self, name)}"

    def cut_to(self, start_index: int, count: int) -> Self:
        """The same for some of the scenes."""
        return replace(self, start_index=start_index, count=count)

    def to_record(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """The names of all settings."""
        return tuple(field.name for field in fields(cls))


@dataclass(frozen=True)
class SamplingSettings(RunSettings):
    """What decides which scenes are drawn. A count must be given: there is no last scene."""

    split: str = "sample"

    def _faults(self) -> Iterator[str]:
        yield from self._too_small({"start_index": 0, "count": 1})


@dataclass(frozen=True)
class Settings(RunSettings):
    """What decides which questions are made."""

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
        super().__post_init__()

    def _type_faults(self) -> Iterator[str]:
        yield from super()._type_faults()
        if isinstance(self.only, tuple):
            yield from (f"only must hold names, found {each!r}" for each in self.only if not is_text(each))

    def _faults(self) -> Iterator[str]:
        yield from self._too_small(_LEAST)
        for name, known in _CHOICES:
            if getattr(self, name) not in known:
                yield f"{flag(name)} must be one of {', '.join(known)}, found {getattr(self, name)!r}"

    def to_record(self) -> dict[str, Any]:
        """For JSON."""
        return super().to_record() | {"only": list(self.only)}


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


def is_text(value: object) -> bool:
    """Whether a value is text that JSON can hold. A command line may have bytes that are not UTF-8."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def flag(name: str) -> str:
    """The command-line flag of a setting."""
    return "--" + name.replace("_", "-")
