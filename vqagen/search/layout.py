"""The layout of a program: where its nodes stand, which depends only on how many nodes each choice is written as.

So a plan has few layouts, and what no choice changes is laid out once for all fillings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vqagen.language.program import Node, NodeRun

if TYPE_CHECKING:
    from vqagen.search.plan import Op


MOST_LAYOUTS = 128
"""Layouts of a plan after which they start anew. One takes 1 KB; three descriptions over 11 attributes have 1,900."""


class Layout:
    """The layout of a program up to one of its choices."""

    __slots__ = ("_after", "_first", "_made", "_ops", "_places", "choice", "count", "inputs", "run")

    def __init__(
        self, ops: Sequence[Op], places: Sequence[int] = (), count: int = 0, first: Layout | None = None
    ) -> None:
        """`places`: op -> the node that holds its result, for the ops before the next one that is laid out.

        `count`: how many nodes there are so far. `first`: the plan's first layout; None if this is it.
        """
        self._first: Layout = self if first is None else first
        self._made = 0
        """How many layouts are remembered after the first one."""
        nodes, laid = list[Node](), list(places)
        while len(laid) < len(ops) and not ops[len(laid)].is_choice:
            op = ops[len(laid)]
            nodes.append(Node(op.function, tuple(laid[i] for i in op.inputs), op.literals))
            laid.append(count + len(nodes) - 1)
        self.run = NodeRun(tuple(nodes))
        """The nodes between the choice before and this one."""
        self.count = count + len(nodes)
        """How many nodes come before the choice."""
        self.choice = ops[len(laid)] if len(laid) < len(ops) else None
        """The choice; None at the end of the program."""
        self.inputs = tuple(laid[i] for i in self.choice.inputs) if self.choice else ()
        """The nodes that the choice takes its inputs from."""
        self._ops, self._places = ops, laid
        self._after: dict[int, Layout] = {}

    def after(self, length: int) -> Layout:
        """Return the layout up to the next choice if this one is written as `length` nodes."""
        layout = self._after.get(length)
        if layout is None:
            first, place = self._first, self.count + length - 1 if length else self.inputs[0]
            layout = Layout(self._ops, (*self._places, place), self.count + length, first)
            if first._made == MOST_LAYOUTS:
                first._after.clear()
                first._made = 0
            first._made += 1
            self._after[length] = layout
        return layout
