"""The families of a run: all templates, or those that `only` and `exclude` leave, without those that have mistakes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from vqagen.errors import Problem, UsageError, counted, unknown, warn
from vqagen.language.domain_files import DomainFiles, LoadedDomain, load_domain_files
from vqagen.language.loading import BadTemplates
from vqagen.language.template import Template
from vqagen.tasks.questions.settings import QuestionSettings


def load_families(files: DomainFiles, settings: QuestionSettings) -> LoadedDomain:
    """Load a domain; templates with mistakes are left out if the settings exclude them or skip all such.

    Raises BadInput for the other mistakes, and UsageError for every name in the settings that nothing has.
    """

    def may_skip(bad: BadTemplates) -> bool:
        return settings.skip_bad_templates or is_excluded(bad, settings)

    loaded = load_domain_files(files, may_skip)
    check_names(loaded, settings)
    return loaded


def chosen_templates(templates: Sequence[Template], settings: QuestionSettings) -> list[Template]:
    """Return the templates that `only` names (all if it is empty) and `exclude` does not, in their order.

    A name is a question type, a template file, a template's name or its id.
    """
    only, exclude = set(settings.only), set(settings.exclude)
    return [
        template
        for template in templates
        if (not only or only.intersection(_names(template))) and exclude.isdisjoint(_names(template))
    ]


def skipped_templates(loaded: LoadedDomain, settings: QuestionSettings) -> list[BadTemplates]:
    """Return the templates that were skipped for their mistakes, without those that are excluded anyway."""
    return [bad for bad in loaded.skipped if not is_excluded(bad, settings)]


def warn_skipped(skipped: Iterable[BadTemplates]) -> None:
    """Warn of each skipped template or file, with its first mistake."""
    for bad in skipped:
        first, *more = bad.problems
        rest = f" (and {counted(len(more), 'more mistake')})" if more else ""
        message = f"skipped {bad.id}: {first.message}{rest}"
        warn(Problem(message, first.source, first.path, first.line, first.column))


def is_excluded(bad: BadTemplates, settings: QuestionSettings) -> bool:
    """True if `exclude` has a name of these templates. Their question type is not known."""
    return not set(settings.exclude).isdisjoint(bad.names)


def check_names(loaded: LoadedDomain, settings: QuestionSettings) -> None:
    """Raise UsageError for every name in the settings that nothing has, or if no template is left."""
    sound = [_names(template) for template in loaded.templates]
    known = list(dict.fromkeys(name for kind in zip(*sound, strict=True) for name in kind if name))
    bad = [name for each in loaded.skipped for name in each.names]
    wrong = [*_unknown("--only", settings.only, known), *_unknown("--exclude", settings.exclude, [*known, *bad])]
    if not wrong and not chosen_templates(loaded.templates, settings):
        wrong = ["no template is left: --only, --exclude and --skip-bad-templates leave none to ask with"]
    if wrong:
        raise UsageError("\n".join(wrong))


def _unknown(flag: str, names: Sequence[str], known: Sequence[str]) -> Iterator[str]:
    return (f"{flag}: {unknown('question type or template', name, known)}" for name in names if name not in known)


def _names(template: Template) -> tuple[str, ...]:
    """All names of a template; as many for each template, "" where it has no such name."""
    return template.last_function.asks, template.file, template.name, template.id
