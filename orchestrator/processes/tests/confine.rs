//! What a confined program is kept from, on real processes.
//!
//! A program of its own: the keeper starts its own executable again by hidden commands, which must
//! run before there are threads.

#![allow(clippy::unwrap_used)]

use std::env;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{ExitCode, Output, Stdio};
use std::time::{Duration, Instant};

use processes::confine::{self, Helper, KEEPER, Level, Plan, RELAY, ROOM};
use rustix::process::{Pid, Signal, kill_process};
use tokio::runtime::Runtime;

type Test = (&'static str, fn(&Ground));

const TESTS: [Test; 2] = [
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
    let is_meant = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
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
        assert!(helper.why().is_none(), "this machine does not confine programs: {:?}", helper.why());
        helper
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
    let own =
        std::process::Command::new("python3").args(["-c", "import sys; print(sys.base_prefix)"]).output();
    let own = PathBuf::from(String::from_utf8(own.unwrap().stdout).unwrap().trim());
    for level in [Level::On, Level::Strict] {
        let plan = Plan { readable: vec![own.clone()], ..Plan::default() };
        let confined = ground.helper(level).plan(plan);
        let mut kept = confined.command("python3");
        kept.args(["-c", try_it]);
        confined.add_plan(&mut kept);
        let mut command = std::process::Command::new("python3");
        command.args(["-c", script]).arg(kept.get_program()).args(kept.get_args());
        command.envs(kept.get_envs().filter_map(|(name, value)| Some((name, value?))));
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
        std::thread::yield_now();
    }
}
