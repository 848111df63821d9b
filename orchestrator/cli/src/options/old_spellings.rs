//! Options and commands that have a new name. The old name is an alias that `--help` does not show.

use crate::failure::Outcome;
use crate::terminal::out;

/// The old names, and the new ones.
const RENAMED: [(&str, &str); 7] = [
    ("--out", "--output"),
    ("--fall-back", "--fallback"),
    ("--rules", "--scoring-mode"),
    ("--on", "--scheduler"),
    ("--image", "--k8s-image"),
    ("--claim", "--k8s-claim"),
    ("--secret", "--k8s-secret"),
];

/// Warns of the old names on the command line.
pub(crate) fn warn() {
    let arguments: Vec<String> =
        std::env::args_os().filter_map(|text| text.into_string().ok()).collect();
    for (old, new) in used(&arguments) {
        warn_of(old, new);
    }
}

/// Runs a command that was called by its old name, after a warning.
pub(crate) async fn run(old: &str, new: &str, command: impl Future<Output = Outcome>) -> Outcome {
    warn_of(old, new);
    command.await
}

fn warn_of(old: &str, new: &str) {
    out::warn(&format!(
        "{old} is called {new} now; the old name will be removed in a later version"
    ));
}

/// The renamed options among the arguments. What follows `--` is another program's.
fn used(arguments: &[String]) -> Vec<(&'static str, &'static str)> {
    let own = || arguments.iter().take_while(|argument| *argument != "--");
    let name = |argument: &String| argument.split('=').next().unwrap_or_default().to_owned();
    RENAMED.into_iter().filter(|(old, _)| own().any(|argument| name(argument) == *old)).collect()
}

#[cfg(test)]
mod tests {
    use super::used;

    #[test]
    fn old_names_are_found_before_the_programs_own_arguments() {
        let used = |text: &str| {
            let arguments: Vec<String> = text.split(' ').map(str::to_owned).collect();
            used(&arguments).into_iter().map(|(old, _)| old).collect::<Vec<_>>()
        };
        assert_eq!(used("run suite --out x"), ["--out"]);
        assert_eq!(used("run suite --out=x --output=y"), ["--out"]);
        assert!(used("run suite --output on --engine-image x").is_empty());
        assert!(used("attach suite task --output x -- program --out y").is_empty());
    }
}
