"""Statistics of question files: what is asked and answered, how evenly, and what can be guessed without the picture."""
