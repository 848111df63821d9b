"""Three applications that `sandbox up` runs, and what is done there: a shop, a forum, tickets."""

import re

from small_site import Action, Used, follow, goto

# What a page shows of the time of day: it goes on while an application runs.
AGO = re.compile(r"\b(\d+|a|an|one|a few|less than a) (second|minute|hour)s? ago\b|\bjust now\b|\bnow\b")
TIME = re.compile(r"\b\d{1,2}:\d\d(:\d\d)?( [AP]M|\b)")


class Application(Used):
    clock = "2023-06-15T09:00:00Z"

    @staticmethod
    def lasting(text):
        return AGO.sub("AGO", TIME.sub("TIME", text))


def log_in(page, button, **fields):
    """Logs in by a form on a page of its own."""
    filled = (("fill", f"[name={name}]", value) for name, value in fields.items())
    return Action("log-in", (("goto", page), *filled, ("follow", button)))


class Forum(Application):
    name = "forum"
    thread = "/f/books/4349/am-i-the-only-one-who-struggled-with-persuasion"
    voted = "#submission_4349 form.vote"
    menu = ("open", ".site-nav__user summary")
    actions = (
        log_in(
            "/login",
            "#login-form .button",
            _username="MarvelsGrantMan136",
            _password="test1234",
        ),
        Action("log-out", (menu, ("follow", "form[action='/logout'] button"))),
        goto("front", "/"),
        goto("books", "/f/books/new"),
        goto("thread", thread),
        goto("profile", "/user/MarvelsGrantMan136"),
        follow("up", f"{voted} .vote__up"),
        follow("down", f"{voted} .vote__down"),
        follow("subscribe", ".subscribe-form button"),
        Action(
            "comment",
            (
                ("fill", "#reply_to_submission_4349_comment", "It does get better."),
                ("follow", ".submission + .comment-form .button"),
            ),
        ),
        Action(
            "biography",
            (
                ("goto", "/user/MarvelsGrantMan136/edit_biography"),
                ("fill", "main textarea", "I read on trams."),
                ("follow", "main .form .button"),
            ),
            needs=(".site-nav__user",),
        ),
    )
    oracle = (
        "books thread log-in front books up thread down books subscribe profile thread comment books profile"
        " biography thread up books subscribe log-out thread books"
    ).split()


APPLICATIONS = (Forum,)
