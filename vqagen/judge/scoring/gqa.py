"""The measures of the GQA evaluation, computed on GQA's own files, with the formulas of its script.

Accuracies, validity, plausibility and the distribution are over balanced questions; consistency also takes questions
that are not. All measures are percentages but the distribution. Differences from the script: a measure whose file was
not given is absent, not 0; a question without prediction is wrong, and counted; attention over objects works too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vqagen.judge.gold.gqa import step_count
from vqagen.judge.report.table import COUNT, DECIMAL, TEXT, Table, columns
from vqagen.judge.scoring.blocks.answer_counts import NO_ANSWER
from vqagen.judge.scoring.blocks.distribution import overall

Question = Mapping[str, Any]
Rectangle = tuple[float, float, float, float]
"""Left, upper, right and lower edge, as shares of the image."""
COMMON = frozenset({"color", "material", "shape"})
"""The valid answers of questions for what objects have in common."""


@dataclass
class GqaScores:
    """The scores of single questions, by measure, and the answers by group."""

    scores: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Measure, such as "accuracy" -> the scores of its questions, from 0 to 1."""
    breakdowns: dict[str, dict[str | int, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """Breakdown, such as "structural type" -> value -> the scores of its questions."""
    groups: dict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))
    missing: int = 0
    """Questions, balanced or entailed, without a prediction."""

    def percentage(self, measure: str) -> float | None:
        """Return the mean of a measure in percent; None if nothing was scored."""
        scores = self.scores.get(measure)
        return _percent(scores) if scores else None

    @property
    def distribution(self) -> float | None:
        """Return the distance of given from right answers; None if no question has a group."""
        return overall(self.groups).chi_square if self.groups else None

    def tables(self) -> Iterator[Table]:
        """Yield the table of measures, and one for each breakdown."""
        rows = [(name, len(self.scores[name]), self.percentage(name)) for name in MEASURES if name in self.scores]
        n = sum(sum(counts.values()) for counts in self.groups.values())
        notes = ["of balanced questions; in percent, but for the distribution, where lower is better"]
        notes += [f"{self.missing:,} questions without a prediction are wrong"] * (self.missing > 0)
        measured = (*rows, ("distribution", n, self.distribution))
        yield Table("gqa", "GQA measures", columns(measure=TEXT, n=COUNT, value=DECIMAL), measured, tuple(notes))
        for name, values in self.breakdowns.items():
            order = sorted(values, key=lambda value: (isinstance(value, str), value))
            by_value = tuple((str(value), len(values[value]), _percent(values[value])) for value in order)
            key = "gqa_" + name.replace(" ", "_")
            yield Table(key, f"Accuracy by {name}", columns(value=TEXT, n=COUNT, accuracy=DECIMAL), by_value)


def _percent(scores: Sequence[float]) -> float:
    return 100 * sum(scores) / len(scores)


MEASURES = ("binary", "open", "accuracy", "consistency", "validity", "plausibility", "grounding")


class GqaFiles(NamedTuple):
    """The optional files of GQA: id of a question -> its valid and plausible answers, and its attention; scenes."""

    choices: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    attentions: Mapping[str, Sequence[Sequence[float]]] | None = None
    scenes: Mapping[str, Mapping[str, Any]] | None = None


class Given(NamedTuple):
    """The answer that was given to a question."""

    answer: str
    is_right: bool


NOTHING = Given(NO_ANSWER, False)


def gqa_scores(
    read: Callable[[], Iterable[tuple[str, Question]]], given: Mapping[str, Given], files: GqaFiles | None = None
) -> GqaScores:
    """Score the given answers to questions; `read` yields them with their ids, and is called twice."""
    found, files = GqaScores(), files or GqaFiles()
    known, needed = set[str](), set[str]()
    for name, question in read():
        known.add(name)
        if question.get("isBalanced", True):
            needed.update((name, *question.get("entailed", ())))
    found.missing = sum(name not in given for name in needed & known)
    for name, question in read():
        if not question.get("isBalanced", True):
            continue
        answered = given.get(name, NOTHING)
        _score(found, question, answered)
        if answered.is_right:
            _judge_consistency(found, name, [other for other in question.get("entailed", ()) if other in known], given)
        _judge_choice(found, name, question, answered.answer, files.choices)
        if files.attentions is not None and files.scenes is not None and name in files.attentions:
            regions = list(_regions(question, files.scenes[str(question["imageId"])]))
            found.scores["grounding"].append(grounding(regions, files.attentions[name]))
    return found


