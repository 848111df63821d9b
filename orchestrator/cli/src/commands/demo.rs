//! `sandbox demo`: the demo suite, which travels in the program, played by its oracle.

use std::io::{BufRead as _, IsTerminal as _};
use std::path::Path;
use std::thread::available_parallelism;

use camino::{Utf8Path, Utf8PathBuf};
use clap::Parser as _;
use include_dir::{Dir, include_dir};
use processes::desktop;
use results::server::Page;

use crate::commands::run::Run;
use crate::commands::show;
use crate::failure::{Failure, OrFail, Outcome};
use crate::options::DataFolder;
use crate::terminal::out;

static SUITE: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../tasks/demo");
pub(crate) static SNAPSHOT: &[u8] = include_bytes!("../../../../snapshots/demo.wacz");
/// Browsers at once at most: more gain nothing in a suite that is this short.
const MAX_WORKERS: usize = 4;

/// Play the demo: 16 tasks in an invented web, twice, without any network
///
/// The oracle plays, which knows the solutions. Both times must give the same fingerprint. Needs
/// Chromium and its driver; `sandbox setup` installs them. Afterwards change the command that is
/// printed: another agent, more workers, a suite of yours.
#[derive(clap::Args)]
pub(crate) struct Demo {
    /// Folder for the results [default: runs/demo-oracle-TIME]
    #[arg(short, long, value_name = "DIR")]
    output: Option<Utf8PathBuf>,
    /// Serve the report afterwards, and open the desktop's browser if there is a display
    #[arg(long)]
    open: bool,
    #[command(flatten)]
    data: DataFolder,
}

/// The words of a run's command line, from `run` on.
#[derive(clap::Parser)]
struct RunAlone {
    #[command(flatten)]
    run: Run,
}

impl Demo {
    pub(crate) async fn run(self) -> Outcome {
        browser::Programs::find().map_err(|error| {
            Failure::Environment(format!(
                "failed to {error}; `sandbox setup` installs what is missing"
            ))
        })?;
        let suite = write_suite(&self.data.path()?.join("demo"))?;
        let folder = self.output.clone().unwrap_or_else(|| {
            Utf8PathBuf::from(format!(
                "runs/demo-oracle-{}",
                jiff::Timestamp::now().strftime("%Y%m%dT%H%M%SZ")
            ))
        });
        let workers = available_parallelism().map_or(1, usize::from).min(MAX_WORKERS).to_string();
        let data = self.data.path()?;
        let command = [
            "run",
            suite.as_str(),
            "--agent",
            "oracle",
            "--repeat",
            "2",
            "--workers",
            &workers,
            "--check",
        ];
        let command =
            [&command[..], &["--output", folder.as_str(), "--data", data.as_str()]].concat();
        eprintln!("sandbox {}\n", out::command_line(command.iter().copied()));
        RunAlone::try_parse_from(command)
            .or_input("read the demo's own command")?
            .run
            .run()
            .await?;
        println!("trace         {}", results::viewer::write(&folder)?);
        let show = out::command_line(["sandbox", "show", folder.as_str(), "--open"]);
        println!("\nTo look at both in a browser:  {show}");
        if self.open || wants_to_look() {
            return show::open(&folder, Page::Report, "", "").await;
        }
        Ok(())
    }
}

/// Asks a person who can be shown something.
fn wants_to_look() -> bool {
    if !std::io::stdin().is_terminal()
        || !std::io::stdout().is_terminal()
        || !desktop::has_display()
    {
        return false;
    }
    print!("Open the report now? [y/N] ");
    let _ = std::io::Write::flush(&mut std::io::stdout());
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer).is_ok()
        && answer.trim().eq_ignore_ascii_case("y")
}

/// Writes the suite and its snapshot below `folder`, where they are not there as they are in this
/// program, and gives the folder of the suite.
fn write_suite(folder: &Utf8Path) -> Result<Utf8PathBuf, Failure> {
    let suite = folder.join("tasks/demo");
    let files =
        SUITE.files().filter_map(|file| Some((suite.join(file.path().to_str()?), file.contents())));
    let snapshot = (folder.join("snapshots/demo.wacz"), SNAPSHOT);
    for (path, contents) in files.chain([snapshot]) {
        write(path.as_std_path(), contents).or_environment(format!("write {path}"))?;
    }
    Ok(suite)
}

/// Another process sees the old file or the new one, and no part of it.
fn write(path: &Path, contents: &[u8]) -> std::io::Result<()> {
    if std::fs::read(path).is_ok_and(|there| there == contents) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, contents)?;
    file.persist(path)?;
    Ok(())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn what_somebody_has_changed_is_written_again() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Utf8Path::from_path(folder.path()).unwrap();
        let suite = write_suite(folder).unwrap();
        let files = suite.read_dir_utf8().unwrap().count();
        assert!(files > 10, "{files}");
        let task = suite.join("suite.yaml");
        let whole = std::fs::read(&task).unwrap();
        std::fs::write(&task, "name: other").unwrap();
        write_suite(folder).unwrap();
        assert_eq!(std::fs::read(&task).unwrap(), whole);
        assert_eq!(
            std::fs::metadata(folder.join("snapshots/demo.wacz")).unwrap().len(),
            SNAPSHOT.len() as u64
        );
    }
}
