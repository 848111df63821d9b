//! Failures as users meet them, and the exit codes that tell scripts their kinds.
//!
//! Libraries return their own errors; `kind.rs` decides what each of them asks of the user. The
//! text of a failure is one sentence: "failed to DO: CAUSE; WHAT TO DO NOW". The prefix `error: `
//! is added where it is printed, and nowhere else.

mod kind;

use std::fmt::{self, Display, Formatter};
use std::process::ExitCode;

pub(crate) use kind::ENGINE_CURE;

use crate::terminal::interrupt;
use crate::terminal::out;

/// Shown at the end of `sandbox --help`.
pub(crate) const EXIT_CODES: &str = "Exit codes:
  0   done
  1   the command ran, and the answer is no
  2   wrong use, bad input, or nobody has agreed to what a suite would do (--trust)
  3   the environment lacks something; `sandbox doctor` says what
  4   interrupted; the command can be resumed
  70  a bug in sandbox";

/// What every command returns.
pub(crate) type Outcome = Result<(), Failure>;

/// A failure a user can meet, by what it asks of them. Each text is a whole sentence.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command ran, and the answer is no: a verification failed, fingerprints differ.
    Negative(String),
    /// Wrong use or bad input: the user changes what they typed or the file they gave.
    Input(String),
    /// The machine lacks something: a program, a port, disk space, a permission.
    Environment(String),
    /// Stopped by the user. The text says what is kept and how to go on.
    Interrupted(String),
    /// The failure is printed already; this is its exit code.
    Reported(u8),
}

impl Failure {
    /// Bad input that a library has found. Its text reads after "failed to".
    pub(crate) fn input(error: impl Into<anyhow::Error>) -> Failure {
        Failure::Input(sentence(&error.into()))
    }

    /// Prints the failure to stderr and gives its exit code.
    pub(crate) fn exit(self) -> ExitCode {
        self.print();
        ExitCode::from(self.code())
    }

    /// The exit code that tells scripts the kind of failure.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Failure::Negative(_) => 1,
            Failure::Input(_) => 2,
            Failure::Environment(_) => 3,
            Failure::Interrupted(_) => 4,
            Failure::Reported(code) => *code,
        }
    }

    /// Prints the failure to stderr.
    pub(crate) fn print(&self) {
        match self {
            Failure::Reported(_) => {}
            failure => out::error(failure),
        }
    }
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Negative(text)
            | Failure::Input(text)
            | Failure::Environment(text)
            | Failure::Interrupted(text) => f.write_str(text),
            Failure::Reported(_) => Ok(()),
        }
    }
}

/// The sentence that tells an error with its causes.
fn sentence(error: &anyhow::Error) -> String {
    format!("failed to {}", error_text::with_causes(&**error))
}

