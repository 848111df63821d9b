//! The two hundred shops of [`shops`](crate::data::shops): a front page, lists with pages and
//! orders, a search, and a page for each thing. A quarter of them speaks TLS only.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};

use http::StatusCode;

use super::{Web, not_found, reads};
use crate::call::Call;
use crate::data::Variant;
use crate::data::shops::{CATEGORIES, Obstacle, Shop, THINGS, Thing};
use crate::reply::Reply;

/// Things on one page of a list.
const PER_PAGE: usize = 10;

/// Counts the page requests of shops that limit their rate. It is all that is kept between
/// requests.
static LIMITED: AtomicU64 = AtomicU64::new(0);

pub(super) fn answer(web: &Web, shop: Shop, call: &Call) -> Reply {
    if call.path == "/hit" {
        return Reply::status(StatusCode::NO_CONTENT);
    }
    if shop.is_secure() && !call.secure {
        return super::to_tls(call);
    }
    if !reads(call) {
        return super::not_allowed("GET, HEAD");
    }
    let obstacle = shop.obstacle();
    let segments = call.segments();
    let is_page = !matches!(segments[..], ["robots.txt" | "hint" | "style.css"]);
    if obstacle == Obstacle::Limited && is_page && LIMITED.fetch_add(1, Ordering::Relaxed) % 3 == 2
    {
        return Reply::html("<title>Too many requests</title>".to_owned())
            .under(StatusCode::TOO_MANY_REQUESTS);
    }
    if web.world().variant == Variant::Changed
        && let Some(reply) = changed(shop, &segments)
    {
        return reply;
    }
    match segments[..] {
        [] => front(shop),
        ["robots.txt"] => {
            let all = if obstacle == Obstacle::Closed { "/" } else { "" };
            Reply::of("text/plain; charset=utf-8", format!("User-agent: *\nDisallow: {all}\n"))
        }
        ["hint"] => Reply::json(&serde_json::json!({ "hint": "Open until six." })),
        ["style.css"] => Reply::of("text/css", "body{font-family:sans-serif;margin:2em}li{margin:.3em}"),
        ["c", category] if CATEGORIES.contains(&category) => list(shop, call, category),
        ["find"] => found(shop, call),
        ["i", id] => match id.split('-').next().and_then(|id| id.parse().ok()) {
            Some(id) if id < THINGS && obstacle == Obstacle::Guarded => captcha(),
            Some(id) if id < THINGS => thing(shop, &shop.thing(id)),
            _ => not_found(),
        },
        ["account"] => Reply::redirect(StatusCode::FOUND, &format!("{}/log-in", shop.address())),
        ["log-in"] => page(
            shop,
            "Log in",
            "<form method=post action=/log-in><label>Name <input name=name></label>
            <label>Password <input type=password name=password></label><button>Log in</button></form>",
        ),
        _ => not_found(),
    }
}

/// What a shop answers otherwise after it has changed: one list is gone, one has moved, and its
/// search is behind a CAPTCHA.
fn changed(shop: Shop, segments: &[&str]) -> Option<Reply> {
    match segments {
        ["c", "garden"] => Some(not_found()),
        ["c", "music"] => {
            Some(Reply::redirect(StatusCode::FOUND, &format!("{}/c/travel", shop.address())))
        }
        ["find"] => Some(captcha()),
        _ => None,
    }
}

/// The path of a thing's page.
pub fn path(thing: &Thing) -> String {
    format!("/i/{}-{}", thing.id, thing.name.to_lowercase().replace(['.', ' '], "-"))
}

fn front(shop: Shop) -> Reply {
    let mut body = String::from("<ul>");
    for category in CATEGORIES {
        let _ = write!(body, "<li><a href='/c/{category}'>For the {category}</a>");
    }
    let _ = write!(body, "</ul><p><a href='/account'>Your account</a></p><h2>New here</h2>");
    let newest: Vec<Thing> = (0..PER_PAGE).map(|id| shop.thing(THINGS - 1 - id)).collect();
    body += &items(&newest);
    page(shop, "Welcome", &body)
}

