"""vqagen builds, checks and scores visual-question benchmarks out of scene graphs.

The names listed in `vqagen.api` are the Python API: what the commands do, they do. Each loads what it needs when it is
first used, so that importing `vqagen` costs nothing.

    >>> import vqagen
    >>> for question in vqagen.generate("scenes.json", seed=1):  # doctest: +SKIP
    ...     print(question.text, question.answer)
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from vqagen.api import *  # noqa: F403  (`__all__` of the module is the one list of public names)
else:

    def __getattr__(name: str) -> Any:
        """Load a name of the Python API when it is first used, from its own module: all of them take a second."""
        if name == "__all__":
            return list(_modules())
        if not name.startswith("_") and name in _modules():
            return getattr(import_module(_modules()[name]), name)
        raise AttributeError(f"module 'vqagen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*_modules(), "__version__"]


@cache
def _modules() -> dict[str, str]:
    """Return public name -> the module that the text of `vqagen.api` imports it from, in the order of `__all__`."""
    import ast
    from pkgutil import get_data

    try:
        text = get_data("vqagen", "api.py") or b""
    except OSError:  # a bundled program without source texts
        return dict.fromkeys(import_module("vqagen.api").__all__, "vqagen.api")
    imports = [
        each for each in ast.parse(text).body if isinstance(each, ast.ImportFrom) and each.module != "__future__"
    ]
    return dict(sorted((alias.name, str(each.module)) for each in imports for alias in each.names))
