"""Links of raters: what is signed, what is refused, and the files that links are written to."""

from __future__ import annotations

import base64
import csv
import json
import random
import re
import string
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jwt
import pytest
from commands import Commands
from cryptography.hazmat.primitives.asymmetric import rsa
from depth import fewer
from human_served import API, Served, participant, served
from study_files import make_study

from vqagen.errors import BadInput
from vqagen.human.study.study import Study
from vqagen.human.tokens import (
    PROLIFIC_KEYS_FILE,
    SECRET_VARIABLE,
    Link,
    LinkRefused,
    Participant,
    Secret,
    add_key,
    assignment_of_bearer,
    completion_code,
    load_prolific_keys,
    load_secret,
    prolific_participant,
    pseudonym,
    session_bearer,
    shown_at,
    sign_link,
    trial_ticket,
    verify_link,
)

ID, OTHER = "0123456789abcdef", "fedcba9876543210"
TASK = "0123456789"
SLOT = f"{TASK}-1-0"
ALPHABET = string.ascii_letters + string.digits + "-_."
SECRET = [bytes(range(32)), bytes(range(1, 33))]
LINKS = [Link(ID), Link(ID, TASK), Link(ID, TASK, 2), Link(ID, TASK, 11, 1_900_000_000), Link(ID, is_preview=True)]


@pytest.fixture
def study(in_empty_folder: None, tmp_path: Path) -> Study:
    """A study; the working folder is the one around it."""
    return make_study(tmp_path, raters_per_item=2)


# Tokens ---------------------------------------------------------------------------------------------------------------


def link_of(token: str, secret: Secret = SECRET) -> Link | None:
    """Return the link of a token, None if it is refused."""
    try:
        return verify_link(token, ID, secret, now=0)
    except LinkRefused:
        return None


def test_a_token_means_what_was_signed_and_no_changed_token_means_anything() -> None:
    """Each character is replaced by each other one: base64 has texts of the same bytes. Nothing can be added."""
    assert [link_of(sign_link(link, SECRET)) for link in LINKS] == LINKS
    read = {
        sign_link(LINKS[3], SECRET): link_of,
        session_bearer(SECRET, ID, SLOT): lambda text: assignment_of_bearer(text, SECRET, ID),
        trial_ticket(SECRET, ID, SLOT, 7, 1_800_000_000_123): lambda text: shown_at(text, SECRET, ID, SLOT, 7),
    }
    assert [meaning(token) for token, meaning in read.items()] == [LINKS[3], SLOT, 1_800_000_000_123]
    for token, meaning in read.items():
        replaced = (token[:place] + other + token[place + 1 :] for place in range(len(token)) for other in ALPHABET)
        added = (text for add in ("=", "A", "AAAA", "\n", " ", ".", "é") for text in (token + add, add + token))
        changed = {*replaced, *added, token[:-1], token[1:], "", ".", "A" * 5000} - {token}
        assert [text for text in changed if meaning(text) is not None] == []


def test_a_session_and_a_ticket_are_of_one_study_assignment_and_trial() -> None:
    """None of them is worth another, and who has a session cannot compute its code."""
    bearer, ticket = session_bearer(SECRET, ID, SLOT), trial_ticket(SECRET, ID, SLOT, 7, 5)
    signature = base64.urlsafe_b64decode(bearer.rpartition(".")[2] + "=")

    assert assignment_of_bearer(bearer, SECRET, OTHER) is assignment_of_bearer(ticket, SECRET, ID) is None
    assert shown_at(bearer, SECRET, ID, SLOT, 7) is shown_at(ticket, SECRET, OTHER, SLOT, 7) is None
    assert shown_at(ticket, SECRET, ID, f"{TASK}-1-1", 7) is shown_at(ticket, SECRET, ID, SLOT, 8) is None
    assert completion_code(SECRET, ID, SLOT) != completion_code(SECRET, OTHER, SLOT)
    assert base64.b32encode(signature)[:10].decode() != completion_code(SECRET, ID, SLOT)


