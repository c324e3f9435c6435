"""vqagen builds, checks and scores visual-question benchmarks out of scene graphs.

    >>> import vqagen
    >>> for question in vqagen.generate("scenes.json", seed=1):  # doctest: +SKIP
    ...     print(question.question, question.answer)

What the commands do, these functions do; `help(vqagen.generate)` and so on say more:

    sample_scenes, generate, dialogs, trials               make records in memory
    write_scenes, write_pictures, write_questions,         make files, with workers, shards and resumed runs
    write_dialogs, write_trials, merge, convert
    with_choices, write_choices, write_dataset,            options, datasets, files of trainers, a page to look at
    export_dataset, export_file, show_file
    verify, stats, audit, baseline                         prove answers; say what can be guessed
    evaluate, compare, write_report                        score models
    environment                                            endless tasks for training
    make_item_tasks, serve, score_study                    studies with raters
    load_domain_files, load_scenes, compile_scene          domains, scenes; Program and Scene are what questions hold

`dir(vqagen)` and `vqagen.api` list every name. Each is loaded when it is first used, so that importing costs nothing.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

__version__ = "2.0.0.dev0"

if TYPE_CHECKING:
    from vqagen.api import *  # noqa: F403
else:

    def __getattr__(name: str) -> Any:
        """Load a name of the Python API when it is first used, from its own module: all of them take a second."""
        from vqagen.api import MODULES, RETIRED, SHOWN_SETTINGS

        if name in MODULES:
            value = getattr(import_module(MODULES[name]), name)
            if name in SHOWN_SETTINGS:
                settings = __getattr__(SHOWN_SETTINGS[name])
                import_module("vqagen.run.making").show_settings(value, settings)
            globals()[name] = value  # so that Python asks here once for each name
            return value
        if name in RETIRED:
            raise AttributeError(f"`vqagen.{name}` was removed in version 2.0: {RETIRED[name]}")
        raise AttributeError(f"module 'vqagen' has no attribute {name!r}")


class _Package(ModuleType):
    """Pickled by its name: `datasets` pickles a generator with the modules that it uses, and all that these hold."""

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (__name__,)


sys.modules[__name__].__class__ = _Package


def __dir__() -> list[str]:
    from vqagen.api import MODULES

    return [*MODULES, "__version__"]
