"""The contract of a task: all that the runner, and whoever scores, verifies or counts records, knows of it.

A task is a pure function from a window of items (scenes as they stand in their file, or plain numbers) to the records
about each of them. The runner owns windows, processes, blocks, order and output, and never looks into a record. A new
task is one folder in `tasks/` with a subclass of `Task`, and one line in `tasks.TASKS`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, Protocol, Self

from vqagen.errors import UsageError, counted
from vqagen.files.formats import FORMATS, JSON, JSON_LINES, Format, Record, Selection
from vqagen.files.locations import Location, first_file
from vqagen.frozen import frozen
from vqagen.tasks.settings import RunSettings
from vqagen.world.loading import SceneText, read_scene
from vqagen.world.scene import Scene, compile_scene

if TYPE_CHECKING:
    from vqagen.files.parquet import RecordColumns
    from vqagen.files.records import RecordSource
    from vqagen.items.builder import TableBuilder
    from vqagen.items.table import Items
    from vqagen.report.table import Report
    from vqagen.report.verification import VerificationReport
    from vqagen.world.domain import Domain
    from vqagen.world.loading import SceneSource


class Item(Protocol):
    """One thing to make records about: a scene's text, or nothing but a number. Can be pickled.

    `str()` names it for people: `scene 4 (CLEVR_train_000004.png)`.
    """

    @property
    def index(self) -> int:
        """The absolute index in the input."""

    @property
    def noun(self) -> str:
        """What people call such a thing, such as `scene`."""


class ItemRecords(NamedTuple):
    """The records about one item."""

    item: int
    """The absolute index of the item."""
    records: Iterable[Record]
    """Records that say 0 for their number in the output. Each is taken once, in order."""
    files: Mapping[str, bytes] = {}
    """Name inside the output folder -> content, for a task that makes files. A name occurs once in a run."""


class Tally(Protocol):
    """Counts of what happened while records were made."""

    def take(self) -> Mapping[str, Any]:
        """Return the counts since the last call, as JSON."""


class CountTally(Counter[str]):
    """What happened -> how often."""

    def take(self) -> dict[str, int]:
        """Return the counts, and start again from zero."""
        counts = dict(sorted(self.items()))
        self.clear()
        return counts


OptionClues = Sequence[Sequence[str]]
"""About one record: what is seen of each option. First come its ranks by likeness and by questions that could mean it.
"""

Make = Callable[[Iterable[Item], int, Tally], Iterator[ItemRecords]]
"""(items of a window from its first one on, the first index to make records about, tally) -> records, item by item.

