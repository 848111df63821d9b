"""Fills the forge: run once while the image is built, with the clock moving through the year before the first moment."""
import datetime
import itertools
import os
import random
import subprocess
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
import pagure.lib.tasks  # noqa: E402

import projects as words  # noqa: E402
from history import History  # noqa: E402

PEOPLE = dict(words.PEOPLE)
salts = (f"$2b$04$Quaysides{number:012d}u".encode() for number in itertools.count())
bcrypt.gensalt = lambda rounds=4, prefix=b"2b": next(salts)
for name in ("log", "notify_new_issue", "notify_new_comment", "notify_new_pull_request"):
    setattr(pagure.lib.notify, name, lambda *args, **kwargs: None)


def moment(seconds):
    clock.move_to(datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc), tick=False)


def said(text, module):
    return text.format(module=module, fault=rng.choice(words.FAULTS), thing=rng.choice(words.THINGS), n=rng.randint(3, 400))


def people(session):
    moment(NOW.timestamp() - 400 * 86400)
    for name, full in words.PEOPLE:
        query.set_up_user(session, name, full, f"{name}@quayside.example", emails=[f"{name}@quayside.example"])
        user = query.get_user(session, name)
        user.password, user.token = pagure.lib.login.generate_hashed_value(words.PASSWORD), None
    session.commit()
    for name, title, about, members in words.GROUPS:
        query.add_group(session, name, title, about, "user", members[0], False, [])
        session.commit()
        for member in members[1:]:
            query.add_user_to_group(session, member, query.search_groups(session, group_name=name), members[0], False)
    session.commit()


