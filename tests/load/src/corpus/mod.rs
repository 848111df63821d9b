//! A web of made-up documents. Document `n` depends on the seed and `n` alone, so a million of them
//! need no memory.

mod bodies;
mod random;

use clap::ValueEnum;
use random::Random;

/// A seeded set of documents.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Corpus {
    pub(crate) seed: u64,
    pub(crate) urls: u32,
    pub(crate) hosts: u32,
    pub(crate) shape: Shape,
}

/// What documents are like.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Shape {
    /// 40 % HTML of about 20 KB, 30 % JavaScript of 40 KB, 20 % binary of 15 KB, 10 % JSON of 2 KB.
    Mixed,
    /// JSON of about 200 bytes: many records, little content.
    Small,
}

/// One document and where it is found.
#[derive(Debug, Clone)]
pub(crate) struct Document {
    pub(crate) host: String,
    /// Path and query.
    pub(crate) target: String,
    pub(crate) media_type: &'static str,
    pub(crate) body: Vec<u8>,
}

impl Corpus {
    pub(crate) fn documents(self) -> impl Iterator<Item = Document> {
        (0..self.urls).map(move |number| self.document(number))
    }

    fn document(self, number: u32) -> Document {
        let mut random = Random::new(self.seed, number);
        let host = format!("h{:02}.bench.test", random.below(self.hosts));
        if self.shape == Shape::Small {
            let target = format!("/items/{number}.json");
            return Document {
                host,
                target,
                media_type: JSON,
                body: bodies::json(&mut random, number, 200),
            };
        }
        let (target, media_type, body) = match number % 10 {
            0..=3 => {
                let body = bodies::html(&mut random, number, around(20_000, number));
                (format!("/pages/{number}/index.html"), "text/html; charset=utf-8", body)
            }
            4..=6 => {
                let body = bodies::script(&mut random, around(40_000, number));
                (format!("/assets/app-{number}.js?v=3"), "text/javascript", body)
            }
            7 | 8 => (
                format!("/media/{number}.bin"),
                "application/octet-stream",
                random.bytes(around(15_000, number)),
            ),
            _ => (
                format!("/api/items?id={number}&page=1"),
                JSON,
                bodies::json(&mut random, number, around(2000, number)),
            ),
        };
        Document { host, target, media_type, body }
    }
}

const JSON: &str = "application/json";

/// From half to one and a half times the mean, the same for the same number.
fn around(mean: usize, number: u32) -> usize {
    let part = number as usize * 7919 % 1000;
    mean / 2 + mean * part / 1000
}
