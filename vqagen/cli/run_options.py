"""The flags that say by what options a run is done, shared by every command that makes an output in windows."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click

_OPTIONS = (
    click.option("--workers", default="1", show_default=True, metavar="N|auto", help="Processes; auto for one a core."),
    click.option("--cluster", default="", metavar="ADDRESS", help="A Dask scheduler, tcp://host:8786, or local:N."),
    click.option("--resume", is_flag=True, help="Go on with what an interrupted run of the same settings has left."),
    click.option("--force", is_flag=True, help="Replace the output if it exists."),
)


shard_option = click.option(
    "--shard", metavar="K/N", help="Only the K-th of N parts of these scenes, from 1; see `vqagen merge`."
)


def run_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the flags; the command gets them together, as `means`."""

    @wraps(command)
    def with_means(*args: Any, workers: str, cluster: str, resume: bool, force: bool, **others: Any) -> Any:
        from vqagen.run.options import RunOptions

        return command(*args, options=RunOptions(workers, cluster, resume, force), **others)

    option_adders: list[Callable[[Callable[..., Any]], Callable[..., Any]]] = list(reversed(_OPTIONS))
    wrapped: Callable[..., Any] = with_means
    for add in option_adders:
        wrapped = add(wrapped)
    return wrapped
