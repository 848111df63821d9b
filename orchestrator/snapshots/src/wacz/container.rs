//! Writes the ZIP file of a WACZ, and the description of its files in `datapackage.json`.

use std::fs::File;
use std::io::{self, BufWriter, Write};

use camino::{Utf8Path, Utf8PathBuf};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, ZipWriter};

use crate::matching::ChangingParts;
use crate::warc::sha256_text;
use crate::{BrowserState, Error, Timestamp, browser_state};

/// The WACZ version of written files.
pub const WACZ_VERSION: &str = "1.1.1";

/// The content of `datapackage.json` besides the list of files.
#[derive(Debug, Clone, Default)]
pub struct Description {
    /// Title of the snapshot.
    pub title: Option<String>,
    /// Description of the content, in Markdown.
    pub description: Option<String>,
    /// URL and time of the page to show first.
    pub main_page: Option<(String, Timestamp)>,
    /// Creation time; the current time if unset.
    pub created: Option<Timestamp>,
    /// The rules about volatile request parts, which are stored in a separate file.
    pub rules: ChangingParts,
    /// The browser state.
    pub browser_state: BrowserState,
    /// Further keys.
    pub extra: Map<String, Value>,
}

/// Writes a WACZ entry by entry. Each entry is hashed while it is written.
pub struct ContainerWriter {
    path: Utf8PathBuf,
    zip: ZipWriter<BufWriter<File>>,
    resources: Vec<Value>,
    current: Option<Current>,
    modified: DateTime,
}

struct Current {
    name: String,
    bytes: u64,
    hasher: Sha256,
}

impl ContainerWriter {
    /// Creates the file `path`, which must not exist.
    pub fn create(path: &Utf8Path) -> Result<ContainerWriter, Error> {
        let file = File::create_new(path).map_err(|e| Error::io("create", path, e))?;
        let zip = ZipWriter::new(BufWriter::with_capacity(256 << 10, file));
        let modified = zip_time(Timestamp::now());
        Ok(ContainerWriter {
            path: path.to_owned(),
            zip,
            resources: Vec::new(),
            current: None,
            modified,
        })
    }

    /// Starts the next entry; what is written from now on is its content. Stored entries are
    /// uncompressed, others are deflated.
    pub fn start(&mut self, name: &str, stored: bool) -> Result<(), Error> {
        self.close_entry();
        self.start_entry(name, stored)?;
        self.current = Some(Current { name: name.to_owned(), bytes: 0, hasher: Sha256::new() });
        Ok(())
    }

    /// Writes a whole entry.
    pub fn add(&mut self, name: &str, stored: bool, content: &[u8]) -> Result<(), Error> {
        self.start(name, stored)?;
        self.write_all(content).map_err(|e| Error::io("write", &self.path, e))
    }

    /// Bytes of the current entry so far.
    pub fn position(&self) -> u64 {
        self.current.as_ref().map_or(0, |current| current.bytes)
    }

    /// Writes the descriptions and syncs the file. Returns `sha256:<hex>` of `datapackage.json`.
    pub fn finish(mut self, description: &Description) -> Result<String, Error> {
        if !description.rules.is_empty() {
            self.add(super::RULES_NAME, false, description.rules.to_yaml().as_bytes())?;
        }
        self.close_entry();
        // Serialised once, because the digest is that of exactly these bytes.
        let package = to_json(&self.package(description));
        let digest = sha256_text(&Sha256::digest(&package));
        let digest_file = to_json(&json!({"path": "datapackage.json", "hash": digest}));
        for (name, content) in
            [("datapackage.json", package), ("datapackage-digest.json", digest_file)]
        {
            self.start_entry(name, false)?;
            self.zip.write_all(&content).map_err(|e| Error::io("write", &self.path, e))?;
        }
        let io = |e| Error::io("write", &self.path, e);
        let file = self
            .zip
            .finish()
            .map_err(|e| io(e.into()))?
            .into_inner()
            .map_err(|e| io(e.into_error()))?;
        file.sync_all().map_err(io)?;
        Ok(digest)
    }

    fn package(&self, description: &Description) -> Value {
        let mut package = Map::new();
        let mut put = |key: &str, value: Value| drop(package.insert(key.to_owned(), value));
        put("profile", "data-package".into());
        put("resources", Value::Array(self.resources.clone()));
        if let Some(title) = &description.title {
            put("title", title.as_str().into());
        }
        if let Some(text) = &description.description {
            put("description", text.as_str().into());
        }
        let created = description.created.unwrap_or_else(Timestamp::now).to_seconds().to_string();
        put("created", created.as_str().into());
        put("wacz_version", WACZ_VERSION.into());
        put("software", crate::recording::SOFTWARE.into());
        if let Some((url, date)) = &description.main_page {
            put("mainPageUrl", url.as_str().into());
            put("mainPageDate", date.to_string().into());
        }
        if !description.browser_state.is_empty() {
            let state = serde_json::to_value(&description.browser_state);
            put(browser_state::KEY, state.expect("texts by their names are plain data"));
        }
        for (key, value) in &description.extra {
            put(key, value.clone());
        }
        Value::Object(package)
    }

    fn start_entry(&mut self, name: &str, stored: bool) -> Result<(), Error> {
        let method = if stored { CompressionMethod::Stored } else { CompressionMethod::Deflated };
        // Sizes are not known beforehand, so every entry reserves 64-bit fields.
        let options = SimpleFileOptions::default()
            .compression_method(method)
            .large_file(true)
            .last_modified_time(self.modified);
        self.zip.start_file(name, options).map_err(|e| Error::io("write", &self.path, e.into()))
    }

    fn close_entry(&mut self) {
        if let Some(current) = self.current.take() {
            let file =
                current.name.rsplit('/').next().unwrap_or(&current.name).to_ascii_lowercase();
            self.resources.push(json!({
                "name": file,
                "path": current.name,
                "hash": sha256_text(&current.hasher.finalize()),
                "bytes": current.bytes,
            }));
        }
    }
}

impl Write for ContainerWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(current) = &mut self.current else {
            return Err(io::Error::other("no entry has been started"));
        };
        let written = self.zip.write(bytes)?;
        current.hasher.update(&bytes[..written]);
        current.bytes += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.zip.flush()
    }
}

fn to_json(value: &Value) -> Vec<u8> {
    let mut text = format!("{value:#}").into_bytes();
    text.push(b'\n');
    text
}

fn zip_time(now: Timestamp) -> DateTime {
    let t = jiff::tz::TimeZone::UTC.to_datetime(now.inner());
    let part = |n: i8| u8::try_from(n).unwrap_or(0);
    let year = u16::try_from(t.year()).unwrap_or(1980);
    DateTime::from_date_and_time(
        year,
        part(t.month()),
        part(t.day()),
        part(t.hour()),
        part(t.minute()),
        part(t.second()),
    )
    .unwrap_or_default()
}