def test_a_new_key_signs_links_and_the_links_of_a_deleted_one_are_refused(tmp_path: Path) -> None:
    """Sessions, tickets, codes and pseudonyms stay what they were. Nobody else can read the file at any time."""
    before = load_secret(tmp_path)
    add_key(tmp_path)
    both, path = load_secret(tmp_path), tmp_path / "secret"
    lines = path.read_text().split()
    path.write_text("\n".join([lines[0], *lines[2:]]))
    after = load_secret(tmp_path)
    old, new = sign_link(LINKS[1], before), sign_link(LINKS[1], both)

    assert (link_of(old, both), link_of(new, both)) == (LINKS[1], LINKS[1])
    assert (link_of(old, after), link_of(new, after)) == (None, LINKS[1])
    assert [each.name for each in tmp_path.iterdir()] == ["secret"]
    assert path.stat().st_mode & 0o777 == 0o600
    assert session_bearer(before, ID, SLOT) == session_bearer(after, ID, SLOT)
    assert trial_ticket(before, ID, SLOT, 1, 2) == trial_ticket(after, ID, SLOT, 1, 2)
    assert completion_code(before, ID, SLOT) == completion_code(after, ID, SLOT)
    assert pseudonym(before, Participant("id", "ann")) == pseudonym(after, Participant("id", "ann"))


# Prolific -------------------------------------------------------------------------------------------------------------


NOW, PERSON = 1_800_000_000, "5f1b2c3d4e5f6a7b8c9d0e1f"
CLAIMS = {
    "aud": "https://study.example/s/x?PROLIFIC_PID=y",
    "exp": NOW + 1,
    "iat": NOW - 9,
    "sub": "5f1b2c3d4e5f6a7b8c9d0e20",
    "prolific": {"PROLIFIC_PID": PERSON, "workspace_id": "w"},
}


def test_a_participant_is_who_prolific_says_for_this_server_and_now(tmp_path: Path) -> None:
    """`aud` may be the address of the study, the site or the host, also among others."""
    own, stranger = (rsa.generate_private_key(public_exponent=65537, key_size=2048) for _ in range(2))
    public = {**jwt.algorithms.RSAAlgorithm.to_jwk(own.public_key(), as_dict=True), "kid": "k1", "alg": "RS256"}

    def signed(changes: Mapping[str, Any], key: Any = own, algorithm: str = "RS256", kid: str = "k1") -> str:
        """Return a token as Prolific signs it, with other claims."""
        return jwt.encode({**CLAIMS, **changes}, key, algorithm, {"kid": kid})

    (tmp_path / PROLIFIC_KEYS_FILE).write_text(json.dumps({"keys": [public]}))
    keys = load_prolific_keys(tmp_path)
    audiences = [CLAIMS["aud"], "https://STUDY.example", "study.example", ["other.example", "study.example"]]
    refused = {
        "expired": signed({"exp": NOW}),
        "of another server": signed({"aud": "https://study.example.evil.example/s/x"}),
        "without audience": signed({"aud": []}),
        "of a stranger": signed({}, stranger),
        "of no known key": signed({}, kid="k2"),
        "unsigned": signed({}, None, "none"),
        "signed by a public text": signed({}, public["n"], "HS256"),
        "without a participant": signed({"prolific": {"workspace_id": "w"}}),
        "of an id that is none": signed({"prolific": {"PROLIFIC_PID": "a b", "workspace_id": "w"}}),
        "of another researcher": signed({"prolific": {**CLAIMS["prolific"], "workspace_id": "v"}}),
        "of other claims": signed({"prolific": 7, "exp": "soon"}),
        "a text": "x.y.z",
        "deep": base64.urlsafe_b64encode(b"[" * 3000).decode() + ".x.y",
    }

    found = [
        prolific_participant(signed({"aud": each}), keys, "https://study.example/lab", "w", NOW) for each in audiences
    ]
    assert found == [Participant("prolific", PERSON)] * 4
    assert [name for name, each in refused.items() if prolific_participant(each, keys, "study.example", "w", NOW)] == []


def test_a_file_that_has_no_keys_of_prolific_is_refused(tmp_path: Path) -> None:
    assert load_prolific_keys(tmp_path) is None
    for content in ("[]", "{}", '{"keys": []}', '{"keys": [{"kty": "RSA"}]}'):
        (tmp_path / PROLIFIC_KEYS_FILE).write_text(content)
        with pytest.raises(
            BadInput, match=r"prolific_keys.json: is no set of JSON web keys; save https://api\.prolific"
        ):
            load_prolific_keys(tmp_path)


# The secret -----------------------------------------------------------------------------------------------------------


UNUSABLE = [
    ("", 0o600, "is empty"),
    ("abc\n", 0o600, "expected 64 hexadecimal digits"),
    ("0" * 64 + "\n-\n", 0o600, "in line 2"),
    ("é", 0o600, "expected 64 hexadecimal digits"),
    ("0" * 64, 0o644, "others can read the secret; run: chmod 600"),
]


def test_a_secret_that_cannot_be_used_is_refused(study: Study, vqagen_: Commands) -> None:
    path, wrong = study.folder / "secret", []
    for content, mode, message in UNUSABLE:
        path.write_text(content)
        path.chmod(mode)
        ran = vqagen_("human links study")
        if ran.code != 3 or message not in ran.err:
            wrong.append((message, ran.err))

    assert wrong == []


