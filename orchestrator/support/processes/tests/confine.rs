//! What a confined program is kept from, on real processes.
//!
//! A program of its own: the keeper starts its own executable again by hidden commands, which must
//! run before there are threads.

#![allow(clippy::unwrap_used)]

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};
use std::time::{Duration, Instant};
use std::{env, fs};

use processes::confine::{self, Helper, KEEPER, Level, Plan, RELAY, ROOM};
use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Runtime;

type Test = (&'static str, fn(&Ground));

const TESTS: [Test; 7] = [
    ("a_program_gets_its_signals", a_program_gets_its_signals),
    ("nothing_is_left_behind_without_namespaces", nothing_is_left_behind_without_namespaces),
    ("a_plan_may_name_many_files", a_plan_may_name_many_files),
    ("doors_of_the_machine_are_hidden", doors_of_the_machine_are_hidden),
    ("a_keeper_is_told_to_end_at_any_time", a_keeper_is_told_to_end_at_any_time),
    ("a_program_has_no_terminal", a_program_has_no_terminal),
    ("a_program_does_not_stop_its_keeper", a_program_does_not_stop_its_keeper),
];

fn main() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let first = words.next().unwrap_or_default();
    let code = match first.to_str() {
        Some(KEEPER) => confine::keep(words.collect()),
        Some(ROOM) => confine::inside(),
        Some(RELAY) => confine::relay_alone(),
        _ => return tests(&env::args().skip(1).collect::<Vec<_>>()),
    };
    ExitCode::from(code)
}

/// Runs those whose name has one of the words in it.
fn tests(words: &[String]) -> ExitCode {
    let words: Vec<&String> = words.iter().filter(|word| !word.starts_with('-')).collect();
    let runtime = Runtime::new().unwrap();
    let ground = Ground { runtime };
    let is_meant =
        |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    for (name, test) in TESTS.iter().filter(|(name, _)| is_meant(name)) {
        test(&ground);
        println!("test {name} ... ok");
    }
    ExitCode::SUCCESS
}

struct Ground {
    runtime: Runtime,
}

impl Ground {
    fn helper(&self, level: Level) -> Helper {
        let program = env::current_exe().unwrap();
        let helper = self.runtime.block_on(Helper::find(Some(&program), level));
        assert!(
            helper.why().is_none(),
            "this machine does not confine programs: {:?}",
            helper.why()
        );
        helper
    }
}

