"""Policies: what someone answers who misses a view, a frame or words."""

from __future__ import annotations

from handmade_trials import trial, views_of
from test_director_oracle import LEFTMOST_TEST, NONE_TEST, RELATION_TEST, TOPMOST_TEST

from vqagen.tasks.director.policies import POLICIES
from vqagen.tasks.director.views import Views

ANSWERS = [
    (NONE_TEST, "red ball", "none", "oracle", ["A1"]),
    (NONE_TEST, "red ball", "none", "egocentric", ["A1", "C1"]),
    (NONE_TEST, "red ball", "none", "visible-only", ["A1"]),
    (NONE_TEST, "red ball", "none", "ignore-adjectives", ["A1", "B1"]),
    (NONE_TEST, "red ball", "none", "ignore-description", ["A1", "B1", "C2"]),
    (NONE_TEST, "red ball", "none", "look-alike", ["A1"]),
    (NONE_TEST, "red ball", "none", "random-visible", ["A1", "B1", "C2"]),
    (TOPMOST_TEST, "red ball", "topmost", "oracle", ["A2"]),
    (TOPMOST_TEST, "red ball", "topmost", "egocentric", ["A1"]),
    (TOPMOST_TEST, "red ball", "topmost", "no-flip", ["A2"]),
    (TOPMOST_TEST, "red ball", "topmost", "visible-only", ["A2", "C3"]),
    (TOPMOST_TEST, "red ball", "topmost", "second-best", ["A2"]),
    (TOPMOST_TEST, "red ball", "topmost", "last", ["C3"]),
    (TOPMOST_TEST, "red ball", "topmost", "random-match", ["A1", "A2", "C3"]),
    (TOPMOST_TEST, "red ball", "topmost", "ignore-rule", ["A2", "C3"]),
    (TOPMOST_TEST, "red ball", "topmost", "ignore-adjectives", ["C1"]),
    (TOPMOST_TEST, "red ball", "topmost", "ignore-description", ["C1"]),
    (LEFTMOST_TEST, "red ball", "leftmost", "oracle", ["B1"]),
    (LEFTMOST_TEST, "red ball", "leftmost", "egocentric", ["A1"]),
    (LEFTMOST_TEST, "red ball", "leftmost", "no-flip", ["D1"]),
    (LEFTMOST_TEST, "red ball", "leftmost", "self-centered", ["D1"]),
    (RELATION_TEST, "blue book", "right_of", "last", ["D1"]),
    (RELATION_TEST, "blue book", "right_of", "oracle", ["D1"]),
    (RELATION_TEST, "blue book", "right_of", "egocentric", ["B1"]),
    (RELATION_TEST, "blue book", "right_of", "no-flip", []),
    (RELATION_TEST, "blue book", "right_of", "ignore-rule", ["D1", "A2"]),
    (RELATION_TEST, "blue book", "right_of", "second-best", ["D1"]),
]


def chosen_cells(policy: str, views: Views) -> list[str]:
    """Return the labels of the cells of which a policy answers one."""
    return views.trial.labels(POLICIES[policy][1](views))


def test_a_policy_chooses_these_cells() -> None:
    """The director says left and right his own way. A new policy is not finished without a row."""
    assert {policy for _, _, _, policy, _ in ANSWERS} == set(POLICIES)
    for drawn, phrase, rule, policy, cells in ANSWERS:
        assert chosen_cells(policy, views_of(trial(drawn, phrase, rule))) == cells, (drawn, policy)


def test_only_words_of_the_speaker_mislead_about_left_and_right() -> None:
    """From your point of view, left is the participant's own."""
    assert chosen_cells("no-flip", views_of(trial(LEFTMOST_TEST, "red ball", "leftmost", frame="participant"))) == [
        "B1"
    ]
