"""Sites whose pages ask by script."""

import json

from small_site import Action, Site, Told, absent, click, data, follow, links, listed, page


def buttons(**calls):
    return "".join(f"<button id={name} onclick=\"{call}\">{name}</button>" for name, call in calls.items())


class Votes(Site):
    name = "votes"
    actions = (follow("look"), click("up"), click("down"))
    oracle = "look up look up look down look up look down down look down up up look".split()
    SCRIPT = """
    async function vote(way) {
        show('#votes', (await send('POST', '/api/' + way)).votes + ' votes');
    }
    """

    def visitor(self):
        return {"own": 0}

    def answer(self, ask, state):
        match str(ask):
            case "GET /":
                up_down = buttons(up="vote('up')", down="vote('down')")
                votes = f"<p id=votes>{10 + state['own']} votes</p>"
                return page("A question", links(look="/"), votes, up_down, script=self.SCRIPT)
            case "POST /api/up" | "POST /api/down":
                own = 1 if ask.path == "/api/up" else -1
                state["own"] = 0 if state["own"] == own else own
                return data({"votes": 10 + state["own"]})
        return absent()


class Job(Site):
    """A job is started, and asked after until it is done."""

    name = "job"
    actions = (follow("home"), click("start"), click("last"), click("drop"))
    oracle = "last home start last home last drop last home start home last drop home".split()
    SCRIPT = """
    const soon = () => new Promise((done) => setTimeout(done, 60));
    async function start() {
        busy(1);
        try {
            const { job } = await send('POST', '/api/jobs', { what: 'count' });
            for (let state = ''; state !== 'done'; ) {
                const now = await send('GET', '/api/jobs/' + job);
                state = now.state;
                show('#job', 'job ' + state + ' ' + now.result);
                if (state !== 'done') await soon();
            }
        } finally {
            busy(-1);
        }
    }
    async function last() {
        const { jobs } = await send('GET', '/api/jobs');
        show('#job', jobs.length ? 'last: ' + jobs.join(', ') : 'no job');
    }
    async function drop() {
        await send('DELETE', '/api/jobs');
        show('#job', 'dropped');
    }
    """

    def visitor(self):
        return []

    def answer(self, ask, jobs):
        match str(ask):
            case "GET /":
                all_buttons = buttons(start="start()", last="last()", drop="drop()")
                place = f"<p>{len(jobs)} jobs</p><p id=job></p>"
                return page("Jobs", links(home="/"), place, all_buttons, script=self.SCRIPT)
            case "POST /api/jobs":
                jobs[:] = [0]
                return data({"job": 1}, 201)
            case "GET /api/jobs/1" if jobs:
                jobs[0] += 1
                is_done = self.state(jobs[0]) == "done"
                return data({"state": self.state(jobs[0]), "result": "42 things" if is_done else ""})
            case "GET /api/jobs":
                return data({"jobs": [f"job 1 is {self.state(asked)}" for asked in jobs]})
            case "DELETE /api/jobs":
                jobs.clear()
                return data({})
        return absent()

    @staticmethod
    def state(asked):
        return ("queued", "queued", "running", "running", "done")[min(asked, 4)]


class Chat(Site):
    """Messages come and go over a WebSocket; the page begins with those that are there."""

    name = "chat"
    actions = (
        follow("room"),
        follow("rules"),
        Action("hello", (("fill", "#text", "hello"), ("click", "#say"))),
        Action("bye", (("fill", "#text", "bye"), ("click", "#say"))),
    )
    oracle = "rules room hello bye room bye room rules room hello room".split()
    SCRIPT = """
    busy(1);
    const socket = new WebSocket('ws://' + location.host + '/socket');
    socket.onmessage = (event) => {
        const { lines } = JSON.parse(event.data);
        document.querySelector('#lines').innerText = lines.join('\\n');
        busy(-1);
    };
    socket.onclose = () => {
        show('#said', 'the line is dead');
        busy(-underWay);
    };
    function say() {
        busy(1);
        socket.send(JSON.stringify({ text: document.querySelector('#text').value }));
    }
    """

    def visitor(self):
        return []

    def answer(self, ask, lines):
        menu = links(room="/", rules="/rules")
        match str(ask):
            case "GET /":
                form = "<input id=text><button id=say onclick=say()>say</button>"
                return page("Room", menu, "<p id=lines></p>", form, script=self.SCRIPT)
            case "GET /rules":
                return page("Rules", menu, "<p>Be kind.</p>")
        return absent()

    def opened(self, lines):
        return [json.dumps({"lines": lines})]

    def heard(self, text, lines):
        said = json.loads(text)["text"]
        lines += [f"you: {said}", f"porter: {said}, too"]
        del lines[:-4]
        return [json.dumps({"lines": lines})]


class GraphQl(Site):
    """One address for all that is asked and done."""

    name = "graphql"
    actions = (
        follow("home"),
        click("all"),
        click("first"),
        click("add"),
        click("remove"),
    )
    oracle = "all first home add all first home add all remove all first home remove all first".split()
    SCRIPT = """
    async function ask(query, variables) {
        const { data } = await send('POST', '/graphql', { query, variables });
        show('#data', data.error || data.books.join(', ') || 'no books');
    }
    """

    def visitor(self):
        return ["Walden"]

    def answer(self, ask, books):
        match str(ask):
            case "GET /":
                all_buttons = buttons(
                    all="ask('query Books { books }', {})",
                    first="ask('query Book($at: Int) { books(at: $at) }', { at: 0 })",
                    add="ask('mutation Add($name: String) { add(name: $name) }', { name: 'Emma' })",
                    remove="ask('mutation Remove($name: String) { remove(name: $name) }', { name: 'Emma' })",
                )
                return page("Books", links(home="/"), "<p id=data></p>", all_buttons, script=self.SCRIPT)
            case "POST /graphql":
                return data({"data": {"books": self.run(ask.data, books)}})
        return absent()

    @staticmethod
    def run(asked, books):
        query, variables = asked["query"], asked["variables"]
        if query.startswith("query Book("):
            return books[variables["at"] : variables["at"] + 1]
        if query.startswith("mutation Add") and variables["name"] not in books:
            books.append(variables["name"])
        if query.startswith("mutation Remove") and variables["name"] in books:
            books.remove(variables["name"])
        return books


