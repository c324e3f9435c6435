"""A pinhole camera: the pixels of points, and the rays of pixels.

Picture coordinates are continuous pixels from the top left corner, so the centre of pixel (column 0, row 0) is
(0.5, 0.5). Depth is measured along the optical axis, not along the ray.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
"""Three coordinates as a tuple: results are the same to the last bit everywhere."""

FITTING_STEPS = 5
"""Steps after which the position of a fitted camera has settled, from half a unit away."""


PRIOR = 0.3
"""Pixels that a fitted camera may miss for being one unit nearer to the usual position."""


class Pixel(NamedTuple):
    """A point as the camera sees it: x to the right, y down, depth in world units (negative: behind the camera)."""

    x: float
    y: float
    depth: float


class Box(NamedTuple):
    """Whole pixels: columns left .. right - 1 and rows top .. bottom - 1. Empty when right <= left or bottom <= top."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True)
class Camera:
    """A camera of `width` x `height` pixels whose axis goes through the middle of the picture.

    `right`, `up` and `forward` are orthogonal unit vectors of the world.
    """

    position: Vector
    right: Vector
    up: Vector
    forward: Vector
    focal_pixels: float
    width: int
    height: int

    @classmethod
    def looking_at(
        cls, position: Vector, target: Vector, up: Vector, focal_pixels: float, width: int, height: int
    ) -> Camera:
        """Return the camera at `position` whose axis goes through `target`, with `up` upwards in the picture.

        Only sums, products, quotients and square roots are used: they are the same to the last bit on every machine.
        Raises ValueError if the target is the position itself or lies straight along `up`.
        """
        forward = unit(minus(target, position))
        right = unit(cross(forward, unit(up)))
        return cls(position, right, cross(right, forward), forward, focal_pixels, width, height)

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Camera:
        """Return the camera that `to_record` wrote. Raises ValueError if it has no directions at right angles."""
        ways = right, up, forward = [vector_of(record[key]) for key in ("right", "up", "forward")]
        products = [dot(one, other) for one in ways for other in ways]
        if any(abs(product - (number % 4 == 0)) > 1e-3 for number, product in enumerate(products)):
            raise ValueError("right, up and forward: expected vectors of length 1 at right angles")
        x, y, z = record["position"]
        focal, width, height = float(record["focal_pixels"]), record["width"], record["height"]
        return cls((x, y, z), right, up, forward, focal, width, height)

    def to_record(self) -> dict[str, Any]:
        """Return the camera as JSON holds it."""
        return {
            **{key: list(getattr(self, key)) for key in ("position", "right", "up", "forward")},
            **{key: getattr(self, key) for key in ("focal_pixels", "width", "height")},
        }

    def scaled(self, width: int, height: int = 0) -> Camera:
        """Return the same view in pictures of another width; their height follows if it is not given."""
        share = width / self.width
        return replace(
            self,
            focal_pixels=self.focal_pixels * share,
            width=width,
            height=height or max(1, round(self.height * share)),
        )

    def project(self, point: Vector) -> Pixel:
        """Return the pixel of a point, which may lie outside the picture. Raises ZeroDivisionError at depth 0."""
        offset = minus(point, self.position)
        depth = dot(offset, self.forward)
        scale = self.focal_pixels / depth
        return Pixel(
            self.width / 2 + dot(offset, self.right) * scale, self.height / 2 - dot(offset, self.up) * scale, depth
        )

    def bounding_box(self, points: Iterable[Vector]) -> Box:
        """Return the smallest box inside the picture that holds the hull of the points.

        If a point is not in front of the camera, the box is the whole picture.
        """
        points = list(points)
        if any(dot(minus(point, self.position), self.forward) <= 0 for point in points):
            return Box(0, 0, self.width, self.height)
        pixels = [self.project(point) for point in points]
        return Box(
            max(0, math.floor(min(pixel.x for pixel in pixels))),
            max(0, math.floor(min(pixel.y for pixel in pixels))),
            min(self.width, math.ceil(max(pixel.x for pixel in pixels))),
            min(self.height, math.ceil(max(pixel.y for pixel in pixels))),
        )

    def rays(self, box: Box) -> tuple[Array, Array, Array]:
        """Return the x, y and z parts of the directions through the pixel centres of `box`, of shape (rows, columns).

        Directions have length 1 along the optical axis: `position + depth * direction` is the point at that depth.
        """
        across = (np.arange(box.left, box.right) + 0.5 - self.width / 2)[np.newaxis, :] / self.focal_pixels
        upward = (self.height / 2 - 0.5 - np.arange(box.top, box.bottom))[:, np.newaxis] / self.focal_pixels
        x, y, z = (self.right[i] * across + self.up[i] * upward + self.forward[i] for i in range(3))
        return x, y, z


