"""The taskset `vqagen-director` of verifiers."""

from vqagen.environments.tasksets import DirectorTaskset

__all__ = ["DirectorTaskset"]