def test_the_environment_can_hold_the_secret(study: Study, vqagen_: Commands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SECRET_VARIABLE, "k" * 32)
    vqagen_.done("human links study")
    refused = vqagen_("human links study --new-key")
    monkeypatch.setenv(SECRET_VARIABLE, "short")
    short = vqagen_("human links study")

    assert not (study.folder / "secret").exists()
    assert (refused.code, short.code) == (2, 2)
    assert "append a new one there" in refused.err
    assert "at least 32 characters" in short.err
    assert "short" not in short.err.replace("at least 32 characters", "")


# Links that the server refuses ----------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_link_that_is_not_valid_opens_nothing(study: Study) -> None:
    """The page says so by its status as well; a revoked link is refused while the study is served."""

    async def ask(place: Served, token: str) -> tuple[int, int, str]:
        body = {"token": token, "participant": participant("ann"), "consent_version": "0", "agreed": True}
        consent = await place.client.post(f"{API}/consent", json=body)
        del body["consent_version"], body["agreed"]
        session = await place.client.post(f"{API}/session", json=body)
        assert consent.status_code in (session.status_code, 409)
        return (await place.client.get(f"/s/{token}")).status_code, session.status_code, session.json().get("error", "")

    async with served(study) as place:
        good = place.token()
        tokens = {
            "good": good,
            "unsigned": good[:-22] + "A" * 22,
            "expired": place.token(expires=1_000_000_000),
            "of another study": sign_link(Link(OTHER, next(iter(study.tasks))), place.secret),
            "of no task": sign_link(Link(study.id, "f" * 10), place.secret),
            "of no slot": place.token(slot=2),
        }
        found = {name: await ask(place, token) for name, token in tokens.items()}
        revoked = place.token(slot=0)
        before = await ask(place, revoked)
        (study.folder / "revoked.txt").write_text(f"# left\nhttps://study.example/s/{revoked}?x=1\n")
        after = await ask(place, revoked)
        second = place.token(slot=1)
        (study.folder / "revoked.txt").write_text(f"{revoked}\n{second}\n")
        assert await ask(place, second) == (410, 410, "gone")
        (study.folder / "revoked.txt").unlink()
        again = await ask(place, revoked)

    forbidden = (403, 403, "forbidden")
    assert found == {
        "good": (200, 200, ""),
        "unsigned": forbidden,
        "expired": (410, 410, "gone"),
        "of another study": forbidden,
        "of no task": forbidden,
        "of no slot": forbidden,
    }
    assert (before, after, again) == ((200, 200, ""), (410, 410, "gone"), (200, 200, ""))


# Files ----------------------------------------------------------------------------------------------------------------


def tokens_of(text: str) -> list[str]:
    """Return the tokens of all links in a text."""
    return re.findall(r"/s/([A-Za-z0-9._-]+)", text)


def test_humanr_gets_one_link_for_each_task_in_files_of_500(tmp_path: Path, vqagen_: Commands) -> None:
    study = make_study(tmp_path, images=36, trials_per_task=2, raters_per_item=2)
    ran = vqagen_.done(f"human links {study.folder} --batch-size 16 --public-url https://study.example/lab/")
    files = sorted((study.folder / "links").glob("*.csv"))
    rows = [list(csv.reader(file.read_text().splitlines())) for file in files]

    assert [len(each) for each in rows] == [17, 17, 5]
    assert {tuple(each[0]) for each in rows} == {("HIT_Link",)}
    links = [row[0] for each in rows for row in each[1:]]
    assert all(link.startswith("https://study.example/lab/s/") for link in links)
    found = [verify_link(token, study.id, load_secret(study.folder), 0).task for token in tokens_of("\n".join(links))]
    assert found == list(study.tasks)
    assert ran.err.startswith("36 links in ")


@pytest.mark.parametrize(
    ("mode", "links", "places", "format"),
    [("task", 3, 2, "txt"), ("personal", 6, 1, "csv"), ("general", 1, 6, "taskflow-json"), ("preview", 1, 0, "csv")],
)
def test_every_format_has_the_links_of_the_mode(
    mode: str, links: int, places: int, format: str, study: Study, vqagen_: Commands
) -> None:
    vqagen_.done(f"human links study --mode {mode} --format {format} --out there --expires never")
    (file,) = [path for path in Path("there").iterdir() if not path.name.startswith(".")]
    found = [verify_link(token, study.id, load_secret(study.folder), 10**11) for token in tokens_of(file.read_text())]

    assert len(found) == len(set(found)) == links
    assert {each.is_preview for each in found} == {mode == "preview"}
    if format == "csv":
        rows = list(csv.DictReader(file.read_text().splitlines()))
        assert [(row["task"], row["slot"]) for row in rows] == [
            (each.task, "" if each.slot is None else str(each.slot)) for each in found
        ]
        assert {row["places"] for row in rows} == {str(places)}
    if format == "taskflow-json":
        record = json.loads(file.read_text())
        assert [each["total_allocation"] for each in record["access_details"]] == [places] * links
        assert record["total_available_places"] == 6
        assert all("?PROLIFIC_PID={{%PROLIFIC_PID%}}&" in each["external_url"] for each in record["access_details"])


