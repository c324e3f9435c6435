"""The server of a study: who gets a place, what is stored, and what a rater is told."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from human_served import ANSWER, API, Rater, Served, participant, served
from human_stores import Faulty
from study_files import fill_words, make_study, picture

from vqagen.human.server import requests
from vqagen.human.server.app import PAGE, PageFiles
from vqagen.human.server.process import CLAIM_BURST
from vqagen.human.server.requests import LARGEST_BODY
from vqagen.human.server.sessions import MOST_NOTES
from vqagen.human.settings import PlanSettings, ServeSettings
from vqagen.human.store.facts import ANSWERS, StoreError
from vqagen.human.store.study_state import CLAIMED, COMPLETE, EXPIRED
from vqagen.human.study.making import make_item_tasks
from vqagen.human.study.study import Study, load_study
from vqagen.human.tokens import trial_ticket

pytestmark = pytest.mark.anyio
NOON = 1_700_000_000


@pytest.fixture
def study(tmp_path: Path) -> Study:
    """A study of a few tasks for two raters each."""
    return make_study(tmp_path, systems=("ours", "theirs"), raters_per_item=2)


@pytest.fixture
async def place(study: Study) -> AsyncIterator[Served]:
    """The study, whose application answers."""
    async with served(study) as place:
        yield place


def with_serving(study: Study, **changes: Any) -> Study:
    """Return a study after its operator changed how it is served."""
    path = study.folder / "serving.json"
    path.write_text(json.dumps({**json.loads(path.read_text("utf-8")), **changes}))
    return load_study(study.folder)


# The way through a study --------------------------------------------------------------------------------------------


async def test_the_last_answer_completes_and_brings_the_code(place: Served, study: Study) -> None:
    session = await place.session("ann")
    assert (session["state"], session["answered"], session["session"]) == ("new", 0, None)
    ann = await place.enter("ann")
    done = await ann.answer_all()

    assert len(done["code"]) == 10
    assert done["debrief"] == list(study.texts.words["debrief"])
    assert await ann.trial() == done
    assert [each.state for each in await place.assignments()] == [COMPLETE]
    assert (await ann.answer({"number": 1, "ticket": _ticket(place, ann, 1)})).status_code == 200
    assert (await ann.post("withdraw")).json()["state"] == "complete"


def _ticket(place: Served, rater: Rater, number: int, now: int = NOON * 1000) -> str:
    own = place.sessions.assignment_of(rater.bearer)
    return trial_ticket(place.secret, place.study.id, own, number, now)


async def test_a_code_is_shown_again_only_to_whom_it_was_given(place: Served, study: Study) -> None:
    """Somebody's id on a platform is no proof: links with it are in many hands."""
    ann = await place.enter("ann")
    code = (await ann.answer_all())["code"]
    bob = await place.enter("bob")
    asked = [await place.session("ann", bearer=bearer) for bearer in (None, "", "x", bob.bearer, ann.bearer)]

    assert [each["state"] for each in asked] == ["complete"] * 5
    assert [each["code"] for each in asked] == [None] * 4 + [code]
    assert asked[0]["texts"]["debrief"]
    assert (await place.consent("ann")).json()["state"] == "complete"
    assert code not in str((await place.consent("ann")).json())
    personal = place.token(list(study.tasks)[1], slot=0)
    code = (await (await place.enter("any", personal)).answer_all())["code"]
    assert (await place.session("other", personal))["code"] == code


async def test_a_rater_who_returns_sees_the_first_trial_without_an_answer(study: Study) -> None:
    """Also after the server was started again."""
    async with served(study) as place:
        ann = await place.enter("ann")
        assert [(await ann.answer()).json()["number"] for _ in range(2)] == [1, 2]

    async with served(study) as place:
        session = await place.session("ann", bearer=ann.bearer)
        assert (session["state"], session["answered"], session["trial"]["number"]) == ("active", 2, 3)
        again = await place.consent("ann", bearer=ann.bearer)
        assert (again.status_code, again.json()["trial"]["number"]) == (200, 3)
        ann = Rater(place.client, session["session"], None)
        assert (await ann.trial())["number"] == 3


