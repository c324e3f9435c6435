"""The taskset `vqagen-questions` of verifiers."""

from vqagen.environments.tasksets import QuestionTaskset

__all__ = ["QuestionTaskset"]
