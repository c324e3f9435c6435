"""Who a rater is and what proves it: the secret of a study, signed tokens, codes, pseudonyms and Prolific.

`secret` in the study's folder has one key a line, 64 hexadecimal digits each. The first key never changes while a study
runs: pseudonyms, completion codes, sessions and tickets come from it. The last one signs the links that are made now,
and each one verifies links. To retire a key, delete its line: the links that it signed are then refused. A single key,
as there may be in the environment, does all.

A token is a text that can be read, a point, and its signature by itsdangerous. It has one spelling only.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
import re
import secrets
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlsplit

from itsdangerous import Signer
from msgspec import Meta, Struct

from vqagen.errors import BadInput, Problem, UsageError
from vqagen.files.output import settle
from vqagen.files.parsing import parse_json, read_text

SECRET_VARIABLE = "VQAGEN_STUDY_SECRET"
"""The environment variable that replaces the file: keys of at least 32 characters, separated by commas."""
SECRET_FILE = "secret"
SHORTEST = 32
"""Characters of a key in the environment."""
PROLIFIC, CONNECT, MTURK, ID, ANONYMOUS = PLATFORMS = "prolific", "connect", "mturk", "id", "anonymous"
LINK = "link"
"""The platform of who has a personal link: the link says who it is."""
PARTICIPANT_ID = r"[A-Za-z0-9_-]{1,64}"
"""The pattern of an id on a platform."""
LONGEST = 200
"""Characters of a token that is looked at."""
TOKEN = rf"[A-Za-z0-9._-]{{1,{LONGEST}}}"
"""The pattern of a token."""
CODE_LENGTH = 10
"""Characters of base32: 50 bits, which nobody guesses."""
ATTEMPTS = 500
"""Raters who may have had a slot one after the other, for which codes are looked up without a store."""
PROLIFIC_KEYS_FILE = "prolific_keys.json"
"""The file in a study's folder with the public keys of Prolific."""
KEYS_URL = "https://api.prolific.com/.well-known/study/jwks.json"


Secret = Sequence[bytes]
"""Keys in order, at least one."""


def mac_of(secret: Secret, purpose: str, text: str) -> bytes:
    """Return 128 bits of the first key that only its owner can make. Texts of two purposes have different ones."""
    return hmac.digest(secret[0], f"{purpose}\n{text}".encode(), "sha256")[:16]


def has_secret(folder: Path) -> bool:
    """True if the secret of a study is in the environment or its file."""
    return SECRET_VARIABLE in os.environ or (folder / SECRET_FILE).exists()


def load_secret(folder: Path, missing: str = "") -> Secret:
    """Return the secret of a study from the environment or its file.

    If there is none, make the file, or raise BadInput if `missing` says what cannot be done without the old one.
    """
    given = os.environ.get(SECRET_VARIABLE)
    if given is not None:
        keys = [key.strip() for key in given.split(",")]
        if min(map(len, keys)) < SHORTEST:
            raise UsageError(f"{SECRET_VARIABLE} needs keys of at least {SHORTEST} characters, separated by commas")
        return [key.encode() for key in keys]
    path = folder / SECRET_FILE
    if not path.exists():
        if missing:
            raise BadInput([Problem(f"the secret is missing: {missing}", str(path))])
        with suppress(FileExistsError):  # another process has made its own meanwhile: links may be signed with it
            _write(path, [secrets.token_hex(32) for _ in range(2)], os.link)
    return [bytes.fromhex(line) for line in _lines(path)]


def add_key(folder: Path) -> None:
    """Add a key, which signs all links that are made from now on."""
    if SECRET_VARIABLE in os.environ:
        raise UsageError(f"the keys are in {SECRET_VARIABLE}; append a new one there, after a comma")
    load_secret(folder)
    _write(folder / SECRET_FILE, [*_lines(folder / SECRET_FILE), secrets.token_hex(32)], os.replace)


def _lines(path: Path) -> list[str]:
    if path.stat().st_mode & 0o077:
        raise BadInput([Problem(f"others can read the secret; run: chmod 600 {path}", str(path))])
    lines = path.read_text("latin-1").split()
    problems = [
        Problem(f"expected 64 hexadecimal digits in line {number}; to retire a key, delete its line", str(path))
        for number, line in enumerate(lines, 1)
        if not re.fullmatch(r"[0-9a-f]{64}", line)
    ]
    if problems or not lines:
        raise BadInput(problems or [Problem("is empty; delete it, and a new one is made", str(path))])
    return lines


