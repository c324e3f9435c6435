"""The page of a rater study in a real browser, before a real server: no answer is lost, doubled or skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsers import expect, needs_chromium, new_window
from human_pages import (
    BREAK,
    CONSENT,
    DONE,
    END,
    FEEDBACK,
    FEW,
    HEBREW,
    HOSTILE,
    IMAGE_FAILED,
    KEYBOARD,
    MANY,
    MOUSE,
    PAUSED,
    PRACTICE,
    PREVIEW,
    READING,
    TRIAL,
    WAIT,
    PageTrial,
    ServedPage,
    StudyPage,
    Tabs,
    any_answer,
    changed_session,
    served_pages,
)
from waiting import wait_until

from vqagen.human.links import verify_codes

pytestmark = [pytest.mark.slow, needs_chromium]
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 320, "height": 640}
NETWORK = "Failed to load resource"
SESSION, ANSWERS = "**/api/v1/session", "**/api/v1/responses/*"
WHOLE = [CONSENT, READING, READING, *[PRACTICE, FEEDBACK] * 2, READING, *[TRIAL] * 3, BREAK, *[TRIAL] * 3, DONE]
"""The screens of a study that is done."""
WRITTEN = {"number": "42", "text": f"  {HOSTILE[0]} \x07\nA second line.  "}
"""Form -> what a rater writes."""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_pages(tmp_path_factory.mktemp("served"), MANY) as place:
        yield place


@pytest.fixture
def window(browser: Any, place: ServedPage) -> Iterator[Callable[..., Tabs]]:
    """Opens windows. Nothing in them may fail, break the content security policy or ask another site."""
    opened: list[Tabs] = []

    def open_window(viewport: dict[str, int] = DESKTOP, of: ServedPage = place, **options: Any) -> Tabs:
        opened.append(Tabs(new_window(browser, viewport=viewport, **options), of))
        opened[-1].stay_inside()
        return opened[-1]

    yield open_window
    for tabs in opened:
        tabs.context.close()
    assert [fault for tabs in opened for fault in tabs.faults] == []


def fits(tab: StudyPage) -> bool:
    """True if nothing is wider than the window."""
    return bool(tab.page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


# The whole study ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("use", "viewport", "is_hebrew"),
    [(KEYBOARD, DESKTOP, False), (MOUSE, PHONE, True)],
    ids=["keyboard", "phone"],
)
def test_a_study_is_done(
    use: str, viewport: dict[str, int], is_hebrew: bool, window: Callable[..., Tabs], place: ServedPage
) -> None:
    """With the planned texts shown literally, every answer stored as given, and a code, only for who took part."""
    tabs, name = window(viewport), f"all-{use}"
    if is_hebrew:
        tabs.context.route(SESSION, changed_session(texts=HEBREW))
    tab, seen, given = tabs.tab(use), list[PageTrial](), list[tuple[int, object]]()
    link = place.link(f"id={name}&SESSION_ID=a%2Fb+c")
    assert tab.open(link) == CONSENT
    assert fits(tab)

    def choose(trial: PageTrial) -> object:
        assert fits(tab)
        value = WRITTEN.get(trial.form) or trial.choices[-1]
        if trial.number:
            seen.append(trial)
            given.append((trial.number, int(value) if trial.form in ("number", "scale") else value))
        return value

    code = tab.take(choose)

    for shown, trial in zip(seen, place.trials(name), strict=True):
        said = [text for each in trial.item.history for text in (each.text, each.answer) if text]
        assert shown[:3] == (trial.number, trial.item.prompt, (*trial.texts, *said))
    given[-1] = (given[-1][0], f"{HOSTILE[0]} \nA second line.")
    assert place.values(name) == given
    assert all(0 <= row.rt_ms <= row.shown_ms < 600_000 and row.blur == 0 for row in place.answers(name))
    assert verify_codes(place.study.folder, [code])[code]
    assert tab.page.title() != "broken"
    address = f"https://panel.example/?code={code}&session=a%2Fb%20c&no="
    assert tab.page.locator("a.main").get_attribute("href") == address
    assert (tab.reload(), tab.code) == (DONE, code)
    other = window().tab()
    assert (other.open(link), other.code) == (DONE, "")


def test_arrow_keys_move_to_the_next_cell_of_a_grid(window: Callable[..., Tabs]) -> None:
    """In their direction, over those that cannot be chosen."""
    tab = window().on_trial("arrows", KEYBOARD)
    while tab.screen != TRIAL or tab.trial().form != "cell":
        tab.go_on()
    tab.choose("ant")
    moves = []
    for key in ("Right", "Left", "Down", "Right", "Left", "Up"):
        tab.page.keyboard.press(f"Arrow{key}")
        moves.append(tab.page.locator("input:checked").get_attribute("value"))

    assert moves == ["bee", "ant", "cow", "dog", "cow", "ant"]
    assert tab.page.locator("input:focus").get_attribute("aria-label") == "Row 1, column 1"


# Answers that are not lost, doubled or skipped ----------------------------------------------------------------------


def test_a_double_click_skips_nothing(window: Callable[..., Tabs], place: ServedPage) -> None:
    """Neither a trial, nor the feedback of a practice, nor a text to read, even if its second click comes late."""
    tab = window().tab()
    tab.open(place.link("id=double"))
    tab.page.locator("#agreed").click()
    step = tab.page.locator("#main")
    seen = [tab.screen]
    while tab.screen != DONE:
        if tab.screen in (PRACTICE, TRIAL):
            tab.choose(any_answer(tab.trial()))
        before = int(step.get_attribute("data-step"))
        tab.page.locator("#main button.main").dblclick()
        expect(step).to_have_attribute("data-step", str(before + 1))
        seen.append(tab.screen)
        if tab.screen != DONE:
            tab.page.locator("#main button.main").hover()
            tab.page.mouse.down(click_count=2)
            tab.page.mouse.up(click_count=2)
            assert tab.page.locator(".note:not(:empty)").count() == 0
            expect(step).to_have_attribute("data-step", str(before + 1))

    assert seen == WHOLE
    assert [number for number, _ in place.values("double")] == [1, 2, 3, 4, 5, 6]


def test_a_reload_continues_on_the_same_screen(window: Callable[..., Tabs], place: ServedPage) -> None:
    """As does who goes back, and on again."""
    tab = window().tab()
    seen = [tab.open(place.link("id=reload"))]
    while seen[-1] != DONE:
        at = tab.trial() if seen[-1] in (PRACTICE, TRIAL) else None
        again = tab.reload()
        assert again == (PRACTICE if seen[-1] == FEEDBACK else seen[-1])
        assert at is None or tab.trial() == at
        if seen[-1] == FEEDBACK:
            tab.go_on()
        seen.append(tab.go_on())
        if seen[-1] == BREAK:
            tab.page.go_back()
            tab.page.go_forward()
            tab.after("0")

    assert seen == WHOLE
    wait_until(lambda: ("reload", "", 0) in place.events("reload"))  # no screen waits for the server to have it


def test_two_tabs_store_one_answer_for_each_trial(window: Callable[..., Tabs], place: ServedPage) -> None:
    """The first one counts, and the second tab goes on."""
    tabs = window()
    tabs.accepted = ("409 (Conflict)",)
    first = tabs.on_trial("two")
    second = tabs.tab()
    assert second.open(place.link("id=two")) == READING
    while second.screen != TRIAL:
        second.go_on()
    first.answer(20)
    second.answer(80)

    assert second.trial().number == 2
    chosen = second.trial().choices[1]
    assert second.answer(chosen) == TRIAL
    assert second.take()
    assert first.answer(first.trial().choices[0]) == DONE
    assert [str(value) for _, value in place.values("two")][:2] == ["20", chosen]


# Failures -----------------------------------------------------------------------------------------------------------


class Cut:
    """A network that loses answers on their way to the server, or what the server replies to them, until it is mended.

    `sent` are the bodies of all attempts.
    """

    def __init__(self, tab: StudyPage, *, is_reply: bool = False) -> None:
        self.sent: list[dict[str, Any]] = []
        self._is_reply, self._is_mended = is_reply, False
        self._page = tab.page
        self._page.route(ANSWERS, self._handle)

    def mend(self) -> None:
        """Let answers and replies pass."""
        self._is_mended = True

    def wait_for_attempts(self, count: int) -> None:
        """Wait until the page has tried so many times."""
        while len(self.sent) < count:
            with self._page.expect_request(ANSWERS):
                pass

    def _handle(self, route: Any) -> None:
        self.sent.append(route.request.post_data_json)
        if self._is_mended:
            route.fallback()
            return
        if self._is_reply:
            route.fetch()
        route.abort()


@pytest.mark.parametrize("is_reply", [False, True], ids=["request", "reply"])
def test_an_answer_that_is_cut_off_is_sent_again(
    is_reply: bool, window: Callable[..., Tabs], place: ServedPage
) -> None:
    """The same, also after a reload, until it is stored, once; meanwhile the page says so, and takes no other."""
    tabs, name = window(), f"cut-{is_reply}"
    tabs.accepted = (NETWORK,)
    tab = tabs.on_trial(name)
    tab.page.on("dialog", lambda asked: asked.accept())
    tab.choose(60)
    network = Cut(tab, is_reply=is_reply)
    tab.page.locator("form.trial button.main").click()
    banner = tab.page.locator("#banner")
    expect(banner).to_have_text(place.study.texts["not_saved"])
    expect(tab.page.locator("form.trial button.main")).to_be_disabled()
    tab.page.keyboard.press("1")
    network.wait_for_attempts(2)
    assert place.values(name) == ([(1, 60)] if is_reply else [])
    tab.page.reload()
    network.wait_for_attempts(3)
    network.mend()
    expect(tab.page.locator('.stage[data-number="2"]')).to_be_visible()

    expect(banner).to_have_text("")
    assert all(each == network.sent[0] for each in network.sent)
    assert place.values(name) == [(1, 60)]


# Places and time ----------------------------------------------------------------------------------------------------


def test_who_loses_a_place_is_given_another_as_long_as_there_is_one(window: Callable[..., Tabs], tmp_path: Any) -> None:
    """Before the first answer. Who has consented is not asked again; the others read when to try again."""
    with served_pages(tmp_path, FEW) as crowded:
        tabs = window(of=crowded)
        tabs.accepted = ("409 (Conflict)",)
        slow, other, quick = (tabs.on_trial(name) for name in ("slow", "other", "quick"))
        quick.answer(30)
        assert (slow.answer(40), slow.trial().number) == (TRIAL, 1)
        assert crowded.values("slow") == []
        assert (slow.answer(50), slow.trial().number) == (TRIAL, 2)
        assert other.answer(60) == WAIT
        assert "29 min" in other.page.inner_text("#main") or "30 min" in other.page.inner_text("#main")
        assert serious_faults(other) == []
        assert (other.go_on(), other.reload()) == (WAIT, WAIT)


def test_when_the_time_has_run_out_the_page_says_so(window: Callable[..., Tabs], place: ServedPage) -> None:
    """At once; who goes on while the place is free is on the same trial."""
    tab = window().tab()
    tab.page.clock.install()
    tab.open(place.link("id=idle"))
    while tab.screen != TRIAL:
        tab.go_on()
    tab.answer(30)
    at = tab.trial()
    tab.page.clock.fast_forward("31:00")
    expect(tab.page.locator(f'#main[data-screen="{PAUSED}"]')).to_be_visible()
    assert serious_faults(tab) == []

    assert (tab.go_on(), tab.trial()) == (TRIAL, at)
    tab.page.clock.fast_forward("31:00")
    tab.page.route(SESSION, changed_session(state="expired"))
    assert tab.go_on() == END
    assert place.study.texts.words["expired"][0] == tab.page.inner_text("h1")


# What raters report, and what is not kept ---------------------------------------------------------------------------


def test_a_browser_that_a_program_drives_is_reported(window: Callable[..., Tabs], place: ServedPage) -> None:
    """And how often the page was out of sight."""
    tab = window().on_trial("robot")
    for is_hidden in ("true", "false", "true", "false"):
        tab.page.evaluate(
            f"Object.defineProperty(document, 'hidden', {{ value: {is_hidden}, configurable: true }});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
    tab.answer(50)

    wait_until(lambda: ("webdriver", "", 0) in place.events("robot"))  # no screen waits for the server to have it
    assert [row.blur for row in place.answers("robot")] == [2]


def test_nothing_of_a_preview_is_kept(window: Callable[..., Tabs], place: ServedPage) -> None:
    """Neither in the browser nor by the server; it shows all screens, and says what it is."""
    tab = window().tab()
    before = len(place.study_state().assignments)
    seen = [tab.open(place.link("id=looks", is_preview=True))]
    while seen[-1] != DONE:
        expect(tab.page.locator("#preview")).to_have_text(place.study.texts["preview_banner"])
        seen.append(tab.go_on())

    assert seen == WHOLE
    assert (tab.code, tab.page.inner_text("h1")) == ("", place.study.texts.words["preview_done"][0])
    assert tab.page.evaluate("localStorage.length + sessionStorage.length") == 0
    assert len(place.study_state().assignments) == before


# Accessibility ------------------------------------------------------------------------------------------------------


def serious_faults(tab: StudyPage) -> list[str]:
    """Return the rules that the screen of a tab breaks, by axe."""
    axe: Any = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    return [each["id"] for each in axe.run(tab.page).response["violations"]]


@pytest.mark.parametrize(
    ("viewport", "scheme", "is_hebrew"),
    [(DESKTOP, "light", False), (PHONE, "dark", True)],
    ids=["desktop", "phone-dark-hebrew"],
)
def test_axe_finds_nothing(
    viewport: dict[str, int], scheme: str, is_hebrew: bool, window: Callable[..., Tabs], place: ServedPage
) -> None:
    """On every screen of a study that is done, with its dialogs, its warnings and its end; comments are stored."""
    tabs = window(viewport, color_scheme=scheme)
    if is_hebrew:
        tabs.context.route(SESSION, changed_session(texts=HEBREW))
    tab, checked, name = tabs.tab(), list[str](), f"axe-{scheme}"
    page = tab.page

    def check(name: str) -> None:
        assert (name, serious_faults(tab)) == (name, [])
        checked.append(name)

    def check_dialog(opener: str) -> None:
        page.locator(opener).click()
        expect(page.locator("dialog[open]")).to_be_visible()
        check(opener)

    tab.open(place.link(f"id={name}"))
    while tab.screen != DONE:
        is_trial = tab.screen in (TRIAL, PRACTICE)
        check(f"{tab.screen} {tab.trial().form}" if is_trial else tab.screen)
        if is_trial:
            page.locator("form.trial button.main").click()
            expect(page.locator(".note")).not_to_be_empty()
        if tab.screen == TRIAL and tab.trial().form == "scale":
            number = tab.trial().number
            for opener in (".enlarge", "#instructions", "#withdraw"):
                check_dialog(opener)
                page.keyboard.press("Escape")
            check_dialog("#comment")
            page.locator("dialog textarea").fill(HOSTILE[0])
            page.locator("dialog input").click()
            page.locator("dialog button.main").click()
            expect(page.locator("dialog h2")).to_have_text(place.study.texts["comment_thanks"])
            check("thanks")
            page.keyboard.press("Escape")
            assert ("problem", HOSTILE[0], number) in place.events(name)
        tab.go_on()
    check(DONE)

    assert {CONSENT, READING, "practice options", FEEDBACK, BREAK, "thanks", DONE} < set(checked)
    assert {f"{TRIAL} {form}" for form in ("scale", "options", "number", "text", "cell")} < set(checked)


def test_axe_finds_nothing_where_a_study_is_not_done(window: Callable[..., Tabs], place: ServedPage) -> None:
    """After a refusal, a withdrawal, with a link that is not valid, in previews, without an image."""
    tabs = window(PHONE, color_scheme="dark")
    tabs.accepted = (NETWORK,)
    tab, name = tabs.tab(), "axe-end"

    def check(screen: str, expected: str) -> None:
        assert (screen, serious_faults(tab)) == (expected, [])

    check(tab.open(place.link(f"id={name}&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")), PREVIEW)
    check(tab.open(f"{place.url}/s/{'x' * 60}"), END)
    check(tab.open(place.link(f"id={name}", is_preview=True)), CONSENT)
    tab.open(place.link(f"id={name}"))
    check(tab.decline(), END)
    tab.page.route("**/img/*", lambda route: route.abort())
    tab.open(place.link(f"id={name}-image"))
    while tab.screen != IMAGE_FAILED:
        tab.go_on()
    check(tab.screen, IMAGE_FAILED)
    tab = tabs.on_trial(f"{name}-leaves")
    check(tab.withdraw(), END)
