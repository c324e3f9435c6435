"""A page of files: index.html, which works from the disk, parts of 500 entries, and the pictures.

A page that is opened from the disk may load scripts, but no data. So the entries are scripts that call the page:

    data/index.js      show.index({...}): for each entry numbers of its family, answer and length
    data/part-0.js     show.part(0, {pictures, entries}), loaded when an entry of it is shown
"""

from __future__ import annotations

import os
import re
import shutil
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import orjson

from vqagen.dataset.rows import data_folder
from vqagen.errors import BadInput, PlaceError, Problem, UsageError
from vqagen.files.info import find_info_beside
from vqagen.files.locations import files_in, first_file
from vqagen.files.output import atomic_folder, atomic_output, check_folder, check_output, sweep
from vqagen.files.pictures import picture_kind
from vqagen.files.records import RecordSource
from vqagen.language.catalogue import Catalogue
from vqagen.language.domain_files import DomainFiles, PathLike, find_domain, load_catalogue
from vqagen.show.entries import PageEntry, Picture, dataset_entries, record_entries, trial_entries
from vqagen.tasks.record_files import DIALOGS, SAMPLES, TRIALS, find_any_records, shipped_domain
from vqagen.world.loading import SceneSource, find_scenes

PART = 500
"""Entries of a part."""
PAGE = Path(__file__).parent / "page"
FILES = ("index.html", "show.css", "show.js")
SAVED = re.compile(rb'"file":"(images/[^"]+)"')
MARK = "<!-- vqagen show -->"
"""Stands in every page: nothing else is replaced by --force."""


class Shown(NamedTuple):
    """What a page shows."""

    kind: str
    """questions, dialogs or trials."""
    entries: int
    pictures: int


def show_file(
    file: PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]],
    out: PathLike,
    *,
    images: PathLike | None = None,
    scenes: PathLike | None = None,
    files: DomainFiles | None = None,
    force: bool = False,
    on_shown: Callable[[int], None] = lambda _: None,
) -> Shown:
    """Write a page about questions, dialogs, trials or a dataset to the folder `out`; open its index.html.

    With a name that ends in `.html`, the page is that one file, with its pictures inside. `file` may be records in
    memory, such as those of `generate`, too. `scenes` are those that questions or dialogs are about, on which their
    programs are run. `images` is the folder of the pictures, or that of `vqagen scenes render`, which has scenes too.
    `files` are those of the domain, by default the one that the file names, or CLEVR's. `on_shown` is called now and
    then with the number of entries since.
    """
    if is_page(out):
        check_output(str(out), force, [str(file)] if isinstance(file, str | Path) else [])
        with TemporaryDirectory() as made:
            folder = Path(made, "page")
            done = show_file(file, folder, images=images, scenes=scenes, files=files, on_shown=on_shown)
            _write_page(folder, str(out))
        return done
    check_folder(Path(out), force, FILES[0], MARK, "a page of vqagen")
    found = Path(file) if isinstance(file, str | Path) else find_any_records(file)
    name = found.name if isinstance(found, Path) else str(found.path)
    kind, entries = _entries(found, images, scenes, files)
    sweep(str(out))
    with atomic_folder(Path(out)) as folder:
        for name in FILES:
            shutil.copyfile(PAGE / name, folder / name)
        done = _write(entries, kind, name, folder, on_shown)
        if not done.entries:
            raise BadInput([Problem(f"no {kind} to show", str(file) if isinstance(found, Path) else name)])
    return done


def is_page(out: PathLike) -> bool:
    """True if a page is to be one file."""
    return str(out).lower().endswith(".html")


def _write_page(folder: Path, out: str) -> None:
    """Write a page's folder as one file: what index.html names stands in it, and the parts with their pictures."""

    def put_inside(found: re.Match[bytes]) -> bytes:
        content = (folder / found[1].decode()).read_bytes()
        return b'"file":"data:image/%b;base64,%b"' % (picture_kind(content, True).encode(), b64encode(content))

    page, style, code = ((folder / name).read_bytes() for name in FILES)
    page = page.replace(b'<link rel="stylesheet" href="show.css">', b"<style>\n%b</style>" % style)
    before, after = page.split(b'<script src="show.js"></script>\n<script src="data/index.js"></script>')
    *parts, index = sorted(files_in(folder / "data"), key=lambda file: file.name == "index.js")
    with atomic_output(out) as file:
        file.write(before)
        for part in parts:
            text = SAVED.sub(put_inside, part.read_bytes())
            file.write(b'<script type="text/plain" id="%b">%b</script>\n' % (part.stem.encode(), text))
        file.write(b"<script>\n%b</script>\n<script>%b</script>%b" % (code, index.read_bytes(), after))


