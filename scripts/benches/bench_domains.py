"""The benchmark `domains`: what loading a domain costs, and questions about scenes with many attributes."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

import click
from bench_costs import count_option, cpu_seconds, repeats_option, report
from bench_sizes import compile_families
from wide_domain import make_wide_domain

import vqagen
from vqagen import Generation, find_domain, load_domain_files
from vqagen.language.domain_files import SHIPPED_DOMAINS
from vqagen.tasks.questions.generator import QuestionGenerator


@click.command()
@count_option(
    "--scenes",
    default=250,
    help="Scenes of the wide domain: a balance window, as other families are tried in later scenes.",
)
@repeats_option(default=5)
def domains(scenes: int, repeats: int) -> None:
    """Time what loading a domain costs, and questions about scenes with 11 attributes.

    \b
    Example:
      scripts/bench domains
    """
    for name in SHIPPED_DOMAINS:
        report_load(name, find_domain(name), repeats)
    with tempfile.TemporaryDirectory() as folder:
        wide = make_wide_domain(Path(folder) / "wide")
        report_load("11 attributes", find_domain(wide), repeats)
        records = list(vqagen.sample_scenes(scenes, metadata=wide / "metadata.json"))
        run = Generation(records, load_domain_files(find_domain(wide)), vqagen.QuestionSettings())
        compile_families(run.generator)
        made = []
        seconds = cpu_seconds(lambda: made.extend(len(questions) for _, questions in run.by_scene()))
        report("11 attributes", f"{seconds / scenes * 1000:.1f} ms/scene, {sum(made) / scenes:.1f} questions each")


def report_load(name: str, files: vqagen.DomainFiles, repeats: int) -> None:
    """Print what loading and checking all templates of a domain costs, and compiling them."""

    def compile_all() -> None:
        compile_families(QuestionGenerator(loaded.templates, loaded.synonyms, vqagen.QuestionSettings()))

    loaded = load_domain_files(files)
    load = median(cpu_seconds(lambda: load_domain_files(files)) for _ in range(repeats))
    ready = median(cpu_seconds(compile_all) for _ in range(repeats))
    report(f"load {name}", f"{load:.3f} s, compile {ready:.3f} s, for {len(loaded.templates)} families")
