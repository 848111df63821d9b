//! `sandbox attach`: programs that drive an episode over the browser's own address, and how their
//! episodes end.

use std::io::{BufRead, BufReader, Write as _};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::devtools::{PATIENCE, Tab};
use crate::harness::{Bench, interrupt, text};

/// A bench whose browsers keep their files in it, so that what they leave is found.
fn command(bench: &Bench, arguments: &[&str]) -> Result<Command> {
    let temporary = bench.path("tmp");
    std::fs::create_dir_all(&temporary)?;
    let mut command = bench.command(&["attach"]);
    command.args(arguments).env("TMPDIR", &temporary).stdout(Stdio::piped()).stderr(Stdio::piped());
    Ok(command)
}

fn run(bench: &Bench, arguments: &[&str]) -> Result<Output> {
    Ok(command(bench, arguments)?.output()?)
}

/// What the last line on standard output says.
fn result(output: &Output) -> Result<Value> {
    let printed = || format!("{}\n{}", text(&output.stdout), text(&output.stderr));
    let stdout = text(&output.stdout);
    let line = stdout.lines().last().with_context(printed)?;
    serde_json::from_str(line).with_context(printed)
}

/// Neither a process nor a file of a browser.
pub(crate) fn nothing_is_left(bench: &Bench) -> Result<()> {
    let temporary = bench.path("tmp");
    let left: Vec<_> = temporary
        .read_dir_utf8()?
        .filter_map(|entry| Some(entry.ok()?.path().to_owned()))
        .collect();
    ensure!(left.is_empty(), "{left:?}");
    ensure!(!processes()?.contains(temporary.as_str()), "a browser still runs");
    Ok(())
}

fn processes() -> Result<String> {
    Ok(text(&Command::new("ps").args(["-eo", "args="]).output()?.stdout))
}

/// A task whose goal cannot be reached, in a world of nothing.
fn nothing_to_do(bench: &Bench) -> Result<String> {
    let folder = bench.path("suite");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("suite.yaml"), "world: {clock: 2026-03-12T08:30:00Z, seed: 7}\n")?;
    std::fs::write(
        folder.join("none.yaml"),
        "id: none\ngoal: Find it.\nscorer: {infeasible: {}}\n",
    )?;
    Ok(folder.into())
}

/// An episode that waits for a line on its standard input.
pub(crate) struct AttachedSession {
    child: Child,
    stdout: BufReader<ChildStdout>,
    pub(crate) facts: Value,
}

impl AttachedSession {
    pub(crate) fn open(bench: &Bench, arguments: &[&str]) -> Result<AttachedSession> {
        let mut child =
            command(bench, arguments)?.stdin(Stdio::piped()).stderr(Stdio::inherit()).spawn()?;
        let mut stdout = BufReader::new(child.stdout.take().context("stdout is piped")?);
        let mut line = String::new();
        stdout.read_line(&mut line)?;
        let facts = serde_json::from_str(&line).with_context(|| line.clone())?;
        Ok(AttachedSession { child, stdout, facts })
    }

    /// Gives the answer; what came of it.
    pub(crate) fn answer(mut self, answer: &str) -> Result<Value> {
        writeln!(self.child.stdin.take().context("stdin is piped")?, "{answer}")?;
        self.end()
    }

    pub(crate) fn end(mut self) -> Result<Value> {
        let mut line = String::new();
        self.stdout.read_line(&mut line)?;
        let status = self.child.wait()?;
        ensure!(status.success(), "{status}: {line}");
        Ok(serde_json::from_str(&line)?)
    }

    /// What the browser says at a path of its address.
    pub(crate) fn ask(&self, path: &str) -> Result<Value> {
        let url = format!("{}{path}", self.facts["cdp"].as_str().context("an address")?);
        let output = Command::new("curl").args(["-s", &url]).output()?;
        Ok(serde_json::from_slice(&output.stdout)?)
    }
}

