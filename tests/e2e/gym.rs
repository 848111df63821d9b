//! Agents behind an address, and the gym: `sandbox` as a client and as a server of agents, over
//! plain HTTP.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::harness::{Bench, interrupt, repository, text};
use crate::server::Nobody;

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);
const WAY: [&str; 3] = ["My trips", "Continue as guest", "RE 406"];

/// The head of an HTTP message and its body.
fn read(stream: &TcpStream) -> Result<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        ensure!(reader.read_line(&mut line)? > 0, "it broke off after {head:?}");
        if line == "\r\n" {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
        head.push_str(&line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((head, String::from_utf8(body)?))
}

/// An agent that knows its way through `guest-booking`, as a server; what it heard.
fn agent() -> Result<(SocketAddr, Arc<Mutex<Vec<Value>>>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let heard: Arc<Mutex<Vec<Value>>> = Arc::default();
    let ears = heard.clone();
    let answer = move |stream: TcpStream, ears: &Mutex<Vec<Value>>| -> Result<()> {
        let (head, body) = read(&stream)?;
        ensure!(head.starts_with("POST /agent?who=guest HTTP/1.1"), "{head}");
        let message: Value = serde_json::from_str(&body)?;
        let answer = reply(&message)?.to_string();
        ears.lock().unwrap_or_else(PoisonError::into_inner).push(message);
        write!(
            &stream,
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{answer}",
            answer.len()
        )?;
        Ok(())
    };
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let ears = ears.clone();
            std::thread::spawn(move || answer(stream, &ears));
        }
    });
    Ok((address, heard))
}

fn reply(message: &Value) -> Result<Value> {
    Ok(match message["type"].as_str() {
        Some("hello") => json!({ "protocol": 1, "name": "guest" }),
        Some("observation") => {
            let step = usize::try_from(message["step"].as_u64().context("a step")?)?;
            let action = match WAY.get(step - 1) {
                Some(name) => {
                    let tree = message["axtree"].as_str().context("a tree")?;
                    let (before, _) = tree.split_once(&format!("] link '{name}")).context(*name)?;
                    format!("click('{}')", before.rsplit('[').next().context("a bid")?)
                }
                None => "send_msg_to_user('This is the train.')".to_owned(),
            };
            json!({ "action": action })
        }
        _ => json!({}),
    })
}

#[test]
fn an_agent_behind_an_address_earns_the_score_in_episodes_that_it_tells_apart() -> Result<()> {
    let bench = Bench::new()?;
    let (address, heard) = agent()?;
    let agent = format!("http://{address}/agent?who=guest");
    let out = bench.path("out");
    let arguments = [
        "run",
        "tasks/demo",
        "--task=guest-booking",
        "--repeat=2",
        "--workers=2",
        "--check",
        "--json",
    ];
    let arguments = [&arguments[..], &["--agent", &agent, "--output", out.as_str()]].concat();
    let summary: Value = serde_json::from_str(&bench.succeed(&arguments)?)?;
    ensure!(summary["score"] == 1.0 && summary["agent"] == agent, "{summary:#}");
    let heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    let mut episodes: Vec<&str> =
        heard.iter().filter_map(|message| message["episode"].as_str()).collect();
    ensure!(episodes.len() == heard.len(), "every message has one");
    episodes.sort_unstable();
    episodes.dedup();
    ensure!(episodes.len() == 2, "{episodes:?}");
    for episode in episodes {
        let of = heard.iter().filter(|message| message["episode"] == episode);
        let kinds: Vec<&str> = of.filter_map(|message| message["type"].as_str()).collect();
        let observation = "observation";
        ensure!(
            kinds == ["hello", "task", observation, observation, observation, observation, "end"],
            "{kinds:?}"
        );
    }
    Ok(())
}

#[test]
fn an_agent_that_cannot_be_asked_is_named() -> Result<()> {
    let bench = Bench::new()?;
    let nobody = Nobody::new()?;
    let gone = nobody.address;
    let out = bench.path("out");
    let run = [
        "run",
        "tasks/demo",
        "--task=guest-booking",
        "--check",
        "--output",
        out.as_str(),
        "--agent",
    ];
    let output = bench.run(&[&run[..], &[&format!("http://{gone}/")]].concat())?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    let record = std::fs::read_to_string(out.join("episodes/guest-booking-1/episode.json"))?;
    ensure!(
        record.contains(&format!("to the agent at http://{gone}/"))
            && record.contains("check that it runs"),
        "{record}"
    );
    let output = bench.run(&[&run[..], &["https://127.0.0.1:1/"]].concat())?;
    ensure!(
        output.status.code() == Some(2) && text(&output.stderr).contains("over plain HTTP"),
        "{output:?}"
    );
    Ok(())
}

/// A gym of the demo suite, whose browsers keep their files in the bench; or a balancer, which is
/// used alike.
pub(crate) struct Gym {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) address: SocketAddr,
    /// The first part of every path.
    key: String,
}