async def test_an_id_in_another_browser_opens_no_session_that_was_begun(study: Study) -> None:
    """An id of a platform is in many hands: whoever knows it could answer, withdraw and see the code."""
    hours = [0]

    async with served(study, clock=lambda: NOON + hours[0] * 3600) as place:
        ann, bob = await place.enter("ann"), await place.enter("bob")
        await ann.answer()
        for hours[0] in (0, 9):  # also when its time has run out
            for bearer in (None, "", "x", bob.bearer):
                asked, refused = await place.session("ann", bearer=bearer), await place.consent("ann", bearer=bearer)
                assert (asked["state"], asked["session"], asked["trial"]) == ("elsewhere", None, None)
                assert (refused.status_code, refused.json()["error"]) == (409, "elsewhere")
                assert "another browser" in refused.json()["message"]
                assert "session" not in refused.json()
        assert (await place.session("ann", bearer=ann.bearer))["session"] == ann.bearer
        assert (await ann.answer()).status_code == 201


async def test_who_has_not_answered_yet_begins_anew_in_another_browser(study: Study) -> None:
    """The session of before is over: nobody has two, and a limit of tasks counts one."""
    async with served(with_serving(study, tasks_per_person=1)) as place:
        first = await place.enter("ann")
        assert (await place.session("ann"))["state"] == "new"
        second = await place.enter("ann")

        assert first.bearer != second.bearer
        assert [each.state for each in await place.assignments()] == [EXPIRED, CLAIMED]
        assert (await first.answer()).json()["state"] == EXPIRED
        assert (await second.answer()).status_code == 201


async def test_a_personal_link_is_one_person_in_any_browser(place: Served) -> None:
    """Whatever id the page sends."""
    token = place.token(slot=1)
    ann = await place.enter("ann", token)
    await ann.answer()

    session, again = await place.session("other", token), await place.consent("other", token)
    assert (session["state"], session["session"], again.status_code) == ("active", ann.bearer, 200)
    assert [each.slot for each in await place.assignments()] == [1]


async def test_who_withdraws_leaves_no_answers(place: Served) -> None:
    ann = await place.enter("ann")
    await ann.answer()
    gone = [await ann.post("withdraw") for _ in range(2)]

    assert [(each.status_code, each.json()) for each in gone] == [(200, {"code": None, "redirect": None})] * 2
    assert (await place.session("ann"))["state"] == "withdrawn"
    assert (await ann.answer()).json()["error"] == "not_active"
    assert (await place.consent("ann")).json()["error"] == "not_active"
    assert [each.answers for each in await place.assignments()] == [{}]


async def test_fixed_codes_and_addresses_are_those_of_the_serving_settings(study: Study) -> None:
    address = "https://app.prolific.com/submissions/complete?cc={code}&id={id}"
    changed = with_serving(
        study, code_completed="C1ABCDEF", code_withdrawn="W1ABCDEF", redirect_completed=address, break_every=3
    )

    async with served(changed) as place:
        ann, bob = await place.enter("ann"), await place.enter("bob")
        done, gone = await ann.answer_all(), (await bob.post("withdraw")).json()

        assert (done["code"], done["redirect"]) == ("C1ABCDEF", address.replace("{code}", "C1ABCDEF"))
        assert gone == {"code": "W1ABCDEF", "redirect": None}
        assert (await place.session("eve"))["break_every"] == 3


async def test_a_preview_shows_all_and_stores_nothing(place: Served) -> None:
    for token in (place.token(is_preview=True), place.open_token(is_preview=True)):
        session = await place.session("ann", token)
        assert (session["state"], session["is_preview"]) == ("new", True)
        ann = await place.enter("ann", token)
        assert (await ann.answer(value=10)).status_code == 422
        await ann.post("events", {"kind": "comment", "detail": "x"})
        done = await ann.answer_all()
        assert (done["code"], (await ann.trial())["number"]) == (None, 1)
        assert (await ann.post("withdraw")).json() == {"code": None, "redirect": None}
    assert (await place.writer.study_state()).last == 0


