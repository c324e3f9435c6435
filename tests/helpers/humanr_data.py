"""Data as HUMANr has it: tasks, the content of its Redis database, and its figures by a plain reading of its rules."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from statistics import fmean, stdev
from typing import Any

from worked_study import TABLE

Tasks = dict[str, list[dict[str, str]]]
Dump = dict[str, dict[str, str]]


def worked_data() -> tuple[Tasks, Dump]:
    """Return the worked example, one link for each assignment."""
    tasks: Tasks = {}
    dump: Dump = {}
    for line in filter(None, TABLE.split("\n")):
        assignment, rater, _, image, left, right, value = line.split()
        tasks.setdefault(assignment, []).append(trial(f"{image}.png", left, right))
        dump.setdefault(assignment, ids(assignment, rater))[f"{image}.png"] = value
    return tasks, dump


def trial(image: str, left: str, right: str) -> dict[str, str]:
    found = {"image": image}
    for side, source in (("c1", left), ("c2", right)):
        found |= {f"{side}_id": f"{image}_{source}", f"{side}_text": f"{source} on {image}", f"{side}_source": source}
    return found


def ids(assignment: str, rater: str) -> dict[str, str]:
    return {"assignmentID": f"A-{assignment}", "hitID": f"H-{assignment}", "workerID": f"WORKER-{rater}"}


def random_data(seed: int) -> tuple[Tasks, Dump]:
    """Return 30 links, some of which show an image twice or lack answers."""
    rng = Random(seed)
    pairs = [("human", "A"), ("B", "human"), ("human1", "human2"), ("human2", "human1"), ("A", "human")]
    tasks: Tasks = {}
    dump: Dump = {}
    for number in range(30):
        link = f"{number:010x}"
        sources = [rng.choice(pairs) for _ in range(9)] + [
            rng.choice([("correct", "distractor"), ("distractor", "correct")])
        ]
        rng.shuffle(sources)
        tasks[link] = [trial(f"im{rng.randrange(25)}.png", *each) for each in sources]
        dump[link] = ids(link, str(rng.randrange(12)))
        for each in tasks[link]:
            if rng.random() < 0.95:
                dump[link][each["image"]] = str(rng.randint(1, 9) if rng.random() < 0.4 else rng.randint(1, 4))
    return tasks, dump


def naive_figures(tasks: Tasks, dump: Dump) -> dict[str, tuple[float, float]]:
    """Return HUMANr's score and the half-width that it prints, by type."""
    rows = []
    for link, answers in dump.items():
        images = [each["image"] for each in tasks[link]]
        for image, value in answers.items():
            if image in images:
                rows.append((answers["assignmentID"], *oriented(tasks[link][images.index(image)], int(value))))
    failed = {assignment for assignment, kind, score in rows if kind == "check" and score >= 5}
    scores: dict[str, list[float]] = {}
    for assignment, kind, score in rows:
        if kind != "check" and assignment not in failed:
            scores.setdefault(kind, []).append((score - 5) / 4)
    return {kind: (fmean(each), printed(each)) for kind, each in scores.items()}


def oriented(shown: Mapping[str, str], value: int) -> tuple[str, int]:
    sources = (shown["c1_source"], shown["c2_source"])
    score = value if sources[0] in ("human", "human1", "correct") else 10 - value
    if "correct" in sources:
        return "check", score
    return "human" if "human1" in sources else next(each for each in sources if each != "human"), score


def printed(scores: Sequence[float]) -> float:
    from scipy import stats  # takes a second, which tests that need its data alone are spared

    error = stdev(scores) / len(scores) ** 0.5
    low = stats.t.interval(0.95, len(scores) - 1, fmean(scores), error)[0] if error else fmean(scores)
    return fmean(scores) - max(low, -1)


def write_humanr_files(folder: Path, tasks: Any = None, dump: Any = None) -> None:
    """Write `comparison_tasks.json` and `redis.json`; by default those of the worked example."""
    worked_tasks, worked_dump = worked_data()
    (folder / "comparison_tasks.json").write_text(json.dumps(worked_tasks if tasks is None else tasks))
    (folder / "redis.json").write_text(json.dumps(worked_dump if dump is None else dump))
