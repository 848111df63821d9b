"""A real browser that does the actions of small sites, from a live server or from a recording."""

import time

from playwright.sync_api import Error

# How long an action, or a page that settles, may take, in seconds.
DEADLINE = 8
# Two frames on, so that what has just been done has been shown.
SETTLED = """() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(
    document.readyState === 'complete' && !document.documentElement.hasAttribute('data-busy')))))"""
TEXT = "document.body.innerText"
# In place of a method, where a page has sent a frame over a WebSocket.
FRAME = "FRAME"


class Client:
    """A new browser without cookies, with tabs that are at one site."""

    def __init__(self, browser, proxy, site):
        self.site = site
        # The authority of a proxy of ours is known to no browser.
        self.context = browser.new_context(proxy={"server": proxy}, ignore_https_errors=True)
        self.context.set_default_timeout(DEADLINE * 1000)
        self.context.on("request", self.asked)
        self.context.on("requestfinished", lambda _: self.ended())
        self.context.on("requestfailed", self.failed)
        self.context.on("page", lambda page: page.on("websocket", self.connected))
        self.in_flight = 0
        # Whether an interface of the machine came or went: Chromium drops its connections then.
        self.is_disturbed = False
        # The requests since the last action, as `(method, URL)`.
        self.requests = []
        self.failure = ""
        self.tabs = [self.context.new_page()]
        self.page = self.tabs[0]
        self.perform(lambda: self.page.goto(site.url("/")))

    def asked(self, request):
        self.in_flight += 1
        self.requests.append((request.method, request.url.partition("#")[0]))

    def connected(self, web_socket):
        self.requests.append(("GET", web_socket.url))
        web_socket.on("framesent", lambda _: self.requests.append((FRAME, web_socket.url)))

    def failed(self, request):
        self.is_disturbed |= request.failure == "net::ERR_NETWORK_CHANGED"
        self.ended()

    def ended(self):
        self.in_flight -= 1

    def offers(self, action):
        return all(self.page.locator(selector).first.is_visible() for selector in action.named)

    def do(self, action):
        self.requests = []
        self.perform(lambda: [self.step(*step) for step in action.steps])

    def perform(self, act):
        """Does something and waits until it is done. What cannot be done is what is shown then, however
        it failed."""
        self.failure = ""
        try:
            act()
            self.settle()
        except Error as error:
            self.failure = "cannot be done"

    def step(self, kind, *words):
        match kind:
            case "click" | "open":
                self.page.click(words[0])
            case "follow":
                with self.page.expect_navigation():
                    self.page.click(words[0])
            case "fill":
                self.page.fill(words[0], words[1])
            case "select":
                self.page.select_option(words[0], words[1])
            case "goto":
                self.page.goto(self.site.url(words[0]))
            case "tab":
                self.look_at(*words)

    def look_at(self, number, path):
        if number < len(self.tabs):
            self.page = self.tabs[number]
            self.page.bring_to_front()
            return
        self.page = self.context.new_page()
        self.tabs.append(self.page)
        self.page.goto(self.site.url(path))

    def settle(self):
        """Waits until nothing is under way; a page that is never done is taken as it is then."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            # It is asked again after two frames: it has no event for "nothing is under way".
            if self.page.evaluate(SETTLED) and self.in_flight == 0:
                return

    def text(self):
        return self.failure or self.site.lasting(self.page.evaluate(TEXT))

    def close(self):
        self.context.close()
