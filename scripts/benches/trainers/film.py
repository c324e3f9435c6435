"""Trains a small FiLM network (Perez et al. 2018) on drawn pictures and questions, and one that sees no pictures.

Usage: film.py SCENES EPOCHS FAMILY,…   Runs in the environment that `scripts/bench learning` makes. Questions come in
pairs: the same text about two scenes, with different answers. Prints a line of JSON for each network.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter, defaultdict
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

import vqagen
from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.pictures.looks import SceneLooks
from vqagen.pictures.sketch import sketch
from vqagen.world.sampler import sample_scene
from vqagen.world.sampling_rules import SamplingRules

WIDTH, OBJECTS, ABOUT_A_SCENE = 120, (3, 5), 4
CHANNELS, WORDS, BATCH = 64, 128, 32
TEST_SCENES = 500


class Questions(NamedTuple):
    """Questions about scenes; all but `pictures` have a place for each question."""

    pictures: Tensor
    """Shape (scenes, 3, height, width), bytes."""
    scenes: Tensor
    """The place of the scene."""
    texts: list[list[str]]
    """Words."""
    answers: list[str]
    types: list[str]
    """count, exist, query, …"""
    pairs: list[int]


def make_questions(scenes: int, seed: int, families: tuple[str, ...]) -> Questions:
    """Return questions in pairs about drawn scenes of a few objects."""
    catalogue, _ = load_catalogue(find_domain("clevr"))
    rules = replace(SamplingRules.from_domain(catalogue.domain), objects=OBJECTS)
    records = [sample_scene(rules, seed, index) for index in range(scenes)]
    looks = SceneLooks.from_domain(catalogue.domain)
    pictures = np.stack([sketch(record, looks, WIDTH) for record in records]).transpose(0, 3, 1, 2)
    made = list(vqagen.generate(records, seed=seed, templates_per_image=ABOUT_A_SCENE, balance="pairs", only=families))
    return Questions(
        torch.from_numpy(np.ascontiguousarray(pictures)),
        torch.tensor([each.scene.index for each in made]),
        [each.question.lower().replace("?", "").replace(",", "").replace(";", "").split() for each in made],
        [each.answer for each in made],
        [each.question_type for each in made],
        [each.pair or 0 for each in made],
    )


class Codes:
    """Numbers of words and answers, those of the training questions; 0 is for others and for filling up."""

    def __init__(self, known: Questions) -> None:
        counts = Counter(word for text in known.texts for word in text)
        self.words = {word: number for number, word in enumerate(sorted(counts), start=1)}
        self.answers = {answer: number for number, answer in enumerate(sorted(set(known.answers)))}

    def texts(self, asked: Questions) -> Tensor:
        """Return words as numbers, of shape (questions, longest)."""
        longest = max(map(len, asked.texts))
        numbers = [[self.words.get(word, 0) for word in text] + [0] * (longest - len(text)) for text in asked.texts]
        return torch.tensor(numbers)

    def right(self, asked: Questions) -> Tensor:
        """Return the number of each answer; -1 if it is unknown."""
        return torch.tensor([self.answers.get(answer, -1) for answer in asked.answers])


class FilmBlock(nn.Module):
    """A residual block whose channels the question scales and shifts. It looks at each place by itself."""

    def __init__(self) -> None:
        super().__init__()
        self.mix, self.look = nn.Conv2d(CHANNELS + 2, CHANNELS, 1), nn.Conv2d(CHANNELS, CHANNELS, 1, bias=False)
        self.norm = nn.BatchNorm2d(CHANNELS, affine=False)

    def forward(self, seen: Tensor, places: Tensor, scale: Tensor, shift: Tensor) -> Tensor:
        """Return what is seen, of shape (questions, CHANNELS, height, width)."""
        mixed = F.relu(self.mix(torch.cat([seen, places.expand(len(seen), -1, -1, -1)], 1)))
        looked = self.norm(self.look(mixed)) * (1 + scale)[..., None, None] + shift[..., None, None]
        return mixed + F.relu(looked)


class Network(nn.Module):
    """Answers questions about pictures."""

    BLOCKS = 2

    def __init__(self, words: int, answers: int) -> None:
        super().__init__()
        self.embed = nn.Embedding(words + 1, 48, padding_idx=0)
        self.read = nn.GRU(48, WORDS, batch_first=True)
        steps = [(3, 32, 2), (32, 48, 2), (48, CHANNELS, 2), (CHANNELS, CHANNELS, 1)]
        self.see = nn.Sequential(
            *(
                layer
                for low, high, stride in steps
                for layer in (nn.Conv2d(low, high, 3, stride, 1, bias=False), nn.BatchNorm2d(high), nn.ReLU())
            )
        )
        self.film = nn.Linear(WORDS, self.BLOCKS * 2 * CHANNELS)
        self.blocks = nn.ModuleList(FilmBlock() for _ in range(self.BLOCKS))
        self.answer = nn.Sequential(nn.Linear(2 * CHANNELS + WORDS, 256), nn.ReLU(), nn.Linear(256, answers))

    def forward(self, pictures: Tensor, owners: Tensor, texts: Tensor) -> Tensor:
        """Return scores of answers. `owners` are the places of the questions' pictures among `pictures`."""
        lengths = (texts > 0).sum(1).clamp(min=1)
        states, _ = self.read(self.embed(texts))
        read = states[torch.arange(len(texts)), lengths - 1]
        seen = self.see(pictures.float() / 127.5 - 1)[owners]
        height, width = seen.shape[2:]
        down, across = torch.meshgrid(torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij")
        places = torch.stack([down, across])[None]
        film = self.film(read).view(len(texts), self.BLOCKS, 2, CHANNELS)
        for number, block in enumerate(self.blocks):
            seen = block(seen, places, film[:, number, 0], film[:, number, 1])
        pooled = torch.cat([seen.amax((2, 3)), seen.sum((2, 3)) / 10, read], 1)
        found: Tensor = self.answer(pooled)
        return found


def train(known: Questions, codes: Codes, epochs: int, is_blind: bool) -> Network:
    """Return a trained network; a blind one is shown gray."""
    torch.manual_seed(0)
    network = Network(len(codes.words), len(codes.answers))
    texts, right = codes.texts(known), codes.right(known)
    about: dict[int, list[int]] = defaultdict(list)
    for number, scene in enumerate(known.scenes.tolist()):
        about[scene].append(number)
    scenes, batches = sorted(about), -(-len(about) // BATCH)
    optimizer = torch.optim.AdamW(network.parameters(), 1e-3, weight_decay=1e-4)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=epochs * batches, pct_start=0.15)
    for epoch in range(epochs):
        began, losses, hits = time.monotonic(), 0.0, 0
        for chosen in torch.randperm(len(scenes)).split(BATCH):
            places = [scenes[place] for place in chosen.tolist()]
            asked = torch.tensor([number for place in places for number in about[place]])
            owners = torch.tensor([at for at, place in enumerate(places) for _ in about[place]])
            scores = network(_shown(known.pictures[places], is_blind, augments=True), owners, texts[asked])
            loss = F.cross_entropy(scores, right[asked])
            optimizer.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            rates.step()
            losses, hits = losses + loss.item(), hits + int((scores.argmax(1) == right[asked]).sum())
        seconds = time.monotonic() - began
        print(
            f"epoch {epoch + 1}: loss {losses / batches:.3f} right {hits / len(right):.3f} {seconds:.0f} s", flush=True
        )
    return network


def _shown(pictures: Tensor, is_blind: bool, augments: bool = False) -> Tensor:
    """Return pictures as a network sees them; moved by up to two pixels if it learns from them."""
    if is_blind:
        return torch.full_like(pictures[:, :, :16, :16], 127)
    if not augments:
        return pictures
    height, width = pictures.shape[2:]
    padded = F.pad(pictures.float(), (2, 2, 2, 2), mode="replicate")
    top, left = torch.randint(0, 5, (2,)).tolist()
    return padded[:, :, top : top + height, left : left + width]


def judge(network: Network, asked: Questions, codes: Codes, is_blind: bool) -> dict[str, Any]:
    """Return the accuracy, the share of pairs of which both are right, and the accuracy by type."""
    network.eval()
    right, texts, hits = codes.right(asked), codes.texts(asked), []
    with torch.no_grad():
        for places in torch.arange(len(right)).split(256):
            pictures = _shown(asked.pictures[asked.scenes[places]], is_blind)
            hits.append(network(pictures, torch.arange(len(places)), texts[places]).argmax(1) == right[places])
    found = torch.cat(hits).tolist()
    by_pair, by_type = defaultdict[int, list[bool]](list), defaultdict[str, list[bool]](list)
    for hit, pair, kind in zip(found, asked.pairs, asked.types, strict=True):
        by_pair[pair].append(hit)
        by_type[kind].append(hit)
    both = [all(each) for each in by_pair.values() if len(each) == 2]
    return {
        "questions": len(found),
        "accuracy": round(sum(found) / len(found), 3),
        "pairs": len(both),
        "paired": round(sum(both) / len(both), 3),
        "by type": {kind: round(sum(each) / len(each), 3) for kind, each in sorted(by_type.items())},
    }


def main(scenes: int, epochs: int, families: tuple[str, ...]) -> None:
    """Make questions, train both networks, and print how they answer new ones."""
    torch.set_num_threads(1)
    began = time.monotonic()
    known, new = make_questions(scenes, 0, families), make_questions(TEST_SCENES, 1, families)
    codes = Codes(known)
    print(f"{len(known.answers):,} questions about {scenes:,} scenes in {time.monotonic() - began:.0f} s", flush=True)
    for name, is_blind, turns in (("FiLM", False, epochs), ("blind", True, -(-epochs // 4))):  # texts are learned soon
        network = train(known, codes, turns, is_blind)
        print(json.dumps({"network": name, "epochs": turns, **judge(network, new, codes, is_blind)}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), tuple(sys.argv[3].split(",")))
