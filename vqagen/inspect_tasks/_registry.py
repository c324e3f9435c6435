"""All that Inspect finds under `vqagen/`: the entry point `inspect_ai` of the package names this module."""

from vqagen.inspect_tasks.questions import dialogs, policy, questions, typed_answer
from vqagen.inspect_tasks.scoring import cell_answer, egocentric_share, paired_accuracy, vpt_gap
from vqagen.inspect_tasks.tasks import director, director_no_director
from vqagen.inspect_tasks.tools import crop, generate_with_tools, reason_and_act, rotate

__all__ = [
    "cell_answer",
    "crop",
    "dialogs",
    "director",
    "director_no_director",
    "egocentric_share",
    "generate_with_tools",
    "paired_accuracy",
    "policy",
    "questions",
    "reason_and_act",
    "rotate",
    "typed_answer",
    "vpt_gap",
]
