"""How the objects of a domain's scenes look: the `render` section of its metadata, and the scenes seen through it.

    "render": {
      "shape": {"attribute": "shape", "values": {"cube": "cube", "doll": [{"solid": "sphere", "at": [0, 0, 0.6]}, …]}},
      "color": {"attribute": "color", "values": {"red": [173, 35, 35]}},
      "material": {"attribute": "material", "values": {"metal": {"finish": "metal"}}}
    }

A shape is a solid or a list of parts, in units of the object's radius around its centre. Colors are linear, 0 to 255.
What the section leaves out is a solid of `sampling`, gray, and of rubber.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from vqagen.errors import BadInput, Problem, as_written, collecting, unknown
from vqagen.files.schema import content_of, schema_faults
from vqagen.language.program import Program
from vqagen.pictures.meshes import (
    AROUND,
    CUBE_BEVEL,
    CYLINDER_BEVEL,
    RING_THICKNESS,
    Floats,
    Mesh,
    cube,
    cylinder,
    lathe,
    read_mesh,
    ring,
    sphere,
)
from vqagen.world.camera import Camera, Vector, vector_of
from vqagen.world.domain import Domain
from vqagen.world.sampling_rules import Decided, SamplingRules, SectionReader

Rgb = tuple[float, float, float]
"""A linear color, from 0 to 1."""
GRAY: Sequence[float] = (87, 87, 87)
RUBBER, SATIN, METAL, GLASS = FINISHES = ("rubber", "satin", "metal", "glass")
LARGEST_MISS = 3.0
"""Pixels that a camera may see an object beside its `pixel_coords`: whole numbers alone miss by 0.7."""
DEGREES, RADIANS = "degrees", "radians"
ROTATION_UNIT = "rotation_unit"
"""The key of a scene whose value is the unit of its rotations; degrees if it is missing."""


class Material(NamedTuple):
    """A finish of `FINISHES`, and what it mixes into the color of objects."""

    finish: str = RUBBER
    tint: Rgb = (0.0, 0.0, 0.0)
    tint_share: float = 0.0

    def colored(self, color: Rgb) -> Rgb:
        """Return the color of an object of this material."""
        pairs = zip(color, self.tint, strict=True)
        red, green, blue = ((1 - self.tint_share) * plain + self.tint_share * tint for plain, tint in pairs)
        return red, green, blue


class Part(NamedTuple):
    """A part of a shape: its mesh around the object's centre in units of the radius, and what differs from the rest."""

    mesh: Mesh
    color: Rgb | None = None
    """In place of the object's."""
    shade: float = 1.0
    """Factor of the color."""
    finish: str = ""
    """In place of that of the object's material."""


class Surface(NamedTuple):
    """A part of an object in the world."""

    mesh: Mesh
    color: Rgb
    finish: str


class Thing(NamedTuple):
    """An object in the world."""

    centre: Vector
    radius: float
    surfaces: tuple[Surface, ...]


