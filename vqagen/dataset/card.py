"""The card of a dataset: README.md, whose YAML head tells the hub and `datasets` what the folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vqagen import __version__
from vqagen.dataset.rows import DIALOG_FEATURES, FEATURES, Feature
from vqagen.dataset.settings import DatasetSettings
from vqagen.errors import counted
from vqagen.score.verify.verification import verify
from vqagen.shortcuts.audit import Audit, audit
from vqagen.shortcuts.audit_report import audit_report
from vqagen.shortcuts.statistics import stats
from vqagen.tasks.settings import flag

FEWEST = 100
"""Questions of a split below which an audit tells nothing."""
OWN_LICENSE = "CC0 1.0"
LICENSES = {OWN_LICENSE: "cc0-1.0", "Creative Commons Attribution (CC BY 4.0)": "cc-by-4.0"}
"""Licence that a scene file names -> its name on the hub."""
SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))

HEAD = """---
pretty_name: {name}
license: {license}
language:
- en
task_categories:
- visual-question-answering
size_categories:
- {size}
configs:
- config_name: default
  data_files:
{files}
{dialogs}dataset_info:
- config_name: default
  features:
{features}
---
"""

COLUMNS = """| column | is |
|---|---|
| `image`, `image_id` | the picture, and its number in all splits |
| `question_id` | the number of the question in all splits |
| `problem`, `solution` | the question, and `<answer> … </answer>`, as trainers of reinforcement learning read them |
| `question`, `answer`, `answer_type` | texts; the type is count, yes/no or value |
| `choices`, `choice` | options, and the place of the right one, from 0 |
| `program` | JSON: the steps that give the answer |
| `family` | the template |
| `scene`, `boxes` | JSON: the scene graph; for each object [left, top, right, bottom] in pixels |
"""


@dataclass(frozen=True)
class Contents:
    """What the splits of a dataset hold."""

    numbers: Mapping[str, list[int]]
    """Split -> the numbers of its pictures."""
    questions: Mapping[str, int]
    dialogs: Mapping[str, int]
    left_out: Mapping[str, int]
    held_out: str
    """What only test has, as a sentence; "" if there is nothing."""


def audited(questions: Path, scenes: Path) -> Audit | None:
    """Return the audit of a split; None for one of too few questions."""
    checked = verify(str(questions), str(scenes)).checked
    return audit(str(questions), scenes=str(scenes)) if checked >= FEWEST else None


def card(
    out: Path,
    settings: DatasetSettings,
    domain: str,
    contents: Contents,
    audits: Mapping[str, Audit],
    info: Mapping[str, Any],
    is_sampled: bool,
) -> str:
    """Return the text of the card. `info` is that of the scenes, `is_sampled` is true if they are no one else's."""
    license = str(info.get("license") or ("" if not is_sampled else OWN_LICENSE))
    rows = sum(contents.questions.values())
    head = HEAD.format(
        name=out.absolute().name,
        license=LICENSES.get(license, "other"),
        size=next((name for limit, name in SIZES if rows < limit), "n>1M"),
        files="".join(_file(split, "data") for split in contents.questions).rstrip("\n"),
        dialogs=_dialog_config(contents),
        features="\n".join(line for name, each in FEATURES.items() for line in _feature(name, each)),
    )
    parts = [
        f"# {out.absolute().name}",
        f"Questions about pictures of the domain `{domain}`, each with the program that proves its answer, made by"
        f" [vqagen](https://pypi.org/project/vqagen/) {__version__}.",
        _sizes(contents),
        f"Nothing is in two splits: no scene or one nearly the same, no text, no program."
        f"{f' By design, {contents.held_out}.' if contents.held_out else ''}",
        "## Columns",
        COLUMNS,
        "`questions` and `scenes` hold the same as records; `vqagen verify questions/test.jsonl --scenes"
        " scenes/test.json` proves every text and answer again. Pictures come with masks in `pictures/scenes.json`.",
        "## Left out",
        _left_out(contents),
        "## Audit",
        _audit(audits),
        "## Statistics",
        _text(stats(str(out / "questions" / f"{next(iter(contents.questions))}.jsonl")).on_screen().text()),
        "## Make it again",
        f"The same command with the same version makes the same questions, scenes and boxes anywhere, and the same"
        f" pixels on one kind of machine:\n\n    {_command(out, settings, domain, is_sampled)}",
        "## Licences",
        _licenses(license, is_sampled),
    ]
    return head + "\n" + "\n\n".join(part.strip("\n") for part in parts) + "\n"


