"""The folder of an export while it is written, and what the table of a target says of it."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any, NamedTuple

import orjson

from vqagen.dataset.folder import front_matter
from vqagen.dataset.rows import MEANINGS as OF_ROWS, Row, write_rows
from vqagen.errors import BadInput, Problem
from vqagen.export.examples import CHOICE, OPTION_COLUMNS, Example, Source, Turn
from vqagen.rewards import HOW_TO_REPLY

README = "README.md"
TEXT: Mapping[str, Any] = {"dtype": "string", "_type": "Value"}
IMAGE: Mapping[str, Any] = {"_type": "Image"}
"""Types of columns as `datasets` write them."""
HUB_FILE = "data/{split}-00000-of-00001.parquet"
"""The file of a split, under the name that the Hub gives it."""
MARK = "written by `vqagen export`"
"""Stands in the README of every export: nothing else is replaced by --force."""
HIDDEN = (
    "Answers are hidden: `answer` and `solution` are empty. `vqagen evaluate` scores predictions with the file that has"
    " the answers.\n\n"
)
"""Stands in the README of questions without answers."""
MEANINGS: Mapping[str, str] = {
    **OF_ROWS,
    "id": "number of the question or dialog; of a round also its place",
    "prompt": "the chat up to the question",
    "completion": "the right answer as a message, for supervised training",
    "domain": "which words are values, for rewards: the name of a shipped domain, or a vocabulary as JSON",
    "images": "the picture",
    "data_source": "the name of this export",
    "ability": "what is asked for",
    "reward_model": "the right answer, and how replies are judged",
    "extra_info": "what `verl_score` needs besides: type, options and domain",
    "conversations": "the question and its answer, or all rounds of a dialog",
    "input": "the chat up to the question",
    "target": "the right answer, or the letter of the right option",
    "metadata": "the type of the answer, the template and the picture of the question",
    "index": "number of the question",
    "category": "the template of the question",
    "l2-category": "the type of the answer",
    "split": "the split",
    "file_name": "the picture",
    **dict.fromkeys("ABCD", "an option; empty if there are fewer"),
}
"""Column -> its meaning, for the README."""
_CARD = re.compile(r"---\n(.*?\n)---\n(.*)", re.DOTALL)
"""The settings and the text of a card."""
_LICENCE = re.compile(r"^license.*\n(?:[ -].*\n)*", re.MULTILINE)


@dataclass
class ExportFolder:
    """The folder of an export."""

    path: Path
    name: str
    """The name under which its files are known to a target, such as `vqagen`."""
    source: Source
    mode: str
    """`OPEN` or `CHOICE`."""
    has_pictures: bool
    asks_for_format: bool = True
    splits: dict[str, int] = field(default_factory=dict)
    """Split -> its examples so far."""
    saved: dict[str, int | str] = field(default_factory=dict)
    """Path of each picture that was saved -> a hash of its bytes."""

    @property
    def domain(self) -> str | None:
        """What rewards take as the domain; see `Source`."""
        return self.source.domain or None

    @property
    def split_names(self) -> list[str]:
        """The names of the splits among other data, such as `vqagen_train`."""
        return [f"{self.name}_{split}" for split in self.splits]

    def asked(self, turn: Turn) -> Turn:
        """Return a question that asks for the form that the reward `format` wants, unless it is to be plain."""
        return turn._replace(text=f"{turn.text}\n\n{HOW_TO_REPLY}") if self.asks_for_format else turn

    def kept(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that this export has: without pictures or options, not those of pictures or options."""
        return {
            name: self.kept(feature) if isinstance(feature, Mapping) and "_type" not in feature else feature
            for name, feature in features.items()
            if (self.has_pictures or feature not in (IMAGE, [IMAGE]))
            and (self.mode == CHOICE or name not in OPTION_COLUMNS)
        }

    def write_split(self, target: ExportTarget, split: str, examples: Iterable[Example]) -> None:
        """Write the rows of a split, one example after the other, in the form that the file's ending names."""
        file = target.file.format(split=split, name=self.name)
        rows = (row for example in examples for row in target.rows(example, self))
        if file.endswith(".parquet"):
            (self.path / file).parent.mkdir(exist_ok=True)
            write_rows(self.path / file, rows, self.kept(target.columns))  # a picture of several rows is stored once
        elif file.endswith(".tsv"):
            with (self.path / file).open("w", encoding="utf-8", newline="") as out:
                table = csv.DictWriter(out, list(self.kept(target.columns)), delimiter="\t", lineterminator="\n")
                table.writeheader()
                table.writerows(rows)
        elif file.endswith(".jsonl"):
            self.write_lines(file, rows)
        else:
            with self._opened(file) as out:
                for number, row in enumerate(rows):
                    out.write((b",\n" if number else b"[\n") + orjson.dumps(row))
                out.write(b"\n]\n")

    def write_lines(self, file: str, rows: Iterable[Any]) -> None:
        """Write JSON Lines."""
        with self._opened(file) as out:
            out.writelines(orjson.dumps(row) + b"\n" for row in rows)

    def write_text(self, file: str, text: str) -> None:
        """Write a text."""
        with self._opened(file) as out:
            out.write(text.encode())

    def write_readme(self, target: ExportTarget) -> None:
        """Write the README: what Hugging Face reads at its top, how the target is used, and the columns.

        The licences of a dataset stay in the settings, and its card stands below.
        """
        names = target.finish(self)
        found = _CARD.fullmatch(self.source.card)
        head, card = found.groups() if found else ("", self.source.card)
        front = ""
        if target.opened:
            files = [{"split": split, "path": target.opened.format(split=split)} for split in self.splits]
            settings = {"configs": [{"config_name": "default", "data_files": files}], **target.settings}
            front = f"---\n{''.join(_LICENCE.findall(head))}{front_matter(settings)}---\n\n"
        columns = "\n".join(f"- `{name}`: {MEANINGS[name]}" for name in self.kept(target.columns))
        below = f"\n# Card of the dataset\n\n{card.strip()}\n" if card else ""
        hidden = HIDDEN if self.source.hides_answers else ""
        used = f"This folder was {MARK}.\n\n{hidden}{target.use.format(names=names)}"
        self.write_text(
            README, f"{front}# {self.name} for {target.title}\n\n{used}\n\n## Columns\n\n{columns}\n{below}"
        )

    def save_picture(self, image: Mapping[str, Any], folder: str = "images") -> str:
        """Write a picture if it is not there yet, and return its path in this folder.

        BadInput if another picture has its name.
        """
        path, content = f"{folder}/{PurePosixPath(image['path']).name}", hash(image["bytes"])
        if path not in self.saved:
            with self._opened(path) as out:
                out.write(image["bytes"])
        if self.saved.setdefault(path, content) != content:
            raise BadInput([Problem(f"two pictures are called {path}; rename one of them")])
        return path

    def _opened(self, file: str) -> IO[bytes]:
        (self.path / file).parent.mkdir(parents=True, exist_ok=True)
        return (self.path / file).open("wb")