@dataclass(frozen=True)
class SceneLooks:
    """The shapes, colors and materials of a domain's objects, and the camera that scenes of it were seen by."""

    rules: SamplingRules
    shapes: Decided[tuple[Part, ...]]
    colors: Decided[Rgb]
    materials: Decided[Material]
    mesh_files: tuple[Path, ...] = ()
    has_camera: bool = True
    """True if the domain itself says where its camera is: `sampling.camera`."""

    @classmethod
    def from_domain(cls, domain: Domain, around: int = AROUND) -> SceneLooks:
        """Return the looks of a domain. Raises BadInput with every mistake in its `sampling` and `render` sections.

        `around`: segments of a solid of revolution; half of `AROUND` will do for objects of at most 30 pixels.
        """
        return _LooksReader(domain, around).looks()

    @cached_property
    def unshown(self) -> frozenset[str]:
        """The attributes and relations that no picture shows: neither places nor looks of objects tell them."""
        deciders = {part.attribute for part in (self.shapes, self.colors, self.materials, self.rules.radius)}
        attributes = (attribute.name for key, attribute in self.rules.attributes.items() if key not in deciders)
        return frozenset((*attributes, *self.rules.random_relations))

    def shows(self, program: Program) -> bool:
        """True if a picture shows all that a program asks about, as far as objects can be seen."""
        return not any(
            word in self.unshown
            for node in program.nodes
            for word in (node.function.rpartition("_")[2], *node.values)  # filter_color; relate with left
        )

    def things(self, scene: Mapping[str, Any], source: str = "") -> list[Thing]:
        """Return the objects of a scene record. BadInput names all that lack a place, or look in no known way."""
        check_form(scene, source)
        things, problems = list[Thing](), list[Problem]()
        for number, record in enumerate(scene["objects"]):
            angle = record.get("rotation", 0.0)
            angle = angle if scene.get(ROTATION_UNIT) == RADIANS else math.radians(angle)
            with collecting(problems):
                things.append(self._thing(record, angle, partial(Problem, source=source, path=f"objects[{number}]")))
        if problems:
            raise BadInput(problems)
        return things

    def _thing(self, record: Mapping[str, Any], angle: float, problem: Callable[[str], Problem]) -> Thing:
        properties = (self.rules.radius, self.shapes, self.colors, self.materials)
        radius, parts, color, material = (self._decided(decided, record, problem) for decided in properties)
        place, turn = record["3d_coords"], turn_about_z(angle).T
        surfaces = []
        for part in parts:
            red, green, blue = part.color or material.colored(color)
            shaded = red * part.shade, green * part.shade, blue * part.shade
            mesh = Mesh(
                part.mesh.points @ (float(radius) * turn) + place, part.mesh.normals @ turn, part.mesh.triangles
            )
            surfaces.append(Surface(mesh, shaded, part.finish or material.finish))
        return Thing((place[0], place[1], place[2]), float(radius), tuple(surfaces))

    def _decided(self, decided: Decided[Any], record: Mapping[str, Any], problem: Callable[[str], Problem]) -> Any:
        """Return a property of an object. Raises BadInput if its values decide none."""
        key = decided.attribute
        value: Any = record if key else None
        for step in key.split(".") if key else ():
            value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None and not isinstance(value, str):
            fault = f"{key}: expected text, found {as_written(value)}"
        elif value in decided.values:
            return decided.values[value]
        else:
            known = [name for name in decided.values if isinstance(name, str)]
            fault = unknown(str(key), value, known) if value else f"has no {key}"
        raise BadInput([problem(f"{fault}; are the scenes of another domain than {self.rules.source}?")])

    def camera(self, scene: Mapping[str, Any], source: str = "") -> Camera:
        """Return the camera that a scene records, or that explains its `pixel_coords`. Raises BadInput.

        Objects placed by hand, none of which has `pixel_coords`, are seen by the domain's camera, without its jitter.
        """
        check_form(scene, source)
        if "camera" in scene:
            try:
                return Camera.from_record(scene["camera"])
            except ValueError as error:
                raise BadInput([Problem(str(error), source, "camera")]) from None
        objects, usual = scene["objects"], self.rules.camera.at(self.rules.camera.position)
        unseen = [number for number, record in enumerate(objects) if "pixel_coords" not in record]
        if self.has_camera and len(unseen) == len(objects):
            return usual
        if unseen:
            message = "has no pixel_coords, by which pictures of scenes are made"
            raise BadInput(Problem(message, source, f"objects[{number}]") for number in unseen)
        points = [vector_of(record["3d_coords"]) for record in objects]
        pixels = [vector_of(record["pixel_coords"]) for record in objects]
        try:
            camera = self.rules.camera.fitted(points, pixels)
            seen = [camera.project(point) for point in points]
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            camera = usual
            seen = [camera.project(point) for point in points]
        for number, (found, given) in enumerate(zip(seen, pixels, strict=True)):
            if not math.hypot(found.x - given[0], found.y - given[1]) <= LARGEST_MISS or found.depth <= 0:
                message = (
                    f"pixel_coords: no camera of {self.rules.source} sees the object there, the nearest one sees it at"
                    f" {found.x:.0f}, {found.y:.0f}; give the scene a `camera`, or correct `sampling.camera`"
                )
                raise BadInput([Problem(message, source, f"objects[{number}]")])
        return camera


def check_form(scene: Mapping[str, Any], source: str = "") -> None:
    """Raise BadInput if what pictures read of a scene record has not the form that the JSON Schema of scenes gives."""
    faults = list(schema_faults(scene, "scenes", "pictured"))
    if faults:
        raise BadInput(Problem(message, source, path) for path, message in faults)


# Places -------------------------------------------------------------------------------------------------------------


