//! Reads a log entry by entry: `log.entries` is visited during parsing and never collected.

use std::cell::Cell;
use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Seek};

use camino::Utf8Path;
use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use super::Error;
use super::attachments::{Attachments, open_zip, shortened};
use super::convert::{Entry, entry_from};
use super::schema::{RawEntry, RawPage, RawTool};
use crate::Timestamp;
use crate::budget::Budget;

/// Size limits beyond which a log is rejected.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// JSON text of one entry, in bytes; also the size of one body beside the log.
    pub entry: u64,
    /// A log inside a `.zip`, unpacked, in bytes. What the size of the file allows may be less.
    pub unpacked: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { entry: 1 << 30, unpacked: 64 << 30 }
    }
}

/// The contents of a log besides its entries.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Log {
    /// Name and version of the tool that wrote the log.
    pub creator: Option<String>,
    /// Name and version of the browser.
    pub browser: Option<String>,
    /// Pages, in the order of the log.
    pub pages: Vec<PageRef>,
    /// The number of entries read.
    pub entries: u64,
    /// The number of skipped entries, which are not valid exchanges.
    pub unusable: u64,
    /// The first of those: number, from 1, and the reason.
    pub named: Vec<(u64, String)>,
}

/// How many skipped entries are listed.
const NAMED: usize = 100;
/// How many values one entry may have. Each takes much more memory than its two bytes of text.
const MOST_VALUES: usize = 2_000_000;
/// How many pages a log may list, and the size of their texts.
pub(crate) const MOST_PAGES: usize = 100_000;
const PAGE_TEXTS: usize = 64 << 20;

/// A page of the log. Entries refer to it by its id ([`Entry::page`]). Its URL is that of its first
/// entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRef {
    /// The id by which entries refer to it.
    pub id: String,
    /// Title; Chrome puts the URL here.
    pub title: Option<String>,
    /// When loading began.
    pub started: Option<Timestamp>,
    /// The URL, if the log has it.
    pub url: Option<String>,
}

/// Reads a `.har` with its bodies in the same folder, or a `.zip` with a log and its bodies.
///
/// # Errors
/// All errors of [`read`], and [`Error::File`] or [`Error::Zip`] if the file cannot be opened.
pub fn read_file<E: From<Error>>(
    path: &Utf8Path,
    limits: Limits,
    on_entry: impl FnMut(Entry) -> Result<(), E>,
) -> Result<Log, E> {
    let failed = |source| Error::File { path: path.to_owned(), source };
    let mut file = files::open(path).map_err(failed)?;
    let mut magic = Vec::new();
    (&mut file).take(4).read_to_end(&mut magic).map_err(failed)?;
    file.rewind().map_err(failed)?;
    let budget = Budget::of_contents(file.metadata().map_err(failed)?.len());
    let (log, mut attachments) = if magic.starts_with(b"PK\x03\x04") {
        open_zip(path, file, limits.unpacked, budget)?
    } else {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_str().is_empty())
            .unwrap_or(Utf8Path::new("."));
        (file, Attachments::beside(folder, budget))
    };
    read(log, &mut attachments, limits, on_entry)
}

/// Reads a log. Passes each entry to `on_entry` as soon as it is complete.
///
/// # Errors
/// [`Error::Syntax`] with line, column and entry number if the text is not HAR;
/// [`Error::TooLarge`], [`Error::AllTogether`] and [`Error::TooManyPages`]; and any error of
/// `on_entry`, unchanged. Entries before the error have been passed on. An entry that is not a
/// valid exchange is skipped and listed in the log.
pub fn read<E: From<Error>>(
    input: impl Read,
    attachments: &mut Attachments,
    limits: Limits,
    on_entry: impl FnMut(Entry) -> Result<(), E>,
) -> Result<Log, E> {
    let taken = Cell::new(0);
    let mut input =
        BufReader::with_capacity(1 << 16, Metered { input, taken: &taken, limit: limits.entry });
    skip_byte_order_mark(&mut input)
        .map_err(|error| syntax(&serde_json::Error::io(error), None))?;
    let mut reading = Reading {
        log: Log::default(),
        page_texts: 0,
        current: None,
        found: false,
        stopped: None,
        taken: &taken,
        limits,
        attachments,
        on_entry,
    };
    let mut json = serde_json::Deserializer::from_reader(input);
    let outcome = (Top(&mut reading)).deserialize(&mut json).and_then(|()| json.end());
    match (reading.stopped, outcome) {
        // The parser only reports that it was stopped. The reason is the entry's own error.
        (Some(error), _) => Err(error),
        (None, Err(error)) if error.is_io() && is_limit(&error) => {
            Err(Error::TooLarge { entry: reading.current.unwrap_or(0), limit: limits.entry }.into())
        }
        (None, Err(error)) => Err(syntax(&error, reading.current).into()),
        (None, Ok(())) if !reading.found => Err(Error::NoLog.into()),
        (None, Ok(())) => Ok(reading.log),
    }
}

