"""Measures what can be guessed without the picture from questions of each `--balance`, and what relations matter."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import click
from bench_costs import count_option

import vqagen
from vqagen.errors import counted
from vqagen.judge.stats.census import Census, PairCounts
from vqagen.judge.stats.guessing import Guessing, guess_others
from vqagen.judge.stats.phrases import Numbering
from vqagen.judge.stats.question_statistics import count_questions
from vqagen.judge.stats.sample import Sample
from vqagen.language.question_files import QUESTIONS
from vqagen.records.discovery import find_records
from vqagen.tasks.settings import setting_of

REAL_SCENES = Path(__file__).parents[2] / "shared" / "data" / "clevr_v1_train_scenes_1000.json"
LEARNED, TESTED = 1, 2
"""Seeds of the scenes that guessing learns from, and is tested on."""
MANY = 20
"""Other scenes that must meet a question's presuppositions before its answer may be called constant."""
TRIED = 3000
"""Questions that are asked about all scenes."""
MOST, LEAST = "≤", "≥"
LIMITS: Mapping[str, Mapping[str, tuple[str, float]]] = {
    "words": {
        "tree minus majority": (MOST, 0.03),
        "worst yes/no family, tree": (MOST, 0.65),
        "families, least/most": (LEAST, 0.95),
        "wrong answers": (MOST, 0),
    },
    "pairs": {
        "tree minus majority": (MOST, 0.01),
        "count, tree": (MOST, 0.30),
        "worst yes/no family, tree": (MOST, 0.52),
        "constant answers": (MOST, 0.003),
        "same answer without the relation": (MOST, 0.5),
        "families, least/most": (LEAST, 0.8),
        "wrong answers": (MOST, 0),
    },
}
"""Balance -> figure -> what it must reach. A figure of several rows is named by how these begin."""


def _balances() -> tuple[str, ...]:
    """Return the values of `--balance`."""
    named = {each.name: each for each in fields(vqagen.QuestionSettings)}
    return tuple(setting_of(named["balance"]).choices) if "balance" in named else ("answers",)


@click.command()
@count_option("--scenes", default=1000, help="Sampled scenes to learn from, and as many to test on.")
@count_option("--seeds", default=3, help="Sets of questions about the same scenes.")
@click.option(
    "--only",
    "chosen",
    type=click.Choice(_balances()),
    multiple=True,
    help="Only this balance; may be given several times.",
)
def balance(scenes: int, seeds: int, chosen: tuple[str, ...]) -> None:
    """Measure what can be guessed without the picture for each --balance; figures out of reach are marked with !.

    Guessing learns from questions about sampled scenes, and is tested on questions about other sampled scenes and, if
    ../shared is there, about as many real ones, 1,000 at most. It takes about five minutes for each --balance.

    Without a relation, all objects but its anchor stand there; "any relation idle" counts questions in which one of
    the relations changes nothing. Constant answers are the same in all of at least 20 other scenes that the question
    fits.

    \b
    Example:
      scripts/bench balance
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        learned = _write(folder / "learned.json", vqagen.sample_scenes(scenes, seed=LEARNED))
        sampled = _write(folder / "tested.json", vqagen.sample_scenes(scenes, seed=TESTED))
        tested = {f"{scenes:,} sampled scenes": sampled}
        if REAL_SCENES.exists():
            real = json.loads(REAL_SCENES.read_bytes())["scenes"][:scenes]
            tested[f"{len(real):,} real scenes"] = _write(folder / "real.json", real)
        balances = chosen or _balances()
        from_learned = {each: _Asked(learned, folder / "q.json", each, seeds) for each in balances}
        for title, path in tested.items():
            columns = {
                each: _figures(_Asked(path, folder / "q.json", each, seeds), asked)
                for each, asked in from_learned.items()
            }
            click.echo("\n".join(_table(f"{title}, {counted(seeds, 'set')} of questions", columns)))
            click.echo()


def _setting(balance: str) -> dict[str, str]:
    return {"balance": balance} if "balance" in vqagen.QuestionSettings.names() else {}


def _write(path: Path, scenes: Iterable[Mapping[str, Any]]) -> Path:
    path.write_text(json.dumps({"info": {}, "scenes": list(scenes)}))
    return path


class _Asked:
    """Questions about the scenes of a file, with several seeds."""

    words = Numbering()
    """Relation words, numbered alike for all."""

    def __init__(self, scenes: Path, out: Path, balance: str, seeds: int) -> None:
        self.scenes = scenes
        self.sample = Sample(self.words, limit=1 << 30)
        self.censuses: list[Census] = []
        self.records: list[dict[str, Any]] = []
        """Of the first seed."""
        self.wrong = 0
        self.milliseconds = 0.0
        """Of CPU time for a scene, from file to file in one process."""
        options = vqagen.RunOptions(force=True)
        for seed in range(seeds):
            settings = vqagen.QuestionSettings(seed=seed, **_setting(balance))
            started = time.process_time()
            vqagen.write_questions(scenes, out, settings=settings, options=options)
            self.milliseconds += (time.process_time() - started) * 1000 / seeds
            self.censuses.append(Census())
            count_questions(find_records(out, QUESTIONS), self.censuses[-1], self.sample)
            if not seed:
                self.records = list(find_records(out, QUESTIONS).records())
                self.wrong = vqagen.verify(out, scenes).mismatched
        self.milliseconds /= max(1, sum(1 for _ in vqagen.find_scenes(scenes).records()))

    @property
    def pairs(self) -> PairCounts:
        return self.censuses[0].pairs() or PairCounts(unpaired=self.censuses[0].questions)

    @property
    def family_share(self) -> float:
        """Return the questions of the smallest family as a share of the largest's, all seeds together."""
        counts = sum((census.family_questions for census in self.censuses), Counter[str]())
        return min(counts.values()) / max(counts.values())


