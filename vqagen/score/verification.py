"""Verification of any records: every answer of a file must follow from its scene or grid, as its task proves it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.records import given_records
from vqagen.language.domain_files import PathLike
from vqagen.report.verification import VerificationReport
from vqagen.tasks.record_files import find_any_records, shipped_domain, task_of
from vqagen.world.loading import SCENES, find_scenes

Records = PathLike | Mapping[str, Any] | Iterable[Mapping[str, Any]]
"""A file or folder, a document, or records."""


def verify(
    file: Records,
    scenes: Records | None = None,
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    on_checked: Callable[[int], None] = lambda _: None,
) -> VerificationReport:
    """Check that every answer of questions or dialogs follows from its scene, or of trials from its grid.

    `file` and `scenes` are files, or hold records in memory: a document with `info`, or a list of records. The programs
    of questions are run again, and their texts are read: by `templates` and `synonyms` or, if the `info` names those of
    the domain, by these. Dialogs and trials are read from their texts, which are those of `templates` and, for dialogs,
    `synonyms`. Warns (InputWarning) of scenes, metadata, plug-ins, templates and synonyms that are not those which the
    `info` names. `on_checked` is called now and then with the number of questions, dialogs or trials checked since, for
    a progress bar.
    """
    source = find_any_records(file)
    nothing = BadInput([Problem(f"no {source.kind.key}, so nothing to verify", str(source.path))])
    task, path = task_of(source.kind), source.path
    given: dict[str, Any] = {
        "domain": domain,
        "metadata": metadata,
        "templates": templates,
        "synonyms": synonyms,
        "plugins": plugins,
    }
    found = None
    if not task.reads_scenes:
        if needless := [name for name, value in {"scenes": scenes, **given, "templates": None}.items() if value]:
            raise UsageError(f"{path} holds {task.key}, which come with their grids and items: leave out {needless[0]}")
    elif scenes is None:
        if source.layout == "given" and next(source.records(), None) is None:  # BadInput for what is no record
            raise nothing
        what = f"{path} holds {source.kind.key}"
        raise UsageError(f"scenes are missing: {what}, which are verified on the scenes they are about")
    else:
        found = find_scenes(scenes) if isinstance(scenes, PathLike) else given_records(scenes, SCENES)
        given["domain"] = domain or (None if metadata else shipped_domain(source.info))
    report = task.verify(source, found, given, on_checked)
    if not report.checked:
        raise nothing
    return report
