"""Studies in which people compare two texts about an image: planned, served, exported, scored."""