class Todos(Site):
    """What is changed is shown at once, and then told to the server."""

    name = "todos"
    actions = (
        follow("home"),
        click("reload"),
        click("wash"),
        click("cook"),
    )
    # Each of the two is changed in each state of the other.
    oracle = "reload wash cook wash cook reload home cook wash cook wash home reload".split()
    SCRIPT = """
    let todos = {};
    function draw() {
        const line = ([name, done]) => name + (done ? ' is done' : ' is to be done');
        document.querySelector('#todos').innerText = Object.entries(todos).map(line).join('\\n');
    }
    async function reload() { todos = await send('GET', '/api/todos'); draw(); }
    async function turn(name) {
        const done = !todos[name];
        todos[name] = done;
        draw();
        await send('PATCH', '/api/todos/' + name, { done });
    }
    reload();
    """

    def visitor(self):
        return {"wash": False, "cook": False}

    def answer(self, ask, todos):
        match (ask.method, ask.path):
            case "GET", "/":
                all_buttons = buttons(reload="reload()", wash="turn('wash')", cook="turn('cook')")
                return page("To do", links(home="/"), "<p id=todos></p>", all_buttons, script=self.SCRIPT)
            case "GET", "/api/todos":
                return data(todos)
            case "PATCH", "/api/todos/wash" | "/api/todos/cook":
                todos[ask.path.rpartition("/")[2]] = ask.data["done"]
                return data({"saved": True})
        return absent()


class Search(Site):
    """Searches are sent by POST; what is found may be starred."""

    name = "search"
    actions = (
        follow("home"),
        follow("starred"),
        Action("oak", (("fill", "#words", "oak"), ("click", "#search"))),
        Action("pine", (("fill", "#words", "pine"), ("click", "#search"))),
        Action("nothing", (("fill", "#words", "palm"), ("click", "#search"))),
        click("star"),
        click("unstar"),
    )
    oracle = [
        "oak", "pine", "nothing", "home", "starred", "home", "star", "oak", "pine", "nothing", "starred",
        "home", "unstar", "oak", "pine", "nothing", "starred", "home", "oak",
    ]
    SCRIPT = """
    async function search() {
        const words = document.querySelector('#words').value;
        const { found } = await send('POST', '/api/search', { words });
        show('#found', found.join(', ') || 'nothing');
    }
    async function star(way) {
        const { stars } = await send(way, '/api/star', { name: 'oak table' });
        show('#stars', stars + ' stars');
    }
    """
    THINGS = ("oak table", "oak chair", "pine bed")

    def visitor(self):
        return []

    def answer(self, ask, stars):
        menu = links(home="/", starred="/starred")
        match str(ask):
            case "GET /":
                all_buttons = buttons(search="search()", star="star('PUT')", unstar="star('DELETE')")
                place = f"<input id=words><p id=found></p><p id=stars>{len(stars)} stars</p>"
                return page("Furniture", menu, place, all_buttons, script=self.SCRIPT)
            case "GET /starred":
                return page("Starred", menu, listed(stars))
            case "POST /api/search":
                found = [thing for thing in self.THINGS if ask.data["words"] in thing]
                return data({"found": [f"{thing} *" if thing in stars else thing for thing in found]})
            case "PUT /api/star" | "DELETE /api/star":
                stars[:] = [ask.data["name"]] if ask.method == "PUT" else []
                return data({"stars": len(stars)})
        return absent()


class Fragments(Site):
    """A script asks for parts of the page at the address of the page."""

    name = "fragments"
    actions = (
        follow("home"),
        follow("whole"),
        click("refresh"),
        click("add"),
        click("clear"),
    )
    oracle = (
        "refresh whole refresh home add refresh home whole clear refresh home add whole refresh home clear"
        " whole"
    ).split()
    SCRIPT = """
    async function swap(method, url) {
        busy(1);
        try {
            const headers = { 'HX-Request': 'true', 'HX-Target': 'part' };
            const got = await fetch(url, { method, headers });
            document.querySelector('#part').innerHTML = await got.text();
        } finally {
            busy(-1);
        }
    }
    """

    def visitor(self):
        return []

    def answer(self, ask, things):
        part = listed(things) if things else "<p>nothing yet</p>"
        is_part = ask.header("hx-request") == "true"
        match str(ask):
            case "GET /" | "GET /things" if is_part:
                return Told(part, headers=[("Vary", "HX-Request")])
            case "GET /" | "GET /things":
                menu = links(home="/", whole="/things")
                calls = buttons(
                    refresh="swap('GET', location.pathname)",
                    add="swap('POST', '/things')",
                    clear="swap('DELETE', '/things')",
                )
                title = "Home" if ask.path == "/" else "All things"
                told = page(title, menu, f"<div id=part>{part}</div>", calls, script=self.SCRIPT)
                told.headers.append(("Vary", "HX-Request"))
                return told
            case "POST /things":
                things[:] = ["a thing"]
                return Told(listed(things))
            case "DELETE /things":
                things.clear()
                return Told("<p>nothing yet</p>")
        return absent()


SITES = (Votes, Job, Chat, GraphQl, Todos, Search, Fragments)
