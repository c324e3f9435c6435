"""The tasks: `vqagen/director`, and `vqagen/director_no_director`, in which every item counts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset
from inspect_ai.solver import Solver, generate

from vqagen.errors import UsageError, as_written, unknown
from vqagen.extras import needed
from vqagen.inspect_tasks import shown_by_inspect
from vqagen.inspect_tasks.scoring import cell_answer
from vqagen.inspect_tasks.tools import TOOLS, generate_with_tools, reason_and_act
from vqagen.inspect_tasks.trials import FORMATS, IMAGE, GridContent, TrialSet, make_trials, read_trials, samples_of
from vqagen.pictures.grid_text import DETAILS, NAMES
from vqagen.tasks.director.settings import DirectorSettings
from vqagen.tasks.prompts import BLOCK_TEXTS, DIRECTOR, NO_DIRECTOR, PLAIN, REACT, STORIES, THOUGHTS

MOST_MESSAGES = 40
"""Messages of a conversation with tools."""
DEFAULT_COUNT = 200
NO_TOOLS = "none"
_OWN_NAMES = {"count": "n", "render": "format", "view": ""}
"""Settings of the generator that have another name here, or (without a name) cannot be given."""


@task
@shown_by_inspect
def director(
    dataset: str | None = None,
    n: int | None = None,
    format: str = IMAGE,
    story: str = DIRECTOR,
    text: str = NAMES,
    block_text: int = BLOCK_TEXTS - 1,
    tools: str | Sequence[str] = NO_TOOLS,
    cot: str = PLAIN,
    **settings: Any,
) -> Task:
    """Make a task of director trials: which item is meant by someone who does not see all of them?

    Args:
        dataset: The folder of trials that `vqagen director generate` made. Without it, trials are generated.
        n: How many trials to generate. [default: 200]
        format: How the grid is shown: image, ascii, json or md.
        story: `director`, or `no_director`: the same grids and questions, and every item counts.
        text: What texts of grids say of an item: its names, or its properties too.
        block_text: How explicit the prompt is about blocked cells, from 0 (the director cannot see into them) to 2.
        tools: Tools for the picture, separated by commas: crop, rotate.
        cot: none: an answer alone is asked for; think: reasoning before it; react: an agent that submits the cell.
        settings: Other settings of `vqagen director generate`, such as seed=3 or width=5.
    """
    return _task(dataset, n, _DirectorOptions(format, story, text, block_text, _names_of(tools), cot), settings)


@task
@shown_by_inspect
def director_no_director(
    dataset: str | None = None,
    n: int | None = None,
    format: str = IMAGE,
    text: str = NAMES,
    block_text: int = BLOCK_TEXTS - 1,
    tools: str | Sequence[str] = NO_TOOLS,
    cot: str = PLAIN,
    **settings: Any,
) -> Task:
    """Make the twin of the task `director`, with the story `no_director`: how are the grids answered without one?"""
    return _task(dataset, n, _DirectorOptions(format, NO_DIRECTOR, text, block_text, _names_of(tools), cot), settings)


@dataclass(frozen=True)
class _DirectorOptions:
    """The options of a task."""

    format: str
    story: str
    text: str
    block_text: int
    tools: tuple[str, ...]
    cot: str

    def faults(self) -> Iterator[str]:
        """Yield what is wrong with them."""
        for name, value, known in (
            ("format", self.format, FORMATS),
            ("story", self.story, STORIES),
            ("text", self.text, DETAILS),
            ("cot", self.cot, THOUGHTS),
            *(("tool", each, tuple(TOOLS)) for each in self.tools),
        ):
            if value not in known:
                yield unknown(name, value, known)
        if self.block_text not in range(BLOCK_TEXTS):
            yield f"block_text must be a number from 0 to {BLOCK_TEXTS - 1}, found {as_written(self.block_text)}"
        if self.tools and self.format != IMAGE and self.format in FORMATS:
            yield f"tools show pictures: they need format={IMAGE}, found format={self.format}"


def _task(dataset: str | None, n: int | None, options: _DirectorOptions, settings: Mapping[str, Any]) -> Task:
    trials = _trials(dataset, n, settings, options)
    if options.tools:
        needed("PIL", "draw", "showing pictures by tools")
    grids = GridContent(trials, options.format, options.text, options.block_text)
    samples = samples_of(trials, grids, options.story, options.block_text, options.cot)
    return Task(
        dataset=MemoryDataset(list(samples), name=trials.name, location=dataset),
        solver=_solver(options),
        scorer=cell_answer(),
        message_limit=MOST_MESSAGES if options.tools or options.cot == REACT else None,
    )


def _names_of(tools: str | Sequence[str]) -> tuple[str, ...]:
    """Return the names of tools, which Inspect's command line gives as a list or as one text."""
    names = tools.split(",") if isinstance(tools, str) else tools
    return tuple(name.strip() for name in names if name.strip() not in ("", NO_TOOLS))


def _trials(dataset: str | None, n: int | None, settings: Mapping[str, Any], options: _DirectorOptions) -> TrialSet:
    """Return the trials. UsageError with all faults of the options."""
    faults = [*options.faults(), *_settings_faults(dataset, n, settings)]
    if faults:
        raise UsageError("\n".join(faults))
    if dataset is not None:
        return read_trials(dataset)
    return make_trials(DEFAULT_COUNT if n is None else n, settings)


def _settings_faults(dataset: str | None, n: int | None, settings: Mapping[str, Any]) -> Iterator[str]:
    of_generator = [name for name in DirectorSettings.names() if name not in _OWN_NAMES]
    for name in settings:
        if own := _OWN_NAMES.get(name):
            yield f"{name} is called {own} here"
        elif name not in of_generator:
            yield unknown("argument", name, [*signature(director).parameters, *of_generator])
    if dataset is not None and (given := [*(["n"] if n is not None else []), *settings]):
        yield f"{', '.join(given)}: settings of the generator, which cannot change the trials of dataset={dataset}"


def _solver(options: _DirectorOptions) -> Solver:
    if options.cot == REACT:
        return reason_and_act(options.tools)
    return generate_with_tools(options.tools) if options.tools else generate()
