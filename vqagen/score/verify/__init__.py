"""Verification: whether the texts, programs and answers of a file agree with its scenes."""
