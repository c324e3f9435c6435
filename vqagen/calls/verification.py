"""Verification as a typed call: that every answer of a file follows from its scene or grid."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vqagen.errors import UsageError
from vqagen.files.reading import content_hash
from vqagen.judge.dialogs.report import DialogVerificationReport
from vqagen.judge.dialogs.verification import verify_dialogs
from vqagen.judge.director.report import TrialVerificationReport
from vqagen.judge.director.verification import verify_trials
from vqagen.judge.file_kinds import TRIALS, kind_of_file, require_records
from vqagen.judge.origin import check_origin
from vqagen.judge.verification import verify_questions
from vqagen.judge.verification_report import VerificationReport
from vqagen.language.domain_files import PathLike, find_domain, load_catalogue
from vqagen.language.shipped_domains import DIALOGS
from vqagen.tasks.dialog.loading import load_dialog_domain
from vqagen.world.loading import find_scenes


def verify(
    file: PathLike,
    scenes: PathLike | None = None,
    *,
    domain: PathLike | None = None,
    metadata: PathLike | None = None,
    templates: PathLike | None = None,
    synonyms: PathLike | None = None,
    plugins: PathLike | Sequence[PathLike] = (),
    on_checked: Callable[[int], None] = lambda _: None,
) -> VerificationReport | DialogVerificationReport | TrialVerificationReport:
    """Check that every answer of a file of questions or dialogs follows from its scene, or of trials from its grid.

    The programs of questions are run again. Dialogs and trials are read from their texts, which are those of
    `templates` and, for dialogs, `synonyms`. Warns (InputWarning) of scenes, metadata, plug-ins, templates and synonyms
    that are not those which the file's `info` names. `on_checked` is called now and then with the number of questions,
    dialogs or trials checked since, for a progress bar.
    """
    path = require_records(file)
    kind = kind_of_file(path)
    if kind is TRIALS:
        given = {"scenes": scenes, "domain": domain, "metadata": metadata, "synonyms": synonyms, "plugins": plugins}
        if needless := [name for name, value in given.items() if value]:
            raise UsageError(f"{file} holds trials, which come with their grids and items: leave out {needless[0]}")
        return verify_trials(path, templates, on_checked)
    if scenes is None:
        raise UsageError(
            f"scenes are missing: {file} holds {kind.key}, which are verified on the scenes they are about"
        )
    source = find_scenes(scenes)
    task = DIALOGS if kind.key == DIALOGS else None
    if task is None and (templates or synonyms):
        raise UsageError(f"templates and synonyms are for dialogs; {file} holds questions, which have programs")
    files = find_domain(domain, metadata=metadata, templates=templates, synonyms=synonyms, plugins=plugins, task=task)
    if task == DIALOGS:
        return verify_dialogs(path, source, load_dialog_domain(files), on_checked)
    catalogue, loaded = load_catalogue(files)
    hashes = {
        "scenes": lambda: content_hash(source.files),
        "metadata": lambda: content_hash([files.metadata]),
        "plugins": lambda: loaded.hash if loaded.hashes else "",
    }
    check_origin(path, hashes)
    return verify_questions(path, source, catalogue, on_checked)
