"""Programs: steps that each apply a function to earlier steps' results. JSON in = JSON out.

In JSON a program is a list of nodes `{"type": "filter_color", "inputs": [0], "value_inputs": ["red"]}`; the released
CLEVR data says `function` for `type`, and some tools say `side_inputs` for `value_inputs`. All are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple, Self

from vqagen.bits import Objects, indexes
from vqagen.errors import BadInput, Fault, Problem, counted, describe, unknown
from vqagen.language.catalogue import PLUGIN_HINT, Catalogue, Function, Value, is_misspelt
from vqagen.plugin import RELATION, SAMENESS
from vqagen.world.scene import Scene


class Node(NamedTuple):
    """One step: a function, the steps it takes its inputs from, and its values."""

    function: str
    inputs: tuple[int, ...] = ()
    values: tuple[str, ...] = ()


Step = tuple[str, tuple[int, ...], tuple[str, ...]]
"""A node, or its parts as a plain tuple."""


class Program:
    """A type-checked sequence of nodes; the last one gives the answer."""

    def __init__(self, nodes: Iterable[Node], catalogue: Catalogue) -> None:
        """Check a program that is built by hand. Raises BadInput with every fault."""
        given: object = nodes
        records = [_as_record(node) for node in given] if isinstance(given, tuple | list) else given
        self.catalogue = catalogue
        self._steps: tuple[Step, ...] = read_nodes(records, catalogue, "program", "nodes")

    @classmethod
    def of_steps(cls, steps: Iterable[Step], catalogue: Catalogue) -> Self:
        """Return a program of nodes that were checked before, as those of a loaded template were."""
        program = cls.__new__(cls)
        program.catalogue, program._steps = catalogue, tuple(steps)
        return program

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """The nodes, made when somebody asks for them: most programs are only written."""
        return tuple([Node(*step) for step in self._steps])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Program) and self._steps == other._steps

    def __hash__(self) -> int:
        return hash(self._steps)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the nodes alone, which need no check."""
        return Program.of_steps, (self._steps, self.catalogue)

    def __repr__(self) -> str:
        steps = (f"{name}({', '.join([*map(str, inputs), *values])})" for name, inputs, values in self.nodes)
        return f"Program({', '.join(steps)})"

    def outputs(self, scene: Scene, start: Objects | None = None) -> list[Value]:
        """The result of every step. `start` replaces all objects as the set that `scene` returns.

        Raises Undefined when a step has no result in this scene.
        """
        # The third node of [scene(), filter_color(0, red), count(1)] runs as count(scene, results[1]).
        world = scene if start is None else scene.started_from(start)
        results: list[Value] = []
        for function, inputs, values in self.nodes:
            results.append(self.catalogue[function].run(world, *[results[i] for i in inputs], *values))
        return results

    def run(self, scene: Scene, start: Objects | None = None) -> Value:
        """The answer in this scene. Raises Undefined when there is none."""
        return self.outputs(scene, start)[-1]

    def readable_outputs(self, scene: Scene) -> list[Value]:
        """`outputs` for JSON and people: an object set is the ascending list of its object indexes.

        Another set, which a plug-in may give, is the list of its members, sorted by their `repr`.
        """
        return self.readable(self.outputs(scene))

    def readable(self, outputs: Iterable[Value]) -> list[Value]:
        """Return the results of the steps in the form of `readable_outputs`."""
        steps = zip(self.nodes, outputs, strict=True)
        return [_readable(output, self.catalogue[node.function].output) for node, output in steps]

    @property
    def relations(self) -> list[int]:
        """The numbers of the nodes that go from an object to others: relations, and `same_…` functions."""
        roles = (self.catalogue[node.function].role for node in self.nodes)
        return [number for number, role in enumerate(roles) if role in (RELATION, SAMENESS)]

    @property
    def answer_type(self) -> str:
        """The type of the answer, such as Bool or Color."""
        return self.catalogue[self.nodes[-1].function].output

    def to_records(self, function_key: str = "type") -> list[dict[str, Any]]:
        """The JSON form; `function_key` is "type", or "function" as in the released CLEVR data."""
        return [{function_key: name, "inputs": [*i], "value_inputs": [*values]} for name, i, values in self._steps]

    def to_json(self, function_key: str = "type") -> bytes:
        """Return the JSON text of `to_records`."""
        import orjson  # not needed for `--help`, which comes by here for the names of dialects

        return orjson.dumps([{function_key: name, "inputs": i, "value_inputs": v} for name, i, v in self._steps])

    @staticmethod
    def from_records(records: object, catalogue: Catalogue, source: str = "program") -> Program:
        """Read and type-check the JSON form. Raises BadInput with every fault."""
        return Program.of_steps(read_nodes(records, catalogue, source, "program"), catalogue)


def read_nodes(records: object, catalogue: Catalogue, source: str, path: str) -> tuple[Node, ...]:
    """Read and type-check the JSON form of a program's nodes. Raises BadInput with every fault."""
    if not isinstance(records, list) or not records:
        raise BadInput([Problem(f"expected a list of program nodes, found {describe(records)}", source, path)])
    checker = _Checker(catalogue)
    nodes = tuple(checker.known(record) or checker.node(record, f"{path}[{i}]") for i, record in enumerate(records))
    if checker.faults:
        raise BadInput(Problem(message, source, where) for where, message in checker.faults)
    return nodes


