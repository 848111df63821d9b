"""Sites that know who is there: log-ins, accounts and settings."""

from small_site import Action, Site, absent, button, data, follow, links, listed, page, to


class LogIn(Site):
    name = "login"
    actions = (
        follow("home"),
        follow("account"),
        follow("out"),
        Action("in", (("fill", "#user", "ann"), ("fill", "#password", "hush"), ("follow", "#go"))),
        Action("wrong", (("fill", "#user", "ann"), ("fill", "#password", "loud"), ("follow", "#go"))),
    )
    oracle = (
        "home account wrong home account in account home out home account wrong in home account out account"
    ).split()

    def answer(self, ask, state):
        user = ask.cookies.get("session")
        menu = links(home="/", account="/account") + (links(out="/logout") if user else "")
        match str(ask):
            case "GET /":
                return page(f"Hello {user}" if user else "Hello", menu)
            case "GET /account":
                return page("Account", menu, f"<p>of {user}</p>") if user else to("/login")
            case "GET /login":
                return self.form(menu)
            case "POST /login":
                if ask.form["password"] == "hush":
                    return to("/account").cookie("session", ask.form["user"])
                return self.form(menu, "Wrong password.")
            case "GET /logout":
                return to("/").cookie("session", "", "Path=/; Max-Age=0")
        return absent()

    @staticmethod
    def form(menu, wrong=""):
        return page(
            "Log in",
            menu,
            "<form method=post action=/login><input id=user name=user>",
            "<input id=password name=password type=password><button id=go>Log in</button></form>",
            f"<p>{wrong}</p>",
        )


class Users(Site):
    """Two people, each with notes that are there again after the next log-in."""

    name = "users"
    actions = (
        follow("home"),
        Action("ann", (("select", "#user", "ann"), ("follow", "#go"))),
        Action("bo", (("select", "#user", "bo"), ("follow", "#go"))),
        follow("out"),
        follow("write"),
        follow("tear"),
    )
    oracle = (
        "home ann out ann write home out home bo write out ann home tear write out bo home tear out home ann"
        " tear out home"
    ).split()

    def __init__(self):
        self.notes = {"ann": [], "bo": []}

    def answer(self, ask, state):
        user = ask.cookies.get("session")
        match str(ask):
            case "GET /" if user:
                tear = button("tear", "/tear") if self.notes[user] else ""
                write = button("write", "/write") if not self.notes[user] else ""
                out = button("out", "/out", "Log out")
                notes = listed(self.notes[user])
                return page(f"Notes of {user}", links(home="/"), notes, write, tear, out)
            case "GET /":
                choice = "<select id=user name=user><option>ann<option>bo</select>"
                form = f"<form method=post action=/login>{choice}<button id=go>Log in</button></form>"
                return page("Who are you?", links(home="/"), form)
            case "POST /login":
                return to("/").cookie("session", ask.form["user"])
            case "POST /out":
                return to("/").cookie("session", "", "Path=/; Max-Age=0")
            case "POST /write" if user:
                self.notes[user] = [f"a note of {user}"]
                return to("/")
            case "POST /tear" if user:
                self.notes[user] = []
                return to("/")
        return absent()


class Settings(Site):
    """The language is set by the server, the currency by a script; both are cookies."""

    name = "settings"
    actions = (
        follow("home"),
        follow("prices"),
        follow("english"),
        follow("german"),
        follow("pounds"),
        follow("euros"),
    )
    oracle = (
        "prices home german prices euros home prices home english prices pounds home prices home german"
        " prices euros"
    ).split()
    WORDS = {"en": ("Welcome", "A lamp costs"), "de": ("Willkommen", "Eine Lampe kostet")}
    PRICES = {"gbp": "8 pounds", "eur": "9 euros"}
    SCRIPT = """
    function pay(currency) {
        document.cookie = 'currency=' + currency + '; path=/';
        location.reload();
    }
    """

    def answer(self, ask, state):
        welcome, costs = self.WORDS[ask.cookies.get("language", "en")]
        price = self.PRICES[ask.cookies.get("currency", "gbp")]
        menu = links(home="/", prices="/prices")
        match str(ask):
            case "GET /":
                language = button("english", "/language", to="en") + button("german", "/language", to="de")
                return page(welcome, menu, language)
            case "GET /prices":
                pay = "<button id=pounds onclick=pay('gbp')>pounds</button>"
                pay += "<button id=euros onclick=pay('eur')>euros</button>"
                return page(f"{costs} {price}", menu, pay, script=self.SCRIPT)
            case "POST /language":
                return to("/").cookie("language", ask.form["to"])
        return absent()


class Tabs(Site):
    """Two pages of one account, which may be open at once. Each shows what was so when it asked."""

    name = "tabs"
    actions = (
        Action("first tab", (("tab", 0, "/"),)),
        Action("second tab", (("tab", 1, "/list"),)),
        follow("overview"),
        follow("list"),
        Action("look", (("click", "#look"),)),
        Action("add", (("click", "#add"),)),
        Action("remove", (("click", "#remove"),), ("#any",)),
    )
    oracle = [
        "look", "list", "overview", "add", "second tab", "look", "overview", "list", "remove", "first tab",
        "look", "list", "overview", "add", "look", "list", "second tab", "look", "remove", "look", "overview",
    ]
    SCRIPT = """
    function tell(state) {
        show('#count', state.count + ' on the list');
        const words = state.count ? '<p id=any>something</p>' : '<p>nothing</p>';
        document.querySelector('#state').innerHTML = words;
    }
    async function look() { tell(await send('GET', '/api/list')); }
    async function add() { tell(await send('POST', '/api/list', { thing: 'bread' })); }
    async function takeAway() { tell(await send('DELETE', '/api/list')); }
    look();
    """
    BUTTONS = (
        "<button id=look onclick=look()>look</button><button id=add onclick=add()>add</button>"
        "<button id=remove onclick=takeAway()>remove</button>"
    )

    def visitor(self):
        return []

    def answer(self, ask, things):
        menu, place = links(overview="/", list="/list"), "<p id=count></p><div id=state></div>"
        match str(ask):
            case "GET /":
                words = f"<p>{len(things)} when opened</p>"
                return page("Overview", menu, words, place, self.BUTTONS, script=self.SCRIPT)
            case "GET /list":
                return page("List", menu, listed(things), place, self.BUTTONS, script=self.SCRIPT)
            case "GET /api/list":
                return data({"count": len(things)})
            case "POST /api/list":
                things[:] = [ask.data["thing"]]
                return data({"count": 1})
            case "DELETE /api/list":
                things.clear()
                return data({"count": 0})
        return absent()


SITES = (LogIn, Users, Settings, Tabs)
