//! Small sites, each with what can be done on it, and one order in which all of it is done.

use super::browser::{Browser, Running, Told};

pub(super) struct SmallSite {
    pub(super) name: &'static str,
    pub(super) new: fn() -> Running,
    pub(super) actions: &'static [Action],
    /// The names of the actions that were recorded.
    pub(super) oracle: &'static [&'static str],
}

pub(super) struct Action {
    pub(super) name: &'static str,
    /// The words that the page has where it offers the action.
    pub(super) needs: &'static [&'static str],
    pub(super) act: fn(&mut Browser<'_>),
}

fn page(text: impl Into<String>) -> Told {
    let headers = vec![("Content-Type", "text/html".to_owned())];
    Told { status: 200, headers, body: text.into() }
}

fn json(text: impl Into<String>) -> Told {
    let headers = vec![("Content-Type", "application/json".to_owned())];
    Told { status: 200, headers, body: text.into() }
}

fn to(place: &str) -> Told {
    Told { status: 303, headers: vec![("Location", place.to_owned())], body: String::new() }
}

fn to_with_cookie(place: &str, cookie: &str) -> Told {
    let mut told = to(place);
    told.headers.push(("Set-Cookie", cookie.to_owned()));
    told
}

fn not_found() -> Told {
    Told { status: 404, ..page("not found") }
}

fn cart() -> Running {
    let mut items: Vec<String> = Vec::new();
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page(format!("shop, {} in the cart", items.len())),
        ("GET", "/cart") => page(format!("cart: {}", items.join(", "))),
        ("POST", "/add") => {
            items.push(ask.body.replace("item=", ""));
            to("/cart")
        }
        ("POST", "/clear") => {
            items.clear();
            to("/cart")
        }
        _ => not_found(),
    })
}

fn log_in() -> Running {
    Box::new(move |ask| {
        let user = ask.cookies.get("session");
        match (ask.method, ask.path) {
            ("GET", "/") => {
                page(user.map_or("who are you? log-in".to_owned(), |user| {
                    format!("hello {user} log-out")
                }))
            }
            ("GET", "/account") => {
                user.map_or_else(|| to("/"), |user| page(format!("account of {user} log-out")))
            }
            ("POST", "/login") => {
                to_with_cookie("/", &format!("session={}; Path=/", ask.body.replace("user=", "")))
            }
            ("GET", "/logout") => to_with_cookie("/", "session=; Path=/; Max-Age=0"),
            _ => not_found(),
        }
    })
}

fn wizard() -> Running {
    let mut said: [String; 2] = Default::default();
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page("step 1"),
        ("GET", "/2") => page("step 2"),
        ("GET", "/sum") => page(format!("sum: {}", said.join(" "))),
        ("POST", "/1") => {
            said[0] = ask.body.to_owned();
            to("/2")
        }
        ("POST", "/2") => {
            said[1] = ask.body.to_owned();
            to("/sum")
        }
        _ => not_found(),
    })
}

fn votes() -> Running {
    let mut own = 0;
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page(format!("{} votes", 10 + own)),
        ("POST", "/up") => {
            own = if own == 1 { 0 } else { 1 };
            to("/")
        }
        ("POST", "/down") => {
            own = if own == -1 { 0 } else { -1 };
            to("/")
        }
        _ => not_found(),
    })
}

fn undo() -> Running {
    let mut is_there = true;
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => {
            page(if is_there { "letters: one, two delete" } else { "letters: two undo" })
        }
        ("GET", "/two") => page("letter two"),
        ("POST", "/delete") => {
            is_there = false;
            to("/")
        }
        ("POST", "/undo") => {
            is_there = true;
            to("/")
        }
        _ => not_found(),
    })
}

fn pages() -> Running {
    let mut items: Vec<String> = (1..=4).map(|n| format!("item {n}")).collect();
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page(items[..3].join(", ")),
        ("GET", "/?page=2") => page(items[3..].join(", ")),
        ("POST", "/items") => {
            items.insert(0, ask.body.replace("text=", ""));
            to("/")
        }
        _ => not_found(),
    })
}