fn syntax(error: &serde_json::Error, entry: Option<u64>) -> Error {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    let reason = text.strip_suffix(&place).unwrap_or(&text).to_owned();
    Error::Syntax { line: error.line(), column: error.column(), entry, reason }
}

fn skip_byte_order_mark(input: &mut impl BufRead) -> io::Result<()> {
    let start = input.fill_buf()?;
    if start.starts_with(b"\xEF\xBB\xBF") {
        input.consume(3);
    } else if start.starts_with(b"\xFF\xFE") || start.starts_with(b"\xFE\xFF") {
        return Err(io::Error::new(
            io::ErrorKind::InvalidData,
            "the text is UTF-16, and HAR is UTF-8",
        ));
    }
    Ok(())
}

/// Stops the reader when more than `limit` bytes were read since `taken` was last reset to zero.
struct Metered<'a, R> {
    input: R,
    taken: &'a Cell<u64>,
    limit: u64,
}

const OVER_LIMIT: &str = "the entry is over the limit";

fn is_limit(error: &serde_json::Error) -> bool {
    error.to_string().starts_with(OVER_LIMIT)
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken.get() > self.limit {
            return Err(io::Error::other(OVER_LIMIT));
        }
        let count = self.input.read(buffer)?;
        self.taken.set(self.taken.get() + count as u64);
        Ok(count)
    }
}

/// State shared by the visitors below.
struct Reading<'a, F, E> {
    log: Log,
    /// Bytes of the texts of its pages.
    page_texts: usize,
    /// The number of the current entry, for error messages.
    current: Option<u64>,
    /// Whether `log.entries` was found.
    found: bool,
    /// The error with which the caller stopped.
    stopped: Option<E>,
    taken: &'a Cell<u64>,
    limits: Limits,
    attachments: &'a mut Attachments,
    on_entry: F,
}

impl<F: FnMut(Entry) -> Result<(), E>, E: From<Error>> Reading<'_, F, E> {
    /// Passes an entry on, or records why it is invalid.
    fn take(&mut self, raw: &RawValue) -> Result<(), E> {
        self.log.entries += 1;
        let number = self.log.entries;
        let entry = match parse(raw.get(), number) {
            Ok(parsed) => entry_from(parsed, number, self.attachments, self.limits.entry),
            Err(error) => Err(error),
        };
        match entry {
            Ok(entry) => (self.on_entry)(entry),
            // The bound is one for the bodies of all entries together, so later ones have no room.
            Err(error @ Error::AllTogether { .. }) => Err(error.into()),
            Err(error) => {
                self.log.unusable += 1;
                if self.log.named.len() < NAMED {
                    self.log.named.push((number, shortened(&reason_of(error))));
                }
                Ok(())
            }
        }
    }
}

fn parse(entry: &str, number: u64) -> Result<RawEntry, Error> {
    if file_version::count_values(entry.as_bytes()) > MOST_VALUES {
        let reason = format!("has more than {MOST_VALUES} values");
        return Err(Error::Entry { entry: number, field: "it", reason });
    }
    serde_json::from_str(entry).map_err(|error| syntax(&error, Some(number)))
}

/// What is wrong with an entry, without its number.
fn reason_of(error: Error) -> String {
    match error {
        Error::Entry { field, reason, .. } => format!("{field} {reason}"),
        Error::Syntax { reason, .. } => reason,
        Error::Attachment { name, reason, .. } => format!("its body {name:?}: {reason}"),
        other => other.to_string(),
    }
}

