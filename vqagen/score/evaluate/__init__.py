"""Evaluation: the predictions of a model joined with items, judged, and summed up by groups."""
