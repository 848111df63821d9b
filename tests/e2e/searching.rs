//! Search engines offline: nobody recorded what agents search for, so it is searched for in the
//! recorded pages.

use std::fs;

use anyhow::{Result, ensure};
use camino::Utf8PathBuf;
use fake_model::{ModelRequest, Reply, Server, walker};
use serde_json::{Value, json};

use crate::harness::{Bench, repository, text};

const QUERY: &str = "https://www.google.com/search?q=Carrow+Junction+departures+cancelled";

/// AssistantBench's file with a question about the demo web, as a newcomer imports it.
fn import(bench: &Bench) -> Result<String> {
    let (file, suite) = (bench.path("questions.jsonl"), bench.path("suite"));
    let question = json!({
        "id": "train", "set": "dev", "task": "At what time does train RE 401 leave Carrow Junction?", "answer": "08:12", "difficulty": "Medium",
    });
    fs::write(&file, format!("{question}\n"))?;
    let snapshot = repository().join("snapshots/demo.wacz");
    bench.succeed(&[
        "tasks",
        "import",
        "assistantbench",
        file.as_str(),
        "--snapshot",
        snapshot.as_str(),
        "--clock=2026-03-12T08:30:00Z",
        "--output",
        suite.as_str(),
    ])?;
    Ok(suite.into_string())
}

/// Searches. As `retrieval` it then answers with the time that the first result has behind the
/// arrival there; as SeePlanAct it looks at what was found and answers from memory, which is wrong.
fn searcher(request: &ModelRequest) -> Reply {
    let (words, last) = (request.words(), request.last());
    if words.contains("\"Search:\"") {
        let times = last.split("Carrow Junction ").nth(1);
        return Reply::Says(match times.and_then(|times| times.split_whitespace().nth(1)) {
            Some(leaves) => format!("The results say so.\nAnswer: {leaves}"),
            None => "I have to look it up.\nSearch: RE 401 train".to_owned(),
        });
    }
    if words.contains("the uppercase letter of your choice")
        && words.contains("Actions so far:\nnone")
    {
        return Reply::Says("ELEMENT: None\nACTION: SEARCH\nVALUE: RE 401 train".to_owned());
    }
    walker::script(request)
}

#[test]
fn questions_of_assistantbench_are_looked_up_in_a_recording() -> Result<()> {
    let bench = Bench::new()?;
    let suite = import(&bench)?;
    for (agent, score) in [("retrieval", 1.0), ("see-plan-act->closed-book", 0.0)] {
        let run = |name: &str, server: Option<&Server>| -> Result<Value> {
            let (out, cassette) =
                (bench.path(&format!("{name}-{}", agent.len())), bench.path("cassette.jsonl"));
            let mut command = bench.command(&[
                "run",
                &suite,
                "--agent",
                agent,
                "--json",
                "--check",
                "--output",
                out.as_str(),
            ]);
            command.args(["--cassette", cassette.as_str()]).env_remove("OPENAI_API_KEY");
            match server {
                Some(server) => {
                    command.arg("--model=fake-1").env("OPENAI_BASE_URL", server.base_url())
                }
                None => command.arg("--offline").env_remove("OPENAI_BASE_URL"),
            };
            let output = command.output()?;
            ensure!(output.status.success(), "{agent}: {}", crate::harness::text(&output.stderr));
            Ok(serde_json::from_slice(&output.stdout)?)
        };
        let live = run("live", Some(&Server::start(searcher)?))?;
        ensure!(
            live["requests"]["search"].as_u64() >= Some(1) && live["score"] == score,
            "{agent}: {live:#}"
        );
        ensure!(
            live["requests"]["miss"] == 0 && live["requests"]["refused"] == 0,
            "{agent}: {live:#}"
        );
        let again = run("again", None)?;
        ensure!(again["fingerprints"] == live["fingerprints"], "{agent}: {again:#}");
    }
    Ok(())
}

/// An empty folder for a suite.
fn suite_folder(bench: &Bench) -> Result<Utf8PathBuf> {
    let suite = bench.path("suite");
    fs::create_dir_all(&suite)?;
    Ok(suite)
}

/// A suite's file with the demo web as its world, and more keys of the world.
fn world(more: &str) -> String {
    let snapshot = repository().join("snapshots/demo.wacz");
    format!("world:\n  snapshots: [{snapshot}]\n  clock: 2026-03-12T08:30:00Z\n{more}")
}

