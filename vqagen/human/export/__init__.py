"""Answers of rater studies as files."""