fn graphql() -> Running {
    let mut count = 0;
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page("shop"),
        ("POST", "/graphql") => {
            if ask.body.contains("mutation") {
                count += if ask.body.contains("remove") { -count } else { 1 };
            }
            json(format!("{{\"count\":{count}}}"))
        }
        _ => not_found(),
    })
}

/// Another token each time. What a page shows of it is not compared.
fn token(turn: &mut u64) -> String {
    *turn = turn.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
    format!("token={turn:016x}")
}

fn tokens() -> Running {
    let (mut notes, mut turn) = (Vec::new(), 0x5eed_u64);
    Box::new(move |ask| {
        let token = token(&mut turn);
        match (ask.method, ask.path) {
            ("GET", "/") => page(format!("notes: {} {token}", notes.join(", "))),
            ("GET", "/help") => page("help"),
            ("POST", "/notes") => {
                notes.push(ask.body.split('&').next().unwrap_or_default().replace("text=", ""));
                to("/")
            }
            _ => not_found(),
        }
    })
}

fn todos() -> Running {
    let mut done = [false; 3];
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page("to do"),
        ("GET", "/api/todos") => json(format!("{done:?}")),
        ("PUT", path) => {
            let at: usize = path.rsplit('/').next().and_then(|last| last.parse().ok()).unwrap_or(0);
            done[at % 3] = ask.body.contains("true");
            json(format!("{done:?}"))
        }
        _ => not_found(),
    })
}

fn settings() -> Running {
    let mut colour = "white".to_owned();
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page(format!("a {colour} page")),
        ("GET", "/settings") => page(format!("colour: {colour}")),
        ("POST", "/settings") => {
            colour = ask.body.replace("colour=", "");
            to("/settings")
        }
        _ => not_found(),
    })
}

fn job() -> Running {
    let mut asked = 0;
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page("no job"),
        ("POST", "/job") => {
            asked = 0;
            to("/job")
        }
        ("GET", "/job") => page("the job"),
        ("GET", "/api/job") => {
            asked += 1;
            json(["waits", "runs", "done"][usize::min(asked, 3) - 1])
        }
        _ => not_found(),
    })
}

fn refusals() -> Running {
    let mut name = String::new();
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page(format!("name: {name}")),
        ("POST", "/name") if ask.body == "name=" => Told { status: 422, ..page("a name, please") },
        ("POST", "/name") => {
            name = ask.body.replace("name=", "");
            to("/")
        }
        ("POST", "/api/search") => json(format!("found {}", ask.body.len())),
        _ => not_found(),
    })
}

fn chat() -> Running {
    let mut said: Vec<String> = Vec::new();
    Box::new(move |ask| match (ask.method, ask.path) {
        ("GET", "/") => page("chat"),
        ("GET", "/api/messages") => json(said.join(" / ")),
        ("POST", "/api/messages") => {
            said.push(ask.body.to_owned());
            Told { status: 204, headers: Vec::new(), body: String::new() }
        }
        ("DELETE", "/api/messages/last") => {
            said.pop();
            Told { status: 204, headers: Vec::new(), body: String::new() }
        }
        _ => not_found(),
    })
}

fn two_users() -> Running {
    let mut notes = std::collections::BTreeMap::<String, u32>::new();
    Box::new(move |ask| {
        let user = ask.cookies.get("auth").cloned().unwrap_or_default();
        match (ask.method, ask.path) {
            ("GET", "/") if user.is_empty() => page("log-in"),
            ("GET", "/") => {
                page(format!("{user} has {} log-out", notes.get(&user).copied().unwrap_or(0)))
            }
            ("POST", "/login") => {
                to_with_cookie("/", &format!("auth={}; Path=/", ask.body.replace("user=", "")))
            }
            ("POST", "/logout") => to_with_cookie("/", "auth=; Max-Age=0"),
            ("POST", "/notes") => {
                *notes.entry(user).or_default() += 1;
                to("/")
            }
            _ => not_found(),
        }
    })
}

