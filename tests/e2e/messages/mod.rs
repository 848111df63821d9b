//! The messages of commands that cannot do what they are asked for, word for word. Each table of
//! command lines has one snapshot, with exit codes and all that was printed. A message that is
//! worded anew is one `cargo insta accept`: the other tests ask for exit codes, names and numbers.

mod agents;
mod clusters;
mod imports;
mod objects;
mod scores;
mod snapshot_files;
mod suites;
mod usage;

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};

use crate::harness::{Bench, repository, text};

/// What a case shows, and its command line as one types it in a shell: `sandbox`, behind variables
/// if there are any. `HERE` stands for the test's own folder.
type Case<'a> = (&'a str, &'a str);

/// Commands whose messages are one snapshot.
struct Table<'a> {
    name: &'a str,
    bench: &'a Bench,
    /// Where they run.
    folder: Utf8PathBuf,
    variables: Vec<(&'static str, String)>,
}

impl<'a> Table<'a> {
    fn new(name: &'a str, bench: &'a Bench) -> Table<'a> {
        Table { name, bench, folder: repository().to_owned(), variables: Vec::new() }
    }

    /// Runs the commands one after the other, and compares exit codes and output.
    fn check(&self, cases: &[Case<'_>]) -> Result<()> {
        let mut page = Vec::new();
        for (case, line) in cases {
            let output = self.command(line)?.output()?;
            let said = text(&output.stdout) + &text(&output.stderr);
            ensure!(!said.contains("panicked"), "{line}: {said}");
            let code = output.status.code().with_context(|| format!("{line}: {said}"))?;
            page.push(format!("# {case}\n$ {line}\nexit code {code}\n{}", shortened(&said)));
        }
        matches(self.name, self.bench, &page.join("\n"));
        Ok(())
    }

    fn command(&self, line: &str) -> Result<Command> {
        let here = self.bench.path("");
        let here = here.as_str().trim_end_matches('/');
        let words = shlex::split(line).with_context(|| line.to_owned())?;
        let words: Vec<String> = words.iter().map(|word| word.replace("HERE", here)).collect();
        let variables: Vec<(&str, &str)> = words.iter().map_while(|word| variable(word)).collect();
        let program = words.get(variables.len()).map(String::as_str);
        ensure!(program == Some("sandbox"), "{line} is no command line of ours");
        let arguments: Vec<&str> =
            words[variables.len() + 1..].iter().map(String::as_str).collect();
        let mut command = self.bench.command(&arguments);
        // Those who run the tests may have a model and a screen.
        for name in ["OPENAI_API_KEY", "OPENAI_BASE_URL", "DISPLAY", "WAYLAND_DISPLAY"] {
            command.env_remove(name);
        }
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        command.envs(variables).current_dir(&self.folder);
        Ok(command)
    }
}

/// The name and the value of a word such as `NAME=value`.
fn variable(word: &str) -> Option<(&str, &str)> {
    let (name, value) = word.split_once('=')?;
    let is_name = |letter: char| letter.is_ascii_uppercase() || letter == '_';
    (!name.is_empty() && name.chars().all(is_name)).then_some((name, value))
}

/// The first lines, and how many there are besides.
fn shortened(said: &str) -> String {
    const LINES: usize = 25;
    let lines: Vec<&str> = said.lines().collect();
    let (shown, rest) = lines.split_at(lines.len().min(LINES));
    let rest = Some(format!("({} more lines)", rest.len())).filter(|_| !rest.is_empty());
    let shown = shown.iter().map(|line| (*line).to_owned()).chain(rest);
    shown.map(|line| line + "\n").collect()
}

/// Compares what was said with the snapshot of this name. Paths, ports, keys, digests and versions,
/// which differ from one run to the next, are left out.
pub(crate) fn matches(name: &str, bench: &Bench, said: &str) {
    let said = filtered(bench, said);
    insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
        insta::assert_snapshot!(name, said);
    });
}

fn filtered(bench: &Bench, said: &str) -> String {
    let (here, there) = (bench.path(""), repository());
    let mut said = said.to_owned();
    for (folder, name) in [(here.as_path(), "HERE"), (there, "REPOSITORY")] {
        let canonical = folder.canonicalize_utf8().unwrap_or_default();
        for path in [folder, &canonical].map(|path| path.as_str().trim_end_matches('/')) {
            said = if path.is_empty() { said } else { said.replace(path, name) };
        }
    }
    let said = said.replace(env!("CARGO_PKG_VERSION"), "VERSION");
    let said = masked(&said, "127.0.0.1:", |letter| letter.is_ascii_digit(), "PORT");
    let said = masked(&said, "//sandbox:", |letter| letter.is_ascii_hexdigit(), "KEY");
    let said = masked(&said, "spki-list=", |letter| !letter.is_whitespace(), "PIN");
    let words = said.split_inclusive(|letter: char| !letter.is_ascii_alphanumeric());
    let without_digest = |word: &str| match word.split_at_checked(64) {
        Some((digest, rest)) if digest.chars().all(|letter| letter.is_ascii_hexdigit()) => {
            format!("DIGEST{rest}")
        }
        _ => word.to_owned(),
    };
    words.map(without_digest).collect()
}

/// Puts a name for what differs behind each `mark`.
fn masked(said: &str, mark: &str, differs: fn(char) -> bool, name: &str) -> String {
    let mut pieces = said.split(mark);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| all + mark + name + piece.trim_start_matches(differs))
}

/// Writes files below the test's folder. `REPOSITORY` in them stands for its top folder.
fn write(bench: &Bench, files: &[(&str, &str)]) -> Result<()> {
    let top = repository().canonicalize_utf8()?;
    for (name, content) in files {
        let path = bench.path(name);
        fs::create_dir_all(path.parent().unwrap_or(Utf8Path::new("")))?;
        fs::write(path, content.replace("REPOSITORY", top.as_str()))?;
    }
    Ok(())
}
