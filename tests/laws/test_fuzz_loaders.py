"""Spoiled files: whatever they hold, every loader takes them or tells what is wrong, and soon. Nothing else may happen.

Sound files are spoiled in two ways: as documents (a value replaced, a key taken away or renamed, a list nested) and as
texts (cut off, damaged, in another encoding). Which way is decided by a seed, so that a failure can be had again:

    spoiled("metadata", 17)
"""

from __future__ import annotations

import copy
import gzip
import json
import math
import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random
from types import FrameType
from typing import Any, NamedTuple

import depth
import pytest
from commands import ROOT
from hypothesis import HealthCheck, given, settings, strategies as st

from vqagen.authoring.check.checking import check_paths
from vqagen.errors import InputWarning, VqagenError
from vqagen.files.records import open_records
from vqagen.language.catalogue import Catalogue
from vqagen.language.domain_files import find_domain
from vqagen.language.loading import load_templates
from vqagen.language.question import QUESTIONS, read_questions
from vqagen.language.synonyms import load_synonyms
from vqagen.plugin.loading import load_plugins
from vqagen.tasks.dialog.loading import load_dialog_domain
from vqagen.tasks.dialog.template import ANY_EXTREME
from vqagen.tasks.dialog.wording import DialogWords, Wordings
from vqagen.tasks.director.catalogue import load_catalogue_file
from vqagen.tasks.director.instructions import load_instructions
from vqagen.tasks.director.rules import CLASS_OF, FRAMES
from vqagen.tasks.director.settings import ALWAYS
from vqagen.tasks.questions.verification import verify_questions
from vqagen.world.domain import load_domain
from vqagen.world.loading import find_scenes, load_scenes
from vqagen.world.sampling_rules import SamplingRules

BASES = ROOT / "tests" / "data" / "broken" / "bases"
CLEVR = Catalogue(load_domain(ROOT / "metadata" / "clevr.json"))
MARKET = Catalogue(load_domain(ROOT / "metadata" / "market.json"))
ROUNDS = 60
"""Spoiled files for each loader."""
SECONDS = 10
"""How long one may take: far more than any should, as the machine may be busy."""

# Loaders --------------------------------------------------------------------------------------------------------------


class Loader(NamedTuple):
    """What reads a kind of file: `read` is given the path, `sound` are files to spoil, `name` that of the spoiled."""

    read: Callable[[Path], object]
    sound: tuple[Path, ...]
    name: str


def read_metadata(path: Path) -> None:
    domain = load_domain(path)
    Catalogue(domain)
    SamplingRules.from_domain(domain)


def read_all_questions(path: Path) -> None:
    list(read_questions(path))
    verify_questions(open_records(path, QUESTIONS), find_scenes(BASES / "scenes.json"), CLEVR)


def read_dialog_templates(path: Path) -> None:
    """And say something with each."""
    loaded = load_dialog_domain(find_domain("clevr", templates=path))
    wordings, rng = Wordings(loaded.templates, loaded.synonyms, loaded.vocabulary), Random(0)
    values = {"D": {"color": "red"}, "D2": {"shape": "cube"}, "V": {"size": "large"}}
    for each in loaded.templates.values():
        label = "extreme-left" if each.label == ANY_EXTREME else each.label
        DialogWords(wordings, rng).say(
            label, each.form, {"A": "color", "R": "left", "E": "left", "K": 3, **values}, rng
        )


def read_instructions(path: Path) -> None:
    """And say each rule in each frame."""
    wording = load_instructions(path, ALWAYS)
    for rule in CLASS_OF:
        for frame in (None, *FRAMES):
            assert all("red book" in form.instruction("red book") for form in wording.forms(rule, frame))


def read_plugin(path: Path) -> None:
    Catalogue(CLEVR.domain, load_plugins([str(path)]))


