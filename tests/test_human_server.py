"""The server of a study: who gets a place, what is stored, and what a rater is told."""

from __future__ import annotations

import asyncio
import json
import re
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from human_served import ANSWER, API, Served, participant, served, stored
from study_files import make_study
from vqagen.human.store.store import StoreError

from vqagen.human.server import middleware
from vqagen.human.server.page_files import PAGE, PageFiles
from vqagen.human.server.settings import ServeSettings
from vqagen.human.study.study import Study, load_study

Talk = Callable[[Served], Coroutine[Any, Any, None]]


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study of a few tasks for two raters each."""
    return make_study(tmp_path, systems=("ours", "theirs"), raters_per_item=2)


def talk(study: Study, run: Talk, *options: Any, **more: Any) -> None:
    """Serve a study, and talk to the server."""

    async def whole() -> None:
        async with served(study, *options, **more) as place:
            await run(place)

    asyncio.run(whole())


def with_serving(study: Study, **changes: Any) -> Study:
    """Return a study after its operator changed how it is served."""
    path = study.folder / "serving.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}))
    return load_study(study.folder)


# The way through a study --------------------------------------------------------------------------------------------


def test_a_rater_answers_all_trials_and_gets_a_code(study: Study) -> None:
    async def run(place: Served) -> None:
        session = await place.session("ann")
        assert (session["state"], session["answered"], session["session"]) == ("new", 0, None)
        rater = await place.enter("ann")
        await rater.answer_all()
        done = (await rater.post("complete")).json()
        after = await place.session("ann")

        assert len(done["code"]) == 10
        assert done["debrief"]
        assert (after["state"], after["code"], after["texts"]["debrief"]) == ("complete", done["code"], done["debrief"])
        assert "debrief" not in session["texts"]
        assert (await rater.post("complete")).json() == done

    talk(study, run)


def test_a_rater_who_returns_sees_the_first_trial_without_an_answer(study: Study) -> None:
    """Also after the server was started again, and by a link opened in another browser."""

    async def first(place: Served) -> None:
        rater = await place.enter("ann")
        for number in (1, 2, 4):
            await rater.answer(number)

    async def second(place: Served) -> None:
        session = await place.session("ann")
        assert (session["state"], session["answered"]) == ("active", 3)
        again = await place.consent("ann")
        assert again.status_code == 200
        trial = await place.client.get(f"{API}/trial", headers={"Authorization": f"Bearer {again.json()['session']}"})
        assert (trial.json()["number"], trial.json()["answered"]) == (3, 3)

    talk(study, first)
    talk(study, second)


def test_who_withdraws_leaves_no_answers(study: Study) -> None:
    async def run(place: Served) -> None:
        rater = await place.enter("ann")
        await rater.answer(1)
        gone = await rater.post("withdraw")

        assert (gone.status_code, gone.json()) == (200, {"state": "withdrawn", "code": None, "redirect": None})
        assert (await place.session("ann"))["state"] == "withdrawn"
        assert (await rater.answer(2)).json()["error"] == "not_active"
        assert (await place.consent("ann")).json()["error"] == "not_active"
        assert await place.committer.read(lambda store: list(store.answers())) == []

    talk(study, run)


def test_fixed_codes_and_addresses_are_those_of_the_serving_settings(study: Study) -> None:
    changed = with_serving(
        study,
        code_completed="C1ABCDEF",
        code_withdrawn="W1ABCDEF",
        redirect_completed="https://app.prolific.com/submissions/complete?cc={code}",
    )

    async def run(place: Served) -> None:
        ann, bob = await place.enter("ann"), await place.enter("bob")
        await ann.answer_all()
        done, gone = (await ann.post("complete")).json(), (await bob.post("withdraw")).json()

        assert (done["code"], done["redirect"]) == (
            "C1ABCDEF",
            "https://app.prolific.com/submissions/complete?cc=C1ABCDEF",
        )
        assert gone == {"state": "withdrawn", "code": "W1ABCDEF", "redirect": None}

    talk(changed, run)


# Places ---------------------------------------------------------------------------------------------------------------


def test_a_hundred_who_consent_at_once_get_ten_places(tmp_path: Path) -> None:
    study = make_study(tmp_path, raters_per_item=10)

    async def run(place: Served) -> None:
        responses = await asyncio.gather(*(place.consent(f"p{number}") for number in range(100)))
        claimed = await place.committer.read(lambda store: list(store.assignments()))

        assert sorted(each.status_code for each in responses) == [201] * 10 + [409] * 90
        assert {each.json()["error"] for each in responses if each.status_code == 409} == {"full"}
        assert sorted(each.slot for each in claimed) == list(range(10))
        assert (await place.session("late"))["state"] == "full"

    talk(study, run)


def test_a_personal_link_is_one_person_whatever_id_the_page_sends(study: Study) -> None:
    async def run(place: Served) -> None:
        token = place.token(slot=1)
        first, again = await place.consent("ann", token), await place.consent("another-browser", token)
        claimed = await place.committer.read(lambda store: list(store.assignments()))

        assert (first.status_code, again.status_code) == (201, 200)
        assert [each.slot for each in claimed] == [1]

    talk(study, run)


def test_a_place_whose_time_ran_out_goes_to_the_next_rater(tmp_path: Path) -> None:
    study = make_study(tmp_path, raters_per_item=1)
    hours = [0.0]

    async def run(place: Served) -> None:
        ann = await place.enter("ann")
        await ann.answer(1)
        assert (await place.consent("bob")).json()["error"] == "full"
        hours[0] = 1.5
        assert (await place.session("bob"))["state"] == "new"
        await place.enter("bob")

        assert (await place.session("ann"))["state"] == "expired"
        assert (await ann.answer(2)).json()["error"] == "not_active"

    talk(study, run, clock=lambda: 1_000_000 + hours[0] * 3600)


# Answers --------------------------------------------------------------------------------------------------------------


REFUSED_ANSWERS: list[tuple[dict[str, Any], int]] = [
    *(({"value": value}, 422) for value in (0, 10, 999, -1, 7.0, 7.5, "7", None, True, [7], {"v": 7}, 10**400)),
    *(({"rt_ms": value}, 422) for value in (-1, 0.5, None, "1", True, 10**12)),
    *(({"blur": value}, 422) for value in (-1, None, [])),
    *(({"idem": value}, 422) for value in ("", "a b", "ä", "x" * 65, 5, None, "\u0000")),
    *((({"more": 1}), 422), ({"__proto__": {}}, 422), ({"constructor": 1}, 422), ({"value": [[[1]]]}, 400)),
]
"""Changes of an answer, and the status of the refusal."""
REFUSED_BODIES = [
    *((content, "application/json", 400) for content in (b"", b"{", b"[]", b"null", b"7", b"[" * 4000)),
    *((content, "application/json", 400) for content in (b'{"value": 7, "value": 7}', b'{"value": NaN}')),
    *((content, "application/json", 400) for content in (b'{"value": "\xff"}', b'{"value": "\x00"}')),
    *((b'{"value": ' + b"[" * depth + b"]" * depth + b"}", "application/json", 400) for depth in (3, 600, 900, 2000)),
    (b'{"value": ' + b"1" * 4050 + b"}", "application/json", 422),
    (b" " * 4097, "application/json", 413),
    (b"x" * 2**20, "application/json", 413),
    *((json.dumps(ANSWER).encode(), kind, 415) for kind in ("text/plain", "application/x-www-form-urlencoded", "")),
]
"""Bodies, their media types, and the status of the refusal."""


def test_an_answer_that_no_page_sends_is_refused(study: Study) -> None:
    """Nothing is stored, and the reply says no more than what is wrong."""
    bodies = [
        (json.dumps({**ANSWER, **change}).encode(), "application/json", status) for change, status in REFUSED_ANSWERS
    ]

    async def run(place: Served) -> None:
        rater = await place.enter("ann")
        for content, kind, status in [*bodies, *REFUSED_BODIES]:
            headers = {**rater.headers, "Content-Type": kind}
            refused = await place.client.put(f"{API}/responses/1", content=content, headers=headers)
            assert (refused.status_code, refused.json()["error"]) == (status, "invalid"), (content[:60], kind)
        assert await place.committer.read(lambda store: list(store.answers())) == []

    talk(study, run)


def test_an_id_that_nobody_can_have_is_explained_in_the_words_of_the_study(study: Study) -> None:
    """A platform that does not fill in the id is a mistake of the operator, whom the words name."""

    async def run(place: Served) -> None:
        for name in ("{{%PROLIFIC_PID%}}", "ann@uni.example", "x" * 65):
            refused = await place.session(name)
            assert refused["error"] == "invalid"
            assert "an id of 1 to 64 letters" in refused["message"]
            assert refused["texts"]["gone"] == list(study.texts.words["gone"])

    talk(study, run)


def test_events_of_the_page_are_kept_and_those_of_the_store_cannot_be_forged(study: Study) -> None:
    async def run(place: Served) -> None:
        rater = await place.enter("ann")
        sent = [await rater.post("events", {"kind": kind, "detail": "x"}) for kind in ("focus", "withdraw", "Focus")]
        for detail in ("\0", "\x1b[2J", "a\nb", "\u2028", "x" * 201, 7, None):
            assert (await rater.post("events", {"kind": "focus", "detail": detail})).status_code == 422, detail
        events = await place.committer.read(lambda store: list(store.events()))

        assert [each.status_code for each in sent] == [204, 422, 422]
        assert [(each.kind, each.detail) for each in events if each.kind != "claim"] == [("focus", "x")]
        await rater.post("withdraw")
        assert (await rater.post("events", {"kind": "focus"})).json()["error"] == "not_active"

    talk(study, run)


# Who is answered ------------------------------------------------------------------------------------------------------


def test_a_request_without_a_session_of_the_study_is_refused(study: Study) -> None:
    async def run(place: Served) -> None:
        bearer = (await place.enter("ann")).bearer
        changed = bearer[:-1] + ("A" if bearer[-1] != "A" else "B")
        wrong = ["", "Bearer", "Bearer ", f"Bearer {changed}", f"Basic {bearer}", f"Bearer {bearer}A", "Bearer é"]
        for path, method in {"trial": "GET", "responses/1": "PUT", "complete": "POST", "events": "POST"}.items():
            for header in wrong:
                headers = {"Authorization": header.encode()}
                refused = await place.client.request(method, f"{API}/{path}", json={}, headers=headers)
                assert (refused.status_code, refused.json()["error"]) == (401, "forbidden"), (path, header)

    talk(study, run)


SITES: list[tuple[dict[str, str], int]] = [
    ({}, 200),
    *(({"Sec-Fetch-Site": site}, 403) for site in ("cross-site", "same-site", "none", "")),
    *(({"Origin": origin}, 403) for origin in ("https://evil.example", "null", "http://[broken", "")),
    ({"Sec-Fetch-Site": "same-origin"}, 200),
    *(({"Origin": origin}, 200) for origin in ("http://testserver", "https://study.example")),
]
"""Headers of a browser, and the status of the reply."""


def test_page_names_its_files_and_the_server_relative_to_itself() -> None:
    """So that it can lie under a path of its host, where `/static/` and `/api/` belong to others."""
    page = PageFiles()
    scripts = [path.read_text() for path in PAGE.glob("*.js")]

    assert page.shell.count(b'"../static/') == 3
    assert [text for text in (page.shell.decode(), *scripts) if re.search(r"""["'`]/(static|api|img)/""", text)] == []


