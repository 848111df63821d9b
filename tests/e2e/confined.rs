//! What a program could try to come to the solutions, and what it leaves behind.
//!
//! The keeper is started as the runner starts it, with a plan of the same form, so that each try is
//! a few milliseconds. As root the tests play an ordinary user, too.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use tempfile::TempDir;

/// What no try may print.
const GOLD: &str = "the-answer-is-4711";
/// Another user, for tests as root.
const NOBODY: &str = "65534";

/// The ways, each with a name and a script for `sh`.
fn ways() -> Vec<(&'static str, &'static str)> {
    let text = include_str!("../hostile/agent/ways.sh");
    let sections = text.split("\n## ").skip(1);
    sections.map(|section| section.split_once('\n').expect("a name, then a script")).collect()
}

struct Ground {
    folder: TempDir,
    outer: Child,
    user: Option<&'static str>,
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = self.outer.kill();
        let _ = self.outer.wait();
    }
}

impl Ground {
    fn new(user: Option<&'static str>) -> Ground {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path();
        fs::set_permissions(at, fs::Permissions::from_mode(0o777)).unwrap();
        for (file, text) in [
            ("suite/task.yaml", GOLD),
            ("suite/agent.py", "own code"),
            ("run/run.json", GOLD),
            ("run/episodes/other-1/episode.json", GOLD),
            ("run/episodes/.own-1/0001.png", "own picture"),
            (".git/objects/the-answer-is-4711", GOLD),
            ("own/notes", "own notes"),
        ] {
            let path = at.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        for folder in ["suite", "own", "run"] {
            fs::set_permissions(at.join(folder), fs::Permissions::from_mode(0o777)).unwrap();
        }
        std::os::unix::fs::symlink(at.join("suite"), at.join("link")).unwrap();
        let mut outer = as_user(user, "sh");
        outer
            .args(["-c", "read forever", GOLD])
            .env("GOLD", GOLD)
            .stdin(Stdio::piped())
            .stdout(Stdio::null());
        Ground { outer: outer.spawn().unwrap(), folder, user }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn keeper(&self, level: &str) -> Command {
        let shown =
            |name: &str, writable: bool| json!({"path": self.at(name), "writable": writable});
        let plan = json!({
            "level": level,
            "hidden": [self.at("link"), self.at("run/episodes"), self.at("run/run.json"), self.at(".git")],
            "scratch": [],
            "shown": [shown("suite/agent.py", true), shown("run/episodes/.own-1", false)],
            "readable": [], "writable": [], "network": null,
        });
        // The shell leaves two descriptors open, as somebody's own shell may.
        let mut command = as_user(self.user, "sh");
        let open =
            format!("exec 3<{0} 4<{0}; exec \"$0\" \"$@\"", self.at("suite/task.yaml").display());
        command.args(["-c", &open]).arg(env!("CARGO_BIN_EXE_sandbox")).arg("keep");
        command
            .env("SANDBOX_PLAN", plan.to_string())
            .current_dir(self.at("suite"))
            .stdin(Stdio::null());
        command.env("T", self.folder.path()).env("OUTER", self.outer.id().to_string());
        command.env("TASK", "task.yaml").env("MARK", "the-answer");
        command
    }

    /// A way that leads nowhere may wait there.
    fn attempt(&self, level: &str, script: &str) -> Output {
        self.keeper(level).args(["timeout", "10", "sh", "-c", script]).output().unwrap()
    }

    fn run(&self, level: &str, script: &str) -> Output {
        self.keeper(level).args(["sh", "-c", script]).output().unwrap()
    }
}

fn as_user(user: Option<&str>, program: &str) -> Command {
    let Some(user) = user else { return Command::new(program) };
    let mut command = Command::new("setpriv");
    command.args(["--reuid", user, "--regid", user, "--clear-groups", program]);
    command
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// The users that tests play.
fn users() -> Vec<Option<&'static str>> {
    if is_root() { vec![None, Some(NOBODY)] } else { vec![None] }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Whether a way has come to the gold. Shells name files and words in their errors.
fn found(output: &Output) -> bool {
    let said = String::from_utf8_lossy(&output.stdout);
    said.contains(GOLD) || said.contains("REACHED")
}

#[test]
fn no_way_leads_to_the_gold() {
    for user in users() {
        let ground = Ground::new(user);
        let mut open = 0;
        for (way, script) in ways() {
            let output = ground.attempt("hidden", script);
            assert!(!found(&output), "{way} as {user:?}: {}", text(&output));
            // Not as root, which could do harm by them.
            open += usize::from(user.is_some() && found(&ground.attempt("off", script)));
        }
        // They are ways: unconfined, many of them lead there.
        assert!(open > 12 || user.is_none(), "{open} as {user:?}");
    }
}

#[test]
fn a_bound_folder_is_hidden_under_its_other_name() {
    if !is_root() {
        return;
    }
    let ground = Ground::new(None);
    fs::create_dir(ground.at("bound")).unwrap();
    // In a namespace of its own, so that nothing is left of it.
    let script = "mount --bind $T/suite $T/bound && cat $T/bound/task.yaml && exec \"$0\" keep cat $T/bound/task.yaml";
    let mut command = Command::new("unshare");
    let keeper = ground.keeper("hidden");
    let plan = keeper.get_envs().filter_map(|(name, value)| Some((name, value?)));
    command.args(["--mount", "sh", "-c", script, env!("CARGO_BIN_EXE_sandbox")]).envs(plan);
    let output = command.output().unwrap();
    assert_eq!(text(&output).matches(GOLD).count(), 1, "{}", text(&output));
}

#[test]
fn all_else_is_as_it_is() {
    for user in users() {
        let ground = Ground::new(user);
        let script = "cat agent.py $T/suite/agent.py $T/run/episodes/.own-1/0001.png $T/own/notes; \
            echo new > $T/own/new; cat $T/own/new; python3 -c 'print(6 * 7)'; id -u; cat /dev/null; \
            ls /dev/shm > /dev/null && cat; exit 9";
        let output = ground.run("hidden", script);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(9), "{said}");
        let lines = ["own codeown codeown pictureown notesnew", "42", user.unwrap_or("0")];
        let own = if user.is_none() && !is_root() { &lines[..2] } else { &lines[..] };
        for line in own {
            assert!(said.lines().any(|said| said == *line), "{line}: {said}");
        }
    }
}

#[test]
fn its_end_is_the_keepers() {
    for user in users() {
        let ground = Ground::new(user);
        for level in ["hidden", "off"] {
            let output = ground.run(level, "echo said; kill -9 $$");
            assert_eq!(
                output.status.to_string(),
                "signal: 9 (SIGKILL)",
                "{level}: {}",
                text(&output)
            );
            assert_eq!(output.stdout, b"said\n");
            assert_eq!(ground.run(level, "exit 130").status.code(), Some(130));
            let missing = ground.keeper(level).arg("/no/such/program").output().unwrap();
            assert_eq!(missing.status.code(), Some(127));
            assert!(text(&missing).contains("/no/such/program"), "{}", text(&missing));
        }
    }
}

#[test]
fn nothing_that_it_started_outlives_it() {
    for (number, user) in users().into_iter().enumerate() {
        let ground = Ground::new(user);
        for (at, level) in ["hidden", "unavailable", "off"].into_iter().enumerate() {
            let mark = format!("{}.{number}{at}", 4000 + std::process::id() % 1000);
            let leave = format!(
                "setsid sh -c 'setsid sleep {mark} & setsid sleep {mark} & exit' & sleep 0"
            );
            // It has ended by itself.
            ground.run(level, &format!("{leave}; wait"));
            assert_eq!(living(&mark), 0, "{level} as {user:?}");
            // It is told to end.
            let mut kept = ground
                .keeper(level)
                .args(["sh", "-c", &format!("{leave}; exec sleep {mark}")])
                .spawn()
                .unwrap();
            wait_for("its processes", || living(&mark) == 3);
            let id = rustix::process::Pid::from_child(&kept);
            rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
            kept.wait().unwrap();
            assert_eq!(living(&mark), 0, "{level} as {user:?}");
        }
    }
}

fn wait_for(what: &str, is_so: impl Fn() -> bool) {
    let end = Instant::now() + Duration::from_secs(30);
    while !is_so() {
        assert!(Instant::now() < end, "{what} did not come");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}

/// How many processes sleep for so long.
fn living(mark: &str) -> usize {
    let wanted = format!("sleep\0{mark}\0");
    let lives =
        |path: &Path| fs::read(path.join("cmdline")).is_ok_and(|line| line == wanted.as_bytes());
    fs::read_dir("/proc").unwrap().flatten().filter(|entry| lives(&entry.path())).count()
}
