"""Trains small transformers to answer questions about drawn pictures, with reasoning before the answer and without.

Usage: reasoner.py SCENES STEPS SEED   Runs in the environment that `scripts/bench reasoning` makes. A small
convolutional network, the eye, learns to name the objects of pictures, and a transformer to describe what the eye sees.
Both are the same for all: from there, one transformer learns to answer, others to reason first, in words or with
points. All see the same batches of the same questions. Prints a line of JSON for each.
"""

from __future__ import annotations

import copy
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import torch
from eye import CELL, HEIGHT, SEEN, SHOWN, SHRUNK, WIDTH, Looks, take_step, train_eye
from torch import Tensor, nn
from torch.nn import functional as F

import vqagen
from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.pictures.looks import SceneLooks
from vqagen.pictures.masks import masks_of
from vqagen.pictures.sketch import sketch
from vqagen.rewards import hops_score, score
from vqagen.score.intervals import cluster_interval
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules

OBJECTS = (3, 5)
HOPS = {0: ("zero_hop.json", 3), 1: ("one_hop.json", 4), 2: ("two_hop.json", 4), 3: ("three_hop.json", 4)}
"""Hops -> the file of templates, and how many of its families are asked about a scene."""
TEST_SCENES, TEST_EVERY = 600, 2
"""Scenes of the test, and of how many of their questions one is asked."""
ANSWER, TEXT, POINTS = "answer", "text", "points"
WIDE, HEADS, BLOCKS, NEAR, LONGEST = 128, 4, 4, 6, 160
STEP = 4
"""Pixels of a step of the places that are said."""
BATCH, RATE, DESCRIPTIONS, SENTENCES = 32, 1.5e-3, 12, 6
"""Questions in a batch, the highest learning rate, how often a picture is described, and in how many sentences."""
REPLY, THOUGHT, END = "<reply>", "</think>", "<end>"
RELATIONS = {"left": "Left of", "right": "Right of", "front": "In front of", "behind": "Behind"}
SYNONYMS = {
    "large": ("big",), "small": ("tiny",), "metal": ("metallic", "shiny"), "rubber": ("matte",), "sphere": ("ball",),
    "cube": ("block",), "thing": ("object",),
}  # fmt: skip
_PLACE, _SAID_PLACE = re.compile(r"\((\d+), (\d+)\)"), re.compile(r"x(\d+) y(\d+)")


class Run(NamedTuple):
    """A transformer that is trained."""

    form: str
    """The form of its replies."""
    is_blind: bool = False
    """True if it is shown a gray picture."""
    longer: float = 1
    """How many times the steps of the others it takes."""


RUNS = (Run(ANSWER, is_blind=True, longer=0.2), Run(ANSWER), Run(TEXT), Run(POINTS), Run(ANSWER, longer=3))


class Question(NamedTuple):
    """A question about a scene."""

    scene: int
    hops: int
    kind: str
    """The function that gives the answer: count, exist, query_color, …"""
    text: list[str]
    """Words."""
    answer: str
    reasonings: dict[str, str]
    """Form -> the reasoning in it."""


class Data(NamedTuple):
    """Drawn scenes and questions about them."""

    pictures: Tensor
    """Shape (scenes, 3, HEIGHT, WIDTH), bytes."""
    scenes: list[dict[str, Any]]
    boxes: list[list[Sequence[float]]]
    """For each scene those of its objects."""
    questions: list[Question]


def make_data(scenes: int, seed: int) -> Data:
    """Return drawn scenes of a few objects, and questions of each number of hops about them."""
    catalogue, _ = load_catalogue(find_domain("clevr"))
    rules = replace(SamplingRules.from_domain(catalogue.domain), objects=OBJECTS)
    records = [sample_scene(rules, seed, index) for index in range(scenes)]
    looks = SceneLooks.from_domain(catalogue.domain)
    pictures = np.stack([sketch(record, looks, WIDTH) for record in records]).transpose(0, 3, 1, 2)
    questions = []
    for hops, (family, count) in HOPS.items():
        for made in vqagen.generate(records, seed=seed, templates_per_image=count, only=(family,)):
            reasonings = {form: made.reason(form) for form in (TEXT, POINTS)}
            words, kind = words_of(made.question), made.program.nodes[-1].function
            questions.append(Question(made.scene.index, hops, kind, words, made.answer, reasonings))
    boxes = [[mask.box for mask in masks_of(record, looks) if mask.box] for record in records]
    return Data(torch.from_numpy(np.ascontiguousarray(pictures)), records, boxes, questions)


