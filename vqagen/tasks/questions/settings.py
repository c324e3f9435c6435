"""The settings of the question generator: which questions are generated, and how they are written.

It imports nothing heavy, as `vqagen generate --help` needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vqagen.tasks.settings import REASONINGS, CheckedSettings, RunSettings, setting

WINDOWS = {"answers": 250, "words": 500, "pairs": 1000}
"""Balance -> default number of scenes in a window: as in the CLEVR generator, or as balancing words and pairs needs."""


@dataclass(frozen=True)
class QuestionSettings(RunSettings):
    """Everything that decides which questions are generated."""

    templates_per_image: int = setting(10, "Question families for each scene.", least=1, group="choice")
    instances_per_template: int = setting(
        1, "Questions of a family about a scene; 0 for all that answer balance allows.", least=0, group="choice"
    )
    only: tuple[str, ...] = setting(
        (),
        "Only families of this id, name, file or question type (such as count); may be given several times.",
        metavar="FAMILY|TYPE",
        group="choice",
    )
    skip_bad_templates: bool = setting(
        False, "Skip templates with mistakes and name them, in place of stopping.", group="choice"
    )
    degeneracy: str = setting(
        "",
        "Reject questions in which a relation does not matter; all: also those that their words answer."
        " [default: all; clevr with --compat clevr]",
        choices=("none", "clevr", "all"),
        group="choice",
    )
    dedupe: str = setting(
        "none",
        "Reject a repeated text about one scene, or in the whole output (also if no value is given).",
        choices=("none", "image", "all"),
        bare="all",
        group="choice",
    )
    balance: str = setting(
        "",
        "Balance answers in each family; also by the words said (words); or ask each question about two scenes with"
        " different answers (pairs). [default: words; answers with --compat clevr]",
        choices=("answers", "words", "pairs"),
        group="balance",
    )
    reset_counts_every: int = setting(
        None,
        "Scenes in one window, in which answers are balanced and partners of pairs found; 0 for one window in all."
        " [default: 500; 250 with --balance answers, 1000 with pairs]",
        types=(int,),
        least=0,
        group="balance",
    )
    compat: str = setting(
        "none",
        "clevr: sample exactly as the CLEVR generator does.",
        choices=("none", "clevr"),
        group="compatibility",
    )

    def __post_init__(self) -> None:
        if not self.degeneracy:
            object.__setattr__(self, "degeneracy", "clevr" if self.is_compat else "all")
        if not self.balance:
            object.__setattr__(self, "balance", "answers" if self.is_compat else "words")
        if self.reset_counts_every is None:
            object.__setattr__(self, "reset_counts_every", WINDOWS.get(str(self.balance), 250))
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.is_compat and self.balance in ("words", "pairs"):
            yield f"--balance {self.balance}: the CLEVR generator balances answers alone; leave out --compat clevr"
        if self.balance == "pairs" and self.instances_per_template != 1:
            yield "--instances-per-template: with --balance pairs a scene begins one pair of a family"
        if self.balance == "pairs" and self.dedupe == "all":
            yield "--dedupe all: a rule about the whole output would part the two of a pair; leave out --balance pairs"
        if self.balance == "pairs":
            yield from self._split_pairs("--start-index", self.start_index, self.start_index)
            yield from self._split_pairs("--count", self.count, self.end or 0)

    def _split_pairs(self, flag: str, given: int, edge: int) -> Iterator[str]:
        """Yield a fault if a run that begins or ends before scene `edge` would split pairs, with values that do not.

        `--count 1500` splits those of the window 1000 to 1999; `--count 1000` and `--count 2000` do not. A shard may
        split pairs, as `merge` joins them: `cut_to` checks nothing.
        """
        window = self.reset_counts_every
        excess = edge % window if window else edge
        if excess:
            windows = f"windows of {window:,} scenes" if window else "one window of all scenes"
            lower = f"{flag} {given - excess}" if given > excess else f"{flag} 0" + " (all)" * (flag == "--count")
            whole = f"{lower} and {flag} {given - excess + window} do not" if window else f"{lower} does not"
            yield f"{flag} {given} parts pairs, which are made in {windows}: {whole}"

    @property
    def is_compat(self) -> bool:
        """True if questions are drawn and worded as the CLEVR generator does."""
        return self.compat == "clevr"

    @property
    def reads_ahead(self) -> bool:
        """True if the partner of a pair may be a later scene."""
        return self.balance == "pairs"

    @property
    def end(self) -> int | None:
        """The index after the last scene of the run; None if the run ends with the input."""
        return self.start_index + self.count if self.count else None


@dataclass(frozen=True)
class RecordForm(CheckedSettings):
    """Everything that decides how questions are written as records."""

    dialect: str = setting(
        "text",
        "text: answers are text; generator: answers are true, 3 or words, as the CLEVR generator writes them; release:"
        " as text, nodes have `function`, and families are counted over all files.",
        choices=("text", "generator", "release"),
        group="output",
    )
    trace: bool = setting(
        False,
        "Add every step's output to each question, and the places where its text mentions objects.",
        group="output",
    )
    hide_answers: bool = setting(False, "Leave out answers and programs, as for a test set.", group="output")
    reasoning: str = setting(
        "none",
        "Add the steps to each question as sentences that name objects by words alone (text), with their pixel (points)"
        " or with their box (boxes).",
        choices=REASONINGS,
        group="output",
    )

    @property
    def function_key(self) -> str:
        """The key of a program node's function."""
        return "function" if self.dialect == "release" else "type"

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        for shown, is_shown in (("--trace", self.trace), ("--reasoning", self.reasoning != "none")):
            if is_shown and self.hide_answers:
                yield f"{shown} shows the answers that --hide-answers leaves out; choose one of the two"

    def to_record(self) -> dict[str, Any]:
        """Return the form as the `info` of an output holds it, beside the dialect."""
        shown = {"trace": self.trace, "hide_answers": self.hide_answers}
        return shown if self.reasoning == "none" else {**shown, "reasoning": self.reasoning}