/// Things are taken and given back by links. No page is the same twice.
fn links() -> Running {
    let (mut taken, mut turn) = (Vec::new(), 0x5eed_u64);
    Box::new(move |ask| {
        let token = token(&mut turn);
        let mut told = match (ask.path, ask.path.split_once('=')) {
            ("/", _) => page(format!("home {} {token}", taken.join(" "))),
            ("/list", _) => page(format!("list: {} {token}", taken.join(" "))),
            ("/start", _) => page(format!("how to start {token}")),
            (_, Some(("/list?take", what))) => {
                taken.push(what.to_owned());
                to("/list")
            }
            (_, Some(("/list?lose", what))) => {
                taken.retain(|other| other != what);
                to("/list")
            }
            _ => not_found(),
        };
        if ask.cookies.is_empty() {
            told.headers.push(("Set-Cookie", "guest=7; Path=/".to_owned()));
        }
        told
    })
}

macro_rules! action {
    ($name:literal, [$($need:literal),*], $act:expr) => {
        Action { name: $name, needs: &[$($need),*], act: $act }
    };
}

pub(super) const SITES: &[SmallSite] = &[
    SmallSite {
        name: "cart",
        new: cart,
        actions: &[
            action!("home", [], |b| b.follow("/")),
            action!("cart", [], |b| b.follow("/cart")),
            action!("add a", [], |b| b.submit("/add", "item=a")),
            action!("add b", [], |b| b.submit("/add", "item=b")),
            action!("clear", [], |b| b.submit("/clear", "sure=1")),
        ],
        oracle: &[
            "cart", "home", "add a", "home", "cart", "add b", "home", "cart", "clear", "home",
            "cart",
        ],
    },
    SmallSite {
        name: "log-in",
        new: log_in,
        actions: &[
            action!("home", [], |b| b.follow("/")),
            action!("account", [], |b| b.follow("/account")),
            action!("log-in", ["log-in"], |b| b.submit("/login", "user=ann")),
            action!("log-out", ["log-out"], |b| b.follow("/logout")),
        ],
        oracle: &["home", "account", "log-in", "account", "home", "log-out", "home", "account"],
    },
    SmallSite {
        name: "wizard",
        new: wizard,
        actions: &[
            action!("start", [], |b| b.follow("/")),
            action!("second", [], |b| b.follow("/2")),
            action!("sum", [], |b| b.follow("/sum")),
            action!("say 1", ["step 1"], |b| b.submit("/1", "one")),
            action!("say 2", ["step 2"], |b| b.submit("/2", "two")),
        ],
        oracle: &[
            "sum", "second", "start", "say 1", "sum", "start", "second", "say 2", "sum", "second",
            "start",
        ],
    },
    SmallSite {
        name: "votes",
        new: votes,
        actions: &[
            action!("look", [], |b| b.follow("/")),
            action!("up", [], |b| b.submit("/up", "id=1")),
            action!("down", [], |b| b.submit("/down", "id=1")),
        ],
        oracle: &["look", "up", "look", "up", "down", "look", "down", "up", "down", "up"],
    },
    SmallSite {
        name: "undo",
        new: undo,
        actions: &[
            action!("look", [], |b| b.follow("/")),
            action!("two", [], |b| b.follow("/two")),
            action!("delete", ["delete"], |b| b.submit("/delete", "id=1")),
            action!("undo", ["undo"], |b| b.submit("/undo", "id=1")),
        ],
        oracle: &["two", "look", "delete", "look", "two", "look", "undo", "look", "two"],
    },
    SmallSite {
        name: "pages",
        new: pages,
        actions: &[
            action!("first", [], |b| b.follow("/")),
            action!("second", [], |b| b.follow("/?page=2")),
            action!("write", [], |b| b.submit("/items", "text=new")),
        ],
        oracle: &["second", "first", "write", "second", "first", "write", "second"],
    },
    SmallSite {
        name: "graphql",
        new: graphql,
        actions: &[
            action!("home", [], |b| b.follow("/")),
            action!("count", [], |b| b.fetch("POST", "/graphql", r#"{"query":"{ count }"}"#)),
            action!("add", [], |b| b.fetch("POST", "/graphql", r#"{"query":"mutation { add }"}"#)),
            action!("remove", [], |b| b.fetch(
                "POST",
                "/graphql",
                r#"{"query":"mutation { remove }"}"#
            )),
        ],
        oracle: &["count", "add", "count", "home", "add", "count", "remove", "count", "home"],
    },
    SmallSite {
        name: "tokens",
        new: tokens,
        actions: &[
            action!("look", [], |b| b.follow("/")),
            action!("help", [], |b| b.follow("/help")),
            action!("write", ["token="], |b| {
                let token = b.token();
                b.submit("/notes", &format!("text=x&csrf_token={token}"));
            }),
        ],
        oracle: &["help", "look", "write", "help", "look", "write", "look", "help"],
    },
    SmallSite {
        name: "todos",
        new: todos,
        actions: &[
            action!("list", [], |b| b.fetch("GET", "/api/todos", "")),
            action!("do 0", [], |b| b.fetch("PUT", "/api/todos/0", r#"{"done":true}"#)),
            action!("do 1", [], |b| b.fetch("PUT", "/api/todos/1", r#"{"done":true}"#)),
            action!("undo 0", [], |b| b.fetch("PUT", "/api/todos/0", r#"{"done":false}"#)),
        ],
        oracle: &["list", "do 0", "list", "do 1", "list", "undo 0", "list"],
    },
    SmallSite {
        name: "settings",
        new: settings,
        actions: &[
            action!("home", [], |b| b.follow("/")),
            action!("settings", [], |b| b.follow("/settings")),
            action!("red", [], |b| b.submit("/settings", "colour=red")),
            action!("white", [], |b| b.submit("/settings", "colour=white")),
        ],
        oracle: &["settings", "home", "red", "home", "settings", "white", "home", "settings"],
    },
    SmallSite {
        name: "job",
        new: job,
        actions: &[
            action!("home", [], |b| b.follow("/")),
            action!("start", ["no job"], |b| b.submit("/job", "go=1")),
            action!("ask", ["the job"], |b| b.fetch("GET", "/api/job", "")),
        ],
        oracle: &["home", "start", "ask", "ask", "ask", "home"],
    },
    SmallSite {
        name: "refusals",
        new: refusals,
        actions: &[
            action!("look", [], |b| b.follow("/")),
            action!("nothing", [], |b| b.submit("/name", "name=")),
            action!("name", [], |b| b.submit("/name", "name=ann")),
            action!("search", [], |b| b.fetch("POST", "/api/search", r#"{"q":"x"}"#)),
        ],
        oracle: &["look", "search", "nothing", "look", "name", "look", "nothing", "search"],
    },
    SmallSite {
        name: "chat",
        new: chat,
        actions: &[
            action!("read", [], |b| b.fetch("GET", "/api/messages", "")),
            action!("say", [], |b| b.fetch("POST", "/api/messages", r#"{"text":"hi"}"#)),
            action!("take back", ["hi"], |b| b.fetch("DELETE", "/api/messages/last", "")),
        ],
        oracle: &["read", "say", "read", "say", "read", "take back", "read", "take back", "read"],
    },
    SmallSite {
        name: "links",
        new: links,
        actions: &[
            action!("home", [], |b| b.follow("/")),
            action!("list", [], |b| b.follow("/list")),
            action!("start", [], |b| b.follow("/start")),
            action!("take a", [], |b| b.follow("/list?take=pen")),
            action!("take b", [], |b| b.follow("/list?take=cup")),
            action!("drop", ["pen"], |b| b.follow("/list?lose=pen")),
        ],
        oracle: &[
            "list", "home", "start", "home", "list", "take a", "home", "start", "list", "take b",
            "home", "list", "drop", "home", "list",
        ],
    },
    SmallSite {
        name: "two users",
        new: two_users,
        actions: &[
            action!("home", [], |b| b.follow("/")),
            action!("ann", ["log-in"], |b| b.submit("/login", "user=ann")),
            action!("bob", ["log-in"], |b| b.submit("/login", "user=bob")),
            action!("out", ["log-out"], |b| b.submit("/logout", "bye=1")),
            action!("note", ["log-out"], |b| b.submit("/notes", "n=1")),
        ],
        oracle: &["home", "ann", "home", "note", "home", "out", "home", "bob", "note", "out"],
    },
];
