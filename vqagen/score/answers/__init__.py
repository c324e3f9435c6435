"""Answers: their kinds, how they are compared, and how they are read from a model's reply."""
