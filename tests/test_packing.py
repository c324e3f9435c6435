"""Packed files: read and written by suffix, the same bytes for the same content, and damage that is told."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import zstandard
from scene_records import sampled_scenes

from vqagen.errors import BadInput, UsageError
from vqagen.files.locations import open_bytes
from vqagen.files.output import atomic_output, check_output
from vqagen.files.packing import PACKINGS, packed
from vqagen.files.parsing import read_text
from vqagen.language.question_files import read_questions
from vqagen.world.loading import find_scenes

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
UNPACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.decompress,
    ".zst": lambda content: zstandard.ZstdDecompressor().stream_reader(content).read(),
}
LONG = b"".join(b'{"question": %d}\n' % number for number in range(50_000))

every_packing = pytest.mark.parametrize("packing", PACKINGS)


def pack(content: bytes, packing: str, piece: int) -> bytes:
    """As `packed` does it, written in pieces of so many bytes."""
    whole = io.BytesIO()
    with packed(whole, packing) as file:
        for start in range(0, len(content), piece):
            file.write(content[start : start + piece])
    return whole.getvalue()


# By suffix ----------------------------------------------------------------------------------------------------------


@every_packing
def test_an_output_is_packed_by_its_suffix(packing: str, tmp_path: Path) -> None:
    target = tmp_path / f"out.jsonl{packing}"
    with atomic_output(str(target)) as file:
        file.write(LONG)

    assert UNPACK[packing](target.read_bytes()) == LONG
    assert read_text(target) == LONG.decode()
    assert [path.name for path in tmp_path.iterdir()] == [target.name]


@every_packing
def test_bytes_do_not_depend_on_the_pieces_they_were_written_in(packing: str) -> None:
    whole = pack(LONG, packing, 1 << 16)

    assert [piece for piece in (71, 1 << 17, len(LONG)) if pack(LONG, packing, piece) != whole] == []


def test_a_zst_is_one_frame_with_a_checksum() -> None:
    content = pack(LONG, ".zst", 1000)
    unpacking = zstandard.ZstdDecompressor().decompressobj()
    unpacking.decompress(content)

    assert (unpacking.eof, unpacking.unused_data) == (True, b"")
    assert zstandard.get_frame_parameters(content).has_checksum


# Reading ------------------------------------------------------------------------------------------------------------


@every_packing
def test_parts_packed_one_by_one_are_read_as_one(packing: str, tmp_path: Path) -> None:
    """Some tools make many frames; an empty one is among them here."""
    path = tmp_path / f"a{packing}"
    path.write_bytes(b"".join(PACK[packing](part) for part in (LONG[:100_000], b"", LONG[100_000:])))
    with open_bytes(path) as file:
        assert file.read() == LONG


@every_packing
def test_a_packed_file_is_read_from_any_byte_on(packing: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{packing}"
    path.write_bytes(PACK[packing](LONG))
    with open_bytes(path) as file:
        for start in (0, 5, 400_000, 17, len(LONG), 0):
            file.seek(start)
            assert file.tell() == start
            assert file.read(30) == LONG[start : start + 30]


@every_packing
@pytest.mark.parametrize("name", ["scenes.json", "scenes.jsonl", "folder"])
def test_scenes_are_read_packed(packing: str, name: str, tmp_path: Path) -> None:
    scenes = sampled_scenes(3)
    lines = [json.dumps(scene).encode() for scene in scenes]
    target = tmp_path / (name if name == "folder" else name + packing)
    if name == "folder":
        target.mkdir()
        for number, line in enumerate(lines):
            (target / f"{number}.json{packing}").write_bytes(PACK[packing](line))
    else:
        text = b'{"scenes": [' + b",".join(lines) + b"]}" if name == "scenes.json" else b"\n".join(lines)
        target.write_bytes(PACK[packing](text))

    assert list(find_scenes(target).records(1)) == scenes[1:]


# What is wrong ------------------------------------------------------------------------------------------------------

SPOILED: dict[str, Callable[[bytes], bytes]] = {
    "not packed": lambda content: b'{"scenes": []}',
    "cut off": lambda content: content[: len(content) // 2],
    "cut off a little": lambda content: content[:-1],
    "changed inside": lambda content: content[:5000] + bytes([content[5000] ^ 255]) + content[5001:],
    "followed by something else": lambda content: content + b"something else",
}


@every_packing
@pytest.mark.parametrize("spoiled", SPOILED)
def test_damage_is_told(packing: str, spoiled: str, tmp_path: Path) -> None:
    path = tmp_path / f"scenes.jsonl{packing}"
    path.write_bytes(SPOILED[spoiled](PACK[packing](LONG)))
    for read in (read_text, lambda path: list(read_questions(path))):
        with pytest.raises(BadInput, match=f"{path.name}.*: (damaged or cut off|not valid JSON)"):
            read(path)


def test_a_zst_cut_off_anywhere_is_damaged(tmp_path: Path) -> None:
    path = tmp_path / "a.zst"
    for length in range(1, 20):
        path.write_bytes(PACK[".zst"](b"some text that is long enough")[:length])
        with pytest.raises(BadInput, match="damaged or cut off: the file ended before the end of its last zstd frame"):
            read_text(path)


@every_packing
@pytest.mark.parametrize("find", [find_scenes, lambda path: list(read_questions(path))])
def test_a_packed_file_without_the_suffix_is_recognised(
    packing: str, find: Callable[[Path], Any], tmp_path: Path
) -> None:
    path = tmp_path / "scenes.json"
    path.write_bytes(PACK[packing](b"[]"))

    with pytest.raises(BadInput, match=f"compressed: give the file a name that ends in {packing}$"):
        find(path)


def test_a_missing_library_is_one_line_for_reader_and_writer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.json.zst").write_bytes(PACK[".zst"](b"[]"))
    monkeypatch.setitem(sys.modules, "zstandard", None)
    expected = r"^a .zst file needs zstandard; install it: pip install 'vqagen\[zstd\]'$"
    with pytest.raises(UsageError, match=expected):
        find_scenes(tmp_path / "a.json.zst")
    with pytest.raises(UsageError, match=expected), atomic_output(str(tmp_path / "b.json.zst")):
        pass

    assert [path.name for path in tmp_path.iterdir()] == ["a.json.zst"]


@pytest.mark.parametrize("suffix", [".bz2", ".xz", ".zip", ".tgz", ".BZ2"])
def test_a_packing_that_cannot_be_written_is_refused_before_work_begins(suffix: str, tmp_path: Path) -> None:
    """Once it was written as plain JSON."""
    target = str(tmp_path / f"q.json{suffix}")
    expected = f"{suffix.lower()} cannot be written; name a .gz or .zst file, or neither$"
    with pytest.raises(UsageError, match=expected):
        check_output(target, force=False)


def test_a_zst_without_its_library_is_refused_before_work_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once this was known only when all was made."""
    monkeypatch.setitem(sys.modules, "zstandard", None)
    with pytest.raises(UsageError, match=r"^a .zst file needs zstandard; install it: pip install 'vqagen\[zstd\]'$"):
        check_output(str(tmp_path / "q.json.zst"), force=False)