fn list(shop: Shop, call: &Call, category: &str) -> Reply {
    let mut things: Vec<Thing> = shop.things().filter(|thing| thing.category == category).collect();
    if call.param("sort") == Some("price") {
        things.sort_by_key(|thing| thing.price);
    }
    let by_price = format!("<p><a href='/c/{category}?sort=price'>Cheapest first</a></p>");
    paged(shop, call, &format!("For the {category}"), &things, &by_price)
}

fn found(shop: Shop, call: &Call) -> Reply {
    let query = call.param("q").unwrap_or_default().to_lowercase();
    let words: Vec<&str> = query.split_whitespace().collect();
    let fits = |thing: &Thing| {
        let text = format!("{} {} {}", thing.name, thing.town, thing.category).to_lowercase();
        words.iter().all(|word| text.split(' ').any(|own| own == *word))
    };
    let things: Vec<Thing> =
        shop.things().filter(|thing| !words.is_empty() && fits(thing)).collect();
    paged(shop, call, "Found", &things, &format!("<p>{} found</p>", things.len()))
}

fn paged(shop: Shop, call: &Call, title: &str, things: &[Thing], above: &str) -> Reply {
    let number: usize = call.param("page").and_then(|page| page.parse().ok()).unwrap_or(1).max(1);
    let shown: Vec<Thing> =
        things.iter().skip((number - 1) * PER_PAGE).take(PER_PAGE).cloned().collect();
    let mut body = format!("{above}{}", items(&shown));
    if things.len() > number * PER_PAGE {
        let mut next = url::form_urlencoded::Serializer::new(String::new());
        next.extend_pairs(call.query.iter().filter(|(name, _)| name != "page"));
        next.append_pair("page", &(number + 1).to_string());
        let next = next.finish().replace('&', "&amp;");
        let _ = write!(body, "<p><a rel=next href='{}?{next}'>Next</a></p>", call.path);
    }
    page(shop, title, &body)
}

fn thing(shop: Shop, thing: &Thing) -> Reply {
    let Thing { name, category, price, weight, town, year, .. } = thing;
    let body = format!(
        "<dl><dt>Price<dd>{price} crowns<dt>Weight<dd>{weight} g<dt>Made in<dd>{town}<dt>Maker since<dd>{year}</dl>
        <p><a href='/c/{category}'>More for the {category}</a></p>"
    );
    page(shop, name, &body)
}

/// What stands in front of a page.
fn captcha() -> Reply {
    let body =
        "<!doctype html><title>Just a moment...</title><div class=g-recaptcha>Are you human?</div>";
    Reply::html(body.to_owned()).under(StatusCode::FORBIDDEN)
}

fn items(things: &[Thing]) -> String {
    let item = |thing: &Thing| format!("<li><a href='{}'>{}</a>", path(thing), thing.name);
    format!("<ul>{}</ul>", things.iter().map(item).collect::<String>())
}

/// A page with what all of them have: a search, a script that asks for something else each time,
/// and a beacon to a third party.
fn page(shop: Shop, title: &str, body: &str) -> Reply {
    let name = shop.name();
    let banner = if shop.obstacle() == Obstacle::Banner {
        "<div class='cookie-consent' style='position:fixed;inset:0;background:#fff'><p>We use cookies.</p>
        <button onclick=\"document.cookie='consent=1;path=/';this.parentNode.remove()\">Accept all</button>
        <button onclick=\"this.parentNode.remove()\">Reject all</button></div>
        <script>if (document.cookie.includes('consent=1')) document.querySelector('.cookie-consent').remove()</script>"
    } else {
        ""
    };
    Reply::html(format!(
        "<!doctype html><html lang=en><meta charset=utf-8><title>{title} - {name}</title>
<link rel=stylesheet href=/style.css>
<header><a href='/'>{name}</a>
<form action='/find' role=search><input type=search name=q aria-label='Search {name}'><button>Search</button></form></header>
<main><h1>{title}</h1>{body}</main><footer id=hint></footer>{banner}
<script>
fetch('/hint?t=' + Date.now() + '&k=' + Math.random().toString(36).slice(2))
  .then(answer => answer.json()).then(({{ hint: text }}) => {{ document.getElementById('hint').textContent = text; }});
navigator.sendBeacon('//{}/hit', location.pathname);
</script>",
        Shop(0).host()
    ))
}
