"""Shortcuts: what is guessed without the picture, and by which clues."""
