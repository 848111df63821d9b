//! `www.hearthside.test`: homes for sale, a GraphQL search with cursors, viewings, agents and city
//! guides.

use http::{Method, StatusCode, header};
use serde::Deserialize;
use serde_json::json;

use super::{Web, not_allowed, reads, robots, sitemap};
use crate::call::Call;
use crate::data::homes::{self, AGENTS, Home, Sort, average_price, grouped};
use crate::data::places::{self, CITIES, station_name};
use crate::data::{LAST_EDITED, WEEKEND};
use crate::reply::Reply;

const HOST: &str = "www.hearthside.test";

pub(super) fn answer(web: &Web, call: &Call) -> Reply {
    let segments = call.segments();
    match (&call.method, segments.as_slice()) {
        (&Method::POST, ["graphql"]) => graphql(web, call),
        (&Method::POST, ["viewings"]) => book(web, call),
        (_, ["graphql"] | ["viewings"]) => not_allowed("POST"),
        _ if !reads(call) => not_allowed("GET, HEAD"),
        (_, []) => web.page("homes/home.html", json!({ "cities": CITIES })),
        (_, ["homes"]) => web.page("homes/results.html", json!({ "cities": CITIES })),
        (_, ["homes", id]) => find(web, id).map_or_else(|| missing(web), |home| listing(web, home)),
        (_, ["viewings", reference]) => booked(web, reference),
        (_, ["agents"]) => web.page("homes/agents.html", json!({ "agents": AGENTS })),
        (_, ["agents", slug]) => agent(web, slug),
        (_, ["guides"]) => web.page("homes/guides.html", json!({ "cities": CITIES })),
        (_, ["guides", slug]) => guide(web, slug),
        (_, ["robots.txt"]) => robots(HOST),
        (_, ["sitemap.xml"]) => sitemap(HOST, &paths(web)),
        _ => missing(web),
    }
}

/// Every page that has an address of its own.
pub(super) fn paths(web: &Web) -> Vec<String> {
    let mut paths: Vec<String> = ["/", "/agents", "/guides"].map(str::to_owned).into();
    paths.extend(web.world.homes.iter().map(|home| format!("/homes/{}", home.id)));
    paths.extend(AGENTS.iter().map(|agent| format!("/agents/{}", agent.slug)));
    paths.extend(CITIES.iter().map(|city| format!("/guides/{}", city.slug)));
    paths
}

fn missing(web: &Web) -> Reply {
    web.page("homes/missing.html", json!({})).under(StatusCode::NOT_FOUND)
}

fn find<'a>(web: &'a Web, id: &str) -> Option<&'a Home> {
    let id: u32 = id.parse().ok()?;
    web.world.homes.iter().find(|home| home.id == id)
}

fn listing(web: &Web, home: &Home) -> Reply {
    let (Some(city), Some(agent)) = (places::city(home.city), homes::agent(home.agent)) else {
        return missing(web);
    };
    let values = json!({ "home": home, "city": city, "agent": agent, "station": station_name(city.station), "price": grouped(home.price), "days": WEEKEND });
    web.page("homes/listing.html", values)
}

fn agent(web: &Web, slug: &str) -> Reply {
    let Some(agent) = homes::agent(slug) else { return missing(web) };
    let offered = web.world.homes.iter().filter(|home| home.agent == agent.slug);
    let homes: Vec<_> = offered
        .map(|home| {
            let city = places::city(home.city).map(|city| city.name);
            json!({ "id": home.id, "address": home.address, "city": city, "rooms": home.rooms, "price": grouped(home.price) })
        })
        .collect();
    web.page("homes/agent.html", json!({ "agent": agent, "homes": homes }))
}

