"""The folder of an export while it is written: its lists, lines, tables and pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

import orjson

from vqagen.dataset.folder import front_matter
from vqagen.dataset.parquet import write_rows
from vqagen.dataset.rows import MEANINGS as OF_ROWS
from vqagen.errors import BadInput, Problem
from vqagen.export.examples import CHOICE, OPTION_COLUMNS, Source, Turn
from vqagen.rewards import HOW_TO_REPLY

README = "README.md"
TEXT: Mapping[str, Any] = {"dtype": "string", "_type": "Value"}
IMAGE: Mapping[str, Any] = {"_type": "Image"}
"""Types of columns as `datasets` write them."""
MARK = "written by `vqagen export`"
"""Stands in the README of every export: nothing else is replaced by --force."""
IMAGE_TAG, VIDEO_TAG = "<image>", "<video>"
"""Stand in a text where its picture or video belongs."""
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


class Folder(NamedTuple):
    """The folder of an export."""

    path: Path
    name: str
    """The name under which its files are known to a target, such as `vqagen`."""
    source: Source
    mode: str
    """`OPEN` or `CHOICE`."""
    has_pictures: bool
    saved: dict[str, int]
    """Path of each picture that was saved -> a hash of its bytes."""
    asks_for_format: bool = True

    def asked(self, turn: Turn) -> Turn:
        """Return a question that asks for the form that the reward `format` wants, unless it is to be plain."""
        return turn._replace(text=f"{turn.text}\n\n{HOW_TO_REPLY}") if self.asks_for_format else turn

    def kept(self, features: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that this export has: without pictures or options, not those of pictures or options."""
        return {
            name: self.kept(each) if isinstance(each, Mapping) and "_type" not in each else each
            for name, each in features.items()
            if (self.has_pictures or each not in (IMAGE, [IMAGE]))
            and (self.mode == CHOICE or name not in OPTION_COLUMNS)
        }

    def write_list(self, file: str, values: Iterable[Any]) -> None:
        """Write a JSON list, with a line for each value."""
        with self._opened(file) as out:
            for number, value in enumerate(values):
                out.write((b",\n" if number else b"[\n") + orjson.dumps(value))
            out.write(b"\n]\n")

    def write_lines(self, file: str, values: Iterable[Any]) -> None:
        """Write JSON Lines."""
        with self._opened(file) as out:
            for value in values:
                out.write(orjson.dumps(value) + b"\n")

    def write_text(self, file: str, text: str) -> None:
        """Write a text."""
        with self._opened(file) as out:
            out.write(text.encode())

    def write_table(self, file: str, rows: Iterable[Mapping[str, Any]], features: Mapping[str, Any]) -> None:
        """Write Parquet; `rows` have `image_id` besides their columns. A picture of several rows is stored once.

        Columns of pictures and options are left out of an export without any.
        """
        (self.path / file).parent.mkdir(exist_ok=True)
        write_rows(self.path / file, rows, self.kept(features))

    def write_readme(
        self, title: str, use: str, features: Mapping[str, Any], settings: Mapping[str, Any] | None = None
    ) -> None:
        """Write the README: the `settings` that Hugging Face reads at its top, how the target is used, and the columns.

        The licences of a dataset stay in the settings, and its card stands below.
        """
        found = _CARD.fullmatch(self.source.card)
        head, card = found.groups() if found else ("", self.source.card)
        licences = "".join(_LICENCE.findall(head))
        front = f"---\n{licences}{front_matter(settings)}---\n\n" if settings else ""
        columns = "\n".join(f"- `{name}`: {MEANINGS[name]}" for name in self.kept(features))
        below = f"\n# Card of the dataset\n\n{card.strip()}\n" if card else ""
        used = f"This folder was {MARK}.\n\n{HIDDEN if self.source.hides_answers else ''}{use.strip(chr(10))}"
        self.write_text(README, f"{front}# {self.name} for {title}\n\n{used}\n\n## Columns\n\n{columns}\n{below}")

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

    def _opened(self, file: str) -> Any:
        (self.path / file).parent.mkdir(parents=True, exist_ok=True)
        return (self.path / file).open("wb")


def with_tag(text: str, has_picture: bool = True) -> str:
    """Return a text with the tag of its picture before it. BadInput if the text has a tag itself."""
    if tag := next((each for each in (IMAGE_TAG, VIDEO_TAG) if each in text), None):
        raise BadInput([Problem(f"a text says {tag}, for which this format would put a picture: {text[:80]!r}")])
    return f"{IMAGE_TAG}\n{text}" if has_picture else text
