"""Three applications that `sandbox up` runs, and what is done there: a shop, a forum, tickets."""

import re

from small_site import Action, Used, follow, goto

# What a page shows of the time of day: it goes on while an application runs.
AGO = re.compile(
    r"\b(\d+|a|an|one|a few|less than a) (second|minute|hour)s? ago\b|\bjust now\b|\bnow\b"
)
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
    user = ".site-nav__user"
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
        Action("up", (("follow", f"{voted} .vote__up"),), needs=(user,)),
        Action("down", (("follow", f"{voted} .vote__down"),), needs=(user,)),
        Action("subscribe", (("follow", ".subscribe-form button"),), needs=(user,)),
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
            needs=(user,),
        ),
    )
    oracle = (
        "books thread profile log-in front books up profile thread down front books profile "
        "biography books subscribe front profile thread up comment books down subscribe "
        "profile log-out thread books log-in thread up profile front books down thread "
        "profile log-out books thread profile"
    ).split()


class Shop(Application):
    name = "shop"
    actions = (
        log_in(
            "/accounts/login/",
            "[name=login_submit]",
            **{"login-username": "emma.lopez@gmail.com", "login-password": "Password.123"},
        ),
        goto("log-out", "/accounts/logout/"),
        goto("products", "/catalogue/"),
        goto("basket", "/basket/"),
        goto("wishes", "/accounts/wishlists/"),
        follow("coffee", "form[action='/basket/add/1/'] button"),
        follow("second", "form[action='/basket/add/2/'] button"),
        Action(
            "three",
            (("fill", "[name=form-0-quantity]", "3"), ("follow", "#basket_formset [type=submit]")),
        ),
        Action("remove", (("follow", "[data-behaviours=remove]"),)),
        follow("wish", "a[href$='/wishlists/add/1/']"),
        goto("product", "/catalogue/old-mill-house-ground-coffee-500-g_1/"),
    )
    oracle = (
        "product wishes basket products coffee basket products second basket remove remove "
        "basket products second basket three products coffee basket remove remove basket "
        "log-in products product basket wishes products coffee basket products second basket "
        "three products coffee basket remove remove products second basket remove products "
        "coffee basket log-out basket product wishes products coffee basket log-in basket "
        "products log-out"
    ).split()


class Tickets(Application):
    name = "tickets"
    actions = (
        log_in("/", "#login [type=submit]", user="noor", **{"pass": "quayside-2023"}),
        goto("log-out", "/NoAuth/Logout.html"),
        goto("home", "/"),
        goto("change", "/Ticket/Display.html?id=168"),
        goto("wish", "/Ticket/Display.html?id=178"),
        # A link that does something.
        Action("take", (("follow", "a[href*='Action=Take&id=178']"),)),
        Action(
            "comment",
            (
                ("goto", "/Ticket/Update.html?Action=Comment&id=168"),
                ("fill", "[name=UpdateContent]", "Tested on the spare switch."),
                ("follow", "[name=SubmitTicket]"),
            ),
            needs=("#preferences-menu, #li-preferences",),
        ),
    )
    oracle = (
        "home change wish log-out home log-in home change wish home comment change home "
        "log-out home log-in home take wish home change comment home log-out change wish "
        "log-in home"
    ).split()


APPLICATIONS = (Forum, Shop, Tickets)
