"""Places by URL: scenes and questions out of stores that fsspec reaches, outputs into them, and what goes wrong there.

The memory file system is a real one; it lives as long as the process.
"""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fsspec
import pytest
import zstandard
from commands import Commands
from fsspec.implementations.memory import MemoryFileSystem
from scene_records import sampled_scenes

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.files.locations import content_hash, files_below, locate, open_bytes, require
from vqagen.files.output import atomic_output, check_output
from vqagen.files.packing import PACKINGS, packed
from vqagen.files.parsing import read_text
from vqagen.files.stream import CHUNK
from vqagen.language.question import read_questions
from vqagen.world.loading import find_scenes

SCENES = sampled_scenes(3)


class Unreachable(MemoryFileSystem):
    """A store whose every answer is an error, as of a wrong key: none of its library's errors is an OSError."""

    protocol = "unreachable"
    cachable = False

    def info(self, path: str, **kwargs: Any) -> Any:
        if path.endswith("there.json"):
            return {"name": path, "type": "file", "size": 10}
        raise RuntimeError("InvalidAccessKeyId:\n  the key is not known")

    def _open(self, path: str, mode: str = "rb", **kwargs: Any) -> Any:
        raise RuntimeError("ConnectionLost")


@pytest.fixture
def unreachable() -> None:
    fsspec.register_implementation("unreachable", Unreachable, clobber=True)


# Names --------------------------------------------------------------------------------------------------------------


def test_odd_names_are_local() -> None:
    for name in ("a.json", "C:\\x", "C://x", "a:b", "://a", "s3:/a", "s3:a//b", "a/s3://b", "-", ""):
        assert locate(name) == Path(name)


@pytest.mark.parametrize("scheme", ["file", "local"])
def test_a_url_of_a_local_file_is_a_path(scheme: str, tmp_path: Path) -> None:
    assert locate(f"{scheme}://{tmp_path}/a%20b.json") == tmp_path / "a%20b.json"


# Inputs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["scenes.json", "scenes.jsonl.gz", "scenes.json.zst"])
def test_scenes_are_read_from_a_url(name: str, memory: MemoryFileSystem) -> None:
    url = f"memory://bucket/data/{name}"
    with atomic_output(url) as file:
        file.write("\n".join(map(json.dumps, SCENES)).encode() if "jsonl" in name else json.dumps(SCENES).encode())
    source = find_scenes(url)

    assert list(source.records()) == SCENES
    assert [(text.position, json.loads(text.text)) for text in source.texts(1)] == list(enumerate(SCENES))[1:]


def test_a_folder_by_url_is_read_as_a_local_one(memory: MemoryFileSystem, tmp_path: Path) -> None:
    """In the order of paths, and without hidden files."""
    for number, name in enumerate(["b.json", "a/z.json", "a.json", ".hidden.json", ".hidden/a.json"]):
        text = json.dumps({**SCENES[0], "image_index": number})
        memory.pipe(f"/bucket/scenes/{name}", text.encode())
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    here, there = find_scenes(tmp_path), find_scenes("memory://bucket/scenes/")

    assert list(there.records()) == list(here.records())
    assert content_hash(there.files) == content_hash(here.files)
    assert list(map(str, files_below(locate("memory://bucket/scenes")))) == [
        "memory://bucket/scenes/a.json",
        "memory://bucket/scenes/a/z.json",
        "memory://bucket/scenes/b.json",
    ]


