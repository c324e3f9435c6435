"""The shapes of other tools that questions are written in."""