LOADERS = {
    "metadata": Loader(
        read_metadata,
        (ROOT / "metadata" / "clevr.json", ROOT / "metadata" / "market.json", BASES / "functions.json"),
        "metadata.json",
    ),
    "templates": Loader(
        lambda path: load_templates(path, CLEVR),
        (BASES / "templates.json", BASES / "meta.json", ROOT / "templates" / "clevr" / "zero_hop.json"),
        "templates.json",
    ),
    "market templates": Loader(
        lambda path: load_templates(path, MARKET), (ROOT / "templates" / "market" / "asking.json",), "templates.json"
    ),
    "dialog templates": Loader(
        read_dialog_templates,
        tuple(ROOT / "templates" / "dialog" / name for name in ("captions.json", "seek.json")),
        "dialog-templates.json",
    ),
    "instructions": Loader(
        read_instructions, (ROOT / "templates" / "director" / "instructions.json",), "director-templates.json"
    ),
    "catalogue": Loader(
        lambda path: list(load_catalogue_file(path).items), (ROOT / "metadata" / "director.json",), "director.json"
    ),
    "synonyms": Loader(lambda path: load_synonyms(path, CLEVR.domain), (ROOT / "synonyms.json",), "synonyms.json"),
    "scenes": Loader(
        lambda path: list(load_scenes(find_scenes(path), CLEVR.domain)),
        (BASES / "scenes.json", BASES / "place_scenes.json"),
        "scenes.json",
    ),
    "market scenes": Loader(
        lambda path: list(load_scenes(find_scenes(path), MARKET.domain)), (BASES / "stall.json",), "scenes.json"
    ),
    "scene lines": Loader(
        lambda path: list(load_scenes(find_scenes(path), CLEVR.domain)), (BASES / "lines.jsonl",), "scenes.jsonl"
    ),
    "questions": Loader(read_all_questions, (BASES / "questions.json",), "questions.json"),
    "plug-ins": Loader(read_plugin, (BASES / "plugin.py",), "plugin.py"),
}


