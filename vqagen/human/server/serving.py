"""Serving a study as a typed call. Light to import."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vqagen.human.server.settings import ServeSettings
from vqagen.human.study.study import load_study


def serve(
    folder: Path | str, settings: ServeSettings | None = None, on_ready: Callable[[str], object] = lambda _: None
) -> None:
    """Serve a study to raters until SIGTERM or Ctrl-C. `on_ready` is called with its address."""
    from vqagen.human.server.process import serve_study

    serve_study(load_study(folder), settings or ServeSettings(), on_ready)
