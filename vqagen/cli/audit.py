"""`vqagen audit`: finds what lets a model answer without looking, before a file is published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import click

from vqagen.cli.options import path, settings_options
from vqagen.judge.audit.settings import AuditSettings


@click.command("audit")
@click.argument("files", type=path, nargs=-1, required=True, metavar="FILE...")
@click.option("--scenes", type=path, metavar="PATH", help="The scenes that the questions or dialogs are about.")
@click.option("--train", type=path, metavar="FILE", help="The file that models are trained on, to find overlap.")
@click.option("--train-scenes", type=path, metavar="PATH", help="The scenes of --train, to compare scenes by content.")
@settings_options(settings=AuditSettings)
@click.option("--per-item", type=path, metavar="FILE.jsonl", help="Write how well each item is guessed.")
@click.option("--plots", type=path, metavar="PAGE.html", help="Write a page with figures and all families.")
@click.option("--force", is_flag=True, help="Replace the files if they exist.")
@click.option("--json", "as_json", is_flag=True, help="Print the audit as JSON.")
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    scenes: str | None,
    train: str | None,
    train_scenes: str | None,
    settings: AuditSettings,
    per_item: str | None,
    plots: str | None,
    force: bool,
    as_json: bool,
) -> None:
    """Find shortcuts by which questions, dialogs or trials are answered without looking.

    Probes that see no picture learn from some images and answer about others: words, programs and repeated texts of
    questions; the history of dialogs; positions, lengths, numbers and frequencies of options; grids of trials without
    their instructions. Each is compared with chance: the most frequent answer of the family, or one over the number of
    options. Then it is tested what else tells of the answer: words, image index, place, position. With --scenes,
    repeated scenes are found; with --train, what that file has in common with this one.

    A probe fails if it is certainly above chance by more than --tolerance. All tests are corrected together (Holm), so
    that a file without shortcuts fails with a chance of --alpha at most. The exit code is 1 if a file fails. Several
    files are shown side by side.

    \b
    Example:
      vqagen audit questions.json --scenes scenes.json
    """
    from vqagen.calls.auditing import audit, write_audit_page, write_item_biases
    from vqagen.cli.progress import counting
    from vqagen.judge.audit.report import report_lines

    outputs = {"--per-item": per_item, "--plots": plots}
    _check_outputs(files, outputs, force, [scenes, train, train_scenes])
    with counting("item") as on_read:
        found = [
            audit(each, scenes=scenes, train=train, train_scenes=train_scenes, settings=settings, on_read=on_read)
            for each in files
        ]
    if per_item is not None:
        write_item_biases(found[0], per_item)
    if plots is not None:
        write_audit_page(found[0], plots, force=force)
    if as_json:
        import json

        records = [each.to_record() for each in found]
        click.echo(json.dumps(records if len(records) > 1 else records[0], indent=2, ensure_ascii=False))
    else:
        click.echo("\n".join(report_lines(found)))
    ctx.exit(0 if all(each.passes for each in found) else 1)


def _check_outputs(
    files: Sequence[str], outputs: Mapping[str, str | None], force: bool, inputs: Sequence[str | None]
) -> None:
    """Find out before work begins whether all outputs can be written."""
    from vqagen.files.output import check_output

    given = {name: target for name, target in outputs.items() if target is not None}
    if len(files) > 1 and given:
        raise click.UsageError(f"{next(iter(given))} writes about one file, and {len(files)} are given")
    before: list[str] = []
    for target in given.values():
        check_output(target, force, [*files, *inputs, *before])
        before.append(target)
    if "--plots" in given:
        from vqagen.draw.audit_page import check_page

        check_page(given["--plots"], force)
