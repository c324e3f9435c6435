"""The page of the statistics of a question file: one HTML file without scripts, which loads nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from html import escape

from vqagen.draw.statistics_figures import COLOURS, FigureText, drawing_style, figures
from vqagen.files.output import atomic_output, check_output
from vqagen.judge.stats.census import evenness
from vqagen.judge.stats.guessing import Accuracy, Guessing
from vqagen.judge.stats.question_statistics import QuestionStatistics
from vqagen.judge.stats.statistics_report import overview_lines

PAGE_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2933; max-width: 1080px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.5em; overflow-wrap: anywhere; } h2 { font-size: 1.15em; margin: 0 0 .2em; }
pre { background: #f4f6f8; padding: .8em 1em; overflow-x: auto; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%), 1fr)); gap: 2em; }
.figures { margin: 2em 0; }
figure { margin: 0; } figure svg { width: 100%; height: auto; } figcaption { color: #52606d; font-size: .9em; }
table { border-collapse: collapse; width: 100%; font-size: .9em; margin: .6em 0 2em; }
th, td { text-align: left; padding: .2em .6em; border-bottom: 1px solid #e4e9ed; } .number { text-align: right; }
.wide { overflow-x: auto; } .note { color: #8a4b1f; }
""".strip()


def check_page(out: str, force: bool, inputs: Iterable[str | None] = ()) -> None:
    """Find out before work begins whether the page can be made; raise UsageError if not."""
    check_output(out, force, inputs)
    with drawing_style():
        pass


def write_page(statistics: QuestionStatistics, out: str, force: bool) -> None:
    """Write the page. UsageError if there is such a file, without `force`, or if matplotlib is missing."""
    check_page(out, force)
    text = page(statistics)
    with atomic_output(out) as file:
        file.write(text.encode())


def page(statistics: QuestionStatistics) -> str:
    """Return the page as HTML."""
    drawn = "\n".join(map(figure_html, figures(statistics)))
    first, *rest = overview_lines(statistics)
    notes = "\n".join(f'<p class="note">{escape(note)}</p>' for note in statistics.notes)
    title = escape(f"Statistics of {statistics.name}")
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<style>
{PAGE_STYLE}
</style></head><body>
<h1>{title}</h1>
<p>{escape(first)}</p>
<pre>{escape(chr(10).join(line.removeprefix("  ") for line in rest))}</pre>
{notes}
<div class="figures">
{drawn}
</div>
<h2>Families</h2>
{_family_table(statistics)}
</body></html>
"""


def figure_html(figure: FigureText) -> str:
    """Return a figure with its title and caption."""
    caption = f"<figcaption>{escape(figure.caption)}</figcaption>" if figure.caption else ""
    return f"<figure><h2>{escape(figure.title)}</h2>{caption}{figure.svg}</figure>"


def _family_table(statistics: QuestionStatistics) -> str:
    guessing = statistics.guessing
    predictors = guessing.predictors if guessing else ()
    head = ["family", "type", "questions", "evenness", "most frequent answers", *predictors]
    rows = "\n".join(
        f"<tr>{''.join(_family_cells(statistics, guessing, family, count))}</tr>"
        for family, count in _ordered(statistics)
    )
    heads = "".join(f"<th>{name}</th>" for name in head)
    return f'<div class="wide"><table><tr>{heads}</tr>\n{rows}\n</table></div>'


def _ordered(statistics: QuestionStatistics) -> Iterable[tuple[str, int]]:
    """Return family and questions; the families that are guessed best come first."""
    guessing = statistics.guessing

    def rank(item: tuple[str, int]) -> tuple[float, str]:
        accuracy = guessing.families.get(item[0]) if guessing else None
        return (-accuracy.best(guessing.predictors) if guessing and accuracy else 0.0), item[0]

    return sorted(statistics.families.items(), key=rank)


def _family_cells(statistics: QuestionStatistics, guessing: Guessing | None, family: str, count: int) -> Iterator[str]:
    census = statistics.census
    answers = census.family_answers.get(family)
    yield f"<td>{escape(statistics.family_name(family))}</td><td>{escape(census.family_types.get(family, ''))}</td>"
    yield f'<td class="number">{count:,}</td>'
    yield f'<td class="number">{evenness(answers):.2f}</td>' if answers else "<td></td>"
    leading = answers.most_common(3) if answers else []
    yield f"<td>{escape(', '.join(f'{answer} {times / count:.0%}' for answer, times in leading))}</td>"
    if guessing is not None:
        accuracy = guessing.families.get(family)
        yield from (_share_cell(accuracy, predictor) for predictor in guessing.predictors)


def _share_cell(accuracy: Accuracy | None, predictor: str) -> str:
    """Return a cell with a share, which a bar behind it shows too."""
    if accuracy is None:
        return "<td></td>"
    share = accuracy.share(predictor)
    bar = f"linear-gradient(90deg, {COLOURS[predictor]}55 {share:.1%}, transparent {share:.1%})"
    return f'<td class="number" style="background: {bar}">{share:.2f}</td>'
