"""Verification and statistics of director trials, from the trials alone: nothing of their generator is imported."""