def _write(path: Path, lines: Sequence[str], give_name: Callable[[str, Path], object]) -> None:
    """Write the keys so that nobody else can ever read the file, and half of it never has its name."""
    with tempfile.TemporaryDirectory(".part", f".{path.name}.", dir=path.parent) as folder:  # for its owner
        with open(f"{folder}/{path.name}", "w", opener=partial(os.open, mode=0o600)) as file:
            file.writelines(f"{line}\n" for line in lines)
            file.flush()
            os.fsync(file.fileno())
        give_name(file.name, path)
    settle(path.parent)


# Tokens ---------------------------------------------------------------------------------------------------------------


class Participant(Struct, frozen=True, forbid_unknown_fields=True):
    """A person on a platform. The patterns are for what the address of a page says of its rater."""

    platform: Annotated[str, Meta(pattern=rf"\A({'|'.join(PLATFORMS)})\Z")]
    id: Annotated[str, Meta(pattern=rf"\A{PARTICIPANT_ID}\Z")]


def pseudonym(secret: Secret, participant: Participant) -> str:
    """Return the name of a participant in answers and exports: 16 hexadecimal digits."""
    return mac_of(secret, "rater", f"{participant.platform}/{participant.id}")[:8].hex()


@dataclass(frozen=True, slots=True)
class Link:
    """Permission to take part: in one slot (a personal link), in any slot of a task, or in any task (`task` is "")."""

    study: str
    task: str = ""
    slot: int | None = None
    expires: int = 0
    """Seconds since 1970; 0 for never."""
    is_preview: bool = False
    """True if nothing of what is done is stored."""


class LinkRefused(Exception):
    """A token gives no permission: `is_gone` if it once did (expired, revoked)."""

    def __init__(self, reason: str, *, is_gone: bool = False) -> None:
        super().__init__(reason)
        self.is_gone = is_gone


def sign_link(link: Link, secret: Secret) -> str:
    """Return the token of a link, signed with the last key."""
    slot = "-" if link.slot is None else link.slot
    text = f"{link.study}.{link.task or '-'}.{slot}.{link.expires}.{int(link.is_preview)}"
    return _signed(text, "link", secret[-1])


def verify_link(token: str, study_id: str, secret: Secret, now: int) -> Link:
    """Return the link of a token at a time in seconds. Raise LinkRefused for a text that `sign_link` did not return."""
    text = _text(token, "link", secret)
    if not text:
        raise LinkRefused("the link is incomplete, was changed, or its key is retired")
    study, task, slot, expires, is_preview = text.split(".")
    if study != study_id:
        raise LinkRefused("the link is for another study")
    if 0 < int(expires) <= now:
        raise LinkRefused("the link has expired", is_gone=True)
    return Link(study, "" if task == "-" else task, None if slot == "-" else int(slot), int(expires), is_preview == "1")


def holder_of(link: Link) -> Participant | None:
    """Return the participant of a personal link; None for a link that many may use."""
    return None if link.slot is None else Participant(LINK, f"{link.task}-{link.slot}")


def is_revoked(token: str, folder: Path) -> bool:
    """True if `revoked.txt` has a token. It is read each time: a link can be revoked while it is served."""
    try:
        return token in revoked_tokens((folder / "revoked.txt").read_text("utf-8", errors="replace"))
    except FileNotFoundError:
        return False


def revoked_tokens(text: str) -> list[str]:
    """Return the tokens of a revocation list: one token or whole link a line, `#` for remarks.

    >>> revoked_tokens("abc\\n# a remark\\nhttps://study.example/s/def?id=7  # who left\\n\\n")
    ['abc', 'def']
    """
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    return [line.partition("?")[0].rpartition("/")[2] for line in lines if line]


def session_bearer(secret: Secret, study_id: str, assignment_id: str) -> str:
    """Return what a page sends with each request about its assignment."""
    return _signed(assignment_id, f"session/{study_id}", secret[0])


def assignment_of_bearer(bearer: str, secret: Secret, study_id: str) -> str | None:
    """Return the assignment of a session, or None for a text that `session_bearer` did not return."""
    return _text(bearer, f"session/{study_id}", secret[:1]) or None


def trial_ticket(secret: Secret, study_id: str, assignment_id: str, number: int, now_ms: int) -> str:
    """Return the proof that a trial was shown in an assignment at a time."""
    return _signed(str(now_ms), f"ticket/{study_id}/{assignment_id}/{number}", secret[0])


