"""Rendered pictures of scenes: paths of light through a studio with three lamps, a sun and a backdrop (Mitsuba, OIDN).

Backdrop and surfaces are those of the base scene of Johnson et al. 2017, whose numbers hold for its camera. So are the
lamps, but for strengths, and for the back lamp, which is 1.4 times as far away: they were fitted so that shadows are as
dark as in CLEVR's own pictures while the floor stays as bright. All turn and grow with the camera of another domain.
The same machine and versions give the same pixels: the film has a box filter, for others depend on the order in which
threads end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from vqagen.extras import needed
from vqagen.pictures.looks import GLASS, METAL, SATIN, SceneLooks, Surface, Thing, moved, turn_about_z
from vqagen.pictures.meshes import Mesh, smooth_mesh
from vqagen.pictures.sketch import to_srgb
from vqagen.pictures.variants import SCALAR, name_variant
from vqagen.world.camera import Camera, CameraRules, minus

WHAT = "a rendered picture"
DEPTH = 4
"""Most segments of a path from the camera."""
JITTER = 1.0
"""How far each coordinate of a lamp but the sun moves either way."""
SUN = "sun"


LAMPS: Sequence[Mapping[str, Any]] = (
    {"name": "key", "position": (6.447, -2.905, 4.258), "half_side": 0.5, "radiance": [18.0, 16.77, 14.71]},
    {"name": "fill", "position": (-4.671, -4.014, 3.011), "half_side": 0.5, "radiance": [3.73, 4.0, 4.9]},
    {"name": "back", "position": (-1.637, 3.704, 8.142), "half_side": 0.7, "radiance": [11.1, 11.1, 11.1]},
    {"name": SUN, "position": (24.87, -11.676, 53.34), "half_side": 10.6, "radiance": [3.66, 3.66, 3.66]},
)
"""Square lamps that shine at the middle of the scene, as scenes record them."""
BACKDROP = ((-12.0, 0.0), (5.0, 0.05), (11.0, 0.45), (14.3, 2.5), (16.2, 8.5), (18.1, 23.0))
"""Distance from the middle, away from the camera, and height of the backdrop's edges."""
BACKDROP_WAY, BACKDROP_WIDTH, BACKDROP_COLOR = (-0.903, 0.429), 45.0, 0.8


