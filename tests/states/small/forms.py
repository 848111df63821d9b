"""Sites of pages and forms, without scripts of their own."""

import hashlib
import secrets

from small_site import Action, Site, Told, absent, button, follow, goto, links, listed, page, to


class Cart(Site):
    name = "cart"
    actions = (
        follow("shop"),
        follow("cart"),
        follow("lamp"),
        follow("chair"),
        follow("empty"),
    )
    oracle = "cart shop lamp shop chair shop cart empty shop chair shop lamp shop cart".split()

    def visitor(self):
        return []

    def answer(self, ask, cart):
        menu = links(shop="/", cart="/cart")
        match str(ask):
            case "GET /":
                things = button("lamp", "/add", "Add a lamp", thing="lamp")
                things += button("chair", "/add", "Add a chair", thing="chair")
                return page("Shop", menu, f"<p>{len(cart)} in the cart</p>", things)
            case "GET /cart":
                return page("Cart", menu, listed(cart), button("empty", "/empty") if cart else "<p>empty</p>")
            case "POST /add":
                cart.append(ask.form["thing"])
                return to("/cart")
            case "POST /empty":
                cart.clear()
                return to("/cart")
        return absent()


class Wizard(Site):
    name = "wizard"
    actions = (
        follow("start"),
        follow("back"),
        follow("sum"),
        Action("train", (("select", "#how", "train"), ("follow", "#next"))),
        Action("ship", (("select", "#how", "ship"), ("follow", "#next"))),
        Action("north", (("select", "#place", "north"), ("follow", "#next"))),
        Action("south", (("select", "#place", "south"), ("follow", "#next"))),
    )
    oracle = (
        "sum start train back ship sum start train north sum back south sum back north sum start ship sum"
        " back south sum"
    ).split()

    def answer(self, ask, said):
        menu = links(start="/", sum="/sum")
        match str(ask):
            case "GET /":
                return page("How?", menu, self.choice("how", said, "train", "ship"))
            case "GET /place":
                return page("Where?", menu, links(back="/"), self.choice("place", said, "north", "south"))
            case "GET /sum":
                words = f"<p>By {said.get('how', 'nothing')} to the {said.get('place', 'unknown')}.</p>"
                return page("Sum", menu, links(back="/place"), words)
            case "POST /how":
                said["how"] = ask.form["how"]
                return to("/place")
            case "POST /place":
                said["place"] = ask.form["place"]
                return to("/sum")
        return absent()

    @staticmethod
    def choice(name, said, *values):
        """A form; what was said before is written beside it."""
        options = "".join(f"<option>{value}" for value in values)
        before = f"<p>So far: {said.get(name, 'nothing')}</p>"
        return (
            f"<form method=post action=/{name}><select id={name} name={name}>{options}</select>"
            f"<button id=next>Next</button></form>{before}"
        )


class Undo(Site):
    name = "undo"
    actions = (follow("letters"), follow("second"), follow("delete"), follow("undo"))
    oracle = "second letters delete second letters undo second letters delete letters undo".split()

    def answer(self, ask, state):
        menu = links(letters="/", second="/letter")
        match str(ask):
            case "GET /":
                if "gone" in state:
                    return page("1 letter", menu, listed(["from Bo"]), button("undo", "/undo", "Undo delete"))
                delete = button("delete", "/delete", "Delete the first one")
                return page("2 letters", menu, listed(["from Ann", "from Bo"]), delete)
            case "GET /letter":
                return page("A letter", menu, "<p>Dear all, here is Bo.</p>")
            case "POST /delete":
                state["gone"] = True
                return to("/")
            case "POST /undo":
                state.pop("gone", None)
                return to("/")
        return absent()


class Pages(Site):
    name = "pages"
    actions = (
        follow("first"),
        follow("second"),
        Action("write", (("fill", "#text", "fresh"), ("follow", "#send"))),
    )
    oracle = "second first write second first write second first write second first".split()

    def visitor(self):
        return [f"item {number}" for number in range(1, 6)]

    def answer(self, ask, items):
        menu = links(first="/?page=1", second="/?page=2")
        match str(ask):
            case "GET /":
                at = 3 * (int(ask.query.get("page", 1)) - 1)
                field = "<input id=text name=text><button id=send>Send</button>"
                form = f"<form method=post action=/items>{field}</form>"
                count = f"<p>{len(items)} in all</p>"
                return page("Items", menu, listed(items[at : at + 3]), count, form)
            case "POST /items":
                items.insert(0, ask.form["text"])
                return to("/")
        return absent()


class Tokens(Site):
    """Each form has a new token, which is good once."""

    name = "tokens"
    actions = (
        follow("notes"),
        follow("help"),
        Action("milk", (("fill", "#text", "milk"), ("follow", "#send"))),
        follow("clear"),
    )
    oracle = "help notes milk help notes milk help notes clear help notes milk clear notes".split()

    def visitor(self):
        return {"notes": [], "tokens": set()}

    def answer(self, ask, state):
        menu = links(notes="/", help="/help")
        match str(ask):
            case "GET /":
                form = self.form(state, "/notes", "<input id=text name=text><button id=send>Send</button>")
                form += self.form(state, "/clear", "<button id=clear>Clear</button>")
                return page("Notes", menu, listed(state["notes"]), form)
            case "GET /help":
                return page("Help", menu, "<p>Write what you must not forget.</p>")
            case "POST /notes" | "POST /clear":
                token = ask.form["csrf_token"]
                if token not in state["tokens"]:
                    told = page("This form is too old", menu)
                    told.status = 403
                    return told
                state["tokens"].discard(token)
                if ask.path == "/clear":
                    state["notes"].clear()
                else:
                    state["notes"].append(ask.form["text"])
                return to("/")
        return absent()

    @staticmethod
    def form(state, path, inside):
        token = secrets.token_hex(16)
        state["tokens"].add(token)
        hidden = f"<input type=hidden name=csrf_token value={token}>"
        return f"<form method=post action={path}>{hidden}{inside}</form>"


