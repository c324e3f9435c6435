"""Finished outputs as the single file that another tool's own loader opens: Visual7W, VisDial and others."""

from __future__ import annotations

from collections.abc import Callable

from vqagen.files.formats import LIST, choose_format, info_beside
from vqagen.files.output import check_output
from vqagen.language.domain_files import PathLike
from vqagen.run.merge import open_output
from vqagen.tasks.foreign import foreign_format


def export_file(
    source: PathLike, out: PathLike, to: str, force: bool = False, on_exported: Callable[[int], None] = lambda _: None
) -> tuple[str, int]:
    """Write the records of a finished output as a file of another tool, with their info beside it.

    Returns their kind and number. Raises VqagenError for records that the format is not for, and for an output that
    was changed after it was made; then nothing is written.
    """
    file, target = open_output(source), str(out)
    choose_format(target, None, (LIST,), file.arrangement.key)
    form = foreign_format(file.arrangement.key, to, file.info)
    for name in filter(None, (target, info_beside(target, LIST))):
        check_output(name, force, file.names)
    return file.arrangement.key, form.write(target, lambda: form.entries(file.records()), on_exported)