@contextmanager
def in_time() -> Iterator[None]:
    """What goes on for longer than SECONDS is stopped by a TimeoutError."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def give(loader: Loader, content: bytes, folder: Path) -> None:
    """Have a loader read a file of this content; anything but a VqagenError comes out."""
    path = folder / loader.name
    path.write_bytes(content)
    with in_time(), warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        try:
            loader.read(path)
        except VqagenError as error:
            str(error).encode()  # it can be printed


def check(loader: Loader, content: bytes, folder: Path) -> None:
    """Have a file of this content checked."""
    path = folder / loader.name
    path.write_bytes(content)
    domain = "market" if loader in (LOADERS["market templates"], LOADERS["market scenes"]) else "clevr"
    with in_time():
        report = check_paths([path], domain=None if loader.read is read_metadata else domain, samples=0)
    json.dumps(report.to_record(), ensure_ascii=False).encode()


# Spoiling -------------------------------------------------------------------------------------------------------------

NESTED: list[Any] = []
for _ in range(90):
    NESTED = [NESTED]
JUNK: tuple[Any, ...] = (
    None, True, False, 0, -1, 7, 2.0, 0.5, 10**25, -(10**400), 1e308, math.nan, math.inf,
    "", " ", "x", "red", "<X>", "<C>", "{a}", "{attribute}", "[", "a.b", "\0", "\ud800", "\u2028", "é" * 3, "a" * 9000,
    [], {}, [[]], [None], ["red", "red"], [0, 0], {"": 1}, {"values": ["a"]}, {"comment": "x"}, {"a": {"b": {}}},
    NESTED,
)  # fmt: skip
PIECES = (
    "\0", "\ufeff", "{", "}", "]", ",", ":", '"', "\\", "\\u", "\\ud800", "//", "/*", "#", "NaN", "1e999", "-", "\t",
    "\x1f", "\r", "\n\n", "'", "“", "true", "9" * 5000, "[" * 3000, "]" * 3, "\U0001f600", " " * 3000,
)  # fmt: skip


def spoiled(name: str, seed: int) -> bytes:
    """The content of a spoiled file for the loader of that name."""
    rng = Random(f"{name} {seed}")
    path = rng.choice(LOADERS[name].sound)
    text = path.read_text("utf-8")
    if path.suffix == ".json" and rng.random() < 0.7:
        document = json.loads(text)
        for _ in range(rng.choice((1, 1, 2, 4))):
            document = spoiled_document(document, rng)
        text = json.dumps(document, ensure_ascii=rng.random() < 0.9 or "\\ud800" in json.dumps(document))
        return text.encode()
    return spoiled_text(text, rng)


def spoiled_document(document: Any, rng: Random) -> Any:
    """The document with one value, or one key, changed."""
    places = list(places_in(document))
    if not places:
        return copy.deepcopy(rng.choice(JUNK))
    inside, key = rng.choice(places)
    change = rng.randrange(6)
    if change == 0:
        del inside[key]
    elif change == 1:
        inside[key] = [inside[key]]
    elif change == 2:
        other, step = rng.choice(places)
        inside[key] = copy.deepcopy(other[step])
    elif change == 3 and isinstance(inside, dict):
        inside[rng.choice(("", "x", "comment", "type", "values", key.upper(), f"{key}s", "a.b[0]"))] = inside.pop(key)
    else:
        inside[key] = copy.deepcopy(rng.choice(JUNK))
    return document


def places_in(document: Any) -> Iterator[tuple[Any, Any]]:
    """(object or list, key or index) of every value in a document."""
    if isinstance(document, dict | list):
        for key in document if isinstance(document, dict) else range(len(document)):
            yield document, key
            yield from places_in(document[key])


def spoiled_text(text: str, rng: Random) -> bytes:
    """The text, damaged."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        at = rng.randrange(len(text) + 1)
        to = min(len(text), at + rng.choice((1, 1, 1, 5, 40)))
        piece = rng.choice(PIECES)
        text = rng.choice(
            (
                text[:at],
                text[at:],
                text[:at] + text[to:],
                text[:at] + piece + text[at:],
                text[:at] + piece + text[to:],
                text[:at] + text[at:to] + text[at:],
                text.replace("\n", "\r\n"),
                text.replace("\n", "\r"),
                "\ufeff" + text,
                text + text,
            )
        )
    return damaged(text.encode(errors="replace"), rng)


def damaged(content: bytes, rng: Random) -> bytes:
    """The content, mostly as it is."""
    change, at = rng.randrange(12), rng.randrange(len(content) + 1)
    if change == 0:
        return content[:at] + bytes([rng.randrange(128, 256)]) + content[at:]
    if change == 1:
        return content.decode(errors="replace").encode("utf-16")
    if change == 2:
        return gzip.compress(content, mtime=0)
    return content


# The laws -------------------------------------------------------------------------------------------------------------


@pytest.mark.quick(2)
@pytest.mark.parametrize("name", LOADERS)
def test_a_spoiled_file_is_taken_or_told_of(name: str, tmp_path: Path) -> None:
    """By its loader; and by `check`, which reads each file in more ways, for some."""
    for seed in range(4 if depth.is_quick else ROUNDS):
        for read in (give, check)[: 1 + (seed % 4 == 3)]:
            try:
                read(LOADERS[name], spoiled(name, seed), tmp_path)
            except Exception as error:
                pytest.fail(f"spoiled({name!r}, {seed}) ends in {type(error).__name__}: {error}")


@settings(derandomize=True, max_examples=4, database=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(max_size=20))
def test_any_name_of_a_domain_is_found_or_told_of(tmp_path: Path, name: str) -> None:
    for arguments in ({"domain": name}, {"metadata": name}, {"synonyms": name}, {"domain": tmp_path / name}):
        with suppress(VqagenError):
            find_domain(**arguments)
