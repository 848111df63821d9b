//! Packed runs of a stranger (`tests/hostile/pack`) before every command that takes one. The
//! command says what is wrong or does its work; it shows no file of the user's, writes nothing
//! where it was not told to, starts nothing, and prints no control characters.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::annotator::get;
use crate::harness::{Bench, interrupt, repository, text};

/// What a file of the user's has. Nothing that is printed or written may have it.
const SECRET: &str = "secret-of-the-user";
/// Commands; `FILE` stands for the pack and `NEW` for a new path.
const COMMANDS: [&str; 9] = [
    "report FILE",
    "report FILE --json",
    "compare FILE FILE",
    "export csv FILE --output NEW",
    "export json FILE --output NEW",
    "merge FILE --output NEW",
    "verify FILE --digests",
    "verify FILE --recorded-actions",
    "verify FILE",
];
/// Servers of pages; the test asks for the first one.
const SERVERS: [&str; 2] = ["show FILE", "trace FILE"];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trick {
    about: String,
    member: String,
    replace: BTreeMap<String, String>,
    #[serde(default)]
    add: BTreeMap<String, String>,
    /// What `verify` says when it refuses to play the pack; nothing where the pack may be played.
    refused: Option<String>,
}

type Members = BTreeMap<String, Vec<u8>>;

/// The members of a packed run.
fn unpacked(file: &Utf8Path) -> Result<Members> {
    let tar = zstd::decode_all(fs::File::open(file)?)?;
    let mut archive = tar::Archive::new(&tar[..]);
    let mut members = Members::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let name = entry.path()?.display().to_string();
        let mut content = Vec::new();
        std::io::copy(&mut entry, &mut content)?;
        members.insert(name, content);
    }
    Ok(members)
}

/// A pack of these members, with digests that fit.
fn packed(mut members: Members) -> Result<Vec<u8>> {
    let manifest = members.remove("manifest.json").context("a manifest")?;
    let mut manifest: Value = serde_json::from_slice(&manifest)?;
    manifest["members"] = members
        .iter()
        .map(|(path, content)| {
            let digest = hex::encode(Sha256::digest(content));
            json!({ "path": path, "bytes": content.len(), "sha256": digest })
        })
        .collect();
    let manifest = ("manifest.json".to_owned(), serde_json::to_vec(&manifest)?);
    let mut tar = tar::Builder::new(Vec::new());
    for (name, content) in std::iter::once(manifest).chain(members) {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, &name, &content[..])?;
    }
    Ok(zstd::encode_all(&tar.into_inner()?[..], 1)?)
}

/// The members with a trick.
fn tricked(
    members: &Members,
    trick: &Trick,
    private: &Utf8Path,
    out: &Utf8Path,
) -> Result<Members> {
    let filled = |text: &str| {
        text.replace("PRIVATE", private.as_str())
            .replace("NESTED", &format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)))
            .replace("OUT", out.as_str())
    };
    let mut members = members.clone();
    let member = members.get_mut(&trick.member).with_context(|| trick.member.clone())?;
    let mut content = text(member);
    for (before, after) in &trick.replace {
        ensure!(content.contains(before), "{}: {before} is not in {}", trick.about, trick.member);
        let after = filled(after);
        // In JSON a control character is written as an escape.
        let after = if trick.member.contains("json") { escaped(&after) } else { after };
        content = content.replace(before, &after);
    }
    *member = content.into_bytes();
    let added =
        trick.add.iter().map(|(name, content)| (name.clone(), filled(content).into_bytes()));
    members.extend(added);
    Ok(members)
}

fn escaped(text: &str) -> String {
    let escape = |letter: char| match letter {
        '\\' => "\\\\".to_owned(),
        letter if letter.is_control() => format!("\\u{:04x}", u32::from(letter)),
        letter => letter.to_string(),
    };
    text.chars().map(escape).collect()
}

/// A folder with what a stranger would like to have.
fn private(bench: &Bench) -> Result<Utf8PathBuf> {
    let folder = bench.path("private");
    fs::create_dir(&folder)?;
    let cookie =
        json!({ "name": SECRET, "value": SECRET, "domain": "clock.meridian.test", "path": "/" });
    fs::write(
        folder.join("state.json"),
        json!({ "cookies": [cookie], "origins": [] }).to_string(),
    )?;
    let mut picture = fs::File::create(folder.join("picture.png"))?;
    picture.write_all(b"\x89PNG\r\n\x1a\n")?;
    picture.write_all(SECRET.as_bytes())?;
    fs::write(folder.join("own.warc"), recording())?;
    Ok(folder)
}

/// A recording of the page of the pack's task, with the secret on it.
fn recording() -> String {
    let page = format!("<title>{SECRET}</title><h1>{SECRET}</h1>");
    let length = page.len();
    let http = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{page}"
    );
    format!(
        "WARC/1.0\r\nWARC-Type: response\r\nWARC-Record-ID: <urn:uuid:0b0c57e5-06be-4892-a145-082469b435dc>\r\n\
         WARC-Date: 2026-03-01T10:00:00Z\r\nWARC-Target-URI: https://clock.meridian.test/determinism\r\n\
         Content-Type: application/http; msgtype=response\r\nContent-Length: {}\r\n\r\n{http}\r\n\r\n",
        http.len()
    )
}

