"""Kills a real `vqagen human serve`, and Redis, at random moments under raters; compares a ledger with the store."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import click
from bench_costs import count_option
from bench_human_load import check_redis

sys.path[:0] = [str(Path(__file__).parents[2] / folder) for folder in (".", "tests", "tests/helpers")]
HEADER = """
| store | kills | of them Redis | clients | acknowledged answers | lost, changed or doubled | slowest start s |
|---|---|---|---|---|---|---|"""
SLOWEST_START = 3.0
"""Seconds from the start of a killed server until raters can come."""


@click.command()
@count_option("--kills", default=20)
@count_option("--clients", default=50, help="Raters at once.")
@count_option("--least", default=10_000, help="Go on until so many answers were acknowledged.")
@click.option(
    "--store",
    "stores",
    type=click.Choice(["sqlite", "redis"]),
    multiple=True,
    default=["sqlite", "redis"],
    callback=check_redis,
)
@click.option("--seed", default=0, show_default=True)
def kills(kills: int, clients: int, least: int, stores: tuple[str, ...], seed: int) -> None:
    """Kill the server while raters answer; exit code 1 if anything acknowledged differs, or a start takes 3 s.

    \b
    Example:
      scripts/bench human kills --kills 20
    """
    from human_kills import run_kills
    from redis_servers import redis_server

    results = []
    for store in stores:
        with tempfile.TemporaryDirectory() as folder:
            place, given = Path(folder), {"kills": kills, "clients": clients, "least": least, "seed": seed}
            if store == "sqlite":
                results.append(run_kills(place, **given))
            else:
                with redis_server(place / "redis") as redis:
                    results.append(run_kills(place, redis=redis, **given))
    click.echo(HEADER)
    for result in results:
        click.echo(
            f"| {result.store} | {result.kills} | {result.redis_kills} | {clients} | {result.acknowledged:,} |"
            f" {len(result.faults)} | {result.slowest_start:.1f} |"
        )
    faults = [fault for result in results for fault in result.faults]
    click.echo("\n".join(faults[:20]) or "no difference")
    sys.exit(1 if faults or max(result.slowest_start for result in results) > SLOWEST_START else 0)
