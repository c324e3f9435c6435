"""The page of an audit: one HTML file without scripts, which loads nothing else."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from itertools import zip_longest
from typing import Any

from vqagen.draw.statistics_figures import FigureText, drawing_style
from vqagen.draw.statistics_page import PAGE_STYLE, check_page, figure_html
from vqagen.extras import needed
from vqagen.files.output import atomic_output
from vqagen.judge.audit.audit import BELOW, FAILS, MAX_ASSOCIATION, Audit
from vqagen.judge.audit.report import overview_lines
from vqagen.judge.audit.significance import ChanceDifference

__all__ = ["check_page", "page", "write_page"]

_GOOD, _BAD, _OTHER, _CHANCE = "#3f7cac", "#d1602f", "#9aa5b1", "#dde3e8"
_STYLE = ".fails { color: #b5431a; font-weight: 600; } .passes { color: #2f6f4f; font-weight: 600; }"
_PROBE_HEAD = ("probe", "guess", "items", "accuracy", "chance", "95 % of the difference", "p (Holm)", "verdict")
_ASSOCIATION_HEAD = ("with", "", "bits", "Cramér's V", "p (Holm)", "verdict")
_NUMBER = '<td class="number">'
_MOST_FAMILIES = 60
"""Families of the figure; the table has all."""


def write_page(audit: Audit, out: str, force: bool) -> None:
    """Write the page. UsageError if there is such a file, without `force`, or if matplotlib is missing."""
    check_page(out, force)
    text = page(audit)
    with atomic_output(out) as file:
        file.write(text.encode())


def page(audit: Audit) -> str:
    """Return the page as HTML."""
    with drawing_style():
        drawn = "\n".join(figure_html(each) for each in _figures(audit))
    first, *rest = overview_lines(audit)
    title = escape(f"Audit of {audit.file.name}")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
{PAGE_STYLE}
{_STYLE}
</style></head><body>
<h1>{title}</h1>
<p>{escape(first)}</p>
{_verdict(audit)}
<pre>{escape(chr(10).join(line.removeprefix("  ") for line in rest))}</pre>
{"".join(f'<p class="note">{escape(note)}</p>' for note in audit.notes)}
<div class="figures">
{drawn}
</div>
<h2>Answered without looking</h2>
{_table(_PROBE_HEAD, _probe_rows(audit))}
<h2>Associated with the answer, within families</h2>
{_table(_ASSOCIATION_HEAD, _association_rows(audit))}
<h2>Families</h2>
{_family_table(audit)}
</body></html>
"""


def _verdict(audit: Audit) -> str:
    failures = list(audit.failures())
    if not failures:
        return '<p class="passes">Passes: no shortcut found.</p>'
    listed = "".join(f"<li>{escape(failure)}</li>" for failure in failures)
    return f'<p class="fails">Fails:</p><ul class="fails">{listed}</ul>'


def _figures(audit: Audit) -> Iterator[FigureText]:
    if audit.probes:
        caption = "Accuracy of each probe (dot, with 95 % of its difference from chance) and chance (line)."
        yield FigureText("Answered without looking", caption, _draw(_probe_figure, audit, len(audit.probes) + 1))
    if audit.associations:
        caption = f"Cramér's V, corrected for bias; the line is the limit, {MAX_ASSOCIATION:g}."
        drawn = _draw(_association_figure, audit, len(audit.associations) + 1)
        yield FigureText("Associated with the answer", caption, drawn)
    if audit.probes and len(audit.answers) > 1:
        caption = "Each line is a family: chance (gray) and the strongest probe's accuracy, the furthest apart on top."
        rows = min(len(audit.answers), _MOST_FAMILIES) / 6 + 1
        yield FigureText("Families", caption, _draw(_family_figure, audit, rows))
    caption = "Entropy of the answers of each family (dots) and the highest there could be (line), in bits."
    yield FigureText("Entropy of answers", caption, _draw(_entropy_figure, audit, 8))


def _draw(draw: Callable[[Any, Audit], None], audit: Audit, rows: float) -> str:
    """Return a figure as SVG."""
    figure = needed("matplotlib.figure", "plots", "--plots").Figure(figsize=(6.4, 0.9 + 0.38 * rows))
    draw(figure.add_subplot(), audit)
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", bbox_inches="tight", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :]


def _color(verdict: str) -> str:
    return {FAILS: _BAD, BELOW: _OTHER, "": _OTHER}.get(verdict, _GOOD)


def _probe_figure(axes: Any, audit: Audit) -> None:
    for row, each in enumerate(audit.probes):
        found = each.difference
        axes.plot([each.chance, each.chance], [row - 0.35, row + 0.35], color="#52606d", linewidth=1.5)
        if found.low > -1:
            ends = [each.chance + found.low, each.chance + found.high]
            axes.plot(ends, [row, row], color=_color(each.verdict), linewidth=2)
        axes.plot([each.accuracy], [row], "o", color=_color(each.verdict), markersize=5)
    _name_rows(axes, [each.probe.name for each in audit.probes])
    axes.set_xlim(0, 1)


