"""Meshes of Wavefront OBJ and Stanford PLY files: points, normals if the file has them, and polygons."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from vqagen.errors import BadInput, PlaceError, Problem
from vqagen.pictures.meshes import Mesh, smooth_mesh

_FORMATS = {
    **dict(zip(("char", "uchar", "short", "ushort", "int", "uint", "float", "double"), "bBhHiIfd", strict=True)),
    **dict(zip(("int8", "uint8", "int16", "uint16", "int32", "uint32", "float32", "float64"), "bBhHiIfd", strict=True)),
}
"""Types of PLY -> their codes for `struct`."""
Row = dict[str, list[float]]
Content = tuple[list[Sequence[float]], list[list[int]]]
"""Points and faces."""
Take = Callable[[str], float]
"""Reads the next number, of a type of PLY."""


def read_mesh(path: Path) -> Mesh:
    """Read a mesh, whose z points up. Raises PlaceError for no file, and BadInput for one that is no mesh."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise PlaceError(f"cannot read the mesh {path}: {error.strerror}") from None
    try:
        points, faces = _read_ply(content) if content.startswith(b"ply") else _read_obj(content)
        found = np.array(points, dtype=np.float64).reshape(-1, 3)
    except (ValueError, KeyError, IndexError, StopIteration, struct.error, UnicodeDecodeError):
        raise BadInput([Problem("neither an OBJ nor a PLY file with a mesh", str(path))]) from None
    numbers = [number for face in faces for number in face]
    if not faces or min(map(len, faces)) < 3 or min(numbers) < 0 or max(numbers) >= len(found):
        raise BadInput([Problem("no mesh: it needs faces of at least three of its points", str(path))])
    if not np.isfinite(found).all():
        raise BadInput([Problem("the mesh has points that are not numbers", str(path))])
    return smooth_mesh(found, faces)


def _read_obj(content: bytes) -> Content:
    points, faces = list[Sequence[float]](), list[list[int]]()
    for line in content.decode("utf-8").splitlines():
        key, *values = line.split() or [""]
        if key == "v":
            points.append([float(value) for value in values[:3]])
        elif key == "f":
            numbers = [int(each.split("/")[0]) for each in values]
            faces.append([number - 1 if number > 0 else len(points) + number for number in numbers])
    return points, faces


def _read_ply(content: bytes) -> Content:
    head, _, body = content.partition(b"end_header")
    body = body.partition(b"\n")[2]
    elements: list[tuple[str, int, list[list[str]]]] = []
    form = ""
    for line in head.decode("ascii").splitlines():
        match line.split():
            case ["format", form, _]:
                pass
            case ["element", name, number]:
                elements.append((name, int(number), []))
            case ["property", *words]:
                elements[-1][2].append(words)
    take = _taker(form, body)
    points, faces = list[Sequence[float]](), list[list[int]]()
    for name, count, properties in elements:
        for _ in range(count):
            row: Row = {words[-1]: _property(words, take) for words in properties}
            if name == "vertex":
                points.append([row[axis][0] for axis in "xyz"])
            elif name == "face":
                listed = row.get("vertex_indices") or row["vertex_index"]
                faces.append([int(each) for each in listed])
    return points, faces


def _property(words: Sequence[str], take: Take) -> list[float]:
    """Return the values of a property, which `words` declare: `float x`, or `list uchar int vertex_indices`."""
    if words[0] != "list":
        return [take(words[0])]
    return [take(words[2]) for _ in range(int(take(words[1])))]


def _taker(form: str, body: bytes) -> Take:
    """Return the function that reads the next number of a type."""
    if form == "ascii":
        words = iter(body.split())
        return lambda _: float(next(words))
    order, place = {"binary_little_endian": "<", "binary_big_endian": ">"}[form], 0

    def take(kind: str) -> float:
        nonlocal place
        code = order + _FORMATS[kind]
        (found,) = struct.unpack_from(code, body, place)
        place += struct.calcsize(code)
        return float(found)

    return take
