"""`vqagen verify`: derives every answer again, reads every text, and compares both with what is written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from vqagen.cli.messages import counting
from vqagen.cli.options import domain_options, input_path
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.errors import UsageError


@click.command("verify")
@click.argument("file", type=input_path)
@click.option(
    "--scenes", type=input_path, metavar="PATH", help="The scenes that questions or dialogs are about; not of trials."
)
@domain_options("domain", "metadata", "templates", "synonyms", "plugins")
@report_options("file", "scenes")
@click.pass_context
def command(ctx: click.Context, file: str, scenes: str | None, domain: dict[str, Any], output: ReportOutput) -> None:
    """Check that every answer and text of questions, dialogs, trials or a dataset is right.

    Each program of a question is run again on its scene, and its text must say what the program asks. A question whose
    answer or text differs, or whose scene or program is wrong, is reported; a problem that many questions have is one
    line. Reads all dialects, as a JSON document, JSON Lines or Parquet, also from other generators; their texts are
    read by --templates. The exit code is 1 if any question is wrong.

    Dialogs are read from their sentences alone: what "it" is, whether the answer is right, clear, and not known before.
    From that the annotations are made again, and compared. Dialogs of one image must differ, and keep the settings.
    Prints the faults by kind and label, and the first of each. Reads files of `vqagen dialog` and of CLEVR-Dialog's
    shape; what no template says in files of its own counts as not proved. The exit code is 1 if there is a fault.

    Trials of the director task are judged from their grids and texts: who sees what, the one answer that the director
    means, what each word adds, the numbers and shares of the settings, pairs, and pictures. Prints the faults by rule,
    and the first of each. Reads folders of `vqagen director` and datasets of the reference's shape. The exit code is 1
    if there is a fault.

    Of a folder of `vqagen dataset`, everything is checked: rows, options, splits, pictures and the hash of each file.

    \b
    Example:
      vqagen verify questions.json --scenes scenes.json
    """
    from vqagen.dataset.folder import STATE
    from vqagen.files.locations import locate
    from vqagen.score.verification import verify
    from vqagen.tasks.record_files import kind_of_file

    if Path(file, STATE).is_file():
        from vqagen.dataset.verification import verify_dataset

        if scenes:
            raise UsageError(f"{file} is a dataset, which comes with its scenes: leave out --scenes")
        with counting("row") as on_checked:
            report = verify_dataset(file, on_checked=on_checked, **domain)
    else:
        with counting(kind_of_file(locate(file)).noun) as on_checked:
            report = verify(file, scenes, on_checked=on_checked, **domain)
    output.put(report.report())
    ctx.exit(0 if report.is_clean else 1)
