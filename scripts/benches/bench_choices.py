"""The benchmark `choices`: what giving options costs, and what rules that see only the options get of them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from bench_costs import count_option, run_command

import vqagen
from vqagen.files.records import open_records
from vqagen.language.question import QUESTIONS

TESTS = Path(__file__).parents[2] / "tests"
sys.path[:0] = [str(TESTS), str(TESTS / "helpers")]
MODES = {"scene values": [], "mistakes": ["--hard"]}


@click.command()
@count_option("--count", default=10_000, help="Scenes, of which each has ten questions.")
@click.option("--domain", default="clevr", show_default=True)
def choices(count: int, domain: str) -> None:
    """Give options to questions, and let rules that see only the options choose among them.

    A rule may learn from all other blocks. Its advantage is its accuracy less chance, in standard errors of chance.

    \b
    Example:
      scripts/bench choices --count 200
    """
    with tempfile.TemporaryDirectory() as folder:
        scenes, questions = Path(folder, "scenes.json"), Path(folder, "questions.json")
        files = vqagen.find_domain(domain)
        vqagen.write_scenes(scenes, vqagen.SamplingSettings(count=count), files)
        vqagen.write_questions(scenes, questions, files)
        for mode, flags in MODES.items():
            out = Path(folder, "choices.json")
            command = ["-m", "vqagen", "choices", f"{questions}", "--scenes", f"{scenes}", "-o", f"{out}", "--force"]
            path = str(TESTS.parent)
            ran = run_command([sys.executable, *command, "--domain", domain, *flags], PYTHONPATH=path)
            source = open_records(str(out), QUESTIONS)
            asked, kept = source.info["choices"]["questions"], source.info["choices"]["options"]
            click.echo(f"{mode}: {sum(kept.values()):,} of {asked:,} questions have options: {kept}")
            click.echo(f"  {ran.seconds:.1f} s, {ran.cpu:.1f} s of CPU time, {asked / ran.cpu:,.0f} questions/s")
            click.echo(f"  {ran.peak:.0f} MB")
            report_rules([{key: each[key] for key in ("choices", "choice", "block")} for each in source.records()])


def report_rules(records: Sequence[dict[str, Any]]) -> None:
    """Print the accuracy of every rule beside chance."""
    from oracles.naive_choices import advantage, option_rules

    chance = sum(1 / len(record["choices"]) for record in records) / len(records)
    click.echo(f"  chance {chance:.4f}")
    for name, rule in option_rules(records).items():
        above, error = advantage(records, rule)
        click.echo(f"  {name:34} {chance + above:.4f}  {above / error:+.2f} standard errors")