impl Gym {
    pub(crate) fn open(bench: &Bench, arguments: &[&str]) -> Result<Gym> {
        let temporary = bench.path("tmp");
        std::fs::create_dir_all(&temporary)?;
        let mut command =
            bench.command(&["gym", "tasks/demo", "--output", bench.path("out").as_str()]);
        command.args(arguments).env("TMPDIR", &temporary);
        Gym::start(command)
    }

    /// Starts a command that prints its address once it answers.
    pub(crate) fn start(mut command: Command) -> Result<Gym> {
        command.stdout(Stdio::piped());
        let mut child = command.spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let facts: Value = serde_json::from_str(&line).with_context(|| line.clone())?;
        let url = facts["url"].as_str().context("an address")?;
        let url = url.strip_prefix("http://").context("plain http")?;
        let (address, key) = url.split_once('/').context("a key")?;
        Ok(Gym { child, stdout, address: address.parse()?, key: key.to_owned() })
    }

    /// Sends a request and does not wait.
    pub(crate) fn ask(&self, path: &str, body: &Value) -> Result<TcpStream> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let body = body.to_string();
        write!(
            stream,
            "POST /{}{path} HTTP/1.1\r\nhost: {}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
            self.key,
            self.address,
            body.len()
        )?;
        Ok(stream)
    }

    /// What is answered to a request, with its status.
    pub(crate) fn post(&self, path: &str, body: &Value) -> Result<(u16, Value)> {
        let (head, body) = read(&self.ask(path, body)?)?;
        let status = head.split(' ').nth(1).context("a status")?.parse()?;
        Ok((status, serde_json::from_str(&body)?))
    }

    /// The same, which must go well.
    pub(crate) fn get(&self, path: &str, body: &Value) -> Result<Value> {
        let (status, answer) = self.post(path, body)?;
        ensure!(status == 200, "{path} {body}: {status} {answer}");
        Ok(answer)
    }

    /// The text that is answered to a GET request.
    pub(crate) fn read(&self, path: &str) -> Result<String> {
        let mut stream = TcpStream::connect(self.address)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let (key, host) = (&self.key, self.address);
        write!(stream, "GET /{key}{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n")?;
        let (head, body) = read(&stream)?;
        ensure!(head.starts_with("HTTP/1.1 200 "), "{path}: {head}{body}");
        Ok(body)
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/{}", self.address, self.key)
    }

    /// `kill -9`.
    pub(crate) fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Ctrl-C; the last line.
    pub(crate) fn interrupt(mut self) -> Result<Value> {
        interrupt(&self.child)?;
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "{status}: {line}");
        Ok(serde_json::from_str(&line)?)
    }

    /// The same, after which nothing is left.
    pub(crate) fn end(self, bench: &Bench) -> Result<Value> {
        let line = self.interrupt()?;
        let left: Vec<_> = bench.path("tmp").read_dir_utf8()?.collect();
        ensure!(left.is_empty(), "{left:?}");
        Ok(line)
    }
}

