//! What every end-to-end test needs: a folder of its own, the built binary, and the demo web to
//! talk to.

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use origin::{Options, Origin};

use crate::client::Client;
use crate::process_tree::descendants;

/// Longer than any test takes from its first `Bench` on, on a slow machine as well.
const TEST_TIMEOUT: Duration = Duration::from_secs(1200);

/// A temporary folder with a data folder in it; what runs there touches nothing of the user's.
pub(crate) struct Bench {
    folder: tempfile::TempDir,
    /// Closed when the test ends.
    _ended: Sender<()>,
}

impl Bench {
    pub(crate) fn new() -> Result<Bench> {
        let (ended, receiver) = channel();
        let test = std::thread::current().name().unwrap_or("a test").to_owned();
        std::thread::spawn(move || end_hung_tests(&test, &receiver));
        Ok(Bench {
            folder: tempfile::Builder::new().prefix("sandbox-e2e-").tempdir()?,
            _ended: ended,
        })
    }

    pub(crate) fn path(&self, name: &str) -> Utf8PathBuf {
        Utf8Path::from_path(self.folder.path())
            .expect("temporary folders have UTF-8 names")
            .join(name)
    }

    /// The built binary with a data folder of its own, at the top of the repository.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        self.command_of(env!("CARGO_BIN_EXE_sandbox"), arguments)
    }

    /// Another program, with what the binary would find.
    pub(crate) fn command_of(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).env("SANDBOX_DATA", self.path("data")).env_remove("SANDBOX_LOG");
        // The suites of the tests are our own. Tests of consent take it away.
        command.env("SANDBOX_TRUST", "1");
        // Those who run the tests may want colours; what the tests read has none.
        for name in ["CI", "NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS"] {
            command.env_remove(name);
        }
        command.current_dir(repository()).stdin(Stdio::null());
        command
    }

    /// Runs the binary to its end.
    pub(crate) fn run(&self, arguments: &[&str]) -> Result<Output> {
        Ok(self.command(arguments).output()?)
    }

    /// Runs the binary, which must succeed; what it printed on stdout.
    pub(crate) fn succeed(&self, arguments: &[&str]) -> Result<String> {
        let output = self.run(arguments)?;
        ensure!(
            output.status.success(),
            "sandbox {arguments:?}: {}\n{}",
            output.status,
            text(&output.stderr)
        );
        Ok(text(&output.stdout))
    }

    /// The certificate that clients of a proxy started here have to trust.
    pub(crate) fn certificate(&self) -> Utf8PathBuf {
        self.path("data/ca/ca.crt")
    }

    /// Starts a command that prints `proxy URL` once it answers.
    pub(crate) fn proxy(&self, arguments: &[&str]) -> Result<Proxy> {
        self.proxy_of(self.command(arguments))
    }

    /// The same with a command that becomes it.
    pub(crate) fn proxy_of(&self, mut command: Command) -> Result<Proxy> {
        let said = tempfile::NamedTempFile::new_in(self.folder.path())?.into_temp_path().keep()?;
        let log = std::fs::File::create(&said)?;
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
        let url = line.trim().strip_prefix("proxy ").map(str::to_owned);
        let url = url.with_context(|| format!("printed {line:?} and {}", read_log(&said)))?;
        let address = url.rsplit('@').next().context("an address")?.parse()?;
        Ok(Proxy { child, url, address, certificate: self.certificate(), said })
    }
}

/// Names a test that never ends, with all processes that the tests have started, and ends them and
/// the tests. Otherwise whoever runs the tests would wait for ever.
fn end_hung_tests(test: &str, ended: &Receiver<()>) {
    if ended.recv_timeout(TEST_TIMEOUT) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    // Not by the macro, whose output is the test's, to be shown when it ends.
    let mut stderr = std::io::stderr();
    let _ =
        writeln!(stderr, "{test} has not ended within {} s; these run:", TEST_TIMEOUT.as_secs());
    for process in descendants(std::process::id()).unwrap_or_default() {
        let _ = writeln!(stderr, "{} {}", process.id, process.line);
        process.kill();
    }
    std::process::exit(1);
}

/// A running `sandbox replay` or `sandbox record --listen`.
pub(crate) struct Proxy {
    child: Child,
    /// Its URL, with the key.
    pub(crate) url: String,
    pub(crate) address: SocketAddr,
    certificate: Utf8PathBuf,
    /// Where its stderr goes.
    said: PathBuf,
}

/// How a proxy ended.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    /// What it said on stderr.
    pub(crate) said: String,
}

impl Proxy {
    pub(crate) fn client(&self) -> Result<Client> {
        Client::new(&self.url, &self.certificate)
    }

    /// Ctrl-C, and what comes of it.
    pub(crate) fn interrupt(mut self) -> Result<Ended> {
        interrupt(&self.child)?;
        let status = self.child.wait()?;
        Ok(Ended { status, said: read_log(&self.said) })
    }

    /// Ctrl-C, which must end it well; what it said.
    pub(crate) fn end(self) -> Result<String> {
        let Ended { status, said } = self.interrupt()?;
        ensure!(status.success() && !said.contains("panicked"), "{status}\n{said}");
        Ok(said)
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// What it has used of the processors so far.
    pub(crate) fn cpu_time(&self) -> Result<Duration> {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.id()))?;
        let (_, fields) = stat.rsplit_once(')').context("the fields of a process")?;
        let ticks =
            |n: usize| fields.split_whitespace().nth(n).and_then(|ticks| ticks.parse::<u64>().ok());
        let ticks = ticks(11).zip(ticks(12)).context("the times of a process")?;
        // Linux tells times in hundredths of a second, whatever its own clock ticks at.
        Ok(Duration::from_millis((ticks.0 + ticks.1) * 10))
    }

    /// The most memory it has held so far, in MiB.
    pub(crate) fn peak_memory(&self) -> Result<u64> {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:"))
            .context("a peak of memory")?;
        let kib: u64 = line.trim().trim_end_matches(" kB").parse()?;
        Ok(kib / 1024)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // Already gone after interrupt() or kill(); otherwise the test failed, and wants to know.
        if matches!(self.child.try_wait(), Ok(None)) {
            eprintln!("{}", read_log(&self.said));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn read_log(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Sends SIGINT.
pub(crate) fn interrupt(child: &Child) -> Result<()> {
    let pid = rustix::process::Pid::from_raw(child.id().cast_signed()).context("a process id")?;
    Ok(rustix::process::kill_process(pid, rustix::process::Signal::INT)?)
}

/// The demo web on loopback.
pub(crate) async fn origin() -> Result<Origin> {
    Ok(Origin::start(&Options::default()).await?)
}

/// The options that make `sandbox record` find `origin` under all its names.
pub(crate) fn live_web(origin: &Origin) -> Vec<String> {
    vec![
        format!("--connect-to=:443:{}", origin.tls_addr()),
        format!("--connect-to=:80:{}", origin.plain_addr()),
        format!("--upstream-ca={}", origin.certificate_path()),
    ]
}

/// The top of the repository.
pub(crate) fn repository() -> &'static Utf8Path {
    Utf8Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
