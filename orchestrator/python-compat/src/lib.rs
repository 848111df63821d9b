//! The behaviour of Python and its libraries, where it decides what others' code gives.
//!
//! The reference is Python 3.11. What differs from the obvious Rust call is written out here.
//!
//! ```text
//! json, value, repr, int, float   values, and how they are read and spelt
//! text, character, ascii          methods of `str`, and what characters are
//! pattern, url, html              `re`, `urllib.parse`, `html.unescape`
//! nltk, pillow, skimage           words of a text; pictures and their likeness
//! soup, xpath, tree               pages as BeautifulSoup and lxml read them
//! ```

#![allow(missing_docs, reason = "not published: some names say it all")]

pub mod ascii;
mod ascii_tables;
pub mod character;
pub mod float;
pub mod html;
pub mod int;
pub mod json;
pub mod nltk;
pub mod pattern;
pub mod pillow;
mod references;
mod repr;
pub mod skimage;
pub mod soup;
pub mod text;
pub mod tree;
pub mod unicode_escape;
pub mod url;
mod value;
pub mod xpath;

pub use value::{Dict, Value};