impl Drop for Gym {
    fn drop(&mut self) {
        // Gone already where the test went well.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The bid of a link, in the tree as the browser gives it.
fn link(answer: &Value, name: &str) -> Result<String> {
    let nodes = answer["observation"]["axtree_object"]["nodes"].as_array().context("nodes")?;
    let is = |node: &&Value| {
        node["role"]["value"] == "link"
            && node["name"]["value"].as_str().is_some_and(|own| own.starts_with(name))
    };
    let node = nodes.iter().find(is).with_context(|| format!("no link {name}: {nodes:?}"))?;
    Ok(node["browsergym_id"].as_str().context("a bid")?.to_owned())
}

/// Plays `guest-booking` to its end; the last answer.
pub(crate) fn play(gym: &Gym) -> Result<Value> {
    play_on(gym, gym.get("/reset", &json!({ "task": "guest-booking" }))?)
}

/// The same after the answer to its reset.
pub(crate) fn play_on(gym: &Gym, mut answer: Value) -> Result<Value> {
    let session = answer["session"].clone();
    for name in WAY {
        let action = format!("click('{}')", link(&answer, name)?);
        answer = gym.get("/step", &json!({ "session": session, "action": action }))?;
        ensure!(
            answer["reward"] == 0.0 && answer["terminated"] == false,
            "{name}: {}",
            answer["info"]
        );
    }
    gym.get(
        "/step",
        &json!({ "session": session, "action": "send_msg_to_user('This is the train.')" }),
    )
}

#[test]
fn episodes_of_a_gym_are_scored_kept_and_the_same_each_time() -> Result<()> {
    let bench = Bench::new()?;
    let gym = Gym::open(&bench, &["--workers=2"])?;
    let (first, second) = std::thread::scope(|scope| {
        let other = scope.spawn(|| play(&gym));
        (play(&gym), other.join().expect("it does not panic"))
    });
    let (first, second) = (first?, second?);
    for last in [&first, &second] {
        ensure!(
            last["reward"] == 1.0 && last["terminated"] == true && last["truncated"] == false,
            "{}",
            last["info"]
        );
    }
    ensure!(first["info"]["result"]["fingerprint"] == second["info"]["result"]["fingerprint"]);
    let observation = first["observation"].as_object().context("an observation")?;
    ensure!(observation["screenshot"].as_str().is_some_and(|png| png.starts_with("iVBORw0KGgo")));
    ensure!(
        observation["dom_object"]["strings"].as_array().is_some_and(|strings| strings.len() > 100)
    );
    ensure!(observation["extra_element_properties"].as_object().is_some_and(|all| all.len() > 20));
    let end = gym.end(&bench)?;
    ensure!(end["episodes"] == 2 && end["score"] == 1.0 && end["errors"] == 0, "{end}");
    let out = bench.path("out");
    let summary: Value =
        serde_json::from_str(&bench.succeed(&["report", out.as_str(), "--json"])?)?;
    ensure!(summary["deterministic"] == true && summary["agent"] == "gym", "{summary:#}");
    // Without pictures it is the same.
    let unseen = Bench::new()?;
    let blind = Gym::open(&unseen, &["--no-screenshots"])?;
    let wanted =
        json!({ "task": "guest-booking", "observe": { "screenshot": { "full_page": true } } });
    let refused = blind.get("/reset", &wanted).unwrap_err().to_string();
    ensure!(refused.contains("takes no screenshots"), "{refused}");
    let last = play(&blind)?;
    blind.end(&unseen)?;
    ensure!(last["observation"].get("screenshot") == Some(&Value::Null), "{last}");
    ensure!(last["info"]["result"]["fingerprint"] == first["info"]["result"]["fingerprint"]);
    // A program that does the same has the same fingerprint.
    let (address, _) = agent()?;
    let (agent, other) = (format!("http://{address}/agent?who=guest"), bench.path("other"));
    bench.succeed(&[
        "run",
        "tasks/demo",
        "--task=guest-booking",
        "--agent",
        &agent,
        "--output",
        other.as_str(),
    ])?;
    let other: Value =
        serde_json::from_str(&bench.succeed(&["report", other.as_str(), "--json"])?)?;
    ensure!(summary["fingerprints"][0] == other["fingerprints"][0], "{summary:#}\n{other:#}");
    Ok(())
}

#[test]
fn a_client_that_goes_away_leaves_its_place() -> Result<()> {
    let bench = Bench::new()?;
    let gym = Gym::open(&bench, &["--wait=60", "--idle-timeout=5"])?;
    let reset_request = gym.ask("/reset", &json!({ "task": "guest-booking" }))?;
    let begun = Instant::now();
    // Before it has a session, nothing has begun that would count.
    while !bench.path("out/episodes/.guest-booking-1").exists() {
        ensure!(begun.elapsed() < PATIENCE, "the episode does not begin");
    }
    drop(reset_request);
    let last = play(&gym)?;
    ensure!(last["reward"] == 1.0, "{}", last["info"]);
    let end = gym.end(&bench)?;
    ensure!(end["episodes"] == 2 && end["errors"] == 0, "{end}");
    let record = std::fs::read_to_string(bench.path("out/episodes/guest-booking-1/episode.json"))?;
    // Whether its first observation was on its way already is a matter of luck.
    ensure!(record.contains("it disconnected") || record.contains("it sent none"), "{record}");
    Ok(())
}

#[test]
fn a_gym_that_is_interrupted_leaves_nothing_and_wrong_use_is_told() -> Result<()> {
    let bench = Bench::new()?;
    let gym = Gym::open(&bench, &[])?;
    let session = gym.get("/reset", &json!({ "task": "quiet-coach" }))?["session"].clone();
    let (status, answer) = gym.post("/step", &json!({ "session": session }))?;
    ensure!(status == 400 && answer["error"].to_string().contains("action"), "{answer}");
    let taken = gym.address.to_string();
    let output = bench.run(&[
        "gym",
        "tasks/demo",
        "--listen",
        &taken,
        "--output",
        bench.path("no").as_str(),
    ])?;
    ensure!(output.status.code() == Some(3) && text(&output.stderr).contains(&taken), "{output:?}");
    ensure!(!bench.path("no").exists(), "no run is begun that nobody can reach");
    ensure!(gym.end(&bench)? == json!({ "run": null, "episodes": 0 }));
    ensure!(!bench.path("out").exists(), "an episode that was put down never was");
    let output = bench.run(&["gym", "tasks/demo", "--task", "nonesuch"])?;
    ensure!(
        output.status.code() == Some(2) && text(&output.stderr).contains("nonesuch"),
        "{output:?}"
    );
    Ok(())
}

#[test]
fn clients_in_plain_python_play_tasks_of_the_demo_suite() -> Result<()> {
    let bench = Bench::new()?;
    let mut command: Command =
        bench.command_of("python3", &["-B", "-m", "unittest", "discover", "clients/python"]);
    let output = command
        .env("SANDBOX_BIN", env!("CARGO_BIN_EXE_sandbox"))
        .current_dir(repository())
        .output()?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    ensure!(text(&output.stderr).contains("\nOK\n"), "tests were found: {}", text(&output.stderr));
    Ok(())
}