def test_pages_of_other_sites_are_refused(study: Study) -> None:
    async def run(place: Served) -> None:
        body = {"token": place.token(), "participant": participant("ann")}
        for headers, status in SITES:
            response = await place.client.post(f"{API}/session", json=body, headers=headers)
            assert response.status_code == status, headers

    talk(study, run, ServeSettings(public_url="https://study.example"))


def test_a_client_that_asks_too_often_is_slowed_down(study: Study) -> None:
    """One rater does not slow down another."""

    async def run(place: Served) -> None:
        ann, bob = await place.enter("ann"), await place.enter("bob")
        responses = [await ann.client.get(f"{API}/trial", headers=ann.headers) for _ in range(25)]
        refused = [each for each in responses if each.status_code == 429]

        assert responses[-1] in refused
        assert (refused[0].json()["error"], refused[0].headers["Retry-After"]) == ("too_many", "1")
        assert len(responses) - len(refused) >= 20
        assert (await bob.trial())["number"] == 1

    talk(study, run, ServeSettings(client_rate=1000))


SAFETY = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def test_every_reply_is_safe(study: Study) -> None:
    """No cookie, no name of a program, no script of others, and nothing is kept but images and the page's files."""

    async def run(place: Served) -> None:
        rater = await place.enter("ann")
        image = (await rater.trial())["image"]["url"]
        shell = (await place.client.get(f"/s/{place.token()}")).text
        script = shell.partition('src="')[2].partition('"')[0]
        other = script.replace(PageFiles().hash, "0" * 16)
        assert (await place.client.get(other)).status_code == 404
        for path in (f"/s/{place.token()}", "/s/x", script, other, image, f"{API}/trial", "/nothing", "/healthz"):
            response = await place.client.get(path)
            assert SAFETY.items() <= {name: response.headers.get(name) for name in SAFETY}.items(), path
            assert "max-age=31536000" in response.headers["Strict-Transport-Security"]
            assert not {"set-cookie", "server", "x-powered-by"} & set(response.headers)
            kept = {script: "public, max-age=31536000, immutable", image: "private, max-age=86400, immutable"}
            assert response.headers["Cache-Control"] == kept.get(path, "no-store")

    talk(study, run, ServeSettings(public_url="https://study.example", client_rate=0))


