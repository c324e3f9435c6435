"""The slow, obvious twin of the question generator: what it may generate, by plain sets and loops over raw JSON.

Nothing is imported from the package and nothing is shared with it but the meaning of the files, so an agreement
between the two says something. An object is its index in the scene, a set of objects a frozenset, an open slot None.
It knows any domain that data can describe. Not covered: plug-ins, relations not given as adjacency lists, and forms
of templates that the loader rewrites (other names of functions and constraints, parameters that are not listed).

This is its front door; the parts are `naive_vocabulary`, `naive_programs`, `naive_relevance`, `naive_constraints`,
`naive_descriptions` and `naive_search`.
"""

from oracles.naive_programs import (
    Undefined,
    Value,
    answer,
    outputs,
    step_type,
)
from oracles.naive_relevance import is_degenerate, needs_other, spare_filters
from oracles.naive_search import Instantiation, each_instantiation, instantiations, narrowed
from oracles.naive_vocabulary import Record, attribute_types, relation_type, values_of

__all__ = [
    "Instantiation",
    "Record",
    "Undefined",
    "Value",
    "answer",
    "attribute_types",
    "each_instantiation",
    "instantiations",
    "is_degenerate",
    "narrowed",
    "needs_other",
    "outputs",
    "relation_type",
    "spare_filters",
    "step_type",
    "values_of",
]