def requests(session, repo, history, number):
    """Branches that became requests: most merged, one closed, one or two still open. Returns what to record once ids exist."""
    made = []
    for index in range(2 + history.length // 9):
        author = rng.choice([name for name in PEOPLE if name not in ("root", history.owner)])
        branch = f"{rng.choice(['mend', 'add', 'try'])}-{rng.choice(history.modules)}-{index + 1}"
        history.fork_off(branch)
        base = history.branches["main"][0]
        tip, message = history.change(branch, author, words.THINGS, words.FAULTS)
        first, opened = tip, history.when
        if rng.random() < 0.5:
            tip, _ = history.change(branch, author, words.THINGS, words.FAULTS)
        made.append({"author": author, "branch": branch, "title": message, "base": base, "first": first, "tip": tip, "opened": opened,
                     "fate": "Merged" if index < history.length // 9 else rng.choice(["Open", "Open", "Closed"])})
        for _ in range(max(1, (history.length - 8) // (3 + history.length // 9))):
            history.change("main", rng.choice([history.owner, history.owner, *PEOPLE]) if history.length > 20 else history.owner, words.THINGS, words.FAULTS)
        if made[-1]["fate"] == "Merged":
            made[-1]["merge"] = history.merge(branch, history.owner, f"Merge #{{}} `{message}`".format(index + 1))
            made[-1]["closed"] = history.when
    return made


def project(session, number, entry):
    name, owner, about, _, modules, _ = entry
    history = History(entry, rng, PEOPLE, int(NOW.timestamp()))
    moment(history.start)
    query.new_project(session, user=owner, name=name, blacklist=[], allowed_prefix=[], repospanner_region=None, description=about)
    session.commit()
    repo = query.get_authorized_project(session, name)
    history.begin()
    planned = requests(session, repo, history, number)
    history.tag("v0.9")
    ids = history.write(repo.repopath("main"))
    members(session, repo, owner)
    for name_, about_, colour in words.TAGS:
        query.new_tag(session, name_, about_, colour, repo.id)
    if number % 2 == 0:
        repo.milestones = {"1.0": {"date": "2023-07-31", "active": True}, "1.1": {"date": "2023-10-15", "active": True}, "0.9": {"date": "2023-05-01", "active": False}}
        repo.milestones_keys = ["0.9", "1.0", "1.1"]
    session.commit()
    for plan in planned:
        record(session, repo, history, plan, ids)
    tickets(session, repo, history)


def members(session, repo, owner):
    for name in rng.sample([one for one in PEOPLE if one not in (owner, "root")], rng.randint(0, 3)):
        query.add_user_to_project(session, repo, name, owner, access=rng.choice(["ticket", "commit", "admin"]))
    for group, _, _, mates in words.GROUPS:
        if owner in mates and rng.random() < 0.5:
            query.add_group_to_project(session, repo, group, owner, access="commit", create=False)
    for name in rng.sample(list(PEOPLE), rng.randint(0, 9)):
        query.update_star_project(session, repo, "1", name)
    session.commit()


def record(session, repo, history, plan, ids):
    moment(plan["opened"])
    request = query.new_pull_request(session, plan["branch"], repo, "main", plan["title"], plan["author"], repo_from=repo, notify=False,
                                     initial_comment=said("This is about `{module}`: " + plan["title"].lower() + ". I tried it with {n} entries.", history.modules[0]),
                                     commit_start=ids[plan["first"]], commit_stop=ids[plan["tip"]])
    session.commit()
    for step in range(rng.randint(0, 3)):
        moment(plan["opened"] + (step + 1) * 5000)
        query.add_pull_request_comment(session, request, None, None, None, None, said(rng.choice(words.REVIEWS), history.modules[0]),
                                       rng.choice([history.owner, plan["author"], *PEOPLE]), notify=False)
    if plan["fate"] != "Open":
        moment(plan.get("closed", plan["opened"] + 4 * 86400))
        if "merge" in plan:
            request.commit_stop = ids[plan["tip"]]
            request.merge_status = None
        query.close_pull_request(session, request, history.owner, merged=plan["fate"] == "Merged")
    session.commit()


def tickets(session, repo, history):
    count = max(3, history.length // 4)
    for when in sorted(rng.randint(history.start + 86400, int(NOW.timestamp()) - 86400) for _ in range(count)):
        moment(when)
        module, author = rng.choice(history.modules), rng.choice(list(PEOPLE))
        ticket = query.new_issue(session, repo, said(rng.choice(words.TICKETS), module), said(rng.choice(words.BODIES), module), author, notify=False,
                                 tags=rng.sample([tag for tag, _, _ in words.TAGS], rng.choice([0, 1, 1, 2])),
                                 assignee=rng.choice([None, history.owner, rng.choice(list(PEOPLE))]),
                                 milestone=rng.choice([None, *repo.milestones]) if repo.milestones else None)
        session.commit()
        for step in range(rng.randint(0, 4)):
            moment(min(int(NOW.timestamp()) - 600, when + (step + 1) * 40000))
            query.add_issue_comment(session, ticket, said(rng.choice(words.REPLIES), module), rng.choice([history.owner, author, *PEOPLE]), notify=False)
        if rng.random() < 0.45:
            query.edit_issue(session, ticket, history.owner, repo=repo, status="Closed", close_status=rng.choice(["Fixed", "Invalid", "Duplicate", None]))
        session.commit()


def fork(session, name, user):
    repo = query.get_authorized_project(session, name)
    query.fork_project(session, user, repo)
    session.commit()
    mine = query.get_authorized_project(session, name, user=user)
    subprocess.run(["git", "-C", mine.repopath("main"), "config", "--unset-all", "remote.origin.url"], check=False)


def main():
    folders = pagure.config.config["GIT_FOLDER"]
    state = os.path.dirname(folders)
    for name in ("repositories", "remotes", "attachments", "releases", "archives"):
        os.makedirs(f"{state}/{name}")
    model.create_tables(pagure.config.config["DB_URL"], alembic_ini="/etc/pagure/alembic.ini", acls=pagure.config.config.get("ACLS", {}), debug=False)
    session = pagure.lib.model_base.create_session(pagure.config.config["DB_URL"])
    people(session)
    for number, entry in enumerate(words.PROJECTS):
        project(session, number, entry)
    moment(NOW.timestamp() - 5 * 86400)
    for name, user in [("quernstone", "byteblaze"), ("tidewatch", "alice"), ("lanternfish", "byteblaze"), ("pocket-chess", "lin")]:
        fork(session, name, user)
    session.close()


main()
