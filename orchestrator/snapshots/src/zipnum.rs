//! ZipNum: a CDXJ index in gzip members of some thousand lines, with a small index of the members.
//!
//! In a WACZ the two files are `index.cdx.gz` and `index.idx`. pywb's older form, separated by tabs
//! and split into several parts, is supported too.

use std::io::{self, BufRead, BufReader, Read, Write};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::cdxj::{CdxLine, CdxLines};
use crate::lines::read_line;
use crate::warc::Window;

/// Lines in a member, as in py-wacz.
pub const LINES: usize = 1024;
/// The maximum size of an inflated member.
const MAX_BLOCK: u64 = 256 << 20;
/// The maximum number of members, and the maximum length of a line that names one.
const MOST_BLOCKS: usize = 1_000_000;
const MAX_LINE: u64 = 1 << 20;

/// One member of the compressed index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockRef {
    /// Key and time of its first line.
    pub first: String,
    /// The name of its file, if there are several.
    pub part: Option<String>,
    /// Its start offset.
    pub offset: u64,
    /// Its length.
    pub length: u64,
    /// `sha256:<hex>` of the member.
    pub digest: Option<String>,
}

/// Reads an `.idx` file of either form.
pub fn read_index(name: &str, mut reader: impl BufRead) -> Result<Vec<BlockRef>, Error> {
    let mut blocks = Vec::new();
    for number in 1.. {
        let wrong = |reason: String| Error::Line { name: name.to_owned(), line: number, reason };
        let Some(line) = read_line(&mut reader, MAX_LINE).map_err(wrong)? else { break };
        let line = std::str::from_utf8(&line).map_err(|error| wrong(error.to_string()))?;
        let line = line.trim_end_matches(['\r', '\n']);
        if line.trim().is_empty() || line.starts_with('!') {
            continue;
        }
        if blocks.len() == MOST_BLOCKS {
            return Err(wrong(format!("there are more than {MOST_BLOCKS} blocks")));
        }
        blocks.push(block(line).ok_or_else(|| wrong("it names no block".to_owned()))?);
    }
    Ok(blocks)
}

fn block(line: &str) -> Option<BlockRef> {
    if let Some((first, rest)) = line.split_once('\t') {
        let mut words = rest.split('\t');
        let part = words.next().map(str::to_owned);
        let (offset, length) =
            (words.next()?.trim().parse().ok()?, words.next()?.trim().parse().ok()?);
        return Some(BlockRef { first: first.to_owned(), part, offset, length, digest: None });
    }
    // js-wacz writes the key without the time.
    let (key, rest) = line.split_once(' ')?;
    let (line, first) = if rest.starts_with('{') {
        (CdxLine::parse(&format!("{key} 19700101000000 {rest}")).ok()?, key.to_owned())
    } else {
        let line = CdxLine::parse(line).ok()?;
        let first = format!("{} {}", line.key, line.time);
        (line, first)
    };
    Some(BlockRef {
        offset: line.offset()?,
        length: line.length()?,
        digest: line.text("digest").map(str::to_owned),
        part: line.filename().map(str::to_owned),
        first,
    })
}

/// Looks up keys in a compressed index of one part, one block at a time.
#[derive(Debug)]
pub struct ZipNum {
    blocks: Vec<BlockRef>,
    data: Window,
}

impl ZipNum {
    pub(crate) fn new(blocks: Vec<BlockRef>, data: Window) -> ZipNum {
        ZipNum { blocks, data }
    }

    /// The blocks, in order.
    pub fn blocks(&self) -> &[BlockRef] {
        &self.blocks
    }

    /// All lines with this key, sorted by time.
    pub fn find(&self, key: &str) -> Result<Vec<CdxLine>, Error> {
        let mut found = Vec::new();
        // The key may start in the block before the first block that starts with it.
        let first =
            self.blocks.partition_point(|block| key_of(&block.first) < key).saturating_sub(1);
        for block in self.blocks[first..].iter().take_while(|block| key_of(&block.first) <= key) {
            for line in self.lines(block) {
                let line = line?;
                if line.key == key {
                    found.push(line);
                } else if line.key.as_str() > key {
                    return Ok(found);
                }
            }
        }
        Ok(found)
    }

    /// The lines of one block.
    pub fn lines(&self, block: &BlockRef) -> CdxLines<impl BufRead + use<>> {
        let member =
            self.data.from(self.data.position().saturating_add(block.offset)).first(block.length);
        let inflated = MultiGzDecoder::new(BufReader::new(member)).take(MAX_BLOCK);
        CdxLines::new("a block of the index", BufReader::new(inflated))
    }
}

fn key_of(first: &str) -> &str {
    first.split(' ').next().unwrap_or("")
}

/// Writes sorted lines as a compressed index.
pub struct Writer<W> {
    out: W,
    index: String,
    pending: Vec<u8>,
    lines: usize,
    first: String,
    offset: u64,
}