/// Turns a library's error into a [`Failure`] of one kind. `doing` reads after "failed to".
pub(crate) trait OrFail<T> {
    /// The input is at fault.
    fn or_input(self, doing: impl Display) -> Result<T, Failure>;
    /// The environment is at fault.
    fn or_environment(self, doing: impl Display) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrFail<T> for Result<T, E> {
    fn or_input(self, doing: impl Display) -> Result<T, Failure> {
        self.map_err(|error| Failure::Input(sentence(&error.into().context(doing.to_string()))))
    }

    fn or_environment(self, doing: impl Display) -> Result<T, Failure> {
        self.map_err(|error| {
            Failure::Environment(sentence(&error.into().context(doing.to_string())))
        })
    }
}

/// Makes a panic end the process with exit code 70 and ask for a report: whatever panics is a bug
/// of ours. The programs that the process has started end with it.
///
/// The tokio runtime would otherwise swallow a task's panic, and a run would go on with a part of
/// it missing. A rule that panics on what an agent chose costs that agent its episode alone:
/// whoever waits for the score catches it.
pub(crate) fn report_panics() {
    std::panic::set_hook(Box::new(move |panic| {
        let thread = std::thread::current();
        if thread.name() == Some(play::SCORING) {
            tracing::error!(%panic, "a scorer broke down; this is a bug in sandbox");
            return;
        }
        // What has panicked may quote what others have written; what is printed here is cleaned.
        eprintln!("thread '{}' {panic}", thread.name().unwrap_or("<unnamed>"));
        eprintln!("{}", std::backtrace::Backtrace::capture());
        eprintln!("error: this is a bug in sandbox; please report it with the lines above");
        interrupt::end_programs();
        std::process::exit(70);
    }));
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_failure_is_one_sentence() {
        let text = |error: anyhow::Error, doing: &str| {
            Err::<(), _>(error)
                .or_input(doing)
                .map_or_else(|failure| failure.to_string(), |()| String::new())
        };
        assert_eq!(
            text(anyhow::anyhow!("no such file").context("open x"), "load"),
            "failed to load: open x: no such file"
        );
        assert_eq!(
            text(anyhow::anyhow!("load the suite: no such file"), "load the suite"),
            "failed to load the suite: no such file"
        );
    }

    /// Set in the process that is to panic: nothing else begins there.
    const PANICS: &str = "SANDBOX_TEST_PANICS";

    /// Panics with a browser and a program under way, in the process that the test below starts.
    #[tokio::test]
    async fn panics_in_a_process_of_its_own() {
        if std::env::var_os(PANICS).is_none() {
            return;
        }
        report_panics();
        let launch = browser::Launch::new(std::net::SocketAddr::from(([127, 0, 0, 1], 9)), "");
        let _session = browser::Session::start(&launch).await.expect("Chromium is installed");
        let mut program = tokio::process::Command::new("sleep");
        program.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let program = program.process_group(0).spawn().expect("it starts");
        let _group = processes::Group::of(program.id());
        assert!(
            started_in(&std::env::temp_dir()).len() > 3,
            "a browser, its driver, a program and this"
        );
        panic!("provoked");
    }

    /// Breaks down as a scorer does, in the process that the test below starts.
    #[test]
    fn a_scorer_panics_in_a_process_of_its_own() {
        if std::env::var_os(PANICS).is_none() {
            return;
        }
        report_panics();
        let rule = || std::panic::catch_unwind(|| panic!("a rule broke down")).is_err();
        let scoring = std::thread::Builder::new().name(play::SCORING.to_owned()).spawn(rule);
        assert!(scoring.expect("a thread").join().is_ok_and(|caught| caught));
        println!("the others play on");
    }

    #[test]
    fn a_rule_that_panics_does_not_end_the_process() {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args([
            "--exact",
            "--nocapture",
            "failure::tests::a_scorer_panics_in_a_process_of_its_own",
        ]);
        let output = command.env(PANICS, "1").output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(0), "{said}");
        assert!(said.contains("the others play on"), "{said}");
    }

    /// The processes whose temporary files are in this folder. Chromium writes its title over its
    /// environment, but its profile is there.
    fn started_in(temp: &Path) -> Vec<String> {
        let names = |file: PathBuf| {
            let text = fs::read(file).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(&*temp.to_string_lossy())
        };
        let all = fs::read_dir("/proc").expect("Linux").flatten().map(|entry| entry.path());
        let own = all.filter(|path| names(path.join("environ")) || names(path.join("cmdline")));
        own.map(|path| path.display().to_string()).collect()
    }

    #[test]
    fn a_panic_leaves_no_browser_and_no_program_behind() {
        let temp = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--exact", "--nocapture", "failure::tests::panics_in_a_process_of_its_own"]);
        let output =
            command.env(PANICS, "1").env("TMPDIR", temp.path()).output().expect("it starts");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(70), "{said}");
        assert!(said.contains("provoked") && said.contains("this is a bug in sandbox"), "{said}");
        let deadline = Instant::now() + Duration::from_secs(20);
        // What is killed takes a moment to go.
        while !started_in(temp.path()).is_empty() {
            assert!(Instant::now() < deadline, "{:?}", started_in(temp.path()));
            std::thread::park_timeout(Duration::from_millis(10));
        }
        let left: Vec<_> = fs::read_dir(temp.path()).expect("it is there").flatten().collect();
        assert!(left.is_empty(), "{left:?}");
    }
}