/// The first tab, which the episode begins with.
pub(crate) async fn first_tab(session: &AttachedSession) -> Result<Tab> {
    let tabs = session.ask("/json/list")?;
    let pages: Vec<&Value> =
        tabs.as_array().context("tabs")?.iter().filter(|tab| tab["type"] == "page").collect();
    ensure!(pages.len() == 1, "{tabs:#}");
    Tab::connect(pages[0]["webSocketDebuggerUrl"].as_str().context("its address")?).await
}

/// A tab in a context of its own, such as programs make.
pub(crate) async fn tab_in_new_context(session: &AttachedSession, url: &str) -> Result<Tab> {
    let version = session.ask("/json/version")?;
    let mut tab =
        Tab::connect(version["webSocketDebuggerUrl"].as_str().context("its address")?).await?;
    let context = tab.call("Target.createBrowserContext", json!({})).await?;
    let context = json!({ "url": url, "browserContextId": context["browserContextId"] });
    tab.open(context).await?;
    Ok(tab)
}

#[tokio::test]
async fn a_program_of_plain_devtools_commands_earns_the_score() -> Result<()> {
    let bench = Bench::new()?;
    let out = bench.path("out");
    let session = AttachedSession::open(
        &bench,
        &["tasks/demo", "connecting-train", "--output", out.as_str()],
    )?;
    ensure!(
        session.facts["start_url"] == "https://www.aldria-rail.test/" && session.facts["seed"] == 7,
        "{}",
        session.facts
    );
    let mut tab = first_tab(&session).await?;
    tab.evaluate("document.querySelector('[name=from]').value = 'BRW'").await?;
    tab.evaluate(
        "[...document.querySelectorAll('button')].find(b => b.textContent === 'Find trains').click()",
    )
    .await?;
    tab.until("location.search.includes('to=DUN') && document.readyState === 'complete'").await?;
    let train = "[...document.querySelectorAll('a')].find(a => a.textContent === 'IC 203')";
    tab.until(&format!("!!{train}")).await?;
    tab.evaluate(&format!("{train}.click()")).await?;
    tab.until("location.pathname === '/trains/ic-203'").await?;
    let record = session.answer("This is the train.")?;
    ensure!(record["score"] == 1.0 && record["success"] == true, "{record:#}");
    ensure!(
        record["outcome"]["kind"] == "answered" && record["answer"] == "This is the train.",
        "{record:#}"
    );
    ensure!(record["misses"] == json!([]) && record["refused_hosts"] == json!([]), "{record:#}");
    bench.succeed(&["report", out.as_str()])?;
    nothing_is_left(&bench)
}

#[tokio::test]
async fn what_leaves_the_world_is_in_the_results() -> Result<()> {
    let bench = Bench::new()?;
    let session = AttachedSession::open(
        &bench,
        &["tasks/demo", "clock-time-zone", "--output", bench.path("out").as_str()],
    )?;
    let mut tab = first_tab(&session).await?;
    tab.goto("https://www.cityscreen.test/nonesuch").await?;
    tab.goto("https://elsewhere.test/").await?;
    interrupt(&session.child)?;
    let record = session.end()?;
    ensure!(record["outcome"]["kind"] == "stopped" && record["score"] == 0.0, "{record:#}");
    ensure!(record["misses"][0]["url"] == "https://www.cityscreen.test/nonesuch", "{record:#}");
    ensure!(record["refused_hosts"].to_string().contains("elsewhere.test"), "{record:#}");
    nothing_is_left(&bench)
}

/// Waits for a file that the episode is to write.
async fn written(path: &camino::Utf8Path) -> Result<()> {
    let mut polls = tokio::time::interval(std::time::Duration::from_millis(50));
    let there = async {
        while !path.is_file() {
            polls.tick().await;
        }
    };
    tokio::time::timeout(PATIENCE, there).await.with_context(|| format!("{path} was not written"))
}