impl<W: Write> Writer<W> {
    /// Writes the members to `out`. The `.idx` refers to it as `filename`.
    pub fn new(out: W, filename: &str) -> Writer<W> {
        let meta = json!({"format": "cdxj-gzip-1.0", "filename": filename});
        Writer {
            out,
            index: format!("!meta 0 {meta}\n"),
            pending: Vec::new(),
            lines: 0,
            first: String::new(),
            offset: 0,
        }
    }

    /// Adds a line (without its line end), which must not sort before the previous one.
    pub fn push(&mut self, line: &[u8]) -> io::Result<()> {
        if self.lines == 0 {
            let line = String::from_utf8_lossy(line);
            self.first = line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ");
        }
        self.pending.extend_from_slice(line);
        self.pending.push(b'\n');
        self.lines += 1;
        if self.lines == LINES { self.flush_block() } else { Ok(()) }
    }

    /// Writes the rest. Returns the text of the `.idx`.
    pub fn finish(mut self) -> io::Result<String> {
        if self.lines > 0 || self.offset == 0 {
            self.flush_block()?;
        }
        Ok(self.index)
    }

    fn flush_block(&mut self) -> io::Result<()> {
        let mut member = GzEncoder::new(Vec::new(), Compression::default());
        member.write_all(&self.pending)?;
        let member = member.finish()?;
        self.out.write_all(&member)?;
        if self.lines > 0 {
            let digest = Value::from(crate::warc::sha256_text(&Sha256::digest(&member)));
            let place = json!({"offset": self.offset, "length": member.len(), "digest": digest});
            self.index.push_str(&format!("{} {place}\n", self.first));
        }
        self.offset += member.len() as u64;
        self.pending.clear();
        self.lines = 0;
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::*;

    fn index(lines: &[String]) -> ZipNum {
        let mut file = tempfile::tempfile().unwrap();
        let mut writer = Writer::new(&mut file, "index.cdx.gz");
        lines.iter().for_each(|line| writer.push(line.as_bytes()).unwrap());
        let idx = writer.finish().unwrap();
        let file: Arc<File> = Arc::new(file);
        let length = file.metadata().unwrap().len();
        ZipNum::new(read_index("index.idx", idx.as_bytes()).unwrap(), Window::new(file, 0, length))
    }

    #[test]
    fn every_key_is_found_over_block_borders() {
        let lines: Vec<String> = (0..5000)
            .map(|n| format!("test,harbour)/{:05} {:014} {{\"n\":{n}}}", n / 3, n))
            .collect();
        let index = index(&lines);
        assert_eq!(index.blocks().len(), 5);
        for key in [0, 341, 342, 682, 1000, 1666] {
            let found = index.find(&format!("test,harbour)/{key:05}")).unwrap();
            let numbers: Vec<_> = found.iter().map(|line| line.number("n").unwrap()).collect();
            let expect: Vec<u64> = (key * 3..key * 3 + 3).filter(|n| *n < 5000).collect();
            assert_eq!(numbers, expect);
        }
        assert!(index.find("test,harbour)/9").unwrap().is_empty());
        assert!(index.find("a").unwrap().is_empty());
        assert!(super::tests::index(&[]).find("a").unwrap().is_empty());
    }

    #[test]
    fn the_older_form_is_read() {
        let blocks = read_index(
            "x.idx",
            &b"test,a)/ 2026\tpart-0\t0\t123\t1\ntest,b)/ 2026\tpart-0\t123\t45\t2\n"[..],
        )
        .unwrap();
        assert_eq!(
            (blocks[1].offset, blocks[1].length, blocks[1].part.as_deref()),
            (123, 45, Some("part-0"))
        );
        assert!(read_index("x.idx", &b"test,a)/ 2026\tpart-0\t0\n"[..]).is_err());
    }

    #[test]
    fn a_list_without_times_is_read() {
        let text = "!meta 0 {\"format\": \"cdxj-gzip-1.0\", \"filename\": \"index.cdx.gz\"}\n\
                    test,a)/?q={x} {\"offset\":5,\"length\":7,\"digest\":\"sha256:00\",\"filename\":\"index.cdx.gz\"}\n";
        let blocks = read_index("x.idx", text.as_bytes()).unwrap();
        assert_eq!((blocks.len(), blocks[0].first.as_str()), (1, "test,a)/?q={x}"));
        assert_eq!((blocks[0].offset, blocks[0].length), (5, 7));
    }

    #[test]
    fn a_list_is_bounded() {
        let line = "test,a)/ 2026\tpart-0\t0\t123\t1\n";
        assert_eq!(
            read_index("x", line.repeat(MOST_BLOCKS).as_bytes()).unwrap().len(),
            MOST_BLOCKS
        );
        let long = format!("test,a)/{} 2026\tpart-0\t0\t123\t1\n", "a".repeat(MAX_LINE as usize));
        for (text, expect) in [(line.repeat(MOST_BLOCKS + 1), "more than"), (long, "longer than")] {
            let error = read_index("x", text.as_bytes()).unwrap_err().to_string();
            assert!(error.contains(expect), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "[ -~\\t\\n]{0,200}") {
            let _ = read_index("x", text.as_bytes());
        }
    }
}
