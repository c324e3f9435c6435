"""The words that are answers to the items of a file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from vqagen.errors import VqagenError
from vqagen.language.domain_files import DEFAULT_DOMAIN, find_domain, synonyms_file
from vqagen.language.synonyms import load_synonyms
from vqagen.score.answers.kinds import Vocabulary
from vqagen.score.items.table import Items
from vqagen.world.domain import load_domain

NONE_THERE = "none"
"""The answer about the next object of a dialog where there is none."""


def vocabulary_of(items: Items) -> Vocabulary:
    """Return the words of the file's domain, and further answers that its info lists.

    The words of a domain that cannot be read are left out.
    """
    generator = items.info.get("generator")
    made = generator if isinstance(generator, Mapping) else {}
    further = [NONE_THERE] if items.kind == "dialogs" else []
    own = {str(answer).lower(): str(answer) for answer in (*further, *(made.get("answers") or ()))}
    name = made.get("domain") or (None if made else DEFAULT_DOMAIN)
    if not name:
        return Vocabulary()
    try:
        files = find_domain(name)
        domain = load_domain(files.metadata)
        of_domain = Vocabulary.of_domain(domain, load_synonyms(synonyms_file(files, domain), domain))
    except VqagenError:  # it is not at hand
        return Vocabulary()
    return replace(of_domain, words={**own, **of_domain.words})