#[tokio::test]
async fn each_page_that_a_program_came_to_has_its_picture_and_its_time() -> Result<()> {
    let bench = Bench::new()?;
    let out = bench.path("out");
    let session = AttachedSession::open(
        &bench,
        &["tasks/demo", "connecting-train", "--output", out.as_str()],
    )?;
    let answer =
        camino::Utf8PathBuf::from(session.facts["answer_file"].as_str().context("a file")?);
    let folder = answer.parent().and_then(|own| own.parent()).context("a folder")?;
    written(&folder.join("step-01.png")).await?;
    let mut tab = first_tab(&session).await?;
    for (step, path) in [(2, "stations"), (3, "trains/ic-203"), (4, "fares")] {
        tab.goto(&format!("https://www.aldria-rail.test/{path}")).await?;
        written(&folder.join(format!("step-0{step}.png"))).await?;
    }
    session.answer("This is the train.")?;

    let episode = out.join("episodes/connecting-train-1");
    let trace = std::fs::read_to_string(episode.join("trace.jsonl"))?;
    let steps: Vec<Value> = trace.lines().map(serde_json::from_str).collect::<Result<_, _>>()?;
    ensure!(steps.len() == 5, "{trace}");
    for step in &steps {
        let picture = step["screenshot"].as_str().with_context(|| format!("no picture: {step}"))?;
        ensure!(episode.join(picture).is_file(), "{picture}");
        let elapsed = step["elapsed_ms"].as_u64().with_context(|| format!("no time: {step}"))?;
        ensure!(elapsed < 600_000, "the episode has not lasted for {elapsed} ms");
    }
    bench.succeed(&["report", out.as_str()])?;
    for page in [out.join("report.html"), episode.join("trace.html")] {
        let page = std::fs::read_to_string(page)?;
        ensure!(page.matches("the episode ended here").count() == 1, "it ended once");
        ensure!(page.matches("a program drove the page").count() == 4);
    }
    Ok(())
}

/// All that a page reads the present from.
const PRESENT: &str = "[Date.now(), +new Date(), performance.timeOrigin + performance.now(),
    globalThis.Temporal ? Temporal.Now.instant().epochMilliseconds : Date.now(),
    Date.parse(new Intl.DateTimeFormat('en', { dateStyle: 'short', timeStyle: 'medium' }).format())]";
const WORKER: &str = "new Promise(done => {
    const code = 'postMessage([Date.now(), performance.timeOrigin + performance.now()])';
    new Worker(URL.createObjectURL(new Blob([code]))).onmessage = event => done(event.data);
})";

#[tokio::test]
async fn clocks_start_at_the_worlds_and_run_on_in_every_tab_context_and_worker() -> Result<()> {
    let bench = Bench::new()?;
    let session = AttachedSession::open(
        &bench,
        &["tasks/demo", "clock-time-zone", "--output", bench.path("out").as_str()],
    )?;
    let start: jiff::Timestamp = session.facts["clock"].as_str().context("a clock")?.parse()?;
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since 1970 are far below 2^53")]
    let start = start.as_millisecond() as f64;
    let began = Instant::now();
    let mut first = first_tab(&session).await?;
    let mut empty = tab_in_new_context(&session, "about:blank").await?;
    let mut other = tab_in_new_context(&session, "https://clock.meridian.test/determinism").await?;
    other
        .until("location.host === 'clock.meridian.test' && document.readyState === 'complete'")
        .await?;
    let mut last = start;
    for tab in [&mut first, &mut empty, &mut other] {
        let shown = [
            tab.evaluate(PRESENT).await?,
            tab.evaluate(WORKER).await?,
            tab.evaluate(PRESENT).await?,
        ];
        for shown in shown.iter().flat_map(|shown| shown.as_array().into_iter().flatten()) {
            let shown = shown.as_f64().context("a time")?;
            // The format is in whole seconds, and a browser takes some to come up.
            let latest = start + began.elapsed().as_secs_f64() * 1000.0 + 60_000.0;
            ensure!(
                shown > last - 1000.0 && shown < latest,
                "{shown} is not between {last} and {latest}"
            );
            last = last.max(shown);
        }
    }
    let frames = "new Promise(done => { const from = Date.now(); let frames = 0;
        (function next() { Date.now() - from < 500 ? requestAnimationFrame(next, frames++) : done(frames); })(); })";
    ensure!(first.evaluate(frames).await?.as_u64() > Some(3), "frames are drawn");
    let moved = first.evaluate(
        "new Promise(done => { const from = Date.now(); setTimeout(() => done(Date.now() - from), 300); })",
    );
    let moved = moved.await?.as_f64().context("a time")?;
    ensure!((290.0..60_000.0).contains(&moved), "{moved}");
    session.answer("")?;
    Ok(())
}