# Places ---------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
async def test_of_a_hundred_who_begin_at_once_ten_hold_the_places(tmp_path: Path) -> None:
    """Consent holds nothing; the first answer does."""
    study = make_study(tmp_path, raters_per_item=10)

    async with served(study) as place:
        raters = await asyncio.gather(*(place.enter(f"p{number}") for number in range(100)))
        responses = await asyncio.gather(*(rater.answer() for rater in raters))

        assert sorted(each.status_code for each in responses) == [201] * 10 + [409] * 90
        assert {each.json()["state"] for each in responses if each.status_code == 409} == {EXPIRED}
        late, refused = await place.session("late"), (await place.consent("late")).json()
        assert (late["state"], late["retry_minutes"]) == ("wait", 30)
        assert (refused["error"], refused["retry_minutes"]) == ("wait", 30)
        await asyncio.gather(*(rater.answer_all() for rater in raters if rater.next["answered"]))
        assert (await place.session("late"))["state"] == (await place.consent("late")).json()["error"] == "full"


async def test_a_program_that_consents_under_many_names_is_slowed_down(study: Study) -> None:
    """Raters whom the server knows are not."""
    seconds = [0.0]

    async with served(study, ServeSettings(client_rate=1000), clock=lambda: NOON + seconds[0]) as place:
        first, *more = [await place.consent(f"p{number}") for number in range(CLAIM_BURST + 2)]
        assert [each.status_code for each in (first, *more)] == [201] * CLAIM_BURST + [429] * 2
        assert (await place.consent("p0", bearer=first.json()["session"])).status_code == 200
        seconds[0] = 11
        assert [(await place.consent(name)).status_code for name in ("new", "late")] == [201, 429]


async def test_one_network_holds_half_of_the_places_that_are_left(tmp_path: Path) -> None:
    """One answer each would keep everybody else out. It also holds a place for a shorter time than two answers."""
    study = make_study(tmp_path, raters_per_item=2)
    places, seconds = len(study.tasks) * 2, [0.0]

    async with served(study, ServeSettings(client_rate=1000), clock=lambda: NOON + seconds[0]) as place:
        token = place.open_token()
        raters = [await place.enter(f"p{number}", token) for number in range(places)]
        answered = [await rater.answer() for rater in raters]
        taken = [each.status_code for each in answered]
        held = sum(each.holds(NOON * 1000) for each in await place.assignments())

        assert (taken.count(201), taken.count(429)) == (held, places - held)
        assert held == (places + 1) // 2
        assert (await place.consent("late", token)).status_code == 429
        assert answered[0].json()["next"]["lease_ms"] == 30 * 60_000 // 4
        assert (await raters[0].answer()).json()["next"]["lease_ms"] == 30 * 60_000
        seconds[0] = 10 * 60
        assert (await place.consent("late", token)).status_code == 201

    async with served(study, clock=lambda: NOON + seconds[0]) as place:
        assert (await place.enter("lab", place.open_token())).next["number"] == 1


async def test_a_lease_runs_from_the_last_answer_and_a_late_one_is_taken_while_the_place_is_free(
    tmp_path: Path,
) -> None:
    study = make_study(tmp_path, raters_per_item=1)
    minutes = [0]

    async with served(study, clock=lambda: NOON + minutes[0] * 60) as place:
        ann = await place.enter("ann")
        for minutes[0] in (20, 40):
            assert (await ann.answer()).json()["next"]["lease_ms"] == 30 * 60_000
        minutes[0] = 50
        assert (await place.session("bob"))["retry_minutes"] == 20
        minutes[0] = 80
        assert (await ann.answer()).status_code == 201
        minutes[0] = 120
        bob = await place.enter("bob")
        assert (await bob.answer()).status_code == 201
        assert (await ann.answer()).json()["state"] == "expired"
        assert (await place.session("ann", bearer=ann.bearer))["state"] == "expired"
        minutes[0] = 160
        assert (await place.session("ann", bearer=ann.bearer))["state"] == "new"
        assert (await place.consent("ann", bearer=ann.bearer)).json()["answered"] == 3


