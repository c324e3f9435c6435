"""The sentences of dialogs: every shipped text in both domains, and where its marked words stand."""

from __future__ import annotations

from random import Random

import pytest

from vqagen.language.domain_files import find_domain
from vqagen.language.shipped_domains import DIALOGS
from vqagen.tasks.dialog.loading import LoadedDialogDomain, load_dialog_domain
from vqagen.tasks.dialog.rounds import ROUND_KINDS
from vqagen.tasks.dialog.wording import Wordings


@pytest.fixture(scope="module", params=["clevr", "market"])
def loaded(request: pytest.FixtureRequest) -> LoadedDialogDomain:
    return load_dialog_domain(find_domain(request.param, task=DIALOGS))


def test_every_kind_of_round_has_texts(loaded: LoadedDialogDomain) -> None:
    assert set(ROUND_KINDS) <= loaded.templates.labels


def test_marked_words_are_found_by_their_places() -> None:
    """Counted in words, behind articles, optional parts and descriptions of several words."""
    loaded = load_dialog_domain(find_domain("clevr", task=DIALOGS))
    words = Wordings(loaded.templates, loaded.synonyms, loaded.vocabulary).dialog(Random(1))
    said = words.say("obj-relation", "", {"D": {"shape": "cube"}, "R": "front", "D2": {"color": "red"}}, Random(6))
    split = said.text.split()

    marked = {role: split[start:end][0].lower() for role, (start, end) in said.spans.items()}
    assert marked == {"subject": "a", "anchor": "a"}
