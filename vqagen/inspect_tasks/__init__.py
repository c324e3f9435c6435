"""Inspect AI tasks: models take the trials of the director task. Needs the extra `inspect`."""
