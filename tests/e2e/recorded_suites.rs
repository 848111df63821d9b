//! `sandbox record --suite`: what the tasks of a suite need is recorded, also when the recording is
//! killed, and agents add what is missing.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use camino::{Utf8Path, Utf8PathBuf};
use origin::data::shops::{Obstacle, SHOPS, Shop, Thing};
use serde_json::{Value, json};
use snapshots::{Archive, Body, Exchange, Page, Recording, RecordingOptions, Response, Timestamp};

use crate::harness::{Bench, live_web, origin, text};

/// The shops with this obstacle.
fn shops(obstacle: Obstacle) -> impl Iterator<Item = Shop> {
    (1..SHOPS).map(Shop).filter(move |shop| shop.obstacle() == obstacle)
}

/// A task that searches a shop for a thing, and its solution.
fn task(shop: Shop, thing: &Thing) -> String {
    let (name, host) = (shop.name(), shop.host());
    let banner = match shop.obstacle() {
        Obstacle::Banner => "- click: {role: button, name: Accept all}\n",
        _ => "",
    };
    format!(
        "id: price-{host}-{}
goal: How many crowns does the \"{}\" cost at {name}?
start_url: http://{host}/
scorer: {{equals: '{}'}}
oracle:
{banner}- fill: {{role: searchbox, name: Search {name}, value: {}}}
- press: {{role: searchbox, name: Search {name}, keys: Enter}}
- click: {{role: link, name: {}}}
- answer: '{}'
",
        thing.id, thing.name, thing.price, thing.name, thing.name, thing.price
    )
}

/// A suite with a task for each shop, whose world has one snapshot that does not exist yet.
fn suite(bench: &Bench, shops: &[Shop]) -> Result<Utf8PathBuf> {
    let folder = bench.path("shops");
    fs::create_dir_all(&folder)?;
    fs::write(
        folder.join("suite.yaml"),
        "name: shops\nworld: {snapshots: [shops.wacz], clock: 2026-03-12T08:30:00Z}\n",
    )?;
    for (number, shop) in shops.iter().enumerate() {
        fs::write(folder.join(format!("{number}.yaml")), task(*shop, &shop.thing(7)))?;
    }
    Ok(folder)
}

/// Runs the oracle offline; the summary.
fn play(bench: &Bench, suite: &str) -> Result<Value> {
    let run = bench.path("run");
    let output = bench.run(&[
        "run",
        suite,
        "--agent",
        "oracle",
        "--json",
        "--workers=2",
        "-o",
        run.as_str(),
    ])?;
    fs::remove_dir_all(run)?;
    serde_json::from_slice(&output.stdout).with_context(|| text(&output.stderr))
}