#[test]
fn a_person_finds_the_page_by_the_engines_form_twice_in_the_same_way() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite_folder(&bench)?;
    fs::write(suite.join("suite.yaml"), world(""))?;
    fs::write(
        suite.join("train.yaml"),
        "id: train\ngoal: Which train from Carrow Junction is cancelled today?\nstart_url: https://www.google.com/\nscorer:\n  mind2web_live:\n    \
         nodes:\n    - url_included_match: {reference: Carrow, key: q}\n    - url_included_match: {reference: www.aldria-rail.test/stations/car/live}\noracle:\n\
         - press: {role: searchbox, name: Search, keys: x}\n- fill: {role: searchbox, name: Search, value: Carrow Junction departures}\n\
         - press: {role: searchbox, name: Search, keys: Enter}\n- click: {role: link, name: Carrow Junction live · Aldria Rail}\n- answer: RE 408\n",
    )?;
    let out = bench.path("found");
    let suite = suite.as_str();
    let arguments = [
        "run",
        suite,
        "--agent=oracle",
        "--repeat=2",
        "--workers=2",
        "--json",
        "--output",
        out.as_str(),
    ];
    let summary: Value = serde_json::from_slice(&bench.run(&arguments)?.stdout)?;
    ensure!(summary["score"] == 1.0 && summary["deterministic"] == true, "{summary:#}");
    ensure!(summary["requests"]["search"] == 4 && summary["requests"]["miss"] == 0, "{summary:#}");
    // A world may be without: then the engine is as far outside of it as any other host.
    fs::write(bench.path("suite/suite.yaml"), world("  search_pages: false\n"))?;
    let without = bench.run(&["run", suite, "--agent=oracle"])?;
    let said = text(&without.stderr);
    ensure!(without.status.code() == Some(2) && said.contains("https://www.google.com/"), "{said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn any_client_of_a_replay_may_search() -> Result<()> {
    let bench = Bench::new()?;
    let snapshot = repository().join("snapshots/demo.wacz");
    let replay = bench.proxy(&["replay", snapshot.as_str(), "--announce"])?;
    let page = replay.client()?.get(QUERY).await?;
    ensure!(page.status() == 200 && page.headers()["sandbox-answer"] == "search", "{page:?}");
    let said = replay.end()?;
    ensure!(said.contains("answered: 1 search"), "{said}");
    let without = bench.proxy(&["replay", snapshot.as_str(), "--no-search"])?;
    ensure!(without.client()?.get(QUERY).await?.status() == 404);
    without.end()?;

    let found = bench.succeed(&[
        "snapshot",
        "search",
        "quiet coach on RE 401",
        snapshot.as_str(),
        "--first=1",
        "--json",
    ])?;
    let found: Value = serde_json::from_str(&found)?;
    ensure!(found["found"][0]["url"] == "https://www.aldria-rail.test/trains/re-401", "{found:#}");
    ensure!(
        found["found"][0]["rank"] == 1 && found["query"] == "quiet coach on RE 401",
        "{found:#}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_search_by_the_apis_that_they_know() -> Result<()> {
    let bench = Bench::new()?;
    let snapshot = repository().join("snapshots/demo.wacz");
    let replay = bench.proxy(&["replay", snapshot.as_str(), "--announce"])?;
    let client = replay.client()?;
    let words = "quiet+coach+on+RE+401";
    for (url, list, link) in [
        ("https://www.google.com/search?format=json&q=", "/results", "/url"),
        ("https://www.googleapis.com/customsearch/v1?key=k&cx=c&num=3&q=", "/items", "/link"),
        ("https://api.search.brave.com/res/v1/web/search?count=3&q=", "/web/results", "/url"),
    ] {
        let url = format!("{url}{words}");
        let (first, again) = (client.get(&url).await?, client.get(&url).await?);
        ensure!(
            first.status() == 200 && first.headers()["sandbox-answer"] == "search",
            "{first:?}"
        );
        ensure!(first.body() == again.body(), "{first:?}");
        let found: Value = serde_json::from_slice(first.body())?;
        let best = found.pointer(&format!("{list}/0{link}"));
        ensure!(best == Some(&json!("https://www.aldria-rail.test/trains/re-401")), "{found:#}");
    }
    replay.end()?;
    Ok(())
}

/// A search of the cinema guide that nobody recorded.
#[test]
fn a_sites_own_search_is_answered_where_a_suite_asks_for_it() -> Result<()> {
    let bench = Bench::new()?;
    let suite = suite_folder(&bench)?;
    fs::write(
        suite.join("film.yaml"),
        "id: film\ngoal: Which film has salt in its name?\nstart_url: https://www.cityscreen.test/\nscorer:\n  \
         assistantbench: {gold: The Salt Road}\noracle:\n\
         - fill: {role: searchbox, name: Search films, value: salt road lantern orrery}\n\
         - click: {role: button, name: Search}\n\
         - click: {role: link, name: The Salt Road · Cityscreen}\n- answer: The Salt Road\n",
    )?;
    let run = |name: &str, world: String| -> Result<Value> {
        fs::write(suite.join("suite.yaml"), world)?;
        let out = bench.path(name);
        let arguments = [
            "run",
            suite.as_str(),
            "--agent=oracle",
            "--repeat=2",
            "--json",
            "--output",
            out.as_str(),
        ];
        Ok(serde_json::from_slice(&bench.run(&arguments)?.stdout)?)
    };
    for (name, wanted) in
        [("forms", "true"), ("listed", "[\"https://www.cityscreen.test/search?q={}\"]")]
    {
        let summary = run(name, world(&format!("  site_search: {wanted}\n")))?;
        ensure!(
            summary["score"] == 1.0 && summary["deterministic"] == true,
            "{wanted}: {summary:#}"
        );
        ensure!(
            summary["requests"]["search"] == 2 && summary["requests"]["miss"] == 0,
            "{summary:#}"
        );
    }
    let without = run("without", world(""))?;
    ensure!(without["score"] == 0.0 && without["requests"]["search"] == 0, "{without:#}");
    ensure!(without["requests"]["miss"].as_u64() >= Some(2), "{without:#}");
    Ok(())
}