def _association_figure(axes: Any, audit: Audit) -> None:
    for row, each in enumerate(audit.associations):
        axes.barh(row, each.association.v, 0.6, color=_color(each.verdict))
    axes.axvline(MAX_ASSOCIATION, color="#52606d", linewidth=1)
    _name_rows(axes, [each.association.name for each in audit.associations])
    axes.set_xlim(0, 1)


def _name_rows(axes: Any, names: list[str]) -> None:
    axes.set_yticks(range(len(names)), names)
    axes.invert_yaxis()
    axes.grid(axis="x", color="#edf0f2")


def _family_figure(axes: Any, audit: Audit) -> None:
    families = audit.probes[0].families
    best = {name: max(each.families[name][1] for each in audit.probes if name in each.families) for name in families}
    ranked = sorted(families, key=lambda name: (families[name][2] - best[name], name))[:_MOST_FAMILIES]
    for row, name in enumerate(ranked):
        chance = families[name][2]
        axes.plot([chance, best[name]], [row, row], color=_CHANCE, linewidth=2, zorder=2)
        axes.scatter([chance], [row], s=14, color=_OTHER, zorder=3, clip_on=False)
        axes.scatter([best[name]], [row], s=14, color=_BAD if best[name] > chance else _GOOD, zorder=3, clip_on=False)
    axes.set_yticks([])
    axes.set_xlim(0, 1)
    axes.set_ylim(len(ranked), -1)
    axes.grid(axis="x", color="#edf0f2")


def _entropy_figure(axes: Any, audit: Audit) -> None:
    bits = audit.family_bits
    axes.plot([0, max(most for _, most in bits.values())], [0, max(most for _, most in bits.values())], color="#52606d")
    axes.scatter(
        [most for _, most in bits.values()], [found for found, _ in bits.values()], s=14, color=_GOOD, zorder=3
    )
    axes.set_xlabel("highest")
    axes.set_ylabel("found")


def _table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; the heads of numbers stand above them, on the right."""
    listed = list(rows)
    first = listed[0] if listed else ()
    heads = "".join(
        f'<th class="number">{escape(name)}</th>' if cell.startswith(_NUMBER) else f"<th>{escape(name)}</th>"
        for name, cell in zip_longest(head, first, fillvalue="")
    )
    cells = "\n".join(f"<tr>{''.join(row)}</tr>" for row in listed)
    return f'<div class="wide"><table><tr>{heads}</tr>\n{cells}\n</table></div>'


def _text(value: str) -> str:
    return f"<td>{escape(value)}</td>"


def _number(value: str) -> str:
    return f"{_NUMBER}{value}</td>"


def _verdict_cell(verdict: str) -> str:
    kind = {FAILS: "fails", "": "", BELOW: ""}.get(verdict, "passes")
    return f'<td class="{kind}">{escape(verdict or "shown only")}</td>'


def _interval(found: ChanceDifference) -> str:
    return f"{found.low:+.3f} to {found.high:+.3f}" if found.low > -1 else "too few images"


def _probe_rows(audit: Audit) -> Iterator[list[str]]:
    for each in audit.probes:
        numbers = (f"{each.items:,}", f"{each.accuracy:.3f}", f"{each.chance:.3f}", _interval(each.difference))
        named = [_text(each.probe.name), _text(each.probe.meaning)]
        yield [*named, *map(_number, (*numbers, f"{each.p:.3g}")), _verdict_cell(each.verdict)]


def _association_rows(audit: Audit) -> Iterator[list[str]]:
    for each in audit.associations:
        found = each.association
        numbers = (f"{found.bits:.3f}", f"{found.v:.3f}", f"{each.p:.3g}")
        yield [_text(found.name), _text(found.detail), *map(_number, numbers), _verdict_cell(each.verdict)]


def _family_table(audit: Audit) -> str:
    head = (
        "family",
        "items",
        "entropy",
        "highest",
        "top answer",
        "chance",
        *(each.probe.name for each in audit.probes),
    )
    return _table(head, (_family_row(audit, name) for name in sorted(audit.answers)))


def _family_row(audit: Audit, name: str) -> list[str]:
    counts, (bits, most) = audit.answers[name], audit.family_bits[name]
    top = min(counts, key=lambda answer: (-counts[answer], answer))
    found = [each.families.get(name) for each in audit.probes]
    chance = next((f"{each[2]:.2f}" for each in found if each), "")
    shown = [_number(value) for value in (f"{counts.total():,}", f"{bits:.2f}", f"{most:.2f}")]
    shares = [_number(chance), *(_number("" if each is None else f"{each[1]:.2f}") for each in found)]
    return [_text(name), *shown, _text(f"{top} {counts[top] / counts.total():.0%}"), *shares]
