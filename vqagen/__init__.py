"""vqagen builds, checks and scores visual-question benchmarks out of scene graphs.

The names below are the Python API; what the commands do, these do. They load when first used, so that importing
`vqagen` costs nothing.

    >>> import vqagen
    >>> for question in vqagen.generate("scenes.json", seed=1):  # doctest: +SKIP
    ...     print(question.text, question.answer)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

__all__ = [
    "BadInput",
    "Catalogue",
    "Domain",
    "DomainFiles",
    "Generation",
    "LoadedDomain",
    "MergeResult",
    "Program",
    "Question",
    "RecordForm",
    "Report",
    "RunOptions",
    "SamplingSettings",
    "Scene",
    "Settings",
    "Undefined",
    "UsageError",
    "VerificationReport",
    "VqagenError",
    "compile_scene",
    "find_domain",
    "find_scenes",
    "generate",
    "load_domain",
    "load_domain_files",
    "load_scenes",
    "load_templates",
    "merge",
    "sample_scenes",
    "verify",
    "write_questions",
    "write_scenes",
]

if TYPE_CHECKING:
    from vqagen.api import (
        BadInput,
        Catalogue,
        Domain,
        DomainFiles,
        Generation,
        LoadedDomain,
        MergeResult,
        Program,
        Question,
        RecordForm,
        Report,
        RunOptions,
        SamplingSettings,
        Scene,
        Settings,
        Undefined,
        UsageError,
        VerificationReport,
        VqagenError,
        compile_scene,
        find_domain,
        find_scenes,
        generate,
        load_domain,
        load_domain_files,
        load_scenes,
        load_templates,
        merge,
        sample_scenes,
        verify,
        write_questions,
        write_scenes,
    )


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'vqagen' has no attribute {name!r}")
    from vqagen import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