/// Runs a command without consent. What it says is for a terminal, and has no secret.
fn said_by(bench: &Bench, command: &str, file: &Utf8Path, new: &Utf8Path) -> Result<(i32, String)> {
    let words = command.replace("FILE", file.as_str()).replace("NEW", new.as_str());
    let arguments: Vec<&str> = words.split(' ').collect();
    let output = bench.command(&arguments).env_remove("SANDBOX_TRUST").output()?;
    let said = text(&output.stdout) + &text(&output.stderr);
    let code = output.status.code().with_context(|| format!("{}: {said}", output.status))?;
    ensure!(code < 64 && !said.contains("panicked"), "{code}: {said}");
    ensure!(code == 0 || code == 1 || said.contains("error: "), "it says nothing: {said}");
    plain(&said)?;
    Ok((code, said))
}

/// Neither has a text the secret, nor does a terminal obey it.
fn plain(said: &str) -> Result<()> {
    let raw = said.chars().find(|letter| letter.is_control() && !matches!(letter, '\n' | '\t'));
    ensure!(raw.is_none() && !said.contains('\u{202e}'), "{raw:?} is printed: {said:?}");
    ensure!(!said.contains(SECRET), "{said}");
    Ok(())
}

/// The first page of a server of pages, where it begins to serve.
async fn served(bench: &Bench, command: &str, file: &Utf8Path) -> Result<Option<String>> {
    let words = command.replace("FILE", file.as_str());
    let arguments: Vec<&str> = words.split(' ').collect();
    let mut command = bench.command(&arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().context("stdout is piped")?).read_line(&mut line)?;
    let page = if line.starts_with("http://") { Some(get(line.trim()).await?) } else { None };
    interrupt(&child)?;
    let output = child.wait_with_output()?;
    plain(&(line + &text(&output.stderr)))?;
    Ok(page)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_packed_run_of_a_stranger_shows_starts_and_writes_nothing_else() -> Result<()> {
    let bench = Bench::new()?;
    let (run, honest) = (bench.path("run"), bench.path("honest.run"));
    let play =
        ["run", "tasks/demo", "--agent=oracle", "--task=clock-time-zone", "-o", run.as_str()];
    bench.succeed(&play)?;
    bench.succeed(&["pack", run.as_str(), "-o", honest.as_str()])?;
    let (private, out) = (private(&bench)?, bench.path("stolen"));
    let members = unpacked(&honest)?;
    // Without a trick every command does its work: what is refused below is refused for the trick.
    let same = bench.path("same.run");
    fs::write(&same, packed(members.clone())?)?;
    for (place, command) in COMMANDS.iter().enumerate() {
        let (code, said) = said_by(&bench, command, &same, &bench.path(&format!("same-{place}")))?;
        ensure!(code == 0, "{command}: {said}");
    }
    for command in SERVERS {
        ensure!(served(&bench, command, &same).await?.is_some(), "{command}");
    }
    let tricks = fs::read_to_string(repository().join("tests/hostile/pack/tricks.yaml"))?;
    let tricks: Vec<Trick> = serde_yaml::from_str(&tricks)?;
    for (number, trick) in tricks.iter().enumerate() {
        let file = bench.path(&format!("{number}.run"));
        fs::write(&file, packed(tricked(&members, trick, &private, &out)?)?)?;
        let (before, new) = (tree(&bench.path(""))?, format!("new-{number}"));
        let mut verified = (0, String::new());
        for (place, command) in COMMANDS.iter().enumerate() {
            let new = bench.path(&format!("{new}-{place}"));
            let said = said_by(&bench, command, &file, &new);
            verified = said.with_context(|| format!("{}: {command}", trick.about))?;
        }
        for command in SERVERS {
            let page = served(&bench, command, &file).await;
            let page =
                page.with_context(|| format!("{}: {command}", trick.about))?.unwrap_or_default();
            let is_plain =
                !page.contains(SECRET) && !page.contains("<script src=https://stranger.test");
            ensure!(is_plain, "{}: {command} serves {page}", trick.about);
        }
        let (code, said) = verified;
        match &trick.refused {
            Some(why) => {
                ensure!(code != 0 && said.contains(why), "{}: {code}: {said}", trick.about)
            }
            None => ensure!(code == 0 || code == 1, "{}: {code}: {said}", trick.about),
        }
        ensure!(!out.exists(), "{}: {out} is there", trick.about);
        let mut after = tree(&bench.path(""))?;
        after.retain(|name, _| !name.starts_with(&new));
        ensure!(after == before, "{}: files have changed", trick.about);
        let has_secret =
            tree(&bench.path(""))?.into_keys().filter(|name| name.starts_with(&new)).any(|name| {
                let content = fs::read(bench.path(&name)).unwrap_or_default();
                content.windows(SECRET.len()).any(|part| part == SECRET.as_bytes())
            });
        ensure!(!has_secret, "{}: the secret is in what was written", trick.about);
    }
    Ok(())
}

/// The digests of all files below a folder, but for the data folder of the commands.
fn tree(folder: &Utf8Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let mut rest = vec![folder.to_owned()];
    while let Some(next) = rest.pop() {
        for entry in next.read_dir_utf8()? {
            let path = entry?.into_path();
            if path.is_dir() && !path.is_symlink() {
                if path.file_name() != Some("data") {
                    rest.push(path);
                }
                continue;
            }
            let name = path.strip_prefix(folder)?.to_string();
            found.insert(name, hex::encode(Sha256::digest(fs::read(&path)?)));
        }
    }
    Ok(found)
}