class Refusals(Site):
    """A form that says what is wrong with it, and takes what is right."""

    name = "form"
    actions = (
        follow("form"),
        follow("thanks"),
        Action("nothing", (("fill", "#mail", ""), ("follow", "#send"))),
        Action("no mail", (("fill", "#mail", "ann"), ("follow", "#send"))),
        Action("ann", (("fill", "#mail", "ann@post.test"), ("follow", "#send"))),
        Action("bo", (("fill", "#mail", "bo@post.test"), ("follow", "#send"))),
    )
    oracle = [
        "thanks", "form", "nothing", "no mail", "thanks", "form", "ann", "form", "thanks", "form", "nothing",
        "form", "bo", "thanks", "form", "no mail", "ann", "thanks", "form", "bo", "form",
    ]

    def answer(self, ask, state):
        match str(ask):
            case "GET /":
                return self.form(state)
            case "GET /thanks":
                words = f"<p>We write to {state.get('mail', 'nobody')}.</p>"
                return page("Thanks", links(form="/", thanks="/thanks"), words)
            case "POST /":
                mail = ask.form["mail"]
                if "@" in mail:
                    state["mail"] = mail
                    return to("/thanks")
                told = self.form(state, "An address is needed." if not mail else f"{mail} is no address.")
                told.status = 422
                return told
        return absent()

    @staticmethod
    def form(state, wrong=""):
        form = "<form method=post action=/><input id=mail name=mail><button id=send>Send</button></form>"
        known = f"<p>We know {state.get('mail', 'no address')}.</p>"
        return page("Your address", links(form="/", thanks="/thanks"), known, form, f"<p>{wrong}</p>")


class Revalidated(Site):
    """Pages have an ETag, and the browser asks whether they are still good."""

    name = "news"
    actions = (follow("news"), follow("story"), follow("read"), follow("unread"))
    oracle = "story news read story news unread story news read news story".split()

    def answer(self, ask, state):
        menu = links(news="/", story="/story")
        is_read = "read" in state
        match str(ask):
            case "GET /":
                mark = button("unread", "/unread") if is_read else button("read", "/read")
                return self.tagged(ask, page("News", menu, f"<p>{0 if is_read else 1} unread</p>", mark))
            case "GET /story":
                words = "<p>You have read this.</p>" if is_read else "<p>This is new.</p>"
                return self.tagged(ask, page("A bridge was opened", menu, words))
            case "POST /read":
                state["read"] = True
                return to("/")
            case "POST /unread":
                state.pop("read", None)
                return to("/")
        return absent()

    @staticmethod
    def tagged(ask, told):
        tag = f'"{hashlib.sha256(told.body.encode()).hexdigest()[:16]}"'
        told.headers += [("ETag", tag), ("Cache-Control", "no-cache")]
        if ask.header("if-none-match") == tag:
            return Told(status=304, headers=told.headers)
        return told


class Flash(Site):
    """What a form did is said once, on the next page."""

    name = "flash"
    actions = (follow("home"), follow("about"), follow("save"), follow("drop"))
    oracle = "about home drop about home save about home save home drop about home drop home save".split()

    def answer(self, ask, state):
        menu = links(home="/", about="/about")
        match str(ask):
            case "GET /" | "GET /about":
                said = f"<p>{state.pop('flash', 'Nothing new.')}</p>"
                kept = f"<p>{state.get('kept', 0)} kept</p>"
                if ask.path == "/about":
                    return page("About", menu, said)
                return page("Home", menu, said, kept, button("save", "/save"), button("drop", "/drop"))
            case "POST /save":
                state |= {"kept": 1, "flash": "It is saved."}
                return to("/")
            case "POST /drop":
                state |= {"kept": 0, "flash": "It is dropped."}
                return to("/")
        return absent()


class Filtered(Site):
    """A list is filtered by its address; the server keeps the filter that is saved."""

    name = "filter"
    actions = (
        follow("list"),
        Action("red", (("select", "#colour", "red"), ("follow", "#filter"))),
        Action("blue", (("select", "#colour", "blue"), ("follow", "#filter"))),
        follow("save"),
        follow("forget"),
        goto("by address", "/?colour=red"),
    )
    oracle = [
        "list", "red", "save", "list", "blue", "red", "save", "forget", "list", "red", "blue", "save", "list",
        "red", "by address", "list", "forget", "blue", "list",
    ]
    THINGS = {"red": ["cherry", "brick"], "blue": ["sky", "plum"]}

    def answer(self, ask, state):
        match str(ask):
            case "GET /":
                colour = ask.query.get("colour", state.get("colour", ""))
                things = self.THINGS.get(colour) or sum(self.THINGS.values(), [])
                form = (
                    "<form><select id=colour name=colour><option>red<option>blue</select>"
                    "<button id=filter>Filter</button></form>"
                )
                saved = f"<p>saved: {state.get('colour', 'none')}</p>"
                save = button("save", "/save", colour=colour) if colour else ""
                forget = button("forget", "/forget")
                return page("Things", links(list="/"), listed(things), saved, form, save, forget)
            case "POST /save":
                state["colour"] = ask.form["colour"]
                return to("/")
            case "POST /forget":
                state.pop("colour", None)
                return to("/")
        return absent()


SITES = (Cart, Wizard, Undo, Pages, Tokens, Refusals, Revalidated, Flash, Filtered)
