"""Fills the forge: run once while the image is built, with the clock moving through the year before the first moment."""
import datetime
import itertools
import os
import random
import string
import uuid

import time_machine

NOW = datetime.datetime(2023, 6, 15, 9, tzinfo=datetime.timezone.utc)
clock = time_machine.travel(NOW, tick=False).start()
rng = random.Random(20230615)
random.seed(20230615)
uuid.uuid4 = lambda: uuid.UUID(int=rng.getrandbits(128), version=4)

import bcrypt  # noqa: E402
import forge  # noqa: E402,F401  (its changes hold for the seed too)
import pagure.config  # noqa: E402
import pagure.lib.login  # noqa: E402
import pagure.lib.model as model  # noqa: E402
import pagure.lib.model_base  # noqa: E402
import pagure.lib.notify  # noqa: E402
import pagure.lib.query as query  # noqa: E402
import sqlalchemy  # noqa: E402

from discussions import open_request, planned_requests, tickets  # noqa: E402
from history import History, git  # noqa: E402
from projects import FORKS, GROUPS, MILESTONES, PASSWORD, PEOPLE, PROJECTS, TAGS  # noqa: E402
from words import Words  # noqa: E402

salts = (f"$2b$04$Quaysides{number:012d}u".encode() for number in itertools.count())
bcrypt.gensalt = lambda rounds=4, prefix=b"2b": next(salts)
pagure.lib.login.id_generator = lambda size=15, chars=string.ascii_uppercase + string.digits: "".join(rng.choices(chars, k=size))
for told in ("log", "notify_new_issue", "notify_new_comment", "notify_new_pull_request"):
    setattr(pagure.lib.notify, told, lambda *args, **kwargs: None)


def moment(seconds):
    """Moves the clock there, but never past the first moment."""
    clock.move_to(datetime.datetime.fromtimestamp(min(seconds, NOW.timestamp() - 300), datetime.timezone.utc), tick=False)


def people(session):
    moment(NOW.timestamp() - 400 * 86400)
    for name, full in PEOPLE.items():
        query.set_up_user(session, name, full, f"{name}@quayside.example", emails=[f"{name}@quayside.example"])
        user = query.get_user(session, name)
        user.password, user.token = pagure.lib.login.generate_hashed_value(PASSWORD), None
    session.commit()
    for name, title, about, members in GROUPS:
        query.add_group(session, name, title, about, "user", members[0], False, [])
        session.commit()
        for member in members[1:]:
            query.add_user_to_group(session, member, query.search_groups(session, group_name=name), members[0], False)
    session.commit()


def project(session, number, entry):
    name, owner, about, language, _, _ = entry
    history = History(entry, rng, Words(language, rng), int(NOW.timestamp()))
    moment(history.start)
    query.new_project(session, user=owner, name=name, blacklist=[], allowed_prefix=[], repospanner_region=None, description=about)
    session.commit()
    repo = query.get_authorized_project(session, name)
    history.begin()
    planned = planned_requests(history)
    history.tag("v0.9")
    ids = history.write(repo.repopath("main"))
    members(session, repo, owner)
    for tag, meaning, colour in TAGS:
        query.new_tag(session, tag, meaning, colour, repo.id)
    if number % 2 == 0:
        repo.milestones = {key: {"date": date, "active": active} for key, (date, active) in MILESTONES.items()}
        repo.milestones_keys = list(MILESTONES)
    session.commit()
    talk = [(plan["opened"], open_request(session, repo, history, plan, ids, moment)) for plan in planned]
    talk += tickets(session, repo, history, int(NOW.timestamp()), moment)
    for _, happen in sorted(talk, key=lambda one: one[0]):
        happen()
    return history


def members(session, repo, owner):
    for name in rng.sample([one for one in PEOPLE if one not in (owner, "root")], rng.randint(0, 3)):
        query.add_user_to_project(session, repo, name, owner, access=rng.choice(["ticket", "commit", "admin"]))
    for group, _, _, mates in GROUPS:
        if owner in mates and rng.random() < 0.5:
            query.add_group_to_project(session, repo, group, owner, access="commit", create=False)
    for name in rng.sample(list(PEOPLE), rng.randint(0, 9)):
        query.update_star_project(session, repo, "1", name)
    session.commit()


def fork(session, history, user, days):
    """A fork with a branch of its own, from which a request is open."""
    moment(NOW.timestamp() - days * 86400)
    repo = query.get_authorized_project(session, history.name)
    query.fork_project(session, user, repo)
    session.commit()
    mine = query.get_authorized_project(session, history.name, user=user)
    folder, branch = mine.repopath("main"), f"{user}-{rng.choice(history.modules)}"
    history.when = max(history.when, int(NOW.timestamp()) - days * 86400 + 3600)
    history.step = 3000
    history.fork_off(branch)
    tip, title = history.change(branch, user)
    ids = history.write(folder)
    plan = {"author": user, "branch": branch, "title": title, "first": tip, "tip": tip, "opened": history.when, "fate": "Open"}
    open_request(session, repo, history, plan, ids, moment, mine)()


def pack(folder):
    """Few files instead of many, and the same ones each time."""
    for root, folders, _ in os.walk(folder):
        for name in [name for name in folders if name.endswith(".git")]:
            git(f"{root}/{name}", "repack", "-a", "-d", "-q")
            git(f"{root}/{name}", "pack-refs", "--all")
        folders[:] = [name for name in folders if not name.endswith(".git")]


def main():
    folders = pagure.config.config["GIT_FOLDER"]
    for name in ("repositories", "remotes", "attachments", "releases", "archives"):
        os.makedirs(f"{os.path.dirname(folders)}/{name}")
    base = pagure.config.config["DB_URL"]
    for table in model.BASE.metadata.tables.values():  # a set of them has no order of its own
        table.indexes = sqlalchemy.util.OrderedSet(sorted(table.indexes, key=lambda index: index.name))
    model.create_tables(base, alembic_ini="/etc/pagure/alembic.ini", acls=pagure.config.config.get("ACLS", {}), debug=False)
    session = pagure.lib.model_base.create_session(base)
    people(session)
    histories = {entry[0]: project(session, number, entry) for number, entry in enumerate(PROJECTS)}
    for days, (name, user) in zip(range(11, 0, -2), FORKS):
        fork(session, histories[name], user, days)
    session.close()
    pack(folders)


main()
