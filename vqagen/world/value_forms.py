"""Read the values of a type, which metadata can write in several forms:

* a list: `["suv", "van"]`;
* groups: `{"vehicle": {"car": ["suv", "van"], "bike": []}}`, to any depth, also as members of a list. A group is a
  value itself, and comes before its members. An entry without members is no group;
* either of them with `parents`, from a value to its group: `{"suv": "car"}`. A group that is not among the values is
  added after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from vqagen.errors import describe, unknown
from vqagen.world.findings import Findings

DEEPEST = 50
"""Most levels of groups inside groups: more than anyone needs, and few enough not to exhaust the stack."""


class ValueReader:
    """Reader of the values of one type into `values` (in order) and `parents`, which are as in `Attribute`."""

    def __init__(self, findings: Findings) -> None:
        self.findings = findings
        self.values: dict[str, None] = {}
        self.parents: dict[str, str] = {}

    def read(self, given: object, path: str, groups: tuple[str, ...] = ()) -> None:
        """Add values of either form that lie inside `groups`, the outermost first."""
        if len(groups) > DEEPEST:
            self.findings.fault(path, f"groups of values go no deeper than {DEEPEST}")
        elif isinstance(given, Mapping):
            for name, members in given.items():
                here = f"{path}.{name}"
                if name != "comment" and self._add(name, here, groups) and members is not None:
                    self.read(members, here, (*groups, name))
        elif isinstance(given, list):
            for i, member in enumerate(given):
                if isinstance(member, Mapping):
                    self.read(member, f"{path}[{i}]", groups)
                else:
                    self._add(member, f"{path}[{i}]", groups)
        else:
            expected = "a list of values, or an object from groups to their values"
            self.findings.fault(path, f"expected {expected}; found {describe(given)}")

    def _add(self, value: object, path: str, groups: tuple[str, ...]) -> bool:
        if not isinstance(value, str) or not value:
            self.findings.fault(path, f"expected a value as text, found {describe(value)}")
            return False
        if value in self.values:
            self.findings.fault(path, self._why_twice(value, groups))
            return False
        self.values[value] = None
        if groups:
            self.parents[value] = groups[-1]
        return True

    def _why_twice(self, value: str, groups: tuple[str, ...]) -> str:
        if value in groups:
            return f"group {value!r} lies inside itself"
        group, other = self.parents.get(value), groups[-1] if groups else None
        if group is None or other is None or group == other:
            return f"value {value!r} is listed twice"
        return f"value {value!r} is in two groups, {group!r} and {other!r}"

    def read_parents(self, given: Mapping[str, str], path: str) -> None:
        """Put values into the groups that `parents` gives them."""
        implied = [group for group in dict.fromkeys(given.values()) if group not in self.values]
        self.values |= dict.fromkeys(implied)
        for value, group in given.items():
            here = f"{path}.{value}"
            if value not in self.values:
                self.findings.fault(here, unknown("value", value, list(self.values)))
            elif self.parents.setdefault(value, group) != group:
                self.findings.fault(here, f"value {value!r} is in two groups, {self.parents[value]!r} and {group!r}")
        for circle in self._circles():
            self.findings.fault(f"{path}.{circle[0]}", f"groups in a circle: {' in '.join(circle)}")

    def _circles(self) -> Iterator[list[str]]:
        """Yield each circle of groups once, from one of its values back to the same value."""
        visited: set[str] = set()
        for value in self.values:
            trail: list[str] = []
            at: str | None = value
            while at is not None and at not in visited and at not in trail:
                trail.append(at)
                at = self.parents.get(at)
            if at is not None and at in trail:
                yield [*trail[trail.index(at) :], at]
            visited.update(trail)
