"""The audit: shortcuts by which the answers of a file can be guessed without looking, and what else spoils a test."""
