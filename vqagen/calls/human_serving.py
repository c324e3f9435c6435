"""Serving a study as a typed call."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vqagen.extras import needed
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
