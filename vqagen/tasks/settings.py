"""The machinery of settings: a frozen record whose fields state name, type, default, limits and help, each once.

The checks in `__post_init__` and the options of the commands follow from the fields. This module imports nothing
heavy, as the help of a command needs it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from dataclasses import Field, asdict, dataclass, field, fields
from typing import Any, ClassVar, NamedTuple, Self

from vqagen.errors import UsageError, unknown

LARGEST = 2**63 - 1
"""The largest number that every reader of an output can hold."""
REASONINGS = ("none", "text", "points", "boxes")
"""Whether records say their steps as sentences, and how these say where objects are: a choice of several commands."""
_NOUNS = {int: "a whole number", float: "a number", bool: "true or false", str: "text", tuple: "a list of names"}


class Setting(NamedTuple):
    """The limits and the help of one field."""

    help: str = ""
    choices: tuple[str, ...] = ()
    least: int | None = None
    metavar: str = ""
    bare: str = ""
    """The value of a flag that is given without one."""
    types: tuple[type, ...] = ()
    """Types that are allowed; (): the class checks the type."""
    group: str = ""
    """The group of options in the help of a command."""


def setting(default: Any, help: str = "", **limits: Any) -> Any:
    """A field of a settings class; `limits` are the other fields of `Setting`. The default gives the type.

    >>> @dataclass(frozen=True)
    ... class Speed(CheckedSettings):
    ...     pace: int = setting(3, "Steps a second.", least=1)
    >>> Speed(0)
    Traceback (most recent call last):
      ...
    vqagen.errors.UsageError: --pace must be at least 1, found 0
    """
    limits.setdefault("types", (type(default),))
    return field(default=default, metadata={"setting": Setting(help, **limits)})


def setting_of(described: Field[Any]) -> Setting:
    """The limits and the help of a field that `setting` made."""
    limits: Setting = described.metadata["setting"]
    return limits


@dataclass(frozen=True)
class CheckedSettings:
    """Settings that are checked when they are made: all faults in their values are one UsageError."""

    RETIRED: ClassVar[tuple[str, ...]] = ()
    """Settings of earlier versions. The `info` of their outputs still names them, and no default stands for them."""

    def __post_init__(self) -> None:
        for described in fields(self):
            value = getattr(self, described.name)
            if setting_of(described).types == (tuple,) and isinstance(value, list):  # as read from JSON
                object.__setattr__(self, described.name, tuple(value))
        faults = [fault for described in fields(self) for fault in self._type_faults(described)] or list(self._faults())
        if faults:
            raise UsageError("\n".join(faults))

    def _type_faults(self, described: Field[Any]) -> Iterator[str]:
        """Yield what is wrong with the type of a value: from Python, the seed 1.0 would draw other questions than 1."""
        name, value, types = described.name, getattr(self, described.name), setting_of(described).types
        if types and type(value) not in types:
            yield f"{name} must be {' or '.join(_NOUNS[type_] for type_ in types)}, found {value!r}"
        elif isinstance(value, int) and abs(value) > LARGEST:
            yield f"{name} must lie within 64 bits, found {value}"
        elif isinstance(value, str) and not is_text(value):
            yield f"{name} cannot be written as UTF-8: {value!r}"
        elif isinstance(value, tuple):
            yield from (f"{name} must hold names, found {item!r}" for item in value if not is_text(item))

    def _faults(self) -> Iterator[str]:
        """Yield what is wrong with values whose types are right."""
        for described in fields(self):
            value, limits = getattr(self, described.name), setting_of(described)
            if limits.least is not None and value < limits.least:
                yield f"{flag(described.name)} must be at least {limits.least}, found {value}"
            if limits.choices and value not in limits.choices:
                yield f"{flag(described.name)} must be one of {', '.join(limits.choices)}, found {value!r}"

    def to_record(self) -> dict[str, Any]:
        """Return the settings as JSON holds them."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of all settings."""
        return tuple(described.name for described in fields(cls))

    @classmethod
    def name_faults(cls, names: Iterable[str]) -> Iterator[str]:
        """Yield a fault for each name in an `info` that is a setting of neither this version nor an earlier one."""
        known = cls.names()
        for name in names:
            if name not in known and name not in cls.RETIRED:
                yield unknown("setting", name, known)


@dataclass(frozen=True)
class RunSettings(CheckedSettings):
    """The settings that every task has. Written into the `info` of an output, they say how to make the file again."""

    seed: int = setting(0, "Random seed: the same seed gives the same output.", group="choice")
    start_index: int = setting(0, "First scene, by its place in the input.", least=0, group="input")
    count: int = setting(0, "How many scenes; 0 for all.", least=0, group="input")

    def cut_to(self, start_index: int, count: int) -> Self:
        """Return the same settings for another range of scenes, such as a shard's; they are not checked again."""
        cut = copy(self)
        object.__setattr__(cut, "start_index", start_index)
        object.__setattr__(cut, "count", count)
        return cut


def is_text(value: object) -> bool:
    """True for text that JSON can hold. A command line may have bytes that are not UTF-8."""
    return isinstance(value, str) and not any("\ud800" <= character <= "\udfff" for character in value)


def flag(name: str) -> str:
    """Return the command-line flag of a setting."""
    return "--" + name.replace("_", "-")
