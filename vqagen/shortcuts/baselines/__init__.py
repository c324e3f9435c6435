"""Baselines: answers that need no model, from uniform guesses to the program run on its own scene."""
