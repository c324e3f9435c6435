"""Single questions: for each scene, templates are tried in turn until enough of them have made a question.

A window of scenes is a pure function of the settings: counters start at zero, and every random draw for a scene comes
from that scene's own stream. Which templates a scene gets depends on how often each was used before in its window.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from vqagen.errors import Problem, UsageError, counted, unknown, warn
from vqagen.language.domain_files import DomainFiles, LoadedDomain, load_domain_files
from vqagen.language.loading import BadTemplates
from vqagen.language.question import Question
from vqagen.language.synonyms import Synonyms
from vqagen.language.template import PLACE, PLACES, Template
from vqagen.rng import shuffled, stream
from vqagen.search.balance import FamilyBalance
from vqagen.search.instantiate import Filling
from vqagen.search.state import FOUND, GAVE_UP, REPEATED, UNBALANCED
from vqagen.search.vocabulary import Memo, Vocabularies
from vqagen.tasks.questions.exclusion import TRIES, Exclusion, Screen
from vqagen.tasks.questions.family import Family, FamilyAnswers, FamilyUses, QuestionTally, Subject, subject_of
from vqagen.tasks.questions.settings import QuestionSettings
from vqagen.world.scene import Scene

# Templates ----------------------------------------------------------------------------------------------------------


def load_families(files: DomainFiles, settings: QuestionSettings) -> LoadedDomain:
    """Load a domain; templates with mistakes are left out if the settings skip them.

    Raises BadInput for mistakes, and UsageError for every unknown name in the settings.
    """
    loaded = load_domain_files(files, settings.skip_bad_templates, drops_idle=settings.is_compat)
    check_names(loaded, settings)
    return loaded


def chosen_templates(templates: Sequence[Template], settings: QuestionSettings) -> list[Template]:
    """Return the templates that `only` names (all if it is empty), in their order.

    A name is a question type, a template file, a template's name or its id.
    """
    only = set(settings.only)
    return [template for template in templates if not only or only.intersection(_names(template))]


def warn_skipped(skipped: Iterable[BadTemplates]) -> None:
    """Warn of each skipped template or file, with its first mistake."""
    for bad in skipped:
        first, *more = bad.problems
        rest = f" (and {counted(len(more), 'more mistake')})" if more else ""
        message = f"skipped {bad.id}: {first.message}{rest}"
        warn(Problem(message, first.source, first.path, first.line, first.column))


def check_names(loaded: LoadedDomain, settings: QuestionSettings, option: str = "--only") -> None:
    """Raise UsageError for every unknown name in the settings, or if no template is left.

    `option` is the one that gave the names.
    """
    sound = [_names(template) for template in loaded.templates]
    known = list(dict.fromkeys(name for kind in zip(*sound, strict=True) for name in kind if name))  # types first
    what = "question type or template"
    wrong = [f"{option}: {unknown(what, name, known)}" for name in settings.only if name not in known]
    if settings.balance == "pairs" and any(each.answer_type in (PLACE, PLACES) for each in loaded.templates):
        wrong.append("--balance pairs: answers that are places are no pairs, as each picture has places of its own")
    if not loaded.templates:
        wrong = ["no template is left: --skip-bad-templates leaves none to ask with"]
    if wrong:
        raise UsageError("\n".join(wrong))


def _names(template: Template) -> tuple[str, ...]:
    """All names of a template; as many for each template, "" where it has no such name."""
    return template.last_function.asks, template.file, template.name, template.id


# Questions ----------------------------------------------------------------------------------------------------------


class QuestionGenerator:
    """Everything that is the same for all scenes of a run."""

    def __init__(
        self,
        templates: Sequence[Template],
        synonyms: Synonyms,
        settings: QuestionSettings,
        marks: bool = False,
        exclusion: Exclusion | None = None,
    ) -> None:
        """`marks`: True if questions record where their text mentions objects; it changes nothing else.

        `exclusion`: the questions to reject.
        """
        self.settings, self.exclusion = settings, exclusion
        self.templates = chosen_templates(templates, settings)
        vocabularies = Vocabularies(synonyms.domain)
        self.families: Mapping[int, Family] = Memo(
            lambda number: Family(self.templates[number], synonyms, vocabularies, settings, marks), len(self.templates)
        )
        """The families by their numbers, each made when it is first asked for."""

    def window(
        self, scenes: Iterable[Scene], tally: QuestionTally, first: int = 0
    ) -> Iterator[tuple[Scene, list[Question]]]:
        """Yield the questions of each scene of one window, which is given from its first scene on.

        Scenes before index `first` are only replayed: they are neither yielded nor counted. With pairs, the scenes
        after the end of the run, up to the end of the window, must be given too, and are not yielded either.
        """
        if self.settings.balance == "pairs":
            from vqagen.tasks.questions.pairing import PairedWindow

            paired = PairedWindow(self.templates, self.families, self.settings, self.exclusion, list(scenes))
            yield from paired.questions(tally, first)
            return
        replayed = QuestionTally()
        window: _Window | None = None
        for scene in scenes:
            window = window or _Window(self, scene)
            questions = window.questions(scene, tally if scene.index >= first else replayed)
            if scene.index >= first:
                yield scene, questions


class _Window:
    """The counters of one balance window."""

    def __init__(self, generator: QuestionGenerator, first: Scene) -> None:
        """`first`: its first scene.

        What that scene shows is part of what coins are drawn from: were it the seed alone, two files of the same seed
        would have the same answers, and one would tell the other's.
        """
        self.generator = generator
        settings = generator.settings
        label = f"{first.values}"
        self.uses = FamilyUses(len(generator.templates), not settings.is_compat)
        self.answers = FamilyAnswers(
            generator.families,
            settings.balance,
            coins=None
            if settings.is_compat
            else lambda family: stream(settings.seed, f"answers of {family} {label}", first.index),
            takes_all=not settings.instances_per_template,
        )
        self.screen = Screen(settings.dedupe, generator.exclusion)

    def questions(self, scene: Scene, tally: QuestionTally) -> list[Question]:
        """Questions for one scene: the least used templates are tried first, until enough have succeeded.

        The questions are shuffled at the end: a family that is tried first has often failed before, for want of an
        answer that is rare so far, so its place would give the answer away.
        """
        settings = self.generator.settings
        subject = subject_of(scene, settings.seed)
        asked: list[list[Question]] = []
        wanted = settings.templates_per_image
        tally.scenes += 1
        self.answers.meet(scene.size)
        self.screen.next_scene()
        for number in self.uses.order(subject.rng):
            made = self.instances(number, subject, tally)
            if made:
                asked.append(made)
                self.uses.add(number)
                wanted -= 1
                if not wanted:
                    break
            elif not settings.is_compat and self.uses.is_unused(number):
                self.uses.fail(number)
        subject.tables.forget()
        if wanted:
            tally.short_scenes += 1
        asked = asked if settings.is_compat else shuffled(subject.rng, asked)
        return [question for made in asked for question in made]

    def instances(self, number: int, subject: Subject, tally: QuestionTally) -> list[Question]:
        """Questions of one template, as many as there may be."""
        family, answers = self.generator.families[number], self.answers[number]
        name = family.template.id
        tally.tries[name] += 1
        if answers.is_hopeless(family.plan.impossible):
            tally.failures[name, UNBALANCED] += 1
            answers.fail()
            return []
        most = self.generator.settings.instances_per_template
        if most:
            made, reason = self.some_instances(family, answers, subject, most)
        else:
            made, reason = self.all_instances(family, answers, subject)
        if not made or reason == GAVE_UP:
            tally.failures[name, reason] += 1
        if not made:
            answers.fail()
        tally.questions[name] += len(made)
        return made

    def some_instances(
        self, family: Family, answers: FamilyBalance, subject: Subject, most: int
    ) -> tuple[list[Question], str]:
        """Different questions, each from a search of its own, and why there are no more."""
        made, seen, refusals = list[Question](), set[Any](), list[str]()
        while len(made) < most and len(refusals) < TRIES:
            outcome = family.search.find(subject.tables, subject.rng, answers, seen)
            if outcome.filling is None:
                return made, refusals[-1] if refusals and outcome.reason == REPEATED else outcome.reason
            refusal = self.ask(family, outcome.filling, answers, subject, made)
            refusals = [*refusals, refusal] if refusal else []  # those since the last question
        return made, refusals[-1] if refusals else FOUND

    def all_instances(self, family: Family, answers: FamilyBalance, subject: Subject) -> tuple[list[Question], str]:
        """All questions that the balance of their answers and the screen let pass, and why there are no more."""
        made, refusal = list[Question](), ""

        def take(filling: Filling) -> None:
            nonlocal refusal
            refusal = self.ask(family, filling, answers, subject, made)

        reason = family.search.find_all(subject.tables, subject.rng, take, answers)
        return made, refusal if reason == FOUND and not made else reason

    def ask(
        self, family: Family, filling: Filling, answers: FamilyBalance, subject: Subject, made: list[Question]
    ) -> str:
        """Add a filling to the questions that are `made`; return why it is not wanted, or ""."""
        question = family.question(subject.scene, filling, subject.rng.random)
        refusal = self.screen.refusal(question)
        if not refusal:
            answers.add(answers.key(subject.scene, filling.answer), filling.said())
            made.append(question)
        return refusal
