"""The section of `bench balance` about pairs and relations: what a question tells beside its words."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from bench_balance_data import Asked, Record
from bench_balance_places import place_figures

import vqagen
from vqagen.tasks.questions.statistics import pair_counts

MANY = 20
"""Other scenes that must meet a question's presuppositions before its answer may be called constant."""
TRIED = 3000
"""Questions that are asked about all scenes."""


def pair_figures(learned: Asked, tested: Asked) -> Mapping[str, float]:
    """Return what relations matter, and what is in no pair.

    Without a relation, all objects but its anchor stand there; "any relation idle" counts questions in which one of
    the relations changes nothing. Constant answers are the same in all of at least 20 other scenes that the question
    fits.
    """
    records = list(tested.records())
    figures: dict[str, float] = {"constant answers": _constant_share(tested, records)}
    for kind, idle in sorted(_idle_relations(tested, records).items()):
        figures[f"same answer without the relation, {kind}"] = idle.share
        figures[f"any relation idle, {kind}"] = idle.share_of_questions
    if tested.balance == "pairs":
        pairs = pair_counts(tested.items[0]) or {"unpaired": len(tested.items[0]), "alone": 0}
        figures["questions in no pair"] = pairs["unpaired"]
        figures["questions with the partner outside"] = pairs["alone"]
        objects = {index: scene.size for index, scene in tested.compiled.items()}
        figures |= place_figures(_all_records(learned), _all_records(tested), objects)
    return figures


def _all_records(asked: Asked) -> list[list[Record]]:
    """Return the records of each seed."""
    return [list(asked.records(seed)) for seed in range(len(asked.files))]


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


def _constant_share(asked: Asked, records: Sequence[Record]) -> float:
    """Return the share of the questions that many scenes admit, and whose answer is the same in all of these."""
    constant = many = 0
    for record in islice(records, 0, None, max(1, len(records) // TRIED)):
        program = asked.program(record)
        answers = list(islice(_other_answers(asked, program, record["scene_index"]), MANY))
        if len(answers) == MANY:
            many += 1
            own = program.run(asked.compiled[record["scene_index"]])
            constant += all(answer == own for answer in _other_answers(asked, program, record["scene_index"]))
    return constant / many if many else 0.0


def _other_answers(asked: Asked, program: vqagen.Program, own: int) -> Iterator[Any]:
    """Yield the answer in each other scene that has what the question presupposes."""
    for index, scene in asked.compiled.items():
        if index != own:
            try:
                yield program.run(scene)
            except vqagen.Undefined:
                continue


def _idle_relations(asked: Asked, records: Sequence[Record]) -> dict[str, _Idle]:
    """Return question type -> relations without which the answer is the same."""
    found: defaultdict[str, _Idle] = defaultdict(_Idle)
    for record in records:
        idle = list(_idleness(asked.program(record), asked.compiled[record["scene_index"]]))
        if idle:
            kind = record["question_type"]
            added = (len(idle), sum(idle), 1, any(idle))
            found[kind] = _Idle(*(a + b for a, b in zip(found[kind], added, strict=True)))
    return found


def _idleness(program: vqagen.Program, scene: vqagen.Scene) -> Iterator[bool]:
    """Yield for each relation of a program whether the answer is the same without it."""
    outputs = program.outputs(scene)
    for number in program.relations:
        anchor = outputs[program.nodes[number].inputs[0]]
        without = [*outputs[:number], scene.everything & ~(1 << anchor)]
        try:
            for function, inputs, values in program.nodes[number + 1 :]:
                without.append(program.catalogue[function].run(scene, *[without[i] for i in inputs], *values))
        except vqagen.Undefined:
            yield False
        else:
            yield without[-1] == outputs[-1]
