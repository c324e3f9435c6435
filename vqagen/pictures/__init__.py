"""Pictures of scenes, of items in a small drawing language, and of grids of them."""
