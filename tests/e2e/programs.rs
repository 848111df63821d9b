//! Scorers that are programs: what they reach, what they decide, and what is an error; and the
//! benchmark that brings its own.

use std::fs;
use std::net::TcpListener;

use anyhow::{Context as _, Result, ensure};
use camino::Utf8PathBuf;
use serde_json::Value;

use crate::harness::{Bench, text};

/// An application in the form of WebArena-Infinity's: the page owns the state and pushes it.
const SERVER: &str = r#"
import http.server, json, sys

state = None

class Handler(http.server.BaseHTTPRequestHandler):
    def answer(self, status, kind, body):
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        if self.path == "/api/state":
            return self.answer(404 if state is None else 200, "application/json", json.dumps(state).encode())
        self.answer(200, "text/html", open("index.html", "rb").read())

    def do_PUT(self):
        global state
        state = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.answer(200, "application/json", b"{}")

    def log_message(self, *_):
        pass

if __name__ == "__main__":
    port = int(sys.argv[sys.argv.index("--port") + 1])
    http.server.ThreadingHTTPServer(("", port), Handler).serve_forever()
"#;

const PAGE: &str = "<!doctype html><title>Notes</title><button onclick='push(true)'>Pin</button>
<button onclick='push(false)'>Unpin</button>
<script>const push = pinned => fetch('/api/state', {method: 'PUT', body: JSON.stringify({pinned})}); push(false);</script>";

/// Reads the state by the address that it is given, and looks for ways out.
const VERIFY: &str = r#"
import json, os, socket, sys, urllib.request

url, port, namespace = sys.argv[1], int(sys.argv[2]), sys.argv[3]
with urllib.request.urlopen(url + "/api/state") as answer:
    pinned = json.load(answer)["pinned"]
assert "HOME" in os.environ and "SECRET" not in os.environ, sorted(os.environ)
try:
    urllib.request.urlopen("https://elsewhere.test/", timeout=20)
    raise SystemExit("another host answers")
except urllib.error.URLError:
    pass
try:
    socket.create_connection(("127.0.0.1", port), timeout=5).close()
    out = True
except OSError:
    out = False
assert out == (namespace == "no"), f"it reaches the machine: {out}"
answered = os.environ.get("SANDBOX_ANSWER")
print("looked")
print(json.dumps({"score": 1.0 if pinned else 0.25, "reason": f"pinned: {pinned}, answered: {answered}"}))
"#;

/// A folder with the application `notes`, as the benchmark has them.
fn application(bench: &Bench) -> Result<Utf8PathBuf> {
    let app = bench.path("benchmark/apps/notes");
    fs::create_dir_all(app.join("real-tasks"))?;
    fs::write(app.join("server.py"), SERVER)?;
    fs::write(app.join("index.html"), PAGE)?;
    let list = r#"[
        {"id": "task_e1", "difficulty": "easy", "instruction": "Pin it.", "verify": "real-tasks/task_e1.py"},
        {"id": "task_h1", "difficulty": "hard", "instruction": "Raise.", "verify": "real-tasks/task_h1.py"},
        {"id": "task_h2", "difficulty": "hard", "instruction": "Lose it.", "verify": "real-tasks/gone.py"}
    ]"#;
    fs::write(app.join("real-tasks.json"), list)?;
    let verify = "import requests\ndef verify(server_url):\n    state = requests.get(f'{server_url}/api/state').json()\n    \
        return state['pinned'], f\"pinned: {state['pinned']}\"\n";
    fs::write(app.join("real-tasks/task_e1.py"), verify)?;
    fs::write(
        app.join("real-tasks/task_h1.py"),
        "def verify(server_url):\n    return None['pinned'], ''\n",
    )?;
    Ok(app)
}

/// As much of the package as verifiers use here; a machine may not have it.
const REQUESTS: &str = "
import json, types, urllib.request
class Error(Exception):
    pass
