"""Care of the answers of a study: copies of its log, and raters who are forgotten."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path

from vqagen.errors import UsageError
from vqagen.files.output import check_output, settle, sweep
from vqagen.human.settings import STRICT
from vqagen.human.store.facts import encode_fact
from vqagen.human.store.opening import is_redis, open_log, read_facts, sqlite_path, study_lock
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.study import Study, load_study
from vqagen.human.tokens import LINK, PLATFORMS, Participant, has_secret, load_secret, pseudonym

PathLike = Path | str


def back_up_study(folder: PathLike, out: PathLike, store: PathLike | None = None, *, force: bool = False) -> int:
    """Copy all facts of a study into a new SQLite file, also while it is served; return their number.

    The file gets its name when it is complete.
    """
    study, target = load_study(folder), Path(out)
    source = store or study.store
    check_output(str(out), force, [] if is_redis(source) else [sqlite_path(source)])
    entries = [(number, encode_fact(fact)) for number, fact in read_facts(source, study.id)]
    beside = target.absolute().parent
    sweep(str(target))
    with tempfile.TemporaryDirectory(prefix=f".{target.name[:40]}.", suffix=".part", dir=beside) as part:
        with closing(open_log(Path(part, target.name), study.id, create=True)) as log:
            log.append(entries)
        os.replace(Path(part, target.name), target)
    settle(beside)
    return len(entries)


def forget(
    folder: PathLike, ids: Iterable[str], store: PathLike | None = None, *, durability: str = STRICT
) -> tuple[int, int]:
    """Delete everything about people, named by platform ids, `platform/id` or pseudonyms, from the log of a study.

    Return the numbers of raters and facts that were deleted.

    The study must not be served. UsageError that names all ids that nobody has; then nothing is deleted.
    """
    study, asked = load_study(folder), list(dict.fromkeys(ids))
    source = store or study.store
    with study_lock(study.folder), closing(open_log(source, study.id, durability=durability)) as log:
        study_state = StudyState(log.facts())
        known = {assignment.rater for assignment in study_state.assignments.values()}
        raters_of = {id: known.intersection(_names(study, study_state, id)) for id in asked}
        if unknown := [id for id, raters in raters_of.items() if not raters]:
            raise UsageError(f"no rater of study {study.id} has the id {', '.join(unknown)}; nothing was deleted")
        raters = sorted(set().union(*raters_of.values()))
        facts, numbers = study_state.forget(raters, time.time_ns() // 1_000_000)
        log.append(study_state.take(facts), numbers)
        log.purge()
        return len(raters), len(numbers)


def _names(study: Study, study_state: StudyState, id: str) -> Iterator[str]:
    """Yield the pseudonyms that an id may stand for."""
    platform, slash, rest = id.partition("/")
    persons = [Participant(platform, rest)] if slash else [Participant(name, id) for name in (*PLATFORMS, LINK)]
    secret = load_secret(study.folder) if has_secret(study.folder) else None
    yield id
    yield from (pseudonym(secret, person) for person in persons if secret)
    yield from (
        rater
        for rater, (platform, person_id) in study_state.people.items()
        if id in (person_id, f"{platform}/{person_id}")
    )
