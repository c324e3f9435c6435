"""Rehearsals of rater studies on a real server, as typed calls."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from vqagen.errors import UsageError
from vqagen.extras import needed
from vqagen.human.links.secret import load_secret
from vqagen.human.simulation.raters import Raters, RaterSettings
from vqagen.human.simulation.rehearsal import Rehearsal, acknowledged_rows, stored_rows, visit_all
from vqagen.human.simulation.rehearsal_report import rehearsal_report
from vqagen.human.simulation.served_copy import copy_study, serving
from vqagen.human.simulation.through_browser import MOST_BROWSERS, browser_problem, visit_by_browser
from vqagen.human.simulation.through_http import visit_by_http
from vqagen.human.simulation.visit import Drive, Guests, RehearsalSettings
from vqagen.human.study.study import load_study
from vqagen.judge.report.table import Report
from vqagen.language.domain_files import PathLike

HTTP, BROWSER = "http", "browser"
"""Raters send the requests that a page sends, or use the page in a browser."""
_DRIVES: dict[str, Drive] = {HTTP: visit_by_http, BROWSER: visit_by_browser}


def rehearse_study(
    study: PathLike,
    raters: int,
    settings: RaterSettings | None = None,
    rehearsal: RehearsalSettings | None = None,
    *,
    via: str = HTTP,
    url: str = "",
    out: PathLike | None = None,
    on_done: Callable[[int], None] = lambda _: None,
) -> Report:
    """Let simulated raters do a study on a real server, and return what they did and the scores that follow.

    A copy of the study is served, by default in a temporary folder: `out` keeps it, with all answers. The store is
    compared with what the server acknowledged. With the `url` of a server of this very study, raters go there, and
    their answers stay in its store. `on_done` is called with 1 for each rater who has done a task.
    """
    settings, rehearsal = settings or RaterSettings(), rehearsal or RehearsalSettings()
    check_rehearsal(via, url, out)
    if via == BROWSER:
        rehearsal = replace(rehearsal, at_once=min(rehearsal.at_once, MOST_BROWSERS))
    loaded, simulated = load_study(study), Raters(settings)
    simulated.raise_unknown(loaded.items.values())
    with ExitStack() as stack:
        served = loaded if url else copy_study(loaded, Path(out or stack.enter_context(tempfile.TemporaryDirectory())))
        drive = _DRIVES[via]
        with ExitStack() as server:
            address = url.rstrip("/") or server.enter_context(serving(served.folder))
            guests = Guests(served, load_secret(served.folder), address, simulated, rehearsal, settings.seed)
            visits, seconds = visit_all(guests, raters, drive, on_done)
        faults = [fault for visit in visits for fault in visit.faults]
        if url:
            rows = tuple(acknowledged_rows(served, visits))
        else:
            rows, differences = stored_rows(served, visits)
            faults += differences
        shown = replace(served, folder=loaded.folder)
        return rehearsal_report(shown, Rehearsal(visits, seconds, rows, tuple(faults)), settings, via, raters)


def check_rehearsal(via: str, url: str, out: PathLike | None) -> None:
    """Raise UsageError if a rehearsal cannot be made this way."""
    if via not in _DRIVES:
        raise UsageError(f"via must be one of {', '.join(_DRIVES)}, found {via!r}")
    for library in ("starlette", "uvicorn", "scipy"):
        needed(library, "human", f"vqagen human simulate --via {via}")
    if via == BROWSER and browser_problem():
        raise UsageError(f"no browser can be driven: {browser_problem()}; or use --via {HTTP}")
    if url and not url.startswith(("http://", "https://")):
        raise UsageError(f"--url must be an address such as http://127.0.0.1:8087, found {url!r}")
    if out is None:
        return
    if url:
        raise UsageError(f"the answers stay in the store of the server at {url}: leave out {out}")
    if Path(out).is_file() or (Path(out).is_dir() and any(Path(out).iterdir())):
        raise UsageError(f"output folder {out} holds files already; name a new folder")
    if not Path(out).absolute().parent.is_dir():
        raise UsageError(f"folder {Path(out).absolute().parent} does not exist; create it first")
