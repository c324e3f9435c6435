"""Judging dialogs from their texts alone, written from the specification and not from the generator."""
