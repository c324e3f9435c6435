"""Places by URL: scenes and questions out of stores that fsspec reaches, outputs into them, and what goes wrong there.

The memory file system is a real one; it lives as long as the process.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fsspec
import pytest
from commands import Commands
from fsspec.implementations.memory import MemoryFileSystem
from scene_records import sampled_scenes

from vqagen.errors import BadInput, UsageError, VqagenError
from vqagen.files.locations import content_hash, files_below, locate
from vqagen.files.output import atomic_output, check_output
from vqagen.files.shipped import require
from vqagen.files.stream import CHUNK
from vqagen.language.question_files import read_questions
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
def memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryFileSystem]:
    """Empty, and emptied behind each test. In a folder of its own, where runs keep what they have not finished."""
    monkeypatch.chdir(tmp_path)
    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


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