@pytest.fixture
def signed(study: Study) -> tuple[Study, Callable[..., str]]:
    """A study for raters whom Prolific has signed, and what signs them."""
    key = rsa.generate_private_key(65537, 2048)
    public = {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(key.public_key())), "kid": "k", "alg": "RS256"}
    (study.folder / "prolific_keys.json").write_text(json.dumps({"keys": [public]}))

    def sign(name: str, expires: int = NOON + 60) -> str:
        claims = {
            "exp": expires,
            "aud": "https://study.example",
            "prolific": {"PROLIFIC_PID": name, "workspace_id": "w"},
        }
        return jwt.encode(claims, key, "RS256", headers={"kid": "k"})

    return with_serving(study, prolific_audience="study.example", prolific_workspace="w"), sign


async def test_where_prolific_signs_its_ids_no_other_is_accepted(signed: tuple[Study, Callable[..., str]]) -> None:
    study, sign = signed

    async with served(study, clock=lambda: NOON) as place:
        for token in (None, "", "x.y.z", sign("ann", NOON - 1)):
            refused = await place.consent("ann", prolific_token=token)
            assert (refused.status_code, refused.json()["error"]) == (403, "forbidden"), token
        other = await place.consent("ann", participant={"platform": "id", "id": "ann"})
        assert other.status_code == 403, "whoever leaves out the id of Prolific is not signed for either"
        made = await place.consent("somebody-else", prolific_token=sign("ann"))
        assert made.status_code == 201, made.text
        done = await Rater(place.client, made.json()["session"], made.json()["trial"]).answer_all()
        assert (await place.writer.study_state()).people.popitem()[1] == ("prolific", "ann")
        assert (await place.session("ann", prolific_token=sign("ann")))["code"] == done["code"]
        assert (await place.session("ann"))["error"] == "forbidden"


async def test_keys_of_prolific_that_cannot_be_read_are_named_and_those_of_before_are_used(
    signed: tuple[Study, Callable[..., str]], caplog: pytest.LogCaptureFixture
) -> None:
    """A download that failed must not shut out everybody."""
    study, sign = signed
    file = study.folder / "prolific_keys.json"

    async with served(study, clock=lambda: NOON) as place:
        for number, broken in enumerate(("", "<html>", '{"error": "rate limit"}', '{"keys": []}')):
            file.write_text(broken)
            assert (await place.consent(f"p{number}", prolific_token=sign(f"p{number}"))).status_code == 201, broken
            assert f"keys of before are used: {file}" in caplog.records[-1].getMessage()
        file.unlink()
        assert (await place.session("ann", prolific_token=sign("ann")))["state"] == "new"
        assert (await place.session("ann", prolific_token="x.y.z"))["error"] == "forbidden"


# Answers --------------------------------------------------------------------------------------------------------------


REFUSED_ANSWERS: list[tuple[dict[str, Any], int]] = [
    *(({"value": value}, 422) for value in (0, 10, 999, -1, 7.0, 7.5, "7", None, True, [7], {"v": 7}, 10**400, "")),
    *(({"rt_ms": value}, 422) for value in (-1, 0.5, None, "1", True, 10**12)),
    *(({"blur": value}, 422) for value in (-1, None, [])),
    *(({"ticket": value}, 422) for value in ("", "a b", "ä", "x" * 201, 5, None, "\u0000")),
    *((({"more": 1}), 422), ({"__proto__": {}}, 422), ({"constructor": 1}, 422), ({"value": [[[1]]]}, 422)),
]
"""Changes of an answer, and the status of the refusal."""
REFUSED_BODIES = [
    *((content, "application/json", 400) for content in (b"", b"{", b"x", b'{"value": NaN}', b'{"value": "\xff"}')),
    *((content, "application/json", 422) for content in (b"[]", b"null", b"7", b"[" * 4000, b'{"value": [[[')),
    *((b'{"value": ' + b"[" * depth + b"]" * depth + b"}", "application/json", 422) for depth in (3, 600, 2000)),
    (b'{"value": ' + b"1" * 4050 + b"}", "application/json", 422),
    (b" " * (LARGEST_BODY + 1), "application/json", 413),
    (b"x" * 2**20, "application/json", 413),
    *((json.dumps(ANSWER).encode(), kind, 415) for kind in ("text/plain", "application/x-www-form-urlencoded", "")),
]
"""Bodies, their media types, and the status of the refusal."""


