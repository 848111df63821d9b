//! Cassettes: recorded chats with their replies in a file, one JSON object on each line.
//!
//! Each line is written at once. After a crash only the last line can be incomplete; it is ignored
//! and overwritten. A cassette has at most one reply to a chat for each model. Only one process may
//! add to a cassette at a time, or processes would overwrite each other's lines.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _};

use camino::{Utf8Path, Utf8PathBuf};
use file_version::Version;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::{Chat, Error, Part, Reply};

/// The version of a line.
const FORMAT: Version = Version::FIRST;
/// The longest line in bytes. A cassette may come with a run of somebody else. It is read line by
/// line, and of each only the reply is kept.
const LONGEST_LINE: u64 = 64 << 20;
/// Number of characters shown of the place where two chats differ.
const EXCERPT: usize = 80;

/// A file of recorded chats.
#[derive(Debug)]
pub struct Cassette {
    path: Utf8PathBuf,
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    /// By the digest of the chat.
    recorded: HashMap<String, Vec<CassetteEntry>>,
    /// The file to add lines to. `None` if the cassette is read-only.
    file: Option<File>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Unlock explicitly: a child process that is being started holds copies of all open files
        // for a moment, and closing the file would not release the lock.
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
    }
}

#[derive(Debug)]
struct CassetteEntry {
    model: String,
    reply: Reply,
}

/// A line of the file. The digest identifies the chat. The chat itself, without its images, is
/// there for people.
#[derive(Serialize, Deserialize)]
struct Line {
    /// Absent in version 1.
    #[serde(default, skip_serializing_if = "Version::is_first")]
    format: Version,
    digest: String,
    model: String,
    chat: Chat,
    reply: Reply,
}

impl Cassette {
    /// Opens a cassette for replay.
    ///
    /// # Errors
    /// When the file is missing, not a regular file, or not a cassette.
    pub fn open(path: &Utf8Path) -> Result<Cassette, Error> {
        let file = files::open(path).map_err(|error| failed("read", path, error))?;
        let (recorded, _) = read(path, &file)?;
        Ok(Cassette { path: path.to_owned(), inner: Mutex::new(Inner { recorded, file: None }) })
    }

    /// Opens a cassette for replay and recording. Creates the file if it is missing.
    ///
    /// # Errors
    /// When the file cannot be created, is not a cassette, or another process adds to it.
    pub fn record(path: &Utf8Path) -> Result<Cassette, Error> {
        let unread = |error| failed("read", path, error);
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .map_err(unread)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::InUse { path: path.to_owned() }),
            Err(TryLockError::Error(error)) => return Err(failed("lock", path, error)),
        }
        let (recorded, whole) = read(path, &file)?;
        let cut = |file: &mut File| {
            file.set_len(whole)?;
            file.seek(SeekFrom::End(0))
        };
        cut(&mut file).map_err(|error| failed("write", path, error))?;
        Ok(Cassette {
            path: path.to_owned(),
            inner: Mutex::new(Inner { recorded, file: Some(file) }),
        })
    }

    /// The path of the file.
    pub fn path(&self) -> &Utf8Path {
        &self.path
    }

    /// The recorded reply to a chat, with the name of its model. Without a `model` the first
    /// recorded reply of any model counts.
    pub fn find(&self, model: Option<&str>, chat: &Chat) -> Option<(String, Reply)> {
        let inner = self.inner.lock();
        let all = inner.recorded.get(&chat.digest())?;
        let found = all.iter().find(|recorded| model.is_none_or(|model| recorded.model == model));
        found.map(|recorded| (recorded.model.clone(), recorded.reply.clone()))
    }

    /// The only model in the cassette. `None` if it has no model or several.
    pub fn only_model(&self) -> Option<String> {
        let inner = self.inner.lock();
        let mut names = inner.recorded.values().flatten().map(|recorded| &recorded.model);
        let first = names.next()?;
        names.all(|name| name == first).then(|| first.clone())
    }

    /// Whether the cassette has any reply of this model, or of any model if none is given.
    pub fn knows(&self, model: Option<&str>) -> bool {
        let inner = self.inner.lock();
        let is_it = |recorded: &CassetteEntry| model.is_none_or(|model| recorded.model == model);
        inner.recorded.values().flatten().any(is_it)
    }

    /// How the most similar recorded chat differs from this one. Similar chats have the longest
    /// common beginning. Reads the file again, so it is only for misses.
    pub(crate) fn nearest(&self, model: Option<&str>, chat: &Chat) -> Option<String> {
        let file = files::open(&self.path).ok()?;
        let mut nearest: Option<(usize, String)> = None;
        let read = each_line(&file, |_, line| {
            let line = serde_json::from_str::<Line>(line).ok();
            let of_model = line.filter(|line| model.is_none_or(|model| line.model == model));
            let found = of_model.map(|line| difference(chat, &line.chat));
            let is_nearer =
                |(alike, _): &(usize, String)| nearest.as_ref().is_none_or(|best| *alike >= best.0);
            nearest = found.filter(is_nearer).or_else(|| nearest.take());
            Ok::<(), io::Error>(())
        });
        read.ok()?;
        nearest.map(|(_, how)| how)
    }

    /// Adds a reply. If the chat already has a reply of this model, the cassette keeps and returns
    /// that one.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn add(&self, model: &str, chat: &Chat, reply: Reply) -> Result<Reply, Error> {
        let digest = chat.digest();
        let mut inner = self.inner.lock();
        let Inner { recorded, file } = &mut *inner;
        let all = recorded.entry(digest.clone()).or_default();
        if let Some(earlier) = all.iter().find(|recorded| recorded.model == model) {
            return Ok(earlier.reply.clone());
        }
        if let Some(file) = file {
            let chat = chat.without_pictures();
            let line = Line {
                format: FORMAT,
                digest,
                model: model.to_owned(),
                chat,
                reply: reply.clone(),
            };
            let mut text = serde_json::to_string(&line).expect("a chat is plain data");
            text.push('\n');
            file.write_all(text.as_bytes()).map_err(|error| failed("write", &self.path, error))?;
        }
        all.push(CassetteEntry { model: model.to_owned(), reply: reply.clone() });
        Ok(reply)
    }
}

