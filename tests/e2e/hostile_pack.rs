//! Packed runs of a stranger (`tests/hostile/pack`) before every command that takes one. The
//! command says what is wrong or does its work; it shows no file of the user's, writes nothing
//! where it was not told to, starts nothing, and prints no control characters.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use crate::harness::{Bench, repository, text};

/// What a file of the user's has. Nothing that is printed or written may have it.
const SECRET: &str = "secret-of-the-user";
/// Commands; `FILE` stands for the pack and `OUT` for a new path.
const COMMANDS: [&str; 9] = [
    "report FILE",
    "report FILE --json",
    "compare FILE FILE",
    "export csv FILE --output NEW",
    "export json FILE",
    "verify FILE --digests",
    "verify FILE",
    "verify FILE --recorded-actions",
    "score run FILE --output NEW",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Trick {
    about: String,
    member: String,
    replace: BTreeMap<String, String>,
    #[serde(default)]
    add: BTreeMap<String, String>,
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
fn tricked(members: &Members, trick: &Trick, private: &Utf8Path, out: &Utf8Path) -> Result<Members> {
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
    let added = trick.add.iter().map(|(name, content)| (name.clone(), filled(content).into_bytes()));
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
    let cookie = json!({ "name": SECRET, "value": SECRET, "domain": "clock.meridian.test", "path": "/" });
    fs::write(folder.join("state.json"), json!({ "cookies": [cookie], "origins": [] }).to_string())?;
    let mut picture = fs::File::create(folder.join("picture.png"))?;
    picture.write_all(b"\x89PNG\r\n\x1a\n")?;
    picture.write_all(SECRET.as_bytes())?;
    fs::copy(repository().join("snapshots/demo.wacz"), folder.join("own.wacz"))?;
    Ok(folder)
}

fn check(bench: &Bench, command: &str, file: &Utf8Path, new: &Utf8Path) -> Result<()> {
    let words = command.replace("FILE", file.as_str()).replace("NEW", new.as_str());
    let arguments: Vec<&str> = words.split(' ').collect();
    let output = bench.command(&arguments).env_remove("SANDBOX_TRUST").output()?;
    let said = text(&output.stdout) + &text(&output.stderr);
    let code = output.status.code();
    ensure!(code.is_some_and(|code| code < 64), "{}: {said}", output.status);
    ensure!(code != Some(2) || said.contains("error: "), "it says nothing: {said}");
    ensure!(!said.contains("panicked") && !said.contains(SECRET), "{said}");
    let raw = said.chars().find(|letter| letter.is_control() && !matches!(letter, '\n' | '\t'));
    ensure!(raw.is_none() && !said.contains('\u{202e}'), "{raw:?} is printed: {said:?}");
    Ok(())
}

#[test]
fn a_packed_run_of_a_stranger_shows_starts_and_writes_nothing_else() -> Result<()> {
    let bench = Bench::new()?;
    let (run, honest) = (bench.path("run"), bench.path("honest.run"));
    let play = ["run", "tasks/demo", "--agent=oracle", "--task=clock-time-zone", "-o", run.as_str()];
    bench.succeed(&play)?;
    bench.succeed(&["pack", run.as_str(), "-o", honest.as_str()])?;
    let (private, out) = (private(&bench)?, bench.path("stolen"));
    let members = unpacked(&honest)?;
    // Without a trick it is good: what is refused below is refused for the trick.
    fs::write(bench.path("same.run"), packed(members.clone())?)?;
    bench.succeed(&["verify", bench.path("same.run").as_str()])?;
    let tricks = fs::read_to_string(repository().join("tests/hostile/pack/tricks.yaml"))?;
    let tricks: Vec<Trick> = serde_yaml::from_str(&tricks)?;
    for (number, trick) in tricks.iter().enumerate() {
        let file = bench.path(&format!("{number}.run"));
        fs::write(&file, packed(tricked(&members, trick, &private, &out)?)?)?;
        let (before, new) = (listed(&bench.path(""))?, bench.path(&format!("new-{number}")));
        for command in COMMANDS {
            check(&bench, command, &file, &new)
                .and_then(|()| {
                    ensure!(!out.exists(), "{out} is there");
                    Ok(())
                })
                .with_context(|| format!("{}: {command}", trick.about))?;
        }
        let mut after = listed(&bench.path(""))?;
        after.retain(|name| !before.contains(name) && !name.starts_with(new.file_name().unwrap_or_default()));
        ensure!(after.is_empty(), "{}: {after:?} came to be", trick.about);
        let shown = std::process::Command::new("grep").args(["-rqsa", SECRET, new.as_str()]).status()?;
        ensure!(!shown.success(), "{}: it is in {new}", trick.about);
    }
    Ok(())
}

/// The names in a folder, but for the data folder of the commands.
fn listed(folder: &Utf8Path) -> Result<Vec<String>> {
    let names = folder.read_dir_utf8()?.map(|entry| Ok(entry?.file_name().to_owned()));
    let names: Result<Vec<String>> = names.collect();
    Ok(names?.into_iter().filter(|name| name != "data").collect())
}
