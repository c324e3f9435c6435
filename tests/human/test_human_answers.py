"""The answers of a study: status, forgetting, backups, exports; equal answers give equal bytes."""

from __future__ import annotations

import csv
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest
from commands import Commands
from depth import fewer
from human_answered import RATERS, START, make_answered
from human_stores import STUDY, open_desk

from vqagen.errors import InputWarning
from vqagen.human.answers import answer_rows, read_rows
from vqagen.human.export import FILES
from vqagen.human.status import study_status
from vqagen.human.store import opening
from vqagen.human.store.care import forget
from vqagen.human.store.facts import ANSWERS, Fact
from vqagen.human.store.opening import open_log, read_facts, study_lock
from vqagen.human.store.study_state import StudyState
from vqagen.human.study.item import CHECK, INSTRUCTED
from vqagen.human.study.study import SERVING_FILE, Study
from vqagen.human.tokens import Participant, load_secret, pseudonym

MINUTE = 60_000


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_answered(tmp_path)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """A study with answers, which no test of this file changes."""
    return make_answered(tmp_path_factory.mktemp("answered"))


def kept(study: Study) -> Sequence[tuple[int, Fact]]:
    """Return all that is stored."""
    return read_facts(study.store, study.id)


# Status -------------------------------------------------------------------------------------------------------------


def test_the_status_counts_slots_systems_and_flags(made: Study) -> None:
    """Of six raters, two are done, one works, one has lost the slot and two have withdrawn."""
    found = study_status(made.folder, now=START + 10 * MINUTE)

    slots, facts = len(made.tasks) * 3, found.facts
    assert facts["slots"] == {"planned": slots, "complete": 2, "active": 1, "free": slots - 3}
    assert (facts["raters"], facts["expired"], facts["withdrawn"]) == (6, 1, 2)
    real = [row for task in made.tasks.values() for row in task.trials if made.items[row.item].use == "real"]
    systems = found.table("systems").rows
    assert [row[0] for row in systems] == ["ours", "theirs"]
    assert sum(int(row[2] or 0) for row in systems) == 3 * len(real)
    assert sum(int(row[2] or 0) for row in found.table("tasks").rows) == 2
    assert {("partial", 3), ("webdriver", 1)} <= set(found.table("flags").rows)
    trials = len(made.tasks[next(iter(made.tasks))].trials)
    assert [row[1:] for row in found.table("working").rows] == [(RATERS[2], 2, trials, 53)]
    assert [(row[0], row[2], row[3], row[5]) for row in found.table("comments").rows] == [
        ("comment", RATERS[0], 0, "=Thanks"),
        ("problem", RATERS[1], 2, "dark"),
    ]


def test_the_time_that_is_left_follows_from_the_last_complete_slots(made: Study) -> None:
    """Two are complete: how long the second one took is the rate."""
    study_state = StudyState(read_facts(made.store, made.id))
    ended = sorted(each.ended or 0 for each in study_state.assignments.values() if each.state == "complete")
    now = ended[0] + 9 * MINUTE

    assert study_status(made.folder, now=now).facts["remaining"] == (len(made.tasks) * 3 - 2) * 9 * MINUTE
    assert study_status(made.folder, now=ended[0]).facts["remaining"] is None


# Forgetting ---------------------------------------------------------------------------------------------------------


def files_of(study: Study) -> bytes:
    return b"".join(file.read_bytes() for file in study.folder.rglob("*") if file.is_file())


@pytest.mark.quick(1)
@pytest.mark.parametrize("id", ["Person0", "id/Person0", RATERS[0]])
def test_a_forgotten_person_is_nowhere_in_the_study(study: Study, vqagen_: Commands, id: str) -> None:
    """By the id, with its platform, or by pseudonym. A new export has nothing either; others stay."""
    ran = vqagen_.done(f"human store forget study {id}")
    vqagen_.done("human export study --out answers --include-ids --events")

    everything = files_of(study) + b"".join(file.read_bytes() for file in Path("answers").iterdir())
    for gone in (b"Person0", RATERS[0].encode(), b"Thanks"):
        assert everything.count(gone) == 0
    assert everything.count(b"Person1") > 0
    assert "1 rater forgotten, 7 facts deleted\n" in ran.err  # consent, five answers and a comment


def test_a_person_whose_id_was_not_kept_is_found_by_the_secret(study: Study, vqagen_: Commands) -> None:
    rater = pseudonym(load_secret(study.folder), Participant("prolific", "Unkept"))
    desk = open_desk(study.store, study.id)
    desk.claim(rater, *study.tasks, slots=3, person="")
    desk.log.close()

    vqagen_.done("human store forget study Unkept")

    assert rater.encode() not in files_of(study)


