//! What is done with foreign bytes by each of our readers, and must hold for any of them. Each
//! target is a function of bytes, which panics where something is wrong. `cargo test` changes the
//! seeds at random; `make fuzz` searches with libFuzzer for longer (`libfuzzer/`).

pub mod arc;
pub mod coding;
pub mod collection;
mod files;
pub mod har;
pub mod http;
pub mod import;
pub mod index;
pub mod score;
pub mod segment;
pub mod wacz;
pub mod warc;

/// What is done with some bytes.
pub type Check = fn(&[u8]);

/// The targets by their names, which are those of their folders in `seeds/` too.
pub const TARGETS: [(&str, Check); 11] = [
    ("arc", arc::check),
    ("coding", coding::check),
    ("collection", collection::check),
    ("har", har::check),
    ("http", http::check),
    ("import", import::check),
    ("index", index::check),
    ("score", score::check),
    ("segment", segment::check),
    ("wacz", wacz::check),
    ("warc", warc::check),
];
