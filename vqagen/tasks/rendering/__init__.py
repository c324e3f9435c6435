"""Pictures of scenes, as a task."""
