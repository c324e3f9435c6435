"""Meshes are closed, look outwards, and cover the pixels that rays hit; those of files are read or refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from vqagen.errors import VqagenError
from vqagen.pictures.looks import moved, turn_about_z
from vqagen.pictures.meshes import Mesh, cube, cylinder, lathe, read_mesh, ring, sphere
from vqagen.pictures.raster import Hits, hits
from vqagen.world.camera import Box, CameraRules
from vqagen.world.solids import Solid, entry_depths

SOLIDS = {
    "cube": (cube(), 7.83),
    "sharp cube": (cube(0.0), 8.0),
    "sphere": (sphere(), 4 / 3 * math.pi),
    "cylinder": (cylinder(), 6.25),
    "sharp cylinder": (cylinder(0.0), 2 * math.pi),
    "ring": (ring(), 2 * math.pi**2 * 0.75 * 0.25**2),
    "cone": (lathe(((0, -1), (1, -1), (0, 1))), 2 / 3 * math.pi),
}
"""Meshes and their volumes."""
CUBE_OBJ = """# a cube
v -1 -1 -1
v 1 -1 -1
v 1 1 -1
v -1 1 -1
v -1 -1 1
v 1 -1 1
v 1 1 1
v -1 1 1
f 4 3 2 1
f 5/1 6/2 7/3 8/4
f 1 2 6 5
f 2 3 7 6
f 3 4 8 7
f -8 -4 -1 -5
"""


def volume(mesh: Mesh) -> float:
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


@pytest.mark.parametrize("name", SOLIDS)
def test_a_solid_is_closed_and_its_normals_point_outside(name: str) -> None:
    mesh, expected = SOLIDS[name]
    a, b, c = (mesh.points[mesh.triangles[:, i]] for i in range(3))
    faces = np.cross(b - a, c - a)
    agree = (faces * mesh.normals[mesh.triangles].sum(axis=1)).sum(axis=1)

    assert volume(mesh) == pytest.approx(expected, rel=0.02)
    assert (agree[np.linalg.norm(faces, axis=1) > 1e-9] > 0).all()
    assert np.linalg.norm(mesh.normals, axis=1) == pytest.approx(np.ones(len(mesh.normals)))
    assert np.abs(mesh.points).max() == pytest.approx(1)


@pytest.mark.parametrize("kind", ["cube", "sphere", "cylinder"])
def test_pixels_are_those_that_rays_hit(kind: str) -> None:
    """Depths agree; outlines of round solids differ by a few pixels, for they have 48 corners."""
    rules = CameraRules()
    camera = rules.at(rules.position)
    mesh = {"cube": cube(0.0), "sphere": sphere(), "cylinder": cylinder(0.0)}[kind]
    placed = moved(mesh, 0.7 * turn_about_z(math.radians(33)), (0.5, -1, 0.7))
    found = np.full(camera.width * camera.height, np.inf)
    seen = hits(camera, placed).nearest()
    found[seen.pixels] = 1 / seen.nearness
    wanted = entry_depths(
        camera, Solid(kind, (0.5, -1.0, 0.7), 0.7, 33.0), camera.rays(Box(0, 0, camera.width, camera.height))
    ).ravel()
    both = np.isfinite(wanted) & np.isfinite(found)

    assert both.sum() > 4000
    assert (np.isfinite(wanted) != np.isfinite(found)).sum() <= (0 if kind == "cube" else 25)
    assert np.median(np.abs(wanted[both] - found[both])) < 4e-3


def test_the_nearest_entry_of_a_pixel_is_in_front() -> None:
    """Of several at one depth the first."""
    rng = np.random.default_rng(3)
    pixels, depths = rng.integers(0, 50, 400), rng.integers(1, 6, 400).astype(float)
    seen = Hits(pixels, np.arange(400), np.stack((depths, depths, depths)))
    nearest = [min(np.flatnonzero(pixels == each), key=lambda i: (-depths[i], i), default=-1) for each in range(60)]

    assert seen.front(60).tolist() == nearest
    assert seen.nearest().triangles.tolist() == [i for i in nearest if i >= 0]


def test_nothing_behind_the_camera_is_seen() -> None:
    rules = CameraRules()
    camera = rules.at(rules.position)

    assert len(hits(camera, moved(cube(), np.eye(3), (15, -13, 10))).pixels) == 0
    assert len(hits(camera, moved(cube(), np.eye(3), rules.position)).pixels) == 0


def test_obj_files_are_read(tmp_path: Path) -> None:
    """Triangles are there twice, for files do not say reliably which side is outside."""
    (tmp_path / "cube.obj").write_text(CUBE_OBJ)
    block = read_mesh(tmp_path / "cube.obj")

    assert len(block.points) == 8 and len(block.triangles) == 24
    assert volume(block._replace(triangles=block.triangles[:12])) == pytest.approx(8)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"once upon a time\n", "it needs faces"),
        (b"\x89PNG\r\n\x1a\n\xff", "not an OBJ file"),
        (b"v a b c\nf 1 2 3\n", "not an OBJ file"),
        (b"v 0 0\nv 1 0 0\nf 1 2 1\n", "not an OBJ file"),
        (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "it needs faces"),
        (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 -4\n", "it needs faces"),
        (b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not numbers"),
        (b"v 0 0 0\nv 1 0 0\nf 1 2\n", "it needs faces"),
    ],
)
def test_files_without_a_mesh_are_refused(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.obj").write_bytes(content)
    with pytest.raises(VqagenError, match=message):
        read_mesh(tmp_path / "wrong.obj")
    with pytest.raises(VqagenError, match="cannot read the mesh"):
        read_mesh(tmp_path / "none.obj")
