//! Reads the CDXJ index of a WACZ.

use std::io::{BufRead, BufReader, Read};

use flate2::bufread::MultiGzDecoder;

use super::package::{Entry, Package};
use crate::Error;
use crate::cdxj::CdxLines;
use crate::zipnum::{ZipNum, read_index};

/// The maximum size of an `.idx` file.
const MAX_IDX: u64 = 1 << 30;

impl Package {
    /// The lines of all indexes, file by file; none if the container has no index.
    pub fn index(&self) -> impl Iterator<Item = CdxLines<Box<dyn BufRead + Send>>> {
        self.entries().iter().filter(|entry| is_index(entry)).map(|entry| {
            let reader = self.reader(entry);
            let lines: Box<dyn BufRead + Send> = if entry.name.ends_with(".gz") {
                Box::new(BufReader::new(MultiGzDecoder::new(reader).take(self.contents())))
            } else {
                reader
            };
            CdxLines::new(entry.name.clone(), lines)
        })
    }

    /// The compressed index with its look-up table, if the container has one that can be used in
    /// place.
    pub fn zipnum(&self) -> Result<Option<ZipNum>, Error> {
        let (Some(idx), Some(data)) =
            (self.entry("indexes/index.idx"), self.entry("indexes/index.cdx.gz"))
        else {
            return Ok(None);
        };
        if !data.stored {
            return Ok(None);
        }
        let blocks = read_index(&idx.name, self.reader(idx).take(MAX_IDX))?;
        Ok(Some(ZipNum::new(blocks, self.window(data))))
    }
}

fn is_index(entry: &Entry) -> bool {
    let ends = [".cdx", ".cdxj", ".cdx.gz", ".cdxj.gz"];
    entry.name.starts_with("indexes/") && ends.iter().any(|end| entry.name.ends_with(end))
}
