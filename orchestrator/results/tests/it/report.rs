//! The report of a run that was written by hand.

use camino::{Utf8Path, Utf8PathBuf};
use results::{EpisodeRecord, RunFolder, RunRecord, TaskRecord};
use results::{Summary, report};
use tempfile::TempDir;

use crate::many::write_many;
use crate::written::{HOSTILE, Tested, write_run};

fn run(fingerprints: &[&str]) -> Result<(TempDir, Utf8PathBuf), Box<dyn std::error::Error>> {
    let temporary = tempfile::tempdir()?;
    let path = Utf8PathBuf::try_from(temporary.path().join("run"))?;
    write_run(&path, fingerprints)?;
    Ok((temporary, path))
}

fn drawn(fingerprints: &[&str]) -> Result<String, Box<dyn std::error::Error>> {
    let (_temporary, path) = run(fingerprints)?;
    read(&report::write(&path)?)
}

/// A page; the template engine writes slashes otherwise.
fn read(path: &Utf8Path) -> Result<String, Box<dyn std::error::Error>> {
    Ok(std::fs::read_to_string(path)?.replace("&#x2f;", "/"))
}

#[test]
fn what_pages_and_agents_say_stays_text() -> Tested {
    let html = drawn(&["a"])?;
    assert_eq!(html.matches("<script").count(), 1, "the report's own: {html}");
    assert!(!html.contains(HOSTILE), "{html}");
    assert!(!html.contains("\" onload") && html.contains("&lt;script&gt;"), "{html}");
    Ok(())
}

#[test]
fn a_task_is_one_entry_with_its_repeats_folded_under_it() -> Tested {
    let html = drawn(&["a", "a", "a"])?;
    assert_eq!(html.matches("<tbody").count(), 1, "{html}");
    assert!(html.contains("<summary>3 repeats, equal</summary>"), "{html}");
    assert_eq!(html.matches("<li class=\"step").count(), 3, "equal repeats are shown once: {html}");
    for repeat in 1..=3 {
        assert!(
            html.contains(&format!("href=\"episodes/shop%252E1-{repeat}/trace.html\"")),
            "{html}"
        );
    }
    let html = drawn(&["a", "b", "a"])?;
    assert_eq!(html.matches("<tbody").count(), 1, "{html}");
    assert_eq!(html.matches("<details class=\"repeat\"").count(), 2, "{html}");
    assert!(html.contains("repeat 1, 3") && html.contains("Where repeats part"), "{html}");
    Ok(())
}

#[test]
fn pictures_are_files_beside_the_report_or_in_it_on_request() -> Tested {
    let (_temporary, path) = run(&["a", "a"])?;
    let linked = read(&report::write(&path)?)?;
    assert!(!linked.contains("data:image"), "{linked}");
    let pictures: Vec<&str> =
        linked.split("<img src=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
    let beside = |step| format!("episodes/shop%252E1-1/step-0{step}.png");
    assert_eq!(pictures, [1, 2, 3].map(beside));

    let inline = read(&report::write_inline(&path)?)?;
    assert_eq!(inline.matches("data:image/png").count(), 2, "equal ones once: {inline}");
    for outside in ["<img", "src=", "href=\"episodes", "href=\"trace.html", "url(episodes"] {
        assert!(!inline.contains(outside), "it does not stand alone: {outside} in {inline}");
    }
    assert!(inline.contains("Observation, 1 line") && inline.contains("recorded: "), "{inline}");
    Ok(())
}

#[test]
fn a_report_of_a_thousand_episodes_is_below_a_megabyte() -> Tested {
    let temporary = tempfile::tempdir()?;
    for (tasks, repeats, steps) in [(1_000, 1, 0), (812, 3, 0), (16, 3, 30)] {
        let path = Utf8PathBuf::try_from(temporary.path().join(format!("{tasks}-{repeats}")))?;
        write_many(&path, tasks, repeats, steps)?;
        let html = std::fs::read_to_string(report::write(&path)?)?;
        let size = html.len();
        eprintln!("{tasks} tasks, {repeats} repeats, {steps} steps: {size} bytes");
        assert!(size < 1_000_000, "{tasks} tasks, {repeats} repeats: {size} bytes");
        assert_eq!(html.matches("<tbody id").count(), tasks as usize);
        for repeat in 1..=repeats {
            let link = format!("episodes&#x2f;webarena-0007-{repeat}&#x2f;trace.html\"");
            assert!(html.contains(&link), "repeat {repeat} is not linked");
        }
    }
    Ok(())
}

#[test]
fn repeats_that_are_expected_to_differ_do_so_without_alarm() -> Tested {
    let (_temporary, path) = run(&["a", "b"])?;
    let folder = RunFolder::open(&path)?;
    let check = |alarm: bool, why: &str| -> Tested {
        let html = read(&report::write(&path)?)?;
        let loud = [
            "<p class=\"figure bad\">2 different",
            "badge part\">2 fingerprints",
            "<pre class=\"diff\">",
        ];
        for loud in loud {
            assert_eq!(html.contains(loud), alarm, "{loud}: {html}");
        }
        let table = Summary::read(&path)?.table(200);
        assert_eq!(table.contains("DIFFERENT in 2 repeats"), alarm, "{table}");
        assert!(alarm || html.contains(&format!("As expected: {why}.")), "{html}");
        assert!(
            alarm || table.contains(&format!("different in 2 repeats, as expected: {why}")),
            "{table}"
        );
        Ok(())
    };
    // Its models were asked, and no cassette answered.
    check(false, "the model was asked live")?;
    for record in folder.episodes()? {
        folder.episode(&record.id()).rewrite(&EpisodeRecord { models: None, ..record })?;
    }
    check(true, "")?;
    folder.rewrite(&RunRecord { agent: "random".to_owned(), ..folder.run()? })?;
    check(false, "the agent acts at random")
}

#[test]
fn nothing_is_loaded_from_elsewhere() -> Tested {
    let html = drawn(&["a"])?;
    for outside in ["<link", "<iframe", "@import", "src=\"http", "src=\"/", "url(http", "url('http"]
    {
        assert!(!html.contains(outside), "{outside}");
    }
    Ok(())
}

#[test]
fn an_error_is_no_failure_of_the_agent() -> Tested {
    let html = drawn(&["a"])?;
    assert!(html.contains("class=\"badge error") && !html.contains("class=\"badge fail"), "{html}");
    assert!(html.contains(r#"data-verdict="error""#), "found by it: {html}");
    Ok(())
}

#[test]
fn runs_of_different_tasks_are_not_compared() -> Tested {
    let temporary = tempfile::tempdir()?;
    let path = |name: &str| Utf8PathBuf::try_from(temporary.path().join(name));
    let (one, other) = (path("one")?, path("other")?);
    write_run(&one, &["a"])?;
    let task = TaskRecord {
        id: "mail.1".to_owned(),
        goal: String::new(),
        sites: Vec::new(),
        tags: Vec::new(),
        reference_steps: None,
    };
    RunFolder::create(
        &other,
        &RunRecord::new("town", "e".to_owned(), "oracle".to_owned(), 1, vec![task]),
    )?;
    let error = results::pair(&one, &other).err().ok_or("nothing is to be compared")?.to_string();
    assert!(
        error.starts_with("find a task that is in both: ")
            && error.contains("is of the suite demo, "),
        "{error}"
    );
    Ok(())
}
