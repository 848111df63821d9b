//! What becomes of an annotation that does not end with "Save": Ctrl-C, `kill -9`, a closed window,
//! a browser that dies. And nobody else works on a draft meanwhile.

use std::collections::HashMap;
use std::process::Child;

use anyhow::{Result, ensure};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use crate::annotating::hostile;
use crate::annotator::{Annotator, DEMO, existing, named, plays, selected};
use crate::harness::{Bench, interrupt, text};

#[tokio::test(flavor = "multi_thread")]
async fn what_was_interrupted_or_killed_goes_on() -> Result<()> {
    let bench = Bench::new()?;
    let server = hostile().await?;
    let suite = bench.path("resumed");
    let start = "http://hostile.test/";
    let live = server.as_live_web();
    let begin = [start, "--id", "box", "--redact", "-o", suite.as_str(), &live];
    let mut annotator = Annotator::start(&bench, &begin, start).await?;
    annotator.write("#goal", "Send the form.").await?;
    annotator.person.click(&selected("[data-act]")).await?;
    annotator.steps(1).await?;
    // What is typed and not told yet is not lost either.
    annotator.person.click(&selected("input[name=who]")).await?;
    annotator.person.type_text("Ada").await?;
    annotator.steps(2).await?;
    interrupt(&annotator.child)?;
    let (status, said) = annotator.end()?;
    ensure!(
        status.code() == Some(4) && said.contains("--resume") && said.contains("2 steps"),
        "{status}: {said}"
    );
    ensure!(!suite.join("box.yaml").exists());
    let again = bench.run(&[&["annotate", "--headless"], &begin[..]].concat())?;
    ensure!(again.status.code() == Some(2), "{}", text(&again.stderr));
    ensure!(text(&again.stderr).contains("`box`"), "{}", text(&again.stderr));
    let resume = ["--resume", "-o", suite.as_str(), &live];
    let mut annotator = Annotator::start(&bench, &resume, start).await?;
    annotator.steps(2).await?;
    annotator.child.kill()?;
    drop(annotator);
    let mut annotator = Annotator::start(&bench, &resume, start).await?;
    annotator.steps(2).await?;
    // Whoever goes on need not ask again for what keeps secrets.
    annotator.write("#goal", "Send the form with a name.").await?;
    annotator.panel.until("view.can_undo").await?;
    let draft = std::fs::read_to_string(suite.join(".annotate/draft.json"))?;
    ensure!(draft.contains("\"redact_credentials\": true"), "{draft}");
    annotator.button("play").await?;
    annotator
        .person
        .until(
            "document.body.dataset.box === '1' && document.querySelector('input[name=who]').value === 'Ada'",
        )
        .await?;
    annotator.panel.until("!view.is_playing").await?;
    annotator.steps(2).await?;
    annotator.person.press("Enter").await?;
    annotator.person.until("location.pathname === '/done'").await?;
    annotator.steps(3).await?;
    annotator.mark(3, "url_included_match").await?;
    annotator.save().await?;
    plays(&bench, &suite, 1)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_window_saves_what_is_whole_and_keeps_what_is_not() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("closed");
    let start = "https://www.aldria-rail.test/";
    let begin = [DEMO, "--url", start, "--id", "closed", "--copy-snapshot", "-o", suite.as_str()];
    let mut annotator = Annotator::start(&bench, &begin, start).await?;
    annotator.person.click(&named("Lines and timetables")).await?;
    annotator.steps(1).await?;
    annotator.person.call("Page.close", json!({})).await?;
    let (status, said) = annotator.end()?;
    ensure!(
        status.code() == Some(4) && said.contains("Write the goal") && said.contains("--resume"),
        "{status}: {said}"
    );
    let mut annotator = Annotator::start(
        &bench,
        &["--resume", "--copy-snapshot", "-o", suite.as_str()],
        "aldria-rail.test",
    )
    .await?;
    annotator.write("#goal", "Open the timetable.").await?;
    annotator.mark(1, "url_included_match").await?;
    // The steps are played first: a page that changes cannot be closed.
    annotator.panel.until("view.missing.length === 0 && !view.is_playing").await?;
    annotator.person.switch("aldria-rail.test").await?;
    annotator.person.call("Page.close", json!({})).await?;
    let (status, said) = annotator.end()?;
    ensure!(status.success() && said.contains("closed.yaml: 1 step,"), "{status}: {said}");
    ensure!(suite.join("demo.wacz").is_file());
    plays(&bench, &suite, 1)?;
    // What is discarded leaves nothing.
    let gone = bench.path("gone");
    let mut annotator =
        Annotator::start(&bench, &[DEMO, "--url", start, "-o", gone.as_str()], start).await?;
    annotator.person.click(&named("Lines and timetables")).await?;
    annotator.steps(1).await?;
    annotator.panel.evaluate("globalThis.confirm = () => true").await?;
    annotator.button("discard").await?;
    let (status, said) = annotator.end()?;
    ensure!(status.success() && !gone.exists(), "{status}: {said}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_is_interrupted_or_closed_is_kept_and_replaces_nothing() -> Result<()> {
    let bench = Bench::new()?;
    let suite = existing(&bench)?;
    let file = suite.join("guest-booking.yaml");
    let before = std::fs::read_to_string(&file)?;
    let edit = ["-o", file.as_str()];
    // Nothing was done yet: there is nothing to keep, and nobody is told to go on.
    let mut annotator = Annotator::start(&bench, &edit, "aldria-rail.test").await?;
    annotator.person.switch("/trains/re-406").await?;
    annotator.panel.until("view.nodes.length === 3 && !view.is_playing").await?;
    interrupt(&annotator.child)?;
    let (status, said) = annotator.end()?;
    ensure!(status.code() == Some(4) && !said.contains("--resume"), "{status}: {said}");
    ensure!(!suite.join(".annotate").exists());
    let mut annotator = Annotator::start(&bench, &edit, "aldria-rail.test").await?;
    annotator.person.switch("/trains/re-406").await?;
    annotator.panel.until("view.nodes.length === 3 && !view.is_playing").await?;
    annotator.person.click(&named("Lines and timetables")).await?;
    annotator.steps(4).await?;
    interrupt(&annotator.child)?;
    let (status, said) = annotator.end()?;
    ensure!(status.code() == Some(4) && said.contains("4 steps"), "{status}: {said}");
    let resume = ["--resume", "-o", suite.as_str()];
    let mut annotator = Annotator::start(&bench, &resume, "aldria-rail.test").await?;
    annotator.steps(4).await?;
    annotator.panel.until("!view.is_playing && view.missing.length === 0").await?;
    annotator.person.call("Page.close", json!({})).await?;
    let (status, said) = annotator.end()?;
    ensure!(status.code() == Some(4) && said.contains("--resume"), "{status}: {said}");
    ensure!(std::fs::read_to_string(&file)? == before && suite.join(".annotate").exists());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_draft_outlives_its_browser_and_its_command() -> Result<()> {
    let bench = Bench::new()?;
    let server = hostile().await?;
    let suite = bench.path("crashed");
    let start = "http://hostile.test/";
    let live = server.as_live_web();
    let begin = [start, "--id", "box", "-o", suite.as_str(), &live];
    let mut annotator = Annotator::start(&bench, &begin, start).await?;
    annotator.write("#goal", "Send the form with a name.").await?;
    annotator.person.click(&selected("[data-act]")).await?;
    annotator.person.click(&selected("input[name=who]")).await?;
    annotator.person.type_text("Ada").await?;
    annotator.person.press("Tab").await?;
    annotator.panel.until("view.steps.length === 2 && view.steps[1].value === 'Ada'").await?;
    annotator.mark(2, "element_value_exactly_match").await?;
    annotator.panel.until("view.missing.length === 0").await?;
    // Nothing is missing, and still nobody has asked for the task to be written.
    kill_browser(&annotator.child)?;
    annotator.panel.until("view.status.state === 'kept'").await?;
    let (status, said) = annotator.end()?;
    ensure!(
        status.code() == Some(4) && said.contains("2 steps") && said.contains("--resume"),
        "{status}: {said}"
    );
    let files = suite.join(".annotate");
    ensure!(
        !suite.join("box.yaml").exists()
            && files.join("1.png").is_file()
            && files.join("1.html").is_file()
    );
    drop(annotator);
    let resume = ["--resume", "-o", suite.as_str(), &live];
    let mut annotator = Annotator::start(&bench, &resume, start).await?;
    annotator.steps(2).await?;
    annotator
        .panel
        .until("view.goal.startsWith('Send the form') && view.missing.length === 0")
        .await?;
    annotator.button("play").await?;
    annotator.person.until("document.querySelector('input[name=who]').value === 'Ada'").await?;
    annotator.panel.until("!view.is_playing").await?;
    annotator
        .person
        .click("document.querySelector('iframe').contentDocument.querySelector('button')")
        .await?;
    annotator.steps(3).await?;
    annotator.child.kill()?;
    drop(annotator);
    let mut annotator = Annotator::start(&bench, &resume, start).await?;
    annotator.steps(3).await?;
    annotator.mark(3, "element_path_exactly_match").await?;
    annotator.save().await?;
    ensure!(suite.join("screenshots/box/03.png").is_file(), "its picture was taken before");
    plays(&bench, &suite, 1)
}

/// `kill -9` for the browser of a command: every process that has come of it.
fn kill_browser(command: &Child) -> Result<()> {
    let mut parents = HashMap::new();
    for entry in std::fs::read_dir("/proc")? {
        let path = entry?.path();
        let Ok(stat) = std::fs::read_to_string(path.join("stat")) else { continue };
        let Some((_, fields)) = stat.rsplit_once(')') else { continue };
        let parent = fields.split_whitespace().nth(1).and_then(|parent| parent.parse::<u32>().ok());
        let child = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.parse::<u32>().ok());
        parents.extend(child.zip(parent));
    }
    let is_of = |child: &&u32| {
        let mut above = std::iter::successors(parents.get(child), |parent| parents.get(parent));
        above.any(|parent| *parent == command.id())
    };
    let family: Vec<_> = parents.keys().filter(is_of).collect();
    ensure!(!family.is_empty(), "the command has no browser");
    for child in family.into_iter().filter_map(|child| Pid::from_raw(child.cast_signed())) {
        // One whose parent has gone may have gone by itself.
        let _ = kill_process(child, Signal::KILL);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_one_command_at_a_time_works_on_a_draft() -> Result<()> {
    let bench = Bench::new()?;
    let suite = bench.path("shared");
    let start = "https://www.aldria-rail.test/";
    let begin = [DEMO, "--url", start, "--id", "first", "-o", suite.as_str()];
    let mut annotator = Annotator::start(&bench, &begin, start).await?;
    annotator.person.click(&named("Lines and timetables")).await?;
    annotator.steps(1).await?;
    let draft = suite.join(".annotate/draft.json");
    let before = std::fs::read_to_string(&draft)?;
    for arguments in [&begin[..], &["--resume", "-o", suite.as_str()]] {
        let second = bench.run(&[&["annotate", "--headless"], arguments].concat())?;
        let said = text(&second.stderr);
        ensure!(second.status.code() == Some(2), "{}: {said}", second.status);
        ensure!(
            said.contains("another `sandbox annotate` works there; save or discard in its panel"),
            "{said}"
        );
    }
    ensure!(std::fs::read_to_string(&draft)? == before);
    annotator.write("#goal", "Open the timetable.").await?;
    annotator.mark(1, "url_included_match").await?;
    annotator.save().await?;
    // Whoever has ended holds nothing back.
    let arguments = ["-o", suite.as_str(), "--task", "first"];
    let mut annotator = Annotator::start(&bench, &arguments, "aldria-rail.test").await?;
    annotator.steps(1).await?;
    annotator.panel.until("!view.is_playing").await?;
    annotator.button("save").await?;
    let (status, said) = annotator.end()?;
    ensure!(status.success(), "{status}: {said}");
    Ok(())
}
