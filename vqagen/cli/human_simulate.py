"""`vqagen human simulate`: rehearses a study with simulated raters."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from vqagen.cli.options import integer, path, settings_options
from vqagen.human.simulation.raters import RaterSettings
from vqagen.human.simulation.visit import RehearsalSettings

DATA = "data"
_VIA = (DATA, "http", "browser")


@click.command("simulate")
@click.argument("study", type=path, metavar="STUDY")
@click.option("--raters", required=True, type=integer(1), metavar="N", help="Number of raters.")
@settings_options(settings=RaterSettings)
@click.option(
    "--via",
    type=click.Choice(_VIA),
    default=DATA,
    show_default=True,
    help="data: no server; http: a real server, by requests; browser: its page, in a real browser.",
)
@settings_options(rehearsal=RehearsalSettings)
@click.option("--url", default="", metavar="URL", help="A server of the study, in place of one for a copy of it.")
@click.option(
    "--replications",
    type=integer(1),
    default=100,
    show_default=True,
    metavar="N",
    help="Repetitions of the study that power is estimated by; only via data.",
)
@click.option("--out", "-o", type=path, metavar="FOLDER", help="Also keep the answers: of one repetition via data.")
@click.option("--force", is_flag=True, help="Replace answers that exist.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def simulate(
    ctx: click.Context,
    /,
    study: str,
    raters: int,
    settings: RaterSettings,
    rehearsal: RehearsalSettings,
    as_json: bool,
    **options: Any,
) -> None:
    """Rehearse a study with simulated raters, and print its power before money is spent.

    Each rater has opinions of the systems (--rater-sd), each text is better or worse than its system (--image-sd), and
    each answer has noise. The tables say how wide the intervals will be, and how often they will show that a system
    differs from the reference, or from another system, if its true score is --effect.

    --via http does the whole study once, on a real server: raters consent, answer and get their codes, some leave
    early (--drop-out). --via browser does so in Chromium, three windows at once. A copy of the study is served, so that
    its own store stays empty; --out keeps the copy. All that the server acknowledged is looked up in its store. The
    exit code is 1 if something is lost or wrong.

    \b
    Example:
      vqagen human simulate study --raters 12 --effect ours=-0.2 --out answers
      vqagen human score answers
    """
    via = options["via"]
    _check(ctx, via)
    if via == DATA:
        _print_power(study, raters, settings, options, as_json)
        return
    from vqagen.calls.human_rehearsal import check_rehearsal, rehearse_study
    from vqagen.cli.progress import counting
    from vqagen.judge.report.writers import WRITERS

    check_rehearsal(via, options["url"], options["out"])
    with counting("visit") as done:
        report = rehearse_study(
            study, raters, settings, rehearsal, via=via, url=options["url"], out=options["out"], on_done=done
        )
    click.echo(WRITERS["json" if as_json else "text"](report), nl=False)
    ctx.exit(1 if report.failures else 0)


_OF_DATA = "replications", "force"
_OF_SERVERS = "drop_out", "at_once", "url"


def _check(ctx: click.Context, via: str) -> None:
    """Raise UsageError for options that have no effect this way."""
    useless = _OF_SERVERS if via == DATA else _OF_DATA
    flags = [
        f"--{name.replace('_', '-')}"
        for name in useless
        if ctx.get_parameter_source(name) not in (None, ParameterSource.DEFAULT)
    ]
    if flags:
        raise click.UsageError(f"{', '.join(flags)} has no effect with --via {via}; leave it out")


def _print_power(study: str, raters: int, settings: RaterSettings, options: dict[str, Any], as_json: bool) -> None:
    """Print the power of a study, and write the answers of one repetition if they are asked for."""
    from vqagen.calls.human_scoring import answers_file, simulate_study, write_simulated_answers
    from vqagen.cli.progress import counting
    from vqagen.judge.report.writers import WRITERS

    out, force = options["out"], options["force"]
    if out is not None:
        answers_file(out, force)
    with counting("repetition") as done:
        report = simulate_study(study, raters, settings, replications=options["replications"], on_done=done)
    click.echo(WRITERS["json" if as_json else "text"](report), nl=False)
    if out is not None:
        count = write_simulated_answers(study, raters, out, settings, force=force)
        click.echo(f"{count:,} answers in {out}", err=True)
