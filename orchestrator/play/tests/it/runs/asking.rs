//! Runs whose agent asks a model, and whose judge is one: who is named, what is counted, what ends
//! a run.

use std::sync::Arc;

use fake_model::{ModelRequest, Reply, Server};
use llm_client::{Cassette, Client, Model, Price, Settings};
use serde_json::json;

use super::*;

fn model(
    name: &str,
    server: &Server,
    cassette: Option<Arc<Cassette>>,
) -> Result<Model, llm_client::Error> {
    let client = Client::new(&Settings::to(server.base_url()))?;
    let price = Some(Price { prompt: 1.0, completion: 1_000_000.0, cached: None });
    Ok(Model {
        name: Some(name.to_owned()),
        cassette,
        client: Some(client),
        price,
        ..Model::default()
    })
}

/// Plays the suite of three tasks with an agent that asks this model.
async fn played(
    model: &Model,
    options: &Options,
    suite: &Suite,
) -> Result<Summary, Box<dyn std::error::Error>> {
    let mut kind: AgentSpec = "generic".parse()?;
    kind.connect(&mut |_| Ok::<_, std::convert::Infallible>(model.clone()))?;
    let mood = Mood::default();
    let bring_up = move |_| Fake::bring_up(mood.clone());
    let interrupt = CancellationToken::new();
    Ok(play::run_in(
        HostFacts::default(),
        bring_up,
        suite,
        &kind,
        options,
        interrupt,
        play::silent(),
    )
    .await?)
}

fn answers(_: &ModelRequest) -> Reply {
    Reply::Says("<action>send_msg_to_user('oak')</action>".to_owned())
}

/// The suite with a judge for every task.
fn judged() -> Result<Suite, Box<dyn std::error::Error>> {
    let mut suite = suite()?;
    for task in &mut suite.tasks {
        task.scorer = serde_json::from_value(json!({ "webarena": {
            "eval_types": ["string_match"], "reference_answers": { "fuzzy_match": ["oak wood"] },
        } }))?;
    }
    Ok(suite)
}

#[tokio::test]
async fn models_and_judges_are_named_also_where_a_cassette_answers() -> Tested {
    let (temporary, out) = folder()?;
    let path = camino::Utf8PathBuf::try_from(temporary.path().join("c.jsonl"))?;
    let suite = judged()?;
    {
        let agent = Server::start(answers)?;
        let judge = Server::start(|_| Reply::Says("correct".to_owned()))?;
        let cassette = Some(Arc::new(Cassette::record(&path)?));
        let judge = model("judge-1", &judge, cassette.clone())?;
        let options = Options { judge, ..into(&out) };
        played(&model("agent-1", &agent, cassette)?, &options, &suite).await?;
    }
    let again = out.with_file_name("again");
    let offline = Model { cassette: Some(Arc::new(Cassette::open(&path)?)), ..Model::default() };
    let options = Options { judge: offline.clone(), ..into(&again) };
    played(&offline, &options, &suite).await?;
    for run in [&out, &again] {
        let summary = Summary::read(run)?;
        assert_eq!((summary.passed, summary.errors), (3, 0), "{summary}");
        let table = summary.table(500);
        assert!(
            table.contains("agent-1: 3 calls") && table.contains("judge-1: 3 calls"),
            "{table}"
        );
        let html = std::fs::read_to_string(results::report::write(run)?)?;
        assert!(html.contains("agent-1: 3 calls") && html.contains("judge-1: 3 calls"));
        let trace = std::fs::read_to_string(results::viewer::write_episode(run, "bike.one")?)?;
        assert!(trace.contains("<b>agent-1</b>") && trace.contains("RootWebArea"), "{trace}");
        let csv = run.join("table.csv");
        results::export::table(run, &csv, results::export::Format::Csv, false)?;
        let csv = std::fs::read_to_string(csv)?;
        assert!(csv.contains("agent-1") && csv.contains("judge-1"), "{csv}");
        let calls = RunFolder::open(run)?
            .episode(&EpisodeId { task: "bike.one".to_owned(), repeat: 1 })
            .calls()?;
        assert_eq!(calls[0].call.model.as_deref(), Some("agent-1"));
    }
    let compared = pair(&out, &again)?.to_string();
    assert!(compared.contains("generic with agent-1, judged by judge-1 in"), "{compared}");
    assert!(compare(&out, &again)?.is_same());
    Ok(())
}