def test_an_image_that_was_changed_while_it_is_served_is_not_shown(study: Study) -> None:
    """Answers would be about another image than the plan says."""

    async def run(place: Served) -> None:
        url = (await (await place.enter("ann")).trial())["image"]["url"]
        shown = await place.client.get(url)
        for image in (study.folder / "images").iterdir():
            image.write_bytes(image.read_bytes() + b" ")

        assert (shown.status_code, shown.headers["Content-Type"]) == (200, "image/png")
        assert (await place.client.get(url)).status_code == 404

    talk(study, run)


# Faults of the store --------------------------------------------------------------------------------------------------


class Wrapped:
    """A store of a study, of which a test changes a method."""

    def __init__(self, study: Study) -> None:
        self._store = stored(study)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def test_an_answer_that_cannot_be_stored_is_not_acknowledged(study: Study) -> None:
    """The server goes on when the store does, without a restart."""
    broken = [False]

    class Failing:
        def __init__(self) -> None:
            if broken[0]:
                raise StoreError("the disk is full")
            self._store = stored(study)

        def __getattr__(self, name: str) -> Any:
            if broken[0] and name != "close":
                raise StoreError("the disk is full")
            return getattr(self._store, name)

    async def run(place: Served) -> None:
        rater = await place.enter("ann")
        broken[0] = True
        refused, readiness = await rater.answer(1), await place.client.get("/readyz")
        broken[0] = False
        stored_now = await rater.answer(1)

        assert (refused.status_code, refused.json()["error"]) == (503, "unavailable")
        assert int(refused.headers["Retry-After"]) >= 1
        assert "disk" not in refused.text
        assert (readiness.status_code, (await place.client.get("/readyz")).status_code) == (503, 200)
        assert stored_now.status_code == 201

    talk(study, run, opening=Failing)


