"""A study as it is planned: items, tasks, images and texts in one folder."""