/// The document: an object with `log`.
struct Top<'a, T>(&'a mut T);
/// The value of `log`.
struct LogValue<'a, T>(&'a mut T);
/// The value of `log.entries`.
struct Entries<'a, T>(&'a mut T);
/// The value of `log.pages`.
struct Pages<'a, T>(&'a mut T);

impl<'de, F: FnMut(Entry) -> Result<(), E>, E: From<Error>> DeserializeSeed<'de>
    for Top<'_, Reading<'_, F, E>>
{
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(Entry) -> Result<(), E>, E: From<Error>> Visitor<'de>
    for Top<'_, Reading<'_, F, E>>
{
    type Value = ();
    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object with `log`")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            if key == "log" {
                map.next_value_seed(LogValue(&mut *self.0))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(())
    }
}

impl<'de, F: FnMut(Entry) -> Result<(), E>, E: From<Error>> DeserializeSeed<'de>
    for LogValue<'_, Reading<'_, F, E>>
{
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, F: FnMut(Entry) -> Result<(), E>, E: From<Error>> Visitor<'de>
    for LogValue<'_, Reading<'_, F, E>>
{
    type Value = ();
    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("an object with `entries`")
    }
    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            match key.as_str() {
                "entries" => map.next_value_seed(Entries(&mut *self.0))?,
                "pages" => map.next_value_seed(Pages(&mut *self.0))?,
                "creator" => {
                    self.0.log.creator = map.next_value::<Option<RawTool>>()?.and_then(tool_from)
                }
                "browser" => {
                    self.0.log.browser = map.next_value::<Option<RawTool>>()?.and_then(tool_from)
                }
                _ => {
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(())
    }
}

impl<'de, F: FnMut(Entry) -> Result<(), E>, E: From<Error>> DeserializeSeed<'de>
    for Entries<'_, Reading<'_, F, E>>
{
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, F: FnMut(Entry) -> Result<(), E>, E: From<Error>> Visitor<'de>
    for Entries<'_, Reading<'_, F, E>>
{
    type Value = ();
    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of entries")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let reading = self.0;
        reading.found = true;
        loop {
            // The limit is that of one entry.
            reading.taken.set(0);
            reading.current = Some(reading.log.entries + 1);
            let Some(raw) = list.next_element::<Box<RawValue>>()? else { break };
            if let Err(stopped) = reading.take(&raw) {
                reading.stopped = Some(stopped);
                return Err(A::Error::custom("stopped"));
            }
        }
        reading.current = None;
        Ok(())
    }
}

impl<'de, F: FnMut(Entry) -> Result<(), E>, E: From<Error>> DeserializeSeed<'de>
    for Pages<'_, Reading<'_, F, E>>
{
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de, F: FnMut(Entry) -> Result<(), E>, E: From<Error>> Visitor<'de>
    for Pages<'_, Reading<'_, F, E>>
{
    type Value = ();
    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a list of pages")
    }
    fn visit_unit<R>(self) -> Result<(), R> {
        Ok(())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let reading = self.0;
        while let Some(raw) = list.next_element::<RawPage>()? {
            let Some(page) = page_from(raw) else { continue };
            let texts = [Some(&page.id), page.title.as_ref(), page.url.as_ref()];
            reading.page_texts += texts.into_iter().flatten().map(String::len).sum::<usize>();
            if reading.log.pages.len() == MOST_PAGES || reading.page_texts > PAGE_TEXTS {
                let error = Error::TooManyPages { most: MOST_PAGES, bytes: PAGE_TEXTS };
                reading.stopped = Some(error.into());
                return Err(A::Error::custom("stopped"));
            }
            reading.log.pages.push(page);
        }
        Ok(())
    }
}

fn page_from(raw: RawPage) -> Option<PageRef> {
    Some(PageRef {
        id: raw.id?.0,
        title: raw.title.map(|title| title.0).filter(|title| !title.is_empty()),
        started: raw.started_date_time.and_then(|text| Timestamp::parse(&text.0).ok()),
        url: raw.url.map(|url| url.0),
    })
}

fn tool_from(raw: RawTool) -> Option<String> {
    let name = raw.name?.0;
    Some(match raw.version {
        Some(version) if !version.0.is_empty() => format!("{name} {}", version.0),
        _ => name,
    })
}