def _as_record(node: object) -> object:
    """Return a node, or a plain tuple of its parts, in the JSON form; anything else as it is."""
    if not isinstance(node, tuple) or not 1 <= len(node) <= 3:
        return node
    parts = [list(part) if isinstance(part, tuple) else part for part in Node(*node)]
    return dict(zip(("type", "inputs", "value_inputs"), parts, strict=True))


def _readable(output: Value, type_name: str) -> Value:
    if type_name == "ObjectSet":
        return indexes(output)
    return sorted(output, key=repr) if isinstance(output, set | frozenset) else output


class _Checker:
    """Reads nodes one by one, remembering output types and collecting faults."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self.outputs: list[str | None] = []
        self.faults: list[Fault] = []

    def known(self, record: Any) -> Node | None:
        """Return the node if an earlier program had an equal one without fault, at a third of the cost; else None.

        10,000 questions have 94,200 nodes, but only 728 different ones. (`scripts/bench verify`)
        """
        try:
            name = record["type" if "type" in record else "function"]
            inputs, values = record["inputs"], record["value_inputs" if "value_inputs" in record else "side_inputs"]
            output = self.catalogue.sound_nodes[name, tuple([self.outputs[i] for i in inputs]), tuple(values)]
        except (KeyError, TypeError, IndexError):
            return None
        # `true` would otherwise pass for 1, and -1 for the last node
        if type(inputs) is not list or type(values) is not list or any(type(i) is not int or i < 0 for i in inputs):
            return None
        self.outputs.append(output)
        return Node(name, tuple(inputs), tuple(values))

    def node(self, record: object, path: str) -> Node:
        if not isinstance(record, Mapping):
            return self.unknown(path, f"expected a program node, found {describe(record)}")
        function_key = _first_key(record, "type", "function")
        values_key = _first_key(record, "value_inputs", "side_inputs")
        name = record.get(function_key)
        inputs, values = self._listed(record, "inputs", path), self._listed(record, values_key, path)
        function = self.catalogue.get(name) if isinstance(name, str) else None
        if function is None:
            return self.unknown(f"{path}.{function_key}", _no_function(name, list(self.catalogue)))
        faults = [] if inputs is None else [*input_faults(function.name, inputs, function.inputs, self.outputs, path)]
        faults += self._value_faults(function, values, f"{path}.{values_key}") if values is not None else ()
        node = Node(function.name, tuple(inputs or ()), tuple(values or ()))
        if not self.faults and not faults:
            types = tuple([self.outputs[i] for i in node.inputs])
            self.catalogue.sound_nodes[node.function, types, node.values] = function.output
        self.faults += faults
        self.outputs.append(function.output)
        return node

    def unknown(self, path: str, message: str) -> Node:
        """Return what stands for a node that cannot be read, with its fault.

        Its output has no type, so that nodes that take it are not at fault as well.
        """
        self.faults.append((path, message))
        self.outputs.append(None)
        return Node("")

    def _listed(self, record: Mapping[str, Any], key: str, path: str) -> list[Any] | None:
        """Return the list under a key; None, with a fault, if it is no list."""
        listed = record.get(key)
        if listed is None or isinstance(listed, list):
            return listed or []
        self.faults.append((f"{path}.{key}", f"expected a list, found {describe(listed)}"))
        return None

    def _value_faults(self, function: Function, values: Sequence[Any], path: str) -> Iterator[Fault]:
        if len(values) != len(function.values):
            yield path, f"{function.name} takes {counted(len(function.values), 'value')}, found {len(values)}"
        for k, (value, wanted) in enumerate(zip(values, function.values, strict=False)):
            known = self.catalogue.domain.values_of(wanted)
            if value not in known:
                yield f"{path}[{k}]", unknown(wanted, value, known)


def _no_function(name: object, known: Sequence[str]) -> str:
    if not isinstance(name, str):
        return f"expected the name of a function, found {describe(name)}"
    return unknown("function", name, known) + ("" if is_misspelt(name, known) else f" ({PLUGIN_HINT})")


def _first_key(record: Mapping[str, Any], *keys: str) -> str:
    """Return the first of the keys that the record has; the first key if it has none."""
    return next((key for key in keys if key in record), keys[0])


def input_faults(
    name: str, inputs: Sequence[Any], wanted: Sequence[str], outputs: Sequence[str | None], path: str
) -> Iterator[Fault]:
    """Yield what is wrong with the inputs of the node at `path`; `outputs` are the types that earlier nodes give.

    None stands for an unknown type, which may be right.
    """
    if len(inputs) != len(wanted):
        yield f"{path}.inputs", f"{name} takes {counted(len(wanted), 'input')}, found {len(inputs)}"
    for k, (i, type_name) in enumerate(zip(inputs, wanted, strict=False)):
        if type(i) is not int or not 0 <= i < len(outputs):
            message = f"input {describe(i)} is not an earlier node; this is node {len(outputs)}, counted from 0"
            yield f"{path}.inputs[{k}]", message
        elif outputs[i] not in (type_name, None):
            yield f"{path}.inputs[{k}]", f"{name} takes {type_name}, but node {i} gives {outputs[i]}"