def test_questions_longer_than_what_is_read_at_once_come_from_a_url(memory: MemoryFileSystem) -> None:
    """The file is opened twice at a time, and in memory both readers share one place."""
    questions = [{"question": f"{number}?", "filler": "x" * 90} for number in range(3 * CHUNK // 100)]
    memory.pipe("/b/q.jsonl", "\n".join(map(json.dumps, questions)).encode())

    assert list(read_questions(locate("memory://b/q.jsonl"))) == questions


def test_what_is_not_there_is_told(memory: MemoryFileSystem) -> None:
    with pytest.raises(UsageError, match=r"^scenes not found: memory://b/none\.json$"):
        find_scenes("memory://b/none.json")
    with pytest.raises(UsageError, match=r"^questions not found: memory://b/none\.json$"):
        list(read_questions(locate("memory://b/none.json")))
    with pytest.raises(UsageError, match=r"^metadata not found: memory://b$"):
        require(locate("memory://b"), "metadata")


def test_a_mistake_in_a_file_is_told_with_its_url(memory: MemoryFileSystem) -> None:
    memory.pipe("/b/scenes.json", b'{"scenes": [{"objects": []}, {')
    with pytest.raises(BadInput, match=r"^memory://b/scenes\.json:1:31: scenes\[1\]: not valid JSON"):
        list(find_scenes("memory://b/scenes.json").records())


# Outputs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["q.json", "q.json.gz", "q.json.zst"])
def test_an_output_by_url_has_the_bytes_of_a_local_one(name: str, memory: MemoryFileSystem, tmp_path: Path) -> None:
    for target in (f"memory://bucket/new/{name}", str(tmp_path / name)):
        with atomic_output(target) as file:
            file.write(b"content" * 1000)

    assert memory.cat(f"/bucket/new/{name}") == (tmp_path / name).read_bytes()


@pytest.mark.parametrize("before", [None, b"before"])
def test_a_failed_run_leaves_the_name_as_it_was(before: bytes | None, memory: MemoryFileSystem) -> None:
    if before is not None:
        memory.pipe("/bucket/q.json", before)

    def write() -> None:
        with atomic_output("memory://bucket/q.json") as file:
            file.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write()

    assert memory.find("/") == ([] if before is None else ["/bucket/q.json"])
    assert before is None or memory.cat("/bucket/q.json") == before


def test_an_output_that_exists_needs_force(memory: MemoryFileSystem) -> None:
    memory.pipe("/bucket/q.json", b"before")
    with pytest.raises(
        UsageError, match=r"^output memory://bucket/q\.json exists already; give --force to replace it$"
    ):
        check_output("memory://bucket/q.json", force=False)
    check_output("memory://bucket/q.json", force=True)
    check_output("memory://no-bucket/no/folder/q.json", force=False)


def test_an_output_that_cannot_be_is_refused(memory: MemoryFileSystem) -> None:
    memory.pipe("/bucket/s.json", b"{}")
    for target, told in (
        ("memory://bucket", "is a folder; name a file"),
        ("memory://bucket/s.json", "is in use by the same run; name another file"),
    ):
        with pytest.raises(UsageError, match=f"^output {target} {told}$"):
            check_output(target, force=True, inputs=["memory://bucket/s.json", "/etc/hosts", None])


# What goes wrong ----------------------------------------------------------------------------------------------------


def test_whatever_a_store_raises_is_one_line(unreachable: None) -> None:
    expected = r"^cannot reach unreachable://b/a: RuntimeError: InvalidAccessKeyId: the key is not known$"
    for ask in (find_scenes, lambda url: check_output(url, force=False)):
        with pytest.raises(VqagenError, match=expected):
            ask("unreachable://b/a")


def test_a_connection_that_is_lost_is_one_line(unreachable: None) -> None:
    expected = r"^cannot reach unreachable://b/there\.json: RuntimeError: ConnectionLost$"
    with pytest.raises(VqagenError, match=expected):
        find_scenes("unreachable://b/there.json")
    with pytest.raises(VqagenError, match=expected), atomic_output("unreachable://b/there.json") as file:
        file.write(b"{}")


@pytest.mark.parametrize(("package", "url"), [("s3fs", "s3://b/a"), ("gcsfs", "gs://b/a"), ("adlfs", "az://b/a")])
def test_a_missing_package_is_named(package: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(UsageError, match=f"^{url} needs {package}; install it: pip install {package}$"):
        find_scenes(url)


def test_a_scheme_that_no_one_knows_is_told_with_the_nearest() -> None:
    with pytest.raises(UsageError, match=r"^memry://a: unknown kind of place 'memry'; did you mean 'memory'\?$"):
        find_scenes("memry://a")


# Commands -----------------------------------------------------------------------------------------------------------


@pytest.mark.quick(1)
@pytest.mark.parametrize("name", ["q.json", "q.jsonl.zst"])
def test_commands_take_urls(name: str, memory: MemoryFileSystem, vqagen_: Commands, tmp_path: Path) -> None:
    vqagen_.done("scenes sample --count 3 -o memory://b/scenes.json")
    vqagen_.done(f"generate --scenes memory://b/scenes.json --out memory://b/out/{name} --templates-per-image 3")
    vqagen_.done(f"verify memory://b/out/{name} --scenes memory://b/scenes.json")
    vqagen_.done(f"generate --scenes memory://b/scenes.json --out {tmp_path / name} --templates-per-image 3")

    assert memory.cat(f"/b/out/{name}") == (tmp_path / name).read_bytes()


# Packed files ---------------------------------------------------------------------------------------------------------

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


@pytest.mark.quick(3)
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
