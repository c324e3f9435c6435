"""Words for the slots of a template, without a scene."""

from __future__ import annotations

from random import Random

from vqagen.language.template import Template
from vqagen.rng import pick


def random_words(template: Template, rng: Random) -> dict[str, str | None]:
    """Any filling: relations always, attributes half of the time."""
    domain = template.catalogue.domain
    return {
        slot: pick(rng, domain.values_of(kind)) if kind == domain.relation_type or rng.random() < 0.5 else None
        for slot, kind in template.slots.items()
    }
