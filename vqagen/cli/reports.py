"""The options of commands that report: `--out`, `--json`, `--all` and `--force`."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from vqagen.cli.options import AddOption, Command, path
from vqagen.errors import UsageError

if TYPE_CHECKING:
    from vqagen.report.table import Report


class ReportOutput(NamedTuple):
    """Where a report goes, and its format: "text", "json", "html" or "csv"."""

    out: str
    format: str
    force: bool
    is_whole: bool = False
    """True if a screen shows all tables, and all of their rows."""

    @property
    def is_printed(self) -> bool:
        """True for standard output."""
        return self.out == "-"

    def put(self, report: Report, text: str = "") -> None:
        """Print or write a report; beside a file, print the gates that were missed.

        `text` replaces the report's own where the format is text.
        """
        from vqagen.report.writers import WRITERS, write_content

        if self.is_printed and self.format == "text" and not self.is_whole:
            report = report.on_screen()
        content = text if text and self.format == "text" else WRITERS[self.format](report)
        if self.is_printed:
            click.echo(content, nl=False)
            return
        write_content(content, self.out, force=self.force)
        for line in report.failures:
            click.echo(line, err=True)


def report_options(*inputs: str) -> AddOption:
    """Add the options of a report; the command gets them as `output`, which is checked before the command begins.

    `inputs` are parameters of the command that name files it reads, which a report never replaces. A name with an
    unknown ending is refused, and so is a file that exists, without --force.

    >>> from vqagen.report.table import Report
    >>> @click.command()
    ... @click.argument("questions")
    ... @report_options("questions")
    ... def command(questions: str, output: ReportOutput) -> None:
    ...     output.put(Report("Length", (f"{len(questions)} characters",), ()))
    >>> command(["questions.json", "--json"], standalone_mode=False)
    {
      "tables": {},
      "gates": []
    }
    """

    def add(command: Command) -> Command:
        @wraps(command)
        def with_output(*args: Any, out: str, as_json: bool, force: bool, is_whole: bool, **values: Any) -> Any:
            read = [name for parameter in inputs for name in _names(values[parameter])]
            output = checked_output(out, as_json, force, read)._replace(is_whole=is_whole)
            return command(*args, output=output, **values)

        wrapped: Command = with_output
        for option in (
            click.option("--force", is_flag=True, help="Replace files that exist."),
            click.option("--all", "is_whole", is_flag=True, help="Print all tables, and all of their rows."),
            click.option("--json", "as_json", is_flag=True, help="Print the report as JSON."),
            click.option(
                "--out",
                "-o",
                type=path,
                default="-",
                metavar="FILE",
                help="File for the report: .txt, .json, .html or .csv. [default: print it]",
            ),
        ):
            wrapped = option(wrapped)
        return wrapped

    return add


def _names(value: Any) -> list[str]:
    """Return the files that a parameter names: none, one or several."""
    return list(value) if isinstance(value, tuple) else [value] if value else []


def checked_output(out: str, as_json: bool, force: bool, inputs: list[str]) -> ReportOutput:
    """Return the output. UsageError before work begins if it cannot be written."""
    from vqagen.files.output import check_output
    from vqagen.report.writers import format_of_report

    form = format_of_report(out)
    if as_json and out != "-" and form != "json":
        raise UsageError(f"--json contradicts --out {out}; leave one out, or name a file that ends in .json")
    check_output(out, force, inputs)
    return ReportOutput(out, "json" if as_json else form, force)
