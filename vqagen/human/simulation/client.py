"""Simulated raters of the demonstration: the requests that the page of a rater sends, to a server on this machine."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from vqagen.errors import VqagenError
from vqagen.human.links.secret import load_secret
from vqagen.human.links.tokens import Link, assignment_of_bearer, sign_link
from vqagen.human.simulation.raters import Raters
from vqagen.human.simulation.through_data import assigned_work
from vqagen.human.study.study import Study

_API = "/api/v1"
_ADDRESS = re.compile(r"at (http\S+);")
_PATIENCE = 30.0
"""Seconds for a reply, and for a server to stop."""


@contextmanager
def serving(study: Path) -> Iterator[str]:
    """Serve a study on a free port, without limits for each rater; yield the address."""
    command = [sys.executable, "-m", "vqagen", "human", "serve", str(study), "--port", "0", "--client-rate", "0"]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        try:
            for line in process.stderr:
                said += line
                if found := _ADDRESS.search(line):
                    yield found[1]
                    break
            else:
                raise VqagenError(f"the server did not start: {said.strip()}")
        finally:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=_PATIENCE)


def answer_study(study: Study, url: str, raters: Raters, count: int) -> int:
    """Let `count` raters do their tasks one after the other; return how many answers the server acknowledged."""
    parts = urlsplit(url)
    with closing(HTTPConnection(parts.hostname or "", parts.port, timeout=_PATIENCE)) as http:
        work = [each.assignment for each in assigned_work(study, count)]
        return sum(_do_task(http, study, raters, each.rater, each.task) for each in work)


def _do_task(http: HTTPConnection, study: Study, raters: Raters, rater: str, task: str) -> int:
    """Consent, answer all trials of a task, and complete it."""
    secret = load_secret(study.folder)
    who = {"token": sign_link(Link(study.id, task), secret), "participant": {"platform": "id", "id": rater}}
    session = _ask(http, "POST", "/session", who)
    consent = {**who, "consent_version": session["consent_version"], "agreed": True}
    bearer = _ask(http, "POST", "/consent", consent)["session"]
    slot = (assignment_of_bearer(bearer, secret, study.id) or "").split("-")[1]
    trials = study.trials(task, int(slot))
    for trial in trials:
        shown = _ask(http, "GET", "/trial", bearer=bearer)
        assert (shown["number"], shown["texts"]) == (trial.number, list(trial.texts))
        spent = raters.milliseconds(rater, trial)
        times = {"rt_ms": spent, "shown_ms": spent, "blur": 0, "idem": f"{task}-{slot}-{trial.number}"}
        _ask(http, "PUT", f"/responses/{trial.number}", {"value": raters.value(rater, trial), **times}, bearer)
    _ask(http, "POST", "/complete", {}, bearer)
    return len(trials)


def _ask(http: HTTPConnection, method: str, path: str, body: Any = None, bearer: str = "") -> Any:
    """Send a request and return the JSON of its reply. VqagenError if it was refused."""
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {bearer}"} if bearer else {})}
    http.request(method, _API + path, None if body is None else json.dumps(body), headers)
    response = http.getresponse()
    text = response.read().decode()
    if response.status not in (200, 201):
        raise VqagenError(f"the server refused {method} {path} with {response.status}: {text}")
    return json.loads(text)
