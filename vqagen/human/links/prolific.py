"""What Prolific signs: the proof that a rater is the participant whose id stands in the address.

With "Secured external URL", Prolific appends to the address of a study the parameter `prolific_token`, a JWT. Of its
claims, `exp` is its end, `aud` the address of the study ("the correct domain for your tool"), `sub` the submission,
and `prolific` has what `external_study_url` states, `PROLIFIC_PID` among it, as well as `workspace_id`
(docs.prolific.com, "Retrieve JSON Web Key Set"; the parameter's name and `sub` as public programs have them).
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vqagen.errors import BadInput, Problem
from vqagen.human.links.people import PARTICIPANT_ID, PROLIFIC, Participant
from vqagen.json.parsing import parse_json, read_text

PROLIFIC_KEYS_FILE = "prolific_keys.json"
"""The file in a study's folder with the public keys of Prolific."""
KEYS_URL = "https://api.prolific.com/.well-known/study/jwks.json"


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
        hosts = [_host(each) for each in ([claims["aud"]] if isinstance(claims["aud"], str) else claims["aud"])]
        id, maker = claims["prolific"]["PROLIFIC_PID"], claims["prolific"]["workspace_id"]
        is_meant = _host(audience) in hosts and workspace == maker
        is_valid = is_meant and now < claims["exp"] and re.fullmatch(PARTICIPANT_ID, id)
    except (LookupError, TypeError, ValueError, RecursionError, jwt.PyJWTError):  # it has another form
        return None
    return Participant(PROLIFIC, id) if is_valid else None


def _host(address: str) -> str | None:
    return urlsplit(address if "//" in address else f"//{address}").hostname
