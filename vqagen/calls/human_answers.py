"""The answers of a rater study as typed calls: status, export, and the care of stores."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from vqagen.errors import UsageError
from vqagen.human.export.folder import ExportReport, check_export, write_export
from vqagen.human.export.rows import answer_rows
from vqagen.human.links.people import LINK, PLATFORMS, Participant, pseudonym
from vqagen.human.links.secret import has_secret, load_secret
from vqagen.human.status import StudyStatus, status_of
from vqagen.human.store.copying import back_up
from vqagen.human.store.lock import study_lock
from vqagen.human.store.opening import STRICT, is_redis, open_store, sqlite_path
from vqagen.human.store.store import Count, Forget, Reclaim, Store
from vqagen.human.study.study import Study, load_study
from vqagen.language.domain_files import PathLike


def study_status(folder: PathLike, store: PathLike | None = None, *, now: int | None = None) -> StudyStatus:
    """Return how far a study is, also while it is served. `store` is a place other than the study's own file.

    A study that was never served has no answers.
    """
    study = load_study(folder)
    now = _now() if now is None else now
    if not (store or study.was_served):
        return status_of(study, [], [], [], now)
    with closing(open_store(store or study.store, study.id, create=False, read_only=True)) as opened:
        rows = list(answer_rows(study, opened))
        return status_of(study, list(opened.assignments()), rows, opened.events(), now)


def export_study(
    folder: PathLike,
    out: PathLike,
    store: PathLike | None = None,
    *,
    include_ids: bool = False,
    events: bool = False,
    force: bool = False,
) -> ExportReport:
    """Write the answers of a study to the folder `out`, also while it is served. Equal answers give equal bytes.

    `include_ids` adds who the raters are, and `events` everything that happened.
    """
    study = load_study(folder)
    check_export(Path(out), force)
    with closing(open_store(store or study.store, study.id, create=False, read_only=True)) as opened:
        return write_export(study, opened, Path(out), include_ids=include_ids, events=events, force=force)


def reclaim(folder: PathLike, store: PathLike | None = None, *, durability: str = STRICT) -> int:
    """Free the slots whose leases have run out, in a study that is not served; return their number."""
    study = load_study(folder)
    with _writing(study, store, durability) as opened:
        return _count(opened, Reclaim(_now()))


class Forgotten(NamedTuple):
    """Numbers of deleted raters and rows."""

    raters: int
    rows: int


def forget(
    folder: PathLike, ids: Iterable[str], store: PathLike | None = None, *, durability: str = STRICT
) -> Forgotten:
    """Delete everything about people, named by platform ids, `platform/id` or pseudonyms, from a study's store.

    The study must not be served. UsageError that names all ids that nobody has; then nothing is deleted.
    """
    study, asked = load_study(folder), list(dict.fromkeys(ids))
    with _writing(study, store, durability) as opened:
        found = {id: _raters(study, opened, id) for id in asked}
        if unknown := [id for id, raters in found.items() if not raters]:
            raise UsageError(f"no rater of study {study.id} has the id {', '.join(unknown)}; nothing was deleted")
        raters = tuple(sorted({rater for those in found.values() for rater in those}))
        return Forgotten(len(raters), _count(opened, Forget(raters, _now())))


def _raters(study: Study, store: Store, id: str) -> set[str]:
    """Return the raters that an id names."""
    platform, slash, rest = id.partition("/")
    persons = [Participant(platform, rest)] if slash else [Participant(each, id) for each in (*PLATFORMS, LINK)]
    secret = load_secret(study.folder) if has_secret(study.folder) else None
    named = {id, *(pseudonym(secret, person) for person in persons if secret)}
    named |= {each.rater for each in store.people() if id in (each.person, f"{each.platform}/{each.person}")}
    known = {each.rater for each in store.assignments()} | {each.rater for each in store.people()}
    return named & known


def back_up_study(folder: PathLike, out: PathLike, store: PathLike | None = None, *, force: bool = False) -> int:
    """Copy all answers of a study into a new SQLite file, also while it is served; return the number of rows."""
    study, target = load_study(folder), Path(out)
    place = store or study.store
    if not is_redis(place) and target.exists() and target.samefile(sqlite_path(place)):
        raise UsageError(f"output {out} is the store of study {study.id} itself; name another file")
    with closing(open_store(place, study.id, create=False, read_only=True)) as opened:
        return back_up(opened, study.id, target, force=force)


@contextmanager
def _writing(study: Study, store: PathLike | None, durability: str) -> Iterator[Store]:
    """Yield the store of a study that nobody else writes."""
    with (
        study_lock(study.folder),
        closing(open_store(store or study.store, study.id, create=False, durability=durability)) as opened,
    ):
        yield opened


def _count(store: Store, write: Reclaim | Forget) -> int:
    (outcome,) = store.apply([write])
    assert isinstance(outcome, Count)
    return outcome.number


def _now() -> int:
    return time.time_ns() // 1_000_000