exceptions = types.SimpleNamespace(ConnectionError=Error, Timeout=Error)
def get(url):
    with urllib.request.urlopen(url) as answer:
        body = answer.read()
    return types.SimpleNamespace(json=lambda: json.loads(body))
";

/// Whether this system lets us have namespaces of the network.
fn namespaces() -> bool {
    let made = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "true"])
        .output();
    made.is_ok_and(|made| made.status.success())
}

/// A suite with a task for each scorer, all of them about the application.
fn suite(bench: &Bench, scorers: &[(&str, String)]) -> Result<Utf8PathBuf> {
    let (app, suite) = (application(bench)?, bench.path("suite"));
    fs::create_dir_all(suite.join("sites/notes"))?;
    let manifest = format!(
        "title: Notes\nabout: Notes.\ndriver: process\nhosts: [notes.test]\nready: {{page: {{get: /}}}}\n\
         command: [sh, -c, 'cd {app}; exec python3 -B server.py --port \"$0\"', '{{port}}']\n"
    );
    fs::write(suite.join("sites/notes/site.yaml"), manifest)?;
    fs::write(suite.join("suite.yaml"), "world: {sites: sites, clock: 2026-03-12T08:30:00Z}\n")?;
    fs::write(suite.join("verify.py"), VERIFY)?;
    for (id, scorer) in scorers {
        let task = format!(
            "id: {id}\ngoal: Pin it.\nstart_url: https://notes.test/\nsites: [notes]\nscorer: {{program: {scorer}}}\n\
             oracle: [{{click: {{role: button, name: Pin}}}}, {{answer: done}}]\n\
             wrong_solution: [{{click: {{role: button, name: Unpin}}}}, {{answer: done}}]\n"
        );
        fs::write(suite.join(format!("{id}.yaml")), task)?;
    }
    Ok(suite)
}

fn episode(out: &Utf8PathBuf, task: &str) -> Result<Value> {
    Ok(serde_json::from_str(&fs::read_to_string(
        out.join(format!("episodes/{task}-1/episode.json")),
    )?)?)
}

#[test]
fn a_program_reaches_the_episodes_site_and_nothing_else() -> Result<()> {
    let bench = Bench::new()?;
    // Something on this machine that is none of the world's.
    let outside = TcpListener::bind("127.0.0.1:0")?;
    let port = outside.local_addr()?.port();
    let namespace = if namespaces() { "yes" } else { "no" };
    let command = format!("[python3, verify.py, '{{url}}', '{port}', '{namespace}']");
    let suite = suite(&bench, &[("pin", command)])?;
    for (agent, score) in [("oracle", 1.0), ("negative", 0.25)] {
        let out = bench.path(agent);
        let mut run = bench.command(&[
            "run",
            suite.as_str(),
            "--agent",
            agent,
            "--repeat=2",
            "--check",
            "--json",
            "--output",
            out.as_str(),
        ]);
        let output = run.env("SECRET", "1").output()?;
        let summary: Value =
            serde_json::from_slice(&output.stdout).with_context(|| text(&output.stderr))?;
        ensure!(summary["score"] == score && summary["errors"] == 0, "{summary:#}");
        ensure!(summary["deterministic"] == true, "{summary:#}");
        let record = episode(&out, "pin")?;
        let wrong = &record["detail"]["wrong"];
        ensure!(score == 1.0 || wrong[0] == "pinned: False, answered: done", "{record:#}");
        let requests = fs::read_to_string(out.join("episodes/pin-1/ledger.jsonl"))?;
        let asks = |line: &str| line.contains("GET") && line.contains("/api/state");
        ensure!(!requests.lines().any(asks), "what it asks is not the agent's: {requests}");
    }
    let check = bench.run(&["tasks", "check", suite.as_str()])?;
    ensure!(text(&check.stdout).contains("pin: its wrong solution earns 0.25"), "{check:?}");
    Ok(())
}

