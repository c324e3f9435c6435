"""Formats of reports; each writer returns the whole text. WRITERS lists them by name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from xml.sax.saxutils import escape, quoteattr

from vqagen.judge.report.page import page
from vqagen.judge.report.table import ScoreReport, Table

_HEAD = "head"
"""The name of the head among the tables."""


def text(report: ScoreReport) -> str:
    """Return aligned text for a terminal."""
    blocks = ["\n".join(report.head), *("\n".join(_aligned(table)) for table in report.tables)]
    return "\n\n".join([*blocks, *(["\n".join(report.failures)] if report.failures else [])]) + "\n"


def _aligned(table: Table) -> Iterator[str]:
    lines = [[column.name for column in table.columns], *table.shown()]
    widths = [max(len(line[number]) for line in lines) for number in range(len(table.columns))]
    yield table.title
    for line in lines:
        cells = (
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for cell, width, column in zip(line, widths, table.columns, strict=True)
        )
        yield "  " + "  ".join(cells).rstrip()
    yield from (f"  {note}" for note in table.notes)


def markdown(report: ScoreReport) -> str:
    """Return Markdown with a table for each table."""
    head = [f"# {_in_markdown(report.title)}", "\n".join(f"- {_in_markdown(line)}" for line in report.head)]
    failures = ["\n".join(f"- **{_in_markdown(line)}**" for line in report.failures)] if report.failures else []
    return "\n\n".join([*head, *failures, *("\n".join(_pipes(table)) for table in report.tables)]) + "\n"


def _pipes(table: Table) -> Iterator[str]:
    yield f"## {_in_markdown(table.title)}\n"
    yield f"| {' | '.join(_in_markdown(column.name) for column in table.columns)} |"
    yield f"|{'|'.join('--:' if column.is_number else '---' for column in table.columns)}|"
    for line in table.shown():
        yield f"| {' | '.join(map(_in_markdown, line))} |"
    if table.notes:
        yield "\n" + "  \n".join(map(_in_markdown, table.notes))


def _in_markdown(cell: str) -> str:
    """Return a text that Markdown shows as it is."""
    for sign in "\\|*_`<#[":
        cell = cell.replace(sign, f"\\{sign}")
    return " ".join(cell.split())


def as_json(report: ScoreReport) -> str:
    """Return one JSON object: the facts of the head, the tables by key, and the gates."""
    return json.dumps(report.to_record(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(report: ScoreReport) -> str:
    """Return one table with all rows of all tables; `table` is their key. Cells that a table lacks are empty.

    The lines of the head come first, in a column of their own, so that no score stands without its coverage.
    """
    names = list(dict.fromkeys(column.name for table in report.tables for column in table.columns))
    out = io.StringIO()
    writer = csv.DictWriter(out, ["table", *names, _HEAD], lineterminator="\n")
    writer.writeheader()
    writer.writerows({"table": _HEAD, _HEAD: line} for line in report.head)
    for table in report.tables:
        for row in table.to_record()["rows"]:
            writer.writerow({"table": table.key, **row})
    return out.getvalue()


def junit(report: ScoreReport) -> str:
    """Return JUnit XML: a test case for each gate, and one for each row of each table, which always passes.

    The lines of the head are the output of the gates.
    """
    gates = [_case("gates", gate.name, gate.problem) for gate in report.gates]
    suites = [_suite("gates", gates, "\n".join(report.head))]
    for table in report.tables:
        suites.append(_suite(table.key, [_case(table.key, *named) for named in _row_cases(table)]))
    failures, cases = len(report.failures), sum(suite.count("<testcase ") for suite in suites)
    return "\n".join(
        [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f"<testsuites name={_attribute(report.title)} tests={_attribute(cases)} failures={_attribute(failures)}>",
            *suites,
            "</testsuites>\n",
        ]
    )


def _suite(name: str, cases: list[str], out: str = "") -> str:
    failures = sum("<failure" in case for case in cases)
    counts = f"tests={_attribute(len(cases))} failures={_attribute(failures)}"
    printed = [f"    <system-out>{escape(_printable(out))}</system-out>"] if out else []
    return "\n".join([f"  <testsuite name={_attribute(name)} {counts}>", *cases, *printed, "  </testsuite>"])


def _row_cases(table: Table) -> Iterator[tuple[str, str, str]]:
    """Yield the name of each row, no problem, and its cells."""
    for line in table.shown():
        cells = (f"{column.name}: {cell}" for column, cell in zip(table.columns, line, strict=True))
        yield line[0], "", ", ".join(cells)


def _case(suite: str, name: str, problem: str, out: str = "") -> str:
    opening = f"    <testcase classname={_attribute(suite)} name={_attribute(name)}"
    if problem:
        return f"{opening}><failure message={_attribute(problem)}/></testcase>"
    return f"{opening}><system-out>{escape(_printable(out))}</system-out></testcase>" if out else f"{opening}/>"


def _attribute(value: object) -> str:
    return quoteattr(_printable(str(value)))


def _printable(text: str) -> str:
    """Return a text without the control characters that XML cannot hold."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text)


WRITERS: Mapping[str, Callable[[ScoreReport], str]] = {
    "text": text,
    "md": markdown,
    "json": as_json,
    "csv": as_csv,
    "html": page,
    "junit": junit,
}
"""Name of a format -> its writer."""