class Studio:
    """Renders objects of a domain's scenes, one picture after the other, in one thread.

    Raises UsageError if the renderer is not installed.
    """

    def __init__(self, looks: SceneLooks, samples: int, variant: str = SCALAR) -> None:
        self._samples = samples
        self._mi: Any = needed("mitsuba", "render", WHAT)
        self._oidn: Any = needed("pyoidn", "render", WHAT)
        self._mi.set_variant(name_variant(variant))
        self._mi.set_log_level(self._mi.LogLevel.Error)  # it warns of samples that it rounds up, which `about` says
        needed("drjit", "render", WHAT).set_thread_count(1)
        usual, camera = CameraRules(), looks.rules.camera
        self._scale = _distance(camera) / _distance(usual)
        self._turn = turn_about_z(_heading(camera) - _heading(usual))

    @cached_property
    def about(self) -> dict[str, Any]:
        """The renderer with its version, its variant, and the paths of a pixel, of which it rounds some numbers up."""
        samples = self._mi.load_dict(self._sampler).sample_count()
        return {"renderer": f"mitsuba {self._mi.__version__}", "variant": self._mi.variant(), "samples": samples}

    @property
    def _sampler(self) -> dict[str, Any]:
        return {"type": "multijitter", "sample_count": self._samples}

    # Lamps --------------------------------------------------------------------------------------------------------

    def lights(self, scene: Mapping[str, Any], rng: Random) -> list[dict[str, Any]]:
        """Return the lamps that a scene records, or the usual ones at places moved by chance."""
        if "lights" in scene:
            return list(scene["lights"])
        return [self._moved_lamp(lamp, rng) for lamp in LAMPS]

    def _moved_lamp(self, lamp: Mapping[str, Any], rng: Random) -> dict[str, Any]:
        moves = [0.0 if lamp["name"] == SUN else JITTER * (2 * rng.random() - 1) for _ in range(3)]
        place = self._scale * (self._turn @ (np.array(lamp["position"]) + moves))
        position = [round(float(part), 4) for part in place]
        return {**lamp, "position": position, "half_side": round(lamp["half_side"] * self._scale, 4)}

    # Pictures -----------------------------------------------------------------------------------------------------

    def render(self, camera: Camera, things: Sequence[Thing], lights: Sequence[Mapping[str, Any]]) -> NDArray[np.uint8]:
        """Return the picture of objects, of shape (height, width, 3)."""
        surfaces = [surface for thing in things for surface in thing.surfaces]
        world = {
            "type": "scene",
            "integrator": {"type": "path", "max_depth": DEPTH, "hide_emitters": True},
            "sensor": self._sensor(camera),
            "backdrop": self._backdrop,
            **{f"lamp {number}": self._lamp(lamp) for number, lamp in enumerate(lights)},
            **{f"surface {number}": self._surface(surface) for number, surface in enumerate(surfaces)},
        }
        # Optimized, shapes are merged in an order that differs from run to run, and so do the lamps that paths choose.
        loaded = self._mi.load_dict(world, parallel=False, optimize=False)
        noisy = np.array(self._mi.render(loaded, seed=0), dtype=np.float32)
        return to_srgb(self._denoised(noisy))

    def _sensor(self, camera: Camera) -> dict[str, Any]:
        ahead = [at + way for at, way in zip(camera.position, camera.forward, strict=True)]
        film = {"width": camera.width, "height": camera.height, "rfilter": {"type": "box"}}
        return {
            "type": "perspective",
            "fov_axis": "x",
            "fov": math.degrees(2 * math.atan(camera.width / 2 / camera.focal_pixels)),
            "near_clip": 1e-3 * self._scale,
            "far_clip": 1e4 * self._scale,
            "to_world": self._mi.ScalarTransform4f().look_at(origin=camera.position, target=ahead, up=camera.up),
            "film": {"type": "hdrfilm", "pixel_format": "rgb", "component_format": "float32", **film},
            "sampler": self._sampler,
        }

    def _lamp(self, lamp: Mapping[str, Any]) -> dict[str, Any]:
        place = lamp["position"]
        up = (0, 0, 1) if abs(place[0]) + abs(place[1]) > 1e-6 else (0, 1, 0)
        transform = self._mi.ScalarTransform4f()
        return {
            "type": "rectangle",
            "to_world": transform.look_at(origin=place, target=(0, 0, 0), up=up) @ transform.scale(lamp["half_side"]),
            "emitter": {"type": "area", "radiance": _rgb(lamp["radiance"])},
        }

    @cached_property
    def _backdrop(self) -> Any:
        """The floor and what it rises to: ten triangles, for many thin ones would double the time."""
        way = np.array((*BACKDROP_WAY, 0.0))
        side = np.array((-way[1], way[0], 0.0))
        edges = [
            way * along + np.array((0, 0, height)) + side * beside
            for along, height in BACKDROP
            for beside in (BACKDROP_WIDTH, -BACKDROP_WIDTH)
        ]
        faces = [(2 * i, 2 * i + 1, 2 * j + 1, 2 * j) for i, j in pairwise(range(len(BACKDROP)))]
        mesh = smooth_mesh(np.array(edges), faces)
        one_sided = mesh._replace(triangles=mesh.triangles[: len(mesh.triangles) // 2])
        bsdf = {"type": "diffuse", "reflectance": _rgb([BACKDROP_COLOR] * 3)}
        return self._mesh(moved(one_sided, self._scale * self._turn), bsdf)

    def _surface(self, surface: Surface) -> Any:
        return self._mesh(surface.mesh, _bsdf(surface))

    def _mesh(self, mesh: Mesh, bsdf: Mapping[str, Any]) -> Any:
        properties = self._mi.Properties()
        properties["bsdf"] = self._mi.load_dict({"type": "twosided", "bsdf": bsdf} if _is_opaque(bsdf) else bsdf)
        made = self._mi.Mesh("mesh", len(mesh.points), len(mesh.triangles), properties, has_vertex_normals=True)
        parts = self._mi.traverse(made)
        parts["vertex_positions"] = mesh.points.astype(np.float32).ravel()
        parts["vertex_normals"] = mesh.normals.astype(np.float32).ravel()
        parts["faces"] = mesh.triangles.astype(np.uint32).ravel()
        parts.update()
        return made

    # Noise --------------------------------------------------------------------------------------------------------

    @cached_property
    def _device(self) -> Any:
        device = self._oidn.Device()
        device.set_int("numThreads", 1)
        device.commit()
        return device

    def _denoised(self, noisy: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return linear colors without noise. Fast quality takes 0.23 s in place of 0.43, and loses 0.7 dB of 43."""
        oidn, given, clean = self._oidn, np.ascontiguousarray(noisy), np.empty_like(noisy)
        with oidn.Filter(self._device, oidn.OIDN_FILTER_TYPE_RT) as denoiser:
            denoiser.set_image(oidn.OIDN_IMAGE_COLOR, given, oidn.OIDN_FORMAT_FLOAT3)
            denoiser.set_image(oidn.OIDN_IMAGE_OUTPUT, clean, oidn.OIDN_FORMAT_FLOAT3)
            denoiser.set_bool("hdr", True)
            denoiser.set_quality(oidn.OIDN_QUALITY_FAST)
            denoiser.commit()
            denoiser.execute()
        error = self._device.get_error()
        assert error is None, error
        return clean


def _distance(rules: CameraRules) -> float:
    return math.dist(rules.position, rules.look_at)


def _heading(rules: CameraRules) -> float:
    x, y, _ = minus(rules.look_at, rules.position)
    return math.atan2(y, x)


# Surfaces -----------------------------------------------------------------------------------------------------------


def _bsdf(surface: Surface) -> dict[str, Any]:
    """Return how a surface takes light, by its finish."""
    matt = {"type": "diffuse", "reflectance": _rgb(surface.color)}
    if surface.finish == METAL:
        return _blend(0.6, _mirror(0.2, surface.color), _mirror(0.03, surface.color))
    if surface.finish == SATIN:
        return _blend(0.06, matt, _mirror(0.15))
    if surface.finish == GLASS:
        clear = [0.35 + 0.6 * channel for channel in surface.color]
        return _blend(0.55, matt, {"type": "thindielectric", "specular_transmittance": _rgb(clear)})
    return _blend(0.02, matt, _mirror(0.35))


def _is_opaque(bsdf: Mapping[str, Any]) -> bool:
    return not any(isinstance(part, Mapping) and part.get("type") == "thindielectric" for part in bsdf.values())


def _blend(weight: float, one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return a mixture of two surfaces; `weight` is the share of the other one."""
    return {"type": "blendbsdf", "weight": weight, "one": one, "other": other}


def _mirror(roughness: float, color: Sequence[float] = (1.0, 1.0, 1.0)) -> dict[str, Any]:
    return {
        "type": "roughconductor",
        "material": "none",
        "distribution": "ggx",
        "alpha": roughness,
        "specular_reflectance": _rgb(color),
    }


def _rgb(color: Sequence[float]) -> dict[str, Any]:
    return {"type": "rgb", "value": [float(channel) for channel in color]}