#[tokio::test]
async fn a_reply_that_was_cut_is_told_and_counted() -> Tested {
    let (_temporary, out) = folder()?;
    let server = Server::start(|_| {
        Reply::choice(json!({ "message": { "content": "click [1" }, "finish_reason": "length" }))
    })?;
    let mut kind: AgentSpec = "direct".parse()?;
    let model = model("agent-1", &server, None)?;
    kind.connect(&mut |_| Ok::<_, std::convert::Infallible>(model.clone()))?;
    let bring_up = move |_| Fake::bring_up(Mood::default());
    let options = Options { limit: Some(1), max_steps: Some(2), ..into(&out) };
    let suite = suite()?;
    let interrupt = CancellationToken::new();
    play::run_in(
        HostFacts::default(),
        bring_up,
        &suite,
        &kind,
        &options,
        interrupt,
        play::silent(),
    )
    .await?;
    let folder = RunFolder::open(&out)?;
    let id = EpisodeId { task: "bike.one".to_owned(), repeat: 1 };
    let steps = folder.episode(&id).steps()?;
    let error = steps[0].error.clone().unwrap_or_default();
    assert!(error.starts_with("the reply was cut"), "{error}");
    let summary = Summary::read(&out)?;
    assert_eq!((summary.planned, summary.steps), (1, 2), "--limit and --max-steps");
    assert_eq!(summary.models.as_ref().map(|spent| (spent.calls, spent.cut)), Some((2, 2)));
    assert!(summary.table(500).contains("2 cut at the most tokens"), "{summary}");
    Ok(())
}

#[tokio::test]
async fn a_judge_that_fails_is_a_failure_with_its_reason() -> Tested {
    let (_temporary, out) = folder()?;
    let agent = Server::start(answers)?;
    let judge = Server::start(|_| Reply::Fails(401))?;
    let options = Options { judge: model("judge-1", &judge, None)?, ..into(&out) };
    let summary = played(&model("agent-1", &agent, None)?, &options, &judged()?).await?;
    assert_eq!((summary.judge_failures, summary.unjudged, summary.errors), (3, 3, 0));
    let table = summary.table(500);
    assert!(table.contains("the judge failed") && table.contains("status 401"), "{table}");
    // Where nobody is named it waits for somebody.
    let out = out.with_file_name("waits");
    let summary = played(&model("agent-1", &agent, None)?, &into(&out), &judged()?).await?;
    assert_eq!((summary.judge_failures, summary.unjudged), (0, 3));
    assert!(summary.to_string().contains("waits for a judge"), "{summary}");
    Ok(())
}

#[tokio::test]
async fn no_episode_begins_once_it_costs_too_much() -> Tested {
    let (_temporary, out) = folder()?;
    let server = Server::start(answers)?;
    // A word is a dollar, and a reply has one.
    let options = Options { max_cost: Some(1.5), ..into(&out) };
    let model = model("agent-1", &server, None)?;
    let summary = played(&model, &options, &suite()?).await?;
    assert_eq!((summary.episodes, summary.planned), (2, 3), "{summary}");
    // What was spent before counts, too.
    let more = Options { resume: true, ..options };
    assert_eq!(played(&model, &more, &suite()?).await?.episodes, 2);
    assert_eq!(server.requests().len(), 2);
    Ok(())
}

#[test]
fn results_of_older_versions_are_read() -> Tested {
    let call = json!({
        "step": 1, "prompt": "cot", "model": null, "digest": "d", "recorded": true,
        "usage": { "prompt_tokens": 3, "completion_tokens": 1 }, "took_ms": 1,
        "chat": { "messages": [] }, "reply": "click [1]",
    });
    let read: results::StepCall = serde_json::from_value(call.clone())?;
    assert_eq!(serde_json::to_value(&read)?, call, "and written as they were");
    let spent = json!({ "calls": 2, "recorded": 0, "prompt_tokens": 3, "completion_tokens": 1 });
    let read: results::ModelUsage = serde_json::from_value(spent.clone())?;
    assert_eq!(serde_json::to_value(&read)?, spent);
    Ok(())
}
