"""Blocks of a report beyond accuracies: one file for each, which makes tables of plain counts."""
