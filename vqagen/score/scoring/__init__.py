"""Scoring: predictions joined with gold items, judged, and summed up by groups."""
