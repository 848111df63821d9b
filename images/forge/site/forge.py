"""What the forge does otherwise than Pagure as it comes, and why.

Log-ins are signed cookies, so that they outlive a reset; pictures of people are drawn here, not fetched; git takes the
site's time; the mirrors of tickets and requests in git repositories, which no page shows, are left out.
"""
import datetime
import hashlib
import hmac
import os
import time
import types

import bcrypt
import flask
import flask_wtf.csrf
import pagure.config
import pagure.lib.git
import pagure.lib.login
import pagure.lib.model
import pagure.lib.query
import pagure.lib.tasks
import pagure.ui.login
import pygit2
import sqlalchemy

import quick

KEY = pagure.config.config["SECRET_KEY"].encode()
COOKIE = "pagure_local_cookie"
NOTHING = types.SimpleNamespace(id="", get=lambda *args, **kwargs: None)


def signed(name):
    return f"{name}.{hmac.digest(KEY, name.encode(), 'sha256').hex()[:40]}"


def who():
    """Before each request: whom the cookie names."""
    flask.g.session = flask.g.get("session") or pagure.lib.model_base.create_session(flask.current_app.config["DB_URL"])
    flask.g.fas_session_id, name = None, flask.request.cookies.get(COOKIE, "").rpartition(".")[0]
    if not name or not hmac.compare_digest(signed(name), flask.request.cookies[COOKIE]):
        return
    user = pagure.lib.query.search_user(flask.g.session, username=name)
    if user:
        flask.g.fas_user, flask.g.fas_session_id = user, signed(name)
        user.email, user.login_time = user.default_email, datetime.datetime.utcnow()
        flask.g.authenticated = pagure.utils.authenticated()


def remember(response):
    """After each request: a cookie for whoever is logged in now."""
    user = flask.g.get("fas_user") if flask.g.get("fas_session_id") else None
    response.set_cookie(COOKIE, signed(user.username) if user else "", httponly=True)
    return response


def avatar(email, size=64, default="retro", dns=False):
    return f"/avatar/{hashlib.sha256((email or '').encode()).hexdigest()[:16]}-{int(size)}.svg"


def drawing(path):
    """Five by five mirrored squares in a colour of the person's own, as large as the path asks for."""
    person, _, size = path.rpartition("/")[2].partition(".")[0].partition("-")
    number = int(hashlib.sha256(person.encode()).hexdigest(), 16)
    squares = "".join(f'<rect x="{x}" y="{y}" width="1" height="1"/><rect x="{4 - x}" y="{y}" width="1" height="1"/>'
                      for x in range(3) for y in range(5) if number >> (x * 5 + y) & 1)
    side = int(size) if size.isdigit() else 64
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{side}" height="{side}" viewBox="-1 -1 7 7">'
            f'<rect x="-1" y="-1" width="7" height="7" fill="#eef0f2"/>'
            f'<g fill="hsl({number >> 20 & 0xff},45%,45%)" shape-rendering="crispEdges">{squares}</g></svg>').encode()


def signature(name, email, moment=-1, offset=0, encoding="utf-8"):
    """A commit's author at the site's time: the library itself would ask the real clock."""
    return real_signature(name, email, int(time.time()) if moment == -1 else moment, offset, encoding)


real_signature, pygit2.Signature = pygit2.Signature, signature
pagure.lib.query.avatar_url_from_email = avatar
pagure.lib.query.set_redis = lambda *args, **kwargs: None
pagure.lib.git.update_git = lambda obj, repo: NOTHING
pagure.lib.tasks.add_file_to_git = types.SimpleNamespace(delay=lambda *args, **kwargs: NOTHING)
pagure.lib.query.get_repotypes = lambda: ("main",)
pagure.ui.login._check_session_cookie, pagure.ui.login._send_session_cookie = who, remember
real_salt = bcrypt.gensalt
bcrypt.gensalt = lambda rounds=4, prefix=b"2b": real_salt(4, prefix)
# What the database would date by its own clock, which is the machine's, is dated here.
for table in pagure.lib.model.BASE.metadata.sorted_tables:
    for column in table.columns:
        for given in (column.default, column.onupdate):
            if given is not None and given.is_clause_element:
                sqlalchemy.ColumnDefault(lambda: datetime.datetime.utcnow(), for_update=given.for_update)._set_parent(column)
# Two copies give alike forms: their tokens come from the secret key.
flask_wtf.csrf.os = types.SimpleNamespace(urandom=lambda size: KEY[:size])


def fixed_nonce():
    """Before each request, last: pages of two copies are alike, so what marks their own scripts is too."""
    flask.g.nonce = hmac.digest(KEY, b"nonce", "sha256").hex()[:25]


def git_time():
    """git itself is another program, and takes the site's time from its environment."""
    os.environ["GIT_AUTHOR_DATE"] = os.environ["GIT_COMMITTER_DATE"] = f"{int(time.time())} +0000"


def git_headers(start_response):
    """What git itself answers is handed on by Pagure as the spelling of bytes, b'...', which no client reads."""
    def start(status, headers, *rest):
        return start_response(status, [(name, value[2:-1] if value[:2] == "b'" else value) for name, value in headers], *rest)

    return start


def application():
    """The WSGI application, with people's pictures in front of it."""
    app = quick.create_app()
    app.before_request(fixed_nonce)

    def forge(environ, start_response):
        path = environ.get("PATH_INFO", "")
        if path.startswith("/avatar/"):
            body = drawing(path)
            start_response("200 OK", [("Content-Type", "image/svg+xml"), ("Content-Length", str(len(body)))])
            return [body]
        if environ.get("HTTP_X_FORWARDED_PROTO") == "https":
            environ["wsgi.url_scheme"] = "https"
        git_time()
        return app(environ, git_headers(start_response) if ".git/" in path else start_response)

    return forge
