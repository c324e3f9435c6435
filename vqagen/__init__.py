"""vqagen builds, checks and scores visual-question benchmarks out of scene graphs.

The names listed in `vqagen.api` are the Python API: what the commands do, they do. Each loads what it needs when it is
first used, so that importing `vqagen` costs nothing.

    >>> import vqagen
    >>> for question in vqagen.generate("scenes.json", seed=1):  # doctest: +SKIP
    ...     print(question.text, question.answer)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "1.0.0"

if TYPE_CHECKING:
    from vqagen.api import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """Load a name of the Python API when it is first used, from its own module: all of them take a second."""
        from vqagen.api import MODULES

        if name == "__all__":
            return list(MODULES)
        if name in MODULES:
            return getattr(import_module(MODULES[name]), name)
        raise AttributeError(f"module 'vqagen' has no attribute {name!r}")


def __dir__() -> list[str]:
    from vqagen.api import MODULES

    return [*MODULES, "__version__"]