def words_of(text: str) -> list[str]:
    """Return words, signs and places in steps as tokens.

    >>> words_of("The cube is at (212, 140).")
    ['the', 'cube', 'is', 'at', 'x13', 'y8', '.']
    """
    step = SHRUNK * STEP
    text = _PLACE.sub(lambda place: f"x{int(place[1]) // step} y{int(place[2]) // step}", text)
    return re.findall(r"\w+|[^\w\s]", text.lower())


def text_of(words: Sequence[str]) -> str:
    """Return tokens as a text, with the places in pixels of the scene.

    >>> text_of(["at", "x13", "y8", "."])
    'at (215.5, 135.5) .'
    """
    step = SHRUNK * STEP
    middle = (step - 1) / 2
    return _SAID_PLACE.sub(lambda p: f"({int(p[1]) * step + middle}, {int(p[2]) * step + middle})", " ".join(words))


# The transformer ------------------------------------------------------------------------------------------------------

Past = tuple[Tensor, Tensor]
"""The keys and values of the tokens so far."""


class Block(nn.Module):
    """A block of a transformer."""

    def __init__(self) -> None:
        super().__init__()
        self.before, self.between = nn.LayerNorm(WIDE), nn.LayerNorm(WIDE)
        self.ask, self.mix = nn.Linear(WIDE, 3 * WIDE), nn.Linear(WIDE, WIDE)
        self.think = nn.Sequential(nn.Linear(WIDE, 4 * WIDE), nn.ReLU(), nn.Linear(4 * WIDE, WIDE))

    def forward(self, said: Tensor, mask: Tensor | None, past: Past | None) -> tuple[Tensor, Past]:
        """Return the next states of tokens. Attention is plain: torch's fused one is five times as slow in bfloat16."""
        count, length, _ = said.shape
        asked = self.ask(self.before(said)).view(count, length, 3, HEADS, WIDE // HEADS)
        query, key, value = asked.permute(2, 0, 3, 1, 4)
        if past:
            key, value = torch.cat([past[0], key], 2), torch.cat([past[1], value], 2)
        scores = query @ key.transpose(2, 3) * (WIDE // HEADS) ** -0.5
        mixed = (scores if mask is None else scores + mask).softmax(-1).to(value.dtype) @ value
        said = said + self.mix(mixed.transpose(1, 2).reshape(count, length, WIDE))
        return said + self.think(self.between(said)), (key, value)


class Reasoner(nn.Module):
    """A transformer that sees what an eye saw, and a question, and says a reply, word by word."""

    def __init__(self, words: int, names: Sequence[int]) -> None:
        """`names`: the numbers of the words for the values that the eye knows."""
        super().__init__()
        self.names = list(names)
        self.place, self.where = nn.Linear(2, WIDE), nn.Embedding(WIDTH * HEIGHT // CELL**2, WIDE)
        self.read, self.order = nn.Embedding(words, WIDE), nn.Embedding(LONGEST, WIDE)
        self.near = nn.Conv1d(WIDE, WIDE, NEAR, groups=WIDE)
        self.blocks = nn.ModuleList(Block() for _ in range(BLOCKS))
        self.after, self.say = nn.LayerNorm(WIDE), nn.Linear(WIDE, words)
        self.say.weight = self.read.weight
        for table in (self.where, self.read, self.order, self.place):
            nn.init.normal_(table.weight, std=0.2)
        nn.init.constant_(self.after.weight, 0.3)
        nn.init.constant_(self.near.weight, 0.4)

    def forward(self, cells: Tensor, features: Tensor, words: Tensor) -> Tensor:
        """Return the states of words, of shape (questions, words, WIDE)."""
        return self._start(cells, features, words)[0][:, SHOWN:]

    @torch.no_grad()
    def reply(self, cells: Tensor, features: Tensor, words: Tensor, end: int) -> list[list[int]]:
        """Return the likeliest words, one after the other, for questions of one length."""
        states, pasts = self._start(cells, features, words)
        asked = words.shape[1]
        while words.shape[1] < LONGEST:
            words = torch.cat([words, self.say(states[:, -1]).argmax(1)[:, None]], 1)
            if (words[:, asked:] == end).any(1).all():
                break
            states, pasts = self._run(self._heard(words)[:, -1:], None, pasts)
        listed = words[:, asked:].tolist()
        return [each[: each.index(end)] if end in each else each for each in listed]

    def _start(self, cells: Tensor, features: Tensor, words: Tensor) -> tuple[Tensor, list[Past]]:
        """Run picture and words. A cell is the mean of the words for its values, by their weights, and its place."""
        seen = features[..., 2:] @ self.read.weight[self.names] + self.where(cells) + self.place(features[..., :2])
        said = torch.cat([seen, self._heard(words)], 1)
        mask = torch.full((said.shape[1], said.shape[1]), -1e4, dtype=torch.bfloat16).triu(1)
        mask[:, :SHOWN] = 0
        return self._run(said, mask, None)

    def _heard(self, words: Tensor) -> Tensor:
        """Return the first states of words: a word and its place, with a weighted sum of the words before it."""
        read = self.read(words)
        near = self.near(F.pad(read.transpose(1, 2), (NEAR - 1, 0))).transpose(1, 2)
        heard: Tensor = read + near + self.order.weight[: words.shape[1]]
        return heard

    def _run(self, said: Tensor, mask: Tensor | None, pasts: list[Past] | None) -> tuple[Tensor, list[Past]]:
        kept = []
        for number, block in enumerate(self.blocks):
            said, past = block(said, mask, pasts and pasts[number])
            kept.append(past)
        return self.after(said), kept


class Codes:
    """Numbers of words; 0 is for filling up and for words that were not learned."""

    def __init__(self, known: Data) -> None:
        said = {word for each in known.questions for word in [*each.text, each.answer]}
        said |= {word for each in known.questions for text in each.reasonings.values() for word in words_of(text)}
        self.words = ["", REPLY, THOUGHT, END, *sorted(said)]
        self.numbers = {word: number for number, word in enumerate(self.words)}

    def of(self, words: Iterable[str]) -> list[int]:
        """Return words as numbers."""
        return [self.numbers.get(word, 0) for word in words]


def describe(known: Data, looks: Looks, codes: Codes, model: Reasoner, seed: int) -> None:
    """Teach a model to describe pictures, in batches twice as large."""
    draws = np.random.default_rng(seed)
    optimizer, rates = _optimizer(model, DESCRIPTIONS * -(-len(known.scenes) // (2 * BATCH)))
    for _ in range(DESCRIPTIONS):
        for batch in torch.from_numpy(draws.permutation(len(known.scenes))).split(2 * BATCH):
            said = [" ".join(_sentence(known.scenes[at], draws) for _ in range(SENTENCES)) for at in batch.tolist()]
            rows = [(codes.of([REPLY]), codes.of(words_of(text))) for text in said]
            take_step(_said_loss(model, (looks[0][batch], looks[1][batch]), rows), optimizer, rates, 1.0)


def _sentence(scene: dict[str, Any], draws: np.random.Generator) -> str:
    """Return a sentence about an object, as "the big thing is red cube metal." or "Left of the red ball is the …"."""
    things = scene["objects"]
    at, name = int(draws.integers(len(things))), list(RELATIONS)[draws.integers(len(RELATIONS))]
    known, others = _telling(things, at, draws), scene["relationships"][name][at]
    start = f"the {_called(things[at], known, draws)}"
    if others and draws.random() < 0.5:
        other = things[others[draws.integers(len(others))]]
        return f"{RELATIONS[name]} {start} is the {_called(other, SEEN)}."
    untold = [name for name in SEEN if name not in known]
    return f"{start} is {' '.join(things[at][untold[place]] for place in draws.permutation(len(untold)))}."


def _telling(things: Sequence[dict[str, Any]], at: int, draws: np.random.Generator) -> list[str]:
    """Return some attributes, if possible as few as tell the object from the others, but never all."""
    order = [SEEN[kind] for kind in draws.permutation(len(SEEN))]
    for count in range(1, len(order)):
        alike = [thing for thing in things if all(thing[name] == things[at][name] for name in order[:count])]
        if len(alike) == 1:
            return order[:count]
    return order[:-1]


def _called(thing: dict[str, Any], known: Sequence[str], draws: np.random.Generator | None = None) -> str:
    """Return what an object is called by some of its attributes, with synonyms if there are `draws`."""
    words = [thing[name] for name in ("size", "color", "material") if name in known]
    words.append(thing["shape"] if "shape" in known else "thing")
    ways = [(word, *SYNONYMS.get(word, ())) for word in words]
    return " ".join(each[draws.integers(len(each))] if draws else each[0] for each in ways)


def train(
    known: Data, looks: Looks, codes: Codes, start: Reasoner, form: str, steps: int, seed: int
) -> tuple[Reasoner, int]:
    """Return a copy of a model that learned to reply in a form, and how many tokens it has seen."""
    model, tokens = copy.deepcopy(start), 0
    owners = torch.tensor([each.scene for each in known.questions])
    rows = [(codes.of([*each.text, REPLY]), codes.of(_reply(each, form))) for each in known.questions]
    optimizer, rates = _optimizer(model, steps)
    for batch in islice(_batches([len(text) for text, _ in rows], seed), steps):
        scenes, chosen = owners[batch], [rows[at] for at in batch]
        take_step(_said_loss(model, (looks[0][scenes], looks[1][scenes]), chosen), optimizer, rates, 1.0)
        tokens += sum(SHOWN + len(text) + len(reply) for text, reply in chosen)
    return model, tokens


def _reply(question: Question, form: str) -> list[str]:
    """Return the words of the right reply."""
    thought = [] if form == ANSWER else [*words_of(question.reasonings[form]), THOUGHT]
    return [*thought, question.answer, END]


def _batches(lengths: Sequence[int], seed: int) -> Iterator[list[int]]:
    """Yield batches of questions of like lengths, in random order, without end."""
    draws = np.random.default_rng(seed)
    while True:
        order, made = draws.permutation(len(lengths)).tolist(), []
        for start in range(0, len(order), 16 * BATCH):
            part = sorted(order[start : start + 16 * BATCH], key=lambda at: lengths[at])
            made += [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        yield from (made[at] for at in draws.permutation(len(made)))


def _said_loss(model: Reasoner, looks: Looks, rows: Sequence[tuple[list[int], list[int]]]) -> Tensor:
    """Return the loss of the words of replies."""
    words = nn.utils.rnn.pad_sequence([torch.tensor(text + reply) for text, reply in rows], batch_first=True)
    place = torch.arange(words.shape[1] - 1)[None]
    starts = torch.tensor([len(text) - 1 for text, _ in rows])[:, None]
    ends = torch.tensor([len(text) + len(reply) - 1 for text, reply in rows])[:, None]
    is_reply = (place >= starts) & (place < ends)
    with torch.autocast("cpu", torch.bfloat16):
        scores = model.say(model(*looks, words[:, :-1])[is_reply])
    return F.cross_entropy(scores.float(), words[:, 1:][is_reply])


def _optimizer(model: Reasoner, steps: int) -> tuple[torch.optim.Optimizer, Any]:
    optimizer = torch.optim.AdamW(model.parameters(), RATE, weight_decay=0.01, betas=(0.9, 0.98), fused=True)
    return optimizer, torch.optim.lr_scheduler.OneCycleLR(optimizer, RATE, total_steps=steps, pct_start=0.1)


# The test -------------------------------------------------------------------------------------------------------------


def replies(model: Reasoner, asked: Data, looks: Looks, codes: Codes, form: str) -> Iterator[tuple[Question, str]]:
    """Yield questions with the replies to them."""
    model.eval()
    alike = defaultdict[int, list[Question]](list)
    for each in asked.questions:
        alike[len(each.text)].append(each)
    for questions in alike.values():
        words = torch.tensor([codes.of([*each.text, REPLY]) for each in questions])
        scenes = torch.tensor([each.scene for each in questions])
        with torch.autocast("cpu", torch.bfloat16):
            made = model.reply(looks[0][scenes], looks[1][scenes], words, codes.numbers[END])
        for each, numbers in zip(questions, made, strict=True):
            said = text_of([codes.words[number] for number in numbers])
            yield each, said if form == ANSWER else f"<think>{said}"


def judge(replied: Iterable[tuple[Question, str]], boxes: Sequence[list[Sequence[float]]], form: str) -> dict[int, Any]:
    """Return by hops the accuracy, its interval, the accuracy by type, and the reward of hops if there are points."""
    found = dict[int, Any]()
    judged = [(each, score(reply, each.answer, domain="clevr"), reply) for each, reply in replied]
    for number in HOPS:
        rows = [row for row in judged if row[0].hops == number]
        scores, by_type = np.array([right for _, right, _ in rows]), defaultdict[str, list[float]](list)
        for each, right, _ in rows:
            by_type[each.kind].append(right)
        interval = cluster_interval(scores, np.array([each.scene for each, _, _ in rows]))
        found[number] = {
            "questions": len(rows),
            "accuracy": _rounded(scores),
            "interval": [round(bound, 3) for bound in interval],
            "by type": {kind: _rounded(each) for kind, each in sorted(by_type.items())},
        }
        if form == POINTS:
            hops = [hops_score(reply, each.reasonings[POINTS], boxes[each.scene]) for each, _, reply in rows]
            found[number]["hops"] = _rounded([reward for reward in hops if reward is not None])
    return found


def _rounded(scores: Any) -> float:
    return round(float(np.mean(scores)), 3)


def guess(known: Data, asked: Data) -> dict[int, float]:
    """Return by hops how often the commonest answer to questions of the same type is right."""
    answers = defaultdict[tuple[int, str], Counter[str]](Counter)
    for each in known.questions:
        answers[each.hops, each.kind][each.answer] += 1
    commonest = {asked: max(sorted(found), key=found.__getitem__) for asked, found in answers.items()}
    hits = {hops: [commonest[hops, q.kind] == q.answer for q in asked.questions if q.hops == hops] for hops in HOPS}
    return {hops: _rounded(each) for hops, each in hits.items()}


def main(scenes: int, steps: int, seed: int) -> None:
    """Make questions, train all, and print how they answer new questions. The seed is that of the transformers."""
    torch.set_num_threads(1)
    known, new = make_data(scenes, 0), make_data(TEST_SCENES, 1)
    new = new._replace(questions=new.questions[::TEST_EVERY])
    print(f"{len(known.questions):,} questions to learn from, {len(new.questions):,} of the test", flush=True)
    print(json.dumps({"commonest answer": guess(known, new)}), flush=True)
    torch.manual_seed(0)
    eye, codes = train_eye(known.pictures, known.scenes), Codes(known)
    torch.manual_seed(seed)
    start = Reasoner(len(codes.words), codes.of(value for values in eye.kinds.values() for value in values))
    seen, tested = eye.look(known.pictures), eye.look(new.pictures)
    gray = eye.look(torch.full_like(known.pictures[:1], 127))
    describe(known, seen, codes, start, seed)
    for run in RUNS:
        began, count = time.process_time(), max(2, round(steps * run.longer))
        shown, shown_new = (_of_all(gray, data) for data in (known, new)) if run.is_blind else (seen, tested)
        model, tokens = train(known, shown, codes, start, run.form, count, seed)
        seconds = round(time.process_time() - began)
        found = judge(replies(model, new, shown_new, codes, run.form), new.boxes, run.form)
        print(json.dumps({**run._asdict(), "steps": count, "tokens": tokens, "seconds": seconds, **found}), flush=True)


def _of_all(gray: Looks, data: Data) -> Looks:
    """Return a look at a gray picture in place of each picture."""
    count = len(data.scenes)
    return gray[0].expand(count, -1), gray[1].expand(count, -1, -1)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
