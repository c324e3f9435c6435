"""A plain checker of study folders, written from the specification. It shares no code with vqagen."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from pathlib import Path
from typing import Any


def faults_of_folder(folder: Path) -> list[str]:
    """Return everything that is wrong with a plan, in sentences."""
    study = json.loads((folder / "study.json").read_text("utf-8"))
    items = {each["item_id"]: each for each in read_lines(folder / "items.jsonl")}
    tasks = read_lines(folder / "tasks.jsonl")
    images = {each["id"]: each for each in json.loads((folder / "images.json").read_text("utf-8"))}
    return [
        *file_faults(folder, study, images),
        *placement_faults(items, tasks),
        *task_faults(study["info"]["settings"], items, tasks, images),
        *side_faults(items, tasks),
        *check_faults(items, images),
    ]


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Return the objects of JSON Lines."""
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def file_faults(folder: Path, study: dict[str, Any], images: dict[str, Any]) -> list[str]:
    """Every file has the content that its hash says."""
    wrong = [
        f"{name} has another hash"
        for name, digest in study["hashes"].items()
        if hashlib.sha256((folder / name).read_bytes()).hexdigest() != digest
    ]
    for image in images.values():
        if hashlib.sha256((folder / image["file"]).read_bytes()).hexdigest() != image["sha256"]:
            wrong.append(f"{image['file']} has another content")
    copies = {f"images/{path.name}" for path in (folder / "images").iterdir()}
    if copies != {image["file"] for image in images.values()}:
        wrong.append("images are missing or too many")
    return wrong


def placement_faults(items: dict[str, Any], tasks: list[dict[str, Any]]) -> list[str]:
    """Every comparison stands in exactly one task, so that each of the task's raters judges it once."""
    places = defaultdict(list)
    for task in tasks:
        for trial in task["trials"]:
            places[trial["item"]].append(task["task"])
    wrong = [f"unknown item {name}" for name in places if name not in items]
    for name, item in items.items():
        if item["use"] == "real" and len(places[name]) != 1:
            wrong.append(f"item {name} is placed {len(places[name])} times")
        if item["use"] == "practice" and places[name]:
            wrong.append(f"practice item {name} is in a task")
    if len({task["task"] for task in tasks}) != len(tasks):
        wrong.append("two tasks have one id")
    return wrong


def task_faults(
    settings: dict[str, Any], items: dict[str, Any], tasks: list[dict[str, Any]], images: dict[str, Any]
) -> list[str]:
    """Each task has the checks that were asked for, no picture twice, and not more trials than asked for."""
    wrong = []
    for task in tasks:
        shown = [items[trial["item"]] for trial in task["trials"]]
        pictures = [images[item["context"]["image"]["id"]]["sha256"] for item in shown if item["context"]]
        if len(set(pictures)) != len(pictures):
            wrong.append(f"task {task['task']} shows a picture twice")
        if len({item["item_id"] for item in shown}) != len(shown):
            wrong.append(f"task {task['task']} has an item twice")
        for use, key in (("check", "checks_per_task"), ("instructed", "imc_per_task")):
            if sum(item["use"] == use for item in shown) != settings[key]:
                wrong.append(f"task {task['task']} has another number of {use} trials")
        if len(shown) > settings["trials_per_task"] or not any(item["use"] == "real" for item in shown):
            wrong.append(f"task {task['task']} has {len(shown)} trials")
    return wrong


def side_faults(items: dict[str, Any], tasks: list[dict[str, Any]]) -> list[str]:
    """For each system, |share on the right - 0.5| <= 0.5 / number of its items; also for each pair of people."""
    rights = defaultdict(list)
    for task in tasks:
        for trial in task["trials"]:
            item = items[trial["item"]]
            if item["kind"] != "compare" or item["use"] != "real":
                continue
            first, second = item["candidates"]
            if first["role"] == second["role"] == "reference":
                rights[first["source"], second["source"]].append(trial["second_on_right"])
            if second["role"] == "system":
                rights[(second["source"],)].append(trial["second_on_right"])
            if first["role"] == "system":
                rights[(first["source"],)].append(not trial["second_on_right"])
    return [
        f"{source} is on the right in {sum(sides)} of {len(sides)}"
        for source, sides in rights.items()
        if abs(sum(sides) / len(sides) - 0.5) > 0.5 / len(sides) + 1e-9
    ]


def check_faults(items: dict[str, Any], images: dict[str, Any]) -> list[str]:
    """The wrong text of a check or practice is no text of a comparison about the same picture."""
    about = defaultdict(set)
    for item in items.values():
        if item["use"] == "real" and item["context"]:
            picture = images[item["context"]["image"]["id"]]["sha256"]
            about[picture].update(each["text"] for each in item["candidates"])
    wrong = []
    for item in items.values():
        if item["use"] not in ("check", "practice"):
            continue
        picture = images[item["context"]["image"]["id"]]["sha256"]
        right = [each for each in item["candidates"] if each["id"] == item["gold"]["better"]]
        others = [each for each in item["candidates"] if each["id"] != item["gold"]["better"]]
        if len(right) != 1 or len(others) != 1 or right[0]["text"] == others[0]["text"]:
            wrong.append(f"check {item['item_id']} has no right and wrong text")
        elif others[0]["text"] in about[picture]:
            wrong.append(f"check {item['item_id']} has a wrong text that is about its image")
    return wrong
