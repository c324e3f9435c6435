"""The measures of the GQA evaluation, computed on GQA's own files, with the formulas of its script.

Accuracies, validity, plausibility and the distribution are over balanced questions; consistency also takes questions
that are not. All measures are percentages but the distribution. Differences from the script: a measure whose file was
not given is absent, not 0; a question without prediction is wrong, and counted; attention over objects works too.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from vqagen.judge.report.table import COUNT, NUMBER, TEXT, Table, columns
from vqagen.judge.scoring.blocks.answer_counts import NO_ANSWER
from vqagen.judge.scoring.blocks.distribution import overall

Question = Mapping[str, Any]
Rectangle = tuple[float, float, float, float]
"""Left, upper, right and lower edge, as shares of the image."""
COMMON = frozenset({"color", "material", "shape"})
"""The valid answers of questions for what objects have in common."""
_NO_STEPS = ("exist", "query: name", "choose name")


@dataclass
class GqaScores:
    """The scores of single questions, by measure, and the answers by group."""

    scores: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """Measure, such as "accuracy" -> the scores of its questions, from 0 to 1."""
    breakdowns: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """Breakdown, such as "structural type" -> value -> the scores of its questions."""
    groups: dict[str, Counter[tuple[str, str]]] = field(default_factory=lambda: defaultdict(Counter))
    missing: int = 0
    """Questions, balanced or entailed, without a prediction."""

    def percentage(self, measure: str) -> float | None:
        """Return the mean of a measure in percent; None if nothing was scored."""
        scores = self.scores.get(measure)
        return 100 * sum(scores) / len(scores) if scores else None

    @property
    def distribution(self) -> float | None:
        """Return the distance of given from right answers; None if no question has a group."""
        return overall(self.groups).chi_square if self.groups else None

    def tables(self) -> Iterator[Table]:
        """Yield the table of measures, and one for each breakdown."""
        rows = [(name, len(self.scores[name]), self.percentage(name)) for name in MEASURES if name in self.scores]
        n = sum(sum(counts.values()) for counts in self.groups.values())
        note = "distribution: lower is better; all others in percent"
        measured = (*rows, ("distribution", n, self.distribution))
        yield Table("gqa", "GQA measures", columns(measure=TEXT, n=COUNT, value=NUMBER), measured, (note,))
        for name, values in self.breakdowns.items():
            by_value = tuple(
                (value, len(scores), 100 * sum(scores) / len(scores)) for value, scores in sorted(values.items())
            )
            key = "gqa_" + name.replace(" ", "_")
            yield Table(key, f"Accuracy by {name}", columns(value=TEXT, n=COUNT, accuracy=NUMBER), by_value)


MEASURES = ("binary", "open", "accuracy", "consistency", "validity", "plausibility", "grounding")


class GqaFiles(NamedTuple):
    """The optional files of GQA: id of a question -> its valid and plausible answers, and its attention; scenes."""

    choices: Mapping[str, Mapping[str, Sequence[str]]] | None = None
    attentions: Mapping[str, Sequence[Sequence[float]]] | None = None
    scenes: Mapping[str, Mapping[str, Any]] | None = None


def gqa_scores(questions: Mapping[str, Question], given: Mapping[str, str], files: GqaFiles = GqaFiles()) -> GqaScores:  # noqa: B008
    """Score GQA questions, by id, with the given answers."""
    found = GqaScores()
    needed = {name for name, question in questions.items() if question.get("isBalanced", True)}
    needed |= {other for name in needed for other in _entailed(name, questions)}
    found.missing = sum(name not in given for name in needed)
    for name, question in questions.items():
        if question.get("isBalanced", True):
            _score(found, name, questions, given)
            _judge_choice(found, name, question, given.get(name, NO_ANSWER), files.choices)
            if files.attentions is not None and files.scenes is not None and name in files.attentions:
                regions = _regions(question, files.scenes[str(question["imageId"])])
                found.scores["grounding"].append(grounding(regions, files.attentions[name]))
    return found


def _score(found: GqaScores, name: str, questions: Mapping[str, Question], given: Mapping[str, str]) -> None:
    question, answer = questions[name], given.get(name, NO_ANSWER)
    score, types = float(answer == question["answer"]), question.get("types", {})
    found.scores["accuracy"].append(score)
    found.scores["open" if types.get("structural") == "query" else "binary"].append(score)
    broken_down = {
        "structural type": types.get("structural"),
        "semantic type": types.get("semantic"),
        "steps": steps(question),
        "words": len(str(question["question"]).split()),
    }
    for breakdown, value in broken_down.items():
        if value is not None:
            found.breakdowns[breakdown][str(value)].append(score)
    group = question.get("groups", {}).get("global")
    if group is not None:
        found.groups[group][question["answer"], answer] += 1
    entailed = _entailed(name, questions)
    if score and entailed:
        hits = sum(given.get(other) == questions[other]["answer"] for other in entailed)
        found.scores["consistency"].append(hits / len(entailed))


def _entailed(name: str, questions: Mapping[str, Question]) -> list[str]:
    """Return the entailed questions of a question, but for itself and those that the file lacks."""
    return [other for other in questions[name].get("entailed", ()) if other != name and other in questions]


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


def steps(question: Question) -> int | None:
    """Return the number of reasoning steps; None if the question has none recorded."""
    if "semantic" not in question:
        return None
    named = (f"{step['operation']}: {step['argument']}" for step in question["semantic"])
    return sum(not any(sign in name for sign in _NO_STEPS) for name in named)


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
