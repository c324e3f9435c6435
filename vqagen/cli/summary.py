"""The summary of a run in a few lines for people."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median

from vqagen.errors import counted
from vqagen.tasks.questions.report import Report
from vqagen.tasks.questions.settings import Settings
from vqagen.tasks.questions.tally import Tally

SHORT = 0.9
"""A family is short when it made less than this share of the families' median."""
SHOWN = 5


def summary(report: Report, out: str) -> str:
    """Return the numbers of questions, scenes and families, then the families and scenes that fell short, and why."""
    tally, settings = report.tally, report.settings
    if report.was_complete:
        return f"{out} is complete: there is nothing to do"
    if not tally.scenes:
        return f"no questions: there is no scene from index {settings.start_index} on"
    used = sum(1 for made in tally.questions.values() if made)
    about = f"{counted(report.questions, 'question')} about {counted(tally.scenes, 'scene')}"
    head = f"{about}, from {used} of {len(tally.tries)} families tried"
    return "\n".join(
        [head, *_skipped(report), *_left_out(report), *_short_families(tally), *_short_scenes(tally, settings)]
    )


def _skipped(report: Report) -> Iterator[str]:
    if report.skipped:
        more = ", …" if len(report.skipped) > SHOWN else ""
        shown = ", ".join(report.skipped[:SHOWN]) + more
        yield f"  skipped: {counted(len(report.skipped), 'bad template')} ({shown})"


def _left_out(report: Report) -> Iterator[str]:
    left_out = report.left_out.total()
    if left_out:
        emptied = f", and {counted(report.emptied_scenes, 'scene')} with none" if report.emptied_scenes else ""
        yield f"  left out of the whole: {counted(left_out, 'more question')}{emptied}"


def _short_families(tally: Tally) -> Iterator[str]:
    usual = median(tally.questions[family] for family in tally.tries) if tally.tries else 0
    short = sorted((tally.questions[family], family) for family in tally.tries if tally.failures_of(family))
    short = [(made, family) for made, family in short if made < SHORT * usual or not made]
    for made, family in short[:SHOWN]:
        why = _format_reasons(tally.failures_of(family))
        yield f"  short: {family} made {made:,} (median of all families: {usual:,.0f}); failed tries: {why}"
    if len(short) > SHOWN:
        yield f"  … and {len(short) - SHOWN} more short families"


def _short_scenes(tally: Tally, settings: Settings) -> Iterator[str]:
    if tally.short_scenes:
        reasons = Counter[str]()
        for (_, reason), count in tally.failures.items():
            reasons[reason] += count
        why = f"; failed tries: {_format_reasons(reasons)}" if reasons else ""
        yield f"  {tally.short_scenes:,} of {tally.scenes:,} scenes have {_too_few(tally, settings)}{why}"


def _too_few(tally: Tally, settings: Settings) -> str:
    if settings.questions_per_image:
        return f"fewer than {counted(settings.questions_per_image, 'question')}"
    wanted, there = settings.templates_per_image, len(tally.tries)
    return f"questions from fewer than {wanted} families" + ("" if there >= wanted else f": there are {there}")


def _format_reasons(reasons: Counter[str]) -> str:
    return ", ".join(f"{reason} {count:,}×" for reason, count in reasons.most_common())