def _score(found: GqaScores, question: Question, answered: Given) -> None:
    score, types = float(answered.is_right), question.get("types", {})
    found.scores["accuracy"].append(score)
    found.scores["open" if types.get("structural") == "query" else "binary"].append(score)
    broken_down = {
        "structural type": types.get("structural"),
        "semantic type": types.get("semantic"),
        "steps": step_count(question["semantic"]) if "semantic" in question else None,
        "words": len(str(question["question"]).split()),
    }
    for breakdown, value in broken_down.items():
        if value is not None:
            found.breakdowns[breakdown][value].append(score)
    group = question.get("groups", {}).get("global")
    if group is not None:
        found.groups[group][question["answer"], answered.answer] += 1


def _judge_consistency(found: GqaScores, name: str, entailed: list[str], given: Mapping[str, Given]) -> None:
    """Add the accuracy on the questions that a question, which was answered right, entails besides itself."""
    others = [other for other in entailed if other != name]
    if others:
        found.scores["consistency"].append(sum(given.get(other, NOTHING).is_right for other in others) / len(others))


def _judge_choice(
    found: GqaScores,
    name: str,
    question: Question,
    answer: str,
    choices: Mapping[str, Mapping[str, Sequence[str]]] | None,
) -> None:
    """Add whether an answer is valid and plausible; nothing without a file that says so."""
    if choices is None or name not in choices:
        return
    is_common = "Common" in question.get("types", {}).get("detailed", "")
    for measure, key in (("validity", "valid"), ("plausibility", "plausible")):
        possible = COMMON if is_common else choices[name][key]
        found.scores[measure].append(float(answer in possible))


def grounding(regions: Iterable[Rectangle], attention: Sequence[Sequence[float]]) -> float:
    """Return the attention that lies on regions. It can exceed 1 if regions overlap.

    `attention` is a square map, whose first index goes from left to right; or one row for each object: its left, upper,
    right and lower edge, and its attention.
    """
    cells = list(_cells(attention))
    return sum(weight * _covered(cell, region) for region in regions for cell, weight in cells)


def _cells(attention: Sequence[Sequence[float]]) -> Iterator[tuple[Rectangle, float]]:
    size = len(attention)
    is_map = all(len(row) == size for row in attention)
    for i, row in enumerate(attention):
        if not is_map:
            left, upper, right, lower, weight = row
            yield (left, upper, right, lower), weight
            continue
        for j, weight in enumerate(row):
            yield (i / size, j / size, (i + 1) / size, (j + 1) / size), weight


def _covered(cell: Rectangle, region: Rectangle) -> float:
    """Return the share of a cell that lies in a region."""
    width = min(cell[2], region[2]) - max(cell[0], region[0])
    height = min(cell[3], region[3]) - max(cell[1], region[1])
    return max(width, 0) * max(height, 0) / ((cell[2] - cell[0]) * (cell[3] - cell[1]))


def _regions(question: Question, scene: Mapping[str, Any]) -> Iterator[Rectangle]:
    """Yield the regions of the objects that a question and its answer name.

    The whole image is one of them if a step has a key "scene", as in the script; GQA's published steps have none.
    """
    for part in ("question", "fullAnswer"):
        for number in question.get("annotations", {}).get(part, {}).values():
            box, width, height = scene["objects"][number], scene["width"], scene["height"]
            x, y = box["x"], box["y"]
            yield x / width, y / height, (x + box["w"]) / width, (y + box["h"]) / height
    if any("scene" in step for step in question.get("semantic", ())):
        yield 0.0, 0.0, 1.0, 1.0
