"""What check.py does at each site: where to begin, how to log in, and one change that a reset must undo.

`login` is page, fields, a page that shows the log-in and the text it shows there; `change` is a list of steps, each a
page and the fields of the form on it that has them all (none: the page is only opened); `sqlite` are the databases and
`trees` the folders that a reset puts back; `skip` are paths that a crawl must not follow.
"""

SITES = {
    "shop": {
        "start": ["/", "/search/?q=headphones", "/offers/", "/accounts/", "/accounts/orders/", "/basket/", "/delivery/"],
        "login": ("/accounts/login/", {"login-username": "emma.lopez@gmail.com", "login-password": "Password.123"},
                  "/accounts/profile/", "Emma"),
        "change": [("/accounts/addresses/add/", {"first_name": "Emma", "last_name": "Lopez", "line1": "1 Test Lane", "line4": "Ithaca",
                                                 "state": "NY", "postcode": "14850", "country": "US"})],
        "sqlite": ["db.sqlite3"], "trees": ["media"], "skip": "logout|i18n|remove|delete",
        "staff": ("/dashboard/login/", {"username": "admin@example.com", "password": "admin1234"},
                  ["/dashboard/", "/dashboard/orders/", "/dashboard/catalogue/", "/dashboard/users/", "/dashboard/vouchers/"]),
    },
    "hits": {
        "start": ["/login/", "/", "/help/", "/stats/", "/task/1/iframe/", "/task/30/iframe/", "/task/80/iframe/", "/task/100/iframe/", "/task/130/iframe/"],
        "login": ("/login/", {"username": "worker", "password": "worker123"}, "/", "<b>worker</b>"),
        "change": [("/batch/2/accept_next_task/", {})],
        "sqlite": ["db.sqlite3"], "trees": [], "skip": "logout|accept|skip|return|password",
        "staff": ("/admin/login/", {"username": "admin", "password": "admin1234"},
                  ["/admin/", "/admin/turkle/project/", "/admin/turkle/batch/", "/admin/turkle/batch/1/stats/", "/admin/turkle/batch/1/download/"]),
    },
    "wiki": {
        "start": ["/", "/wiki/A/index.html", "/wiki/A/Contents", "/search?content=wiki&pattern=river"],
        "login": None, "change": [], "sqlite": [], "trees": [], "skip": "random|catalog|suggest",
    },
    "forge": {
        "start": ["/", "/browse/projects/", "/groups/", "/users/", "/tidewatch/pull-requests", "/tidewatch/issues", "/tidewatch/commits/main",
                  "/tidewatch/roadmap", "/fork/byteblaze/quernstone"],
        "login": ("/login/", {"username": "byteblaze", "password": "hello1234"}, "/settings", "byteblaze"),
        "change": [("/tidewatch/new_issue", {"title": "A change to be undone", "issue_content": "Nothing to see."}),
                   ("/tidewatch/edit/main/f/README.md", {"content": "# Changed\n", "commit_title": "Change it", "commit_message": "",
                                                         "email": "byteblaze@quayside.example", "branch": "main"}),
                   ("/new/", {"name": "to-be-undone", "description": "A project that a reset must take away"})],
        "sqlite": ["pagure.sqlite"], "trees": ["repositories"],
        "skip": "logout|delete|token|/archive|\\.(tar|zip)|star|watch|fork_project|do_fork|api/",
    },
    "forum": {
        "start": ["/", "/all", "/forums", "/f/books", "/search?q=train", "/user/tallships", "/comments", "/login"],
        "login": ("/login", {"_username": "MarvelsGrantMan136", "_password": "test1234"}, "/user/MarvelsGrantMan136/account", "Delete"),
        "change": [("/submit/books", {"submission[forum]": "books", "submission[title]": "A change to be undone", "submission[body]": "Nothing to see."}),
                   ("/user/MarvelsGrantMan136/edit_biography", {"user_biography[biography]": "Changed."})],
        "sqlite": ["forum.sqlite3"], "trees": [], "skip": "logout|delete",
    },
}
