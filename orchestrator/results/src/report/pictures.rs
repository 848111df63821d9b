//! Screenshots of a report, linked or embedded, each distinct one once.

use std::collections::HashMap;
use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use camino::Utf8Path;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::Form;
use crate::html::png::dimensions;
use crate::html::words::link;
use crate::stored::files;

/// Maximum size of all embedded images. Others are linked.
const LIMIT: usize = 64 << 20;

/// The first bytes of a screenshot, which contain its size.
const HEAD: u64 = 24;
/// Maximum size of a screenshot, far above real ones.
const LARGEST: u64 = 256 << 20;

/// The screenshots added so far.
pub(super) struct Pictures {
    form: Form,
    embedded: Vec<EmbeddedImage>,
    known: HashMap<[u8; 32], usize>,
    bytes: usize,
    pub(super) linked: usize,
}

/// A screenshot in the page's style sheet.
#[derive(Serialize)]
pub(super) struct EmbeddedImage {
    base64: String,
}

/// The location of a screenshot.
#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Picture {
    /// In the style sheet, with this index.
    Embedded(usize),
    /// In the run's folder, at this relative path.
    Linked(String),
}

/// A screenshot with its size.
#[derive(Serialize)]
pub(super) struct PlacedImage {
    picture: Picture,
    width: u32,
    height: u32,
}

impl Pictures {
    /// No screenshots yet, for a report of this form.
    pub(super) fn new(form: Form) -> Pictures {
        Pictures { form, embedded: Vec::new(), known: HashMap::new(), bytes: 0, linked: 0 }
    }

    /// Adds a screenshot. `None` if the file is missing or not a PNG; the report continues without
    /// it.
    pub(super) fn place(&mut self, run: &Utf8Path, file: &Utf8Path) -> Option<PlacedImage> {
        let beside = || Picture::Linked(link(file.strip_prefix(run).unwrap_or(file).as_str()));
        if self.form == Form::Linked {
            // A linked screenshot is not read: its size is in its first bytes.
            let mut head = Vec::new();
            files::open(file).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
            let (width, height) = dimensions(&head)?;
            return Some(PlacedImage { picture: beside(), width, height });
        }
        let bytes = files::read(file, LARGEST).ok()?;
        let (width, height) = dimensions(&bytes)?;
        let digest: [u8; 32] = Sha256::digest(&bytes).into();
        let picture = match self.known.get(&digest) {
            Some(&number) => Picture::Embedded(number),
            None if self.bytes + bytes.len() > LIMIT => {
                self.linked += 1;
                beside()
            }
            None => {
                let number = self.embedded.len();
                self.known.insert(digest, number);
                self.bytes += bytes.len();
                self.embedded.push(EmbeddedImage { base64: STANDARD.encode(&bytes) });
                Picture::Embedded(number)
            }
        };
        Some(PlacedImage { picture, width, height })
    }

    /// The images for the style sheet, by index.
    pub(super) fn into_embedded(self) -> Vec<EmbeddedImage> {
        self.embedded
    }
}