def test_nobody_is_forgotten_if_one_id_is_unknown(study: Study, vqagen_: Commands) -> None:
    before = kept(study)

    ran = vqagen_("human store forget study Person0 Nobody Nothing")

    assert (ran.code, "has the id Nobody, Nothing; nothing was deleted" in ran.err) == (2, True)
    assert kept(study) == before


# Backups ------------------------------------------------------------------------------------------------------------


def test_a_backup_is_a_store_with_all_that_was_there(study: Study, vqagen_: Commands) -> None:
    """Made beside a running server; it serves in place of the store."""
    before = kept(study)
    with study_lock(study.folder):
        ran = vqagen_.done("human store backup study --out backup.sqlite")
    for file in study.folder.glob("answers.sqlite*"):
        file.unlink()
    Path("backup.sqlite").rename(study.folder / ANSWERS)

    assert kept(study) == before
    assert ran.err == f"{len(before)} facts in backup.sqlite\n"
    assert (study.folder / ANSWERS).stat().st_mode & 0o777 == 0o600
    open_desk(study.store, study.id).log.close()


def test_a_backup_replaces_only_what_it_may(study: Study, vqagen_: Commands) -> None:
    """Never the store itself, and another file by `--force` alone; nothing is left of it."""
    before = kept(study)
    Path("there.sqlite").write_text("mine")
    places = {"study/answers.sqlite --force": 2, "there.sqlite": 2, "study": 3, "none/b.sqlite": 3}

    assert {each: vqagen_(f"human store backup study --out {each}").code for each in places} == places
    assert kept(study) == before
    assert Path("there.sqlite").read_text() == "mine"
    vqagen_.done("human store backup study --out there.sqlite --force")
    assert read_facts("there.sqlite", study.id) == before
    assert sorted(file.name for file in Path().iterdir() if "part" in file.name) == []


def test_a_backup_deletes_what_a_killed_one_left(study: Study, vqagen_: Commands) -> None:
    """Also under the names that Python's `tempfile` makes."""
    left = Path(".b.sqlite.x_9zq0ab.part")
    left.mkdir()
    (left / "b.sqlite").write_text("half")
    vqagen_.done("human store backup study --out b.sqlite")

    assert not left.exists()


STRANGE = [
    b"{}",
    b'{"type":"answer","time":1,"assignment":"t-0-9","trial":1,"value":1,"rt_ms":1,"shown_ms":1,"server_ms":1,"expires":1}',
    b'{"type":"claim","time":1,"assignment":"x","rater":"r","trials":1,"consent":"","expires":1}',
    b'{"type":"claim","time":1,"assignment":"none-0-0","rater":"r","trials":1,"consent":"","expires":1}',
]
"""Entries that no server of the study has written: no fact, and facts about what there is not."""


@pytest.mark.quick(1)
@pytest.mark.parametrize("entry", STRANGE)
def test_a_strange_entry_of_the_store_is_a_message(study: Study, vqagen_: Commands, entry: bytes) -> None:
    log = open_log(study.store, study.id)
    log.append([(9_999, entry)])
    log.close()

    for line in ("status study", "export study --out answers", "score study"):
        ran = vqagen_(f"human {line}")
        assert (ran.code, "damaged" in ran.err, "Traceback" in ran.err) == (3, True, False), (line, ran.err)


def test_a_damaged_store_is_a_message_or_has_all_answers(study: Study, vqagen_: Commands) -> None:
    """Whatever part of its file was cut off, or which bits flipped in it."""
    path, rng, wrong = Path(study.store), Random(4), []
    content = path.read_bytes()
    for number in range(fewer(60, 25)):
        broken = bytearray(content)
        if number % 3:
            broken[rng.randrange(100 if number % 3 == 1 else len(content))] ^= 1 << rng.randrange(8)
        else:
            del broken[rng.randrange(len(content)) :]
        path.write_bytes(broken)
        ran = vqagen_("human status study")
        if ran.code not in (0, 3) or "Traceback" in ran.err or not (ran.err or ran.out):
            wrong.append((number, ran))
    assert wrong == []