/// The pages of a snapshot.
fn pages(file: &Utf8Path) -> Result<Vec<String>> {
    Ok(Archive::open(file)?.pages().into_iter().map(|page| page.url).collect())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suite_is_recorded_by_its_plan_and_played_without_the_web() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    let shops: Vec<Shop> =
        shops(Obstacle::None).take(2).chain(shops(Obstacle::Banner).take(1)).collect();
    let suite = suite(&bench, &shops)?;
    let plan = bench.path("plan.yaml");
    let said = bench.succeed(&[
        "record",
        "--suite",
        suite.as_str(),
        "--pages=6",
        "--write-plan",
        plan.as_str(),
    ])?;
    ensure!(said.contains("3 tasks, 3 hosts: at most 18 pages"), "{said}");
    ensure!(!suite.join("shops.wacz").exists(), "a plan records nothing");
    // A person adds a page.
    let added = format!("  - url: http://{}/c/music\n  queries:", shops[0].host());
    fs::write(&plan, fs::read_to_string(&plan)?.replacen("  queries:", &added, 1))?;

    let live = live_web(&origin);
    let mut arguments = vec!["-v", "record", "--plan", plan.as_str(), "--delay=0", "--learn"];
    arguments.extend(live.iter().map(String::as_str));
    let output = bench.run(&arguments)?;
    let said = text(&output.stderr);
    ensure!(output.status.success(), "{said}");
    ensure!(said.contains("answered a banner about cookies"), "{said}");
    origin.stop().await;

    let recorded = pages(&suite.join("shops.wacz"))?;
    ensure!(recorded.len() == 18, "{recorded:?}");
    ensure!(recorded.contains(&format!("http://{}/c/music", shops[0].host())), "{recorded:?}");
    // The results of the shop's own search, for what the goal quotes.
    let query = shops[0].thing(7).name.replace(' ', "+");
    ensure!(
        recorded.contains(&format!("http://{}/find?q={query}", shops[0].host())),
        "{recorded:?}"
    );
    let summary = play(&bench, suite.as_str())?;
    ensure!(summary["passed"] == 3 && summary["requests"]["miss"] == 0, "{summary:#}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_recording_of_a_suite_goes_on_where_it_was() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    let shops: Vec<Shop> = shops(Obstacle::None).take(2).collect();
    let suite = suite(&bench, &shops)?;
    let live = live_web(&origin);
    let record = |out: &str, more: &[&str]| {
        let mut arguments =
            vec!["-v", "record", "--suite", suite.as_str(), "--pages=5", "--delay=0", "-o", out];
        arguments.extend(live.iter().map(String::as_str));
        arguments.extend(more);
        bench.command(&arguments)
    };
    let whole = bench.path("whole.wacz");
    let output = record(whole.as_str(), &[]).output()?;
    ensure!(output.status.success(), "{}", text(&output.stderr));

    let killed = bench.path("killed.wacz");
    let mut again: &[&str] = &[];
    for kill_after in [1, 2, 3] {
        let mut child = record(killed.as_str(), again).stderr(Stdio::piped()).spawn()?;
        let log = BufReader::new(child.stderr.take().context("stderr is piped")?);
        let visited =
            log.lines().map_while(Result::ok).filter(|line| line.contains("recorded url="));
        ensure!(visited.take(kill_after).count() == kill_after, "it ended before it was killed");
        child.kill()?;
        child.wait()?;
        again = &["--resume"];
    }
    // Without --resume nothing is lost, and it is said how to go on.
    let refused = record(killed.as_str(), &[]).output()?;
    let said = text(&refused.stderr);
    ensure!(refused.status.code() == Some(2) && said.contains("--resume"), "{said}");
    let output = record(killed.as_str(), &["--resume"]).output()?;
    ensure!(output.status.success(), "{}", text(&output.stderr));
    origin.stop().await;

    let (mut whole, mut resumed) = (pages(&whole)?, pages(&killed)?);
    whole.sort();
    resumed.sort();
    let unique: BTreeSet<&String> = resumed.iter().collect();
    ensure!(
        unique.len() == whole.len() && unique.into_iter().eq(whole.iter()),
        "{resumed:#?}\n{whole:#?}"
    );
    // The page of each kill may be there twice.
    ensure!(resumed.len() <= whole.len() + 3, "{resumed:#?}");
    Ok(())
}

/// It was killed between the last page and the snapshot.
#[test]
fn a_recording_that_lacks_nothing_is_finished() -> Result<()> {
    let bench = Bench::new()?;
    let shops: Vec<Shop> = shops(Obstacle::None).take(1).collect();
    let suite = suite(&bench, &shops)?;
    let (out, url) = (suite.join("shops.wacz"), format!("http://{}/", shops[0].host()));
    let recording = Recording::create(&out, RecordingOptions::default())?;
    let headers = [("Content-Type", "text/html")].into_iter().collect();
    let body = Body::Bytes(b"<title>Shop</title>".to_vec());
    let response = Response { status: 200, reason: "OK".into(), headers, body };
    recording.append(&Exchange::get(&url, Timestamp::now(), response))?;
    recording.append_page(&Page::new(&url, Timestamp::now()))?;
    drop(recording);
    let survey = json!({
        "address": url, "links": [], "searches": [], "wall": null, "has_password": false, "status": 200,
    });
    let line = json!({ "vantage": 0, "url": url, "outcome": { "page": survey } });
    fs::write(Recording::folder_of(&out).join("crawl.jsonl"), format!("{line}\n"))?;
    // Nothing is asked for: there is no web.
    bench.succeed(&[
        "record",
        "--suite",
        suite.as_str(),
        "--resume",
        "--connect-to=::127.0.0.1:1",
    ])?;
    ensure!(pages(&out)? == [url], "{:?}", pages(&out)?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_stands_before_pages_is_named_and_not_recorded() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    let [guarded, limited, closed] = [Obstacle::Guarded, Obstacle::Limited, Obstacle::Closed]
        .map(|obstacle| shops(obstacle).next());
    let shops: Vec<Shop> = [guarded, limited, closed].into_iter().flatten().collect();
    let suite = suite(&bench, &shops)?;
    let live = live_web(&origin);
    let mut arguments = vec!["record", "--suite", suite.as_str(), "--delay=0", "--pages=14"];
    arguments.extend(live.iter().map(String::as_str));
    let output = bench.run(&arguments)?;
    let said = text(&output.stderr);
    ensure!(output.status.success(), "{said}");
    let [guarded, limited, closed] = &shops[..] else { unreachable!() };
    for expected in [
        format!("{}: ", guarded.host()),
        "behind a CAPTCHA and a log-in".to_owned(),
        "to record them by hand\n  sandbox record --manual http://".to_owned(),
        format!("left out: http://{}/account: it is behind a log-in", guarded.host()),
        format!(
            "left out: http://{}/c/kitchen: robots.txt asks crawlers to stay away",
            closed.host()
        ),
        "might have changed something at third parties".to_owned(),
    ] {
        ensure!(said.contains(&expected), "{expected}\n{said}");
    }
    origin.stop().await;

    let file = suite.join("shops.wacz");
    let recorded = pages(&file)?;
    let things = |shop: &Shop| {
        recorded.iter().filter(|url| url.contains(&format!("{}/i/", shop.host()))).count()
    };
    ensure!(things(guarded) == 0 && things(closed) == 0 && things(limited) > 3, "{recorded:#?}");
    let folder = bench.path("bodies");
    bench.succeed(&["snapshot", "export", file.as_str(), "-o", folder.as_str()])?;
    for wrong in ["Are you human?", "Too many requests", "type=password"] {
        let found =
            std::process::Command::new("grep").args(["-rl", wrong, folder.as_str()]).output()?;
        ensure!(found.stdout.is_empty(), "{wrong} is in {}", text(&found.stdout));
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_fill_in_what_the_crawl_has_left_out() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    let shops: Vec<Shop> = shops(Obstacle::None).take(2).collect();
    let suite = suite(&bench, &shops)?;
    let live = live_web(&origin);
    let record = |more: &[&str]| {
        let mut arguments = vec!["record", "--suite", suite.as_str(), "--depth=0", "--delay=0"];
        arguments.extend(live.iter().map(String::as_str));
        arguments.extend(more);
        bench.succeed(&arguments)
    };
    record(&[])?;
    let coverage = || -> Result<Value> {
        let said =
            bench.succeed(&["snapshot", "coverage", suite.as_str(), "--json", "--at-least=1"])?;
        Ok(serde_json::from_str(&said)?)
    };
    let covered = coverage()?;
    ensure!(covered["seeds"] == 1.0 && covered["one_step"]["recorded"] == 0, "{covered:#}");
    let kept = bench.path("before");
    let played = ["run", suite.as_str(), "--agent", "oracle", "--json", "-o", kept.as_str()];
    let before: Value = serde_json::from_slice(&bench.run(&played)?.stdout)?;
    ensure!(before["passed"] == 0 && before["requests"]["miss"] != 0, "{before:#}");
    let missed = ["snapshot", "coverage", suite.as_str(), "--run", kept.as_str()];
    let said = bench.succeed(&missed)?;
    let command = format!("sandbox record --suite {suite} --agent oracle\n");
    for expected in [
        "requests missed, score 0.00",
        "  differs:  path: /find (recorded: /)",
        "in 2 of 2 episodes",
        "score            0.00; 0.00 to 1.00 if episodes with misses had failed or passed",
        &command,
    ] {
        ensure!(said.contains(expected), "{expected}\n{said}");
    }
    let said: Value = serde_json::from_str(&bench.succeed(&[&missed[..], &["--json"]].concat())?)?;
    ensure!(
        said["run"]["misses"] == before["requests"]["miss"] && said["run"]["bounds"]["high"] == 1.0,
        "{said:#}"
    );
    let other = bench.run(&["snapshot", "coverage", suite.as_str(), "--run", suite.as_str()])?;
    ensure!(other.status.code() == Some(2), "{}", text(&other.stderr));
    let said = record(&["--agent=oracle", "--", "--workers=2"])?;
    ensure!(said.contains("round 1: 2 episodes, 2 passed; "), "{said}");
    ensure!(said.contains("round 2: 2 episodes, 2 passed; 0 missing responses fetched"), "{said}");
    origin.stop().await;
    let after = play(&bench, suite.as_str())?;
    ensure!(after["passed"] == 2 && after["requests"]["miss"] == 0, "{after:#}");
    let covered = coverage()?;
    ensure!(covered["two_steps"]["links"] == 0, "the searches are no links: {covered:#}");
    // A page that a task names and nobody has recorded.
    let first = fs::read_to_string(suite.join("0.yaml"))?;
    fs::write(
        suite.join("0.yaml"),
        first.replace("scorer:", "seed_urls: [http://amber-arch.test/c/garden]\nscorer:"),
    )?;
    let lacking = bench.run(&["snapshot", "coverage", suite.as_str(), "--at-least=0.9"])?;
    let said = text(&lacking.stdout);
    ensure!(lacking.status.code() == Some(1), "{said}");
    ensure!(
        said.contains("not recorded: http://amber-arch.test/c/garden") && said.contains("75.0 %"),
        "{said}"
    );
    let left: BTreeSet<_> =
        fs::read_dir(&suite)?.filter_map(Result::ok).map(|entry| entry.file_name()).collect();
    let expected = ["0.yaml", "1.yaml", "shops.rounds", "shops.wacz", "suite.yaml"].map(Into::into);
    ensure!(left == BTreeSet::from(expected), "{left:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn recordings_of_a_suite_are_kept_by_date_and_not_mixed() -> Result<()> {
    let bench = Bench::new()?;
    let origin = origin().await?;
    let shops: Vec<Shop> = shops(Obstacle::None).take(1).collect();
    let suite = suite(&bench, &shops)?;
    fs::write(
        suite.join("suite.yaml"),
        "name: shops\nworld: {snapshots: ['shops-{date}.wacz']}\n",
    )?;
    let unrecorded = bench.run(&["run", suite.as_str(), "--agent", "noop"])?;
    ensure!(unrecorded.status.code() == Some(2), "{}", text(&unrecorded.stderr));
    let live = live_web(&origin);
    let mut arguments = vec!["record", "--suite", suite.as_str(), "--pages=3", "--delay=0"];
    arguments.extend(live.iter().map(String::as_str));
    let said = bench.succeed(&arguments)?;
    origin.stop().await;
    let today = Timestamp::now().inner().strftime("%Y-%m-%d").to_string();
    let newest = suite.join(format!("shops-{today}.wacz"));
    ensure!(newest.exists() && said.contains(&format!("version {today} of ")), "{said}");
    let older = suite.join("shops-2025-01-05.wacz");
    bench.succeed(&[
        "snapshot",
        "import",
        newest.as_str(),
        "--title",
        "Older",
        "-o",
        older.as_str(),
    ])?;

    let named = format!("{suite}@2025-01-05");
    let mut runs = Vec::new();
    for (name, suite) in [("newest", suite.as_str()), ("older", named.as_str())] {
        let run = bench.path(name);
        bench.run(&["run", suite, "--agent", "noop", "-o", run.as_str()])?;
        let record: Value = serde_json::from_str(&fs::read_to_string(run.join("run.json"))?)?;
        runs.push((run, record["world"]["version"].clone()));
    }
    let [(newest, first), (older, second)] = &runs[..] else { unreachable!() };
    ensure!(*first == today.as_str() && second == "2025-01-05", "{runs:?}");
    let mixed = ["compare", newest.as_str(), older.as_str()];
    let refused = bench.run(&mixed)?;
    let said = text(&refused.stderr);
    ensure!(refused.status.code() == Some(2) && said.contains("shops-2025-01-05.wacz ("), "{said}");
    ensure!(said.contains("--across-snapshots"), "{said}");
    let compared = bench.run(&[&mixed[..], &["--across-snapshots", "--scores"]].concat())?;
    ensure!(compared.status.success(), "{}", text(&compared.stderr));

    // A packed run is of its own version, also where a newer one is there.
    let packed = bench.path("older.sandbox");
    bench.succeed(&["pack", older.as_str(), "-o", packed.as_str()])?;
    bench.succeed(&["verify", packed.as_str()])?;
    let missing = bench.run(&["run", &format!("{suite}@2024-12-24"), "--agent", "noop"])?;
    let said = text(&missing.stderr);
    ensure!(said.contains(&format!("there are: 2025-01-05, {today}")), "{said}");
    Ok(())
}
