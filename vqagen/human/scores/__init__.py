"""Scores of rater studies: how much better systems are than a reference, and how sure that is."""