/// Compares the texts of two chats: the length of their common beginning in bytes, and a
/// description of the difference.
fn difference(chat: &Chat, recorded: &Chat) -> (usize, String) {
    let (ours, theirs) = (words(chat), words(recorded));
    let alike = ours
        .chars()
        .zip(theirs.chars())
        .take_while(|(a, b)| a == b)
        .map(|(a, _)| a.len_utf8())
        .sum();
    if ours == theirs {
        let how = if chat.repeat != recorded.repeat {
            "belongs to another repeat of the run"
        } else if chat.attempt != recorded.attempt {
            "belongs to another attempt at the same request"
        } else {
            "has the same words, but other pictures or settings of the model"
        };
        return (alike, how.to_owned());
    }
    let beginning = |text: &str| text[alike..].chars().take(EXCERPT).collect::<String>();
    (
        alike,
        format!(
            "continues with {:?} where this one has {:?}",
            beginning(&theirs),
            beginning(&ours)
        ),
    )
}

/// The texts of all messages of a chat.
fn words(chat: &Chat) -> String {
    let parts = chat.messages.iter().flat_map(|message| &message.content);
    let texts = parts.filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        Part::ImageUrl { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

/// The recorded chats, and the length of all complete lines in bytes.
fn read(path: &Utf8Path, file: &File) -> Result<(HashMap<String, Vec<CassetteEntry>>, u64), Error> {
    let mut recorded: HashMap<String, Vec<CassetteEntry>> = HashMap::new();
    let mut malformed = None;
    let read = each_line(file, |number, line| match parse(line) {
        Ok(line) => {
            let entry = CassetteEntry { model: line.model, reply: line.reply };
            recorded.entry(line.digest).or_default().push(entry);
            Ok(())
        }
        Err(source) => {
            malformed = Some(Error::Malformed { path: path.to_owned(), line: number, source });
            Err(io::ErrorKind::InvalidData.into())
        }
    });
    match (malformed, read) {
        (Some(malformed), _) => Err(malformed),
        (None, Err(error)) => Err(failed("read", path, error)),
        (None, Ok((whole, is_cut))) => {
            if is_cut {
                tracing::warn!(%path, "the last line of the cassette is cut short and is left out");
            }
            Ok((recorded, whole))
        }
    }
}

/// Gives each line with its number, but for empty ones. Returns where the last whole line ends, and
/// whether a part of another follows.
fn each_line(
    file: &File,
    mut give: impl FnMut(usize, &str) -> io::Result<()>,
) -> io::Result<(u64, bool)> {
    let (mut file, mut line, mut whole) = (BufReader::new(file), Vec::new(), 0);
    for number in 1.. {
        line.clear();
        let count = (&mut file).take(LONGEST_LINE).read_until(b'\n', &mut line)? as u64;
        if line.last() != Some(&b'\n') {
            if count == LONGEST_LINE {
                return Err(io::Error::other(format!(
                    "line {number} has more than {LONGEST_LINE} bytes"
                )));
            }
            return Ok((whole, count > 0));
        }
        whole += count;
        let text = std::str::from_utf8(&line).map_err(io::Error::other)?.trim();
        if !text.is_empty() {
            give(number, text)?;
        }
    }
    Ok((whole, false))
}

/// A line of a version that is known. A newer one may have any other keys.
fn parse(line: &str) -> serde_json::Result<Line> {
    #[derive(Deserialize)]
    struct Head {
        #[serde(default)]
        format: Version,
    }
    file_version::check_values(line.as_bytes()).map_err(serde::de::Error::custom)?;
    let head: Head = serde_json::from_str(line)?;
    head.format.check(FORMAT).map_err(serde::de::Error::custom)?;
    serde_json::from_str(line)
}

fn failed(doing: &'static str, path: &Utf8Path, source: io::Error) -> Error {
    Error::Cassette { doing, path: path.to_owned(), source }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_cassette_without_end_is_refused() {
        let keep = tempfile::tempdir().unwrap();
        let path = Utf8Path::from_path(keep.path()).unwrap().join("cassette.jsonl");
        // A hole takes no room on the disk.
        File::create(&path).unwrap().set_len(LONGEST_LINE + 1).unwrap();
        for opened in [Cassette::open(&path), Cassette::record(&path)] {
            let error = error_text::with_causes(&opened.unwrap_err());
            assert!(error.contains("line 1 has more than 67108864 bytes"), "{error}");
        }
        assert!(Cassette::open(Utf8Path::new("/dev/zero")).is_err());
    }
}
