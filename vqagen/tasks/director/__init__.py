"""Perspective-taking trials on a grid of items, which a participant sees whole and a director in part."""