class ExportTarget(NamedTuple):
    """A trainer or evaluator, and how it reads examples."""

    title: str
    """Its name, for people."""
    columns: Mapping[str, Any]
    """Column -> its type, for Parquet and for the README."""
    rows: Callable[[Example, ExportFolder], Iterable[Row]]
    """Return the rows that are made of an example: one, or one for each round of a dialog."""
    use: str
    """How the files are loaded, for the README. {names} stands for what `finish` returns."""
    file: str = "{split}.parquet"
    """The file of a split. Its ending says how rows are written."""
    cannot: Mapping[str, str] = {}
    """What it cannot hold -> the reason: a kind of source, a mode of asking, or `no pictures`."""
    finish: Callable[[ExportFolder], str] = lambda folder: ""
    """Writes what else concerns all splits, and returns the names by which the target finds them."""
    opened: str = ""
    """The files of a split as `datasets` opens them; "" if it does not."""
    settings: Mapping[str, Any] = {}
    """What the Hub reads at the top of the README besides."""


# Chats ----------------------------------------------------------------------------------------------------------------

Message = Callable[[str, str, bool], dict[str, Any]]
"""Takes the role, `user` or `assistant`, a text, and whether the picture stands before it."""


def chat(turns: Iterable[Turn], has_picture: bool, message: Message) -> list[dict[str, Any]]:
    """Return a message for each question and each reply. The picture stands before the first question."""
    messages: list[dict[str, Any]] = []
    for number, turn in enumerate(turns):
        messages.append(message("user", turn.text, has_picture and number == 0))
        messages.append(message("assistant", turn.reply, False))
    return messages


def rounds_of(example: Example) -> Iterator[tuple[str, tuple[Turn, ...]]]:
    """Yield the id of each round of a dialog, such as `7/2`, and all turns up to it. A question is one round."""
    for number in range(len(example.turns)):
        yield example.id if len(example.turns) == 1 else f"{example.id}/{number}", example.turns[: number + 1]
