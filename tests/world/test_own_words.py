"""The words of a domain of one's own: files carry them, and whoever reads answers knows them without a flag."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from commands import Commands

from vqagen import rewards
from vqagen.authoring.scaffold import write_starter
from vqagen.errors import InputWarning
from vqagen.items.answers import Vocabulary, vocabulary_of
from vqagen.language.domain_files import SHIPPED_DOMAINS, find_domain, load_domain_files
from vqagen.language.synonyms import words_of

SIZE = {
    "text": ["What size is the <C> <K>?"],
    "params": [{"type": "Color", "name": "<C>"}, {"type": "Kind", "name": "<K>"}],
    "nodes": [
        {"type": "scene"},
        {"type": "filter_unique", "inputs": [0], "side_inputs": ["<C>", "<K>"]},
        {"type": "query_size", "inputs": [1]},
    ],
}


@pytest.fixture
def farm(vqagen_: Commands) -> Commands:
    """A folder with the starter's domain in `farm`, whose sizes can be said in two ways, and questions about size."""
    write_starter(Path("farm"))
    synonyms = json.loads(Path("farm/synonyms.json").read_text())
    Path("farm/synonyms.json").write_text(json.dumps(synonyms | {"small": ["small", "wee"], "hen": ["hen", "chook"]}))
    Path("size.json").write_text(json.dumps([SIZE]))
    vqagen_.done("scenes sample --domain ./farm --count 12 -o scenes.json")
    vqagen_.done("generate --domain ./farm --templates size.json --scenes scenes.json -o size-q.json")
    return vqagen_


def generator(file: str) -> dict[str, Any]:
    """The `generator` of a document's info."""
    found: dict[str, Any] = json.loads(Path(file).read_text())["info"]["generator"]
    return found


def test_evaluate_knows_the_words_of_ones_own_domain(farm: Commands) -> None:
    """Inside a sentence, and as its own synonyms; the folder of the domain is not needed."""
    asked = json.loads(Path("size-q.json").read_text())["questions"]
    said = [f"It is {'wee' if each['answer'] == 'small' else 'a large one'}." for each in asked]
    lines = ({"question_index": at, "prediction": reply} for at, reply in enumerate(said))
    Path("replies.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    Path("farm/metadata.json").unlink()

    farm.done("evaluate size-q.json replies.jsonl -o report.json")
    report = json.loads(Path("report.json").read_text())

    assert {each["answer"] for each in asked} == {"small", "large"}
    assert report["tables"]["overall"]["rows"][0]["accuracy"] == 1
    assert "words:" not in farm.done("evaluate size-q.json replies.jsonl").out.decode()


def test_the_report_says_which_replies_are_compared_as_whole_texts(farm: Commands) -> None:
    """A file of version 1.0.0 does not carry the words of a domain that is not shipped."""
    document = json.loads(Path("size-q.json").read_text())
    document["info"]["generator"] |= {"domain": None, "vocabulary": None}
    Path("old.json").write_text(json.dumps(document))
    answers = ({"question_index": at, "prediction": each["answer"]} for at, each in enumerate(document["questions"]))
    Path("right.jsonl").write_text("".join(json.dumps(line) + "\n" for line in answers))
    ran = farm.done("evaluate old.json right.jsonl").out.decode()

    number = len(document["questions"])
    assert f"words: replies to {number} questions are compared as whole texts, as the file's info does not carry" in ran


@pytest.mark.slow
def test_shards_and_dialogs_carry_the_same_words(farm: Commands) -> None:
    farm.done("dialog --domain ./farm --scenes scenes.json --count 2 -o said.json")
    for number in (1, 2):
        farm.done(f"generate --domain ./farm --scenes scenes.json --count 6 --shard {number}/2 -o part{number}.json")
    farm.done("merge part1.json part2.json -o merged.json")
    farm.done("generate --domain farm/. --scenes scenes.json --count 6 -o whole.json")

    assert Path("merged.json").read_bytes() == Path("whole.json").read_bytes()
    words = generator("merged.json")["vocabulary"]
    assert generator("said.json")["vocabulary"] == words == generator("size-q.json")["vocabulary"]
    assert words["language"] == "en"
    assert words["attributes"]["size"] == {"small": ["wee"], "large": ["big"]}
    assert words["attributes"]["kind"]["goose"] == ["geese"]
    assert words["attributes"]["kind"]["hen"] == ["chook", "chooks", "hens"]


@pytest.mark.parametrize("name", SHIPPED_DOMAINS)
def test_what_a_file_carries_reads_as_its_domain_does(name: str) -> None:
    """Also after JSON, and files of version 1.0.0 are read by the name of their domain."""
    loaded = load_domain_files(find_domain(name))
    from_domain = Vocabulary.of_attributes(words_of(loaded.domain, loaded.synonyms))
    by_name = vocabulary_of({"generator": {"domain": name}}, are_dialogs=False)

    assert dict(by_name.words) == dict(from_domain.words)
    assert by_name.groups == from_domain.groups


@pytest.mark.parametrize(
    "vocabulary",
    [{}, [], "red", {"attributes": []}, {"attributes": {"color": ["red"]}}, {"attributes": {"c": {"r": "x"}}}],
)
def test_a_vocabulary_of_another_form_is_none(vocabulary: Any) -> None:
    assert vocabulary_of({"generator": {"vocabulary": vocabulary}}, are_dialogs=False).words == {}


def test_rewards_take_the_words_as_the_export_writes_them(farm: Commands) -> None:
    words = json.dumps(generator("size-q.json")["vocabulary"])

    assert rewards.score("<answer>wee</answer>", "small", "value", domain=words) == 1
    assert rewards.score("<answer>large</answer>", "small", "value", domain=words) == 0
    assert rewards.score("<answer>wee</answer>", "small", "value") == 0


def test_rewards_warn_once_of_words_that_are_not_known(recwarn: pytest.WarningsRecorder) -> None:
    rewards._warn_unknown.cache_clear()
    rewards._vocabulary.cache_clear()
    for answer in ("mauve", "duck", "3", "yes", "B2", "red", "mauve"):
        rewards.score("<answer>x</answer>", answer)

    warned = [str(each.message) for each in recwarn if each.category is InputWarning]
    assert len(warned) == 1
    assert re.search(
        "no column `domain`: its words are not known, so that replies are compared as whole texts", warned[0]
    )
