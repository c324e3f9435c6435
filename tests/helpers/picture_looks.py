"""What tests of pictures need: the looks of a domain, scenes of a few objects, and colors as people see them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scene_records import sampled_scenes

from vqagen.language.domain_files import find_domain, load_catalogue
from vqagen.pictures.looks import SceneLooks
from vqagen.world.camera import CameraRules

Floats = NDArray[np.float64]


@cache
def looks_of(domain: str = "clevr") -> SceneLooks:
    """The looks of a shipped domain."""
    return SceneLooks.from_domain(load_catalogue(find_domain(domain))[0].domain)


def standing(*objects: str, gap: float = 2.2) -> dict[str, Any]:
    """A CLEVR scene of objects such as "large red metal cube" in a row before the usual camera."""
    rules = CameraRules()
    camera = rules.at(rules.position)
    made = []
    for number, words in enumerate(objects):
        size, color, material, shape = words.split()
        radius = 0.7 if size == "large" else 0.35
        along = gap * (number - (len(objects) - 1) / 2)
        place = (0.656 * along, 0.754 * along, radius)
        pixel = camera.project(place)
        looks = {"size": size, "color": color, "material": material, "shape": shape, "rotation": 20.0 * number}
        seen = [round(pixel.x), round(pixel.y), pixel.depth]
        made.append({**looks, "3d_coords": list(place), "pixel_coords": seen})
    return {"image_filename": "row.png", "objects": made}


def lab(pixels: NDArray[np.uint8]) -> Floats:
    """CIE L*a*b* of pixels, whose last axis is sRGB."""
    share = pixels / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    xyz = linear @ matrix.T / np.array([0.9505, 1.0, 1.089])
    curve = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    x, y, z = np.moveaxis(curve, -1, 0)
    found: Floats = np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], axis=-1)
    return found


def plain_scenes(count: int, domain: str = "clevr") -> list[dict[str, Any]]:
    """Sampled scenes of at most four objects."""
    return [{**scene, "objects": scene["objects"][:4]} for scene in sampled_scenes(count, domain=domain)]
