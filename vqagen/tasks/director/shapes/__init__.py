"""The shapes of trials in formats of other tools."""
