"""The page of a rater study in a real browser, before a real server: no answer is lost, doubled or skipped."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from browsers import expect, needs_chromium, new_window
from human_pages import (
    CONSENT,
    DONE,
    END,
    FEEDBACK,
    HOSTILE,
    IMAGE_FAILED,
    KEYBOARD,
    MOUSE,
    PRACTICE,
    PREVIEW,
    READING,
    TRIAL,
    ServedPage,
    ShownTrial,
    StudyPage,
    Tabs,
    in_hebrew,
    served_pages,
)
from waiting import wait_until

from vqagen.human.links.study_links import verify_codes

pytestmark = needs_chromium
DESKTOP, PHONE = {"width": 1280, "height": 800}, {"width": 320, "height": 640}
NETWORK = "Failed to load resource"
ANSWERS = "**/api/v1/responses/*"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedPage]:
    with served_pages(tmp_path_factory.mktemp("served")) as place:
        yield place


@pytest.fixture
def window(browser: Any, place: ServedPage) -> Iterator[Callable[..., Tabs]]:
    """Opens windows. Nothing in them may fail, break the content security policy or ask another site."""
    opened: list[Tabs] = []

    def open_window(viewport: dict[str, int] = DESKTOP, **options: Any) -> Tabs:
        opened.append(Tabs(new_window(browser, viewport=viewport, **options), place))
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


@pytest.mark.quick("keyboard")
@pytest.mark.parametrize(
    ("use", "viewport", "is_hebrew"),
    [(KEYBOARD, DESKTOP, False), (MOUSE, PHONE, True)],
    ids=["keyboard", "phone"],
)
def test_a_study_is_done(
    use: str, viewport: dict[str, int], is_hebrew: bool, window: Callable[..., Tabs], place: ServedPage
) -> None:
    """With the planned texts shown literally, every answer stored as chosen, and a code that is verified."""
    tabs, name = window(viewport), f"all-{use}-{viewport['width']}"
    if is_hebrew:
        tabs.context.route("**/api/v1/session", in_hebrew)
    tab, seen = tabs.tab(use), list[ShownTrial]()
    assert tab.open(place.link(f"id={name}")) == CONSENT
    assert fits(tab)

    def choose(trial: ShownTrial) -> int:
        assert fits(tab)
        seen.append(trial)
        return 2 * trial.number

    code = tab.take(choose)

    assert [(each.number, each.texts) for each in seen] == [(each.number, each.texts) for each in place.trials(name)]
    assert {text for each in seen for text in each.texts} >= set(HOSTILE)
    assert place.values(name) == [(number, 2 * number) for number in range(1, 5)]
    assert all(0 <= row.rt_ms <= row.shown_ms < 600_000 and row.blur == 0 for row in place.answers(name))
    assert verify_codes(place.study.folder, [code])[code]
    assert tab.page.title() != "broken"
    assert tab.reload() == DONE
    assert tab.code == code


# Answers that are not lost, doubled or skipped ----------------------------------------------------------------------


@pytest.mark.slow
def test_a_double_click_skips_nothing(window: Callable[..., Tabs], place: ServedPage) -> None:
    """Neither a trial, nor the feedback of a practice, nor a text to read, even if its second click comes late."""
    tab = window().tab()
    tab.open(place.link("id=double"))
    tab.page.locator("#agreed").click()
    step = tab.page.locator("#main")
    seen = [tab.screen]
    while tab.screen != DONE:
        if tab.screen in (PRACTICE, TRIAL):
            tab.choose(3)
        before = int(step.get_attribute("data-step"))
        tab.page.locator("#main button.main").dblclick()
        expect(step).to_have_attribute("data-step", str(before + 1))
        seen.append(tab.screen)
        if tab.screen != DONE:
            tab.page.locator("#main button.main").hover()
            tab.page.mouse.down(click_count=2)
            tab.page.mouse.up(click_count=2)
            assert tab.page.get_by_text(place.study.texts["choose_first"]).count() == 0
            expect(step).to_have_attribute("data-step", str(before + 1))

    assert seen == [CONSENT, READING, READING, *[PRACTICE, FEEDBACK] * 2, READING, *[TRIAL] * 4, DONE]
    assert [number for number, _ in place.values("double")] == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_reload_continues_on_the_same_screen(window: Callable[..., Tabs], place: ServedPage) -> None:
    tab = window().tab()
    seen = [tab.open(place.link("id=reload"))]
    while seen[-1] != DONE:
        at = tab.trial() if seen[-1] in (PRACTICE, TRIAL) else None
        again = tab.reload()
        assert again == (PRACTICE if seen[-1] == FEEDBACK else seen[-1])
        assert at is None or tab.trial() == at
        if seen[-1] == FEEDBACK:
            tab.go_on()
        seen.append(tab.answer(3) if tab.screen == TRIAL else tab.go_on())

    assert seen == [CONSENT, READING, READING, *[PRACTICE, FEEDBACK] * 2, READING, *[TRIAL] * 4, DONE]
    wait_until(lambda: "reload" in place.events("reload"))  # no screen waits for the server to have it


@pytest.mark.slow
def test_two_tabs_store_one_answer_for_each_trial(window: Callable[..., Tabs], place: ServedPage) -> None:
    """The first one counts, and the second tab goes on."""
    tabs = window()
    tabs.accepted = ("409 (Conflict)",)
    first = tabs.on_trial("two")
    second = tabs.on_trial("two")
    first.answer(2)
    second.answer(8)

    assert second.trial().number == 2
    assert second.take(lambda trial: 5)
    assert first.answer(9) == DONE
    assert place.values("two") == [(1, 2), (2, 5), (3, 5), (4, 5)]


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


@pytest.mark.slow
@pytest.mark.parametrize("is_reply", [False, True], ids=["request", "reply"])
def test_an_answer_that_is_cut_off_is_sent_again(
    is_reply: bool, window: Callable[..., Tabs], place: ServedPage
) -> None:
    """The same, until it is stored, once; meanwhile the page says that it is not saved, and takes no other."""
    tabs, name = window(), f"cut-{is_reply}"
    tabs.accepted = (NETWORK,)
    tab = tabs.on_trial(name)
    tab.choose(6)
    network = Cut(tab, is_reply=is_reply)
    tab.page.locator("form.trial button.main").click()
    banner = tab.page.locator("#banner")
    expect(banner).to_have_text(place.study.texts["not_saved"])
    expect(tab.page.locator("form.trial button.main")).to_be_disabled()
    tab.page.keyboard.press("1")
    network.wait_for_attempts(2)
    assert place.values(name) == ([(1, 6)] if is_reply else [])
    network.mend()
    expect(tab.page.locator('.stage[data-number="2"]')).to_be_visible()

    expect(banner).to_have_text("")
    assert all(each == network.sent[0] for each in network.sent)
    assert place.values(name) == [(1, 6)]


@pytest.mark.slow
def test_an_answer_that_is_not_saved_survives_a_reload(window: Callable[..., Tabs], place: ServedPage) -> None:
    tabs = window()
    tabs.accepted = (NETWORK,)
    tab = tabs.on_trial("kept")
    tab.page.on("dialog", lambda asked: asked.accept())
    tab.choose(6)
    network = Cut(tab)
    tab.page.locator("form.trial button.main").click()
    expect(tab.page.locator("#banner")).not_to_be_empty()
    network.mend()
    tab.reload()

    assert tab.trial().number == 2
    assert place.values("kept") == [(1, 6)]


# People -------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_browser_that_a_program_drives_is_reported(window: Callable[..., Tabs], place: ServedPage) -> None:
    """And how often the page was out of sight."""
    tab = window().on_trial("robot")
    for is_hidden in ("true", "false", "true", "false"):
        tab.page.evaluate(
            f"Object.defineProperty(document, 'hidden', {{ value: {is_hidden}, configurable: true }});"
            "document.dispatchEvent(new Event('visibilitychange'))"
        )
    tab.answer(5)

    wait_until(lambda: "webdriver" in place.events("robot"))  # no screen waits for the server to have it
    assert [row.blur for row in place.answers("robot")] == [2]


# Accessibility ------------------------------------------------------------------------------------------------------


def serious_faults(tab: StudyPage) -> list[str]:
    """Return the rules that the screen of a tab breaks seriously, by axe."""
    axe: Any = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(tab.page).response["violations"]
    return [each["id"] for each in found if each["impact"] in ("serious", "critical")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("viewport", "scheme", "is_hebrew"),
    [(DESKTOP, "light", False), (PHONE, "dark", True)],
    ids=["desktop", "phone-dark-hebrew"],
)
def test_axe_finds_nothing_serious(
    viewport: dict[str, int], scheme: str, is_hebrew: bool, window: Callable[..., Tabs], place: ServedPage
) -> None:
    """On every screen of a study that is done, with its dialog, its warning and its end."""
    tabs = window(viewport, color_scheme=scheme)
    if is_hebrew:
        tabs.context.route("**/api/v1/session", in_hebrew)
    tab, checked = tabs.tab(), set[str]()
    name = f"axe-{viewport['width']}-{scheme}-{is_hebrew}"

    def check(screen: str) -> None:
        assert (screen, serious_faults(tab)) == (screen, [])
        checked.add(screen)

    screen = tab.open(place.link(f"id={name}"))
    while screen != DONE:
        if screen not in checked:
            check(screen)
        if screen == PRACTICE and "dialog" not in checked:
            tab.page.locator(".enlarge").click()
            check("dialog")
            tab.page.keyboard.press("Escape")
            tab.page.locator("form.trial button.main").click()
            check("warning")
        screen = tab.answer(3) if screen == TRIAL else tab.go_on()
    check(DONE)

    assert checked == {CONSENT, READING, PRACTICE, FEEDBACK, TRIAL, "dialog", "warning", DONE}


@pytest.mark.slow
def test_axe_finds_nothing_serious_where_a_study_is_not_done(window: Callable[..., Tabs], place: ServedPage) -> None:
    """After a refusal, a withdrawal and its question, with a link that is not valid, in a preview, without an image."""
    tabs = window(PHONE, color_scheme="dark")
    tabs.accepted = (NETWORK,)
    tab, name = tabs.tab(), "axe-end"

    def check(screen: str, expected: str) -> None:
        assert (screen, serious_faults(tab)) == (expected, [])

    check(tab.open(place.link(f"id={name}&assignmentId=ASSIGNMENT_ID_NOT_AVAILABLE")), PREVIEW)
    check(tab.open(f"{place.url}/s/{'x' * 60}"), END)
    tab.open(place.link(f"id={name}"))
    check(tab.decline(), END)
    tab.page.route("**/img/*", lambda route: route.abort())
    tab.open(place.link(f"id={name}-image"))
    while tab.screen != IMAGE_FAILED:
        tab.go_on()
    check(tab.screen, IMAGE_FAILED)
    tab = tabs.on_trial(f"{name}-leaves")
    tab.page.locator("#withdraw").click()
    expect(tab.page.locator("dialog[open]")).to_be_visible()
    check(tab.screen, TRIAL)
    tab.page.keyboard.press("Escape")
    check(tab.withdraw(), END)
