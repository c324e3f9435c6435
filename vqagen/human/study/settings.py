"""The settings of a plan: how many trials, checks and raters."""

from __future__ import annotations

from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, setting


@dataclass(frozen=True)
class PlanSettings(CheckedSettings):
    """All that decides which trials a study has, apart from its inputs."""

    seed: int = setting(0, "Random seed: the same seed and inputs give the same study.")
    num_images: int = setting(1000, "Images to draw at random from the captions; 0 for all.", least=0)
    trials_per_task: int = setting(10, "Trials of a task, checks and instructed trials included.", least=1)
    checks_per_task: int = setting(1, "Attention checks in each task: a right text against a wrong one.", least=0)
    imc_per_task: int = setting(0, "Instructed trials in each task, which name the number to choose.", least=0)
    raters_per_item: int = setting(3, "How many people do each task.", least=1)
    human_human: bool = setting(False, "Also compare two human captions of each image: the noise floor.")

    @property
    def real_per_task(self) -> int:
        """The largest number of trials in a task that are scored; a longer series makes a longer task."""
        return self.trials_per_task - self.checks_per_task - self.imc_per_task
