"""Entailment: which questions about an image follow from the answer of another one. Read off programs alone."""