def moved(mesh: Mesh, matrix: Floats, offset: Sequence[float] = (0.0, 0.0, 0.0)) -> Mesh:
    """Return a mesh whose points went through a matrix and an offset."""
    normals = mesh.normals @ np.linalg.inv(matrix)  # by the inverse of the transpose, as rows
    lengths = np.linalg.norm(normals, axis=1)[:, np.newaxis]
    return Mesh(mesh.points @ matrix.T + np.array(offset), normals / np.where(lengths > 0, lengths, 1), mesh.triangles)


def turn_about_z(angle: float) -> Floats:
    """Return the matrix that turns by an angle, in radians, about z."""
    return _turn(2, angle)


def _turn(axis: int, angle: float) -> Floats:
    matrix = np.eye(3)
    one, two = (axis + 1) % 3, (axis + 2) % 3
    matrix[one, one] = matrix[two, two] = math.cos(angle)
    matrix[two, one], matrix[one, two] = math.sin(angle), -math.sin(angle)
    return matrix


# The section --------------------------------------------------------------------------------------------------------


class _LooksReader(SectionReader):
    """Reader of the `render` section."""

    def __init__(self, domain: Domain, around: int) -> None:
        super().__init__(domain, "render")
        self.around = around
        self.rules = SamplingRules.from_domain(domain)
        self.files: dict[Path, Mesh] = {}

    def looks(self) -> SceneLooks:
        """Return the looks. Raises BadInput with all problems."""
        shapes = self.read_decided("shape", "sphere") if "shape" in self.section else self.rules.solid
        colors, materials = self.read_decided("color", GRAY), self.read_decided("material", RUBBER)
        looks = SceneLooks(
            self.rules,
            Decided(shapes.attribute, {value: self._shape(shape, value) for value, shape in shapes.values.items()}),
            Decided(colors.attribute, {value: _color(color) for value, color in colors.values.items()}),
            Decided(materials.attribute, {value: _material(material) for value, material in materials.values.items()}),
            tuple(self.files),
            "camera" in content_of(self.domain.record.get("sampling")),
        )
        if self.problems:
            raise BadInput(self.problems)
        return looks

    def _shape(self, given: Any, value: object) -> tuple[Part, ...]:
        parts = [{"solid": given}] if isinstance(given, str) else given
        place = f"render.shape.values.{value}" if value else "render.shape"
        return tuple(self._part(content_of(part), f"{place}[{number}]") for number, part in enumerate(parts))

    def _part(self, part: Mapping[str, Any], place: str) -> Part:
        size = part.get("size", 1.0)
        matrix = np.diag(np.broadcast_to(np.array(size, dtype=np.float64), 3))
        for axis, degrees in enumerate(part.get("turn", ())):
            matrix = _turn(axis, math.radians(degrees)) @ matrix
        mesh = self._mesh(part["mesh"], place) if "mesh" in part else _solid(part, self.around)
        color = _color(part["color"]) if "color" in part else None
        return Part(
            moved(mesh, matrix, part.get("at", (0, 0, 0))), color, part.get("shade", 1.0), part.get("finish", "")
        )

    def _mesh(self, name: str, place: str) -> Mesh:
        path = Path(self.domain.source).parent / name
        if path not in self.files:
            problems: list[Problem] = []
            self.files[path] = sphere()
            with collecting(problems):
                self.files[path] = read_mesh(path)
            for problem in problems:
                self.report(f"{place}.mesh", str(problem))
        return self.files[path]


def _solid(part: Mapping[str, Any], around: int) -> Mesh:
    match part["solid"]:
        case "cube":
            return cube(part.get("bevel", CUBE_BEVEL), around)
        case "cylinder":
            return cylinder(part.get("bevel", CYLINDER_BEVEL), around)
        case "cone":
            top = part.get("top", 0.0)
            return lathe(((0, -1), (1, -1), (top, 1), *(((0.0, 1.0),) if top else ())), around)
        case "ring":
            return ring(part.get("thickness", RING_THICKNESS), around)
        case "turned":
            return lathe(tuple((radius, z) for radius, z in part["profile"]), around)
    return sphere(around)


def _color(given: Sequence[float]) -> Rgb:
    return given[0] / 255, given[1] / 255, given[2] / 255


def _material(given: Any) -> Material:
    if isinstance(given, str):
        return Material(given)
    return Material(given["finish"], _color(given.get("tint", (0, 0, 0))), given.get("tint_share", 0.0))