def shown_at(ticket: str, secret: Secret, study_id: str, assignment_id: str, number: int) -> int | None:
    """Return when a trial was shown in an assignment, or None for a text that is not its ticket."""
    text = _text(ticket, f"ticket/{study_id}/{assignment_id}/{number}", secret[:1])
    return int(text) if text else None


def _signed(text: str, purpose: str, key: bytes) -> str:
    """Return the token of a text. Those of two purposes are signed by different keys."""
    return Signer(key, purpose, digest_method=hashlib.sha256).sign(text).decode()


def _text(token: str, purpose: str, keys: Sequence[bytes]) -> str:
    """Return the text of a token that one of the keys signed; "" for any other.

    The token is made again and compared: several spellings of a signature in base64 mean the same bytes.
    """
    if len(token) > LONGEST or not token.isascii():
        return ""
    text = token.rpartition(".")[0]
    return text if any(hmac.compare_digest(_signed(text, purpose, key), token) for key in keys) else ""


# Completion codes ----------------------------------------------------------------------------------------------------


def completion_code(secret: Secret, study_id: str, assignment_id: str) -> str:
    """Return the code that a rater gets when all answers are stored."""
    return base64.b32encode(mac_of(secret, "code", f"{study_id}/{assignment_id}"))[:CODE_LENGTH].decode()


def assignments_of_codes(
    codes: Iterable[str], secret: Secret, study_id: str, tasks: Sequence[str], slots: int
) -> dict[str, str]:
    """Return the assignment of each code that this study issued. No store is needed: codes follow from the secret."""
    asked, assignments = frozenset(codes), dict[str, str]()
    for attempt, task, slot in product(range(ATTEMPTS), tasks, range(slots)):
        assignment = f"{task}-{slot}-{attempt}"
        code = completion_code(secret, study_id, assignment)
        if code in asked:
            assignments[code] = assignment
            if len(assignments) == len(asked):
                break
    return assignments


# Prolific ------------------------------------------------------------------------------------------------------------
#
# With "Secured external URL", Prolific appends to the address of a study the parameter `prolific_token`, a JWT. Of its
# claims, `exp` is its end, `aud` the address of the study ("the correct domain for your tool"), `sub` the submission,
# and `prolific` has what `external_study_url` states, `PROLIFIC_PID` among it, as well as `workspace_id`
# (docs.prolific.com, "Retrieve JSON Web Key Set"; the parameter's name and `sub` as public programs have them).


def load_prolific_keys(folder: Path) -> Any:
    """Return the keys of Prolific, a `PyJWKSet`; None if the study has none. They change: save them again each day."""
    import jwt  # takes 0.1 s

    path = folder / PROLIFIC_KEYS_FILE
    if not path.exists():
        return None
    document = parse_json(read_text(path), str(path))
    try:
        return jwt.PyJWKSet(document["keys"])
    except (LookupError, TypeError, jwt.PyJWTError):
        raise BadInput([Problem(f"is no set of JSON web keys; save {KEYS_URL} as it is", str(path))]) from None


def prolific_participant(token: str, jwks: Any, audience: str, workspace: str, now: int) -> Participant | None:
    """Return the participant of a token at a time in seconds; None if Prolific did not sign it for `audience`.

    `audience` is an address of the server, of which only the host counts. `workspace` is the researcher's own: without
    it, whoever has a researcher's account can have Prolific sign an address with the id of somebody else.
    """
    import jwt

    try:
        key = jwks[jwt.get_unverified_header(token)["kid"]]
        claims = json.loads(jwt.PyJWS().decode(token, key, ["RS256"]))
        hosts = [
            _host(audience_address)
            for audience_address in ([claims["aud"]] if isinstance(claims["aud"], str) else claims["aud"])
        ]
        id, maker = claims["prolific"]["PROLIFIC_PID"], claims["prolific"]["workspace_id"]
        is_meant = _host(audience) in hosts and workspace == maker
        is_valid = is_meant and now < claims["exp"] and re.fullmatch(PARTICIPANT_ID, id)
    except (LookupError, TypeError, ValueError, RecursionError, jwt.PyJWTError):  # it has another form
        return None
    return Participant(PROLIFIC, id) if is_valid else None


def _host(address: str) -> str | None:
    return urlsplit(address if "//" in address else f"//{address}").hostname