@dataclass(frozen=True)
class CameraRules:
    """The rules for the camera of a sampled scene: each coordinate of `position` moves by up to `jitter` either way.

    Metadata may give other values than these defaults, which describe the released scenes of Johnson et al. 2017, in
    which the camera moves but always looks at the same point (measured on 1,000 of them, exact to a pixel's rounding).
    """

    position: Vector = (7.48113, -6.50764, 5.34367)
    jitter: float = 0.5
    look_at: Vector = (0.0, 0.0, 0.0)
    up: Vector = (0.0, 0.0, 1.0)
    focal_pixels: float = 525.0
    width: int = 480
    height: int = 320

    def at(self, position: Vector) -> Camera:
        """Return the camera at `position`. Raises ValueError as `Camera.looking_at` does."""
        return Camera.looking_at(position, self.look_at, self.up, self.focal_pixels, self.width, self.height)

    def fitted(self, points: Sequence[Vector], seen: Sequence[Vector]) -> Camera:
        """Return the camera that explains best at which pixels and depths, `seen`, a scene's points are.

        Gauss-Newton from `position`; depths are known far better than pixels and weigh more. A place near `position`
        is preferred, which decides where one or two points do not. Without points the camera is at `position`.
        """
        if not points:
            return self.at(self.position)
        wanted = np.array(seen, dtype=np.float64)

        def misses(position: Array) -> Array:
            x, y, z = position.tolist()
            camera = self.at((x, y, z))
            miss = (np.array([camera.project(point) for point in points]) - wanted) * (1, 1, 300)
            return np.concatenate((miss.ravel(), PRIOR * (position - self.position)))

        position = np.array(self.position, dtype=np.float64)
        for _ in range(FITTING_STEPS):
            now = misses(position)
            slope = np.stack([(misses(position + step) - now) / 1e-5 for step in np.eye(3) * 1e-5], axis=1)
            position = position - np.linalg.lstsq(slope, now, rcond=None)[0]
        x, y, z = position.tolist()
        return self.at((x, y, z))

    def draw(self, rng: Random) -> Camera:
        """Return a camera at a jittered position."""
        x, y, z = (part + self.jitter * (2 * rng.random() - 1) for part in self.position)
        return self.at((x, y, z))


def seen_directions(camera: Camera) -> dict[str, Vector]:
    """Return the directions of a viewer at `camera`: four along the ground, two along z; rounded to 6 digits.

    Raises ValueError if the camera's right points straight up or down.
    """
    x, y, _ = unit((camera.right[0], camera.right[1], 0.0))
    directions = {
        "left": (-x, -y, 0.0),
        "right": (x, y, 0.0),
        "behind": (-y, x, 0.0),
        "front": (y, -x, 0.0),
        "above": (0.0, 0.0, 1.0),
        "below": (0.0, 0.0, -1.0),
    }
    # Adding zero turns -0.0, which JSON would show, into 0.0.
    return {name: (round(x, 6) + 0.0, round(y, 6) + 0.0, z) for name, (x, y, z) in directions.items()}


# Vectors ------------------------------------------------------------------------------------------------------------

PARALLEL = 1e-9
"""Sine of the angle below which two directions count as parallel."""


def vector_of(numbers: Sequence[float]) -> Vector:
    """Return the vector of a JSON list."""
    x, y, z = map(float, numbers)
    return x, y, z


def minus(a: Vector, b: Vector) -> Vector:
    """Return the vector from b to a."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def dot(a: Vector, b: Vector) -> float:
    """Return the scalar product, summed from x to z."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vector, b: Vector) -> Vector:
    """Return the vector product."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def unit(a: Vector) -> Vector:
    """Return `a` scaled to length 1. Raises ValueError for a vector without direction."""
    length = math.sqrt(dot(a, a))
    if length < PARALLEL:
        raise ValueError(f"no direction in {a}")
    return a[0] / length, a[1] / length, a[2] / length