fn guide(web: &Web, slug: &str) -> Reply {
    let Some(city) = places::city(slug) else { return missing(web) };
    let count = web.world.homes.iter().filter(|home| home.city == city.slug).count();
    let average = grouped(average_price(&web.world.homes, city.slug));
    let values = json!({ "city": city, "count": count, "average": average, "people": grouped(city.people), "station": station_name(city.station) });
    web.page("homes/guide.html", values)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GraphQl {
    operation_name: String,
    variables: Search,
}

#[derive(Deserialize)]
struct Search {
    city: String,
    rooms: u32,
    sort: String,
    first: usize,
    after: Option<String>,
}

/// One operation, `Homes`, with cursor paging. A cursor names the last home seen.
fn graphql(web: &Web, call: &Call) -> Reply {
    let failed = |message: &str| Reply::json(&json!({ "errors": [{ "message": message }] }));
    let Ok(operation) = serde_json::from_slice::<GraphQl>(&call.body) else {
        return failed("Bad request").under(StatusCode::BAD_REQUEST);
    };
    if operation.operation_name != "Homes" {
        return failed("Unknown operation");
    }
    let search = operation.variables;
    let found = homes::find(
        &web.world.homes,
        &search.city,
        search.rooms,
        u32::MAX,
        Sort::parse(&search.sort),
    );
    let start = match &search.after {
        None => 0,
        Some(cursor) => match found.iter().position(|home| cursor_of(home) == *cursor) {
            Some(last) => last + 1,
            None => return failed("Unknown cursor"),
        },
    };
    let shown: Vec<&&Home> = found.iter().skip(start).take(search.first.min(24)).collect();
    let edges: Vec<_> = shown
        .iter()
        .map(|home| {
            let node = json!({
                "id": home.id, "address": home.address, "kind": home.kind, "price": home.price, "area": home.area, "rooms": home.rooms,
                "extras": home.extras,
            });
            json!({ "cursor": cursor_of(home), "node": node })
        })
        .collect();
    let page_info = json!({
        "endCursor": shown.last().map(|home| cursor_of(home)),
        "hasNextPage": start + shown.len() < found.len(),
    });
    Reply::json(
        &json!({ "data": { "homes": { "totalCount": found.len(), "edges": edges, "pageInfo": page_info } } }),
    )
}

fn cursor_of(home: &Home) -> String {
    format!("home:{}", home.id)
}

/// A viewing's reference says all there is to know about it, so nothing need be kept:
/// `V-1008-0314-1130`.
fn book(web: &Web, call: &Call) -> Reply {
    let form = call.form();
    let field =
        |name: &str| form.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.trim());
    let (day, time) = (field("day").replace('-', ""), field("time").replace(':', ""));
    let reference = format!("V-{}-{}-{time}", field("home"), day.get(4..).unwrap_or_default());
    if field("name").is_empty() || viewing(web, &reference).is_none() {
        return missing(web).under(StatusCode::UNPROCESSABLE_ENTITY);
    }
    Reply::redirect(StatusCode::SEE_OTHER, &format!("/viewings/{reference}"))
}

fn viewing<'a>(web: &'a Web, reference: &str) -> Option<(&'a Home, &'static str, String)> {
    let mut parts = reference.strip_prefix("V-")?.split('-');
    let (home, day, time) = (find(web, parts.next()?)?, parts.next()?, parts.next()?);
    let (_, day) = WEEKEND.iter().find(|(date, _)| date.replace('-', "").get(4..) == Some(day))?;
    let time = ["10:00", "11:30", "14:00"].into_iter().find(|one| one.replace(':', "") == time)?;
    Some((home, day, time.to_owned()))
}

fn booked(web: &Web, reference: &str) -> Reply {
    let Some((home, day, time)) = viewing(web, reference) else { return missing(web) };
    let (Some(city), Some(agent)) = (places::city(home.city), homes::agent(home.agent)) else {
        return missing(web);
    };
    web.page("homes/booked.html", json!({ "home": home, "city": city, "agent": agent, "day": day, "time": time, "reference": reference })).header(header::LAST_MODIFIED, LAST_EDITED)
}
