"""A working domain to start from, written into a folder of its own: a small one, or a copy of a shipped one.

The small one lies in `starter`. The new folder holds copies of the package's schemas too, so that an editor finds them
at once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from vqagen.errors import UsageError
from vqagen.files.output import atomic_output
from vqagen.files.schema import schema_names, schema_text
from vqagen.language.domain_files import SHIPPED_DOMAINS, find_domain, synonyms_file
from vqagen.language.loading import find_template_files
from vqagen.world.domain import load_domain

STARTER_FILES = ("metadata.json", "synonyms.json", "templates/first.json")
_STARTER = Path(__file__).parent / "starter"
_DATASET = re.compile(r'"dataset": "[^"]*"')
_SCHEMA = re.compile(r'"\$schema": "[./]*(?:vqagen/)?schemas/')
_NAME = re.compile(r"\w[\w.-]*")


def write_starter(folder: Path, copied: str = "") -> tuple[Path, ...]:
    """Write a domain named for its folder, which is new or empty; return the files written.

    `copied` is the shipped domain to start from; "" for the small one.

    Raises UsageError if the folder's name cannot name a domain, or if the folder is not empty. If writing fails, no
    file is left behind.
    """
    name = _domain_name(folder)
    texts = _texts(_shipped_files(copied) if copied else {file: _STARTER / file for file in STARTER_FILES}, name)
    if in_the_way := min(folder.iterdir() if folder.is_dir() else filter(Path.exists, [folder]), default=None):
        raise UsageError(f"{in_the_way} is in the way; a domain is started in a new or empty folder")
    new = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    try:
        for name, text in texts.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with atomic_output(str(folder / name)) as file:
                file.write(text.encode())
    except BaseException:
        made = [*sorted(folder.rglob("*"), reverse=True), *new]  # what a folder holds comes before it
        for path in filter(Path.exists, made):
            path.rmdir() if path.is_dir() else path.unlink()
        raise
    return tuple(folder / name for name in texts)


def _domain_name(folder: Path) -> str:
    """Return the last part of the folder's path, resolved first if it is `.` or `..`."""
    name = folder.resolve().name if folder.name in ("", "..") else folder.name
    if not _NAME.fullmatch(name):
        advice = "a name has letters, digits, - _ and . only, and starts with a letter, a digit or _"
        raise UsageError(f"{name or str(folder)!r} cannot name a domain: {advice}")
    if name in SHIPPED_DOMAINS:
        raise UsageError(f"vqagen ships a domain {name!r} already; give yours another name")
    return name


def _shipped_files(domain: str) -> dict[str, Path]:
    """Return the files of a shipped domain, by their paths in the new folder."""
    files = find_domain(domain)
    synonyms = synonyms_file(files, load_domain(files.metadata))
    return {
        "metadata.json": files.metadata,
        **({"synonyms.json": synonyms} if synonyms else {}),
        **{f"templates/{file.name}": file.path for file in find_template_files(files.templates)},
    }


def _texts(sources: Mapping[str, Path], name: str) -> Mapping[str, str]:
    """Return the text of each file, by its path in the new folder; each names the schemas beside it."""
    texts = {
        file: _SCHEMA.sub(f'"$schema": "{"../" * file.count("/")}schemas/', source.read_text("utf-8"))
        for file, source in sources.items()
    }
    named = f'"dataset": {json.dumps(name, ensure_ascii=False)}'
    texts["metadata.json"] = _DATASET.sub(lambda _: named, texts["metadata.json"], count=1)
    return texts | {f"schemas/{kind}.schema.json": schema_text(kind) for kind in schema_names()}
