//! When output has colours: where it goes to a terminal, unless the user says otherwise.
//!
//! `--color` comes first. Then the variables `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` count, and
//! `TERM=dumb` where `CI` is not set. Colours only repeat what the words say.

use std::io;
use std::sync::LazyLock;

use anstream::AutoStream;
use clap::ValueEnum as _;

/// The option's name, as it is written.
const OPTION: &str = "--color";

/// Errors begin in this style.
pub(crate) const ERROR: anstyle::Style = anstyle::AnsiColor::Red.on_default().bold();
/// Warnings begin in this style.
pub(crate) const WARNING: anstyle::Style = anstyle::AnsiColor::Yellow.on_default().bold();

static STDERR: LazyLock<bool> =
    LazyLock::new(|| AutoStream::choice(&io::stderr()) != anstream::ColorChoice::Never);

/// Reads `--color` before the command line is parsed, because help and usage errors have colours
/// too. A wrong value is left to the parser, which explains it.
pub(crate) fn choose(words: impl IntoIterator<Item = String>) -> clap::ColorChoice {
    let choice = wanted(words);
    match choice {
        clap::ColorChoice::Auto => anstream::ColorChoice::Auto,
        clap::ColorChoice::Always => anstream::ColorChoice::Always,
        clap::ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    choice
}

fn wanted(words: impl IntoIterator<Item = String>) -> clap::ColorChoice {
    let mut words = words.into_iter().take_while(|word| word != "--");
    let mut choice = clap::ColorChoice::Auto;
    while let Some(word) = words.next() {
        let Some(rest) = word.strip_prefix(OPTION) else { continue };
        let value =
            if rest.is_empty() { words.next() } else { rest.strip_prefix('=').map(str::to_owned) };
        let value = value.and_then(|value| clap::ColorChoice::from_str(&value, false).ok());
        choice = value.unwrap_or(choice);
    }
    choice
}

/// A prefix on stderr, in its style if stderr has colours.
pub(crate) fn styled(style: anstyle::Style, text: &str) -> String {
    if *STDERR { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

/// Whether stderr has colours.
pub(crate) fn is_on_stderr() -> bool {
    *STDERR
}

#[cfg(test)]
mod tests {
    use clap::ColorChoice::{Always, Auto, Never};

    use super::*;

    #[test]
    fn the_last_value_counts_and_what_follows_two_dashes_is_another_programs() {
        let wanted = |line: &str| wanted(line.split(' ').map(str::to_owned));
        assert_eq!(wanted("run suite"), Auto);
        assert_eq!(wanted("--color never run"), Never);
        assert_eq!(wanted("run --color=never --color=always"), Always);
        assert_eq!(wanted("run --color=nonsense"), Auto);
        assert_eq!(wanted("env suite task -- ls --color=never"), Auto);
    }
}
