"""Meshes are closed, look outwards, and cover the pixels that rays hit; those of files are read or refused."""

from __future__ import annotations

import math
import struct
from pathlib import Path

import numpy as np
import pytest

from vqagen.errors import VqagenError
from vqagen.pictures.looks import moved, turn_about_z
from vqagen.pictures.mesh_files import read_mesh
from vqagen.pictures.meshes import Mesh, cube, cylinder, lathe, ring, sphere
from vqagen.pictures.raster import hits
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


def test_nothing_behind_the_camera_is_seen() -> None:
    rules = CameraRules()
    camera = rules.at(rules.position)

    assert len(hits(camera, moved(cube(), np.eye(3), (15, -13, 10))).pixels) == 0
    assert len(hits(camera, moved(cube(), np.eye(3), rules.position)).pixels) == 0


def as_ply(order: str) -> bytes:
    """A tetrahedron as binary PLY of a byte order, with a property and an element that do not matter."""
    name = {"<": "little", ">": "big"}[order]
    head = (
        f"ply\nformat binary_{name}_endian 1.0\ncomment x\nelement vertex 4\nproperty float x\nproperty float y\n"
        "property double z\nproperty uchar red\nelement face 4\nproperty list uchar int vertex_indices\nend_header\n"
    )
    points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    faces = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
    body = b"".join(struct.pack(f"{order}ffdB", *point, 7) for point in points)
    return head.encode() + body + b"".join(struct.pack(f"{order}B3i", 3, *face) for face in faces)


def test_obj_and_ply_files_are_read(tmp_path: Path) -> None:
    """Triangles are there twice, for files do not say reliably which side is outside."""
    (tmp_path / "cube.obj").write_text(CUBE_OBJ)
    (tmp_path / "a.ply").write_bytes(as_ply("<"))
    (tmp_path / "b.ply").write_bytes(as_ply(">"))
    text = "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\n"
    text += "element face 1\nproperty list uchar int vertex_index\nend_header\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
    (tmp_path / "c.ply").write_text(text)
    block = read_mesh(tmp_path / "cube.obj")
    tetrahedra = [read_mesh(tmp_path / name) for name in ("a.ply", "b.ply")]

    assert len(block.points) == 8 and len(block.triangles) == 24
    assert volume(block._replace(triangles=block.triangles[:12])) == pytest.approx(8)
    assert [volume(each._replace(triangles=each.triangles[:4])) for each in tetrahedra] == pytest.approx([1 / 6] * 2)
    assert len(read_mesh(tmp_path / "c.ply").triangles) == 2


def test_files_without_a_mesh_are_refused(tmp_path: Path) -> None:
    wrong = {
        "text.obj": (b"once upon a time\n", "it needs faces"),
        "picture.obj": (b"\x89PNG\r\n\x1a\n\xff", "neither an OBJ nor a PLY"),
        "letters.obj": (b"v a b c\nf 1 2 3\n", "neither an OBJ nor a PLY"),
        "far.obj": (b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", "it needs faces"),
        "nan.obj": (b"v 0 0 nan\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "not numbers"),
        "line.obj": (b"v 0 0 0\nv 1 0 0\nf 1 2\n", "it needs faces"),
        "short.ply": (as_ply("<")[:-9], "neither an OBJ nor a PLY"),
    }
    for name, (content, message) in wrong.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(VqagenError, match=message):
            read_mesh(tmp_path / name)
    with pytest.raises(VqagenError, match="cannot read the mesh"):
        read_mesh(tmp_path / "none.obj")
