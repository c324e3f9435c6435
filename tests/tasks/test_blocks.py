"""From a window's scenes to its blocks: whatever a task makes of scenes goes through here."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator

import pytest

import vqagen
from vqagen.errors import BadInput, Problem
from vqagen.files.formats import Record, encode_lines
from vqagen.language.domain_files import load_catalogue
from vqagen.run.blocks import Block
from vqagen.run.windows import WindowFailed, blocks_of
from vqagen.tasks.contract import Item, ItemRecords, compiled_scenes
from vqagen.world.loading import SceneText, UnreadableScene


@pytest.fixture(scope="module")
def domain() -> vqagen.Domain:
    return load_catalogue(vqagen.find_domain())[0].domain


def texts(first: int, count: int) -> list[SceneText]:
    scenes = vqagen.sample_scenes(count, start_index=first)
    return [SceneText(first + place, json.dumps(scene).encode(), "s.json") for place, scene in enumerate(scenes)]


def blocks_made(items: Iterable[Item], make: Callable[[Iterable[Item]], Iterator[ItemRecords]]) -> list[Block]:
    return list(blocks_of(items, make, 5_000, encode_lines, dict))


def test_a_long_window_is_written_in_pieces() -> None:
    """Of 25 scenes, by their index in the window; scenes of which there are no records count as others do."""
    made = (ItemRecords(number, [{"number": number}] * (number % 3)) for number in range(5_020, 5_085))
    blocks = blocks_made([], lambda items: made)

    spans = [(5_020, 5_025), (5_025, 5_050), (5_050, 5_075), (5_075, 5_085)]
    assert [(block.first, block.end) for block in blocks] == spans
    assert [block.records for block in blocks] == [sum(n % 3 for n in range(*span)) for span in spans]
    assert b"".join(block.body for block in blocks).count(b"\n") == sum(block.records for block in blocks)


def failing(error: Exception, lazily: bool) -> Callable[[Iterable[Item]], Iterator[ItemRecords]]:
    """Return what fails about the second item: at once, or while its records are taken."""

    def records(index: int) -> Iterator[Record]:
        if index == 8:
            raise error
        yield {}

    def make(items: Iterable[Item]) -> Iterator[ItemRecords]:
        for item in items:
            made = records(item.index)
            yield ItemRecords(item.index, made if lazily else list(made))

    return make


@pytest.mark.parametrize("lazily", [True, False])
def test_an_error_of_a_task_names_its_item_and_is_not_one_of_writing(lazily: bool) -> None:
    """One of the system, such as the time-out of a plug-in, too, but for one that names the file that it is about."""
    note = "while making records about scene 8 (VQAGEN_sample_000008.png)"
    with pytest.raises(ZeroDivisionError) as told:
        blocks_made(texts(7, 3), failing(ZeroDivisionError(), lazily))
    assert told.value.__notes__ == [note]
    with pytest.raises(WindowFailed, match="TimeoutError: no answer") as failed:
        blocks_made(texts(7, 3), failing(TimeoutError("no answer"), lazily))
    assert note in failed.value.__cause__.__notes__
    with pytest.raises(FileNotFoundError):
        blocks_made(texts(7, 3), failing(FileNotFoundError(2, "No such file", "toys.json"), lazily))


def test_a_broken_text_tells_which_scene_it_is(domain: vqagen.Domain) -> None:
    """Where that stands, only whoever reads the file can tell."""
    with pytest.raises(UnreadableScene) as told:
        list(compiled_scenes([*texts(0, 1), SceneText(1, b"{", "s.json")], domain))

    assert told.value.index == 1


@pytest.mark.parametrize("error", [OSError("disk gone"), BadInput([Problem("no scene", "s.json")])], ids=type)
def test_an_error_of_reading_the_items_passes_as_it_is(error: Exception) -> None:
    """Nothing is being made then."""

    def unreadable() -> Iterator[SceneText]:
        yield from texts(7, 1)
        raise error

    with pytest.raises(type(error)) as raised:
        blocks_made(unreadable(), lambda items: (ItemRecords(item.index, []) for item in items))

    assert raised.value is error
    assert not hasattr(error, "__notes__")


class Interrupted:
    """A value in which Ctrl-C comes while it is written."""

    def to_json(self) -> bytes:
        raise KeyboardInterrupt


def test_an_interruption_is_not_a_mistake_of_the_record() -> None:
    """orjson says that the type is not serializable: Ctrl-C in a program's JSON ended a run with a traceback."""
    with pytest.raises(KeyboardInterrupt):
        encode_lines([{"program": Interrupted()}])