async def test_an_answer_that_no_page_sends_is_refused(place: Served) -> None:
    """Nothing is stored, and the reply says no more than what is wrong."""
    ann = await place.enter("ann")
    right = {**ANSWER, "ticket": ann.next["ticket"]}
    changed = [
        (json.dumps({**right, **change}).encode(), "application/json", status) for change, status in REFUSED_ANSWERS
    ]
    for content, kind, status in [*changed, *REFUSED_BODIES]:
        headers = {**ann.headers, "Content-Type": kind}
        refused = await place.client.put(f"{API}/responses/1", content=content, headers=headers)
        assert (refused.status_code, refused.json()["error"]) == (status, "invalid"), (content[:60], kind)
    assert [each.answers for each in await place.assignments()] == [{}]


async def test_a_trial_is_answered_when_it_was_shown_and_by_the_clock_of_the_server(study: Study) -> None:
    """A ticket is of one trial of one session. What the page says about times is kept beside what the server knows."""
    seconds = [0.0]

    async with served(study, clock=lambda: NOON + seconds[0]) as place:
        ann, bob = await place.enter("ann"), await place.enter("bob")
        for trial in ({"number": 2, "ticket": ann.next["ticket"]}, {"number": 1, "ticket": bob.next["ticket"]}):
            refused = await ann.answer(trial)
            assert (refused.status_code, refused.json()["error"]) == (403, "not_shown")
        seconds[0] = 0.003
        await ann.answer(rt_ms=99_999)
        seconds[0] = -5
        await ann.answer(rt_ms=99_999)
        (own, _) = await place.assignments()
        assert [(each.rt_ms, each.server_ms) for each in own.answers.values()] == [(99_999, 3), (99_999, 0)]


async def test_the_first_answer_to_a_trial_stays(place: Served) -> None:
    ann = await place.enter("ann")
    first = ann.next
    replies = [await ann.answer(first, value=value) for value in (3, 3, 4)]

    assert [each.status_code for each in replies] == [201, 200, 409]
    assert [each.json()["next"]["number"] for each in replies[:2]] == [2, 2]
    assert (replies[2].json()["error"], replies[2].json()["stored"]) == ("different", 3)


FORMS: list[tuple[dict[str, Any], list[Any], list[Any]]] = [
    ({"type": "options", "options": ["yes", "no"]}, ["yes"], ["", "maybe", 1, None]),
    ({"type": "number", "least": -2, "largest": 5}, [-2], ["5", 6, 5.0, True]),
    ({"type": "text", "longest": 9}, ["größer\n💩"], ["", "  ", "x" * 10, "a\0", "\x1b[2J", "\u2028", 5]),
    (
        {"type": "cell", "rows": 1, "columns": 2, "area": [0, 0, 1, 0.5], "cells": ["a1", ""]},
        ["a1"],
        ["", "a2", 0],
    ),
]
"""A form, values that it takes, and others."""


