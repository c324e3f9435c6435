"""Simulated raters: they show what the scores of a study would be worth before people are paid."""
