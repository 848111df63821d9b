"""Issues and merge requests of a project: what is asked, answered, reviewed, merged and closed, and when."""
import pagure.lib.query as query

from projects import AUTHORS, TAGS
from words import ABOUT, CLOSED, REVIEWS


def planned_requests(history):
    """Branches that became requests: most are merged, the last two are still open, or one of them is given up.

    While a branch that is merged later was made, the main line went on; the last two can be merged without a conflict.
    """
    rng, made = history.rng, []
    for index in range(2 + history.merged):
        author = rng.choice([name for name in AUTHORS if name != history.owner])
        branch = f"{rng.choice(['mend', 'add', 'try'])}-{rng.choice(history.modules)}-{index + 1}"
        base = history.fork_off(branch)
        first, title = history.change(branch, author)
        opened, tip = history.when, first
        if rng.random() < 0.5:
            tip, _ = history.change(branch, author)
        plan = {"author": author, "branch": branch, "title": title, "first": first, "tip": tip, "opened": opened}
        if index < history.merged:
            for _ in range(history.between):
                history.change("main", rng.choice([history.owner, history.owner, rng.choice(AUTHORS)]))
            history.merge(branch, base, history.owner, f"Merge `{branch}`: {title}")
            made.append({**plan, "fate": "Merged", "closed": history.when})
        else:
            fate = "Open" if index == history.merged + 1 else rng.choice(["Open", "Closed"])
            made.append({**plan, "fate": fate, "closed": opened + 4 * 86400})
    return made


def open_request(session, repo, history, plan, ids, moment, source=None):
    """What records the request once its turn has come."""
    rng, say, matter = history.rng, history.words.say, {"module": history.modules[0]}

    def happen():
        moment(plan["opened"])
        request = query.new_pull_request(
            session, plan["branch"], repo, "main", plan["title"], plan["author"], repo_from=source or repo, notify=False,
            initial_comment=say(ABOUT, matter), commit_start=ids[plan["first"]], commit_stop=ids[plan["tip"]])
        session.commit()
        for step in range(rng.randint(0, 3)):
            moment(plan["opened"] + (step + 1) * 5000)
            who = rng.choice([history.owner, plan["author"], rng.choice(AUTHORS)])
            query.add_pull_request_comment(session, request, None, None, None, None, say(REVIEWS, matter), who, notify=False)
        if plan["fate"] != "Open":
            moment(plan["closed"])
            query.close_pull_request(session, request, history.owner, merged=plan["fate"] == "Merged")
        session.commit()

    return happen


def tickets(session, repo, history, now, moment):
    """Issues, each with its moment and what records it then."""
    rng, words, planned = history.rng, history.words, {}
    while len(planned) < max(6, history.length // 2):
        matter, (titles, bodies, answers) = words.matter(rng.choice(history.modules)), rng.choice(words.tickets)
        when = rng.randint(history.start + 86400, now - 86400)
        planned.setdefault(words.say(titles, matter), (when, words.say(bodies, matter), answers, matter))
    return [(plan[0], ticket(session, repo, history, title, *plan, moment)) for title, plan in planned.items()]


def ticket(session, repo, history, title, when, body, answers, matter, moment):
    rng = history.rng

    def happen():
        moment(when)
        author = rng.choice(AUTHORS)
        issue = query.new_issue(
            session, repo, title, body, author, notify=False, tags=rng.sample([tag for tag, _, _ in TAGS], rng.choice([0, 1, 1, 2])),
            assignee=rng.choice([None, history.owner, rng.choice(AUTHORS)]),
            milestone=rng.choice([None, *repo.milestones]) if repo.milestones else None)
        session.commit()
        others = rng.sample([name for name in AUTHORS if name != author], 4)
        for step, answer in enumerate(rng.sample(answers, rng.randint(0, min(4, len(answers))))):
            moment(when + (step + 1) * 40000)
            query.add_issue_comment(session, issue, history.words.say([answer], matter), others[step], notify=False)
        if rng.random() < 0.45:
            query.edit_issue(session, issue, history.owner, repo=repo, status="Closed", close_status=rng.choice(CLOSED))
        session.commit()

    return happen