impl Ground {
    /// What a script says that is confined at this level.
    fn run(&self, level: Level, plan: Plan, script: &str) -> Output {
        let confined = self.helper(level).plan(plan);
        let mut command = confined.command("sh");
        command.args(["-c", script]).stdin(Stdio::null()).process_group(0);
        confined.add_plan(&mut command);
        command.output().unwrap()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

fn a_program_has_no_terminal(ground: &Ground) {
    // Another session has the terminal, as the user's shell has, and starts the program.
    let script = "import ctypes, os, pty, sys, termios, fcntl
pid, terminal = pty.fork()
if pid == 0: os.execv(sys.argv[1], sys.argv[1:])
said = b''
while True:
    try: part = os.read(terminal, 4096)
    except OSError: break
    if not part: break
    said += part
os.waitpid(pid, 0)
print(said.decode())";
    // With its terminal as standard output, by which a program could type.
    let try_it = "import fcntl, termios, os
for name in ('/dev/tty', '/dev/stdout'):
    try: fcntl.ioctl(os.open(name, os.O_RDWR), termios.TIOCSTI, b'x'); print('TYPED', name)
    except OSError as error: print('refused', name, error.errno)
try: fcntl.ioctl(1, termios.TIOCSTI, b'x'); print('TYPED 1')
except OSError as error: print('refused 1', error.errno)";
    let own = Command::new("python3").args(["-c", "import sys; print(sys.base_prefix)"]).output();
    let own = PathBuf::from(String::from_utf8(own.unwrap().stdout).unwrap().trim());
    for level in [Level::On, Level::Strict] {
        let helper = ground.helper(level);
        let plan = Plan {
            level: Some(helper.confinement()),
            readable: vec![own.clone()],
            ..Plan::default()
        };
        let mut command = Command::new("python3");
        command
            .args(["-c", script])
            .arg(env::current_exe().unwrap())
            .args([KEEPER, "python3", "-c", try_it]);
        command.env("SANDBOX_PLAN", serde_json::to_string(&plan).unwrap());
        let output = command.output().unwrap();
        let said = text(&output);
        assert!(said.contains("refused /dev/tty"), "{level}: {said}");
        assert!(said.contains("refused 1") && !said.contains("TYPED"), "{level}: {said}");
    }
}

fn a_program_does_not_stop_its_keeper(ground: &Ground) {
    let confined = ground.helper(Level::On).plan(Plan::default());
    let mut command = confined.command("sh");
    let mark = format!("kill -STOP 0; echo {}", std::process::id());
    command.args(["-c", &mark]).stdin(Stdio::null()).process_group(0);
    confined.add_plan(&mut command);
    let mut keeper = command.spawn().unwrap();
    until("the program to stop itself", || {
        states(&mark).any(|(id, state)| id != keeper.id() && state == 'T')
    });
    let id = Pid::from_child(&keeper);
    kill_process(id, Signal::TERM).unwrap();
    until("its keeper to end", || keeper.try_wait().unwrap().is_some());
    until("the program to end", || states(&mark).next().is_none());
}

fn a_plan_may_name_many_files(ground: &Ground) {
    let folder = tempfile::tempdir().unwrap();
    let secret = folder.path().join("secret");
    fs::write(&secret, "4711").unwrap();
    let mut hidden: Vec<PathBuf> =
        (0..4000).map(|n| format!("/no/such/folder/of/another/run/{n}").into()).collect();
    hidden.push(secret.clone());
    let plan = Plan { hidden, ..Plan::default() };
    assert!(serde_json::to_string(&plan).unwrap().len() > 128 << 10, "more than the kernel takes");
    let script =
        format!("cat {}; echo $SANDBOX_PLAN; ls /proc/self/fd; echo done", secret.display());
    let output = ground.run(Level::On, plan, &script);
    let said = text(&output);
    assert!(output.status.success() && said.contains("done"), "{said}");
    assert!(!said.contains("4711") && !said.contains("handed"), "{said}");
}

fn doors_of_the_machine_are_hidden(ground: &Ground) {
    let in_run = fs::read_dir("/run").unwrap().flatten();
    let in_run: Vec<String> =
        in_run.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    let mut doors: Vec<PathBuf> = ["docker.sock", "docker", "dbus", "systemd/private", "user"]
        .map(|name| Path::new("/run").join(name))
        .into();
    doors.extend(["/tmp/.X11-unix", "/var/lib/incus"].map(PathBuf::from));
    // A folder that is hidden may be there, and is empty.
    doors.extend(doors.clone().iter().flat_map(|folder| {
        fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path())
    }));
    let is_empty = |path: &&PathBuf| !path.is_dir() || path.starts_with("/run");
    let doors: Vec<&PathBuf> = doors.iter().filter(is_empty).collect();
    let strict: Vec<PathBuf> = in_run.iter().map(|name| Path::new("/run").join(name)).collect();
    let allowed = ["/run/systemd", "/run/current-system", "/run/opengl-driver"].map(PathBuf::from);
    let strict: Vec<&PathBuf> = strict.iter().filter(|path| !allowed.contains(path)).collect();
    for (level, hidden) in [(Level::On, &doors), (Level::Strict, &doors), (Level::Strict, &strict)]
    {
        let tests =
            hidden.iter().map(|path| format!("[ -e '{0}' ] && echo FOUND '{0}';", path.display()));
        let said = text(&ground.run(
            level,
            Plan::default(),
            &format!("{} echo looked", tests.collect::<String>()),
        ));
        assert_eq!(said, "looked\n", "{level}");
    }
    // What is no door stays.
    let seen = text(&ground.run(Level::On, Plan::default(), "ls -A /run"));
    for name in
        in_run.iter().filter(|name| ["lock", "postgresql", "netns", "shm"].contains(&name.as_str()))
    {
        assert!(seen.lines().any(|seen| seen == name), "{name}: {seen}");
    }
}

/// Before the program has started, too.
fn a_keeper_is_told_to_end_at_any_time(ground: &Ground) {
    let confined = ground.helper(Level::On).plan(Plan::default());
    for _ in 0..40 {
        let mut command = confined.command("sleep");
        let mark = format!("600.{}", std::process::id());
        command.arg(&mark).stdin(Stdio::null()).stderr(Stdio::null()).process_group(0);
        confined.add_plan(&mut command);
        let mut keeper = command.spawn().unwrap();
        kill_process(Pid::from_child(&keeper), Signal::TERM).unwrap();
        until("the keeper to end", || keeper.try_wait().unwrap().is_some());
        until("the program to end", || states(&mark).next().is_none());
    }
}

fn a_program_gets_its_signals(ground: &Ground) {
    for level in [Level::Off, Level::On, Level::Strict] {
        let output = ground.run(level, Plan::default(), "grep SigBlk /proc/self/status");
        assert_eq!(text(&output), "SigBlk:\t0000000000000000\n", "{level}");
    }
}

fn nothing_is_left_behind_without_namespaces(ground: &Ground) {
    let mark = format!("601.{}", std::process::id());
    let script = format!(
        "for n in 1 2 3; do setsid sh -c 'setsid sleep {mark} & setsid sleep {mark} & exit' & done; wait"
    );
    let output = ground.run(Level::Off, Plan::default(), &script);
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(states(&mark).count(), 0);
}

/// The processes with this word, and their states.
fn states(word: &str) -> impl Iterator<Item = (u32, char)> {
    let word = [word.as_bytes(), b"\0"].concat();
    fs::read_dir("/proc").unwrap().flatten().filter_map(move |entry| {
        let line = fs::read(entry.path().join("cmdline")).ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let state = stat.rsplit_once(") ")?.1.chars().next()?;
        Some((entry.file_name().to_str()?.parse().ok()?, state)).filter(|_| line.ends_with(&word))
    })
}

fn until(condition: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(30);
    while !holds() {
        assert!(Instant::now() < deadline, "waited 30 s for {condition}");
        std::thread::park_timeout(Duration::from_millis(10));
    }
}
