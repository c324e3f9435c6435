"""What more than one test file needs."""

from __future__ import annotations

import gc
import os
import re
import signal
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import depth
import pytest
from commands import ROOT, Commands

from vqagen.language import domain_files
from vqagen.language.domain_files import DomainFiles, find_domain

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in a shell's background; programs inherit it
    signal.signal(signal.SIGINT, signal.default_int_handler)

T = TypeVar("T")
SHARED = Path(__file__).parents[1].parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material beside the repository; tests that need it are skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("no shared/ folder with reference material beside the repository")
    return SHARED


@pytest.fixture
def in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder of the test."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def vqagen_(in_empty_folder: None, capsysbinary: pytest.CaptureFixture[bytes]) -> Commands:
    """Runs commands in an empty folder."""
    return Commands(capsysbinary)


@pytest.fixture
def memory(in_empty_folder: None) -> Iterator[Any]:
    """The store `memory://` of this process, emptied behind each test.

    In a folder of the test, where runs keep what they have not finished.
    """
    import fsspec

    system = fsspec.filesystem("memory")
    yield system
    system.store.clear()
    system.pseudo_dirs[:] = [""]


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The loop that tests marked `anyio` run in."""
    return "asyncio"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The Chromium of the tests of one file (`browsers.py`). No test can use asyncio beside it."""
    from browsers import open_browser

    with open_browser() as browser:
        yield browser


def pytest_collection(session: pytest.Session) -> None:
    """Say how deep this run goes, before any test file is imported. Nothing that is imported becomes garbage."""
    from hypothesis import settings  # here, for the process that hands tests to others needs it not

    settings.register_profile("vqagen", deadline=None)  # tests measure no time
    settings.load_profile("vqagen")
    depth.is_quick = session.config.option.markexpr == "not slow"
    domain_files.load_domain_files = once_if_shipped(domain_files.load_domain_files)
    domain_files.load_catalogue = once_if_shipped(domain_files.load_catalogue)
    gc.disable()


def once_if_shipped(load: Callable[..., T]) -> Callable[..., T]:
    """Load the shipped domains, which no test changes, once in a process, and others whenever they are asked for."""
    load_once = cache(load)

    def loaded(files: DomainFiles | None = None, *how: bool, **more: bool) -> T:
        files = files or find_domain()
        is_shipped = files.metadata.is_relative_to(ROOT) and files.templates.is_relative_to(ROOT) and not files.plugins
        return (load_once if is_shipped else load)(files, *how, **more)

    return loaded


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Do not even import a file of slow tests in a quick run: many of them import what takes seconds."""
    named = [os.path.realpath(argument.partition("::")[0]) for argument in config.args]
    if not depth.is_quick or collection_path.suffix != ".py" or str(collection_path) in named:
        return None
    return (
        re.search(r"^pytestmark = \[?pytest\.mark\.slow", collection_path.read_text("utf-8"), re.M) is not None or None
    )


def take_fewer_examples(items: list[pytest.Item]) -> None:
    """Lower the number of examples of each property."""
    from hypothesis import settings

    for function in dict.fromkeys(getattr(item, "obj", None) for item in items):
        stated = getattr(function, "_hypothesis_internal_use_settings", None)  # nothing public leads there
        if stated is not None:
            lowered = settings(stated, max_examples=depth.fewer(stated.max_examples, least=10))
            function._hypothesis_internal_use_settings = lowered


SHARING = ("dataset", "shortcuts", "tasks/director", "tasks/dialog")
"""Folders whose tests share what is dear to make or to load. One worker has the first half of all tests."""


@pytest.hookimpl(tryfirst=True)  # before `-m "not slow"` is applied
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark as slow the cases of a test that its mark `quick` leaves out; begin with the folders of SHARING."""
    items.sort(key=lambda item: not item.nodeid.startswith(tuple(f"tests/{folder}/" for folder in SHARING)))
    tests: dict[tuple[Path, str], list[pytest.Item]] = defaultdict(list)
    for item in items:
        if item.get_closest_marker("quick") and not item.get_closest_marker("slow"):
            tests[item.path, item.name.partition("[")[0]].append(item)
    for cases in tests.values():
        kept = quick_cases(cases)
        for case in cases:
            if case not in kept:
                case.add_marker(pytest.mark.slow)
    if depth.is_quick:
        take_fewer_examples(items)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Collect garbage seldom, and none of the collected tests: it took a quarter of the time of all tests."""
    gc.freeze()
    gc.set_threshold(2_000_000, 20, 100)
    gc.enable()


def pytest_sessionfinish() -> None:
    """Collect garbage once: pytest does so five times at the end, in search of what is left open."""
    gc.collect()
    gc.freeze()


def quick_cases(cases: list[pytest.Item]) -> list[pytest.Item]:
    """Return the cases of one test that its mark `quick` names by their ids, or so many, evenly spread. Never none."""
    mark = cases[0].get_closest_marker("quick")
    assert mark is not None
    if isinstance(mark.args[0], int):
        count = min(mark.args[0], len(cases))
        return [cases[number * len(cases) // count] for number in range(count)]
    return [case for case in cases if case.name.partition("[")[2].removesuffix("]") in mark.args] or cases[:1]
