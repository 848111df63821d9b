//! Running a scorer's program: with the sites of the episode before it, and nothing else of the
//! network.
//!
//! The program has a gateway of its own, with the routes of the episode: what it asks for is no
//! part of what the agent did. It is confined where the system lets it be (see
//! [`processes::confine`]): in a network in which there is nothing but that gateway, and without
//! results and the user's data. Else it has the proxy and the authority in its environment alone.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use doors::{Admission, Entrance, Key};
use gateway::Gateway;
use parking_lot::Mutex;
use processes::confine::{Confined, Network, Proxy};
use processes::network;
use scoring::{Decision, ProgramCheck, ProgramExit, Undecided};
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::Command;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::Options;
use crate::confinement::{FoundHelper, scorer_plan};

/// The number of bytes that are kept of the end of a program's output.
const KEPT: usize = 1 << 20;
/// The number of bytes of its standard error that a message quotes.
const QUOTED: usize = 400;
/// The time limit for reading the rest of its output, once it has ended.
const REST: Duration = Duration::from_secs(2);

/// Starts the programs of scorers. The helper for that is looked for once.
#[derive(Debug, Clone)]
pub(crate) struct ScorerPrograms {
    options: Arc<Options>,
    helper: FoundHelper,
}

/// The context of a program: values that it gets, and the gateway that answers it.
pub(crate) struct ProgramContext<'a> {
    /// The address of the episode's first site.
    pub(crate) url: &'a str,
    /// The agent's answer.
    pub(crate) answer: Option<&'a str>,
    /// Answers for the sites.
    pub(crate) gateway: &'a Gateway,
    /// The certificate that a client of the gateway has to trust, as PEM.
    pub(crate) certificate: &'a str,
}

impl ScorerPrograms {
    pub(crate) fn by(options: &Options) -> ScorerPrograms {
        ScorerPrograms { options: Arc::new(options.clone()), helper: FoundHelper::default() }
    }

    /// Runs a program to its end. Returns its decision, or the reason why there is none.
    pub(crate) async fn decide(
        &self,
        check: &ProgramCheck,
        context: &ProgramContext<'_>,
    ) -> Result<Decision, Undecided> {
        let words = check.words(context.url);
        let named = |why: String| format!("{}: {why}", words.join(" "));
        let ran = self.run(check, &words, context).await.map_err(|why| why.map(named))?;
        let ended = ProgramExit {
            code: ran.code,
            signal: ran.signal,
            stdout: &ran.stdout,
            stderr: quoted(&ran.stderr),
        };
        check.decide(&ended).map_err(|why| why.map(named))
    }

    async fn run(
        &self,
        check: &ProgramCheck,
        words: &[String],
        context: &ProgramContext<'_>,
    ) -> Result<Ran, Undecided> {
        let folder = processes::temporary::new("verifier-");
        let folder = folder.map_err(|error| unable("make a folder for its proxy", &error))?;
        let ca = folder.path().join("ca.crt");
        std::fs::write(&ca, context.certificate)
            .map_err(|error| unable("write its authority", &error))?;
        // Open for as long as the program runs.
        let (proxy, _entrance) = listen_with_key(context.gateway)
            .map_err(|error| unable("listen for its requests", &error))?;
        let level = self.options.confinement.level.of_scorers();
        let helper = self.helper.get(&self.options, level).await;
        let network = helper
            .confinement()
            .hides()
            .then(|| Network { proxy: Some(proxy.clone()), hosts: Vec::new() });
        let confined =
            helper.plan(scorer_plan(&self.options, &[&ca, check.folder.as_std_path()], network));
        let (program, arguments) = words
            .split_first()
            .ok_or_else(|| Undecided::Unable("the command is empty".to_owned()))?;
        let mut command = confined.command(program);
        // In a network of its own the proxy has another address, which its keeper adds.
        command
            .args(arguments)
            .env_clear()
            .envs(network::proxies(&proxy.url_at(proxy.address)))
            .envs(variables(&ca, context));
        if check.folder != "" {
            command.current_dir(&check.folder);
        }
        confined.add_plan(&mut command);
        watch(command, &confined, check.timeout).await
    }
}

/// Returns the error of a machine that could not run a program.
fn unable(doing: &str, error: &std::io::Error) -> Undecided {
    Undecided::Unable(format!("failed to {doing}: {error}"))
}

/// Returns the variables of a program besides those of its proxy.
fn variables(
    ca: &Path,
    context: &ProgramContext<'_>,
) -> Vec<(std::ffi::OsString, std::ffi::OsString)> {
    let mut all = processes::minimal();
    all.extend(network::authorities(ca));
    // Nothing is to be left behind in the folders of the suite and the benchmark.
    all.push(("PYTHONDONTWRITEBYTECODE".into(), "1".into()));
    // The kernel refuses a variable of more than 128 KiB, and with it the program.
    let answer = context.answer.map(scoring::beginning);
    all.extend(answer.map(|answer| ("SANDBOX_ANSWER".into(), answer.replace('\0', "").into())));
    all
}

/// Listens on the machine's loopback. The proxy serves whoever knows its whole URL, until the
/// entrance is dropped.
fn listen_with_key(gateway: &Gateway) -> std::io::Result<(Proxy, Entrance)> {
    let listener = std::net::TcpListener::bind((std::net::Ipv4Addr::LOCALHOST, 0))?;
    let address = listener.local_addr()?;
    let key = Key::random();
    let proxy = Proxy { address, password: key.text().to_owned() };
    Ok((proxy, gateway.door().serve(listener, Admission::Key(key))?))
}

