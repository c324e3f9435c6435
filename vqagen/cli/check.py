"""`vqagen check`: errors and warnings in the files that people write."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from vqagen.cli.messages import counting, print_listing, print_message
from vqagen.cli.options import domain_options, input_path, integer
from vqagen.errors import Problem, counted

if TYPE_CHECKING:
    from vqagen.authoring.check.check_report import CheckReport, FileReport


@click.command("check")
@click.argument("paths", metavar="PATH...", type=input_path, nargs=-1, required=True)
@domain_options("domain", "metadata", "plugins")
@click.option("--scenes", type=input_path, metavar="PATH", help="Scenes to try templates on.")
@click.option(
    "--samples",
    type=integer(0),
    default=2000,
    show_default=True,
    help="Without --scenes: the most sampled scenes that templates are tried on; 0 for none.",
)
@click.option("--strict", is_flag=True, help="Exit with 1 for warnings too.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    paths: tuple[str, ...],
    domain: dict[str, Any],
    scenes: str | None,
    samples: int,
    strict: bool,
    as_json: bool,
) -> None:
    """Report every mistake in hand-written files in one run.

    PATHs are files or folders of metadata, templates, synonyms, plug-ins and scenes. Each is recognized by its content
    and checked against the nearest metadata: DOMAIN/metadata.json, or metadata/NAME.json for templates/NAME. Errors
    make other commands fail. Warnings are accepted but probably unintended: a text that leaves out a slot, an answer
    that never occurs, a constraint that rules nothing out. The exit code is 1 if there is an error.

    \b
    Example:
      vqagen check scenes.json
    """
    from vqagen.authoring.check.checking import check_paths

    with counting("step") as on_progress:
        report = check_paths(paths, scenes=scenes, samples=samples, on_progress=on_progress, **domain)
    for note in () if as_json else report.notes:
        print_message(note)
    print_listing(report.to_record(), report_lines(report), as_json)
    ctx.exit(1 if report.errors or (strict and report.warnings) else 0)


def report_lines(report: CheckReport) -> Iterator[str]:
    """Yield the lines of a report for people."""

    for file in report.files:
        if file.errors or file.warnings or file.not_checked:
            yield from (*_file_lines(file), "")
    faults = f"{counted(report.errors, 'error')}, {counted(report.warnings, 'warning')}"
    yield f"{faults} in {counted(len(report.files), 'file')}"


def _file_lines(file: FileReport) -> Iterator[str]:

    yield click.style(file.path, bold=True)
    for problem in file.errors:
        yield from _problem_lines(problem, click.style("error", fg="red"))
    if file.unlisted:
        yield f"  … and {counted(file.unlisted, 'more error')}"
    for code, problem in file.warnings:
        yield from _problem_lines(problem, click.style("warning", fg="yellow"), f" [{code}]")
    for what in file.not_checked:
        yield f"  not checked: {what}"


def _problem_lines(problem: Problem, word: str, code: str = "") -> Iterator[str]:
    position = f"{problem.line}:{problem.column}" if problem.line is not None else ""
    yield "  " + "  ".join(filter(None, (word, position, problem.path, problem.message))) + code
    yield from (f"      {line}" for line in problem.excerpt.splitlines())
