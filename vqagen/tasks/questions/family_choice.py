"""The families that a run is restricted to, by what people call them."""

from __future__ import annotations

from collections.abc import Sequence

from vqagen.errors import UsageError, unknown
from vqagen.language.template import Template


def chosen_templates(templates: Sequence[Template], only: Sequence[str]) -> list[Template]:
    """The templates that some name of `only` is for, in their order; all when `only` is empty.

    A name is a question type, a template file, a template's name or its id. Raises UsageError with every unknown one.
    """
    names = [_names(template) for template in templates]
    known = list(dict.fromkeys(name for kind in zip(*names, strict=True) for name in kind if name))
    wrong = [unknown("question type or template", name, known) for name in only if name not in known]
    if wrong:
        raise UsageError("\n".join(f"--only: {each}" for each in wrong))
    return [
        template
        for template, its_names in zip(templates, names, strict=True)
        if not only or any(name in its_names for name in only)
    ]


def _names(template: Template) -> tuple[str, ...]:
    """All that a template answers to; as many for each template, "" where it has no such name."""
    return template.last_function.asks, template.file, template.name, template.id
