//! The command line of a run, written again: for its parts, and to come back to it.

use std::ffi::OsStr;

use camino::Utf8PathBuf;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};

use crate::failure::Failure;
use crate::terminal::help;
use crate::terminal::out;

/// What the job script says itself, and what is about the whole run.
const NOT_OF_PARTS: [&str; 23] = [
    "scheduler",
    "parts",
    "durations",
    "part_of",
    "submission",
    "sbatch",
    "k8s_image",
    "k8s_claim",
    "k8s_secret",
    "engine_image",
    "shard",
    "output",
    "resume",
    "retry_errors",
    "check",
    "json",
    "max_errors",
    "fail_fast",
    "max_cost",
    "data",
    "log_json",
    "color",
    "trust",
];

/// The words of `sandbox run` with which a part is played, from `run` on.
pub(super) fn of_part() -> Result<Vec<String>, Failure> {
    let (command, matches) = parsed()?;
    Ok(trusting(words(&command, &matches, &NOT_OF_PARTS)?))
}

/// The same for a pod, whose command line loads the images of sites by itself.
pub(super) fn of_pod() -> Result<Vec<String>, Failure> {
    let (command, matches) = parsed()?;
    Ok(trusting(words(&command, &matches, &[&NOT_OF_PARTS[..], &["site_images"]].concat())?))
}

/// Nobody can be asked where a part is played. The user was asked for the whole run.
fn trusting(mut words: Vec<String>) -> Vec<String> {
    words.push("--trust".to_owned());
    words
}

/// Those of these options that were typed, as they are typed.
pub(super) fn given(ids: &[&str]) -> Result<Vec<String>, Failure> {
    let (command, matches) = parsed()?;
    Ok(typed(&command, &matches, ids))
}

fn typed(command: &Command, matches: &ArgMatches, ids: &[&str]) -> Vec<String> {
    let is_typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let wanted = command.get_arguments().filter(|one| ids.contains(&one.get_id().as_str()));
    let given = wanted.filter(|one| is_typed(one.get_id().as_str()));
    given
        .map(|one| {
            one.get_long().map_or("options after `--`".to_owned(), |long| format!("--{long}"))
        })
        .collect()
}

/// The files and folders that these options name, in the order of the help.
pub(super) fn paths(ids: &[&str]) -> Result<Vec<Utf8PathBuf>, Failure> {
    let (command, matches) = parsed()?;
    let wanted = command.get_arguments().filter(|one| ids.contains(&one.get_id().as_str()));
    let values =
        wanted.flat_map(|one| matches.get_raw(one.get_id().as_str()).into_iter().flatten());
    values.map(|value| Ok(Utf8PathBuf::from(text(value)?))).collect()
}

/// The command line that goes on with the run in this folder.
pub(super) fn to_come_back(folder: &str) -> Result<String, Failure> {
    let (command, matches) = parsed()?;
    let without =
        ["output", "resume", "retry_errors", "sbatch", "part_of", "submission", "data", "color"];
    let mut all = words(&command, &matches, &without)?;
    all.extend(["--output".to_owned(), folder.to_owned(), "--resume".to_owned()]);
    let sbatch: Vec<&str> =
        matches.get_many::<String>("sbatch").into_iter().flatten().map(String::as_str).collect();
    let sbatch = if sbatch.is_empty() { Vec::new() } else { [&["--"][..], &sbatch].concat() };
    Ok(out::command_line(
        ["sandbox"].into_iter().chain(all.iter().map(String::as_str)).chain(sbatch),
    ))
}

/// The definition of `sandbox run`, and what this process was told.
fn parsed() -> Result<(Command, ArgMatches), Failure> {
    let mut command = help::command();
    let matches = command.try_get_matches_from_mut(std::env::args_os()).map_err(Failure::input)?;
    let (definition, matches) =
        command.find_subcommand("run").zip(matches.subcommand_matches("run")).ok_or_else(|| {
            Failure::Input(
                "failed to read the command line again: it is not that of `sandbox run`".to_owned(),
            )
        })?;
    Ok((definition.clone(), matches.clone()))
}

