"""The settings of the question generator: which questions are generated, and how they are written.

This module is light to import: the help of the command needs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, RunSettings, setting

WINDOWS = {"answers": 250, "words": 500, "pairs": 1000}
"""Balance -> scenes in one window by default: the reference's, and what the rules about words and pairs need."""


@dataclass(frozen=True)
class QuestionSettings(RunSettings):
    """All that decides which questions are generated."""

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
            yield from self._parting("--start-index", self.start_index, self.start_index)
            yield from self._parting("--count", self.count, self.end or 0)

    def _parting(self, flag: str, given: int, edge: int) -> Iterator[str]:
        """Yield why a run that begins or ends before scene `edge` would part pairs, and which values would not.

        A shard may, as merging joins them: `cut_to` does not ask.
        """
        window = self.reset_counts_every
        over = edge % window if window else edge
        if over:
            whole = f"windows of {window:,} scenes" if window else "one window of all scenes"
            less = f"{flag} {given - over}" if given > over else f"{flag} 0" + " (all)" * (flag == "--count")
            kept = f"{less} and {flag} {given - over + window} do not" if window else f"{less} does not"
            yield f"{flag} {given} parts pairs, which are made in {whole}: {kept}"

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
    """All that decides how questions are written as records."""

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

    @property
    def function_key(self) -> str:
        """The key of a program node's function."""
        return "function" if self.dialect == "release" else "type"

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.trace and self.hide_answers:
            yield "--trace shows the answers that --hide-answers leaves out; choose one of the two"

    def to_record(self) -> dict[str, bool]:
        """Return the form as the `info` of an output holds it, beside the dialect."""
        return {"trace": self.trace, "hide_answers": self.hide_answers}