async def test_questions_are_answered_in_their_own_forms(tmp_path: Path) -> None:
    items = [
        {
            "schema": "vqagen.human.item/2",
            "kind": "answer",
            "prompt": f"Question {number}?",
            "image": "im.png",
            "form": form,
            "series": "dialog",
            "place": number,
            "history": [{"text": "A caption."}, {"text": "Before?", "answer": "yes"}],
            "gold": {"answer": str(right[0])},
        }
        for number, (form, right, _) in enumerate(FORMS)
    ]
    (tmp_path / "im.png").write_bytes(picture(1))
    (tmp_path / "items.jsonl").write_text("\n".join(map(json.dumps, items)))
    settings = PlanSettings(trials_per_task=4, checks_per_task=0, raters_per_item=1)
    study = fill_words(make_item_tasks(tmp_path / "study", tmp_path / "items.jsonl", tmp_path, settings)[0])

    async with served(study) as place:
        ann = await place.enter("ann")
        for form, right, wrong in FORMS:
            assert ann.next["form"] == form
            assert (ann.next["kind"], ann.next["texts"], ann.next["scale"], ann.next["use"]) == (
                "answer",
                [],
                None,
                "trial",
            )
            assert ann.next["history"] == [{"text": "A caption.", "answer": ""}, {"text": "Before?", "answer": "yes"}]
            assert {(await ann.answer(value=value)).status_code for value in wrong} == {422}, form
            assert (await ann.answer(value=right[0])).status_code == 201
        (own,) = await place.assignments()
        assert [each.value for each in own.answers.values()] == [right[0] for _, right, _ in FORMS]


async def test_an_id_that_nobody_can_have_is_explained_in_the_words_of_the_study(place: Served, study: Study) -> None:
    """A platform that does not fill in the id is a mistake of the operator, whom the words name."""
    for name in ("{{%PROLIFIC_PID%}}", "ann@uni.example", "x" * 65):
        refused = await place.session(name)
        assert refused["error"] == "invalid"
        assert "participant.id" in refused["message"]
        assert refused["texts"]["gone"] == list(study.texts.words["gone"])


@pytest.mark.slow
async def test_what_the_page_reports_is_kept_until_it_is_too_much(place: Served) -> None:
    ann = await place.enter("ann")
    for kind in ("withdraw", "claim", "", None, 7):
        assert (await ann.post("events", {"kind": kind})).status_code == 422, kind
    for detail in ("\0", "\x1b[2J", "\u2028", "x" * 1001, 7, None):
        assert (await ann.post("events", {"kind": "comment", "detail": detail})).status_code == 422, detail
    problem = {"kind": "problem", "detail": "The picture\nis dark. " * 40, "number": 2}
    statuses = [(await ann.post("events", problem)).status_code for _ in range(MOST_NOTES + 1)]
    assert statuses == [204] * MOST_NOTES + [429]
    await ann.post("withdraw")
    assert (await ann.post("events", problem)).json()["error"] == "not_active"


# Who is answered ------------------------------------------------------------------------------------------------------


async def test_a_request_without_a_session_of_the_study_is_refused(place: Served) -> None:
    bearer = (await place.enter("ann")).bearer
    changed = bearer[:-1] + ("A" if bearer[-1] != "A" else "B")
    wrong = ["", "Bearer", "Bearer ", f"Bearer {changed}", f"Basic {bearer}", f"Bearer {bearer}A", "Bearer é"]
    for path, method in {"trial": "GET", "responses/1": "PUT", "withdraw": "POST", "events": "POST"}.items():
        for header in wrong:
            headers = {"Authorization": header.encode()}
            refused = await place.client.request(method, f"{API}/{path}", json={}, headers=headers)
            assert (refused.status_code, refused.json()["error"]) == (401, "forbidden"), (path, header)


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


async def test_pages_of_other_sites_are_refused(study: Study) -> None:
    async with served(study, ServeSettings(public_url="https://study.example")) as place:
        body = {"token": place.token(), "participant": participant("ann")}
        for headers, status in SITES:
            response = await place.client.post(f"{API}/session", json=body, headers=headers)
            assert response.status_code == status, headers


