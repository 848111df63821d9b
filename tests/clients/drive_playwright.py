"""Drives the task `guest-booking` of the demo suite with Playwright, and looks at what Playwright takes for granted."""

import datetime
import os

from playwright.sync_api import Error, sync_playwright

with sync_playwright() as playwright:
    browser = playwright.chromium.connect_over_cdp(os.environ["SANDBOX_CDP"])
    context = browser.contexts[0]
    page = context.pages[0]
    assert page.url == os.environ["SANDBOX_START_URL"], page.url

    # Pictures, frames, dialogs, timers, tabs and contexts of its own.
    assert page.screenshot().startswith(b"\x89PNG")
    page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    asked = []
    page.once("dialog", lambda dialog: (asked.append(dialog.message), dialog.accept()))
    assert page.evaluate("confirm('Is it?')") is True and asked == ["Is it?"]
    page.evaluate("setTimeout(() => { document.body.id = 'late' }, 300)")
    page.wait_for_selector("body#late")
    with context.expect_page() as opened:
        page.evaluate("void window.open('https://www.cityscreen.test/')")
    opened.value.wait_for_load_state()
    tab = context.new_page()
    tab.goto("https://www.hearthside.test/")
    stranger = browser.new_context().new_page()
    stranger.goto("https://www.hearthside.test/")
    start = datetime.datetime.fromisoformat(os.environ["SANDBOX_CLOCK"])
    for one in (page, opened.value, tab, stranger):
        now = datetime.datetime.fromtimestamp(one.evaluate("Date.now()") / 1000, datetime.timezone.utc)
        assert datetime.timedelta() < now - start < datetime.timedelta(minutes=2), now
    # Downloads, and what is not the episode's.
    for one in (tab, stranger):
        one.set_content("<a id=file download=notes.txt href='data:text/plain,hello'>Notes</a>")
        with one.expect_download() as download:
            one.click("#file")
        with open(download.value.path()) as notes:
            assert notes.read() == "hello"
        for address in ("file:///etc/passwd", "chrome://version/"):
            try:
                one.goto(address)
                raise AssertionError(f"{address} was opened")
            except Error as error:
                assert "addresses are not opened" in error.message, error.message
    for one in (opened.value, tab, stranger):
        one.close()

    page.get_by_role("link", name="My trips").click()
    page.get_by_role("link", name="Continue as guest").click()
    page.get_by_role("link", name="RE 406").click()
    with open(os.environ["SANDBOX_ANSWER_FILE"], "w") as answer:
        answer.write("This is the train.")
