"""The templates that settings choose of a domain."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from vqagen.errors import Problem, UsageError, counted, unknown, warn
from vqagen.language.domain_files import DomainFiles, LoadedDomain, load_domain_files
from vqagen.language.loading import BadTemplates
from vqagen.language.template import Template
from vqagen.tasks.questions.settings import QuestionSettings


def load_families(files: DomainFiles, settings: QuestionSettings) -> LoadedDomain:
    """Load a domain; templates with mistakes are left out if the settings skip them.

    Raises BadInput for mistakes, and UsageError for every name in the settings that nothing has.
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
    """Raise UsageError for every name in the settings that nothing has, or if no template is left.

    `option` is the one that gave the names.
    """
    sound = [_names(template) for template in loaded.templates]
    known = list(dict.fromkeys(name for kind in zip(*sound, strict=True) for name in kind if name))
    what = "question type or template"
    wrong = [f"{option}: {unknown(what, name, known)}" for name in settings.only if name not in known]
    if not loaded.templates:
        wrong = ["no template is left: --skip-bad-templates leaves none to ask with"]
    if wrong:
        raise UsageError("\n".join(wrong))


def _names(template: Template) -> tuple[str, ...]:
    """All names of a template; as many for each template, "" where it has no such name."""
    return template.last_function.asks, template.file, template.name, template.id
