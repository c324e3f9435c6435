"""Pictures out of descriptions: items in a small drawing language, and grids of them."""
