"""Serving studies as typed calls: the server, links to it, and the codes that it issues."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path

from vqagen.extras import needed
from vqagen.human.links.codes import assignments_of_codes
from vqagen.human.links.link_files import LINKS_FOLDER, link_files, write_files
from vqagen.human.links.secret import add_key, load_secret
from vqagen.human.links.settings import LinkSettings
from vqagen.human.links.study_links import expiry, links_of
from vqagen.human.server.settings import ServeSettings
from vqagen.human.study.study import load_study

PathLike = Path | str


def serve(
    folder: PathLike, settings: ServeSettings | None = None, on_ready: Callable[[str], object] = lambda _: None
) -> None:
    """Serve a study to raters until SIGTERM or Ctrl-C. `on_ready` is called with its address."""
    for library in ("starlette", "uvicorn"):
        needed(library, "human", "vqagen human serve")
    from vqagen.human.server.process import serve_study

    serve_study(load_study(folder), settings or ServeSettings(), on_ready)


def write_links(
    folder: PathLike, settings: LinkSettings | None = None, out: PathLike | None = None
) -> tuple[int, list[Path]]:
    """Write the links of a study to the folder `out`, by default `links` in the study; return their number and files.

    Files that an earlier call wrote there are replaced or deleted.
    """
    chosen, study = settings or LinkSettings(), load_study(folder)
    until = expiry(chosen.expires, study.serving.link_days, datetime.now(UTC))
    if chosen.new_key:
        add_key(study.folder)
    rows = links_of(study, load_secret(study.folder), chosen.mode, chosen.public_url.rstrip("/"), until)
    place = study.folder / LINKS_FOLDER if out is None else Path(out)
    return len(rows), write_files(place, link_files(rows, chosen.format, chosen.batch_size))


def verify_codes(folder: PathLike, codes: Iterable[str]) -> dict[str, str | None]:
    """Return the assignment of each completion code, None for a code that the study did not issue.

    A fixed code of the study's platform, which all raters get, is of no assignment: "".
    """
    study = load_study(folder)
    asked = list(dict.fromkeys(codes))
    fixed = study.serving.code_completed
    own = [code for code in asked if not fixed or code.strip() != fixed]
    if not own:
        return dict.fromkeys(asked, "")
    secret = load_secret(study.folder, missing="codes cannot be verified without it; restore a copy of it")
    found = assignments_of_codes(own, secret, study.id, study.tasks.values(), study.slots)
    return {code: found.get(code) if code in own else "" for code in asked}
