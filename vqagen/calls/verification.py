"""Verification as a typed call: that every answer of a file follows from its scene or grid."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Any

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.reading import content_hash
from vqagen.files.source import RecordSource, given_records
from vqagen.language.domain_files import (
    DIALOGS,
    DomainFiles,
    PathLike,
    find_domain,
    input_hashes,
    is_written_as_path,
    load_catalogue,
)
from vqagen.language.question_files import QUESTIONS
from vqagen.score.file_kinds import find_any_records
from vqagen.score.origin import check_origin, generator_of, shipped_domain
from vqagen.score.verify.question_texts import texts_at_hand
from vqagen.score.verify.questions import verify_questions
from vqagen.score.verify.report import VerificationReport
from vqagen.world.loading import SCENES, SceneSource, find_scenes

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
    own: dict[str, Any] = {"metadata": metadata, "templates": templates, "synonyms": synonyms, "plugins": plugins}
    if source.kind.key not in (QUESTIONS.key, DIALOGS):
        given = {"scenes": scenes, "domain": domain, **own, "templates": None}
        if needless := [name for name, value in given.items() if value]:
            raise UsageError(
                f"{source.path} holds trials, which come with their grids and items: leave out {needless[0]}"
            )
        from vqagen.score.verify.trials import instruction_hash, verify_trials  # each kind is imported where it is met

        if not templates:
            _refuse_other_wording(source, instruction_hash())
        report = verify_trials(source, templates, on_checked)
    elif scenes is None:
        if source.layout == "given" and next(source.records(), None) is None:  # BadInput for what is no record
            raise nothing
        what = f"{source.path} holds {source.kind.key}"
        raise UsageError(f"scenes are missing: {what}, which are verified on the scenes they are about")
    else:
        found = find_scenes(scenes) if isinstance(scenes, PathLike) else given_records(scenes, SCENES)
        if source.kind.key == DIALOGS:
            from vqagen.score.verify.dialogs import verify_dialogs
            from vqagen.tasks.dialog.loading import load_dialog_domain

            loaded = load_dialog_domain(find_domain(domain, **own, task=DIALOGS))
            if not templates:
                _refuse_other_wording(source, loaded.hashes["templates"])
            report = verify_dialogs(source, found, loaded, on_checked)
        else:
            files = find_domain(domain or (None if metadata else shipped_domain(source.info)), **own)
            is_own_folder = domain is not None and is_written_as_path(domain) and files.templates.exists()
            worded_by = {"templates": templates or is_own_folder, "synonyms": synonyms or is_own_folder}
            given_roles = [role for role, is_given in worded_by.items() if is_given]
            report = _verify_questions(source, found, files, given_roles, on_checked)
    if not report.checked:
        raise nothing
    return report


def _refuse_other_wording(source: RecordSource, templates: str) -> None:
    """Raise BadInput for dialogs or trials that other templates worded, such as those of vqagen 0.1.

    They are judged from their sentences, so each of these would be reported as one that cannot be understood.
    """
    made_from = (generator_of(source).get("inputs") or {}).get("templates", templates)
    if made_from != templates:
        message = "worded by other templates than are at hand, by which the sentences are read; give --templates"
        raise BadInput([Problem(message, str(source.path))])


def _verify_questions(
    source: RecordSource,
    scenes: SceneSource,
    files: DomainFiles,
    given: Sequence[str],
    on_checked: Callable[[int], None],
) -> VerificationReport:
    """Check questions; `given` are the roles of the files that the user gave to read texts by."""
    catalogue, plugins = load_catalogue(files)
    hashes = {"plugins": "", **input_hashes(files, catalogue.domain, plugins)}
    checked = {role: partial(str, hashes.get(role, "")) for role in ("metadata", "plugins", *given)}
    if scenes.files:
        checked["scenes"] = partial(content_hash, scenes.files)
    check_origin(source, checked)
    texts = texts_at_hand(source, files, hashes, given)
    return verify_questions(source, scenes, catalogue, texts, on_checked)