def _file(split: str, folder: str) -> str:
    return f"  - split: {split}\n    path: {folder}/{split}-*.parquet\n"


def _dialog_config(contents: Contents) -> str:
    if not contents.dialogs:
        return ""
    files = "".join(_file(split, "dialogs") for split, number in contents.dialogs.items() if number)
    return f"- config_name: dialogs\n  data_files:\n{files}"


def _feature(name: str, feature: Feature) -> list[str]:
    """Return the lines of a column as the hub writes them."""
    if feature["_type"] == "Sequence":
        inner = feature["feature"]
        if inner["_type"] == "Sequence":
            return [f"  - name: {name}", "    sequence:", f"      sequence: {inner['feature']['dtype']}"]
        return [f"  - name: {name}", f"    sequence: {inner['dtype']}"]
    return [f"  - name: {name}", f"    dtype: {'image' if feature['_type'] == 'Image' else feature['dtype']}"]


def _sizes(contents: Contents) -> str:
    lines = ["| split | pictures | questions |", "|---|--:|--:|"]
    for split, number in contents.questions.items():
        lines.append(f"| {split} | {len(contents.numbers[split]):,} | {number:,} |")
    if contents.dialogs:
        total = counted(sum(contents.dialogs.values()), "dialog")
        lines += ["", f"The configuration `dialogs` has {total}, in the columns {', '.join(DIALOG_FEATURES)}."]
    return "\n".join(lines)


def _left_out(contents: Contents) -> str:
    if not contents.left_out:
        return "No question."
    return "\n".join(f"* {why}: {number:,}" for why, number in contents.left_out.items())


def _audit(audits: Mapping[str, Audit]) -> str:
    if not audits:
        return f"No split has {FEWEST} questions, too few to find shortcuts in."
    said = [f"{split} {'passes' if each.passes else '**FAILS**'}" for split, each in audits.items()]
    texts = [f"{split}:\n\n{_text(audit_report(each).on_screen().text())}" for split, each in audits.items()]
    return f"What lets a model answer without looking (`vqagen audit`): {', '.join(said)}.\n\n" + "\n\n".join(texts)


def _text(text: str) -> str:
    return f"```text\n{text.strip()}\n```"


def _command(out: Path, settings: DatasetSettings, domain: str, is_sampled: bool) -> str:
    """Return the command that makes the dataset again."""
    words = ["vqagen dataset", out.absolute().name]
    if not is_sampled:
        words.append("--scenes SCENES")
    if domain != "clevr":
        words.append(f"--domain {domain}")
    default = DatasetSettings().to_record()
    for name, value in settings.to_record().items():
        if value != default[name]:
            values = value if isinstance(value, list | tuple) else [value]
            words += [flag(name) if each is True else f"{flag(name)} {each}" for each in values]
    return " ".join(words)


def _licenses(license: str, is_sampled: bool) -> str:
    lines = ["* Templates, words and code of vqagen: MIT."]
    if is_sampled:
        lines.append(f"* Scenes and pictures, which vqagen made: {OWN_LICENSE}.")
    else:
        said = license or "their file names none; ask those who made them"
        lines.append(f"* Scenes came from elsewhere: {said}. Pictures of them, and questions about them, follow it.")
    return "\n".join(lines)
