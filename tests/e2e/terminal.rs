//! What commands print on a terminal: lines that fit its width, and colours where they are wanted.

use anyhow::{Result, ensure};

use crate::harness::{Bench, text};

const ESCAPE: char = '\u{1b}';
const COLUMNS: usize = 60;

/// What a command prints on a terminal of [`COLUMNS`].
fn on_terminal(bench: &Bench, variables: &[(&str, &str)], arguments: &[&str]) -> Result<String> {
    let words = [env!("CARGO_BIN_EXE_sandbox")].into_iter().chain(arguments.iter().copied());
    let line = format!("stty rows 40 cols {COLUMNS}; {}", shlex::try_join(words)?);
    let mut script = bench.command_of("script", &["-qec", &line, "/dev/null"]);
    script.env("TERM", "xterm").envs(variables.iter().copied());
    Ok(text(&script.output()?.stdout).replace('\r', ""))
}

/// Whether it has a sequence that sets a colour or style.
fn is_coloured(said: &str) -> bool {
    said.split("\u{1b}[").skip(1).any(|piece| {
        piece
            .trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';')
            .starts_with('m')
    })
}

/// Without the sequences that set colours.
fn plain(text: &str) -> String {
    let mut pieces = text.split(ESCAPE);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| all + piece.split_once('m').map_or("", |(_, rest)| rest))
}

#[test]
fn lines_fit_a_narrow_terminal_and_are_whole_elsewhere() -> Result<()> {
    let bench = Bench::new()?;
    for arguments in
        [&["--help"][..], &["run", "--help"], &["doctor"], &["tasks", "list", "tasks/demo"]]
    {
        let said = plain(&on_terminal(&bench, &[], arguments)?);
        // Usage, examples and addresses are copied whole.
        let prose = said.split("Examples:").next().unwrap_or_default();
        let is_whole = |line: &&str| line.starts_with("Usage:") || line.contains("https://");
        for line in prose.lines().filter(|line| !is_whole(line)) {
            ensure!(line.chars().count() <= COLUMNS, "{arguments:?}: {line}");
        }
        ensure!(prose.lines().count() > 5, "{said}");
    }
    let output = bench.command(&["tasks", "list", "tasks/demo"]).output()?;
    ensure!(text(&output.stdout).lines().count() == 16, "{}", text(&output.stdout));
    Ok(())
}

#[test]
fn colours_are_for_terminals_and_for_those_who_ask() -> Result<()> {
    let bench = Bench::new()?;
    let missing = ["snapshot", "inspect", "nonesuch.wacz"];
    for (variables, option, expected) in [
        (&[][..], "auto", true),
        (&[("NO_COLOR", "1")][..], "auto", false),
        (&[("TERM", "dumb")][..], "auto", false),
        // The logs of CI services show colours, whatever they call their terminal.
        (&[("TERM", "dumb"), ("CI", "true")][..], "auto", true),
        (&[("CLICOLOR", "0")][..], "auto", false),
        (&[][..], "never", false),
        (&[("NO_COLOR", "1")][..], "always", true),
    ] {
        for arguments in [&missing[..], &["--help"], &["snapshot"], &["nonsense"]] {
            let said = on_terminal(&bench, variables, &[&["--color", option], arguments].concat())?;
            ensure!(
                is_coloured(&said) == expected,
                "{variables:?} {option} {arguments:?}: {said:?}"
            );
        }
    }
    let output = bench.command(&missing).output()?;
    ensure!(text(&output.stderr).starts_with("error: "), "{}", text(&output.stderr));
    let output = bench.command(&missing).arg("--color=always").output()?;
    ensure!(is_coloured(&text(&output.stderr)), "{}", text(&output.stderr));
    Ok(())
}
