"""Annotations of generated dialogs (spec 5.2 and 5.3), worked out again from mentions, facts and the scene."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
from depth import fewer
from dialog_ledger import found_and_answer
from generated_dialogs import dialogs_about, generated, real_scenes
from scene_records import sampled_scenes

Record = Mapping[str, Any]
CLASSES = {"count-all": "None", "count-attribute": "None", "exist-attribute": "None"}
CLASSES |= {"count-other": "All", "exist-other": "All"}


def said(dialog: Record) -> list[Record]:
    """The caption and the rounds, by their numbers."""
    return [dialog["caption"], *dialog["rounds"]]


def referring() -> Iterator[tuple[Record, int, Record, Record]]:
    """Yield (dialog, number, round, its history) of the rounds that refer to something."""
    for dialog in (*generated(fewer(20)), *generated(fewer(20), domain="market")):
        for number, each in enumerate(dialog["rounds"], start=1):
            if each["label"] not in CLASSES:
                yield dialog, number, each, each["history"]


def revealed(dialog: Record, number: int) -> int:
    """The round that told of the focus what its description says; of "it" and "them" the last round."""
    args = dialog["rounds"][number - 1]["program"]["args"]
    if "descriptor" not in args:
        return number - 1
    ((attribute, value),) = args["descriptor"].items()
    fact = {"fact": "attribute", "object": args["focus"], "attribute": attribute, "value": value}
    return next(earlier for earlier, each in enumerate(said(dialog)) if fact in each["knowledge_delta"])


def last_mentioned(dialog: Record, number: int, entity: int) -> int:
    """The last round before one that mentioned an entity, or whose answer was about it."""
    rounds = enumerate(said(dialog)[:number])
    return max(r for r, each in rounds if entity in [mention["entity"] for mention in each["mentions"]])


def spans_of(dialog: Record, number: int, entity: int) -> list[list[int] | None]:
    """The words that mention an entity in a round."""
    return [each["span"] for each in said(dialog)[number]["mentions"] if each["entity"] == entity]


def test_class_is_that_of_the_label() -> None:
    """Spec 5.2; B7: rounds about all that was mentioned were said to depend on nothing."""
    for dialog in generated(fewer(20)):
        for each in dialog["rounds"]:
            history = each["history"]
            assert history["class"] == CLASSES.get(each["label"], "Coref")
            if history["class"] != "Coref":
                assert history["antecedents"] == []
                assert {history[key] for key in ("dependence", "d_reveal", "d_last", "d_ellipsis")} == {None}


def test_distance_is_that_to_the_round_which_told_what_is_referred_to_by() -> None:
    """Spec 5.1 and 5.2: the caption is round 0, and `dependence` counts it as -1."""
    for dialog, number, _, history in referring():
        told = revealed(dialog, number)
        assert (history["d_reveal"], history["dependence"]) == (number - told, told - 1)


def test_last_distance_is_that_to_the_last_mention() -> None:
    for dialog, number, each, history in referring():
        entity = history["antecedents"][0]["entity"]
        assert history["d_last"] == number - last_mentioned(dialog, number, entity), each


def test_first_antecedent_is_the_referent() -> None:
    """Its entity has the objects of the program's focus or group, and both spans are those of its mentions."""
    for dialog, number, each, history in referring():
        args, first = each["program"]["args"], history["antecedents"][0]
        assert dialog["entities"][first["entity"]]["objects"] == args.get("group", [args.get("focus")])
        assert first["round"] == revealed(dialog, number)
        assert first["antecedent_span"] in (*spans_of(dialog, first["round"], first["entity"]), None)
        role = next(mention for mention in each["mentions"] if mention["role"] in ("focus", "group"))
        assert (first["entity"], first["span"]) == (role["entity"], role["span"])


def test_via_says_how_the_referent_is_referred_to() -> None:
    for _, _, each, history in referring():
        first = history["antecedents"][0]
        spoken = "np" if "early" in each["label"] else "group" if "group" in each["label"] else "pronoun"
        assert first["via"] == (spoken if first["span"] else "ellipsis")


def test_ellipsis_depends_on_the_round_before() -> None:
    """Spec 5.2: sim-early and imm2 leave out words that the last question said."""
    for _, number, each, history in referring():
        is_elliptic = "imm2" in each["label"] or "sim" in each["label"]
        assert history["d_ellipsis"] == (1 if is_elliptic else None)
        elided = [other["round"] for other in history["antecedents"] if other["via"] == "ellipsis"]
        assert elided == ([number - 1] if is_elliptic else [])


