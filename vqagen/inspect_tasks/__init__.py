"""Inspect AI tasks: models answer questions, dialogs and trials of the director task. Needs the extra `inspect`."""
