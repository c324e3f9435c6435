"""The card of a dataset: README.md, which Hugging Face's `datasets` and people read."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Any

from vqagen import __version__
from vqagen.dataset.folder import Counts, DatasetFolder, front_matter, left_out_of
from vqagen.dataset.holdout import HoldOut
from vqagen.dataset.joining import records_of
from vqagen.dataset.rows import DIALOG_FEATURES, FEATURES, MEANINGS, SPLITS, TRAIN
from vqagen.dataset.settings import OF_DOMAIN, DatasetSettings
from vqagen.errors import counted
from vqagen.files.output import atomic_output
from vqagen.language.domain_files import DEFAULT_DOMAIN, QUESTIONS, DomainFiles, LoadedDomain, find_domain
from vqagen.shortcuts.audit import audit
from vqagen.shortcuts.audit_report import Audit
from vqagen.shortcuts.statistics import stats
from vqagen.tasks.settings import flag
from vqagen.world.loading import find_scenes

SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
CARD = """---
{head}---

# Questions about pictures of {domain} scenes

Pictures {how}, with questions, the programs that prove their answers, boxes and scene graphs.
Made by [vqagen](https://pypi.org/project/vqagen) {version}.

{sizes}

Splits are by scene. No question of one split has its text or its program in common with one of
another. Scenes that are nearly the same (equal values, objects less than half a unit apart) are together.

{left_out}

## Columns

{columns}

## Make it again

```console
$ pip install 'vqagen[render]=={version}'
$ {command}
```

Scenes, boxes, texts, answers and options are the same everywhere. The pixels of rendered pictures are the
same on one machine and version of the renderer; each scene has their hash.

## Licences

{licences}

## Audit

What answers questions without the picture (`vqagen audit`):

{audits}

## Statistics

```text
{statistics}
```
"""
MADE = "- Scenes and pictures: made from nothing by vqagen; whoever ran it may choose their licence."
GIVEN = """- Scenes: `{name}`, {terms}.
  The released CLEVR scenes are CC BY 4.0; name Johnson et al. 2017 as their source.
- Pictures: made from these scenes by vqagen, so the licence of the scenes applies to them too."""
UNKNOWN = "**fill in their licence**"


def write_card(
    folder: DatasetFolder, settings: DatasetSettings, holdout: HoldOut, loaded: LoadedDomain, scenes: str | None
) -> Counts:
    """Audit the splits, and write the card; return the verdict of each audit."""
    rows = {name: folder.steps[f"rows {name}"] for name in SPLITS if f"rows {name}" in folder.steps}
    audits = {name: _audit(folder, settings, name) for name, counts in rows.items() if counts["questions"]}
    verdicts = {name: audited.conclusion for name, audited in audits.items()}
    own, stated = own_files(loaded.files), find_scenes(scenes).info.get("license") if scenes else None
    left_out = [f"- {number:,}: {reason}" for reason, number in left_out_of(folder.steps).items()]
    text = CARD.format(
        head=front_matter(_head(rows, bool(own), scenes is not None, str(stated))),
        domain=loaded.files.name or loaded.domain.name,
        how="path-traced by Mitsuba" if settings.pictures == "rendered" else "drawn as quick sketches",
        version=__version__,
        sizes=_sizes(rows),
        left_out="\n".join((f"Held out: {holdout.sentence() or 'nothing'}.", "", "Left out:", "", *left_out)),
        columns=_columns(FEATURES)
        + ("\n\nConfiguration `dialogs`:\n\n" + _columns(DIALOG_FEATURES) if settings.dialogs else ""),
        command=command_of(settings, loaded, scenes),
        licences=_licences(loaded, own, scenes, stated),
        audits="\n".join(_audits(verdicts, audits)),
        statistics=stats(str(folder.path("questions.jsonl"))).on_screen().text().rstrip(),
    )
    with atomic_output(str(folder.path("README.md"))) as file:
        file.write(text.encode())
    return {"verdicts": verdicts}


def _audit(folder: DatasetFolder, settings: DatasetSettings, name: str) -> Audit:
    questions, scenes = records_of(folder, settings, name), folder.path("steps", name, "scenes.json")
    if name == TRAIN or f"rows {TRAIN}" not in folder.steps:
        return audit(str(questions), scenes=str(scenes))
    train, train_scenes = records_of(folder, settings, TRAIN), folder.path("steps", TRAIN, "scenes.json")
    return audit(str(questions), scenes=str(scenes), train=str(train), train_scenes=str(train_scenes))


# Parts ----------------------------------------------------------------------------------------------------------------


def _head(rows: Mapping[str, Counts], has_own: bool, has_scenes: bool, stated: str) -> dict[str, Any]:
    """Return the part that machines read. The licence is that of all parts, as Hugging Face calls it."""
    questions = sum(counts["questions"] for counts in rows.values())
    license = "cc-by-4.0" if "CC BY 4.0" in stated.upper().replace("-", " ") else "other"
    license = "other" if has_own else license if has_scenes else "mit"
    configs = [
        {
            "config_name": name,
            "data_files": [
                {"split": split, "path": f"{data}/{split}-*.parquet"}
                for split, counts in rows.items()
                if counts.get(kind)
            ],
        }
        for name, data, kind in (("default", "data", "questions"), ("dialogs", "dialogs", "dialogs"))
    ]
    return {
        "license": license,
        **({"license_name": "see-below", "license_link": "README.md"} if license == "other" else {}),
        "language": ["en"],
        "task_categories": ["visual-question-answering"],
        "size_categories": [next((name for most, name in SIZES if questions < most), "n>1M")],
        "tags": ["vqagen", "synthetic", "compositional"],
        "configs": [config for config in configs if config["data_files"]],
    }


def _table(names: Sequence[str], numbers: int, rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts, and then, from column `numbers` on, of numbers."""
    rule = ["---" if place < numbers else "--:" for place in range(len(names))]
    return "\n".join(f"| {' | '.join(row)} |" for row in (names, rule, *rows))


def _sizes(rows: Mapping[str, Counts]) -> str:
    kinds = [kind for kind in ("pictures", "questions", "dialogs") if any(counts.get(kind) for counts in rows.values())]
    return _table(
        ["split", *kinds], 1, [[name, *(f"{counts[kind]:,}" for kind in kinds)] for name, counts in rows.items()]
    )


def _columns(features: Iterable[str]) -> str:
    return _table(["column", "meaning"], 2, [(f"`{name}`", MEANINGS[name]) for name in features])


def own_files(files: DomainFiles) -> list[tuple[str, str]]:
    """Return the options that name the files which are not those of a shipped domain, with the file of each."""
    shipped = find_domain(files.name or DEFAULT_DOMAIN, task=QUESTIONS)
    named = {key: getattr(files, key) for key in ("metadata", "templates", "synonyms")}
    own = [(flag(key), str(path)) for key, path in named.items() if path and path != getattr(shipped, key)]
    return [*own, *(("--plugin", plugin) for plugin in files.plugins)]


def command_of(settings: DatasetSettings, loaded: LoadedDomain, scenes: str | None) -> str:
    """Return the command that makes the dataset again.

    Files of one's own domain and scenes are named as they were.
    """
    options = [("--scenes", scenes)] if scenes else []
    if loaded.files.name not in (None, DEFAULT_DOMAIN):
        options.append(("--domain", str(loaded.files.name)))
    options += own_files(loaded.files)
    for field in fields(settings):
        value = getattr(settings, field.name)
        if field.name == "seed" or value not in (field.default, OF_DOMAIN if field.default is None else field.default):
            values = value if isinstance(value, tuple) else [value]
            options += [(flag(field.name), "" if one is True else str(one)) for one in values]
    return shlex.join(["vqagen", "dataset", "OUT", *(word for option in options for word in option if word)])


def _licences(loaded: LoadedDomain, own: Sequence[tuple[str, str]], scenes: str | None, stated: object) -> str:
    """Return whose each part is."""
    lines = [f"- `{path}`: of whoever made it; {UNKNOWN}." for _, path in own]
    if loaded.files.name:
        other = "All other templates" if own else "Templates"
        lines.append(f"- {other} and vocabulary: those of vqagen's domain `{loaded.files.name}` (MIT).")
    terms = f"{stated}, as the file says" if stated else UNKNOWN
    return "\n".join([*lines, GIVEN.format(name=scenes.rpartition("/")[2], terms=terms) if scenes else MADE])


def _audits(verdicts: Mapping[str, str], audits: Mapping[str, Audit]) -> Iterable[str]:
    for name, verdict in verdicts.items():
        yield f"- {name}, {counted(len(audits[name].items), 'question')}: **{verdict}**"
    for name, audited in audits.items():
        probes = [
            (f"{probe.name}: {probe.meaning}", f"{probe.accuracy:.3f}", f"{probe.chance:.3f}", probe.verdict)
            for probe in audited.probes
        ]
        if probes:
            table = _table(["predictor", "right", "by chance", "verdict"], 1, probes)
            yield f"\nPredictors on {name}:\n\n{table}"
