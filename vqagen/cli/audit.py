"""`vqagen audit`: finds what lets a model answer without looking, before a file is published."""

from __future__ import annotations

import click

from vqagen.cli.messages import reading_then
from vqagen.cli.options import image_key_option, input_path, settings_options
from vqagen.cli.reports import ReportOutput, report_options
from vqagen.shortcuts.settings import AuditSettings


@click.command("audit")
@click.argument("files", type=input_path, nargs=-1, required=True, metavar="FILE...")
@click.option("--scenes", type=input_path, metavar="PATH", help="The scenes that the questions or dialogs are about.")
@click.option("--train", type=input_path, metavar="FILE", help="The file that models are trained on, to find overlap.")
@click.option(
    "--train-scenes", type=input_path, metavar="PATH", help="The scenes of --train, to compare scenes by content."
)
@image_key_option
@settings_options(settings=AuditSettings)
@report_options("files", "scenes", "train", "train_scenes")
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    scenes: str | None,
    train: str | None,
    train_scenes: str | None,
    image_key: str,
    settings: AuditSettings,
    output: ReportOutput,
) -> None:
    """Find shortcuts by which questions, dialogs or trials are answered without looking.

    Four things are asked: what the picture tells alone (of a trial, its grid without the instruction), the words alone,
    the options alone, and the order of a file and the answers before. Predictors learn each from some images and answer
    about others; their guesses are compared with chance: the most frequent answer of the family, or one over the number
    of options. What the other questions about an image tell is shown, and fails no file. With --scenes, repeated scenes
    are found, and options that a scene shows; with --train, what that file has in common with this one.

    A file fails if a predictor is certainly above chance by more than --tolerance. All tests are corrected together
    (Holm), so that a file without shortcuts fails with a chance of --alpha at most. Several files are shown side by
    side.

    A file with too few items to find guesses that far above chance is inconclusive, and the report says how many it
    needs. A file whose images are not named, or that has fewer than 5, is not tested. The exit code is 0 if all files
    pass, and 1 if one fails, is inconclusive or is not tested.

    \b
    Example:
      vqagen audit questions.json --scenes scenes.json
    """
    with reading_then("predictor", "record") as (on_read, on_guess):
        from vqagen.shortcuts.audit import audit
        from vqagen.shortcuts.audit_report import audit_report

        found = [
            audit(
                each,
                scenes=scenes,
                train=train,
                train_scenes=train_scenes,
                settings=settings,
                on_read=on_read,
                on_guess=on_guess,
                image_key=image_key,
            )
            for each in files
        ]
    report = audit_report(*found)
    output.put(report)
    ctx.exit(1 if report.failures else 0)
