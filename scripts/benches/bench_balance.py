"""Measures what can be guessed without the picture from questions of each `--balance`, section by section."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path

import click
from bench_balance_data import Asked, Section, write_scenes
from bench_balance_neighbours import neighbour_figures
from bench_balance_pairs import pair_figures
from bench_balance_words import word_figures
from bench_costs import count_option

import vqagen
from vqagen.language.domain_files import DEFAULT_DOMAIN, SHIPPED_DOMAINS
from vqagen.tasks.settings import setting_of

REAL_SCENES = Path(__file__).parents[3] / "shared" / "data" / "clevr_v1_train_scenes_1000.json"
LEARNED, TESTED = 1, 2
"""Seeds of the scenes that guessing learns from, and is tested on."""
REAL_LEARNED = 0.7
"""Share of the real scenes that guessing learns from."""
SECTIONS: Mapping[str, Section] = {"words": word_figures, "pairs": pair_figures, "neighbours": neighbour_figures}
MOST, LEAST = "≤", "≥"
LIMITS: Mapping[str, Mapping[str, tuple[str, float]]] = {
    "words": {
        "all, tree minus majority": (MOST, 0.02),
        "worst yes/no family, tree": (MOST, 0.65),
        "families, least/most": (LEAST, 0.95),
        "wrong answers": (MOST, 0),
    },
    "pairs": {
        "all, tree minus majority": (MOST, 0.01),
        "count, tree": (MOST, 0.30),
        "worst yes/no family, tree": (MOST, 0.52),
        "constant answers": (MOST, 0.003),
        "same answer without the relation": (MOST, 0.5),
        **{f"any relation idle, {kind}": (MOST, 0) for kind in ("query", "count", "compare_attribute")},
        "questions per image, standard deviation": (MOST, 0.2),
        **{f"the fuller picture, {kind}": (MOST, 0.51) for kind in ("exist", "count", "compare_integer")},
        "families, least/most": (LEAST, 0.8),
        "wrong answers": (MOST, 0),
    },
}
"""Balance -> figure -> what it must reach. A figure of several rows is named by how these begin."""


def _balances() -> tuple[str, ...]:
    """Return the values of `--balance`."""
    named = {each.name: each for each in fields(vqagen.QuestionSettings)}
    return tuple(setting_of(named["balance"]).choices)


@click.command()
@count_option("--scenes", default=8000, help="Sampled scenes to learn from; half as many to test on.")
@count_option("--seeds", default=8, help="Sets of questions about the real scenes.")
@click.option(
    "--only",
    "balances",
    type=click.Choice(_balances()),
    multiple=True,
    help="Only this balance; may be given several times.",
)
@click.option(
    "--section",
    "sections",
    type=click.Choice(list(SECTIONS)),
    multiple=True,
    help="Only this section; may be given several times.",
)
@click.option("--data", "chosen", type=click.Choice(["sampled", "real"]), help="Only these scenes.")
@click.option("--domain", type=click.Choice(SHIPPED_DOMAINS), default=DEFAULT_DOMAIN, show_default=True)
def balance(
    scenes: int,
    seeds: int,
    balances: tuple[str, ...],
    sections: tuple[str, ...],
    chosen: str | None,
    domain: str,
) -> None:
    """Measure what can be guessed without the picture for each --balance; figures out of reach are marked with !.

    Guessing learns from questions about sampled scenes, and is tested on questions about other sampled scenes; so with
    the 1,000 real scenes of ../shared, if they are there, cut 7 : 3; of other domains than CLEVR's there are none. It
    takes about ten minutes for each --balance.

    Of another checkout or state, with PYTHONPATH: PYTHONPATH=../before python scripts/benches/bench_balance.py

    \b
    Example:
      scripts/bench balance --section words
    """
    with tempfile.TemporaryDirectory() as name:
        for title, learned_from, tested_on, sets in _data(Path(name), domain, scenes, seeds, chosen):
            columns: dict[str, dict[str, float]] = {}
            for each in balances or _balances():
                learned, tested = (Asked(domain, file, each, sets) for file in (learned_from, tested_on))
                columns[each] = {}
                for section in sections or SECTIONS:
                    columns[each] |= SECTIONS[section](learned, tested)
            click.echo("\n".join(_table(title, columns)))
            click.echo()


def _data(
    folder: Path, domain: str, scenes: int, seeds: int, chosen: str | None
) -> Iterator[tuple[str, Path, Path, int]]:
    """Yield a title, the scenes to learn from, those to test on, and the sets of questions about them."""
    if chosen != "real":
        half = max(1, scenes // 2)
        learned = write_scenes(folder / "learned.json", vqagen.sample_scenes(scenes, seed=LEARNED, domain=domain))
        tested = write_scenes(folder / "tested.json", vqagen.sample_scenes(half, seed=TESTED, domain=domain))
        yield f"{scenes:,} + {half:,} sampled scenes, {domain}", learned, tested, 1
    if chosen != "sampled" and domain == DEFAULT_DOMAIN and REAL_SCENES.exists():
        real = json.loads(REAL_SCENES.read_bytes())["scenes"][:scenes]
        cut = round(len(real) * REAL_LEARNED)
        learned, tested = (
            write_scenes(folder / "real-learned.json", real[:cut]),
            write_scenes(folder / "real-tested.json", real[cut:]),
        )
        yield f"{cut:,} + {len(real) - cut:,} real scenes x {seeds}", learned, tested, seeds


def _table(title: str, columns: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield a row for each figure, with what it must reach."""
    names = list(dict.fromkeys(name for figures in columns.values() for name in figures))
    width = max(map(len, (*names, title)))
    yield f"{title:{width}}  " + "  ".join(f"{name:>8} " for name in columns) + "  must reach"
    for name in names:
        limits = {each: limit for each in columns if (limit := _limit(each, name))}
        cells = [_cell(figures.get(name), limits.get(each)) for each, figures in columns.items()]
        wanted = ", ".join(f"{each} {sign} {number:g}" for each, (sign, number) in limits.items())
        yield f"{name:{width}}  {'  '.join(cells)}   {wanted}".rstrip()


def _limit(balance: str, name: str) -> tuple[str, float] | None:
    return next((limit for start, limit in LIMITS.get(balance, {}).items() if name.startswith(start)), None)


def _cell(figure: float | None, limit: tuple[str, float] | None) -> str:
    if figure is None:
        return f"{'':9}"
    shown = f"{figure:8,}" if isinstance(figure, int) else f"{figure:8.4f}"
    is_missed = limit is not None and (figure > limit[1] if limit[0] == MOST else figure < limit[1])
    return shown + ("!" if is_missed else " ")


if __name__ == "__main__":
    balance()