Items before that index are only replayed: nothing is yielded or counted for them.
"""


@frozen
class RunResult:
    """The result of a run."""

    records: int = 0
    """In the output. Unknown for an output that was complete already, as is `selection`."""
    selection: Any = None
    """The record of the selection from all records, if there was one."""
    was_complete: bool = False
    """True if there was nothing left to do."""
    resumed_items: int = 0
    """Items that an earlier run had finished."""
    seconds: float = 0.0


class RunReport:
    """The report of a run, for people and for machines. Tasks with more to say extend it."""

    def __init__(self, noun: str, item: str) -> None:
        """`noun` is one record and `item` one item, for people."""
        self._noun, self._item = noun, item
        self._result = RunResult()

    def add(self, tally: Mapping[str, Any]) -> None:
        """Add the tally of a block."""

    def finish(self, result: RunResult) -> None:
        """Take the result of the run."""
        self._result = result

    @property
    def records(self) -> int:
        """Records in the output."""
        return self._result.records

    @property
    def was_complete(self) -> bool:
        """True if there was nothing left to do. If so, nothing may be known of what was made."""
        return self._result.was_complete

    def summary(self) -> str:
        """Return a few lines for people."""
        return counted(self.records, self._noun)

    def content(self) -> dict[str, Any]:
        """Return the part of the report that is the same for the same settings and inputs, as JSON."""
        return {f"{self._noun}s": self.records}

    def to_record(self) -> dict[str, Any]:
        """Return the report as JSON."""
        run = {
            "was_complete": self.was_complete,
            f"resumed_{self._item}s": self._result.resumed_items,
            "seconds": round(self._result.seconds, 3),
        }
        return {**self.content(), "run": run}


@frozen
class Task(ABC):
    """A kind of record, and how a run with some settings makes it. Can be pickled: workers load their own copy."""

    settings: RunSettings

    key: ClassVar[str]
    """The key of the records in a document, a plural such as `questions`; also the task's name in `TASKS`."""
    number_key: ClassVar[str] = ""
    """The key of a record's place in the output, from 0, such as `question_index`; "" if records have none."""
    index_key: ClassVar[str] = ""
    """The key of the index of a record's item, such as `scene_index`; "" if records have none."""
    item: ClassVar[str] = "scene"
    """One item, for people and for the `info`."""
    reads_scenes: ClassVar[bool] = True
    """True if the items are scenes of an input, False if they are numbers from `start_index` on."""
    formats: ClassVar[tuple[Format, ...]] = (JSON, JSON_LINES)
    """The formats of outputs; the first one is the default. `TASKS` lists their names, and the formats of other
    tools that `vqagen export` makes of the records; see `tasks.foreign`."""
    makes_files: ClassVar[bool] = False
    """True if files belong to the records: then the output is a folder."""
    answer_kinds: ClassVar[tuple[str, ...]] = ()
    """Kinds of answers in `Items.outcomes`, in the order of reports; the last is the answer that is no option."""
    WINDOW: ClassVar[int] = 250

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what a task has loaded: it stays in this process."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def noun(self) -> str:
        """One record, for people: the key without its s."""
        return self.key.removesuffix("s")

    @property
    def window_setting(self) -> str:
        """The setting that says how many items make a window; "" for windows of `WINDOW`."""
        return ""

    @property
    def reads_ahead(self) -> bool:
        """True if the records about an item depend on the items after it in its window too."""
        return False

    @property
    def window(self) -> int:
        """Items in a window; 0 for one window of all."""
        size: int = getattr(self.settings, self.window_setting) if self.window_setting else self.WINDOW
        return size

    def cut_to(self, start_index: int, count: int) -> Self:
        """Return the same task for a range of its items. What is loaded stays loaded."""
        names = {field.name for field in fields(self)}
        loaded = {name: value for name, value in vars(self).items() if name not in names}
        task = replace(self, settings=self.settings.cut_to(start_index, count))
        vars(task).update(loaded)
        return task

    @property
    def inputs(self) -> tuple[Location, ...]:
        """The files and folders, besides the items, that are read and so cannot be the output."""
        return ()

    def hashes(self) -> dict[str, str]:
        """Return the content hash of each input, by its role."""
        return {}

    @abstractmethod
    def load(self, hashes: Mapping[str, str]) -> Make:
        """Read what is needed to make records, once in each process.

        Raises VqagenError if something cannot be read, or is not what the run began with, which has these hashes.
        """

    def tally(self) -> Tally:
        """Return an empty tally."""
        return CountTally()

    def report(self) -> RunReport:
        """Return an empty report."""
        return RunReport(self.noun, self.item)

    def generator_info(self) -> dict[str, Any]:
        """Return what the `generator` of the output's `info` says besides what it says for every task."""
        return {}

    def info(self, generator: dict[str, Any]) -> dict[str, Any]:
        """Return the output's `info` around its `generator`."""
        return {"generator": generator}

    @classmethod
    def columns(cls, info: Mapping[str, Any]) -> RecordColumns | None:
        """Return the columns of a Parquet output with this info; None if the task has no such format."""
        return None

    @classmethod
    def selection(cls, info: Mapping[str, Any]) -> Selection | None:
        """Return what chooses from all records of an output with this info; None if every record stays."""
        return None

    # Methods about finished records. They need no settings, so they are methods of the class.

    @classmethod
    def restored(cls, row: dict[str, Any]) -> dict[str, Any]:
        """Return the record that a row of a Parquet file was made of."""
        return row

    @classmethod
    def read_items(cls, table: TableBuilder) -> Items:
        """Return what is asked and answered in a file of its records, as a table that is scored and counted."""
        raise UsageError(f"nothing is asked in {cls.key}")

    @classmethod
    def verify(
        cls,
        source: RecordSource,
        scenes: SceneSource | None,
        given: Mapping[str, Any],
        on_checked: Callable[[int], None],
    ) -> VerificationReport:
        """Check each record of a file against its scene, and return what was found.

        A task that reads no scenes has them in its records. `given` are the arguments of `find_domain` that the user
        gave. `on_checked` is called with the number of records checked since the last call.
        """
        raise UsageError(f"nothing is verified in {cls.key}")

    @classmethod
    def statistics(cls, items: Items, guessed: Mapping[str, Any] | None, notes: Sequence[str]) -> Report:
        """Return the statistics of a table of items; `guessed` says how often predictors are right about them."""
        raise UsageError(f"there are no statistics of {cls.key}")

    @classmethod
    def policy_statistics(cls, source: RecordSource, on_read: Callable[[int], None]) -> Report:
        """Return the statistics of a file whose records are answered by policies, which learn nothing.

        `on_read` is called with the number of records read since the last call.
        """
        raise UsageError(f"no policies answer {cls.key}")

    @classmethod
    def option_clues(cls, source: RecordSource) -> tuple[Sequence[OptionClues], Sequence[str]]:
        """Return what can be guessed from the options of each record without its words, and notes on the reading."""
        raise UsageError(f"the options of {cls.key} are known from their table of items")


# Shared by tasks ----------------------------------------------------------------------------------------------------


def compiled_scenes(items: Iterable[Item], domain: Domain) -> Iterator[Scene]:
    """Yield the scene of each item, compiled when it is asked for. Raises UnreadableScene, or BadInput."""
    for item in items:
        assert isinstance(item, SceneText)
        yield compile_scene(read_scene(item), domain, item.index, item.place)


def find_record_file(folder: Path, key: str) -> Path | None:
    """Return the file in an output's folder that holds the records of this key; None if there is none."""
    names = (f"{key}{suffix}" for form in FORMATS for suffix in form.suffixes)
    return first_file(folder / name for name in names)