def test_entities_have_all_their_mentions() -> None:
    """The clusters of a dialog are its mentions with words, once each; an object has one cluster as a single thing."""
    for dialog in (*generated(fewer(20)), *generated(fewer(20), domain="market")):
        mentions = [
            (mention["entity"], number, mention["span"])
            for number, each in enumerate(said(dialog))
            for mention in each["mentions"]
            if mention["span"]
        ]
        clusters = [
            (entity["id"], mention["round"], mention["span"])
            for entity in dialog["entities"]
            for mention in entity["mentions"]
        ]
        assert sorted(clusters) == sorted(mentions)
        assert [entity["id"] for entity in dialog["entities"]] == list(range(len(dialog["entities"])))


def test_spans_lie_within_their_sentence() -> None:
    """A mention is at least one word."""
    for dialog in generated(fewer(20)):
        for each in said(dialog):
            words = each.get("text", each.get("question", "")).split()
            for span in (mention["span"] for mention in each["mentions"] if mention["span"]):
                assert 0 <= span[0] < span[1] <= len(words)


def assert_programs_run(dialogs: tuple[Record, ...], scenes: list[Any]) -> None:
    for dialog in dialogs:
        for each in dialog["rounds"]:
            found, answer = found_and_answer(scenes[dialog["scene_index"]], each["program"])
            assert answer == each["answer"]
            assert type(answer) is type(each["answer"])
            assert each["referents"]["result"] == sorted(found)


def test_programs_run_to_their_answers_and_referents() -> None:
    """Law 3, and the reference's first law of loaders: counts are numbers, all else is text."""
    assert_programs_run(generated(fewer(20)), sampled_scenes(fewer(20)))


@pytest.mark.slow
def test_programs_about_real_scenes_run_to_their_answers() -> None:
    scenes = real_scenes(60)
    assert_programs_run(tuple(dialogs_about(scenes, seed=5).records), scenes)


# Facts ----------------------------------------------------------------------------------------------------------------


def others_like(scene: Record, fact: Record) -> int:
    value = scene["objects"][fact["object"]][fact["attribute"]]
    return with_value(scene, {"attribute": fact["attribute"], "value": value}) - 1


def with_value(scene: Record, fact: Record) -> int:
    return sum(each[fact["attribute"]] == fact["value"] for each in scene["objects"])


def there(scene: Record, fact: Record) -> int:
    return len(scene["relationships"][fact["relation"]][fact["object"]])


IS_TRUE: Mapping[str, Callable[[Any, Any], bool]] = {
    "attribute": lambda scene, fact: scene["objects"][fact["object"]][fact["attribute"]] == fact["value"],
    "value-count": lambda scene, fact: with_value(scene, fact) == fact["count"],
    "value-exists": lambda scene, fact: (with_value(scene, fact) > 0) is fact["exists"],
    "related-count": lambda scene, fact: there(scene, fact) == fact["count"],
    "related-exists": lambda scene, fact: (there(scene, fact) > 0) is fact["exists"],
    "alike-count": lambda scene, fact: others_like(scene, fact) == fact["count"],
    "alike-exists": lambda scene, fact: (others_like(scene, fact) > 0) is fact["exists"],
    "scene-count": lambda scene, fact: len(scene["objects"]) == fact["count"],
    "rest-exists": lambda scene, fact: isinstance(fact["exists"], bool),
    "group": lambda scene, fact: (
        fact["size"] in (None, len(fact["objects"]))
        and all(fact["values"].items() <= scene["objects"][i].items() for i in fact["objects"])
    ),
}


def test_facts_are_true_of_the_scene() -> None:
    for dialog in generated(fewer(20)):
        scene = sampled_scenes(20)[dialog["scene_index"]]
        for fact in (fact for each in said(dialog) for fact in each["knowledge_delta"]):
            assert IS_TRUE[fact["fact"]](scene, fact), fact


def test_facts_are_told_once() -> None:
    """B4: a round's facts are its own; what later rounds convey does not come into earlier ones."""
    for dialog in generated(fewer(20)):
        facts = [fact for each in said(dialog) for fact in each["knowledge_delta"] if fact["fact"] != "group"]
        assert all(fact not in facts[:place] for place, fact in enumerate(facts))


def test_boxes_are_those_of_the_things_talked_about() -> None:
    for dialog in generated(fewer(20)):
        scene = sampled_scenes(20)[dialog["scene_index"]]
        talked_of = {str(i) for entity in dialog["entities"] for i in entity["objects"]}
        assert set(dialog["objects"]) == talked_of
        for name, boxes in dialog["objects"].items():
            assert boxes.items() <= scene["objects"][int(name)].items()