def _figures(asked: _Asked, learned: _Asked) -> dict[str, float]:
    """Return name -> figure, in the order in which they are shown."""
    guessing = guess_others(learned.sample.clues, asked.sample.clues, True)
    majority, tree = guessing.mean_of_types("majority"), guessing.mean_of_types("tree")
    figures = {"majority": majority, "tree": tree, "tree minus majority": tree - majority}
    for kind, accuracy in sorted(guessing.types.items()):
        figures |= {f"{kind}, {name}": accuracy.share(name) for name in ("majority", "tree")}
    figures["worst yes/no family, tree"] = _worst(guessing)
    figures["families, least/most"] = asked.family_share
    loaded = _Loaded(asked.scenes)
    figures["constant answers"] = loaded.constant_share(asked.records)
    for kind, idle in sorted(loaded.idle_relations(asked.records).items()):
        figures[f"same answer without the relation, {kind}"] = idle.share
        figures[f"any relation idle, {kind}"] = idle.share_of_questions
    figures["questions in no pair"] = asked.pairs.unpaired
    figures["questions with the partner outside"] = asked.pairs.alone
    figures["wrong answers"] = asked.wrong
    figures["ms a scene"] = asked.milliseconds
    return figures


def _worst(guessing: Guessing) -> float:
    worst = guessing.worst_yes_no()
    return guessing.families[worst].share("tree") if worst else 0.0


class _Idle(NamedTuple):
    """Relations of one question type, and how many of them change nothing."""

    relations: int = 0
    idle: int = 0
    questions: int = 0
    idle_questions: int = 0
    """Questions with an idle relation."""

    @property
    def share(self) -> float:
        return self.idle / self.relations

    @property
    def share_of_questions(self) -> float:
        return self.idle_questions / self.questions


class _Loaded:
    """The scenes of a file, and programs to run on them."""

    def __init__(self, path: Path) -> None:
        catalogue = vqagen.load_domain_files(vqagen.find_domain()).templates[0].catalogue
        self._catalogue = catalogue
        self._scenes = {scene.index: scene for scene in vqagen.load_scenes(vqagen.find_scenes(path), catalogue.domain)}

    def constant_share(self, records: Sequence[Mapping[str, Any]]) -> float:
        """Return the share of the questions that many scenes admit, and whose answer is the same in all of these."""
        constant = many = 0
        for record in islice(records, 0, None, max(1, len(records) // TRIED)):
            program = vqagen.Program.from_records(record["program"], self._catalogue)
            answers = list(islice(self._other_answers(program, record["scene_index"]), MANY))
            if len(answers) == MANY:
                many += 1
                own = program.run(self._scenes[record["scene_index"]])
                others = self._other_answers(program, record["scene_index"])
                constant += all(answer == own for answer in others)
        return constant / many if many else 0.0

    def _other_answers(self, program: vqagen.Program, own: int) -> Iterator[Any]:
        """Yield the answer in each other scene that has what the question presupposes."""
        for index, scene in self._scenes.items():
            if index != own:
                try:
                    yield program.run(scene)
                except vqagen.Undefined:
                    continue

    def idle_relations(self, records: Sequence[Mapping[str, Any]]) -> dict[str, _Idle]:
        """Return question type -> relations without which the answer is the same.

        In place of a relation, all objects but its anchor stand there.
        """
        found: defaultdict[str, _Idle] = defaultdict(_Idle)
        for record in records:
            program = vqagen.Program.from_records(record["program"], self._catalogue)
            idle = list(self._idleness(program, self._scenes[record["scene_index"]]))
            if idle:
                kind = record["question_type"]
                so_far = found[kind]
                added = (len(idle), sum(idle), 1, any(idle))
                found[kind] = _Idle(*(a + b for a, b in zip(so_far, added, strict=True)))
        return found

    def _idleness(self, program: vqagen.Program, scene: vqagen.Scene) -> Iterator[bool]:
        """Yield for each relation of a program whether the answer is the same without it."""
        outputs = program.outputs(scene)
        for number in program.relations:
            anchor = outputs[program.nodes[number].inputs[0]]
            without = [*outputs[:number], scene.everything & ~(1 << anchor)]
            try:
                for function, inputs, values in program.nodes[number + 1 :]:
                    without.append(self._catalogue[function].run(scene, *[without[i] for i in inputs], *values))
            except vqagen.Undefined:
                yield False
            else:
                yield without[-1] == outputs[-1]


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
