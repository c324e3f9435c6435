"""What warnings are about: the code that each ends in, and what it means."""

from __future__ import annotations

from collections.abc import Mapping

CODES: Mapping[str, str] = {
    "not-json": "comments, commas behind a last item, or keys written twice: taken, though they are no JSON",
    "no-effect": "something in the metadata that nothing will read",
    "unknown-synonym": "synonyms for a value or type that the domain does not have",
    "ambiguous-word": "one word for two values",
    "unknown-relation": "relations in scenes that the domain does not have, perhaps misspelt",
    "unused-attribute": "what objects may lack and all of them do, perhaps as its key is misspelt",
    "repeated-image": "scenes that share an image_filename, so that it does not say which of them a question is about",
    "unused-slot": "a slot that no node uses",
    "unsaid-slot": "a text that leaves out a slot, and so asks something else",
    "unreached-node": "a node that neither the answer nor a constraint depends on",
    "no-final-mark": "a text without . ? or ! at its end",
    "repeated-text": "a text that its template has already",
    "same-text": "a text of two templates that compute different things",
    "missing-noun": "a text that may come to be without a noun, as in “What color is the?”",
    "answer-in-text": "words that tell the answer",
    "impossible-answer": "an answer that never comes",
    "idle-constraint": "a constraint that rules nothing out",
    "unsatisfied": "a template that finds nothing to ask in any scene",
}
"""The last four come of trying templates out, if nothing proves them before."""
