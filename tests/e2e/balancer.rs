//! `sandbox gym balance`: one address over gyms with real browsers.

use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::gym::{Gym, PATIENCE, play, play_on};
use crate::harness::{Bench, repository, text};

const GYMS: usize = 4;
const PLACES: usize = 2;

/// Gyms with places of their own, each in a bench of its own.
fn gyms() -> Result<Vec<(Bench, Gym)>> {
    let open = |_| {
        let bench = Bench::new()?;
        let key = bench.path("gym.key");
        let gym = Gym::open(&bench, &["--workers", &PLACES.to_string(), "--key", key.as_str()])?;
        Ok((bench, gym))
    };
    (0..GYMS).map(open).collect()
}

fn balancer(bench: &Bench, arguments: &[&str], gyms: &[(Bench, Gym)]) -> Result<Gym> {
    let urls: Vec<String> = gyms.iter().map(|(_, gym)| gym.url()).collect();
    let mut command = bench.command(&["gym", "balance"]);
    command.args(arguments).args(urls);
    Gym::start(command)
}

/// The same work in threads of their own, at once.
fn at_once<I: Send, T: Send>(inputs: Vec<I>, work: impl Fn(I) -> T + Sync) -> Vec<T> {
    let work = &work;
    std::thread::scope(|scope| {
        let threads: Vec<_> =
            inputs.into_iter().map(|input| scope.spawn(move || work(input))).collect();
        threads.into_iter().map(|thread| thread.join().expect("it does not panic")).collect()
    })
}

/// Waits until the measurements have this line.
fn measures(balancer: &Gym, line: &str) -> Result<()> {
    let since = Instant::now();
    loop {
        let text = balancer.read("/metrics")?;
        if text.lines().any(|own| own == line) {
            return Ok(());
        }
        ensure!(since.elapsed() < PATIENCE, "{line}: {text}");
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

#[test]
fn many_gyms_are_one_and_one_that_is_killed_costs_its_own_sessions() -> Result<()> {
    let (mut gyms, bench) = (gyms()?, Bench::new()?);
    let balancer = balancer(&bench, &[], &gyms)?;
    let all = GYMS * PLACES;
    for last in at_once(vec![(); all], |()| play(&balancer)) {
        let last = last?;
        ensure!(last["reward"] == 1.0 && last["terminated"] == true, "{}", last["info"]);
    }
    let direct = play(&gyms[0].1)?;
    for (number, (_, gym)) in gyms.iter().enumerate() {
        let text = gym.read("/metrics")?;
        let resets = PLACES + usize::from(number == 0);
        let line = format!("sandbox_gym_resets_total {resets}");
        ensure!(text.lines().any(|own| own == line), "every gym has its part: {line}: {text}");
    }

    let begin = |()| balancer.get("/reset", &json!({ "task": "guest-booking" }));
    let begun: Vec<Value> = at_once(vec![(); all], begin).into_iter().collect::<Result<_>>()?;
    gyms[0].1.kill()?;
    // A message names no key.
    let killed = format!("the gym at http://{}, ", gyms[0].1.address);
    let ended = at_once(begun.clone(), |begun| play_on(&balancer, begun));
    let mut lost = 0;
    for (begun, ended) in begun.iter().zip(ended) {
        match ended {
            Ok(last) => {
                ensure!(last["reward"] == 1.0, "{}", last["info"]);
                let fingerprint = &last["info"]["result"]["fingerprint"];
                ensure!(*fingerprint == direct["info"]["result"]["fingerprint"], "{fingerprint}");
            }
            Err(error) => {
                let error = format!("{error:#}");
                let session = begun["session"].as_str().context("a session")?;
                ensure!(
                    error.contains(": 502 ") && error.contains(session) && error.contains(&killed),
                    "{error}"
                );
                lost += 1;
            }
        }
    }
    ensure!(lost == PLACES, "{lost} sessions were lost");
    ensure!(play(&balancer)?["reward"] == 1.0, "new sessions go elsewhere");
    measures(&balancer, "sandbox_front_servers{state=\"up\"} 3")?;

    let address = gyms[0].1.address.to_string();
    let again = Bench::new()?;
    let key = again.path("gym.key");
    std::fs::copy(gyms[0].0.path("gym.key"), &key)?;
    let arguments = ["--workers", &PLACES.to_string(), "--listen", &address, "--key", key.as_str()];
    let gym = Gym::open(&again, &arguments)?;
    gyms[0] = (again, gym);
    measures(&balancer, "sandbox_front_servers{state=\"up\"} 4")?;
    let begun: Vec<Value> = at_once(vec![(); all], begin).into_iter().collect::<Result<_>>()?;
    ensure!(gyms[0].1.read("/metrics")?.lines().any(|line| line == "sandbox_gym_sessions_open 2"));
    let ended =
        at_once(begun, |begun| balancer.get("/close", &json!({ "session": begun["session"] })));
    ended.into_iter().collect::<Result<Vec<_>>>()?;
    let totals = balancer.interrupt()?;
    let sessions = 3 * all + 1;
    ensure!(totals == json!({ "sessions": sessions, "lost": PLACES, "unfinished": 0 }), "{totals}");
    Ok(())
}

#[test]
fn a_gym_joins_a_balancer_serves_its_clients_and_leaves() -> Result<()> {
    let (bench, gym_bench) = (Bench::new()?, Bench::new()?);
    let key = bench.path("keys/balancer.key");
    let balancer = balancer(&bench, &["--wait=60", "--key", key.as_str()], &[])?;
    let wrong = bench.path("wrong.key");
    std::fs::copy(&key, &wrong)?;
    std::fs::write(&wrong, "another")?;
    let (url, out) = (balancer.url(), gym_bench.path("out"));
    let join = ["gym", "tasks/demo", "--output", out.as_str(), "--join", &url, "--join-key"];
    let output = gym_bench.run(&[&join[..], &[wrong.as_str()]].concat())?;
    let said = text(&output.stderr);
    ensure!(
        output.status.code() == Some(3) && said.contains("failed to join the balancer"),
        "{output:?}"
    );
    let gym = Gym::open(&gym_bench, &["--join", &url, "--join-key", key.as_str()])?;
    ensure!(play(&balancer)?["reward"] == 1.0);

    let program = "
import sys, sandbox_agents
env = sandbox_agents.SandboxEnv(sys.argv[1], 'guest-booking')
env.reset()
print(env.step(\"send_msg_to_user('no train')\")[1:4])
env.close()
print(env.result['outcome']['kind'])
";
    let mut python = bench.command_of("python3", &["-B", "-c", program, &url]);
    let output = python.env("PYTHONPATH", repository().join("clients/python")).output()?;
    ensure!(text(&output.stdout).starts_with("(0.0, True, False)\nanswered"), "{output:?}");

    let end = gym.end(&gym_bench)?;
    ensure!(end["episodes"] == 2 && end["errors"] == 0, "{end}");
    measures(&balancer, "sandbox_front_servers{state=\"up\"} 0")?;
    let (status, refused) = balancer.post("/tasks", &json!({}))?;
    ensure!(
        status == 503 && refused["error"].to_string().contains("none is registered"),
        "{refused}"
    );
    let output = bench.run(&["gym", "balance", &url])?;
    let said = text(&output.stderr);
    ensure!(output.status.code() == Some(2) && said.contains("it is no gym"), "{output:?}");
    ensure!(balancer.interrupt()? == json!({ "sessions": 2, "lost": 0, "unfinished": 0 }));
    Ok(())
}