#[tokio::test]
async fn two_episodes_see_the_same_random_numbers() -> Result<()> {
    let mut seen = Vec::new();
    for _ in 0..2 {
        let bench = Bench::new()?;
        let session = AttachedSession::open(
            &bench,
            &["tasks/demo", "clock-time-zone", "--output", bench.path("out").as_str()],
        )?;
        let mut tab = first_tab(&session).await?;
        let mut numbers = vec![
            tab.evaluate("[Math.random(), crypto.getRandomValues(new Uint32Array(2))].join()")
                .await?,
        ];
        tab.goto("https://www.cityscreen.test/").await?;
        numbers.push(tab.evaluate("Math.random()").await?);
        tab.call("Page.reload", json!({})).await?;
        tab.until("performance.getEntriesByType('navigation')[0].type === 'reload'").await?;
        numbers.push(tab.evaluate("Math.random()").await?);
        ensure!(numbers[1] != numbers[2], "a page that is loaded again is not the same page");
        seen.push(numbers);
        session.answer("")?;
    }
    ensure!(seen[0] == seen[1], "{seen:?}");
    Ok(())
}

#[test]
fn a_command_has_the_facts_and_its_answer_is_taken() -> Result<()> {
    let bench = Bench::new()?;
    let suite = nothing_to_do(&bench)?;
    let script = r#"
        echo said by the command
        [ "$SANDBOX_TASK $SANDBOX_GOAL $SANDBOX_START_URL $SANDBOX_SEED" = "none Find it. about:blank 7" ] || exit 3
        curl -sf "$SANDBOX_CDP/json/version" > /dev/null || exit 4
        [ -z "$SANDBOX_PROXY$SANDBOX_CA" ] || exit 5
        echo 'report_infeasible("there is nothing")' > "$SANDBOX_ANSWER_FILE"
        sleep 1000 &"#;
    let out = bench.path("out");
    let output = run(
        &bench,
        &[&suite, "none", "--check", "--output", out.as_str(), "--", "sh", "-c", script],
    )?;
    let record = result(&output)?;
    ensure!(output.status.success(), "{record:#}");
    ensure!(record["outcome"]["kind"] == "infeasible" && record["score"] == 1.0, "{record:#}");
    ensure!(
        !text(&output.stdout).contains("said by") && text(&output.stderr).contains("said by"),
        "{output:?}"
    );
    nothing_is_left(&bench)
}

#[test]
fn a_command_that_fails_or_never_ends_is_no_success() -> Result<()> {
    let bench = Bench::new()?;
    let suite = nothing_to_do(&bench)?;
    let out = bench.path("failed");
    let output =
        run(&bench, &[&suite, "none", "--output", out.as_str(), "--", "sh", "-c", "exit 3"])?;
    ensure!(
        output.status.code() == Some(1) && text(&output.stderr).contains("exit status: 3"),
        "{output:?}"
    );
    ensure!(result(&output)?["outcome"]["kind"] == "agent_failed", "{output:?}");

    let output = run(
        &bench,
        &[&suite, "none", "--output", bench.path("no").as_str(), "--", "/nonesuch/program"],
    )?;
    ensure!(
        output.status.code() == Some(1) && text(&output.stderr).contains("/nonesuch/program"),
        "{output:?}"
    );

    let out = bench.path("endless");
    let script = format!("sleep 4711 & exec timeout 60 tail -f /dev/null {suite}/suite.yaml");
    let output = run(
        &bench,
        &[&suite, "none", "--within=1", "--output", out.as_str(), "--", "sh", "-c", &script],
    )?;
    ensure!(output.status.code() == Some(1), "{output:?}");
    ensure!(result(&output)?["outcome"]["kind"] == "timed_out", "{output:?}");
    ensure!(!processes()?.contains(&suite), "the command still runs");
    nothing_is_left(&bench)
}

