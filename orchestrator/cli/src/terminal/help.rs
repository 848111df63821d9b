//! What `--help` and `--version` say besides the definition of each command: commands in groups,
//! examples, and which commit was built.

use std::fmt::Write as _;

use clap::{Command, CommandFactory as _};

use crate::Cli;
use crate::failure;
use crate::options::units;
use crate::terminal::progress::{self, hang};

/// Command lines. Each is an example for the command that it names.
const EXAMPLES: &str = include_str!("examples.txt");
/// How wide help is at most.
pub(crate) const MAX_WIDTH: usize = 100;
/// The commit that was built and its date, where this variable was set for the build.
const COMMIT: Option<&str> = option_env!("SANDBOX_COMMIT");

/// All commands, by what people want to do.
const GROUPS: [(&str, &[&str]); 5] = [
    ("Getting started", &["demo", "setup", "init", "doctor", "completions", "man"]),
    ("Recordings of the web", &["record", "replay", "snapshot", "ca"]),
    (
        "Sites in containers and processes",
        &["up", "status", "open", "logs", "reset", "down", "images"],
    ),
    ("Tasks and runs", &["annotate", "run", "attach", "gym", "tasks", "agents", "models"]),
    (
        "Results",
        &["show", "report", "trace", "compare", "merge", "pack", "verify", "export", "score"],
    ),
];

/// The definition of the whole command line.
pub(crate) fn command() -> Command {
    let command = with_examples(Cli::command(), &[]);
    let groups = groups(&command, progress::terminal().unwrap_or(MAX_WIDTH));
    let header = *command.get_styles().get_header();
    command
        .help_template(format!(
            "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}{header}Options:{header:#}\n{{options}}{{after-help}}"
        ))
        .after_help(format!("{}\n\n{}", failure::EXIT_CODES, units::HELP))
        .version(version())
}

fn version() -> &'static str {
    const VERSION: &str = env!("CARGO_PKG_VERSION");
    COMMIT.map_or(VERSION, |commit| Box::leak(format!("{VERSION} ({commit})").into_boxed_str()))
}

/// The list of commands, each with what it does, in lines of at most `width` columns.
fn groups(command: &Command, width: usize) -> String {
    const INDENT: usize = 15;
    let mut text = String::new();
    let header = command.get_styles().get_header();
    for (title, names) in GROUPS {
        let _ = writeln!(text, "{header}{title}:{header:#}");
        for name in names {
            let Some(about) = command.find_subcommand(name).and_then(Command::get_about) else {
                continue;
            };
            let name = format!("  {name:<width$}", width = INDENT - 2);
            let _ = writeln!(text, "{}", hang(&name, &about.to_string(), width.min(MAX_WIDTH)));
        }
        text.push('\n');
    }
    text
}

/// The command with its examples at the end of its help, and so all commands below it.
fn with_examples(mut command: Command, path: &[&str]) -> Command {
    let names: Vec<String> =
        command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    for name in &names {
        let path = [path, &[name.as_str()]].concat();
        command = command.mut_subcommand(name, |below| with_examples(below, &path));
    }
    let examples: Vec<&str> = examples(&names, path).collect();
    if path.is_empty() || examples.is_empty() {
        return command;
    }
    command.after_help(format!("Examples:\n  {}", examples.join("\n  ")))
}

/// The examples that name the command at `path`, and none of those below it.
fn examples<'a>(below: &[String], path: &[&'a str]) -> impl Iterator<Item = &'a str> {
    let start = format!("sandbox {}", path.join(" "));
    EXAMPLES.lines().filter(move |line| {
        let Some(rest) = line.strip_prefix(&start) else { return false };
        let next = rest.split(' ').nth(1).unwrap_or_default();
        (rest.is_empty() || rest.starts_with(' ')) && !below.iter().any(|name| name == next)
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Words of a command line without what its shell does with the output.
    fn words(line: &str) -> Vec<String> {
        let mut words = vec![String::new()];
        let mut quote = None;
        for letter in line.split(" > ").next().unwrap().chars() {
            match (letter, quote) {
                (letter, Some(open)) if letter == open => quote = None,
                ('\'' | '"', None) => quote = Some(letter),
                (' ', None) => words.push(String::new()),
                _ => words.last_mut().unwrap().push(letter),
            }
        }
        words
    }

    #[test]
    fn every_example_is_a_command_line() {
        let wrong: Vec<String> = EXAMPLES
            .lines()
            .filter(|line| !line.is_empty())
            .filter_map(|line| {
                Some(format!("{line}: {}", command().try_get_matches_from(words(line)).err()?))
            })
            .collect();
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn every_command_has_examples() {
        fn check(command: &Command, path: &[&str], few: &mut Vec<String>, shown: &mut usize) {
            let below: Vec<&Command> = command
                .get_subcommands()
                .filter(|below| !below.is_hide_set() && below.get_name() != "help")
                .collect();
            for command in &below {
                check(command, &[path, &[command.get_name()]].concat(), few, shown);
            }
            let own = command
                .get_arguments()
                .any(|argument| !argument.is_global_set() && argument.get_id() != "help");
            if path.is_empty() {
                return;
            }
            let names: Vec<String> = below.iter().map(|one| one.get_name().to_owned()).collect();
            let examples = examples(&names, path).count();
            // A command with subcommands needs examples only if it runs without one, as `gym`.
            if below.is_empty() && examples < if own { 2 } else { 1 } {
                few.push(path.join(" "));
            }
            *shown += examples;
        }
        let (mut few, mut shown) = (Vec::new(), 0);
        let mut all = command();
        all.build();
        check(&all, &[], &mut few, &mut shown);
        assert!(few.is_empty(), "too few examples: {few:?}");
        assert_eq!(shown, EXAMPLES.lines().filter(|line| !line.is_empty()).count());
    }

    #[test]
    fn every_command_is_in_one_group() {
        let command = command();
        let mut grouped: Vec<&str> =
            GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
        let mut all: Vec<&str> = command
            .get_subcommands()
            .filter(|one| !one.is_hide_set())
            .map(Command::get_name)
            .collect();
        grouped.sort_unstable();
        all.sort_unstable();
        assert_eq!(grouped, all);
    }

    #[test]
    fn groups_fit_in_a_narrow_terminal() {
        for width in [40, 60, 100, 300] {
            let groups = groups(&command(), width);
            let groups = anstream::adapter::strip_str(&groups).to_string();
            assert!(groups.lines().all(|line| line.len() <= width.min(MAX_WIDTH)), "{groups}");
        }
    }
}
