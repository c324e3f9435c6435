"""A small convolutional network that learns to find and name the objects of drawn pictures, for `reasoner.py`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

WIDTH, HEIGHT = 120, 80
SHRUNK = 4
"""A scene's places are in pixels of a picture that is as many times as wide as the drawn one."""
CELL, SHOWN = 8, 8
"""Pixels of a cell in which an object is found, and how many cells are shown: those that look most like objects."""
SEEN = ("color", "material", "shape", "size")
FEATURES, BATCH, ROUNDS = 128, 64, 10
Looks = tuple[Tensor, Tensor]
"""The cells of each scene that are shown, and what is seen in them."""


class Eye(nn.Module):
    """Finds objects in the cells of a picture, and says their attributes."""

    def __init__(self, kinds: dict[str, list[str]]) -> None:
        """`kinds`: attribute -> its values."""
        super().__init__()
        self.kinds = kinds
        steps = [(3, 32, 2), (32, 64, 2), (64, 96, 2), (96, FEATURES, 1)]
        self.see = nn.Sequential(
            *(
                layer
                for low, high, stride in steps
                for layer in (nn.Conv2d(low, high, 3, stride, 1, bias=False), nn.BatchNorm2d(high), nn.ReLU())
            )
        )
        self.say = nn.Conv2d(FEATURES, 3 + sum(map(len, kinds.values())), 1)

    def forward(self, pictures: Tensor) -> Tensor:
        """Return for each cell, row by row: is there an object, where in the cell, and the scores of values."""
        shown = pictures.float().contiguous(memory_format=torch.channels_last) / 127.5 - 1
        said: Tensor = self.say(self.see(shown)).flatten(2).transpose(1, 2)
        return said

    @torch.no_grad()
    def look(self, pictures: Tensor) -> Looks:
        """Return the cells that look most like objects, in order, and for each its place and the weights of values."""
        self.eval()
        said = torch.cat([self(some) for some in pictures.split(256)])
        cells = said[..., 0].topk(SHOWN, dim=1).indices.sort(1).values
        told = said.gather(1, cells[..., None].expand(-1, -1, said.shape[2]))
        corners = torch.stack([cells % (WIDTH // CELL), cells // (WIDTH // CELL)], 2)
        values = told[..., 3:].split([*map(len, self.kinds.values())], 2)
        weights = [told[..., :1].sigmoid() * part.softmax(2) for part in values]
        return cells, torch.cat([(corners + told[..., 1:3]) / 10, *weights], 2)


def train_eye(pictures: Tensor, scenes: Sequence[dict[str, Any]]) -> Eye:
    """Return an eye that learned to name the objects of drawn scenes."""
    kinds = {name: sorted({thing[name] for scene in scenes for thing in scene["objects"]}) for name in SEEN}
    eye = Eye(kinds).to(memory_format=torch.channels_last)
    targets = _targets(scenes, kinds)
    optimizer = torch.optim.AdamW(eye.parameters(), 1e-3, weight_decay=1e-3)
    steps = ROUNDS * -(-len(scenes) // BATCH)
    rates = torch.optim.lr_scheduler.OneCycleLR(optimizer, 4e-3, total_steps=steps, pct_start=0.15)
    for _ in range(ROUNDS):
        for chosen in torch.randperm(len(scenes)).split(BATCH):
            with torch.autocast("cpu", torch.bfloat16):
                said = eye(pictures[chosen])
            take_step(_eye_loss(said.float(), targets[chosen], kinds), optimizer, rates)
    return eye


def _targets(scenes: Sequence[dict[str, Any]], kinds: dict[str, list[str]]) -> Tensor:
    """Return for each scene and object its cell, its place there, and the numbers of its values; -1 for filling up."""
    rows = torch.full((len(scenes), max(len(scene["objects"]) for scene in scenes), 3 + len(kinds)), -1.0)
    for scene, row in zip(scenes, rows, strict=True):
        for thing, cells in zip(scene["objects"], row, strict=False):
            across, down = (thing["pixel_coords"][axis] / SHRUNK / CELL for axis in (0, 1))
            cell = int(down) * (WIDTH // CELL) + int(across)
            cells[:] = torch.tensor([cell, across % 1, down % 1, *(kinds[name].index(thing[name]) for name in kinds)])
    return rows


def _eye_loss(said: Tensor, targets: Tensor, kinds: dict[str, list[str]]) -> Tensor:
    scene, place = (targets[..., 0] >= 0).nonzero(as_tuple=True)
    right = targets[scene, place]
    cells = right[:, 0].long()
    is_object = torch.zeros(said.shape[:2])
    is_object[scene, cells] = 1
    told = said[scene, cells]
    loss = 10 * F.binary_cross_entropy_with_logits(said[..., 0], is_object) + F.mse_loss(told[:, 1:3], right[:, 1:3])
    parts = told[:, 3:].split([len(values) for values in kinds.values()], 1)
    return loss + sum(F.cross_entropy(part, right[:, 3 + at].long()) for at, part in enumerate(parts))


def take_step(loss: Tensor, optimizer: torch.optim.Optimizer, rates: Any, longest: float = torch.inf) -> None:
    """Take a step of training, with a gradient that is cut at the `longest`."""
    optimizer.zero_grad()
    loss.backward()  # type: ignore[no-untyped-call]
    nn.utils.clip_grad_norm_(optimizer.param_groups[0]["params"], longest)
    optimizer.step()
    rates.step()
