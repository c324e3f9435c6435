"""Formats of reports; each writer returns the whole text. WRITERS lists them by name."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path, PurePath

from vqagen.errors import UsageError
from vqagen.files.output import STDOUT, atomic_output, check_output
from vqagen.files.packing import unpacked_name
from vqagen.score.report.page import page
from vqagen.score.report.table import Report, Reported

_HEAD = "head"
"""The name of the head among the tables."""


def as_json(report: Report) -> str:
    """Return one JSON object: the facts of the head, the tables by key, and the gates."""
    return json.dumps(report.to_record(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def as_csv(report: Report) -> str:
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


WRITERS: Mapping[str, Callable[[Report], str]] = {
    "text": Report.text,
    "json": as_json,
    "html": page,
    "csv": as_csv,
}
"""Name of a format -> its writer."""
_ENDINGS = {".txt": "text", ".json": "json", ".html": "html", ".csv": "csv"}


def format_of_report(out: str) -> str:
    """Return the format that the ending of a file's name stands for. UsageError for another ending.

    >>> format_of_report("-"), format_of_report("scores.html"), format_of_report("scores.csv.gz")
    ('text', 'html', 'csv')
    """
    if out == STDOUT:
        return "text"
    ending = PurePath(unpacked_name(out)).suffix.lower()
    if ending not in _ENDINGS:
        named = f"ends in {ending}" if ending else "has no ending"
        raise UsageError(f"the report {out} {named}; name a file that ends in {', '.join(_ENDINGS)}")
    return _ENDINGS[ending]


def write_report(report: Report | Reported, out: Path | str) -> None:
    """Write a report, or that of a result, in the format of the name's ending.

    UsageError for other endings, and if there is such a file.
    """
    write = WRITERS[format_of_report(str(out))]
    write_content(write(report if isinstance(report, Report) else report.report()), str(out))


def write_content(content: str, out: str, *, force: bool = False) -> None:
    """Write the text of a report."""
    check_output(out, force)
    with atomic_output(out) as file:
        file.write(content.encode())