def test_a_reader_that_keeps_deleted_answers_in_a_file_is_warned_of(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(opening, "PATIENCE", 0.01)
    reader = open_log(study.store, study.id, read_only=True)
    assert isinstance(reader, opening.SqliteLog)
    reader._connection.execute("BEGIN")
    reader._value("SELECT count(*) FROM entry")

    with pytest.warns(InputWarning, match="another process reads it; until that ends, .*-wal keeps what was deleted"):
        assert forget(study.folder, ["Person0"])[0] == 1
    reader.close()


def test_a_study_says_where_its_answers_are(study: Study, vqagen_: Commands) -> None:
    """All commands read the copy then."""
    before = study_status(study.folder, now=START)
    vqagen_.done("human store backup study --out study/copy.sqlite")
    (study.folder / ANSWERS).unlink()
    (study.folder / SERVING_FILE).write_text('{"store": "sqlite:copy.sqlite"}')

    assert study_status(study.folder, now=START) == before
    assert vqagen_.done("human store forget study Person0").err.startswith("1 ")


# Exports -------------------------------------------------------------------------------------------------------------


def bytes_of(folder: str) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in Path(folder).iterdir()}


def test_an_export_has_a_row_for_each_stored_answer(made: Study, vqagen_: Commands) -> None:
    """Values are turned toward the second text, and checks say which text is right."""
    ran = vqagen_.done(f"human export {made.folder} --out answers")

    rows, study_state = read_rows("answers"), StudyState(read_facts(made.store, made.id))
    assert rows == list(answer_rows(made, study_state))
    assert ran.err == f"{len(rows)} answers of 6 raters in 6 assignments\n"
    assert {row.rater for row in rows} == set(RATERS[:5])
    for row in rows:
        stored, trial = (
            study_state.assignments[row.assignment].answers[row.trial],
            made.trials(row.task, row.slot)[row.trial - 1],
        )
        texts = tuple(each.text for each in trial.item.candidates)
        assert (row.value, row.stored, row.server_ms) == (stored.value, stored.time, 2_600)
        assert (row.item, row.image, row.use) == (trial.item.id, trial.item.image, trial.item.use)
        assert [row.first_source, row.second_source] == [each.source for each in trial.item.candidates]
        assert trial.texts == (texts if row.second_on_right else texts[::-1])
        assert row.toward_second == (row.value if row.second_on_right else 10 - int(row.value))
        assert (row.gold_is_second is None) == (row.use != CHECK)
        assert (row.gold_value is None) == (row.use != INSTRUCTED)


def test_a_study_and_its_export_have_the_same_scores(made: Study, vqagen_: Commands) -> None:
    """With its events, an export has all that scoring needs, such as whose browser is driven by a program."""
    vqagen_.done(f"human export {made.folder} --events --out exported")
    line = "--method humanr,cluster,bt --exclude webdriver --by task --json"
    whole, exported = (
        json.loads(vqagen_.done(f"human score {source} {line}").out) for source in (made.folder, "exported")
    )

    assert whole["info"].pop("study") != exported["info"].pop("study")
    assert whole == exported
    flagged = {(row["flag"], row["rater"]) for row in whole["tables"]["flagged"]["rows"]}
    assert flagged >= {("partial", RATERS[2]), ("webdriver", RATERS[1])}


def test_ids_and_events_are_exported_only_if_asked_for(made: Study, vqagen_: Commands) -> None:
    vqagen_.done(f"human export {made.folder} --out plain")
    vqagen_.done(f"human export {made.folder} --out full --include-ids")
    vqagen_.done(f"human export {made.folder} --out events --events")

    plain, full, events = bytes_of("plain"), bytes_of("full"), bytes_of("events")
    assert (set(full) - set(plain), set(events) - set(plain)) == ({"people.csv"}, {"events.jsonl"})
    assert not [name for name, content in (plain | events).items() if b"Person" in content]
    assert full["people.csv"].decode().splitlines()[:2] == ["rater,platform,person", f"{RATERS[0]},id,Person0"]
    assert Path("full/people.csv").stat().st_mode & 0o777 == 0o600
    lines = [json.loads(line) for line in events["events.jsonl"].splitlines()]
    assert {line["type"] for line in lines} == {"claim", "answer", "note", "end"}
    assert {key for line in lines for key in line} <= {column for column, *_ in FILES["events.jsonl"][1]}


def test_what_raters_write_is_exported(made: Study, vqagen_: Commands) -> None:
    """A spreadsheet takes nothing of it for a formula."""
    vqagen_.done(f"human export {made.folder} --out answers")

    first, second = csv.DictReader(Path("answers/comments.csv").read_text().splitlines())
    assert (first["kind"], first["rater"], first["item"], first["text"]) == ("comment", RATERS[0], "", "'=Thanks")
    task, slot, _ = second["assignment"].split("-")
    assert (second["kind"], second["trial"], second["text"]) == ("problem", "2", "dark")
    assert second["item"] == made.trials(task, int(slot))[1].item.id


