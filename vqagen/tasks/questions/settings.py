"""The settings of the question generator: which questions are generated, and how they are written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vqagen.tasks.settings import CheckedSettings, RunSettings, setting

DEFAULT_WINDOW, PAIR_WINDOW = 250, 1000


@dataclass(frozen=True)
class QuestionSettings(RunSettings):
    """All that decides which questions are generated."""

    templates_per_image: int = setting(10, "Question families for each scene.", least=1)
    questions_per_image: int = setting(
        0, "Questions about each scene; 0 for as many as --templates-per-image gives.", least=0
    )
    instances_per_template: int = setting(
        1, "Questions of a family about a scene; 0 for all that answer balance and search budget allow.", least=0
    )
    reset_counts_every: int = setting(
        DEFAULT_WINDOW, "Scenes in one window of the answer balance; 0 for one window in all.", least=0
    )
    balance: str = setting(
        "",
        "Balance answers in each family; also by the words said (words); or ask each question about two scenes with"
        " different answers (pairs). [default: words; answers with --compat clevr]",
        choices=("answers", "words", "pairs"),
    )
    pair_window: int = setting(
        PAIR_WINDOW,
        "Scenes in one window of --balance pairs, which are partners of each other; 0 for one window in all.",
        least=0,
    )
    partners_per_image: int = setting(
        0, "Most pairs in which a scene is the partner; 0 for as many as it has questions in the mean.", least=0
    )
    shuffle_templates: bool | None = setting(
        None,
        "Try equally used templates in random order or in file order. [default: random; file with --compat clevr]",
        types=(bool,),
    )
    degeneracy: str = setting(
        "",
        "Reject questions in which a relation does not matter; all: also those that their words answer."
        " [default: all; clevr with --compat clevr]",
        choices=("none", "clevr", "all"),
    )
    redundancy: str = setting(
        "keep", "reduce: drop words that a reference to one object does not need.", choices=("keep", "reduce")
    )
    compat: str = setting("none", "clevr: sample exactly as the CLEVR generator does.", choices=("none", "clevr"))
    mixed_words: bool | None = setting(
        None,
        "Allow several words for one value in a question (large, big), or only one."
        " [default: one; several with --compat clevr]",
        types=(bool,),
    )
    search_budget: int = setting(20_000, "Options tried before a template gives up on a scene.", least=1)
    only: tuple[str, ...] = setting(
        (),
        "Only families of this id, name, file or question type (such as count); may be given several times.",
        metavar="FAMILY|TYPE",
    )
    exclude: tuple[str, ...] = setting(
        (),
        "No families of this id, name, file or question type; mistakes in such templates do not matter; may be given"
        " several times.",
        metavar="FAMILY|TYPE|FILE",
    )
    skip_bad_templates: bool = setting(False, "Skip templates with mistakes and name them, in place of stopping.")
    max_per_template: int = setting(
        0, "Keep only the first N questions of each template in the whole output; 0 for no limit.", least=0
    )
    dedupe: str = setting(
        "none",
        "Reject a repeated text about one scene, or in the whole output (also if no value is given).",
        choices=("none", "image", "all"),
        bare="all",
    )

    def __post_init__(self) -> None:
        if not self.degeneracy:
            object.__setattr__(self, "degeneracy", "clevr" if self.compat == "clevr" else "all")
        if self.shuffle_templates is None:
            object.__setattr__(self, "shuffle_templates", self.compat != "clevr")
        if self.mixed_words is None:
            object.__setattr__(self, "mixed_words", self.compat == "clevr")
        if not self.balance:
            object.__setattr__(self, "balance", "answers" if self.compat == "clevr" else "words")
        super().__post_init__()

    def _faults(self) -> Iterator[str]:
        yield from super()._faults()
        if self.compat == "clevr" and self.balance in ("words", "pairs"):
            yield f"--balance {self.balance}: the CLEVR generator balances answers alone; leave out --compat clevr"
        if self.balance == "pairs":
            yield from self._unpairable()
        elif self.pair_window != PAIR_WINDOW or self.partners_per_image:
            name = "--partners-per-image" if self.partners_per_image else "--pair-window"
            yield f"{name} is for --balance pairs"

    def _unpairable(self) -> Iterator[str]:
        """Yield what cannot be had with pairs."""
        if self.reset_counts_every != DEFAULT_WINDOW:
            yield "--reset-counts-every: the windows of --balance pairs are those of --pair-window"
        if self.instances_per_template != 1:
            yield "--instances-per-template: with --balance pairs a scene begins one pair of a family"
        if self.max_per_template or self.dedupe == "all":
            rules = "--max-per-template" if self.max_per_template else "--dedupe all"
            yield f"{rules}: a rule about the whole output would part the two of a pair; leave out --balance pairs"

    @property
    def wanted(self) -> int:
        """Questions about each scene."""
        return self.questions_per_image or self.templates_per_image

    @property
    def window_setting(self) -> str:
        """The setting that says how many scenes make a window."""
        return "pair_window" if self.balance == "pairs" else "reset_counts_every"

    @property
    def window(self) -> int:
        """Scenes in one window; 0 for one window of all."""
        size: int = getattr(self, self.window_setting)
        return size

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
        "generator",
        "release: nodes have `function`, answers are text, families are counted over all files.",
        choices=("generator", "release"),
    )
    trace: bool = setting(
        False, "Add every step's output to each question, and the places where its text mentions objects."
    )
    template_extra: bool = setting(False, "Add a template's unknown keys to its questions.")
    hide_answers: bool = setting(False, "Leave out answers and programs, as for a test set.")

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
        return {"trace": self.trace, "template_extra": self.template_extra, "hide_answers": self.hide_answers}
