"""vqagen builds, checks and scores visual-question benchmarks out of scene graphs.

The names listed in `vqagen.api` are the Python API: what the commands do, they do. They load when first used, so that
importing `vqagen` costs nothing.

    >>> import vqagen
    >>> for question in vqagen.generate("scenes.json", seed=1):  # doctest: +SKIP
    ...     print(question.text, question.answer)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from vqagen.api import *  # noqa: F403  (`__all__` of the module is the one list of public names)
else:

    def __getattr__(name: str) -> Any:
        """Load the Python API when a name of it, or the list of its names, is first used."""
        is_list = name == "__all__"
        if is_list or not name.startswith("_"):
            api = import_module("vqagen.api")
            if is_list or name in api.__all__:
                return getattr(api, name)
        raise AttributeError(f"module 'vqagen' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*import_module("vqagen.api").__all__, "__version__"]