async def test_a_client_that_asks_too_often_is_slowed_down(study: Study) -> None:
    """One rater does not slow down another."""
    async with served(study, ServeSettings(client_rate=1000)) as place:
        ann, bob = await place.enter("ann"), await place.enter("bob")
        responses = [await ann.client.get(f"{API}/trial", headers=ann.headers) for _ in range(25)]
        refused = [each for each in responses if each.status_code == 429]

        assert responses[-1] in refused
        assert (refused[0].json()["error"], refused[0].headers["Retry-After"]) == ("too_many", "1")
        assert len(responses) - len(refused) >= 20
        assert (await bob.trial())["number"] == 1


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


async def test_every_reply_is_safe(study: Study) -> None:
    """No cookie, no name of a program, no script of others, and nothing is kept but images and the page's files."""
    async with served(study, ServeSettings(public_url="https://study.example", client_rate=0)) as place:
        rater = await place.enter("ann")
        image = rater.next["image"]["url"]
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


async def test_an_image_that_was_changed_while_it_is_served_is_not_shown(place: Served, study: Study) -> None:
    """Answers would be about another image than the plan says."""
    url = (await place.enter("ann")).next["image"]["url"]
    shown = await place.client.get(url)
    for image in (study.folder / "images").iterdir():
        image.write_bytes(image.read_bytes() + b" ")

    assert (shown.status_code, shown.headers["Content-Type"]) == (200, "image/png")
    assert (await place.client.get(url)).status_code == 404


# Faults of the store --------------------------------------------------------------------------------------------------


@pytest.fixture
def faulty(study: Study) -> Faulty:
    """Opens the log of the study, and can make it fail."""
    return Faulty(study.folder / ANSWERS, study.id)


async def test_an_answer_that_cannot_be_stored_is_not_acknowledged(study: Study, faulty: Faulty) -> None:
    """The server goes on when the store does, without a restart."""
    async with served(study, opening=faulty) as place:
        ann = await place.enter("ann")
        faulty.failure = StoreError("the disk is full")
        refused, readiness = await ann.answer(), await place.client.get("/readyz")
        faulty.failure = None
        stored_now = await ann.answer()

        assert (refused.status_code, refused.json()["error"]) == (503, "unavailable")
        assert int(refused.headers["Retry-After"]) >= 1
        assert "disk" not in refused.text
        assert readiness.status_code == 503
        assert stored_now.status_code == 201


async def test_all_who_ask_for_readiness_in_a_second_share_one_write(study: Study, faulty: Faulty) -> None:
    async with served(study, opening=faulty) as place:
        replies = await asyncio.gather(*(place.client.get("/readyz") for _ in range(20)))
        assert {each.status_code for each in replies} == {200}
        assert faulty.beats == 1


async def test_a_rater_does_not_wait_for_a_store_that_hangs(
    study: Study, faulty: Faulty, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page sends the answer again; the first one may be stored meanwhile."""

    async with served(study, opening=faulty) as place:
        ann = await place.enter("ann")
        monkeypatch.setattr(requests, "LONGEST_REPLY", 0.1)
        faulty.gate.clear()
        given_up = await ann.answer()
        faulty.gate.set()

        assert (given_up.status_code, given_up.json()["error"]) == (503, "unavailable")
        monkeypatch.setattr(requests, "LONGEST_REPLY", 60)
        assert (await ann.answer()).status_code == 200
        assert (await ann.trial())["answered"] == 1


async def test_a_mistake_of_the_server_is_logged_by_its_place_and_says_nothing_else(
    place: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Messages of errors may hold what a rater sent."""

    def fail(*_: object) -> None:
        raise ValueError("ann wrote this")

    rater = await place.enter("ann")
    monkeypatch.setattr("vqagen.human.server.sessions.answer_fault", fail)
    broken = await rater.answer()

    assert (broken.status_code, broken.json()["message"]) == (500, "the server made a mistake")
    assert "Content-Security-Policy" in broken.headers
    (record,) = caplog.records
    assert "ValueError at test_human_server.py:" in record.getMessage()
    assert "ann" not in caplog.text.replace("vqagen.human", "")