def test_every_column_is_in_the_dictionary(made: Study, vqagen_: Commands) -> None:
    """And the manifest has the hash of every other file, and the number of its rows."""
    vqagen_.done(f"human export {made.folder} --out answers --include-ids --events")

    files = bytes_of("answers")
    page, manifest = files["dictionary.md"].decode(), json.loads(files["manifest.json"])
    for name, (_, columns) in FILES.items():
        names, first = [column for column, *_ in columns], files[name].splitlines()[0].decode()
        if name != "events.jsonl":
            assert names == (list(json.loads(first)) if name.endswith("jsonl") else next(csv.reader([first]))), name
        assert all(f"| {column} |" in page for column in names)
    hashes = {name: hashlib.sha256(content).hexdigest() for name, content in files.items() if name != "manifest.json"}
    assert {name: entry["sha256"] for name, entry in manifest["files"].items()} == hashes
    rows, lines = len(read_rows("answers")), len(files["events.jsonl"].splitlines())
    counts = {name: entry["rows"] for name, entry in manifest["files"].items()}
    assert (counts["answers.jsonl"], counts["answers.csv"], counts["events.jsonl"]) == (rows, rows, lines)
    assert (counts["assignments.csv"], counts["dictionary.md"]) == (6, None)


def test_assignments_are_exported_with_times_and_flags(made: Study, vqagen_: Commands) -> None:
    vqagen_.done(f"human export {made.folder} --out answers")

    rows = {row["rater"]: row for row in csv.DictReader(Path("answers/assignments.csv").read_text().splitlines())}
    assert [rows[rater]["state"] for rater in RATERS] == [
        *("complete", "complete", "claimed", "expired", "withdrawn", "withdrawn")
    ]
    assert (rows[RATERS[0]]["claimed"], rows[RATERS[2]]["ended"]) == (str(START), "")
    assert "partial" in rows[RATERS[2]]["flags"].split() and "webdriver" in rows[RATERS[1]]["flags"].split()
    assert (rows[RATERS[4]]["answers"], rows[RATERS[5]]["answers"]) == ("2", "0")


def test_only_an_export_is_replaced_and_its_ids_go(made: Study, vqagen_: Commands) -> None:
    vqagen_.done(f"human export {made.folder} --out answers --include-ids")
    refused = vqagen_(f"human export {made.folder} --out answers")
    vqagen_.done(f"human export {made.folder} --out answers --force")
    Path("mine").mkdir()
    Path("mine/thesis.txt").write_text("mine")
    other = vqagen_(f"human export {made.folder} --out mine --force")

    assert (refused.code, "give --force" in refused.err) == (2, True)
    assert not Path("answers/people.csv").exists()
    assert (other.code, "other files than an export (thesis.txt)" in other.err) == (2, True)
    assert [file.name for file in Path("mine").iterdir()] == ["thesis.txt"]
    assert sorted(file.name for file in Path().iterdir()) == ["answers", "mine"]


# Mistakes ------------------------------------------------------------------------------------------------------------

MISTAKES = [
    ("store forget none Person0", 3, "study folder none does not exist"),
    ("store forget study", 2, "missing ID"),
    ("store backup study", 2, "missing --out"),
    ("store backup study Person0 --out a.sqlite", 2, "backup takes no ID, found Person0"),
    ("store forget study Person0 --out a.sqlite", 2, "forget has no --out"),
    ("export none --out answers", 3, "study folder none does not exist"),
    ("export study --out missing/answers", 3, "missing does not exist"),
    ("export study --out answers --store none.sqlite", 3, "no answers at none.sqlite"),
    ("score study --store none.sqlite", 3, "no answers at none.sqlite"),
    ("export study --out answers --store http://x", 2, "unknown store"),
    ("export study --out answers --store text.txt", 3, "not a database"),
    ("export study --out answers --store other.sqlite", 3, f"answers of study {STUDY}, not of "),
    ("status study --store redis://:key@127.0.0.1:1/0", 3, "cannot open redis://:…@127.0.0.1:1/0"),
]


def test_a_mistake_is_reported(study: Study, vqagen_: Commands) -> None:
    """A study that is served is not changed by others."""
    Path("text.txt").write_text("no database " * 100)
    open_desk("other.sqlite").log.close()
    wrong = []
    for line, code, message in MISTAKES:
        ran = vqagen_(f"human {line}")
        if ran.code != code or message not in ran.err:
            wrong.append((line, ran))
    with study_lock(study.folder):
        ran = vqagen_("human store forget study Person0")
        if ran.code != 3 or "is in use by process" not in ran.err:
            wrong.append(("forget", ran))

    assert wrong == []