def test_a_write_that_is_stored_though_it_failed_is_known_to_the_server(study: Study) -> None:
    """As by Redis when the server waits no longer. A rater who then answered otherwise saw one trial for ever."""
    is_late = [False]

    class Late(Wrapped):
        def apply(self, writes: Any) -> Any:
            outcomes = self._store.apply(writes)
            if is_late[0]:
                raise StoreError("no answer in time")
            return outcomes

    async def run(place: Served) -> None:
        ann, bob = await place.enter("ann"), await place.enter("bob")
        assert (await ann.trial())["number"] == (await bob.trial())["number"] == 1
        is_late[0] = True
        late = [await ann.answer(1), await bob.post("withdraw"), await place.consent("eve", place.open_token())]
        is_late[0] = False

        assert [each.status_code for each in late] == [503] * 3
        assert (await ann.answer(1, value=2)).json()["stored"] == 7
        assert (await ann.trial())["number"] == 2
        assert (await place.session("bob"))["state"] == "withdrawn"
        assert (await place.session("eve", place.open_token()))["state"] == "active"

    talk(study, run, opening=lambda: Late(study))


def test_a_rater_does_not_wait_for_a_store_that_hangs(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page sends the answer again; the first one may be stored meanwhile."""
    is_running = threading.Event()
    is_running.set()

    class Hanging(Wrapped):
        def apply(self, writes: Any) -> Any:
            is_running.wait()
            return self._store.apply(writes)

    async def run(place: Served) -> None:
        rater = await place.enter("ann")
        monkeypatch.setattr(middleware, "LONGEST_REPLY", 0.1)
        is_running.clear()
        given_up = await rater.answer(1)
        is_running.set()

        assert (given_up.status_code, given_up.json()["error"]) == (503, "unavailable")
        monkeypatch.setattr(middleware, "LONGEST_REPLY", 60)
        assert (await rater.answer(1)).status_code in (200, 201)
        assert (await rater.trial())["answered"] == 1

    talk(study, run, opening=lambda: Hanging(study))


def test_a_mistake_of_the_server_is_logged_by_its_place_and_says_nothing_else(
    study: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Messages of errors may hold what a rater sent."""

    def fail(*_: object) -> None:
        raise ValueError("ann wrote this")

    async def run(place: Served) -> None:
        rater = await place.enter("ann")
        monkeypatch.setattr(place.sessions, "trial_of", fail)
        broken = await rater.answer(1)

        assert (broken.status_code, broken.json()["message"]) == (500, "the server made a mistake")
        assert "Content-Security-Policy" in broken.headers

    talk(study, run)
    (record,) = caplog.records
    assert "ValueError at test_human_server.py:" in record.getMessage()
    assert "ann" not in caplog.text.replace("vqagen.human", "")
