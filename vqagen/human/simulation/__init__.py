"""Simulated raters: they rehearse a study before people are paid, and show what its scores would be worth."""
