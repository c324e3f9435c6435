"""Answers, kept so that none is lost: in SQLite or Redis, with the same behaviour."""
