//! Agents that cannot play: their model fails, its key is wrong, or they are asked for wrongly.

use std::fs;

use anyhow::{Result, ensure};
use fake_model::{ModelRequest, Reply, Server, walker};
use serde_json::{Value, json};

use crate::agents::suite;
use crate::harness::{Bench, text};
use crate::messages::matches;

#[test]
fn a_model_that_fails_costs_the_episode_and_is_counted() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite(&bench)?;
    let server = Server::start(|request: &ModelRequest| match request.number {
        0 => Reply::Says("OK".to_owned()),
        1 => Reply::Fails(401),
        _ => Reply::Hangs,
    })?;
    let out = bench.path("out");
    let mut command = bench.command(&[
        "run",
        &suite,
        "--agent=direct",
        "--model=fake-1",
        "--task=webarena",
        "--task=own",
        "--answer-timeout=2",
        "--check",
        "--output",
        out.as_str(),
    ]);
    command.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "secret-key");
    let output = command.output()?;
    ensure!(output.status.code() == Some(1), "{}", text(&output.stderr));
    let errors: Vec<String> = ["own", "webarena"]
        .iter()
        .map(|task| Ok(fs::read_to_string(out.join(format!("episodes/{task}-1/episode.json")))?))
        .collect::<Result<_>>()?;
    ensure!(errors[0].contains("status 401") || errors[1].contains("status 401"), "{errors:?}");
    ensure!(errors.iter().any(|error| error.contains("within 2 s")), "{errors:?}");
    ensure!(!errors.concat().contains("secret-key"));

    // Stopped at the first error; what was played is kept, and can be attempted again with another
    // model.
    let refusing = Server::start(|request| {
        if request.number == 0 { Reply::Says("OK".to_owned()) } else { Reply::Fails(401) }
    })?;
    let out = bench.path("fast");
    let start = ["run", &suite, "--agent=direct", "--model=fake-1", "--output", out.as_str()];
    let asking = |server: &Server, more: &[&str]| -> Result<(Option<i32>, String)> {
        let mut command = bench.command(&[&start, more].concat());
        command.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "secret-key");
        let output = command.output()?;
        Ok((output.status.code(), text(&output.stderr)))
    };
    let (code, said) = asking(&refusing, &["--fail-fast"])?;
    ensure!(code == Some(1) && said.contains("1 error, 1 of 6 episodes"), "{said}");
    ensure!(refusing.requests().len() == 2);
    let walking = Server::start(walker::script)?;
    let (code, said) = asking(&walking, &["--resume", "--retry-errors", "--check"])?;
    ensure!(code == Some(0), "{said}");
    Ok(())
}

#[test]
fn a_wrong_key_is_told_before_anything_runs() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite(&bench)?;
    let server =
        Server::start(|_| Reply::json(401, json!({ "error": { "message": "no such key" } })))?;
    let (out, mine) = (bench.path("out"), bench.path("mine.yaml"));
    fs::write(
        &mine,
        format!("base_url: {}\nkey_variable: MY_KEY\nname: fake-1\n", server.base_url()),
    )?;
    let settings = ["--model-settings", mine.as_str()];
    let start = ["run", &suite, "--agent=direct", "--output", out.as_str()];
    let run = |more: &[&str]| {
        let mut command = bench.command(&[&start[..], &settings, more].concat());
        command
            .env_remove("OPENAI_BASE_URL")
            .env_remove("OPENAI_API_KEY")
            .env("MY_KEY", "secret-key");
        command.output()
    };
    let output = run(&[])?;
    let said = text(&output.stderr);
    ensure!(
        output.status.code() == Some(3) && said.contains("no such key"),
        "{} {said}",
        output.status
    );
    ensure!(
        !out.exists() && server.requests().len() == 1 && !said.contains("secret-key"),
        "{said}"
    );
    ensure!(server.requests()[0].key.as_deref() == Some("secret-key"));
    let output = run(&["--no-preflight", "--limit=1", "--max-steps=1"])?;
    ensure!(
        output.status.code() == Some(1) && out.join("run.json").is_file(),
        "{}",
        text(&output.stderr)
    );
    let record = fs::read_to_string(out.join("run.json"))?;
    ensure!(!record.contains("secret-key") && record.matches("\"goal\"").count() == 1, "{record}");
    let output = run(&["--max-cost=1"])?;
    ensure!(output.status.code() == Some(2) && text(&output.stderr).contains("`price`"));
    Ok(())
}

#[test]
fn a_prompt_with_a_typo_is_named() -> Result<()> {
    let bench = Bench::new()?;
    ensure!(bench.succeed(&["agents", "list"])?.contains("see-plan-act"));
    let folder = bench.path("mine");
    bench.succeed(&["agents", "copy", "react-golden", "-o", folder.as_str()])?;
    let (settings, prompt) = (folder.join("react-golden.yaml"), folder.join("prompts/react.jinja"));
    fs::write(&prompt, fs::read_to_string(&prompt)?.replace("{{ goal }}", "{{ gaol }}"))?;
    let server = Server::start(walker::script)?;
    let out = bench.path("typo");
    let arguments = [
        "run",
        "tasks/demo",
        "--agent",
        settings.as_str(),
        "--model=m",
        "--task=quiet-coach",
        "--check",
        "--output",
        out.as_str(),
    ];
    let mut command = bench.command(&arguments);
    let output = command.env("OPENAI_BASE_URL", server.base_url()).output()?;
    ensure!(output.status.code() == Some(1), "{}", text(&output.stderr));
    let record = fs::read_to_string(out.join("episodes/quiet-coach-1/episode.json"))?;
    let record: Value = serde_json::from_str(&record)?;
    let message = record["outcome"]["message"].as_str().unwrap_or_default();
    matches("a_prompt_with_a_typo", &bench, message);
    Ok(())
}