/// The output of a program.
struct Ran {
    code: Option<i32>,
    signal: Option<i32>,
    stdout: String,
    stderr: String,
}

/// Waits for the program's end, up to the limit, and kills whatever of it is left.
async fn watch(
    command: std::process::Command,
    confined: &Confined,
    within: Duration,
) -> Result<Ran, Undecided> {
    let mut command = Command::from(command);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.process_group(0).spawn();
    let mut child = child.map_err(|error| {
        Undecided::Unable(format!(
            "failed to start it: {error}; a program that is named by a path is looked for in the suite's folder"
        ))
    })?;
    let mut tree = confined.tree(&child);
    let (stdout, stderr) = (Tail::default(), Tail::default());
    let mut reading = JoinSet::new();
    reading.spawn(stdout.clone().keep(child.stdout.take()));
    reading.spawn(stderr.clone().keep(child.stderr.take()));
    let ended = timeout(within, child.wait()).await;
    tree.end(&mut child).await;
    // What it has started may have left its group and hold the pipes.
    let _ = timeout(REST, async { while reading.join_next().await.is_some() {} }).await;
    let (stdout, stderr) = (stdout.text(), stderr.text());
    match ended {
        Ok(Ok(status)) => Ok(Ran { code: status.code(), signal: status.signal(), stdout, stderr }),
        Ok(Err(error)) => Err(unable("wait for it", &error)),
        Err(_) => {
            let stderr_part = match quoted(&stderr) {
                "" => String::new(),
                words => format!("; its standard error ends: {words}"),
            };
            let waited = within.as_secs_f64();
            Err(Undecided::BrokeDown(format!(
                "it did not end within {waited} s, its `timeout`{stderr_part}"
            )))
        }
    }
}

/// Returns the end of a text, from the beginning of a line if there is one near.
fn quoted(text: &str) -> &str {
    let text = text.trim();
    let mut start = text.len().saturating_sub(QUOTED);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    let tail = &text[start..];
    match tail.split_once('\n') {
        Some((_, whole)) if start > 0 => whole,
        _ => tail,
    }
}

/// The end of an output.
#[derive(Clone, Default)]
struct Tail(Arc<Mutex<Vec<u8>>>);

impl Tail {
    async fn keep(self, source: Option<impl AsyncRead + Unpin>) {
        let Some(mut source) = source else { return };
        let mut chunk = vec![0; 8192];
        while let Ok(count @ 1..) = source.read(&mut chunk).await {
            let mut kept = self.0.lock();
            kept.extend(&chunk[..count]);
            let surplus = kept.len().saturating_sub(KEPT);
            kept.drain(..surplus);
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.0.lock()).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::time::Instant;

    use super::*;

    /// Runs a shell script and returns its output.
    async fn ran(script: &str, within: Duration) -> Result<Ran, Undecided> {
        let confined = Confined::default();
        let mut command = confined.command("sh");
        command.args(["-c", script]);
        watch(command, &confined, within).await
    }

    #[tokio::test]
    async fn its_end_and_its_words_are_kept() {
        let long = Duration::from_secs(60);
        let Ran { code, stdout, stderr, .. } =
            ran("echo a; echo b >&2; exit 3", long).await.unwrap_or_else(|why| panic!("{why}"));
        assert_eq!((code, stdout.as_str(), stderr.as_str()), (Some(3), "a\n", "b\n"));
        let killed = ran("kill -9 $$", long).await.unwrap_or_else(|why| panic!("{why}"));
        assert_eq!((killed.code, killed.signal), (None, Some(9)));
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_is_no_fault_of_an_agent() {
        let confined = Confined::default();
        let command = confined.command("sandbox-no-such-program");
        let why = watch(command, &confined, Duration::from_secs(60)).await.err();
        assert!(matches!(why, Some(Undecided::Unable(_))), "{why:?}");
    }

    #[tokio::test]
    async fn what_does_not_end_is_killed_with_all_that_it_has_started() {
        let folder = tempfile::tempdir().unwrap_or_else(|why| panic!("{why}"));
        let file = folder.path().join("id");
        let script = format!("echo tired >&2; sleep 100 & echo $! > {}; sleep 100", file.display());
        let why = ran(&script, Duration::from_millis(300)).await.err();
        let late = "it did not end within 0.3 s, its `timeout`; its standard error ends: tired";
        assert_eq!(why, Some(Undecided::BrokeDown(late.to_owned())));
        let id = std::fs::read_to_string(&file).unwrap_or_else(|why| panic!("{why}"));
        let stat = PathBuf::from(format!("/proc/{}/stat", id.trim()));
        let lives = || std::fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z "));
        let end = Instant::now() + Duration::from_secs(20);
        while lives() {
            assert!(Instant::now() < end, "what it started lives on");
            tokio::task::yield_now().await;
        }
    }

    #[test]
    fn errors_quote_whole_lines() {
        let text = format!("{}\nlast words\n", "x".repeat(QUOTED));
        assert_eq!(quoted(&text), "last words");
        assert_eq!(quoted(" one line\n"), "one line");
    }
}