def test_nobody_else_can_read_links_and_a_killed_run_leaves_none(study: Study, vqagen_: Commands) -> None:
    """Whoever has a personal link is that person."""
    folder = study.folder / "links"
    folder.mkdir()
    (folder / ".hit_links_0.csv.0a1b2c3d.part").write_text("left of a run that was killed")
    vqagen_.done("human links study --mode personal")

    assert {path.stat().st_mode & 0o777 for path in folder.iterdir()} == {0o600}
    assert sorted(path.name for path in folder.iterdir()) == [".written.json", "hit_links_0.csv"]


def test_a_shorter_list_leaves_no_stale_links_and_no_file_of_others_is_touched(study: Study, vqagen_: Commands) -> None:
    """HUMANr left the files of a longer run beside those of a shorter one. A preview is no new list."""
    vqagen_.done("human links study --batch-size 1")
    vqagen_.done("human links study --mode preview")
    folder = study.folder / "links"
    changed, own = folder / "hit_links_2.csv", folder / "hit_links_9.csv"
    changed.write_text("edited")
    own.write_text("mine")
    ran = vqagen_.done("human links study")

    assert sorted(path.name for path in folder.glob("*.csv")) == ["hit_links_0.csv", changed.name, own.name]
    assert (changed.read_text(), own.read_text()) == ("edited", "mine")
    assert "was changed by hand" in ran.err
    refused = vqagen_("human links study --batch-size 1")
    assert refused.code == 2
    assert "hit_links_2.csv exists and was not written by this command" in refused.err


REFUSED = [
    ("--public-url http://study.example", "has no https"),
    ("--public-url ftp://study.example", "must be an address such as"),
    ("--expires 2001-01-01", "is in the past"),
    ("--expires tomorrow", "must be a day such as 2026-12-31"),
    ("--expires 2030-02-30", "must be a day such as 2026-12-31"),
    ("--batch-size 0", "must be at least 1"),
]


def test_links_that_could_not_be_used_are_not_written(study: Study, vqagen_: Commands) -> None:
    ran = {message: vqagen_(f"human links study {options}") for options, message in REFUSED}

    assert [(message, each) for message, each in ran.items() if each.code != 2 or message not in each.err] == []
    assert not (study.folder / "links").exists()


# Codes ----------------------------------------------------------------------------------------------------------------


def test_random_codes_are_rejected_and_the_right_ones_are_not(study: Study, vqagen_: Commands) -> None:
    """Also codes as people type them, and codes of a slot that had other raters before."""
    secret, task = load_secret(study.folder), next(iter(study.tasks))
    right = [completion_code(secret, study.id, f"{task}-{slot}-{attempt}") for slot in (0, 1) for attempt in (0, 3)]
    alphabet, rng = string.ascii_uppercase + "234567", random.Random(5)
    wrong = {"".join(rng.choices(alphabet, k=10)) for _ in range(fewer(2_000))} - set(right)
    typed = f"{right[0][:5].lower()}-{right[0][5:]}"
    ran = vqagen_(f"human links study --verify {' --verify '.join([*wrong, typed, *right])}")
    lines = dict(line.split("\t") for line in ran.out.decode().splitlines())

    assert ran.code == 1
    assert [code for code in wrong if lines[code] != "not issued"] == []
    assert [lines[code] for code in right] == [f"{task}-{slot}-{attempt}" for slot in (0, 1) for attempt in (0, 3)]
    assert lines[typed] == f"{task}-0-0"
    assert vqagen_(f"human links study --verify {' --verify '.join(right)}").code == 0


def test_the_code_that_all_get_is_of_no_assignment(study: Study, vqagen_: Commands) -> None:
    settings = study.folder / "serving.json"
    settings.write_text(json.dumps({**json.loads(settings.read_text()), "code_completed": "C1ABCDEF"}))
    ran = vqagen_.done("human links study --verify C1ABCDEF")

    assert ran.out == b"C1ABCDEF\tthe code of all who complete\n"