fn words(
    command: &Command,
    matches: &ArgMatches,
    without: &[&str],
) -> Result<Vec<String>, Failure> {
    let mut words = vec!["run".to_owned()];
    let wanted = |argument: &&Arg| {
        let id = argument.get_id().as_str();
        !without.contains(&id)
            && matches.try_contains_id(id).is_ok()
            && matches.value_source(id) == Some(ValueSource::CommandLine)
    };
    for argument in command.get_arguments().filter(wanted) {
        add(&mut words, argument, matches)?;
    }
    Ok(words)
}

fn add(words: &mut Vec<String>, argument: &Arg, matches: &ArgMatches) -> Result<(), Failure> {
    let id = argument.get_id().as_str();
    let flag = argument.get_long().map(|long| format!("--{long}"));
    match (argument.get_action(), flag) {
        (ArgAction::Count, Some(flag)) => {
            words.extend(std::iter::repeat_n(flag, matches.get_count(id).into()));
        }
        (ArgAction::SetTrue, Some(flag)) => words.push(flag),
        (_, flag) => {
            for value in matches.get_raw(id).into_iter().flatten() {
                let value = text(value)?;
                match &flag {
                    // It would be read as an option by itself.
                    Some(flag) if value.starts_with('-') => words.push(format!("{flag}={value}")),
                    Some(flag) => words.extend([flag.clone(), value.to_owned()]),
                    None => words.push(value.to_owned()),
                }
            }
        }
    }
    Ok(())
}

fn text(value: &OsStr) -> Result<&str, Failure> {
    value.to_str().ok_or_else(|| {
        Failure::Input(format!(
            "failed to write {} into a job script: it is not UTF-8",
            value.display()
        ))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn of(line: &str, without: &[&str]) -> String {
        let mut command = help::command();
        let matches = command.try_get_matches_from_mut(line.split_whitespace()).unwrap();
        let (command, matches) =
            (command.find_subcommand("run").unwrap(), matches.subcommand_matches("run").unwrap());
        words(command, matches, without).unwrap().join(" ")
    }

    #[test]
    fn parts_get_what_was_typed_and_no_more() {
        let line = "sandbox -vv run tasks/demo --scheduler slurm --parts 7 -o out --resume --agent=oracle --repeat 3 \
                    --keep-network --task=a --task b --max-cost 3 --check --json --data d -- --partition gpu";
        assert_eq!(
            of(line, &NOT_OF_PARTS),
            "run tasks/demo --agent oracle --keep-network --repeat 3 --task a --task b --verbose --verbose"
        );
        assert_eq!(
            of("sandbox run x --agent noop --scheduler slurm", &NOT_OF_PARTS),
            "run x --agent noop"
        );
    }

    /// A new option of a run reaches the parts unless it is named above.
    #[test]
    fn what_is_left_out_exists() {
        let command = help::command();
        let run = command.find_subcommand("run").unwrap().clone();
        let run = Cli::build(run);
        for name in NOT_OF_PARTS {
            assert!(run.contains(&name.to_owned()), "{name}");
        }
    }

    #[test]
    fn what_was_typed_is_named_as_it_was_typed() {
        let mut command = help::command();
        let line = "sandbox run x --agent noop --scheduler kubernetes --max-cost 3 --json -- --partition gpu";
        let matches = command.try_get_matches_from_mut(line.split_whitespace()).unwrap();
        let run = command.find_subcommand("run").unwrap();
        let given = typed(
            run,
            matches.subcommand_matches("run").unwrap(),
            &["json", "sbatch", "k8s_claim", "max_cost"],
        );
        assert_eq!(given, ["--max-cost", "--json", "options after `--`"]);
    }

    struct Cli;

    impl Cli {
        /// The ids of all options, those of all commands included.
        fn build(run: Command) -> Vec<String> {
            let all = help::command();
            run.get_arguments()
                .chain(all.get_arguments())
                .map(|argument| argument.get_id().to_string())
                .collect()
        }
    }
}
