"""The codes of warnings, and their meanings."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "not-json": "comments, commas after a last item, or keys written twice: accepted, though they are not JSON",
    "no-effect": "something in the metadata that is never read",
    "unknown-synonym": "synonyms for a value or type that the domain does not have",
    "ambiguous-word": "one word for two values",
    "unsaid-plural": "a plural of a word that no value is said by",
    "missing-plural": "a noun that ends like one of the plurals and has none of its own",
    "unknown-relation": "relations in scenes that the domain does not have; perhaps misspelt",
    "unused-attribute": "an optional attribute that no object has; its key may be misspelt",
    "repeated-image": "scenes that share an image_filename, so that it does not say which of them a question is about",
    "unused-slot": "a slot that no node uses",
    "unsaid-slot": "a text that leaves out a slot, and so asks something else",
    "unreached-node": "a node that neither the answer nor a constraint depends on",
    "no-final-mark": "a text without . ? or ! at its end",
    "repeated-text": "a text that its template has already",
    "same-text": "one text in two templates that compute different things",
    "unreached-template": "a dialog template whose label other templates say in every case",
    "missing-template": "a kind of caption or round that no dialog template says",
    "missing-noun": "a text that can lose its noun, as in “What color is the?”",
    "unused-adjective": "an adjective that is true of no item",
    "idle-adjective": "an adjective that is clearly false of no item",
    "near-paints": "two colors that are easily taken for each other",
    "wrong-color": "an item whose color words differ from the color of its picture",
    "wrong-size": "an item whose picture is not larger than that of a smaller size",
    "answer-in-text": "words that give the answer away",
    "impossible-answer": "an answer that never occurs",
    "idle-constraint": "a constraint that rules nothing out",
    "unsatisfied": "a template that finds nothing to ask in any scene",
}
"""The last four are found by trying templates on scenes, unless a rule proves them before."""
