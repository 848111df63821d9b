//! Scores that wait for a judge: a model behind a server, what it said kept in a cassette, and
//! neither.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::{fs, thread};

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::harness::{Bench, text};

/// A model server that finds every answer correct that says `oak`. Gives its address and counts
/// what it is asked.
fn model() -> Result<(String, Arc<AtomicUsize>)> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}/v1", listener.local_addr()?);
    let requests = Arc::new(AtomicUsize::new(0));
    let count = requests.clone();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            count.fetch_add(1, Ordering::SeqCst);
            let _ = answer(stream);
        }
    });
    Ok((address, requests))
}

fn answer(mut stream: std::net::TcpStream) -> Result<()> {
    let mut reader = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse()?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let chat: Value = serde_json::from_slice(&body)?;
    let prompt = chat["messages"][0]["content"].as_str().context("a text")?;
    let said = if prompt.contains("Answer: it is oak") { "Correct." } else { "This is incorrect." };
    let reply =
        json!({ "choices": [{ "message": { "role": "assistant", "content": said } }] }).to_string();
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{reply}",
        reply.len()
    )?;
    Ok(())
}

/// Two tasks whose answers a judge has to compare, answered by their oracles: one right, one wrong.
fn suite(bench: &Bench) -> Result<String> {
    let folder = bench.path("suite");
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("suite.yaml"),
        "world:\n  sites: ../sites\n  clock: 2026-03-12T08:30:00Z\n",
    )?;
    std::os::unix::fs::symlink(crate::harness::repository().join("sites"), bench.path("sites"))?;
    for (id, answer) in [("oak", "It is oak"), ("elm", "It is elm")] {
        let task = format!(
            "id: {id}\ngoal: What is the table made of?\nstart_url: https://desk.test/\nsites: [desk]\ntags: [{id}]\n\
             scorer:\n  webarena:\n    eval_types: [string_match]\n    reference_answers: {{fuzzy_match: [oak wood]}}\n\
             oracle:\n- answer: {answer}\n"
        );
        fs::write(folder.join(format!("{id}.yaml")), task)?;
    }
    Ok(folder.into_string())
}

struct Judged {
    summary: Value,
    stderr: String,
    code: Option<i32>,
}

fn run(
    bench: &Bench,
    suite: &str,
    options: &[&str],
    environment: &[(&str, &str)],
) -> Result<Judged> {
    let out = tempfile::Builder::new().prefix("run-").tempdir_in(bench.path(""))?;
    let out = out.path().join("out");
    let mut arguments =
        vec!["run", suite, "--agent=oracle", "--json", "--output", out.to_str().context("UTF-8")?];
    arguments.extend(options);
    command(bench, &arguments, environment)
}

fn command(bench: &Bench, arguments: &[&str], environment: &[(&str, &str)]) -> Result<Judged> {
    let mut command = bench.command(arguments);
    command
        .env_remove("OPENAI_API_KEY")
        .env_remove("OPENAI_BASE_URL")
        .envs(environment.iter().copied());
    let output = command.output()?;
    let summary = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    Ok(Judged { summary, stderr: text(&output.stderr), code: output.status.code() })
}

#[test]
fn what_no_judge_has_ruled_on_is_neither_0_nor_1() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite(&bench)?;
    let cassette = bench.path("verdicts.jsonl");

    let kept_run = bench.path("unjudged");
    let arguments = ["run", &suite, "--agent=oracle", "--json", "--output", kept_run.as_str()];
    let nobody = command(&bench, &arguments, &[])?;
    ensure!(nobody.code == Some(0), "{}", nobody.stderr);
    let Judged { summary, .. } = nobody;
    ensure!(
        summary["score"].is_null() && summary["unjudged"] == 2 && summary["errors"] == 0,
        "{summary}"
    );
    ensure!(summary["bounds"] == json!([0.0, 1.0]), "{summary}");

    let (address, requests) = model()?;
    let (judge, kept) = ("--judge=fake-4", format!("--cassette={cassette}"));
    let environment = [("OPENAI_BASE_URL", address.as_str()), ("OPENAI_API_KEY", "secret-key")];
    let live = run(&bench, &suite, &[judge, &kept], &environment)?;
    ensure!(
        live.summary["score"] == 0.5 && live.summary["passed"] == 1,
        "{}\n{}",
        live.summary,
        live.stderr
    );
    ensure!(requests.load(Ordering::SeqCst) == 3, "two questions, and a word before them");
    ensure!(
        live.summary["judging"]["calls"] == 2 && live.summary["models"].is_null(),
        "{}",
        live.summary
    );
    ensure!(!fs::read_to_string(&cassette)?.contains("secret-key"));

    // Again, from what was kept: with the model named and without, and nobody is asked.
    for options in [&[judge, &kept, "--offline"] as &[&str], &[&kept]] {
        let again = run(&bench, &suite, options, &environment)?;
        ensure!(again.summary["score"] == 0.5, "{}\n{}", again.summary, again.stderr);
        ensure!(again.summary["fingerprints"] == live.summary["fingerprints"]);
    }
    // And what was played without a judge is judged afterwards.
    let arguments = ["score", "run", kept_run.as_str(), "--suite", &suite, &kept, "--json"];
    let after = command(&bench, &arguments, &[])?;
    ensure!(
        after.summary["score"] == 0.5 && after.summary["unjudged"] == 0,
        "{}\n{}",
        after.summary,
        after.stderr
    );
    ensure!(after.summary["fingerprints"] == live.summary["fingerprints"]);
    ensure!(requests.load(Ordering::SeqCst) == 3, "two questions, and a word before them");

    let without = run(&bench, &suite, &[judge], &[])?;
    ensure!(
        without.code == Some(3) && without.stderr.contains("OPENAI_API_KEY"),
        "{}",
        without.stderr
    );
    let missing = run(&bench, &suite, &["--cassette=/nowhere/at/all"], &[])?;
    ensure!(
        missing.code == Some(2) && missing.stderr.contains("/nowhere/at/all"),
        "{}",
        missing.stderr
    );
    Ok(())
}

#[test]
fn a_judge_that_fails_is_told_with_its_reason_and_exit_code() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite(&bench)?;
    let server = fake_model::Server::start(|request| match request.number {
        0 => fake_model::Reply::Says("OK".to_owned()),
        _ => fake_model::Reply::json(400, json!({ "error": { "message": "the judge is away" } })),
    })?;
    let settings = bench.path("judge.yaml");
    fs::write(
        &settings,
        format!("name: judge-1\nbase_url: {}\nmax_tokens: 77\n", server.base_url()),
    )?;
    let judged = run(&bench, &suite, &["--judge-settings", settings.as_str()], &[])?;
    ensure!(
        judged.code == Some(1) && judged.stderr.contains("the judge is away"),
        "{}",
        judged.stderr
    );
    ensure!(
        judged.summary["judge_failures"] == 2 && judged.summary["errors"] == 0,
        "{}",
        judged.summary
    );
    ensure!(server.requests()[1].body["max_tokens"] == 77, "{}", server.requests()[1].body);
    Ok(())
}