#[test]
fn a_program_that_decides_nothing_is_an_error_and_no_score_of_0() -> Result<()> {
    let bench = Bench::new()?;
    let cases = [
        ("missing", "[./nonesuch.py, '{url}']", "nonesuch.py"),
        (
            "slow",
            "{command: [sh, -c, 'echo waiting >&2; sleep 100'], timeout: 500ms}",
            "it did not end within 0.5 s, its `timeout`; its standard error ends: waiting",
        ),
        (
            "garbled",
            "[sh, -c, 'echo \"{score: 1}\"']",
            "its last line is no JSON object with a `score`",
        ),
        ("killed", "[sh, -c, 'kill -9 $$']", "it was killed by signal 9"),
        ("unsure", "[sh, -c, 'echo \"{\\\"error\\\": \\\"no state\\\"}\"']", "no state"),
        ("denies", "[sh, -c, 'echo not so >&2; exit 3']", ""),
    ];
    let scorers = cases.map(|(id, scorer, _)| (id, scorer.to_owned()));
    let (suite, out) = (suite(&bench, &scorers)?, bench.path("out"));
    let output = bench.run(&[
        "run",
        suite.as_str(),
        "--agent=oracle",
        "--json",
        "--output",
        out.as_str(),
    ])?;
    for (id, _, why) in cases {
        let record = episode(&out, id).with_context(|| text(&output.stderr))?;
        if why.is_empty() {
            ensure!(
                record["outcome"]["kind"] == "answered" && record["score"] == 0.0,
                "{record:#}"
            );
            ensure!(record["detail"]["wrong"][0] == "exit code 3: not so", "{record:#}");
            continue;
        }
        let message =
            record["outcome"]["message"].as_str().with_context(|| format!("{id}: {record:#}"))?;
        ensure!(
            message.starts_with("failed to score: the scorer's program did not decide: "),
            "{message}"
        );
        ensure!(message.contains(why), "{id}: {message}");
    }
    Ok(())
}

#[test]
fn webarena_infinity_is_imported_and_scored_by_its_own_verifiers() -> Result<()> {
    let bench = Bench::new()?;
    application(&bench)?;
    let (benchmark, suite, out) = (bench.path("benchmark"), bench.path("suite"), bench.path("out"));
    let said = bench.succeed(&[
        "tasks",
        "import",
        "infinity",
        benchmark.as_str(),
        "--output",
        suite.as_str(),
    ])?;
    ensure!(said.contains("3 tasks of 1 application"), "{said}");
    fs::write(suite.join("requests.py"), REQUESTS)?;
    for name in ["notes-task_e1", "notes-task_h1", "notes-task_h2"] {
        let file = suite.join(format!("{name}.yaml"));
        let steps = "oracle: [{click: {role: button, name: Pin}}]\nwrong_solution: [{click: {role: button, name: Unpin}}]\n";
        fs::write(&file, fs::read_to_string(&file)? + steps)?;
    }
    bench.run(&["run", suite.as_str(), "--agent=oracle", "--json", "--output", out.as_str()])?;
    let (pinned, raised, gone) = (
        episode(&out, "notes-task_e1")?,
        episode(&out, "notes-task_h1")?,
        episode(&out, "notes-task_h2")?,
    );
    ensure!(pinned["score"] == 1.0 && pinned["success"] == true, "{pinned:#}");
    let why = raised["detail"]["wrong"][0].as_str().context("a reason")?;
    ensure!(raised["score"] == 0.0 && why.starts_with("Verifier exception: "), "{raised:#}");
    ensure!(
        gone["outcome"]["message"].to_string().contains("real-tasks/gone.py is not there"),
        "{gone:#}"
    );
    let out = bench.path("negative");
    bench.run(&[
        "run",
        suite.as_str(),
        "--agent=negative",
        "--task=notes-task_e1",
        "--json",
        "--output",
        out.as_str(),
    ])?;
    let missed = episode(&out, "notes-task_e1")?;
    ensure!(
        missed["score"] == 0.0 && missed["detail"]["wrong"][0] == "pinned: False",
        "{missed:#}"
    );
    Ok(())
}