def _entries(
    found: Path | RecordSource, images: PathLike | None, scenes: PathLike | None, files: DomainFiles | None
) -> tuple[str, Iterator[PageEntry]]:
    """Return the kind of the entries of a file, and the entries."""
    file = found if isinstance(found, Path) else Path(str(found.path))
    if isinstance(found, Path) and (data := data_folder(file)):
        catalogue = _catalogue(files, find_info_beside(data.parent / "questions.jsonl") or {}, file)
        kind = "dialogs" if data.name == "dialogs" else "questions"
        return kind, dataset_entries(data.parent, data.name, catalogue)
    source = find_any_records(file) if isinstance(found, Path) else found
    if source.kind is SAMPLES:
        raise UsageError(f"{file} is of the shape of another generator; name the trials that it was made of")
    if source.kind is TRIALS:
        return "trials", trial_entries(source)
    catalogue = _catalogue(files, source.info, file)
    folders, shown_scenes = _pictures(file, images, scenes)
    return source.kind.key, record_entries(source, shown_scenes, catalogue, folders, source.kind is DIALOGS)


def _catalogue(files: DomainFiles | None, info: Mapping[str, Any], file: Path) -> Catalogue:
    """Return the functions of a file's domain. UsageError if it is not a shipped one and nothing says where it is."""
    name = shipped_domain(info)
    if files is None and name is None and "generator" in info:
        raise UsageError(f"{file} is of a domain that vqagen does not ship; name it by --domain or --metadata")
    return load_catalogue(files or find_domain(name))[0]


def _pictures(file: Path, images: PathLike | None, scenes: PathLike | None) -> tuple[list[Path], SceneSource | None]:
    """Return where pictures lie, and the scenes: beside the pictures, if nothing names them."""
    given = [Path(each) for each in (images, scenes and Path(scenes).parent) if each]
    if images is not None and not Path(images).is_dir():
        raise PlaceError(f"no folder of pictures: {images}")
    folders = given or [file.parent]
    if scenes is None and given:
        beside = (each / "scenes.json" for each in (given[0], given[0].parent))
        scenes = first_file(beside)
    return folders, None if scenes is None else find_scenes(str(scenes))


def _write(entries: Iterator[PageEntry], kind: str, title: str, folder: Path, on_shown: Callable[[int], None]) -> Shown:
    """Write the parts, the pictures and the index."""
    columns = {name: (dict[str | int, int](), list[int]()) for name in ("family", "answer", "length")}
    """The numbers of the values by which the page filters, and for each entry the number of its value."""
    saved: dict[str, str] = {}
    (folder / "data").mkdir()
    number = count = 0
    while part := list(islice(entries, PART)):
        pictures: dict[str, tuple[int, Mapping[str, Any]]] = {}
        listed = []
        for entry in part:
            key = entry.picture.key
            if key not in pictures:
                shown = {**entry.picture.shown, "file": _save(entry.picture, folder, saved)}
                pictures[key] = len(pictures), shown
            listed.append({**entry.shown, "picture": pictures[key][0]})
            for name, (numbers, codes) in columns.items():
                value = getattr(entry, name)
                codes.append(numbers.setdefault("" if value is None else value, len(numbers)))
        content = {"pictures": [shown for _, shown in pictures.values()], "entries": listed}
        _write_script(folder / f"data/part-{number}.js", f"show.part({number}, ", content)
        number, count = number + 1, count + len(part)
        on_shown(len(part))
    index = {
        "title": title,
        "kind": kind,
        "part": PART,
        "count": count,
        "columns": {
            name: {"values": list(numbers), "codes": codes}
            for name, (numbers, codes) in columns.items()
            if numbers.keys() - {""}
        },
    }
    _write_script(folder / "data/index.js", "show.index(", index)
    return Shown(kind, count, sum(map(bool, saved.values())))


def _save(picture: Picture, folder: Path, saved: dict[str, str]) -> str:
    """Put a picture into the folder, if it is not there yet, and return its path in it; "" without a file.

    A file on the same disk is linked, and takes no space.
    """
    if picture.key not in saved:
        ending = picture.file.suffix if isinstance(picture.file, Path) else ".png"
        name = f"images/{len(saved):06d}{ending}" if picture.file else ""
        if picture.file:
            (folder / "images").mkdir(exist_ok=True)
        if isinstance(picture.file, bytes):
            (folder / name).write_bytes(picture.file)
        elif picture.file:
            try:
                os.link(picture.file.resolve(), folder / name)
            except OSError:  # another disk
                shutil.copyfile(picture.file, folder / name)
        saved[picture.key] = name
    return saved[picture.key]


def _write_script(file: Path, call: str, value: Any) -> None:
    """Write a call with a value, in whose texts no < ends the script that stands in a page."""
    file.write_bytes(call.encode() + orjson.dumps(value).replace(b"<", b"\\u003c") + b");\n")
