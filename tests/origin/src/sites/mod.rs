//! The sites, one file each, and the choice among them by host name.

mod addresses;
mod cinema;
mod clocks;
mod homes;
mod passgate;
mod rail;
mod rail_live;
mod services;
mod shelf;
pub mod shops;
mod templates;

use http::{Method, StatusCode, header};
use templates::Templates;

use crate::call::Call;
use crate::data::shops::Shop;
use crate::data::{LAST_EDITED, Variant, World};
use crate::encoding::Encoding;
use crate::reply::Reply;
use crate::{Error, validators};

/// Every host of the demo web, as named in its certificate.
pub const HOSTS: [&str; 12] = [
    "aldria-rail.test",
    "www.aldria-rail.test",
    "live.aldria-rail.test",
    "text.aldria-rail.test",
    "www.cityscreen.test",
    "www.hearthside.test",
    "cdn.staticmile.test",
    "api.weatherfold.test",
    "widgets.rateboard.test",
    "id.passgate.test",
    "clock.meridian.test",
    "frame.meridian.test",
];

/// The whole demo web as a function from requests to answers.
#[derive(Debug)]
pub struct Web {
    world: World,
    templates: Templates,
}

impl Web {
    /// Makes the data and reads the templates.
    pub fn new(variant: Variant) -> Result<Web, Error> {
        let notice = match variant {
            Variant::Original => "",
            Variant::Changed => "This site has changed: new times, new prices, new weather.",
        };
        Ok(Web { world: World::new(variant), templates: Templates::new(notice)? })
    }

    /// The data behind the pages.
    pub fn world(&self) -> &World {
        &self.world
    }

    /// Answers a request, ready for the wire.
    pub fn answer(&self, call: &Call) -> Reply {
        use Encoding::{Brotli, Gzip, Zstd};
        let (reply, favourites): (Reply, &[Encoding]) = match call.host.as_str() {
            "text.aldria-rail.test" => (rail_live::text(self), &[Gzip]),
            // Everything else speaks TLS only.
            host if !call.secure && HOSTS.contains(&host) => (to_tls(call), &[]),
            "aldria-rail.test" => (
                Reply::redirect(
                    StatusCode::MOVED_PERMANENTLY,
                    &format!("https://www.aldria-rail.test{}", call.path),
                ),
                &[],
            ),
            "www.aldria-rail.test" => (rail::answer(self, call), &[Brotli, Gzip]),
            "live.aldria-rail.test" => (rail_live::board(self, call), &[]),
            "www.cityscreen.test" => (cinema::answer(self, call), &[Zstd, Gzip]),
            "www.hearthside.test" => (homes::answer(self, call), &[Gzip]),
            "cdn.staticmile.test" => (shelf::answer(self, call), &[Brotli, Zstd, Gzip]),
            "api.weatherfold.test" => (services::weather(self, call), &[Gzip]),
            "widgets.rateboard.test" => (services::rating(self, call), &[Brotli, Gzip]),
            "id.passgate.test" => (passgate::answer(self, call), &[Gzip]),
            "clock.meridian.test" => (clocks::clock(self, call), &[Brotli, Gzip]),
            "frame.meridian.test" => (clocks::frame(self, call), &[Brotli, Gzip]),
            host if let Some(shop) = Shop::of_host(host) => {
                (shops::answer(self, shop, call), &[Gzip])
            }
            _ => (
                Reply::of("text/plain", "no such host\n").under(StatusCode::MISDIRECTED_REQUEST),
                &[],
            ),
        };
        validators::finish(call, reply, favourites)
    }

    /// A page from a template.
    fn page(&self, template: &str, values: serde_json::Value) -> Reply {
        match self.templates.render(template, values) {
            Ok(html) => Reply::html(html).header(header::LAST_MODIFIED, LAST_EDITED),
            Err(error) => Reply::of("text/plain", format!("{error:#}\n"))
                .under(StatusCode::INTERNAL_SERVER_ERROR),
        }
    }
}

/// Reading requests are GET or HEAD.
fn reads(call: &Call) -> bool {
    matches!(call.method, Method::GET | Method::HEAD)
}

fn not_allowed(allow: &str) -> Reply {
    Reply::status(StatusCode::METHOD_NOT_ALLOWED).header(header::ALLOW, allow)
}

fn not_found() -> Reply {
    Reply::of("text/plain; charset=utf-8", "not found\n").under(StatusCode::NOT_FOUND)
}

fn to_tls(call: &Call) -> Reply {
    let mut location = url::Url::parse(&format!("https://{}", call.host)).ok();
    if let Some(location) = &mut location {
        location.set_path(&call.path);
        if !call.query.is_empty() {
            location.query_pairs_mut().extend_pairs(&call.query);
        }
    }
    match location {
        Some(location) => Reply::redirect(StatusCode::MOVED_PERMANENTLY, location.as_str()),
        None => Reply::status(StatusCode::BAD_REQUEST),
    }
}

fn robots(host: &str) -> Reply {
    let text =
        format!("User-agent: *\nDisallow: /account/\n\nSitemap: https://{host}/sitemap.xml\n");
    Reply::of("text/plain; charset=utf-8", text).header(header::CACHE_CONTROL, "max-age=3600")
}

fn sitemap(host: &str, paths: &[String]) -> Reply {
    let entries: String =
        paths.iter().map(|path| format!("<url><loc>https://{host}{path}</loc></url>\n")).collect();
    let xml = format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n{entries}</urlset>\n"
    );
    Reply::of("application/xml", xml).header(header::CACHE_CONTROL, "max-age=3600")
}