/// An episode with a command that never ends, once that has begun.
fn endless(bench: &Bench, suite: &str) -> Result<Child> {
    let (out, begun) = (bench.path("out"), bench.path("begun"));
    let script = format!("touch {begun}; exec timeout 60 tail -f /dev/null {suite}/suite.yaml");
    let child =
        command(bench, &[suite, "none", "--output", out.as_str(), "--", "sh", "-c", &script])?
            .spawn()?;
    let deadline = Instant::now() + PATIENCE;
    while !begun.exists() {
        ensure!(Instant::now() < deadline, "the command was not started");
        std::thread::park_timeout(std::time::Duration::from_millis(10));
    }
    Ok(child)
}

#[test]
fn a_second_interrupt_does_not_wait_and_leaves_no_browser() -> Result<()> {
    let bench = Bench::new()?;
    let suite = nothing_to_do(&bench)?;
    let mut child = endless(&bench, &suite)?;
    let mut said = BufReader::new(child.stderr.take().context("it is piped")?).lines();
    interrupt(&child)?;
    while !said
        .next()
        .context("it ends without a word")??
        .contains("interrupt again to stop at once")
    {}
    interrupt(&child)?;
    ensure!(child.wait()?.code() == Some(4));
    nothing_is_left(&bench)
}

#[test]
fn a_browser_that_has_lost_us_and_its_driver_goes_with_the_next_start() -> Result<()> {
    let bench = Bench::new()?;
    let suite = nothing_to_do(&bench)?;
    let mut child = endless(&bench, &suite)?;
    let own = child.id().to_string();
    child.kill()?;
    child.wait()?;
    let environment = format!("TMPDIR={}", bench.path("tmp"));
    let found = Command::new("pgrep").args(["-f", "chromedriver --port"]).output()?;
    for driver in text(&found.stdout).lines() {
        let its = std::fs::read(format!("/proc/{driver}/environ")).unwrap_or_default();
        if text(&its).contains(&environment) {
            Command::new("kill").args(["-9", driver]).status()?;
        }
    }
    let above = bench.path("tmp").read_dir_utf8()?.next().context("the folder of the user")??;
    let left = above.path().read_dir_utf8()?.next().context("its folder is left")??;
    ensure!(left.file_name().contains(&own), "{left:?}");
    let out = bench.path("other");
    let output = run(&bench, &[&suite, "none", "--output", out.as_str(), "--", "true"])?;
    ensure!(output.status.success(), "{output:?}");
    nothing_is_left(&bench)
}

#[test]
fn an_interrupt_leaves_nothing_behind() -> Result<()> {
    let bench = Bench::new()?;
    let suite = nothing_to_do(&bench)?;
    let out = bench.path("out");
    let child = endless(&bench, &suite)?;
    interrupt(&child)?;
    let output = child.wait_with_output()?;
    ensure!(output.status.code() == Some(4), "{output:?}");
    ensure!(!out.exists(), "an episode that never was has results");
    ensure!(!processes()?.contains(&suite), "the command still runs");
    nothing_is_left(&bench)
}

#[test]
fn a_task_that_is_not_there_is_wrong_use() -> Result<()> {
    let bench = Bench::new()?;
    let output = run(&bench, &["tasks/demo", "nonesuch", "--output", bench.path("out").as_str()])?;
    ensure!(
        output.status.code() == Some(2) && text(&output.stderr).contains("nonesuch"),
        "{output:?}"
    );
    ensure!(output.stdout.is_empty() && !bench.path("out").exists(), "{output:?}");
    Ok(())
}
