"""Comparison of models that answered the same questions."""
