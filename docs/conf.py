"""The settings of the documentation, which `scripts/docs` builds. Commands and docstrings are read where they stand."""

from __future__ import annotations

import inspect
from typing import Any

import vqagen
from vqagen.api import MODULES

project = author = "vqagen"
project_copyright = "vqagen contributors"
version = release = vqagen.__version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_click"]
exclude_patterns = ["_build"]
myst_heading_anchors = 4
smartquotes = False
add_module_names = False
suppress_warnings = ["misc.highlighting_failure"]  # of what a command prints
autodoc_member_order = "bysource"
autodoc_typehints = "description"
html_theme = "furo"
html_title = f"vqagen {version}"

KINDS = {"Functions": inspect.isfunction, "Classes": inspect.isclass}


def list_api(_app: Any, name: str, source: list[str]) -> None:
    """Write a directive for each public name into the page `api`: Sphinx reads their docstrings."""
    if name != "api":
        return
    for title, is_kind in KINDS.items():
        source[0] += f"\n## {title}\n\n```{{eval-rst}}\n"
        for public in sorted(MODULES, key=str.lower):
            if is_kind(value := getattr(vqagen, public)):
                kind = "function" if title == "Functions" else "class"
                members = "" if kind == "function" or issubclass(value, Exception) else "\n   :members:"
                source[0] += f".. auto{kind}:: vqagen.{public}{members}\n\n"
        source[0] += "```\n"


def setup(app: Any) -> None:
    """Register `list_api`."""
    app.connect("source-read", list_api)
