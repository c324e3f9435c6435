"""The benchmarks: scripts/README.md says what each measures, in a file of its own."""

from __future__ import annotations

from typing import Any

import click
from bench_balance import balance
from bench_dialog import dialog
from bench_director import director
from bench_domains import domains
from bench_environment import endless
from bench_evaluate import evaluate
from bench_export import export
from bench_generate import generate
from bench_human import human
from bench_kills import kills
from bench_learning import learning
from bench_pictures import pictures
from bench_reasoning import reasoning
from bench_reference import reference
from bench_sampling import sampling
from bench_scale import scale
from bench_sizes import sizes
from bench_trainers import trainers
from bench_verify import verify

from vqagen.errors import VqagenError


class _Benchmarks(click.Group):
    def invoke(self, context: click.Context) -> Any:
        """Run a benchmark. A mistake of the user ends in a message without a traceback, as in `vqagen`."""
        try:
            return super().invoke(context)
        except VqagenError as error:
            failed = click.ClickException(str(error))
            failed.exit_code = error.exit_code
            raise failed from error


@click.group(cls=_Benchmarks)
def bench() -> None:
    """Measure, and print figures."""


for command in (
    generate,
    reference,
    sizes,
    domains,
    balance,
    dialog,
    director,
    sampling,
    verify,
    evaluate,
    export,
    human,
    scale,
    kills,
    trainers,
    learning,
    reasoning,
    endless,
    pictures,
):
    bench.add_command(command)

if __name__ == "__main__":
    bench()
